"""The quadratic program: closed forms, enumeration, optimality by loops, both ways, refusals."""

import itertools
import warnings

import cvxopt
import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import ConvergenceWarning

from kernelbook.exceptions import InfeasibleError, NotPositiveSemidefiniteError
from kernelbook.kernels import linear, rbf
from kernelbook.qp import DenseQuadratic, PairedQuadratic, QPSolution, certify, solve_qp
from kernelbook.qp.active_set import polish
from kernelbook.qp.interior_point import InteriorPoint
from kernelbook.qp.program import Program
from kernelbook.qp.quadratic import RestrictedQuadratic, ScaledQuadratic
from kernelbook.qp.solve import INTERIOR_POINT

INF = np.inf
EPS = np.finfo(float).eps
BOTH = pytest.mark.parametrize("solver", ["dense", "reference"])


def random_psd(rng, n, rank=None):
    M = rng.normal(size=(rank or n, n))
    return M.T @ M


def objective(problem, x):
    Q, q, *_ = problem
    return 0.5 * float(x @ Q @ x) + float(q @ x)


def largest_violation(problem, solution):
    """The conditions of Karush, Kuhn and Tucker, one variable after the other."""
    Q, q, a, b, lower, upper = problem
    n, x = len(q), solution.x
    worst = abs(sum(a[i] * x[i] for i in range(n)) - b)
    for i in range(n):
        residual = sum(Q[i][j] * x[j] for j in range(n)) + q[i] + solution.multiplier * a[i]
        assert lower[i] <= x[i] <= upper[i]
        if x[i] < upper[i]:
            worst = max(worst, -residual)
        if x[i] > lower[i]:
            worst = max(worst, residual)
    return worst


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
def test_an_extreme_point_of_some_variables_leaves_the_others_free(solver):
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


# Both ways agree on the problems of every machine


def family_svc(rng, X, K, signs, C):
    return DenseQuadratic(K), -signs, np.ones(len(X)), 0.0, *signed_box(signs, C)


def family_weighted_svc(rng, X, K, signs, C):
    weights = rng.choice([0.0, 0.5, 1.0, 7.0], size=len(X))
    return DenseQuadratic(K), -signs, np.ones(len(X)), 0.0, *signed_box(signs, C * weights)


def family_svr(rng, X, K, signs, C):
    n, target, epsilon = len(X), X[:, 0] + 0.1 * rng.normal(size=len(X)), 0.1
    return (
        PairedQuadratic(DenseQuadratic(K)),
        np.concatenate([epsilon - target, epsilon + target]),
        np.repeat([1.0, -1.0], n),
        0.0,
        np.zeros(2 * n),
        np.full(2 * n, C),
    )


def family_one_class(rng, X, K, signs, C):
    n, nu = len(X), rng.uniform(0.01, 1.0)
    bound = np.full(n, 1 / (nu * n))
    return DenseQuadratic(K), np.zeros(n), np.ones(n), 1.0, np.zeros(n), bound


def family_svdd(rng, X, K, signs, C):
    n = len(X)
    bound = np.full(n, max(1 / n, rng.uniform()))
    return DenseQuadratic(2 * K), -np.diagonal(K), np.ones(n), 1.0, np.zeros(n), bound


def family_svdd_with_outliers(rng, X, K, signs, C):
    n = len(X)
    targets = np.where(np.arange(n) < max(1, 0.8 * n), 1.0, -1.0)
    box = signed_box(targets, max(C, 1.01 / (targets > 0).sum()))
    return DenseQuadratic(2 * K), -np.diagonal(K), np.ones(n), 1.0, *box


FAMILIES = [
    family_svc, family_weighted_svc, family_svr, family_one_class, family_svdd,
    family_svdd_with_outliers,
]  # fmt: skip


def signed_box(signs, C):
    return np.minimum(0.0, C * signs), np.maximum(0.0, C * signs)


def random_points(rng, k):
    n = int(rng.integers(2, 20)) if k % 3 == 0 else int(rng.integers(2, 201))
    X = rng.normal(size=(n, int(rng.integers(1, 8))))
    shape = rng.integers(5)
    if shape == 1:
        X[n // 2 :] = X[: n - n // 2]
    elif shape == 2:
        X[:] = X[0]
    elif shape == 3:
        X = np.round(X)
    return X * 10.0 ** rng.integers(-2, 3)


def random_program(family, k):
    """Small and large, repeated, constant and whole points, wide and narrow kernels, any C."""
    rng = np.random.default_rng([FAMILIES.index(family), k])
    X = random_points(rng, k)
    noise = 0.5 * X.std() * rng.normal(size=len(X))
    signs = np.where(X[:, 0] + noise > np.median(X[:, 0]), 1.0, -1.0)
    signs[0], signs[-1] = 1.0, -1.0
    gamma = 10.0 ** rng.uniform(-4, 3) / (X.var() or 1.0)
    K = rbf(X, gamma=gamma) if rng.random() < 0.8 else linear(X - X.mean(axis=0))
    return family(rng, X, K, signs, 10.0 ** rng.uniform(-6, 6))


@pytest.mark.parametrize("k", range(11))
@pytest.mark.parametrize("family", FAMILIES, ids=lambda f: f.__name__.removeprefix("family_"))
def test_both_ways_find_the_same_certified_optimum(family, k):
    problem = random_program(family, k)
    dense, reference = (solve_qp(*problem, solver=solver) for solver in ("dense", "reference"))
    # Sums of this size cancel in the objective: no more digits of it exist.
    terms = EPS * float(problem[0].diagonal().max()) * float(np.abs(dense.x).sum()) ** 2
    assert abs(dense.objective - reference.objective) <= 1e-9 * abs(dense.objective) + terms
    for solution in (dense, reference):
        assert solution.status == "optimal"
        assert solution.kkt_violation <= 1e-8
        _, _, a, b, lower, upper = problem
        assert ((lower <= solution.x) & (solution.x <= upper)).all()
        assert abs(a @ solution.x - b) <= 1e-12 * max(abs(b), np.abs(solution.x).sum())


# Certificates


def test_the_gap_bounds_what_is_left_to_gain_at_any_feasible_point():
    rng = np.random.default_rng(5)
    Q, q, a = random_psd(rng, 10, 5), rng.normal(size=10), np.ones(10)
    lower, upper = np.zeros(10), np.full(10, 0.3)
    best = solve_qp(Q, q, a, 1.0, lower, upper).objective
    for _ in range(20):
        x = rng.dirichlet(np.full(10, 5.0))
        assert x.max() < 0.3
        value = 0.5 * x @ Q @ x + q @ x
        proof, _ = certify(Q @ x + q, a, lower, upper, x, objective=value, scale=1.0, tol=1e-9)
        assert proof.status == "stalled"
        assert proof.kkt_violation > 0
        gap = absolute_gap(Q, q, a, lower, upper, x)
        assert_allclose(proof.duality_gap, gap / max(abs(value), abs(value - gap)), rtol=1e-10)
        assert value - gap <= best <= value


def absolute_gap(Q, q, a, lower, upper, x):
    """Primal minus dual objective, with the multiplier that certify takes for a free x."""
    gradient = Q @ x + q
    multiplier = -(a @ gradient) / (a @ a)
    residual = gradient + multiplier * a
    dual = -0.5 * x @ Q @ x - multiplier * (a @ x)
    dual += np.maximum(residual, 0) @ lower - np.maximum(-residual, 0) @ upper
    return 0.5 * x @ Q @ x + q @ x - dual


def test_the_violation_is_what_the_worst_variable_objects():
    # x_0 could grow and should: its residual is -3 with the multiplier 0 of the free x_1.
    gradient, x = np.array([-3.0, 0.0, 5.0]), np.array([0.0, 0.5, 0.0])
    one = np.ones(3)
    proof, multiplier = certify(gradient, one, 0 * one, one, x, objective=1.0, scale=2.0, tol=1.0)
    assert (multiplier, proof.kkt_violation, proof.status) == (0.0, 1.5, "stalled")
    proof, _ = certify(gradient, one, 0 * one, one, x, objective=1.0, scale=2.0, tol=1.5)
    assert proof.status == "optimal"


@pytest.mark.parametrize(
    ("upper", "multiplier"),
    [([1.0, 1.0], -0.5), ([1.0, 0.0], -1.0), ([0.0, 1.0], 0.0), ([0.0, 0.0], 0.0)],
)
def test_without_a_free_variable_the_multiplier_is_the_middle_or_the_finite_end(upper, multiplier):
    # With a = (1, -1), x_0 at 0 asks for at least -1, and x_1 for at most 0.
    a, x, lower = np.array([1.0, -1.0]), np.zeros(2), np.zeros(2)
    gradient = np.array([1.0, 0.0])
    _, found = certify(gradient, a, lower, np.array(upper), x, objective=1.0, scale=1.0, tol=1e-9)
    assert found == multiplier


def test_the_bias_of_points_without_a_free_one_is_the_middle_of_its_interval():
    x = np.array([0.0, 3.0, 4.0])
    y = np.array([-1.0, 1.0, 1.0])
    for C, bias in ((0.1, -0.05), (0.05, 0.475), (0.01, 0.895)):
        solution = solve_qp(np.outer(x, x), -y, np.ones(3), 0.0, *signed_box(y, C))
        assert_allclose(solution.x, [-C, C, 0.0], rtol=1e-12)
        assert_allclose(solution.multiplier, bias, rtol=1e-12)


# Operators


def random_operators(n=7, seed=6):
    rng = np.random.default_rng(seed)
    K = random_psd(rng, n)
    index = np.array([4, 0, 3])
    paired = np.block([[K, -K], [-K, K]])
    return [
        ("dense", DenseQuadratic(K), K),
        ("paired", PairedQuadratic(DenseQuadratic(K)), paired),
        ("restricted", RestrictedQuadratic(DenseQuadratic(K), index), K[np.ix_(index, index)]),
        ("scaled", ScaledQuadratic(DenseQuadratic(K), 0.3), 0.3 * K),
        (
            "scaled part of a pair",
            ScaledQuadratic(
                RestrictedQuadratic(PairedQuadratic(DenseQuadratic(K)), np.array([1, 9, 12, 2])), 5
            ),
            5 * paired[np.ix_([1, 9, 12, 2], [1, 9, 12, 2])],
        ),
    ]


@pytest.mark.parametrize(
    ("Q", "matrix"),
    [case[1:] for case in random_operators()],
    ids=[c[0] for c in random_operators()],
)
def test_an_operator_acts_as_its_matrix(Q, matrix):
    rng = np.random.default_rng(7)
    n = len(matrix)
    assert len(Q) == n
    for x in (rng.normal(size=n), np.eye(n)[1], np.zeros(n)):
        assert_allclose(Q.mv(x), matrix @ x, rtol=1e-12, atol=1e-12)
    assert_allclose(Q.diagonal(), np.diagonal(matrix), rtol=1e-14)
    rows, columns = rng.permutation(n)[:3], rng.permutation(n)[:2]
    assert_allclose(Q.block(rows, columns), matrix[np.ix_(rows, columns)], rtol=1e-14)
    for D in (rng.uniform(0.1, 2, n), 10.0 ** rng.uniform(-9, 9, n)):
        r = rng.normal(size=n)
        z = Q.factor(D)(r)
        assert_allclose(matrix @ z + D * z, r, rtol=1e-6, atol=1e-6)
    for a in (np.ones(n), np.where(np.arange(n) < n / 2, 1.0, -1.0), rng.normal(size=n)):
        P = np.eye(n) - np.outer(a, a) / (a @ a)
        everything = np.arange(n)
        centred = Q.centred(a).block(everything, everything)
        assert_allclose(centred, P @ matrix @ P, rtol=1e-12, atol=1e-12)


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
    assert_array_equal(Q.Q, 1.0)
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


def test_any_operator_with_the_five_products_will_do():
    class Diagonal:
        def __init__(self, d):
            self.d = d

        def __len__(self):
            return len(self.d)

        def mv(self, x):
            return self.d * x

        def diagonal(self):
            return self.d

        def block(self, rows, columns):
            return np.diag(self.d)[np.ix_(rows, columns)]

        def factor(self, D):
            return lambda r: r / (self.d + D)

        def centred(self, a):
            return DenseQuadratic(np.diag(self.d)).centred(a)

    d = np.array([1.0, 2.0, 4.0])
    solution = solve_qp(Diagonal(d), np.zeros(3), np.ones(3), 7.0, 0.0, 10.0)
    assert_allclose(solution.x, [4.0, 2.0, 1.0], rtol=1e-12)


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
    program = Program(DenseQuadratic(Q), *problem[1:])
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
def test_the_polish_walks_to_a_far_bound_where_there_is_no_curvature(bound):
    q, one = np.array([1.0, -1.0, 1.0, -1.0, 3.0]), np.ones(5)
    program = Program(DenseQuadratic(np.zeros((5, 5))), q, one, 0.0, -bound * one, bound * one)
    nowhere = np.zeros(5, dtype=bool)
    x = polish(program, InteriorPoint(np.zeros(5), nowhere, nowhere, 0), 1e-9)
    assert_allclose(q @ x, -6 * bound, rtol=1e-12)
    assert x.sum() == 0


@pytest.mark.parametrize(
    "error", [ZeroDivisionError("float division"), ValueError("Rank(A) < p or domain error")]
)
def test_what_the_interior_point_method_cannot_do_the_polish_does(monkeypatch, error):
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


# Limits, and what cvxopt is left with


def random_svc(n=30, seed=1, C=10.0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    signs = np.where(X.sum(axis=1) > 0, 1.0, -1.0)
    return rbf(X, gamma=0.5), -signs, np.ones(n), 0.0, *signed_box(signs, C)


@BOTH
def test_a_limit_on_steps_warns_with_the_gap_and_returns_a_feasible_point(solver):
    problem = random_svc()
    with pytest.warns(ConvergenceWarning, match=r"'max_iter' after 3 steps: relative dual") as seen:
        cut = solve_qp(*problem, max_iter=3, solver=solver)
    assert f"gap {cut.duality_gap:.3g}" in str(seen[0].message)
    assert "Raise max_iter" in str(seen[0].message)
    assert (cut.status, cut.n_iter) == ("max_iter", 3)
    assert cut.duality_gap > 1e-4
    assert cut.kkt_violation > 1e-9
    assert abs(cut.x.sum()) < 1e-12
    assert ((problem[4] <= cut.x) & (cut.x <= problem[5])).all()
    full = solve_qp(*problem, max_iter=20, solver=solver)
    assert full.status == "optimal"
    assert full.objective < cut.objective
    # The gap is a promise: no solution is better by more than that share.
    assert cut.objective - full.objective <= cut.duality_gap * abs(full.objective) * (1 + 1e-9)


@BOTH
@pytest.mark.parametrize("bounds", [(-INF, INF), (0.0, INF)])
def test_an_objective_without_a_minimum_is_never_called_optimal(solver, bounds):
    with pytest.warns(ConvergenceWarning, match="Some bounds are infinite: the objective may"):
        solution = solve_qp(np.zeros((2, 2)), [-1, -1], [1, -1], 0, *bounds, solver=solver)
    assert solution.status != "optimal"
    assert np.isfinite(solution.x).all()
    assert np.isfinite([solution.objective, solution.duality_gap, solution.kkt_violation]).all()


def test_the_unit_of_the_violation_knows_how_large_the_terms_are_that_cancel():
    # K - 1 is semi-definite on the equality only and has a diagonal of zero.
    rng = np.random.default_rng(0)
    X = np.repeat(rng.normal(size=(100, 3)), 2, axis=0)
    K, box = rbf(X, gamma=0.02), np.full(200, 1e7)
    target = X[:, 0] + rng.normal(size=200)
    for matrix in (K, K - 1.0):
        Q = DenseQuadratic(matrix)
        solution = solve_qp(Q, -target, np.ones(200), 0.0, -box, box)
        assert solution.status == "optimal"


@BOTH
def test_the_options_of_cvxopt_are_neither_changed_nor_read_and_nothing_is_printed(
    solver, monkeypatch, capfd
):
    monkeypatch.setitem(cvxopt.solvers.options, "maxiters", 1)
    monkeypatch.setitem(cvxopt.solvers.options, "show_progress", True)
    before = dict(cvxopt.solvers.options)
    assert solve_qp(*random_svc(), solver=solver).status == "optimal"
    assert cvxopt.solvers.options == before
    assert capfd.readouterr() == ("", "")


def test_the_reference_keeps_its_inequalities_sparse(monkeypatch):
    seen = []

    def spy(P, q, G, h, A, b, **options):
        seen.append((P.size, G))
        return original(P, q, G, h, A, b, **options)

    original = cvxopt.solvers.qp
    monkeypatch.setattr(cvxopt.solvers, "qp", spy)
    solve_qp(*random_svc(40), solver="reference")
    solve_qp(*random_svc(40)[:4], -INF, 10.0, solver="reference")
    (size, G), (_, half) = seen
    assert size == (40, 40)
    assert (type(G), G.size, len(G.V)) == (cvxopt.spmatrix, (80, 40), 80)
    assert (half.size, len(half.V)) == ((40, 40), 40)


# Refusals


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"q": [0.0]}, r"q must have shape \(2,\), got \(1,\)"),
        ({"q": 0.0}, r"q must have shape \(2,\), got \(\)"),
        ({"a": [[1.0, 1.0]]}, r"a must have shape \(2,\), got \(1, 2\)"),
        ({"lower": [0.0, 0.0, 0.0]}, r"lower must have shape \(2,\), got \(3,\)"),
        ({"q": [np.nan, 0.0]}, "q must not hold NaN or infinity"),
        ({"a": [np.inf, 0.0]}, "a must not hold NaN or infinity"),
        ({"upper": np.nan}, "upper must not hold NaN"),
        ({"b": np.inf}, "b must be finite, got inf"),
        ({"lower": [0.0, 2.0]}, "variable 1 has no room between lower and upper"),
        ({"lower": np.inf, "upper": np.inf}, "variable 0 has no room between lower and upper"),
        ({"a": [0.0, 0.0]}, "a must have a non-zero entry"),
        ({"a": [1.0, 0.0], "upper": [0.0, 1.0]}, "a must have a non-zero entry, for a variable"),
        ({"a": [0.0, 0.0], "upper": 0.0}, "a must have a non-zero entry"),
        ({"Q": np.ones((2, 3))}, r"Q must be a square Gram matrix"),
        ({"Q": [[1.0, 0.5], [0.0, 1.0]]}, "Q is not symmetric"),
        ({"Q": [[np.nan, 0.5], [0.5, 1.0]]}, "Q contains NaN"),
        ({"tol": 0.0}, "tol must be a finite number, positive, got 0.0"),
        ({"tol": "small"}, "tol must be a finite number, positive, got 'small'"),
        ({"max_iter": 0}, "max_iter must be a whole number of at least 1, got 0"),
        ({"max_iter": 2.5}, "max_iter must be a whole number of at least 1, got 2.5"),
        ({"max_iter": True}, "max_iter must be a whole number of at least 1, got True"),
        (
            {"solver": "smo"},
            r"solver must be one of \['auto', 'dense', 'reference', 'exact'\], got 'smo'",
        ),
        ({"solver": None}, "solver must be one of"),
    ],
)
def test_wrong_arguments_are_named_before_any_solver_runs(monkeypatch, change, message):
    arguments = {
        "Q": np.eye(2), "q": [0.0, 0.0], "a": [1.0, 1.0], "b": 1.0, "lower": 0.0, "upper": 1.0
    }  # fmt: skip
    monkeypatch.setattr("kernelbook.qp.solve.INTERIOR_POINT", {})
    with pytest.raises(ValueError, match=message):
        solve_qp(**{**arguments, **change})


def test_an_indefinite_matrix_is_refused_and_not_by_the_words_of_the_solver():
    with pytest.raises(NotPositiveSemidefiniteError, match="smallest eigenvalue is -2") as raised:
        solve_qp([[1.0, -3.0], [-3.0, 1.0]], [-1, -1], [1, -1], 0, 0, INF, solver="reference")
    assert "Rank" not in str(raised.value)


@BOTH
@pytest.mark.parametrize(
    ("b", "lower", "upper", "message"),
    [
        (5.0, 0.0, 2.0, r"a'x can be 0 to 4, but b = 5. Widen .* factor of at least 1\.25"),
        (-5.0, -2.0, 0.0, r"a'x can be -4 to 0, but b = -5. Widen .* factor of at least 1\.25"),
        (1.0, 1.0, 2.0, r"a'x can be 2 to 4, but b = 1. Widen the bounds or change b"),
        (-1.0, 0.0, INF, r"a'x can be 0 to inf, but b = -1"),
        (2.0, 0.5, 0.5, r"a'x can be 1 to 1, but b = 2"),
    ],
)
def test_an_equality_out_of_reach_says_what_can_be_reached(solver, b, lower, upper, message):
    with pytest.raises(InfeasibleError, match=message):
        solve_qp(np.eye(2), [0, 0], [1, 1], b, lower, upper, solver=solver)


def test_an_equality_barely_in_reach_is_met():
    with pytest.raises(InfeasibleError, match="no point of the box"):
        solve_qp(np.eye(2), [0, 0], [1, 1], 2.0 * (1 + 1e-9), 0.0, 1.0)
    solution = solve_qp(np.eye(2), [0, 0], [1, 1], 2.0 * (1 + EPS), 0.0, 1.0)
    assert_array_equal(solution.x, [1.0, 1.0])


def test_a_solution_is_a_plain_record():
    solution = solve_qp(np.eye(2), [0, 0], [1, 1], 1.0, 0.0, 1.0)
    assert isinstance(solution, QPSolution)
    for name in ("multiplier", "duality_gap", "kkt_violation", "objective"):
        assert type(getattr(solution, name)) is float
    assert type(solution.n_iter) is int
    with pytest.raises(AttributeError):
        solution.status = "perfect"


def test_the_warning_is_no_error_for_those_who_silence_it():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        assert solve_qp(*random_svc(), max_iter=1).status == "max_iter"
