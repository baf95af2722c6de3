"""Slides: what of a notebook is shown, what is said, and that the file needs no other."""

import re
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from tools import slides
from tools.tracks import length

NOTEBOOKS = sorted((Path(__file__).parents[1] / "notebooks").glob("[0-9]*.ipynb"))


def picture(number):
    data = {"image/png": "iVBORw0KGgo=", "text/plain": f"Figure 3.{number}: Two points."}
    return new_output("display_data", data, metadata={"image/png": {"alt": f"picture {number}"}})


def code(source, *tags, outputs=()):
    cell = new_code_cell(source, outputs=list(outputs))
    cell.metadata.tags = list(tags)
    if "hide-cell" in tags:
        cell.metadata.mystnb = {"code_prompt_show": "Checked: 1"}
    return cell


NOTEBOOK = new_notebook(
    cells=[
        new_markdown_cell("# 03 Kernels\n\nHow is a curve straight?\n\nRun it: `make run`"),
        code("draw()", "hide-input", outputs=[picture(1), picture(2)]),
        code("import numpy", "hide-input"),
        new_markdown_cell(
            "## One\n\n*5 min from the start*\n\nA question.\n\nSaid only. Then it is\n\n"
            "$$x = 1 \\tag{3.1}$$\n\n<details><summary>More</summary>\n\nDeep.\n\n</details>"
        ),
        code("print(1)", outputs=[new_output("stream", text="1\n"), picture(3)]),
        code("# Checked: 1\nassert True", "hide-cell"),
        new_markdown_cell("**Predict before you run.** Which?\n\n> **You now know** it."),
        new_markdown_cell("## Exercises\n\n1. Do it."),
        code("hidden_exercise()"),
        new_markdown_cell("## What we saw\n\n- A line."),
    ]
)


def shown(slide):
    return "\n".join(cell.source for cell in slide.cells)


def test_sections_are_columns_and_text_between_is_said():
    title, one, saw = slides.columns(NOTEBOOK)
    assert shown(title[0]) == "# 03 Kernels\nHow is a curve straight?"
    assert len(title) == 3 and all("draw" not in shown(slide) for slide in title)
    assert shown(one[0]) == "## One\nA question.\nThen it is\n\n$$x = 1 \\tag{3.1}$$"
    assert one[0].notes == ["A question.", "Said only. Then it is"]
    assert [shown(slide) for slide in one[1:3]] == ["print(1)", ""]
    assert shown(one[3]).startswith("**Predict") and "You now know" in shown(one[3])
    assert [shown(slide) for slide in saw] == ["## What we saw\n- A line."]


def test_a_slide_has_one_figure():
    figures = [
        [o for cell in slide.cells for o in cell.get("outputs", []) if "data" in o]
        for column in slides.columns(NOTEBOOK)
        for slide in column
    ]
    assert sorted(map(len, figures))[-1] == 1 and sum(map(len, figures)) == 3


def test_a_full_slide_is_followed_by_another():
    text = "\n\n".join(["## A", *(f"- {'word ' * 40}" for _ in range(6))])
    column = slides.columns(new_notebook(cells=[new_markdown_cell(text)]))[0]
    assert len(column) == 3 and all(slide.words <= slides.MOST_WORDS for slide in column)


def test_the_page_is_whole_and_needs_no_other():
    page = slides.to_slides(NOTEBOOK, "03_kernels")
    body = page[page.index('<div class="slides">') : page.index("</main>")]
    assert body.count("<section") == body.count("</section>") == 3 + 3 + 4 + 1
    assert body.count('<aside class="notes">') == body.count("</aside>") == 2
    assert body.count("<img") == 3 and 'alt="picture 2"' in body
    assert "Checked" not in body and "Deep" not in body and "hidden_exercise" not in body
    assert not re.search(r'<(?:script|link|img)[^>]*(?:src|href)="https?:', page)
    assert "Reveal.initialize" in page and "RevealNotes" in page


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem[:2])
def test_every_figure_of_the_main_line_is_shown(path):
    notebook = nbformat.read(path, as_version=4)
    found = [slide for column in slides.columns(notebook) for slide in column]
    outputs = [o for slide in found for cell in slide.cells for o in cell.get("outputs", [])]
    pictures = [o for o in outputs if "image/png" in o.get("data", {})]
    # A picture of an exercise stays in the notebook.
    assert 0 <= length(notebook).figures - len(pictures) <= 2
    assert all(slide.cells for slide in found)


def test_the_command_writes_one_file_a_notebook(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(slides, "ROOT", tmp_path)
    (tmp_path / "notebooks").mkdir()
    nbformat.write(NOTEBOOK, tmp_path / "notebooks" / "03_kernels.ipynb")
    assert slides.main(["03"]) == 0
    assert capsys.readouterr().out == "build/slides/03_kernels.html\n"
    assert (tmp_path / "build" / "slides" / "03_kernels.html").exists()
    with pytest.raises(SystemExit):
        slides.main(["03", "47"])
    assert "there is no notebook 47" in capsys.readouterr().err


def test_a_missing_package_is_named(monkeypatch):
    monkeypatch.setattr(slides, "REVEAL", "no_such_package")
    with pytest.raises(RuntimeError, match="sphinx-revealjs"):
        slides.to_slides(NOTEBOOK, "03_kernels")
