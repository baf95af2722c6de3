"""Notebooks as files and as pages of HTML."""

import json
import re
from pathlib import Path

import nbformat
from nbconvert import HTMLExporter
from nbformat import NotebookNode

__all__ = ["copy_outputs", "parsed", "plain", "to_html", "written"]


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


def to_html(notebook: NotebookNode, title: str) -> str:
    """A page that needs no other file (formulas are typeset by a script from the network)."""
    exporter = HTMLExporter(
        template_name="page",
        extra_template_basedirs=[str(Path(__file__).parent / "templates")],
    )
    html, _ = exporter.from_notebook_node(notebook, {"metadata": {"name": title}})
    # Links from one notebook to the next lead to the page of that notebook.
    return re.sub(r'(<a [^>]*href="[0-9]{2}_[\w-]+)\.ipynb', r"\1.html", html)
