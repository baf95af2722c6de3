"""The exact way: compiled loops against numpy, equal optima whatever the solver, memory, limits."""

import tracemalloc
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import cdist
from sklearn.datasets import make_moons
from sklearn.exceptions import ConvergenceWarning

from kernelbook.conformal import AFSCTSVC, ConformalOneClassSVM, ConformalSVC
from kernelbook.exceptions import InfeasibleError
from kernelbook.oneclass import OneClassSVM
from kernelbook.qp import DenseQuadratic, PairedQuadratic, PointsQuadratic, solve_qp
from kernelbook.qp.exact.block import centre, primal_dual
from kernelbook.qp.exact.bordered import BorderedSystem
from kernelbook.qp.exact.rows import RowCache
from kernelbook.qp.exact.smo import Pairwise
from kernelbook.qp.exact.source import DenseSource, PointsSource, source_of
from kernelbook.qp.program import Program
from kernelbook.svdd import SVDD
from kernelbook.svm import HardMarginSVC, KernelSVC
from kernelbook.svr import KernelSVR

METRICS = {"rbf": "sqeuclidean", "laplacian": "cityblock"}
SOLVERS = ("exact", "dense", "reference")


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


def test_chunks_and_blocks_of_the_compiled_loops_meet_without_a_seam():
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


def test_many_features_go_by_inner_products_and_give_the_same_values():
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


def test_points_quadratic_without_a_compiled_kernel_calls_the_function():
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


def test_a_dense_source_is_centred_and_signed_and_keeps_the_differences_of_t():
    rng = np.random.default_rng(0)
    M = rng.normal(size=(8, 8))
    Q, q, a = M @ M.T + 1e6, rng.normal(size=8), np.where(rng.random(8) < 0.5, 1.0, -1.0)
    b = rng.normal(size=8)
    program = Program(DenseQuadratic(Q), q, a, float(b.sum()), -np.ones(8), np.ones(8))
    source, s = source_of(program)
    assert np.abs(source.K.sum(axis=0)).max() < 1e-8
    t, expected = s - source.product(b), -a * q - a * (Q @ (a * b))
    assert_allclose(t - t[0], expected - expected[0], atol=1e-7)


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


def test_one_variable_with_a_kink_stands_for_the_two_of_a_point_in_regression():
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


# The same optimum whatever the way


def random_machine(seed):
    """A machine and its data: every kind, weights, copies, constant points, any C and width."""
    rng = np.random.default_rng(seed)
    n, d = int(np.exp(rng.uniform(np.log(2), np.log(400)))), int(rng.integers(1, 11))
    X = rng.normal(size=(n, d))
    if rng.random() < 0.25:
        X = X[rng.integers(0, max(1, n // 3), n)]
    if rng.random() < 0.05:
        X[:] = X[0]
    if rng.random() < 0.2:
        X = np.round(X)
    gamma, C = 10.0 ** rng.uniform(-5, 3), 10.0 ** rng.uniform(-6, 6)
    y = np.where(X[:, 0] + rng.choice([0.0, 0.5, 2.0]) * rng.normal(size=n) > 0, 1, -1)
    y[0], y[-1] = 1, -1
    weights = rng.uniform(0.1, 3, n) if rng.random() < 0.3 else None
    kernel = str(rng.choice(["rbf", "rbf", "laplacian", "linear", "poly"]))
    width = min(gamma, 1.0) if kernel == "poly" else gamma
    shape = {"kernel": kernel, "gamma": width, "coef0": 1.0, "degree": 2}
    nu, target = rng.uniform(0.01, 1), X[:, 0] + rng.normal(size=n)
    outliers = np.where(rng.random(n) < 0.8, 1, -1)
    outliers[0] = 1
    return [
        (KernelSVC(C, class_weight=rng.choice([None, "balanced"]), **shape), X, y, weights),
        (KernelSVR(C, epsilon=float(rng.choice([0, 0.1, 1])), **shape), X, target, weights),
        (OneClassSVM(nu, **shape), X, None, weights),
        (SVDD(nu=nu, **shape), X, None, weights),
        (SVDD(nu=nu, C_outlier=C, **shape), X, outliers, weights),
    ][seed % 5]


@pytest.mark.parametrize("seed", range(200))
def test_three_ways_to_one_optimum(seed, monkeypatch):
    import kernelbook.support

    solutions = []

    def remember(*arguments, **options):
        solutions.append(solve_qp(*arguments, **options))
        return solutions[-1]

    monkeypatch.setattr(kernelbook.support, "solve_qp", remember)
    machine, X, y, weights = random_machine(seed)
    for solver in SOLVERS:
        machine.set_params(solver=solver).fit(X, y, sample_weight=weights)
        assert machine.certificate_.status == "optimal"
        assert machine.certificate_.kkt_violation <= 1e-8
    exact, dense, reference = (solution.objective for solution in solutions)
    # An objective that is zero but for rounding has no relative error.
    rounding = 1e-15 * float(np.abs(solutions[1].product).max() * np.abs(solutions[1].x).sum())
    assert_allclose(exact, dense, rtol=1e-9, atol=rounding)
    assert_allclose(reference, dense, rtol=1e-9, atol=rounding)


@pytest.mark.parametrize(
    "machine",
    [
        KernelSVC(10.0, gamma=1.0),
        KernelSVC(10.0, kernel="poly", degree=3, coef0=1.0),
        KernelSVC(1.0, kernel=lambda A, B: A @ B.T + 1.0),
        ConformalSVC("williams", C=5.0, gamma=1.0),
        ConformalSVC("amari_wu", C=5.0, kernel="poly", degree=2, coef0=1.0),
        AFSCTSVC(),
        HardMarginSVC(gamma=300.0),
    ],
    ids=str,
)
def test_classifiers_of_both_ways_agree(machine):
    X, y = make_moons(450, noise=0.2, random_state=1)
    exact = machine.set_params(solver="exact").fit(X, y).decision_function(X[:50])
    dense = machine.set_params(solver="dense").fit(X, y).decision_function(X[:50])
    assert_allclose(exact, dense, atol=2e-7 * np.abs(dense).max())


@pytest.mark.parametrize("machine", [OneClassSVM(0.1), SVDD(nu=0.1), ConformalOneClassSVM(0.1)])
def test_detectors_of_both_ways_agree(machine):
    X, _ = make_moons(450, noise=0.2, random_state=1)
    exact = machine.set_params(solver="exact").fit(X).decision_function(X[:50])
    dense = machine.set_params(solver="dense").fit(X).decision_function(X[:50])
    assert_allclose(exact, dense, atol=1e-8 * np.abs(dense).max())


def test_auto_takes_the_exact_way_where_it_wins_and_gives_the_same_machine():
    X, y = make_moons(900, noise=0.3, random_state=2)
    auto, dense = KernelSVC(10.0).fit(X, y), KernelSVC(10.0, solver="dense").fit(X, y)
    assert_allclose(auto.alpha_, dense.alpha_, atol=1e-9)
    assert auto.n_iter_ < dense.n_iter_  # working sets against interior-point steps
    assert_array_equal(auto.support_, dense.support_)


def test_hard_cases_end_at_the_optimum():
    rng = np.random.default_rng(7)
    X, y = make_moons(1200, noise=0.3, random_state=3)
    grid = np.round(X * 2)
    cases = [
        (KernelSVC(1e4, gamma=1.0), X, y),  # nearly dependent columns
        (KernelSVC(1.0, gamma=1e4), X, y),  # K = I: every point is free
        (KernelSVC(100.0, gamma=1.0), grid, y),  # many copies, with both labels
        (KernelSVC(10.0, gamma=0.5), X + 1e3, y),  # an offset
        (KernelSVC(1e-3), X, y),  # every point at the bound
        (KernelSVC(1.0), X, rng.permutation(y)),  # nothing to learn
        (KernelSVC(10.0), X, np.arange(1200) < 5),  # five against 1195
        (KernelSVC(1.0, kernel="linear"), X, y),
    ]
    for machine, points, labels in cases:
        machine.fit(points, labels)
        assert machine.certificate_.status == "optimal", machine
        assert machine.certificate_.kkt_violation < 1e-9, machine


# Memory, limits, what is missing


def test_the_matrix_is_never_formed():
    X, y = make_moons(10_000, noise=0.25, random_state=4)
    KernelSVC(10.0, gamma=1.0).fit(X[:500], y[:500])
    tracemalloc.start()
    try:
        KernelSVC(10.0, gamma=1.0).fit(X, y)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    # The Gram matrix would take 800 MB, the cache for rows may take 200.
    assert peak < 300e6


def test_the_cache_is_bounded_by_its_argument():
    X, y = make_moons(2000, noise=0.25, random_state=4)
    y = np.where(y == 1, 1.0, -1.0)
    Q = PointsQuadratic(X, None, kind="rbf", gamma=1.0)
    bounds = np.minimum(0, 10 * y), np.maximum(0, 10 * y)
    objectives, peaks = [], []
    for megabytes in (0.05, 15.0):
        tracemalloc.start()
        try:
            solution = solve_qp(Q, -y, np.ones(2000), 0.0, *bounds, cache_size=megabytes)
            peaks.append(tracemalloc.get_traced_memory()[1] / 1e6)
        finally:
            tracemalloc.stop()
        objectives.append(solution.objective)
    assert peaks[0] + 5 < peaks[1]
    assert_allclose(*objectives, rtol=1e-12)


def test_a_limit_on_working_sets_is_reported_with_the_gap():
    X, y = make_moons(600, noise=0.3, random_state=5)
    with pytest.warns(ConvergenceWarning, match=r"status 'max_iter' after 1 steps: relative"):
        machine = KernelSVC(1e4, gamma=30.0, solver="exact", max_iter=1, tol=1e-14).fit(X, y)
    assert machine.certificate_.status == "max_iter"
    assert machine.certificate_.kkt_violation > 1e-14


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"upper": np.inf}, "solver='exact' needs finite bounds"),
        ({"a": [1.0, 2.0]}, "coefficients of 1 and -1 in a"),
        ({"cache_size": 0}, "cache_size must be"),
    ],
)
def test_what_the_exact_way_cannot_do_is_refused(change, message):
    problem = {"Q": np.eye(2), "q": [0, 0], "a": [1, 1], "b": 1, "lower": 0, "upper": 1}
    with pytest.raises(ValueError, match=message):
        solve_qp(**{**problem, **change}, solver="exact")


def test_without_numba_exact_names_the_extra_and_auto_does_without(monkeypatch):
    monkeypatch.setattr("kernelbook.qp.points.is_compiled", lambda: False)
    monkeypatch.setattr("kernelbook.qp.solve.is_compiled", lambda: False)
    with pytest.raises(ImportError, match=r'pip install "kernelbook\[fast\]"'):
        solve_qp(np.eye(2), [0, 0], [1, 1], 1, 0, 1, solver="exact")
    X, y = make_moons(450, noise=0.3, random_state=0)
    assert KernelSVC().fit(X, y).certificate_.status == "optimal"
    Q = PointsQuadratic(X, lambda A, B: np.expm1(-cdist(A, B, "sqeuclidean")), kind="rbf")
    assert_allclose(Q.mv(np.ones(450)), by_hand(Q).sum(axis=1), rtol=1e-12)


def test_nothing_is_warned_of_or_printed(capfd):
    X, y = make_moons(500, noise=0.3, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        KernelSVC(solver="exact").fit(X, y)
    assert capfd.readouterr() == ("", "")


def test_all_images_in_one_point_leave_the_bias_to_the_bounds():
    machine = KernelSVC(solver="exact").fit(np.ones((6, 2)), [0, 0, 0, 0, 1, 1])
    assert machine.certificate_.status == "optimal"
    assert_array_equal(machine.predict(np.ones((1, 2))), [0])


def test_dense_source_rows_are_the_matrix_itself():
    K = np.diag([1.0, 2.0, 3.0])
    assert_array_equal(DenseSource(K).row(1, np.array([0, 1])), np.float32([0, 2]))


# What a review found


@pytest.mark.parametrize("seed", range(20))
def test_a_box_of_any_width_keeps_the_equality(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(3, 40))
    M = rng.normal(size=(n, n + 3))
    problem = (M @ M.T / n, rng.normal(size=n), np.ones(n), 1.0, 0.0)
    narrow = solve_qp(*problem, 3.0, solver="dense")
    wide = solve_qp(*problem, 10.0 ** rng.integers(6, 16), solver="exact")
    assert wide.status == "optimal"
    assert abs(wide.x.sum() - 1.0) < 1e-12
    assert_allclose(wide.objective, narrow.objective, rtol=1e-9)


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_far_bound_does_not_make_its_opposite_an_answer(solver):
    solution = solve_qp(np.eye(34), np.zeros(34), np.ones(34), 1.0, 0.0, 1e12, solver=solver)
    assert_allclose(solution.x, 1 / 34, rtol=1e-9)
    with pytest.raises(InfeasibleError):
        solve_qp(np.eye(34), np.zeros(34), np.ones(34), -1.0, 0.0, 1e12, solver=solver)


def test_a_point_off_the_equality_is_not_called_optimal(monkeypatch):
    monkeypatch.setattr("kernelbook.qp.solve._minimise", lambda *_: (np.zeros(2), 1, None))
    with pytest.warns(ConvergenceWarning, match="stalled"):
        assert solve_qp(np.eye(2), [0, 0], [1, 1], 1.0, 0.0, 1.0).status == "stalled"


def test_a_matrix_in_columns_compiles_nothing_new():
    from kernelbook.qp.exact import compiled

    X, y = make_moons(450, noise=0.3, random_state=0)
    K = np.exp(-cdist(X, X, "sqeuclidean"))
    first = KernelSVC(kernel="precomputed").fit(K, y)
    known = len(compiled.smo_steps.signatures)
    second = KernelSVC(kernel="precomputed").fit(np.asfortranarray(K), y)
    assert len(compiled.smo_steps.signatures) == known
    assert_allclose(first.alpha_, second.alpha_, atol=1e-10)


@pytest.mark.parametrize(("size", "C"), [(1e-6, 1e60), (1e8, 1e-80)])
def test_kernel_values_beyond_single_precision_are_taken_in_double(size, C):
    X, y = make_moons(450, noise=0.3, random_state=0)
    machine = KernelSVC(C, kernel="poly", degree=5, gamma=1.0, coef0=0.0, solver="exact")
    machine.fit(X * size, y)
    twin = KernelSVC(C * size**10, kernel="poly", degree=5, gamma=1.0, coef0=0.0, solver="dense")
    twin.fit(X, y)
    assert machine.certificate_.status == "optimal"
    assert_allclose(
        machine.decision_function(X[:20] * size), twin.decision_function(X[:20]), rtol=1e-5
    )


def test_threads_do_not_share_what_they_step_on():
    X, y = make_moons(500, noise=0.3, random_state=0)
    alone = [KernelSVC(C).fit(X, y).alpha_ for C in (1.0, 10.0)]
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(lambda C: KernelSVC(C).fit(X, y).alpha_, [1.0, 10.0] * 4))
    for k, alpha in enumerate(together):
        assert_array_equal(alpha, alone[k % 2])


def test_a_mean_is_estimated_from_what_is_there():
    Q = points("rbf", n=128)
    a = np.tile([0.0, 1.0], 64)
    assert np.isfinite(Q.mean_product(a)).all()
