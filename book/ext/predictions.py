"""An input below a question "Predict before you run", and a way to the words that answer it.

``book/predictions/03_kernel_svm.json``, which ``tools.predictions`` makes of a table and of the
notebook, has an entry for each question in their order; an empty one is a question that a page does
not judge. The form is that of the exercises.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from zlib import crc32

from answers import answer_input
from docutils import nodes
from references import anchor
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform
from sphinx.util import logging

CELL, FIRST = 10_000, 2  # MyST-NB numbers the lines of the first cell from 10,002
logger = logging.getLogger(__name__)


class Predictions(SphinxTransform):
    default_priority = 396

    def apply(self, **kwargs: object) -> None:
        path = Path(self.env.srcdir, "book", "predictions", f"{Path(self.env.docname).name}.json")
        if not path.exists():
            return
        self.env.note_dependency(str(path))
        keys = json.loads(path.read_text(encoding="utf-8"))
        questions = list(self._questions())
        if len(keys) != len(questions):
            found = f"{len(questions)} of {len(keys)} predictions in {path}"
            logger.warning("the page has %s", found, location=self.env.docname)
            return
        for count, (key, question) in enumerate(zip(keys, questions, strict=True), 1):
            if key:
                question.parent.insert(question.parent.index(question) + 1, self._form(count, key))

    def _questions(self) -> Iterator[nodes.paragraph]:
        for words in self.document.findall(nodes.strong):
            if words.astext().startswith("Predict") and isinstance(words.parent, nodes.paragraph):
                yield words.parent

    def _form(self, count: int, key: dict[str, Any]) -> answer_input:
        name = f"prediction-{count}"
        target, what = self._target(f"{name}-answer", key.pop("place"))
        return answer_input(
            "",
            name=name,
            label="Your prediction",
            key=key,
            classes=["prediction"],
            place=f'<a class="answer-place" href="#{target}" hidden>Compare with {what}</a>',
        )

    def _target(self, name: str, place: dict[str, Any]) -> tuple[str, str]:
        """Where the answer stands, and what that is."""
        if place["figure"]:
            return anchor("figure", place["figure"]), f"figure {place['figure']}"
        for cell in self.document.findall(nodes.container):
            if cell.get("cell_index") == place["cell"]:
                cell["ids"].append(name)
                return name, "the output below"
        start = CELL * (place["cell"] + 1) + FIRST
        around = (
            block for block in self.document.findall(_is_block)
            if start <= block.line <= start + place["line"]
        )  # fmt: skip
        max(around, key=lambda block: block.line)["ids"].append(name)
        return name, "the text below"


def _is_block(node: nodes.Node) -> bool:
    kinds = (nodes.section, nodes.paragraph, nodes.math_block, nodes.row)
    return isinstance(node, kinds) and node.line is not None


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_transform(Predictions)
    state = crc32(Path(__file__).read_bytes())
    return {"env_version": state, "parallel_read_safe": True, "parallel_write_safe": True}
