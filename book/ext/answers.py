"""An input for the answer to an exercise, which the page judges as the notebook does.

``predictions`` gives the questions before a figure the same input, with choices or for a number.
The cell below an exercise ends with ``check("03.1", answer_1)``. Its stored output says that there
is no answer yet; here a form stands in its place. What judges the answer comes from
``book/answers/03_kernel_svm.json``, which ``tools.answers`` makes of the executed exercises, and is
kept in the page in base64: nobody should read the answer before having thought. A cell without such
an entry is a fault; an empty entry is an exercise that a running notebook alone can judge.
"""

import json
import re
from base64 import b64encode
from collections.abc import Iterator
from html import escape
from pathlib import Path
from typing import Any
from zlib import crc32

from docutils import nodes
from outputs import still
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform
from sphinx.util import logging

CHECK = re.compile(r'^check\("(\d\d\.\d+)", .+\)$', re.MULTILINE)
BUTTON = '<button type="submit">Check</button>'
ELSEWHERE = "A running notebook checks this answer, which is code: see "
logger = logging.getLogger(__name__)


class answer_input(nodes.General, nodes.Element):  # noqa: N801 (docutils calls a visitor by it)
    """A form that takes an answer and judges it."""


class Answers(SphinxTransform):
    default_priority = 395

    def apply(self, **kwargs: object) -> None:
        path = Path(self.env.srcdir, "book", "answers", f"{Path(self.env.docname).name}.json")
        if not path.exists():
            return
        self.env.note_dependency(str(path))
        known = json.loads(path.read_text(encoding="utf-8"))
        for cell in list(self.document.findall(nodes.container)):
            number = CHECK.search(cell.astext()) if cell.get("nb_element") == "cell_code" else None
            if number is None:
                continue
            if number[1] not in known:
                logger.warning("exercise %s has no answer in %s", number[1], path, location=cell)
                continue
            for output in list(_outputs(cell)):
                output.parent.remove(output)
            cell += self._input(number[1], known[number[1]])

    def _input(self, number: str, key: dict[str, Any]) -> nodes.Node:
        if key:
            name = f"answer-{number.replace('.', '-')}"
            return answer_input("", name=name, label=f"Your answer to {number}", key=key)
        return still(ELSEWHERE, self.env)


def _outputs(cell: nodes.container) -> Iterator[nodes.container]:
    return (
        each for each in cell.findall(nodes.container)
        if each.get("nb_element") == "cell_code_output"
    )  # fmt: skip


def visit(self: Any, node: answer_input) -> None:
    code = b64encode(json.dumps(node["key"]).encode()).decode()
    self.body.append(
        f'<form class="{" ".join(["answer", *node["classes"]])}" data-answer="{code}">'
        + (_choices(node) if node["key"].get("choices") else _line(node))
        + '<output class="answer-verdict" role="status" aria-live="polite"></output>'
        + node.get("place", "")
        + "</form>\n"
    )


def _line(node: answer_input) -> str:
    """A line to type into, with its button."""
    name, asked = node["name"], node["key"].get("asked", "")
    return (
        f'<label for="{name}">{node["label"]}</label>'
        + (f'<span class="answer-asked" id="{name}-asked">{escape(asked)}</span>' if asked else "")
        + f'<span class="answer-row"><input id="{name}" name="answer" type="text" '
        'autocomplete="off" autocapitalize="off" spellcheck="false"'
        + (f' aria-describedby="{name}-asked"' if asked else "")
        + ">"
        + BUTTON
        + "</span>"
    )


def _choices(node: answer_input) -> str:
    """One button a choice, and the one that checks."""
    radios = "".join(
        f'<label><input id="{node["name"]}-{place}" name="answer" type="radio" '
        f'value="{escape(choice)}">{escape(choice)}</label>'
        for place, choice in enumerate(node["key"]["choices"], 1)
    )
    legend = f"{node['label']}: {escape(node['key']['asked'])}"
    return (
        f"<fieldset><legend>{legend}</legend>{radios}</fieldset>"
        f'<span class="answer-row">{BUTTON}</span>'
    )


def depart(self: Any, node: answer_input) -> None:
    pass


def add_script(
    app: Sphinx, page: str, template: str, context: dict[str, Any], tree: nodes.document | None
) -> None:
    if tree is not None and next(tree.findall(answer_input), None) is not None:
        app.add_js_file("answers.js", loading_method="defer")


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_node(answer_input, html=(visit, depart))
    app.add_transform(Answers)
    app.connect("html-page-context", add_script)
    state = crc32(Path(__file__).read_bytes())
    return {"env_version": state, "parallel_read_safe": True, "parallel_write_safe": True}
