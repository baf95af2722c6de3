"""Kernels as functions, for use without an object: matrices of values by name."""

import numpy as np
from numpy.typing import ArrayLike

from kernelbook.kernels.base import KernelLike, Matrix, resolve_kernel
from kernelbook.kernels.inner_product import Linear, Polynomial, Sigmoid
from kernelbook.kernels.radial import RBF, Laplacian

__all__ = ["gram", "laplacian", "linear", "polynomial", "rbf", "sigmoid"]


def linear(X: ArrayLike, Y: ArrayLike | None = None) -> Matrix:
    r"""Linear kernel :math:`K(x, y) = x^\top y`.

    Parameters
    ----------
    X : array-like, shape (n, d)
    Y : array-like, shape (m, d), optional
        ``X`` itself if left out.

    Returns
    -------
    ndarray, shape (n, m)
        In squared units of the features.

    Raises
    ------
    ValueError
        For NaN or infinite entries, or different numbers of columns.

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
    r"""Polynomial kernel :math:`K(x, y) = (\gamma\, x^\top y + r)^D`.

    Parameters
    ----------
    X : array-like, shape (n, d)
    Y : array-like, shape (m, d), optional
        ``X`` itself if left out.
    degree : int, default=3
        The exponent :math:`D \ge 1`. A whole number: a fractional power of a negative base is
        not real.
    gamma : float, default=1.0
        Factor of the inner product.
    coef0 : float, default=0.0
        The constant :math:`r`. With 0, scikit-learn's default, only monomials of degree exactly
        :math:`D` remain; a negative one gives a kernel that need not be positive semi-definite.

    Returns
    -------
    ndarray, shape (n, m)

    Raises
    ------
    ValueError
        For a degree that is no whole number of at least 1, or invalid ``X`` or ``Y``.

    Examples
    --------
    >>> polynomial([[1.0], [2.0]], degree=2, coef0=1.0).tolist()
    [[4.0, 9.0], [9.0, 25.0]]
    """
    return Polynomial(degree, gamma, coef0)(X, Y)


def rbf(X: ArrayLike, Y: ArrayLike | None = None, *, gamma: float = 1.0) -> Matrix:
    r"""Gaussian (RBF) kernel :math:`K(x, y) = \exp(-\gamma \|x - y\|^2)`.

    Parameters
    ----------
    X : array-like, shape (n, d)
    Y : array-like, shape (m, d), optional
        ``X`` itself if left out.
    gamma : float, default=1.0
        Inverse squared width, :math:`\gamma = 1 / (2\sigma^2)`.

    Returns
    -------
    ndarray, shape (n, m)
        Values in [0, 1], without a unit.

    Raises
    ------
    ValueError
        For NaN or infinite entries, or different numbers of columns.

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
    r"""Laplacian kernel :math:`K(x, y) = \exp(-\gamma \|x - y\|_1)`, with the city-block distance.

    Parameters
    ----------
    X : array-like, shape (n, d)
    Y : array-like, shape (m, d), optional
        ``X`` itself if left out.
    gamma : float, default=1.0
        Inverse width, in the inverse unit of the features.

    Returns
    -------
    ndarray, shape (n, m)
        Values in [0, 1].

    Raises
    ------
    ValueError
        For NaN or infinite entries, or different numbers of columns.

    Examples
    --------
    >>> round(float(laplacian([[0, 0]], [[1, 1]], gamma=0.5)[0, 0]), 7)
    0.3678794
    """
    return Laplacian(gamma)(X, Y)


def sigmoid(
    X: ArrayLike, Y: ArrayLike | None = None, *, gamma: float = 1.0, coef0: float = 0.0
) -> Matrix:
    r"""Sigmoid function :math:`\tanh(\gamma\, x^\top y + r)`, in general no kernel at all.

    Parameters
    ----------
    X : array-like, shape (n, d)
    Y : array-like, shape (m, d), optional
        ``X`` itself if left out.
    gamma, coef0 : float

    Returns
    -------
    ndarray, shape (n, m)
        Values in [-1, 1]. Its Gram matrix may have negative eigenvalues, which
        :func:`check_gram` refuses.

    Raises
    ------
    ValueError
        For NaN or infinite entries, or different numbers of columns.

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
    r"""Matrix of kernel values by the kernel's scikit-learn name.

    Parameters
    ----------
    kernel : {'linear', 'poly', 'rbf', 'laplacian', 'sigmoid', 'precomputed'} or callable
        A callable receives ``X`` and ``Y`` and returns the (n, m) matrix. With
        ``'precomputed'`` ``X`` already is that matrix and ``Y`` is not looked at.
    X : array-like, shape (n, d)
    Y : array-like, shape (m, d), optional
        ``X`` itself if left out.
    gamma, degree, coef0
        As far as the kernel has them; ``gamma`` is a number here, see :func:`resolve_gamma`.

    Returns
    -------
    ndarray, shape (n, m)

    Raises
    ------
    ValueError
        For an unknown name, a callable whose result is not an (n, m) matrix, and values that
        are not finite.

    Examples
    --------
    >>> gram("poly", [[1.0], [2.0]], degree=2, coef0=1.0).tolist()
    [[4.0, 9.0], [9.0, 25.0]]
    """
    resolved = resolve_kernel(kernel, np.empty((0, 0)), gamma=gamma, degree=degree, coef0=coef0)
    return resolved(X, None if resolved.is_precomputed else Y)
