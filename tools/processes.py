"""Programs that end together: signals that arrive, and children that do not outlive their parent.

Needs the standard library alone: the set-up uses it before anything is installed.
"""

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from types import FrameType
from typing import Any

__all__ = [
    "ENDING",
    "Stopped",
    "child",
    "cores",
    "end",
    "exit_code",
    "is_alive",
    "stop_on_signals",
]

ENDING = ("SIGINT", "SIGTERM", "SIGHUP")  # Windows knows the first two
PATIENCE = 5.0  # seconds between the polite and the other signal


class Stopped(BaseException):
    """A signal asked this program to end; ``code`` is the exit code that says so."""

    def __init__(self, number: int) -> None:
        super().__init__(signal.Signals(number).name)
        self.code = 128 + number


def stop_on_signals() -> None:
    """Raise `Stopped` at each signal that ends a program, unless it is ignored (nohup)."""

    def stop(number: int, frame: FrameType | None) -> None:
        raise Stopped(number)

    for name in ENDING:
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, stop)


def exit_code(main: Callable[[], int]) -> int:
    """Run a command line to its end, or to the signal that ends it, and say its exit code."""
    stop_on_signals()
    try:
        return main()
    except Stopped as stopped:
        return stopped.code


@contextlib.contextmanager
def child(command: Sequence[str], **options: Any) -> Iterator[subprocess.Popen]:
    """Run a program; when the block is left, it has ended with all that it has started."""
    process = subprocess.Popen(command, start_new_session=True, **options)
    try:
        yield process
    finally:
        end(process)


def end(process: subprocess.Popen) -> None:
    """End a child and its group: by an interrupt, and after some seconds by force."""
    if process.poll() is None:
        _send(process, signal.SIGINT)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(PATIENCE)
    _send(process, getattr(signal, "SIGKILL", signal.SIGTERM))
    process.wait()


def _send(process: subprocess.Popen, number: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        if sys.platform == "win32":
            process.terminate()
        else:
            os.killpg(process.pid, number)


def is_alive(pid: int) -> bool:
    """Whether a process of this number runs; on Windows every process counts as alive."""
    if sys.platform == "win32":  # there the signal 0 is Ctrl-C
        return True
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def cores() -> int:
    """Number of cores that this process may use."""
    if sys.version_info >= (3, 13):
        return os.process_cpu_count() or 1
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
