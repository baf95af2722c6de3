"""A Gram matrix that is never formed: products and blocks are computed from the points."""

from collections.abc import Callable, Iterator
from functools import cache, cached_property
from importlib import import_module
from importlib.util import find_spec

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import gen_batches

from kernelbook.projection import mixed_coefficients
from kernelbook.qp.quadratic import DenseQuadratic, Index, Solve

__all__ = ["PointsQuadratic", "is_compiled"]

Array = NDArray[np.float64]

DISTANCE_KINDS = {"rbf": 0, "laplacian": 1}
# Kernels whose rows the compiled loops compute; products of the last two are left to BLAS.
KINDS = {**DISTANCE_KINDS, "linear": 2, "poly": 2}
# Values of one block of kernel rows: 32 MB.
BLOCK_VALUES = 2**22
# From so many features on, inner products by BLAS are faster than sums of squared differences.
# They lose the digits that norms have more than distances, so only norms up to this are let in.
MANY_FEATURES, LARGEST_NORM = 16, 8.0
# Values between a product by BLAS and its exponential: they should stay in the cache.
CACHED_VALUES = 2**17
# Columns from which the means of the matrix are estimated.
SAMPLED_COLUMNS = 64


@cache
def is_compiled() -> bool:
    """Whether numba is there, which compiles the loops of the exact solver (extra ``fast``)."""
    if find_spec("numba") is None:
        return False
    try:
        import_module("kernelbook.qp.exact.compiled")
    except (ImportError, RuntimeError):  # numba finds no directory for what it compiles
        return False
    return True


class PointsQuadratic:
    r"""The matrix :math:`D K D` of a kernel K on points, with a diagonal D if one is given.

    Parameters
    ----------
    X : ndarray, shape (n, d)
    gram : callable
        Function (X, Y) -> (n, m) of kernel values; without ``scale`` of k_c in the split of
        :mod:`kernelbook.projection` if the kernel has a ``kind``.
    kind : {'rbf', 'laplacian', 'linear', 'poly'}, optional
        A kernel that the compiled loops know; every other one goes through ``gram``.
    gamma, degree, coef0
        Of that kernel.
    centre : ndarray, shape (d,), optional
        The point c of the split; the mean if left out.
    scale : ndarray, shape (n,), optional
        The diagonal of D, positive.

    Examples
    --------
    >>> Q = PointsQuadratic(np.array([[1.0], [2.0]]), lambda X, Y: X @ Y.T)
    >>> Q.mv(np.array([1.0, -1.0])).tolist(), Q.diagonal().tolist()
    ([-1.0, -2.0], [1.0, 4.0])
    """

    def __init__(
        self,
        X: Array,
        gram: Callable[[Array, Array], Array],
        *,
        kind: str | None = None,
        gamma: float = 1.0,
        degree: int = 1,
        coef0: float = 0.0,
        centre: Array | None = None,
        scale: Array | None = None,
    ) -> None:
        self.X, self.gram, self.kind, self.gamma, self.scale = X, gram, kind, gamma, scale
        self.degree, self.coef0 = degree, coef0
        self.centre = X.mean(axis=0) if centre is None else centre

    def __len__(self) -> int:
        return len(self.X)

    @property
    def compiled_kind(self) -> int | None:
        """Number of the kernel in the compiled loops; None if they cannot be used."""
        return KINDS[self.kind] if self.kind is not None and is_compiled() else None

    @property
    def _distance_kind(self) -> int | None:
        return self.compiled_kind if self.kind in DISTANCE_KINDS else None

    @cached_property
    def features(self) -> Array:
        """The points less the centre (d, n), one feature a row, in units in which gamma is 1."""
        return np.ascontiguousarray((self._unit * (self.X - self.centre)).T)

    @property
    def _unit(self) -> float:
        return self.gamma if self.kind == "laplacian" else self.gamma**0.5

    @property
    def polynomial(self) -> tuple[Array, float, int, Array]:
        """What :mod:`kernelbook.projection` calls s and a, the degree, and its coefficients."""
        if self.kind in DISTANCE_KINDS:
            return np.zeros(len(self)), 0.0, 1, np.zeros((0, 0))
        centre = self._unit * self.centre
        base = float(centre @ centre) + self.coef0
        return centre @ self.features, base, self.degree, mixed_coefficients(base, self.degree)

    def mv(self, x: Array) -> Array:
        return self.mv_at(np.arange(len(self)), x)

    def mv_at(self, rows: Index, x: Array) -> Array:
        """The entries (Q x)[rows]."""
        if len(rows) == 0:
            return np.zeros(0)
        used = np.flatnonzero(x)
        weights = x[used] if self.scale is None else x[used] * self.scale[used]
        kind = self._distance_kind
        if kind is None:
            product = self._sums_in_blocks(rows, used, weights)
        else:
            product = self._compiled_sums(kind, rows, used, weights)
        return product if self.scale is None else product * self.scale[rows]

    def _compiled_sums(self, kind: int, rows: Index, used: Index, weights: Array) -> Array:
        from kernelbook.qp.exact.compiled import kernel_sums

        if self._by_products:
            product = np.empty(len(rows))
            for batch, values in self._kernel_batches(rows, used):
                product[batch] = values @ weights
            return product if self.scale is None else product + weights.sum()
        at = self.features if len(rows) == len(self) else self.features[:, rows]
        product = np.full(len(rows), 0.0 if self.scale is None else weights.sum())
        others = np.ascontiguousarray(self.features[:, used].T)
        kernel_sums(np.ascontiguousarray(at), others, weights, kind, product)
        return product

    @cached_property
    def _norms(self) -> Array:
        return np.einsum("ij,ij->j", self.features, self.features)

    @cached_property
    def _by_products(self) -> bool:
        """Whether distances may be computed from inner products, and it pays."""
        many = len(self.features) >= MANY_FEATURES
        return self.kind == "rbf" and many and float(self._norms.max()) <= LARGEST_NORM

    def _kernel_batches(
        self, rows: Index, columns: Index, out: Array | None = None
    ) -> Iterator[tuple[slice, Array]]:
        """Some rows at a time: which, and k - 1 for these rows and the columns."""
        from kernelbook.qp.exact.compiled import kernel_from_products

        at, norms = self.features[:, columns], self._norms[columns]
        size = max(1, CACHED_VALUES // max(1, len(columns)))
        scratch = np.empty((min(size, len(rows)), len(columns))) if out is None else out
        for batch in gen_batches(len(rows), size):
            here = rows[batch]
            values = scratch[: len(here)] if out is None else out[batch]
            np.matmul(self.features[:, here].T, at, out=values)
            kernel_from_products(values, self._norms[here], norms)
            yield batch, values

    def _sums_in_blocks(self, rows: Index, used: Index, weights: Array) -> Array:
        product, others = np.zeros(len(rows)), self.X[used]
        if len(used) == 0:
            return product
        for block in gen_batches(len(rows), max(1, BLOCK_VALUES // max(1, len(used)))):
            product[block] = self.gram(self.X[rows[block]], others) @ weights
        return product

    def diagonal(self) -> Array:
        return self._diagonal.copy()

    @cached_property
    def _diagonal(self) -> Array:
        if self.kind in DISTANCE_KINDS:
            return np.zeros(len(self)) if self.scale is None else self.scale**2
        batches = gen_batches(len(self), 512)
        own = np.concatenate([np.diagonal(self.gram(self.X[b], self.X[b])) for b in batches])
        return own if self.scale is None else own * self.scale**2

    def block(self, rows: Index, columns: Index) -> Array:
        kind = self._distance_kind
        if kind is None:
            values = self.gram(self.X[rows], self.X[columns])
        else:
            values = self._compiled_block(kind, rows, columns)
        if self.scale is None:
            return values
        return self.scale[rows][:, None] * values * self.scale[columns]

    def _compiled_block(self, kind: int, rows: Index, columns: Index) -> Array:
        from kernelbook.qp.exact.compiled import fill_block

        values = np.empty((len(rows), len(columns)))
        if self._by_products:
            for _ in self._kernel_batches(rows, columns, values):
                pass
            return values if self.scale is None else values + 1.0
        at = np.ascontiguousarray(self.features[:, columns])
        fill_block(at, np.ascontiguousarray(self.features[:, rows].T), kind, values)
        return values if self.scale is None else values + 1.0

    def factor(self, D: Array) -> Solve:
        return self._formed().factor(D)

    def centred(self, a: Array) -> DenseQuadratic:
        return self._formed().centred(a)

    def _formed(self) -> DenseQuadratic:
        everything = np.arange(len(self))
        return DenseQuadratic(self.block(everything, everything))

    def mean_product(self, a: Array) -> Array:
        """Q a / a'a, estimated from every few columns."""
        step = max(1, len(a) // SAMPLED_COLUMNS)
        sample = np.zeros(len(a))
        sample[::step] = a[::step]
        if not sample.any():
            sample = a
        return self.mv(sample) / float(sample @ sample)

    def restricted(self, index: Index) -> "PointsQuadratic":
        """The same over some of the points."""
        scale = None if self.scale is None else self.scale[index]
        return PointsQuadratic(
            self.X[index],
            self.gram,
            kind=self.kind,
            gamma=self.gamma,
            degree=self.degree,
            coef0=self.coef0,
            centre=self.centre,
            scale=scale,
        )
