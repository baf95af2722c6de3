"""The exact solver: equal optima whatever the solver, memory, limits."""

import sys
import tracemalloc
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from programs import change_defaults
from scipy.sparse import csr_array
from scipy.spatial.distance import cdist
from sklearn.datasets import make_moons
from sklearn.exceptions import ConvergenceWarning

from kernelbook.exceptions import InfeasibleError
from kernelbook.kernels import RBF, compiled
from kernelbook.kernels.compiled import loops_are_available
from kernelbook.oneclass import OneClassSVM
from kernelbook.qp import GramQuadratic, solve_qp
from kernelbook.qp.exact.smo import smo_steps
from kernelbook.svdd import SVDD
from kernelbook.svm import KernelSVC
from kernelbook.svr import KernelSVR

SOLVERS = ("exact", "dense", "reference")


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


# 'auto' begins with pairs, whatever the size, and leaves them after the first steps.
HANDS_OVER = {"exact_from": 1, "uncompiled_up_to": 0, "in_memory_up_to": 0, "features_per_root": 0}
HANDS_OVER |= {"hand_over_after": 0.0, "hand_over_features": 0.0}


@pytest.mark.parametrize("seed", range(200))
def test_all_solvers_find_one_optimum(seed, monkeypatch):
    machine, X, y, weights = random_machine(seed)
    few_features = machine.kernel in ("linear", "poly")
    solutions, module = [], sys.modules[type(machine).__module__]
    solve = module.solve

    def remember(*arguments):
        solutions.append(solve(*arguments))
        return solutions[-1]

    monkeypatch.setattr(module, "solve", remember)
    ways = [(solver, X) for solver in SOLVERS]
    ways += [("low_rank", X)] if few_features else []
    # Sparse points are not centred, which moves the objective where the sum is not zero.
    sums_to_zero = isinstance(machine, KernelSVC | KernelSVR)
    if machine.kernel == "rbf" or (few_features and sums_to_zero):
        ways.append(("exact", csr_array(X)))
    for solver, points in [*ways, ("auto", X)]:
        if solver == "auto":
            change_defaults(monkeypatch, **HANDS_OVER)
        machine.set_params(solver=solver).fit(points, y, sample_weight=weights)
        assert machine.certificate_.status == "optimal"
        assert machine.certificate_.kkt_violation <= 1e-8
    exact, dense, *others = (solution.objective for solution in solutions)
    # An objective that is zero but for rounding has no relative error.
    rounding = 1e-15 * float(np.abs(solutions[1].product).max() * np.abs(solutions[1].x).sum())
    assert_allclose(exact, dense, rtol=1e-9, atol=rounding)
    assert_allclose(others, dense, rtol=1e-9, atol=rounding)


@pytest.mark.usefixtures("compiled_loops")
def test_auto_takes_the_exact_solver_where_it_wins():
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
    Q = GramQuadratic(RBF().about(X.mean(axis=0)), X)
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
    X, y = make_moons(1500, noise=0.3, random_state=5)
    with pytest.warns(ConvergenceWarning, match=r"status 'max_iter' after 1 steps: relative"):
        machine = KernelSVC(1e4, gamma=10.0, solver="exact", max_iter=1).fit(X, y)
    assert machine.certificate_.status == "max_iter"
    assert machine.certificate_.kkt_violation > 1e-9


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"upper": np.inf}, "solver='exact' needs finite bounds"),
        ({"a": [1.0, 2.0]}, "coefficients of 1 and -1 in a"),
        ({"cache_size": 0}, "cache_size must be"),
    ],
)
def test_what_the_exact_solver_cannot_do_is_refused(change, message):
    problem = {"Q": np.eye(2), "q": [0, 0], "a": [1, 1], "b": 1, "lower": 0, "upper": 1}
    with pytest.raises(ValueError, match=message):
        solve_qp(**{**problem, **change}, solver="exact")


def test_without_compiled_loops_exact_is_refused_and_auto_works(monkeypatch):
    X, y = make_moons(450, noise=0.3, random_state=0)
    expected = KernelSVC().fit(X, y)
    for module in ("kernelbook.qp.gram", "kernelbook.qp.solve"):
        # The package's function of this name hides the module.
        monkeypatch.setattr(sys.modules[module], "loops_are_available", lambda: False)
    with pytest.raises(RuntimeError, match="set NUMBA_CACHE_DIR to one that can be written to"):
        solve_qp(np.eye(2), [0, 0], [1, 1], 1, 0, 1, solver="exact")
    dense = KernelSVC().fit(X, y)
    assert dense.certificate_.status == "optimal"
    assert_allclose(dense.alpha_, expected.alpha_, atol=1e-9)
    Q = GramQuadratic(RBF().about(X.mean(axis=0)), X)
    assert Q.compiled is None
    sums = np.expm1(-cdist(X, X, "sqeuclidean")).sum(axis=1)
    assert_allclose(Q.product(np.ones(450)), sums, rtol=1e-12)
    assert_allclose(Q.diagonal, 0.0)


def test_loops_that_numba_cannot_keep_are_not_available(monkeypatch):
    def refuse(name):
        raise RuntimeError("cannot cache function: no locator available for file")

    loops_are_available.cache_clear()
    monkeypatch.setattr(compiled, "import_module", refuse)
    try:
        assert not loops_are_available()
    finally:
        loops_are_available.cache_clear()
    monkeypatch.undo()
    assert loops_are_available()


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
    module = sys.modules["kernelbook.qp.solve"]
    monkeypatch.setattr(module, "_minimise", lambda *_: (np.zeros(2), 1, None))
    with pytest.warns(ConvergenceWarning, match="stalled"):
        assert solve_qp(np.eye(2), [0, 0], [1, 1], 1.0, 0.0, 1.0).status == "stalled"


def test_a_matrix_in_columns_compiles_nothing_new():
    X, y = make_moons(450, noise=0.3, random_state=0)
    K = np.exp(-cdist(X, X, "sqeuclidean"))
    first = KernelSVC(kernel="precomputed").fit(K, y)
    known = len(smo_steps.signatures)
    second = KernelSVC(kernel="precomputed").fit(np.asfortranarray(K), y)
    assert len(smo_steps.signatures) == known
    assert_allclose(first.alpha_, second.alpha_, atol=1e-10)


@pytest.mark.parametrize(("size", "C"), [(1e-6, 1e60), (1e8, 1e-80)])
def test_values_beyond_single_precision_are_taken_in_double(size, C):
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
