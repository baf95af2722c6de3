"""Soft margins: proved values, conditions of optimality by loops, limits, invariances."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from oracles import kernel_parameters, problems
from samples import BOTH, BY_KERNEL, KERNELS, LINE, SIDES, classes
from sklearn.base import clone

from kernelbook.exceptions import NotSeparableError
from kernelbook.kernels import gram, rbf
from kernelbook.svm import HardMarginSVC, KernelSVC


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
        size = np.linalg.norm(expected["w"])
        assert_allclose(svc.coef_[0], expected["w"], rtol=0, atol=1e-7 * size + 1e-9 / (1 + far))
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


def test_the_conditions_hold_with_weights_of_both_sorts():
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
    if kernel["kernel"] == "linear":
        assert_allclose(new @ svc.coef_[0] + svc.intercept_, by_hand, rtol=1e-9)
    else:
        with pytest.raises(AttributeError, match="coef_ exists for the linear kernel only"):
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


def test_a_tiny_c_tends_to_the_difference_of_the_means():
    X, y = classes(20)
    y[:] = np.repeat([-1, 1], 10)
    C = 1e-9
    svc = KernelSVC(C, kernel="linear").fit(X, y)
    assert_array_equal(svc.alpha_, C)
    assert_allclose(svc.coef_[0], C * 10 * (X[10:].mean(axis=0) - X[:10].mean(axis=0)), rtol=1e-12)


def test_a_constant_factor_of_the_kernel_is_a_factor_of_c():
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
def test_a_weight_multiplies_c(seed, C, factor):
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
