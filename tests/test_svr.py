"""Support vector regression: proved values, conditions of optimality by loops, limits."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from oracles import kernel_parameters, problems
from samples import BOTH, BY_KERNEL, curve
from scipy.optimize import linprog
from sklearn.base import clone
from sklearn.linear_model import QuantileRegressor

from kernelbook.kernels import gram, rbf
from kernelbook.svr import KernelSVR


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
        with pytest.raises(AttributeError, match="coef_ exists for the linear kernel only"):
            svr.coef_  # noqa: B018


def test_an_outlier_pulls_no_harder_than_c():
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
def test_targets_inside_the_tube_have_a_constant_fit(solver, kernel):
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


def test_a_large_c_tends_to_the_flattest_function_in_the_tube():
    X, y = curve(12, 1, noise=0.0)
    svr = KernelSVR(1e6, 0.2, gamma=2.0).fit(X, y)
    assert np.abs(y - svr.predict(X)).max() <= 0.2 + 1e-8
    assert svr.alpha_.max() < 1e6
    assert_allclose(KernelSVR(1e7, 0.2, gamma=2.0).fit(X, y).predict(X), svr.predict(X), rtol=1e-7)


def test_without_a_tube_a_large_c_is_median_regression():
    X, y = curve(41)
    svr = KernelSVR(1e4, 0.0, kernel="linear").fit(X, y)
    line = QuantileRegressor(quantile=0.5, alpha=0.0).fit(X, y)
    losses = [np.abs(y - model.predict(X)).sum() for model in (svr, line)]
    assert_allclose(*losses, rtol=1e-6)


def test_the_smallest_tube_is_that_of_linear_programming():
    X, y = curve(20, 1)
    # min t with |y - w x - b| <= t, over (w, b, t).
    A = np.column_stack([X, np.ones(20), np.zeros(20)])
    up, down = A.copy(), -A
    up[:, 2] = down[:, 2] = -1.0
    t = linprog([0, 0, 1], np.vstack([up, down]), np.concatenate([y, -y]), bounds=(None, None)).fun
    for epsilon, fits in ((1.001 * t, True), (0.999 * t, False)):
        svr = KernelSVR(1e5, epsilon, kernel="linear").fit(X, y)
        assert (np.abs(y - svr.predict(X)).max() <= epsilon + 1e-8) is np.bool_(fits)
