"""Excerpts for a search in a book that was opened from the disk.

Sphinx's search fetches each page that it has found to show the words around the first match, which
a browser allows only if a server hands the pages out. So the texts are written to a script as well,
``_static/excerpts.js``, which the page of results loads where there is no server; see ``book.js``.
"""

import json
from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx


def plain(tree: nodes.document) -> str:
    """Prose and captions of a page, without code; TeX with commands is no text to be read."""
    return " ".join(
        " ".join("".join(_readable(part) for part in node.findall(nodes.Text)).split())
        for node in tree.findall(nodes.TextElement)
        if isinstance(node, nodes.paragraph | nodes.title | nodes.caption | nodes.term)
    )


def _readable(text: nodes.Text) -> str:
    is_tex = isinstance(text.parent, nodes.math) and "\\" in text
    return "…" if is_tex else str(text)


def write(app: Sphinx, exception: Exception | None) -> None:
    if exception is None and app.builder.name == "html":
        texts = {name: plain(app.env.get_doctree(name)) for name in sorted(app.env.found_docs)}
        script = f"globalThis.kernelbookExcerpts = {json.dumps(texts, ensure_ascii=False)};\n"
        Path(app.outdir, "_static", "excerpts.js").write_text(script, encoding="utf-8")


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("build-finished", write)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
