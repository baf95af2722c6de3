r"""The rivals that need no solver: the nearest mean in feature space, and the Parzen window.

Both compare a point with whole classes by its mean kernel value. A support vector machine or a
data description earns its solver where it is better than these.
"""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassifierMixin, OutlierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from kernelbook.estimator import (
    KERNEL_CONSTRAINTS,
    KernelEstimator,
    Number,
    all_or_nothing,
    check_several_classes,
    check_weights,
)
from kernelbook.kernels import Array, Expansion, KernelLike

__all__ = ["MeanDifferenceClassifier", "ParzenWindow"]


# Scores of one point in different batches agree to this fraction of the largest.
ROUNDING = 1e-12


class MeanDifferenceClassifier(ClassifierMixin, KernelEstimator):
    r"""Classify by the nearest class mean in feature space, in closed form.

    With the means :math:`m_c = \sum_{i \in c} s_i \phi(x_i) / \sum_{i \in c} s_i`, where
    :math:`s_i` is the sample weight, the value of class c is

    .. math:: g_c(x) = \langle m_c, \phi(x) \rangle - \tfrac12 \|m_c\|^2
              = \tfrac12 \left( \|\phi(x)\|^2 - \|\phi(x) - m_c\|^2 \right),

    so that the class of largest value is that of the nearest mean. Of two classes,

    .. math:: f(x) = \frac{\sum_{i \in 1} s_i K(x_i, x)}{\sum_{i \in 1} s_i}
              - \frac{\sum_{i \in 0} s_i K(x_i, x)}{\sum_{i \in 0} s_i} - b,
              \qquad b = \tfrac12 \left( \|m_1\|^2 - \|m_0\|^2 \right):

    mean similarity to one class minus mean similarity to the other. The class sizes cancel, so the
    rare class counts as much as the common one.

    Parameters
    ----------
    kernel : str, Kernel or callable, default='rbf'
        One of 'linear', 'poly', 'rbf', 'laplacian', 'sigmoid' and 'precomputed', an object of
        :mod:`kernelbook.kernels`, or a function of (X, Y) that returns the matrix of values.
    degree : int, default=3
        Degree of the polynomial kernel; ignored by the others.
    gamma : {'scale', 'auto', 'median', 'mean_distance'} or float, default='scale'
        Width of 'rbf', 'poly', 'laplacian' and 'sigmoid'; 'mean_distance' is for 'laplacian' only.
        See :func:`~kernelbook.kernels.resolve_gamma`.
    coef0 : float, default=0.0
        Independent term of 'poly' and 'sigmoid'.

    Attributes
    ----------
    classes_ : ndarray of shape (k,)
        The labels, sorted.
    dual_coef_ : ndarray of shape (k, n)
        Weights of the training points in the mean of each class: of sum 1 in each row.
    intercept_ : ndarray of shape (k,)
        :math:`-\tfrac12 \|m_c\|^2` of each class.
    gamma_ : float
        The width that was used, if the kernel has one.
    kernel_ : Kernel
        The kernel object that was used.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (d,)
        Names of the features, if X has string names.

    See Also
    --------
    ParzenWindow : Mean similarity to a single class.
    kernelbook.svm.KernelSVC : Weighs the points instead of taking all alike.
    sklearn.neighbors.NearestCentroid : The same in input space.

    References
    ----------
    [Scholkopf2002]_

    Examples
    --------
    With the linear kernel the means are 1 and 4, and the boundary is half way, at 2.5:

    >>> model = MeanDifferenceClassifier(kernel="linear")
    >>> model.fit([[0.0], [2.0], [4.0]], ["low", "low", "high"]).predict([[2.4], [2.6]]).tolist()
    ['low', 'high']

    The classes are sorted, so 'low' is the positive one, and f(x) = x - 4x - (1 - 16) / 2:

    >>> model.decision_function([[0.0], [2.5], [4.0]]).tolist()
    [7.5, 0.0, -4.5]
    """

    classes_: NDArray[Any]
    dual_coef_: Array
    intercept_: Array
    _expansion: Expansion

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {**KERNEL_CONSTRAINTS}

    def __init__(
        self,
        *,
        kernel: KernelLike = "rbf",
        degree: int = 3,
        gamma: float | str = "scale",
        coef0: float = 0.0,
    ) -> None:
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0

    @all_or_nothing
    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Compute the class means.

        Parameters
        ----------
        X : array-like of shape (n, d) or (n, n)
            Training points, or their Gram matrix if ``kernel='precomputed'``.
        y : array-like of shape (n,)
            Two or more labels.
        sample_weight : array-like of shape (n,), default=None
            How often each point counts in the mean of its class. If None, once.

        Returns
        -------
        MeanDifferenceClassifier
            The fitted estimator.

        Raises
        ------
        ValueError
            If y has one class only, a weight is negative, or a class has no positive weight.
        """
        self._validate_params()
        X, y = validate_data(self, X, y, dtype=np.float64)
        check_classification_targets(y)
        weights = check_weights(sample_weight, X)
        classes, codes = np.unique(y, return_inverse=True)
        check_several_classes(classes)
        members = np.where(codes == np.arange(len(classes))[:, None], weights, 0.0)
        if not (sums := members.sum(axis=1)).all():
            empty = classes[sums == 0].tolist()
            raise ValueError(f"every point of class {empty[0]!r} has weight zero.")
        self.classes_ = classes
        self.dual_coef_ = members / sums[:, None]
        self.kernel_ = self._resolve_kernel(X, weights)
        self._expansion = self.kernel_.expansion(X, np.arange(len(X)), self.dual_coef_.T)
        similarities = self._expansion(X)
        self.intercept_ = -0.5 * np.einsum("ci,ic->c", self.dual_coef_, similarities)
        return self

    def decision_function(self, X: ArrayLike) -> Array:
        """Difference of the mean similarities, less the threshold.

        Parameters
        ----------
        X : array-like of shape (m, d) or (m, n_train)
            Points, or kernel values between them and the training points if
            ``kernel='precomputed'``.

        Returns
        -------
        ndarray of shape (m,) or (m, k)
            Of two classes f(x), positive on the side of ``classes_[1]``; of more the values
            :math:`g_c(x)`, the largest for the nearest mean.
        """
        check_is_fitted(self)
        values = self._expansion(self._check_new_points(X)) + self.intercept_
        return values[:, 1] - values[:, 0] if len(self.classes_) == 2 else values

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Class of the nearest mean.

        Parameters
        ----------
        X : array-like of shape (m, d) or (m, n_train)
            As in :meth:`decision_function`.

        Returns
        -------
        ndarray of shape (m,)
            Labels; ``classes_[0]`` where two means are equally near.
        """
        values = self.decision_function(X)
        codes = (values > 0).astype(int) if values.ndim == 1 else values.argmax(axis=1)
        return self.classes_[codes]


class ParzenWindow(OutlierMixin, KernelEstimator):
    r"""Describe one class by the mean similarity to its points, in closed form.

    .. math:: f(x) = \frac{\sum_i s_i K(x_i, x)}{\sum_i s_i} - \rho

    with the largest offset :math:`\rho` that leaves at most the fraction :math:`\nu` of the
    training weight :math:`s` outside. With :math:`\nu = 1` the one-class support vector machine
    has the same normal vector, the mean in feature space.

    Parameters
    ----------
    nu : float, default=0.5
        Fraction of the training weight that may lie outside, in (0, 1]. Without ties and with
        equal weights, exactly the integer part of ``nu * n`` points do.
    kernel : str, Kernel or callable, default='rbf'
        One of 'linear', 'poly', 'rbf', 'laplacian', 'sigmoid' and 'precomputed', an object of
        :mod:`kernelbook.kernels`, or a function of (X, Y) that returns the matrix of values. With
        'rbf' the values are proportional to a Gaussian kernel density estimate.
    degree : int, default=3
        Degree of the polynomial kernel; ignored by the others.
    gamma : {'scale', 'auto', 'median', 'mean_distance'} or float, default='scale'
        Width of 'rbf', 'poly', 'laplacian' and 'sigmoid'; 'mean_distance' is for 'laplacian' only.
        See :func:`~kernelbook.kernels.resolve_gamma`.
    coef0 : float, default=0.0
        Independent term of 'poly' and 'sigmoid'.

    Attributes
    ----------
    offset_ : float
        :math:`\rho`.
    dual_coef_ : ndarray of shape (1, n)
        Weights of the training points, of sum 1.
    gamma_ : float
        The width that was used, if the kernel has one.
    kernel_ : Kernel
        The kernel object that was used.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (d,)
        Names of the features, if X has string names.

    See Also
    --------
    MeanDifferenceClassifier : The same for labelled classes.
    kernelbook.oneclass.OneClassSVM : Keeps a part of the points.
    sklearn.neighbors.KernelDensity : The density itself.

    Notes
    -----
    A training point is among those that it is compared with, so that with a narrow kernel new
    points lie outside more often than the fraction nu.

    References
    ----------
    [Parzen1962]_, [Scholkopf2002]_

    Examples
    --------
    With the linear kernel the mean similarity is the product with the mean, here 2x:

    >>> model = ParzenWindow(nu=0.4, kernel="linear").fit([[1.0], [2.0], [3.0]])
    >>> model.score_samples([[1.0], [5.0]]).round(12).tolist(), round(model.offset_, 9)
    ([2.0, 10.0], 4.0)
    >>> model.predict([[1.9], [2.1]]).tolist()
    [-1, 1]
    """

    offset_: float
    dual_coef_: Array
    _expansion: Expansion

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "nu": [Number(Real, 0, 1, closed="right")],
        **KERNEL_CONSTRAINTS,
    }

    def __init__(
        self,
        nu: float = 0.5,
        *,
        kernel: KernelLike = "rbf",
        degree: int = 3,
        gamma: float | str = "scale",
        coef0: float = 0.0,
    ) -> None:
        self.nu = nu
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0

    @all_or_nothing
    def fit(
        self, X: ArrayLike, y: ArrayLike | None = None, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Compute the mean similarities of the training points and the offset.

        Parameters
        ----------
        X : array-like of shape (n, d) or (n, n)
            Training points, or their Gram matrix if ``kernel='precomputed'``.
        y : Ignored
            Not used, present for API consistency by convention.
        sample_weight : array-like of shape (n,), default=None
            How often each point counts. If None, once.

        Returns
        -------
        ParzenWindow
            The fitted estimator.

        Raises
        ------
        ValueError
            If nu is outside (0, 1], a weight is negative, or all of them are zero.
        """
        self._validate_params()
        X = validate_data(self, X, dtype=np.float64)
        weights = check_weights(sample_weight, X)
        self.dual_coef_ = weights[None] / weights.sum()
        self.kernel_ = self._resolve_kernel(X, weights)
        self._expansion = self.kernel_.expansion(X, np.arange(len(X)), self.dual_coef_[0])
        kept = np.flatnonzero(weights)
        scores = self._expansion(X)[kept]
        order = np.argsort(scores)
        fraction = self.dual_coef_[0, kept][order]
        below = np.cumsum(fraction) - fraction
        lowest = scores[order[below <= self.nu * (1 + ROUNDING)][-1]]
        # Another batch rounds the score of that training point in another way.
        self.offset_ = float(lowest - ROUNDING * np.abs(scores).max())
        return self

    def score_samples(self, X: ArrayLike) -> Array:
        """Mean similarity to the training points.

        Parameters
        ----------
        X : array-like of shape (m, d) or (m, n_train)
            Points, or kernel values between them and the training points if
            ``kernel='precomputed'``.

        Returns
        -------
        ndarray of shape (m,)
            Higher means more normal.
        """
        check_is_fitted(self)
        return self._expansion(self._check_new_points(X))

    def decision_function(self, X: ArrayLike) -> Array:
        """Mean similarity less the offset.

        Parameters
        ----------
        X : array-like of shape (m, d) or (m, n_train)
            As in :meth:`score_samples`.

        Returns
        -------
        ndarray of shape (m,)
            Negative outside; higher means more normal.
        """
        return self.score_samples(X) - self.offset_

    def predict(self, X: ArrayLike) -> NDArray[np.int_]:
        """Predict which points lie inside.

        Parameters
        ----------
        X : array-like of shape (m, d) or (m, n_train)
            As in :meth:`score_samples`.

        Returns
        -------
        ndarray of shape (m,)
            +1 inside and on the boundary, -1 outside.
        """
        return np.where(self.decision_function(X) >= 0, 1, -1)
