"""Every exercise: its solution is accepted, usual mistakes are refused and named."""

import re
from pathlib import Path
from unittest.mock import Mock

import nbformat
import numpy as np
import pytest

from kernelcourse import exercises
from kernelcourse.exercises import RIGHT, UNANSWERED, Exercise, assert_right, check
from kernelcourse.exercises.grading import values_on
from tools.exercises import tasks_of

ROOT = Path(__file__).parents[1]
NOTEBOOKS = {path.name[:2]: path for path in sorted((ROOT / "notebooks").glob("*.ipynb"))}
TAUGHT = [number for number in NOTEBOOKS if number in exercises.MODULES]
KNOWN = [exercise for number in exercises.MODULES for exercise in exercises.exercises_of(number)]


def read(number):
    return nbformat.read(NOTEBOOKS[number], as_version=4)


def run(code, names):
    exec(compile(code, "solution", "exec"), names)
    return names


@pytest.fixture(scope="module", params=TAUGHT)
def number(request):
    return request.param


def test_every_notebook_but_the_first_has_exercises():
    assert [number for number in NOTEBOOKS if number != "00"] == TAUGHT


def test_a_notebook_has_three_to_six_exercises_in_order(number):
    tasks = tasks_of(read(number))
    assert [task.number for task in tasks] == [f"{number}.{k + 1}" for k in range(len(tasks))]
    assert [task.number for task in tasks] == [e.number for e in exercises.exercises_of(number)]
    assert 3 <= len(tasks) <= 6
    stars = [task.stars for task in tasks]
    assert stars == sorted(stars)
    assert stars[0] == 1
    assert stars[-1] == 3


def test_solutions_are_accepted_and_empty_answers_are_not(number):
    for task in tasks_of(read(number)):
        empty = run(task.answer, {})
        assert check(task.number, eval(task.checked, empty)) == UNANSWERED
        solved = run(task.solution, {})
        assert check(task.number, eval(task.checked, solved)) == RIGHT, task.number


@pytest.mark.parametrize("exercise", KNOWN, ids=lambda exercise: exercise.number)
def test_usual_mistakes_are_named_and_refused(exercise):
    assert exercise.mistakes
    for wrong, message in exercise.mistakes:
        is_to_compute = exercise.evaluate is None and callable(wrong)
        answer = wrong() if is_to_compute else wrong
        assert exercise.verdict(answer) == f"Not yet. {message}"
    messages = [exercise.otherwise, *(message for _, message in exercise.mistakes)]
    assert all(message.strip() for message in messages)
    assert len(set(messages)) == len(messages)


@pytest.mark.parametrize("exercise", KNOWN, ids=lambda exercise: exercise.number)
def test_answers_of_another_kind_are_refused(exercise):
    for answer in ("?", [[[1.0]]], np.nan, {"a": 1}, lambda: 1):
        assert exercise.verdict(answer).startswith("Not yet.")
    assert exercise.verdict(None) == exercise.verdict(...) == UNANSWERED


@pytest.mark.parametrize("exercise", KNOWN, ids=lambda exercise: exercise.number)
def test_near_numbers_are_refused_and_no_message_tells_them(exercise):
    right = None if exercise.evaluate else exercise.right()
    if right is None or isinstance(right, str):
        return
    right = np.asarray(right, dtype=float)
    scale = np.abs(right).max(initial=0.0)
    allowed = 2 * exercise.atol  # of a right answer of 0 nothing else is near by
    for wrong in (right + 0.2 * scale + allowed, -right - allowed, 2 * right + allowed):
        assert exercise.verdict(wrong).startswith("Not yet.")
    assert exercise.verdict(right.tolist()) == RIGHT
    if right.shape == ():
        shown = {f"{right:.{digits}g}" for digits in (2, 3, 4)} - {"0", "1", "2"}
        messages = [exercise.otherwise, *(message for _, message in exercise.mistakes)]
        for message in messages:
            assert not shown & set(re.findall(r"-?\d+(?:\.\d+)?", message)), message


def example(**changes):
    settings = {
        "right": lambda: [1.0, 0.0],
        "mistakes": [([0.0, 1.0], "Turned round.")],
        "otherwise": "Think again.",
    }
    return Exercise("99.1", **{**settings, **changes})


def test_verdicts_on_an_array():
    exercise = example()
    assert exercise.verdict((1, 0)) == RIGHT
    assert exercise.verdict(np.array([1.0005, 1e-10])) == RIGHT
    assert exercise.verdict([1.002, 0.0]) == "Not yet. Think again."
    assert exercise.verdict([0, 1]) == "Not yet. Turned round."
    assert "shape (2,)" in exercise.verdict(1.0)
    assert "finite" in exercise.verdict([np.inf, 0.0])
    assert "not complex" in exercise.verdict([1.0 + 1e-9j, 0.0])
    assert "not list" in exercise.verdict([10**400, 0])


def test_verdicts_on_a_number_do_not_depend_on_its_type():
    exercise = example(right=lambda: 3, mistakes=[])
    for answer in (3, 3.0, np.int64(3), np.float32(3), np.array(3.0)):
        assert exercise.verdict(answer) == RIGHT
    assert "one number; it has shape (1,)" in exercise.verdict([3])


def test_verdicts_on_a_choice():
    exercise = example(right=lambda: "b", mistakes=[("a", "No.")])
    assert exercise.verdict(" B ") == RIGHT
    assert exercise.verdict("a") == "Not yet. No."
    assert exercise.verdict("c") == "Not yet. Think again."
    assert "letter" in exercise.verdict(2)


def test_verdicts_on_a_function():
    def fails(x):
        return x[5]

    # What nbgrader puts in place of an answer.
    unwritten = Mock(side_effect=NotImplementedError)

    exercise = example(
        right=np.square,
        mistakes=[(np.abs, "The square is asked for.")],
        evaluate=lambda function: function(np.array([1.0, 3.0])),
    )
    assert exercise.verdict(lambda x: x * x) == RIGHT
    assert exercise.verdict(np.abs) == "Not yet. The square is asked for."
    assert exercise.verdict(unwritten) == UNANSWERED
    assert exercise.verdict(lambda x: None) == UNANSWERED
    assert "IndexError" in exercise.verdict(fails)
    assert exercise.verdict(3.0) == "Not yet. A function is asked for."
    assert "in our trials has to be numbers of shape (2,)" in exercise.verdict(lambda x: 1.0)


def test_values_on_cases_are_none_as_soon_as_one_is():
    def doubles(x):
        x *= 2
        return x

    points = np.array([1.0, 2.0])
    first, second = values_on(doubles, [(points,), (points,)])
    assert first.tolist() == second.tolist() == [2.0, 4.0]
    assert values_on(lambda x: None if x else np.ones(2), [(0,), (1,)]) is None


def test_unknown_exercises_are_named():
    for number in ("77.1", "3.1", 3.1):
        with pytest.raises(ValueError, match=f"number must be .*'03.1'; got {number!r}"):
            check(number, 1)
    with pytest.raises(ValueError, match="notebook must be one of 01, 02"):
        exercises.exercises_of("77")
    with pytest.raises(ValueError, match=r"number must be one of 03\.1"):
        check("03.99", 1)


def test_exercise_that_lacks_a_part_is_named():
    notebook = read("03")
    text = next(cell for cell in notebook.cells if "**Exercise 03.2 " in cell.source)
    text.source = text.source.replace("<summary>Hint</summary>", "")
    with pytest.raises(ValueError, match=r"exercise 03\.2 needs a hint"):
        tasks_of(notebook)


def test_exercise_without_a_check_below_is_named():
    notebook = read("03")
    checked = next(cell for cell in notebook.cells if 'check("03.2"' in cell.source)
    checked.source = "answer_2 = None"
    with pytest.raises(ValueError, match=r'has to end with check\("03\.2", \.\.\.\)'):
        tasks_of(notebook)


def test_a_missing_answer_fails_a_marked_assignment():
    with pytest.raises(AssertionError, match=r"exercise 03\.1: not answered yet"):
        assert_right("03.1", None)
