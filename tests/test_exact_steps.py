"""Systems of the free variables, and steps on pairs."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import make_moons

from kernelbook.oneclass import OneClassSVM
from kernelbook.qp import PointsQuadratic
from kernelbook.qp.exact.block import centre, primal_dual
from kernelbook.qp.exact.bordered import BorderedSystem
from kernelbook.qp.exact.rows import RowCache
from kernelbook.qp.exact.smo import Pairwise
from kernelbook.qp.exact.source import PointsSource
from kernelbook.svdd import SVDD
from kernelbook.svm import KernelSVC
from kernelbook.svr import KernelSVR

# Systems for the free variables


def test_a_bordered_system_follows_its_set_without_a_new_factor():
    rng = np.random.default_rng(3)
    M = rng.normal(size=(30, 40))
    K, r = M @ M.T / 40, rng.normal(size=30)
    system = BorderedSystem(K, r, total=0.7)
    free = np.ones(30, dtype=bool)
    free[20:] = False
    b = rng.normal(size=30)
    factors = set()
    for flip in ([], [0], [25, 3], [25], [0, 29, 28]):
        free[flip] = ~free[flip]
        x, level, residual = system.solve(free, b, 1e-13)
        factors.add(id(system._L))
        F = np.flatnonzero(free)
        lhs = np.block([[K[np.ix_(F, F)], np.ones((len(F), 1))], [np.ones((1, len(F))), 0.0]])
        fixed = np.where(free, 0.0, b)
        rhs = np.append((r - K @ fixed)[F], 0.7 - fixed.sum())
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
    system = BorderedSystem(K, r, 0.0)
    x, level, _ = system.solve(np.ones(n, dtype=bool), np.zeros(n), 1e-13)
    assert system._L.dtype == np.float32
    assert np.abs(r - K @ x - level).max() < 1e-12
    assert abs(x.sum()) < 1e-12


def test_a_primal_dual_guess_that_does_not_end_is_no_result():
    # No variable can be free: every optimum lies in a corner, which the method leaves to others.
    K = np.zeros((4, 4))
    lower, upper = np.zeros(4), np.ones(4)
    b = np.array([1.0, 1.0, 0.0, 0.0])
    assert primal_dual(K, np.array([2.0, 1.0, -1.0, -2.0]), 2.0, lower, upper, b, 1e-9) is None


def test_the_centred_block_has_the_same_optimum():
    rng = np.random.default_rng(5)
    M = rng.normal(size=(6, 6))
    K, r = M @ M.T + 1e3, rng.normal(size=6)
    centred = K.copy()
    means, constant = centre(centred)
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
    Q = PointsQuadratic(X, None, kind="rbf", gamma=1.0)
    lower, upper = np.minimum(0, 5 * y), np.maximum(0, 5 * y)
    pairwise = Pairwise(PointsSource(Q, np.arange(600)), 0 * y, y.copy(), lower, upper, 10**5)
    objectives = [0.0]
    for steps in (10, 50, 200, 100_000):
        pairwise.run(1e-3, steps)
        b = pairwise.b
        objectives.append(0.5 * b @ Q.mv(b) - y @ b)
        assert abs(b.sum()) < 1e-12
        assert (lower <= b).all() and (b <= upper).all()
    assert (np.diff(objectives) < 0).all()
    # Ten rows of single precision were all the memory there was, and it sufficed.
    assert pairwise._cache.rows.nbytes <= 10**5
    t = y - Q.mv(b)
    high, low = t[b < upper].max(), t[b > lower].min()
    assert high - low < 2e-3


def test_one_variable_with_a_kink_stands_for_two_in_regression():
    rng = np.random.default_rng(5)
    X, epsilon, C = rng.normal(size=(400, 2)), 0.2, 3.0
    target = np.sin(X[:, 0]) + 0.3 * rng.normal(size=400)
    Q = PointsQuadratic(X, None, kind="rbf", gamma=1.0)
    s = np.concatenate([target - epsilon, target + epsilon])
    lower, upper = np.repeat([0.0, -C], 400), np.repeat([C, 0.0], 400)
    source = PointsSource(Q, np.tile(np.arange(400), 2))
    pairwise = Pairwise(source, np.zeros(800), s, lower, upper, 10**6)
    assert pairwise.run(1e-4, 100_000)
    assert pairwise._cache.rows.shape[1] <= 400
    b, t = pairwise.b, s - source.product(pairwise.b)
    assert (lower <= b).all() and (b <= upper).all()
    assert abs(b.sum()) < 1e-11
    assert not (b[:400] * b[400:]).any()
    assert t[b < upper].max() - t[b > lower].min() < 2e-4
    active = pairwise.active
    assert_allclose(pairwise.t[active], t[active], atol=1e-4)


def test_two_variables_that_share_a_sign_are_not_made_one():
    Q = PointsQuadratic(np.arange(5.0)[:, None], None, kind="rbf", gamma=1.0)
    source, t = PointsSource(Q, np.tile(np.arange(5), 2)), np.linspace(1, -1, 10)
    pairwise = Pairwise(source, np.zeros(10), t, np.zeros(10), np.ones(10), 10**6)
    assert len(pairwise.active) == 10
    assert pairwise._cache.rows.shape[1] == 10


def test_a_full_cache_gives_up_a_row_that_was_not_used_for_long():
    cache = RowCache(500, 4 * 500 * 200)
    for clock, i in enumerate(range(200), start=1):
        assert cache.place_for(i, clock) == i
    cache.used[:30] = 1000
    for clock, i in enumerate(range(200, 240), start=1001):
        place = cache.place_for(i, clock)
        assert place >= 30
        assert cache.slot[i] == place and cache.owner[place] == i
    assert (np.sort(cache.slot[cache.owner]) == np.arange(200)).all()
    assert (cache.slot >= 0).sum() == 200


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
    with pytest.raises(ValueError, match="cache_size must be a finite number, positive"):
        machine(cache_size=0).fit(X, y)


def test_rows_survive_their_shortening_in_place():
    cache, K = RowCache(8, 4 * 8 * 5), np.arange(64.0).reshape(8, 8)
    for clock, i in enumerate((6, 1, 3, 7, 0), start=1):
        cache.rows[cache.place_for(i, clock)] = K[i]
    assert cache.place_for(2, 6) == 0  # the row that was not used for longest made room
    cache.rows[0] = K[2]
    kept = np.array([0, 2, 5, 7])
    cache.compact(kept)
    assert cache.rows.shape == (4, 4)
    for new, old in enumerate(kept):
        if old == 5:
            assert cache.slot[new] == -1
        else:
            assert_array_equal(cache.rows[cache.slot[new]], K[old, kept])
