"""Gram matrices that are never formed: products and blocks are computed from the points."""

from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import gen_batches

from kernelbook.kernels import BLOCK_VALUES, Kernel
from kernelbook.kernels.compiled import loops_are_available
from kernelbook.qp.low_rank import LowRankQuadratic
from kernelbook.qp.program import Index, Quadratic

__all__ = ["GramQuadratic"]

Array = NDArray[np.float64]

# Columns from which the means of the matrix are estimated.
SAMPLED_COLUMNS = 64
# To find the features of a polynomial pays for a product of so many values.
MANY_VALUES = 2**18
# Features of a million points are then 4 GB.
MOST_FEATURES = 500
# With fewer points for each feature a factor of the matrix itself takes no longer.
POINTS_PER_FEATURE = 4


class GramQuadratic(Quadratic):
    """The matrix of a kernel on points.

    Parameters
    ----------
    kernel : Kernel
        Positive semi-definite, at least on the vectors that the equality leaves free.
    X : ndarray of shape (n, d)
        The points.

    Examples
    --------
    >>> from kernelbook.kernels import Linear
    >>> GramQuadratic(Linear(), np.array([[1.0], [2.0]])).product(np.array([1.0, 1.0])).tolist()
    [3.0, 6.0]
    """

    def __init__(self, kernel: Kernel, X: Array) -> None:
        self.kernel, self.X, self._values = kernel, X, kernel.among(X)
        self.entry_error = kernel.entry_error
        self.compiled = kernel.compiled(X) if loops_are_available() else None
        self.diagonal = kernel.diagonal(X) if self.compiled is None else self.compiled.diagonal

    def product(self, x: Array, rows: Index | None = None) -> Array:
        rows = np.arange(len(self)) if rows is None else rows
        used = np.flatnonzero(x)
        product = np.zeros(len(rows))
        if len(rows) == 0 or len(used) == 0:
            return product
        if self.compiled is not None and self.compiled.is_exponential:
            return self.compiled.sums(rows, used, x[used])
        F = self._features if len(rows) * len(used) > MANY_VALUES else None
        if F is not None:
            return F[rows] @ (x[used] @ F[used])
        for block in gen_batches(len(rows), max(1, BLOCK_VALUES // len(used))):
            product[block] = self._values(rows[block], used) @ x[used]
        return product

    @cached_property
    def _features(self) -> Array | None:
        """Features whose inner products are the values, if a sum over them is shorter."""
        with np.errstate(over="ignore", invalid="ignore"):
            return self.kernel.features(self.X, min(MOST_FEATURES, len(self) // POINTS_PER_FEATURE))

    def factored(self) -> LowRankQuadratic | None:
        if self._features is None:
            return None
        Q = LowRankQuadratic(self._features)
        return Q if np.isfinite(Q.diagonal).all() else None

    def block(self, rows: Index, columns: Index) -> Array:
        if self.compiled is not None and self.compiled.is_exponential:
            return self.compiled.block(rows, columns)
        return self._values(rows, columns)

    def restricted(self, index: Index) -> "GramQuadratic":
        return GramQuadratic(self.kernel, self.X[index])

    def mean_product(self, a: Array) -> Array:
        step = max(1, len(a) // SAMPLED_COLUMNS)
        sample = np.zeros(len(a))
        sample[::step] = a[::step]
        if not sample.any():
            sample = a
        return self.product(sample) / float(sample @ sample)
