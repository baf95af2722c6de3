"""The rows of the matrix that pairwise steps keep, in memory of a fixed size."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernelbook.qp.exact.compiled import gather, make_room

__all__ = ["RowCache"]

Array = NDArray[np.float64]
Index = NDArray[np.intp]


class RowCache:
    """Rows of length n in single precision; one not used for long makes room.

    Attributes
    ----------
    rows : ndarray, shape (places, n)
    slot : ndarray of int, shape (n,)
        The place of each row, -1 if it is not there.
    owner, used : ndarray of int, shape (places,)
        The row in each place (-1: none), and when it was used last.
    taken : ndarray of int, shape (1,)
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

    @classmethod
    def of_matrix(cls, K: Array) -> "RowCache":
        """All rows of a matrix, as they are."""
        cache = cls.__new__(cls)
        n = len(K)
        cache.rows, cache.slot, cache.owner = K, np.arange(n), np.arange(n)
        cache.used = np.zeros(n, dtype=np.int64)
        cache.taken = np.full(1, n)
        return cache

    def place_for(self, i: int, clock: int) -> int:
        """Make room for row i."""
        return int(make_room(i, clock, self.slot, self.owner, self.used, self.taken))

    def compact(self, kept: Index) -> None:
        """Shorten the rows to the entries in kept, and forget the rows of the others.

        Every row moves towards the front of the same memory, so none is overwritten before its
        turn.
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
