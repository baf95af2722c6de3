"""The conformal kernel: another kernel times a factor of each of its arguments."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from typing import Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_array

from kernelbook.conformal.factors import ConformalFactor, as_factor
from kernelbook.kernels import Array, Expansion, Index, Kernel, KernelLike, Matrix, resolve_kernel
from kernelbook.kernels.compiled import CompiledPoints
from kernelbook.validation import check_number, name_of

__all__ = ["Conformal", "ConformalExpansion", "KnownValues", "magnification"]


@dataclass(frozen=True)
class ConformalExpansion:
    r"""A function :math:`x \mapsto D(x) \sum_i c_i k(x, x_i)`.

    Parameters
    ----------
    factor : ConformalFactor
        D.
    expansion : callable
        From points (m, d) to the sums, (m,) or (m, p).

    Examples
    --------
    >>> expansion = ConformalExpansion(ConformalFactor(log_scale=np.log(3.0)), lambda X: X[:, 0])
    >>> expansion(np.array([[1.0], [2.0]])).round(12).tolist()
    [3.0, 6.0]
    """

    factor: ConformalFactor
    expansion: Expansion

    def __call__(self, X: Matrix) -> Array:
        return (self.factor(X) * self.expansion(X).T).T


@dataclass(frozen=True)
class KnownValues:
    """Values at points that are recognised by their content.

    The points themselves are not held: a machine keeps its kernel, but not the training set.

    Attributes
    ----------
    digest : bytes
        What the points are recognised by.
    values : ndarray of shape (n,)
        The values.

    Examples
    --------
    >>> points = np.array([[1.0], [2.0]])
    >>> known = KnownValues.at(points, np.array([5.0, 6.0]))
    >>> known.recall(points.copy()).tolist(), known.recall(points + 1.0)
    ([5.0, 6.0], None)
    """

    digest: bytes
    values: Array

    @classmethod
    def at(cls, X: Matrix, values: Array) -> Self:
        """Remember values.

        Parameters
        ----------
        X : ndarray of shape (n, d)
            The points.
        values : ndarray of shape (n,)
            Their values.

        Returns
        -------
        KnownValues
            Which recalls them for equal points.
        """
        return cls(_digest(X), values)

    def recall(self, X: Matrix) -> Array | None:
        """Return the values if the points are the same.

        Parameters
        ----------
        X : ndarray of shape (m, d)
            Points.

        Returns
        -------
        ndarray of shape (n,) or None
            None if the points are others.
        """
        is_known = len(X) == len(self.values) and _digest(X) == self.digest
        return self.values if is_known else None


def _digest(X: Matrix) -> bytes:
    return blake2b(np.ascontiguousarray(X).tobytes()).digest()


@dataclass(frozen=True)
class Conformal(Kernel):
    r"""Conformal transformation :math:`\tilde k(x, y) = D(x)\, D(y)\, k(x, y)` of a kernel.

    Parameters
    ----------
    kernel : Kernel
        The kernel k.
    factor : ConformalFactor or callable
        D: a function of points (m, d) with positive values (m,). Without the gradients of a
        :class:`ConformalFactor` those of the kernel are taken by central differences.
    columns : ndarray of int, default=None
        For a precomputed kernel, whose factor is computed from all the values of a point with
        the training points, those of the training points that take part. If None, all do.
    known : KnownValues, default=None
        D at the training points, if it has been computed already.

    See Also
    --------
    magnification : The volume that the kernel gives to the input space.

    Examples
    --------
    >>> from kernelbook.kernels import RBF
    >>> conformal = Conformal(RBF(), lambda X: 1.0 + X[:, 0])
    >>> conformal([[0.0], [1.0]]).round(6).tolist()
    [[1.0, 0.735759], [0.735759, 4.0]]
    """

    kernel: Kernel
    factor: Callable[[Matrix], ArrayLike]
    columns: Index | None = None
    known: KnownValues | None = field(default=None, compare=False)

    def __repr__(self) -> str:
        return f"Conformal(kernel={self.kernel!r}, factor={name_of(self.factor)})"

    @property
    def is_psd(self) -> bool:
        """Whether the kernel k is positive semi-definite by construction."""
        return self.kernel.is_psd

    @property
    def is_precomputed(self) -> bool:  # type: ignore[override]
        """Whether ``X`` holds values of k."""
        return self.kernel.is_precomputed

    @property
    def gamma(self) -> float:
        """The width of the kernel k, if it has one."""
        gamma: float = self.kernel.gamma  # type: ignore[attr-defined]
        return gamma

    def evaluate(self, X: Matrix, Y: Matrix) -> Matrix:
        scale = np.outer(self._factor(X), self._factor(Y))
        return scale * self._taking_part(self.kernel.evaluate(X, Y))

    def gram(self, X: Matrix) -> Matrix:
        D = self._values(X)
        return np.outer(D, D) * self._taking_part(self.kernel.gram(X))

    def diagonal(self, X: Matrix) -> Array:
        return self._factor(X) ** 2 * self.kernel.diagonal(self._taking_part(X))

    def subset(self, X: Matrix, index: Index) -> Matrix:
        return X[index] if self.is_precomputed else self.kernel.subset(X, index)

    def expansion(self, X: Matrix, index: Index, coefficients: Array) -> Expansion:
        known = None if self.known is None else self.known.recall(X)
        D = self._factor(X[index]) if known is None else known[index]
        scaled = (D * coefficients.T).T
        return ConformalExpansion(self._factor, self.kernel.expansion(X, index, scaled))

    def among(self, X: Matrix) -> Callable[[Index, Index], Matrix]:
        D, inner = self._values(X), self.kernel.among(X)

        def values(rows: Index, columns: Index) -> Matrix:
            return D[rows, None] * D[columns] * inner(rows, columns)

        return values

    def features(self, X: Matrix, max_features: int = 500) -> Matrix | None:
        F = self.kernel.features(X, max_features)
        return None if F is None else self._values(X)[:, None] * F

    def compiled(self, X: Matrix) -> CompiledPoints | None:
        points = self.kernel.about(X.mean(axis=0)).compiled(X)
        if points is None:
            return None
        D = self._values(X)
        scale = D if points.scale is None else D * points.scale
        return replace(points, scale=scale, diagonal=D**2 * self.kernel.diagonal(X))

    def weighted_gradient(self, X: Matrix, points: Matrix, weights: Matrix) -> Matrix:
        weights = weights * self._factor(points)
        inner = self.kernel.weighted_gradient(X, points, weights)
        sums = (weights * self.kernel.evaluate(X, points)).sum(axis=1)
        slope = self._factor.log_gradient(X)
        return self._factor(X)[:, None] * (sums[:, None] * slope + inner)

    def one_sided_gradient(self, X: Matrix) -> Matrix:
        inner = self.kernel.one_sided_gradient(X)
        slope = self._factor.log_gradient(X)
        squares = self._factor(X)[:, None] ** 2
        return squares * (self.kernel.diagonal(X)[:, None] * slope + inner)

    def metric(self, X: Matrix) -> Matrix:
        return self._factor(X)[:, None, None] ** 2 * self._relative_metric(X)

    def magnification(self, X: Matrix) -> Array:
        sign, log_determinant = np.linalg.slogdet(self._relative_metric(X))
        log_root = 0.5 * log_determinant + X.shape[1] * self._factor.log(X)
        return np.where(sign > 0, np.exp(log_root), 0.0)

    @property
    def _factor(self) -> ConformalFactor:
        return as_factor(self.factor)

    def _values(self, X: Matrix) -> Array:
        """D at training points (n,)."""
        known = None if self.known is None else self.known.recall(X)
        return self._factor(X) if known is None else known

    def _taking_part(self, K: Matrix) -> Matrix:
        return K if self.columns is None else K[:, self.columns]

    def _relative_metric(self, X: Matrix) -> Matrix:
        """The metric divided by D(x)^2, which may underflow."""
        metric, one_sided = self.kernel.metric(X), self.kernel.one_sided_gradient(X)
        slope = self._factor.log_gradient(X)
        own = self.kernel.diagonal(X)[:, None, None] * slope[:, :, None] * slope[:, None, :]
        cross = slope[:, :, None] * one_sided[:, None, :]
        return own + cross + cross.transpose(0, 2, 1) + metric


def magnification(
    X: ArrayLike,
    kernel: KernelLike = "rbf",
    factor: Callable[[Matrix], ArrayLike] | None = None,
    *,
    gamma: float = 1.0,
    degree: int = 3,
    coef0: float = 0.0,
) -> Array:
    r"""Compute the volume of feature space per volume of input space, at each point.

    .. math:: \sqrt{\det \tilde g(x)},\qquad
              \tilde g_{ij} = D_i D_j K + D\,(D_i K_j + K_i D_j) + D^2 g_{ij}

    where :math:`g_{ij} = \partial^2 K(x, y) / \partial x_i \partial y_j` and
    :math:`K_i = \partial K(x, y) / \partial x_i`, both at y = x, and :math:`D_i` is the gradient
    of the factor. Without a factor it is :math:`\sqrt{\det g}`.

    Parameters
    ----------
    X : array-like of shape (m, d)
        Where it is taken.
    kernel : {'rbf', 'poly', 'linear'} or Kernel, default='rbf'
        The kernel K, smooth at y = x.
    factor : ConformalFactor or callable, default=None
        ``factor_`` of a fitted conformal machine, or any positive function of an (m, d) array
        with values (m,), whose gradient is then taken by central differences.
    gamma : float, default=1.0
        Width of a kernel given by its name: ``gamma_`` of the machine.
    degree : int, default=3
        Degree of 'poly'.
    coef0 : float, default=0.0
        Independent term of 'poly'.

    Returns
    -------
    ndarray of shape (m,)
        In units of feature space to the power d per unit of volume. For the RBF kernel without
        a factor :math:`(2\gamma)^{d/2} = \sigma^{-d}` everywhere. It can be zero: the
        linear kernel's factor :math:`1/\|x\|` maps a ray to one point.

    Raises
    ------
    ValueError
        If the kernel is not differentiable at y = x, or its derivatives are not known.

    Notes
    -----
    The cross term is symmetric in i and j; it vanishes for kernels with a constant K(x, x),
    whose :math:`K_i` is zero, and only for those. Notebook 09.

    Examples
    --------
    For gamma = 1/2, sigma is 1, and a constant factor 3 stretches the plane 3 * 3 times:

    >>> magnification([[0.0, 0.0]], "rbf", gamma=0.5).tolist()
    [1.0]
    >>> magnification([[0.0, 0.0]], "rbf", lambda X: 3 + 0 * X[:, 0], gamma=0.5).round(6).tolist()
    [9.0]
    """
    X = check_array(X, dtype=np.float64, input_name="X")
    # A rule for the width would look at X, the points of the map.
    gamma = check_number(gamma, "gamma", low=0, inclusive="neither")
    resolved = resolve_kernel(kernel, X, gamma=gamma, degree=degree, coef0=coef0)
    if factor is not None:
        resolved = Conformal(resolved, factor)
    return resolved.magnification(X)
