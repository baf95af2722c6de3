r"""Monomials of several variables, their weighted sums and their evaluation, block by block.

The monomials of degree d in p variables are numbered by their sorted index tuples in
lexicographic order: for p = 2, d = 2 that is (0, 0), (0, 1), (1, 1). There are
:math:`\binom{p+d-1}{d}` of them.

A monomial of degree d splits in one way into a *head*, its first :math:`\lceil d/2 \rceil`
indices, and a *tail*, the others. All heads that end in j meet the same tails, those that start
at j or later, and these are the last rows of the table of tails. So a sum over n points of all
monomials of degree d is one matrix product for every j, and only monomials of half the degree
are ever stored: :math:`O(n\,p^{\lceil d/2 \rceil})` numbers instead of :math:`O(n\,p^d)`,
with no product computed twice.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from math import comb, factorial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import gen_batches

__all__ = ["Monomials", "index_table", "monomials", "multiplicities", "n_monomials", "positions"]

Matrix = NDArray[np.float64]
Indices = NDArray[np.intp]

ENTRIES_AT_ONCE = 2**21
"""Numbers of a table of monomials held at once (16 MB): rows beyond are taken in turns."""


def n_monomials(n_variables: int, degree: int) -> int:
    """Return the number of monomials of exactly one degree.

    Parameters
    ----------
    n_variables : int
        Number p of variables.
    degree : int
        Degree d >= 0.

    Returns
    -------
    int
        The binomial coefficient of p + d - 1 over d.

    Examples
    --------
    >>> n_monomials(3, 2)  # xx xy xz yy yz zz
    6
    """
    return comb(n_variables + degree - 1, degree)


def first_position(n_variables: int, degree: int) -> Indices:
    """Return the position of the first monomial whose smallest index is at least i, for each i.

    Parameters
    ----------
    n_variables : int
        Number p of variables.
    degree : int
        Degree of the monomials.

    Returns
    -------
    ndarray of shape (p,), dtype=int
        One position for each i from 0 to p - 1.

    Examples
    --------
    >>> first_position(3, 2).tolist()  # (0, 0), (1, 1) and (2, 2) among the six
    [0, 3, 5]
    """
    total = n_monomials(n_variables, degree)
    starts = [total - n_monomials(n_variables - i, degree) for i in range(n_variables)]
    return np.array(starts, dtype=np.intp)


def monomials(X: Matrix, degree: int, *, by_last: bool = False) -> Matrix:
    """Return all monomials of one degree at the rows of X.

    Every one is a shorter monomial times one variable more. In lexicographic order that
    variable goes in front of those that start at it or later, the end of the shorter table;
    with ``by_last`` it goes behind those that end at it or earlier, the beginning of the shorter
    table, so that equal last indices stand together.

    Parameters
    ----------
    X : ndarray of shape (n, p)
        Values of the variables.
    degree : int
        Degree of the monomials.
    by_last : bool, default=False
        Whether they are ordered by their last index first.

    Returns
    -------
    ndarray of shape (n_monomials, n)
        One monomial a row.

    Examples
    --------
    >>> X = np.array([[2.0, 3.0, 5.0]])
    >>> monomials(X, 2)[:, 0].tolist()
    [4.0, 6.0, 10.0, 9.0, 15.0, 25.0]
    >>> monomials(X, 2, by_last=True)[:, 0].tolist()
    [4.0, 6.0, 9.0, 10.0, 15.0, 25.0]
    """
    n, p = X.shape
    variables = np.ascontiguousarray(X.T)
    table = np.ones((1, n))
    for d in range(1, degree + 1):
        shorter, table = table, np.empty((n_monomials(p, d), n))
        filled = 0
        for i, joined in enumerate(_joined(p, d, by_last)):
            end = filled + joined.stop - joined.start
            np.multiply(variables[i], shorter[joined], out=table[filled:end])
            filled = end
    return table


def _joined(n_variables: int, degree: int, by_last: bool) -> list[slice]:
    """For every variable the rows of the table of degree - 1 that it is multiplied with."""
    if by_last:
        return [slice(0, n_monomials(i + 1, degree - 1)) for i in range(n_variables)]
    total = n_monomials(n_variables, degree - 1)
    return [slice(int(start), total) for start in first_position(n_variables, degree - 1)]


def index_table(n_variables: int, degree: int, *, by_last: bool = False) -> NDArray[np.int32]:
    """Return the sorted index tuples of :func:`monomials`.

    Parameters
    ----------
    n_variables : int
        Number of variables.
    degree : int
        Degree of the monomials.
    by_last : bool, default=False
        Whether they are ordered by their last index first.

    Returns
    -------
    ndarray of shape (n_monomials, degree), dtype=int32
        One tuple a row.

    Examples
    --------
    >>> index_table(2, 3).tolist()
    [[0, 0, 0], [0, 0, 1], [0, 1, 1], [1, 1, 1]]
    """
    table = np.empty((1, 0), dtype=np.int32)
    for d in range(1, degree + 1):
        shorter, table = table, np.empty((n_monomials(n_variables, d), d), dtype=np.int32)
        filled = 0
        for i, joined in enumerate(_joined(n_variables, d, by_last)):
            rows = table[filled : filled + joined.stop - joined.start]
            rows[:, -1 if by_last else 0] = i
            rows[:, slice(-1) if by_last else slice(1, None)] = shorter[joined]
            filled += len(rows)
    return table


def positions(indices: NDArray[Any], n_variables: int, degree: int) -> Indices:
    """Return the positions of sorted index tuples among the monomials of a degree.

    Tuples shorter than the degree stand for the first monomial that begins so: their last index
    repeated.

    Parameters
    ----------
    indices : ndarray of shape (n, k), dtype=int
        Sorted tuples, k at most the degree.
    n_variables : int
        Number of variables.
    degree : int
        Degree of the monomials.

    Returns
    -------
    ndarray of shape (n,), dtype=int
        Rows of :func:`index_table`.

    Examples
    --------
    >>> positions(np.array([[0, 1, 1]]), 2, 3).tolist()
    [2]
    >>> positions(np.array([[0], [1]]), 2, 3).tolist()
    [0, 3]
    """
    found = np.zeros(len(indices), dtype=np.intp)
    smallest = np.zeros(len(indices), dtype=np.intp)
    for k in range(indices.shape[1]):
        first = first_position(n_variables, degree - k)
        found += first[indices[:, k]] - first[smallest]
        smallest = indices[:, k]
    return found


def multiplicities(indices: NDArray[np.int32]) -> Matrix:
    r"""Return the number of orders of each sorted tuple, :math:`d! / \prod_i n_i!`.

    Parameters
    ----------
    indices : ndarray of shape (n, d), dtype=int32
        Sorted tuples, in which the index i occurs :math:`n_i` times.

    Returns
    -------
    ndarray of shape (n,)
        Integers, as floats.

    Examples
    --------
    >>> multiplicities(np.array([[2, 2, 3, 8, 10]], dtype=np.int32)).tolist()  # 5! / 2!
    [60.0]
    """
    n, degree = indices.shape
    run, repeats = np.ones(n), np.ones(n)
    for k in range(1, degree):
        run = np.where(indices[:, k] == indices[:, k - 1], run + 1.0, 1.0)
        repeats *= run
    return factorial(degree) / repeats


@dataclass(frozen=True)
class Monomials:
    """The monomials of one degree, with the split into heads and tails described above.

    Parameters
    ----------
    n_variables : int
        Number of variables.
    degree : int
        Degree of the monomials.

    Examples
    --------
    Weighted sums of xx, xy and yy over two points:

    >>> X, weights = np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([1.0, 10.0])
    >>> Monomials(2, 2).weighted_sums(X, weights).tolist()
    [91.0, 122.0, 164.0]
    """

    n_variables: int
    degree: int

    def __len__(self) -> int:
        return n_monomials(self.n_variables, self.degree)

    @cached_property
    def indices(self) -> NDArray[np.int32]:
        """Sorted index tuples of the monomials, built when they are first asked for."""
        return index_table(self.n_variables, self.degree)

    def position(self, indices: list[int]) -> int:
        """Return the position of one sorted index tuple.

        Parameters
        ----------
        indices : list of int
            The tuple.

        Returns
        -------
        int
            Its row in ``indices`` of the object.
        """
        [place] = positions(np.array([indices]), self.n_variables, self.degree)
        return int(place)

    @property
    def _halves(self) -> tuple[int, int]:
        return (self.degree + 1) // 2, self.degree // 2

    @cached_property
    def _blocks(self) -> list[tuple[slice, slice, Indices]]:
        """For every index j: the heads that end in it, the tails that start at it or later, and
        the positions of their products (n_heads, n_tails)."""
        p, (head, tail) = self.n_variables, self._halves
        starts = positions(index_table(p, head, by_last=True), p, self.degree)
        blocks, end = [], 0
        for j, tails in enumerate(_joined(p, tail + 1, by_last=False)):
            heads = slice(end, end := n_monomials(j + 1, head))
            products = starts[heads, None] + np.arange(tails.stop - tails.start)
            blocks.append((heads, tails, products))
        return blocks

    def _tables(self, X: Matrix) -> Iterator[tuple[slice, Matrix, Matrix]]:
        """Heads, grouped by their last index, and tails, some rows of X at a time."""
        head, tail = self._halves
        at_once = max(1, ENTRIES_AT_ONCE // n_monomials(self.n_variables, head))
        for rows in gen_batches(max(1, len(X)), at_once):  # a machine may have no support vectors
            yield rows, monomials(X[rows], head, by_last=True), monomials(X[rows], tail)

    def weighted_sums(self, X: Matrix, weights: Matrix) -> Matrix:
        """Return the weighted sum of each monomial over the rows of X.

        Parameters
        ----------
        X : ndarray of shape (n, p)
            Values of the variables.
        weights : ndarray of shape (n,)
            One weight a row.

        Returns
        -------
        ndarray of shape (n_monomials,)
            The sums.
        """
        sums = np.zeros(len(self))
        for chunk, heads, tails in self._tables(X):
            tails *= weights[chunk]
            for its_heads, its_tails, products in self._blocks:
                sums[products] += heads[its_heads] @ tails[its_tails].T
        return sums

    def linear_form(self, X: Matrix, coefficients: Matrix) -> Matrix:
        """Return the sum of coefficient times monomial at each row of X.

        Parameters
        ----------
        X : ndarray of shape (n, p)
            Values of the variables.
        coefficients : ndarray of shape (n_monomials,)
            One coefficient a monomial.

        Returns
        -------
        ndarray of shape (n,)
            The sums.
        """
        values = np.zeros(len(X))
        for chunk, heads, tails in self._tables(X):
            for its_heads, its_tails, products in self._blocks:
                sums = coefficients[products] @ tails[its_tails]
                values[chunk] += np.einsum("ij,ij->j", sums, heads[its_heads])
        return values

    def standard_deviations(self, X: Matrix) -> Matrix:
        """Return the standard deviation (divisor n) of each monomial over the rows of X.

        From the deviations themselves: the difference of two moments would lose every digit of
        features far from the origin.

        Parameters
        ----------
        X : ndarray of shape (n, p)
            Values of the variables.

        Returns
        -------
        ndarray of shape (n_monomials,)
            Standard deviations, in the unit of the monomial.
        """
        head, tail = self._halves
        heads, tails = monomials(X, head, by_last=True), monomials(X, tail)
        deviations = np.empty(len(self))
        for its_heads, its_tails, products in self._blocks:
            for one, where in zip(heads[its_heads], products, strict=True):
                deviations[where] = (one * tails[its_tails]).std(axis=1)
        return deviations
