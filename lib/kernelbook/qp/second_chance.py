"""What is tried where a solver has not reached the optimum, and what is said if that fails too."""

from bisect import bisect_left
from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from kernelbook.exceptions import InfeasibleError
from kernelbook.qp.certificate import MAX_ITER, NARROW, ROUNDING, STALLED, Residual
from kernelbook.qp.options import SolverOptions
from kernelbook.qp.polish import solve_free
from kernelbook.qp.program import EPS, QuadraticProgram
from kernelbook.qp.solve import QPSolution, certified, is_feasible, rounding
from kernelbook.qp.structured import PairedQuadratic

__all__ = ["improved", "unconverged"]

Array = NDArray[np.float64]
WideNumber = np.longdouble
Minimise = Callable[
    [QuadraticProgram, SolverOptions, Array | None], tuple[Array, int, Array | None]
]

# Up to so many variables the interior point takes over where the exact solver has not ended.
DENSE_UP_TO = 2000
# Up to so many variables, and so many times that number, pairs are exchanged.
EXCHANGE_UP_TO, EXCHANGES = 500, 50
# Slack, in units of rounding, that a tilted solution leaves itself; and points that are tried.
TILT, TILTS = 8.0, 4
# Extended precision: 64 bits on most machines, at worst the double precision of the rest.
WIDE_EPS = float(np.finfo(np.longdouble).eps)
STATUSES = ("optimal", ROUNDING, STALLED, MAX_ITER)


def improved(
    program: QuadraticProgram,
    solution: QPSolution,
    options: SolverOptions,
    minimise: Minimise,
    others: tuple[str, ...],
) -> QPSolution:
    """Return the best of a solution and of what else can be tried.

    Boxes that are narrower than rounding are decided by the sign of the gradient; where that is
    not all that was wrong, the other variables are solved for again. Other solvers may be asked,
    too, unless it was the limit on steps that ended the first attempt.

    Parameters
    ----------
    program : QuadraticProgram
        The problem.
    solution : QPSolution
        The first attempt, not optimal.
    options : SolverOptions
        Solver, tolerance and limits.
    minimise : callable
        From a program, options and a start to x, the number of steps and Q x, if it is known.
    others : tuple of str
        Solvers that are asked in turn, each from the best point so far.

    Returns
    -------
    QPSolution
        With its proof.
    """
    best = _repaired(program, solution, options, minimise)
    if best.status == "optimal" or solution.status == MAX_ITER:
        return best
    if others and len(program.q) <= DENSE_UP_TO:
        program = replace(program, Q=program.Q.formed())
        for solver in others:
            x, n_iter, product = minimise(program, replace(options, solver=solver), best.x)
            other = certified(program, x, product, n_iter, options)
            best = _better(best, _repaired(program, other, options, minimise))
            if best.status == "optimal":
                break
    return best


def _repaired(
    program: QuadraticProgram, solution: QPSolution, options: SolverOptions, minimise: Minimise
) -> QPSolution:
    """The solution, or what one of the repairs makes of it."""
    settled = partial(_settled, minimise=minimise)
    # A solution that rounding alone keeps from being proved may only need more digits.
    stalled, rounded = partial(_exchanged, status=STALLED), partial(_exchanged, status=ROUNDING)
    for repair in (_feasible, _netted, settled, stalled, _in_extended_precision, rounded):
        if solution.status == "optimal":
            return solution
        solution = _better(solution, repair(program, solution, options))
    return solution


def _better(one: QPSolution, other: QPSolution | None) -> QPSolution:
    """The one whose status says more, or else the one with the smaller gap."""
    if other is None:
        return one
    ranks = [STATUSES.index(each.status) for each in (one, other)]
    return one if (ranks[0], one.duality_gap) <= (ranks[1], other.duality_gap) else other


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


def _netted(
    program: QuadraticProgram, solution: QPSolution, options: SolverOptions
) -> QPSolution | None:
    """The solution less what the two variables of a point have in common.

    It leaves Q x and the sum as they are and adds the cost of a tube, which may be all of the gap
    where the tube is narrower than rounding. None for another matrix.
    """
    if not isinstance(program.Q, PairedQuadratic):
        return None
    above, below = np.split(solution.x - program.lower, 2)
    common = np.where(np.add(*np.split(program.q, 2)) > 0, np.minimum(above, below), 0.0)
    if not common.any():
        return None
    return certified(program, solution.x - np.tile(common, 2), None, solution.n_iter, options)


def _exchanged(
    program: QuadraticProgram, solution: QPSolution, options: SolverOptions, *, status: str
) -> QPSolution | None:
    """What steps of two variables each make of the solution where Newton's steps went wrong.

    On scales that are too mixed for a linear system of all free variables, a pair keeps its
    digits. None for a solution of another status, or of too many variables.
    """
    a = program.a
    ends = np.sort([a * program.lower, a * program.upper], axis=0)
    suits = bool((np.abs(a) == 1).all() and np.isfinite(ends).all())
    if solution.status != status or len(a) > EXCHANGE_UP_TO or not suits:
        return None
    K = a[:, None] * program.Q.block(np.arange(len(a)), np.arange(len(a))) * a
    z, gradient = a * solution.x, a * (solution.product + program.q)
    unit = float(max(np.abs(solution.product).max(), np.abs(program.q).max()))
    accepted = max(0.1 * options.tol * unit, float(rounding(program, solution.x).max()))
    least, best = np.inf, z
    for _ in range(EXCHANGES * len(a)):
        i = int(np.argmin(np.where(z < ends[1], gradient, np.inf)))
        slope = np.where(z > ends[0], gradient - gradient[i], 0.0)
        # The best of all points: with the steps the sum of x drifts.
        if slope.max() < least:
            least, best = slope.max(), z.copy()
        if least <= accepted:
            break
        pair = K.diagonal() + K[i, i]
        curvature = np.maximum(pair - 2.0 * K[i], EPS * pair)
        # Copies move as far as they can.
        with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
            length = np.where(slope > 0, slope / curvature, 0.0)
            j = int(np.argmax(length * slope))
        step = min(length[j], ends[1][i] - z[i], z[j] - ends[0][j])
        z[i] = ends[1][i] if step == ends[1][i] - z[i] else z[i] + step
        z[j] = ends[0][j] if step == z[j] - ends[0][j] else z[j] - step
        gradient += step * (K[i] - K[j])
    found = certified(program, a * best, None, solution.n_iter, options)
    if found.status == "optimal":
        return found
    return _better(found, _in_extended_precision(program, found, options))


def _wide_residual(program: QuadraticProgram, x: Array) -> Residual | None:
    """The residuals at x; None for too large a problem or numbers, or for an infinite bound."""
    a, down, up = program.a, x - program.lower, program.upper - x
    if len(x) > DENSE_UP_TO or not (np.isfinite(down) & np.isfinite(up) & (np.abs(a) == 1)).all():
        return None
    free = (down > 0) & (up > 0)
    k = int(np.argmax(np.where(free, np.maximum(down, up), 0.0)))
    used = np.flatnonzero(x)
    terms = (a[:, None] * program.Q.block(np.arange(len(x)), used)).astype(WideNumber) * x[used]
    # Relative to the variable that reaches farthest: its own residual and those of its copies
    # are free of rounding.
    relative = terms - terms[k]
    q, unit = _wide_linear_term(program)
    gradient = relative.sum(axis=1) + (q - q[k])
    noise = WIDE_EPS * np.linalg.norm(relative, axis=1) + unit * np.abs(q - q[k])
    if program.Q.entry_error:
        size = program.Q.entry_error * np.linalg.norm(terms, axis=1)
        noise += np.where(relative.any(axis=1), size + size[k], 0.0)
    best = _best_multiplier(gradient, noise, np.where(a > 0, down, up), np.where(a > 0, up, down))
    # As a'x = b, what all rows have in common counts b times.
    common = program.b * terms[k]
    summands = a * x * (relative.sum(axis=1) / 2 + q)
    entries = WIDE_EPS + program.Q.entry_error
    doubt = np.abs(x) @ noise + entries * np.linalg.norm(common)
    with np.errstate(over="ignore"):
        found = Residual(
            (a * (gradient + best)).astype(np.float64),
            noise.astype(np.float64),
            float(best - terms[k].sum() - q[k]),
            objective=float(summands.sum() + common.sum() / 2),
            doubt=float(doubt + WIDE_EPS * np.abs(summands).sum()),
        )
    # Extended precision reaches farther than doubles, in which the proof is told.
    is_finite = np.isfinite([*found.values, *found.noise, found.objective, found.doubt]).all()
    return found if is_finite else None


def _wide_linear_term(program: QuadraticProgram) -> tuple[NDArray[WideNumber], float]:
    """The vector a q, and the relative error of its entries."""
    if program.q_rest is None:
        return (program.a * program.q).astype(WideNumber), EPS
    return program.a * (program.q.astype(WideNumber) + program.q_rest), WIDE_EPS


def _best_multiplier(
    gradient: NDArray[WideNumber], noise: NDArray[WideNumber], falls: Array, rises: Array
) -> WideNumber:
    """Where the gap, rounding included, is least: a convex and piecewise linear function."""

    def slope(multiplier: WideNumber) -> float:
        residual = gradient + multiplier
        return float(falls[residual > -noise].sum() - rises[residual < noise].sum())

    ends = np.unique(np.concatenate([-gradient - noise, noise - gradient]))
    middle = (ends[1:] + ends[:-1]) / 2
    return ends[bisect_left(range(len(middle)), 0.0, key=lambda i: slope(middle[i]))]


def _in_extended_precision(
    program: QuadraticProgram, solution: QPSolution, options: SolverOptions
) -> QPSolution | None:
    """The same point, or one beside it, with residuals in extended precision."""
    x, same = solution.x, None
    for _ in range(TILTS):
        found = _wide_residual(program, x)
        if found is None:
            break
        tried = certified(program, x, None, solution.n_iter, options, found)
        if tried.status == "optimal":
            return tried
        # A point beside the solution counts only if it proves more: it may well be worse.
        same = tried if same is None else same
        beside = _tilted(program, x, found)
        if beside is None:
            break
        x = beside
    return same


def _tilted(program: QuadraticProgram, x: Array, found: Residual) -> Array | None:
    """A point beside x whose free variables want to move towards the nearer bound.

    Where the other bound is farther by orders of magnitude, a residual that rounding could turn
    towards it would cost most of the gap.
    """
    down, up = x - program.lower, program.upper - x
    free = np.flatnonzero((down > 0) & (up > 0))
    if len(free) == 0:
        return None
    # Copies of a point share one residual: what they reach together decides.
    _, group = np.unique(np.stack([found.values, program.a]), axis=1, return_inverse=True)
    towards = np.where(np.bincount(group, up - down)[group] > 0, 1.0, -1.0)
    wanted = (towards * (TILT * rounding(program, x) + found.noise))[free]
    missing = program.b - float(program.a @ x)
    solved = solve_free(program.centred(), free, wanted - found.values[free], missing)
    if solved is None:
        return None
    beside = x.copy()
    beside[free] += solved[0]
    return beside if ((program.lower <= beside) & (beside <= program.upper)).all() else None


def _settled(
    program: QuadraticProgram,
    solution: QPSolution,
    options: SolverOptions,
    *,
    minimise: Minimise,
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
    try:
        found, n_iter, _ = minimise(program.restricted(rest, x), options, solution.x[rest])
    except InfeasibleError:
        return settled
    x = x.copy()
    x[rest] = found
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
