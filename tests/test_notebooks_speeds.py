"""Two speeds: what a tag folds, how long the main line is, and that each limit is seen to fail."""

from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from tools import tracks
from tools.normalise import normalise
from tools.notebook_form import RULES, TWO_SPEEDS, Page, problems
from tools.pages import to_html

NOTEBOOKS = sorted((Path(__file__).parents[1] / "notebooks").glob("*.ipynb"))
PICTURE = {"image/png": "iVBORw0KGgo=", "text/plain": "Figure 3.1: Two points."}


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook_keeps_the_limits_of_its_main_line(path):
    assert problems(Page.read(path), TWO_SPEEDS) == []


def cell(source, *tags, outputs=()):
    made = new_code_cell(source, outputs=list(outputs))
    made.metadata.tags = list(tags)
    return made


def a_figure(*tags):
    return cell("show(figure)", *tags, outputs=[new_output("display_data", PICTURE)])


def told(*more):
    notebook = new_notebook()
    notebook.cells = [
        new_markdown_cell(
            "# 03 Kernels\n\nA question.\n\n## One\n\n*5 min from the start*\n\nText."
        ),
        *(a_figure(tracks.HIDE_INPUT) for _ in range(7)),
        cell("# Checked: the gap\nassert True", tracks.HIDE_CELL),
        *more,
        new_markdown_cell("## Exercises\n\n*60 min from the start*\n\n## What we saw"),
    ]
    return normalise(notebook)


def page_of(notebook):
    return Page("03_kernels.ipynb", notebook, 1000)


def test_a_notebook_at_two_speeds_has_no_problem():
    assert problems(page_of(told()), TWO_SPEEDS) == []


LIMITS = {
    "words": ([new_markdown_cell("word " * 2001)], "2021 words"),
    "lines": ([cell("x = 1\n\n" * 151)], "151 lines of visible code"),
    "cells": ([new_markdown_cell("a") for _ in range(31)], "41 cells"),
    "figures": ([a_figure(tracks.HIDE_INPUT) for _ in range(6)], "13 figures"),
    "code of a figure": ([a_figure()], "tag it hide-input"),
    "figure in a folded cell": ([a_figure(tracks.HIDE_CELL)], "tag it hide-input"),
    "no time": ([new_markdown_cell("## Two\n\nText.")], "'Two' does not begin with"),
    "time goes back": ([new_markdown_cell("## Two\n\n*4 min from the start*")], "4 min"),
}


@pytest.mark.parametrize(("more", "message"), LIMITS.values(), ids=LIMITS)
def test_each_limit_is_seen_to_fail(more, message):
    found = problems(page_of(told(*more)), TWO_SPEEDS)
    assert len(found) == 1 and message in found[0], found


def test_without_exercises_the_marks_end_at_the_summary():
    notebook = told()
    notebook.cells[-1].source = "## What we saw\n\n## Next"
    assert problems(page_of(notebook), TWO_SPEEDS) == []


def test_too_few_figures():
    notebook = told()
    del notebook.cells[1]
    assert problems(page_of(notebook), TWO_SPEEDS) == ["6 figures, and 7 is the least"]


def test_what_is_folded_counts_as_a_cell_alone():
    text = "## A\n\nTwo words. $x + y$ [a link](folder/page.md)\n\n<details>hidden</details>\n"
    notebook = new_notebook(cells=[new_markdown_cell(text), cell("# More: x\ny", "hide-cell")])
    assert tracks.length(notebook) == tracks.Length(words=6, lines=0, figures=0, cells=2)


@pytest.mark.parametrize("source", ["assert True", "# The gap is small\nassert True", "#"])
def test_a_folded_cell_says_what_is_in_it(source):
    found = problems(page_of(told(cell(source, tracks.HIDE_CELL))), RULES)
    assert any("begin it with '# Checked: ...'" in problem for problem in found)


def test_jupyterlab_and_the_book_are_told_by_the_tag_alone():
    notebook = told()
    figure, check = notebook.cells[1], notebook.cells[8]
    assert figure.metadata.jupyter == {"source_hidden": True} and "mystnb" not in figure.metadata
    assert check.metadata.jupyter == {"source_hidden": True, "outputs_hidden": True}
    assert check.metadata.mystnb.code_prompt_show == "Checked: the gap"
    check.metadata.tags = []
    assert set(normalise(notebook).cells[8].metadata) == {"tags"}


def test_pages_fold_what_the_tags_fold():
    page = to_html(told(cell("visible = 1")), "03_kernels")
    assert page.count("<summary>Show the code of this figure</summary>") == 7
    assert page.count("<summary>Checked: the gap</summary>") == 1
    inside = page.split("<summary>Checked: the gap</summary>")[1].split("</details>")[0]
    assert "assert" in inside and "visible" not in inside


def test_the_table_of_lengths_has_a_row_a_notebook(capsys):
    tracks.main()
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == len(NOTEBOOKS) + 2 and lines[-1].startswith("median")
    stored = tracks.length(nbformat.read(NOTEBOOKS[0], as_version=4))
    assert lines[1].split() == [NOTEBOOKS[0].stem, *(f"{n:,}" for n in vars(stored).values())]
