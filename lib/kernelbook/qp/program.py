r"""A quadratic program: its matrix, its vectors, and what its conditions say of a multiplier.

The matrix is seen only through the products that a solver needs; machines define theirs by
deriving from :class:`Quadratic`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dpotrf, dpotrs

if TYPE_CHECKING:
    from kernelbook.kernels.compiled import CompiledPoints

__all__ = [
    "DenseQuadratic",
    "Quadratic",
    "QuadraticProgram",
    "cholesky_solver",
    "double_centre",
]

Array = NDArray[np.float64]
Index = NDArray[np.intp]
Solve = Callable[[Array], Array]

EPS = float(np.finfo(float).eps)
TINY = float(np.finfo(float).tiny)
# Squares of larger entries overflow in single precision, those of smaller ones vanish.
SINGLE_RANGE = 1e18
# Solves after the first: each brings back the digits that the ridge of a singular system took.
REFINEMENTS = 3


class Quadratic(ABC):
    """A symmetric positive semi-definite matrix Q (n, n) that need not be stored.

    A subclass sets :attr:`diagonal` and defines :meth:`product` and :meth:`block`; all else has a
    default that forms the matrix.

    Attributes
    ----------
    diagonal : ndarray of shape (n,)
        Its diagonal; not to be changed.
    in_memory : ndarray of shape (n, n) or None
        The matrix, if it is stored.
    is_relative : bool
        Whether its entries lack what the equality makes constant.
    entry_error : float
        Relative error of an entry, 0 where the entries are those of the problem.
    compiled : CompiledPoints or None
        What the compiled loops compute its rows from, if they can.
    is_low_rank : bool
        Whether systems with the matrix cost less than a matrix of n variables.
    n_features : int
        Number of features r whose inner products are the entries; 0 if they are not few.
    """

    diagonal: Array
    in_memory: Array | None = None
    is_relative: bool = False
    entry_error: float = 0.0
    compiled: CompiledPoints | None = None
    is_low_rank: bool = False
    n_features: int = 0

    def __len__(self) -> int:
        """Return the number of variables n."""
        return len(self.diagonal)

    @property
    def suits_single_precision(self) -> bool:
        """Whether squares of the entries neither overflow nor vanish in single precision."""
        largest = float(self.diagonal.max())
        # A diagonal of zero is that of k - 1, whose entries are of order one.
        return largest == 0 or 1.0 / SINGLE_RANGE < largest < SINGLE_RANGE

    @abstractmethod
    def product(self, x: Array, rows: Index | None = None) -> Array:
        """Return Q x, or some of its entries.

        Parameters
        ----------
        x : ndarray of shape (n,)
            The vector; most of its entries may be zero.
        rows : ndarray of shape (k,), dtype=int, default=None
            The entries. If None, all.

        Returns
        -------
        ndarray of shape (n,) or (k,)
            The product, in double precision.
        """

    @abstractmethod
    def block(self, rows: Index, columns: Index) -> Array:
        """Return the submatrix of some rows and columns.

        Parameters
        ----------
        rows : ndarray of shape (m,), dtype=int
            The rows.
        columns : ndarray of shape (k,), dtype=int
            The columns.

        Returns
        -------
        ndarray of shape (m, k)
            A new array, in double precision.
        """

    def formed(self) -> DenseQuadratic:
        """Return the same matrix, stored.

        Returns
        -------
        DenseQuadratic
            The object itself if it is stored.
        """
        everything = np.arange(len(self))
        block = self.block(everything, everything)
        return DenseQuadratic(block, entry_error=self.entry_error)

    def factored(self) -> Quadratic | None:
        """Return the same matrix as one of low rank, if it has fewer features than variables.

        Returns
        -------
        Quadratic or None
            None if it has not.
        """
        return None

    def factor(self, D: Array) -> Solve:
        """Return a solver of the systems (Q + diag(D)) z = r.

        Parameters
        ----------
        D : ndarray of shape (n,)
            Diagonal > 0.

        Returns
        -------
        callable
            From r (n,) to z (n,).
        """
        return self.formed().factor(D)

    def centred(self, a: Array) -> Quadratic:
        r"""Return the matrix without what the equality :math:`a^\top x = b` makes constant.

        Parameters
        ----------
        a : ndarray of shape (n,)
            Coefficients of the equality.

        Returns
        -------
        Quadratic
            :math:`P Q P` with :math:`P = I - aa^\top / a^\top a`.
        """
        return self.formed().centred(a)

    def restricted(self, index: Index) -> Quadratic:
        """Return the matrix of some of the variables.

        Parameters
        ----------
        index : ndarray of shape (k,), dtype=int
            The variables.

        Returns
        -------
        Quadratic
            Of k variables.
        """
        return DenseQuadratic(self.block(index, index), entry_error=self.entry_error)

    def mean_product(self, a: Array) -> Array:
        """Return Q a / a'a, or an estimate where the product is expensive.

        Parameters
        ----------
        a : ndarray of shape (n,)
            Coefficients of the equality.

        Returns
        -------
        ndarray of shape (n,)
            The means of the columns for a of ones.
        """
        return self.product(a) / float(a @ a)

    def signed(self, a: Array) -> Quadratic:
        """Return the matrix of the variables a x: diag(a) Q diag(a).

        Parameters
        ----------
        a : ndarray of shape (n,)
            Entries 1 and -1.

        Returns
        -------
        Quadratic
            The object itself if no entry is -1.
        """
        if (a > 0).all():
            return self
        signed = a[:, None] * self.formed().in_memory * a
        return DenseQuadratic(signed, entry_error=self.entry_error)

    def solve_bordered(self, a: Array, rhs: Array, target: float) -> tuple[Array, float] | None:
        r"""Solve for a vector and a multiplier, by refinement past a ridge where Q is singular.

        .. math:: \begin{bmatrix}Q & a\\ a^\top & 0\end{bmatrix}
                  \begin{bmatrix}p\\ m\end{bmatrix} =
                  \begin{bmatrix}\text{rhs}\\ \text{target}\end{bmatrix}

        Parameters
        ----------
        a : ndarray of shape (n,)
            Coefficients of the equality.
        rhs : ndarray of shape (n,)
            Right-hand side.
        target : float
            What :math:`a^\top p` should be.

        Returns
        -------
        p : ndarray of shape (n,)
            The vector.
        m : float
            The multiplier.
            None instead of both if p overflows.
        """
        largest = float(self.diagonal.max())
        ridge = EPS * len(self) * largest if largest > 0 else 1.0
        Q = self.formed().in_memory
        solve = cholesky_solver(Q, np.zeros(len(self)), ridge)
        Sa = solve(a)
        curvature = float(a @ Sa)
        p, m = np.zeros(len(self)), 0.0
        for _ in range(REFINEMENTS):
            r, s = rhs - Q @ p - m * a, target - float(a @ p)
            Sr = solve(r)
            step = (float(a @ Sr) - s) / curvature if curvature > 0 else 0.0
            p, m = p + Sr - step * Sa, m + step
        return (p, m) if np.isfinite(p).all() else None

    def folded(self) -> Quadratic | None:
        """Return the matrix of half the variables, if the second half repeats the first.

        Returns
        -------
        Quadratic or None
            None if it does not.
        """
        return None


def cholesky_solver(Q: Array, D: Array, ridge: float = 0.0) -> Solve:
    """Return a solver of (Q + diag(D) + ridge I) z = r, for a Q that is PSD up to rounding.

    The ridge is raised until there is a Cholesky factor.

    Parameters
    ----------
    Q : ndarray of shape (n, n)
        Symmetric.
    D : ndarray of shape (n,)
        Diagonal to add, >= 0.
    ridge : float, default=0.0
        Number to add to the diagonal.

    Returns
    -------
    callable
        From r (n,) to z (n,).
    """
    while True:
        M = Q.copy(order="C")
        M.reshape(-1)[:: len(M) + 1] += D + ridge
        # A symmetric matrix is its own transpose, which LAPACK can overwrite; LAPACK itself, since
        # the functions around it cost as much as a small factor.
        factor, fails = dpotrf(M.T, lower=1, clean=0, overwrite_a=1)
        if not fails:
            return lambda r: dpotrs(factor, r, lower=1)[0]
        ridge = max(10.0 * ridge, EPS * float(np.diagonal(Q).max()), TINY)


class DenseQuadratic(Quadratic):
    """A matrix held in memory.

    Parameters
    ----------
    Q : ndarray of shape (n, n)
        Symmetric positive semi-definite, at least on the vectors that the equality leaves free;
        neither copied nor changed.
    is_relative : bool, default=False
        Whether the entries were computed without what the equality makes constant.
    entry_error : float, default=0.0
        Relative error of an entry.

    Examples
    --------
    >>> Q = DenseQuadratic(np.array([[2.0, 1.0], [1.0, 2.0]]))
    >>> Q.factor(np.array([1.0, 1.0]))(np.array([8.0, 0.0])).round(12).tolist()
    [3.0, -1.0]
    >>> Q.centred(np.array([1.0, 1.0])).in_memory.tolist()
    [[0.5, -0.5], [-0.5, 0.5]]
    """

    in_memory: Array

    def __init__(self, Q: Array, *, is_relative: bool = False, entry_error: float = 0.0) -> None:
        self.in_memory, self.is_relative, self.entry_error = Q, is_relative, entry_error
        self.diagonal = np.diagonal(Q).copy()

    def product(self, x: Array, rows: Index | None = None) -> Array:
        # Most entries of a support vector machine's x are zero. Whole rows of a symmetric matrix
        # are read in one piece, which single entries are not.
        used = np.flatnonzero(x)
        if rows is not None and 4 * max(len(rows), len(used)) < len(x):
            return self.in_memory[np.ix_(rows, used)] @ x[used]
        if rows is not None and len(rows) <= len(used):
            return self.in_memory[rows] @ x
        many = 3 * len(used) > len(x)
        product = self.in_memory @ x if many else x[used] @ self.in_memory[used]
        return product if rows is None else product[rows]

    def block(self, rows: Index, columns: Index) -> Array:
        return self.in_memory[np.ix_(rows, columns)]

    def formed(self) -> DenseQuadratic:
        return self

    def factor(self, D: Array) -> Solve:
        return cholesky_solver(self.in_memory, D)

    def centred(self, a: Array) -> DenseQuadratic:
        return DenseQuadratic(double_centre(self.in_memory, a)[0])


def double_centre(
    K: Array, a: Array | None = None, *, overwrite: bool = False
) -> tuple[Array, Array]:
    r"""Return P K P for a symmetric K, with :math:`P = I - aa^\top / a^\top a`.

    Parameters
    ----------
    K : ndarray of shape (n, n)
        Symmetric.
    a : ndarray of shape (n,), default=None
        The direction to take out. If None, that of ones, so that all row sums become zero.
    overwrite : bool, default=False
        Whether K itself may be changed.

    Returns
    -------
    centred : ndarray of shape (n, n)
        P K P.
    means : ndarray of shape (n,)
        K a / a'a: the column means of K for a of ones.

    Examples
    --------
    >>> double_centre(np.array([[1.0, 0.0], [0.0, 1.0]]))[0].tolist()
    [[0.5, -0.5], [-0.5, 0.5]]
    """
    centred = K if overwrite else K.copy()
    if a is None:
        means = K.mean(axis=0)
        centred -= means
        centred -= (means - means.mean())[:, None]
        return centred, means
    means = K @ a / float(a @ a)
    centred -= np.outer(a, means)
    centred -= np.outer(means - (float(a @ means) / float(a @ a)) * a, a)
    return centred, means


@dataclass(frozen=True)
class QuadraticProgram:
    r"""A convex quadratic to minimise over a box with one equality.

    .. math::  \min_x \tfrac12 x^\top Q x + q^\top x
               \quad\text{s.t.}\quad a^\top x = b,\; \ell \le x \le u

    Parameters
    ----------
    Q : Quadratic
        The matrix, n variables.
    q : ndarray of shape (n,)
        Linear term.
    a : ndarray of shape (n,)
        Coefficients of the equality.
    b : float
        Right-hand side of the equality.
    lower, upper : ndarray of shape (n,)
        The bounds; may be infinite.
    q_rest : ndarray of shape (n,), default=None
        What rounding took from q. If None, that is not known.

    Examples
    --------
    >>> one = np.ones(2)
    >>> program = QuadraticProgram(DenseQuadratic(np.eye(2)), -one, one, 1.0, 0 * one, one)
    >>> program.objective_and_gradient(one)
    (-1.0, array([0., 0.]))
    """

    Q: Quadratic
    q: Array
    a: Array
    b: float
    lower: Array
    upper: Array
    q_rest: Array | None = None

    @cached_property
    def curvature(self) -> float:
        """Largest entry of the diagonal of Q."""
        return float(self.Q.diagonal.max())

    @cached_property
    def spreads(self) -> Array:
        """Diagonal of P Q P in :meth:`centred`, up to the sampling of its means."""
        means = self.Q.mean_product(self.a)
        diagonal: Array = self.Q.diagonal - 2.0 * self.a * means
        diagonal += self.a**2 * (float(self.a @ means) / float(self.a @ self.a))
        return np.maximum(diagonal, 0.0)

    @cached_property
    def sizes_of_terms(self) -> Array:
        """The larger one of :attr:`spreads` and the diagonal of Q, which is zero for K - 1."""
        return np.maximum(self.Q.diagonal, self.spreads)

    def objective_and_gradient(self, x: Array) -> tuple[float, Array]:
        """Return the objective and its gradient at a point.

        Parameters
        ----------
        x : ndarray of shape (n,)
            The point, feasible or not.

        Returns
        -------
        objective : float
            1/2 x'Qx + q'x.
        gradient : ndarray of shape (n,)
            Qx + q.
        """
        product = self.Q.product(x)
        return 0.5 * float(x @ product) + float(self.q @ x), product + self.q

    def restricted(self, index: Index, x: Array) -> QuadraticProgram:
        """Return the program of some variables, the others fixed at their values in x.

        Parameters
        ----------
        index : ndarray of shape (k,), dtype=int
            The variables.
        x : ndarray of shape (n,)
            The values of the others.

        Returns
        -------
        QuadraticProgram
            Of k variables.
        """
        fixed = x.copy()
        fixed[index] = 0.0
        return QuadraticProgram(
            self.Q if len(index) == len(x) else self.Q.restricted(index),
            (self.q + self.Q.product(fixed))[index],
            self.a[index],
            self.b - float(self.a @ fixed),
            self.lower[index],
            self.upper[index],
        )

    def centred(self) -> QuadraticProgram:
        r"""Return the same program without what the equality makes constant.

        With :math:`P = I - aa^\top / a^\top a` every feasible x is :math:`Px + (b/a^\top a)\, a`,
        so that Q can give way to P Q P, and the vector to P times itself.

        Returns
        -------
        QuadraticProgram
            With the same solution.
        """
        size = float(self.a @ self.a)
        linear = self.q + (self.b / size) * self.Q.product(self.a)
        linear = linear - (float(self.a @ linear) / size) * self.a
        return QuadraticProgram(
            self.Q.centred(self.a), linear, self.a, self.b, self.lower, self.upper
        )
