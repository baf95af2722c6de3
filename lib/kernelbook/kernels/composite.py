"""Kernels made of kernels: constants, sums and products."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kernelbook.kernels.base import Array, Kernel, Matrix

__all__ = ["Constant", "Product", "Sum"]


@dataclass(frozen=True)
class Constant(Kernel):
    """The constant kernel; a factor that scales another one.

    Parameters
    ----------
    value : float, default=1.0
        Its value; with a value >= 0 it is positive semi-definite.

    Examples
    --------
    >>> Constant(2.0)([[1.0]], [[5.0], [6.0]]).tolist()
    [[2.0, 2.0]]
    """

    value: float = 1.0

    @property
    def is_psd(self) -> bool:
        """Whether the value is not negative."""
        return self.value >= 0

    def evaluate(self, X: Matrix, Y: Matrix) -> Matrix:
        return np.full((len(X), len(Y)), self.value)

    def features(self, X: Matrix, max_features: int = 500) -> Matrix | None:
        return np.full((len(X), 1), self.value**0.5) if self.is_psd else None

    def weighted_gradient(self, X: Matrix, points: Matrix, weights: Matrix) -> Matrix:
        return np.zeros_like(X)

    def one_sided_gradient(self, X: Matrix) -> Matrix:
        return np.zeros_like(X)

    def metric(self, X: Matrix) -> Matrix:
        return np.zeros((len(X), X.shape[1], X.shape[1]))


@dataclass(frozen=True)
class _Pair(Kernel):
    """Two kernels on the same points."""

    first: Kernel
    second: Kernel

    def __post_init__(self) -> None:
        if self.first.is_precomputed or self.second.is_precomputed:
            raise ValueError(
                "a precomputed matrix cannot be combined with a kernel of points: add or "
                "multiply the matrices and pass the result with kernel='precomputed'."
            )

    @property
    def is_psd(self) -> bool:
        """Whether both kernels are positive semi-definite by construction."""
        return self.first.is_psd and self.second.is_psd


@dataclass(frozen=True)
class Sum(_Pair):
    """The sum of two kernels: their features side by side.

    Parameters
    ----------
    first, second : Kernel
        The summands.

    Examples
    --------
    >>> from kernelbook.kernels import Linear
    >>> (Linear() + Constant(1.0))([[2.0]], [[3.0]]).tolist()
    [[7.0]]
    """

    def evaluate(self, X: Matrix, Y: Matrix) -> Matrix:
        return self.first.evaluate(X, Y) + self.second.evaluate(X, Y)

    def diagonal(self, X: Matrix) -> Array:
        return self.first.diagonal(X) + self.second.diagonal(X)

    def about(self, centre: Array) -> Sum:
        return Sum(self.first.about(centre), self.second.about(centre))

    def one_sided(self, X: Matrix) -> Array:
        return self.first.one_sided(X) + self.second.one_sided(X)

    @property
    def constant(self) -> float:
        """The sum of the constants that were split off."""
        return self.first.constant + self.second.constant

    def features(self, X: Matrix, max_features: int = 500) -> Matrix | None:
        parts = [kernel.features(X, max_features) for kernel in (self.first, self.second)]
        known = [part for part in parts if part is not None]
        if len(known) < 2 or sum(part.shape[1] for part in known) > max_features:
            return None
        return np.hstack(known)

    def weighted_gradient(self, X: Matrix, points: Matrix, weights: Matrix) -> Matrix:
        first = self.first.weighted_gradient(X, points, weights)
        return first + self.second.weighted_gradient(X, points, weights)

    def one_sided_gradient(self, X: Matrix) -> Matrix:
        return self.first.one_sided_gradient(X) + self.second.one_sided_gradient(X)

    def metric(self, X: Matrix) -> Matrix:
        return self.first.metric(X) + self.second.metric(X)


@dataclass(frozen=True)
class Product(_Pair):
    """The product of two kernels: all products of their features.

    Parameters
    ----------
    first, second : Kernel
        The factors.

    Examples
    --------
    >>> from kernelbook.kernels import Linear
    >>> (0.5 * Linear())([[2.0]], [[3.0]]).tolist()
    [[3.0]]
    """

    def evaluate(self, X: Matrix, Y: Matrix) -> Matrix:
        return self.first.evaluate(X, Y) * self.second.evaluate(X, Y)

    def diagonal(self, X: Matrix) -> Array:
        return self.first.diagonal(X) * self.second.diagonal(X)

    def weighted_gradient(self, X: Matrix, points: Matrix, weights: Matrix) -> Matrix:
        first, second = self.first.evaluate(X, points), self.second.evaluate(X, points)
        gradient = self.first.weighted_gradient(X, points, weights * second)
        return gradient + self.second.weighted_gradient(X, points, weights * first)

    def one_sided_gradient(self, X: Matrix) -> Matrix:
        gradient = self.second.diagonal(X)[:, None] * self.first.one_sided_gradient(X)
        return gradient + self.first.diagonal(X)[:, None] * self.second.one_sided_gradient(X)

    def metric(self, X: Matrix) -> Matrix:
        g, h = self.first.one_sided_gradient(X), self.second.one_sided_gradient(X)
        cross = g[:, :, None] * h[:, None, :]
        metric = self.second.diagonal(X)[:, None, None] * self.first.metric(X)
        metric = metric + self.first.diagonal(X)[:, None, None] * self.second.metric(X)
        return metric + cross + cross.transpose(0, 2, 1)
