"""An assignment carries no key to students, and its teacher's version marks rightly."""

import os
import re
import subprocess
import sys
import zipfile
from functools import cache
from pathlib import Path

import nbformat
import numpy as np
import pytest

from kernelcourse.exercises import MARKED_ELSEWHERE, MODULES, exercises_of
from tools import assignment
from tools.exercises import tasks_of

ROOT = Path(__file__).parents[1]
NOTEBOOKS = {path.name[:2]: path for path in sorted((ROOT / "notebooks").glob("*.ipynb"))}
KEY = ROOT / "lib" / "kernelcourse" / "exercises" / "answers"


@cache
def read(number):
    return nbformat.read(NOTEBOOKS[number], as_version=4)


@cache
def source(number):
    return assignment.source_version(read(number))


@cache
def release(number):
    return assignment.release_version(source(number))


def text_of(notebook):
    return "\n".join(cell.source for cell in notebook.cells)


def marked(notebook):
    """The cells to answer and the cells that mark them, exercise by exercise."""
    cells = [c for c in notebook.cells if "nbgrader" in c.metadata and c.cell_type == "code"]
    return list(zip(cells[::2], cells[1::2], strict=True))


def run(code, names):
    exec(compile(code, "cell", "exec"), names)
    return names


def telling_digits(exercise):
    """The right values as one would write them, those with too few digits to tell left out."""
    if exercise.evaluate is not None:
        return set()
    values = np.abs(np.atleast_1d(np.asarray(exercise.right(), dtype=float)))
    telling = [value for value in values.ravel() if abs(value - float(f"{value:.3g}")) > 1e-9]
    return {f"{value:.{digits}g}" for value in telling for digits in (4, 5, 6)}


@pytest.fixture(scope="module", params=list(MODULES))
def number(request):
    return request.param


@pytest.fixture(scope="module")
def students(tmp_path_factory):
    return assignment.write_student_package(tmp_path_factory.mktemp("assignments") / "students")


def test_release_names_no_answers_and_no_marks(number):
    text = text_of(release(number))
    for trace in ("kernelcourse.exercises", "assert_right", "check(", "BEGIN", "END"):
        assert trace not in text
    assert re.findall(r"from kernelcourse import .*\bcheck\b", text) == []
    assert "from kernelcourse import " in text


def test_release_has_no_solution(number):
    text = text_of(release(number))
    assert "<summary>Solution</summary>" not in text
    assert "<summary>Hint</summary>" in text
    for task in tasks_of(read(number)):
        lines = [line for line in task.solution.splitlines() if not re.match(r"import|from", line)]
        assert "\n".join(lines).strip() not in text
        (solution,) = re.findall(
            r"<summary>Solution</summary>(.*?)</details>",
            read(number).cells[task.text].source,
            re.DOTALL,
        )
        paragraphs = re.sub(r"```.*?```", "", solution, flags=re.DOTALL).split("\n\n")
        assert [part for part in paragraphs if part.strip() and part.strip() in text] == []


def test_release_has_no_right_value(number):
    written = set(re.findall(r"\d+(?:\.\d+)?", text_of(release(number))))
    for exercise in exercises_of(number):
        assert telling_digits(exercise) & written == set()


def test_release_has_empty_answers(number):
    pairs = zip(tasks_of(read(number)), marked(release(number)), strict=True)
    for task, (answer, _) in pairs:
        assert answer.source == task.answer


def test_release_says_how_the_answers_are_marked(number):
    text = text_of(release(number))
    assert text.count(assignment.NEW_INSTRUCTION) == 1
    assert 'it says "right"' not in text


def test_visible_test_refuses_no_answer_and_another_form(number):
    for task, (answer, test) in zip(tasks_of(read(number)), marked(release(number)), strict=True):
        if "callable" in test.source:
            with pytest.raises(AssertionError, match=rf"exercise {task.number} asks for a func"):
                run(test.source, {task.checked: 1.0})
        else:
            with pytest.raises(AssertionError, match=f"exercise {task.number} is not answered"):
                run(test.source, run(answer.source, {}))
            with pytest.raises(AssertionError, match=rf"exercise {task.number} asks for"):
                run(test.source, {task.checked: np.ones((1, 1, 9))})


def test_source_solves_itself_and_says_so(number, capsys):
    for answer, test in marked(source(number)):
        assert "\n\n### BEGIN SOLUTION\n" in answer.source
        assert answer.source.endswith("\n### END SOLUTION")
        names = run(answer.source, {})
        capsys.readouterr()
        run(test.source, names)
        assert capsys.readouterr().out.endswith("right\n")


def test_last_is_a_question_that_is_marked_by_hand(number):
    for version in (source(number), release(number)):
        cell, kept = version.cells[-1], version.cells[-1].metadata.nbgrader
        assert cell.cell_type == "markdown" and cell.source.startswith("**In a paragraph.** ")
        assert kept.solution and kept.grade and not kept.locked and kept.points > 0
        assert kept.grade_id == f"written-{number}"


def test_hidden_test_refuses_a_wrong_answer():
    (_, test), *_ = marked(source("03"))
    with pytest.raises(AssertionError, match=r"exercise 03\.1: Not yet\. That is the base"):
        run(test.source, {"answer_1": 3.0})


def test_release_is_the_source_without_the_marked_lines(number):
    for whole, cut in zip(source(number).cells, release(number).cells, strict=True):
        assert whole.metadata == cut.metadata
        assert whole.source.startswith(cut.source)
        rest = whole.source[len(cut.source) :].strip()
        assert re.fullmatch(r"(### BEGIN (SOLUTION|HIDDEN TESTS)\n.*\n### END \2)?", rest, re.S)


def test_metadata_are_those_of_nbgrader(number):
    for version in (source(number), release(number)):
        nbformat.validate(version)
        assert all(not cell.outputs for cell in version.cells if cell.cell_type == "code")
        kept = [(a.metadata.nbgrader, t.metadata.nbgrader) for a, t in marked(version)]
        names = [cell.grade_id for pair in kept for cell in pair]
        assert len(set(names)) == len(names)
        stars = [task.stars for task in tasks_of(read(number))]
        assert [test.points for _, test in kept] == stars
        assert all(answer.solution and not answer.locked for answer, _ in kept)
        assert all(test.grade and test.locked for _, test in kept)


def test_check_outside_of_the_exercises_is_refused():
    notebook = nbformat.from_dict(read("03"))
    notebook.cells.append(nbformat.v4.new_code_cell('print(check("03.1", 3))'))
    with pytest.raises(ValueError, match="needs the answers, and stands outside"):
        assignment.source_version(notebook)


def test_student_package_is_the_course_without_its_answers(students):
    packed = {path.relative_to(students) for path in students.rglob("*") if path.is_file()}
    course = ROOT / "lib" / "kernelcourse"
    wanted = {
        path.relative_to(course.parent) for path in course.rglob("*.py") if KEY not in path.parents
    }
    assert packed == wanted | {Path("pyproject.toml"), Path("LICENSE")}


def test_student_package_has_no_key(students):
    text = "\n".join(path.read_text("utf-8") for path in students.rglob("*.py"))
    for number in MODULES:
        assert [task for task in tasks_of(read(number)) if task.solution in text] == []
        for exercise in exercises_of(number):
            assert exercise.otherwise not in text
            assert telling_digits(exercise) & set(re.findall(r"\d+(?:\.\d+)?", text)) == set()


def test_student_package_imports_but_does_not_check(students):
    code = (
        "import kernelcourse.exercises as exercises\n"
        "from kernelcourse import check, margin_slider, show\n"
        f"assert exercises.__file__.startswith({str(students)!r})\n"
        "print(check('03.1', 27.0))\n"
        "print(margin_slider.__module__, show.__module__)\n"
        "try: exercises.assert_right('03.1', 27.0)\n"
        "except AssertionError as error: print(error)\n"
        "try: exercises.exercises_of('03')\n"
        "except ModuleNotFoundError as error: print(error.name)\n"
    )
    library = students.parent / "library"  # of which lib/ is no part
    library.mkdir()
    (library / "kernelbook").symlink_to(ROOT / "lib" / "kernelbook")
    path = os.pathsep.join(map(str, (students, library)))
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    first, modules, refusal, missing = done.stdout.splitlines()
    assert first == MARKED_ELSEWHERE
    assert modules == "kernelcourse.sliders kernelcourse.figures"
    assert refusal == f"exercise 03.1: {MARKED_ELSEWHERE}"
    assert missing == "kernelcourse.exercises.answers"


def test_student_package_installs(students, tmp_path):
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-index"]
    command += ["--no-build-isolation", "--wheel-dir", str(tmp_path), str(students)]
    subprocess.run(command, check=True, capture_output=True)
    (wheel,) = tmp_path.iterdir()
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    assert "kernelcourse/figures.py" in names
    assert [name for name in names if "answers" in name] == []


def test_command_writes_both_versions_and_the_package(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(assignment, "TARGET", tmp_path)
    assert assignment.main(["03"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 3
    name = NOTEBOOKS["03"].name
    for folder, wanted in (("source", source("03")), ("release", release("03"))):
        written = nbformat.read(tmp_path / folder / NOTEBOOKS["03"].stem / name, as_version=4)
        assert text_of(written) == text_of(wanted)
    assert (tmp_path / "students" / "pyproject.toml").exists()


@pytest.mark.parametrize(
    ("numbers", "message"),
    [([], "Which notebook"), (["77"], "No notebook '77'"), (["00"], "No notebook '00'")],
)
def test_command_asks_for_a_notebook_with_exercises(numbers, message, capsys):
    assert assignment.main(numbers) == 2
    assert message in capsys.readouterr().err
