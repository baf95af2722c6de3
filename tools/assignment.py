"""A notebook as an assignment for a course; what students get does not hold the key.

python -m tools.assignment 03

Below ``build/assignments`` it writes the two versions of the notebook, where nbgrader looks for
them and with its metadata, and the package that students install:

* ``source/03_kernel_svm/``: for the teacher, with solutions, and with hidden tests that need the
  answers in ``kernelcourse``;
* ``release/03_kernel_svm/``: for students, the same without solutions and hidden tests;
* ``students/``: ``kernelcourse`` without its answers, to be installed by pip.
"""

import ast
import csv
import os
import re
import sys
from collections.abc import Sequence
from copy import deepcopy
from pathlib import Path

import nbformat
import numpy as np
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell

from kernelcourse.exercises import Exercise, exercises_of
from kernelcourse.exercises.grading import numbers_of
from tools.course import write_package
from tools.exercises import SOLUTION, Task, tasks_of

__all__ = ["main", "release_version", "source_version", "write_student_package"]

ROOT = Path(__file__).resolve().parents[1]
TARGET = ROOT / "build" / "assignments"
WRITTEN = Path(__file__).with_name("written_questions.csv")
INSTRUCTION = re.compile(
    r'^(?:Put|Fill) [^.]* run the cell: it says "right", or [^.]*\.', re.MULTILINE
)
NEW_INSTRUCTION = (
    "Put your answer in place of `None` and run its cell and the one below, which says whether\n"
    "the answer has the form asked for. Whether it is right you learn when it has been marked."
)
COURSE_IMPORT = re.compile(r"^from kernelcourse import (.+)$", re.MULTILINE)
FOR_THE_TEACHER = re.compile(r"\n+### BEGIN (SOLUTION|HIDDEN TESTS)\n.*?\n### END \1", re.DOTALL)


def main(arguments: Sequence[str] | None = None) -> int:
    wanted = sys.argv[1:] if arguments is None else arguments
    if not wanted:
        print("Which notebook? make assignment NB=03", file=sys.stderr)
        return 2
    for number in wanted:
        found = sorted((ROOT / "notebooks").glob(f"{number}_*.ipynb"))
        if len(found) != 1 or not tasks_of(notebook := nbformat.read(found[0], as_version=4)):
            print(f"No notebook {number!r} has exercises; say NB=03.", file=sys.stderr)
            return 2
        source = source_version(notebook)
        for folder, version in (("source", source), ("release", release_version(source))):
            target = TARGET / folder / found[0].stem / found[0].name
            target.parent.mkdir(parents=True, exist_ok=True)
            nbformat.write(version, target)
            print(os.path.relpath(target))
    print(os.path.relpath(write_student_package(TARGET / "students")))
    return 0


def source_version(notebook: NotebookNode) -> NotebookNode:
    """Turn a notebook into the teacher's version of an assignment.

    Parameters
    ----------
    notebook : NotebookNode
        A notebook with exercises.

    Returns
    -------
    NotebookNode
        A copy without outputs. The check of each exercise has become a cell to answer, with the
        solution between nbgrader's marks, and a locked cell: its first lines look at the form of
        the answer, its hidden tests decide whether the answer is right, and then say so. Last
        comes a question that is answered in a paragraph and marked by hand.

    Raises
    ------
    ValueError
        If an exercise lacks a part, or a cell outside the exercises needs the answers.
    """
    result = deepcopy(notebook)
    tasks = {task.text: task for task in tasks_of(notebook)}
    numbers = sorted({task.number[:2] for task in tasks.values()})
    answers = {each.number: each for number in numbers for each in exercises_of(number)}
    cells: list[NotebookNode] = []
    for position, cell in enumerate(result.cells):
        if position - 1 in tasks:
            task = tasks[position - 1]
            cells += _marked_cells(task, answers[task.number])
        elif cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
            cell.source = COURSE_IMPORT.sub(_without_check, cell.source)
            _refuse_check(position, cell.source)
            cells.append(cell)
        else:
            cell.source = _how_to_answer(SOLUTION.sub("", cell.source)).rstrip()
            cells.append(cell)
    cells += [_written_cell(number) for number in numbers]
    for position, cell in enumerate(cells):
        cell.id = f"cell-{position:02d}"
    result.cells = cells
    return result


def release_version(source: NotebookNode) -> NotebookNode:
    """Cut out of a teacher's version what students must not see.

    Parameters
    ----------
    source : NotebookNode
        What :func:`source_version` returns.

    Returns
    -------
    NotebookNode
        A copy without solutions and hidden tests.
    """
    result = deepcopy(source)
    for cell in result.cells:
        cell.source = FOR_THE_TEACHER.sub("", cell.source)
    return result


def write_student_package(target: Path) -> Path:
    """Write the part of ``kernelcourse`` that students install: all but the answers.

    Parameters
    ----------
    target : Path
        A directory, which is replaced.

    Returns
    -------
    Path
        The same directory; ``pip install`` takes it.
    """
    write_package(
        target,
        {"lib/kernelcourse": "kernelcourse"},
        name="kernelcourse",
        description="Figures and sliders of the notebooks of kernelbook, for students",
        extra="notebooks",
        packages='[tool.setuptools.packages.find]\ninclude = ["kernelcourse", "kernelcourse.*"]\n',
        left_out=("answers",),
    )
    return target


def _without_check(line: re.Match[str]) -> str:
    names = [name for name in line[1].split(", ") if name != "check"]
    return f"from kernelcourse import {', '.join(names)}"


def _how_to_answer(source: str) -> str:
    """The text with what to do in an assignment, below the heading if it said nothing of it."""
    told = INSTRUCTION.sub(NEW_INSTRUCTION, source)
    if told == source and re.search(r"^## Exercises$", source, re.MULTILINE):
        return f"{source.rstrip()}\n\n{NEW_INSTRUCTION}"
    return told


def _refuse_check(position: int, source: str) -> None:
    names = {node.id for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Name)}
    if "check" in names or "kernelcourse.exercises" in source:
        raise ValueError(f"cell {position} needs the answers, and stands outside the exercises.")


def _marked_cells(task: Task, exercise: Exercise) -> list[NotebookNode]:
    """The cell of the answer and the cell that marks it, with nbgrader's metadata (schema 3)."""
    # nbgrader makes its own student version: what stands before the mark stays in it.
    answer = f"{task.answer}\n\n### BEGIN SOLUTION\n{task.solution}\n### END SOLUTION"
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
            f"{_form_test(task, exercise)}\n{_hidden_test(task)}",
            metadata={
                "nbgrader": common
                | {"grade_id": f"check-{name}", "solution": False, "grade": True, "locked": True}
                | {"points": task.stars}
            },
        ),
    ]


def _written_cell(number: str) -> NotebookNode:
    """The cell of a question that is answered in words and marked by hand."""
    with WRITTEN.open(encoding="utf-8", newline="") as file:
        row = next(row for row in csv.DictReader(file) if row["notebook"] == number)
    return new_markdown_cell(
        f"**In a paragraph.** {row['question']}\n\n*Write your answer in place of this line.*",
        metadata={
            "nbgrader": {"schema_version": 3, "task": False, "grade_id": f"written-{number}"}
            | {"solution": True, "grade": True, "locked": False, "points": int(row["points"])}
        },
    )


def _form_test(task: Task, exercise: Exercise) -> str:
    """Lines that fail if an answer is missing or has another form; they tell nothing else."""
    asks = f"exercise {task.number} asks for"
    if exercise.evaluate is not None:
        return f'assert callable({task.checked}), "{asks} a function"'
    right = exercise.right()
    if isinstance(right, str):
        return f'assert isinstance({task.checked}, str), "{asks} the letter of a choice"'
    shape = np.shape(right)
    return (
        "import numpy as np\n\n"
        f"assert np.isfinite(np.array({task.checked}, dtype=float)).all(), "
        f'"exercise {task.number} is not answered yet"\n'
        f'assert np.shape({task.checked}) == {shape}, "{asks} {numbers_of(shape)}"'
    )


def _hidden_test(task: Task) -> str:
    """Lines that fail unless the answer is right, between the marks that nbgrader cuts out."""
    return (
        "### BEGIN HIDDEN TESTS\n"
        "from kernelcourse.exercises import assert_right\n\n"
        f'assert_right("{task.number}", {task.checked})\n'
        'print("right")\n'
        "### END HIDDEN TESTS"
    )


if __name__ == "__main__":
    raise SystemExit(main())
