r"""Conformal factors: positive functions D(x), with logarithms that do not underflow."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import logsumexp
from sklearn.utils import check_array, gen_batches

from kernelbook.conformal.spaces import Space
from kernelbook.kernels import Array, Index, Kernel, Matrix
from kernelbook.validation import name_of

__all__ = [
    "ConformalFactor",
    "DecisionFactor",
    "FunctionFactor",
    "GaussianFactor",
    "as_factor",
    "mixed_distances",
    "normalizing_scale",
    "spread",
]


# Logarithms stay finite where the quotient of a distance and a width overflows.
LOWEST = -1e300
# Distances that are held at once: they should stay in the cache from one step to the next.
CACHED_VALUES = 2**17
# Step of central differences: the cube root of the machine precision.
STEP = float(np.cbrt(np.finfo(float).eps))


class Machine(Protocol):
    """What factors and schemes ask of a fitted classifier."""

    alpha_: Array
    classes_: NDArray[Any]
    dual_coef_: Matrix
    kernel_: Kernel
    support_: Index
    support_vectors_: Matrix

    def decision_function(self, X: ArrayLike) -> Array:
        """Return the values of points (m, d), shape (m,)."""
        ...


@dataclass(frozen=True)
class ConformalFactor:
    r"""A constant factor, :math:`D(x) = e^{\text{log\_scale}}`; the base of the others.

    Parameters
    ----------
    log_scale : float, default=0.0
        Its logarithm.

    Examples
    --------
    >>> import numpy as np
    >>> ConformalFactor(log_scale=np.log(2.0))([[0.0], [5.0]]).tolist()
    [2.0, 2.0]
    """

    log_scale: float = field(default=0.0, kw_only=True)

    def __call__(self, X: ArrayLike) -> Array:
        """Evaluate the factor.

        Parameters
        ----------
        X : array-like of shape (m, d), or (m, n_train) for a precomputed kernel
            Points, or their kernel values with the training points.

        Returns
        -------
        ndarray of shape (m,)
            D(x), positive unless it underflows.
        """
        return np.exp(self.log(X))

    def log(self, X: ArrayLike) -> Array:
        """Evaluate the logarithm, which does not underflow.

        Parameters
        ----------
        X : array-like of shape (m, d), or (m, n_train) for a precomputed kernel
            Points, or their kernel values with the training points.

        Returns
        -------
        ndarray of shape (m,)
            The logarithm of D(x).
        """
        return self.log_scale + self._log(check_array(X, dtype=np.float64))

    def log_gradient(self, X: ArrayLike) -> Matrix:
        """Evaluate the gradient of the logarithm in the coordinates.

        Parameters
        ----------
        X : array-like of shape (m, d)
            Points.

        Returns
        -------
        ndarray of shape (m, d)
            One gradient a point.

        Raises
        ------
        ValueError
            If the factor depends on a kernel without known derivatives.
        """
        return self._log_gradient(check_array(X, dtype=np.float64))

    def gradient(self, X: ArrayLike) -> Matrix:
        """Evaluate the gradient in the coordinates.

        Parameters
        ----------
        X : array-like of shape (m, d)
            Points.

        Returns
        -------
        ndarray of shape (m, d)
            One gradient a point.

        Raises
        ------
        ValueError
            If the factor depends on a kernel without known derivatives.
        """
        return self(X)[:, None] * self.log_gradient(X)

    def scaled(self, log_scale: float) -> Self:
        """Return the factor times a number.

        Parameters
        ----------
        log_scale : float
            Logarithm of the number.

        Returns
        -------
        ConformalFactor
            Of the same class.
        """
        return replace(self, log_scale=self.log_scale + log_scale)

    def _log(self, X: Matrix) -> Array:
        return np.zeros(len(X))

    def _log_gradient(self, X: Matrix) -> Matrix:
        return np.zeros_like(X)


@dataclass(frozen=True)
class GaussianFactor(ConformalFactor):
    r"""A sum of Gaussian bumps around centres between anchors.

    .. math:: D(x) = s \Big(\epsilon + \sum_k h_k e^{-d_k(x)^2 / w_k}\Big)

    with d_k the distance to the centre :math:`\sum_j M_{kj} a_j` of anchors a_j, in input space
    or in feature space.

    Parameters
    ----------
    space : Space
        Distances to the p anchors.
    widths : ndarray of shape (c,)
        :math:`w_k > 0`, in squared units of the distances: tau_k^2, or 2 tau^2.
    heights : ndarray of shape (c,)
        :math:`h_k > 0`.
    mixing : ndarray of shape (c, p), default=None
        M, its rows of sum 1. If None, the anchors are the centres.
    floor : float, default=0.0
        :math:`\epsilon \ge 0`.
    log_scale : float, default=0.0
        Logarithm of s.

    Examples
    --------
    One bump of width 2 at the origin, which falls to 1/e at a distance of sqrt(2):

    >>> import numpy as np
    >>> from kernelbook.conformal.spaces import InputSpace
    >>> D = GaussianFactor(InputSpace(np.array([[0.0, 0.0]])), np.array([2.0]), np.array([1.0]))
    >>> D([[0.0, 0.0], [1.0, 1.0]]).round(6).tolist()
    [1.0, 0.367879]
    """

    space: Space
    widths: Array
    heights: Array
    mixing: Matrix | None = None
    floor: float = 0.0

    def centre_distances(self, X: Matrix) -> Matrix:
        """Return the squared distances of points to the centres.

        Parameters
        ----------
        X : ndarray of shape (m, d)
            The points.

        Returns
        -------
        ndarray of shape (m, c)
            Never negative.
        """
        distances = self.space.squared_distances(X)
        if self.mixing is None:
            return distances
        return mixed_distances(distances, self.mixing, self._spread)

    @cached_property
    def _spread(self) -> Array:
        return (
            np.zeros(0)
            if self.mixing is None
            else spread(self.mixing, self.space.between_anchors())
        )

    def _log(self, X: Matrix) -> Array:
        values = np.zeros(len(X))
        for block in gen_batches(len(X), max(1, CACHED_VALUES // len(self.space))):
            values[block] = _log_sum_exp(self._log_terms(X[block]))
        return values

    def _log_gradient(self, X: Matrix) -> Matrix:
        terms = self._log_terms(X)
        _log_sum_exp(terms)
        pulls = terms[:, : len(self.widths)] / terms.sum(axis=1)[:, None] / self.widths
        pulls = pulls if self.mixing is None else pulls @ self.mixing
        return -self.space.weighted_gradient(X, pulls)

    def _log_terms(self, X: Matrix) -> Matrix:
        """Logarithms of the terms of the sum, the floor (if any) in the last column."""
        with np.errstate(over="ignore"):
            terms = self.centre_distances(X) / -self.widths
        terms += np.log(self.heights)
        np.maximum(terms, LOWEST, out=terms)
        if self.floor == 0:
            return terms
        return np.column_stack([terms, np.full(len(X), np.log(self.floor))])


def _log_sum_exp(terms: Matrix) -> Array:
    """Logarithm of the sum of exp(terms) along each row, finite throughout.

    The terms are overwritten by exp(terms - largest of the row).
    """
    top = terms.max(axis=1)
    terms -= top[:, None]
    np.exp(terms, out=terms)
    return top + np.log(terms.sum(axis=1))


@dataclass(frozen=True)
class DecisionFactor(ConformalFactor):
    r"""A ridge along the boundary of a machine f.

    .. math:: D(x) = s\, e^{-\kappa f(x)^2}

    Parameters
    ----------
    machine : KernelSVC or ConformalSVC
        The fitted machine.
    kappa : float
        :math:`\kappa > 0`.
    log_scale : float, default=0.0
        Logarithm of s.

    Examples
    --------
    The machine of -1 and 1 is f(x) = x, so D is a Gaussian:

    >>> from kernelbook.svm import KernelSVC
    >>> svc = KernelSVC(C=10, kernel="linear").fit([[-1.0], [1.0]], [-1, 1])
    >>> DecisionFactor(svc, 0.5)([[0.0], [2.0]]).round(6).tolist()
    [1.0, 0.135335]
    """

    machine: Machine
    kappa: float

    def _log(self, X: Matrix) -> Array:
        return -self.kappa * self.machine.decision_function(X) ** 2

    def _log_gradient(self, X: Matrix) -> Matrix:
        machine = self.machine
        weights = np.tile(machine.dual_coef_, (len(X), 1))
        slope = machine.kernel_.weighted_gradient(X, machine.support_vectors_, weights)
        return -2.0 * self.kappa * machine.decision_function(X)[:, None] * slope


@dataclass(frozen=True)
class FunctionFactor(ConformalFactor):
    r"""Any positive function; its gradient is taken by central differences.

    Parameters
    ----------
    function : callable
        From points (m, d) to positive values (m,).
    log_scale : float, default=0.0
        Logarithm of a number that multiplies the function.

    Raises
    ------
    ValueError
        If the function returns a value that is not positive and finite, or another shape.

    Examples
    --------
    >>> FunctionFactor(lambda X: X[:, 0] ** 2).gradient([[3.0]]).round(6).tolist()
    [[6.0]]
    """

    function: Callable[[Matrix], ArrayLike]

    def __repr__(self) -> str:
        return f"FunctionFactor({name_of(self.function)}, log_scale={self.log_scale})"

    def _log(self, X: Matrix) -> Array:
        values = np.asarray(self.function(X), dtype=np.float64)
        if values.shape != (len(X),) or not np.all((values > 0) & np.isfinite(values)):
            raise ValueError(
                f"factor must return a positive number for each of the {len(X)} points, got "
                f"shape {values.shape}."
            )
        return np.log(values)

    def _log_gradient(self, X: Matrix) -> Matrix:
        gradient = np.empty_like(X)
        for j in range(X.shape[1]):
            steps = np.zeros_like(X)
            steps[:, j] = STEP * np.maximum(1.0, np.abs(X[:, j]))
            difference = self._log(X + steps) - self._log(X - steps)
            gradient[:, j] = difference / (2.0 * steps[:, j])
        return gradient


def as_factor(function: Callable[[Matrix], ArrayLike]) -> ConformalFactor:
    """Return a factor for any positive function.

    Parameters
    ----------
    function : ConformalFactor or callable
        The function.

    Returns
    -------
    ConformalFactor
        The function itself if it is one.

    Examples
    --------
    >>> as_factor(lambda X: X[:, 0])([[3.0]]).round(12).tolist()
    [3.0]
    """
    return function if isinstance(function, ConformalFactor) else FunctionFactor(function)


def normalizing_scale(log_values: Array, diagonal: Array, weights: Array) -> float:
    """Return the scale that leaves the mean of K(x, x) as it is.

    Parameters
    ----------
    log_values : ndarray of shape (n,)
        Logarithms: log D(x).
    diagonal : ndarray of shape (n,)
        K(x, x).
    weights : ndarray of shape (n,)
        Weights of the points.

    Returns
    -------
    float
        Logarithm of the s for which the weighted mean of (s D)^2 K(x, x) is that of K(x, x);
        0 if every K(x, x) is.

    Examples
    --------
    D = 2 everywhere has to be halved:

    >>> np.exp(normalizing_scale(np.log([2.0, 2.0]), np.ones(2), np.ones(2))).round(12)
    np.float64(0.5)
    """
    own = weights * diagonal
    kept = own > 0
    if not kept.any():
        return 0.0
    mean = logsumexp(2.0 * log_values[kept], b=own[kept]) - np.log(own[kept].sum())
    return -0.5 * float(mean)


def spread(mixing: Matrix, between: Matrix) -> Array:
    r"""Return the mean squared distance of anchors to their mean.

    Parameters
    ----------
    mixing : ndarray of shape (c, p)
        M: the weights of the anchors, rows of sum 1.
    between : ndarray of shape (p, p)
        Squared distances of the anchors a to each other.

    Returns
    -------
    ndarray of shape (c,)
        :math:`\tfrac12 \sum_{ij} M_{ki} M_{kj} \|a_i - a_j\|^2`.

    Examples
    --------
    2 and 4 lie at a distance of 1 from their middle:

    >>> spread(np.array([[0.5, 0.5]]), np.array([[0.0, 4.0], [4.0, 0.0]])).tolist()
    [1.0]
    """
    return 0.5 * np.einsum("kj,kj->k", mixing @ between, mixing)


def mixed_distances(distances: Matrix, mixing: Matrix, spreads: Array) -> Matrix:
    r"""Return squared distances to means of anchors, from those to the anchors.

    .. math:: \|x - \textstyle\sum_j M_{kj} a_j\|^2 = \sum_j M_{kj} \|x - a_j\|^2
              - \tfrac12 \sum_{ij} M_{ki} M_{kj} \|a_i - a_j\|^2

    Parameters
    ----------
    distances : ndarray of shape (m, p)
        Squared distances from the points to the anchors.
    mixing : ndarray of shape (c, p)
        M: the weights of the anchors, rows of sum 1.
    spreads : ndarray of shape (c,)
        The second term; see :func:`spread`.

    Returns
    -------
    ndarray of shape (m, c)
        Never negative: rounding below zero is set to zero.

    Examples
    --------
    The squared distance from 0 to the middle of 2 and 4:

    >>> mixed_distances(np.array([[4.0, 16.0]]), np.array([[0.5, 0.5]]), np.ones(1)).tolist()
    [[9.0]]
    """
    return np.maximum(distances @ mixing.T - spreads, 0.0)
