r"""Kernels of a distance: Gaussian and Laplacian, and others.

Distances are summed from coordinate differences, never by
:math:`\|x\|^2 + \|y\|^2 - 2x^\top y`, which loses every digit for data far from the origin.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Self

import numpy as np
from scipy.spatial.distance import cdist, pdist, squareform

from kernelbook.kernels.base import Array, Kernel, KernelParameters, Matrix
from kernelbook.kernels.compiled import CompiledPoints
from kernelbook.kernels.kinds import GAUSSIAN, LAPLACIAN
from kernelbook.kernels.width import check_width, mean_city_block_distance

__all__ = ["RBF", "Laplacian", "Radial"]

# Halvings of an interval that find a distance to the last digit.
BISECTIONS = 100


class Radial(Kernel):
    r"""A kernel :math:`k(x, y) = h(\|x - y\|^2)` of the squared Euclidean distance.

    A subclass defines :meth:`profile`; with :meth:`slope` it is smooth, and has gradients, a
    metric and pre-images.

    Examples
    --------
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
        return cdist(X, Y, "sqeuclidean")

    def evaluate(self, X: Matrix, Y: Matrix) -> Matrix:
        return self.profile(self.distances(X, Y))

    def gram(self, X: Matrix) -> Matrix:
        K = squareform(self.profile(pdist(X, "sqeuclidean")), checks=False)
        np.fill_diagonal(K, self.profile(np.zeros(1))[0])
        return K

    def diagonal(self, X: Matrix) -> Array:
        return self.profile(np.zeros(len(X)))

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
        exponents = cdist(X, Y, self.metric_name)
        exponents *= -self.kernel.gamma
        return np.expm1(exponents, out=exponents)

    def gram(self, X: Matrix) -> Matrix:
        exponents = pdist(X, self.metric_name)
        exponents *= -self.kernel.gamma
        return squareform(np.expm1(exponents, out=exponents), checks=False)

    def diagonal(self, X: Matrix) -> Array:
        return np.zeros(len(X))

    def compiled(self, X: Matrix) -> CompiledPoints | None:
        features = np.ascontiguousarray((self.unit * (X - self.centre)).T)
        return CompiledPoints(self.compiled_kind, features, np.zeros(len(X)))
