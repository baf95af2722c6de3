"""Answers in the pages of the book: judged as in the notebook, and never stale."""

import json
import shutil
import subprocess
from base64 import b64decode
from pathlib import Path

import nbformat
import numpy as np
import pytest
from test_book import build

from kernelcourse.exercises import MODULES, RIGHT, Exercise, exercises_of
from tools import answers as exported
from tools.exercises import Task

NODE = shutil.which("node")
SCRIPT = Path(__file__).parents[1] / "book" / "_static" / "answers.js"
ASKED = """
require(process.argv[1]);
const { read, verdict } = globalThis.kernelbookAnswers;
const cases = JSON.parse(require("fs").readFileSync(0, "utf8"));
const tried = (text) => { try { return read(text); } catch (error) { return error.message; } };
const found = cases.map(([text, key]) => (key ? verdict(text, key) : tried(text)));
process.stdout.write(JSON.stringify(found));
"""
needs_node = pytest.mark.skipif(NODE is None, reason="the script is run by node here")


def judged(*cases):
    command = [NODE, "-e", ASKED, str(SCRIPT)]
    done = subprocess.run(command, input=json.dumps(cases), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def typed(answer):
    return answer if isinstance(answer, str) else ", ".join(map(repr, np.ravel(answer).tolist()))


@pytest.fixture(scope="module")
def keys():
    every = [exercise for number in MODULES for exercise in exercises_of(number)]
    found = [(exercise, exercise.key()) for exercise in every]
    return [(exercise, key) for exercise, key in found if key is not None]


@needs_node
def test_a_page_judges_as_the_notebook_does(keys):
    assert len(keys) > 50
    asked = []
    for exercise, key in keys:
        right = np.asarray(key["right"], dtype=float)
        step = 0.9 * (key["rtol"] * np.abs(right).max() + key["atol"])
        tried = [
            right,
            right + step,
            right - step,
            right + 1.3 * step,
            -right,
            2 * right,
            right + 1,
        ]
        for answer in [*tried, *(wrong for wrong, _ in key["mistakes"])]:
            asked.append((typed(answer), key, exercise.verdict(answer)))
    found = judged(*((text, key) for text, key, _ in asked))
    for verdict, (text, _, wanted) in zip(found, asked, strict=True):
        assert verdict == wanted, text
    assert set(found) > {RIGHT}


@needs_node
def test_answers_can_be_typed_as_arithmetic():
    good = {
        "0.25, 3/4": [0.25, 0.75],
        "(1.5, 5**0.5 / 2)": [1.5, 5**0.5 / 2],
        "[1]": [1],
        "(1 + 2) * (3)": [9],
        "-2 ** 2": [-4],
        "2 ^ -1": [0.5],
        "\u22121e-3": [-0.001],
        "sqrt(2) * log(e) + pi": [2**0.5 + np.pi],
        "2 - 3 - 4, 8 / 4 / 2": [-5, 1],
    }
    assert judged(*([text, None] for text in good)) == [
        pytest.approx(values, rel=1e-15) for values in good.values()
    ]
    bad = ["1 2", "x", "1 +", "(1", "1; 2", "alert(1)", "constructor", ")"]
    assert all(isinstance(found, str) for found in judged(*([text, None] for text in bad)))


@needs_node
def test_a_page_says_what_kind_of_answer_it_wants():
    key = Exercise("99.1", right=lambda: 4, mistakes=[], otherwise="Add.").key()
    choice = Exercise("99.2", right=lambda: "b", mistakes=[("a", "No.")], otherwise="Think.").key()
    found = judged([" ", key], ["4,0", key], ["1/0", key], [" B", choice], ["a", choice])
    assert found[0] == "not answered yet"
    assert found[1].endswith(
        "has to be one number; yours is 2 numbers. A decimal point is a point."
    )
    assert found[2] == "Not yet. The answer has to be finite."
    assert found[3:] == ["right", "Not yet. No."]


def test_functions_and_tables_are_not_for_a_page():
    table = Exercise("99.1", right=lambda: np.eye(2), mistakes=[], otherwise="Think.")
    function = Exercise("99.2", right=abs, mistakes=[], otherwise="Think.", evaluate=lambda f: f(1))
    assert table.key() is None and function.key() is None


TASK = Task("99.1", 1, 0, "answer_1 = None  # (low, high)", "answer_1", "answer_1 = (1, 2)")
KEY = Exercise("99.1", right=lambda: [1, 2], mistakes=[([2, 1], "Turn.")], otherwise="Think.")


def test_what_is_asked_for_is_exported():
    found = exported.export(TASK, KEY)
    assert found["asked"] == "(low, high)"
    assert found["mistakes"] == [([2.0, 1.0], "Turn.")]


def test_a_stale_key_breaks_the_build():
    stale = Exercise("99.1", right=lambda: [1, 3], mistakes=[], otherwise="Think.")
    with pytest.raises(ValueError, match=r"99\.1 refuses its solution: Not yet"):
        exported.export(TASK, stale)
    near = [([1, 2.01], "No.")]
    vague = Exercise("99.1", right=lambda: [1, 2], mistakes=near, otherwise="Think.", rtol=0.1)
    with pytest.raises(ValueError, match=r"99\.1 takes a mistake for right: No\."):
        exported.export(TASK, vague)


def test_an_exercise_without_a_key_breaks_the_build(tmp_path, monkeypatch):
    monkeypatch.setattr(exported, "KEPT", tmp_path / "kept")
    path = tmp_path / "03_kernels.ipynb"
    nbformat.write(nbformat.v4.new_notebook(), path)
    with pytest.raises(ValueError, match=r"a key or a text alone: 03\.1, "):
        exported.answers(path)


def test_what_was_exported_is_kept_until_something_changes(tmp_path, monkeypatch):
    monkeypatch.setattr(exported, "KEPT", tmp_path / "kept")
    path = tmp_path / "00_none.ipynb"
    nbformat.write(nbformat.v4.new_notebook(), path)
    assert exported.answers(path) == "{}"
    (kept,) = exported.KEPT.iterdir()
    kept.write_text('{"kept": 1}')
    assert exported.answers(path) == '{"kept": 1}'


def with_exercise(folder, known):
    """The page of a notebook with one exercise, built with the answers that are known."""
    (folder / "source" / "book" / "answers").mkdir(parents=True)
    (folder / "source" / "book" / "answers" / "03_title.json").write_text(json.dumps(known))
    cell = nbformat.v4.new_code_cell(
        'answer_1 = None\ncheck("03.1", answer_1)',
        outputs=[nbformat.v4.new_output("execute_result", {"text/plain": "'not answered yet'"})],
    )
    return build(folder, "", cells=[cell])


def test_an_exercise_gets_an_input_and_keeps_its_answer(tmp_path):
    known = {"03.1": exported.export(TASK, KEY)}
    page, code, warnings = with_exercise(tmp_path, known)
    assert (code, warnings) == (0, "")
    form = page.split('<form class="answer"')[1].split("</form>")[0]
    assert "Your answer to 03.1" in form and "(low, high)" in form
    assert "not answered yet" not in page
    assert "Turn." not in page and "Think." not in page
    data = form.split('data-answer="')[1].split('"')[0]
    assert json.loads(b64decode(data))["right"] == [1.0, 2.0]
    assert 'src="../_static/answers.js' in page


def test_an_exercise_on_code_is_left_to_the_notebook(tmp_path):
    page, code, _ = with_exercise(tmp_path, {"03.1": {}})
    assert code == 0
    assert "A running notebook checks this answer" in page
    assert "<form" not in page.split("<article")[1]


def test_a_cell_without_an_answer_is_a_warning(tmp_path):
    _, code, warnings = with_exercise(tmp_path, {"03.2": {}})
    assert code != 0
    assert "exercise 03.1 has no answer" in warnings
