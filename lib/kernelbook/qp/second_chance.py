"""What is tried where a solver has not reached the optimum, and what is said if that fails too."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from kernelbook.exceptions import InfeasibleError
from kernelbook.qp.options import SolverOptions
from kernelbook.qp.program import QuadraticProgram
from kernelbook.qp.solve import (
    MAX_ITER,
    NARROW,
    ROUNDING,
    QPSolution,
    certified,
    is_feasible,
    minimise,
    rounding,
)

__all__ = ["improved", "unconverged"]

Array = NDArray[np.float64]

# Up to so many variables the interior point takes over where the exact solver has not ended.
DENSE_UP_TO = 2000


def improved(
    program: QuadraticProgram, solution: QPSolution, options: SolverOptions
) -> QPSolution:
    """Return the best of a solution and of what else can be tried.

    Boxes that are narrower than rounding are decided by the sign of the gradient; where that is
    not all that was wrong, the other variables are solved for again. ``solver='auto'`` also asks
    the interior point, unless it was the limit on steps that ended the first attempt.

    Parameters
    ----------
    program : QuadraticProgram
        The problem.
    solution : QPSolution
        The first attempt, not optimal.
    options : SolverOptions
        Solver, tolerance and limits.

    Returns
    -------
    QPSolution
        With its proof.
    """
    best = _repaired(program, solution, options)
    if best.status == "optimal" or solution.status == MAX_ITER:
        return best
    if options.solver == "auto" and len(program.q) <= DENSE_UP_TO:
        x, n_iter, product = minimise(program, replace(options, solver="dense"), None)
        other = certified(program, x, product, n_iter, options)
        best = _better(best, _repaired(program, other, options))
    return best


def _repaired(
    program: QuadraticProgram, solution: QPSolution, options: SolverOptions
) -> QPSolution:
    """The solution, or what one of the repairs makes of it."""
    for repair in (_feasible, _settled, _anchored):
        if solution.status == "optimal":
            return solution
        solution = _better(solution, repair(program, solution, options))
    return solution


def _better(one: QPSolution, other: QPSolution | None) -> QPSolution:
    """The one that is optimal, or else the one with the smaller gap."""
    if other is None or one.status == "optimal":
        return one
    if other.status == "optimal" or other.duality_gap < one.duality_gap:
        return other
    return one


def _feasible(
    program: QuadraticProgram, solution: QPSolution, options: SolverOptions
) -> QPSolution | None:
    """The solution with what it misses of the equality added to the variable with most room."""
    if is_feasible(program, solution.x):
        return None
    a, x = program.a, solution.x.copy()
    room = np.where(a != 0, np.minimum(x - program.lower, program.upper - x), -np.inf)
    k = int(np.argmax(room))
    x[k] += (program.b - float(a @ x)) / a[k]
    x[k] = min(max(x[k], program.lower[k]), program.upper[k])
    return certified(program, x, None, solution.n_iter, options)


def _anchored(
    program: QuadraticProgram, solution: QPSolution, options: SolverOptions
) -> QPSolution | None:
    """The same point, the multiplier set by the free variable whose rounding costs most.

    Its own residual is zero then, and so is that of its copies.
    """
    x, a = solution.x, program.a
    down, up = x - program.lower, program.upper - x
    noise = rounding(program, x)
    cost = noise * np.where((down > 0) & (up > 0) & (np.abs(a) == 1), np.maximum(down, up), 0.0)
    k, everything = int(np.argmax(cost)), np.arange(len(x))
    if not 0 < cost[k] < np.inf or len(x) > DENSE_UP_TO:
        return None
    row = a[k] * program.Q.block(np.array([k]), everything)[0]
    alike = np.flatnonzero(a * program.Q.block(everything, np.array([k]))[:, 0] == row[k])
    rows = a[alike, None] * program.Q.block(alike, everything)
    copies = alike[(rows == row).all(axis=1)]
    product, spread = solution.product.copy(), noise + noise[k]
    product[copies], spread[copies] = a[copies] * a[k] * product[k], 0.0
    multiplier = -float(product[k] + program.q[k]) * float(a[k])
    return certified(
        program, x, product, solution.n_iter, options, multiplier=multiplier, noise=spread
    )


def _settled(
    program: QuadraticProgram, solution: QPSolution, options: SolverOptions
) -> QPSolution | None:
    """The solution with its narrow boxes decided; None if there are none."""
    width = program.upper - program.lower
    narrow = width <= NARROW * float(np.abs(solution.x).sum())
    rest = np.flatnonzero(~narrow)
    if not narrow.any() or len(rest) == 0:
        return None
    x = _at_ends(program, solution, narrow)
    settled = certified(program, x, None, solution.n_iter, options)
    if settled.status == "optimal":
        return settled
    fixed = program.restricted(rest, x)
    try:
        x[rest], n_iter, _ = minimise(fixed, options, solution.x[rest])
    except InfeasibleError:
        return settled
    again = certified(program, x, None, n_iter, options)
    x = _at_ends(program, again, narrow)
    return _better(settled, _better(again, certified(program, x, None, n_iter, options)))


def _at_ends(program: QuadraticProgram, solution: QPSolution, narrow: NDArray[np.bool_]) -> Array:
    """The point with the narrow variables where the gradient wants them."""
    residual = solution.product + program.q + solution.multiplier * program.a
    ends = np.where(residual < 0, program.upper, program.lower)
    return np.where(narrow, ends, solution.x)


def unconverged(program: QuadraticProgram, solution: QPSolution, tol: float) -> str:
    """Return the message about a solution that is not optimal.

    Parameters
    ----------
    program : QuadraticProgram
        The problem.
    solution : QPSolution
        Where it was left.
    tol : float
        The tolerance that was asked for.

    Returns
    -------
    str
        What was reached, and what to do.
    """
    bounded = bool(np.isfinite(program.upper - program.lower).all())
    remedy = (
        "Raise max_iter, scale the features, or lower C."
        if bounded
        else "Some bounds are infinite: the objective may have no minimum."
    )
    if solution.status == ROUNDING:
        remedy = (
            "Every condition holds to tol, but no smaller gap can be told from rounding in double "
            "precision. Scale the features, or lower C."
        )
    return (
        f"the quadratic program was left with status {solution.status!r} after "
        f"{solution.n_iter} steps: relative duality gap {solution.duality_gap:.3g}, KKT violation "
        f"{solution.kkt_violation:.3g} (tol={tol:g}). {remedy}"
    )
