"""The exercises of a notebook, read from its cells.

An exercise is a Markdown cell that holds ``**Exercise 03.2 (two stars).**``, a hint and a solution
in ``<details>``, and the code cell below it, whose last line is ``check("03.2", answer_2)``. The
solution has one block of Python that assigns the answer.
"""

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from nbformat import NotebookNode

__all__ = ["SOLUTION", "Task", "tasks_of"]

TITLE = re.compile(r"\*\*Exercise (\d\d\.\d+) \((one star|two stars|three stars)\)\.\*\*")
STARS = {"one star": 1, "two stars": 2, "three stars": 3}
DETAILS = r"<details>\s*<summary>{}</summary>(.*?)</details>"
HINT = re.compile(DETAILS.format("Hint"), re.DOTALL)
SOLUTION = re.compile(DETAILS.format("Solution"), re.DOTALL)
PYTHON = re.compile(r"^```python\n(.*?)^```", re.DOTALL | re.MULTILINE)


@dataclass(frozen=True)
class Task:
    """An exercise as it stands in a notebook.

    Parameters
    ----------
    number : str
        Notebook and place, ``"03.2"``.
    stars : int
        How hard it is, from 1 to 3.
    text : int
        Position of the Markdown cell; the code cell follows it.
    answer : str
        The code above the check: an empty answer.
    checked : str
        The expression that the check is given.
    solution : str
        The code of the solution.
    """

    number: str
    stars: int
    text: int
    answer: str
    checked: str
    solution: str


def tasks_of(notebook: NotebookNode) -> list[Task]:
    """Read all exercises of a notebook.

    Parameters
    ----------
    notebook : NotebookNode
        In version 4 of the format.

    Returns
    -------
    list of Task
        In the order of the notebook.

    Raises
    ------
    ValueError
        If an exercise lacks a part; the message names it.
    """
    return list(_tasks(notebook.cells))


def _tasks(cells: Sequence[NotebookNode]) -> Iterator[Task]:
    for position, cell in enumerate(cells):
        titles = TITLE.findall(cell.source) if cell.cell_type == "markdown" else []
        if not titles:
            continue
        number, stars = titles[0]
        if len(titles) > 1:
            raise ValueError(f"exercises {number} and {titles[1][0]} need a cell each.")
        solution, hint = SOLUTION.search(cell.source), HINT.search(cell.source)
        code = PYTHON.findall(solution[1]) if solution else []
        if not hint or len(code) != 1:
            raise ValueError(
                f"exercise {number} needs a hint and one block of Python in a solution."
            )
        answer, checked = _split(number, cells[position + 1 : position + 2])
        yield Task(number, STARS[stars], position, answer, checked, code[0].rstrip())


def _split(number: str, following: Sequence[NotebookNode]) -> tuple[str, str]:
    """The empty answer, and the expression that the check below an exercise is given."""
    source = following[0].source if following and following[0].cell_type == "code" else ""
    statements = ast.parse(source).body
    match statements[-1] if statements else None:
        case ast.Expr(
            ast.Call(func=ast.Name("check"), args=[ast.Constant(value), checked])
        ) as last if value == number:
            lines = source.splitlines()[: last.lineno - 1]
            return "\n".join(lines).rstrip(), ast.unparse(checked)
    raise ValueError(f'below exercise {number} a code cell has to end with check("{number}", ...).')
