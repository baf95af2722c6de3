"""Bayesian descriptions inside scikit-learn, and wrong arguments."""

import pickle

import numpy as np
import pandas as pd
import pytest
from bayesian import BDD, BSVDD, MINORITY, labelled_apart, short, short_chains
from numpy.testing import assert_allclose, assert_array_equal
from samples import named, points
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, StratifiedKFold

from kernelbook.bayes import (
    SpherePosterior,
)
from kernelbook.exceptions import (
    InfeasibleError,
    NotPositiveSemidefiniteError,
)
from kernelbook.kernels import rbf

# As estimators


@short_chains
@pytest.mark.parametrize("estimator", [BDD("row_mean"), short(BSVDD), short(MINORITY)])
def test_precomputed_equals_the_kernel_itself(estimator):
    X, y = labelled_apart(20, 5)
    Z = points(9, seed=4)
    estimator.set_params(kernel="rbf", gamma=0.3, cv=2, cutoff="balanced_accuracy")
    direct = estimator.fit(X, y)
    expected = [direct.decision_function(Z), direct.alpha_]
    K = rbf(X, gamma=0.3)
    model = estimator.set_params(kernel="precomputed").fit(K, y)
    assert_allclose(model.decision_function(rbf(Z, X, gamma=0.3)), expected[0], atol=1e-6)
    assert_allclose(model.alpha_, expected[1], atol=1e-6)
    linear = estimator.set_params(kernel="precomputed").fit(X @ X.T, y)
    with pytest.raises(ValueError, match="diagonal"):
        linear.predict(Z @ X.T)
    by_matrix = linear.decision_function(Z @ X.T, diagonal=(Z**2).sum(axis=1))
    by_name = estimator.set_params(kernel="linear").fit(X, y).decision_function(Z)
    assert_allclose(by_matrix, by_name, atol=1e-8)


@short_chains
@pytest.mark.parametrize("estimator", [BDD("row_mean"), short(BSVDD), short(MINORITY)])
def test_frames_pickles_and_atomic_fits(estimator):
    X, y = labelled_apart(20, 5)
    frame = pd.DataFrame(X, columns=["a", "b"])
    model = estimator.fit(frame, pd.Series(y))
    assert model.feature_names_in_.tolist() == ["a", "b"]
    again = pickle.loads(pickle.dumps(model))
    assert_array_equal(again.decision_function(frame), model.decision_function(frame))
    before = model.radius_
    with pytest.raises(ValueError):
        model.set_params(rejection_rate=2.0).fit(frame, y)
    assert model.radius_ == before
    model.set_params(rejection_rate=0.1)
    assert_array_equal(model.fit_predict(frame, y), model.predict(frame))
    assert (model.predict(frame)[y == 1] == -1).sum() == 2


def test_grid_search_over_the_exponent():
    X, y = labelled_apart(40, 10)
    grid = GridSearchCV(
        BDD("row_sum"), {"prior_exponent": [0.25, 1.0]}, scoring="roc_auc",
        cv=StratifiedKFold(3, shuffle=True, random_state=0),
    ).fit(X, y)  # fmt: skip
    assert grid.best_score_ > 0.8


def test_not_fitted():
    for model in (BDD(), BSVDD(), MINORITY()):
        with pytest.raises(NotFittedError):
            model.predict([[0.0]])
    with pytest.raises(NotFittedError):
        BSVDD().predict_proba([[0.0]])


@pytest.mark.parametrize("estimator", [BDD, BSVDD, MINORITY])
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"prior_mean": "mean"}, named("prior_mean", "mean")),
        ({"prior_mean": [0.0, 1.0]}, "prior_mean must hold one finite number"),
        ({"prior_exponent": 0.0}, named("prior_exponent", 0.0)),
        ({"prior_scale": -1.0}, named("prior_scale", -1.0)),
        ({"prior_scale": np.eye(3)}, "prior_scale must be a positive variance"),
        ({"prior_scale": np.triu(np.ones((10, 10)))}, "symmetric"),
        ({"prior_exponent": 0.5, "kernel": "linear"}, "prior_exponent=0.5 needs row sums"),
        ({"cutoff": "mcc"}, named("cutoff", "mcc")),
        ({"cutoff": "f1"}, "needs outliers"),
        ({"rejection_rate": 1.0}, named("rejection_rate", 1.0)),
        ({"rank": 0}, named("rank", 0)),
        ({"rank": 11}, r"rank must be an integer in \[1, 10\], got 11"),
        ({"cv": 1}, named("cv", 1)),
        ({"cv": 11}, r"cv must be .* in \[2, 10\], got 11"),
        ({"cv": 2, "prior_mean": np.zeros(10)}, "cv refits on parts"),
        ({"gamma": -1.0}, named("gamma", -1.0)),
    ],
)
def test_errors_name_the_argument(estimator, options, message):
    with pytest.raises(ValueError, match=message):
        estimator(**options).fit(points(10))


def test_errors_of_one_machine():
    X = points(10)
    with pytest.raises(InfeasibleError, match=r"below 1/n = 0\.1"):
        BDD(upper=0.05).fit(X)
    assert_allclose(BDD(upper=0.1).fit(X).alpha_, 0.1)
    with pytest.raises(NotPositiveSemidefiniteError, match="prior_scale must be a positive"):
        BDD(prior_scale=np.eye(10) - 0.5).fit(X)
    with pytest.raises(ValueError, match=named("sampler", "nuts")):
        BSVDD(sampler="nuts").fit(X)
    with pytest.raises(ValueError, match="needs a Gaussian prior of all coordinates"):
        MINORITY(sampler="pcn").fit(*labelled_apart(5, 2))
    for wrong in (1.0, (1.0,), (0.0, 1.0), ("a", 1.0)):
        with pytest.raises(ValueError, match="minority_prior"):
            MINORITY(minority_prior=wrong).fit(*labelled_apart(5, 2))
    with pytest.raises(ValueError, match="at least one target"):
        MINORITY().fit(X, -np.ones(10))
    flat = SpherePosterior(np.eye(2), [1, 1], np.zeros(2), np.ones((2, 2)))
    with pytest.raises(NotPositiveSemidefiniteError, match="no density"):
        flat.log_posterior(np.zeros((1, 2)))
