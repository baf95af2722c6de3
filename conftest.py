"""One BLAS thread, a fixed hash seed, silent progress bars: set before numpy or a kernel starts."""

import os
import sys
from collections.abc import Iterator

import pytest

from tools.reproducible import reproducible_environment

os.environ.update(reproducible_environment())


def pytest_configure(config: pytest.Config) -> None:
    if not config.getoption("nbval", False):  # the kernels of notebooks draw inline
        os.environ.setdefault("MPLBACKEND", "Agg")


@pytest.fixture(autouse=True)
def no_style_is_left_behind() -> Iterator[None]:
    """The style sheet, which tests and doctests set, is that of the whole process."""
    yield
    matplotlib = sys.modules.get("matplotlib")
    if matplotlib is not None and not matplotlib.rcParams["axes.spines.top"]:  # of our style
        matplotlib.rcdefaults()
