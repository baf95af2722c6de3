"""Settings of the test suite that are not options of pytest."""

import re

import pytest
from hypothesis import settings

# The same examples at every run and on every machine, and no files left behind.
settings.register_profile("kernelbook", derandomize=True, database=None, deadline=None)
settings.load_profile("kernelbook")


@pytest.hookimpl(tryfirst=True)
def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Take memory addresses out of test ids: parallel workers have to collect the same ids."""
    for mark in metafunc.definition.iter_markers("parametrize"):
        name = mark.kwargs.get("ids")
        if callable(name):
            mark.kwargs["ids"] = lambda value, name=name: without_address(name(value))


def without_address(text: object) -> object:
    return re.sub(r"\s?at\s?0x[0-9a-f]+", "", text) if isinstance(text, str) else text
