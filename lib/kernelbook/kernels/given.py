"""Kernels whose values come from the user: a function, or a matrix."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from kernelbook.kernels.base import Array, Index, Kernel, Matrix
from kernelbook.kernels.expansion import ColumnExpansion, Expansion
from kernelbook.validation import name_of

__all__ = ["FromCallable", "Precomputed"]


@dataclass(frozen=True)
class FromCallable(Kernel):
    """A function of two samples that returns the matrix of kernel values.

    Parameters
    ----------
    function : callable
        Receives ``X`` (n, d) and ``Y`` (m, d), which it must not change, and returns the
        values (n, m): real and finite.

    Examples
    --------
    >>> from sklearn.metrics.pairwise import rbf_kernel
    >>> FromCallable(rbf_kernel)([[0.0]], [[0.0]]).tolist()
    [[1.0]]
    """

    function: Callable[..., ArrayLike]

    def __repr__(self) -> str:
        return f"FromCallable({name_of(self.function)})"

    def evaluate(self, X: Matrix, Y: Matrix) -> Matrix:
        try:
            K = np.asarray(self.function(_unchangeable(X), _unchangeable(Y)))
        except ValueError as error:
            if "read-only" not in str(error):
                raise
            raise ValueError(
                "the kernel callable changes its argument, which belongs to the caller: let it "
                "work on a copy."
            ) from error
        if np.iscomplexobj(K):
            raise ValueError("the kernel callable returned complex values: a kernel is real.")
        K = K.astype(np.float64)
        if K.shape != (len(X), len(Y)):
            raise ValueError(
                f"the kernel callable returned shape {K.shape} for {len(X)} and {len(Y)} points: "
                f"it must return the matrix of shape ({len(X)}, {len(Y)})."
            )
        if not np.isfinite(K).all():
            raise ValueError("the kernel callable returned NaN or infinity.")
        return K


def _unchangeable(X: Matrix) -> Matrix:
    """A view that a function cannot write to."""
    view = X.view()
    view.flags.writeable = False
    return view


@dataclass(frozen=True)
class Precomputed(Kernel, name="precomputed"):
    """Values that are given instead of points.

    In ``fit``, ``X`` is the Gram matrix (n, n); later the values of new points against all
    training points, (m, n).

    Examples
    --------
    >>> Precomputed()([[2.0, 1.0], [1.0, 2.0]]).tolist()
    [[2.0, 1.0], [1.0, 2.0]]
    """

    is_precomputed = True
    entry_error = 0.0

    def evaluate(self, X: Matrix, Y: Matrix) -> Matrix:
        """Return the kernel values that were given.

        Parameters
        ----------
        X : ndarray of shape (n, m)
            The values.
        Y : Ignored
            Not used, present for API consistency by convention.

        Returns
        -------
        ndarray of shape (n, m)
            ``X`` itself.
        """
        return X

    def diagonal(self, X: Matrix) -> Array:
        return np.diagonal(X).copy()

    def subset(self, X: Matrix, index: Index) -> Matrix:
        return X if len(index) == len(X) else X[np.ix_(index, index)]

    def expansion(self, X: Matrix, index: Index, coefficients: Array) -> Expansion:
        return ColumnExpansion(index, coefficients)
