"""Systems of the free variables, and steps on pairs."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import make_moons

from kernelbook.kernels import RBF
from kernelbook.oneclass import OneClassSVM
from kernelbook.qp import DenseQuadratic, GramQuadratic, SolverOptions
from kernelbook.qp.exact.bordered import BorderedSystem
from kernelbook.qp.exact.rows import RowCache, make_room
from kernelbook.qp.exact.smo import Pairwise
from kernelbook.qp.exact.working_set import _centred, _primal_dual, _refined
from kernelbook.qp.structured import RepeatedQuadratic
from kernelbook.svdd import SVDD
from kernelbook.svm import KernelSVC
from kernelbook.svr import KernelSVR


def gram(X):
    return GramQuadratic(RBF().about(X.mean(axis=0)), X)


def pairwise(Q, b, t, lower, upper, megabytes=1.0):
    return Pairwise(Q, b, t, lower, upper, 1.0, SolverOptions(cache_size=megabytes))


# Systems for the free variables


def test_a_bordered_system_follows_its_set_without_a_new_factor():
    rng = np.random.default_rng(3)
    M = rng.normal(size=(30, 40))
    K, r, total = M @ M.T / 40, rng.normal(size=30), 0.7
    system = BorderedSystem(K)
    free = np.ones(30, dtype=bool)
    free[20:] = False
    b = rng.normal(size=30)
    factors = set()
    for flip in ([], [0], [25, 3], [25], [0, 29, 28]):
        free[flip] = ~free[flip]
        F = np.flatnonzero(free)
        fixed = np.where(free, 0.0, b)
        x, level, residual = _refined(K, r, total, free, fixed, 1e-13, system.solver_for(free))
        factors.add(id(system._L))
        lhs = np.block([[K[np.ix_(F, F)], np.ones((len(F), 1))], [np.ones((1, len(F))), 0.0]])
        rhs = np.append((r - K @ fixed)[F], total - fixed.sum())
        expected = np.linalg.solve(lhs, rhs)
        assert_allclose(x[F], expected[:-1], atol=1e-11)
        assert_allclose(level, expected[-1], atol=1e-11)
        assert_array_equal(x[~free], b[~free])
        assert residual < 1e-12
    assert len(factors) == 1


def test_a_single_precision_factor_is_refined_to_double():
    rng = np.random.default_rng(4)
    n = 900
    M = rng.normal(size=(n, n))
    K, r = M @ M.T / n + np.eye(n), rng.normal(size=n)
    system, everything = BorderedSystem(K), np.ones(n, dtype=bool)
    correct = system.solver_for(everything)
    x, level, _ = _refined(K, r, 0.0, everything, np.zeros(n), 1e-13, correct)
    assert system._L.dtype == np.float32
    assert np.abs(r - K @ x - level).max() < 1e-12
    assert abs(x.sum()) < 1e-12


def test_a_set_that_changed_much_gets_a_factor_of_its_own():
    rng = np.random.default_rng(8)
    M = rng.normal(size=(300, 320))
    system, free = BorderedSystem(M @ M.T / 320), np.arange(300) < 200
    system.solver_for(free)
    first = system._L
    free[150:280] = True
    free[:20] = False
    system.solver_for(free)
    assert system._L is not first


def test_a_matrix_without_any_factor_has_no_solver():
    assert BorderedSystem(-np.eye(5)).solver_for(np.ones(5, dtype=bool)) is None


def test_a_primal_dual_guess_that_does_not_end_is_no_result():
    # No variable can be free: every optimum lies in a corner, which the method leaves to others.
    K = np.zeros((4, 4))
    lower, upper = np.zeros(4), np.ones(4)
    b = np.array([1.0, 1.0, 0.0, 0.0])
    assert _primal_dual(K, np.array([2.0, 1.0, -1.0, -2.0]), 2.0, lower, upper, b, 1e-9) is None


@pytest.mark.parametrize("n", [30, 400])  # a factor at each step; a border to the first one
def test_a_primal_dual_guess_ends_at_the_optimum(n):
    rng = np.random.default_rng(n)
    M = rng.normal(size=(n, 2 * n))
    K, r = M @ M.T / n, rng.normal(size=n)
    lower, upper = np.full(n, -0.3), np.full(n, 2.0)
    start = np.where(r > 1.0, 0.3, np.where(r < -1.0, -0.3, 0.0))
    x = _primal_dual(K, r, 0.5, lower, upper, start, 1e-9)
    assert abs(x.sum() - 0.5) < 1e-11
    assert ((lower <= x) & (x <= upper)).all()
    assert 0 < (x == lower).sum() < n
    t = r - K @ x
    assert t[x < upper].max() - t[x > lower].min() <= 2e-9


def test_the_centred_block_has_the_same_optimum():
    rng = np.random.default_rng(5)
    M = rng.normal(size=(6, 6))
    K, r = M @ M.T + 1e3, rng.normal(size=6)
    centred, means, constant = _centred(K.copy())
    shifted = r - 2.0 * means
    assert np.linalg.eigvalsh(centred)[0] > 0
    for x in (np.array([2.0, 0, 0, 0, 0, 0]), np.full(6, 1 / 3), np.array([1, 1, 1, -1, 0, 0.0])):
        t, u = r - K @ x, shifted - centred @ x
        assert_allclose(t - t[0], u - u[0], atol=1e-10)
        assert_allclose(K @ x, centred @ x + means * 2.0 + means @ x - 2.0 * constant, rtol=1e-12)


# Steps on pairs


def test_pairwise_steps_keep_the_sum_and_lower_the_objective():
    X, y = make_moons(600, noise=0.3, random_state=0)
    y = np.where(y == 1, 1.0, -1.0)
    Q = gram(X)
    lower, upper = np.minimum(0, 5 * y), np.maximum(0, 5 * y)
    steps_on = pairwise(Q, 0 * y, y.copy(), lower, upper, megabytes=0.1)
    objectives = [0.0]
    for steps in (10, 50, 200, 100_000):
        converged = steps_on.run(1e-3, steps)
        b = steps_on.point()[0]
        objectives.append(0.5 * b @ Q.product(b) - y @ b)
        assert abs(b.sum()) < 1e-12
        assert (lower <= b).all() and (b <= upper).all()
    assert converged
    assert (np.diff(objectives) < 0).all()
    # A few rows of single precision were all the memory there was, and it sufficed.
    assert steps_on._cache.rows.nbytes <= 10**5
    t = y - Q.product(b)
    high, low = t[b < upper].max(), t[b > lower].min()
    assert high - low < 2e-3


def test_steps_on_a_matrix_in_memory_are_those_on_its_points():
    X, y = make_moons(80, noise=0.3, random_state=1)
    y = np.where(y == 1, 1.0, -1.0)
    Q = gram(X)
    lower, upper = np.minimum(0, 5 * y), np.maximum(0, 5 * y)
    ends = []
    for matrix in (Q, DenseQuadratic(Q.formed().in_memory)):
        steps_on = pairwise(matrix, 0 * y, y.copy(), lower, upper)
        assert steps_on.run(1e-4, 100_000)
        b, t, active = steps_on.point()
        assert_allclose(t[active], (y - Q.product(b))[active], atol=1e-5)
        assert steps_on.violation() <= 1e-4
        ends.append(0.5 * b @ Q.product(b) - y @ b)
    assert_allclose(*ends, rtol=1e-5)


def test_one_variable_with_a_kink_stands_for_two_in_regression():
    rng = np.random.default_rng(5)
    X, epsilon, C = rng.normal(size=(400, 2)), 0.2, 3.0
    target = np.sin(X[:, 0]) + 0.3 * rng.normal(size=400)
    s = np.concatenate([target - epsilon, target + epsilon])
    lower, upper = np.repeat([0.0, -C], 400), np.repeat([C, 0.0], 400)
    Q = RepeatedQuadratic(gram(X))
    steps_on = pairwise(Q, np.zeros(800), s, lower, upper)
    assert steps_on.run(1e-4, 100_000)
    assert steps_on._cache.rows.shape[1] <= 400
    b, known, active = steps_on.point()
    t = s - Q.product(b)
    assert (lower <= b).all() and (b <= upper).all()
    assert abs(b.sum()) < 1e-11
    assert not (b[:400] * b[400:]).any()
    assert t[b < upper].max() - t[b > lower].min() < 2e-4
    assert_allclose(known[active], t[active], atol=1e-4)


def test_two_variables_that_share_a_sign_are_not_made_one():
    Q, t = RepeatedQuadratic(gram(np.arange(5.0)[:, None])), np.linspace(1, -1, 10)
    steps_on = pairwise(Q, np.zeros(10), t, np.zeros(10), np.ones(10))
    assert len(steps_on.point()[2]) == 10
    assert steps_on._cache.rows.shape[1] == 10


# Memory


def place_for(cache, i, clock):
    return make_room(i, clock, cache.slot, cache.owner, cache.used, cache.taken)


def test_a_full_cache_gives_up_a_row_that_was_not_used_for_long():
    cache = RowCache(500, 4 * 500 * 200)
    for clock, i in enumerate(range(200), start=1):
        assert place_for(cache, i, clock) == i
    cache.used[:30] = 1000
    for clock, i in enumerate(range(200, 240), start=1001):
        place = place_for(cache, i, clock)
        assert place >= 30
        assert cache.slot[i] == place and cache.owner[place] == i
    assert (np.sort(cache.slot[cache.owner]) == np.arange(200)).all()
    assert (cache.slot >= 0).sum() == 200


def test_a_kept_row_is_found_in_its_place():
    cache, row = RowCache(6, 4 * 6 * 3), np.linspace(0.0, 1.0, 6)
    cache.keep(4, row, 1)
    assert_array_equal(cache.rows[cache.slot[4]], row.astype(np.float32))


@pytest.mark.parametrize("C", [1.0, 100.0])
def test_little_memory_costs_time_not_digits(C):
    rng = np.random.default_rng(6)
    X = rng.normal(size=(600, 8))
    y = X[:, 0] + 0.5 * rng.normal(size=600) > 0
    roomy = KernelSVC(C, gamma=0.1).fit(X, y)
    tight = KernelSVC(C, gamma=0.1, cache_size=0.01).fit(X, y)
    free = ((roomy.alpha_ > 0) & (roomy.alpha_ < C)).sum()
    # Four times 10 kB are not enough for a working set at 20 bytes an entry.
    assert 20 * free**2 > 4 * 10_000
    assert roomy.certificate_.status == tight.certificate_.status == "optimal"
    assert tight.certificate_.kkt_violation < 1e-9
    assert_allclose(tight.alpha_.sum(), roomy.alpha_.sum(), rtol=1e-9)
    assert tight.n_iter_ > roomy.n_iter_


@pytest.mark.parametrize("machine", [KernelSVC, KernelSVR, OneClassSVM, SVDD])
def test_memory_has_to_be_positive(machine):
    X, y = make_moons(20, random_state=0)
    with pytest.raises(
        ValueError, match=rf"'cache_size' parameter of {machine.__name__} .* \(0.0, inf\)\. Got 0"
    ):
        machine(cache_size=0).fit(X, y)


def test_rows_survive_their_shortening_in_place():
    cache, K = RowCache(8, 4 * 8 * 5), np.arange(64.0).reshape(8, 8)
    for clock, i in enumerate((6, 1, 3, 7, 0), start=1):
        cache.keep(i, K[i], clock)
    cache.keep(2, K[2], 6)
    assert cache.slot[2] == 0  # the row that was not used for longest made room
    kept = np.array([0, 2, 5, 7])
    cache.compact(kept)
    assert cache.rows.shape == (4, 4)
    for new, old in enumerate(kept):
        if old == 5:
            assert cache.slot[new] == -1
        else:
            assert_array_equal(cache.rows[cache.slot[new]], K[old, kept])
