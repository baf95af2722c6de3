"""Kernels of the inner product: linear, polynomial, and the sigmoid function."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations_with_replacement
from math import comb, factorial
from numbers import Real
from typing import Any, Self

import numpy as np
from scipy.sparse import issparse
from sklearn.utils.extmath import row_norms

from kernelbook.kernels.base import ENTRY_ERROR, Array, Kernel, Matrix
from kernelbook.kernels.compiled import CompiledPoints
from kernelbook.kernels.kinds import POLYNOMIAL
from kernelbook.kernels.parameters import KernelParameters
from kernelbook.kernels.radial import SMALLEST_SPREAD
from kernelbook.kernels.sparse import inner_products, relative_to
from kernelbook.validation import check_number

__all__ = ["Linear", "Polynomial", "Sigmoid", "linear_coefficients"]


@dataclass(frozen=True)
class Polynomial(Kernel, name="poly"):
    r"""Polynomial kernel :math:`k(x, y) = (\gamma\, x^\top y + r)^D`.

    Parameters
    ----------
    degree : int, default=3
        The exponent :math:`D \ge 1`. An integer: a fractional power of a negative base is not
        real.
    gamma : float, default=1.0
        Factor of the inner product.
    coef0 : float, default=0.0
        The constant :math:`r`. With 0, scikit-learn's default, only monomials of degree exactly
        :math:`D` remain; with a negative one the kernel need not be positive semi-definite.

    Examples
    --------
    >>> Polynomial(degree=2, coef0=1.0)([[1.0], [2.0]]).tolist()
    [[4.0, 9.0], [9.0, 25.0]]
    """

    degree: int = 3
    gamma: float = 1.0
    coef0: float = 0.0
    takes_sparse = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "degree", check_degree(self.degree))
        check_number(self.gamma, "gamma")
        check_number(self.coef0, "coef0")

    @property
    def entry_error(self) -> float:
        """Relative error of a value: a power multiplies that of its base."""
        return ENTRY_ERROR * self.degree

    @classmethod
    def from_parameters(cls, X: Matrix, parameters: KernelParameters) -> Self:
        kernel = super().from_parameters(X, parameters)
        _check_products(X, kernel.gamma)
        return kernel

    @property
    def is_psd(self) -> bool:
        """Whether gamma and coef0 are not negative."""
        return self.gamma >= 0 and self.coef0 >= 0

    def evaluate(self, X: Matrix, Y: Matrix) -> Matrix:
        with np.errstate(over="ignore", invalid="ignore"):
            return _finite((self.gamma * inner_products(X, Y) + self.coef0) ** self.degree, self)

    def diagonal(self, X: Matrix) -> Array:
        with np.errstate(over="ignore", invalid="ignore"):
            base = self.gamma * row_norms(X, squared=True) + self.coef0
            return _finite(base**self.degree, self)

    def about(self, centre: Array) -> Kernel:
        return _AboutCentre(self, centre) if self.is_psd else self

    def features(self, X: Matrix, max_features: int = 500) -> Matrix | None:
        r"""Return all monomials, each times the root of its coefficient.

        There are :math:`\binom{d + D}{D}` of them; with ``coef0=0``, which leaves those of degree
        D only, :math:`\binom{d + D - 1}{D}`.

        Parameters
        ----------
        X : ndarray of shape (n, d)
            Points.
        max_features : int, default=500
            Largest number of features that counts as few.

        Returns
        -------
        ndarray of shape (n, r) or None
            None if there are more features, if the points are sparse, or if ``gamma`` or
            ``coef0`` is negative.
        """
        few = self._n_monomials(X.shape[1]) <= max_features
        if issparse(X) or not self.is_psd or not few:
            return None
        change, at_centre = self._monomials(np.zeros(X.shape[1]), X)
        return change + at_centre

    def _n_monomials(self, d: int) -> int:
        return comb(d + (self.coef0 > 0) + self.degree - 1, self.degree)

    def _monomials(self, centre: Array, U: Matrix) -> tuple[Matrix, Array]:
        """What the monomials at centre + U exceed those at the centre by, and the latter.

        One more factor c + u takes a product from p0 at the centre to p0 c, and what it exceeds
        that by from p to p (c + u) + p0 u: nothing cancels.
        """
        c, U = self.gamma**0.5 * centre, self.gamma**0.5 * U
        if self.coef0 > 0:
            c = np.append(c, self.coef0**0.5)
            U = np.column_stack([U, np.zeros(len(U))])
        chosen: list[tuple[int, ...]] = [()]
        change, at_centre = np.zeros((1, len(U))), np.ones(1)
        for degree in range(1, self.degree + 1):
            place = {factors: k for k, factors in enumerate(chosen)}
            chosen = list(combinations_with_replacement(range(len(c)), degree))
            shorter = [place[factors[:-1]] for factors in chosen]
            last = [factors[-1] for factors in chosen]
            change = change[shorter] * (c[last] + U[:, last]).T
            change += at_centre[shorter][:, None] * U[:, last].T
            at_centre = at_centre[shorter] * c[last]
        weights = np.array([_multiplicity(factors) ** 0.5 for factors in chosen])
        return (weights[:, None] * change).T, weights * at_centre

    def weighted_gradient(self, X: Matrix, points: Matrix, weights: Matrix) -> Matrix:
        return (weights * self._slope(X @ points.T)) @ points

    def one_sided_gradient(self, X: Matrix) -> Matrix:
        return self._slope(np.einsum("ij,ij->i", X, X))[:, None] * X

    def metric(self, X: Matrix) -> Matrix:
        squares = np.einsum("ij,ij->i", X, X)
        metric = self._slope(squares)[:, None, None] * np.eye(X.shape[1])
        if self.degree == 1:
            return metric
        base = (self.gamma * squares + self.coef0) ** (self.degree - 2)
        bend = self.degree * (self.degree - 1) * self.gamma**2 * base
        return metric + bend[:, None, None] * (X[:, :, None] * X[:, None, :])

    def _slope(self, products: Matrix) -> Matrix:
        """Derivative of the kernel in the inner product."""
        base = self.gamma * products + self.coef0
        return self.degree * self.gamma * base ** (self.degree - 1)


@dataclass(frozen=True)
class Linear(Polynomial, name="linear"):
    r"""Linear kernel :math:`k(x, y) = x^\top y`, the polynomial one of degree 1.

    Examples
    --------
    >>> Linear()([[1, 2], [3, 4]]).tolist()
    [[5.0, 11.0], [11.0, 25.0]]
    """

    is_linear = True

    def __init__(self) -> None:
        Polynomial.__init__(self, degree=1)

    @classmethod
    def from_parameters(cls, X: Matrix, parameters: KernelParameters) -> Self:
        _check_products(X, 1.0)
        return cls()

    def __repr__(self) -> str:
        return "Linear()"


@dataclass(frozen=True)
class Sigmoid(Kernel, name="sigmoid"):
    r"""Sigmoid function :math:`\tanh(\gamma\, x^\top y + r)`, in general no kernel at all.

    Parameters
    ----------
    gamma : float, default=1.0
        Factor of the inner product.
    coef0 : float, default=0.0
        The constant :math:`r`.

    Notes
    -----
    Its Gram matrix may have negative eigenvalues: :func:`~kernelbook.kernels.check_gram` then
    rejects it.

    Examples
    --------
    >>> Sigmoid()([[1.0]], [[0.0]]).tolist()
    [[0.0]]
    """

    gamma: float = 1.0
    coef0: float = 0.0

    def __post_init__(self) -> None:
        check_number(self.gamma, "gamma")
        check_number(self.coef0, "coef0")

    def evaluate(self, X: Matrix, Y: Matrix) -> Matrix:
        return _finite(np.tanh(self.gamma * (X @ Y.T) + self.coef0), self)


@dataclass(frozen=True)
class _AboutCentre(Kernel):
    r"""Inner products of :math:`\phi(x) - \phi(c)` for a polynomial kernel.

    With :math:`a = \gamma c^\top c + r`, :math:`s = \gamma c^\top (x - c)`, :math:`t` likewise
    for y, and :math:`g = \gamma (x - c)^\top (y - c)` it is
    :math:`(a+s+t+g)^D - (a+s)^D - (a+t)^D + a^D`. The part with g is a difference of powers; the
    rest is the sum over :math:`i, j \ge 1` of
    :math:`\frac{D!}{i!\,j!\,(D-i-j)!} a^{D-i-j} s^i t^j`.
    """

    kernel: Polynomial
    centre: Array
    is_psd = True
    is_split = True

    @property
    def entry_error(self) -> float:
        return self.kernel.entry_error

    @property
    def constant(self) -> float:
        """The value k(c, c)."""
        return float(self.kernel.diagonal(self.centre[None, :])[0])

    def evaluate(self, X: Matrix, Y: Matrix) -> Matrix:
        with np.errstate(over="ignore", invalid="ignore"):
            return _finite(self._relative(X, Y), self.kernel)

    def one_sided(self, X: Matrix) -> Array:
        s, a = self._slopes(relative_to(self.centre, X)), self._base
        return s * _power_quotient(a + s, a, self.kernel.degree)

    def features(self, X: Matrix, max_features: int = 500) -> Matrix | None:
        r"""Return what the monomials exceed those at the centre by; see :class:`Polynomial`."""
        if issparse(X) or self.kernel._n_monomials(X.shape[1]) > max_features:
            return None
        return self.kernel._monomials(self.centre, X - self.centre)[0]

    def diagonal(self, X: Matrix) -> Array:
        U = relative_to(self.centre, X)
        g = self.kernel.gamma * row_norms(U, squared=True)
        s, a, degree = self._slopes(U), self._base, self.kernel.degree
        with np.errstate(over="ignore", invalid="ignore"):
            v = a + (s + s)
            values = g * _power_quotient(v + g, v, degree) + _mixed_terms(a, s, s, v, degree)
            return _finite(values, self.kernel)

    def compiled(self, X: Matrix) -> CompiledPoints | None:
        if issparse(X):
            return None
        features = np.ascontiguousarray((self.kernel.gamma**0.5 * (X - self.centre)).T)
        return CompiledPoints(
            POLYNOMIAL,
            features,
            self.diagonal(X),
            slopes=self._slopes(X - self.centre),
            base=self._base,
            degree=self.kernel.degree,
            mixed=mixed_coefficients(self._base, self.kernel.degree),
        )

    @cached_property
    def _base(self) -> float:
        return float(self.kernel.gamma * self.centre @ self.centre) + self.kernel.coef0

    def _slopes(self, U: Matrix) -> Array:
        return self.kernel.gamma * U @ self.centre

    def _relative(self, X: Matrix, Y: Matrix) -> Matrix:
        degree, a = self.kernel.degree, self._base
        U = relative_to(self.centre, X)
        V = U if Y is X else relative_to(self.centre, Y)
        g = self.kernel.gamma * inner_products(U, V)
        if degree == 1:
            return g
        s, t = self._slopes(U), self._slopes(V)
        v = a + (s[:, None] + t)
        return g * _power_quotient(v + g, v, degree) + _mixed_terms(a, s, t, v, degree)


def _mixed_terms(a: float, s: Array, t: Array, v: Matrix | Array, degree: int) -> Matrix | Array:
    r"""Return :math:`v^D - (a+s)^D - (a+t)^D + a^D` for v = a + s + t, outer or not.

    From one degree to the next it is multiplied by v, and gains what the slopes of the two sides
    have in common. While a + s, a + t and v are positive all terms have one sign; the binomial
    sum in powers of s and t alternates where these are negative.
    """
    mixed = np.zeros_like(v)
    of_s, of_t, power = np.ones_like(s), np.ones_like(t), 1.0
    for _ in range(degree - 1):
        mixed *= v
        if v.ndim == 2:
            mixed += np.column_stack([s * of_s, s]) @ np.vstack([t, t * of_t])
        else:
            mixed += s * of_s * t + s * (t * of_t)
        power *= a
        of_s, of_t = of_s * (a + s) + power, of_t * (a + t) + power
    return mixed


def _multiplicity(factors: tuple[int, ...]) -> int:
    """In how many orders a power of a sum holds the product of these of its terms."""
    multiplicity = factorial(len(factors))
    for count in Counter(factors).values():
        multiplicity //= factorial(count)
    return multiplicity


def _power_quotient(u: Any, v: Any, degree: int) -> Any:
    """(u**degree - v**degree) / (u - v), without the division: sum_j u**(degree-1-j) v**j."""
    quotient: Any = 1.0
    power: Any = 1.0
    for _ in range(degree - 1):
        power = power * v
        quotient = quotient * u + power
    return quotient


def mixed_coefficients(a: Any, degree: int) -> Matrix:
    r"""Return the coefficients of :math:`s^i t^j` in :math:`(a+s+t)^D`, i and j from 1 to D - 1.

    Parameters
    ----------
    a : float
        The constant.
    degree : int
        The exponent D.

    Returns
    -------
    ndarray of shape (D - 1, D - 1)
        Row i - 1, column j - 1; zero where i + j > D.

    Examples
    --------
    (a + s + t)^2 has the mixed term 2 s t:

    >>> mixed_coefficients(5.0, 2).tolist()
    [[2.0]]
    """
    # As numpy calculates: what overflows is infinite, and rejected by the caller.
    a = np.float64(a)
    coefficients = np.zeros((degree - 1, degree - 1))
    for i in range(1, degree):
        for j in range(1, degree - i + 1):
            rest = degree - i - j
            multiplicity = factorial(degree) // (factorial(i) * factorial(j) * factorial(rest))
            coefficients[i - 1, j - 1] = multiplicity * a**rest
    return coefficients


def check_degree(degree: object) -> int:
    """Return the degree of a polynomial kernel as an int, or raise an error that names it.

    Parameters
    ----------
    degree : object
        What the caller handed in; a float such as 2.0 is an integer too.

    Returns
    -------
    int
        At least 1.

    Raises
    ------
    ValueError
        If it is anything else.

    Examples
    --------
    >>> check_degree(2.0)
    2
    """
    is_number = isinstance(degree, Real) and not isinstance(degree, bool)
    if not is_number or not (float(degree) >= 1 and float(degree).is_integer()):  # type: ignore[arg-type]
        raise ValueError(
            f"degree must be an integer >= 1, got {degree!r}: a fractional power of a negative "
            "inner product is not real."
        )
    return int(degree)  # type: ignore[call-overload]


def _check_products(X: Matrix, gamma: float) -> None:
    """Refuse points that differ, but whose inner products are no normal numbers."""
    if not X.size:
        return
    largest = float(abs(X).max() if issparse(X) else np.abs(X - X[0]).max())
    if largest > 0.0 and gamma**0.5 * largest < SMALLEST_SPREAD**0.5:
        raise ValueError(
            f"inner products of differences in X, up to {largest:.3g}, vanish: rescale the "
            "features."
        )


def _finite(K: Matrix, kernel: Kernel) -> Matrix:
    if not np.isfinite(K).all():
        raise ValueError(
            f"the kernel {kernel!r} overflows on this X: rescale the features or lower the degree."
        )
    return K


def linear_coefficients(kernel: Kernel, dual_coef: Matrix, support_vectors: Matrix) -> Matrix:
    """Return the normal vector of coefficients that sum to zero, shape (1, d).

    Parameters
    ----------
    kernel : Kernel
        The linear kernel.
    dual_coef : ndarray of shape (1, n_SV)
        Signed coefficients.
    support_vectors : ndarray of shape (n_SV, d)
        Their points.

    Returns
    -------
    ndarray of shape (1, d)
        The sum of coefficient times point, about the mean of the points so that an offset of
        the data costs no digits.

    Raises
    ------
    AttributeError
        If the kernel is not linear.

    Examples
    --------
    >>> import numpy as np
    >>> points = np.array([[1.0], [3.0]])
    >>> linear_coefficients(Linear(), np.array([[-0.5, 0.5]]), points).tolist()
    [[1.0]]
    """
    if not kernel.is_linear:
        raise AttributeError(f"coef_ exists for the linear kernel only, not {kernel!r}.")
    if support_vectors.shape[0] == 0:
        return np.zeros((1, support_vectors.shape[1]))
    if issparse(support_vectors):
        return dual_coef @ support_vectors
    return dual_coef @ (support_vectors - support_vectors.mean(axis=0))
