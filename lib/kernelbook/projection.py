r"""What kernel projections share: Gram matrices that lose nothing to a common offset, and signs.

PCA and discriminants look at differences between images, :math:`\phi(x) - \phi(y)`, never at the
images themselves. Terms of the kernel that depend on one argument only, or on none, cancel in
such differences; computed first and subtracted later they take the digits of the rest along.
So with a point :math:`c` amid the data a kernel is split as

.. math:: k(x, y) = k_c(x, y) + s(x) + s(y) + \text{constant}

and only :math:`k_c` is evaluated, without cancellation:

* linear and polynomial: :math:`k_c(x, y) = (\phi(x) - \phi(c))^\top (\phi(y) - \phi(c))` and
  :math:`s(x) = k(x, c) - k(c, c)`;
* RBF and Laplacian: :math:`k_c = k - 1` by ``expm1``, :math:`s = 0`: wide kernels, nearly
  constant, keep their digits;
* all others: :math:`k_c = k`, :math:`s = 0`.
"""

from math import factorial
from typing import Any

import numpy as np
from scipy.spatial.distance import cdist

from kernelbook.base import KernelEstimator
from kernelbook.kernels import Matrix, check_degree

__all__ = ["KernelProjector", "double_centred", "mixed_coefficients", "sign_columns"]

METRICS = {"rbf": "sqeuclidean", "laplacian": "cityblock"}
SIGN_TIE = 1e-6


class KernelProjector(KernelEstimator):
    """Base of the estimators to which only differences between images matter.

    ``_training_gram`` and ``_gram`` return the values of k_c, and ``_one_sided`` those of s, in
    the split that the module describes.
    """

    _reference: Matrix

    def _fit_kernel(self, X: Matrix, sample_weight: Matrix | None = None) -> None:
        super()._fit_kernel(X, sample_weight)
        self._reference = X.mean(axis=0)

    def _gram(self, X: Matrix, Y: Matrix | None = None) -> Matrix:
        Y = X if Y is None else Y
        if not self._is_split():
            return super()._gram(X, Y)
        if self.kernel in METRICS:
            D = cdist(X, Y, METRICS[str(self.kernel)])
            D *= -self.gamma_
            return np.expm1(D, out=D)
        with np.errstate(over="ignore", invalid="ignore"):
            K = _relative_polynomial(X, Y, self._reference, *self._polynomial_parameters())
        if not np.isfinite(K).all():
            raise ValueError(
                f"kernel={self.kernel!r} overflows on this X: rescale the features or lower the "
                "degree."
            )
        return K

    def _one_sided(self, X: Matrix) -> Matrix:
        """The values s(x), shape (m,): what k(x, c) adds to k(c, c)."""
        if not self._is_split() or self.kernel in METRICS:
            return np.zeros(len(X))
        gamma, degree, coef0 = self._polynomial_parameters()
        c = self._reference
        s, a = gamma * (X - c) @ c, gamma * c @ c + coef0
        return s * _power_quotient(a + s, a, degree)

    def _constant(self) -> float:
        """The value k(c, c), the split's constant; 0 where nothing is split off."""
        if not self._is_split():
            return 0.0
        c = self._reference[None, :]
        return float(super()._gram(c, c)[0, 0])

    def _is_split(self) -> bool:
        return self._is_psd_by_construction()

    def _polynomial_parameters(self) -> tuple[float, int, float]:
        if self.kernel == "linear":
            return 1.0, 1, 0.0
        return self.gamma_, check_degree(self.degree), self.coef0


def _power_quotient(u: Any, v: Any, degree: int) -> Any:
    """(u**degree - v**degree) / (u - v), without the division: sum_j u**(degree-1-j) v**j."""
    quotient: Any = 1.0
    power: Any = 1.0
    for _ in range(degree - 1):
        power = power * v
        quotient = quotient * u + power
    return quotient


def _relative_polynomial(
    X: Matrix, Y: Matrix, c: Matrix, gamma: float, degree: int, coef0: float
) -> Matrix:
    r"""Inner products of :math:`\phi(x) - \phi(c)` for :math:`k = (\gamma x^\top y + r)^D`.

    With :math:`a = \gamma c^\top c + r`, :math:`s = \gamma c^\top (x - c)`, :math:`t` likewise
    for y, and :math:`g = \gamma (x - c)^\top (y - c)` it is
    :math:`(a+s+t+g)^D - (a+s)^D - (a+t)^D + a^D`. The part with g is a difference of powers; the
    rest is the sum over :math:`i, j \ge 1` of
    :math:`\frac{D!}{i!\,j!\,(D-i-j)!} a^{D-i-j} s^i t^j`.
    """
    U, V = X - c, Y - c
    g = gamma * (U @ V.T)
    if degree == 1:
        return g
    s, t, a = gamma * U @ c, gamma * V @ c, gamma * c @ c + coef0
    v = a + (s[:, None] + t)
    powers: Any = np.arange(1, degree)
    coefficients: Any = mixed_coefficients(a, degree)
    mixed = (s[:, None] ** powers) @ coefficients @ (t[:, None] ** powers).T
    return g * _power_quotient(v + g, v, degree) + mixed


def mixed_coefficients(a: Any, degree: int) -> Matrix:
    r"""Of :math:`s^i t^j` in :math:`(a+s+t)^D`, for i and j from 1 to D - 1.

    Examples
    --------
    (a + s + t)^2 has the mixed term 2 s t:

    >>> mixed_coefficients(5.0, 2).tolist()
    [[2.0]]
    """
    # As numpy calculates: what overflows is infinite, and refused by the caller.
    a = np.float64(a)
    coefficients = np.zeros((degree - 1, degree - 1))
    for i in range(1, degree):
        for j in range(1, degree - i + 1):
            rest = degree - i - j
            multiplicity = factorial(degree) // (factorial(i) * factorial(j) * factorial(rest))
            coefficients[i - 1, j - 1] = multiplicity * a**rest
    return coefficients


def double_centred(K: Matrix) -> Matrix:
    r"""H K H for a symmetric K, with :math:`H = I - \tfrac1n 1 1^\top`: means of zero.

    Examples
    --------
    >>> double_centred(np.array([[1.0, 0.0], [0.0, 1.0]])).tolist()
    [[0.5, -0.5], [-0.5, 0.5]]
    """
    means = K.mean(axis=0)
    centred: Matrix = K - means
    centred -= (means - means.mean())[:, None]
    return centred


def sign_columns(V: Matrix) -> Matrix:
    """Signs (k,) of +1 or -1 by which each column's largest entry in size becomes positive.

    Of entries that agree in size to 1e-6 the first one decides, so that rounding does not.

    Examples
    --------
    >>> sign_columns(np.array([[-0.6, 0.0], [0.6, 2.0]])).tolist()
    [-1.0, 1.0]
    """
    size = np.abs(V)
    first = np.argmax(size >= (1.0 - SIGN_TIE) * size.max(axis=0), axis=0)
    return np.where(V[first, np.arange(V.shape[1])] < 0, -1.0, 1.0)
