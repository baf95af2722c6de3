"""One BLAS thread, a fixed hash seed, silent progress bars: set before numpy or a kernel starts."""

import os

import pytest

from tools.reproducible import reproducible_environment

os.environ.update(reproducible_environment())


def pytest_configure(config: pytest.Config) -> None:
    if not config.getoption("nbval", False):  # the kernels of notebooks draw inline
        os.environ.setdefault("MPLBACKEND", "Agg")
