"""The linear model in the interactions of the features that a polynomial-kernel SVM is."""

from collections.abc import Hashable, Iterable
from functools import cached_property
from math import comb
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernelbook.explain.machine import PolynomialSVM
from kernelbook.explain.monomials import (
    ENTRIES_AT_ONCE,
    Monomials,
    monomials,
    n_monomials,
    positions,
)
from kernelbook.kernels import Matrix

Key = tuple[int, ...]
Mask = NDArray[np.bool_]

LARGEST = 10**8
"""Interactions beyond which an expansion is refused (a weight each: 0.8 GB)."""

SUPERSCRIPTS = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


class Expansion:
    """Positions, names, weights and values of all interactions of degree 1 to D.

    Interactions stand in the order of their degree, and within a degree in lexicographic order
    of their sorted indices.
    """

    def __init__(self, machine: PolynomialSVM, feature_names: tuple[str, ...]) -> None:
        self.machine = machine
        self.feature_names = feature_names
        p = machine.support_vectors.shape[1]
        self.degrees = range(1, machine.degree + 1)
        self.of_degree = {d: Monomials(p, d) for d in self.degrees}
        ends = np.cumsum([n_monomials(p, d) for d in self.degrees], dtype=object)
        self.size = int(ends[-1])
        self.slices = {
            d: slice(int(end) - n_monomials(p, d), int(end))
            for d, end in zip(self.degrees, ends, strict=True)
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
        machine, D = self.machine, self.machine.degree
        coef = np.zeros((len(machine.dual_coef), self.size))
        for d in self.degrees:
            factor = comb(D, d) * machine.coef0 ** (D - d) * machine.gamma**d
            if factor == 0.0:
                continue
            terms = self.of_degree[d]
            for row, weights in zip(coef, machine.dual_coef, strict=True):
                used = np.flatnonzero(weights)
                row[self.slices[d]] = terms.weighted_sums(
                    machine.support_vectors[used], weights[used]
                )
            coef[:, self.slices[d]] *= factor * terms.multiplicities
        coef.flags.writeable = False
        return coef

    @property
    def constant(self) -> Matrix:
        """Intercept plus degree 0 of the kernel, which is r^D times the sum of the weights."""
        machine = self.machine
        return machine.intercept + machine.coef0**machine.degree * machine.dual_coef.sum(axis=1)

    def decisions(self, X: Matrix, coef: Matrix) -> Matrix:
        """Values of the linear model, shape (n, n_functions)."""
        values = np.tile(self.constant, (len(X), 1))
        for d in self.degrees:
            values += self.degree_values(X, coef, d)
        return values

    def degree_values(self, X: Matrix, coef: Matrix, degree: int) -> Matrix:
        """Part of one degree in the values, shape (n, n_functions)."""
        values = np.zeros((len(X), len(coef)))
        for column, row in zip(values.T, coef, strict=True):
            weights = row[self.slices[degree]]
            if weights.any():
                column += self.of_degree[degree].linear_form(X, weights)
        return values

    def contributions(self, X: Matrix, row: Matrix) -> Matrix:
        """Weight times value of every interaction, shape (n, size)."""
        values = np.empty((len(X), self.size))
        for d in self.degrees:
            part = self.slices[d]
            values[:, part] = monomials(X, d).T * row[part]
        return values

    def contributions_at(self, X: Matrix, row: Matrix, positions: NDArray[np.intp]) -> Matrix:
        """The same for the interactions at some positions only."""
        values = np.empty((len(X), len(positions)))
        for k, place in enumerate(positions):
            values[:, k] = row[place] * np.prod(X[:, self.key(place)], axis=1)
        return values

    def feature_contributions(self, X: Matrix, row: Matrix) -> Matrix:
        """Contributions split equally among the distinct features of each interaction."""
        totals = np.zeros(X.shape)
        for d in self.degrees:
            terms, weights = self.of_degree[d], row[self.slices[d]]
            rows = max(1, ENTRIES_AT_ONCE // len(terms))
            for start in range(0, len(X), rows):
                chunk = slice(start, start + rows)
                values = monomials(X[chunk], d) * weights[:, None]
                totals[chunk] += (terms.feature_shares @ values).T
        return totals

    def feature_totals(self, scores: Matrix) -> Matrix:
        """Scores of all interactions split in the same way, shape (p,)."""
        totals = np.zeros(len(self.feature_names))
        for d in self.degrees:
            totals += self.of_degree[d].feature_shares @ scores[self.slices[d]]
        return totals

    def spreads(self, X: Matrix) -> Matrix:
        """Standard deviation of the value of every interaction, shape (size,)."""
        return np.concatenate([self.of_degree[d].standard_deviations(X) for d in self.degrees])

    def degree_at(self, place: int) -> int:
        return next(d for d in self.degrees if place < self.slices[d].stop)

    def key(self, place: int) -> Key:
        """Sorted feature indices of the interaction at a position."""
        d = self.degree_at(place)
        return tuple(self.of_degree[d].indices[place - self.slices[d].start].tolist())

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
        [place] = positions(np.array([indices]), len(self.feature_names), degree)
        return self.slices[degree].start + int(place)

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


def _is_feature(value: object) -> bool:
    return isinstance(value, (str, Integral))


def _shortened(names: tuple[str, ...], most: int = 8) -> str:
    return ", ".join(names[:most]) + (", ..." if len(names) > most else "")
