"""The linear model in the interactions of the features that a polynomial-kernel SVM is."""

import copy
from collections.abc import Iterable
from functools import cached_property
from typing import Self

import numpy as np
from scipy.sparse import csr_array
from sklearn.utils import gen_batches

from kernelbook.explain.interactions import Interaction, Interactions, Mask
from kernelbook.explain.monomials import ENTRIES_AT_ONCE, Matrix, monomials, multiplicities
from kernelbook.explain.polynomial_svm import Pair, PolynomialSVM

__all__ = ["Expansion"]

LARGEST = 10**8
"""Interactions beyond which an expansion is refused (about 7 GB while it is computed)."""


class Expansion:
    """The weights of the interactions in the functions of a machine, and what they add up to.

    Contributions exist for machines with one function only. With p features and n support
    vectors the weights take O(n binom(p + D, D)) operations and O(n p^ceil(D/2)) memory.

    Parameters
    ----------
    svm : PolynomialSVM
        The machine.
    interactions : Interactions
        The interactions of its features up to its degree D.

    Attributes
    ----------
    svm : PolynomialSVM
        The machine.
    interactions : Interactions
        The interactions.
    kept : ndarray of shape (n_interactions,), dtype=bool, or None
        Interactions outside have the weight zero. If None, all are kept.
    """

    def __init__(self, svm: PolynomialSVM, interactions: Interactions) -> None:
        self.svm, self.interactions = svm, interactions
        self.kept: Mask | None = None

    def __repr__(self) -> str:
        return f"Expansion({self.interactions!r})"

    def reduced(self, interactions: Mask | Iterable[Interaction]) -> Self:
        """Return the same with some interactions only; the weights are not computed again.

        Parameters
        ----------
        interactions : ndarray of shape (n_interactions,), dtype=bool, or iterable of interactions
            Those that are kept.

        Returns
        -------
        Expansion
            A new one.

        Raises
        ------
        ValueError
            If one of them was dropped before.
        """
        kept = self.interactions.mask(interactions)
        dropped = np.flatnonzero(kept & ~self.mask)
        if len(dropped):
            name = self.interactions.name(self.interactions.key(dropped[0]))
            raise ValueError(f"{name} was dropped before: start from the whole explainer.")
        _ = self._weights
        reduced = copy.copy(self)
        reduced.kept = kept
        return reduced

    def for_pair(self, pair: Pair) -> Self:
        """Return the same for one function of several.

        Parameters
        ----------
        pair : tuple of two labels
            The function: one of the machine's pairs.

        Returns
        -------
        Expansion
            A new one.
        """
        chosen = type(self)(self.svm.for_pair(pair), self.interactions)
        chosen.kept = self.kept
        return chosen

    @property
    def mask(self) -> Mask:
        """Mask of the interactions that are kept, shape (n_interactions,)."""
        return np.ones(self.interactions.size, dtype=bool) if self.kept is None else self.kept

    @property
    def coef(self) -> Matrix:
        """Weights of all interactions, shape (n_functions, n_interactions)."""
        return self._weights if self.kept is None else np.where(self.kept, self._weights, 0.0)

    @property
    def row(self) -> Matrix:
        """Weights of the only function, shape (n_interactions,)."""
        return self.svm.only(self.coef)

    @property
    def constant(self) -> Matrix:
        """Intercept plus degree 0 of the kernel, which is r^D times the sum of the weights."""
        svm = self.svm
        return svm.intercept + svm.coef0**svm.degree * svm.dual_coef.sum(axis=1)

    def decisions(self, X: Matrix) -> Matrix:
        """Return the values of the linear model.

        Parameters
        ----------
        X : ndarray of shape (n, n_features)
            Points.

        Returns
        -------
        ndarray of shape (n, n_functions)
            Decision values.
        """
        points, rows = _with_one(X), np.column_stack([self.constant, self.coef])
        values = [self.interactions.terms.linear_form(points, row) for row in rows]
        return self.svm.resolved(np.column_stack(values))

    def contributions(self, X: Matrix) -> Matrix:
        """Return weight times value of every interaction.

        Parameters
        ----------
        X : ndarray of shape (n, n_features)
            Points.

        Returns
        -------
        ndarray of shape (n, n_interactions)
            Rows that sum to the decision value less the constant.
        """
        return monomials(_with_one(X), self.svm.degree)[1:].T * self.row

    def contributions_of(self, interactions: Iterable[Interaction], X: Matrix) -> Matrix:
        """Return weight times value of some interactions.

        Parameters
        ----------
        interactions : iterable of interactions
            Which, in any order.
        X : ndarray of shape (n, n_features)
            Points.

        Returns
        -------
        ndarray of shape (n, k)
            One column an interaction, as given.
        """
        places, row = self.interactions.positions(interactions), self.row
        values = [row[i] * X[:, self.interactions.key(i)].prod(axis=1) for i in places]
        return np.reshape(values, (len(places), len(X))).T

    def degree_contributions(self, X: Matrix) -> Matrix:
        """Return the contributions summed by degree.

        Parameters
        ----------
        X : ndarray of shape (n, n_features)
            Points.

        Returns
        -------
        ndarray of shape (n, D + 1)
            Column d for degree d; without the intercept.
        """
        if self.kept is None:
            return self.svm.degree_terms(X)
        points, row, terms = _with_one(X), self.row, self.interactions.terms
        parts = [np.full(len(X), self.constant[0] - self.svm.intercept[0])]
        for places in self.interactions.slices.values():
            part = np.zeros(len(terms))
            part[1:][places] = row[places]
            parts.append(terms.linear_form(points, part))
        return np.column_stack(parts)

    def feature_contributions(self, X: Matrix) -> Matrix:
        """Return contributions, split equally among the distinct features of each interaction.

        Parameters
        ----------
        X : ndarray of shape (n, n_features)
            Points.

        Returns
        -------
        ndarray of shape (n, n_features)
            Rows that sum to the decision value less the constant.
        """
        batches = gen_batches(len(X), max(1, ENTRIES_AT_ONCE // self.interactions.size))
        return np.concatenate(
            [self.feature_totals(self.contributions(X[rows])) for rows in batches]
        )

    def feature_totals(self, values: Matrix) -> Matrix:
        """Split values of all interactions equally among the distinct features of each.

        Parameters
        ----------
        values : ndarray of shape (..., n_interactions)
            The values.

        Returns
        -------
        ndarray of shape (..., n_features)
            Totals of the features.
        """
        totals: Matrix = values @ self._fractions
        return totals

    def importance(self, data: Matrix | None) -> Matrix:
        """Return the size of the weights, times the spread of the interactions on some points.

        Parameters
        ----------
        data : ndarray of shape (n, n_features) or None
            The points, at least two. If None, the spread counts as 1.

        Returns
        -------
        ndarray of shape (n_interactions,)
            Means over the functions.

        Raises
        ------
        ValueError
            If there is one point only.
        """
        sizes: Matrix = np.abs(self.coef).mean(axis=0)
        if data is None:
            return sizes
        if len(data) < 2:
            raise ValueError("data must hold at least two points: one point has no spread.")
        return sizes * self.interactions.terms.standard_deviations(_with_one(data))[1:]

    @cached_property
    def _weights(self) -> Matrix:
        svm, terms, size = self.svm, self.interactions.terms, self.interactions.size
        if size > LARGEST:
            raise ValueError(
                f"the model has {size:,} interactions, more than the limit of {LARGEST:,}: select "
                "features first, or use degree_contributions, which needs no expansion."
            )
        points = _with_one(svm.support_vectors)
        coef = np.empty((len(svm.dual_coef), size))
        for row, weights in zip(coef, svm.dual_coef, strict=True):
            used = np.flatnonzero(weights)
            row[:] = terms.weighted_sums(points[used], weights[used])[1:]
        coef *= multiplicities(terms.indices[1:])
        for d, places in self.interactions.slices.items():
            coef[:, places] *= svm.coef0 ** (svm.degree - d) * svm.gamma**d
        coef.flags.writeable = False
        return coef

    @cached_property
    def _fractions(self) -> csr_array:
        """What each feature gets of each interaction, shape (n_interactions, n_features)."""
        indices = self.interactions.terms.indices[1:]
        distinct = indices > 0
        distinct[:, 1:] &= indices[:, 1:] != indices[:, :-1]
        rows, columns = np.nonzero(distinct)
        fractions = 1.0 / distinct.sum(axis=1)
        shape = (self.interactions.size, len(self.interactions.feature_names))
        return csr_array((fractions[rows], (rows, indices[rows, columns] - 1)), shape=shape)


def _with_one(X: Matrix) -> Matrix:
    return np.column_stack([np.ones(len(X)), X])
