"""A common point of the convex hulls of two classes, in a feature space of low dimension."""

import numpy as np
from numpy.typing import NDArray

__all__ = ["common_point"]

Array = NDArray[np.float64]

# How far a step goes towards the first weight that would vanish; steps; and the part of the
# distance that so many of them have to take away.
FRACTION, STEPS, WINDOW, PROGRESS = 0.9, 100, 5, 0.7
# Directions of the feature space that are shorter by this factor are rounding.
SHORTEST = 1e-13


def common_point(F: Array, signs: Array, distance: float) -> Array | None:
    r"""Look for weights that give both classes the same mean.

    Steps of affine scaling: with weights w, the shortest relative change u for which the
    difference of the means vanishes,

    .. math:: \sum_i y_i w_i (1 + u_i) f_i = 0, \quad \sum_{y_i = \pm 1} w_i u_i = 0,

    is taken as far as all weights stay positive.

    Parameters
    ----------
    F : ndarray of shape (n, r)
        Features.
    signs : ndarray of shape (n,)
        The classes, 1 and -1.
    distance : float
        Means so near each other are one point.

    Returns
    -------
    ndarray of shape (n,) or None
        Weights > 0 of sum 1 in each class. None where the distance stops falling: the hulls do
        not meet, or hardly.

    Examples
    --------
    Of 0 and 2 the mean with equal weights is 1:

    >>> F, signs = np.array([[0.0], [2.0], [1.0]]), np.array([1.0, 1.0, -1.0])
    >>> common_point(F, signs, 1e-9).tolist()
    [0.5, 0.5, 1.0]
    >>> print(common_point(F, np.array([1.0, -1.0, 1.0]), 1e-9))
    None
    """
    sides = np.stack([signs > 0, signs < 0], axis=1).astype(float)
    weights = (sides / sides.sum(axis=0)).sum(axis=1)
    distances = []
    for _ in range(STEPS):
        difference = (signs * weights) @ F
        distances.append(float(np.linalg.norm(difference)))
        if distances[-1] <= distance:
            return weights
        if len(distances) > WINDOW and distances[-1] > PROGRESS * distances[-1 - WINDOW]:
            return None
        terms = np.column_stack([(signs * weights)[:, None] * F, weights[:, None] * sides])
        change = _shortest(terms, np.append(-difference, np.zeros(2)))
        weights = weights * (1.0 + min(1.0, FRACTION / max(-change.min(), FRACTION)) * change)
        weights /= sides @ (weights @ sides)
    return None


def _shortest(terms: Array, wanted: Array) -> Array:
    """The shortest u with terms' u = wanted, directions that are rounding aside."""
    Z, R = np.linalg.qr(terms)
    U, sizes, Vt = np.linalg.svd(R)
    kept = sizes > SHORTEST * sizes[0]
    return Z @ (U[:, kept] @ ((Vt[kept] @ wanted) / sizes[kept]))
