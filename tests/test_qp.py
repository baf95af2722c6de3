"""The quadratic program: closed forms, enumeration, invariances."""

import itertools

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from programs import INF, largest_violation, objective, random_psd
from samples import BOTH

from kernelbook.exceptions import InfeasibleError
from kernelbook.kernels import linear, rbf
from kernelbook.qp import solve_qp


def best_by_enumeration(Q, q, a, b, lower, upper):
    """Every way to put variables at bounds; the rest by the linear system that is left."""
    n, best = len(q), INF
    for sides in itertools.product((-1, 0, 1), repeat=n):
        sides = np.array(sides)
        x = np.where(sides < 0, lower, np.where(sides > 0, upper, 0.0))
        free = np.flatnonzero(sides == 0)
        if not np.isfinite(x).all():
            continue
        if len(free):
            corner = np.append(a[free], 0.0)
            M = np.vstack([np.column_stack([Q[np.ix_(free, free)], a[free]]), corner])
            right = np.append(-(q + Q @ x)[free], b - a @ x)
            x[free] = np.linalg.lstsq(M, right, rcond=1e-12)[0][:-1]
        inside = (x >= lower - 1e-9).all() and (x <= upper + 1e-9).all()
        if inside and abs(a @ x - b) < 1e-9:
            best = min(best, 0.5 * x @ Q @ x + q @ x)
    return best


@st.composite
def small_programs(draw):
    n = draw(st.integers(1, 4))

    def whole(low, high, size=n):
        numbers = st.lists(st.integers(low, high), min_size=size, max_size=size)
        return np.array(draw(numbers), dtype=float)

    M = whole(-3, 3, n * n).reshape(n, n)
    M[draw(st.integers(0, n)) :] = 0.0
    a, lower = whole(-2, 2), whole(-3, 1)
    upper = lower + whole(0, 3)
    moving = lower < upper
    assume(a[moving].any() if moving.any() else a.any())
    Q = M.T @ M
    if draw(st.booleans()):
        # Q is definite, so that the minimum exists even if some bounds do not.
        Q += np.eye(n)
        upper[whole(0, 1) == 1] = INF
        lower[whole(0, 1) == 1] = -INF
    b = float(draw(st.integers(-3, 3)))
    if np.isfinite(lower).all() and draw(st.booleans()):
        b = float(a @ np.where(a > 0, lower, upper)) if np.isfinite(upper).all() else b
    return Q, whole(-3, 3), a, b, lower, upper


# Against closed forms and enumeration


@BOTH
@given(small_programs())
@settings(max_examples=60)
def test_the_optimum_is_the_best_of_all_ways_to_choose_bounds(solver, problem):
    best = best_by_enumeration(*problem)
    if best == INF:
        with pytest.raises(InfeasibleError, match="no point of the box meets the equality"):
            solve_qp(*problem, solver=solver)
        return
    solution = solve_qp(*problem, solver=solver)
    assert_allclose(solution.objective, best, rtol=1e-9, atol=1e-9)
    assert_allclose(objective(problem, solution.x), best, rtol=1e-9, atol=1e-9)
    assert largest_violation(problem, solution) < 1e-8
    assert solution.status == "optimal"


@BOTH
@pytest.mark.parametrize("distance", [1e-3, 0.5, 2.0, 1e4])
def test_two_points(solver, distance):
    alpha = 2 / distance**2
    K = linear([[-distance / 2], [distance / 2]])
    solution = solve_qp(K, [1, -1], [1, 1], 0, [-10 * alpha, 0], [0, 10 * alpha], solver=solver)
    assert_allclose(solution.x, [-alpha, alpha], rtol=1e-12)
    assert_allclose(solution.objective, -alpha, rtol=1e-12)
    assert_allclose(solution.multiplier, 0, atol=1e-12)
    assert solution.status == "optimal"


@BOTH
def test_the_nearest_point_of_a_simplex(solver):
    # Its coordinates are max(v_i - t, 0): t by trying every size of the support.
    v = np.random.default_rng(0).normal(size=30)
    solution = solve_qp(np.eye(30), -v, np.ones(30), 1.0, 0.0, 1.0, solver=solver)
    ordered = np.sort(v)[::-1]
    for k in range(1, 31):
        t = (ordered[:k].sum() - 1) / k
        if k == 30 or ordered[k] <= t:
            break
    assert_allclose(solution.x, np.maximum(v - t, 0), atol=1e-14)
    assert_array_equal(solution.x == 0, v <= t)
    assert_allclose(solution.multiplier, t, rtol=1e-12)


@BOTH
def test_without_curvature_the_cheapest_variables_fill_up(solver):
    solution = solve_qp(np.zeros((4, 4)), [4, 1, 3, 2], np.ones(4), 1.5, 0, 1, solver=solver)
    assert_array_equal(solution.x, [0, 1, 0, 0.5])
    assert_allclose(solution.multiplier, -2)
    assert solution.objective == 2.0


@BOTH
def test_without_any_bound_it_is_a_linear_system(solver):
    rng = np.random.default_rng(1)
    Q, q, a = random_psd(rng, 8), rng.normal(size=8), rng.normal(size=8)
    solution = solve_qp(Q, q, a, 0.7, -INF, INF, solver=solver)
    system = np.block([[Q, a[:, None]], [a[None, :], np.zeros((1, 1))]])
    expected = np.linalg.solve(system, np.append(-q, 0.7))
    assert_allclose(np.append(solution.x, solution.multiplier), expected, rtol=1e-9)


@BOTH
def test_without_bounds_a_singular_matrix_may_do(solver):
    solution = solve_qp(np.ones((2, 2)), [0, 0], [1, 1], 1, -INF, INF, solver=solver)
    assert_allclose(solution.x.sum(), 1, rtol=1e-12)
    assert solution.objective == pytest.approx(0.5)
    assert solution.status == "optimal"


@BOTH
@pytest.mark.parametrize(
    ("lower", "upper", "x"), [(0, INF, [2, 2]), (-INF, 1, [1, 1]), (-INF, INF, [2, 2])]
)
def test_bounds_may_be_infinite_on_one_side_or_both(solver, lower, upper, x):
    solution = solve_qp(np.eye(2), [-2, -2], [1, -1], 0, lower, upper, solver=solver)
    assert_allclose(solution.x, x, rtol=1e-12)
    assert solution.status == "optimal"


@BOTH
@pytest.mark.parametrize(("lower", "upper"), [(-5, 5), (-INF, INF), (0.5, 0.5)])
def test_one_variable_has_no_choice(solver, lower, upper):
    solution = solve_qp([[2.0]], [1.0], [2.0], 1.0, lower, upper, solver=solver)
    assert_array_equal(solution.x, [0.5])
    assert_allclose(solution.multiplier, -1)
    assert solution.objective == 0.75
    assert (solution.duality_gap, solution.kkt_violation) == (0.0, 0.0)


@BOTH
def test_variables_with_equal_bounds_stay_there(solver):
    rng = np.random.default_rng(2)
    problem = (
        random_psd(rng, 5),
        rng.normal(size=5),
        np.array([1.0, -2.0, 0.5, 1.0, -1.0]),
        0.3,
        np.array([0.2, -1.0, -1.0, 0.7, -1.0]),
        np.array([0.2, 1.0, 1.0, 0.7, 1.0]),
    )
    solution = solve_qp(*problem, solver=solver)
    assert_array_equal(solution.x[[0, 3]], [0.2, 0.7])
    assert_allclose(solution.objective, best_by_enumeration(*problem), rtol=1e-10)
    assert largest_violation(problem, solution) < 1e-10


@BOTH
def test_nothing_moves_where_all_bounds_are_equal(solver):
    solution = solve_qp(np.eye(2), [0, 0], [1, 1], 1, [0.5, 0.5], [0.5, 0.5], solver=solver)
    assert_array_equal(solution.x, [0.5, 0.5])
    assert (solution.n_iter, solution.status) == (0, "optimal")


@BOTH
@pytest.mark.parametrize("n", [3, 7, 49, 1000])
def test_an_extreme_point_may_miss_the_equality_by_rounding(solver, n):
    # n times 1/n is not 1 for many n: all variables at their bounds is feasible nevertheless.
    rng = np.random.default_rng(n)
    K = rbf(rng.normal(size=(n, 2)))
    solution = solve_qp(K, np.zeros(n), np.ones(n), 1.0, 0.0, 1 / n, solver=solver)
    assert_array_equal(solution.x, np.full(n, 1 / n))
    assert (solution.status, solution.n_iter) == ("optimal", 0)
    lowest = solve_qp(K, np.zeros(n), -np.ones(n), -1.0, 1 / n, 1.0, solver=solver)
    assert_array_equal(lowest.x, solution.x)


@BOTH
def test_an_extreme_point_of_some_leaves_the_others_free(solver):
    solution = solve_qp(np.eye(2), [-1.0, -0.5], [1.0, 0.0], 2.0, 0.0, 2.0, solver=solver)
    assert_allclose(solution.x, [2.0, 0.5], rtol=1e-12)
    assert solution.status == "optimal"


@BOTH
@pytest.mark.parametrize("size", [1e-60, 1e-9, 1e9, 1e60])
def test_the_solution_scales_with_the_problem(solver, size):
    rng = np.random.default_rng(3)
    Q, q, a = random_psd(rng, 12, 6), rng.normal(size=12), rng.choice([-1.0, 0.5, 2.0], 12)
    plain = solve_qp(Q, q, a, 0.1, -0.3, 0.2, solver=solver)
    wide = solve_qp(Q, size * q, a, 0.1 * size, -0.3 * size, 0.2 * size, solver=solver)
    assert_allclose(wide.x / size, plain.x, rtol=1e-9, atol=1e-12)
    assert_allclose(wide.multiplier / size, plain.multiplier, rtol=1e-9)
    steep = solve_qp(size * Q, size * q, a, 0.1, -0.3, 0.2, solver=solver)
    assert_allclose(steep.x, plain.x, rtol=1e-9, atol=1e-12)
    assert_allclose(steep.kkt_violation, plain.kkt_violation, atol=1e-9)
    assert {plain.status, wide.status, steep.status} == {"optimal"}


def test_automatic_is_dense():
    rng = np.random.default_rng(4)
    problem = (random_psd(rng, 9, 4), rng.normal(size=9), np.ones(9), 1.0, 0.0, 0.4)
    automatic, dense = solve_qp(*problem), solve_qp(*problem, solver="dense")
    assert_array_equal(automatic.x, dense.x)
    assert automatic.certificate == dense.certificate
    assert automatic.certificate.duality_gap == automatic.duality_gap
