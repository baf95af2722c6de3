"""Sequential minimal optimisation: fast to the neighbourhood of the optimum, not to it."""

from typing import TypeGuard

import numpy as np
from numpy.typing import NDArray

from kernelbook.qp.exact.compiled import (
    BLOCK,
    LIMIT,
    block_extremes,
    mark_all,
    smo_on_points,
    smo_steps,
)
from kernelbook.qp.exact.rows import RowCache
from kernelbook.qp.exact.source import DenseSource, PointsSource, Source

__all__ = ["Pairwise", "spread"]

Array = NDArray[np.float64]
Index = NDArray[np.intp]

STEPS_BETWEEN_SHRINKING = 1000
# Columns leave memory once less than this share of them is left.
COMPACTION = 0.75


class Pairwise:
    r"""Steps on pairs of variables for :math:`\min \tfrac12 b^\top K b - s^\top b`, sum b fixed.

    With :math:`t = s - Kb` the variable with the largest t that can rise is paired with the one
    that can fall and gains most by second order. Variables at a bound that want to stay there
    are put aside, so that rows get shorter. t carries the rounding of the rows.

    Where every point has one variable in [0, u] and another in [-l, 0], with s apart by 2 eps,
    as in regression, one variable in [-l, u] and a term eps |b| stand for both: half as many,
    with rows of half the length.
    """

    def __init__(
        self, source: Source, b: Array, t: Array, lower: Array, upper: Array, memory: int
    ) -> None:
        kink = np.zeros(len(b))
        self._is_folded = False
        if _can_be_folded(source, t, lower, upper):
            self._is_folded, n = True, len(b) // 2
            kink = (t[n:] - t[:n]) / 2
            source, b, t = source.of_points(), b[:n] + b[n:], t[:n] + kink
            lower, upper = lower[n:], upper[:n]
        self.source, self._whole_b, self._whole_t = source, b.copy(), t.copy()
        self._whole_kink, self._box = kink, (lower, upper)
        self.n_steps = 0
        self._unit = spread(source) or 1.0
        self._take(np.arange(len(b)))
        self._counters = np.zeros(2, dtype=np.int64)
        if isinstance(source, DenseSource):
            self._cache = RowCache.of_matrix(source.K)
        else:
            self._cache = RowCache(len(b), memory)
        if _is_compiled(source):
            self._features, self._scale = source.features, source.scale
            self._polynomial = source.polynomial

    @property
    def b(self) -> Array:
        """The variables, shape (n,)."""
        b = self._whole_b
        return np.concatenate([b.clip(min=0), b.clip(max=0)]) if self._is_folded else b

    @property
    def t(self) -> Array:
        """s - K b, shape (n,), up to date for the variables in ``active`` only."""
        t, kink = self._whole_t, self._whole_kink
        return np.concatenate([t - kink, t + kink]) if self._is_folded else t

    @property
    def active(self) -> Index:
        """The variables that have not been put aside."""
        active = self._active
        return np.concatenate([active, active + len(self._whole_b)]) if self._is_folded else active

    def violation(self) -> float:
        """Largest t that can rise less the smallest that can fall, among the active variables."""
        return float(self._top.max() - self._bottom.min())

    def run(self, eps: float, max_steps: int) -> bool:
        """Step until the violation is at most eps; False if the steps did not suffice."""
        while True:
            limit = min(max_steps, self.n_steps + STEPS_BETWEEN_SHRINKING)
            status = self._steps(eps, limit)
            if status != LIMIT or self.n_steps >= max_steps:
                self._put_back()
                return status != LIMIT
            self._shrink()

    def _take(self, active: Index) -> None:
        self._active = active
        self._b, self._t = self._whole_b[active], self._whole_t[active]
        self._lower, self._upper = (bound[active] for bound in self._box)
        self._kink, self._diagonal = self._whole_kink[active], self.source.diagonal[active]
        self._up, self._low = np.empty(len(active)), np.empty(len(active))
        mark_all(self._b, self._lower, self._upper, self._kink, self._up, self._low)
        n_blocks = -(-len(active) // BLOCK)
        self._top, self._bottom = np.empty(n_blocks), np.empty(n_blocks)
        block_extremes(self._t, self._up, self._low, self._top, self._bottom)

    def _steps(self, eps: float, limit: int) -> int:
        self._counters[0] = self.n_steps
        cache = self._cache
        numbers = (self._diagonal, self._t, self._b, self._lower, self._upper, self._kink)
        bounds = (self._up, self._low, self._top, self._bottom)
        ends = (eps, self._unit, limit, self._counters)
        places = (cache.rows, cache.slot, cache.used)
        if _is_compiled(self.source):
            kind = self.source.points.compiled_kind
            kernel = (self._features, self._scale, kind, self._polynomial)
            room = (cache.owner, cache.taken)
            status = smo_on_points(kernel, places, room, numbers, bounds, ends)
        else:
            while (status := smo_steps(places, numbers, bounds, ends)) >= 0:
                place = cache.place_for(status, int(self._counters[1]))
                cache.rows[place] = self.source.row(int(self._active[status]), self._active)
        self.n_steps = int(self._counters[0])
        return int(status)

    def _put_back(self) -> None:
        self._whole_b[self._active], self._whole_t[self._active] = self._b, self._t

    def _shrink(self) -> None:
        """Put variables aside that no pair would move: they neither rise nor fall with gain."""
        if isinstance(self.source, DenseSource):
            return
        rises = self._t + self._up >= self._bottom.min()
        falls = self._t + self._low <= self._top.max()
        kept = np.flatnonzero(rises | falls)
        if len(kept) > COMPACTION * len(self._active):
            return
        self._put_back()
        self._cache.compact(kept)
        if _is_compiled(self.source):
            self._features = np.ascontiguousarray(self._features[:, kept])
            self._scale = self._scale[kept] if len(self._scale) else self._scale
            self._polynomial = (self._polynomial[0][kept], *self._polynomial[1:])
        self._take(self._active[kept])


def _can_be_folded(source: Source, t: Array, lower: Array, upper: Array) -> TypeGuard[PointsSource]:
    """Whether two variables of opposite signs belong to each point."""
    if not (isinstance(source, PointsSource) and source.is_doubled):
        return False
    n = len(t) // 2
    signs_differ = (lower[:n] == 0).all() and (upper[n:] == 0).all()
    return bool(signs_differ and (t[n:] >= t[:n]).all())


def _is_compiled(source: Source) -> TypeGuard[PointsSource]:
    return isinstance(source, PointsSource) and source.points.compiled_kind is not None


def spread(source: Source) -> float:
    """Largest curvature of a pair, among a sample."""
    n = len(source.diagonal)
    some = np.arange(0, n, max(1, n // 128))
    K = source.block(some)
    d = np.diagonal(K)
    return float((d[:, None] + d - 2.0 * K).max())
