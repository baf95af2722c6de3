"""The exact optimum over a working set: a primal-dual active-set method on a dense matrix."""

import numpy as np
from numpy.typing import NDArray

from kernelbook.qp.exact.bordered import BorderedSystem

__all__ = ["centre", "primal_dual"]

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]

MAX_STEPS = 30
MIN_STEPS, PATIENCE = 5, 3
ROUNDING = 1e-11


def centre(K: Array) -> tuple[Array, float]:
    r"""Take out of K, in place, what a fixed sum of b makes constant: a matrix of the same optimum.

    It becomes :math:`P K P + c 11^\top / n` with :math:`P = I - 11^\top / n`, and a c that makes
    it as large in the direction of 1 as in the others.

    Returns
    -------
    means : ndarray, shape (n,)
    constant : float
        The matrix that was there times b is the new one times b, plus
        :math:`m\, 1^\top b + m^\top b - \text{constant} \cdot 1^\top b`, m the means.
    """
    means = K.mean(axis=0)
    grand = float(means.mean())
    K -= means
    K -= (means - grand)[:, None]
    size = float(np.diagonal(K).mean())
    K += size
    return means, grand + size


def primal_dual(
    K: Array, r: Array, total: float, lower: Array, upper: Array, b: Array, tol: float
) -> Array | None:
    r"""The minimum of :math:`\tfrac12 b^\top K b - r^\top b` in the box, with a given sum.

    Guess which variables are free, solve for them, flip every variable that objects, until none
    does. The guesses are scratch: None is returned if they do not come to an end.

    Parameters
    ----------
    K : ndarray, shape (n, n)
        Positive semi-definite.
    r, lower, upper : ndarray, shape (n,)
    total : float
        The sum of b.
    b : ndarray, shape (n,)
        Feasible; its bounded variables are at their bounds.
    tol : float
        Largest violation, in units of r, that is accepted.
    """
    width = upper - lower
    system = BorderedSystem(K, r, total)
    t = r - K @ b
    at_lower, at_upper = b <= lower, b >= upper
    level = _level(t, at_lower, at_upper)
    at_lower = at_lower & (t - level <= tol)
    at_upper = at_upper & (t - level >= -tol)
    target = min(0.05 * tol, 2e-11 * abs(float(r @ b)) / float(width.sum()))
    target = max(target, 1e-3 * tol)
    first, fewest, patience = 0, len(b) + 1, PATIENCE
    for step in range(MAX_STEPS):
        free = ~(at_lower | at_upper)
        if not free.any():
            return None
        guess = np.where(at_upper, upper, np.where(at_lower, lower, b))
        solved = system.solve(free, guess, target)
        if solved is None:
            return None
        x, level, residual = solved
        if residual > tol:
            return None
        slope = r - K @ x - level
        # A box may be wider than the solution by any factor: clipping must not move the sum.
        beyond = ROUNDING * np.minimum(width, np.abs(x).max())
        too_low = free & (x < lower - beyond)
        too_high = free & (x > upper + beyond)
        release = (at_lower & (slope > tol / 2)) | (at_upper & (slope < -tol / 2))
        changes = int(too_low.sum() + too_high.sum() + release.sum())
        if changes == 0:
            return x.clip(lower, upper)
        first = first or changes
        patience = PATIENCE if changes < fewest else patience - 1
        fewest = min(fewest, changes)
        if changes > max(20, 1.5 * first) or (step >= MIN_STEPS and patience <= 0):
            return None
        at_lower = (at_lower & ~release) | too_low
        at_upper = (at_upper & ~release) | too_high
    return None


def _level(t: Array, at_lower: Mask, at_upper: Mask) -> float:
    """The multiplier that free variables agree on, or the middle of what the others allow."""
    free = ~(at_lower | at_upper)
    if free.any():
        return float(np.median(t[free]))
    rises, falls = t[~at_upper], t[~at_lower]
    return float(rises.max(initial=falls.min()) + falls.min()) / 2
