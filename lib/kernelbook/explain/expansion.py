"""The linear model in the interactions of the features that a polynomial-kernel SVM is."""

from collections.abc import Hashable, Iterable
from functools import cached_property
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from kernelbook.explain.machine import PolynomialSVM
from kernelbook.explain.monomials import ENTRIES_AT_ONCE, Monomials, monomials, n_monomials
from kernelbook.kernels import Matrix

Key = tuple[int, ...]
Mask = NDArray[np.bool_]

LARGEST = 10**8
"""Interactions beyond which an expansion is refused (about 7 GB while it is computed)."""

SUPERSCRIPTS = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


class Expansion:
    """Positions, names, weights and values of all interactions of degree 1 to D.

    Interactions stand in the order of their degree, and within a degree in lexicographic order
    of their sorted indices. They are handled as monomials of degree D in one variable more, which
    stands first and is always 1: in lexicographic order these come in just this order, behind
    the constant, and their multiplicities contain the binomial coefficients of the kernel.
    """

    def __init__(self, machine: PolynomialSVM, feature_names: tuple[str, ...]) -> None:
        self.machine = machine
        self.feature_names = feature_names
        p, D = machine.support_vectors.shape[1], machine.degree
        self.terms = Monomials(p + 1, D)
        self.size = n_monomials(p + 1, D) - 1
        self.degrees = range(1, D + 1)
        self.slices = {
            d: slice(n_monomials(p + 1, d - 1) - 1, n_monomials(p + 1, d) - 1) for d in self.degrees
        }

    @cached_property
    def coef(self) -> Matrix:
        """Weights of all interactions, shape (n_functions, size)."""
        if self.size > LARGEST:
            raise ValueError(
                f"{len(self.feature_names)} features at degree {self.machine.degree} have "
                f"{self.size:,} interactions, more than the limit of {LARGEST:,}: select features "
                "first, or use degree_contributions, which needs no expansion."
            )
        machine, points = self.machine, _with_one(self.machine.support_vectors)
        coef = np.empty((len(machine.dual_coef), self.size))
        for row, weights in zip(coef, machine.dual_coef, strict=True):
            used = np.flatnonzero(weights)
            row[:] = self.terms.weighted_sums(points[used], weights[used])[1:]
        coef *= self.terms.multiplicities[1:]
        for d, part in self.slices.items():
            coef[:, part] *= machine.coef0 ** (machine.degree - d) * machine.gamma**d
        coef.flags.writeable = False
        return coef

    @property
    def constant(self) -> Matrix:
        """Intercept plus degree 0 of the kernel, which is r^D times the sum of the weights."""
        machine = self.machine
        return machine.intercept + machine.coef0**machine.degree * machine.dual_coef.sum(axis=1)

    def decisions(self, X: Matrix, coef: Matrix) -> Matrix:
        """Values of the linear model, shape (n, n_functions)."""
        points, with_constant = _with_one(X), np.column_stack([self.constant, coef])
        return np.column_stack([self.terms.linear_form(points, row) for row in with_constant])

    def degree_values(self, X: Matrix, row: Matrix, degree: int) -> Matrix:
        """Part of one degree in the values of one function, shape (n,)."""
        part = np.zeros(self.size + 1)
        part[1:][self.slices[degree]] = row[self.slices[degree]]
        return self.terms.linear_form(_with_one(X), part)

    def contributions(self, X: Matrix, row: Matrix) -> Matrix:
        """Weight times value of every interaction, shape (n, size)."""
        return monomials(_with_one(X), self.machine.degree)[1:].T * row

    def contributions_at(self, X: Matrix, row: Matrix, places: NDArray[np.intp]) -> Matrix:
        """The same for the interactions at some positions only."""
        values = np.empty((len(X), len(places)))
        for k, place in enumerate(places):
            values[:, k] = row[place] * np.prod(X[:, self.key(place)], axis=1)
        return values

    @cached_property
    def feature_shares(self) -> csr_array:
        """Equal shares of every interaction's distinct features, shape (size, p)."""
        indices = self.terms.indices[1:]
        first = indices > 0
        first[:, 1:] &= indices[:, 1:] != indices[:, :-1]
        rows, columns = np.nonzero(first)
        shares = 1.0 / first.sum(axis=1)
        features = indices[rows, columns] - 1
        shape = (self.size, len(self.feature_names))
        table = csr_array((shares[rows], (rows, features)), shape=shape)
        return table

    def feature_contributions(self, X: Matrix, row: Matrix) -> Matrix:
        """Contributions split equally among the distinct features of each interaction."""
        totals = np.empty(X.shape)
        rows = max(1, ENTRIES_AT_ONCE // self.size)
        for start in range(0, len(X), rows):
            chunk = slice(start, start + rows)
            totals[chunk] = self.contributions(X[chunk], row) @ self.feature_shares
        return totals

    def feature_totals(self, scores: Matrix) -> Matrix:
        """Scores of all interactions split in the same way, shape (p,)."""
        totals: Matrix = scores @ self.feature_shares
        return totals

    def spreads(self, X: Matrix) -> Matrix:
        """Standard deviation of the value of every interaction, shape (size,)."""
        return self.terms.standard_deviations(_with_one(X))[1:]

    def keys(self, degree: int) -> list[Key]:
        """Sorted feature indices of all interactions of one degree."""
        rows = self.terms.indices[1:][self.slices[degree], self.machine.degree - degree :] - 1
        return list(map(tuple, rows.tolist()))

    def key(self, place: int) -> Key:
        """Sorted feature indices of the interaction at a position."""
        row = self.terms.indices[place + 1]
        return tuple((row[row > 0] - 1).tolist())

    def name(self, key: Key) -> str:
        """The product in words, such as ``x0·x2²``."""
        factors = []
        for index in dict.fromkeys(key):
            power = key.count(index)
            exponent = str(power).translate(SUPERSCRIPTS) if power > 1 else ""
            factors.append(self.feature_names[index] + exponent)
        return "·".join(factors)

    def positions(self, keys: Iterable[Any]) -> NDArray[np.intp]:
        """Positions of interactions given by their keys; raise for one that does not exist."""
        if isinstance(keys, str) or (isinstance(keys, tuple) and all(map(_is_feature, keys))):
            raise ValueError(
                f"interactions must be a list of keys, got the single key {keys!r}: write "
                f"[{keys!r}]."
            )
        return np.array([self._position(key) for key in keys], dtype=np.intp)

    def mask(self, interactions: Any) -> Mask:
        """A boolean mask over all interactions, from such a mask or from keys."""
        if getattr(interactions, "dtype", None) == np.bool_:
            if interactions.shape != (self.size,):
                raise ValueError(
                    f"a mask must have shape ({self.size},), one entry an interaction, got "
                    f"{interactions.shape}."
                )
            return np.array(interactions)
        mask = np.zeros(self.size, dtype=bool)
        mask[self.positions(interactions)] = True
        return mask

    def _position(self, key: Any) -> int:
        features = (key,) if _is_feature(key) else tuple(key)
        indices = tuple(sorted(self._feature(feature) for feature in features))
        degree = len(indices)
        if degree not in self.slices:
            raise ValueError(
                f"the interaction {key!r} has degree {degree}; this model has degrees 1 to "
                f"{self.machine.degree}."
            )
        ones = (0,) * (self.machine.degree - degree)
        [place] = self.terms.positions(np.array([ones + tuple(i + 1 for i in indices)]))
        return int(place) - 1

    def _feature(self, feature: Hashable) -> int:
        if isinstance(feature, str) and feature in self.feature_names:
            return self.feature_names.index(feature)
        p = len(self.feature_names)
        if isinstance(feature, Integral) and 0 <= feature < p:
            return int(feature)
        raise ValueError(
            f"{feature!r} is no feature of this model: name one of "
            f"{_shortened(self.feature_names)} or give an index from 0 to {p - 1}."
        )


def _with_one(X: Matrix) -> Matrix:
    return np.column_stack([np.ones(len(X)), X])


def _is_feature(value: object) -> bool:
    return isinstance(value, (str, Integral))


def _shortened(names: tuple[str, ...], most: int = 8) -> str:
    return ", ".join(names[:most]) + (", ..." if len(names) > most else "")
