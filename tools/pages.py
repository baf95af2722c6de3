"""Notebooks as files and as pages of HTML."""

import json
import re
from collections.abc import Sequence
from functools import cache
from html import escape
from importlib.util import find_spec
from pathlib import Path

import nbformat
from nbconvert import HTMLExporter
from nbformat import NotebookNode

__all__ = ["copy_outputs", "parsed", "plain", "to_html", "written"]


PACKAGE = "sphinx-mathjax-offline"
ELSEWHERE = (
    '<script async src="https://cdn.jsdelivr.net/npm/mathjax@3/es5/tex-svg-full.js"></script>'
)
SECTION = re.compile(r'<h2 id="([^"]+)">(.*?)<a class="anchor-link"', re.DOTALL)


def parsed(content: bytes) -> NotebookNode:
    return nbformat.reads(content.decode("utf-8"), as_version=4)


def plain(notebook: NotebookNode) -> dict:
    """The JSON of a notebook, as its file holds it."""
    return dict(json.loads(nbformat.writes(notebook)))


def written(notebook: dict) -> str:
    return json.dumps(notebook, ensure_ascii=False, indent=1, sort_keys=True) + "\n"


def copy_outputs(executed: dict, notebook: NotebookNode) -> None:
    """Carry the outputs over to a notebook with the same code cells and a new text."""
    old, new = (
        [cell for cell in nb.cells if cell.cell_type == "code"]
        for nb in (parsed(written(executed).encode()), notebook)
    )
    for before, after in zip(old, new, strict=True):
        after.update(outputs=before.outputs, execution_count=before.execution_count)


def to_html(notebook: NotebookNode, title: str, order: Sequence[str] = ()) -> str:
    """A page that needs no other file and no network.

    ``order`` holds the titles of all notebooks: the page leads to the one before and after it.
    Formulas are typeset by a script in the page; without the package that carries it, as in the
    environment of students, by one from the network.
    """
    exporter = HTMLExporter(
        template_name="page",
        extra_template_basedirs=[str(Path(__file__).parent / "templates")],
    )
    html, _ = exporter.from_notebook_node(notebook, {"metadata": {"name": title}})
    # Links from one notebook to the next lead to the page of that notebook.
    html = re.sub(r'(<a [^>]*href="[0-9]{2}_[\w-]+)\.ipynb', r"\1.html", html)
    around = _neighbours(title, order)
    html = html.replace("<main>", f"<main>{around}{_contents(html)}", 1)
    html = html.replace("</main>", f"{around}</main>", 1)
    return html.replace("</head>", f"{mathjax()}</head>", 1)


@cache
def mathjax() -> str:
    """The script that typesets formulas, as an element of a page."""
    found = find_spec(PACKAGE)
    if found is None or not found.submodule_search_locations:
        return ELSEWHERE
    folder = Path(found.submodule_search_locations[0]) / "static" / "mathjax"
    script = (folder / "tex-svg-full.js").read_text(encoding="utf-8")
    return "<script>" + script.replace("</script", "<\\/script") + "</script>"


def _contents(html: str) -> str:
    items = "".join(
        f'<li><a href="#{name}">{text}</a></li>' for name, text in SECTION.findall(html)
    )
    if not items:
        return ""
    return (
        '<nav class="contents" aria-label="Contents"><details><summary>Contents</summary>'
        f"<ol>{items}</ol></details></nav>"
    )


def _neighbours(title: str, order: Sequence[str]) -> str:
    if title not in order:
        return ""
    place = order.index(title)
    before, after = order[:place][-1:], order[place + 1 :][:1]
    links = [f'<a rel="prev" href="{name}.html">← {_words(name)}</a>' for name in before]
    links += [f'<a rel="next" href="{name}.html">{_words(name)} →</a>' for name in after]
    return f'<nav class="around" aria-label="Notebooks">{"".join(links)}</nav>' if links else ""


def _words(stem: str) -> str:
    return escape(stem.replace("_", " "))
