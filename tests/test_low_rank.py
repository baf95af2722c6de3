"""Kernels with few features: their matrix F F', and the machines that are solved through it."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from kernelbook.exceptions import NotSeparableError
from kernelbook.kernels import RBF, Linear, Polynomial, rbf
from kernelbook.oneclass import OneClassSVM
from kernelbook.qp import (
    DenseQuadratic,
    LowRankQuadratic,
    QuadraticProgram,
    SolverOptions,
    solve,
)
from kernelbook.qp.low_rank import within_rounding
from kernelbook.svdd import SVDD
from kernelbook.svm import HardMarginSVC, KernelSVC
from kernelbook.svr import KernelSVR


def problem(n=600, d=4, seed=0, noise=0.5):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    f = X[:, 0] + 0.5 * X[:, 1] ** 2 - 0.5 + noise * rng.normal(size=n)
    return X, np.where(f > 0, 1, -1), f


# Features relative to a centre


@pytest.mark.parametrize(
    "kernel",
    [Linear(), Polynomial(2, 0.5, 1.0), Polynomial(3, 0.5, 0.0), Polynomial(4, 0.2, 2.0)],
)
@pytest.mark.parametrize("offset", [0.0, 1e3])
def test_features_about_a_centre_lose_no_digit(kernel, offset):
    X = np.random.default_rng(1).normal(size=(25, 3)) + offset
    split = kernel.about(X.mean(axis=0))
    K, F = split.gram(X), split.features(X)
    assert_allclose(F @ F.T, K, rtol=0, atol=1e-14 * np.abs(K).max())


def test_features_about_a_centre_are_as_few_as_without():
    kernel, X = Polynomial(3, 1.0, 1.0), np.ones((2, 4))
    split = kernel.about(X[0])
    assert split.features(X, 35).shape == (2, 35)
    assert split.features(X, 34) is None


# Which solver


@pytest.mark.parametrize(
    ("kernel", "n", "d", "is_low_rank"),
    [
        ({"kernel": "linear"}, 450, 4, True),
        ({"kernel": "linear"}, 150, 4, True),
        ({"kernel": "linear"}, 149, 4, False),  # few points: the dense solver
        ({"kernel": "poly", "degree": 2, "coef0": 1.0}, 450, 12, True),  # 91 features, n / 4 is 112
        ({"kernel": "poly", "degree": 3, "coef0": 1.0}, 450, 12, False),  # 455 features
        ({"kernel": "rbf"}, 450, 4, False),
    ],
)
def test_auto_takes_low_rank_where_features_are_few(kernel, n, d, is_low_rank, monkeypatch):
    seen = []
    factor = LowRankQuadratic.factor

    def spy(self, D):
        seen.append(len(self))
        return factor(self, D)

    monkeypatch.setattr(LowRankQuadratic, "factor", spy)
    X, y, _ = problem(n, d)
    assert KernelSVC(1.0, **kernel).fit(X, y).certificate_.status == "optimal"
    assert (n in seen) == is_low_rank


def test_low_rank_needs_few_features():
    X, y, _ = problem(50)
    with pytest.raises(ValueError, match="low_rank' needs a kernel with few features"):
        KernelSVC(kernel="rbf", solver="low_rank").fit(X, y)


# The same optimum


def machines(C):
    poly = {"kernel": "poly", "degree": 2, "coef0": 1.0, "gamma": 0.5}
    return [
        KernelSVC(C, kernel="linear"),
        KernelSVC(C, class_weight="balanced", **poly),
        KernelSVR(C, epsilon=0.1, kernel="linear"),
        KernelSVR(C, epsilon=0.0, **poly),
        OneClassSVM(0.2, kernel="linear"),
        SVDD(nu=0.1, **poly),
    ]


def answers(machine, X):
    assert machine.certificate_.status == "optimal"
    assert machine.certificate_.duality_gap < 1e-7
    return machine.predict(X) if isinstance(machine, KernelSVR) else machine.decision_function(X)


@pytest.mark.parametrize("C", [1e-3, 1.0, 1e4])
@pytest.mark.parametrize("which", range(6))
@pytest.mark.parametrize("shape", ["plain", "copies", "offset", "flat"])
def test_machines_agree_with_the_dense_solver(C, which, shape):
    X, y, target = problem(420, 3, seed=which)
    if shape == "copies":
        X = np.round(X)
    elif shape == "offset":
        X = X + 10.0
    elif shape == "flat":
        X[:, 2] = X[:, 0]
    machine = machines(C)[which]
    labels = target if isinstance(machine, KernelSVR) else y
    if isinstance(machine, OneClassSVM | SVDD):
        labels = None
    values, expected = (
        answers(machine.set_params(solver=solver).fit(X, labels), X)
        for solver in ("low_rank", "dense")
    )
    assert_allclose(values, expected, rtol=0, atol=1e-6 * max(1.0, np.abs(expected).max()))


def test_many_free_variables_are_no_obstacle():
    # One class is so rare that w = 0 is optimal: any x of the common class with the right sum is.
    rng = np.random.default_rng(3)
    X, n = rng.normal(size=(2000, 5)), 2000
    y = np.where(rng.random(n) < 0.3, 1.0, -1.0)
    X -= X[y > 0].mean(axis=0) * (y > 0)[:, None] + X[y < 0].mean(axis=0) * (y < 0)[:, None]
    ones = np.ones(n)
    box = np.minimum(0, 0.01 * y), np.maximum(0, 0.01 * y)
    solution = solve(QuadraticProgram(LowRankQuadratic(X), -y, ones, 0.0, *box), SolverOptions())
    assert solution.status == "optimal"
    assert np.sum((solution.x > box[0]) & (solution.x < box[1])) > 7
    assert solution.duality_gap < 1e-12


def test_hard_margin_and_its_refusal_use_the_features():
    X, y, _ = problem(700, 5, noise=0.0)
    far = np.abs(X[:, 0]) > 0.1
    labels = np.sign(X[far, 0])
    low_rank = HardMarginSVC(kernel="linear").fit(X[far], labels)
    dense = HardMarginSVC(kernel="linear", solver="dense").fit(X[far], labels)
    assert_allclose(low_rank.margin_, dense.margin_, rtol=1e-9)
    with pytest.raises(NotSeparableError):
        HardMarginSVC(kernel="linear").fit(X, y)


def test_rbf_has_no_finite_features():
    assert RBF(1.0).about(np.zeros(2)).features(np.ones((3, 2))) is None


def test_a_smooth_kernel_has_few_features_within_rounding():
    X = np.random.default_rng(0).standard_normal((300, 1))
    K = DenseQuadratic(rbf(X, gamma=0.5)).centred(np.ones(300))
    near = within_rounding(K)
    assert near.F.shape[1] < 40
    assert_allclose(near.F @ near.F.T, K.in_memory, rtol=0, atol=1e-14)
    wide = DenseQuadratic(rbf(X, gamma=1e6))
    assert within_rounding(wide) is wide
    assert within_rounding(near) is near
