"""The split of a kernel that differences allow: an identity, exact to the last digits anywhere."""

from fractions import Fraction

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from rational_quadratic import RationalQuadratic

from kernelbook.kernels import (
    RBF,
    Constant,
    FromCallable,
    Laplacian,
    Linear,
    Polynomial,
    Sigmoid,
    rbf,
)
from kernelbook.kernels.inner_product import mixed_coefficients
from kernelbook.qp import double_centre

KERNELS = [
    Linear(),
    Polynomial(1, 0.5, 2.0),
    Polynomial(2, 0.5, 1.0),
    Polynomial(4, 0.5, 1.0),
    Polynomial(3, 2.0, 0.0),
    RBF(0.4),
    Laplacian(0.3),
    RBF(0.4) + Polynomial(2, 0.5, 1.0),
    RBF(0.4) + Laplacian(0.1) + Linear(),
    Sigmoid(1e-4, 0.1),
    Polynomial(3, 1e-3, -0.1),
    RBF(0.4) * Linear(),
    2.0 * RBF(0.4),
    Constant(3.0) + Linear(),
    FromCallable(rbf),
    RationalQuadratic(2.0),
]
BY_KERNEL = pytest.mark.parametrize("kernel", KERNELS, ids=repr)


@BY_KERNEL
def test_the_parts_sum_to_the_kernel(kernel):
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(7, 3)) + 1.0, rng.normal(size=(5, 3)) - 2.0
    split = kernel.about(X.mean(axis=0))
    parts = split.evaluate(X, Y) + split.one_sided(X)[:, None] + split.one_sided(Y)
    K = kernel.evaluate(X, Y)
    assert_allclose(parts + split.constant, K, rtol=0, atol=1e-13 * np.abs(K).max())


@BY_KERNEL
def test_the_values_of_a_split_agree_with_each_other(kernel):
    X = np.random.default_rng(1).normal(size=(20, 3)) + 2.0
    split = kernel.about(X.mean(axis=0))
    K = split.gram(X)
    size = np.abs(K).max()
    assert_allclose(K, K.T, rtol=0, atol=1e-15 * size)
    assert_allclose(split.evaluate(X, X), K, rtol=0, atol=1e-14 * size)
    assert_allclose(split.diagonal(X), np.diagonal(K), rtol=0, atol=1e-14 * size)
    index, c = np.array([2, 11, 5]), np.array([[1.0, 0.5], [-2.0, 0.0], [0.5, 1.0]])
    assert_allclose(split.expansion(X, index, c)(X[:4]), K[:4, index] @ c, atol=1e-13 * size)


@BY_KERNEL
def test_what_is_split_once_stays_as_it_is(kernel):
    X = np.random.default_rng(2).normal(size=(9, 3)) + 1.0
    split = kernel.about(X.mean(axis=0))
    again = split.about(X[0])
    assert_array_equal(again.evaluate(X, X), split.evaluate(X, X))


@pytest.mark.parametrize("offset", [0.0, 1e6])
@pytest.mark.parametrize("degree", [1, 2, 3, 5])
def test_inner_products_of_differences_are_exact(degree, offset):
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(6, 2)) + offset, rng.normal(size=(4, 2)) + offset
    c = X.mean(axis=0)

    def kernel(x, y):
        inner = sum(Fraction(float(p)) * Fraction(float(q)) for p, q in zip(x, y, strict=True))
        return (Fraction(1, 2) * inner + 1) ** degree

    split = Polynomial(degree, 0.5, 1.0).about(c)
    exact = [
        [float(kernel(x, y) - kernel(x, c) - kernel(c, y) + kernel(c, c)) for y in Y] for x in X
    ]
    atol = 1e-14 * np.abs(exact).max()
    assert_allclose(split.evaluate(X, Y), exact, rtol=0, atol=atol)
    one_sided = [float(kernel(x, c) - kernel(c, c)) for x in X]
    assert_allclose(split.one_sided(X), one_sided, rtol=0, atol=1e-14 * np.abs(one_sided).max())
    assert_allclose(split.constant, float(kernel(c, c)), rtol=1e-14)


@pytest.mark.parametrize("kernel", [RBF, Laplacian])
def test_values_of_a_wide_kernel_keep_their_digits(kernel):
    X = np.array([[0.0], [1.0]])
    split = kernel(1e-18).about(X[0])
    assert_allclose(split.evaluate(X, X)[0, 1], -1e-18, rtol=1e-15)
    assert_allclose(split.gram(X)[1, 0], -1e-18, rtol=1e-15)


@pytest.mark.parametrize("kernel", [RBF(0.4), Laplacian(0.3)], ids=repr)
def test_exponential_kernels_have_a_diagonal_of_zero(kernel):
    X = np.random.default_rng(0).normal(size=(20, 3))
    split = kernel.about(X.mean(axis=0))
    for K in (split.evaluate(X, X), split.gram(X)):
        assert_array_equal(K, K.T)
        assert_array_equal(K.diagonal(), 0)
    assert_array_equal(split.diagonal(X), 0)
    assert split.constant == 1.0


@pytest.mark.parametrize(
    ("kernel", "left"),
    [
        (RBF(), True),
        (Laplacian(), True),
        (Polynomial(2, 1.0, 1.0), True),
        (Polynomial(2, 1.0, -1.0), False),
        (Polynomial(2, -1.0, 1.0), False),
        (Sigmoid(), False),
        (RBF() * RBF(), False),
    ],
    ids=repr,
)
def test_a_split_says_that_it_is_one(kernel, left):
    assert not kernel.is_split
    split = kernel.about(np.zeros(2))
    assert split.is_split is left
    assert (split is not kernel) is left


def test_a_split_that_overflows_names_the_kernel():
    X = 1e200 * np.random.default_rng(0).normal(size=(5, 2))
    for kernel in (Polynomial(3), Linear()):
        with pytest.raises(ValueError, match=r"the kernel (Poly|Lin).* overflows on this X"):
            kernel.about(X.mean(axis=0)).evaluate(X, X)


def test_mixed_coefficients_are_those_of_the_trinomial():
    a, degree = 1.5, 4
    mixed = mixed_coefficients(a, degree)
    for s, t in ((0.3, -0.7), (2.0, 1.0)):
        pure = (a + s) ** degree + (a + t) ** degree - a**degree
        powers = np.arange(1, degree)
        total = (s**powers) @ mixed @ (t**powers)
        assert_allclose(total, (a + s + t) ** degree - pure, rtol=1e-13)


# Centring of matrices


def test_double_centring_takes_out_what_the_split_drops():
    X = np.random.default_rng(0).normal(size=(20, 3))
    kernel = Polynomial(3, 0.5, 1.0)
    K = kernel.about(X.mean(axis=0)).gram(X)
    centred, means = double_centre(K)
    assert_allclose(centred, double_centre(kernel.gram(X))[0], atol=1e-11 * np.abs(K).max())
    assert_allclose(centred.mean(axis=0), 0, atol=1e-13 * np.abs(K).max())
    assert_allclose(means, K.mean(axis=1), rtol=1e-12)


@pytest.mark.parametrize("a", [None, np.where(np.arange(6) < 2, 1.0, -1.0), np.arange(6) - 1.3])
def test_double_centring_is_a_projection_from_both_sides(a):
    rng = np.random.default_rng(1)
    M = rng.normal(size=(6, 6))
    K = M @ M.T
    before, direction = K.copy(), np.ones(6) if a is None else a
    P = np.eye(6) - np.outer(direction, direction) / (direction @ direction)
    centred, means = double_centre(K, a)
    assert_array_equal(K, before)
    assert_allclose(centred, P @ K @ P, atol=1e-13)
    assert_allclose(means, K @ direction / (direction @ direction), rtol=1e-13)
    assert double_centre(K, a, overwrite=True)[0] is K
    assert_allclose(K, centred, atol=1e-14)
