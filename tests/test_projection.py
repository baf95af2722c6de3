"""The split of a kernel that centring allows: an identity, exact to the last digits anywhere."""

from fractions import Fraction

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from kernelbook.kernels import gram, rbf
from kernelbook.projection import KernelProjector, double_centred

KERNELS = [
    {"kernel": "linear"},
    {"kernel": "poly", "gamma": 0.5, "degree": 1, "coef0": 2.0},
    {"kernel": "poly", "gamma": 0.5, "degree": 4, "coef0": 1.0},
    {"kernel": "poly", "gamma": 2.0, "degree": 3, "coef0": 0.0},
    {"kernel": "rbf", "gamma": 0.4},
    {"kernel": "laplacian", "gamma": 0.3},
    {"kernel": "sigmoid", "gamma": 1e-4, "coef0": 0.1},
    {"kernel": "poly", "gamma": 1e-3, "degree": 3, "coef0": -0.1},
    {"kernel": rbf},
]


class Projector(KernelProjector):
    def __init__(self, kernel="rbf", *, gamma=1.0, degree=3, coef0=0.0):
        self.kernel, self.gamma, self.degree, self.coef0 = kernel, gamma, degree, coef0
        self.gamma_ = gamma


def split(X, Y, **parameters):
    projector = Projector(**parameters)
    projector._reference = X.mean(axis=0)
    return projector._gram(X, Y), projector._one_sided(X), projector._one_sided(Y)


@pytest.mark.parametrize("parameters", KERNELS, ids=lambda p: str(p.get("degree", "")))
def test_the_parts_sum_to_the_kernel_up_to_a_constant(parameters):
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(7, 3)) + 1.0, rng.normal(size=(5, 3)) - 2.0
    K, s, t = split(X, Y, **parameters)
    rest = gram(**parameters, X=X, Y=Y) - (K + s[:, None] + t)
    assert_allclose(rest, rest[0, 0], rtol=0, atol=1e-12 * np.abs(K).max())


@pytest.mark.parametrize("offset", [0.0, 1e6])
@pytest.mark.parametrize("degree", [1, 2, 3, 5])
def test_inner_products_of_differences_are_exact(degree, offset):
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(6, 2)) + offset, rng.normal(size=(4, 2)) + offset
    c = X.mean(axis=0)

    def kernel(x, y):
        inner = sum(Fraction(float(p)) * Fraction(float(q)) for p, q in zip(x, y, strict=True))
        return (Fraction(1, 2) * inner + 1) ** degree

    parameters = {"kernel": "poly", "gamma": 0.5, "degree": degree, "coef0": 1.0}
    K, s, _ = split(X, Y, **parameters)
    exact = [
        [float(kernel(x, y) - kernel(x, c) - kernel(c, y) + kernel(c, c)) for y in Y] for x in X
    ]
    assert_allclose(K, exact, rtol=0, atol=1e-14 * np.abs(exact).max())
    one_sided = [float(kernel(x, c) - kernel(c, c)) for x in X]
    assert_allclose(s, one_sided, rtol=0, atol=1e-14 * np.abs(one_sided).max())


def test_values_of_a_wide_kernel_keep_their_digits():
    X = np.array([[0.0], [1.0]])
    K, _, _ = split(X, X, kernel="rbf", gamma=1e-18)
    assert_allclose(K[0, 1], -1e-18, rtol=1e-15)


@pytest.mark.parametrize("parameters", KERNELS[4:6], ids=str)
def test_distance_kernels_are_symmetric_with_a_zero_diagonal(parameters):
    X = np.random.default_rng(0).normal(size=(20, 3))
    K, _, _ = split(X, X, **parameters)
    assert_array_equal(K, K.T)
    assert_array_equal(K.diagonal(), 0)


def test_double_centring_takes_out_what_the_split_drops():
    X = np.random.default_rng(0).normal(size=(20, 3))
    parameters = {"kernel": "poly", "gamma": 0.5, "degree": 3, "coef0": 1.0}
    K, _, _ = split(X, X, **parameters)
    centred = double_centred(K)
    assert_allclose(centred, double_centred(gram(**parameters, X=X)), atol=1e-11 * np.abs(K).max())
    assert_allclose(centred.mean(axis=0), 0, atol=1e-13 * np.abs(K).max())
