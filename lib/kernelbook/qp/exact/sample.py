"""Where the exact solver begins with many points: where the optimum of a sample points."""

import numpy as np
from numpy.typing import NDArray

__all__ = ["sample", "vertex"]

Array = NDArray[np.float64]
Index = NDArray[np.intp]


def sample(n: int, share: float) -> Index:
    """Return a random sample of points, the same in every run.

    Parameters
    ----------
    n : int
        Number of points.
    share : float
        The part of them that is drawn.

    Returns
    -------
    ndarray of shape (k,), dtype=int
        Their numbers, in order.

    Examples
    --------
    >>> len(sample(100, 0.1))
    10
    """
    drawn = np.random.default_rng(0).choice(n, max(2, int(share * n)), replace=False)
    return np.sort(drawn)


def vertex(t: Array, lower: Array, upper: Array, total: float) -> Array:
    """Return the point of the box with a given sum that maximises t'b.

    Where few variables of the optimum are between their bounds, that is nearly the optimum if t
    is nearly that of the optimum.

    Parameters
    ----------
    t : ndarray of shape (n,)
        Slopes.
    lower : ndarray of shape (n,)
        Lower bounds.
    upper : ndarray of shape (n,)
        Upper bounds.
    total : float
        The sum.

    Returns
    -------
    ndarray of shape (n,)
        All variables but one are at a bound.

    Examples
    --------
    >>> vertex(np.array([1.0, 3.0, 2.0]), np.zeros(3), np.ones(3), 1.5).tolist()
    [0.0, 1.0, 0.5]
    """
    order = np.argsort(-t, kind="stable")
    room = (upper - lower)[order]
    missing = total - float(lower.sum())
    before = np.concatenate([[0.0], np.cumsum(room)[:-1]])
    b = lower.copy()
    full = before + room <= missing
    b[order[full]] = upper[order[full]]
    if not full.all():
        last = order[np.argmin(full)]
        b[last] = np.clip(b[last] + total - float(b.sum()), lower[last], upper[last])
    return b
