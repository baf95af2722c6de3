r"""From a nearby point to the exact optimum: an active-set method for a box and one equality."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from kernelbook.qp.certificate import multiplier_bounds
from kernelbook.qp.interior_point import InteriorPoint
from kernelbook.qp.quadratic import Quadratic

__all__ = ["feasible_point", "meet_equality", "polish"]

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]

EPS = float(np.finfo(float).eps)
MAX_PRIMAL_DUAL_STEPS = 25
REFINEMENTS = 3
PATIENCE = 50


@dataclass(frozen=True)
class _Problem:
    Q: Quadratic
    q: Array
    a: Array
    b: float
    lower: Array
    upper: Array
    tol: float

    @cached_property
    def curvature(self) -> float:
        return float(self.Q.diagonal().max())

    def objective_and_gradient(self, x: Array) -> tuple[float, Array]:
        product = self.Q.mv(x)
        return 0.5 * float(x @ product) + float(self.q @ x), product + self.q

    def slack(self, x: Array, gradient: Array) -> float:
        """Violation to accept: well below the tolerance, but not below rounding."""
        scale = max(float(np.abs(self.q).max()), float(np.abs(gradient - self.q).max()))
        return max(0.01 * self.tol * scale, 4 * EPS * self.curvature * float(np.abs(x).sum()))

    def violation(self, x: Array, gradient: Array) -> float:
        low, high = multiplier_bounds(gradient, x, self.a, self.lower, self.upper)
        fixed = self.a == 0
        slope = np.where(x < self.upper, np.maximum(-gradient, 0), 0.0)
        slope = np.maximum(slope, np.where(x > self.lower, np.maximum(gradient, 0), 0.0))
        return max((low - high) / 2, float(slope[fixed].max(initial=0.0)))


def meet_equality(x: Array, a: Array, b: float, lower: Array, upper: Array) -> Array:
    r"""The point clip(x + t a) of the box with the t for which :math:`a^\top x = b`.

    The product is a monotone function of t, so bisection finds it; a feasible b is assumed.
    """

    def at(t: float) -> Array:
        return np.clip(x + t * a, lower, upper)

    width = max(1.0, abs(b), float(np.abs(x).max()))
    while a @ at(-width) > b or a @ at(width) < b:
        if width > 1e300:
            break
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


def feasible_point(
    a: Array, b: float, lower: Array, upper: Array, start: InteriorPoint
) -> Array:
    """A feasible point near the start, with its active variables at their bounds if possible."""
    x = np.clip(start.x, lower, upper)
    x = np.where(start.at_lower, lower, np.where(start.at_upper, upper, x))
    free = ~(start.at_lower | start.at_upper)
    if free.any():
        rest = b - float(a[~free] @ x[~free])
        x[free] = meet_equality(x[free], a[free], rest, lower[free], upper[free])
    if abs(float(a @ x) - b) > len(x) * EPS * max(abs(b), float(np.abs(a) @ np.abs(x))):
        x = meet_equality(x, a, b, lower, upper)
    return x


def polish(
    Q: Quadratic,
    q: Array,
    a: Array,
    b: float,
    lower: Array,
    upper: Array,
    start: InteriorPoint,
    tol: float,
) -> Array:
    """Move on from an interior point to the optimum, bounded variables exactly at their bounds.

    First a primal-dual active-set method, which changes many variables a step and ends in a few
    steps if the start was near; its result counts only if it is feasible and meets every
    optimality condition. Where it does not (a degenerate or singular problem), a primal method
    follows, in which every step lowers the objective.

    Parameters
    ----------
    start : InteriorPoint
    tol : float
        Largest violation of the optimality conditions in units of the gradient.

    Returns
    -------
    ndarray, shape (n,)
    """
    problem = _Problem(Q, q, a, b, lower, upper, tol)
    x = _primal_dual(problem, start.at_lower, start.at_upper)
    if x is None:
        x = _primal(problem, feasible_point(a, b, lower, upper, start))
    # The sum in the equality is known to this precision only: nearer to a bound is at it.
    rounding = EPS * float(np.abs(x).sum())
    x = np.where(x - lower <= rounding, lower, x)
    return np.where(upper - x <= rounding, upper, x)


def _solve_free(
    problem: _Problem, free: Array, rhs: Array, target: float
) -> tuple[Array, float] | None:
    """Solve [[Q_FF, a_F], [a_F', 0]] (p, m) = (rhs, target), by refinement past a small ridge."""
    Q_FF, a_F = problem.Q.block(free, free), problem.a[free]
    largest = float(np.diagonal(Q_FF).max())
    ridge = EPS * len(free) * largest if largest > 0 else 1.0
    factor = None
    while factor is None:
        M = Q_FF.copy()
        np.einsum("ii->i", M)[:] += ridge
        try:
            factor = cho_factor(M, lower=True, check_finite=False)
        except LinAlgError:
            ridge *= 10
    Sa = cho_solve(factor, a_F, check_finite=False)
    curvature = float(a_F @ Sa)
    p, m = np.zeros(len(free)), 0.0
    for _ in range(REFINEMENTS):
        r, s = rhs - Q_FF @ p - m * a_F, target - float(a_F @ p)
        Sr = cho_solve(factor, r, check_finite=False)
        step = (float(a_F @ Sr) - s) / curvature if curvature > 0 else 0.0
        p, m = p + Sr - step * Sa, m + step
    if not np.isfinite(p).all():
        return None
    return p, m


def _primal_dual(problem: _Problem, at_lower: Mask, at_upper: Mask) -> Array | None:
    """Guess the active sets, solve, flip every variable that objects, until none does."""
    fewest, patience = len(at_lower) + 1, 3
    for _ in range(MAX_PRIMAL_DUAL_STEPS):
        free = np.flatnonzero(~(at_lower | at_upper))
        if len(free) == 0:
            return None
        x = np.where(at_upper, problem.upper, np.where(at_lower, problem.lower, 0.0))
        rest = problem.Q.mv(x) + problem.q
        target = problem.b - float(problem.a @ x)
        solved = _solve_free(problem, free, -rest[free], target)
        if solved is None:
            return None
        x[free], multiplier = solved
        gradient = problem.Q.mv(x) + problem.q
        residual = gradient + multiplier * problem.a
        slack = problem.slack(x, gradient)
        if np.abs(residual[free]).max() > slack:
            return None
        too_low = x < problem.lower
        too_high = x > problem.upper
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


def _primal(problem: _Problem, x: Array) -> Array:
    """Minimise over the free variables, release the worst bounded one, and so on."""
    x = x.copy()
    free = (x > problem.lower) & (x < problem.upper)
    best, best_objective, fewest, idle = x.copy(), np.inf, len(x) + 1, 0
    for _ in range(20 * len(x) + 200):
        objective, gradient = problem.objective_and_gradient(x)
        slack = problem.slack(x, gradient)
        if problem.violation(x, gradient) <= slack:
            return x
        rounding = EPS * problem.curvature * float(np.abs(x).sum()) * float(np.abs(x).max())
        progress = objective < best_objective - rounding - EPS * abs(objective)
        idle = 0 if progress or free.sum() < fewest else idle + 1
        fewest = len(x) + 1 if progress else min(fewest, int(free.sum()))
        if objective <= best_objective:
            best, best_objective = x.copy(), objective
        if idle > PATIENCE:
            break
        if _stationary(problem, gradient, free, slack) and not _release(
            problem, x, gradient, free
        ):
            return x
        _newton_step(problem, x, gradient, free)
    return best


def _stationary(problem: _Problem, gradient: Array, free: Array, slack: float) -> bool:
    if not free.any():
        return True
    a, g = problem.a[free], gradient[free]
    multiplier = -(a @ g) / (a @ a) if a.any() else 0.0
    return bool(np.abs(g + multiplier * a).max() <= slack)


def _release(problem: _Problem, x: Array, gradient: Array, free: Array) -> bool:
    """Free the bounded variables that object most; False if none does."""
    a = problem.a
    low, high = multiplier_bounds(gradient, x, a, problem.lower, problem.upper)
    if free.any() and a[free].any():
        multiplier = float(-(a[free] @ gradient[free]) / (a[free] @ a[free]))
    elif np.isfinite(low) and np.isfinite(high):
        multiplier = (low + high) / 2
    else:
        return False
    residual = gradient + multiplier * a
    objection = np.where(x < problem.upper, -residual, -np.inf)
    objection = np.maximum(objection, np.where(x > problem.lower, residual, -np.inf))
    objection[free] = -np.inf
    if free.any():
        worst = int(np.argmax(objection))
        if objection[worst] <= 0:
            return False
        free[worst] = True
        return True
    # Nothing is free: the equality lets only a pair move.
    order = np.argsort(-objection)[:2]
    if low <= high or objection[order[0]] <= 0:
        return False
    t = np.where(a != 0, -gradient / np.where(a != 0, a, 1.0), 0.0)
    raises = (a != 0) & np.where(a > 0, x < problem.upper, x > problem.lower)
    lowers = (a != 0) & np.where(a > 0, x > problem.lower, x < problem.upper)
    free[int(np.argmax(np.where(raises, t, -np.inf)))] = True
    free[int(np.argmin(np.where(lowers, t, np.inf)))] = True
    return True


def _newton_step(problem: _Problem, x: Array, gradient: Array, free: Array) -> None:
    """Go to the minimum over the free variables, or to the first bound in the way."""
    indices = np.flatnonzero(free)
    target = problem.b - float(problem.a @ x)
    solved = _solve_free(problem, indices, -gradient[indices], target)
    if solved is None:
        return
    p, lower, upper, start = (
        solved[0], problem.lower[indices], problem.upper[indices], x[indices].copy()
    )
    with np.errstate(divide="ignore", invalid="ignore"):
        reach = np.where(p > 0, (upper - start) / p, np.where(p < 0, (lower - start) / p, np.inf))
    length = float(reach.min())
    if length >= 1.0:
        x[indices] = start + p
        return
    hit = reach <= length
    x[indices] = np.where(hit, np.where(p > 0, upper, lower), start + length * p)
    _bend(problem, x, indices, start, p, length)
    free[indices] = (x[indices] > lower) & (x[indices] < upper)


def _bend(
    problem: _Problem, x: Array, indices: Array, start: Array, p: Array, length: float
) -> None:
    """Follow the direction past its first bound, along the box, while the objective falls."""
    lower, upper, a = problem.lower[indices], problem.upper[indices], problem.a[indices]
    target = float(a @ start)
    lowest, _ = problem.objective_and_gradient(x)
    trial = x.copy()
    while length < 1.0:
        length = max(4.0 * length, 1e-12)
        trial[indices] = meet_equality(
            np.clip(start + min(length, 1.0) * p, lower, upper), a, target, lower, upper
        )
        objective, _ = problem.objective_and_gradient(trial)
        if not objective < lowest:
            return
        x[indices], lowest = trial[indices], objective
