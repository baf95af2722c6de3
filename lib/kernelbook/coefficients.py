"""Coefficients of the training points: which are not zero, and what that says of a solution."""

import numpy as np
from numpy.typing import NDArray

__all__ = ["degeneracy", "expand"]

Array = NDArray[np.float64]
Index = NDArray[np.intp]

# An interior point that was stopped early leaves no exact zeros.
UNPOLISHED_ZERO = 1e-6


def expand(size: int, index: Index, values: Array, is_polished: bool = True) -> tuple[Array, Index]:
    """Return values at some places of a longer vector, and the places of those not zero.

    Parameters
    ----------
    size : int
        Length of the vector.
    index : ndarray of shape (k,), dtype=int
        Places of the values.
    values : ndarray of shape (k,)
        The values.
    is_polished : bool, default=True
        Whether zeros are exact; if not, values below 1e-6 of the largest count as zero.

    Returns
    -------
    whole : ndarray of shape (size,)
        The longer vector.
    support : ndarray of shape (n_SV,), dtype=int
        Places of the values that are not zero, in order.

    Examples
    --------
    >>> whole, support = expand(4, np.array([1, 3]), np.array([5.0, 0.0]))
    >>> whole.tolist(), support.tolist()
    ([0.0, 5.0, 0.0, 0.0], [1])
    """
    whole = np.zeros(size)
    whole[index] = values
    smallest = 0.0 if is_polished else UNPOLISHED_ZERO * float(np.abs(values).max(initial=0.0))
    whole[np.abs(whole) <= smallest] = 0.0
    return whole, np.flatnonzero(whole)


def degeneracy(n_support: int, n_points: int) -> str | None:
    """Say how a solution, optimal as it is, tells little about new points; None if it does not.

    Parameters
    ----------
    n_support : int
        Number of support vectors.
    n_points : int
        Number of training points that took part.

    Returns
    -------
    str or None
        One sentence for the attribute ``degeneracy_``.

    Examples
    --------
    >>> degeneracy(0, 9)
    'no training point is a support vector: the function is constant'
    """
    if n_support == 0:
        return "no training point is a support vector: the function is constant"
    if n_support == n_points:
        return "every training point is a support vector: nothing has been left out"
    return None
