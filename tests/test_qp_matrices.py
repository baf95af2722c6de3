"""Matrices that are given by their products only."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from programs import largest_violation, random_psd
from samples import BOTH

from kernelbook.kernels import RBF, Polynomial
from kernelbook.qp import (
    DenseQuadratic,
    GramQuadratic,
    LowRankQuadratic,
    PairedQuadratic,
    Quadratic,
    solve_qp,
)
from kernelbook.qp.structured import RepeatedQuadratic, ScaledQuadratic

# Operators


def random_operators(n=7, seed=6):
    rng = np.random.default_rng(seed)
    K = random_psd(rng, n)
    index, some = np.array([4, 0, 3]), np.array([1, 9, 12, 2])
    paired = np.block([[K, -K], [-K, K]])
    pair = PairedQuadratic(DenseQuadratic(K))
    X, twice = rng.normal(size=(n, 2)), np.arange(2 * n) % n
    F = rng.normal(size=(n, 3))
    wide = Polynomial(2, 0.5, 1.0)
    return {
        "dense": (DenseQuadratic(K), K),
        "paired": (pair, paired),
        "repeated": (RepeatedQuadratic(DenseQuadratic(K)), K[np.ix_(twice, twice)]),
        "restricted": (DenseQuadratic(K).restricted(index), K[np.ix_(index, index)]),
        "scaled": (ScaledQuadratic(DenseQuadratic(K), 0.3), 0.3 * K),
        "scaled part of a pair": (
            ScaledQuadratic(pair.restricted(some), 5), 5 * paired[np.ix_(some, some)]
        ),
        "low rank": (LowRankQuadratic(F), F @ F.T),
        "part of low rank": (LowRankQuadratic(F).restricted(index), F[index] @ F[index].T),
        "pair of low rank": (PairedQuadratic(LowRankQuadratic(F)),
                             np.kron([[1, -1], [-1, 1]], F @ F.T)),
        "gram": (GramQuadratic(RBF(0.5), X), RBF(0.5).gram(X)),
        "part of gram": (GramQuadratic(wide, X).restricted(index), wide.gram(X[index])),
        "pair of gram": (PairedQuadratic(GramQuadratic(wide, X)),
                         np.kron([[1, -1], [-1, 1]], wide.gram(X))),
    }  # fmt: skip


@pytest.mark.parametrize("name", random_operators())
def test_an_operator_acts_as_its_matrix(name):
    Q, matrix = random_operators()[name]
    rng = np.random.default_rng(7)
    n = len(matrix)
    assert len(Q) == n
    rows, columns = rng.permutation(n)[:3], rng.permutation(n)[:2]
    for x in (rng.normal(size=n), np.eye(n)[1], np.zeros(n)):
        assert_allclose(Q.product(x), matrix @ x, rtol=1e-12, atol=1e-12)
        assert_allclose(Q.product(x, rows), (matrix @ x)[rows], rtol=1e-12, atol=1e-12)
    assert_allclose(Q.diagonal, np.diagonal(matrix), rtol=1e-13)
    assert_allclose(Q.block(rows, columns), matrix[np.ix_(rows, columns)], rtol=1e-14)
    assert_allclose(Q.formed().in_memory, matrix, rtol=1e-12, atol=1e-13)
    part = Q.restricted(rows)
    assert_allclose(part.formed().in_memory, matrix[np.ix_(rows, rows)], rtol=1e-12, atol=1e-13)
    for D in (rng.uniform(0.1, 2, n), 10.0 ** rng.uniform(-9, 9, n)):
        r = rng.normal(size=n)
        z = Q.factor(D)(r)
        assert_allclose(matrix @ z + D * z, r, rtol=1e-6, atol=1e-6)
    for a in (np.ones(n), np.where(np.arange(n) < n / 2, 1.0, -1.0), rng.normal(size=n)):
        P = np.eye(n) - np.outer(a, a) / (a @ a)
        assert_allclose(Q.centred(a).formed().in_memory, P @ matrix @ P, rtol=1e-11, atol=1e-12)
        assert_allclose(Q.mean_product(a), matrix @ a / (a @ a), rtol=1e-10, atol=1e-12)
    signs = np.where(rng.random(n) < 0.5, 1.0, -1.0)
    signed = Q.signed(signs).formed().in_memory
    assert_allclose(signed, signs[:, None] * matrix * signs, rtol=1e-12, atol=1e-13)
    assert Q.signed(np.ones(n)).formed().in_memory.shape == (n, n)


def test_long_products_by_features_are_those_of_the_values():
    rng = np.random.default_rng(0)
    X, x = 3.0 + rng.normal(size=(600, 4)), rng.normal(size=600)
    kernel = Polynomial(3, 0.5, 1.0).about(X.mean(axis=0))
    K, rows = kernel(X), np.arange(0, 600, 2)
    Q = GramQuadratic(kernel, X)
    assert_allclose(Q.product(x), K @ x, rtol=0, atol=1e-13 * (np.abs(K) @ np.abs(x)).max())
    some = np.where(np.arange(600) < 3, x, 0.0)
    assert_allclose(Q.product(some, rows), K[rows] @ some, rtol=1e-12)
    assert_allclose(Q.diagonal, np.diagonal(K), rtol=1e-13)


def test_a_pair_is_factored_whatever_the_size_of_the_diagonal():
    K = DenseQuadratic(np.eye(2))
    D = np.array([1e200, 1e-200, 1e200, 1e200])
    z = PairedQuadratic(K).factor(D)(np.ones(4))
    assert np.isfinite(z).all()
    assert_allclose(z[[0, 2]], 1e-200, rtol=1e-9)


def test_a_singular_matrix_can_be_factored_all_the_same():
    Q = DenseQuadratic(np.ones((4, 4)))
    z = Q.factor(np.zeros(4))(np.ones(4))
    assert_allclose(z.sum(), 1, rtol=1e-6)
    assert_array_equal(Q.in_memory, 1.0)
    assert np.isfinite(DenseQuadratic(np.zeros((2, 2))).factor(np.zeros(2))(np.zeros(2))).all()


@BOTH
def test_a_pair_is_solved_as_its_matrix_whatever_the_equality(solver):
    rng = np.random.default_rng(8)
    K = random_psd(rng, 6)
    pair, matrix = PairedQuadratic(DenseQuadratic(K)), np.block([[K, -K], [-K, K]])
    q = rng.normal(size=12) + 1.0
    for a in (np.repeat([1.0, -1.0], 6), np.ones(12), rng.normal(size=12)):
        box = (0.1, np.zeros(12), np.full(12, 0.7))
        ours, explicit = solve_qp(pair, q, a, *box, solver=solver), solve_qp(matrix, q, a, *box)
        assert_allclose(ours.objective, explicit.objective, rtol=1e-10)
        assert largest_violation((matrix, q, a, *box), ours) < 1e-9


class Diagonal(Quadratic):
    """A diagonal matrix: no more than what a subclass has to define."""

    def __init__(self, d):
        self.diagonal = d

    def product(self, x, rows=None):
        return self.diagonal * x if rows is None else (self.diagonal * x)[rows]

    def block(self, rows, columns):
        return np.diag(self.diagonal)[np.ix_(rows, columns)]


@pytest.mark.parametrize("solver", ["dense", "reference", "exact"])
def test_an_operator_needs_a_diagonal_products_and_blocks(solver):
    Q = Diagonal(np.array([1.0, 2.0, 4.0]))
    solution = solve_qp(Q, np.zeros(3), np.ones(3), 7.0, 0.0, 10.0, solver=solver)
    assert_allclose(solution.x, [4.0, 2.0, 1.0], rtol=1e-12)
    assert solution.status == "optimal"


def test_an_operator_without_them_is_none():
    class Half(Quadratic):
        def product(self, x, rows=None):
            return x

    with pytest.raises(TypeError, match=r"abstract method '?block'?"):
        Half()


@BOTH
def test_arguments_are_not_changed(solver):
    rng = np.random.default_rng(9)
    problem = (
        random_psd(rng, 6), rng.normal(size=6), np.ones(6), 0.5, np.zeros(6), np.full(6, 0.4)
    )  # fmt: skip
    before = [np.array(value, copy=True) for value in problem]
    solve_qp(*problem, solver=solver)
    for value, kept in zip(problem, before, strict=True):
        assert_array_equal(value, kept)
