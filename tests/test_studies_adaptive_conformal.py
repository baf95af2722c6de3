"""The study of notebook 10: draws, methods and descriptions, and a table that can be made again."""

import numpy as np
import pytest
from sklearn.base import clone

from kernelbook.conformal import ConformalSVC
from studies import adaptive_conformal as study
from studies import results

TABLE, SCORES = results.read(study.NAME), results.read(f"{study.NAME}_scores")


def test_stored_table_is_that_of_the_design():
    assert list(TABLE["data"].unique()) == list(study.LOADERS)
    assert not TABLE.duplicated(["data", "measure", "method"]).any()
    assert set(TABLE["measure"]) == set(study.MEASURES) == set(study.MARGIN)
    for _, part in TABLE.groupby("data"):
        assert set(part["method"]) == {*study.methods(3), *study.BASELINES}
        assert (part["n"] == study.N_REPEATS).all()
        assert (part["margin"] == part["measure"].map(study.MARGIN)).all()
    searched = TABLE[~TABLE["method"].isin(study.BASELINES)]
    assert (searched["n_settings"] == len(study.COSTS) * len(study.WIDTHS)).all()


def test_the_earlier_run_is_kept_and_is_another_draw():
    earlier, keys = results.read(f"{study.NAME}_1014"), ["data", "measure", "method"]
    assert (earlier[keys] == TABLE[keys]).all(axis=None)
    assert (earlier["margin"] == TABLE["margin"]).all() and study.SEED != 1014
    searched = earlier["method"] == "svc"
    assert not np.allclose(earlier.loc[searched, "mean"], TABLE.loc[searched, "mean"], atol=1e-4)


def test_means_of_the_table_are_those_of_the_scores():
    means = SCORES.groupby(["data", "measure", "method"])["value"].mean()
    stored = TABLE.set_index(["data", "measure", "method"])["mean"]
    assert np.allclose(means[stored.index], stored, rtol=1e-6)
    assert set(SCORES["measure"]) == {*study.MEASURES, *study.DESCRIPTIONS}


def test_scores_can_be_made_again():
    options = {"baselines": [], "backend": "sequential", "progress": False, "n_repeats": 2}
    only = [study.REFERENCE, "smote + svc", "kba"]
    found = study.run("glass 7", only=only, **options).scores
    both = found.merge(SCORES[SCORES["data"] == "glass 7"], on=["method", "repeat", "measure"])
    assert len(both) == len(found) == 2 * len(only) * 7
    assert np.allclose(both["value_x"], both["value_y"], rtol=1e-6)


@pytest.mark.parametrize(("data", "rows", "rare"), [("glass 7", 214, 29), ("abalone 19", 400, 32)])
def test_a_draw_keeps_equal_rows_together(data, rows, rare):
    _, y, groups = study.load(data)
    train, test = study.split(data, repeat=3)
    assert len(train) + len(test) == rows and y[train].sum() + y[test].sum() == rare
    assert not set(groups[train]) & set(groups[test])
    assert not np.array_equal(test, study.split(data, repeat=4)[1])


def test_methods_differ_in_what_their_names_say_alone():
    found = study.methods(9)
    grids = [grid for _, grid in found.values()]
    assert all(grid == grids[0] for grid in grids)
    for name, (pipeline, _) in found.items():
        machine = pipeline[-1]
        assert (machine.class_weight == "balanced") == ("balanced" in name or name == "AFSCT")
        assert (machine.kernel == "laplacian") == ("laplacian" in name or name == "AFSCT")
        assert ("sample" in pipeline.named_steps) == (
            name in ("smote + svc", "undersampling + svc")
        )
        assert getattr(machine, "C_second", None) is None  # one C for both passes


class Fitted:
    """What ``compare`` hands to a scorer: the fitted pipeline in ``estimator_``."""

    def __init__(self, name, X, y):
        self.estimator_ = clone(study.methods(X.shape[1])[name][0]).fit(X, y)

    def predict(self, X):
        return self.estimator_.predict(X)


def test_descriptions_tell_what_the_factor_does():
    X, y, _ = study.load("glass 7")
    plain, act = Fitted("svc", X, y), Fitted("act", X, y)
    assert study.spread_of_factor(plain, X, y) == 1 and study.changed_by_factor(plain, X, y) == 0
    machine, points = act.estimator_[-1], act.estimator_[:-1].transform(X)
    assert isinstance(machine, ConformalSVC) and machine.fallback_ is None
    low, high = np.quantile(machine.factor_(points), [0.1, 0.9])
    assert study.spread_of_factor(act, X, y) == pytest.approx(high / low)
    answers = machine.predict(points) != plain.predict(X)
    assert study.changed_by_factor(act, X, y) == pytest.approx(answers.mean())
    frequent, rare = machine.n_support_
    assert study.skew(act, X, y) == frequent / rare
    assert study.skew_before(act, X, y) == study.skew(plain, X, y)


def test_the_g_mean_is_the_root_of_a_product():
    class Answers:
        def predict(self, X):
            return np.asarray(X)

    truth = np.array([1, 1, 1, 1, 0, 0])
    assert study.g_mean(Answers(), [1, 1, 1, 0, 0, 1], truth) == pytest.approx((3 / 4 / 2) ** 0.5)
