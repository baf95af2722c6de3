"""The studies of notebooks 04 and 11: splits and measures hold; stored tables can be made again."""

import numpy as np
import pytest

from kernelbook.study import verdict
from studies import card_fraud, one_class_conformal, results

TABLES = [
    "card_fraud",
    "card_fraud_settings",
    "one_class_conformal",
    "one_class_conformal_equal",
]
QUIET = {"backend": "sequential", "progress": False}


class Line:
    """Ranks by the only feature and answers 1 above 0."""

    def decision_function(self, X):
        return X[:, 0]

    def predict(self, X):
        return (X[:, 0] > 0).astype(int)


def equal_to_stored(found, name, data):
    stored = results.read(f"{name}_scores")
    keys = ["method", "repeat", "measure"]
    both = found.scores.merge(stored[stored["data"] == data], on=keys, suffixes=("", "_stored"))
    assert len(both) == len(found.scores)
    assert both["value"].to_numpy() == pytest.approx(both["value_stored"].to_numpy(), abs=1e-6)


@pytest.mark.parametrize("name", TABLES)
def test_stored_verdicts_are_those_of_their_intervals(name):
    table = results.read(name)
    assert (table["n"] == 20).all()
    rivals = table[table["verdict"] != "reference"]
    for row in rivals.itertuples():
        assert row.verdict == verdict(row.low, row.high, row.margin)
    scores = results.read(f"{name}_scores")
    means = scores.groupby(["data", "method", "measure"])["value"].mean()
    for row in table.itertuples():
        assert row.mean == pytest.approx(means[row.data, row.method, row.measure], abs=1e-6)


def test_a_part_of_each_study_gives_the_stored_scores_again():
    equal_to_stored(card_fraud.run("later", repeats=2, **QUIET), "card_fraud", "later")
    setting = one_class_conformal.EQUAL[0]
    found = one_class_conformal.run_equal("hypothyroid", setting, repeats=2, **QUIET)
    data = one_class_conformal.name_of("hypothyroid", setting)
    equal_to_stored(found, "one_class_conformal_equal", data)


def test_later_payments_are_later_and_parts_have_equal_sizes():
    _, y, time = card_fraud.load()
    for train, test in card_fraud.later_splits(3):
        assert time[train].max() < time[test].min()
        assert y[train].sum() == 142
    assert {int(y[train].sum()) for train, _ in card_fraud.random_splits(3)} == {142}


def test_measures_of_fraud_on_paper():
    X, y = np.array([[3.0], [2.0], [1.0], [-1.0]]), np.array([1, 0, 1, 0])
    weight = 283_253 / 4500
    by_hand = (1 + 2 / (2 + weight)) / 2
    assert card_fraud.ap_of_all_payments(Line(), X, y) == pytest.approx(by_hand)
    assert card_fraud.sensitivity_at_budget(Line(), X, y) == 0.5
    assert card_fraud.balanced_accuracy(Line(), X, y) == 0.75


def test_files_have_the_prevalence_of_nhefs():
    for file in one_class_conformal.FILES:
        X, y = one_class_conformal.load(file)
        assert len(X) == len(y) and y.mean() == pytest.approx(0.11, abs=0.005)


def test_rates_of_patients_on_paper():
    X, y = np.array([[3.0], [2.0], [1.0], [-1.0]]), np.array([1, 0, 1, 1])
    assert one_class_conformal.sensitivity(Line(), X, y) == pytest.approx(2 / 3)
    assert one_class_conformal.specificity(Line(), X, y) == 0.0
    assert one_class_conformal.g_mean(Line(), X, y) == 0.0
