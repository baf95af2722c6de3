"""Signs of eigenvectors and discriminants, which mathematics leaves open, by one rule."""

import numpy as np

from kernelbook.kernels import Matrix

__all__ = ["sign_columns"]

SIGN_TIE = 1e-6


def sign_columns(V: Matrix) -> Matrix:
    """Return the signs by which each column's largest entry in size becomes positive.

    Parameters
    ----------
    V : ndarray of shape (n, k)
        The columns.

    Returns
    -------
    ndarray of shape (k,)
        +1 or -1. Of entries that agree in size to 1e-6 the first one decides, so that rounding
        does not.

    Examples
    --------
    >>> sign_columns(np.array([[-0.6, 0.0], [0.6, 2.0]])).tolist()
    [-1.0, 1.0]
    """
    size = np.abs(V)
    first = np.argmax(size >= (1.0 - SIGN_TIE) * size.max(axis=0), axis=0)
    return np.where(V[first, np.arange(V.shape[1])] < 0, -1.0, 1.0)
