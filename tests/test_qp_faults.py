"""Limits, what cvxopt is left with, and refusals."""

import sys
import warnings

import cvxopt
import numpy as np
import pytest
from numpy.testing import assert_array_equal
from programs import EPS, INF, signed_box
from samples import BOTH
from sklearn.exceptions import ConvergenceWarning

from kernelbook.exceptions import InfeasibleError, NotPositiveSemidefiniteError
from kernelbook.kernels import rbf
from kernelbook.qp import DenseQuadratic, solve_qp
from kernelbook.qp.options import SolverOptions
from kernelbook.qp.program import QuadraticProgram
from kernelbook.qp.second_chance import improved
from kernelbook.qp.solve import certified

# Limits, and what cvxopt is left with


def random_svc(n=30, seed=1, C=10.0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    signs = np.where(X.sum(axis=1) > 0, 1.0, -1.0)
    return rbf(X, gamma=0.5), -signs, np.ones(n), 0.0, *signed_box(signs, C)


@BOTH
def test_a_limit_on_steps_warns_and_returns_a_feasible_point(solver):
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


def test_the_violation_is_relative_to_terms_that_cancel():
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
def test_options_of_cvxopt_are_neither_changed_nor_read(solver, monkeypatch, capfd):
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


def test_steps_of_the_reference_are_those_of_cvxopt(monkeypatch):
    counts = []

    def spy(*arguments, **options):
        found = original(*arguments, **options)
        counts.append(found["iterations"])
        return found

    original = cvxopt.solvers.qp
    monkeypatch.setattr(cvxopt.solvers, "qp", spy)
    assert solve_qp(*random_svc(), solver="reference").n_iter == counts[0] > 3


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
        ({"tol": 0.0}, r"tol must be a number > 0, got 0\.0"),
        ({"tol": "small"}, "tol must be a number > 0, got 'small'"),
        ({"max_iter": 0}, "max_iter must be an integer >= 1, got 0"),
        ({"max_iter": 2.5}, "max_iter must be an integer >= 1, got 2.5"),
        ({"max_iter": True}, "max_iter must be an integer >= 1, got True"),
        (
            {"solver": "smo"},
            r"must be one of \['auto', 'exact', 'low_rank', 'dense', 'reference'\], got 'smo'",
        ),
        ({"solver": None}, "solver must be one of"),
    ],
)
def test_wrong_arguments_are_named_before_any_solver_runs(monkeypatch, change, message):
    arguments = {
        "Q": np.eye(2), "q": [0.0, 0.0], "a": [1.0, 1.0], "b": 1.0, "lower": 0.0, "upper": 1.0
    }  # fmt: skip
    # The package's function of this name hides the module.
    monkeypatch.delattr(sys.modules["kernelbook.qp.solve"], "_extreme_point")
    with pytest.raises(ValueError, match=message):
        solve_qp(**{**arguments, **change})


def test_an_indefinite_matrix_is_refused_in_our_own_words():
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
    for name in ("multiplier", "duality_gap", "kkt_violation", "objective"):
        assert type(getattr(solution, name)) is float
    assert type(solution.n_iter) is int
    with pytest.raises(AttributeError):
        solution.status = "perfect"


def test_the_warning_is_no_error_for_those_who_silence_it():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        assert solve_qp(*random_svc(), max_iter=1).status == "max_iter"


def test_without_cvxopt_only_the_reference_is_missed(monkeypatch):
    monkeypatch.setitem(sys.modules, "cvxopt", None)
    problem = np.eye(2), [0, -1], [1, 1], 1.0, 0.0, 1.0
    with pytest.raises(ImportError, match=r"solver='reference'.*kernelbook\[reference\]"):
        solve_qp(*problem, solver="reference")
    assert_array_equal(solve_qp(*problem, solver="dense").x, [0.0, 1.0])


def test_what_is_tried_in_vain_leaves_the_better_point():
    # A box of 1e-14 is settled; solving for the others again makes them worse.
    Q, q, ends = DenseQuadratic(np.eye(3)), -np.array([1e3, 1, 1]), np.array([1e-14, 1, np.inf])
    program = QuadraticProgram(Q, q, np.ones(3), 1.0, np.zeros(3), ends)
    options = SolverOptions()
    first = certified(program, np.array([0.0, 0.6, 0.4]), None, 1, options)
    worse = np.array([1.0, 0.0])
    best = improved(program, first, options, lambda *_: (worse, 1, None), ())
    np.testing.assert_allclose(best.x, [1e-14, 0.6, 0.4], rtol=1e-15)
    np.testing.assert_allclose(best.product, best.x, rtol=1e-15)
    again = certified(program, best.x, None, 1, options)
    assert best.duality_gap == again.duality_gap
