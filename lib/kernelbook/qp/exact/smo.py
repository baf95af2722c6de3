"""Sequential minimal optimisation: fast to the neighbourhood of the optimum, not to it."""

import pickle
from pathlib import Path
from typing import Any

import numba
import numpy as np
from numba import njit
from numba.core.dispatcher import Dispatcher
from numpy.typing import NDArray

from kernelbook.kernels.compiled import CompiledPoints
from kernelbook.kernels.loops import FAST, row_single
from kernelbook.qp.exact.rows import RowCache, make_room
from kernelbook.qp.options import SolverOptions
from kernelbook.qp.program import Quadratic
from kernelbook.qp.progress import Progress

__all__ = ["Pairwise", "is_compiled", "smo_on_points", "smo_steps"]

Array = NDArray[np.float64]
Index = NDArray[np.intp]

# Entries of a row whose extremes are kept, so that most of a search may be skipped.
BLOCK = 512
CONVERGED, LIMIT = -1, -2
# Stands for infinity, with which comparisons that ignore NaN may not calculate.
HUGE = 1e300
# Loops that are compiled on disk: a small fit takes little longer than it takes to look there.
_on_disk: set[Any] = set()
# A pair with less curvature than this fraction of the unit has none.
FLAT = 1e-12


class Pairwise:
    r"""Steps on pairs of variables for :math:`\min \tfrac12 b^\top K b - s^\top b`, sum b fixed.

    With :math:`t = s - Kb` the variable with the largest t that can rise is paired with the one
    that can fall and gains most by second order. Variables at a bound that want to stay there
    are put aside, so that rows get shorter. t carries the rounding of the rows.

    Where every point has one variable in [0, u] and another in [-l, 0], with s apart by 2 eps,
    as in regression, one variable in [-l, u] and a term eps |b| stand for both: half as many,
    with rows of half the length.

    Parameters
    ----------
    K : Quadratic
        The matrix, n variables.
    b : ndarray of shape (n,)
        A feasible point.
    t : ndarray of shape (n,)
        There s - K b.
    lower : ndarray of shape (n,)
        Lower bounds, finite.
    upper : ndarray of shape (n,)
        Upper bounds, finite.
    unit : float
        The size of the curvature of a pair, against which none is told from some.
    options : SolverOptions
        Memory for rows, and when variables are put aside.

    Attributes
    ----------
    n_steps : int
        Number of steps so far.
    work : int
        Number of entries of t that they have changed.

    References
    ----------
    [Platt1998]_, [Keerthi2001]_, [Fan2005]_
    """

    def __init__(
        self,
        K: Quadratic,
        b: Array,
        t: Array,
        lower: Array,
        upper: Array,
        unit: float,
        options: SolverOptions,
    ) -> None:
        kink = np.zeros(len(b))
        half = None if K.in_memory is not None else K.folded()
        self._is_folded = half is not None and _is_two_sided(t, lower, upper)
        if half is not None and self._is_folded:
            K, n = half, len(half)
            kink = (t[n:] - t[:n]) / 2
            b, t = b[:n] + b[n:], t[:n] + kink
            lower, upper = lower[n:], upper[:n]
        self.K, self._options, self._unit = K, options, unit
        self._whole_b, self._whole_t, self._whole_kink = b.copy(), t.copy(), kink
        self._box, self._whole_diagonal = (lower, upper), K.diagonal
        self.n_steps, self.work = 0, 0
        self._counters = np.zeros(2, dtype=np.int64)
        self._cache, self._points = None, None
        if K.in_memory is not None:
            everything = np.arange(len(b))
            self._places = (K.in_memory, everything, np.zeros(len(b), dtype=np.int64))
        else:
            self._cache = RowCache(len(b), int(1e6 * options.cache_size))
            self._places = self._cache.places
            self._points = None if K.compiled is None else _in_single_precision(K.compiled)
        self._take(np.arange(len(b)))

    def point(self) -> tuple[Array, Array, Index]:
        """Return where the steps have led.

        Returns
        -------
        b : ndarray of shape (n,)
            A feasible point.
        t : ndarray of shape (n,)
            There s - K b, up to date for the active variables only.
        active : ndarray of shape (k,), dtype=int
            The variables that have not been put aside.
        """
        b, t, active = self._whole_b, self._whole_t, self._active
        b[active], t[active] = self._b, self._t
        if not self._is_folded:
            return b, t, active
        kink = self._whole_kink
        both = np.concatenate([b.clip(min=0), b.clip(max=0)])
        return both, np.concatenate([t - kink, t + kink]), np.append(active, active + len(b))

    def violation(self) -> float:
        """Return the violation of the optimality conditions among the active variables.

        Returns
        -------
        float
            Largest t of a variable that can rise less the smallest of one that can fall.
        """
        return float(self._top.max() - self._bottom.min())

    def run(self, eps: float, max_steps: int, progress: Progress | None = None) -> bool:
        """Step until the violation is small.

        Parameters
        ----------
        eps : float
            The violation at which to stop, in the unit of t.
        max_steps : int
            Largest number of steps, with those of earlier calls.
        progress : Progress, default=None
            What is told of the steps.

        Returns
        -------
        bool
            False if the steps did not suffice.
        """
        if self._cache is not None:
            self._shrink()
        while True:
            limit = min(max_steps, self.n_steps + self._options.shrink_every)
            status = self._steps(eps, limit)
            if progress is not None:
                progress.tell("pairs", violation=self.violation(), active=len(self._active))
            if status != LIMIT or self.n_steps >= max_steps:
                return status != LIMIT
            self._shrink()

    def _take(self, active: Index) -> None:
        self._active = active
        self._b, self._t = self._whole_b[active], self._whole_t[active]
        box = (self._box[0][active], self._box[1][active])
        diagonal, kink = self._whole_diagonal[active], self._whole_kink[active]
        self._numbers = (diagonal, self._t, self._b, *box, kink)
        n, n_blocks = len(active), -(-len(active) // BLOCK)
        self._up, self._low = np.empty(n), np.empty(n)
        self._top, self._bottom = np.empty(n_blocks), np.empty(n_blocks)
        self._bounds = (self._up, self._low, self._top, self._bottom)
        mark_all(self._numbers, self._bounds)

    def _steps(self, eps: float, limit: int) -> int:
        self._counters[0] = self.n_steps
        numbers, bounds = self._numbers, self._bounds
        ends = (eps, self._unit, limit, self._counters)
        if self._cache is None:
            status = smo_steps(self._places, numbers, bounds, ends)
        elif self._points is not None:
            room = (self._cache.owner, self._cache.taken)
            status = smo_on_points(self._points, self._places, room, numbers, bounds, ends)
        else:
            while (status := smo_steps(self._places, numbers, bounds, ends)) >= 0:
                row = self.K.block(self._active[[status]], self._active)[0]
                self._cache.keep(status, row, int(self._counters[1]))
        self.work += (int(self._counters[0]) - self.n_steps) * len(self._t)
        self.n_steps = int(self._counters[0])
        return int(status)

    def _shrink(self) -> None:
        """Put variables aside that no pair would move: they neither rise nor fall with gain."""
        if self._cache is None:
            return
        rises = self._t + self._up >= self._bottom.min()
        falls = self._t + self._low <= self._top.max()
        kept = np.flatnonzero(rises | falls)
        # At the end nobody objects, and nobody is put aside.
        if not 0 < len(kept) <= self._options.compact_at * len(self._active):
            return
        self.point()  # what is put aside keeps its last values there
        self._cache.compact(kept)
        self._places = self._cache.places
        if self._points is not None:
            features, scale, kind, (slopes, *polynomial) = self._points
            scale = scale[kept] if len(scale) else scale
            slopes = slopes[kept] if len(slopes) else slopes
            features = np.ascontiguousarray(features[:, kept])
            self._points = (features, scale, kind, (slopes, *polynomial))
        self._take(self._active[kept])


def is_compiled(loop: Any) -> bool:
    """Say whether a loop is compiled, in memory or on disk, so that a call need not wait.

    Parameters
    ----------
    loop : function
        Decorated by ``njit``.

    Returns
    -------
    bool
        False too where what is on disk is older than the loop, or of another version of numba.
    """
    # Without its compiler numba leaves functions as they are.
    if loop in _on_disk or not isinstance(loop, Dispatcher) or loop.signatures:
        return True
    changed = Path(loop.py_func.__code__.co_filename).stat().st_mtime
    kept = Path(str(loop.stats.cache_path)).glob(f"*.{loop.py_func.__name__}-*.nbi")
    if any(index.stat().st_mtime >= changed and _is_of_this_numba(index) for index in kept):
        _on_disk.add(loop)
    return loop in _on_disk


def _is_of_this_numba(index: Path) -> bool:
    """Whether what numba keeps with this index is its own: the index begins with the version."""
    with index.open("rb") as file:
        return bool(pickle.load(file) == numba.__version__)


def _is_two_sided(t: Array, lower: Array, upper: Array) -> bool:
    """Whether each point has one variable in [0, u] and one in [-l, 0], with t apart."""
    n = len(t) // 2
    return bool((lower[:n] == 0).all() and (upper[n:] == 0).all() and (t[n:] >= t[:n]).all())


def _in_single_precision(points: CompiledPoints) -> tuple[Any, ...]:
    """What the loops take: features, scale, kind, and the numbers of a polynomial."""
    scale = np.zeros(0) if points.scale is None else points.scale
    slopes, base = points.slopes.astype(np.float32), np.float32(points.base)
    # An index into columns leaves them in the order of columns, which the loops can't stream.
    features = points.features.astype(np.float32, order="C")
    polynomial = (slopes, base, points.degree, points.mixed.astype(np.float32))
    return features, scale.astype(np.float32), points.kind, polynomial


@njit(**FAST)
def _extremes(t, up, low):
    """Largest t that may rise and smallest t that may fall.

    Four at a time: the compiler keeps the order of a single chain of comparisons.
    """
    a0 = a1 = a2 = a3 = -HUGE
    b0 = b1 = b2 = b3 = HUGE
    c = 0
    while c + 4 <= len(t):
        a0, b0 = max(a0, t[c] + up[c]), min(b0, t[c] + low[c])
        a1, b1 = max(a1, t[c + 1] + up[c + 1]), min(b1, t[c + 1] + low[c + 1])
        a2, b2 = max(a2, t[c + 2] + up[c + 2]), min(b2, t[c + 2] + low[c + 2])
        a3, b3 = max(a3, t[c + 3] + up[c + 3]), min(b3, t[c + 3] + low[c + 3])
        c += 4
    while c < len(t):
        a0, b0 = max(a0, t[c] + up[c]), min(b0, t[c] + low[c])
        c += 1
    return max(max(a0, a1), max(a2, a3)), min(min(b0, b1), min(b2, b3))


@njit(**FAST)
def _gains(row, own, best, t, low, diagonal, per_slope, per_curvature, gains):
    """What pairs with one block promise, (t_i - t_j)^2 / curvature, and the largest of it."""
    for c in range(len(t)):
        slope = np.float32(max(best - (t[c] + low[c]), 0.0) * per_slope)
        curvature = np.float32((own + diagonal[c] - 2.0 * row[c]) * per_curvature)
        gains[c] = slope * (slope / max(curvature, np.float32(FLAT)))
    # Numbers that are not negative are ordered as their bits are.
    bits = gains.view(np.int32)
    largest = np.int32(0)
    for c in range(len(t)):
        largest = max(largest, bits[c])
    return largest


@njit(**FAST)
def _best_partner(row, own, best, least, t, low, diagonal, bottom, unit, gains):
    """The variable that may fall whose pair with i promises most.

    Slopes and curvatures are taken in units in which single precision holds them.
    """
    per_slope, per_curvature = 1.0 / (best - least), 1.0 / unit
    record, partner = np.int32(0), -1
    for block in range(len(bottom)):
        if bottom[block] >= best:
            continue
        start, stop = block * BLOCK, min((block + 1) * BLOCK, len(t))
        largest = _gains(
            row[start:stop],
            own,
            best,
            t[start:stop],
            low[start:stop],
            diagonal[start:stop],
            per_slope,
            per_curvature,
            gains,
        )
        if largest > record:
            record = largest
            bits = gains.view(np.int32)
            for c in range(stop - start):
                if bits[c] == largest:
                    partner = start + c
                    break
    return partner


@njit(**FAST)
def _move_block(step, row_i, row_j, t):
    for c in range(len(t)):
        t[c] -= step * (np.float64(row_i[c]) - np.float64(row_j[c]))


@njit(**FAST)
def _move(step, row_i, row_j, t, up, low, top, bottom):
    """t -= step (K_i - K_j), and the new extremes of each block."""
    for block in range(len(top)):
        start, stop = block * BLOCK, min((block + 1) * BLOCK, len(t))
        part = t[start:stop]
        _move_block(step, row_i[start:stop], row_j[start:stop], part)
        top[block], bottom[block] = _extremes(part, up[start:stop], low[start:stop])


@njit(**FAST)
def _mark(i, b, lower, upper, kink, up, low):
    """Slopes of variable i beyond t: what it takes to rise, and to fall."""
    if b[i] < upper[i]:
        up[i] = kink[i] if b[i] < 0 else -kink[i]
    else:
        up[i] = -HUGE
    if b[i] > lower[i]:
        low[i] = -kink[i] if b[i] > 0 else kink[i]
    else:
        low[i] = HUGE


@njit(**FAST)
def mark_all(numbers, bounds):
    """What :func:`smo_steps` keeps up to date of the bounds, from the start."""
    _, t, b, lower, upper, kink = numbers
    up, low, top, bottom = bounds
    for i in range(len(b)):
        _mark(i, b, lower, upper, kink, up, low)
    for block in range(len(top)):
        start, stop = block * BLOCK, min((block + 1) * BLOCK, len(t))
        top[block], bottom[block] = _extremes(t[start:stop], up[start:stop], low[start:stop])


@njit(**FAST)
def smo_steps(places, numbers, bounds, ends):
    """Take steps of sequential minimal optimisation until one needs a row that is not there.

    Parameters
    ----------
    places : tuple (rows, slot, used)
        What a row cache holds.
    numbers : tuple (diagonal, t, b, lower, upper, kink)
        Arrays of shape (n,). The objective has a term kink_i |b_i|.
    bounds : tuple (up, low, top, bottom)
        With t + up for the slope of a variable that rises, t + low of one that falls, -HUGE and
        HUGE for one that may not; top and bottom, of shape (n_blocks,), are the largest of the
        former and the smallest of the latter in each block.
    ends : tuple (eps, unit, limit, counters)
        The violation at which to stop, the size of curvatures, the largest number of steps, and
        the number of steps so far with a clock for the rows' last use.

    Returns
    -------
    int
        The number of that row, CONVERGED once the violation is at most eps, or LIMIT.
    """
    rows, slot, used = places
    diagonal, t, b, lower, upper, kink = numbers
    up, low, top, bottom = bounds
    eps, unit, limit, counters = ends
    gains = np.empty(BLOCK, dtype=np.float32)
    while True:
        best, least, block = -HUGE, HUGE, -1
        for k in range(len(top)):
            if top[k] > best:
                best, block = top[k], k
            least = min(least, bottom[k])
        if best - least <= eps:
            return CONVERGED
        if counters[0] >= limit:
            return LIMIT
        i = block * BLOCK
        while t[i] + up[i] != best:
            i += 1
        counters[1] += 1
        if slot[i] < 0:
            return i
        used[slot[i]] = counters[1]
        row_i = rows[slot[i]]
        j = _best_partner(row_i, diagonal[i], best, least, t, low, diagonal, bottom, unit, gains)
        if j < 0:
            return CONVERGED
        if slot[j] < 0:
            return j
        used[slot[j]] = counters[1]
        row_j = rows[slot[j]]
        curvature = max(diagonal[i] + diagonal[j] - 2.0 * row_i[j], FLAT * unit)
        step = ((t[i] + up[i]) - (t[j] + low[j])) / curvature
        # A kink ends a step as a bound does.
        top_i = 0.0 if kink[i] > 0 and b[i] < 0 else upper[i]
        bottom_j = 0.0 if kink[j] > 0 and b[j] > 0 else lower[j]
        room_i, room_j = top_i - b[i], b[j] - bottom_j
        if step >= room_i or step >= room_j:
            step = min(room_i, room_j)
        b[i] = top_i if step == room_i else b[i] + step
        b[j] = bottom_j if step == room_j else b[j] - step
        _mark(i, b, lower, upper, kink, up, low)
        _mark(j, b, lower, upper, kink, up, low)
        _move(step, row_i, row_j, t, up, low, top, bottom)
        counters[0] += 1


@njit(**FAST)
def smo_on_points(kernel, places, room, numbers, bounds, ends):
    """Take such steps, and compute the rows that they need.

    Parameters
    ----------
    kernel : tuple (features, scale, kind, polynomial)
        The points in single precision, as :class:`Pairwise` has them.
    places : tuple (rows, slot, used)
        What a row cache holds.
    room : tuple (owner, taken)
        The rest of it.
    numbers : tuple (diagonal, t, b, lower, upper, kink)
        As for :func:`smo_steps`.
    bounds : tuple (up, low, top, bottom)
        As for :func:`smo_steps`.
    ends : tuple (eps, unit, limit, counters)
        As for :func:`smo_steps`.

    Returns
    -------
    int
        CONVERGED or LIMIT.
    """
    rows, slot, used = places
    owner, taken = room
    features, scale, kind, polynomial = kernel
    while True:
        needed = smo_steps(places, numbers, bounds, ends)
        if needed < 0:
            return needed
        place = make_room(needed, ends[3][1], slot, owner, used, taken)
        row_single(features, scale, kind, polynomial, needed, rows[place])
