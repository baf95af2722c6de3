"""'auto' leaves the exact solver where its work exceeds that of the dense one, and may return."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from programs import change_defaults
from sklearn.base import clone

from kernelbook.kernels import rbf
from kernelbook.qp import (
    DenseQuadratic,
    QuadraticProgram,
    SolverOptions,
    interior_solver,
    second_chance,
    solve,
)
from kernelbook.qp.exact import working_set
from kernelbook.qp.exact.working_set import OutOfBudgetError, solve_exact
from kernelbook.qp.second_chance import improved
from kernelbook.qp.solve import certified
from kernelbook.svm import KernelSVC
from kernelbook.svr import KernelSVR


def noisy(n=420, d=2):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, d))
    flips = np.where(rng.random(n) < 0.3, -1.0, 1.0)
    return X, flips * np.where(X[:, 0] + 0.5 * X[:, 1] ** 2 > 0.5, 1.0, -1.0)


def program_of(C):
    X, y = noisy()
    lower, upper = np.minimum(0.0, C * y), np.maximum(0.0, C * y)
    K = DenseQuadratic(rbf(X, gamma=0.5), is_relative=False)
    return QuadraticProgram(K, -y, np.ones(len(y)), 0.0, lower, upper)


def solvers_asked(monkeypatch):
    """The interior-point solvers that were asked for whole programs, in order."""
    asked, minimise = [], interior_solver.minimise

    def noted(solver, program, *arguments):
        asked.append((solver, len(program.q)))
        return minimise(solver, program, *arguments)

    monkeypatch.setattr(interior_solver, "minimise", noted)
    return asked


@pytest.mark.parametrize(("C", "hands_over"), [(1.0, False), (1e5, True)])
def test_auto_hands_over_where_pairs_creep(monkeypatch, C, hands_over):
    asked = solvers_asked(monkeypatch)
    solution = solve(program_of(C), SolverOptions())
    assert solution.status == "optimal"
    assert asked == ([("dense", 420)] if hands_over else [])
    again = solve(program_of(C), SolverOptions())
    assert_array_equal(again.x, solution.x)


def test_the_exact_solver_alone_never_hands_over(monkeypatch):
    asked = solvers_asked(monkeypatch)
    exact = solve(program_of(1e5), SolverOptions(solver="exact"))
    assert ("dense", 420) not in asked
    auto = solve(program_of(1e5), SolverOptions())
    assert exact.status == auto.status == "optimal"
    assert exact.objective == pytest.approx(auto.objective, rel=1e-9)


def test_the_budget_is_work_by_powers_of_the_points():
    program = program_of(1.0)
    with pytest.raises(OutOfBudgetError):
        solve_exact(program, SolverOptions(hand_over_after=1e-6), successor=program.Q)
    x = solve_exact(program, SolverOptions(hand_over_after=1.0), successor=program.Q)[0]
    assert_array_equal(x, solve_exact(program, SolverOptions())[0])


def cubic(machine, C, **parameters):
    X, y = noisy(700, 8)  # 165 features: too many to begin with them
    goal = y if machine is KernelSVC else X[:, 0] + 0.3 * y
    shape = {"kernel": "poly", "degree": 3, "gamma": 1 / 8, "coef0": 1.0}
    return machine(C=C, **shape, **parameters).fit(X, goal)


@pytest.mark.usefixtures("compiled_loops")
@pytest.mark.parametrize("machine", [KernelSVC, KernelSVR])
@pytest.mark.parametrize(("C", "asked"), [(1e-2, []), (1e4, ["low_rank"])])
def test_auto_hands_over_to_features_if_there_are_some(monkeypatch, machine, C, asked):
    solvers = solvers_asked(monkeypatch)
    fitted = cubic(machine, C)
    assert [solver for solver, _ in solvers] == asked
    assert fitted.certificate_.status == "optimal"
    alone = cubic(machine, C, solver="low_rank")
    assert_allclose(fitted.alpha_, alone.alpha_, atol=1e-9 * C)


def test_no_budget_where_the_dense_solver_would_not_fit(monkeypatch):
    asked = solvers_asked(monkeypatch)
    solve(program_of(1e5), SolverOptions(hand_over_up_to=419))
    assert ("dense", 420) not in asked


@pytest.mark.parametrize("epsilon", [0.0, 0.1])
@pytest.mark.parametrize("after", [0.0, 1e-3, 0.05])
def test_the_optimum_is_the_same_wherever_auto_leaves(monkeypatch, after, epsilon):
    X, y = noisy(220)
    target = X[:, 0] + 0.3 * y
    machines = [(KernelSVC(C=1e3), y), (KernelSVR(C=10.0, epsilon=epsilon), target)]
    expected = [
        clone(machine).set_params(solver="exact").fit(X, goal) for machine, goal in machines
    ]
    change_defaults(monkeypatch, exact_from=2, hand_over_after=after)
    for (machine, goal), exact in zip(machines, expected, strict=True):
        machine.fit(X, goal)
        assert machine.certificate_.status == "optimal"
        assert_allclose(machine.dual_coef_, exact.dual_coef_, atol=1e-9 * machine.C)


def test_where_dense_fails_the_exact_solver_goes_on_from_there(monkeypatch):
    monkeypatch.setattr(second_chance, "EXCHANGE_UP_TO", 0)
    program, options = program_of(1.0), SolverOptions()
    first = solve(program, SolverOptions(solver="dense"))
    asked = []

    def minimise(program, options, start):
        asked.append((options.solver, start))
        near = first.x if options.solver == "exact" else 0.5 * first.x
        return near, 3, None

    poor = certified(program, 0.25 * first.x, None, 1, options)
    best = improved(program, poor, options, minimise, ("dense", "exact"))
    assert [solver for solver, _ in asked] == ["dense", "exact"]
    assert best.status == "optimal"
    assert_array_equal(best.x, first.x)


def test_a_budget_counts_down_to_the_error():
    budget = working_set._Budget(10)
    budget.spend(10)
    with pytest.raises(OutOfBudgetError):
        budget.spend(1)
