"""Predictions in the pages of the book: one table of keys, which the notebooks have to bear."""

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path

import nbformat
import pytest
from test_answers import judged, needs_node
from test_book import build

from tools.predictions import Row, predictions, questions_of, table

NOTEBOOKS = sorted((Path(__file__).parents[1] / "notebooks").glob("[0-9]*.ipynb"))
CHOICE = Row(2, "02", "How wide", "choice", "the width", "2 | 4", "4", "", "It is four.")
NUMBER = Row(3, "02", "How wide", "number", "in mm", "", "4.2", "0.5", "a width of 4 mm")
TEXT = "Two streets.\n\n**Predict before you run.** How wide\nis the *second*?\n\nIt is a street."


def notebook(folder, *answers, text=TEXT):
    """A notebook that asks how wide something is, and answers in the cells below."""
    figure = nbformat.v4.new_output(
        "display_data", {"text/markdown": "**Figure 3.1.** A street with a width of 4 mm."}
    )
    stream = nbformat.v4.new_output("stream", text="gap 1e-12\nmargin 4.1\n")
    cell = nbformat.v4.new_code_cell("show(figure)", outputs=[figure, stream])
    cells = [nbformat.v4.new_markdown_cell(words) for words in (text, *answers)]
    path = folder / "02_title.ipynb"
    nbformat.write(nbformat.v4.new_notebook(cells=[cells[0], cell, *cells[1:]]), path)
    return path


def exported(folder, row, *answers, **others):
    (key,) = json.loads(predictions(notebook(folder, *answers, **others), [row]))
    return key


def refused(folder, *rows, answers=("It is four.",)):
    """What the build says of rows that do not belong to the notebook."""
    with pytest.raises(ValueError) as error:
        predictions(notebook(folder, *answers), rows)
    return str(error.value)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.name[:2])
def test_each_prediction_of_a_notebook_has_a_row(path):
    keys = json.loads(predictions(path))
    questions = questions_of(nbformat.read(path, as_version=4))
    assert len(keys) == len(questions) >= 2
    assert any(keys)


def test_each_row_belongs_to_a_notebook():
    assert {row.notebook for row in table()} == {path.name[:2] for path in NOTEBOOKS}


def test_right_choices_do_not_favour_a_position():
    rows = [row for row in table() if row.kind == "choice"]
    places = Counter(row.choices.split(" | ").index(row.key) for row in rows)
    assert len(places) > 2 and max(places.values()) < len(rows) / 2


def test_a_choice_is_exported_with_its_place(tmp_path):
    key = exported(tmp_path, CHOICE, "First.\n\nNow: It\nis four. So there.")
    assert key["choices"] == ["2", "4"] and key["right"] == "4" and key["asked"] == "the width"
    assert key["place"] == {"cell": 2, "line": 2, "figure": ""}


def test_a_figure_or_an_output_may_answer(tmp_path):
    assert exported(tmp_path, NUMBER)["place"] == {"cell": 1, "line": 0, "figure": "3.1"}
    printed = exported(tmp_path, replace(NUMBER, bearer="margin 4.1"))
    assert printed["place"] == {"cell": 1, "line": 1, "figure": ""}
    assert (printed["right"], printed["rtol"], printed["atol"]) == (4.2, 0.0, 0.5)


def test_what_stands_above_a_question_does_not_answer_it(tmp_path):
    answer = "It is four."
    below = exported(tmp_path, CHOICE, text=f"{answer}\n\n{TEXT}\n\n{answer}")
    assert below["place"] == {"cell": 0, "line": 9, "figure": ""}
    with pytest.raises(ValueError, match="no text or output below"):
        exported(tmp_path, CHOICE, text=f"{answer}\n\n{TEXT}")


def test_a_question_may_go_without_an_input(tmp_path):
    reason = Row(2, "02", "How wide", "none", "a matter of taste", "", "", "", "")
    assert exported(tmp_path, reason) == {}
    assert '"asked" is empty. Say' in refused(tmp_path, replace(reason, asked=""))
    assert "Empty the other fields" in refused(tmp_path, replace(reason, key="4"))


def test_a_question_without_a_row_breaks_the_build(tmp_path):
    other = replace(CHOICE, notebook="05")
    assert '"How wide is the *second*?": 0 rows of predictions.csv' in refused(tmp_path, other)
    assert "2 rows of predictions.csv have this" in refused(tmp_path, CHOICE, NUMBER)


def test_a_row_without_its_question_breaks_the_build(tmp_path):
    told = refused(tmp_path, replace(CHOICE, question="How long"))
    assert told == (
        'predictions.csv, line 2, notebook 02, "How long": 0 predictions of the notebook begin '
        "so. Give the first words of one, or remove the row."
    )


def test_a_row_without_its_bearer_breaks_the_build(tmp_path):
    told = refused(tmp_path, CHOICE, answers=["It is five."])
    assert told.startswith('predictions.csv, line 2, notebook 02, "How wide": no text or output')
    assert 'the bearer "It is four."' in told and "correct the key as well" in told
    assert "the bearer" in refused(tmp_path, replace(CHOICE, bearer=""))


@pytest.mark.parametrize(
    ("row", "words"),
    [
        (replace(CHOICE, key="5"), "the key '5' is none of the choices"),
        (replace(CHOICE, choices="4"), "needs two or more different ones"),
        (replace(CHOICE, choices="4 | 4"), "needs two or more different ones"),
        (replace(CHOICE, tolerance="1"), 'only a number has a "tolerance"'),
        (replace(CHOICE, kind="guess"), "\"kind\" is 'guess'. Use choice, number or none."),
        (replace(NUMBER, key="four"), "have to be numbers"),
        (replace(NUMBER, tolerance="0"), 'a positive "tolerance"'),
        (replace(NUMBER, key="5"), "no number within 0.5 of the key 5"),
    ],
)
def test_a_row_at_odds_with_itself_breaks_the_build(tmp_path, row, words):
    assert words in refused(tmp_path, row)


def test_numbers_of_a_bearer_may_have_commas(tmp_path):
    row = replace(NUMBER, key="27000", tolerance="500", bearer="About 27,000 mm.")
    assert exported(tmp_path, row, "About 27,000 mm.")["right"] == 27000


@needs_node
def test_a_page_judges_predictions(tmp_path):
    choice = exported(tmp_path, CHOICE, "It is four.")
    number = exported(tmp_path, NUMBER)
    cases = ["4", "2", ""], ["4.6", "4.8", "x"]
    found = judged(*([text, choice] for text in cases[0]), *([text, number] for text in cases[1]))
    assert found[:3] == ["right", "Not this one.", "not answered yet"]
    assert found[3:5] == ["right", "Not this number."] and "cannot be read" in found[5]


def page(folder, *keys, questions=4):
    """A page with questions and a paragraph that answers: its text, its forms, its warnings."""
    predicted = folder / "source" / "book" / "predictions"
    predicted.mkdir(parents=True)
    (predicted / "03_title.json").write_text(json.dumps(keys))
    question = "**Predict before you run.** How wide?\n\nA street."
    answer = nbformat.v4.new_markdown_cell("Before.\n\nIt is four.\n\nAfter.")
    text, _, warnings = build(folder, "\n\n".join([question] * questions), cells=[answer])
    text = text.split("<article")[1]
    forms = [each.split("</form>")[0] for each in text.split('<form class="answer prediction"')]
    return text, forms[1:], warnings


def key_of(**place):
    return {
        "asked": "the <width>", "choices": ["2", "4"], "right": "4", "rtol": 0.0, "atol": 0.0,
        "mistakes": [], "otherwise": "", "refusal": "Not this one.",
        "place": {"cell": 3, "line": 2, "figure": "", **place},
    }  # fmt: skip


def test_predictions_get_inputs_below_their_questions(tmp_path):
    number = key_of(figure="3.1") | {"choices": [], "right": 4.0}
    text, (choice, typed, printed), warnings = page(tmp_path, key_of(), number, {}, key_of(cell=1))
    assert warnings == ""
    assert [part.rstrip()[-13:] for part in text.split("<form")[:3]] == ["How wide?</p>"] * 3
    assert "<legend>Your prediction: the &lt;width&gt;</legend>" in choice
    assert choice.count('type="radio"') == 2 and choice.count('name="answer"') == 2
    assert 'href="#prediction-1-answer" hidden>Compare with the text below</a>' in choice
    assert '<p id="prediction-1-answer">It is four.</p>' in text
    assert 'type="text"' in typed and 'type="radio"' not in typed
    assert 'href="#figure-3-1" hidden>Compare with figure 3.1</a>' in typed
    assert "Compare with the output below" in printed
    assert '<div class="cell docutils container" id="prediction-4-answer">' in text


def test_a_question_that_the_page_lacks_is_a_warning(tmp_path):
    _, forms, warnings = page(tmp_path, {}, key_of(), questions=1)
    assert forms == [] and "the page has 1 of 2 predictions" in warnings
