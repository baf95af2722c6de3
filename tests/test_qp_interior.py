"""The interior-point method by itself, without the polish that follows it."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from programs import INF, random_psd, signed_box

from kernelbook.kernels import rbf
from kernelbook.qp import DenseQuadratic, PairedQuadratic, QuadraticProgram, solve
from kernelbook.qp.interior_point import Bounds, solve_interior_point
from kernelbook.qp.options import SolverOptions
from kernelbook.qp.reference import solve_reference


def program(k, n=40):
    """A program of order one: with many or few active bounds, open sides, unequal coefficients."""
    rng = np.random.default_rng(k)
    Q = rbf(rng.normal(size=(n, 2)), gamma=0.5) if k % 2 else random_psd(rng, n, n // 2) / n
    signs = rng.choice([-1.0, 1.0], n)
    lower, upper = signed_box(signs, 10.0 ** rng.uniform(-1, 1))
    a = np.ones(n) if k % 3 else rng.choice([-1.0, 0.5, 2.0], n)
    if k % 4 == 3:
        Q += np.eye(n)
        upper, lower = np.where(signs > 0, INF, upper), np.where(rng.random(n) < 0.2, -INF, lower)
    return QuadraticProgram(DenseQuadratic(Q), -signs, a, 0.0, lower, upper)


@pytest.mark.parametrize("method", [solve_interior_point, solve_reference])
@pytest.mark.parametrize("k", range(12))
def test_it_ends_inside_the_box_near_the_optimum_in_few_steps(method, k):
    problem = program(k)
    found = method(problem, 100)
    best = solve(problem, SolverOptions(solver="dense"))
    assert ((problem.lower < found.x) & (found.x < problem.upper)).all()
    scale = max(1.0, np.abs(found.x).max())
    assert abs(problem.a @ found.x) <= 1e-7 * scale * len(found.x)
    value, _ = problem.objective_and_gradient(found.x)
    assert abs(value - best.objective) <= 1e-6 * max(1.0, abs(best.objective))
    assert 3 < found.n_iter <= 25
    assert found.near


@pytest.mark.parametrize("k", range(12))
def test_slacks_and_multipliers_tell_which_bounds_are_active(k):
    problem = program(k)
    found = solve_interior_point(problem, 100)
    best = solve(problem, SolverOptions(solver="dense"))
    assert not (found.at_lower & found.at_upper).any()
    wrong = found.at_lower != (best.x == problem.lower)
    wrong |= found.at_upper != (best.x == problem.upper)
    assert wrong.mean() <= 0.05


def test_an_operator_is_asked_for_products_and_factors_only():
    rng = np.random.default_rng(0)
    K = DenseQuadratic(rbf(rng.normal(size=(20, 2))))
    one = np.ones(40)
    a, q = np.repeat([1.0, -1.0], 20), 0.1 + rng.normal(size=40)

    class Operator(PairedQuadratic):
        def block(self, rows, columns):
            raise AssertionError("a block was formed")

    pair, operator = PairedQuadratic(K), Operator(K)
    ours, explicit = (
        solve_interior_point(QuadraticProgram(Q, q, a, 0.0, 0 * one, one), 100)
        for Q in (operator, DenseQuadratic(pair.formed().in_memory))
    )
    assert_allclose(ours.x, explicit.x, atol=1e-6)


@pytest.mark.parametrize("limit", [1, 3])
def test_a_limit_on_steps_is_kept_and_told(limit):
    found = solve_interior_point(program(1), limit)
    assert found.n_iter == limit
    assert not found.near
    assert ((program(1).lower < found.x) & (found.x < program(1).upper)).all()


@pytest.mark.parametrize("size", [1e-8, 1e8])
def test_the_unit_of_the_equality_does_not_matter(size):
    problem = program(1)
    scaled = QuadraticProgram(
        problem.Q, problem.q, size * problem.a, 0.0, problem.lower, problem.upper
    )
    assert_allclose(
        solve_interior_point(scaled, 100).x, solve_interior_point(problem, 100).x, rtol=1e-9
    )


# Bounds as slacks

LOWER = np.array([0.0, -INF, -1.0, -INF, -2.0])
UPPER = np.array([1.0, 2.0, INF, INF, -1.5])


def test_bounds_are_a_matrix_with_one_entry_a_row():
    bounds = Bounds(LOWER, UPPER)
    eye = np.eye(5)
    E = np.vstack([eye[[0, 2, 4]], -eye[[0, 1, 4]]])
    ends = np.array([0.0, -1.0, -2.0, -1.0, -2.0, 1.5])
    rng = np.random.default_rng(0)
    x, z = rng.normal(size=5), rng.uniform(size=6)
    assert_allclose(bounds.along(x), E @ x)
    assert_array_equal(bounds.ends, ends)
    assert_allclose(bounds.force(z), E.T @ z)
    assert_allclose(bounds.by_variable(z), np.diagonal(E.T @ np.diag(z) @ E))


def test_an_active_bound_has_the_smaller_slack():
    bounds = Bounds(LOWER, UPPER)
    slack = np.array([1.0, 0.1, 0.2, 0.1, 5.0, 0.1])
    at_lower, at_upper = bounds.active(slack, np.full(6, 0.5))
    # The last variable is near both of its bounds: the upper one goes first.
    assert_array_equal(at_lower, [False, False, True, False, False])
    assert_array_equal(at_upper, [True, False, False, False, True])


def test_without_any_bound_there_is_nothing_to_stay_inside_of():
    rng = np.random.default_rng(3)
    Q, q = random_psd(rng, 6) + np.eye(6), rng.normal(size=6)
    free = np.full(6, INF)
    problem = QuadraticProgram(DenseQuadratic(Q), q, np.ones(6), 1.0, -free, free)
    system = np.block([[Q, np.ones((6, 1))], [np.ones((1, 6)), np.zeros((1, 1))]])
    expected = np.linalg.solve(system, np.append(-q, 1.0))[:-1]
    assert_allclose(solve_interior_point(problem, 50).x, expected, atol=1e-6)
