r"""Kernels of a distance: Gaussian and Laplacian, and the rules for their width.

Distances are summed from coordinate differences, never by
:math:`\|x\|^2 + \|y\|^2 - 2x^\top y`, which loses every digit for data far from the origin.
Sparse points are the exception: they are near the origin, where most of their entries are.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from numbers import Real
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import issparse
from scipy.spatial.distance import cdist, pdist, squareform
from sklearn.utils import check_array

from kernelbook.kernels.base import Array, Kernel, Matrix
from kernelbook.kernels.compiled import CompiledPoints
from kernelbook.kernels.kinds import GAUSSIAN, LAPLACIAN
from kernelbook.kernels.parameters import KernelParameters
from kernelbook.kernels.sparse import squared_distances

__all__ = ["RBF", "Laplacian", "Radial", "resolve_gamma"]

# Rows whose pairwise distances the rule 'median' looks at.
MEDIAN_SAMPLE = 2000
# Smaller spreads have lost digits to the end of the range of numbers; their inverse may overflow.
SMALLEST_SPREAD = 1e-290
# Halvings of an interval that find a distance to the last digit.
BISECTIONS = 100


class Radial(Kernel):
    r"""A kernel :math:`k(x, y) = h(\|x - y\|^2)` of the squared Euclidean distance.

    A subclass defines :meth:`profile`; with :meth:`slope` it is smooth, and has gradients, a
    metric and pre-images.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> import numpy as np
    >>> @dataclass(frozen=True)
    ... class Cauchy(Radial):
    ...     is_psd = True
    ...
    ...     def profile(self, squares):
    ...         return 1.0 / (1.0 + squares)
    ...
    ...     def slope(self, squares):
    ...         return -1.0 / (1.0 + squares) ** 2
    >>> Cauchy()([[0.0]], [[0.0], [2.0]]).tolist()
    [[1.0, 0.2]]
    >>> Cauchy().inverse_profile(np.array([0.2])).round(9).tolist()
    [4.0]
    """

    @abstractmethod
    def profile(self, squares: Matrix) -> Matrix:
        """Return the values at given squared distances.

        Parameters
        ----------
        squares : ndarray
            Squared distances, of any shape.

        Returns
        -------
        ndarray
            The values h(squares), of the same shape.
        """

    def slope(self, squares: Matrix) -> Matrix:
        """Return the derivative of :meth:`profile`; smooth kernels only.

        Parameters
        ----------
        squares : ndarray
            Squared distances, of any shape.

        Returns
        -------
        ndarray
            The derivatives h'(squares), of the same shape.

        Raises
        ------
        ValueError
            If the kernel does not define it.
        """
        raise ValueError(self._not_smooth())

    def inverse_profile(self, values: Array) -> Array:
        """Return the squared distances at which a falling profile takes given values.

        Parameters
        ----------
        values : ndarray of shape (n,)
            Kernel values between those at distance infinity and 0.

        Returns
        -------
        ndarray of shape (n,)
            Squared distances; found by bisection unless the kernel has a closed form.
        """
        low, high = np.zeros(len(values)), np.ones(len(values))
        while (short := self.profile(high) > values).any() and high.max() < 1e300:
            high[short] *= 4.0
        for _ in range(BISECTIONS):
            middle = (low + high) / 2.0
            above = self.profile(middle) > values
            low, high = np.where(above, middle, low), np.where(above, high, middle)
        return (low + high) / 2.0

    def distances(self, X: Matrix, Y: Matrix) -> Matrix:
        """Return the squared Euclidean distance of every pair, for :meth:`profile`.

        Parameters
        ----------
        X : ndarray of shape (n, d)
            First points.
        Y : ndarray of shape (m, d)
            Second points.

        Returns
        -------
        ndarray of shape (n, m)
            In squared units of the features.
        """
        if issparse(X) or issparse(Y):
            return squared_distances(X, Y)
        return cdist(X, Y, "sqeuclidean")

    def evaluate(self, X: Matrix, Y: Matrix) -> Matrix:
        return self.profile(self.distances(X, Y))

    def gram(self, X: Matrix) -> Matrix:
        if issparse(X):
            return self.evaluate(X, X)
        K = squareform(self.profile(pdist(X, "sqeuclidean")), checks=False)
        np.fill_diagonal(K, self.profile(np.zeros(1))[0])
        return K

    def diagonal(self, X: Matrix) -> Array:
        return self.profile(np.zeros(X.shape[0]))

    def weighted_gradient(self, X: Matrix, points: Matrix, weights: Matrix) -> Matrix:
        slopes = 2.0 * weights * self.slope(self.distances(X, points))
        return X * slopes.sum(axis=1)[:, None] - slopes @ points

    def one_sided_gradient(self, X: Matrix) -> Matrix:
        return np.zeros_like(X)

    def metric(self, X: Matrix) -> Matrix:
        slopes = self.slope(np.zeros(len(X)))
        return -2.0 * slopes[:, None, None] * np.eye(X.shape[1])


@dataclass(frozen=True)
class RBF(Radial, name="rbf"):
    r"""Gaussian kernel :math:`k(x, y) = \exp(-\gamma \|x - y\|^2)`.

    Parameters
    ----------
    gamma : float, default=1.0
        Inverse squared width, :math:`\gamma = 1 / (2\sigma^2) > 0`.

    Examples
    --------
    Half a unit apart, :math:`e^{-0.5 \cdot 0.25} = e^{-1/8}`, wherever the two points are:

    >>> round(float(RBF(gamma=0.5)([[1e8]], [[1e8 + 0.5]])[0, 0]), 7)
    0.8824969
    """

    gamma: float = 1.0
    is_psd = True
    takes_sparse = True

    def __post_init__(self) -> None:
        check_width(self.gamma)

    def profile(self, squares: Matrix) -> Matrix:
        return np.exp(-self.gamma * squares)

    def slope(self, squares: Matrix) -> Matrix:
        return -self.gamma * self.profile(squares)

    def inverse_profile(self, values: Array) -> Array:
        return -np.log(values) / self.gamma

    def about(self, centre: Array) -> Kernel:
        return _LessOne(self, centre, GAUSSIAN, self.gamma**0.5, "sqeuclidean")


@dataclass(frozen=True)
class Laplacian(Kernel, name="laplacian"):
    r"""Laplacian kernel :math:`k(x, y) = \exp(-\gamma \|x - y\|_1)`, of the city-block distance.

    Parameters
    ----------
    gamma : float, default=1.0
        Inverse width > 0, in the inverse unit of the features.

    Examples
    --------
    >>> round(float(Laplacian(gamma=0.5)([[0, 0]], [[1, 1]])[0, 0]), 7)
    0.3678794
    """

    gamma: float = 1.0
    is_psd = True

    def __post_init__(self) -> None:
        check_width(self.gamma)

    @classmethod
    def from_parameters(cls, X: Matrix, parameters: KernelParameters) -> Self:
        if parameters.gamma == "mean_distance":
            mean = mean_city_block_distance(X, parameters.sample_weight)
            return cls(1.0 / mean if mean > 0 else 1.0)
        return super().from_parameters(X, parameters)

    def evaluate(self, X: Matrix, Y: Matrix) -> Matrix:
        return np.exp(-self.gamma * cdist(X, Y, "cityblock"))

    def gram(self, X: Matrix) -> Matrix:
        K = squareform(np.exp(-self.gamma * pdist(X, "cityblock")), checks=False)
        np.fill_diagonal(K, 1.0)
        return K

    def diagonal(self, X: Matrix) -> Array:
        return np.ones(len(X))

    def about(self, centre: Array) -> Kernel:
        return _LessOne(self, centre, LAPLACIAN, self.gamma, "cityblock")


@dataclass(frozen=True)
class _LessOne(Kernel):
    """k - 1 for an exponential kernel k: wide kernels, nearly constant, keep their digits."""

    kernel: RBF | Laplacian
    centre: Array
    compiled_kind: int
    unit: float  # of the features in which gamma is 1
    metric_name: str
    is_psd = True
    is_split = True
    constant = 1.0

    def evaluate(self, X: Matrix, Y: Matrix) -> Matrix:
        is_sparse = issparse(X) or issparse(Y)
        exponents = squared_distances(X, Y) if is_sparse else cdist(X, Y, self.metric_name)
        exponents *= -self.kernel.gamma
        return np.expm1(exponents, out=exponents)

    def gram(self, X: Matrix) -> Matrix:
        if issparse(X):
            return self.evaluate(X, X)
        exponents = pdist(X, self.metric_name)
        exponents *= -self.kernel.gamma
        return squareform(np.expm1(exponents, out=exponents), checks=False)

    def diagonal(self, X: Matrix) -> Array:
        return np.zeros(X.shape[0])

    def compiled(self, X: Matrix) -> CompiledPoints | None:
        if issparse(X):
            return None
        features = np.ascontiguousarray((self.unit * (X - self.centre)).T)
        return CompiledPoints(self.compiled_kind, features, np.zeros(len(X)))


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
    X = check_array(X, dtype=np.float64, input_name="X", accept_sparse="csr")
    if sample_weight is not None:
        X, sample_weight = X[sample_weight > 0], sample_weight[sample_weight > 0]
    if gamma == "auto":
        return 1.0 / X.shape[1]
    spread = _scale(X, sample_weight) if gamma == "scale" else _median_square(X)
    # Sparse points hold zeros, so that their differences are as large as they are.
    largest = float(abs(X).max() if issparse(X) else np.abs(X - X[0]).max())
    rounding = float(np.finfo(float).eps * abs(X).max()) * (X.shape[0] * X.shape[1]) ** 0.5
    if not np.isfinite(spread) or (largest > rounding and float(spread) < SMALLEST_SPREAD):
        raise ValueError(
            f"gamma={gamma!r} finds no width: squares of the differences in X, up to "
            f"{largest:.3g}, {'overflow' if largest > 1.0 else 'vanish'}. Rescale the features."
        )
    return float(1.0 / spread) if float(spread) ** 0.5 > rounding else 1.0


def _scale(X: Any, sample_weight: Array | None) -> float:
    """Number of features times the variance over all entries."""
    if issparse(X):
        size, squares = X.sum(axis=1), X.multiply(X).sum(axis=1)
        mean = np.average(np.ravel(size), weights=sample_weight) / X.shape[1]
        return float(np.average(np.ravel(squares), weights=sample_weight) - X.shape[1] * mean**2)
    Z = X - X[0, 0]  # exactly zero for constant data
    with np.errstate(over="ignore", invalid="ignore"):
        mean = np.average(Z, axis=0, weights=sample_weight).mean()
        squares = ((Z - mean) ** 2).mean(axis=1)
        return float(X.shape[1] * np.average(squares, weights=sample_weight))


def _median_square(X: Any) -> float:
    """Median squared distance of pairs of the first rows."""
    some = X[:MEDIAN_SAMPLE]
    if some.shape[0] < 2:
        return 0.0
    if issparse(X):
        return float(np.median(squareform(squared_distances(some, some), checks=False)))
    return float(np.median(pdist(some, "sqeuclidean")))


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
