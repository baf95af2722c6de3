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

__all__ = [
    "copy_outputs",
    "exported",
    "inlined",
    "package_folder",
    "parsed",
    "plain",
    "to_html",
    "written",
]


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
    html = exported(notebook, title, "page")
    around = _neighbours(title, order)
    html = html.replace("<main>", f"<main>{around}{_contents(html)}", 1)
    return html.replace("</main>", f"{around}</main>", 1)


def exported(notebook: NotebookNode, title: str, template: str, **resources: str) -> str:
    """What a template of ours makes of a notebook, with formulas that the page can typeset."""
    templates = str(Path(__file__).parent / "templates")
    exporter = HTMLExporter(
        template_name=template,
        extra_template_basedirs=[templates],
        extra_template_paths=[templates],
    )
    html, _ = exporter.from_notebook_node(notebook, {"metadata": {"name": title}} | resources)
    # Links from one notebook to the next lead to the page of that notebook.
    html = re.sub(r'(<a [^>]*href="[0-9]{2}_[\w-]+)\.ipynb', r"\1.html", html)
    return html.replace("</head>", f"{mathjax()}</head>", 1)


@cache
def mathjax() -> str:
    """The script that typesets formulas, as an element of a page."""
    folder = package_folder(PACKAGE)
    if folder is None:
        return ELSEWHERE
    return f"<script>{inlined(folder / 'static' / 'mathjax' / 'tex-svg-full.js')}</script>"


def package_folder(name: str) -> Path | None:
    """Where a package is installed, if it is."""
    found = find_spec(name)
    if found is None or not found.submodule_search_locations:
        return None
    return Path(found.submodule_search_locations[0])


def inlined(path: Path) -> str:
    """A script or style as it may stand within a page."""
    return path.read_text(encoding="utf-8").replace("</script", "<\\/script")


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
