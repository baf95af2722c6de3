"""Files that appear whole or not at all, and what is left of a write that was killed."""

import contextlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

from tools.processes import is_alive

__all__ = ["clear_leftovers", "is_of_an_editor", "kept_files", "write_atomically"]


def write_atomically(path: Path, text: str) -> None:
    """Write a file that a reader, or a kill at any moment, never finds half-written."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(
        dir=path.parent, prefix=f".{path.name}.{os.getpid()}.", suffix=".part"
    )
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        mode = path.stat().st_mode if path.exists() else 0o644
        os.chmod(name, mode & 0o777)
        os.replace(name, path)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(name)
        raise


def clear_leftovers(directory: Path) -> None:
    """Remove what processes that are dead have left half-written in a directory."""
    for path in directory.glob(".*.part"):
        pid = path.name.split(".")[-3]
        if pid.isdigit() and not is_alive(int(pid)):
            path.unlink(missing_ok=True)


def kept_files(directory: Path) -> Iterator[Path]:
    """The files below a directory that people keep: none of an editor, none of Python's cache."""
    for folder, folders, names in os.walk(directory):
        folders[:] = [name for name in folders if name[0] != "." and name != "__pycache__"]
        yield from (Path(folder) / name for name in names if not is_of_an_editor(name))


def is_of_an_editor(name: str) -> bool:
    """Whether a name is that of a backup, a lock or a swap file: ``a.py~``, ``#a.py#``, ``.a.swp``.

    ``4913`` is how Vim tries whether it may write.
    """
    ends = ("~", "#", ".swp", ".bak", ".orig", ".tmp", ".part", ".pyc")
    return name.startswith((".", "#")) or name.endswith(ends) or name == "4913"
