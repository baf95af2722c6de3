"""Slides of a notebook, made from its figures and its main line.

    python -m tools.slides 03        build/slides/03_kernel_svm.html
    python -m tools.slides           those of all notebooks

A section is a column of slides. Figures, formulas with the sentence that leads to them, tables,
lists, predictions, boxes and visible code are shown; the paragraphs between them are what the
lecturer says, and stand in the notes (key S). Folded cells, the text in ``<details>``, exercises
and references stay in the notebook. A file needs no other file and no network; with ``?print-pdf``
behind its address it prints one slide a page.
"""

import argparse
import re
from collections.abc import Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

import nbformat
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from tools.pages import exported, inlined, package_folder
from tools.processes import exit_code
from tools.tracks import DETAILS, HIDE_CELL, HIDE_INPUT, PICTURES, folding

__all__ = ["Slide", "columns", "main", "to_slides"]

ROOT = Path(__file__).resolve().parents[1]
REVEAL = "sphinx_revealjs"
# Sections that a lecture leaves out.
NOT_SHOWN = ("Exercises", "Next", "References")
# What fits on a slide, in words; a formula takes as much room as so many.
MOST_WORDS, FORMULA_WORDS, LIST_WORDS = 115, 22, 6
LONG_CODE = 16
BLOCK = re.compile(r"\n\s*\n")
HEADING = re.compile(r"(#{1,3}) +(.+)")
SHOWN = re.compile(r"\$\$|>|\||[-*] |\d+\. |\*\*Predict|\*\*You will be able to|!\[")
SENTENCE = re.compile(r"(?<=[.?!:]) +(?=[A-Z$*`(])")


@dataclass
class Slide:
    """The cells of a slide, and what the lecturer says to them."""

    cells: list[NotebookNode] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    words: int = 0
    is_long: bool = False

    def add(self, text: str) -> None:
        """Show a piece of text."""
        self.cells.append(new_markdown_cell(text))
        self.words += room(text)


def room(text: str) -> int:
    """The room that a piece of text takes, in words."""
    formulas, lines = text.count("$$") // 2, text.count("\n") + 1
    is_list = re.match(r"[-*|] ?|\d+\. ", text) is not None
    return len(text.split()) + FORMULA_WORDS * formulas + (LIST_WORDS * lines if is_list else 0)


def columns(notebook: NotebookNode) -> list[list[Slide]]:
    """The slides of a notebook: a list for each section.

    Parameters
    ----------
    notebook : NotebookNode
        With its outputs.

    Returns
    -------
    list of list of Slide
        The first holds the title.
    """
    found: list[list[Slide]] = [[Slide()]]
    is_shown = True
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            for block in BLOCK.split(DETAILS.sub("", cell.source).strip()):
                heading = HEADING.fullmatch(block.strip())
                if heading is not None and len(heading[1]) <= 2:
                    is_shown = heading[2] not in NOT_SHOWN
                if is_shown and block.strip():
                    _show_text(found, block.strip("\n"), heading)
        elif is_shown and cell.cell_type == "code" and folding(cell) != HIDE_CELL:
            _show_code(found[-1], cell)
    full = [[slide for slide in column if slide.cells] for column in found]
    return [column for column in full if column]


def _show_text(found: list[list[Slide]], block: str, heading: re.Match[str] | None) -> None:
    """Put a block of text on the last slide, on a new one, or into the notes."""
    column = found[-1]
    slide = column[-1]
    if heading is not None and len(heading[1]) <= 2:
        found.append([Slide()])
        found[-1][-1].add(block)
    elif heading is not None:
        column.append(Slide())
        column[-1].add(block)
    elif SHOWN.match(block) or "$$" in block:
        lead = _lead(slide) if block.startswith("$$") else ""
        text = f"{lead}\n\n{block}" if lead else block
        if block.startswith("**Predict") or (slide.words and slide.words + room(text) > MOST_WORDS):
            slide = Slide()
            column.append(slide)
        slide.add(text)
    elif len(slide.cells) == 1 and HEADING.fullmatch(slide.cells[0].source) and not slide.notes:
        # The first words of a section are its question.
        _question(slide, block)
    else:
        slide.notes.append(block)


def _question(slide: Slide, block: str) -> None:
    if re.fullmatch(r"\*\d+ min from the start\*", block):
        return
    shown = block if room(block) <= MOST_WORDS // 2 else SENTENCE.split(block)[0]
    slide.add(shown)
    slide.notes.append(block)


def _lead(slide: Slide) -> str:
    """The sentence before a formula, which the slide shows with it."""
    last = SENTENCE.split(slide.notes[-1].replace("\n", " "))[-1] if slide.notes else ""
    shown = " ".join(slide.cells[-1].source.split()) if slide.cells else ""
    return "" if shown.endswith(last) else last


def _show_code(column: list[Slide], cell: NotebookNode) -> None:
    """A slide for visible code with what it printed, and one for each figure."""
    starts = [i for i, output in enumerate(cell.outputs) if PICTURES & set(output.get("data", {}))]
    if folding(cell) != HIDE_INPUT:
        printed = cell.outputs[: starts[0]] if starts else cell.outputs
        lines = cell.source.count("\n") + sum(
            str(output.get("text", "")).count("\n") for output in printed
        )
        column.append(_with_outputs(cell.source, printed, is_long=lines > LONG_CODE))
    for start, end in pairwise([*starts, len(cell.outputs)]):
        column.append(_with_outputs("", cell.outputs[start:end]))


def _with_outputs(source: str, outputs: list[NotebookNode], is_long: bool = False) -> Slide:
    cell = new_code_cell(source, outputs=deepcopy(outputs))
    return Slide([cell], words=MOST_WORDS, is_long=is_long)


def to_slides(notebook: NotebookNode, title: str) -> str:
    """The slides as one page of HTML.

    Parameters
    ----------
    notebook : NotebookNode
        With its outputs.
    title : str
        Name of the page.

    Returns
    -------
    str
        The page.

    Raises
    ------
    RuntimeError
        If the package that carries reveal.js is not installed.
    """
    cells = [cell for column in columns(notebook) for cell in _wrapped(column)]
    made = new_notebook(cells=cells, metadata=deepcopy(notebook.metadata))
    return exported(made, title, "slides", **_reveal())


def _wrapped(column: Sequence[Slide]) -> Iterator[NotebookNode]:
    """The cells of a column, with the elements that make slides of them."""
    for place, slide in enumerate(column):
        cells = [deepcopy(cell) for cell in slide.cells]
        if slide.notes:
            notes = new_markdown_cell("\n\n".join(slide.notes))
            notes.metadata |= {"before": '<aside class="notes">', "after": "</aside>"}
            cells.append(notes)
        for cell in cells:
            cell.metadata.setdefault("before", "")
            cell.metadata.setdefault("after", "")
        kind = ' class="long"' if slide.is_long else ""
        opening = f"<section{kind}>" if place else f"<section><section{kind}>"
        cells[0].metadata.before = opening + cells[0].metadata.before
        ends = place == len(column) - 1
        cells[-1].metadata.after += "</section></section>" if ends else "</section>"
        yield from cells


def _reveal() -> dict[str, str]:
    """Style and scripts of reveal.js, from the package that carries it."""
    package = package_folder(REVEAL)
    if package is None:
        raise RuntimeError("slides need the package sphinx-revealjs: run make setup.")
    files = {
        "reveal_css": "dist/reveal.css",
        "reveal_js": "dist/reveal.js",
        "reveal_notes_js": "plugin/notes/notes.js",
    }
    folder = package / "_static" / "revealjs"
    return {name: inlined(folder / path) for name, path in files.items()}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line.

    Parameters
    ----------
    arguments : sequence of str, default=None
        The words after the name of the module. If None, those of the process.

    Returns
    -------
    int
        Exit code: 2 if there is no such notebook.
    """
    parser = argparse.ArgumentParser(prog="python -m tools.slides")
    parser.add_argument("numbers", nargs="*", help="numbers of notebooks; all if left out")
    numbers = parser.parse_args(arguments).numbers
    paths = sorted((ROOT / "notebooks").glob("[0-9][0-9]_*.ipynb"))
    chosen = [path for path in paths if not numbers or path.name[:2] in numbers]
    missing = set(numbers) - {path.name[:2] for path in chosen}
    if missing:
        parser.error(f"there is no notebook {', '.join(sorted(missing))}.")
    folder = ROOT / "build" / "slides"
    folder.mkdir(parents=True, exist_ok=True)
    for path in chosen:
        target = folder / f"{path.stem}.html"
        html = to_slides(nbformat.read(path, as_version=4), path.stem)
        target.write_text(html, encoding="utf-8")
        print(target.relative_to(ROOT))
    return 0


if __name__ == "__main__":
    raise SystemExit(exit_code(main))
