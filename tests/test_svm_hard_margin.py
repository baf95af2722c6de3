"""Hard margins: closed forms, separability by linear programming, refusals."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from samples import BOTH, BY_KERNEL, FOUR, LINE, XOR, classes
from scipy.optimize import linprog
from sklearn.exceptions import ConvergenceWarning

from kernelbook.exceptions import NotSeparableError
from kernelbook.kernels import rbf
from kernelbook.svm import HardMarginSVC
from kernelbook.svm.hulls import common_point

# Theory of the hard margin


def test_a_hard_margin_by_hand():
    svc = HardMarginSVC(kernel="linear").fit([[0.0, 0.0], [2.0, 0.0], [0.0, 2.0]], [-1, 1, 1])
    assert_allclose(svc.coef_, [[1, 1]], rtol=1e-12)
    assert_allclose(svc.intercept_, -1, rtol=1e-12)
    assert_allclose(svc.margin_, np.sqrt(0.5), rtol=1e-12)
    assert_allclose(svc.alpha_, [1, 0.5, 0.5], rtol=1e-12)


@BY_KERNEL
@BOTH
def test_support_vectors_alone_lie_on_the_margins(kernel, solver):
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


def test_a_refused_fit_leaves_nothing_behind():
    svc = HardMarginSVC(kernel="linear")
    with pytest.raises(NotSeparableError):
        svc.fit(*XOR)
    assert not [name for name in vars(svc) if name.endswith("_")]


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
def test_a_hard_margin_that_was_stopped_early_says_so(solver):
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
    assert raised.match("rows 0 and 1 are equal")
    assert_array_equal(raised.value.weights, np.arange(20) < 2)


def test_copies_are_seen_in_a_gram_matrix():
    X = np.array([[0.0], [1.0], [2.0], [1.0]])
    y = np.array([-1, -1, 1, 1])
    with pytest.raises(NotSeparableError, match="rows 1 and 3") as raised:
        HardMarginSVC(kernel="precomputed").fit(X @ X.T, y)
    assert_array_equal(raised.value.weights, [0, 1, 0, 1])
    # Copies within a class stand in nobody's way.
    assert HardMarginSVC(kernel="linear").fit(X, [-1, -1, 1, -1]).margin_ > 0


def test_a_failed_hard_margin_leaves_the_old_fit_as_it_was():
    svc = HardMarginSVC(kernel="linear").fit(FOUR, [0, 0, 1, 1])
    with pytest.raises(NotSeparableError):
        svc.fit(*XOR)
    assert_allclose(svc.decision_function([[1.5]]), 0, atol=1e-12)
    assert svc.n_features_in_ == 1


def test_a_few_flipped_labels_in_the_plane_are_refused():
    # The width leaves the kernel about a hundred features that rounding does not hide.
    rng = np.random.default_rng(0)
    X = rng.standard_normal((500, 2))
    y = np.where((X**2).sum(axis=1) > 2, 1, -1)
    y[rng.choice(500, 50, replace=False)] *= -1
    kernel = rbf(X, gamma=0.05)
    with pytest.raises(NotSeparableError) as raised:
        HardMarginSVC(kernel="rbf", gamma=0.05).fit(X, y)
    signed = y * raised.value.weights
    assert_allclose([signed.sum(), np.abs(signed).sum()], [0, 2], atol=1e-12)
    squared_spread = 1 - 2 * kernel.mean(axis=1).min() + kernel.mean()
    assert signed @ kernel @ signed < 1e-12 * squared_spread


@pytest.mark.parametrize("meets", [True, False])
def test_hulls_have_a_common_point_or_not(meets):
    rng = np.random.default_rng(1)
    F = rng.standard_normal((60, 5))
    signs = np.where(F[:, 0] > 0, 1.0, -1.0)
    if meets:
        signs[rng.choice(60, 20, replace=False)] *= -1
    weights = common_point(F, signs, 1e-10)
    assert (weights is not None) == meets
    if meets:
        assert weights.min() > 0
        assert_allclose([weights[signs > 0].sum(), weights[signs < 0].sum()], 1, rtol=1e-12)
        assert np.linalg.norm((signs * weights) @ F) <= 1e-10
