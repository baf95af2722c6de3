r"""Mehrotra's predictor-corrector method for a convex quadratic, a box and one equality.

Each finite bound has a slack s > 0, its distance from x, and a multiplier z > 0. One step solves
Newton's equations of the optimality conditions twice with the same factor of :math:`Q + D`, in
which the bounds are no more than a diagonal: first straight towards the optimum, then again with
what that step would miss. Only products with Q and :math:`(Q + D)^{-1}` are asked for, so that a
dense matrix and a factor of low rank are served alike.

References
----------
[Mehrotra1992]_
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from kernelbook.qp.program import EPS, QuadraticProgram

__all__ = ["Bounds", "InteriorPoint", "is_near", "solve_interior_point"]

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]

# In units of the objective, of the gradient and of x: from here on the polish needs few guesses.
TOLERANCE = 1e-8
# A relative gap beyond which the slacks say little about which bounds are active.
NEAR = 1e-4
# A step that near the optimum raises what is missing by this factor was one of rounding alone.
DIVERGENCE = 30.0
# After so many steps it is rounding that keeps the method from its tolerance, not the limit.
MANY_STEPS = 50
# The part of the way to the nearest bound that a step takes. Nearer to 1 saves steps until an
# iterate sits in a corner that the next ones cannot leave.
FRACTION = 0.999
# Mehrotra's exponent: how quickly the target falls where the predictor goes far.
CENTRING = 3
# Where the method starts: half the width of the box from both ends, or this many units of the
# scaled problem if that is less: in the middle of a box of 1e12 the product Q x has no digits.
CENTRE = 8.0
# The part of that distance which the start keeps after its first solve.
MARGIN = 0.25
# Least force D x of the bounds on the largest variable, a few thousand roundings of the gradient.
# Q + D would be singular in many variables far from their bounds, or without any.
LEAST_FORCE = 1e-12


@dataclass(frozen=True)
class InteriorPoint:
    """What an interior-point method leaves: a point near the optimum, and which bounds hold.

    Attributes
    ----------
    x : ndarray of shape (n,)
        The point, inside the box.
    at_lower : ndarray of shape (n,), dtype=bool
        Lower bounds whose slack is smaller than their multiplier, in units of the scaled problem.
    at_upper : ndarray of shape (n,), dtype=bool
        Upper bounds for which that holds.
    n_iter : int
        Number of steps.
    near : bool
        False if the limit on steps cut the method short of a relative gap of 1e-4, so that the
        active bounds mean little.
    """

    x: Array
    at_lower: Mask
    at_upper: Mask
    n_iter: int
    near: bool = True


class Bounds:
    """The k finite bounds of n variables as slacks s = E x - e >= 0: the lower ones come first.

    Parameters
    ----------
    lower : ndarray of shape (n,)
        Lower bounds; minus infinity where there is none.
    upper : ndarray of shape (n,)
        Upper bounds; infinity where there is none.

    Attributes
    ----------
    columns : ndarray of shape (k,), dtype=int
        The variable of each bound.
    ends : ndarray of shape (k,)
        The vector e.
    n : int
        Number of variables.
    n_lower : int
        Number of finite lower bounds.
    signs : ndarray of shape (k,)
        The one entry of each row of E.

    Examples
    --------
    >>> bounds = Bounds(np.array([0.0, -np.inf]), np.array([1.0, 2.0]))
    >>> bounds.along(np.array([0.25, 0.5])) - bounds.ends
    array([0.25, 0.75, 1.5 ])
    """

    def __init__(self, lower: Array, upper: Array) -> None:
        below, above = np.isfinite(lower).nonzero()[0], np.isfinite(upper).nonzero()[0]
        self.n, self.n_lower = len(lower), len(below)
        self.columns = np.concatenate([below, above])
        self.signs = np.repeat([1.0, -1.0], [len(below), len(above)])
        self.ends = np.concatenate([lower[below], -upper[above]])

    def along(self, x: Array) -> Array:
        """Return E x.

        Parameters
        ----------
        x : ndarray of shape (n,)
            A point or a direction.

        Returns
        -------
        ndarray of shape (k,)
            One number a bound.
        """
        return self.signs * x[self.columns]

    def force(self, z: Array) -> Array:
        """Return E' z.

        Parameters
        ----------
        z : ndarray of shape (k,)
            Multipliers.

        Returns
        -------
        ndarray of shape (n,)
            One number a variable.
        """
        return self.by_variable(self.signs * z)

    def by_variable(self, d: Array) -> Array:
        """Return sums over the bounds of each variable: the diagonal of E' diag(d) E.

        Parameters
        ----------
        d : ndarray of shape (k,)
            One number a bound.

        Returns
        -------
        ndarray of shape (n,)
            One number a variable.
        """
        total = np.zeros(self.n)
        total[self.columns[: self.n_lower]] = d[: self.n_lower]
        total[self.columns[self.n_lower :]] += d[self.n_lower :]
        return total

    def active(self, slack: Array, dual: Array) -> tuple[Mask, Mask]:
        """Return which variables are at a bound: where its slack is smaller than its multiplier.

        Parameters
        ----------
        slack : ndarray of shape (k,)
            Distances from the bounds.
        dual : ndarray of shape (k,)
            Multipliers of the bounds.

        Returns
        -------
        at_lower : ndarray of shape (n,), dtype=bool
            Those at their lower bound.
        at_upper : ndarray of shape (n,), dtype=bool
            Those at their upper bound.
        """
        smaller = slack < dual
        at_lower, at_upper = np.zeros(self.n, dtype=bool), np.zeros(self.n, dtype=bool)
        at_lower[self.columns[: self.n_lower]] = smaller[: self.n_lower]
        at_upper[self.columns[self.n_lower :]] = smaller[self.n_lower :]
        return at_lower & ~at_upper, at_upper


@dataclass(frozen=True)
class _Iterate:
    """A point between the bounds, or a direction from one."""

    x: Array
    multiplier: float
    slack: Array
    dual: Array

    def moved(self, direction: "_Iterate", length: float) -> "_Iterate":
        return _Iterate(
            self.x + length * direction.x,
            self.multiplier + length * direction.multiplier,
            self.slack + length * direction.slack,
            self.dual + length * direction.dual,
        )

    def complementarity(self) -> float:
        """Mean product of a slack and its multiplier; zero without any bound."""
        return float(self.slack @ self.dual) / max(1, len(self.slack))

    def is_finite(self) -> bool:
        parts = (self.x, self.slack, self.dual)
        return np.isfinite(self.multiplier) and all(np.isfinite(part).all() for part in parts)


@dataclass(frozen=True)
class _Residual:
    """What an iterate misses: Qx + q + m a (n,), b - a'x, and the largest of all in its unit."""

    pull: Array
    equality: float
    shortfall: float


def solve_interior_point(program: QuadraticProgram, max_iter: int) -> InteriorPoint:
    """Go to the optimum of a scaled program, from inside of its box.

    Parameters
    ----------
    program : QuadraticProgram
        With a matrix, a vector and a box of order one.
    max_iter : int
        Maximum number of steps.

    Returns
    -------
    InteriorPoint
        The last point, and which bounds hold there.

    Examples
    --------
    >>> from kernelbook.qp import DenseQuadratic
    >>> one = np.ones(2)
    >>> program = QuadraticProgram(DenseQuadratic(np.eye(2)), 0 * one, one, 1.0, 0 * one, one)
    >>> solve_interior_point(program, 50).x.round(6).tolist()
    [0.5, 0.5]
    """
    size = float(np.abs(program.a).max())
    program = replace(program, a=program.a / size, b=program.b / size)
    bounds = Bounds(program.lower, program.upper)
    point = _start(program, bounds)
    residual = _residual(program, bounds, point)
    for n_iter in range(max_iter + 1):
        if residual.shortfall <= TOLERANCE or n_iter == max_iter:
            break
        try:
            following = _step(program, bounds, point, residual)
        except np.linalg.LinAlgError:
            break  # too near the bounds for a factor; what was reached counts
        if not following.is_finite():
            break
        ahead = _residual(program, bounds, following)
        if residual.shortfall <= NEAR and ahead.shortfall > DIVERGENCE * residual.shortfall:
            break
        point, residual = following, ahead
    slack = point.slack / max(1.0, float(np.abs(point.x).max()))
    dual = point.dual / max(1.0, float(np.abs(residual.pull).max()))
    near = is_near(residual.shortfall, n_iter, max_iter)
    return InteriorPoint(point.x, *bounds.active(slack, dual), n_iter, near)


def is_near(shortfall: float, n_iter: int, max_iter: int) -> bool:
    """Return whether a method came near the optimum, or rounding and not the limit stopped it.

    Parameters
    ----------
    shortfall : float
        What is missing of the optimality conditions, each in its unit.
    n_iter : int
        Steps that were taken.
    max_iter : int
        Their limit.

    Returns
    -------
    bool
        True if the active bounds mean something.

    Examples
    --------
    >>> is_near(1e-9, 3, 100), is_near(0.1, 3, 3)
    (True, False)
    """
    return shortfall <= NEAR or n_iter < max_iter or n_iter >= MANY_STEPS


def _start(program: QuadraticProgram, bounds: Bounds) -> _Iterate:
    """The optimum without bounds, held near the middle of the box and then drawn into it.

    Multipliers share out the gradient there and have its mean size on top, so that a program with
    two bounds a variable starts dual feasible.
    """
    a, q, lower, upper = program.a, program.q, program.lower, program.upper
    room = np.minimum((upper - lower) / 2, CENTRE)
    centre = np.clip(0.0, lower + room, upper - room)
    solve = program.Q.factor(np.ones(len(q)))
    Sa, r = solve(a), solve(centre - q)
    x = r + ((program.b - float(a @ r)) / float(a @ Sa)) * Sa
    room *= MARGIN
    x = np.clip(x, lower + room, upper - room)
    slack = np.maximum(bounds.along(x) - bounds.ends, room[bounds.columns])
    gradient = program.Q.product(x) + q
    multiplier = -float(a @ gradient) / float(a @ a)
    residual = gradient + multiplier * a
    mean = max(float(np.abs(residual).mean()), TOLERANCE)
    return _Iterate(x, multiplier, slack, np.maximum(bounds.along(residual), 0.0) + mean)


def _residual(program: QuadraticProgram, bounds: Bounds, point: _Iterate) -> _Residual:
    """Compare an iterate with the optimality conditions, each in a unit of its own."""
    x, a = point.x, program.a
    product = program.Q.product(x)
    pull = product + program.q + point.multiplier * a
    equality = program.b - float(a @ x)
    # What rounding leaves of the product is no fault of the iterate.
    rounding = 4 * EPS * program.curvature * float(np.abs(x).sum())
    gradient_unit = max(1.0, float(np.abs(product).max()), rounding / TOLERANCE)
    objective_unit = max(1.0, abs(0.5 * float(x @ product) + float(program.q @ x)))
    shortfall = max(
        float(np.abs(pull - bounds.force(point.dual)).max()) / gradient_unit,
        abs(equality) / max(1.0, float(np.abs(a) @ np.abs(x))),
        float(point.slack @ point.dual) / objective_unit,
    )
    return _Residual(pull, equality, shortfall)


def _step(
    program: QuadraticProgram, bounds: Bounds, point: _Iterate, residual: _Residual
) -> _Iterate:
    r"""One step: with the multipliers of the bounds eliminated, Newton's equations are

    .. math:: \begin{bmatrix}Q + D & a\\ a^\top & 0\end{bmatrix}
              \begin{bmatrix}\Delta x\\ \Delta m\end{bmatrix} =
              \begin{bmatrix}E^\top (t / s) - (Qx + q + m a)\\ b - a^\top x\end{bmatrix},
              \quad D = E^\top \operatorname{diag}(z / s) E,

    where t is what every product s z should become.
    """
    a, s, z = program.a, point.slack, point.dual
    least = LEAST_FORCE / max(1.0, float(np.abs(point.x).max()))
    solve = program.Q.factor(np.maximum(bounds.by_variable(z / s), least))
    Sa = solve(a)
    curvature = float(a @ Sa)

    def direction(target: Array | float) -> _Iterate:
        r = solve(bounds.force(target / s) - residual.pull)
        multiplier = (float(a @ r) - residual.equality) / curvature
        dx = r - multiplier * Sa
        ds = bounds.along(dx)
        return _Iterate(dx, multiplier, ds, (target - z * ds) / s - z)

    mean = point.complementarity()
    predictor = direction(0.0)
    ahead = point.moved(predictor, min(1.0, _reach(point, predictor))).complementarity()
    aim = mean * (ahead / mean) ** CENTRING if mean > 0 else 0.0
    corrector = direction(aim - predictor.slack * predictor.dual)
    return point.moved(corrector, min(1.0, FRACTION * _reach(point, corrector)))


def _reach(point: _Iterate, direction: _Iterate) -> float:
    """The length at which the first slack or multiplier vanishes; infinite if none does."""
    # The inverse of a length: an indefinite form 0 / 0 is left out by fmin.
    fall = 0.0
    for start, change in ((point.slack, direction.slack), (point.dual, direction.dual)):
        fall = min(fall, float(np.fmin.reduce(change / start, initial=0.0)))
    return -1.0 / fall if fall < 0 else np.inf
