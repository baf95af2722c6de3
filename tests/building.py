"""Pages as Sphinx writes them with the configuration of the book.

Sphinx runs in this process: a fresh one would spend nearly all of its time on imports.
"""

import contextlib
import io
import os
import sys
import warnings
from pathlib import Path
from unittest import mock

from sphinx.cmd.build import build_main

CONFIGURATION = Path(__file__).parents[1] / "book"


def build_pages(source, target, *options, **environment):
    """Exit code of Sphinx, and what it warns of."""
    clean = {name: value for name, value in os.environ.items() if name != "KERNELBOOK_REPOSITORY"}
    said = io.StringIO()
    with (
        mock.patch.dict(os.environ, clean | environment, clear=True),
        mock.patch.object(sys, "path", sys.path.copy()),
        warnings.catch_warnings(action="ignore"),
        contextlib.redirect_stderr(said),
    ):
        code = build_main(["-c", str(CONFIGURATION), "-q", *options, str(source), str(target)])
    return code, said.getvalue()


def build_strictly(source, target, **environment):
    """The same, with an exit code other than 0 if there is a warning."""
    return build_pages(source, target, "-W", "--keep-going", **environment)
