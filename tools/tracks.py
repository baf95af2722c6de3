"""Two speeds of a notebook: the main line, and what is folded behind one line of it.

python -m tools.tracks        words, visible code and figures of each notebook, and their medians

A tag says what of a cell is folded; JupyterLab, the pages of ``make run`` and the book honour it:

* ``hide-input``: the code of a figure, which stays;
* ``hide-cell``: checks, a second proof, a long table; what stays is the first line of the cell, a
  comment such as ``# Checked: the gap is below 1e-9 on all four sets``.

Text that is for a second reading stands in ``<details>``.
"""

import re
from dataclasses import astuple, dataclass, fields
from pathlib import Path
from statistics import median

import nbformat
from nbformat import NotebookNode

__all__ = ["HIDE_CELL", "HIDE_INPUT", "Length", "folding", "length", "mark_folded", "summary"]

HIDE_INPUT, HIDE_CELL = "hide-input", "hide-cell"
FOR_JUPYTERLAB = {
    HIDE_INPUT: {"source_hidden": True},
    HIDE_CELL: {"source_hidden": True, "outputs_hidden": True},
}
DETAILS = re.compile(r"<details>.*?</details>", re.DOTALL)
FORMULA = re.compile(r"\$\$.*?\$\$|\$[^$]+\$", re.DOTALL)
NO_WORDS = re.compile(r"^```.*?^```|<[^>]+>|\]\([^)]*\)|^\|?[-|: ]+$", re.DOTALL | re.MULTILINE)
WORD = re.compile(r"[^\W_][\w'’-]*")
PICTURES = {"image/png", "image/svg+xml"}


@dataclass(frozen=True)
class Length:
    """How much of a notebook a reader meets who opens nothing; ``cells`` counts the folded, too."""

    words: int
    lines: int
    figures: int
    cells: int


def folding(cell: NotebookNode) -> str | None:
    """The tag that says what of a code cell is folded, if any."""
    tags = cell.metadata.get("tags", [])
    return next((tag for tag in (HIDE_CELL, HIDE_INPUT) if tag in tags), None)


def summary(cell: NotebookNode) -> str:
    """The line that stays of a folded cell: the comment at its head, or nothing."""
    first = cell.source.partition("\n")[0]
    return first.removeprefix("#").strip() if first.startswith("#") else ""


def mark_folded(notebook: NotebookNode) -> None:
    """Write what the tags say where JupyterLab and the book look for it."""
    for cell in notebook.cells:
        cell.metadata.pop("jupyter", None)
        cell.metadata.pop("mystnb", None)
        tag = folding(cell)
        if tag is not None:
            cell.metadata["jupyter"] = FOR_JUPYTERLAB[tag]
        if tag == HIDE_CELL:
            line = summary(cell)
            cell.metadata["mystnb"] = {"code_prompt_show": line, "code_prompt_hide": line}


def length(notebook: NotebookNode) -> Length:
    """Measure the main line of a notebook, its exercises included."""
    words = lines = figures = 0
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            text = FORMULA.sub("x", DETAILS.sub("", cell.source))
            words += len(WORD.findall(NO_WORDS.sub(" ", text)))
        elif cell.cell_type == "code":
            tag = folding(cell)
            lines += 0 if tag else sum(bool(line.strip()) for line in cell.source.splitlines())
            outputs = [] if tag == HIDE_CELL else cell.outputs
            figures += sum(bool(PICTURES & set(output.get("data", {}))) for output in outputs)
    return Length(words, lines, figures, len(notebook.cells))


def main() -> None:
    folder = Path(__file__).resolve().parents[1] / "notebooks"
    paths = sorted(folder.glob("[0-9][0-9]_*.ipynb"))
    found = {path.stem: length(nbformat.read(path, as_version=4)) for path in paths}
    names = [field.name for field in fields(Length)]
    print(f"{'':40s}" + "".join(f"{name:>9s}" for name in names))
    middle = [median(getattr(each, name) for each in found.values()) for name in names]
    for title, numbers in [*((k, astuple(v)) for k, v in found.items()), ("median", middle)]:
        print(f"{title:40s}" + "".join(f"{number:9,.0f}" for number in numbers))


if __name__ == "__main__":
    main()
