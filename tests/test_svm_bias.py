"""Support vectors at their bounds, and the bias that they allow."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from samples import BOTH, classes
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from kernelbook.svm import KernelSVC

# Support vectors and the bias


@BOTH
def test_at_a_tiny_c_every_point_is_a_support_vector(solver):
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
def test_without_a_free_support_vector_the_bias_is_a_midpoint(solver, C, w, b):
    svc = KernelSVC(C, kernel="linear", solver=solver).fit([[0.0], [3.0], [4.0]], [-1, 1, 1])
    assert_array_equal(svc.alpha_, [C, C, 0])
    assert_allclose(svc.coef_, [[w]], rtol=1e-12)
    assert_allclose(svc.intercept_, [b], rtol=1e-12)
    theirs = SVC(C=C, kernel="linear", tol=1e-10).fit([[0.0], [3.0], [4.0]], [-1, 1, 1])
    assert_allclose(svc.intercept_, theirs.intercept_, rtol=1e-6)


@pytest.mark.parametrize("seed", range(60))
def test_on_a_grid_alpha_is_at_its_bound_or_clearly_inside(seed):
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


def test_features_of_unequal_scale_need_standardization():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(40, 2))
    y = np.where(X[:, 1] > 0, 1, 0)
    X = X * [1000.0, 1.0]
    assert KernelSVC().fit(X, y).score(X, y) == 0.675
    assert make_pipeline(StandardScaler(), KernelSVC()).fit(X, y).score(X, y) == 0.975
