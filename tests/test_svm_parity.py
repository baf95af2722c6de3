"""Support vector classifiers beside those of scikit-learn, and inside its tools."""

import pickle

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from oracles import problems
from samples import LINE, SIDES, classes
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from kernelbook.datasets import load_glass, load_haberman, load_nhefs_mortality, load_sonar
from kernelbook.kernels import linear, rbf
from kernelbook.svm import HardMarginSVC, KernelSVC

# Parity with scikit-learn


def standardised(load, n=None):
    X, y = load(return_X_y=True)[:2] if load in (load_haberman, load_sonar) else binary(load)
    X = X[:n, X[:n].std(axis=0) > 0]
    return StandardScaler().fit_transform(X), y[:n]


def binary(load):
    bunch = load()
    return bunch.data, (bunch.target == bunch.positive).astype(int)


REAL = {
    "sonar": (load_sonar, None),
    "glass": (load_glass, None),
    "haberman": (load_haberman, None),
    "nhefs_mortality": (load_nhefs_mortality, 200),
}


@pytest.mark.parametrize("name", REAL)
@pytest.mark.parametrize(
    "parameters",
    [
        {"kernel": "linear", "C": 0.1},
        {"kernel": "rbf", "C": 1.0},
        {"kernel": "rbf", "C": 2.0, "class_weight": "balanced"},
        {"kernel": "poly", "C": 0.05, "degree": 2, "coef0": 1.0, "gamma": 0.1},
    ],
    ids=lambda p: f"{p['kernel']}-{p['C']:g}",
)
def test_decision_values_are_those_of_scikit_learn_on_real_data(name, parameters):
    X, y = standardised(*REAL[name])
    theirs = SVC(**parameters, tol=1e-10, cache_size=500).fit(X, y)
    ours = KernelSVC(**parameters).fit(X, y)
    values = theirs.decision_function(X)
    assert_allclose(ours.decision_function(X), values, atol=1e-6 * np.abs(values).max(), rtol=0)
    assert_array_equal(ours.classes_, theirs.classes_)
    assert_allclose(ours.intercept_, theirs.intercept_, atol=1e-6 * np.abs(values).max())
    if parameters["kernel"] == "rbf":
        assert_array_equal(ours.support_, np.sort(theirs.support_))
        assert ours.gamma_ == pytest.approx(1 / (X.shape[1] * X.var()))
    if parameters["kernel"] == "linear":
        assert_allclose(ours.coef_, theirs.coef_, atol=1e-6 * np.abs(theirs.coef_).max())
    assert ours.certificate_.status == "optimal"


def test_sample_weights_are_those_of_scikit_learn():
    X, y = standardised(load_glass)
    weights = np.random.default_rng(0).uniform(0.1, 5.0, len(y))
    theirs = SVC(gamma=0.1, tol=1e-10).fit(X, y, weights)
    ours = KernelSVC(gamma=0.1).fit(X, y, weights)
    assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=1e-6)


def test_points_of_weight_zero_leave_a_precomputed_matrix():
    # scikit-learn 1.9.1 predicts [-2, -1.5, -0.5, 0] here from the precomputed matrix.
    X, y, weights = np.array([[0.0], [1.0], [3.0], [4.0]]), [1, -1, 1, 1], [0, 1, 1, 1]
    for svc, data in (
        (KernelSVC(10.0, kernel="linear"), X),
        (KernelSVC(10.0, kernel="precomputed"), X @ X.T),
    ):
        assert_allclose(svc.fit(data, y, weights).decision_function(data), [-2, -1, 1, 2])


def test_at_a_large_c_the_proof_decides_against_libsvm():
    problem = next(p for p in problems("svc") if p["id"] == "svc-13")
    X, y = np.array(problem["data"]["X"]), np.array(problem["data"]["y"])
    query, proved = problem["data"]["X_query"], problem["expected"]["decision_function"]
    gamma, C = problem["params"]["kernel"]["gamma"], problem["params"]["C"]
    assert C == 1e6
    theirs = SVC(C=C, gamma=gamma, tol=1e-12).fit(X, y)
    ours = KernelSVC(C, gamma=gamma).fit(X, y)
    scale = np.abs(proved).max()
    assert np.abs(theirs.decision_function(query) - proved).max() > 1e-4 * scale
    assert np.abs(ours.decision_function(query) - proved).max() < 1e-9 * scale
    assert ours.certificate_.duality_gap < 1e-9
    assert ours.certificate_.kkt_violation < 1e-9
    # Judged in double precision, the primal objective of ours is the lower one.
    signs = np.where(y > 0, 1.0, -1.0)
    assert primal(ours, X, signs, C) < primal(theirs, X, signs, C)
    assert_allclose(primal(ours, X, signs, C), problem["expected"]["objective"], rtol=1e-8)


def primal(svc, X, signs, C):
    w = svc.dual_coef_[0]
    norm = w @ rbf(svc.support_vectors_, gamma=svc.gamma) @ w
    values = rbf(X, svc.support_vectors_, gamma=svc.gamma) @ w + svc.intercept_
    return 0.5 * norm + C * np.maximum(0, 1 - signs * values).sum()


# One of scikit-learn's own


def test_a_grid_search_over_a_pipeline():
    X, y = standardised(load_sonar)
    names = np.where(np.asarray(y) == np.unique(y)[0], "mine", "rock")
    search = GridSearchCV(
        make_pipeline(StandardScaler(), KernelSVC(class_weight="balanced")),
        {"kernelsvc__C": [0.01, 10.0], "kernelsvc__gamma": ["scale", "median"]},
        cv=StratifiedKFold(3, shuffle=True, random_state=0),
        scoring="balanced_accuracy",
    ).fit(X, names)
    assert search.best_params_["kernelsvc__C"] == 10.0
    assert search.best_score_ > 0.7
    assert set(search.predict(X)) == {"mine", "rock"}


@pytest.mark.parametrize("estimator", [KernelSVC(gamma=0.5), HardMarginSVC(gamma=0.5)])
def test_a_copy_from_the_pickle_predicts_the_same(estimator):
    X, y = classes(20, noise=0)
    frame = pd.DataFrame(X, columns=["a", "b"])
    svc = clone(estimator).fit(frame, y)
    copy = pickle.loads(pickle.dumps(svc))
    assert_array_equal(copy.decision_function(frame), svc.decision_function(frame))
    assert_array_equal(svc.feature_names_in_, ["a", "b"])
    assert copy.certificate_ == svc.certificate_
    assert repr(clone(svc)) == repr(estimator)


def test_a_linear_kernel_may_be_given_in_three_ways():
    values = [
        KernelSVC(kernel="linear").fit(LINE, SIDES).decision_function(LINE),
        KernelSVC(kernel=linear).fit(LINE, SIDES).decision_function(LINE),
        KernelSVC(kernel="precomputed").fit(LINE @ LINE.T, SIDES).decision_function(LINE @ LINE.T),
    ]
    for other in values[1:]:
        assert_allclose(other, values[0], rtol=1e-9, atol=1e-9)
