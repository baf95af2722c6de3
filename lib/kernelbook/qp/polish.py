r"""From a nearby point to the exact optimum: an active-set method for a box and one equality."""

import numpy as np
from numpy.typing import NDArray

from kernelbook.qp.interior_point import InteriorPoint
from kernelbook.qp.multipliers import accepted_multipliers, multiplier_bounds
from kernelbook.qp.program import EPS, QuadraticProgram

__all__ = ["feasible_point", "polish", "solve_free"]

Array = NDArray[np.float64]
Index = NDArray[np.intp]
Mask = NDArray[np.bool_]

MAX_PRIMAL_DUAL_STEPS = 25
ROUNDING = 32 * EPS
PATIENCE = 50


def polish(program: QuadraticProgram, start: InteriorPoint, tol: float) -> Array:
    """Move on from an interior point to the optimum, bounded variables exactly at their bounds.

    First a primal-dual active-set method, which changes many variables a step and ends in a few
    steps if the start was near; its result counts only if it is feasible and meets every
    optimality condition. Where it does not (a degenerate or singular problem), a primal method
    follows, in which every step lowers the objective.

    Parameters
    ----------
    program : QuadraticProgram
        The problem, centred.
    start : InteriorPoint
        A point near its optimum, and which bounds seem active there.
    tol : float
        Largest violation of the optimality conditions in units of the gradient.

    Returns
    -------
    ndarray of shape (n,)
        The optimum, or the best point that was found.
    """
    x = _primal_dual(program, start, tol)
    if x is None:
        x = _primal(program, feasible_point(program, start), tol)
    # The terms of the equality are known to this precision only: nearer to a bound is at it.
    rounding = ROUNDING * float(np.abs(x).sum())
    x = np.where(x - program.lower <= rounding, program.lower, x)
    return np.where(program.upper - x <= rounding, program.upper, x)


def feasible_point(program: QuadraticProgram, start: InteriorPoint) -> Array:
    """Return a feasible point near the start, with its active variables at their bounds.

    Parameters
    ----------
    program : QuadraticProgram
        The problem, which some point of the box solves.
    start : InteriorPoint
        A point, feasible or not, and which bounds are active.

    Returns
    -------
    ndarray of shape (n,)
        In the box; the equality holds to rounding, if need be at the cost of active bounds.
    """
    a, b, lower, upper = program.a, program.b, program.lower, program.upper
    x = np.clip(start.x, lower, upper)
    x = np.where(start.at_lower, lower, np.where(start.at_upper, upper, x))
    free = ~(start.at_lower | start.at_upper)
    if free.any():
        rest = b - float(a[~free] @ x[~free])
        x[free] = _meet_equality(x[free], a[free], rest, lower[free], upper[free])
    if abs(float(a @ x) - b) > len(x) * EPS * max(abs(b), float(np.abs(a) @ np.abs(x))):
        x = _meet_equality(x, a, b, lower, upper)
    return x


def _meet_equality(x: Array, a: Array, b: float, lower: Array, upper: Array) -> Array:
    r"""The point clip(x + t a) of the box with the t for which :math:`a^\top x = b`.

    The product is a monotone function of t, so bisection finds it; a feasible b is assumed.
    """

    def at(t: float) -> Array:
        return np.clip(x + t * a, lower, upper)

    width = max(1.0, abs(b), float(np.abs(x).max()))
    while (a @ at(-width) > b or a @ at(width) < b) and width < 1e300:
        width *= 4.0
    low, high = -width, width
    for _ in range(200):
        middle = (low + high) / 2
        if middle in (low, high):
            break
        if a @ at(middle) < b:
            low = middle
        else:
            high = middle
    return at(high)


def _slack(program: QuadraticProgram, x: Array, gradient: Array, tol: float) -> float:
    """Violation to accept: well below the tolerance, but not below rounding."""
    scale = max(float(np.abs(program.q).max()), float(np.abs(gradient - program.q).max()))
    return max(0.01 * tol * scale, 4 * EPS * program.curvature * float(np.abs(x).sum()))


def solve_free(
    program: QuadraticProgram, free: Index, rhs: Array, target: float
) -> tuple[Array, float] | None:
    """Solve [[Q_FF, a_F], [a_F', 0]] (p, m) = (rhs, target), for the free variables.

    Parameters
    ----------
    program : QuadraticProgram
        The problem.
    free : ndarray of shape (k,), dtype=int
        The variables F.
    rhs : ndarray of shape (k,)
        Right-hand side of their rows.
    target : float
        Right-hand side of the equality.

    Returns
    -------
    tuple of ndarray of shape (k,) and float, or None
        The values p and the multiplier m; None if they overflow.
    """
    return program.Q.restricted(free).solve_bordered(program.a[free], rhs, target)


def _primal_dual(program: QuadraticProgram, start: InteriorPoint, tol: float) -> Array | None:
    """Guess the active sets, solve, flip every variable that objects, until none does."""
    lower, upper, a = program.lower, program.upper, program.a
    at_lower, at_upper = start.at_lower, start.at_upper
    # Many free variables make a matrix of low rank singular: of all solutions the one nearest to
    # the start is inside the box. A regular system loses no digit to a start of zero.
    near = np.clip(start.x, lower, upper) if program.Q.is_low_rank else np.zeros(len(a))
    fewest, patience = len(a) + 1, 3
    for _ in range(MAX_PRIMAL_DUAL_STEPS):
        free = np.flatnonzero(~(at_lower | at_upper))
        if len(free) == 0:
            return None
        x = np.where(at_upper, upper, np.where(at_lower, lower, near))
        _, gradient = program.objective_and_gradient(x)
        solved = solve_free(program, free, -gradient[free], program.b - float(a @ x))
        if solved is None:
            return None
        step, multiplier = solved
        x[free] += step
        _, gradient = program.objective_and_gradient(x)
        residual = gradient + multiplier * a
        slack = _slack(program, x, gradient, tol)
        worst = free[np.argmax(np.abs(residual[free]))]
        too_low, too_high = x < lower, x > upper
        if abs(residual[worst]) > slack:
            if not program.Q.is_low_rank:
                return None
            # More free variables than features cannot all agree: the one that disagrees goes.
            too_low[worst], too_high[worst] = residual[worst] > 0, residual[worst] < 0
        release = (at_lower & (residual < -slack)) | (at_upper & (residual > slack))
        changes = int(too_low.sum() + too_high.sum() + release.sum())
        if changes == 0:
            return x
        patience = 3 if changes < fewest else patience - 1
        fewest = min(fewest, changes)
        if patience == 0:
            return None
        at_lower = (at_lower & ~release) | too_low
        at_upper = (at_upper & ~release) | too_high
    return None


def _primal(program: QuadraticProgram, x: Array, tol: float) -> Array:
    """Minimise over the free variables, release the worst bounded one, and so on."""
    x = x.copy()
    free = (x > program.lower) & (x < program.upper)
    best, best_objective, fewest, idle = x.copy(), np.inf, len(x) + 1, 0
    for _ in range(20 * len(x) + 200):
        objective, gradient = program.objective_and_gradient(x)
        slack = _slack(program, x, gradient, tol)
        if _violation(program, x, gradient) <= slack:
            return x
        rounding = EPS * program.curvature * float(np.abs(x).sum()) * float(np.abs(x).max())
        progress = objective < best_objective - rounding - EPS * abs(objective)
        idle = 0 if progress or free.sum() < fewest else idle + 1
        fewest = len(x) + 1 if progress else min(fewest, int(free.sum()))
        if objective <= best_objective:
            best, best_objective = x.copy(), objective
        if idle > PATIENCE:
            break
        stationary = _stationary(program, gradient, free, slack)
        if stationary and not _release(program, x, gradient, free):
            return x
        _newton_step(program, x, gradient, free)
    return best


def _violation(program: QuadraticProgram, x: Array, gradient: Array) -> float:
    """Half of what the best multiplier leaves, or what a variable that needs none leaves."""
    lower, upper, a = program.lower, program.upper, program.a
    low, high = multiplier_bounds(gradient, x, a, lower, upper)
    slope = _objection(program, x, gradient)[a == 0]
    return max((low - high) / 2, float(slope.max(initial=0.0)))


def _objection(program: QuadraticProgram, x: Array, residual: Array) -> Array:
    """By how much each variable could still lower the objective, per unit of its step."""
    grow = np.where(x < program.upper, -residual, -np.inf)
    return np.maximum(grow, np.where(x > program.lower, residual, -np.inf))


def _free_multiplier(program: QuadraticProgram, gradient: Array, free: Mask) -> float:
    """The multiplier that the free variables agree on, in the least-squares sense."""
    a = program.a[free]
    return -float(a @ gradient[free]) / float(a @ a) if a.any() else 0.0


def _stationary(program: QuadraticProgram, gradient: Array, free: Mask, slack: float) -> bool:
    residual = gradient + _free_multiplier(program, gradient, free) * program.a
    return bool(np.abs(residual[free]).max(initial=0.0) <= slack)


def _release(program: QuadraticProgram, x: Array, gradient: Array, free: Mask) -> bool:
    """Free the bounded variable that objects most, or a pair; False if none does."""
    a = program.a
    objection = _objection(program, x, gradient + _free_multiplier(program, gradient, free) * a)
    objection[free] = -np.inf
    # A variable of the equality can move only if a free one makes up for it.
    paid = bool(a[free].any())
    alone = objection if paid else np.where(a == 0, objection, -np.inf)
    worst = int(np.argmax(alone))
    if alone[worst] > 0:
        free[worst] = True
        return True
    if paid:
        return False
    least, greatest = accepted_multipliers(gradient, x, a, program.lower, program.upper)
    if least.max() <= greatest.min():
        return False
    free[[int(np.argmax(least)), int(np.argmin(greatest))]] = True
    return True


def _newton_step(program: QuadraticProgram, x: Array, gradient: Array, free: Mask) -> None:
    """Go to the minimum over the free variables, or to the first bound in the way."""
    index = np.flatnonzero(free)
    solved = solve_free(program, index, -gradient[index], program.b - float(program.a @ x))
    if solved is None:
        return
    p, start = solved[0], x[index]
    full = _full_length(program, gradient, index, p)
    if full > 1.0 and program.a[index].any():
        a = program.a[index]
        p = p - (float(a @ p) / float(a @ a)) * a  # it shall not carry rounding along
    lower, upper = program.lower[index], program.upper[index]
    with np.errstate(divide="ignore", invalid="ignore"):
        reach = np.where(p > 0, (upper - start) / p, np.where(p < 0, (lower - start) / p, np.inf))
    length = float(reach.min())
    if length >= full:
        x[index] = start + (full if np.isfinite(full) else 1.0) * p
        return
    hit = reach <= length
    x[index] = np.where(hit, np.where(p > 0, upper, lower), start + length * p)
    free[index] = ~hit


def _full_length(program: QuadraticProgram, gradient: Array, index: Index, p: Array) -> float:
    """Where the objective is lowest along p: at 1, but farther if the ridge cut p short."""
    step = np.zeros(len(gradient))
    step[index] = p
    slope, curvature = float(gradient @ step), float(step @ program.Q.product(step))
    rounding = EPS * abs(program.curvature) * float(np.abs(p).sum()) ** 2
    if slope >= 0:
        return 1.0
    length = -slope / curvature if curvature > rounding else np.inf
    return length if length > 2.0 else 1.0
