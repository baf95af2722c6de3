"""Polynomial-kernel SVMs read from raw arrays, or from a fitted machine of any library."""

from __future__ import annotations

import warnings
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import issparse
from sklearn.base import BaseEstimator
from sklearn.utils import check_array, get_tags
from sklearn.utils.validation import check_is_fitted

from kernelbook.explain.monomials import Matrix
from kernelbook.explain.polynomial_svm import Kind, PolynomialSVM
from kernelbook.kernels import Polynomial, polynomial, resolve_kernel

__all__ = ["read_arrays", "read_model"]

POINTS_COMPARED = 100
AGREEMENT = 1e-8
"""Allowed difference between the model and its support vectors, relative to the size of the
terms that the decision value is a sum of."""


def read_arrays(
    support_vectors: ArrayLike,
    dual_coef: ArrayLike,
    intercept: ArrayLike,
    classes: ArrayLike | None,
    **kernel: Any,
) -> PolynomialSVM:
    """Check raw arrays of one decision function, and make them a machine.

    Parameters
    ----------
    support_vectors : array-like of shape (n_sv, n_features)
        Points of the training set.
    dual_coef : array-like of shape (n_sv,), (1, n_sv) or (n_sv, 1)
        Signed weights, alpha times y.
    intercept : float or array of size 1
        The constant of the function.
    classes : tuple of two labels or None
        The label of negative and of positive values. If None, the function is a regression.
    **kernel : dict
        ``degree``, ``gamma`` and ``coef0``.

    Returns
    -------
    PolynomialSVM
        With copies of the arrays.

    Raises
    ------
    ValueError
        If a shape is wrong, an entry is not finite, or the labels are not two.
    """
    checked = {"dtype": np.float64, "copy": True}
    vectors = check_array(support_vectors, **checked, input_name="support_vectors")
    flat = checked | {"ensure_2d": False}
    weights = check_array(np.ravel(dual_coef), **flat, input_name="dual_coef")
    bias = check_array(np.ravel(intercept), **flat, input_name="intercept")
    if len(weights) != len(vectors):
        raise ValueError(
            f"dual_coef must hold one signed weight for each of the {len(vectors)} support "
            f"vectors, got {len(weights)}. Explain several functions one at a time."
        )
    if len(bias) != 1:
        raise ValueError(f"intercept must be one number, got {len(bias)}.")
    labels = None if classes is None else np.asarray(classes)
    if labels is not None and (labels.shape != (2,) or labels[0] == labels[1]):
        raise ValueError(f"classes must be two different labels, negative first, got {classes!r}.")
    kind: Kind = "regressor" if labels is None else "classifier"
    return PolynomialSVM(vectors, weights[None], bias, kind=kind, classes=labels, **kernel)


def read_model(model: BaseEstimator) -> PolynomialSVM:
    """Read a fitted SVM, and compare it with its own support vectors.

    Parameters
    ----------
    model : estimator
        A fitted machine with a polynomial kernel, of any library that follows scikit-learn.

    Returns
    -------
    PolynomialSVM
        With copies of its arrays.

    Raises
    ------
    TypeError
        If it is no estimator.
    ValueError
        If it is no fitted machine with such a kernel, or if its decision values are not its dual
        coefficients times the kernel of its support vectors plus its intercept.
    """
    if not isinstance(model, BaseEstimator):
        raise TypeError(f"model must be an estimator, got {model!r}; see from_support_vectors.")
    kind, params = get_tags(model).estimator_type, model.get_params(deep=False)
    if "kernel" not in params or kind not in ("classifier", "regressor", "outlier_detector"):
        raise ValueError(
            f"{type(model).__name__} is not a support vector machine with a kernel: of a pipeline "
            "take the last step, of a search best_estimator_."
        )
    kernel = _polynomial_kernel(model)
    for attribute in ("support_vectors_", "dual_coef_", "intercept_"):
        if not hasattr(model, attribute):
            raise ValueError(f"the fitted {type(model).__name__} has no {attribute} to expand.")
    dual_coef = np.atleast_2d(_dense(model.dual_coef_))
    classes = np.asarray(model.classes_) if kind == "classifier" else None
    if classes is not None and len(classes) > 2:
        dual_coef = _one_row_a_pair(dual_coef, model.n_support_)
    svm = PolynomialSVM(
        support_vectors=_dense(model.support_vectors_),
        dual_coef=dual_coef,
        intercept=np.array(model.intercept_, dtype=np.float64, ndmin=1),
        kind=kind,
        classes=classes,
        # The boundary of an exact one-class fit passes through training points, whose values are
        # rounding; this package's detector says up to where.
        resolution=getattr(model, "resolution_", 0.0),
        one_vs_rest=params.get("decision_function_shape") == "ovr",
        break_ties=params.get("break_ties", False),
        feature_names=getattr(model, "feature_names_in_", None),
        **kernel,
    )
    _check_reproduces(svm, model)
    return svm


def _polynomial_kernel(model: Any) -> dict[str, Any]:
    """Degree, gamma and coef0 of the kernel of a fitted machine."""
    check_is_fitted(model)
    if hasattr(model, "kernel_"):
        kernel = model.kernel_
    else:
        # scikit-learn keeps the resolved number in a private attribute only.
        params = {"gamma": model._gamma, "degree": model.degree, "coef0": model.coef0}
        kernel = resolve_kernel(model.kernel, np.empty((0, 0)), **params)
    if not isinstance(kernel, Polynomial):
        raise ValueError(
            f"the kernel must be a polynomial, got {kernel!r}: others have no finite expansion "
            "in the features."
        )
    return {"degree": kernel.degree, "gamma": kernel.gamma, "coef0": kernel.coef0}


def _dense(values: Any) -> Matrix:
    return np.array(values.toarray() if issparse(values) else values, dtype=np.float64)


def _one_row_a_pair(dual_coef: Matrix, n_support: NDArray[Any]) -> Matrix:
    """One-vs-one weights, one row a pair of classes, from LIBSVM's packed layout.

    There the weight of a support vector of class i in the function of classes i and j stands
    in row j - 1 if j > i, and in row j if j < i.
    """
    of_class = np.split(np.arange(dual_coef.shape[1]), np.cumsum(n_support)[:-1])
    pairs = list(combinations(range(len(n_support)), 2))
    rows = np.zeros((len(pairs), dual_coef.shape[1]))
    for row, (i, j) in zip(rows, pairs, strict=True):
        row[of_class[i]] = dual_coef[j - 1, of_class[i]]
        row[of_class[j]] = dual_coef[i, of_class[j]]
    return rows


def _check_reproduces(svm: PolynomialSVM, model: Any) -> None:
    """Compare the model with its own support vectors at some of them.

    This catches models whose decision value is another function of the kernel, such as a
    squared radius minus a distance.
    """
    vectors = svm.support_vectors
    X = vectors[:: max(1, len(vectors) // POINTS_COMPARED)]
    if not len(X):
        return
    K = polynomial(X, vectors, degree=svm.degree, gamma=svm.gamma, coef0=svm.coef0)
    decisions = K @ svm.dual_coef.T + svm.intercept
    D, gamma, coef0 = svm.degree, abs(svm.gamma), abs(svm.coef0)
    sizes = polynomial(np.abs(X), np.abs(vectors), degree=D, gamma=gamma, coef0=coef0)
    tolerance = AGREEMENT * (sizes @ np.abs(svm.dual_coef).T + np.abs(svm.intercept)).max()
    # Votes for a class do not depend continuously on decision values near zero.
    clear = (np.abs(decisions) > tolerance).all(axis=1) | (len(svm.intercept) == 1)
    with warnings.catch_warnings():
        # The support vectors are stored without the column names of the training data.
        warnings.filterwarnings("ignore", "X does not have valid feature names", UserWarning)
        own = model.predict(X) if svm.kind == "regressor" else model.decision_function(X)
    difference = np.abs(svm.shaped(svm.resolved(decisions)) - own)[clear]
    if not (difference <= tolerance).all():
        raise ValueError(
            f"the decision values of this {type(model).__name__} are not its dual_coef_ times "
            "the polynomial kernel of its support_vectors_ plus intercept_ (they differ by "
            f"{difference.max():.3g}): it is no machine of this form."
        )
