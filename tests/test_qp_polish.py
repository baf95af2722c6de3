"""The active-set polish: from anywhere, without curvature, without a guess."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from programs import objective, random_psd, signed_box

from kernelbook.kernels import rbf
from kernelbook.qp import DenseQuadratic, QuadraticProgram, solve_qp
from kernelbook.qp.interior_point import InteriorPoint
from kernelbook.qp.interior_solver import INTERIOR_POINT
from kernelbook.qp.polish import polish

# The polish


@pytest.mark.parametrize("k", range(8))
def test_the_polish_finds_the_optimum_from_anywhere(k):
    rng = np.random.default_rng(k)
    n = 25
    Q = rbf(np.round(rng.normal(size=(n, 2)), 1 + k % 2)) if k % 2 else random_psd(rng, n, 4)
    signs = rng.choice([-1.0, 1.0], n)
    a = np.ones(n) if k < 6 else rng.choice([-1.0, 0.0, 2.0], n)
    problem = (Q, -signs, a, 0.0, *signed_box(signs, 10.0 ** (k - 3)))
    optimum = solve_qp(*problem)
    program = QuadraticProgram(DenseQuadratic(Q), *problem[1:])
    nowhere = np.zeros(n, dtype=bool)
    at_lower = rng.random(n) < 0.4
    starts = [
        InteriorPoint(np.zeros(n), nowhere, nowhere, 0),
        InteriorPoint(np.zeros(n), ~nowhere, nowhere, 0),
        InteriorPoint(np.zeros(n), signs > 0, signs < 0, 0),
        InteriorPoint(rng.normal(size=n), at_lower, ~at_lower & (rng.random(n) < 0.5), 0),
    ]
    for start in starts:
        x = polish(program, start, 1e-9)
        assert ((problem[4] <= x) & (x <= problem[5])).all()
        assert abs(a @ x) <= 1e-10 * max(1.0, np.abs(x).sum())
        assert_allclose(objective(problem, x), optimum.objective, rtol=1e-9)


@pytest.mark.parametrize("bound", [1.0, 1e6, 1e-6])
def test_the_polish_walks_to_a_bound_without_curvature(bound):
    q, one = np.array([1.0, -1.0, 1.0, -1.0, 3.0]), np.ones(5)
    program = QuadraticProgram(
        DenseQuadratic(np.zeros((5, 5))), q, one, 0.0, -bound * one, bound * one
    )
    nowhere = np.zeros(5, dtype=bool)
    x = polish(program, InteriorPoint(np.zeros(5), nowhere, nowhere, 0), 1e-9)
    assert_allclose(q @ x, -6 * bound, rtol=1e-12)
    assert x.sum() == 0


@pytest.mark.parametrize(
    "error", [ZeroDivisionError("float division"), ValueError("Rank(A) < p or domain error")]
)
def test_the_polish_replaces_a_failed_interior_point_method(monkeypatch, error):
    def way(program, max_iter):
        raise error

    rng = np.random.default_rng(11)
    problem = (random_psd(rng, 20, 5), rng.normal(size=20), np.ones(20), 1.0, 0.0, 0.3)
    expected = solve_qp(*problem)
    monkeypatch.setitem(INTERIOR_POINT, "dense", way)
    assert_allclose(solve_qp(*problem).objective, expected.objective, rtol=1e-10)
    monkeypatch.setitem(
        INTERIOR_POINT,
        "dense",
        lambda program, _: InteriorPoint(np.full(20, np.nan), *np.zeros((2, 20), bool), 3),
    )
    assert_allclose(solve_qp(*problem).objective, expected.objective, rtol=1e-10)
