"""The answers of a notebook's exercises for the pages of the book, which judge without Python.

Each exercise is executed first: its printed solution has to be the right answer of the key, or
the book is not built. What has been exported is kept in build/answers until the notebook's
exercises or the library change.
"""

import hashlib
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat

from kernelcourse.exercises import MODULES, RIGHT, Exercise, exercises_of
from tools.exercises import Task, tasks_of

__all__ = ["answers", "export"]

ROOT = Path(__file__).resolve().parents[1]
KEPT = ROOT / "build" / "answers"
LABELS = re.compile(r"= None +# (.+)")


def answers(notebook: Path) -> str:
    """The exercises of a notebook as JSON, from build/answers if nothing has changed.

    Parameters
    ----------
    notebook : Path
        A notebook of the book, whose name begins with its number.

    Returns
    -------
    str
        An object: the number of each exercise, and what `export` makes of it.

    Raises
    ------
    ValueError
        If an exercise and its key do not belong together; the message names it.
    """
    tasks = tasks_of(nbformat.read(notebook, as_version=4))
    state = hashlib.sha256(repr(tasks).encode())
    for path in sorted((ROOT / "lib").rglob("*.py")):
        state.update(path.read_bytes())
    kept = KEPT / f"{notebook.stem}-{state.hexdigest()[:16]}.json"
    if not kept.exists():
        text = json.dumps(dict(_exported(notebook.name[:2], tasks)), indent=1)
        KEPT.mkdir(parents=True, exist_ok=True)
        for old in KEPT.glob(f"{notebook.stem}-*.json"):
            old.unlink()
        kept.write_text(text, encoding="utf-8")
    return kept.read_text(encoding="utf-8")


def _exported(number: str, tasks: list[Task]) -> Iterator[tuple[str, dict[str, Any]]]:
    known = {each.number: each for each in exercises_of(number)} if number in MODULES else {}
    if other := known.keys() ^ {task.number for task in tasks}:
        raise ValueError(f"exercises with a key or a text alone: {', '.join(sorted(other))}.")
    for task in tasks:
        yield task.number, export(task, known[task.number])


def export(task: Task, exercise: Exercise) -> dict[str, Any]:
    """What a page needs to judge an exercise.

    Parameters
    ----------
    task : Task
        The exercise as it stands in the notebook; its solution is executed.
    exercise : Exercise
        Its key.

    Returns
    -------
    dict
        `Exercise.key` and ``asked``, the comment that says what the answer consists of. Empty if
        only a running notebook can judge the answer.

    Raises
    ------
    ValueError
        If the key refuses the solution, or takes a mistake for right.
    """
    key = exercise.key()
    if key is None:
        return {}
    names: dict[str, Any] = {}
    exec(compile(task.solution, f"solution of {task.number}", "exec"), names)
    verdict = exercise.verdict(eval(task.checked, names))
    if verdict != RIGHT:
        raise ValueError(f"the key of exercise {task.number} refuses its solution: {verdict}")
    if taken := [message for wrong, message in key["mistakes"] if exercise.verdict(wrong) == RIGHT]:
        raise ValueError(f"the key of exercise {task.number} takes a mistake for right: {taken[0]}")
    asked = LABELS.search(task.answer)
    return {**key, "asked": asked[1].strip() if asked else ""}
