"""Support vector regression: proved values, theory by loops, parity, failures, what users met."""

import pickle
import tracemalloc

import cvxopt
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from oracles import problems
from scipy.optimize import linprog
from sklearn.base import clone
from sklearn.datasets import load_diabetes
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.linear_model import QuantileRegressor
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVR

from kernelbook.datasets import load_abalone, load_airfoil
from kernelbook.exceptions import NotPositiveSemidefiniteError
from kernelbook.kernels import gram, linear, rbf
from kernelbook.svr import KernelSVR

BOTH = pytest.mark.parametrize("solver", ["dense", "reference"])
KERNELS = [
    {"kernel": "linear"},
    {"kernel": "poly", "gamma": 0.5, "degree": 2, "coef0": 1.0},
    {"kernel": "rbf", "gamma": 0.5},
    {"kernel": "laplacian", "gamma": 0.3},
]
BY_KERNEL = pytest.mark.parametrize("kernel", KERNELS, ids=lambda k: k["kernel"])


def curve(n=40, d=2, seed=0, noise=0.2):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-2, 2, size=(n, d))
    return X, np.sin(2 * X[:, 0]) + X[:, -1] + noise * rng.normal(size=n)


def kernel_parameters(kernel):
    given = {k: v for k, v in kernel.items() if k != "name" and v is not None}
    return {"kernel": kernel["name"], **given}


def coefficients(model):
    beta = np.zeros(len(model.alpha_))
    beta[model.support_] = model.dual_coef_[0]
    return beta


def conditions_by_loops(model, K, y, box, epsilon):
    """Largest violation of the conditions of Karush, Kuhn and Tucker, one point at a time."""
    beta, b, n = coefficients(model), model.intercept_[0], len(y)
    worst = abs(sum(beta))
    for i in range(n):
        residual = y[i] - sum(beta[j] * K[i][j] for j in range(n)) - b
        assert abs(beta[i]) <= box[i] * (1 + 1e-15)
        # Above the tube beta is C, below it -C, inside it 0; on its edges anything between.
        if beta[i] < box[i]:
            worst = max(worst, residual - epsilon if beta[i] >= 0 else residual + epsilon)
        if beta[i] > -box[i]:
            worst = max(worst, -residual - epsilon if beta[i] <= 0 else -residual + epsilon)
    return worst


def primal_and_dual(model, K, y, box, epsilon):
    beta = coefficients(model)
    quadratic = beta @ K @ beta
    beyond = np.maximum(0, np.abs(y - K @ beta - model.intercept_[0]) - epsilon)
    primal = 0.5 * quadratic + box @ beyond
    return primal, y @ beta - epsilon * np.abs(beta).sum() - 0.5 * quadratic


# Proved values


@pytest.mark.parametrize("problem", problems("svr"), ids=lambda p: p["id"])
@BOTH
def test_proved_values(problem, solver):
    data, parameters, expected = problem["data"], problem["params"], problem["expected"]
    kernel = kernel_parameters(parameters["kernel"])
    C, epsilon = parameters["C"], parameters["epsilon"]
    X, y = np.array(data["X"]), np.array(data["y"])
    weights = data["sample_weight"]
    svr = KernelSVR(C, epsilon, **kernel, solver=solver).fit(X, y, weights)
    atol = problem["tolerance"]["decision_atol"]
    rtol = problem["tolerance"]["objective_rtol"]
    assert_allclose(svr.predict(data["X_query"]), expected["prediction"], rtol=0, atol=atol)
    low, high = expected["b_interval"]
    assert low - atol <= svr.intercept_[0] <= high + atol
    assert_allclose(svr.intercept_, expected.get("b", expected.get("b_midpoint")), atol=atol)
    if "w" in expected:
        assert_allclose(svr.coef_[0], expected["w"], rtol=1e-7)
    box = C * (np.ones(len(y)) if weights is None else np.array(weights))
    primal, dual = primal_and_dual(svr, gram(X=X, **kernel), y, box, epsilon)
    assert_allclose([primal, dual], expected["objective"], rtol=rtol)
    assert svr.certificate_.kkt_violation <= 1e-9


# Theory


@BOTH
@pytest.mark.parametrize(("C", "slope"), [(0.05, 0.1), (10.0, 0.9)])
def test_two_points_in_closed_form(solver, C, slope):
    # Targets 0 and 2 at 0 and 2 with epsilon = 0.1: slope 1.8 / 2, as long as beta = slope / 2
    # is below C; otherwise beta = C. The line goes through the middle either way.
    svr = KernelSVR(C, 0.1, kernel="linear", solver=solver).fit([[0.0], [2.0]], [0.0, 2.0])
    assert_allclose(svr.coef_, [[slope]], rtol=1e-10)
    assert_allclose(svr.predict([[1.0]]), 1.0, rtol=1e-10)
    assert_allclose(svr.dual_coef_, [[-slope / 2, slope / 2]], rtol=1e-10)


@BY_KERNEL
@BOTH
@pytest.mark.parametrize("C", [1e-4, 1.0, 1e3])
@pytest.mark.parametrize("epsilon", [0.0, 0.1])
def test_the_conditions_of_optimality_hold_point_by_point(kernel, solver, C, epsilon):
    X, y = curve(30)
    svr = KernelSVR(C, epsilon, **kernel, solver=solver).fit(X, y)
    K, box = gram(X=X, **kernel), np.full(30, C)
    assert conditions_by_loops(svr, K.tolist(), y.tolist(), box.tolist(), epsilon) < 1e-7
    primal, dual = primal_and_dual(svr, K, y, box, epsilon)
    assert_allclose(primal, dual, rtol=1e-7)
    assert svr.certificate_.duality_gap < 1e-8
    assert svr.certificate_.kkt_violation < 1e-9
    assert svr.certificate_.status == "optimal"


def test_the_conditions_hold_with_sample_weights():
    X, y = curve(50)
    weights = np.random.default_rng(1).choice([0.0, 0.5, 3.0], 50)
    svr = KernelSVR(2.0, gamma=0.5).fit(X, y, weights)
    K = rbf(X, gamma=0.5).tolist()
    assert conditions_by_loops(svr, K, y.tolist(), (2.0 * weights).tolist(), 0.1) < 1e-8
    assert set(svr.support_) <= set(np.flatnonzero(weights))


@BY_KERNEL
def test_attributes_tell_the_same_model(kernel):
    X, y = curve()
    svr = KernelSVR(2.0, **kernel).fit(X, y)
    new = curve(15, seed=1)[0]
    by_hand = gram(X=new, Y=svr.support_vectors_, **kernel) @ svr.dual_coef_[0] + svr.intercept_
    assert_allclose(svr.predict(new), by_hand, rtol=1e-9, atol=1e-9)
    assert_array_equal(svr.support_, np.flatnonzero(svr.alpha_))
    assert_array_equal(svr.support_vectors_, X[svr.support_])
    assert_array_equal(np.abs(svr.dual_coef_[0]), svr.alpha_[svr.support_])
    residuals = y - svr.predict(X)
    above, below = residuals > 0.1 + 1e-9, residuals < -0.1 - 1e-9
    beta = coefficients(svr)
    assert_array_equal(beta[above], 2.0)
    assert_array_equal(beta[below], -2.0)
    assert_array_equal(beta[np.abs(residuals) < 0.1 - 1e-9], 0.0)
    if kernel["kernel"] == "linear":
        assert_allclose(new @ svr.coef_[0] + svr.intercept_, by_hand, rtol=1e-9)
    else:
        with pytest.raises(AttributeError, match="coef_ exists for kernel='linear' only"):
            svr.coef_  # noqa: B018


def test_an_outlier_pulls_no_harder_than_the_price():
    X = np.arange(5.0)[:, None]
    svr = KernelSVR(1.0, 0.1, kernel="linear").fit(X, [1.0, 3.0, 5.0, 7.0, 40.0])
    assert_allclose(svr.coef_, [[2.0]], rtol=1e-10)
    assert_allclose(svr.intercept_, [1.1], rtol=1e-10)
    residuals = np.array([1.0, 3.0, 5.0, 7.0, 40.0]) - svr.predict(X)
    assert_allclose(residuals, [-0.1, -0.1, -0.1, -0.1, 30.9], rtol=1e-8)
    assert svr.alpha_[4] == 1.0
    farther = clone(svr).fit(X, [1.0, 3.0, 5.0, 7.0, 4000.0])
    assert_allclose(farther.predict(X), svr.predict(X), rtol=1e-9)


@BOTH
@pytest.mark.parametrize("kernel", ["linear", "rbf", "poly", "laplacian"])
def test_targets_that_fit_into_the_tube_have_a_constant_in_their_middle(solver, kernel):
    X, y = np.arange(4.0)[:, None], [0.0, 0.1, 0.2, 0.1]
    svr = KernelSVR(1.0, 0.5, kernel=kernel, solver=solver).fit(X, y)
    assert len(svr.support_) == 0
    assert svr.dual_coef_.shape == (1, 0)
    assert svr.support_vectors_.shape == (0, 1)
    assert_array_equal(svr.alpha_, 0)
    assert_allclose(svr.predict([[0.0], [1e3]]), 0.1, rtol=1e-12)
    if kernel == "linear":
        assert_array_equal(svr.coef_, [[0.0]])


@BOTH
def test_constant_targets_are_met_exactly(solver):
    for epsilon in (0.0, 0.1):
        svr = KernelSVR(1.0, epsilon, solver=solver).fit(curve()[0], np.full(40, -7.25))
        assert_array_equal(svr.predict(curve(9, seed=1)[0]), -7.25)


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_constant_points_leave_the_middle_of_the_tube(kernel):
    # Without any slope a constant is left: with epsilon = 0 a median of the targets.
    y = [1.0, 2.0, 4.0, 9.0, 30.0]
    svr = KernelSVR(1.0, 0.0, kernel=kernel).fit(np.full((5, 2), 3.0), y)
    assert_allclose(svr.predict(np.full((1, 2), 3.0)), 4.0, rtol=1e-12)
    assert svr.gamma_ == 1.0


def test_a_tiny_tube_tends_to_no_tube():
    X, y = curve()
    none = KernelSVR(1.0, 0.0, gamma=0.5).fit(X, y)
    tiny = KernelSVR(1.0, 1e-12, gamma=0.5).fit(X, y)
    assert_allclose(tiny.predict(X), none.predict(X), atol=1e-9)


def test_a_large_price_tends_to_the_flattest_line_in_the_tube():
    X, y = curve(12, 1, noise=0.0)
    svr = KernelSVR(1e6, 0.2, gamma=2.0).fit(X, y)
    assert np.abs(y - svr.predict(X)).max() <= 0.2 + 1e-8
    assert svr.alpha_.max() < 1e6
    assert_allclose(KernelSVR(1e7, 0.2, gamma=2.0).fit(X, y).predict(X), svr.predict(X), rtol=1e-7)


def test_without_a_tube_a_large_price_is_median_regression():
    X, y = curve(41)
    svr = KernelSVR(1e4, 0.0, kernel="linear").fit(X, y)
    line = QuantileRegressor(quantile=0.5, alpha=0.0).fit(X, y)
    losses = [np.abs(y - model.predict(X)).sum() for model in (svr, line)]
    assert_allclose(*losses, rtol=1e-6)


def test_the_smallest_tube_that_holds_all_points_is_that_of_linear_programming():
    X, y = curve(20, 1)
    # min t with |y - w x - b| <= t, over (w, b, t).
    A = np.column_stack([X, np.ones(20), np.zeros(20)])
    up, down = A.copy(), -A
    up[:, 2] = down[:, 2] = -1.0
    t = linprog([0, 0, 1], np.vstack([up, down]), np.concatenate([y, -y]), bounds=(None, None)).fun
    for epsilon, fits in ((1.001 * t, True), (0.999 * t, False)):
        svr = KernelSVR(1e5, epsilon, kernel="linear").fit(X, y)
        assert (np.abs(y - svr.predict(X)).max() <= epsilon + 1e-8) is np.bool_(fits)


# Properties

seeds = st.integers(0, 2**32 - 1)
prices = st.floats(-3, 3).map(lambda exponent: 10.0**exponent)
tubes = st.sampled_from([0.0, 0.01, 0.3])


@given(seeds, prices, tubes, st.sampled_from(KERNELS), st.sampled_from([-1e6, 0.5, 1e3]))
@settings(max_examples=25)
def test_a_constant_added_to_the_targets_is_added_to_the_values(seed, C, epsilon, kernel, shift):
    X, y = curve(20, seed=seed)
    y = np.round(y, 3)
    plain = KernelSVR(C, epsilon, **kernel).fit(X, y)
    moved = KernelSVR(C, epsilon, **kernel).fit(X, y + shift)
    tolerance = 1e-7 + 1e-14 * abs(shift) * C
    assert_allclose(moved.predict(X) - shift, plain.predict(X), rtol=1e-7, atol=tolerance)
    # The proof is no weaker by it: the unit of the violation is that of the plain targets.
    assert moved.certificate_.status == "optimal"


@given(seeds, prices, st.sampled_from([1e-3, 0.5, 1e4]))
@settings(max_examples=25)
def test_targets_and_tube_in_another_unit(seed, C, unit):
    X, y = curve(20, seed=seed)
    plain = KernelSVR(C, 0.1, gamma=0.5).fit(X, y)
    other = KernelSVR(C * unit, 0.1 * unit, gamma=0.5).fit(X, y * unit)
    assert_allclose(other.predict(X) / unit, plain.predict(X), rtol=1e-7, atol=1e-8)


@given(seeds, prices, tubes, st.sampled_from(KERNELS))
@settings(max_examples=25)
def test_mirrored_targets_mirror_the_values(seed, C, epsilon, kernel):
    X, y = curve(20, seed=seed)
    one = KernelSVR(C, epsilon, **kernel).fit(X, y)
    other = KernelSVR(C, epsilon, **kernel).fit(X, -y)
    assert_allclose(other.predict(X), -one.predict(X), rtol=1e-6, atol=1e-7)


@given(seeds, prices, tubes, st.sampled_from(KERNELS))
@settings(max_examples=25)
def test_the_order_of_the_points_does_not_matter(seed, C, epsilon, kernel):
    X, y = curve(20, seed=seed)
    order = np.random.default_rng(seed).permutation(20)
    one = KernelSVR(C, epsilon, **kernel).fit(X, y)
    other = KernelSVR(C, epsilon, **kernel).fit(X[order], y[order])
    assert_allclose(other.predict(X), one.predict(X), rtol=1e-6, atol=1e-7)


@given(seeds, prices, st.lists(st.integers(-(10**6), 10**6), min_size=2, max_size=2))
@settings(max_examples=25)
def test_translation_changes_nothing_for_a_gaussian(seed, C, shift):
    X, y = curve(20, seed=seed)
    X = np.round(64 * X) / 64  # so that the sums are exact
    here, there = (KernelSVR(C, gamma=0.5).fit(X + s, y) for s in ([0, 0], shift))
    assert_allclose(there.predict(X + shift), here.predict(X), rtol=1e-8, atol=1e-9)


@given(seeds, prices, tubes, st.sampled_from([*KERNELS, {"kernel": "rbf", "gamma": "scale"}]))
@settings(max_examples=25)
def test_a_point_given_twice_is_a_point_of_weight_two(seed, C, epsilon, kernel):
    X, y = curve(20, seed=seed)
    weights = np.random.default_rng(seed).choice([0, 1, 2, 3], 20)
    weights[:2] = 1
    copies = np.repeat(np.arange(20), weights)
    weighted = KernelSVR(C, epsilon, **kernel).fit(X, y, weights)
    copied = KernelSVR(C, epsilon, **kernel).fit(X[copies], y[copies])
    assert_allclose(weighted.predict(X), copied.predict(X), rtol=1e-6, atol=1e-7)


@given(seeds, prices, st.sampled_from([0.25, 3.0, 1000.0]))
@settings(max_examples=25)
def test_a_weight_multiplies_the_price(seed, C, factor):
    X, y = curve(20, seed=seed)
    weighted = KernelSVR(C, gamma=0.5).fit(X, y, np.full(20, factor))
    priced = KernelSVR(C * factor, gamma=0.5).fit(X, y)
    assert_allclose(weighted.predict(X), priced.predict(X), rtol=1e-7, atol=1e-8)


@given(seeds, prices)
@settings(max_examples=15)
def test_a_gram_matrix_serves_as_well_as_the_points(seed, C):
    X, y = curve(20, seed=seed)
    weights = np.random.default_rng(seed).choice([0.0, 1.0], 20)
    weights[:2] = 1
    by_points = KernelSVR(C, gamma=0.5).fit(X, y, weights)
    by_matrix = KernelSVR(C, kernel="precomputed").fit(rbf(X, gamma=0.5), y, weights)
    by_callable = KernelSVR(C, kernel=lambda A, B: rbf(A, B, gamma=0.5)).fit(X, y, weights)
    new = curve(9, seed=seed + 1)[0]
    values = by_points.predict(new)
    assert_allclose(by_matrix.predict(rbf(new, X, gamma=0.5)), values, rtol=1e-7, atol=1e-8)
    assert_allclose(by_callable.predict(new), values, rtol=1e-7, atol=1e-8)


# Parity with scikit-learn


def airfoil():
    bunch = load_airfoil()
    return bunch.data[::5], bunch.target[::5]


def abalone():
    bunch = load_abalone()
    numeric = [list(bunch.feature_names).index(name) for name in NUMERIC_ABALONE]
    return bunch.data[:250, numeric], bunch.target[:250].astype(float)


NUMERIC_ABALONE = ["length", "diameter", "height", "whole_weight"]
REAL = {
    "airfoil": airfoil,
    "abalone": abalone,
    "diabetes": lambda: load_diabetes(return_X_y=True),
}


@pytest.mark.parametrize("name", REAL)
@pytest.mark.parametrize(
    "parameters",
    [
        {"kernel": "linear", "C": 0.1},
        {"kernel": "rbf", "C": 1.0},
        {"kernel": "rbf", "C": 1.0, "epsilon": 0.0, "gamma": 0.1},
        {"kernel": "poly", "C": 0.01, "degree": 2, "coef0": 1.0, "gamma": 0.1},
    ],
    ids=lambda p: f"{p['kernel']}-{p['C']:g}-{p.get('epsilon', 0.1):g}",
)
def test_values_are_those_of_scikit_learn_on_real_data(name, parameters):
    X, y = REAL[name]()
    X, y = StandardScaler().fit_transform(X), (y - y.mean()) / y.std()
    theirs = SVR(**parameters, tol=1e-10, cache_size=500).fit(X, y)
    ours = KernelSVR(**parameters).fit(X, y)
    values = theirs.predict(X)
    atol = 1e-6 * np.abs(values).max()
    assert_allclose(ours.predict(X), values, rtol=0, atol=atol)
    assert_allclose(ours.intercept_, theirs.intercept_, atol=atol)
    if parameters["kernel"] == "linear":
        assert_allclose(ours.coef_, theirs.coef_, atol=atol)
    assert ours.certificate_.status == "optimal"


def test_at_a_large_price_the_single_precision_of_libsvm_shows_and_the_proof_decides():
    problem = next(p for p in problems("svr") if p["id"] == "svr-25")
    X, y = np.array(problem["data"]["X"]), np.array(problem["data"]["y"])
    query = problem["data"]["X_query"]
    parameters = {"C": 1e4, "epsilon": 100.0, "gamma": 0.5}
    proved = np.array(problem["expected"]["prediction"])
    theirs = SVR(**parameters, tol=1e-5).fit(X, y)
    ours = KernelSVR(**parameters).fit(X, y)
    assert np.abs(ours.predict(query) - proved).max() < 1e-9 * y.std()
    assert np.abs(theirs.predict(query) - proved).max() > 1e-8 * y.std()


# Failures


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"C": 0}, "C must be a finite number, positive, got 0"),
        ({"C": np.inf}, "C must be a finite number, positive, got inf"),
        ({"epsilon": -0.1}, "epsilon must be a finite number, at least 0, got -0.1"),
        ({"epsilon": np.nan}, "epsilon must be a finite number, at least 0"),
        ({"epsilon": None}, "epsilon must be a finite number, at least 0, got None"),
        ({"kernel": "gaussian"}, "kernel must be one of"),
        ({"gamma": 0.0}, "gamma must be a finite number, positive, got 0.0"),
        ({"kernel": "poly", "degree": 1.5}, "degree must be a whole number of at least 1"),
        ({"solver": "smo"}, "solver must be one of"),
        ({"max_iter": -1}, "max_iter must be a whole number of at least 1"),
        ({"tol": -1e-9}, "tol must be a finite number, positive"),
    ],
    ids=str,
)
def test_a_wrong_parameter_is_named(parameters, message):
    svr = KernelSVR(**parameters)
    with pytest.raises(ValueError, match=message):
        svr.fit(*curve())
    assert vars(svr) == svr.get_params()


@pytest.mark.parametrize(
    ("X", "y", "weights", "message"),
    [
        ([[1.0], [np.nan]], [0, 1], None, "Input X contains NaN"),
        ([[1.0], [2.0]], [0, np.inf], None, "Input y contains infinity"),
        ([[1.0], [2.0]], [0, 1, 2], None, "inconsistent numbers of samples"),
        ([[1.0], [2.0]], [[0, 1], [0, 1]], None, "y should be a 1d array"),
        ([[1.0], [2.0]], ["a", "b"], None, "could not convert string|dtype='numeric'"),
        ([1.0, 2.0], [0, 1], None, "Expected 2D array"),
        ([[1.0], [2.0]], [0, 1], [1, -1], "sample_weight must not be negative"),
        ([[1.0], [2.0]], [0, 1], [0, 0], "sample_weight is zero for every point"),
        ([[1.0], [2.0]], [0, 1], [1, 1, 1], "sample_weight.shape"),
    ],
)
def test_wrong_data_are_refused(X, y, weights, message):
    with pytest.raises(ValueError, match=message):
        KernelSVR().fit(X, y, weights)


def test_a_kernel_that_is_none_is_refused():
    X, y = curve(10)
    with pytest.raises(NotPositiveSemidefiniteError, match="smallest eigenvalue is -"):
        KernelSVR(kernel="sigmoid", gamma=1.0, coef0=1.0).fit(X, y)
    with pytest.raises(ValueError, match=r"square Gram matrix .* got shape \(10, 2\)"):
        KernelSVR(kernel="precomputed").fit(X, y)
    svr = KernelSVR(kernel="precomputed").fit(linear(X), y)
    with pytest.raises(ValueError, match=r"\(n_test, n_train\) = \(\?, 10\)"):
        svr.predict(linear(X[:3]))


def test_before_a_fit_there_is_nothing_to_predict():
    with pytest.raises(NotFittedError):
        KernelSVR().predict([[0.0]])


def test_a_failed_refit_leaves_the_old_fit_as_it_was():
    X, y = curve()
    svr = KernelSVR(gamma=0.5).fit(X, y)
    before, values = dict(vars(svr)), svr.predict(X)
    with pytest.raises(ValueError, match="NaN"):
        svr.fit(np.full((3, 5), np.nan), np.zeros(3))
    assert all(vars(svr)[name] is before[name] for name in before)
    assert_array_equal(svr.predict(X), values)


def test_single_precision_and_whole_numbers_will_do():
    X, y = np.arange(5)[:, None], np.array([1, 3, 5, 7, 40])
    svr = KernelSVR(kernel="linear").fit(X, y)
    assert_allclose(svr.coef_, [[2.0]], rtol=1e-10)
    single = KernelSVR(kernel="linear").fit(X.astype(np.float32), y.astype(np.float32))
    assert_allclose(single.coef_, svr.coef_, rtol=1e-12)
    objects = KernelSVR(kernel="linear").fit(X, y.astype(object))
    assert_array_equal(objects.coef_, svr.coef_)


# The solver


@BOTH
def test_three_steps_are_too_few_and_thirty_are_enough(solver):
    X, y = curve()
    svr = KernelSVR(10.0, gamma=0.5, max_iter=3, solver=solver)
    with pytest.warns(ConvergenceWarning, match="relative duality gap") as seen:
        svr.fit(X, y)
    assert f"gap {svr.certificate_.duality_gap:.3g}," in str(seen[0].message)
    assert svr.certificate_.status == "max_iter"
    assert np.isfinite(svr.predict(X)).all()
    assert svr.set_params(max_iter=30).fit(X, y).certificate_.status == "optimal"


def test_nothing_is_printed_and_the_options_of_cvxopt_stay(monkeypatch, capfd):
    monkeypatch.setitem(cvxopt.solvers.options, "maxiters", 2)
    before = dict(cvxopt.solvers.options)
    for solver in ("dense", "reference"):
        assert KernelSVR(solver=solver).fit(*curve()).certificate_.status == "optimal"
    assert cvxopt.solvers.options == before
    assert capfd.readouterr() == ("", "")


def test_the_doubled_variables_cost_no_doubled_matrix():
    n = 1500
    X, y = curve(n)
    tracemalloc.start()
    svr = KernelSVR(solver="dense").fit(X, y)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    # A dense matrix of the 4n inequalities of 2n variables alone would take 8 times that of K.
    assert peak < 5 * 8 * n**2
    assert svr.certificate_.kkt_violation < 1e-9


# One of scikit-learn's own


def test_a_grid_search_over_a_pipeline():
    X, y = airfoil()
    frame = pd.DataFrame(X, columns=list("abcde"))
    search = GridSearchCV(
        make_pipeline(StandardScaler(), KernelSVR(epsilon=0.5)),
        {"kernelsvr__C": [0.01, 100.0], "kernelsvr__gamma": ["scale", 0.5]},
        cv=3,
    ).fit(frame, y)
    assert search.best_params_["kernelsvr__C"] == 100.0
    assert search.score(frame, y) > 0.8


def test_a_copy_from_the_pickle_predicts_the_same():
    X, y = curve()
    svr = KernelSVR(gamma="median").fit(X, y)
    copy = pickle.loads(pickle.dumps(svr))
    assert_array_equal(copy.predict(X), svr.predict(X))
    assert copy.certificate_ == svr.certificate_
    assert repr(clone(svr)) == "KernelSVR(gamma='median')"
