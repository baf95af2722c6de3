"""The functions of a polynomial-kernel SVM and the rule that turns them into predictions."""

from collections.abc import Hashable
from dataclasses import dataclass, replace
from itertools import combinations
from math import comb
from numbers import Integral, Real
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import gen_batches
from sklearn.utils._param_validation import Interval, validate_parameter_constraints
from sklearn.utils.multiclass import _ovr_decision_function

from kernelbook.explain.monomials import ENTRIES_AT_ONCE, Matrix

__all__ = ["Kind", "Pair", "PolynomialSVM"]

Pair = tuple[Hashable, Hashable]
Kind = Literal["classifier", "regressor", "outlier_detector"]

FINITE = Interval(Real, None, None, closed="neither")
POSITIVE = Interval(Integral, 1, None, closed="left")
KERNEL = {"degree": [POSITIVE], "gamma": [FINITE], "coef0": [FINITE]}


@dataclass(frozen=True, eq=False)
class PolynomialSVM:
    r"""The functions :math:`f_k(x) = b_k + \sum_i a_{ki} (\gamma x_i^\top x + r)^D`.

    A classifier has one function for each of :attr:`pairs`, whose positive values vote for the
    first label of the pair; regressors and outlier detectors have one function and no pairs.

    Parameters
    ----------
    support_vectors : ndarray of shape (n_sv, n_features)
        The points :math:`x_i`.
    dual_coef : ndarray of shape (n_functions, n_sv)
        Signed coefficients :math:`a_{ki}`, alpha times y.
    intercept : ndarray of shape (n_functions,)
        The constants :math:`b_k`.
    degree : int
        Degree D of the kernel.
    gamma : float
        Factor of the inner product.
    coef0 : float
        The constant r of the kernel.
    kind : {'classifier', 'regressor', 'outlier_detector'}
        What the functions are for.
    classes : ndarray of shape (n_classes,), default=None
        The labels of a classifier.
    resolution : float, default=0.0
        Values up to this size have no sign that the fit could vouch for: they count as 0.
    one_vs_rest : bool, default=False
        Whether decision values of several classes come one a class, as scikit-learn's 'ovr'.
    break_ties : bool, default=False
        Whether equal votes are decided by these values.
    feature_names : ndarray of shape (n_features,), default=None
        Names of the features.

    Raises
    ------
    sklearn.utils._param_validation.InvalidParameterError
        If the degree is not an integer >= 1, or gamma or coef0 is not finite.
    """

    support_vectors: Matrix
    dual_coef: Matrix
    intercept: Matrix
    degree: int
    gamma: float
    coef0: float
    kind: Kind
    classes: NDArray[Any] | None = None
    resolution: float = 0.0
    one_vs_rest: bool = False
    break_ties: bool = False
    feature_names: NDArray[Any] | None = None

    def __post_init__(self) -> None:
        validate_parameter_constraints(KERNEL, vars(self), caller_name="PolynomialExplainer")

    @property
    def pairs(self) -> list[Pair] | None:
        """Labels of the positive and of the negative values of each function, or None."""
        if self.classes is None:
            return None
        labels = self.classes.tolist()
        return [(labels[i], labels[j]) for i, j in _class_pairs(len(labels))]

    def for_pair(self, pair: Pair) -> Self:
        """Return the machine for two classes that one of the functions is by itself.

        Parameters
        ----------
        pair : tuple of two labels
            One of :attr:`pairs`.

        Returns
        -------
        PolynomialSVM
            A machine with one function.

        Raises
        ------
        ValueError
            If there is no such pair.
        """
        pairs = self.pairs or []
        if self.classes is None or pair not in pairs:
            raise ValueError(f"pair must be one of {pairs}, in this order, got {pair!r}.")
        k = pairs.index(pair)
        positive, negative = _class_pairs(len(self.classes))[k]
        return replace(
            self,
            dual_coef=self.dual_coef[[k]],
            intercept=self.intercept[[k]],
            classes=self.classes[[negative, positive]],
        )

    def only(self, rows: Matrix) -> Matrix:
        """Return the only one of rows that belong to the functions.

        Parameters
        ----------
        rows : ndarray of shape (n_functions, k)
            The rows.

        Returns
        -------
        ndarray of shape (k,)
            The row.

        Raises
        ------
        ValueError
            If there are several functions.
        """
        if len(rows) > 1:
            raise ValueError(f"choose one function by for_pair(pair), a pair of {self.pairs}.")
        row: Matrix = rows[0]
        return row

    def degree_terms(self, X: Matrix) -> Matrix:
        """Return the part of every degree in the only function, without the intercept.

        The kernel is a polynomial in the inner product, so no expansion is needed.

        Parameters
        ----------
        X : ndarray of shape (n, n_features)
            Points.

        Returns
        -------
        ndarray of shape (n, D + 1)
            Column d for degree d.
        """
        D, weights = self.degree, self.only(self.dual_coef)
        terms = np.empty((len(X), D + 1))
        for rows in gen_batches(len(X), max(1, ENTRIES_AT_ONCE // max(1, len(weights)))):
            products = self.gamma * (X[rows] @ self.support_vectors.T)
            powers = np.ones_like(products)
            for d in range(D + 1):
                terms[rows, d] = comb(D, d) * self.coef0 ** (D - d) * (powers @ weights)
                powers *= products
        return terms

    def resolved(self, decisions: Matrix) -> Matrix:
        """Return decision values, exactly 0 where the fit does not resolve their sign.

        Parameters
        ----------
        decisions : ndarray of shape (n, n_functions)
            Values of the functions.

        Returns
        -------
        ndarray of shape (n, n_functions)
            The same but for those up to ``resolution`` in size.
        """
        return np.where(np.abs(decisions) <= self.resolution, 0.0, decisions)

    def shaped(self, decisions: Matrix) -> Matrix:
        """Return decision values in the shape of the model's ``decision_function``.

        Parameters
        ----------
        decisions : ndarray of shape (n, n_functions)
            Values of the functions.

        Returns
        -------
        ndarray of shape (n,), (n, n_functions) or (n, n_classes)
            One column for one function; by class with ``one_vs_rest``.
        """
        if len(self.intercept) == 1:
            return decisions[:, 0]
        if self.one_vs_rest and self.classes is not None:
            decisions = _ovr_decision_function(decisions < 0, -decisions, len(self.classes))
        return decisions

    def predictions(self, decisions: Matrix) -> NDArray[Any]:
        """Return what a model of this kind predicts.

        Parameters
        ----------
        decisions : ndarray of shape (n, n_functions)
            Values of the functions.

        Returns
        -------
        ndarray of shape (n,)
            Labels (classifier), values (regressor), or +1 inside and -1 outside.
        """
        if self.classes is None:
            values = decisions[:, 0]
            return values if self.kind == "regressor" else np.where(values >= 0, 1, -1)
        if len(self.intercept) == 1:
            return self.classes[(decisions[:, 0] > 0).astype(np.intp)]
        if self.break_ties and self.one_vs_rest:
            return self.classes[self.shaped(decisions).argmax(axis=1)]
        first, second = np.transpose(_class_pairs(len(self.classes)))
        winners = np.where(decisions > 0, first, second)
        votes = (winners[:, :, None] == np.arange(len(self.classes))).sum(axis=1)
        return self.classes[votes.argmax(axis=1)]


def _class_pairs(n_classes: int) -> list[tuple[int, int]]:
    """Positions of the class that a positive value votes for, and of the other one."""
    return [(1, 0)] if n_classes == 2 else list(combinations(range(n_classes), 2))
