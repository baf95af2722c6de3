"""MathJax from an installed package, so that formulas are typeset without a network."""

from importlib.util import find_spec
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx
from sphinx.errors import ExtensionError
from sphinx.util.fileutil import copy_asset

PACKAGE = "sphinx-mathjax-offline"
# What one output format needs, of the thirty megabytes that there are.
PARTS = (
    "tex-chtml.js",
    "input/tex/extensions",
    "output/chtml/fonts/woff-v2",
    "a11y",
    "sre/mathmaps/en.json",
    "sre/mathmaps/base.json",
)
SETTINGS = {
    "tex": {"tags": "none"},
    # A formula is no stop of the tabulator key; one that scrolls is, see book.js.
    "options": {"menuOptions": {"settings": {"inTabOrder": False}}},
}


def source() -> Path:
    """The folder of MathJax inside the package that carries it."""
    found = find_spec(PACKAGE)
    if found is None or not found.submodule_search_locations:
        raise ExtensionError(f"The package {PACKAGE} is missing: `make setup` installs it.")
    return Path(found.submodule_search_locations[0]) / "static" / "mathjax"


def copy(app: Sphinx, exception: Exception | None) -> None:
    if exception is not None or app.builder.format != "html":
        return
    target = Path(app.outdir) / "_static" / "mathjax"
    for part in PARTS:
        origin = source() / part
        copy_asset(origin, target / part if origin.is_dir() else (target / part).parent)


def configure(app: Sphinx, config: Any) -> None:
    config.mathjax_path = "mathjax/tex-chtml.js"
    config.mathjax3_config = SETTINGS


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("config-inited", configure)
    app.connect("build-finished", copy)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
