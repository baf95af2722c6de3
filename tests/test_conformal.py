"""Conformal transformations: proved values, geometry, theory, hard settings, users' cases."""

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from oracles import problems
from sklearn.base import clone
from sklearn.metrics import balanced_accuracy_score
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from kernelbook.conformal import (
    AFSCTSVC,
    ConformalFactor,
    ConformalOneClassSVM,
    ConformalSVC,
    GaussianFactor,
    magnification,
)
from kernelbook.exceptions import CollapseWarning
from kernelbook.kernels import gram, laplacian, rbf
from kernelbook.oneclass import OneClassSVM
from kernelbook.svm import KernelSVC

SCHEMES = ["wu_chang", "amari_wu", "wu_amari", "williams", "kba"]
BY_SCHEME = pytest.mark.parametrize("scheme", SCHEMES)


def sample(n=60, d=2, share=0.25, seed=0, shift=1.5):
    """Two overlapping Gaussians, the class 1 with the given share."""
    rng = np.random.default_rng(seed)
    y = (np.arange(n) < share * n).astype(int)
    return rng.normal(size=(n, d)) + shift * y[:, None], y


# The checks hand raw points or a matrix of distances to precomputed kernels in places, which are
# no Gram matrices: test_precomputed_kernels takes their place.
@parametrize_with_checks(
    [ConformalSVC(scheme) for scheme in SCHEMES]
    + [
        ConformalSVC("wu_amari", n_passes=2, kernel="poly", coef0=1.0),
        ConformalSVC("kba", metric="input", kernel=laplacian, normalize=False),
        ConformalSVC("williams", kernel="linear", n_passes=2, kappa=0.3),
        AFSCTSVC(),
        ConformalOneClassSVM(),
        ConformalOneClassSVM(0.2, n_passes=2, tau=1.0, floor=0.01, kernel="laplacian"),
    ]
)
def test_scikit_learn_estimator_checks(estimator, check):
    check(estimator)


# Proved values and what users reported


@pytest.mark.parametrize("problem", problems("conformal"), ids=lambda p: p["id"])
@pytest.mark.parametrize("solver", ["dense", "reference"])
def test_proved_values(problem, solver):
    data, params, expected = problem["data"], problem["params"], problem["expected"]
    kernel = {k: v for k, v in params["kernel"].items() if k != "name" and v is not None}
    rules = {"n_neighbors": "M", "kappa": "kappa", "tau": "tau"}
    kernel |= {ours: params[key] for ours, key in rules.items() if params[key] is not None}
    svc = ConformalSVC(
        params["scheme"],
        C=params["C"],
        C_second=params["C_second"],
        kernel=params["kernel"]["name"],
        normalize=False,
        solver=solver,
        **kernel,
    ).fit(data["X"], data["y"])
    tolerance = problem["tolerance"]
    rtol, atol = tolerance["D_rtol"], tolerance["decision_atol"]
    query = data["X_query"]
    first = svc.previous_.decision_function(query)
    assert_array_equal(svc.previous_.support_, expected["support"])
    assert_allclose(first, expected["base_decision_function"], rtol=0, atol=atol)
    assert_allclose(svc.factor_(data["X"]), expected["D_train"], rtol=rtol)
    assert_allclose(svc.factor_(query), expected["D_query"], rtol=rtol)
    if "tau_sq_of_support" in expected:
        assert_allclose(svc.factor_.widths, expected["tau_sq_of_support"], rtol=rtol)
    assert_allclose(svc.decision_function(query), expected["decision_function"], rtol=0, atol=atol)
    assert_allclose(svc.intercept_, expected["b"], rtol=0, atol=atol)
    slack = np.maximum(0, 1 - np.sign(data["y"]) * svc.decision_function(data["X"]))
    norm_squared = svc.dual_coef_[0] @ (
        svc.decision_function(svc.support_vectors_) - svc.intercept_
    )
    objective = 0.5 * norm_squared + params["C_second"] * slack.sum()
    assert_allclose(objective, expected["objective"], rtol=tolerance["objective_rtol"])
    assert svc.certificate_.status == "optimal"
    assert svc.fallback_ is None


def test_constant_factor_is_a_larger_C():
    X = np.array([0, 1, 2, 2.5, 3, 1.5, 2.2, 4, 5, 6.0])[:, None]
    y = np.repeat([-1, 1], 5)
    new = np.array([[0.5], [2.1], [3.5]])
    K, K_new = rbf(X, gamma=0.5), rbf(new, X, gamma=0.5)
    transformed = KernelSVC(1.0, kernel="precomputed").fit(4 * K, y).decision_function(4 * K_new)
    larger_C = KernelSVC(4.0, gamma=0.5).fit(X, y).decision_function(new)
    assert_allclose(transformed, larger_C, rtol=0, atol=1e-8)
    assert_allclose(larger_C, [-1.221293, -0.775869, -0.09095], atol=5e-7)
    # In the estimator: points all in one place but for their class leave a constant factor.
    svc = ConformalSVC("williams", kappa=1e-300, gamma=0.5, C_second=4.0, normalize=False)
    assert_allclose(svc.fit(X, y).decision_function(new), larger_C, rtol=0, atol=1e-8)


# Geometry


FACTORS = {
    "wu_chang": ConformalSVC("wu_chang"),
    "amari_wu": ConformalSVC("amari_wu"),
    "amari_wu in feature space": ConformalSVC("amari_wu", metric="feature"),
    "wu_amari": ConformalSVC("wu_amari"),
    "williams": ConformalSVC("williams"),
    "williams twice": ConformalSVC("williams", n_passes=2),
    "kba": ConformalSVC("kba"),
    "kba in input space": ConformalSVC("kba", metric="input"),
    "one class": ConformalOneClassSVM(0.2, tau=0.8, floor=0.1),
}
SMOOTH = {
    "rbf": {"kernel": "rbf", "gamma": 0.4},
    "poly": {"kernel": "poly", "gamma": 0.3, "degree": 3, "coef0": 1.0},
    "linear": {"kernel": "linear"},
}


def by_differences(X, transformed, step=1e-3):
    """sqrt(det g) from central differences of the transformed kernel, of fourth order."""
    nodes, weights = np.array([-2, -1, 1, 2]), np.array([1, -8, 8, -1]) / 12
    d = X.shape[1]
    roots = np.empty(len(X))
    for m, x in enumerate(X):
        moved = x + step * nodes[:, None, None] * np.eye(d)  # node, coordinate, point
        values = transformed(moved.reshape(-1, d)).reshape(4, d, 4, d)
        metric = np.einsum("a,aibj,b->ij", weights, values, weights) / step**2
        roots[m] = np.sqrt(np.linalg.det(metric))
    return roots


@pytest.mark.parametrize("kernel", SMOOTH)
@pytest.mark.parametrize("name", FACTORS)
def test_magnification_against_finite_differences(name, kernel):
    X, y = sample(seed=3)
    model = clone(FACTORS[name]).set_params(**SMOOTH[kernel]).fit(X, y)
    values = {k: v for k, v in SMOOTH[kernel].items() if k != "kernel"}
    query = X[:8] + 0.1

    def transformed(points):
        D = model.factor_(points)
        return D[:, None] * gram(kernel, points, **values) * D

    found = magnification(query, kernel, model.factor_, **values)
    expected = by_differences(query, transformed)
    assert_allclose(found, expected, rtol=1e-5)
    # A plain function instead of a factor with a gradient.
    assert_allclose(
        magnification(query, kernel, model.factor_.__call__, **values), found, rtol=1e-6
    )
