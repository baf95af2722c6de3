"""Finished cells on disk: one sealed file each, written whole or not at all.

A file is JSON with a checksum of everything else in it, so an altered value is noticed, and it
names its study and its cell, so it is never taken for another's.
"""

import hashlib
import json
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

__all__ = ["Store"]

MANIFEST = "study.json"
CHECKSUM = "sha256"


class Store:
    """A directory of sealed files: a manifest, and one file for each finished cell.

    Parameters
    ----------
    directory : Path
        Made if missing.
    study : dict
        What the manifest says: the name of the function and the seed.
    recompute : bool
        Whether damaged files are set aside, to be written again, or an error.
    """

    def __init__(self, directory: Path, study: Mapping[str, Any], recompute: bool) -> None:
        self.directory, self.study, self.recompute = directory, dict(study), recompute
        if directory.exists() and not directory.is_dir():
            raise ValueError(f"store {directory} is not a directory: give another path.")
        with _remedy(directory):
            directory.mkdir(parents=True, exist_ok=True)
            self._check_manifest()

    def _check_manifest(self) -> None:
        path = self.directory / MANIFEST
        if path.exists():
            stored, fault = _unseal(path)
        elif any(self.directory.glob("*.json")):
            stored, fault = {}, "is missing, beside other JSON files"
        else:
            _seal(path, self.study)
            return
        if fault:
            self._set_aside({path: fault})
            _seal(path, self.study)
        elif stored != self.study:
            raise ValueError(
                f"store {self.directory} holds the study {stored}, not {self.study}: give each "
                "function and seed a directory of its own."
            )

    def path(self, text: str) -> Path:
        """The file of a cell, given by its canonical text."""
        key = json.dumps([self.study, text], sort_keys=True)
        return self.directory / f"{hashlib.sha256(key.encode()).hexdigest()[:32]}.json"

    def load(self, texts: Iterable[str]) -> dict[str, Any]:
        """Results of those cells that have finished before, by the text of the cell."""
        results, faults = {}, {}
        with _remedy(self.directory):
            for text in texts:
                path = self.path(text)
                if not path.exists():
                    continue
                content, fault = _unseal(path)
                result = content.pop("result", None)
                if not fault and content != {**self.study, "cell": json.loads(text)}:
                    fault = f"does not hold the cell {text}"
                if fault:
                    faults[path] = fault
                else:
                    results[text] = result
            self._set_aside(faults)
        return results

    def save(self, text: str, result: Mapping[str, Any]) -> None:
        """Keep the result of a cell."""
        with _remedy(self.directory):
            _seal(self.path(text), {**self.study, "cell": json.loads(text), "result": result})

    def _set_aside(self, faults: Mapping[Path, str]) -> None:
        if faults and not self.recompute:
            listed = "\n".join(f"{path} {fault}" for path, fault in faults.items())
            raise ValueError(
                f"{listed}\nThe store is damaged there. on_damage='recompute' sets these files "
                f"aside as *.damaged and makes them again. If {self.directory} is not the store "
                "of this study, give another directory."
            )
        for path in faults:
            if path.exists():
                path.replace(path.with_suffix(".damaged"))


def _seal(path: Path, content: Mapping[str, Any]) -> None:
    """Write content and checksum: a reader, or a killed run, sees the whole file or none."""
    draft = path.with_suffix(f".{os.getpid()}.tmp")
    try:
        with draft.open("w", encoding="utf-8") as file:
            json.dump({**content, CHECKSUM: _checksum(content)}, file, indent=1)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise


def _unseal(path: Path) -> tuple[dict[str, Any], str]:
    """The content of a file, and what is wrong with it, if anything."""
    if not path.is_file():
        return {}, "is not a file"
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        return {}, f"is not JSON ({error})"
    if not isinstance(content, dict) or CHECKSUM not in content:
        return {}, f"has no checksum ({CHECKSUM!r}): another form, or an older version"
    if content.pop(CHECKSUM) != _checksum(content):
        return {}, "was altered: its checksum does not match"
    return content, ""


def _checksum(content: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


@contextmanager
def _remedy(directory: Path) -> Iterator[None]:
    """An error of the file system that says what to do."""
    try:
        yield
    except OSError as error:
        raise OSError(
            error.errno,
            f"{error.strerror}: the store cannot be read or written. Cells that were stored are "
            "kept; free space or correct the permissions and run again, or give another store",
            str(error.filename or directory),
        ) from error
