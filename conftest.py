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
def nothing_drawn_is_left_behind() -> Iterator[None]:
    """Figures and the style sheet, which tests and doctests set, are those of the whole process."""
    yield
    pyplot, matplotlib = map(sys.modules.get, ("matplotlib.pyplot", "matplotlib"))
    if pyplot is not None:
        pyplot.close("all")
    if matplotlib is not None and not matplotlib.rcParams["axes.spines.top"]:  # of our style
        matplotlib.rcdefaults()
