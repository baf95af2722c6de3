"""Precomputed kernels, failures, and life within scikit-learn."""

import pickle

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from samples import labelled, points
from sklearn.exceptions import NotFittedError
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from kernelbook.exceptions import InfeasibleError, NotPositiveSemidefiniteError
from kernelbook.kernels import linear, polynomial, rbf
from kernelbook.svdd import SVDD

# Precomputed kernels, which do not tell K(z, z)


@pytest.mark.parametrize("kernel", [linear, polynomial, rbf])
def test_precomputed(kernel):
    X, y = labelled()
    Z = points(seed=9)
    called = SVDD(0.1, 0.2, kernel=kernel).fit(X, y)
    precomputed = SVDD(0.1, 0.2, kernel="precomputed").fit(kernel(X), y)
    assert precomputed.radius_ == pytest.approx(called.radius_)
    assert precomputed.center_norm_ == pytest.approx(called.center_norm_)
    diagonal = kernel(Z).diagonal()
    for method in ("distance", "decision_function", "score_samples", "predict"):
        values = getattr(precomputed, method)(kernel(Z, X), diagonal=diagonal)
        expected = getattr(called, method)(Z)
        assert_allclose(values, expected, atol=1e-9 * max(1, np.abs(expected).max()))
    assert_array_equal(precomputed.fit_predict(kernel(X), y), called.predict(X))


def test_precomputed_with_points_left_out():
    X, y = labelled()
    Z = points(seed=9)
    weights = np.tile([0.0, 1.0, 2.0], 16)
    named = SVDD(0.1, gamma=0.5).fit(X, y, sample_weight=weights)
    precomputed = SVDD(0.1, kernel="precomputed")
    precomputed.fit(rbf(X, gamma=0.5), y, sample_weight=weights)
    values = precomputed.distance(rbf(Z, X, gamma=0.5))
    assert_allclose(values, named.distance(Z), atol=1e-9)


def test_constant_training_diagonal_is_taken_for_new_points():
    X, Z = points(), points(seed=9)
    model = SVDD(nu=0.2, kernel="precomputed").fit(rbf(X))
    assert_allclose(model.distance(rbf(Z, X)), model.distance(rbf(Z, X), diagonal=np.ones(40)))
    # Points of norm 1 in training, but not afterwards: the kernel values give it away.
    U = X / np.linalg.norm(X, axis=1, keepdims=True)
    model = SVDD(nu=0.2, kernel="precomputed").fit(U @ U.T)
    assert_allclose(model.predict(U @ U.T), model.predict(U @ U.T, diagonal=np.ones(40)))
    with pytest.raises(ValueError, match="contradicts the kernel values"):
        model.predict(3 * U @ U.T)


def test_single_precision_contradicts_nothing():
    X = points().astype(np.float32)
    K = X @ X.T
    model = SVDD(nu=0.2, kernel="precomputed").fit(K)
    expected = SVDD(nu=0.2, kernel="linear").fit(X).decision_function(X)
    assert_allclose(model.decision_function(K, diagonal=K.diagonal()), expected, atol=1e-5)


@pytest.mark.parametrize(
    ("diagonal", "message"),
    [
        (None, r"needs diagonal=K\(z, z\).* shape \(3,\)"),
        ([1.0, 1.0], "diagonal must hold"),
        ([1.0, 1.0, np.nan], "diagonal must hold"),
        ([1e-3, 1e-3, 1e-3], "contradicts the kernel values"),
    ],
)
def test_diagonal_that_is_missing_or_wrong(diagonal, message):
    X = points()
    model = SVDD(nu=0.2, kernel="precomputed").fit(X @ X.T)
    with pytest.raises(ValueError, match=message):
        model.predict(X[:3] @ X.T, diagonal=diagonal)


def test_diagonal_of_a_kernel_that_is_known():
    model = SVDD(nu=0.2).fit(points())
    with pytest.raises(ValueError, match="diagonal is for a precomputed kernel only"):
        model.distance(points(), diagonal=np.ones(40))


def test_precomputed_of_the_wrong_shape():
    with pytest.raises(ValueError, match="square Gram matrix"):
        SVDD(kernel="precomputed").fit(points())
    model = SVDD(kernel="precomputed").fit(rbf(points()))
    with pytest.raises(ValueError, match=r"\(n_test, n_train\) = \(\?, 40\)"):
        model.predict(rbf(points()[:5]))


# Failures, and life within scikit-learn


def test_kernel_that_is_none():
    with pytest.raises(NotPositiveSemidefiniteError, match="eigenvalue"):
        SVDD(kernel="sigmoid", coef0=-1.0, gamma=1.0).fit(points())


def test_failed_fit_leaves_the_model_as_it_was():
    X = points()
    model = SVDD(nu=0.2).fit(X)
    before = model.decision_function(X)
    with pytest.raises(InfeasibleError):
        model.set_params(nu=None, C=1e-3).fit(X[:30])
    assert_array_equal(model.decision_function(X), before)


@pytest.mark.parametrize("method", ["predict", "decision_function", "score_samples", "distance"])
def test_not_fitted(method):
    with pytest.raises(NotFittedError):
        getattr(SVDD(), method)(points())


def test_centre_exists_for_the_linear_kernel_only():
    assert not hasattr(SVDD().fit(points()), "center_")


def test_prediction_needs_support_vectors_only():
    X = points(400)
    model = SVDD(nu=0.05).fit(X)
    assert len(model.support_vectors_) < 40
    restored = pickle.loads(pickle.dumps(model))
    del restored.alpha_
    assert_array_equal(restored.decision_function(X), model.decision_function(X))
    arrays = [v for v in vars(restored).values() if isinstance(v, np.ndarray)]
    assert max(len(v) for v in arrays) == len(model.support_)


def test_data_frames_pipelines_and_searches():
    X, y = labelled(80, 20, seed=4)
    X = pd.DataFrame(X, columns=["height", "weight"])
    pipeline = make_pipeline(StandardScaler(), SVDD(C_outlier=0.1))
    grid = {"svdd__nu": [0.05, 0.2]}
    search = GridSearchCV(pipeline, grid, scoring="roc_auc", cv=StratifiedKFold(3)).fit(X, y)
    assert list(search.best_estimator_[0].feature_names_in_) == ["height", "weight"]
    assert roc_auc_score(y, search.decision_function(X)) > 0.7


def test_both_solvers_agree():
    X, y = labelled(150, 30, 4)
    first, second = (SVDD(0.05, 0.2, solver=s).fit(X, y) for s in ("dense", "reference"))
    assert_allclose(first.alpha_, second.alpha_, atol=1e-12)
    assert first.radius_ == pytest.approx(second.radius_, abs=1e-13)
