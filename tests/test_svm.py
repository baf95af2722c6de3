"""Support vector classifiers: proved values, theory by loops, parity, failures, what users met."""

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
from sklearn.datasets import make_moons
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from kernelbook.datasets import load_glass, load_haberman, load_nhefs_mortality, load_sonar
from kernelbook.exceptions import NotPositiveSemidefiniteError, NotSeparableError
from kernelbook.kernels import gram, linear, rbf
from kernelbook.qp import solve_qp
from kernelbook.svm import HardMarginSVC, KernelSVC, encode_labels, path

SOLVERS = ["dense", "reference"]
BOTH = pytest.mark.parametrize("solver", SOLVERS)
# Ten points on a line of which two lie on the wrong side: w = 1/2, b = -3/2 at C = 1.
LINE = np.array([[0.0], [1.0], [2.0], [2.5], [3.0], [1.5], [2.2], [4.0], [5.0], [6.0]])
SIDES = np.array([-1, -1, -1, -1, -1, 1, 1, 1, 1, 1])
XOR = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]), np.array([-1, 1, 1, -1])
KERNELS = [
    {"kernel": "linear"},
    {"kernel": "poly", "gamma": 0.5, "degree": 2, "coef0": 1.0},
    {"kernel": "rbf", "gamma": 0.5},
    {"kernel": "laplacian", "gamma": 0.3},
]
BY_KERNEL = pytest.mark.parametrize("kernel", KERNELS, ids=lambda k: k["kernel"])


def classes(n=40, d=2, seed=0, noise=0.5):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    y = np.where(X.sum(axis=1) + noise * rng.normal(size=n) > 0, 1, -1)
    y[:2] = -1, 1
    return X, y


def kernel_parameters(kernel):
    given = {k: v for k, v in kernel.items() if k != "name" and v is not None}
    return {"kernel": kernel["name"], **given}


def values_by_loops(K, alpha, y, b):
    n = len(alpha)
    return [sum(alpha[j] * y[j] * K[i][j] for j in range(n)) + b for i in range(n)]


def conditions_by_loops(model, K, y, box):
    """Largest violation of the conditions of Karush, Kuhn and Tucker, one point at a time."""
    alpha, b = model.alpha_, model.intercept_[0]
    f = values_by_loops(K, alpha, y, b)
    worst = abs(sum(a * s for a, s in zip(alpha, y, strict=True)))
    for a, s, C, value in zip(alpha, y, box, f, strict=True):
        assert 0.0 <= a <= C * (1 + 1e-15)
        if a < C:
            worst = max(worst, 1.0 - s * value)
        if a > 0:
            worst = max(worst, s * value - 1.0)
    return worst


def primal_and_dual_by_loops(model, K, y, box):
    alpha, b, n = model.alpha_, model.intercept_[0], len(y)
    quadratic = sum(alpha[i] * alpha[j] * y[i] * y[j] * K[i][j] for i in range(n) for j in range(n))
    f = values_by_loops(K, alpha, y, b)
    slack = [max(0.0, 1.0 - s * value) for s, value in zip(y, f, strict=True)]
    primal = 0.5 * quadratic + sum(C * xi for C, xi in zip(box, slack, strict=True))
    return primal, sum(alpha) - 0.5 * quadratic


# Proved values


@pytest.mark.parametrize("problem", problems("svc"), ids=lambda p: p["id"])
@BOTH
def test_proved_values_of_the_soft_margin(problem, solver):
    data, parameters = problem["data"], problem["params"]
    weights = parameters["class_weight"]
    if isinstance(weights, dict):
        weights = {float(label): weight for label, weight in weights.items()}
    svc = KernelSVC(
        parameters["C"],
        **kernel_parameters(parameters["kernel"]),
        class_weight=weights,
        solver=solver,
    ).fit(data["X"], data["y"], data["sample_weight"])
    expect_proved_values(svc, problem)
    assert svc.certificate_.kkt_violation <= 1e-9
    expected = problem["expected"]
    # Primal and dual meet: the sum of alpha minus half the squared norm is the objective.
    dual = svc.alpha_.sum() - 0.5 * expected["w_norm_sq"]
    assert_allclose(dual, expected["objective"], rtol=problem["tolerance"]["objective_rtol"])


@pytest.mark.parametrize(
    "problem",
    [p for p in problems("hard_margin") if p["expected"]["outcome"] == "solved"],
    ids=lambda p: p["id"],
)
@BOTH
def test_proved_values_of_the_hard_margin(problem, solver):
    data, expected = problem["data"], problem["expected"]
    svc = HardMarginSVC(**kernel_parameters(problem["params"]["kernel"]), solver=solver)
    svc.fit(data["X"], data["y"])
    expect_proved_values(svc, problem)
    rtol = problem["tolerance"]["objective_rtol"]
    assert_allclose(svc.alpha_.sum(), expected["sum_alpha"], rtol=rtol)
    assert_allclose(svc.alpha_.sum() / 2, expected["objective"], rtol=rtol)
    assert_allclose(svc.margin_, expected["margin"], rtol=rtol)


def expect_proved_values(svc, problem):
    data, expected, tolerance = problem["data"], problem["expected"], problem["tolerance"]
    atol = tolerance["decision_atol"]
    values = svc.decision_function(data["X_query"])
    assert_allclose(values, expected["decision_function"], rtol=0, atol=atol)
    low, high = (np.inf if end is None else end for end in expected["b_interval"])
    b = expected.get("b", expected.get("b_midpoint"))
    far = np.abs(np.asarray(data["X"])).max()
    assert low - atol * (1 + far) <= svc.intercept_[0] <= high + atol * (1 + far)
    assert_allclose(svc.intercept_[0], b, rtol=0, atol=atol * (1 + far))
    if "w" in expected:
        assert_allclose(svc.coef_[0], expected["w"], rtol=1e-7, atol=1e-9 / (1 + far))
        assert_allclose(svc.coef_[0] @ svc.coef_[0], expected["w_norm_sq"], rtol=1e-7)
    else:
        K = gram_of_support(svc)
        terms = np.abs(svc.dual_coef_[0]).sum() ** 2 * np.abs(K).max()
        norm = (svc.dual_coef_ @ K @ svc.dual_coef_.T).item()
        assert_allclose(norm, expected["w_norm_sq"], rtol=1e-8, atol=1e-15 * terms)


def gram_of_support(svc):
    return gram(
        svc.kernel, svc.support_vectors_, gamma=svc.gamma_, degree=svc.degree, coef0=svc.coef0
    )


@pytest.mark.parametrize(
    "problem",
    [p for p in problems("hard_margin") if p["expected"]["outcome"] == "error"],
    ids=lambda p: p["id"],
)
@BOTH
def test_proved_refusals_of_the_hard_margin(problem, solver):
    data = problem["data"]
    svc = HardMarginSVC(**kernel_parameters(problem["params"]["kernel"]), solver=solver)
    with pytest.raises(NotSeparableError, match="not separable in this feature space"):
        svc.fit(data["X"], data["y"])
    assert vars(svc) == vars(clone(svc))


# Theory of the soft margin


@BOTH
@pytest.mark.parametrize("distance", [1e-2, 1.0, 30.0])
@pytest.mark.parametrize("C", [1e-3, 1.0, 1e6])
def test_two_points_in_closed_form(solver, distance, C):
    # alpha = min(C, 2 / d^2), w = alpha d, and the boundary lies half way.
    X = np.array([[5.0], [5.0 + distance]])
    svc = KernelSVC(C, kernel="linear", solver=solver).fit(X, [0, 1])
    alpha = min(C, 2 / distance**2)
    assert_allclose(svc.alpha_, alpha, rtol=1e-9)
    assert_allclose(svc.coef_, [[alpha * distance]], rtol=1e-9)
    assert_allclose(svc.decision_function(X.mean(keepdims=True)), 0, atol=1e-9)
    assert_allclose(svc.decision_function(X), [-alpha * distance**2 / 2] * np.array([1, -1]))


@pytest.mark.parametrize("gamma", [1e-3, 1.0, 50.0])
def test_two_points_in_the_space_of_a_gaussian(gamma):
    # The squared distance of the images is 2 - 2 exp(-gamma d^2).
    svc = KernelSVC(1e6, gamma=gamma).fit([[0.0], [1.0]], ["a", "b"])
    assert_allclose(svc.alpha_, 2 / (2 - 2 * np.exp(-gamma)), rtol=1e-9)


@BY_KERNEL
@BOTH
@pytest.mark.parametrize("C", [1e-4, 1.0, 1e3])
def test_the_conditions_of_optimality_hold_point_by_point(kernel, solver, C):
    X, y = classes()
    svc = KernelSVC(C, **kernel, solver=solver).fit(X, y)
    K = gram(X=X, **kernel).tolist()
    box = [C] * len(y)
    assert conditions_by_loops(svc, K, y.tolist(), box) < 1e-7
    primal, dual = primal_and_dual_by_loops(svc, K, y.tolist(), box)
    assert_allclose(primal, dual, rtol=1e-8)
    assert svc.certificate_.duality_gap < 1e-8
    assert svc.certificate_.kkt_violation < 1e-9
    assert svc.certificate_.status == "optimal"


def test_the_conditions_hold_with_weights_of_points_and_of_classes():
    X, y = classes(50)
    weights = np.random.default_rng(1).choice([0.0, 0.5, 3.0], 50)
    svc = KernelSVC(2.0, gamma=0.5, class_weight={-1: 0.25, 1: 4.0}).fit(X, y, weights)
    box = (2.0 * weights * np.where(y > 0, 4.0, 0.25)).tolist()
    assert conditions_by_loops(svc, rbf(X, gamma=0.5).tolist(), y.tolist(), box) < 1e-8
    assert set(svc.support_) <= set(np.flatnonzero(weights))


@BY_KERNEL
def test_attributes_tell_the_same_model(kernel):
    X, y = classes()
    svc = KernelSVC(2.0, **kernel).fit(X, y)
    new = classes(15, seed=1)[0]
    by_hand = gram(X=new, Y=svc.support_vectors_, **kernel) @ svc.dual_coef_[0] + svc.intercept_
    assert_allclose(svc.decision_function(new), by_hand, rtol=1e-9, atol=1e-9)
    assert_array_equal(svc.support_, np.flatnonzero(svc.alpha_))
    assert_array_equal(svc.support_vectors_, X[svc.support_])
    assert_array_equal(svc.dual_coef_[0], (svc.alpha_ * y)[svc.support_])
    assert_array_equal(svc.n_support_, [(svc.dual_coef_ < 0).sum(), (svc.dual_coef_ > 0).sum()])
    assert_array_equal(svc.alpha_[svc.alpha_ > 2.0 * (1 - 1e-9)], 2.0)
    assert_array_equal(svc.classes_, [-1, 1])
    assert svc.n_iter_ >= 1
    if kernel["kernel"] == "linear":
        assert_allclose(new @ svc.coef_[0] + svc.intercept_, by_hand, rtol=1e-9)
    else:
        with pytest.raises(AttributeError, match="coef_ exists for kernel='linear' only"):
            svc.coef_  # noqa: B018


@BY_KERNEL
def test_the_soft_margin_tends_to_the_hard_margin(kernel):
    X, y = classes(30, noise=0.0)
    X = X + 0.3 * y[:, None]
    hard = HardMarginSVC(**kernel).fit(X, y)
    soft = KernelSVC(hard.alpha_.max() * 1.5, **kernel).fit(X, y)
    assert_allclose(soft.decision_function(X), hard.decision_function(X), rtol=1e-7, atol=1e-8)
    small = KernelSVC(hard.alpha_.max() * 0.5, **kernel).fit(X, y)
    assert np.abs(small.decision_function(X) - hard.decision_function(X)).max() > 1e-4


def test_a_tiny_price_tends_to_the_difference_of_the_class_means():
    X, y = classes(20)
    y[:] = np.repeat([-1, 1], 10)
    C = 1e-9
    svc = KernelSVC(C, kernel="linear").fit(X, y)
    assert_array_equal(svc.alpha_, C)
    assert_allclose(svc.coef_[0], C * 10 * (X[10:].mean(axis=0) - X[:10].mean(axis=0)), rtol=1e-12)


def test_a_constant_factor_of_the_kernel_is_a_factor_of_the_price():
    K, new = 4 * rbf(LINE, gamma=0.5), 4 * rbf([[0.5], [2.1], [3.5]], LINE, gamma=0.5)
    scaled = KernelSVC(1.0, kernel="precomputed").fit(K, SIDES).decision_function(new)
    plain = KernelSVC(4.0, gamma=0.5).fit(LINE, SIDES).decision_function([[0.5], [2.1], [3.5]])
    assert_allclose(scaled, plain, rtol=1e-10)
    assert_allclose(scaled, [-1.221293, -0.775869, -0.09095], atol=1e-6)


# Properties

seeds = st.integers(0, 2**32 - 1)
prices = st.floats(-3, 3).map(lambda exponent: 10.0**exponent)


def random_classes(seed, n=20):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    y = np.where(X[:, 0] + rng.normal(size=n) > 0, 1, -1)
    y[:2] = -1, 1
    return X, y


def same_values(one, other, X, sign=1.0):
    values = one.decision_function(X)
    assert_allclose(sign * other.decision_function(X), values, rtol=1e-7, atol=1e-7)


@given(seeds, prices, st.lists(st.integers(-(10**6), 10**6), min_size=2, max_size=2))
@settings(max_examples=25)
def test_translation_changes_nothing_for_a_gaussian(seed, C, shift):
    X, y = random_classes(seed)
    X = np.round(64 * X) / 64  # so that the sums are exact
    here, there = (KernelSVC(C, gamma=0.5).fit(X + s, y) for s in ([0, 0], shift))
    assert_allclose(here.alpha_, there.alpha_, rtol=1e-9, atol=1e-12 * C)
    assert_allclose(here.decision_function(X), there.decision_function(X + shift), rtol=1e-9)


@given(seeds, prices, st.sampled_from(KERNELS))
@settings(max_examples=25)
def test_flipped_labels_flip_the_sign(seed, C, kernel):
    X, y = random_classes(seed)
    one, other = KernelSVC(C, **kernel).fit(X, y), KernelSVC(C, **kernel).fit(X, -y)
    same_values(one, other, X, sign=-1.0)
    assert_allclose(one.intercept_, -other.intercept_, rtol=1e-6, atol=1e-6)


@given(seeds, prices, st.sampled_from(KERNELS))
@settings(max_examples=25)
def test_the_order_of_the_points_does_not_matter(seed, C, kernel):
    X, y = random_classes(seed)
    order = np.random.default_rng(seed).permutation(len(y))
    one, other = KernelSVC(C, **kernel).fit(X, y), KernelSVC(C, **kernel).fit(X[order], y[order])
    same_values(one, other, X)
    K = gram(X=X, **kernel)
    if np.linalg.eigvalsh(K)[0] > 1e-8:  # otherwise alpha is not unique
        assert_allclose(one.alpha_[order], other.alpha_, rtol=1e-5, atol=1e-7 * C)


@given(seeds, prices, st.sampled_from([0.25, 3.0, 1000.0]))
@settings(max_examples=25)
def test_a_weight_multiplies_the_price(seed, C, factor):
    X, y = random_classes(seed)
    weighted = KernelSVC(C, gamma=0.5).fit(X, y, np.full(len(y), factor))
    same_values(weighted, KernelSVC(C * factor, gamma=0.5).fit(X, y), X)
    by_class = KernelSVC(C, gamma=0.5, class_weight={-1: factor, 1: factor}).fit(X, y)
    same_values(weighted, by_class, X)


@given(seeds, prices, st.sampled_from([*KERNELS, {"kernel": "rbf", "gamma": "scale"}]))
@settings(max_examples=25)
def test_a_point_given_twice_is_a_point_of_weight_two(seed, C, kernel):
    X, y = random_classes(seed)
    weights = np.random.default_rng(seed).choice([0, 1, 2, 3], len(y))
    weights[:2] = 1
    copies = np.repeat(np.arange(len(y)), weights)
    weighted = KernelSVC(C, **kernel).fit(X, y, weights)
    copied = KernelSVC(C, **kernel).fit(X[copies], y[copies])
    same_values(weighted, copied, X)
    if kernel["gamma" if "gamma" in kernel else "kernel"] == "scale":
        assert weighted.gamma_ == pytest.approx(copied.gamma_)


@given(seeds, prices)
@settings(max_examples=15)
def test_a_gram_matrix_serves_as_well_as_the_points(seed, C):
    X, y = random_classes(seed)
    weights = np.random.default_rng(seed).choice([0.0, 1.0], len(y))
    weights[:2] = 1
    by_points = KernelSVC(C, gamma=0.5).fit(X, y, weights)
    by_matrix = KernelSVC(C, kernel="precomputed").fit(rbf(X, gamma=0.5), y, weights)
    new = random_classes(seed + 1)[0]
    values = by_matrix.decision_function(rbf(new, X, gamma=0.5))
    assert_allclose(values, by_points.decision_function(new), rtol=1e-7, atol=1e-8)
    by_callable = KernelSVC(C, kernel=lambda A, B: rbf(A, B, gamma=0.5)).fit(X, y, weights)
    assert_allclose(by_callable.decision_function(new), values, rtol=1e-7, atol=1e-8)


# Theory of the hard margin


def test_a_hard_margin_by_hand():
    svc = HardMarginSVC(kernel="linear").fit([[0.0, 0.0], [2.0, 0.0], [0.0, 2.0]], [-1, 1, 1])
    assert_allclose(svc.coef_, [[1, 1]], rtol=1e-12)
    assert_allclose(svc.intercept_, -1, rtol=1e-12)
    assert_allclose(svc.margin_, np.sqrt(0.5), rtol=1e-12)
    assert_allclose(svc.alpha_, [1, 0.5, 0.5], rtol=1e-12)


@BY_KERNEL
@BOTH
def test_every_point_is_outside_the_margins_and_support_vectors_are_on_them(kernel, solver):
    X, y = classes(30, noise=0.0)
    X = X + 0.3 * y[:, None]
    svc = HardMarginSVC(**kernel, solver=solver).fit(X, y)
    margins = y * svc.decision_function(X)
    assert margins.min() >= 1 - 1e-8
    assert_allclose(margins[svc.support_], 1, rtol=1e-8)
    assert_allclose(svc.alpha_ @ y, 0, atol=1e-9 * svc.alpha_.sum())
    assert_allclose(svc.margin_, svc.alpha_.sum() ** -0.5, rtol=1e-8)
    assert svc.certificate_.status == "optimal"


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
@pytest.mark.parametrize("offset", [0.0, 1e6])
def test_scale_and_offset_of_separable_data_do_not_matter(scale, offset):
    X = scale * (LINE[:5] + offset)
    svc = HardMarginSVC(kernel="linear").fit(X, [0, 0, 1, 1, 1])
    assert_allclose(svc.margin_, 0.5 * scale, rtol=1e-9)
    assert_allclose(svc.decision_function(X), [-3, -1, 1, 2, 3], rtol=1e-8)


def test_separable_data_of_low_rank():
    X = np.array([[2.0, 2, 3], [2, 3, 3], [2, 2, 1], [2, 3, 1]])
    svc = HardMarginSVC(kernel="linear").fit(X, [1, 1, -1, -1])
    assert_allclose(svc.coef_, [[0, 0, 1]], atol=1e-12)
    assert_allclose(svc.intercept_, -2, rtol=1e-12)
    assert_allclose(svc.margin_, 1, rtol=1e-12)
    assert_allclose(svc.alpha_.sum(), 1, rtol=1e-12)


@pytest.mark.parametrize("gap", [1e-3, 1e-5, 2e-6])
def test_classes_close_to_each_other_are_separable(gap):
    X = np.array([[-1.0], [-gap / 2], [gap / 2], [1.0]])
    svc = HardMarginSVC(kernel="linear").fit(X, [0, 0, 1, 1])
    assert_allclose(svc.margin_, gap / 2, rtol=1e-6)


@pytest.mark.parametrize("gap", [1e-7, 1e-9, 0.0])
def test_classes_that_rounding_does_not_tell_apart_are_not(gap):
    X = np.array([[-1.0], [-gap / 2], [gap / 2], [1.0]])
    with pytest.raises(NotSeparableError) as raised:
        HardMarginSVC(kernel="linear").fit(X, [0, 0, 1, 1])
    assert gap * (1 - 1e-6) <= raised.value.distance <= max(1e-8, gap * (1 + 1e-6))


@BOTH
@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e4])
@pytest.mark.parametrize("seed", range(4))
def test_the_refusal_carries_a_point_of_both_hulls(solver, scale, seed):
    X, y = classes(40, seed=seed, noise=1.0)
    X = scale * X
    sides = [X[y == side] for side in (-1, 1)]
    with pytest.raises(NotSeparableError) as raised:
        HardMarginSVC(kernel="linear", solver=solver).fit(X, y)
    weights = raised.value.weights
    assert (weights >= 0).all()
    means = [weights[y == side] @ points for side, points in zip((-1, 1), sides, strict=True)]
    for side in (-1, 1):
        assert_allclose(weights[y == side].sum(), 1, rtol=1e-9)
    assert_allclose(means[0], means[1], rtol=0, atol=1e-7 * scale)
    spread = np.sqrt(((X - X.mean(axis=0)) ** 2).sum(axis=1).max())
    distance = np.linalg.norm(means[0] - means[1]) / spread
    assert_allclose(raised.value.distance, distance, atol=2e-8)
    assert not separable_by_linear_programming(X / scale, y)


def separable_by_linear_programming(X, y):
    A = -y[:, None] * np.column_stack([X, np.ones(len(X))])
    return linprog(np.zeros(X.shape[1] + 1), A, -np.ones(len(X)), bounds=(None, None)).success


@pytest.mark.parametrize("seed", range(12))
def test_separability_is_what_linear_programming_says(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(int(rng.integers(4, 12)), 3))
    y = np.where(rng.normal(size=len(X)) + X[:, 0] > 0, 1, -1)
    y[:2] = -1, 1
    try:
        svc = HardMarginSVC(kernel="linear").fit(X, y)
    except NotSeparableError:
        assert not separable_by_linear_programming(X, y)
    else:
        assert separable_by_linear_programming(X, y)
        assert (y * svc.decision_function(X) > 1 - 1e-8).all()


def test_exclusive_or_is_refused_and_leaves_nothing_behind():
    svc = HardMarginSVC(kernel="linear")
    with pytest.raises(NotSeparableError, match=r"Use KernelSVC with a finite C, or a kernel"):
        svc.fit(*XOR)
    assert vars(svc) == HardMarginSVC(kernel="linear").get_params()
    svc = HardMarginSVC(kernel="poly", degree=2, gamma=1.0).fit(*XOR)
    assert_array_equal(svc.predict(XOR[0]), XOR[1])


@BOTH
def test_a_hard_margin_that_was_stopped_early_says_so_and_claims_nothing(solver):
    X, y = classes(30, noise=0.0)
    for points, labels in ((X + y[:, None], y), (X, -y[::-1])):
        with pytest.warns(ConvergenceWarning, match="'max_iter' after 1 steps") as seen:
            svc = HardMarginSVC(kernel="linear", max_iter=1, solver=solver).fit(points, labels)
        assert len(seen) == 1
        assert svc.certificate_.status == "max_iter"
        assert svc.certificate_.kkt_violation > 1e-3


@pytest.mark.parametrize("kernel", ["linear", "rbf", "poly"])
def test_equal_points_of_both_classes_are_refused(kernel):
    with pytest.raises(NotSeparableError):
        HardMarginSVC(kernel=kernel).fit(np.full((4, 2), 3.0), [0, 1, 0, 1])
    X, y = classes(20, noise=0.0)
    X[0] = X[1]
    with pytest.raises(NotSeparableError) as raised:
        HardMarginSVC(kernel=kernel).fit(X, y)
    if kernel == "rbf":  # there the two equal points are the only obstacle
        assert_allclose(raised.value.weights, np.arange(20) < 2, atol=1e-9)


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


def test_points_of_weight_zero_are_left_out_also_of_a_precomputed_matrix():
    # scikit-learn 1.9.1 predicts [-2, -1.5, -0.5, 0] here from the precomputed matrix.
    X, y, weights = np.array([[0.0], [1.0], [3.0], [4.0]]), [1, -1, 1, 1], [0, 1, 1, 1]
    for svc, data in (
        (KernelSVC(10.0, kernel="linear"), X),
        (KernelSVC(10.0, kernel="precomputed"), X @ X.T),
    ):
        assert_allclose(svc.fit(data, y, weights).decision_function(data), [-2, -1, 1, 2])


def test_at_a_large_price_the_single_precision_of_libsvm_shows_and_the_proof_decides():
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


# Labels


def test_the_ten_points_on_a_line():
    svc = KernelSVC(1.0, kernel="linear").fit(LINE, SIDES)
    assert_allclose(svc.coef_, [[0.5]], rtol=1e-12)
    assert_allclose(svc.intercept_, [-1.5], rtol=1e-12)
    free = (svc.alpha_ > 0) & (svc.alpha_ < 1)
    assert_array_equal(LINE[free].ravel(), [1, 5])
    assert_allclose(svc.alpha_[free], 0.075, rtol=1e-10)
    # The mean over all support vectors, also those at their bound, is another number.
    every = (SIDES - 0.5 * LINE.ravel())[svc.support_].mean()
    assert_allclose(every, -1.325)


@pytest.mark.parametrize(
    "y",
    [
        (SIDES > 0).astype(int),
        np.where(SIDES > 0, "spam", "ham"),
        np.where(SIDES > 0, "spam", "ham").astype(object),
        (SIDES > 0) + 1,
        (SIDES > 0).astype(object),
        SIDES.astype(object),
        SIDES > 0,
        SIDES.astype(float),
        SIDES.astype(np.int8),
        SIDES.astype(np.float32),
        SIDES.tolist(),
        pd.Series(np.where(SIDES > 0, "spam", "ham"), dtype="category"),
        pd.Series(SIDES, dtype="Int64"),
    ],
    ids=lambda y: f"{type(y).__name__}-{getattr(y, 'dtype', '')}-{list(y)[-1]}",
)
def test_any_two_labels_give_the_same_machine(y):
    svc = KernelSVC(1.0, kernel="linear").fit(LINE, y)
    assert_allclose(svc.coef_, [[0.5]], rtol=1e-12)
    assert_allclose(svc.intercept_, [-1.5], rtol=1e-12)
    assert_array_equal(svc.classes_, np.unique(np.asarray(y).tolist()))
    off = LINE[LINE.ravel() != 3]  # 3 lies on the boundary
    predicted = svc.predict(off)
    assert_array_equal(predicted, svc.classes_[(off.ravel() > 3).astype(int)])
    assert predicted[-1] == list(y)[-1]


@pytest.mark.parametrize(
    ("X", "rtol"),
    [
        (np.round(2 * LINE).astype(int), 1e-12),
        (np.round(2 * LINE).astype(np.int8), 1e-12),
        (LINE.astype(np.float32), 1e-5),
        (LINE.tolist(), 1e-12),
        (pd.DataFrame(LINE, columns=["x"]), 1e-12),
        (np.asfortranarray(np.column_stack([LINE, LINE]))[:, :1], 1e-12),
    ],
    ids=["int64", "int8", "float32", "list", "frame", "strided"],
)
def test_any_numeric_points_will_do(X, rtol):
    svc = KernelSVC(1.0, kernel="linear").fit(X, SIDES)
    assert svc.support_vectors_.dtype == np.float64
    plain = KernelSVC(1.0, kernel="linear").fit(np.asarray(X, dtype=float), SIDES)
    assert_allclose(svc.decision_function(X), plain.decision_function(np.asarray(X, float)))
    if np.asarray(X).max() == 6:
        assert_allclose([svc.coef_[0, 0], svc.intercept_[0]], [0.5, -1.5], rtol=rtol)


@pytest.mark.parametrize("estimator", [KernelSVC(), HardMarginSVC()], ids=["soft", "hard"])
@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([0, 0, 1, 1, 2, 2], "Only binary classification is supported.*3 classes: wrap the"),
        (["a", "b", "c", "a", "b", "c"], "multiclass, with 3 classes"),
        ([0.5, 1.5, 0.5, 1.5, 0.5, 1.5], "continuous"),
        ([1, 1, 1, 1, 1, 1], r"y holds one class only \(1\): .* needs at least 2 classes"),
        (["a"] * 6, r"y holds one class only \('a'\)"),
        ([0, 0, 1, 1, 1, np.nan], "Input y contains NaN"),
        (np.array([0, 0, 1, 1, "1", "0"], dtype=object), "y mixes labels of several types"),
        (np.array(["a", None] * 3, dtype=object), "or has a missing one"),
        (np.array([None, 1] * 3, dtype=object), "or has a missing one"),
        ([[0, 1]] * 6, "y should be a 1d array"),
        ([0, 1, 0], "inconsistent numbers of samples"),
        (None, "requires y to be passed"),
    ],
    ids=str,
)
def test_labels_that_are_no_two_classes_are_refused(estimator, y, message):
    svc = clone(estimator)
    with pytest.raises(ValueError, match=message):
        svc.fit(np.arange(6.0)[:, None], y)
    assert vars(svc) == svc.get_params()


def test_more_classes_go_through_one_against_the_rest():
    X = np.array([[0.0, 0], [0, 1], [5, 0], [5, 1], [0, 9], [1, 9]])
    y = ["a", "a", "b", "b", "c", "c"]
    assert OneVsRestClassifier(KernelSVC(10.0)).fit(X, y).predict(X).tolist() == y


def test_labels_are_coded_in_sorted_order():
    names, signs = encode_labels(["no", "yes", "no"])
    assert_array_equal(names, ["no", "yes"])
    assert_array_equal(signs, [-1.0, 1.0, -1.0])


# Support vectors and the bias


@BOTH
def test_at_a_tiny_price_every_point_is_a_support_vector_and_the_bias_is_finite(solver):
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(-1, 1, (10, 2)), rng.normal(1, 1, (10, 2))])
    svc = KernelSVC(1e-6, kernel="linear", solver=solver).fit(X, np.repeat([-1, 1], 10))
    assert_array_equal(svc.support_, np.arange(20))
    assert_array_equal(svc.alpha_, 1e-6)
    assert_allclose(svc.coef_, [[2.2e-5, 2.3e-5]], atol=5e-7)
    assert_allclose(svc.intercept_, [1.76053e-6], rtol=1e-5)


@BOTH
@pytest.mark.parametrize(
    ("C", "w", "b"), [(0.1, 0.3, -0.05), (0.05, 0.15, 0.475), (0.01, 0.03, 0.895)]
)
def test_without_a_free_support_vector_the_bias_is_the_middle_of_what_is_allowed(solver, C, w, b):
    svc = KernelSVC(C, kernel="linear", solver=solver).fit([[0.0], [3.0], [4.0]], [-1, 1, 1])
    assert_array_equal(svc.alpha_, [C, C, 0])
    assert_allclose(svc.coef_, [[w]], rtol=1e-12)
    assert_allclose(svc.intercept_, [b], rtol=1e-12)
    theirs = SVC(C=C, kernel="linear", tol=1e-10).fit([[0.0], [3.0], [4.0]], [-1, 1, 1])
    assert_allclose(svc.intercept_, theirs.intercept_, rtol=1e-6)


@pytest.mark.parametrize("seed", range(60))
def test_on_a_grid_a_multiplier_is_at_its_bound_or_clearly_inside(seed):
    # Whole numbers make many optima degenerate: a variable one rounding short of its bound would
    # count as free, and the bias would follow it instead of the middle of the interval.
    rng = np.random.default_rng(seed)
    n = int(rng.integers(3, 14))
    X, y = rng.integers(0, 6, size=(n, 1 + seed % 2)), rng.integers(0, 2, n)
    y[:2] = 0, 1
    C = rng.choice([0.1, 0.25, 0.3, 1 / 3, 1.0])
    svc = KernelSVC(C, kernel="linear").fit(X, y)
    free = svc.alpha_[(svc.alpha_ > 0) & (svc.alpha_ < C)]
    assert (np.minimum(free, C - free) > 1e-9 * C).all()
    if len(free) == 0:
        # Each point allows the bias up to an end, or from one on.
        ends = np.where(y == 1, 1, -1) - X @ svc.coef_[0]
        starts = (svc.alpha_ == 0) == (y == 1)
        assert_allclose(svc.intercept_, (ends[starts].max() + ends[~starts].min()) / 2, atol=1e-9)


def test_contradicting_points_leave_no_direction_at_all():
    X = np.repeat(classes(10)[0], 2, axis=0)
    svc = KernelSVC(1.0, gamma=0.5).fit(X, [0, 1] * 10)
    assert_allclose(svc.decision_function(X), 0, atol=1e-12)


@pytest.mark.parametrize("kernel", ["linear", "rbf", "poly", "laplacian"])
def test_constant_points_have_the_decision_value_zero(kernel):
    svc = KernelSVC(kernel=kernel).fit(np.full((4, 2), 3.0), [0, 1, 0, 1])
    assert svc.gamma_ == 1.0
    assert_allclose(svc.decision_function(np.full((3, 2), 3.0)), 0, atol=1e-12)


def test_constant_features_do_no_harm():
    X, y = classes()
    with_constants = np.column_stack([X, np.full(len(X), 1e6), np.zeros(len(X))])
    plain = KernelSVC(gamma=0.5).fit(X, y)
    more = KernelSVC(gamma=0.5).fit(with_constants, y)
    assert_allclose(more.decision_function(with_constants), plain.decision_function(X), rtol=1e-9)


def test_features_of_unequal_scale_have_to_be_standardised():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(40, 2))
    y = np.where(X[:, 1] > 0, 1, 0)
    X = X * [1000.0, 1.0]
    assert KernelSVC().fit(X, y).score(X, y) == 0.675
    assert make_pipeline(StandardScaler(), KernelSVC()).fit(X, y).score(X, y) == 0.975


# Weights

IMBALANCED = LINE[:8], np.array([0, 0, 0, 0, 0, 0, 1, 1])


@pytest.mark.parametrize(
    ("weights", "w", "b"),
    [
        (None, 0.7, -2.575),
        ("balanced", 0.8, -2.2),
        ({0: 2 / 3, 1: 2.0}, 0.8, -2.2),
        # Every alpha is at a bound, so that any b in [-2, -1.2] is optimal. LIBSVM returns -2,
        # for in single precision 2.2 is another number, and one alpha is below its bound.
        ({0: 1, 1: 5}, 1.0, -1.6),
        ({1: 5}, 1.0, -1.6),
    ],
    ids=str,
)
def test_class_weights_multiply_the_price(weights, w, b):
    svc = KernelSVC(1.0, kernel="linear", class_weight=weights).fit(*IMBALANCED)
    assert_allclose(svc.coef_, [[w]], rtol=1e-10)
    assert_allclose(svc.intercept_, [b], rtol=1e-10)


def test_class_weights_go_by_the_labels_whatever_their_type():
    X, y = IMBALANCED
    names = np.where(y == 1, "rare", "common")
    for labels, rare in (
        (names, "rare"), (names.astype(object), "rare"), (y == 1, True), (y.astype(object), 1)
    ):  # fmt: skip
        svc = KernelSVC(1.0, kernel="linear", class_weight={rare: 5}).fit(X, labels)
        assert_allclose(svc.coef_, [[1.0]], rtol=1e-10)


def test_balanced_counts_the_points_that_are_kept():
    X, y = classes(30)
    weights = np.ones(30)
    weights[np.flatnonzero(y == 1)[3:]] = 0
    kept = weights > 0
    with_zeros = KernelSVC(gamma=0.5, class_weight="balanced").fit(X, y, weights)
    without = KernelSVC(gamma=0.5, class_weight="balanced").fit(X[kept], y[kept])
    assert_allclose(with_zeros.decision_function(X), without.decision_function(X), rtol=1e-9)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ({"spam": 2.0}, r"class_weight names \['spam'\], but the classes are \[0, 1\]"),
        ({0: 1.0, 7: 2.0}, r"class_weight names \[7\]"),
        ({0: -1.0}, r"class_weight\[0\] must be a finite number, at least 0, got -1.0"),
        ({1: np.nan}, r"class_weight\[1\] must be a finite number"),
        ({1: 0.0}, "every point of class 1 has weight zero"),
        ("even", "class_weight must be a dict, 'balanced' or None, got 'even'"),
        ([1.0, 2.0], "class_weight must be a dict, 'balanced' or None"),
    ],
    ids=str,
)
def test_wrong_class_weights_are_named(weights, message):
    with pytest.raises(ValueError, match=message):
        KernelSVC(class_weight=weights).fit(*IMBALANCED)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1, 1, 1, -1, 1, 1, 1, 1], "sample_weight must not be negative"),
        (np.zeros(8), "sample_weight is zero for every point"),
        ([1, 1, 1, 1, 1, 1, 0, 0], "every point of class 1 has weight zero: at least 2 classes"),
        ([1, 1], "sample_weight.shape"),
        ([np.nan] * 8, "NaN"),
        ([np.inf] * 8, "infinity"),
    ],
    ids=str,
)
def test_wrong_sample_weights_are_named(weights, message):
    with pytest.raises(ValueError, match=message):
        KernelSVC().fit(*IMBALANCED, sample_weight=weights)


# Precomputed matrices

FOUR = np.array([[0.0], [1.0], [2.0], [3.0]])


def test_a_precomputed_matrix_predicts_from_values_against_the_training_points():
    svc = KernelSVC(kernel="precomputed").fit(FOUR @ FOUR.T, [0, 0, 1, 1])
    new = np.array([[-1.0], [10.0]])
    assert_allclose(svc.decision_function(new @ FOUR.T), [-2.5, 8.5], rtol=1e-10)
    assert svc.predict(new @ FOUR.T).tolist() == [0, 1]
    for wrong in (new @ new.T, FOUR @ new.T):
        with pytest.raises(ValueError, match=r"\(n_test, n_train\) = \(\?, 4\)"):
            svc.predict(wrong)
    assert svc.support_vectors_.shape == (0, 0)


@pytest.mark.parametrize("estimator", [KernelSVC, HardMarginSVC])
@pytest.mark.parametrize(
    ("K", "error", "message"),
    [
        (FOUR @ FOUR[:3].T, ValueError, r"square Gram matrix .* got shape \(4, 3\)"),
        (np.eye(4) * np.nan, ValueError, "NaN"),
        (np.eye(4) + np.eye(4, k=1), ValueError, "the precomputed X is not symmetric"),
        (3 * np.ones((4, 4)) - 2 * np.eye(4), NotPositiveSemidefiniteError, "eigenvalue is -2 "),
    ],
    ids=["shape", "NaN", "asymmetric", "indefinite"],
)
def test_a_matrix_of_no_kernel_is_refused(estimator, K, error, message):
    svc = estimator(kernel="precomputed")
    with pytest.raises(error, match=message) as raised:
        svc.fit(K, [0, 0, 1, 1])
    assert "Rank" not in str(raised.value)
    assert vars(svc) == svc.get_params()


@BOTH
@pytest.mark.parametrize(("coef0", "smallest"), [(-1.0, r"-2\.318922"), (1.0, r"-0\.88923")])
def test_a_sigmoid_that_is_no_kernel_is_refused_whatever_the_solver_would_say(
    solver, coef0, smallest
):
    X, y = [[-2.0], [-1.0], [0.0], [1.0], [2.0]], [-1, 1, -1, 1, -1]
    with pytest.raises(NotPositiveSemidefiniteError, match=f"smallest eigenvalue is {smallest}"):
        KernelSVC(kernel="sigmoid", gamma=1.0, coef0=coef0, solver=solver).fit(X, y)


# Failures


@pytest.mark.parametrize("estimator", [KernelSVC, HardMarginSVC])
@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"kernel": "gaussian"}, "kernel must be one of"),
        ({"gamma": -1.0}, "gamma must be a finite number, positive, got -1.0"),
        ({"gamma": "wide"}, "gamma must be a positive number, 'scale', 'auto' or 'median'"),
        ({"kernel": "poly", "degree": 0}, "degree must be a whole number of at least 1"),
        ({"kernel": "poly", "degree": 2.5}, "degree must be a whole number of at least 1"),
        ({"solver": "smo"}, "solver must be one of"),
        ({"max_iter": 0}, "max_iter must be a whole number of at least 1"),
        ({"max_iter": 10.0}, "max_iter must be a whole number of at least 1"),
        ({"tol": 0}, "tol must be a finite number, positive, got 0"),
    ],
    ids=str,
)
def test_a_wrong_parameter_is_named(estimator, parameters, message):
    svc = estimator(**parameters)
    with pytest.raises(ValueError, match=message):
        svc.fit(*classes())
    assert vars(svc) == svc.get_params()


@pytest.mark.parametrize("C", [0, -1.0, np.nan, np.inf, "1", None])
def test_a_price_that_is_not_positive_is_refused(C):
    with pytest.raises(ValueError, match="C must be a finite number, positive, got"):
        KernelSVC(C).fit(*classes())


@pytest.mark.parametrize("estimator", [KernelSVC, HardMarginSVC])
@pytest.mark.parametrize(
    ("X", "message"),
    [
        ([[1.0], [np.nan]], "Input X contains NaN"),
        ([[1.0], [np.inf]], "Input X contains infinity"),
        ([1.0, 2.0], "Expected 2D array"),
        ([["a"], ["b"]], "could not convert string"),
        (np.zeros((2, 0)), r"0 feature\(s\)"),
    ],
    ids=["NaN", "infinity", "flat", "text", "empty"],
)
def test_wrong_points_are_refused(estimator, X, message):
    with pytest.raises(ValueError, match=message):
        estimator().fit(X, [0, 1])


def test_values_beyond_double_precision_are_refused():
    X, y = classes()
    with pytest.raises(ValueError, match="overflows on this X: rescale the features"):
        KernelSVC(kernel="poly", degree=5, gamma=1.0).fit(1e100 * X, y)


def test_before_a_fit_there_is_nothing_to_predict():
    for svc in (KernelSVC(), HardMarginSVC()):
        with pytest.raises(NotFittedError):
            svc.predict(LINE)


def test_points_of_another_dimension_are_refused():
    svc = KernelSVC().fit(*classes())
    with pytest.raises(ValueError, match="X has 3 features, but KernelSVC is expecting 2"):
        svc.predict(np.zeros((1, 3)))


@pytest.mark.parametrize("wrong", [{"C": -1.0}, {"max_iter": 0}, {"kernel": "sigmoid"}])
def test_a_failed_refit_leaves_the_old_fit_as_it_was(wrong):
    X, y = classes()
    svc = KernelSVC(gamma=0.5, coef0=1.0).fit(X, y)
    before = {name: value for name, value in vars(svc).items() if name.endswith("_")}
    values = svc.decision_function(X)
    svc.set_params(**wrong)
    with pytest.raises(ValueError):
        svc.fit(classes(10, 4)[0], classes(10, 4)[1])
    after = {name: value for name, value in vars(svc).items() if name.endswith("_")}
    assert after.keys() == before.keys()
    assert all(after[name] is before[name] for name in before)
    svc.set_params(kernel="rbf")
    assert_array_equal(svc.decision_function(X), values)


def test_a_failed_hard_margin_leaves_the_old_fit_as_it_was():
    svc = HardMarginSVC(kernel="linear").fit(FOUR, [0, 0, 1, 1])
    with pytest.raises(NotSeparableError):
        svc.fit(*XOR)
    assert_allclose(svc.decision_function([[1.5]]), 0, atol=1e-12)
    assert svc.n_features_in_ == 1


# The solver


@BOTH
def test_three_steps_are_too_few_and_twenty_are_enough(solver):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(30, 2))
    y = np.where(X[:, 0] + X[:, 1] > 0, 1, -1)
    svc = KernelSVC(10.0, gamma=0.5, max_iter=3, solver=solver)
    with pytest.warns(ConvergenceWarning, match="relative duality gap") as seen:
        svc.fit(X, y)
    assert f"gap {svc.certificate_.duality_gap:.3g}," in str(seen[0].message)
    assert svc.certificate_.status == "max_iter"
    assert np.isfinite(svc.decision_function(X)).all()
    assert_array_equal(svc.support_, np.flatnonzero(svc.alpha_))
    svc.set_params(max_iter=20).fit(X, y)
    assert svc.certificate_.status == "optimal"
    assert svc.n_iter_ <= 20


@pytest.mark.parametrize("estimator", [KernelSVC(gamma=0.5), HardMarginSVC(gamma=0.5)])
def test_nothing_is_printed_and_the_options_of_cvxopt_stay(estimator, monkeypatch, capfd):
    monkeypatch.setitem(cvxopt.solvers.options, "maxiters", 2)
    before = dict(cvxopt.solvers.options)
    for solver in SOLVERS:
        svc = clone(estimator).set_params(solver=solver).fit(*classes(20, noise=0))
        assert svc.certificate_.status == "optimal"
    assert cvxopt.solvers.options == before
    assert capfd.readouterr() == ("", "")


def test_a_fit_takes_a_few_times_the_memory_of_its_gram_matrix():
    n = 2000
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 2))
    y = np.where(X.sum(axis=1) > 0, 1, -1)
    tracemalloc.start()
    svc = KernelSVC(solver="dense").fit(X, y)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 4 * 8 * n**2
    assert svc.certificate_.kkt_violation < 1e-9
    tracemalloc.start()
    svc.predict(rng.normal(size=(100_000, 2)))
    assert tracemalloc.get_traced_memory()[1] < 4 * 8 * n**2
    tracemalloc.stop()


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


# Paths of C


@pytest.mark.parametrize("n", [60, 500])
def test_a_path_is_what_separate_fits_are_in_the_order_asked_for(n):
    X, y = make_moons(n, noise=0.3, random_state=0)
    weights = np.random.default_rng(0).uniform(0.5, 2, n)
    Cs = [10.0, 0.1, 1.0, 100.0]
    machines = path(X, y, Cs, weights, gamma=1.0, class_weight="balanced")
    for C, machine in zip(Cs, machines, strict=True):
        alone = KernelSVC(C, gamma=1.0, class_weight="balanced").fit(X, y, weights)
        assert machine.C == C
        assert machine.certificate_.status == "optimal"
        assert_allclose(machine.alpha_, alone.alpha_, atol=1e-7 * C)
        assert_allclose(machine.intercept_, alone.intercept_, atol=1e-8)


def test_a_path_starts_where_the_one_before_ended(monkeypatch):
    import kernelbook.support

    starts = []

    def remember(*arguments, start=None, **options):
        starts.append(start)
        return solve_qp(*arguments, start=start, **options)

    monkeypatch.setattr(kernelbook.support, "solve_qp", remember)
    X, y = make_moons(450, noise=0.3, random_state=0)
    first, second = path(X, y, [1.0, 2.0], gamma=1.0)
    assert starts[0] is None
    signed = np.zeros(450)
    signed[first.support_] = first.dual_coef_[0]
    assert_allclose(starts[1], 2 * signed)
    assert second.n_iter_ >= 1


@pytest.mark.parametrize("Cs", [[], 1.0, [1.0, 0.0], [[1.0]], [1.0, np.nan]])
def test_a_path_without_numbers_is_refused(Cs):
    with pytest.raises(ValueError, match="Cs must be"):
        path([[0.0], [1.0]], [0, 1], Cs)
