r"""Functions :math:`x \mapsto \sum_i c_i k(x, x_i)`, evaluated in blocks of bounded memory."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import gen_batches

__all__ = ["BLOCK_VALUES", "ColumnExpansion", "Expansion", "KernelExpansion"]

Array = NDArray[np.float64]
Expansion = Callable[[Array], Array]

# Kernel values that are held at once: 32 MB.
BLOCK_VALUES = 2**22


@dataclass(frozen=True)
class KernelExpansion:
    """A sum over points.

    Parameters
    ----------
    evaluate : callable
        From points (m, d) and (n, d) to kernel values (m, n).
    points : ndarray of shape (n, d)
        The points of the sum.
    coefficients : ndarray of shape (n,) or (n, p)
        Their coefficients.

    Examples
    --------
    >>> expansion = KernelExpansion(lambda X, Y: X @ Y.T, np.array([[1.0], [2.0]]), np.ones(2))
    >>> expansion(np.array([[10.0]])).tolist()
    [30.0]
    """

    evaluate: Callable[[Array, Array], Array]
    points: Array
    coefficients: Array

    def __call__(self, X: Array) -> Array:
        n, n_points = X.shape[0], self.points.shape[0]
        values = np.zeros((n, *self.coefficients.shape[1:]))
        if n_points:
            for block in gen_batches(n, max(1, BLOCK_VALUES // n_points)):
                values[block] = self.evaluate(X[block], self.points) @ self.coefficients
        return values


@dataclass(frozen=True)
class ColumnExpansion:
    """A sum over columns of given kernel values.

    Parameters
    ----------
    columns : ndarray of shape (n,), dtype=int
        The training points of the sum.
    coefficients : ndarray of shape (n,) or (n, p)
        Their coefficients.

    Examples
    --------
    >>> ColumnExpansion(np.array([1]), np.array([2.0]))(np.array([[5.0, 7.0]])).tolist()
    [14.0]
    """

    columns: NDArray[np.intp]
    coefficients: Array

    def __call__(self, X: Array) -> Array:
        return X[:, self.columns] @ self.coefficients
