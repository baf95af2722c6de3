r"""Equations, figures, notebooks and works of the literature that are named in prose become links.

An equation with ``\tag{3.1}`` gets the anchor ``equation-3-1``; ``outputs`` gives figures theirs.
Then "equation (3.1)", "(3.1)", "figure 3.1", "notebook 03" and "[Cortes1995]" are links wherever
they stand: in notebooks, pages and docstrings. What is named as an equation, a figure, a notebook
or a work and does not exist is a warning, and the book is built with warnings as errors. A number
in brackets alone, "(0.25)", may be just a number: it is a link if an equation has it as its tag.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from zlib import crc32

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform

TAG = re.compile(r"\\tag\{(\d+\.\d+[a-z]?)\}")
NUMBER = r"\d{1,2}\.\d{1,2}[a-z]?"
MENTION = re.compile(
    rf"(?P<named>(?<=(?i:equation) )|(?<=(?i:equations) ))?\((?P<equation>{NUMBER})\)"
    rf"|\b[Ff]igures? (?P<figure>{NUMBER})(?!\d)"
    r"|\b[Nn]otebooks? (?P<notebook>\d\d)(?![\d.])"
    r"|\[(?P<work>[A-Z][A-Za-z]+(?:19|20)\d\d[a-z]?)\]"
)
# Text that is code, is a link already, or is a name rather than a sentence.
OPAQUE = (
    nodes.literal,
    nodes.literal_block,
    nodes.math,
    nodes.math_block,
    nodes.raw,
    nodes.reference,
    nodes.title,
    nodes.label,
    nodes.comment,
    addnodes.pending_xref,
    addnodes.desc_signature,
    addnodes.toctree,
)


def anchor(kind: str, number: str) -> str:
    """``figure-3-4`` for the figure 3.4."""
    return f"{kind}-{number.replace('.', '-')}"


def note_anchor(document: nodes.document, node: nodes.Element, name: str) -> None:
    """Let every page link to ``node`` by ``name``, which is its id as well."""
    node["ids"].append(name)
    node["names"].append(name)
    document.note_explicit_target(node, node)


class Anchors(SphinxTransform):
    default_priority = 500

    def apply(self, **kwargs: object) -> None:
        for block in self.document.findall(nodes.math_block):
            for number in TAG.findall(block.astext()):
                note_anchor(self.document, block, anchor("equation", number))
                # Otherwise Sphinx puts several lines into an environment that takes no tag.
                block["classes"] = ["amsmath"]


class Mentions(SphinxTransform):
    default_priority = 510

    def apply(self, **kwargs: object) -> None:
        for text in list(self.document.findall(nodes.Text)):
            if MENTION.search(text) and not _opaque(text):
                text.parent.replace(text, list(self._linked(str(text))))

    def _linked(self, text: str) -> Iterator[nodes.Node]:
        end = 0
        for found in MENTION.finditer(text):
            if found.start() > end:
                yield nodes.Text(text[end : found.start()])
            yield self._link(found)
            end = found.end()
        if end < len(text):
            yield nodes.Text(text[end:])

    def _link(self, found: re.Match[str]) -> nodes.Node:
        if work := found["work"]:
            return self._to("citation", "ref", work, found[0])
        if notebook := found["notebook"]:
            return self._to("std", "doc", f"/{self._notebooks().get(notebook, notebook)}", found[0])
        kind = "figure" if found["figure"] else "equation"
        warn = kind == "figure" or found["named"] is not None
        return self._to("std", "ref", anchor(kind, found[kind]), found[0], warn=warn)

    def _notebooks(self) -> dict[str, str]:
        """Page of a notebook by its number."""
        pages = (page for page in self.env.found_docs if page.startswith("notebooks/"))
        return {page.removeprefix("notebooks/")[:2]: page for page in pages}

    def _to(
        self, domain: str, kind: str, target: str, text: str, *, warn: bool = True
    ) -> nodes.Node:
        shown = nodes.inline(text, text)
        return addnodes.pending_xref(
            "",
            shown,
            refdomain=domain,
            reftype=kind,
            reftarget=target,
            refexplicit=True,
            refwarn=warn,
            refdoc=self.env.docname,
        )


def _opaque(text: nodes.Text) -> bool:
    node = text.parent
    while node is not None:
        if isinstance(node, OPAQUE) or "caption-number" in node.get("classes", ()):
            return True
        node = node.parent
    return False


def setup(app: Sphinx) -> dict[str, int]:
    app.add_transform(Anchors)
    app.add_transform(Mentions)
    # Pages that an older state of this file has read are read again.
    state = crc32(Path(__file__).read_bytes())
    return {"env_version": state, "parallel_read_safe": True, "parallel_write_safe": True}
