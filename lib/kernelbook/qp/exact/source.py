"""Where the exact solver finds the entries of its matrix: in memory, or computed from points."""

from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from kernelbook.qp.points import DISTANCE_KINDS, PointsQuadratic
from kernelbook.qp.program import Program
from kernelbook.qp.quadratic import DenseQuadratic, PairedQuadratic

__all__ = ["DenseSource", "PointsSource", "Source", "source_of"]

Array = NDArray[np.float64]
Single = NDArray[np.float32]
Index = NDArray[np.intp]

SINGLE_RANGE = 1e18


class Source(Protocol):
    """Entries of the matrix of a program whose equality is a plain sum."""

    diagonal: Array

    def row(self, i: int, columns: Index) -> Single:
        """Entries of one row in single precision."""
        ...

    def product(self, b: Array, rows: Index | None = None) -> Array:
        """K b, or some of its entries."""
        ...

    def block(self, index: Index) -> Array:
        """K at the rows and columns of index."""
        ...


class DenseSource:
    """A matrix in memory, already centred and signed."""

    def __init__(self, K: Array) -> None:
        # The loops are compiled for rows in order.
        self.K, self.diagonal = np.ascontiguousarray(K), np.diagonal(K).copy()

    def row(self, i: int, columns: Index) -> Single:
        return self.K[i, columns].astype(np.float32)

    def product(self, b: Array, rows: Index | None = None) -> Array:
        used = np.flatnonzero(b)
        if rows is not None:
            return self.K[np.ix_(rows, used)] @ b[used]
        return self.K @ b if 2 * len(used) > len(b) else self.K[:, used] @ b[used]

    def block(self, index: Index) -> Array:
        return self.K[np.ix_(index, index)]


class PointsSource:
    """Kernel values of points; several variables may belong to one point."""

    def __init__(self, points: PointsQuadratic, point_of: Index) -> None:
        self.points, self.point_of = points, point_of
        self.diagonal = points.diagonal()[point_of]

    @property
    def is_doubled(self) -> bool:
        """Whether the variables are those of all points, and then those of all points again."""
        return len(self.point_of) == 2 * len(self.points)

    def of_points(self) -> "PointsSource":
        """The same with one variable a point."""
        return PointsSource(self.points, np.arange(len(self.points)))

    @cached_property
    def features(self) -> Single:
        """One feature a row, shape (d, n)."""
        # An index into columns leaves them in the order of columns, which the loops can't stream.
        return self.points.features[:, self.point_of].astype(np.float32, order="C")

    @cached_property
    def polynomial(self) -> tuple[Single, np.float32, int, Single]:
        """The numbers of a polynomial kernel, see :attr:`PointsQuadratic.polynomial`."""
        slopes, base, degree, mixed = self.points.polynomial
        at = slopes[self.point_of].astype(np.float32)
        return at, np.float32(base), degree, mixed.astype(np.float32)

    @cached_property
    def scale(self) -> Single:
        """The diagonal of D, empty if there is none."""
        scale = self.points.scale
        return np.asarray([] if scale is None else scale[self.point_of], dtype=np.float32)

    def row(self, i: int, columns: Index) -> Single:
        at = self.point_of[[i]]
        return self.points.block(at, self.point_of[columns])[0].astype(np.float32)

    def product(self, b: Array, rows: Index | None = None) -> Array:
        if len(b) == len(self.points):  # a variable a point, in their order
            return self.points.mv(b) if rows is None else self.points.mv_at(rows, b)
        by_point: Array = np.bincount(self.point_of, weights=b, minlength=len(self.points)).astype(
            float
        )
        if rows is None:
            return self.points.mv(by_point)[self.point_of]
        at, back = np.unique(self.point_of[rows], return_inverse=True)
        return self.points.mv_at(at, by_point)[back]

    def block(self, index: Index) -> Array:
        return self.points.block(self.point_of[index], self.point_of[index])


def source_of(program: Program) -> tuple[Source, Array]:
    """Source and vector s of a program with an equality of signs, in the variables b = a x.

    With them the program is to minimise 1/2 b'Kb - s'b with the sum of b fixed.
    """
    Q, a, s = program.Q, program.a, -program.a * program.q
    if isinstance(Q, PointsQuadratic) and (a == 1).all() and _suits_single_precision(Q):
        return PointsSource(Q, np.arange(len(Q))), s
    if isinstance(Q, PairedQuadratic) and isinstance(Q.K, PointsQuadratic):
        n = len(Q.K)
        if _suits_single_precision(Q.K) and (a[:n] == 1).all() and (a[n:] == -1).all():
            return PointsSource(Q.K, np.tile(np.arange(n), 2)), s
    everything = np.arange(len(Q))
    K = Q.Q if isinstance(Q, DenseQuadratic) else Q.block(everything, everything)
    if (a < 0).any():
        K = a[:, None] * K * a
    means = K.mean(axis=0)
    centred = K - means
    centred -= (means - means.mean())[:, None]
    return DenseSource(centred), s - program.b * means


def _suits_single_precision(points: PointsQuadratic) -> bool:
    """Whether squares of the entries neither overflow nor vanish in rows of single precision."""
    largest = float(points.diagonal().max())
    is_relative = points.kind in DISTANCE_KINDS and points.scale is None
    return is_relative or 1.0 / SINGLE_RANGE < largest < SINGLE_RANGE
