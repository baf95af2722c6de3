"""A lock between processes that says who holds it, and that a dead process cannot hold.

The system keeps the lock and gives it up when its holder ends, however it ends; the file only
carries the name of the holder and is gone afterwards.
"""

import contextlib
import os
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

__all__ = ["one_at_a_time"]

PAUSE = 0.1  # seconds between two tries


@contextlib.contextmanager
def one_at_a_time(path: Path, say: Callable[[str], None]) -> Iterator[None]:
    """Hold the lock ``path`` inside the block; wait for it, with one message to ``say``."""
    told = False
    while (file := _take(path)) is None:
        if not told and (holder := _read(path)):
            say(f"Waiting for {holder}, which is at it already (Ctrl-C stops waiting).")
            told = True
        time.sleep(PAUSE)
    try:
        os.write(file, f"process {os.getpid()}, since {time.strftime('%H:%M:%S')}".encode())
        yield
    finally:
        with contextlib.suppress(OSError):  # Windows removes no open file: it stays, unlocked
            path.unlink()
        os.close(file)


def _take(path: Path) -> int | None:
    """A descriptor of the file, locked and empty, or None while another process holds it."""
    file = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
    # Between opening and locking the holder may have removed the file that was opened.
    with contextlib.suppress(FileNotFoundError):
        if _lock(file) and os.path.samestat(path.stat(), os.fstat(file)):
            os.ftruncate(file, 0)
            return file
    os.close(file)
    return None


if sys.platform == "win32":
    import msvcrt

    def _lock(file: int) -> bool:
        os.lseek(file, 1 << 30, os.SEEK_SET)  # locked bytes cannot be read: take a far one
        try:
            msvcrt.locking(file, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

else:
    import fcntl

    def _lock(file: int) -> bool:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        except OSError:  # a network file system without locks: better none than no set-up
            return True
        return True


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError:
        return ""
