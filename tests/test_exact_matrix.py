"""The matrix that is never formed: compiled loops against numpy."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import cdist

from kernelbook.qp import DenseQuadratic, PairedQuadratic, PointsQuadratic
from kernelbook.qp.exact.smo import Pairwise
from kernelbook.qp.exact.source import PointsSource, source_of
from kernelbook.qp.program import Program
from kernelbook.svm import KernelSVC

METRICS = {"rbf": "sqeuclidean", "laplacian": "cityblock"}


def points(kind, n=40, d=3, *, gamma=0.7, scale=None, seed=0, offset=0.0):
    X = np.random.default_rng(seed).normal(size=(n, d)) + offset

    def gram(A, B):
        K = np.expm1(-gamma * cdist(A, B, METRICS[kind]))
        return K if scale is None else K + 1.0

    return PointsQuadratic(X, gram, kind=kind, gamma=gamma, scale=scale)


def by_hand(Q):
    """The whole matrix by numpy, from the points and nothing else."""
    K = np.expm1(-Q.gamma * cdist(Q.X, Q.X, METRICS[Q.kind]))
    return K if Q.scale is None else Q.scale[:, None] * (K + 1.0) * Q.scale


# The matrix that is never formed


@pytest.mark.parametrize("kind", METRICS)
@pytest.mark.parametrize("gamma", [1e-9, 1e-3, 0.7, 1e4])
@pytest.mark.parametrize("scaled", [False, True])
@pytest.mark.parametrize("d", [1, 4, 7])
def test_compiled_kernel_values_are_accurate_to_their_own_size(kind, gamma, scaled, d):
    scale = np.linspace(0.5, 2.0, 40) if scaled else None
    Q = points(kind, d=d, gamma=gamma, scale=scale, offset=100.0)
    K, x = by_hand(Q), np.random.default_rng(1).normal(size=40)
    some, others = np.array([3, 0, 17]), np.array([5, 5, 39, 3])
    # The points lie 100 away from the origin: their differences have thirteen digits.
    assert_allclose(Q.block(some, others), K[np.ix_(some, others)], rtol=1e-11, atol=0)
    size = np.abs(K) @ np.abs(x)
    assert (np.abs(Q.mv(x) - K @ x) <= 1e-12 * size).all()
    assert (np.abs(Q.mv_at(some, x) - (K @ x)[some]) <= 1e-12 * size[some]).all()
    assert_allclose(Q.diagonal(), np.diagonal(K), atol=0, rtol=1e-14)


def test_chunks_and_blocks_of_compiled_loops_meet():
    Q = points("rbf", n=2500, d=2, gamma=1.0)
    x = np.zeros(2500)
    x[[0, 700, 2499]] = 1.0, -2.0, 0.5
    assert_allclose(Q.mv(x), by_hand(Q) @ x, atol=1e-13)


@pytest.mark.parametrize("kind", METRICS)
def test_rows_in_single_precision_are_those_of_the_matrix(kind):
    scale = np.linspace(0.5, 2.0, 40)
    for Q in (points(kind, gamma=0.3), points(kind, gamma=0.3, scale=scale)):
        source, everything = PointsSource(Q, np.arange(40)), np.arange(40)
        pairwise = Pairwise(
            source, np.zeros(40), np.linspace(1, -1, 40), -np.ones(40), np.ones(40), 10**6
        )
        pairwise.run(1e-12, 1)
        cache = pairwise._cache
        held = [place for place in range(len(cache.rows)) if cache.owner[place] >= 0]
        assert len(held) == 2
        for place in held:
            i = cache.owner[place]
            assert_allclose(cache.rows[place], by_hand(Q)[i], rtol=2e-6, atol=1e-7)
            assert_allclose(source.row(i, everything), by_hand(Q)[i], rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize(
    "kernel", [("linear", 1), ("poly", 1), ("poly", 2), ("poly", 3), ("poly", 5)]
)
@pytest.mark.parametrize("scaled", [False, True])
@pytest.mark.parametrize("offset", [0.0, 30.0])
def test_rows_of_polynomial_kernels_are_those_of_the_split(kernel, scaled, offset):
    kind, degree = kernel
    X = np.random.default_rng(2).normal(size=(1500, 3)) + offset
    machine = KernelSVC(kernel=kind, degree=degree, gamma=0.2, coef0=0.5)
    machine._fit_kernel(X)
    scale = np.linspace(0.5, 2.0, 1500) if scaled else None
    gamma, coef0 = (1.0, 0.0) if kind == "linear" else (0.2, 0.5)
    gram = (lambda A, B: (gamma * A @ B.T + coef0) ** degree) if scaled else machine._gram
    Q = PointsQuadratic(
        X,
        gram,
        kind=kind,
        gamma=gamma,
        degree=degree,
        coef0=coef0,
        centre=machine._reference,
        scale=scale,
    )
    source = PointsSource(Q, np.arange(1500))
    pairwise = Pairwise(
        source, np.zeros(1500), np.linspace(1, -1, 1500), -np.ones(1500), np.ones(1500), 10**6
    )
    pairwise.run(1e-12, 1)
    cache = pairwise._cache
    held = np.flatnonzero(cache.owner >= 0)
    for place in held:
        expected = Q.block(cache.owner[[place]], np.arange(1500))[0]
        error = np.abs(cache.rows[place] - expected)
        assert (error <= 3e-6 * np.abs(expected).max()).all()


def test_many_features_go_by_inner_products():
    rng = np.random.default_rng(3)
    X, x = rng.normal(size=(900, 24)) + 100.0, rng.normal(size=900)
    for scale in (None, np.linspace(0.5, 2.0, 900)):
        Q = PointsQuadratic(X, None, kind="rbf", gamma=0.04, scale=scale)
        assert Q._by_products
        K = by_hand(Q)
        some, others = np.array([0, 7, 899]), np.arange(5, 700)
        assert_allclose(Q.block(some, others), K[np.ix_(some, others)], rtol=0, atol=2e-13)
        assert_allclose(Q.mv_at(some, x), (K @ x)[some], rtol=0, atol=1e-11)


def test_far_points_keep_to_differences():
    # Norms of 1e8 would leave no digit of distances near 1.
    X = np.random.default_rng(4).normal(size=(60, 20))
    X[:30] += 1e4
    Q = PointsQuadratic(X, None, kind="rbf", gamma=0.1)
    assert not Q._by_products
    exact = by_hand(PointsQuadratic(X[30:], None, kind="rbf", gamma=0.1))
    near = np.arange(30, 60)
    assert_allclose(Q.block(near, near), exact, rtol=1e-9, atol=1e-12)


def test_without_a_compiled_kernel_the_function_is_called():
    X = np.array([[1.0], [2.0], [4.0]])
    Q = PointsQuadratic(X, lambda A, B: A @ B.T, scale=np.array([1.0, 2.0, 0.5]))
    K = np.outer(X[:, 0] * [1, 2, 0.5], X[:, 0] * [1, 2, 0.5])
    assert_allclose(Q.mv(np.array([1.0, -1.0, 2.0])), K @ [1, -1, 2])
    assert_allclose(Q.diagonal(), np.diagonal(K))
    assert_allclose(Q.block(np.array([2]), np.array([0, 1])), K[2:, :2])
    assert_allclose(Q.factor(np.ones(3))(np.ones(3)), np.linalg.solve(K + np.eye(3), np.ones(3)))
    some = Q.restricted(np.array([0, 2]))
    assert_allclose(some.mv(np.ones(2)), K[np.ix_([0, 2], [0, 2])].sum(axis=1))


def test_means_of_a_large_matrix_are_estimated_from_a_sample():
    Q = points("rbf", n=3000, d=2, gamma=0.5)
    exact, estimate = by_hand(Q).mean(axis=1), Q.mean_product(np.ones(3000))
    assert np.abs(estimate - exact).max() < 0.2
    assert np.abs(estimate - exact).max() > 0  # it is an estimate


# Sources


def test_a_pair_of_variables_shares_the_row_of_its_point():
    Q = points("rbf", n=6)
    K, s = by_hand(Q), np.arange(12.0)
    a = np.repeat([1.0, -1.0], 6)
    program = Program(PairedQuadratic(Q), -s, a, 0.0, np.zeros(12), np.ones(12))
    source, linear = source_of(program)
    assert_array_equal(linear, a * s)
    b = np.linspace(-1, 1, 12)
    assert_allclose(source.product(b), np.tile(K @ (b[:6] + b[6:]), 2), atol=1e-14)
    assert_allclose(source.block(np.array([1, 7])), K[1, 1] * np.ones((2, 2)), atol=1e-16)


def test_a_centred_signed_source_keeps_the_differences_of_t():
    rng = np.random.default_rng(0)
    M = rng.normal(size=(8, 8))
    Q, q, a = M @ M.T + 1e6, rng.normal(size=8), np.where(rng.random(8) < 0.5, 1.0, -1.0)
    b = rng.normal(size=8)
    program = Program(DenseQuadratic(Q), q, a, float(b.sum()), -np.ones(8), np.ones(8))
    source, s = source_of(program)
    assert np.abs(source.K.sum(axis=0)).max() < 1e-8
    t, expected = s - source.product(b), -a * q - a * (Q @ (a * b))
    assert_allclose(t - t[0], expected - expected[0], atol=1e-7)


def test_a_mean_is_estimated_from_what_is_there():
    Q = points("rbf", n=128)
    a = np.tile([0.0, 1.0], 64)
    # Every second entry is zero, and a sample of those alone would tell nothing.
    assert_allclose(Q.mean_product(a), by_hand(Q) @ a / 64, rtol=1e-12)
