"""Products and distances of points that are stored by their entries that are not zero (CSR)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.utils.extmath import row_norms

__all__ = ["SparseValues", "inner_products", "relative_to", "squared_distances"]

Array = NDArray[np.float64]
Index = NDArray[np.intp]
Points = Any  # an array, or a sparse matrix

# Entries of a few points that are written out so that the others meet them as a dense block.
WRITTEN_OUT = 2**20


def inner_products(X: Points, Y: Points) -> Array:
    """Return the inner product of every pair.

    Parameters
    ----------
    X : {ndarray, CSR matrix} of shape (n, d)
        First points.
    Y : {ndarray, CSR matrix} of shape (m, d)
        Second points.

    Returns
    -------
    ndarray of shape (n, m)
        Dense, whatever the points are; exactly symmetric if ``Y`` is ``X``.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> inner_products(csr_array([[1.0, 0.0], [0.0, 2.0]]), np.array([[3.0, 4.0]])).tolist()
    [[3.0], [8.0]]
    """
    if Y is X and issparse(X):
        products: Array = (X @ X.T).toarray()
        return (products + products.T) / 2.0
    if issparse(X) and issparse(Y):
        sizes = [points.shape[0] * points.shape[1] for points in (X, Y)]
        if min(sizes) > WRITTEN_OUT:
            products = (X @ Y.T).toarray()
            return products
        X, Y = (X.toarray(), Y) if sizes[0] < sizes[1] else (X, Y.toarray())
    return (Y @ X.T).T if issparse(Y) else X @ Y.T


def squared_distances(X: Points, Y: Points) -> Array:
    r"""Return :math:`\|x\|^2 + \|y\|^2 - 2 x^\top y` of every pair, of which one is sparse.

    Parameters
    ----------
    X : {ndarray, CSR matrix} of shape (n, d)
        First points.
    Y : {ndarray, CSR matrix} of shape (m, d)
        Second points.

    Returns
    -------
    ndarray of shape (n, m)
        Not negative. Norms that are much larger than distances cost digits; points with many
        entries of zero are no such points.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> squared_distances(csr_array([[3.0, 0.0]]), csr_array([[0.0, 4.0], [3.0, 0.0]])).tolist()
    [[25.0, 0.0]]
    """
    squares = inner_products(X, Y)
    squares *= -2.0
    squares += row_norms(X, squared=True)[:, None]
    squares += row_norms(Y, squared=True)
    if Y is X:
        squares = (squares + squares.T) / 2.0
        np.fill_diagonal(squares, 0.0)
    return np.maximum(squares, 0.0, out=squares)


def relative_to(centre: Array, X: Points) -> Points:
    """Return points less a centre, which is zero for sparse points.

    Parameters
    ----------
    centre : ndarray of shape (d,)
        The centre.
    X : {ndarray, CSR matrix} of shape (n, d)
        The points.

    Returns
    -------
    {ndarray, CSR matrix} of shape (n, d)
        Sparse points as they are.
    """
    return X if issparse(X) else X - centre


class SparseValues:
    """Kernel values among fixed sparse points; the points of the last columns are kept.

    Parameters
    ----------
    evaluate : callable
        From points (m, d) and (k, d) to kernel values (m, k).
    X : CSR matrix of shape (n, d)
        The points.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> values = SparseValues(inner_products, csr_array([[1.0], [2.0]]))
    >>> values(np.array([1]), np.array([0, 1])).tolist()
    [[2.0, 4.0]]
    """

    def __init__(self, evaluate: Callable[[Points, Points], Array], X: Points) -> None:
        self.evaluate, self.X = evaluate, X
        self._last: tuple[Index, Points] = (np.empty(0, dtype=np.intp), X[:0])

    def __call__(self, rows: Index, columns: Index) -> Array:
        # Pairwise steps ask for row after row of the same columns.
        last, points = self._last
        if columns is not last:
            points = self.X[columns]
            self._last = columns, points
        return self.evaluate(self.X[rows], points)
