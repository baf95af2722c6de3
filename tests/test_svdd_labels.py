"""Labels, weights and parameters of the data description."""

import numpy as np
import pandas as pd
import pytest
from bayesian import BDD
from numpy.testing import assert_allclose, assert_array_equal
from samples import labelled, named, points
from sklearn.base import clone

from kernelbook.exceptions import InfeasibleError, LabelWarning
from kernelbook.svdd import SVDD, target_signs

# Labels, weights, prices


def test_labels():
    X, y = labelled()
    expected = SVDD(0.1).fit(X, y).alpha_
    for same in (
        y.astype(float),
        y.astype(object),
        y.tolist(),
        pd.Series(y),
    ):
        assert_array_equal(SVDD(0.1).fit(X, same).alpha_, expected)
    assert_array_equal(
        SVDD(0.1).fit(X[y > 0], None).alpha_, SVDD(0.1).fit(X[y > 0], y[y > 0]).alpha_
    )
    assert_array_equal(target_signs(None, X), 1.0)


@pytest.mark.parametrize(
    ("y", "expected", "message"),
    [
        ([3, -1, 1], [1, -1, 1], r"\(\[3\]\): .* targets, those marked -1 for outliers"),
        ([0, 1, 0], [1, 1, 1], r"\(\[0\]\): .* targets, none of them for an outlier"),
        ([0, 2.0, 5], [1, 1, 1], r"\(\[0\.0, 2\.0, 5\.0\]\)"),
        (range(3, 12), np.ones(9), r"\(\[3, 4, 5, 6, 7\]\)"),
    ],
)
def test_labels_of_neither_side_are_targets_and_told(y, expected, message):
    X = points(len(y))
    with pytest.warns(LabelWarning, match=r"labels other than \+1 and -1 " + message) as seen:
        signs = target_signs(np.array(y), X)
    assert_array_equal(signs, expected)
    assert len(seen) == 1
    assert "np.where(labels == outlier, -1, 1)" in str(seen[0].message)


@pytest.mark.parametrize("estimator", [SVDD(nu=0.2), BDD()], ids=lambda e: type(e).__name__)
def test_every_sphere_tells_of_labels_of_neither_side(estimator):
    X, y = labelled()
    plain = clone(estimator).fit(X, y)
    with pytest.warns(LabelWarning):
        odd = clone(estimator).fit(X, np.where(y > 0, 3, -1))
    assert_array_equal(odd.alpha_, plain.alpha_)
    assert_array_equal(odd.predict(X), plain.predict(X))


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (-np.ones(48), "every point as an outlier"),
        (np.repeat(["target", "outlier"], 24), "y must hold integers: -1 for outliers"),
        (np.repeat([True, False], 24), "y must hold integers: -1 for outliers"),
        (np.repeat([1.0, np.nan], 24), "y must hold integers: -1 for outliers"),
        (np.repeat([1, -2], 24), "y must hold integers: -1 for outliers"),
        (np.repeat([1.0, 0.5], 24), "y must hold integers: -1 for outliers"),
        (np.ones(47), "inconsistent numbers of samples"),
        (np.ones((48, 2)), "1d array"),
    ],
)
def test_labels_that_mean_nothing(y, message):
    with pytest.raises(ValueError, match=message):
        SVDD().fit(labelled()[0], y)


def test_fit_predict_uses_the_labels():
    X, y = labelled()
    assert_array_equal(SVDD(0.1).fit_predict(X, y), SVDD(0.1).fit(X, y).predict(X))
    assert (SVDD(0.1).fit_predict(X) != SVDD(0.1).fit_predict(X, y)).any()


@pytest.mark.parametrize("price", [{"C": 0.2}, {"nu": 0.3, "C_outlier": 0.1}, {"nu": 0.3}])
def test_weights_count_points(price):
    X, y = labelled()
    weights = np.random.default_rng(3).integers(0, 4, size=len(X))
    weighted = SVDD(**price).fit(X, y, sample_weight=weights)
    repeated = SVDD(**price).fit(np.repeat(X, weights, axis=0), np.repeat(y, weights))
    assert_allclose(weighted.decision_function(X), repeated.decision_function(X), atol=1e-9)
    assert weighted.radius_ == pytest.approx(repeated.radius_)
    assert_array_equal(weighted.alpha_[weights == 0], 0.0)


def test_weights_enter_the_smallest_c():
    with pytest.raises(InfeasibleError, match=r"below 1/n = 0.4 for n = 2.5 targets"):
        SVDD(0.2, kernel="linear").fit(np.arange(5.0)[:, None], sample_weight=np.full(5, 0.5))


@pytest.mark.parametrize("weights", [np.full(48, -1.0), np.zeros(48), np.ones(47)])
def test_useless_weights(weights):
    with pytest.raises(ValueError, match=r"(?i)sample.weight"):
        SVDD().fit(*labelled(), sample_weight=weights)


def test_weights_without_a_target():
    X, y = labelled()
    with pytest.raises(ValueError, match="zero for every target"):
        SVDD().fit(X, y, sample_weight=(y < 0).astype(float))


@pytest.mark.parametrize("value", [0, -1.0, np.nan, np.inf, "1", True])
@pytest.mark.parametrize("name", ["C", "C_outlier", "nu"])
def test_parameters_out_of_range(name, value):
    with pytest.raises(ValueError, match=named(name, value)):
        SVDD(**{name: value}).fit(points())


def test_nu_above_one():
    with pytest.raises(ValueError, match=named("nu", 1.5)):
        SVDD(nu=1.5).fit(points())


def test_nu_counts_targets_only():
    X, y = labelled()
    assert_array_equal(SVDD(nu=0.2).fit(X, y).alpha_, SVDD(C=1 / (0.2 * 40)).fit(X, y).alpha_)
