"""Conformal one-class machines: a factor by hand, outlier fractions, collapse."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose
from samples import imbalanced

from kernelbook.conformal import ConformalOneClassSVM
from kernelbook.exceptions import CollapseWarning
from kernelbook.kernels import rbf
from kernelbook.oneclass import OneClassSVM

# One class


def test_one_class_factor_by_hand():
    X, _ = imbalanced(50, fraction=0.0)
    nu, gamma = 0.3, 0.5
    first = OneClassSVM(nu, gamma=gamma).fit(X)
    margin = (first.alpha_ > 0) & (first.alpha_ < 1 / (nu * 50) - 1e-12)
    # sigma = 1, d = 2: 2 tau^2 = 2 sigma^2 / d = 1.
    c = np.exp(-1.0 * ((X[:, None] - X[margin]) ** 2).sum(axis=2)) @ first.alpha_[margin]
    model = ConformalOneClassSVM(nu, gamma=gamma).fit(X)
    assert_allclose(model.factor_(X), c, rtol=1e-8)
    K = c[:, None] * rbf(X, gamma=gamma) * c
    direct = OneClassSVM(nu, kernel="precomputed").fit(K)
    assert_allclose(model.alpha_, direct.alpha_, rtol=0, atol=1e-6)
    assert_allclose(model.decision_function(X), direct.decision_function(K), rtol=0, atol=1e-9)
    assert model.offset_ == pytest.approx(direct.offset_, rel=1e-8)
    assert model.alpha_.sum() == pytest.approx(1.0)
    assert model.fallback_ is None
    floored = ConformalOneClassSVM(nu, gamma=gamma, floor=0.25).fit(X)
    assert_allclose(floored.factor_(X), c + 0.25 * c.max(), rtol=1e-8)
    # The margin of the second machine makes the third.
    twice = ConformalOneClassSVM(nu, gamma=gamma, n_passes=2).fit(X)
    assert_allclose(twice.previous_.decision_function(X), model.decision_function(X))
    assert not np.allclose(twice.factor_(X), c)


@pytest.mark.parametrize("nu", [0.05, 0.2, 0.5])
@pytest.mark.parametrize("tau", [0.5, "sigma/sqrt(d)", 3.0])
def test_one_class_nu_property_without_collapse(nu, tau):
    X, _ = imbalanced(200, fraction=0.0)
    model = ConformalOneClassSVM(nu, gamma=0.3, tau=tau).fit(X)
    assert (model.predict(X) < 0).mean() <= nu
    assert len(model.support_) / len(X) >= nu - 1e-12
    new, _ = imbalanced(2000, fraction=0.0, seed=7)
    accepted = (model.predict(new) > 0).mean()
    # Acceptance of new points: within three standard errors of training and test sample.
    assert abs(accepted - (1 - nu)) < 3 * np.sqrt(nu * (1 - nu) * (1 / 200 + 1 / 2000)) + 0.01


@pytest.mark.parametrize("tau", [0.02, 0.05, 0.1, 0.2, 0.4, 1.0])
@pytest.mark.parametrize("nu", [0.05, 0.3, 0.9])
def test_collapse_is_warned_of_exactly_by_its_criterion(tau, nu):
    X, _ = imbalanced(100, fraction=0.0)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = ConformalOneClassSVM(nu, gamma=0.5, tau=tau).fit(X)
    c = model.factor_(X)
    share = (c < 1e-6 * c.max()).mean()
    assert model.vanished_fraction_ == pytest.approx(share, abs=0.011)
    collapse = [w for w in caught if issubclass(w.category, CollapseWarning)]
    assert len(collapse) == (model.vanished_fraction_ >= nu)
    if collapse:
        assert f"{model.vanished_fraction_:.1%}" in str(collapse[0].message)
        assert "floor" in str(collapse[0].message)


def test_exactly_nu_n_vanished_points_collapse():
    """Two points, nu = 1/2: the one that has vanished takes all the weight."""
    X = [[1.0], [2.0]]  # without a margin support vector, c is a bump at 1
    with pytest.warns(CollapseWarning, match="50.0% of the training points, not fewer than nu"):
        model = ConformalOneClassSVM(0.5, kernel="linear", tau=0.1).fit(X)
    assert model.vanished_fraction_ == 0.5
    assert_allclose(model.alpha_, [0, 1], rtol=0, atol=1e-9)
    assert model.offset_ < 1e-20
    # The same points at nu = 0.6, where 1.2 would be needed: no warning, or the test fails.
    model = ConformalOneClassSVM(0.6, kernel="linear", tau=0.1).fit(X)
    assert model.vanished_fraction_ == 0.5 and model.offset_ > 0.01
    # Weights whose sum is rounded: 0.3 / (0.1 + 0.2 + 0.3) is a little below one half.
    with pytest.warns(CollapseWarning):
        ConformalOneClassSVM(0.5, kernel="linear", tau=0.1).fit(
            [[1.0], [2.0], [1.0]], sample_weight=[0.1, 0.3, 0.2]
        )


def test_collapse_in_many_dimensions_and_its_remedies():
    """49 dimensions, sigma = 7: the rule's tau is 1 where points are 10 apart."""
    X = np.random.default_rng(0).normal(size=(200, 49))
    parameters = {"nu": 0.1, "gamma": 1 / (2 * 7.0**2)}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = ConformalOneClassSVM(**parameters).fit(X)
    assert caught[0].category is CollapseWarning
    assert caught[0].filename == __file__
    assert "not fewer than nu = 0.1" in str(caught[0].message)
    assert model.vanished_fraction_ > 0.1
    for remedy in ({"floor": 1e-2}, {"tau": 7.0}):
        model = ConformalOneClassSVM(**parameters, **remedy).fit(X)  # a warning would fail
        assert model.vanished_fraction_ == 0
        assert (model.predict(X) < 0).mean() <= 0.1


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_collapse_is_warned_of_in_every_pass_at_the_users_line():
    X, _ = imbalanced(60, fraction=0.0)
    with pytest.warns(CollapseWarning) as caught:
        ConformalOneClassSVM(0.05, gamma=0.5, tau=0.05, n_passes=2).fit(X)
    collapse = [w for w in caught if w.category is CollapseWarning]
    assert len(collapse) == 2
    assert {w.filename for w in collapse} == {__file__}


def test_one_class_without_margin_support_vectors():
    X, _ = imbalanced(40, fraction=0.0)
    model = ConformalOneClassSVM(1.0, gamma=0.5).fit(X)
    assert model.fallback_.startswith("no support vector lies on the margin")
    assert len(model.factor_.widths) == 40


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"nu": 0}, "'nu' parameter"),
        ({"nu": 1.5}, "'nu' parameter"),
        ({"tau": -1}, "'tau' parameter"),
        ({"tau": "auto"}, "'tau' parameter"),
        ({"kernel": "linear"}, "Give tau as a number"),
        ({"metric": "feature"}, "Give tau as a number"),
        ({"floor": -0.1}, "'floor' parameter"),
        ({"n_passes": 0}, "'n_passes' parameter"),
        ({"metric": "cosine"}, "'metric' parameter"),
    ],
)
def test_one_class_parameters_out_of_range(parameters, message):
    with pytest.raises(ValueError, match=message):
        ConformalOneClassSVM(**parameters).fit(imbalanced()[0])


def test_one_class_precomputed_and_weights():
    X, _ = imbalanced(50, fraction=0.0)
    new, _ = imbalanced(20, fraction=0.0, seed=4)
    direct = ConformalOneClassSVM(0.2, metric="feature", tau=0.7, gamma=0.5).fit(X)
    matrix = ConformalOneClassSVM(0.2, kernel="precomputed", tau=0.7).fit(rbf(X, gamma=0.5))
    values = matrix.decision_function(rbf(new, X, gamma=0.5))
    assert_allclose(values, direct.decision_function(new), rtol=0, atol=1e-9)
    weights = np.random.default_rng(1).integers(0, 3, 50)
    weighted = ConformalOneClassSVM(0.2).fit(X, sample_weight=weights)
    repeated = ConformalOneClassSVM(0.2).fit(np.repeat(X, weights, axis=0))
    assert_allclose(
        weighted.decision_function(new), repeated.decision_function(new), rtol=0, atol=1e-8
    )
