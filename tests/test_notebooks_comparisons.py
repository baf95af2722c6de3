"""Methods are compared by kernelbook.study.compare, not by hand in a notebook."""

import json
import re
from pathlib import Path

import pandas as pd
import pytest

ROOT = Path(__file__).parents[1]
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
BY_HAND = re.compile(
    r"\b(cross_val_score|cross_validate|RepeatedStratifiedKFold|RepeatedKFold|HalvingGridSearchCV)\b"
)
SEARCH = re.compile(r"\bGridSearchCV\(")
# Searches that serve an example of one split, called so in the text, and no table of methods.
EXAMPLES = {
    "02": "one theorem on Haberman's patients: at equal weights the rare class is given up",
    "03": "one split of yeast, in which seventeen positives cannot rank two machines",
    "04": "the machines whose alarms are counted by hand",
    "05": "settings of one machine from folds of the training rows, and no table of methods",
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


# Where more than one choice in ten lies at an end of a grid: the notebook and its words for that.
AT_AN_EDGE = {
    ("adaptive_conformal_1014", "abalone 19", "kba"): (
        "10",
        "took the largest $\\gamma$ in 15 % of",
    ),
    ("card_fraud", "random", "KernelSVC, moved threshold"): (
        "04",
        "chose the largest $C$ of the grid in half of the splits",
    ),
    ("fisher", "waveform", "Fisher"): (
        "06",
        "in 4 of its 20 sets Fisher's search ended at the smallest penalty of the grid",
    ),
    ("one_class_conformal", "NHEFS", "asymmetric"): ("11", "at an end of their grids more often"),
    ("one_class_conformal", "hypothyroid", "asymmetric"): ("11", "at an end of their grids"),
    ("one_class_conformal", "sick euthyroid", "asymmetric"): ("11", "at an end of their grids"),
    ("regression", "three wrong", "least squares"): (
        "05",
        "narrowest kernel",
    ),
    ("two_passes_set_aside", "C chosen, first run", "plain"): (
        "09",
        "chose the smallest $C$ on 13 %",
    ),
    ("two_passes_set_aside", "C chosen, first run", "williams"): ("09", "set aside"),
}


def flagged(folder):
    """Table, data and method of each row whose search tells to widen the grid."""
    for path in sorted(folder.glob("*.csv")):
        table = pd.read_csv(path)
        if "widen" in table:
            for row in table[table["widen"].notna()].itertuples():
                yield path.stem, row.data, row.method


def prose(number):
    (path,) = (path for path in NOTEBOOKS if path.stem.startswith(number))
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    text = "\n".join("".join(c["source"]) for c in cells if c["cell_type"] == "markdown")
    return " ".join(text.split())


def test_each_choice_at_an_edge_is_named_in_the_text():
    assert set(flagged(ROOT / "data" / "results")) == set(AT_AN_EDGE)
    unsaid = [row for row, (number, words) in AT_AN_EDGE.items() if words not in prose(number)]
    assert unsaid == []


def test_a_choice_at_an_edge_is_noticed(tmp_path):
    rows = {"data": ["a", "b"], "method": ["svc", "svc"], "widen": ["", "C"]}
    pd.DataFrame(rows).to_csv(tmp_path / "study.csv", index=False)
    assert list(flagged(tmp_path)) == [("study", "b", "svc")]


# Tables of one split: sections that a reader must not take for a comparison.
ONE_SPLIT = {
    "09": ["Where it loses"],
    "10": ["Two distances in one factor"],
    "11": ["Is one class right?"],
    "13": ["Beside simple rules"],
}


@pytest.mark.parametrize("number", ONE_SPLIT)
def test_a_table_of_one_split_is_called_an_example(number):
    (path,) = (path for path in NOTEBOOKS if path.stem.startswith(number))
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    text = "\n\n".join("".join(c["source"]) for c in cells if c["cell_type"] == "markdown")
    for title in ONE_SPLIT[number]:
        section = re.split(r"^#+ ", text.split(f"# {title}", 1)[1], maxsplit=1, flags=re.M)[0]
        assert re.search(r"\bexample\b|\bone split\b|\bthis split\b", section, re.IGNORECASE), title
