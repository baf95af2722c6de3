r"""Matrices of low rank: the Gram matrix of a kernel with few features is F F'.

An interior point then costs :math:`O(n r^2)` a step instead of :math:`O(n^3)`, by the identity
of Sherman, Morrison and Woodbury.

References
----------
[Fine2001]_
"""

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve, qr
from scipy.linalg.lapack import dpstrf

from kernelbook.kernels.base import ENTRY_ERROR
from kernelbook.qp.program import EPS, Index, Quadratic, Solve

__all__ = ["LowRankQuadratic", "within_rounding"]

Array = NDArray[np.float64]

# Where D is small against F F' the identity subtracts nearly equal vectors: each refinement of the
# system brings back the digits of one solve.
REFINEMENTS = 2
# A residual that small leaves the direction of a step what it is.
ACCURATE = 1e-9
# A factor pays up to this fraction of the full rank; it stops at so many roundings of the diagonal.
LARGEST_RANK, ROUNDINGS = 0.4, 4.0


class LowRankQuadratic(Quadratic):
    """The matrix F F' of n variables with r features each.

    Parameters
    ----------
    F : ndarray of shape (n, r)
        The features; neither copied nor changed.

    Examples
    --------
    >>> Q = LowRankQuadratic(np.array([[1.0], [2.0]]))
    >>> Q.product(np.array([1.0, 1.0])).tolist()
    [3.0, 6.0]
    >>> Q.factor(np.array([1.0, 1.0]))(np.array([6.0, 0.0])).round(12).tolist()
    [5.0, -2.0]
    """

    is_low_rank = True
    entry_error = ENTRY_ERROR

    def __init__(self, F: Array) -> None:
        self.F, self.n_features = F, F.shape[1]
        self.diagonal = np.einsum("ij,ij->i", F, F)

    def product(self, x: Array, rows: Index | None = None) -> Array:
        weights = x @ self.F
        return self.F @ weights if rows is None else self.F[rows] @ weights

    def block(self, rows: Index, columns: Index) -> Array:
        return self.F[rows] @ self.F[columns].T

    def factor(self, D: Array) -> Solve:
        root = np.sqrt(D)
        scaled = self.F / root[:, None]
        inner = scaled.T @ scaled
        np.einsum("ii->i", inner)[:] += 1.0
        small = cho_factor(inner, lower=True, overwrite_a=True, check_finite=False)

        def once(r: Array) -> Array:
            z = r / root
            return (z - scaled @ cho_solve(small, z @ scaled, check_finite=False)) / root

        def solve(r: Array) -> Array:
            z = once(r)
            for _ in range(REFINEMENTS):
                rest = r - self.product(z) - D * z
                if np.abs(rest).max() <= ACCURATE * np.abs(r).max():
                    break
                z += once(rest)
            return z

        return solve

    def solve_bordered(self, a: Array, rhs: Array, target: float) -> tuple[Array, float] | None:
        n, r = self.F.shape
        if n <= r + 1:
            return self.formed().solve_bordered(a, rhs, target)
        # Q is singular. The change F'p of the weights and the multiplier m meet n equations in the
        # least-squares sense; p is the shortest vector with that change and that product with a.
        Z, R = qr(np.column_stack([self.F, a]), mode="economic", check_finite=False)
        U, sizes, Vt = np.linalg.svd(R)
        kept = sizes > EPS * n * sizes[0]
        Z, basis, null = Z @ U[:, kept] / sizes[kept], Vt[kept], Vt[~kept]
        wanted = (rhs @ Z) @ basis
        # Of several solutions the one that a vector has.
        inner = null[:, :-1] @ null[:, :-1].T
        wanted += np.linalg.pinv(inner) @ -(null @ np.append(wanted[:-1], target)) @ null
        p, m = Z @ (basis @ np.append(wanted[:-1], target)), float(wanted[-1])
        return (p, m) if np.isfinite(p).all() else None

    def centred(self, a: Array) -> "LowRankQuadratic":
        return LowRankQuadratic(self.F - np.outer(a, (a @ self.F) / float(a @ a)))

    def restricted(self, index: Index) -> "LowRankQuadratic":
        return LowRankQuadratic(self.F[index])

    def signed(self, a: Array) -> "LowRankQuadratic":
        return LowRankQuadratic(a[:, None] * self.F)


def within_rounding(Q: Quadratic) -> Quadratic:
    """Return a matrix of low rank that no entry tells from Q, or Q itself if there is none.

    Parameters
    ----------
    Q : Quadratic
        A positive semi-definite matrix.

    Returns
    -------
    Quadratic
        By a Cholesky factor with pivoting that ends where the largest remaining entry of the
        diagonal is rounding.

    Examples
    --------
    >>> from kernelbook.qp import DenseQuadratic
    >>> ones = within_rounding(DenseQuadratic(np.ones((8, 8))))
    >>> ones.is_low_rank, ones.F.shape, within_rounding(DenseQuadratic(np.eye(8))).is_low_rank
    (True, (8, 1), False)
    """
    n = len(Q)
    if Q.is_low_rank:
        return Q
    tol = ROUNDINGS * EPS * float(Q.diagonal.max())
    factor, order, rank, _ = dpstrf(Q.block(np.arange(n), np.arange(n)), tol=tol, lower=1)
    if rank > LARGEST_RANK * n:
        return Q
    F = np.empty((n, rank))
    F[order - 1] = np.tril(factor[:, :rank])
    return LowRankQuadratic(F)
