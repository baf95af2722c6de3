"""A figure in a notebook: its picture, its alternative text and its caption."""

import io
import re
import sys
from base64 import b64decode

import matplotlib.pyplot as plt
import nbformat
import numpy as np
import pytest
from nbconvert import HTMLExporter
from PIL import Image
from sklearn.svm import SVC

from kernelbook.datasets import make_gaussians
from kernelbook.plotting import plot_decision, plot_points, use_style
from kernelcourse import show
from kernelcourse.figures import _png as png_bytes
from kernelcourse.figures import settle_layout

X, Y = make_gaussians(60, 12, random_state=0)
TEXTS = {
    "number": "3.4",
    "alt": 'Points & a "line" <f = 0>.',
    "caption": "Two classes,\n  $n = 72$.",
}


@pytest.fixture(autouse=True)
def own_style():
    with plt.rc_context():
        yield
    plt.close("all")


@pytest.fixture
def displayed(monkeypatch):
    bundles = []
    monkeypatch.setattr(
        "IPython.display.display",
        lambda data, metadata=None, raw=False: bundles.append((data, metadata or {})),
    )
    return bundles


def test_show_gives_picture_alternative_text_and_caption(displayed):
    use_style()
    ax = plot_decision(SVC().fit(X, Y), X, Y)
    show(ax.figure, **TEXTS)
    (picture, metadata), (caption, _) = displayed
    assert metadata["image/png"] == {"alt": TEXTS["alt"], "width": 640}
    assert picture["text/plain"] == 'Figure 3.4: Points & a "line" <f = 0>.'
    assert caption == {
        "text/markdown": "**Figure 3.4.** Two classes, $n = 72$.",
        "text/plain": "Figure 3.4. Two classes, $n = 72$.",
    }
    content = b64decode(picture["image/png"])
    assert len(content) < 100_000
    with Image.open(io.BytesIO(content)) as image:
        assert image.format == "PNG" and image.size == (1280, 880)
        assert image.info.keys().isdisjoint({"Software", "Creation Time"})
    assert plt.get_fignums() == []


def test_same_figure_gives_the_same_bytes(displayed):
    for _ in range(2):
        use_style()
        show(plot_decision(SVC().fit(X, Y), X, Y).figure, **TEXTS)
    assert displayed[0] == displayed[2]


def test_packed_picture_looks_like_the_drawn_one():
    use_style()
    figure = plot_decision(SVC().fit(X, Y), X, Y).figure
    png_bytes(figure)  # settles the layout
    drawn = io.BytesIO()
    figure.savefig(drawn, format="png")
    before, after = (
        np.asarray(Image.open(io.BytesIO(content)).convert("RGB"), dtype=float)
        for content in (drawn.getvalue(), png_bytes(figure))
    )
    assert np.abs(before - after).mean() < 2  # of 255 levels
    assert len(png_bytes(figure)) < len(drawn.getvalue()) / 2


def test_alternative_text_reaches_the_html_page(displayed):
    show(plot_points(X, Y).figure, **TEXTS)
    outputs = [
        nbformat.v4.new_output("display_data", data=data, metadata=metadata)
        for data, metadata in displayed
    ]
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("", outputs=outputs)])
    page, _ = HTMLExporter(template_name="classic").from_notebook_node(notebook)
    (image,) = re.findall(r"<img [^>]*>", page)
    assert "Points &amp; a" in image and "&lt;f = 0&gt;" in image
    assert "Two classes," in page


@pytest.mark.parametrize("number", ["3", "3.4.1", "a.1", "", "Figure 3.4", 3.4, "3.100"])
def test_number_of_another_form_is_refused(displayed, number):
    figure = plt.figure()
    with pytest.raises(ValueError, match="number must be"):
        show(figure, number=number, alt="a", caption="c")
    assert displayed == []


@pytest.mark.parametrize("name", ["alt", "caption"])
def test_empty_text_is_refused(displayed, name):
    with pytest.raises(ValueError, match=f"{name} must not be empty: say what figure 3.4"):
        show(plt.figure(), **{**TEXTS, name: " \n"})
    assert displayed == []


def test_settled_layout_does_not_move_again():
    use_style()
    figure = plot_decision(SVC().fit(X, Y), X, Y).figure
    settle_layout(figure)
    before = np.array([ax.get_position().bounds for ax in figure.axes])
    figure.draw_without_rendering()
    after = np.array([ax.get_position().bounds for ax in figure.axes])
    assert np.allclose(before, after, rtol=0, atol=1e-9)  # one round is 7e-3 away


def test_show_outside_of_notebooks_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "IPython.display", None)
    with pytest.raises(ImportError, match=r"kernelbook\[notebooks\]"):
        show(plt.figure(), **TEXTS)
