"""The form of every notebook, and that each rule of form is seen to fail."""

from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from tools.normalise import normalise
from tools.notebook_form import RULES, Page, problems, problems_of_collection

NOTEBOOKS = sorted((Path(__file__).parents[1] / "notebooks").glob("*.ipynb"))

PICTURE = {"image/png": "iVBORw0KGgo=", "text/plain": "Figure 3.1: Two points."}
ALT = {"image/png": {"alt": "Two points."}}


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_form_of_notebook(path):
    assert problems(Page.read(path)) == []


def test_numbers_are_unique_over_the_collection():
    assert problems_of_collection(Page.read(path) for path in NOTEBOOKS) == []


def well_formed():
    notebook = new_notebook()
    notebook.cells = [
        new_markdown_cell("# 03. Kernels\n\nYou will be able to count.\n\n```\n# no heading\n```"),
        new_code_cell("import numpy as np\n\nSEED = 3"),
        new_markdown_cell("## Model\n\n$$x = 1 \\tag{3.1}$$"),
        new_code_cell("show(figure, number='3.1', alt='Two points.', caption='Two points.')"),
        new_code_cell("float(np.random.default_rng(SEED).normal())"),
        new_markdown_cell("## Exercises\n\n### A\n\n## What we saw"),
    ]
    notebook.cells[3].outputs = [new_output("display_data", PICTURE, metadata=ALT)]
    notebook.cells[4].outputs = [new_output("execute_result", {"text/plain": "2.04"})]
    return normalise(notebook)


def page_of(notebook, name="03_kernels.ipynb", size=10_000):
    return Page(name, nbformat.from_dict(notebook), size)


def test_a_well_formed_notebook_has_no_problem():
    assert problems(page_of(well_formed())) == []


def broken(change):
    notebook = well_formed()
    change(notebook)
    return page_of(notebook)


def set_source(position, source):
    return lambda notebook: notebook.cells[position].update(source=source)


def printed(text):
    output = new_output("stream", name="stdout", text=text)
    return lambda notebook: notebook.cells[4].update(outputs=[output])


def stored(kind, **content):
    return lambda notebook: notebook.cells[4].update(outputs=[new_output(kind, **content)])


def drop_alt(notebook):
    notebook.cells[3].outputs[0].metadata = {}


def relabel(text):
    def change(notebook):
        notebook.cells[3].outputs[0].data["text/plain"] = text

    return change


def fold(position):
    return lambda notebook: notebook.cells[position].metadata.update(tags=["hide-cell"])


BROKEN = {
    "never executed": (
        lambda notebook: notebook.cells[1].update(execution_count=None),
        "execution counts are [None, 2, 3]",
    ),
    "executed out of order": (
        lambda notebook: notebook.cells[1].update(execution_count=9),
        "execution counts are [9, 2, 3]",
    ),
    "random cell id": (lambda notebook: notebook.cells[0].update(id="3f2a"), "cell ids"),
    "widget state": (lambda notebook: notebook.metadata.update(widgets={}), "`make record`"),
    "patch version": (
        lambda notebook: notebook.metadata.update(language_info={"version": "3.11.7"}),
        "`make record`",
    ),
    "magic": (set_source(1, "%matplotlib inline"), "not plain Python"),
    "shell": (set_source(1, "!pip install x"), "not plain Python"),
    "help": (set_source(1, "np.sum?"), "not plain Python"),
    "hidden magic": (set_source(1, "get_ipython().run_line_magic('time', '')"), "get_ipython"),
    "warning": (stored("stream", name="stderr", text="UserWarning: x"), "stderr"),
    "error": (
        stored("error", ename="ValueError", evalue="x", traceback=["ValueError: x"]),
        "stores an error",
    ),
    "no alternative text": (drop_alt, "without alternative text"),
    "blank alternative text": (
        lambda nb: nb.cells[3].outputs[0].update(metadata={"image/png": {"alt": " "}}),
        "without alternative text",
    ),
    "picture past show": (relabel("<Figure size 640x480>"), "show did not make"),
    "figure of another notebook": (relabel("Figure 4.1: Two points."), "figure 4.1 in notebook 3"),
    "show without number": (set_source(3, "show(figure, alt='x')"), "show without number="),
    "show without alt": (set_source(3, "kernelcourse.show(figure, number='3.1')"), "without alt="),
    "show without caption": (set_source(3, "show(f, number='3.1', alt='x')"), "without caption="),
    "text picture": (set_source(2, "## Model\n\n![](a.png)"), "picture in the text"),
    "text image": (set_source(2, '## Model\n\n<img src="a.png">'), "picture in the text"),
    "two titles": (set_source(2, "# Model"), "exactly one first-level"),
    "no title": (set_source(0, "## 03. Kernels\n\nYou will be able to"), "exactly one"),
    "skipped level": (set_source(2, "#### Model"), "'Model' skips a level"),
    "wrong number": (set_source(0, "# 4. Kernels\n\nYou will be able to"), "does not begin with"),
    "no number": (set_source(0, "# Kernels\n\nYou will be able to"), "does not begin with"),
    "no objectives": (set_source(0, "# 03. Kernels"), "You will be able to"),
    "no closing": (set_source(5, "## Exercises"), "What we saw"),
    "no exercises": (set_source(5, "## What we saw"), "Exercises"),
    "lost line": (set_source(2, "## Model\n\nabout 3\n% of it"), "begins with %"),
    "lost line in a list": (set_source(2, "## Model\n\n* about 3\n  % of it"), "begins with %"),
    "no seed cell": (set_source(1, "import numpy as np"), "no cell sets SEED"),
    "unseeded generator": (set_source(4, "np.random.default_rng()"), "draws without a seed"),
    "global state": (set_source(4, "np.random.normal()"), "global random state"),
    "path in code": (set_source(1, "SEED = open('/Users/ann/x.csv')"), "absolute path"),
    "path in output": (printed("read /Users/ann/x.csv"), "printed an absolute path"),
    "timing": (printed("fit took 0.31 s"), "stores a timing"),
    "progress bar": (printed(" 33%|###   | 1/3"), "progress bar"),
    "bell in a caption": (relabel("Figure 3.1: The \alpha of two points."), "control character"),
    "bell in an alternative text": (
        lambda nb: nb.cells[3].outputs[0].update(metadata={"image/png": {"alt": "\alpha"}}),
        "control character '\\x07'",
    ),
    "bell in print": (printed("the \alpha"), "control character"),
    "folded without a line": (fold(1), "begin it with '# Checked: ...'"),
    "folded text": (fold(2), "use <details>"),
}


@pytest.mark.parametrize("change, message", BROKEN.values(), ids=BROKEN)
def test_each_defect_is_found(change, message):
    found = problems(broken(change))
    assert any(message in problem for problem in found), found


def test_every_rule_is_seen_to_fail():
    pages = [broken(change) for change, _ in BROKEN.values()]
    pages.append(page_of(well_formed(), size=1_000_000))
    silent = [rule.__name__ for rule in RULES if not any(list(rule(page)) for page in pages)]
    assert silent == []


def test_a_large_notebook_is_refused():
    assert any("1 MB" in problem for problem in problems(page_of(well_formed(), size=1_200_000)))


def test_an_error_that_is_meant_may_be_stored():
    def change(notebook):
        notebook.cells[4].outputs = [new_output("error", ename="E", evalue="x", traceback=["E: x"])]
        notebook.cells[4].metadata.tags = ["raises-exception"]

    assert problems(broken(change)) == []


@pytest.mark.parametrize("text", ["39.6 m/s", "accuracy 0.93", "0.5 sd", "71 support vectors"])
def test_numbers_with_other_units_are_no_timings(text):
    assert problems(broken(printed(text))) == []


def test_start_page_needs_no_exercises():
    notebook = well_formed()
    notebook.cells[0].source = "# 00. Start here\n\nYou will be able to start."
    notebook.cells[3].outputs[0].data["text/plain"] = "Figure 0.1: Two points."
    notebook.cells[5].source = "## What we saw"
    assert problems(page_of(notebook, name="00_start_here.ipynb")) == []


def test_repeated_and_foreign_tags_are_found():
    first, second = well_formed(), well_formed()
    second.cells[2].source = "$$x \\tag{3.2}$$ $$y \\tag{9.1}$$"
    pages = [page_of(first), page_of(first, name="03_again.ipynb"), page_of(second)]
    found = "\n".join(problems_of_collection(pages))
    assert "equation 3.1 is in 03_kernels.ipynb and again in 03_again.ipynb" in found
    assert "figure 3.1 is in" in found
    assert "the equation tag 9.1 does not begin with 3." in found
