"""The study of notebook 12: its data, its machines, and a table that can be made again."""

import numpy as np
import pytest

from kernelbook.study import verdict
from kernelbook.svdd import SVDD
from studies import descriptions as study
from studies import results

TABLE, SCORES = results.read(study.NAME), results.read(f"{study.NAME}_scores")


def test_stored_table_is_that_of_the_design():
    assert list(TABLE["data"].unique()) == list(study.SETS)
    assert not TABLE.duplicated(["data", "measure", "method"]).any()
    for name, part in TABLE.groupby("data"):
        methods = {*study.methods(name, 5), *study.BASELINES}
        assert set(part["method"]) == methods
    assert (TABLE["n"] == study.REPEATS).all() and (TABLE["margin"] == study.MARGIN).all()
    assert (TABLE["widen"] == "").all()


def test_table_follows_from_its_scores():
    keys = ["data", "measure", "method"]
    means = SCORES.groupby(keys)["value"].mean()
    stored = TABLE.set_index(keys)
    assert np.allclose(means[stored.index], stored["mean"], rtol=1e-6)
    for row in TABLE.itertuples():
        assert row.verdict in ("reference", verdict(row.low, row.high, row.margin))


def test_scores_can_be_made_again():
    options = {"baselines": [], "backend": "sequential", "progress": False}
    found = study.run("hypothyroid", repeats=2, **options).scores
    stored = SCORES[SCORES["data"] == "hypothyroid"]
    both = found.merge(stored, on=["method", "repeat", "measure"])
    assert len(both) == len(found) == 12
    assert np.allclose(both["value_x"], both["value_y"], rtol=1e-6)


@pytest.mark.parametrize(
    ("name", "n", "rare"), [("NHEFS", 1322, 145), ("abalone", 4177, 32), ("segment", 2086, 297)]
)
def test_each_row_once(name, n, rare):
    X, y = study.load(name)
    assert len(X) == len(y) == n and y.sum() == rare
    assert len(np.unique(np.nan_to_num(X, nan=-99.0), axis=0)) == n


def test_thyroid_patients_have_a_measurement_that_can_be():
    X, y = study.load("hypothyroid")
    assert X.shape == (2848, 5) and y.sum() == 141
    assert np.isfinite(X).any(axis=1).all() and not np.isinf(X).any()


def test_cost_of_an_outlier_is_in_units_of_that_of_a_target():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 2)), np.repeat([1, -1], [25, 5])
    own = study.WithOutliers(nu=0.2, gamma=0.5, ratio=3.0, tol=1e-9).fit(X, y)
    plain = SVDD(C=1 / (0.2 * 25), C_outlier=3 / (0.2 * 25), gamma=0.5).fit(X, y)
    assert np.allclose(own.alpha_, plain.alpha_, atol=1e-7)


def test_low_value_ranks_by_one_column():
    X = np.array([[1.0, 5.0], [2.0, -3.0]])
    rule = study.LowValue(1).fit(X)
    assert rule.decision_function(X).tolist() == [5, -3] and rule.predict(X).tolist() == [1, -1]
