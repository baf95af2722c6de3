"""What the optimality conditions of a quadratic program say of its multiplier."""

import numpy as np
from numpy.typing import NDArray

__all__ = ["accepted_multipliers", "multiplier_bounds"]

Array = NDArray[np.float64]


def accepted_multipliers(
    gradient: Array, x: Array, a: Array, lower: Array, upper: Array
) -> tuple[Array, Array]:
    r"""Return the least and the greatest multiplier of the equality that each variable accepts.

    With the gradient :math:`g = Qx + q`, a multiplier :math:`\lambda` fits the variable i if
    :math:`g_i + \lambda a_i \ge 0` where x_i can still grow, and :math:`\le 0` where it can
    still shrink.

    Parameters
    ----------
    gradient : ndarray of shape (n,)
        The gradient g, or that plus any multiple of a.
    x : ndarray of shape (n,)
        A feasible point.
    a : ndarray of shape (n,)
        Coefficients of the equality.
    lower, upper : ndarray of shape (n,)
        The bounds.

    Returns
    -------
    least : ndarray of shape (n,)
        Minus infinity where the variable sets no bound.
    greatest : ndarray of shape (n,)
        Infinity where the variable sets no bound.
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
    r"""Return the bounds that the optimality conditions put on the multiplier of the equality.

    Every :math:`\lambda` between them proves optimality; where low > high, the difference is the
    violation by which the conditions fail.

    Parameters
    ----------
    gradient, x, a, lower, upper : ndarray of shape (n,)
        As for :func:`accepted_multipliers`.

    Returns
    -------
    low : float
        Minus infinity if nothing bounds the multiplier from below.
    high : float
        Infinity if nothing bounds it from above.

    References
    ----------
    [Keerthi2001]_

    Examples
    --------
    A variable at its lower bound can only grow, one between its bounds can do both:

    >>> g, x, one = np.array([1.0, 2.0]), np.array([0.0, 0.5]), np.ones(2)
    >>> multiplier_bounds(g, x, one, 0 * one, one)
    (-1.0, -2.0)
    """
    least, greatest = accepted_multipliers(gradient, x, a, lower, upper)
    return float(least.max()), float(greatest.min())
