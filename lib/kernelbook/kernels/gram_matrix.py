"""Gram matrices: whether they are such, and the distances that they hold."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import LinAlgError, cholesky, eigvalsh
from sklearn.utils import check_array

from kernelbook.exceptions import NotPositiveSemidefiniteError
from kernelbook.kernels.base import Matrix

__all__ = ["PSD_TOLERANCE", "check_gram", "squared_feature_distances"]

SYMMETRY_TOLERANCE = 1e-8
PSD_TOLERANCE = 1e-7


def check_gram(K: ArrayLike, *, name: str = "K") -> Matrix:
    r"""Return a Gram matrix, or raise an error that says why it is none.

    Parameters
    ----------
    K : array-like of shape (n, n)
        The matrix.
    name : str, default='K'
        What the messages call the matrix.

    Returns
    -------
    ndarray of shape (n, n)
        ``K`` as float64, made exactly symmetric; the array itself if it already is.

    Raises
    ------
    ValueError
        If K is not square, not finite, or asymmetric by more than 1e-8 of its largest entry.
    NotPositiveSemidefiniteError
        If the smallest eigenvalue is below -1e-7 of the trace (single-precision rounding is
        allowed for, indefiniteness is not); the message quotes it.

    Examples
    --------
    The eigenvalues are 4 and -2:

    >>> check_gram([[1.0, 3.0], [3.0, 1.0]])
    Traceback (most recent call last):
    ...
    kernelbook.exceptions.NotPositiveSemidefiniteError: K is not positive semi-definite: ...
    """
    K = check_array(K, dtype=np.float64, input_name=name)
    if K.shape[0] != K.shape[1]:
        raise ValueError(f"{name} must be a square Gram matrix (n, n), got shape {K.shape}.")
    scale = max(float(K.max()), -float(K.min()))
    asymmetry = float((K - K.T).max())
    if asymmetry > SYMMETRY_TOLERANCE * scale:
        raise ValueError(
            f"{name} is not symmetric: entries mirrored at the diagonal differ by up to "
            f"{asymmetry:.3g}. Compute it from one set of points."
        )
    if asymmetry > 0:
        K = (K + K.T) / 2
    _require_positive_semidefinite(K, PSD_TOLERANCE * max(float(np.trace(K)), scale), name)
    return K


def _require_positive_semidefinite(K: Matrix, slack: float, name: str) -> None:
    shifted = K.copy()
    np.einsum("ii->i", shifted)[:] += slack
    try:
        # A symmetric matrix is its own transpose, which LAPACK can overwrite.
        cholesky(shifted.T, overwrite_a=True, check_finite=False)
    except LinAlgError:
        eigenvalues = eigvalsh(K)
        if eigenvalues[0] < -slack:
            raise NotPositiveSemidefiniteError(
                f"{name} is not positive semi-definite: its smallest eigenvalue is "
                f"{eigenvalues[0]:.7g} (largest {eigenvalues[-1]:.7g}). Use a kernel such as "
                "'rbf', or other kernel parameters."
            ) from None


def squared_feature_distances(K: ArrayLike, diagonal_x: ArrayLike, diagonal_y: ArrayLike) -> Matrix:
    r"""Return squared distances between feature-space images, from kernel values alone.

    .. math:: \|\phi(x_i) - \phi(y_j)\|^2 = K(x_i, x_i) + K(y_j, y_j) - 2 K(x_i, y_j)

    Parameters
    ----------
    K : array-like of shape (n, m)
        Kernel values :math:`K(x_i, y_j)`.
    diagonal_x : array-like of shape (n,)
        Values :math:`K(x_i, x_i)` of the first points with themselves.
    diagonal_y : array-like of shape (m,)
        Values :math:`K(y_j, y_j)` of the second points with themselves.

    Returns
    -------
    ndarray of shape (n, m)
        Never negative: rounding below zero is set to zero.

    Examples
    --------
    >>> squared_feature_distances([[1.0, 0.5], [0.5, 1.0]], [1, 1], [1, 1]).tolist()
    [[0.0, 1.0], [1.0, 0.0]]
    """
    K = np.asarray(K, dtype=np.float64)
    sums = np.asarray(diagonal_x, dtype=float)[:, None] + np.asarray(diagonal_y, dtype=float)
    distances: Matrix = np.maximum(sums - 2.0 * K, 0.0)
    return distances
