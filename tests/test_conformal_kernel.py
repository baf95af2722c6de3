"""The conformal kernel: values, derivatives, compiled points, and machines that use it."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from samples import imbalanced, points

from kernelbook.conformal import Conformal, ConformalSVC, GaussianFactor
from kernelbook.conformal.kernel import KnownValues
from kernelbook.conformal.spaces import InputSpace
from kernelbook.kernels import RBF, Laplacian, Linear, Polynomial, Precomputed, Sum
from kernelbook.oneclass import OneClassSVM
from kernelbook.qp import GramQuadratic
from kernelbook.svm import KernelSVC

BUMP = GaussianFactor(InputSpace(np.zeros((1, 2))), np.array([3.0]), np.array([2.0]), floor=0.1)
FACTORS = {"bump": BUMP, "function": lambda X: 2.0 + np.sin(X[:, 0])}
BY_FACTOR = pytest.mark.parametrize("factor", FACTORS.values(), ids=FACTORS)
SMOOTH = [RBF(0.4), Polynomial(3, 0.3, 1.0), Linear(), Conformal(RBF(0.4), FACTORS["function"])]
EVERY = [*SMOOTH, Laplacian(0.5), Sum(RBF(0.4), Linear())]
BY_KERNEL = pytest.mark.parametrize("kernel", EVERY, ids=lambda k: type(k).__name__)
BY_SMOOTH = pytest.mark.parametrize("kernel", SMOOTH, ids=lambda k: type(k).__name__)


@BY_FACTOR
@BY_KERNEL
def test_values_are_products(kernel, factor):
    X, Y = points(7), points(5, seed=1)
    conformal = Conformal(kernel, factor)
    for x, row in zip(X, conformal(X, Y), strict=True):
        for y, value in zip(Y, row, strict=True):
            inner = kernel.evaluate(x[None], y[None])[0, 0]
            assert value == pytest.approx(factor(x[None])[0] * factor(y[None])[0] * inner)
    K = conformal(X)
    assert_array_equal(K, K.T)
    assert_allclose(conformal.diagonal(X), K.diagonal(), rtol=1e-12)
    assert conformal.is_psd == kernel.is_psd
    index, coefficients = np.array([4, 0]), np.array([[1.0, 2.0], [-3.0, 0.5]])
    expected = conformal(Y, X[index]) @ coefficients
    assert_allclose(conformal.expansion(X, index, coefficients)(Y), expected, rtol=1e-12)
    single = conformal.expansion(X, index, coefficients[:, 0])
    assert_allclose(single(Y), expected[:, 0], rtol=1e-12)


@BY_FACTOR
@BY_KERNEL
def test_quadratic_of_points_is_the_matrix(kernel, factor):
    X = points(30)
    conformal = Conformal(kernel, factor)
    Q, K = GramQuadratic(conformal, X), conformal.gram(X)
    rows, x = np.array([3, 20, 1]), np.where(np.arange(30) % 3, 1.0, 0.0)
    assert_allclose(Q.block(rows, np.arange(30)), K[rows], rtol=1e-10, atol=1e-14)
    assert_allclose(Q.product(x), K @ x, rtol=1e-10)
    assert_allclose(Q.product(x, rows), (K @ x)[rows], rtol=1e-10)
    assert_allclose(Q.diagonal, K.diagonal(), rtol=1e-12)


def central(function, X, step=1e-5):
    """Gradients (m, d) of a function of points by central differences."""
    gradient = np.empty_like(X)
    for j in range(X.shape[1]):
        move = np.zeros(X.shape[1])
        move[j] = step
        gradient[:, j] = (function(X + move) - function(X - move)) / (2 * step)
    return gradient


@BY_FACTOR
@BY_SMOOTH
def test_gradients_by_differences(kernel, factor):
    X, Y = points(6), points(4, seed=1)
    conformal = Conformal(kernel, factor)
    weights = np.random.default_rng(2).normal(size=(6, 4))
    expected = central(lambda Z: (weights * conformal.evaluate(Z, Y)).sum(axis=1), X)
    found = conformal.weighted_gradient(X, Y, weights)
    assert_allclose(found, expected, rtol=1e-6, atol=1e-7)
    assert_allclose(conformal.one_sided_gradient(X), central(conformal.diagonal, X) / 2, atol=1e-7)


@BY_SMOOTH
def test_metric_and_its_determinant(kernel):
    X = points(6)
    conformal = Conformal(kernel, BUMP)
    metric = conformal.metric(X)
    assert_allclose(metric, metric.transpose(0, 2, 1), rtol=1e-12)
    # Along a curve the squared length of the image's step is that of the metric.
    step, direction = 1e-4, np.array([0.6, -0.8])
    pairs = [conformal(np.stack([x - step * direction, x + step * direction])) for x in X]
    lengths = [K[0, 0] + K[1, 1] - 2 * K[0, 1] for K in pairs]
    expected = np.array(lengths) / (2 * step) ** 2
    assert_allclose(direction @ metric @ direction, expected, rtol=1e-5)
    root = np.sqrt(np.linalg.det(metric))
    assert_allclose(conformal.magnification(X), root, rtol=1e-7, atol=1e-12)


def test_magnification_where_the_metric_underflows():
    far = np.array([[40.0, 0.0]])
    narrow = GaussianFactor(InputSpace(np.zeros((1, 2))), np.array([4.0]), np.array([1.0]))
    conformal = Conformal(RBF(0.5), narrow)
    assert np.linalg.det(conformal.metric(far)) == 0
    # D = e^-400; with sigma = 1 the metric is D^2 (I + 20^2 e e').
    expected = np.exp(-800.0 + 760.0) * np.sqrt(401.0)
    lifted = Conformal(RBF(0.5), narrow.scaled(380.0)).magnification(far)
    assert_allclose(lifted, expected, rtol=1e-10)


@pytest.mark.parametrize("n", [60, 700])
@BY_KERNEL
def test_any_machine_takes_a_conformal_kernel(kernel, n):
    X, y = imbalanced(n, shift=2.5)
    conformal = Conformal(kernel, FACTORS["function"])
    K = conformal(X)
    svc = KernelSVC(kernel=conformal).fit(X, y)
    by_matrix = KernelSVC(kernel="precomputed").fit(K, y)
    expected = by_matrix.decision_function(K)
    assert_allclose(svc.decision_function(X), expected, rtol=0, atol=1e-6)
    assert svc.certificate_.status == "optimal"
    away = X + 4.0  # from the origin, for the linear kernel
    K = conformal(away)
    model = OneClassSVM(0.2, kernel=conformal).fit(away)
    expected = OneClassSVM(0.2, kernel="precomputed").fit(K).score_samples(K)
    assert_allclose(model.score_samples(away), expected, rtol=1e-6)


@pytest.mark.parametrize("scheme", ["wu_chang", "williams"])
def test_points_of_weight_zero_leave_a_precomputed_matrix(scheme):
    X, y = imbalanced(40)
    new, _ = imbalanced(20, seed=3)
    weights = np.random.default_rng(1).integers(0, 3, 40)
    kept = np.flatnonzero(weights)
    kernel = RBF(0.5)
    model = ConformalSVC(scheme, kernel="precomputed").fit(kernel(X), y, weights)
    smaller = ConformalSVC(scheme, kernel="precomputed")
    smaller.fit(kernel(X[kept]), y[kept], weights[kept])
    assert_array_equal(model.support_, kept[smaller.support_])
    assert_allclose(model.support_factor_, smaller.support_factor_, rtol=1e-9)
    expected = smaller.decision_function(kernel(new, X[kept]))
    assert_allclose(model.decision_function(kernel(new, X)), expected, rtol=0, atol=1e-8)
    # The kernel itself, where the rows of the matrix stand for the points.
    conformal = Conformal(Precomputed(), model.factor_, kept)
    K = kernel(X)
    D = model.factor_(K[kept])
    expected = D[:, None] * K[np.ix_(kept, kept)] * D
    rows = conformal.subset(K, kept)
    assert_allclose(conformal.gram(rows), expected, rtol=1e-12)
    assert_allclose(conformal.evaluate(rows, rows), expected, rtol=1e-12)
    assert_allclose(conformal.diagonal(rows), expected.diagonal(), rtol=1e-12)


def test_known_values_are_those_of_the_same_points_only():
    X, index = points(6), np.array([1, 5])
    known = KnownValues.at(X, np.full(6, 7.0))
    conformal = Conformal(Linear(), BUMP, known=known)
    computed = Conformal(Linear(), BUMP)
    assert_allclose(conformal.gram(X), 49.0 * Linear()(X), rtol=1e-15)
    assert_allclose(conformal.compiled(X).scale, 7.0)
    assert_allclose(conformal.expansion(X, index, np.ones(2)).expansion.coefficients, 7.0)
    for others in (X[:5], X[::-1], np.nextafter(X, 9.0)):
        assert_array_equal(conformal.gram(others), computed.gram(others))
        assert_array_equal(conformal.compiled(others).scale, BUMP(others))
    X[0, 0] += 1.0
    assert_array_equal(conformal.gram(X), computed.gram(X))
