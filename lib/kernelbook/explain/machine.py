"""What a fitted polynomial-kernel SVM of any library comes down to: support vectors, signed
weights, intercepts, and the rule that turns decision values into predictions."""

import warnings
from collections.abc import Hashable
from dataclasses import dataclass, replace
from itertools import combinations
from math import comb
from numbers import Real
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import issparse
from sklearn.base import BaseEstimator, is_classifier, is_outlier_detector, is_regressor
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted

from kernelbook.explain.monomials import ENTRIES_AT_ONCE
from kernelbook.kernels import Matrix, check_degree, polynomial

Pair = tuple[Hashable, Hashable]
Kind = Literal["classifier", "regressor", "novelty"]

POINTS_COMPARED = 100
AGREEMENT = 1e-8
"""Allowed difference between the model and its support vectors, relative to the size of the
terms that the decision value is a sum of."""


@dataclass(frozen=True, eq=False)
class PolynomialSVM:
    r"""The functions :math:`f_k(x) = b_k + \sum_i a_{ki} (\gamma x_i^\top x + r)^D`.

    ``dual_coef`` (n_functions, n_sv) is signed (alpha times y), ``intercept`` (n_functions,).
    A classifier has one function for each of ``pairs``, whose positive values vote for the first
    label of the pair; regressors and novelty detectors have one function and no pairs. Values up
    to ``resolution`` have no sign that the fit could vouch for and count as 0, the boundary.
    """

    support_vectors: Matrix
    dual_coef: Matrix
    intercept: Matrix
    degree: int
    gamma: float
    coef0: float
    kind: Kind
    classes: NDArray[Any] | None = None
    pairs: tuple[Pair, ...] | None = None
    resolution: float = 0.0
    one_vs_rest: bool = False
    break_ties: bool = False
    feature_names: tuple[str, ...] | None = None

    def decisions(self, X: Matrix) -> Matrix:
        """Values of all functions through the kernel, shape (n, n_functions)."""
        K = polynomial(
            X, self.support_vectors, degree=self.degree, gamma=self.gamma, coef0=self.coef0
        )
        return K @ self.dual_coef.T + self.intercept

    def resolved(self, decisions: Matrix) -> Matrix:
        """Decision values, exactly 0 where their sign is below the resolution of the fit."""
        return np.where(np.abs(decisions) <= self.resolution, 0.0, decisions)

    def degree_terms(self, X: Matrix, function: int) -> Matrix:
        """Part of every degree 0..D in one function, without the intercept; (n, D + 1).

        The kernel is a polynomial in the inner product, so no expansion is needed.
        """
        D = self.degree
        factors = [comb(D, d) * self.coef0 ** (D - d) for d in range(D + 1)]
        weights = self.dual_coef[function]
        terms = np.empty((len(X), D + 1))
        rows = max(1, ENTRIES_AT_ONCE // max(1, len(weights)))
        for start in range(0, len(X), rows):
            chunk = slice(start, start + rows)
            products = self.gamma * (X[chunk] @ self.support_vectors.T)
            powers = np.ones_like(products)
            for d, factor in enumerate(factors):
                terms[chunk, d] = factor * (powers @ weights)
                powers *= products
        return terms

    def shaped(self, decisions: Matrix) -> Matrix:
        """Decision values in the shape that the model's own ``decision_function`` has."""
        if len(self.intercept) == 1:
            return decisions[:, 0]
        return self._one_vs_rest(decisions) if self.one_vs_rest else decisions

    def predictions(self, decisions: Matrix) -> NDArray[Any]:
        """Labels (classifier), values (regressor), or +1 inside and -1 outside (novelty)."""
        if self.kind == "regressor":
            return decisions[:, 0]
        if self.kind == "novelty":
            return np.where(decisions[:, 0] >= 0, 1, -1)
        assert self.classes is not None
        if len(self.intercept) == 1:
            return self.classes[(decisions[:, 0] > 0).astype(np.intp)]
        if self.break_ties and self.one_vs_rest:
            return self.classes[self._one_vs_rest(decisions).argmax(axis=1)]
        return self.classes[self._votes(decisions > 0).argmax(axis=1)]

    def _votes(self, first_wins: NDArray[np.bool_]) -> Matrix:
        assert self.classes is not None
        votes = np.zeros((len(first_wins), len(self.classes)))
        for k, (i, j) in enumerate(combinations(range(len(self.classes)), 2)):
            votes[:, i] += first_wins[:, k]
            votes[:, j] += ~first_wins[:, k]
        return votes

    def _one_vs_rest(self, decisions: Matrix) -> Matrix:
        """Votes, with ties broken by a squashed sum of the decision values below 1/3."""
        assert self.classes is not None
        sums = np.zeros((len(decisions), len(self.classes)))
        for k, (i, j) in enumerate(combinations(range(len(self.classes)), 2)):
            sums[:, i] += decisions[:, k]
            sums[:, j] -= decisions[:, k]
        return self._votes(decisions >= 0) + sums / (3.0 * (np.abs(sums) + 1.0))


def from_arrays(
    support_vectors: ArrayLike,
    dual_coef: ArrayLike,
    intercept: ArrayLike,
    *,
    degree: object,
    gamma: object,
    coef0: object,
    classes: ArrayLike | None,
) -> PolynomialSVM:
    """Check raw arrays of one decision function, and say which is wrong."""
    X = check_array(support_vectors, dtype=np.float64, copy=True, input_name="support_vectors")
    weights = np.array(dual_coef, dtype=np.float64)
    if weights.size != len(X) or weights.ndim > 2:
        raise ValueError(
            f"dual_coef must hold one signed weight for each of the {len(X)} support vectors, "
            f"got shape {weights.shape}. Explain several functions one at a time."
        )
    bias = np.array(intercept, dtype=np.float64)
    if bias.size != 1:
        raise ValueError(f"intercept must be one number, got shape {bias.shape}.")
    if not (np.isfinite(weights).all() and np.isfinite(bias).all()):
        raise ValueError("dual_coef and intercept must be finite, got NaN or infinity.")
    labels = None if classes is None else np.asarray(classes)
    if labels is not None and (labels.shape != (2,) or labels[0] == labels[1]):
        raise ValueError(
            "classes must be two different labels, the one of negative decision values first, "
            f"got {classes!r}."
        )
    return PolynomialSVM(
        support_vectors=X,
        dual_coef=weights.reshape(1, -1),
        intercept=bias.reshape(1),
        degree=check_degree(degree),
        gamma=_number(gamma, "gamma"),
        coef0=_number(coef0, "coef0"),
        kind="regressor" if labels is None else "classifier",
        classes=labels,
        pairs=None if labels is None else ((labels[1], labels[0]),),
    )


def from_model(model: BaseEstimator) -> PolynomialSVM:
    """Read a fitted SVM, and refuse one that its support vectors do not reproduce."""
    kind = _kind(model)
    kernel = getattr(model, "kernel", None)
    if kernel != "poly":
        remedy = (
            "a linear SVM is its own expansion, read its coef_"
            if kernel == "linear"
            else "only polynomials have a finite expansion in the features"
        )
        raise ValueError(f"model must have kernel='poly', got kernel={kernel!r}: {remedy}.")
    check_is_fitted(model)
    for attribute in ("support_vectors_", "dual_coef_", "intercept_"):
        if not hasattr(model, attribute):
            raise ValueError(f"the fitted {type(model).__name__} has no {attribute} to expand.")
    classes = np.asarray(model.classes_) if kind == "classifier" else None
    dual_coef = _dense(model.dual_coef_)
    pairs: tuple[Pair, ...] | None = None
    if classes is not None and len(classes) > 2:
        pairs = tuple(combinations(classes.tolist(), 2))
        dual_coef = _one_row_a_pair(dual_coef, np.asarray(model.n_support_))
    elif classes is not None:
        negative, positive = classes.tolist()
        pairs = ((positive, negative),)
    names = getattr(model, "feature_names_in_", None)
    machine = PolynomialSVM(
        support_vectors=_dense(model.support_vectors_),
        dual_coef=np.atleast_2d(dual_coef),
        intercept=np.array(model.intercept_, dtype=np.float64, ndmin=1),
        degree=check_degree(model.degree),
        gamma=_number(_fitted_gamma(model), "gamma"),
        coef0=_number(model.coef0, "coef0"),
        kind=kind,
        classes=classes,
        pairs=pairs,
        # The boundary of an exact one-class fit passes through training points, whose values are
        # rounding; this package's detector says up to where.
        resolution=float(getattr(model, "_resolution", 0.0)),
        one_vs_rest=getattr(model, "decision_function_shape", "ovo") == "ovr",
        break_ties=getattr(model, "break_ties", False),
        feature_names=None if names is None else tuple(names),
    )
    _check_reproduces(machine, model)
    return machine


def _fitted_gamma(model: Any) -> object:
    """The resolved width; scikit-learn keeps it in a private attribute only."""
    return getattr(model, "gamma_", getattr(model, "_gamma", model.gamma))


def _kind(model: object) -> Kind:
    if not isinstance(model, BaseEstimator):
        raise TypeError(
            f"model must be a fitted support vector machine, got {type(model).__name__}; for "
            "raw arrays use PolynomialExplainer.from_support_vectors."
        )
    if hasattr(model, "kernel"):
        if is_outlier_detector(model):
            return "novelty"
        if is_classifier(model):
            return "classifier"
        if is_regressor(model):
            return "regressor"
    raise ValueError(
        f"{type(model).__name__} is not a support vector machine with a kernel. Of a pipeline "
        "pass the last step, and data that went through the other steps; of a search pass "
        "best_estimator_."
    )


def _one_row_a_pair(dual_coef: Matrix, n_support: NDArray[Any]) -> Matrix:
    """One-vs-one weights, one row a pair of classes, from LIBSVM's packed layout.

    There the weight of a support vector of class i in the function of classes i and j stands
    in row j - 1 if j > i, and in row j if j < i.
    """
    ends = np.cumsum(n_support)
    of_class = [slice(end - n, end) for end, n in zip(ends, n_support, strict=True)]
    pairs = list(combinations(range(len(n_support)), 2))
    rows = np.zeros((len(pairs), dual_coef.shape[1]))
    for row, (i, j) in zip(rows, pairs, strict=True):
        row[of_class[i]] = dual_coef[j - 1, of_class[i]]
        row[of_class[j]] = dual_coef[i, of_class[j]]
    return rows


def _check_reproduces(machine: PolynomialSVM, model: Any) -> None:
    """Compare the model with its own support vectors at some of them.

    This catches models whose decision value is another function of the kernel, such as a
    squared radius minus a distance.
    """
    X = machine.support_vectors
    X = X[:: max(1, len(X) // POINTS_COMPARED)]
    if not len(X):
        return
    bounds = replace(
        machine,
        support_vectors=np.abs(machine.support_vectors),
        dual_coef=np.abs(machine.dual_coef),
        intercept=np.abs(machine.intercept),
        gamma=abs(machine.gamma),
        coef0=abs(machine.coef0),
    )
    tolerance = AGREEMENT * float(bounds.decisions(np.abs(X)).max())
    decisions = machine.decisions(X)
    clear = (np.abs(decisions) > tolerance).all(axis=1) | (len(machine.intercept) == 1)
    with warnings.catch_warnings():
        # The support vectors are stored without the column names of the training data.
        warnings.filterwarnings("ignore", "X does not have valid feature names", UserWarning)
        own = model.predict(X) if machine.kind == "regressor" else model.decision_function(X)
    difference = np.abs(machine.shaped(machine.resolved(decisions)) - own)[clear]
    if not (difference <= tolerance).all():
        raise ValueError(
            f"the decision values of this {type(model).__name__} are not its dual_coef_ times "
            "the polynomial kernel of its support_vectors_ plus intercept_ (they differ by "
            f"{difference.max():.3g}): it is no machine of this form."
        )


def _dense(values: Any) -> Matrix:
    return np.array(values.toarray() if issparse(values) else values, dtype=np.float64)


def _number(value: object, name: str) -> float:
    if isinstance(value, bool) or not isinstance(value, Real) or not np.isfinite(float(value)):
        raise ValueError(
            f"{name} must be the finite number that the fitted model uses (scikit-learn keeps "
            f"the resolved gamma in model._gamma), got {value!r}."
        )
    return float(value)
