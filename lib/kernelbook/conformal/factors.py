r"""Conformal factors: positive functions D(x), with logarithms that do not underflow."""

from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import logsumexp
from sklearn.utils import check_array, gen_batches

from kernelbook.conformal.smooth import SmoothKernel
from kernelbook.conformal.spaces import Space
from kernelbook.kernels import Matrix
from kernelbook.support import BLOCK_VALUES

__all__ = [
    "ConformalFactor",
    "DecisionFactor",
    "GaussianFactor",
    "mixed_distances",
    "normalising_scale",
]

Array = NDArray[np.float64]

# Logarithms stay finite where the quotient of a distance and a width overflows.
LOWEST = -1e300


@dataclass(frozen=True)
class ConformalFactor:
    r"""A constant factor, :math:`D(x) = e^{\text{log\_scale}}`; the base of the others.

    Examples
    --------
    >>> ConformalFactor(log_scale=np.log(2.0))([[0.0], [5.0]]).tolist()
    [2.0, 2.0]
    """

    log_scale: float = field(default=0.0, kw_only=True)

    def __call__(self, X: ArrayLike) -> Array:
        """D(x) of each row of X, shape (m,): positive unless it underflows."""
        return np.exp(self.log(X))

    def log(self, X: ArrayLike) -> Array:
        """Logarithm of D, shape (m,)."""
        return self.log_scale + self._log(check_array(X, dtype=np.float64))

    def log_gradient(self, X: ArrayLike) -> Matrix:
        """Gradient of log D in the coordinates, shape (m, d)."""
        return self._log_gradient(check_array(X, dtype=np.float64))

    def gradient(self, X: ArrayLike) -> Matrix:
        """Gradient of D in the coordinates, shape (m, d)."""
        return self(X)[:, None] * self.log_gradient(X)

    def scaled(self, log_scale: float) -> Self:
        """The factor times exp(log_scale)."""
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
    widths : ndarray, shape (c,)
        :math:`w_k > 0`, in squared units of the distances: tau_k^2, or 2 tau^2.
    heights : ndarray, shape (c,)
        :math:`h_k > 0`.
    mixing : ndarray, shape (c, p), optional
        M, its rows of sum 1; left out, the anchors are the centres.
    floor : float, default=0.0
        :math:`\epsilon \ge 0`.
    log_scale : float, default=0.0
        Logarithm of s.

    Examples
    --------
    One bump of width 2 at the origin, which falls to 1/e at a distance of sqrt(2):

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
        """Squared distances (m, c) of the points X to the centres."""
        distances = self.space.squared_distances(X)
        if self.mixing is None:
            return distances
        return mixed_distances(distances, self.mixing, self.space.between_anchors())

    def _log(self, X: Matrix) -> Array:
        values = np.zeros(len(X))
        for block in gen_batches(len(X), max(1, BLOCK_VALUES // len(self.space))):
            values[block] = _log_sum_exp(self._log_terms(X[block]))
        return values

    def _log_gradient(self, X: Matrix) -> Matrix:
        terms = self._log_terms(X)
        shares = np.exp(terms - _log_sum_exp(terms)[:, None])[:, : len(self.widths)]
        pulls = shares / self.widths
        pulls = pulls if self.mixing is None else pulls @ self.mixing
        return -self.space.weighted_gradient(X, pulls)

    def _log_terms(self, X: Matrix) -> Matrix:
        """Logarithms of the terms of the sum, the floor (if any) in the last column."""
        with np.errstate(over="ignore"):
            terms = np.log(self.heights) - self.centre_distances(X) / self.widths
        terms = np.maximum(terms, LOWEST)
        if self.floor == 0:
            return terms
        return np.column_stack([terms, np.full(len(X), np.log(self.floor))])


def _log_sum_exp(terms: Matrix) -> Array:
    """Logarithm of the sum of exp(terms) along each row, without underflow; finite throughout."""
    top = terms.max(axis=1)
    return top + np.log(np.exp(terms - top[:, None]).sum(axis=1))


def normalising_scale(log_values: Array, diagonal: Array, weights: Array) -> float:
    """Logarithm of the s for which the weighted mean of (s D)^2 K(x, x) is that of K(x, x).

    Parameters
    ----------
    log_values, diagonal, weights : ndarray, shape (n,)
        log D(x), K(x, x) and the weight of each point.

    Returns
    -------
    float
        0 where every K(x, x) is.

    Examples
    --------
    D = 2 everywhere has to be halved:

    >>> np.exp(normalising_scale(np.log([2.0, 2.0]), np.ones(2), np.ones(2))).round(12)
    np.float64(0.5)
    """
    own = weights * diagonal
    kept = own > 0
    if not kept.any():
        return 0.0
    mean = logsumexp(2.0 * log_values[kept], b=own[kept]) - np.log(own[kept].sum())
    return -0.5 * float(mean)


def mixed_distances(distances: Matrix, mixing: Matrix, between: Matrix) -> Matrix:
    r"""Squared distances to means of anchors, from those to the anchors.

    .. math:: \|x - \textstyle\sum_j M_{kj} a_j\|^2 = \sum_j M_{kj} \|x - a_j\|^2
              - \tfrac12 \sum_{ij} M_{ki} M_{kj} \|a_i - a_j\|^2

    Parameters
    ----------
    distances : ndarray, shape (m, p)
        From the points to the anchors.
    mixing : ndarray, shape (c, p)
        M, its rows of sum 1.
    between : ndarray, shape (p, p)
        From the anchors to each other.

    Returns
    -------
    ndarray, shape (m, c)

    Examples
    --------
    The distance from 0 to the middle of 2 and 4:

    >>> between = np.array([[0.0, 4.0], [4.0, 0.0]])
    >>> mixed_distances(np.array([[4.0, 16.0]]), np.array([[0.5, 0.5]]), between).tolist()
    [[9.0]]
    """
    spread = 0.5 * np.einsum("kj,kj->k", mixing @ between, mixing)
    return np.maximum(distances @ mixing.T - spread, 0.0)


@dataclass(frozen=True)
class DecisionFactor(ConformalFactor):
    r"""A ridge along the boundary of a machine f.

    .. math:: D(x) = s\, e^{-\kappa f(x)^2}

    Parameters
    ----------
    machine : fitted KernelSVC or ConformalSVC
    kappa : float
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

    machine: Any
    kappa: float

    def _log(self, X: Matrix) -> Array:
        return -self.kappa * self.machine.decision_function(X) ** 2

    def _log_gradient(self, X: Matrix) -> Matrix:
        slope = -2.0 * self.kappa * self.machine.decision_function(X)
        return slope[:, None] * decision_gradient(self.machine, X)


def decision_gradient(machine: Any, X: Matrix) -> Matrix:
    """Gradient (m, d) of a machine's decision function, conformal or not."""
    factor = getattr(machine, "factor_", None)
    coefficients = machine.dual_coef_[0]
    if factor is not None:
        coefficients = coefficients * machine.support_factor_
    weights = np.tile(coefficients, (len(X), 1))
    gradient = SmoothKernel.of(machine).weighted_gradient(X, machine.support_vectors_, weights)
    if factor is None:
        return gradient
    # f = D S + b, so that its gradient is D S (log D)' + D S'.
    return machine._weighted_kernel_sum(X)[:, None] * factor.log_gradient(X) + (
        factor(X)[:, None] * gradient
    )
