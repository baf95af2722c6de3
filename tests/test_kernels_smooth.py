"""Derivatives of kernels against differences, and what a radial kernel knows of distances."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from rational_quadratic import RadialRationalQuadratic, RationalQuadratic

from kernelbook.kernels import (
    RBF,
    Constant,
    FromCallable,
    Laplacian,
    Linear,
    Polynomial,
    Precomputed,
    Radial,
    Sigmoid,
    rbf,
)

SMOOTH = [
    Linear(),
    Polynomial(1, 0.5, 2.0),
    Polynomial(2, 0.5, 1.0),
    Polynomial(4, 0.3, 0.0),
    RBF(0.4),
    Constant(2.0),
    RadialRationalQuadratic(0.7),
    RBF(0.4) + Polynomial(3, 0.2, 1.0),
    RBF(0.4) * Polynomial(2, 0.5, 1.0),
    3.0 * RadialRationalQuadratic(2.0),
    (RBF(0.4) + Constant(0.5)) * (Linear() + Constant(1.0)),
]
ROUGH = [
    Laplacian(),
    Sigmoid(),
    Precomputed(),
    FromCallable(rbf),
    RationalQuadratic(),
    RBF() + Laplacian(),
    Linear() * Sigmoid(),
    RBF().about(np.zeros(2)),
]
BY_SMOOTH = pytest.mark.parametrize("kernel", SMOOTH, ids=repr)
STEP = 1e-5


def points(n=6, d=3, seed=0):
    return np.random.default_rng(seed).normal(size=(n, d))


def difference(function, X, k):
    """The derivative of function(X) by the k-th feature, by central differences."""
    step = STEP * np.eye(X.shape[1])[k]
    return (function(X + step) - function(X - step)) / (2 * STEP)


# Derivatives


@BY_SMOOTH
def test_gradients_are_limits_of_differences(kernel):
    X, others = points(), points(4, seed=1)
    weights = np.random.default_rng(2).normal(size=(6, 4))
    gradient = kernel.weighted_gradient(X, others, weights)
    assert gradient.shape == X.shape
    for k in range(3):
        slope = difference(lambda Z: (weights * kernel.evaluate(Z, others)).sum(axis=1), X, k)
        assert_allclose(gradient[:, k], slope, atol=1e-8 * max(1.0, np.abs(slope).max()))


@BY_SMOOTH
def test_one_sided_gradients_are_half_those_of_the_diagonal(kernel):
    X = points()
    gradient = kernel.one_sided_gradient(X)
    assert gradient.shape == X.shape
    for k in range(3):
        slope = difference(kernel.diagonal, X, k) / 2
        assert_allclose(gradient[:, k], slope, atol=1e-8 * max(1.0, np.abs(slope).max()))


@BY_SMOOTH
def test_the_metric_is_a_mixed_second_derivative(kernel):
    X = points()
    metric = kernel.metric(X)
    assert metric.shape == (6, 3, 3)
    for x, of_point in zip(X, metric, strict=True):
        # The gradient in the first argument, differentiated by the second one.
        def gradient(y, x=x):
            return kernel.weighted_gradient(x[None], y, np.ones((1, 1)))[0]

        columns = [difference(gradient, x[None], k) for k in range(3)]
        expected = np.column_stack(columns)
        assert_allclose(of_point, expected, atol=1e-8 * max(1.0, np.abs(expected).max()))
        assert_allclose(of_point, of_point.T, atol=1e-14 * np.abs(of_point).max())


@BY_SMOOTH
def test_small_steps_have_the_length_that_the_metric_says(kernel):
    X, step = points(), 1e-4 * points(6, seed=3)
    metric = kernel.metric(X)
    squared = np.einsum("ij,ijk,ik->i", step, metric, step)
    for x, s, expected in zip(X, step, squared, strict=True):
        # Half a step to each side, so that the error is of fourth order.
        K = kernel.evaluate(np.array([x - s / 2, x + s / 2]), np.array([x - s / 2, x + s / 2]))
        distance = K[0, 0] + K[1, 1] - 2 * K[0, 1]
        assert_allclose(distance, expected, rtol=1e-5, atol=2e-15 * max(1.0, K.max()))


@BY_SMOOTH
def test_magnification_is_the_root_of_the_determinant(kernel):
    X = points()
    determinants = np.linalg.det(kernel.metric(X))
    assert_allclose(kernel.magnification(X) ** 2, determinants, rtol=1e-10, atol=1e-14)


def test_the_plane_is_magnified_by_known_factors():
    X = points(d=2)
    assert_allclose(RBF(0.4).magnification(X), 0.8)
    assert_allclose(Linear().magnification(X), 1.0)
    assert_allclose((4.0 * Linear()).magnification(X), 4.0)
    assert_array_equal(Constant().magnification(X), 0.0)
    # In one dimension (x y)^2 has the image x^2, of slope 2 x.
    line = np.array([[1.5], [0.0]])
    assert_allclose(Polynomial(2).magnification(line), [3.0, 0.0])


@pytest.mark.parametrize("kernel", ROUGH, ids=repr)
def test_kernels_without_derivatives_say_so(kernel):
    X = points(4, 4)
    calls = (
        lambda: kernel.weighted_gradient(X, X, np.ones((4, 4))),
        lambda: kernel.one_sided_gradient(X),
        lambda: kernel.metric(X),
        lambda: kernel.magnification(X),
    )
    for call in calls:
        with pytest.raises(ValueError, match=r"the kernel .*\(.*\) has no known derivatives"):
            call()


# Radial kernels


class Bump(Radial):
    """A profile and nothing else, of height 3 at zero."""

    def profile(self, squares):
        return 3.0 / (1.0 + np.asarray(squares)) ** 2


RADIAL = [RBF(0.3), RadialRationalQuadratic(0.5), RadialRationalQuadratic(3.0), Bump()]


@pytest.mark.parametrize("kernel", RADIAL, ids=["rbf", "wide tail", "short tail", "bump"])
def test_an_inverse_profile_finds_the_distance(kernel):
    squares = np.array([0.0, 1e-6, 0.1, 1.0, 4.0, 30.0, 1e3 * isinstance(kernel, Bump) + 5.0])
    values = kernel.profile(squares)
    assert_allclose(kernel.inverse_profile(values), squares, rtol=1e-8, atol=1e-15)
    assert_array_equal(values, kernel.profile(squares))


def test_a_value_above_the_profile_belongs_to_no_distance():
    assert_allclose(Bump().inverse_profile(np.array([3.0, 5.0])), 0.0, atol=1e-15)


def test_a_profile_is_enough_for_values_but_not_for_slopes():
    X = points()
    kernel = Bump()
    assert_array_equal(kernel.diagonal(X), 3.0)
    assert_allclose(kernel.gram(X), kernel.evaluate(X, X), rtol=1e-14)
    assert not kernel.is_psd
    assert_array_equal(kernel.one_sided_gradient(X), 0.0)
    for call in (lambda: kernel.slope(np.ones(1)), lambda: kernel.metric(X)):
        with pytest.raises(ValueError, match="has no known derivatives"):
            call()


@pytest.mark.parametrize("kernel", [RBF(0.3), RadialRationalQuadratic(0.5)], ids=repr)
def test_a_slope_is_the_derivative_of_the_profile(kernel):
    squares = np.array([[0.1, 1.0], [4.0, 30.0]])
    expected = (kernel.profile(squares + STEP) - kernel.profile(squares - STEP)) / (2 * STEP)
    assert_allclose(kernel.slope(squares), expected, rtol=1e-8, atol=1e-10)


def test_distances_are_summed_from_differences():
    X, Y = points() + 1e7, points(4, seed=1) + 1e7
    expected = [[sum((a - b) ** 2 for a, b in zip(x, y, strict=True)) for y in Y] for x in X]
    assert_allclose(RBF().distances(X, Y), expected, rtol=1e-14)
