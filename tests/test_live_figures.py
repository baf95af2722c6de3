"""The directive that puts a live figure on a page, and the scripts that the page gets."""

import importlib
import re
from pathlib import Path

import pytest
from building import build_strictly

import kernelcourse
from tools.frames import FRAMES

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "book" / "_static" / "live"
SHARED = ["solver", "components", "chain", "rates", "frames", "plane", "points", "panel"]
FIGURES = sorted({path.stem for path in FOLDER.glob("*.js")} - set(SHARED))
PAGE = """\
# Page

```{live-figure} soft-margin
What $C$ does.
```

```{live-figure} tube
What epsilon does.
```
"""


def build(folder, page):
    """Folder of the built pages, exit code and warnings; `plain` has no figure."""
    source, target = folder / "source", folder / "target"
    source.mkdir()
    (source / "index.md").write_text("# Index\n\n```{toctree}\npage\nplain\n```\n")
    (source / "page.md").write_text(page)
    (source / "plain.md").write_text("# Plain\n\nNo figure here.\n")
    return target, *build_strictly(source, target)


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    return build(tmp_path_factory.mktemp("live"), PAGE)


def scripts(target, page):
    text = (target / page).read_text(encoding="utf-8")
    return re.findall(r'<script[^>]*src="_static/live/([\w-]+)\.js[^"]*"', text)


def test_a_page_gets_the_scripts_of_its_figures_in_order(built):
    target, code, warnings = built
    assert (code, warnings) == (0, "")
    assert scripts(target, "page.html") == [*SHARED, "soft-margin", "tube"]
    assert scripts(target, "plain.html") == []
    assert "live.css" not in (target / "plain.html").read_text(encoding="utf-8")


def test_a_figure_has_an_anchor_a_caption_and_a_noscript(built):
    text = (built[0] / "page.html").read_text(encoding="utf-8")
    figure = re.search(r'<figure[^>]*id="live-soft-margin"[^>]*>(.*?)</figure>', text, re.DOTALL)[1]
    assert r"What <span class=" in figure and r"\(C\)" in figure
    assert "<noscript>" in figure


def test_an_unknown_figure_names_those_that_there_are(tmp_path):
    _, code, warnings = build(tmp_path, "# Page\n\n```{live-figure} mystery\nA caption.\n```\n")
    assert code != 0
    assert "no live figure 'mystery'" in warnings
    assert all(name in warnings for name in FIGURES)


def test_the_page_of_the_book_has_every_figure():
    text = (ROOT / "book" / "pages" / "live.md").read_text(encoding="utf-8")
    assert sorted(re.findall(r"\{live-figure\} ([\w-]+)", text)) == FIGURES


@pytest.mark.parametrize("path", sorted(FOLDER.iterdir()), ids=lambda path: path.name)
def test_a_figure_needs_no_network_and_no_module(path):
    text = path.read_text(encoding="utf-8").replace("http://www.w3.org/2000/svg", "")
    assert "://" not in text
    assert re.search(r"^\s*(import|export)\b|\bfetch\(|XMLHttpRequest", text, re.MULTILINE) is None


def test_no_figure_has_a_colour_of_its_own():
    # Black on white, or the contrary, is for live.css to know.
    coloured = [path.name for path in FOLDER.glob("*.js")
                if re.search(r"#[0-9a-fA-F]{3,6}\b", path.read_text(encoding="utf-8"))]  # fmt: skip
    assert coloured == []


def test_what_a_live_figure_stands_beside_is_there(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "book" / "ext"))
    outputs = importlib.import_module("outputs")
    assert set(outputs.LIVE) <= set(kernelcourse.__all__)
    assert {*outputs.LIVE.values(), *outputs.AFTER.values()} <= set(FIGURES)
    for number in outputs.AFTER:
        (path,) = (ROOT / "notebooks").glob(f"{int(number.split('.')[0]):02d}_*.ipynb")
        assert f'number=\\"{number}\\"' in path.read_text(encoding="utf-8"), number


def test_figures_with_frames_are_those_that_the_build_computes(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "book" / "ext"))
    assert set(importlib.import_module("live_figures").FRAMED) == set(FRAMES)


def test_a_figure_without_its_frames_says_what_makes_them(tmp_path):
    _, code, warnings = build(tmp_path, "# Page\n\n```{live-figure} factor\nA caption.\n```\n")
    assert code != 0
    assert "no frames of 'factor': python -m tools.book makes them" in warnings
