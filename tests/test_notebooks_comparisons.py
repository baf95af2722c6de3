"""Methods are compared by kernelbook.study.compare, not by hand in a notebook."""

import json
import re
from pathlib import Path

import pytest

NOTEBOOKS = sorted((Path(__file__).parents[1] / "notebooks").glob("*.ipynb"))
BY_HAND = re.compile(
    r"\b(cross_val_score|cross_validate|RepeatedStratifiedKFold|RepeatedKFold|HalvingGridSearchCV)\b"
)
SEARCH = re.compile(r"\bGridSearchCV\(")
# Searches that serve an example of one split, called so in the text, and no table of methods.
EXAMPLES = {
    "02": "one theorem on Haberman's patients: at equal weights the rare class is given up",
    "03": "one split of yeast, in which seventeen positives cannot rank two machines",
    "04": "the machines whose alarms are counted by hand",
    "09": "one split of the tumours, on which the rule for the width fails",
}


def code(path):
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return "\n".join("".join(c["source"]) for c in cells if c["cell_type"] == "code")


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_no_comparison_is_made_by_hand(path):
    source = code(path)
    assert BY_HAND.findall(source) == []
    if path.stem[:2] not in EXAMPLES:
        assert SEARCH.findall(source) == []


@pytest.mark.parametrize("number", EXAMPLES)
def test_an_example_still_needs_its_exception(number):
    (path,) = (path for path in NOTEBOOKS if path.stem.startswith(number))
    assert SEARCH.search(code(path))


@pytest.mark.parametrize(
    "line", ["cross_val_score(model, X, y)", "for a, b in RepeatedStratifiedKFold(5).split(X, y):"]
)
def test_a_comparison_by_hand_would_be_found(line):
    assert BY_HAND.search(line)
