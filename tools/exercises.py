"""The exercises of a notebook, and the notebook as an assignment for a course.

python -m tools.exercises 03        the student's and the teacher's version of notebook 03

An exercise is a Markdown cell that holds ``**Exercise 03.2 (two stars).**``, a hint and a solution
in ``<details>``, and the code cell below it, whose last line is ``check("03.2", answer_2)``. The
solution has one block of Python that assigns the answer. Both versions carry nbgrader's metadata
and lie where nbgrader looks for them: ``source/`` (with solutions, for the teacher) and
``release/`` (without, for students).
"""

import ast
import re
import sys
from collections.abc import Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path

import nbformat
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell

__all__ = ["Task", "assignment", "main", "tasks_of"]

ROOT = Path(__file__).resolve().parents[1]
TITLE = re.compile(r"\*\*Exercise (\d\d\.\d+) \((one star|two stars|three stars)\)\.\*\*")
STARS = {"one star": 1, "two stars": 2, "three stars": 3}
DETAILS = r"<details>\s*<summary>{}</summary>(.*?)</details>"
HINT = re.compile(DETAILS.format("Hint"), re.DOTALL)
SOLUTION = re.compile(DETAILS.format("Solution"), re.DOTALL)
PYTHON = re.compile(r"^```python\n(.*?)^```", re.DOTALL | re.MULTILINE)


@dataclass(frozen=True)
class Task:
    """An exercise as it stands in a notebook."""

    number: str
    stars: int
    text: int  # position of the Markdown cell; the code cell follows it
    answer: str  # the code above the check: an empty answer
    checked: str  # what is handed to the check
    solution: str  # the code of the solution

    @property
    def test(self) -> str:
        """The code of a marked cell: it fails unless the answer is right."""
        return (
            "from kernelbook.exercises import assert_right\n\n"
            f'assert_right("{self.number}", {self.checked})'
        )


def main(arguments: Sequence[str] | None = None) -> int:
    wanted = sys.argv[1:] if arguments is None else arguments
    if not wanted:
        print("Which notebook? make assignment NB=03", file=sys.stderr)
        return 2
    for number in wanted:
        found = sorted((ROOT / "notebooks").glob(f"{number}_*.ipynb"))
        if len(found) != 1:
            print(f"There is no notebook {number!r}; say NB=03, for instance.", file=sys.stderr)
            return 2
        notebook = nbformat.read(found[0], as_version=4)
        for folder, solved in (("source", True), ("release", False)):
            target = ROOT / "build" / "assignments" / folder / found[0].stem / found[0].name
            target.parent.mkdir(parents=True, exist_ok=True)
            nbformat.write(assignment(notebook, solved=solved), target)
            print(target.relative_to(ROOT))
    return 0


def tasks_of(notebook: NotebookNode) -> list[Task]:
    """All exercises of a notebook, in order.

    Raises
    ------
    ValueError
        If an exercise lacks a part; the message names it.
    """
    return list(_tasks(notebook.cells))


def assignment(notebook: NotebookNode, *, solved: bool) -> NotebookNode:
    """The notebook with marked cells in place of its exercises' checks, and without outputs.

    With ``solved`` the answers are filled in between nbgrader's marks, for the teacher; otherwise
    they are empty, and no solution is left in the text.
    """
    result = deepcopy(notebook)
    tasks = {task.text: task for task in tasks_of(notebook)}
    cells: list[NotebookNode] = []
    for position, cell in enumerate(result.cells):
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
        if position in tasks:
            cell.source = SOLUTION.sub("", cell.source).rstrip()
        if position - 1 in tasks:
            cells += _marked_cells(tasks[position - 1], solved)
        else:
            cells.append(cell)
    for position, cell in enumerate(cells):
        cell.id = f"cell-{position:02d}"
    result.cells = cells
    return result


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


def _marked_cells(task: Task, solved: bool) -> list[NotebookNode]:
    """The cell of the answer and the cell that marks it, with nbgrader's metadata (schema 3)."""
    answer = task.answer
    if solved:
        # nbgrader makes its own student version: what stands before the mark stays in it.
        answer += f"\n\n### BEGIN SOLUTION\n{task.solution}\n### END SOLUTION"
    name = task.number.replace(".", "-")
    common = {"schema_version": 3, "task": False}
    return [
        new_code_cell(
            answer,
            metadata={
                "nbgrader": common
                | {"grade_id": f"answer-{name}", "solution": True, "grade": False, "locked": False}
            },
        ),
        new_code_cell(
            task.test,
            metadata={
                "nbgrader": common
                | {"grade_id": f"check-{name}", "solution": False, "grade": True, "locked": True}
                | {"points": task.stars}
            },
        ),
    ]


if __name__ == "__main__":
    raise SystemExit(main())
