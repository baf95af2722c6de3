"""The Gaussian prior of weights, or of their logits: its mean by name, its covariance."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import LinAlgError, cho_factor, cho_solve
from sklearn.utils._param_validation import StrOptions

from kernelbook.estimator import Number
from kernelbook.exceptions import NotPositiveSemidefiniteError
from kernelbook.kernels import Array, Kernel, Matrix
from kernelbook.validation import check_number

__all__ = [
    "PRIOR_CONSTRAINTS",
    "check_covariance",
    "full_row_sums",
    "precision_matrix",
    "prior_mean_vector",
]


NAMES = ("constant", "row_sum", "row_mean")
PRIOR_CONSTRAINTS: dict[str, list[Any]] = {
    "prior_mean": [StrOptions(set(NAMES)), "array-like"],
    "prior_exponent": [Number(Real, 0, None, closed="neither")],
    "prior_scale": [Number(Real, 0, None, closed="neither"), "array-like"],
}
SYMMETRY_TOLERANCE = 1e-8


def prior_mean_vector(
    prior_mean: str | ArrayLike, row_sums: ArrayLike, exponent: float = 1.0
) -> Array:
    r"""Return the mean m of the prior from the row sums :math:`K\mathbf 1` of n targets.

    Parameters
    ----------
    prior_mean : {'constant', 'row_sum', 'row_mean'} or array-like of shape (n,)
        ``'constant'`` is :math:`m = 0`, ``'row_sum'`` :math:`m = -(K\mathbf 1)^v`, ``'row_mean'``
        :math:`m = -(K\mathbf 1 / n)^v`, entry by entry; an array is m itself.
    row_sums : array-like of shape (n,)
        The row sums of the Gram matrix of the targets.
    exponent : float, default=1.0
        The exponent v > 0; ignored for ``'constant'`` and arrays.

    Returns
    -------
    ndarray of shape (n,)
        The mean m.

    Raises
    ------
    ValueError
        If the name is not known, the shape is wrong, or a negative row sum has a power that is
        not an integer.

    Examples
    --------
    >>> prior_mean_vector("row_sum", [4.0, 9.0], 0.5).tolist()
    [-2.0, -3.0]
    >>> prior_mean_vector("row_mean", [4.0, 9.0]).tolist()
    [-2.0, -4.5]
    """
    sums = np.asarray(row_sums, dtype=np.float64)
    v = check_number(exponent, "prior_exponent", low=0, inclusive="neither")
    if not isinstance(prior_mean, str):
        return _given_mean(prior_mean, len(sums))
    if prior_mean not in NAMES:
        raise ValueError(
            f"prior_mean must be one of {list(NAMES)} or an array ({len(sums)},), got "
            f"{prior_mean!r}."
        )
    if prior_mean == "constant":
        return np.zeros(len(sums))
    if v != int(v) and (sums < 0).any():
        raise ValueError(
            f"prior_exponent={v:g} needs row sums of the Gram matrix that are not negative; the "
            f"smallest is {sums.min():.6g}. Use prior_exponent=1 or a kernel without negative "
            "values, such as 'rbf'."
        )
    mean: Array = -((sums if prior_mean == "row_sum" else sums / len(sums)) ** v)
    return mean


def _given_mean(prior_mean: ArrayLike, n: int) -> Array:
    mean = np.asarray(prior_mean, dtype=np.float64)
    if mean.shape != (n,) or not np.isfinite(mean).all():
        raise ValueError(
            f"prior_mean must hold one finite number for each of the {n} targets, shape ({n},), "
            f"got shape {mean.shape}."
        )
    return mean


def check_covariance(prior_scale: float | ArrayLike, n: int) -> float | Matrix:
    """Return the covariance of n weights, or raise an error that says what is wrong with it.

    Parameters
    ----------
    prior_scale : float or array-like of shape (n, n)
        A variance s for s I, or the covariance itself.
    n : int
        Number of weights.

    Returns
    -------
    float or ndarray of shape (n, n)
        The variance, or the matrix made exactly symmetric.

    Raises
    ------
    ValueError
        If a number is not positive, a shape is wrong, an entry is not finite, or a matrix is not
        symmetric.

    Examples
    --------
    >>> check_covariance(2, 5)
    2.0
    """
    if isinstance(prior_scale, Real) or np.ndim(np.asarray(prior_scale)) == 0:
        return check_number(prior_scale, "prior_scale", low=0, inclusive="neither")
    covariance = np.asarray(prior_scale, dtype=np.float64)
    if covariance.shape != (n, n) or not np.isfinite(covariance).all():
        raise ValueError(
            f"prior_scale must be a positive variance, or a finite covariance matrix of the {n} "
            f"targets, shape ({n}, {n}); got shape {covariance.shape}."
        )
    if np.abs(covariance - covariance.T).max() > SYMMETRY_TOLERANCE * np.abs(covariance).max():
        raise ValueError("prior_scale must be a symmetric matrix.")
    return (covariance + covariance.T) / 2


def precision_matrix(covariance: float | Matrix, n: int) -> Matrix:
    """Return the inverse of a covariance.

    Parameters
    ----------
    covariance : float or ndarray of shape (n, n)
        What :func:`check_covariance` returned.
    n : int
        Number of weights.

    Returns
    -------
    ndarray of shape (n, n)
        The precision matrix, symmetric.

    Raises
    ------
    NotPositiveSemidefiniteError
        If the matrix is not positive definite.

    Examples
    --------
    >>> precision_matrix(4.0, 2).tolist()
    [[0.25, 0.0], [0.0, 0.25]]
    """
    if np.ndim(covariance) == 0:
        return np.eye(n) / covariance
    try:
        inverse = cho_solve(cho_factor(covariance, lower=True), np.eye(n))
    except LinAlgError as error:
        raise NotPositiveSemidefiniteError(
            "prior_scale must be a positive definite matrix: its inverse weighs the prior. Add a "
            "small multiple of the identity."
        ) from error
    return (inverse + inverse.T) / 2


def full_row_sums(K: Matrix, split: Kernel, points: Matrix) -> Array:
    """Return the row sums of the Gram matrix of points, of which K holds k_c only.

    Parameters
    ----------
    K : ndarray of shape (n, n)
        Values of ``split`` among the points.
    split : Kernel
        What :meth:`~kernelbook.kernels.Kernel.about` returned.
    points : ndarray of shape (n, d)
        The points.

    Returns
    -------
    ndarray of shape (n,)
        Row sums of the plain kernel's Gram matrix.

    Examples
    --------
    The linear kernel of 1 and 3, about their mean, and in full:

    >>> from kernelbook.kernels import Linear
    >>> X = np.array([[1.0], [3.0]])
    >>> split = Linear().about(np.array([2.0]))
    >>> full_row_sums(split.gram(X), split, X).tolist()
    [4.0, 12.0]
    """
    one_sided = split.one_sided(points)
    sums: Array = K.sum(axis=1) + len(points) * (one_sided + split.constant) + one_sided.sum()
    return sums
