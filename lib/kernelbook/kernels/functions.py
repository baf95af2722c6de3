"""Kernels as functions, for use without an object: matrices of values by name."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from kernelbook.kernels.base import KernelLike, Matrix, resolve_kernel
from kernelbook.kernels.inner_product import Linear, Polynomial, Sigmoid
from kernelbook.kernels.radial import RBF, Laplacian

__all__ = ["gram", "laplacian", "linear", "polynomial", "rbf", "sigmoid"]


def linear(X: ArrayLike, Y: ArrayLike | None = None) -> Matrix:
    r"""Return the values of the linear kernel :math:`k(x, y) = x^\top y`.

    Parameters
    ----------
    X : array-like of shape (n, d)
        First arguments.
    Y : array-like of shape (m, d), default=None
        Second arguments. If None, ``X`` itself.

    Returns
    -------
    ndarray of shape (n, m)
        ``k(X[i], Y[j])``, in squared units of the features.

    Raises
    ------
    ValueError
        If an entry is NaN or infinite, or if the numbers of columns differ.

    Examples
    --------
    >>> linear([[1, 2], [3, 4]]).tolist()
    [[5.0, 11.0], [11.0, 25.0]]
    """
    return Linear()(X, Y)


def polynomial(
    X: ArrayLike,
    Y: ArrayLike | None = None,
    *,
    degree: int = 3,
    gamma: float = 1.0,
    coef0: float = 0.0,
) -> Matrix:
    r"""Return the values of the polynomial kernel :math:`k(x, y) = (\gamma\, x^\top y + r)^D`.

    Parameters
    ----------
    X : array-like of shape (n, d)
        First arguments.
    Y : array-like of shape (m, d), default=None
        Second arguments. If None, ``X`` itself.
    degree : int, default=3
        The exponent :math:`D \ge 1`. An integer: a fractional power of a negative base is not
        real.
    gamma : float, default=1.0
        Factor of the inner product.
    coef0 : float, default=0.0
        The constant :math:`r`. With 0, scikit-learn's default, only monomials of degree exactly
        :math:`D` remain; a negative one gives a kernel that need not be positive semi-definite.

    Returns
    -------
    ndarray of shape (n, m)
        ``k(X[i], Y[j])``.

    Raises
    ------
    ValueError
        If the degree is not an integer >= 1, an entry is NaN or infinite, the numbers of columns
        differ, or a value overflows.

    Examples
    --------
    >>> polynomial([[1.0], [2.0]], degree=2, coef0=1.0).tolist()
    [[4.0, 9.0], [9.0, 25.0]]
    """
    return Polynomial(degree, gamma, coef0)(X, Y)


def rbf(X: ArrayLike, Y: ArrayLike | None = None, *, gamma: float = 1.0) -> Matrix:
    r"""Return the values of the Gaussian kernel :math:`k(x, y) = \exp(-\gamma \|x - y\|^2)`.

    Parameters
    ----------
    X : array-like of shape (n, d)
        First arguments.
    Y : array-like of shape (m, d), default=None
        Second arguments. If None, ``X`` itself.
    gamma : float, default=1.0
        Inverse squared width > 0, :math:`\gamma = 1 / (2\sigma^2)`, in the inverse squared unit
        of the features.

    Returns
    -------
    ndarray of shape (n, m)
        Values in [0, 1], without a unit.

    Raises
    ------
    ValueError
        If an entry is NaN or infinite, or if the numbers of columns differ.

    Notes
    -----
    The distance is the sum of squared coordinate differences, so an offset of 1e8 costs no
    more digits than the data themselves have lost by it.

    Examples
    --------
    Half a unit apart, :math:`e^{-0.5 \cdot 0.25} = e^{-1/8}`, wherever the two points are:

    >>> round(float(rbf([[1e8]], [[1e8 + 0.5]], gamma=0.5)[0, 0]), 7)
    0.8824969
    """
    return RBF(gamma)(X, Y)


def laplacian(X: ArrayLike, Y: ArrayLike | None = None, *, gamma: float = 1.0) -> Matrix:
    r"""Return the values of the Laplacian kernel :math:`k(x, y) = \exp(-\gamma \|x - y\|_1)`.

    The distance is the city-block distance, the sum of the absolute differences.

    Parameters
    ----------
    X : array-like of shape (n, d)
        First arguments.
    Y : array-like of shape (m, d), default=None
        Second arguments. If None, ``X`` itself.
    gamma : float, default=1.0
        Inverse width > 0, in the inverse unit of the features.

    Returns
    -------
    ndarray of shape (n, m)
        Values in [0, 1].

    Raises
    ------
    ValueError
        If an entry is NaN or infinite, or if the numbers of columns differ.

    Examples
    --------
    >>> round(float(laplacian([[0, 0]], [[1, 1]], gamma=0.5)[0, 0]), 7)
    0.3678794
    """
    return Laplacian(gamma)(X, Y)


def sigmoid(
    X: ArrayLike, Y: ArrayLike | None = None, *, gamma: float = 1.0, coef0: float = 0.0
) -> Matrix:
    r"""Return the values of the sigmoid function :math:`\tanh(\gamma\, x^\top y + r)`.

    In general it is no kernel at all: its Gram matrix may have negative eigenvalues.

    Parameters
    ----------
    X : array-like of shape (n, d)
        First arguments.
    Y : array-like of shape (m, d), default=None
        Second arguments. If None, ``X`` itself.
    gamma : float, default=1.0
        Factor of the inner product.
    coef0 : float, default=0.0
        The constant :math:`r`.

    Returns
    -------
    ndarray of shape (n, m)
        Values in [-1, 1]; :func:`~kernelbook.kernels.check_gram` tells whether a matrix of them
        is positive semi-definite.

    Raises
    ------
    ValueError
        If an entry is NaN or infinite, or if the numbers of columns differ.

    Examples
    --------
    >>> sigmoid([[1.0]], [[0.0]], coef0=0.0).tolist()
    [[0.0]]
    """
    return Sigmoid(gamma, coef0)(X, Y)


def gram(
    kernel: KernelLike,
    X: ArrayLike,
    Y: ArrayLike | None = None,
    *,
    gamma: float = 1.0,
    degree: int = 3,
    coef0: float = 0.0,
) -> Matrix:
    r"""Return the matrix of values of a kernel that is given by its name.

    Parameters
    ----------
    kernel : {'linear', 'poly', 'rbf', 'laplacian', 'sigmoid', 'precomputed'}, Kernel or callable
        A callable receives ``X`` and ``Y`` and returns the matrix of values. With
        ``'precomputed'`` ``X`` already is that matrix, and ``Y`` is ignored.
    X : array-like of shape (n, d)
        First arguments.
    Y : array-like of shape (m, d), default=None
        Second arguments. If None, ``X`` itself.
    gamma : float, default=1.0
        Width of 'rbf', 'poly', 'laplacian' and 'sigmoid'; :func:`~kernelbook.kernels.resolve_gamma`
        turns a rule such as 'scale' into this number.
    degree : int, default=3
        Degree of 'poly'.
    coef0 : float, default=0.0
        Independent term of 'poly' and 'sigmoid'.

    Returns
    -------
    ndarray of shape (n, m)
        ``k(X[i], Y[j])``.

    Raises
    ------
    ValueError
        If the name is not known, a callable returns anything but an (n, m) matrix, or an entry or
        a value is not finite.

    Examples
    --------
    >>> gram("poly", [[1.0], [2.0]], degree=2, coef0=1.0).tolist()
    [[4.0, 9.0], [9.0, 25.0]]
    """
    resolved = resolve_kernel(kernel, np.empty((0, 0)), gamma=gamma, degree=degree, coef0=coef0)
    return resolved(X, None if resolved.is_precomputed else Y)
