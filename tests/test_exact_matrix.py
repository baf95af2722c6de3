"""The matrix that is never formed: compiled loops against numpy."""

from dataclasses import dataclass, replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import cdist

from kernelbook.kernels import RBF, Kernel, Laplacian, Linear, Polynomial
from kernelbook.qp import (
    DenseQuadratic,
    GramQuadratic,
    PairedQuadratic,
    QuadraticProgram,
    SolverOptions,
    solve_qp,
)
from kernelbook.qp.exact.smo import Pairwise
from kernelbook.qp.exact.working_set import solve_exact
from kernelbook.qp.structured import RepeatedQuadratic

METRICS = {RBF: "sqeuclidean", Laplacian: "cityblock"}


@dataclass(frozen=True)
class Scaled(Kernel):
    """d(x) k(x, y) d(y), which the loops know as the matrix D K D."""

    kernel: Kernel
    is_psd = True

    def factor(self, X):
        return 1.0 + 0.5 * np.sin(X.sum(axis=1))

    def evaluate(self, X, Y):
        return self.factor(X)[:, None] * self.kernel.evaluate(X, Y) * self.factor(Y)

    def compiled(self, X):
        points = self.kernel.about(X.mean(axis=0)).compiled(X)
        return replace(points, scale=self.factor(X), diagonal=self.diagonal(X))


def points(kernel, n=40, d=3, *, scaled=False, seed=0, offset=0.0):
    X = np.random.default_rng(seed).normal(size=(n, d)) + offset
    return GramQuadratic(Scaled(kernel) if scaled else kernel.about(X.mean(axis=0)), X)


def by_hand(Q, kernel):
    """The whole matrix by numpy, from the points and nothing else."""
    K = np.expm1(-kernel.gamma * cdist(Q.X, Q.X, METRICS[type(kernel)]))
    if not isinstance(Q.kernel, Scaled):
        return K
    scale = Q.kernel.factor(Q.X)
    return scale[:, None] * (K + 1.0) * scale


def pairwise_on(Q, steps=1):
    """Steps on pairs from zero, with the rows that they compute."""
    n = len(Q)
    options = SolverOptions(cache_size=1.0)
    start, one = np.linspace(1, -1, n), np.ones(n)
    pairwise = Pairwise(Q, np.zeros(n), start, -one, one, 1.0, options)
    pairwise.run(1e-12, steps)
    return pairwise


# The matrix that is never formed


@pytest.mark.parametrize("kind", METRICS)
@pytest.mark.parametrize("gamma", [1e-9, 1e-3, 0.7, 1e4])
@pytest.mark.parametrize("scaled", [False, True])
@pytest.mark.parametrize("d", [1, 4, 7])
def test_compiled_kernel_values_are_accurate_to_their_own_size(kind, gamma, scaled, d):
    kernel = kind(gamma)
    Q = points(kernel, d=d, scaled=scaled, offset=100.0)
    assert Q.compiled is not None
    K, x = by_hand(Q, kernel), np.random.default_rng(1).normal(size=40)
    some, others = np.array([3, 0, 17]), np.array([5, 5, 39, 3])
    # The points lie 100 away from the origin: their differences have thirteen digits.
    assert_allclose(Q.block(some, others), K[np.ix_(some, others)], rtol=1e-11, atol=0)
    size = np.abs(K) @ np.abs(x)
    assert (np.abs(Q.product(x) - K @ x) <= 1e-12 * size).all()
    assert (np.abs(Q.product(x, some) - (K @ x)[some]) <= 1e-12 * size[some]).all()
    assert_allclose(Q.diagonal, np.diagonal(K), atol=0, rtol=1e-14)


@pytest.mark.parametrize("kernel", [RBF(0.7), Laplacian(0.7), Polynomial(3, 0.5, 1.0)], ids=repr)
@pytest.mark.parametrize("scaled", [False, True])
def test_compiled_values_are_those_that_the_kernel_evaluates(kernel, scaled):
    Q = points(kernel, scaled=scaled)
    K, everything = Q.kernel.evaluate(Q.X, Q.X), np.arange(40)
    rtol = 1e-12 * np.abs(K).max()
    assert_allclose(Q.block(everything, everything), K, rtol=0, atol=rtol)
    assert_allclose(Q.product(np.ones(40)), K.sum(axis=1), rtol=0, atol=40 * rtol)
    assert_allclose(Q.formed().in_memory, K, rtol=0, atol=rtol)
    assert_allclose(Q.diagonal, Q.kernel.diagonal(Q.X), rtol=1e-13)


def test_no_rows_and_no_weights_make_no_product():
    Q, nothing = points(RBF()), np.zeros(0, dtype=int)
    assert Q.product(np.ones(40), nothing).shape == (0,)
    assert_array_equal(Q.product(np.zeros(40)), np.zeros(40))


def test_chunks_and_blocks_of_compiled_loops_meet():
    Q = points(RBF(), n=2500, d=2)
    x = np.zeros(2500)
    x[[0, 700, 2499]] = 1.0, -2.0, 0.5
    assert_allclose(Q.product(x), by_hand(Q, RBF()) @ x, atol=1e-13)


@pytest.mark.parametrize("kind", METRICS)
@pytest.mark.parametrize("scaled", [False, True])
def test_rows_in_single_precision_are_those_of_the_matrix(kind, scaled):
    kernel = kind(0.3)
    Q = points(kernel, scaled=scaled)
    cache = pairwise_on(Q)._cache
    held = np.flatnonzero(cache.owner >= 0)
    assert len(held) == 2
    assert cache.rows.dtype == np.float32
    for place in held:
        expected = by_hand(Q, kernel)[cache.owner[place]]
        assert_allclose(cache.rows[place], expected, rtol=2e-6, atol=1e-7)


@pytest.mark.parametrize(
    "kernel", [Linear(), *(Polynomial(degree, 0.2, 0.5) for degree in (1, 2, 3, 5))], ids=repr
)
@pytest.mark.parametrize("scaled", [False, True])
@pytest.mark.parametrize("offset", [0.0, 30.0])
def test_rows_of_polynomial_kernels_are_those_of_the_split(kernel, scaled, offset):
    Q = points(kernel, n=1500, scaled=scaled, seed=2, offset=offset)
    cache = pairwise_on(Q)._cache
    held = np.flatnonzero(cache.owner >= 0)
    assert len(held) == 2
    for place in held:
        expected = Q.block(cache.owner[[place]], np.arange(1500))[0]
        error = np.abs(cache.rows[place] - expected)
        assert (error <= 3e-6 * np.abs(expected).max()).all()


@pytest.mark.parametrize("scaled", [False, True])
def test_many_features_go_by_inner_products(scaled):
    kernel = RBF(0.04)
    Q = points(kernel, n=900, d=24, scaled=scaled, seed=3, offset=100.0)
    x = np.random.default_rng(3).normal(size=900)
    assert Q.compiled._by_products
    K = by_hand(Q, kernel)
    some, others = np.array([0, 7, 899]), np.arange(5, 700)
    assert_allclose(Q.block(some, others), K[np.ix_(some, others)], rtol=0, atol=2e-13)
    assert_allclose(Q.product(x, some), (K @ x)[some], rtol=0, atol=1e-11)


def test_far_points_keep_to_differences():
    # Norms of 1e8 would leave no digit of distances near 1.
    X = np.random.default_rng(4).normal(size=(60, 20))
    X[:30] += 1e4
    Q = GramQuadratic(RBF(0.1).about(X.mean(axis=0)), X)
    assert not Q.compiled._by_products
    exact = np.expm1(-0.1 * cdist(X[30:], X[30:], "sqeuclidean"))
    near = np.arange(30, 60)
    assert_allclose(Q.block(near, near), exact, rtol=1e-9, atol=1e-12)


def test_without_a_compiled_kernel_the_function_is_called():
    X = np.array([[1.0], [2.0], [4.0]])
    Q = GramQuadratic(Linear() + Linear(), X)
    K = 2.0 * np.outer(X, X)
    assert Q.compiled is None
    assert_allclose(Q.product(np.array([1.0, -1.0, 2.0])), K @ [1, -1, 2])
    assert_allclose(Q.diagonal, np.diagonal(K))
    assert_allclose(Q.block(np.array([2]), np.array([0, 1])), K[2:, :2])
    assert_allclose(Q.factor(np.ones(3))(np.ones(3)), np.linalg.solve(K + np.eye(3), np.ones(3)))
    some = Q.restricted(np.array([0, 2]))
    assert_allclose(some.product(np.ones(2)), K[np.ix_([0, 2], [0, 2])].sum(axis=1))


@pytest.mark.parametrize(
    ("size", "suits"), [(1.0, True), (1e6, True), (1e12, False), (1e-12, False), (0.0, True)]
)
def test_what_single_precision_cannot_hold_is_known(size, suits):
    X = size * np.linspace(-1.0, 1.0, 9)[:, None]
    assert GramQuadratic(Linear(), X).suits_single_precision is suits


@pytest.mark.parametrize("kernel", [RBF(0.5), Polynomial(2, 0.1, 1.0)], ids=repr)
def test_means_of_a_large_matrix_are_estimated_from_a_sample(kernel):
    Q = points(kernel, n=3000, d=2)
    exact = Q.product(np.ones(3000)) / 3000
    estimate = Q.mean_product(np.ones(3000))
    assert np.abs(estimate - exact).max() < 0.2
    assert np.abs(estimate - exact).max() > 0  # it is an estimate


def test_a_mean_is_estimated_from_what_is_there():
    Q = points(RBF(0.7), n=128)
    a = np.tile([0.0, 1.0], 64)
    # Every second entry is zero, and a sample of those alone would tell nothing.
    assert_allclose(Q.mean_product(a), by_hand(Q, RBF(0.7)) @ a / 64, rtol=1e-12)


# Variables with signs, two of them to a point


def test_a_pair_of_variables_shares_the_row_of_its_point():
    kernel = RBF(0.7)
    Q = points(kernel, n=6)
    K, a = by_hand(Q, kernel), np.repeat([1.0, -1.0], 6)
    signed = PairedQuadratic(Q).signed(a)
    assert isinstance(signed, RepeatedQuadratic)
    assert signed.folded() is Q
    b = np.linspace(-1, 1, 12)
    assert_allclose(signed.product(b), np.tile(K @ (b[:6] + b[6:]), 2), atol=1e-14)
    assert_allclose(signed.product(b, np.array([7, 1, 0])), signed.product(b)[[7, 1, 0]])
    assert_allclose(signed.block(np.array([1, 7]), np.array([1, 7])), K[1, 1] * np.ones((2, 2)))
    assert_allclose(signed.block(np.array([0, 8]), np.array([3])), K[[0, 2]][:, [3]], atol=1e-16)


@pytest.mark.parametrize("a", [np.repeat([-1.0, 1.0], 6), np.ones(12), np.tile([1.0, -1.0], 6)])
def test_other_signs_are_multiplied_into_the_matrix(a):
    Q = PairedQuadratic(points(RBF(0.7), n=6))
    everything = np.arange(12)
    expected = a[:, None] * Q.block(everything, everything) * a
    assert_allclose(Q.signed(a).block(everything, everything), expected, atol=1e-16)


def test_a_dense_matrix_with_signs_leads_to_the_same_optimum():
    rng = np.random.default_rng(0)
    M = rng.normal(size=(8, 8))
    # The large constant is what the equality makes constant: it must not cost digits.
    Q, q, a = M @ M.T + 1e6, rng.normal(size=8), np.where(rng.random(8) < 0.5, 1.0, -1.0)
    total = float(rng.normal(size=8).sum())
    signed = a[:, None] * Q * a
    program = QuadraticProgram(DenseQuadratic(signed), q, a, total, -np.ones(8), np.ones(8))
    x, _, product = solve_exact(program, SolverOptions())
    assert product is None
    plain = solve_qp(Q, a * q, np.ones(8), total, -1.0, 1.0, solver="dense")
    assert_allclose(a * x, plain.x, atol=1e-9)
    assert abs(a @ x - total) < 1e-12


def test_the_product_is_returned_where_it_is_known():
    Q = points(RBF(0.7), n=60)
    s = np.random.default_rng(1).normal(size=60)
    one = np.ones(60)
    program = QuadraticProgram(Q, -s, one, 0.0, -0.1 * one, 0.1 * one)
    x, _, product = solve_exact(program, SolverOptions())
    assert_allclose(product, Q.product(x), atol=1e-14)
