"""The rows of the matrix that pairwise steps keep, in memory of a fixed size."""

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from kernelbook.kernels.loops import FAST

__all__ = ["RowCache", "make_room"]

Array = NDArray[np.float64]
Index = NDArray[np.intp]

# Places that are looked through for the one not used for longest.
SEARCHED = 64


class RowCache:
    """Rows of length n in single precision; one not used for long makes room.

    Parameters
    ----------
    n : int
        Length of a row, and number of rows that there are.
    memory : int
        Bytes for the rows; there is room for two in any case.

    Attributes
    ----------
    rows : ndarray of shape (places, n), dtype=float32
        The rows that are kept.
    slot : ndarray of shape (n,), dtype=int
        The place of each row, -1 if it is not there.
    owner : ndarray of shape (places,), dtype=int
        The row in each place, -1 if there is none.
    used : ndarray of shape (places,), dtype=int
        When the row in each place was used last.
    taken : ndarray of shape (1,), dtype=int
        The number of places taken; beyond it, where to look for one to give up.
    """

    def __init__(self, n: int, memory: int) -> None:
        places = int(min(n, max(2, memory // (4 * n))))
        self._buffer: NDArray[Any] = np.empty(places * n, dtype=np.float32)
        self.rows = self._buffer.reshape(places, n)
        self.slot = np.full(n, -1, dtype=np.int64)
        self.owner = np.full(places, -1, dtype=np.int64)
        self.used = np.zeros(places, dtype=np.int64)
        self.taken = np.zeros(1, dtype=np.int64)

    @property
    def places(self) -> tuple[Array, Index, Index]:
        """Rows, the place of each, and when it was used last: what the steps need."""
        return self.rows, self.slot, self.used

    def keep(self, i: int, row: Array, clock: int) -> None:
        """Keep a row.

        Parameters
        ----------
        i : int
            Its number.
        row : ndarray of shape (n,)
            Its entries.
        clock : int
            The time, in rows asked for.
        """
        place = make_room(i, clock, self.slot, self.owner, self.used, self.taken)
        self.rows[place] = row.astype(np.float32)

    def compact(self, kept: Index) -> None:
        """Shorten the rows to the entries in kept, and forget the rows of the others.

        Every row moves towards the front of the same memory, so none is overwritten before its
        turn.

        Parameters
        ----------
        kept : ndarray of shape (k,), dtype=int
            The entries, in ascending order.
        """
        n = len(kept)
        position = np.full(len(self.slot), -1, dtype=np.int64)
        position[kept] = np.arange(n)
        held = np.flatnonzero(self.owner >= 0)
        held = held[position[self.owner[held]] >= 0]
        places = int(min(n, len(self._buffer) // n))
        rows = self._buffer[: places * n].reshape(places, n)
        for place, old in enumerate(held):
            gather(self.rows[old], kept, rows[place])
        owner, used = np.full(places, -1, dtype=np.int64), np.zeros(places, dtype=np.int64)
        owner[: len(held)] = position[self.owner[held]]
        used[: len(held)] = self.used[held]
        self.slot = np.full(n, -1, dtype=np.int64)
        self.slot[owner[: len(held)]] = np.arange(len(held))
        self.rows, self.owner, self.used = rows, owner, used
        self.taken[0] = len(held)


@njit(**FAST)
def make_room(needed, clock, slot, owner, used, taken):
    """Find a place for the row that is needed: a free one, or that of a row not used for long.

    Places are taken in order. Once all are taken, the row not used for longest among the next
    SEARCHED leaves: to look through all of them costs as much as a row.

    Parameters
    ----------
    needed : int
        Number of the row.
    clock : int
        The time, in rows asked for.
    slot : ndarray of shape (n,), dtype=int
        The place of each row, -1 if it is not there; brought up to date.
    owner : ndarray of shape (places,), dtype=int
        The row in each place; brought up to date.
    used : ndarray of shape (places,), dtype=int
        When it was used last; brought up to date.
    taken : ndarray of shape (1,), dtype=int
        The number of places taken, then where to look next; brought up to date.

    Returns
    -------
    int
        The place.
    """
    places = len(owner)
    place = taken[0]
    if place < places:
        taken[0] += 1
    else:
        start = place - places
        searched = min(SEARCHED, places)
        place = start
        for k in range(start, start + searched):
            if used[k % places] < used[place]:
                place = k % places
        taken[0] = places + (start + searched) % places
        slot[owner[place]] = -1
    owner[place], slot[needed], used[place] = needed, place, clock
    return place


@njit(**FAST)
def gather(row, kept, out):
    """Copy the entries that are kept, in order, so that the copy may lie at the head of the row.

    Parameters
    ----------
    row : ndarray of shape (n,)
        The row.
    kept : ndarray of shape (k,), dtype=int
        Which entries, ascending.
    out : ndarray of shape (k,)
        Receives them.
    """
    for c in range(len(kept)):
        out[c] = row[kept[c]]
