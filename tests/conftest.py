"""Settings of the test suite that are not options of pytest."""

import re
import signal

import pytest
from hypothesis import settings

from kernelbook.compile_loops import compile_loops

# The same examples at every run and on every machine, and no files left behind.
settings.register_profile("kernelbook", derandomize=True, database=None, deadline=None)
settings.load_profile("kernelbook")


def pytest_configure(config: pytest.Config) -> None:
    """Let signals end what the tests start, even where a job in the background ignores them."""
    for name in ("SIGINT", "SIGHUP"):
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) == signal.SIG_IGN:
            signal.signal(number, signal.SIG_DFL)


@pytest.fixture(scope="session")
def compiled_loops() -> None:
    """For tests of what 'auto' takes once the loops are compiled, whatever has run before."""
    compile_loops()


@pytest.hookimpl(tryfirst=True)
def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Take memory addresses out of test ids: parallel workers have to collect the same ids."""
    for mark in metafunc.definition.iter_markers("parametrize"):
        name = mark.kwargs.get("ids")
        if callable(name):
            mark.kwargs["ids"] = lambda value, name=name: without_address(name(value))


def without_address(text: object) -> object:
    return re.sub(r"\s?at\s?0x[0-9a-f]+", "", text) if isinstance(text, str) else text
