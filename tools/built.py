"""What ``make run`` leaves in ``build/``, and the seals by which it is known to be up to date.

A built notebook carries a seal over all that its outputs depend on and over the outputs; its page
ends with a seal over the source, the built notebook and the page. A file that is missing, older
or damaged does not fit its seal and is made again. There is no common record that two runs at
once could overwrite.
"""

import hashlib
import json
import platform
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from tools.files import kept_files

__all__ = ["SEAL", "NotebookError", "Project", "Seals", "code_of", "loaded"]

TEMPLATES = Path(__file__).parent / "templates"
SEAL = "kernelbook_seal"


class NotebookError(Exception):
    """A notebook cannot be found, read or executed; the message says how to go on."""


@dataclass(frozen=True)
class Project:
    """Where the files are, below one root."""

    root: Path

    @property
    def notebooks(self) -> Path:
        return self.root / "notebooks"

    def executed(self, source: Path) -> Path:
        return self.root / "build" / "notebooks" / source.name

    def page(self, source: Path) -> Path:
        return self.root / "build" / "html" / f"{source.stem}.html"

    def shared_files(self) -> list[Path]:
        """Everything outside a notebook on which its outputs depend."""
        files = [self.root / "requirements.lock"]
        for name in ("lib/kernelbook", "lib/kernelcourse", "studies", "data"):
            files += kept_files(self.root / name)
        return sorted(files)


@dataclass(frozen=True)
class Seals:
    """Seals of built files; ``shared`` stands for all that every notebook depends on."""

    shared: str
    templates: str

    @classmethod
    def of(cls, project: Project) -> Self:
        shared = [platform.python_version().encode()]
        for path in project.shared_files():
            shared += [path.relative_to(project.root).as_posix().encode(), path.read_bytes()]
        templates = [path.read_bytes() for path in sorted(kept_files(TEMPLATES))]
        return cls(_digest(*shared), _digest(*templates))

    def of_notebook(self, notebook: dict) -> str:
        """The seal over all that outputs depend on, and over the outputs."""
        outputs = [cell["outputs"] for cell in notebook["cells"] if cell["cell_type"] == "code"]
        return _digest(self.shared.encode(), _json(code_of(notebook)), _json(outputs))

    def is_notebook_of(self, built: dict, source: dict) -> bool:
        """Whether the outputs of a built notebook are those of the code cells of ``source``."""
        is_whole = built.get("metadata", {}).get(SEAL) == self.of_notebook(built)
        return is_whole and code_of(built) == code_of(source)

    def sealed_page(self, html: str, source: bytes, built: dict) -> str:
        seal = built["metadata"][SEAL]
        own = _digest(source, self.templates.encode(), seal.encode(), html.encode())
        return f"{html}\n<!-- {own} -->\n"

    def is_page_of(self, path: Path, source: bytes, built: dict) -> bool:
        """Whether a page was made of this source and this built notebook."""
        try:
            text = path.read_text(encoding="utf-8")
        except (OSError, ValueError):
            return False
        return text == self.sealed_page(text.rpartition("\n<!-- ")[0], source, built)


def loaded(content: bytes) -> dict:
    """A notebook as plain JSON: nbformat, slow to import, has no part in finding all up to date.

    Raises
    ------
    NotebookError
        If it is none.
    """
    try:
        notebook = dict(json.loads(content))
        code_of(notebook)
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise NotebookError(f"{type(error).__name__}: {error}") from None
    return notebook


def code_of(notebook: dict) -> list[list]:
    """Source and tags of the code cells; a file may store a source as lines or as one text."""
    return [
        ["".join(cell["source"]), sorted(cell["metadata"].get("tags", []))]
        for cell in notebook["cells"]
        if cell["cell_type"] == "code"
    ]


def _json(value: object) -> bytes:
    return json.dumps(value, sort_keys=True).encode()


def _digest(*parts: bytes) -> str:
    total = hashlib.sha256()
    for part in parts:
        total.update(hashlib.sha256(part).digest())
    return total.hexdigest()
