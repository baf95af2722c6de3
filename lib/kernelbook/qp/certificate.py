r"""Certificates: how far from the optimum a point of a box-constrained quadratic program is."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "Certificate",
    "accepted_multipliers",
    "certify",
    "certify_residual",
    "multiplier_bounds",
]

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Certificate:
    """What proves a fit.

    Attributes
    ----------
    duality_gap : float
        ``(primal - dual) / max(|primal|, |dual|)``, never negative: no solution has an objective
        that is better by more than this share.
    kkt_violation : float
        Largest violation of the optimality conditions, in units of the gradient: relative to
        the largest entry of its two terms, Qx and q.
    status : {'optimal', 'stalled', 'max_iter'}
        ``'optimal'`` if the violation is within the tolerance that was asked for.

    Examples
    --------
    >>> Certificate(duality_gap=1e-12, kkt_violation=3e-10, status="optimal").status
    'optimal'
    """

    duality_gap: float
    kkt_violation: float
    status: str


def accepted_multipliers(
    gradient: Array, x: Array, a: Array, lower: Array, upper: Array
) -> tuple[Array, Array]:
    r"""The least and the greatest multiplier of the equality that each variable accepts.

    With the gradient :math:`g = Qx + q`, a multiplier :math:`\lambda` fits the variable i if
    :math:`g_i + \lambda a_i \ge 0` where x_i can still grow, and :math:`\le 0` where it can
    still shrink.

    Returns
    -------
    least, greatest : ndarray, shape (n,)
        Infinite where the variable sets no bound.
    """
    moves = a != 0
    t = -gradient / np.where(moves, a, 1.0)
    grows, shrinks = x < upper, x > lower
    raises = moves & np.where(a > 0, grows, shrinks)
    lowers = moves & np.where(a > 0, shrinks, grows)
    return np.where(raises, t, -np.inf), np.where(lowers, t, np.inf)


def multiplier_bounds(
    gradient: Array, x: Array, a: Array, lower: Array, upper: Array
) -> tuple[float, float]:
    r"""Bounds that the optimality conditions put on the multiplier of the equality.

    Returns
    -------
    low, high : float
        Every :math:`\lambda` in [low, high] proves optimality; low > high measures by how much
        the conditions fail. Infinite where nothing bounds it.
    """
    least, greatest = accepted_multipliers(gradient, x, a, lower, upper)
    return float(least.max()), float(greatest.min())


def certify(
    gradient: Array,
    a: Array,
    lower: Array,
    upper: Array,
    x: Array,
    *,
    objective: float,
    scale: float,
    tol: float,
) -> tuple[Certificate, float]:
    r"""Certificate and multiplier of a feasible point.

    .. math:: \min_x \tfrac12 x^\top Q x + q^\top x
               \quad\text{s.t.}\quad a^\top x = b,\; \ell \le x \le u

    For any multiplier :math:`\lambda`, with the residual :math:`r = Qx + q + \lambda a`, the
    distance to the dual objective is :math:`\sum_i \max(r_i, 0)(x_i - \ell_i) +
    \max(-r_i, 0)(u_i - x_i)`. An infinite bound counts as one twice the largest entry of x
    away: a solution inside such a box stays one without it.

    Parameters
    ----------
    gradient : ndarray, shape (n,)
        Q x + q, or that plus any multiple of a.
    a, lower, upper, x : ndarray, shape (n,)
    objective : float
        Of x; the gap is relative to it, or to the dual objective if that is larger.
    scale : float
        The unit of the violation.
    tol : float
        Largest violation, in that unit, that counts as optimal.

    Returns
    -------
    certificate : Certificate
    multiplier : float
        Mean over the free variables, else the midpoint of the interval of optimal multipliers
        (its finite end, if only one is).

    Examples
    --------
    Two points at -1 and 1 with the linear kernel in signed form: x = (-1/2, 1/2) is optimal,
    with the gradient Kx - y = 0.

    >>> import numpy as np
    >>> x, one = np.array([-0.5, 0.5]), np.ones(2)
    >>> certify(0 * one, one, -one, one, x, objective=-0.5, scale=1.0, tol=1e-9)
    (Certificate(duality_gap=0.0, kkt_violation=0.0, status='optimal'), 0.0)
    """
    multiplier = _multiplier(gradient, x, a, lower, upper)
    residual = gradient + multiplier * a
    certificate = certify_residual(
        residual, x, lower, upper, objective=objective, scale=scale, tol=tol
    )
    return certificate, multiplier


def certify_residual(
    residual: Array,
    x: Array,
    lower: Array,
    upper: Array,
    *,
    objective: float,
    scale: float,
    tol: float,
) -> Certificate:
    r"""Certificate of a feasible point whose multiplier is given, too.

    Parameters
    ----------
    residual : ndarray, shape (n,)
        :math:`r = Qx + q + \lambda a`.
    x, lower, upper, objective, scale, tol
        As for :func:`certify`.

    Examples
    --------
    At the lower end of [0, 1] a slope of 1 is right, at the upper end it costs its width:

    >>> import numpy as np
    >>> zero, one = np.zeros(1), np.ones(1)
    >>> certify_residual(one, zero, zero, one, objective=4.0, scale=1.0, tol=1e-9)
    Certificate(duality_gap=0.0, kkt_violation=0.0, status='optimal')
    >>> certify_residual(one, one, zero, one, objective=4.0, scale=1.0, tol=1e-9)
    Certificate(duality_gap=0.25, kkt_violation=1.0, status='stalled')
    """
    violation = max(
        float(np.maximum(-residual, 0)[x < upper].max(initial=0.0)),
        float(np.maximum(residual, 0)[x > lower].max(initial=0.0)),
    )
    reach = 2 * float(np.abs(x).max(initial=0.0))
    down = np.where(np.isfinite(lower), x - lower, reach)
    up = np.where(np.isfinite(upper), upper - x, reach)
    gap = float(np.maximum(residual, 0) @ down + np.maximum(-residual, 0) @ up)
    size = max(abs(objective), abs(objective - gap)) or 1.0
    status = "optimal" if violation <= tol * scale else "stalled"
    return Certificate(gap / size, violation / scale, status)


def _multiplier(gradient: Array, x: Array, a: Array, lower: Array, upper: Array) -> float:
    free = (x > lower) & (x < upper) & (a != 0)
    if free.any():
        return float(-(a[free] @ gradient[free]) / (a[free] @ a[free])) + 0.0
    low, high = multiplier_bounds(gradient, x, a, lower, upper)
    if np.isfinite(low) and np.isfinite(high):
        return (low + high) / 2
    return low if np.isfinite(low) else high if np.isfinite(high) else 0.0
