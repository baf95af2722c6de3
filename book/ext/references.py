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
    rf"|\b[Ff]igure(?P<figures>s)? (?P<figure>{NUMBER})(?!\d)"
    r"|\b[Nn]otebook(?P<notebooks>s)? (?P<notebook>\d\d)(?!\d|\.\d)"
    r"|\[(?P<work>[A-Z][A-Za-z]+(?:19|20)\d\d[a-z]?)\]"
)
KINDS = ("equation", "figure", "notebook", "work")
# What goes on after "figures 3.1", or after "notebooks 01 (hard margin)".
MORE = re.compile(rf"((?: \([^()]*\))?(?:, | and | or | to ))({NUMBER}|\d\d(?!\d|\.\d))")
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
        while found := MENTION.search(text, end):
            kind = next(name for name in KINDS if found[name])
            yield nodes.Text(text[end : found.start()])
            warn = kind != "equation" or found["named"] is not None
            yield self._link(kind, found[kind], found[0], warn=warn)
            end = found.end()
            while (found["figures"] or found["notebooks"]) and (more := MORE.match(text, end)):
                yield nodes.Text(more[1])
                yield self._link(kind, more[2], more[2], warn=False)
                end = more.end()
        yield nodes.Text(text[end:])

    def _link(self, kind: str, name: str, text: str, *, warn: bool) -> nodes.Node:
        if kind == "work":
            domain, role, target = "citation", "ref", name
        elif kind == "notebook":
            domain, role, target = "std", "doc", f"/{self._notebooks().get(name, name)}"
        else:
            domain, role, target = "std", "ref", anchor(kind, name)
        return addnodes.pending_xref(
            "",
            nodes.inline(text, text),
            refdomain=domain,
            reftype=role,
            reftarget=target,
            refexplicit=True,
            refwarn=warn,
            refdoc=self.env.docname,
        )

    def _notebooks(self) -> dict[str, str]:
        """Page of a notebook by its number."""
        pages = (page for page in self.env.found_docs if page.startswith("notebooks/"))
        return {page.removeprefix("notebooks/")[:2]: page for page in pages}


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
