r"""Equality-constrained systems for sets of free variables that change a little at a time."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dgetrf, dgetrs, dpotrf, dtrtrs, spotrf, strtrs

__all__ = ["RIDGES", "BorderedSystem", "Correct"]

Array = NDArray[np.float64]
Index = NDArray[np.intp]
Mask = NDArray[np.bool_]
Correct = Callable[[Array], tuple[Array, int]]

# Ridges to try, in units of the largest entry times the size: as small as may be.
RIDGES = (1e-13, 1e-11, 1e-9)
SMALLEST_PIVOT = 1e-7
# Single precision serves from so many variables on, if no pivot is smaller than that.
SINGLE_FROM, SINGLE_PIVOT = 800, 0.03
LARGEST_BORDER, BORDER_SHARE = 60, 0.25


class BorderedSystem:
    r"""A solver of systems for a set F of free variables, the others fixed.

    .. math:: K_{FF} b_F + \lambda 1 = r_F - K_{FB} b_B,\qquad 1^\top b_F = \Delta - 1^\top b_B.

    One Cholesky factor, that of a first set :math:`F_0`, serves all sets near it: with the
    variables that came in, :math:`A = F \setminus F_0`, and those that left,
    :math:`R = F_0 \setminus F`, the solution follows from a small system with the columns
    :math:`[K_{F_0A}, 1, E_R]`, of which only new ones are solved for. The caller refines the
    solution with the true matrix.

    Parameters
    ----------
    K : ndarray of shape (n, n)
        Positive semi-definite.
    """

    def __init__(self, K: Array) -> None:
        self.K = K
        self._scale = float(np.diagonal(K).max()) or 1.0
        self._base: Index = np.empty(0, dtype=np.intp)
        self._in_base: Mask = np.zeros(len(K), dtype=bool)

    def solver_for(self, free: Mask) -> Correct | None:
        """Return a solver of the system of a set of free variables.

        Parameters
        ----------
        free : ndarray of shape (n,), dtype=bool
            The set.

        Returns
        -------
        callable or None
            From the right-hand side (residuals of the free variables, missing sum) to the steps of
            the free variables and of lambda, and, as LAPACK does, 0. None if there is no factor.
        """
        if self._is_far(free) and not self._factorise(free):
            return None
        added = np.flatnonzero(free & ~self._in_base)
        return self._border(free, added, self._base[~free[self._base]])

    def _is_far(self, free: Mask) -> bool:
        if len(self._base) == 0:
            return True
        changes = int((free != self._in_base).sum())
        return changes > max(LARGEST_BORDER, BORDER_SHARE * len(self._base))

    def _factorise(self, free: Mask) -> bool:
        base = np.flatnonzero(free)
        L = self._single_factor(base) if len(base) >= SINGLE_FROM else None
        if L is None:
            L = self._double_factor(base)
        if L is None:
            self._base = np.empty(0, dtype=np.intp)
            return False
        self._L, self._base, self._in_base = L, base, free.copy()
        self._position = np.full(len(free), -1)
        self._position[base] = np.arange(len(base))
        self._columns: dict[int, int] = {}
        self._Z, self._ZZ = np.empty((len(base), 0), dtype=L.dtype), np.empty((0, 0))
        return True

    def _single_factor(self, base: Index) -> NDArray[Any] | None:
        """Cholesky factor in half the time, where refinement can make up for its precision."""
        M = np.empty((len(base), len(base)), dtype=np.float32)
        for row, i in enumerate(base):
            M[row] = self.K[i, base]
        L, info = spotrf(M.T, lower=1, clean=0, overwrite_a=1)
        if info != 0:
            return None
        well_off = np.diagonal(L).min() >= SINGLE_PIVOT * self._scale**0.5
        return L if well_off else None

    def _double_factor(self, base: Index) -> NDArray[Any] | None:
        """Cholesky factor of the block and a ridge, as small as may be."""
        L = None
        for ridge in RIDGES:
            M = self.K[np.ix_(base, base)]
            M.ravel()[:: len(M) + 1] += ridge * self._scale * len(M)
            factor, info = dpotrf(M.T, lower=1, clean=0, overwrite_a=1)
            if info != 0:
                continue
            L = factor
            if np.diagonal(L).min() >= SMALLEST_PIVOT * self._scale**0.5:
                break
        return L

    def _border(self, free: Mask, added: Index, removed: Index) -> Correct | None:
        n, k, index = len(self.K), len(added), np.flatnonzero(free)
        names = [*added.tolist(), -1, *(n + removed).tolist()]
        self._solve_columns([name for name in names if name not in self._columns])
        chosen = np.array([self._columns[name] for name in names])
        S = -self._ZZ[np.ix_(chosen, chosen)]
        S[:k, :k] += self.K[np.ix_(added, added)]
        S[:k, k] += 1.0
        S[k, :k] += 1.0
        Z, base = self._Z[:, chosen], self._base
        lu, pivots, info = dgetrf(S)
        if info != 0:
            return None

        def correct(right: Array) -> tuple[Array, int]:
            residual = np.zeros(n)
            residual[index] = right[:-1]
            z = self._lower_solve(residual[base])
            # Removed variables stay where they are: their step is zero.
            rest = np.concatenate([residual[added], right[-1:], np.zeros(len(removed))])
            u, _ = dgetrs(lu, pivots, rest - Z.T @ z)
            change = np.zeros(n)
            change[base] = self._lower_solve(z - Z @ u.astype(Z.dtype), transposed=True)
            change[added] = u[:k]
            return np.append(change[index], u[k]), 0

        return correct

    def _lower_solve(self, right: NDArray[Any], transposed: bool = False) -> NDArray[Any]:
        """L^-1 or L^-T times columns, in the precision of L."""
        # LAPACK itself: scipy's wrapper takes longer than small systems do.
        solve = strtrs if self._L.dtype == np.float32 else dtrtrs
        solution, _ = solve(self._L, right.astype(self._L.dtype), lower=1, trans=int(transposed))
        return solution

    def _solve_columns(self, names: list[int]) -> None:
        """Append L^-1 times the columns of the border that are not there yet."""
        if not names:
            return
        n, base = len(self.K), self._base
        C = np.zeros((len(base), len(names)), dtype=self._L.dtype, order="F")
        for column, name in enumerate(names):
            if name < 0:
                C[:, column] = 1.0
            elif name < n:
                C[:, column] = self.K[base, name]
            else:
                C[self._position[name - n], column] = 1.0
        new, old = self._lower_solve(C), self._Z
        k = old.shape[1]
        ZZ = np.empty((k + len(names), k + len(names)))
        ZZ[:k, :k], ZZ[k:, k:] = self._ZZ, new.T @ new
        ZZ[:k, k:] = old.T @ new
        ZZ[k:, :k] = ZZ[:k, k:].T
        self._ZZ, self._Z = ZZ, np.asfortranarray(np.hstack([old, new]))
        for name in names:
            self._columns[name] = len(self._columns)
