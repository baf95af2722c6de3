"""The predictions of a notebook for the pages of the book, which judge them without Python.

predictions.csv has a row for each question "Predict before you run": what is asked for, the choices
or a number with its tolerance, the key, and the words of the notebook that bear it. A row that the
notebook no longer supports, and a question without a row, break the build.
"""

import csv
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nbformat
from nbformat import NotebookNode

__all__ = ["Place", "Question", "Row", "export", "predictions", "questions_of", "table"]

TABLE = Path(__file__).with_name("predictions.csv")
QUESTION = re.compile(r"\*\*Predict\b[^*]*\*\*\s*(.+?)(?=\n\s*\n|\Z)", re.DOTALL)
FIGURE = re.compile(r"\*\*Figure (\d+\.\d+)\.\*\*")
NUMBER = re.compile(r"-?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?")
NOT_THIS = {"choice": "Not this one.", "number": "Not this number."}


@dataclass(frozen=True)
class Row:
    """A row of the table.

    Parameters
    ----------
    line : int
        Its line in the file.
    notebook : str
        Number of the notebook.
    question : str
        The words with which the question begins.
    kind : str
        "choice", "number", or "none" for a question that a page does not judge.
    asked : str
        What the reader is to choose or to type; for "none" the reason.
    choices : str
        Separated by `` | ``.
    key : str
        The right choice, or the number.
    tolerance : str
        Largest difference of a number from the key.
    bearer : str
        Words that follow the question in the notebook and answer it. Those of a number hold it.
    """

    line: int
    notebook: str
    question: str
    kind: str
    asked: str
    choices: str
    key: str
    tolerance: str
    bearer: str

    def error(self, problem: str) -> ValueError:
        """What is wrong with the row, and where it stands."""
        where = f"{TABLE.name}, line {self.line}, notebook {self.notebook}"
        return ValueError(f'{where}, "{self.question}": {problem}')


@dataclass(frozen=True)
class Question:
    """A question as it stands in a notebook: its cell, where its text ends there, its words."""

    cell: int
    end: int
    words: str


@dataclass(frozen=True)
class Place:
    """Where a notebook answers: a cell, the line of its text from 0, and the figure, if any."""

    cell: int
    line: int
    figure: str


def table(path: Path = TABLE) -> list[Row]:
    """The rows of the table."""
    with path.open(encoding="utf-8", newline="") as file:
        reader = csv.DictReader(file)
        return [Row(reader.line_num, **row) for row in reader]


def predictions(notebook: Path, rows: Sequence[Row] | None = None) -> str:
    """The predictions of a notebook as JSON: what `export` makes of each, in their order.

    Parameters
    ----------
    notebook : Path
        A notebook of the book, whose name begins with its number.
    rows : sequence of Row, default=None
        Those of the project's table if None.

    Returns
    -------
    str
        A list.

    Raises
    ------
    ValueError
        If questions and rows do not belong together; the message names row and remedy.
    """
    number, content = notebook.name[:2], nbformat.read(notebook, as_version=4)
    rows = [row for row in (table() if rows is None else rows) if row.notebook == number]
    questions = questions_of(content)
    taken = {row: _asked_by(row, questions) for row in rows}
    keys = []
    for question in questions:
        found = [row for row in rows if taken[row] == question]
        if len(found) != 1:
            raise ValueError(
                f'notebook {number}, "{question.words[:60]}": {len(found)} rows of {TABLE.name} '
                f'have this question, and it needs one. Kind "none" with a reason gives no input.'
            )
        keys.append(export(found[0], question, content))
    return json.dumps(keys, indent=1)


def questions_of(notebook: NotebookNode) -> list[Question]:
    """The predictions that a notebook asks for, in their order."""
    return [
        Question(position, found.end(), " ".join(found[1].split()))
        for position, cell in enumerate(notebook.cells)
        if cell.cell_type == "markdown"
        for found in QUESTION.finditer(cell.source)
    ]


def _asked_by(row: Row, questions: Sequence[Question]) -> Question:
    found = [each for each in questions if row.question and each.words.startswith(row.question)]
    if len(found) != 1:
        raise row.error(
            f"{len(found)} predictions of the notebook begin so. Give the first words of one, "
            "or remove the row."
        )
    return found[0]


def export(row: Row, question: Question, notebook: NotebookNode) -> dict[str, Any]:
    """What a page needs to judge a prediction.

    Parameters
    ----------
    row : Row
        The row of the question.
    question : Question
        The question as it stands in the notebook.
    notebook : NotebookNode
        The notebook, executed.

    Returns
    -------
    dict
        The entries of `Exercise.key`, ``asked``, ``choices``, ``refusal``, which is said of a wrong
        prediction, and ``place``, the fields of the `Place` that answers. Empty for kind "none".

    Raises
    ------
    ValueError
        If the row is at odds with itself or with the notebook; the message names row and remedy.
    """
    if not row.asked:
        raise row.error('"asked" is empty. Say what is asked for, or why there is no input.')
    if row.kind == "none":
        if row.choices or row.key or row.tolerance or row.bearer:
            raise row.error('kind "none" takes a reason in "asked" alone. Empty the other fields.')
        return {}
    if row.kind not in NOT_THIS:
        raise row.error(f'"kind" is {row.kind!r}. Use choice, number or none.')
    right, tolerance, choices = _choice(row) if row.kind == "choice" else _number(row)
    return {
        "asked": row.asked,
        "choices": choices,
        "right": right,
        "rtol": 0.0,
        "atol": tolerance,
        "mistakes": [],
        "otherwise": "",
        "refusal": NOT_THIS[row.kind],
        "place": vars(_place(row, question, notebook)),
    }


def _choice(row: Row) -> tuple[str, float, list[str]]:
    choices = [each.strip() for each in row.choices.split("|")]
    if len(choices) < 2 or len(set(choices)) < len(choices) or not all(choices):
        raise row.error('"choices" needs two or more different ones, separated by " | ".')
    if row.key not in choices:
        raise row.error(f"the key {row.key!r} is none of the choices. Copy one of them.")
    if row.tolerance:
        raise row.error('only a number has a "tolerance". Empty the field.')
    return row.key, 0.0, choices


def _number(row: Row) -> tuple[float, float, list[str]]:
    try:
        right, tolerance = float(row.key), float(row.tolerance)
    except ValueError:
        raise row.error('"key" and "tolerance" of a number have to be numbers.') from None
    if tolerance <= 0 or row.choices:
        raise row.error('a number needs a positive "tolerance" and no "choices".')
    borne = [float(found.replace(",", "")) for found in NUMBER.findall(row.bearer)]
    if not any(abs(value - right) <= tolerance for value in borne):
        raise row.error(
            f'"bearer" holds no number within {row.tolerance} of the key {row.key}. '
            "Take the words of the notebook that do, or correct the key."
        )
    return right, tolerance, []


def _place(row: Row, question: Question, notebook: NotebookNode) -> Place:
    """The first place below the question that has the words of the bearer."""
    words = re.compile(r"\s+".join(map(re.escape, row.bearer.split())))
    for position, figure, text in _below(question, notebook):
        found = words.search(text)
        if row.bearer and found:
            return Place(position, text.count("\n", 0, found.start()), figure)
    raise row.error(
        f'no text or output below the question has the bearer "{row.bearer}". If the notebook '
        "still answers so, take its present words; if not, correct the key as well."
    )


def _below(question: Question, notebook: NotebookNode) -> Iterator[tuple[int, str, str]]:
    """Texts and outputs below a question: cell, figure if it is a caption, words."""
    for position, cell in enumerate(notebook.cells[question.cell :], question.cell):
        if cell.cell_type == "markdown":
            start = question.end if position == question.cell else 0
            # Blank in place of what stands above, so that lines keep their numbers.
            yield position, "", re.sub(r"\S", " ", cell.source[:start]) + cell.source[start:]
        for output in cell.get("outputs", []):
            caption = output.get("data", {}).get("text/markdown", "")
            figure = FIGURE.match(caption)
            yield position, figure[1] if figure else "", caption
            yield position, "", output.get("text", "")
