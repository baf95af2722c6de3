"""Rules for the width of a kernel."""

from numbers import Real

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.spatial.distance import pdist
from sklearn.utils import check_array

__all__ = ["SMALLEST_SPREAD", "check_width", "mean_city_block_distance", "resolve_gamma"]

Array = NDArray[np.float64]
Matrix = NDArray[np.float64]

# Rows whose pairwise distances the rule 'median' looks at.
MEDIAN_SAMPLE = 2000
# Smaller spreads have lost digits to the end of the range of numbers; their inverse may overflow.
SMALLEST_SPREAD = 1e-290


def resolve_gamma(gamma: object, X: ArrayLike, sample_weight: Array | None = None) -> float:
    r"""Turn a rule for the kernel width into the number :math:`\gamma`.

    Parameters
    ----------
    gamma : float or {'scale', 'auto', 'median'}
        A positive number is returned as it is. ``'scale'`` is
        :math:`1 / (d \operatorname{Var} X)` with the variance over all entries, ``'auto'`` is
        :math:`1/d`, ``'median'`` is one over the median squared distance of distinct pairs (of
        the first 2000 rows, so that it stays cheap and repeatable). The Laplacian kernel also
        has ``'mean_distance'``: one over the mean city-block distance of two points drawn by
        their weights.
    X : array-like of shape (n, d)
        Training points.
    sample_weight : ndarray of shape (n,), default=None
        Weighs the rows in the variance of ``'scale'``, so that a weight of k counts as k copies
        of a point; the other rules treat points of positive weight alike.

    Returns
    -------
    float
        Finite and positive; 1.0 where the rule divides by zero (constant data).

    Raises
    ------
    ValueError
        If it is another string, or a number that is not positive and finite, or if the spread of
        X overflows or vanishes.

    Examples
    --------
    The variance of the eight entries below is 4, so :math:`\gamma = 1/(2 \cdot 4)`:

    >>> resolve_gamma("scale", [[0, 0], [4, 0], [0, 4], [4, 4]])
    0.125
    """
    if not isinstance(gamma, str):
        return check_width(gamma)
    if gamma not in ("scale", "auto", "median"):
        remedy = " ('mean_distance' is for the Laplacian kernel)" * (gamma == "mean_distance")
        raise ValueError(
            f"gamma must be a number > 0, 'scale', 'auto' or 'median', got {gamma!r}{remedy}."
        )
    X = check_array(X, dtype=np.float64, input_name="X")
    if sample_weight is not None:
        X, sample_weight = X[sample_weight > 0], sample_weight[sample_weight > 0]
    if gamma == "auto":
        return 1.0 / X.shape[1]
    if gamma == "scale":
        Z = X - X[0, 0]  # exactly zero for constant data
        with np.errstate(over="ignore", invalid="ignore"):
            mean = np.average(Z, axis=0, weights=sample_weight).mean()
            squares = ((Z - mean) ** 2).mean(axis=1)
            spread = X.shape[1] * np.average(squares, weights=sample_weight)
    else:
        spread = np.median(pdist(X[:MEDIAN_SAMPLE], "sqeuclidean")) if len(X) > 1 else 0.0
    largest = float(np.abs(X - X[0]).max())
    rounding = float(np.finfo(float).eps * np.abs(X).max()) * X.size**0.5
    if not np.isfinite(spread) or (largest > rounding and float(spread) < SMALLEST_SPREAD):
        raise ValueError(
            f"gamma={gamma!r} finds no width: squares of the differences in X, up to "
            f"{largest:.3g}, {'overflow' if largest > 1.0 else 'vanish'}. Rescale the features."
        )
    return float(1.0 / spread) if float(spread) ** 0.5 > rounding else 1.0


def check_width(gamma: object) -> float:
    """Return gamma as a positive finite float, or raise an error that names it.

    Parameters
    ----------
    gamma : object
        What the caller handed in.

    Returns
    -------
    float
        Positive and finite.

    Raises
    ------
    ValueError
        If it is anything else.

    Examples
    --------
    >>> check_width(2)
    2.0
    """
    if not isinstance(gamma, Real) or isinstance(gamma, bool) or not 0.0 < float(gamma) < np.inf:
        raise ValueError(
            f"gamma must be a positive finite number, 'scale', 'auto' or 'median', got {gamma!r}."
        )
    return float(gamma)


def mean_city_block_distance(X: Matrix, sample_weight: Array | None = None) -> float:
    r"""Return the mean of :math:`\|x - x'\|_1` over pairs that are drawn independently.

    Sorted coordinate by coordinate: between two neighbouring values lie the pairs with one
    point at or below and one above.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        The points.
    sample_weight : ndarray of shape (n,), default=None
        Weights with which they are drawn. If None, all alike.

    Returns
    -------
    float
        In the unit of the features.

    Examples
    --------
    Of the four pairs of 0 and 3 two are 3 apart:

    >>> mean_city_block_distance(np.array([[0.0], [3.0]]))
    1.5
    """
    weights = np.ones(len(X)) if sample_weight is None else sample_weight
    order = np.argsort(X, axis=0)
    steps = np.diff(np.take_along_axis(X, order, axis=0), axis=0)
    below = np.cumsum(weights[order], axis=0)[:-1] / weights.sum()
    return float(2.0 * (steps * below * (1.0 - below)).sum())
