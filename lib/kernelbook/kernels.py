r"""Kernel functions and Gram matrices that stay accurate far from the origin.

Every function maps two samples ``X`` (n, d) and ``Y`` (m, d) to the matrix of kernel values
(n, m); with ``Y`` left out the result is the Gram matrix of ``X``: exactly symmetric, and with
a diagonal of exactly 1 for the RBF and the Laplacian kernel.

Distances are summed from coordinate differences, never by
:math:`\|x\|^2 + \|y\|^2 - 2x^\top y`, which loses every digit for data far from the origin.
"""

from collections.abc import Callable
from numbers import Real
from typing import TypeGuard

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import LinAlgError, cholesky, eigvalsh
from scipy.spatial.distance import cdist, pdist
from sklearn.utils import check_array

from kernelbook.exceptions import NotPositiveSemidefiniteError

__all__ = [
    "check_gram",
    "gram",
    "is_positive_semidefinite_by_construction",
    "laplacian",
    "linear",
    "polynomial",
    "rbf",
    "resolve_gamma",
    "sigmoid",
    "squared_feature_distances",
]

Matrix = NDArray[np.float64]
Kernel = str | Callable[..., ArrayLike]

SYMMETRY_TOLERANCE = 1e-8
PSD_TOLERANCE = 1e-7
MEDIAN_SAMPLE = 2000


def _pair(X: ArrayLike, Y: ArrayLike | None) -> tuple[Matrix, Matrix]:
    X = check_array(X, dtype=np.float64, input_name="X")
    if Y is None:
        return X, X
    Y = check_array(Y, dtype=np.float64, input_name="Y")
    if X.shape[1] != Y.shape[1]:
        raise ValueError(
            f"X has {X.shape[1]} features and Y has {Y.shape[1]}: a kernel compares points of "
            "one space, so give both the same columns."
        )
    return X, Y


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
    X, Y = _pair(X, Y)
    return X @ Y.T


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
    return (gamma * linear(X, Y) + coef0) ** check_degree(degree)


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
    X, Y = _pair(X, Y)
    return np.exp(-gamma * cdist(X, Y, "sqeuclidean"))


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
    X, Y = _pair(X, Y)
    return np.exp(-gamma * cdist(X, Y, "cityblock"))


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
    return np.tanh(gamma * linear(X, Y) + coef0)


def check_degree(degree: object) -> int:
    """Return the degree of a polynomial kernel as an int of at least 1, or raise ValueError."""
    number = float(degree) if _is_number(degree) else 0.0
    if not (number >= 1 and number.is_integer()):
        raise ValueError(
            f"degree must be a whole number of at least 1, got {degree!r}: a fractional power "
            "of a negative inner product is not real."
        )
    return int(number)


def check_positive(name: str, value: object, *, zero: bool = False) -> float:
    """Return a parameter as a positive finite float, or raise a ValueError that names it."""
    number = float(value) if _is_number(value) else -1.0
    if not (0.0 < number < np.inf or (zero and number == 0.0)):
        at_least = "at least 0" if zero else "positive"
        raise ValueError(f"{name} must be a finite number, {at_least}, got {value!r}.")
    return number


def _is_number(value: object) -> TypeGuard[float]:
    return isinstance(value, Real) and not isinstance(value, bool)


def resolve_gamma(
    gamma: object, X: ArrayLike, sample_weight: NDArray[np.float64] | None = None
) -> float:
    r"""Turn a rule for the kernel width into the number :math:`\gamma`.

    Parameters
    ----------
    gamma : float or {'scale', 'auto', 'median'}
        A positive number is returned as it is. ``'scale'`` is
        :math:`1 / (d \operatorname{Var} X)` with the variance over all entries, ``'auto'`` is
        :math:`1/d`, ``'median'`` is one over the median squared distance of distinct pairs (of
        the first 2000 rows, so that it stays cheap and repeatable).
    X : array-like, shape (n, d)
    sample_weight : ndarray, shape (n,), optional
        Weighs the rows in the variance of ``'scale'``, so that a weight of k counts as k copies
        of a point; the other rules look at points of positive weight alike.

    Returns
    -------
    float
        Finite and positive; 1.0 where the rule divides by zero (constant data).

    Raises
    ------
    ValueError
        For any other string and for numbers that are not positive and finite.

    Examples
    --------
    The variance of the eight entries below is 4, so :math:`\gamma = 1/(2 \cdot 4)`:

    >>> resolve_gamma("scale", [[0, 0], [4, 0], [0, 4], [4, 4]])
    0.125
    """
    if _is_number(gamma):
        return check_positive("gamma", gamma)
    if not isinstance(gamma, str) or gamma not in ("scale", "auto", "median"):
        raise ValueError(
            f"gamma must be a positive number, 'scale', 'auto' or 'median', got {gamma!r}."
        )
    X = check_array(X, dtype=np.float64, input_name="X")
    if sample_weight is not None:
        X, sample_weight = X[sample_weight > 0], sample_weight[sample_weight > 0]
    if gamma == "auto":
        return 1.0 / X.shape[1]
    if gamma == "scale":
        Z = X - X[0, 0]  # exactly zero for constant data
        mean = np.average(Z, axis=0, weights=sample_weight).mean()
        squares = ((Z - mean) ** 2).mean(axis=1)
        spread = X.shape[1] * np.average(squares, weights=sample_weight)
    else:
        spread = np.median(pdist(X[:MEDIAN_SAMPLE], "sqeuclidean")) if len(X) > 1 else 0.0
    rounding = float(np.finfo(float).eps * np.abs(X).max()) * X.size**0.5
    return float(1.0 / spread) if float(spread) ** 0.5 > rounding else 1.0


def gram(
    kernel: Kernel,
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
    if callable(kernel):
        return _from_callable(kernel, *_pair(X, Y))
    if kernel == "precomputed":
        precomputed: Matrix = check_array(X, dtype=np.float64, input_name="X")
        return precomputed
    functions: dict[str, Callable[[], Matrix]] = {
        "linear": lambda: linear(X, Y),
        "poly": lambda: polynomial(X, Y, degree=degree, gamma=gamma, coef0=coef0),
        "rbf": lambda: rbf(X, Y, gamma=gamma),
        "laplacian": lambda: laplacian(X, Y, gamma=gamma),
        "sigmoid": lambda: sigmoid(X, Y, gamma=gamma, coef0=coef0),
    }
    if not isinstance(kernel, str) or kernel not in functions:
        raise ValueError(
            f"kernel must be one of {[*functions, 'precomputed']} or a callable, got {kernel!r}."
        )
    with np.errstate(over="ignore", invalid="ignore"):
        K = functions[kernel]()
    return _finite(K, f"kernel={kernel!r} overflows on this X: rescale the features")


def _from_callable(kernel: Callable[..., ArrayLike], X: Matrix, Y: Matrix) -> Matrix:
    K = np.asarray(kernel(X, Y), dtype=np.float64)
    if K.shape != (len(X), len(Y)):
        raise ValueError(
            f"the kernel callable returned shape {K.shape} for {len(X)} and {len(Y)} points: it "
            f"must return the matrix of shape ({len(X)}, {len(Y)})."
        )
    return _finite(K, "the kernel callable returned NaN or infinity")


def _finite(K: Matrix, complaint: str) -> Matrix:
    if not np.isfinite(K).all():
        raise ValueError(f"{complaint}.")
    return K


def is_positive_semidefinite_by_construction(
    kernel: Kernel, *, gamma: float = 1.0, coef0: float = 0.0
) -> bool:
    """Whether the kernel's Gram matrix is positive semi-definite whatever the data.

    True for the linear, RBF and Laplacian kernels and for polynomial kernels with
    ``coef0 >= 0``; the others have to pass :func:`check_gram`.

    Examples
    --------
    >>> is_positive_semidefinite_by_construction("poly", coef0=-1.0)
    False
    """
    if not isinstance(kernel, str):
        return False
    return kernel in ("linear", "rbf", "laplacian") or (
        kernel == "poly" and gamma >= 0 and coef0 >= 0
    )


def check_gram(K: ArrayLike, *, name: str = "K") -> Matrix:
    r"""Refuse a matrix that is no Gram matrix, and say why.

    Parameters
    ----------
    K : array-like, shape (n, n)
    name : str, default='K'
        What the messages call the matrix.

    Returns
    -------
    ndarray, shape (n, n)
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
    >>> check_gram([[1.0, 3.0], [3.0, 1.0]])  # doctest: +ELLIPSIS
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
    r"""Squared distances between feature-space images, from kernel values alone.

    .. math:: \|\phi(x_i) - \phi(y_j)\|^2 = K(x_i, x_i) + K(y_j, y_j) - 2 K(x_i, y_j)

    Parameters
    ----------
    K : array-like, shape (n, m)
        Kernel values :math:`K(x_i, y_j)`.
    diagonal_x : array-like, shape (n,)
        :math:`K(x_i, x_i)`.
    diagonal_y : array-like, shape (m,)
        :math:`K(y_j, y_j)`.

    Returns
    -------
    ndarray, shape (n, m)
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
