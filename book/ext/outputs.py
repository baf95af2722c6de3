"""Outputs of notebooks as a reader wants them: figures, tables, and no trace of live controls.

``kernelcourse.show`` stores a picture, whose plain text is "Figure 3.4: what it shows", and
then its caption. Here the two become one figure with the alternative text, the caption and the
anchor ``figure-3-4``. A cell tagged ``widget`` keeps its code and loses its output, which is a
control that only a live notebook can draw; where there is a live figure of the same machine, the
page has that one instead. Some figures without sliders are followed by a live one. The first
paragraph of a page describes it to search engines.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from zlib import crc32

from docutils import nodes
from live_figures import live_figure
from references import anchor, note_anchor
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.transforms import SphinxTransform

PICTURE = re.compile(r"Figure (\d+\.\d+): (.+)", re.DOTALL)
LONGEST_DESCRIPTION = 300  # characters; search engines show fewer
STILL = "This cell draws sliders. They move when the notebook runs live, see "
INSTEAD = " The figure below moves here, on points of its own."
BESIDE = "Below, the same in this page, on a problem that you can change."
LIVE = {
    "margin_slider": "soft-margin",
    "width_slider": "soft-margin",
    "tube_slider": "tube",
    "sphere_slider": "sphere",
    "magnification_slider": "factor",
    "collapse_slider": "posterior",
}
# Live figures that follow a figure of a notebook which has no sliders, by its number.
AFTER = {"6.2": "fisher", "7.2": "kpca", "13.4": "metropolis"}


def still(text: str, env: BuildEnvironment) -> nodes.paragraph:
    """What a page can't do, with a link to the page that says how to run the book."""
    link = addnodes.pending_xref(
        "",
        nodes.inline("", "how to run this book"),
        refdomain="std",
        reftype="doc",
        reftarget="/book/run",
        refexplicit=True,
        refwarn=True,
        refdoc=env.docname,
    )
    return nodes.paragraph("", text, link, nodes.Text("."), classes=["still"])


class Figures(SphinxTransform):
    default_priority = 400

    def apply(self, **kwargs: object) -> None:
        for outputs in list(_cells(self.document, "cell_code_output")):
            for bundle in list(_cells(outputs, "mime_bundle")):
                self._picture(bundle)

    def _picture(self, bundle: nodes.container) -> None:
        image = next(bundle.findall(nodes.image), None)
        label = next(filter(None, (PICTURE.match(text) for text in _plain(bundle))), None)
        if image is None or label is None:
            return
        image["alt"] = " ".join(label[2].split())
        figure = nodes.figure("", image.deepcopy(), classes=["shown"])
        following = bundle.next_node(nodes.container, descend=False, siblings=True)
        paragraph = following and next(following.findall(nodes.paragraph), None)
        if paragraph is not None and paragraph.astext().startswith(f"Figure {label[1]}."):
            caption = nodes.caption("", "", *(node.deepcopy() for node in paragraph.children))
            next(caption.findall(nodes.strong))["classes"].append("caption-number")
            figure += caption
            following.parent.remove(following)
        note_anchor(self.document, figure, anchor("figure", label[1]))
        cell = bundle.parent
        bundle.replace_self(figure)
        if label[1] in AFTER:
            while cell.get("nb_element") != "cell_code":
                cell = cell.parent
            cell += nodes.paragraph("", BESIDE, classes=["still"])
            cell += live_figure("", name=AFTER[label[1]])


class Widgets(SphinxTransform):
    default_priority = 390

    def apply(self, **kwargs: object) -> None:
        for cell in list(_cells(self.document, "cell_code")):
            if "tag_widget" in cell["classes"]:
                for output in list(_cells(cell, "cell_code_output")):
                    output.parent.remove(output)
                told = still(STILL, self.env)
                cell += told
                called = re.search(r"\b(\w+_slider)\(", cell.astext())
                if called and called[1] in LIVE:
                    told += nodes.Text(INSTEAD)
                    cell += live_figure("", name=LIVE[called[1]])


class Description(SphinxTransform):
    default_priority = 520

    def apply(self, **kwargs: object) -> None:
        given = any(meta.get("name") == "description" for meta in self.document.findall(nodes.meta))
        paragraph = next(self.document.findall(nodes.paragraph), None)
        if paragraph is not None and not given:
            text = shortened(paragraph.astext())
            self.document.insert(0, nodes.meta("", name="description", content=text))


def shortened(text: str, limit: int = LONGEST_DESCRIPTION) -> str:
    """Whole words of ``text``, with an ellipsis if some had to go."""
    text = " ".join(text.split())
    return text if len(text) <= limit else text[:limit].rsplit(" ", 1)[0] + " ..."


def _cells(node: nodes.Element, element: str) -> Iterator[nodes.container]:
    return (each for each in node.findall(nodes.container) if each.get("nb_element") == element)


def _plain(bundle: nodes.container) -> Iterator[str]:
    """The plain texts of an output, in whatever form the page keeps them."""
    for form in bundle.findall(nodes.literal_block):
        yield form.astext()


def setup(app: Sphinx) -> dict[str, int]:
    for transform in (Figures, Widgets, Description):
        app.add_transform(transform)
    # Pages that an older state of this file has read are read again.
    state = crc32(Path(__file__).read_bytes())
    return {"env_version": state, "parallel_read_safe": True, "parallel_write_safe": True}
