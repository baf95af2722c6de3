"""Points as the compiled loops take them; the loops themselves load with the first use."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache, cached_property
from importlib import import_module

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray

from kernelbook.kernels.kinds import GAUSSIAN, POLYNOMIAL

__all__ = ["CompiledPoints", "loops_are_available"]

Array = NDArray[np.float64]
Index = NDArray[np.intp]

# From so many features on, inner products by BLAS are faster than sums of squared differences.
# They lose the digits that norms have more than distances, so only norms up to this are let in.
MANY_FEATURES, LARGEST_NORM = 16, 8.0
# Values that a thread sums before it may be interrupted, in a tenth of a second, and the points
# that it takes at least. The number of threads changes no batch, and so no bit of a sum.
VALUES_AT_ONCE, LEAST_BATCH = 2**26, 1024
# Values between a product by BLAS and its exponential: they should stay in the cache.
CACHED_VALUES = 2**17


@cache
def loops_are_available() -> bool:
    """Say whether the compiled loops can be loaded: numba needs a directory to write to.

    Returns
    -------
    bool
        False if numba finds no directory in which it can keep what it compiles.

    Examples
    --------
    >>> loops_are_available()
    True
    """
    try:
        import_module("kernelbook.kernels.loops")
    except RuntimeError:  # numba finds no directory for what it compiles
        return False
    return True


@dataclass(frozen=True)
class CompiledPoints:
    r"""The matrix D K D of a kernel on points, as the loops compute it.

    K holds :math:`k_c` in the split of :meth:`~kernelbook.kernels.Kernel.about` where there is
    no ``scale``, and plain kernel values where there is one. A polynomial kernel of degree P
    about its centre is

    .. math:: k_c(x, y) = (a + s + t + g)^P - (a + s)^P - (a + t)^P + a^P

    with the slopes s and t of x and y, the inner product g of their features, and the base a.

    Parameters
    ----------
    kind : {GAUSSIAN, LAPLACIAN, POLYNOMIAL}
        Which kernel.
    features : ndarray of shape (d, n)
        The points less the centre, one feature a row, in units in which gamma is 1.
    diagonal : ndarray of shape (n,)
        The diagonal of D K D.
    scale : ndarray of shape (n,), default=None
        The diagonal of D. If None, D is the unit matrix.
    slopes : ndarray of shape (n,), default=empty
        The slope s of each point; polynomial kernels only.
    base : float, default=0.0
        The base a; polynomial kernels only.
    degree : int, default=1
        The degree P; polynomial kernels only.
    mixed : ndarray of shape (P - 1, P - 1), default=empty
        Coefficients of the terms :math:`s^i t^j` in :math:`(a + s + t)^P`, for i and j from 1;
        polynomial kernels only.

    Examples
    --------
    Two points at distance 1, so the value off the diagonal is exp(-1) - 1:

    >>> points = CompiledPoints(GAUSSIAN, np.array([[0.0, 1.0]]), np.zeros(2))
    >>> points.block(np.array([0]), np.array([0, 1])).round(6).tolist()
    [[0.0, -0.632121]]
    """

    kind: int
    features: Array
    diagonal: Array
    scale: Array | None = None
    slopes: Array = field(default_factory=lambda: np.zeros(0))
    base: float = 0.0
    degree: int = 1
    mixed: Array = field(default_factory=lambda: np.zeros((0, 0)))

    @property
    def is_exponential(self) -> bool:
        """Whether :meth:`sums` and :meth:`block` exist; products are left to BLAS."""
        return self.kind != POLYNOMIAL

    def sums(self, rows: Index, used: Index, weights: Array) -> Array:
        """Return the sums over some points of weight times value, for some rows.

        Parameters
        ----------
        rows : ndarray of shape (m,), dtype=int
            The rows; in order if they are all.
        used : ndarray of shape (k,), dtype=int
            The points of the sums.
        weights : ndarray of shape (k,)
            Their weights.

        Returns
        -------
        ndarray of shape (m,)
            Entries of D K D times the weights, in double precision.
        """
        from kernelbook.kernels.loops import kernel_sums

        scale = self.scale
        weights = weights if scale is None else weights * scale[used]
        product = np.full(len(rows), 0.0 if scale is None else weights.sum())
        if self._by_products:
            for batch, values in self._batches(rows, used):
                product[batch] += values @ weights
        else:
            everything = len(rows) == self.features.shape[1]
            at = self.features if everything else self.features[:, rows]
            others = np.ascontiguousarray(self.features[:, used].T)

            def add(batch: slice) -> None:
                points = np.ascontiguousarray(at[:, batch])
                kernel_sums(points, others, weights, self.kind, product[batch])

            size = max(LEAST_BATCH, VALUES_AT_ONCE // max(1, len(used)))
            batches = [slice(first, first + size) for first in range(0, len(rows), size)]
            if len(batches) == 1:
                add(batches[0])
            else:
                Parallel(require="sharedmem")(delayed(add)(batch) for batch in batches)
        return product if scale is None else product * scale[rows]

    def block(self, rows: Index, columns: Index) -> Array:
        """Return the values of some rows and columns.

        Parameters
        ----------
        rows : ndarray of shape (m,), dtype=int
            The rows.
        columns : ndarray of shape (k,), dtype=int
            The columns.

        Returns
        -------
        ndarray of shape (m, k)
            Entries of D K D, in double precision.
        """
        from kernelbook.kernels.loops import fill_block

        values = np.empty((len(rows), len(columns)))
        if self._by_products:
            for _ in self._batches(rows, columns, values):
                pass
        else:
            at = np.ascontiguousarray(self.features[:, columns])
            fill_block(at, np.ascontiguousarray(self.features[:, rows].T), self.kind, values)
        if self.scale is None:
            return values
        return self.scale[rows][:, None] * (values + 1.0) * self.scale[columns]

    @cached_property
    def _norms(self) -> Array:
        return np.einsum("ij,ij->j", self.features, self.features)

    @cached_property
    def _by_products(self) -> bool:
        """Whether distances may be computed from inner products, and it pays."""
        many = len(self.features) >= MANY_FEATURES
        return self.kind == GAUSSIAN and many and float(self._norms.max()) <= LARGEST_NORM

    def _batches(
        self, rows: Index, columns: Index, out: Array | None = None
    ) -> Iterator[tuple[slice, Array]]:
        """Some rows at a time: which, and k - 1 for these rows and the columns."""
        from kernelbook.kernels.loops import kernel_from_products

        at, norms = self.features[:, columns], self._norms[columns]
        size = max(1, CACHED_VALUES // max(1, len(columns)))
        scratch = np.empty((min(size, len(rows)), len(columns))) if out is None else out
        # Not scikit-learn's batches, whose check of arguments takes longer than a small batch.
        for first in range(0, len(rows), size):
            batch = slice(first, first + size)
            here = rows[batch]
            values = scratch[: len(here)] if out is None else out[batch]
            np.matmul(self.features[:, here].T, at, out=values)
            kernel_from_products(values, self._norms[here], norms)
            yield batch, values
