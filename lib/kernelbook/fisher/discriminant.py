r"""Kernel Fisher discriminant analysis: discriminants in feature space, and a classifier."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import eigh
from sklearn.base import ClassifierMixin, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from kernelbook.component_signs import sign_columns
from kernelbook.estimator import (
    KERNEL_CONSTRAINTS,
    KernelEstimator,
    Number,
    all_or_nothing,
    check_several_classes,
    training_gram,
)
from kernelbook.fisher.solve import leave_one_out, solve_coef, solve_linear, solve_norm
from kernelbook.kernels import KernelLike, Matrix

__all__ = ["KernelFisherDiscriminant"]

EPSILON = float(np.finfo(float).eps)
# A leave-one-out error above this part of that of the class frequencies tells nothing.
USELESS = 0.95


class KernelFisherDiscriminant(
    ClassNamePrefixFeaturesOutMixin, ClassifierMixin, TransformerMixin, KernelEstimator
):
    r"""Directions of feature space that separate the class means and keep each class together.

    .. math:: \max_\alpha\; \frac{\alpha^\top B \alpha}{\alpha^\top N_\mu \alpha},\qquad
              B = \sum_c l_c (M_c - M)(M_c - M)^\top,\quad
              N = \sum_c K_c \big(I - \tfrac{1}{l_c} 1 1^\top\big) K_c^\top

    for directions :math:`w = \sum_i \alpha_i \phi(x_i)`. :math:`K_c` (n, l_c) holds the kernel
    values against class c, :math:`M_c` their mean over the class and M over all points.
    :math:`N_\mu` is :math:`N + \mu K` (``penalty='norm'``, which penalises :math:`\|w\|^2`) or
    :math:`N + \mu I` (``penalty='coef'``, Mika et al.'s, which penalises
    :math:`\|\alpha\|^2`). With two classes :math:`\alpha \propto N_\mu^{-1}(M_+ - M_-)`.

    Parameters
    ----------
    kernel : str, Kernel or callable, default='rbf'
        One of 'linear', 'poly', 'rbf', 'laplacian', 'sigmoid' and 'precomputed', an object of
        :mod:`kernelbook.kernels`, or a function of (X, Y) that returns the matrix of values.
        One that is not positive semi-definite on the data is rejected.
    gamma : {'scale', 'auto', 'median', 'mean_distance'} or float, default='scale'
        Width of 'rbf', 'poly', 'laplacian' and 'sigmoid'; 'mean_distance' is for 'laplacian' only.
        See :func:`~kernelbook.kernels.resolve_gamma`.
    degree : int, default=3
        Degree of the polynomial kernel; ignored by the others.
    coef0 : float, default=0.0
        Independent term of 'poly' and 'sigmoid'.
    reg : float or 'loo', default=1.0
        Regularization parameter :math:`\mu > 0`, on the scale of sums over the points: N is not
        divided by n. Zero is rejected, because N (n, n) has at most rank n minus the number of
        classes. 'loo' takes the value of least leave-one-out error, see Notes.
    penalty : {'norm', 'coef'}, default='norm'
        What is penalised beside the within-class scatter, see above.
    priors : array-like of shape (n_classes,) or 'equal', default=None
        Class probabilities in the order of ``classes_``; if None, the fractions in the training
        set. With 'equal' the class of the nearest projected mean is predicted.
    n_components : int, default=None
        Number of columns of :meth:`transform`, at most the number of classes minus 1. If None,
        that many. Predictions use all discriminants.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        With two, ``classes_[1]`` is the positive one.
    alpha_ : ndarray of shape (n,) with two classes, else (n, n_classes - 1)
        Discriminants :math:`w = \sum_i \alpha_i \phi(x_i)`, best first, scaled so that
        :math:`\alpha^\top N_\mu \alpha = n`; zero where there is no discriminant left because
        the class means span a smaller space.
    eigenvalues_ : ndarray of shape (n_classes - 1,)
        Values of the quotient above, descending.
    rayleigh_quotient_ : float
        Two classes only: :math:`(M_+ - M_-)^\top N_\mu^{-1} (M_+ - M_-)`, which is
        ``eigenvalues_[0]`` times :math:`n / (l_+ l_-)`.
    projected_means_ : ndarray of shape (n_classes, n_classes - 1)
        Class means of the training points on the discriminants.
    priors_ : ndarray of shape (n_classes,)
        Class probabilities that were used.
    reg_ : float
        The :math:`\mu` used.
    degeneracy_ : str or None
        Why the choice of ``reg='loo'`` tells little; None if it does not.
    loo_errors_ : ndarray of shape (17,)
        Only with ``reg='loo'``: mean squared leave-one-out errors of the candidates.
    loo_regs_ : ndarray of shape (17,)
        Only with ``reg='loo'``: the candidates.
    X_fit_ : ndarray of shape (n, d)
        The training points (or the precomputed matrix).
    feature_names_in_ : ndarray of shape (d,)
        Names of the features, if X has string names.
    gamma_ : float
        The width that was used, if the kernel has one.
    kernel_ : Kernel
        The kernel object that was used.
    n_features_in_ : int
        Number of features.

    Raises
    ------
    ValueError
        In ``fit``, if there is a single class, a parameter is out of range, or ``reg`` is so
        small that rounding hides it beside the scatter.
    NotPositiveSemidefiniteError
        If the Gram matrix has a negative eigenvalue.

    Notes
    -----
    **Prediction.** The discriminants' scale makes the regularised within-class covariance
    (with ``'norm'`` :math:`(S_w + \mu I) / n` in feature space) the unit matrix: in that metric
    the class of

    .. math:: \max_c\; -\tfrac12 \|z - m_c\|^2 + \log \pi_c

    is predicted, z the projection, :math:`m_c` the projected class mean, :math:`\pi_c` the prior:
    linear discriminant analysis in feature space. With two classes the decision value is the
    difference of the two, :math:`(m_+ - m_-)(z - \theta)`, with the threshold

    .. math:: \theta = \tfrac12 (m_+ + m_-) - \frac{\log(\pi_+ / \pi_-)}{m_+ - m_-}.

    A discriminant is signed so that the positive class projects higher; with more classes, so
    that the class mean furthest from the overall mean is positive. Projections have mean zero
    over the training points.

    **Ridge regression.** With ``penalty='norm'`` the discriminants are those of kernel ridge
    regression on class indicators with an unpenalised intercept and
    :math:`\lambda = \mu`: one Cholesky factorisation of :math:`K + \mu I`, no N. Hence the
    leave-one-out residuals in closed form, for targets t that stay fixed,

    .. math:: t_i - f^{(-i)}(x_i) = \alpha_i / [C^{-1}]_{ii},\qquad
              C = \begin{bmatrix} K + \mu I & 1 \\ 1^\top & 0 \end{bmatrix},

    whose squares, for the indicators of the classes divided by :math:`\sqrt{l_c}`, are summed
    over the classes and averaged over the points for each of 17 candidates
    (:math:`10^{-6}` to :math:`10^2` times the mean eigenvalue of the centred K).

    ``penalty='norm'`` does not depend on the origin of feature space; ``'coef'`` does. Both keep
    their digits for data far from the origin, see :meth:`kernelbook.kernels.Kernel.about`.

    References
    ----------
    [Mika1999]_

    Examples
    --------
    Three points of each class about 1 and 7; the threshold lies between, at 4:

    >>> X, y = [[0], [1], [2], [6], [7], [8]], ["a", "a", "a", "b", "b", "b"]
    >>> machine = KernelFisherDiscriminant(kernel="linear").fit(X, y)
    >>> machine.decision_function([[4], [5]]).round(6).tolist()[0]
    0.0
    >>> machine.predict([[3.9], [4.1]]).tolist()
    ['a', 'b']
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "reg": [Number(Real, 0, None, closed="left"), StrOptions({"loo"})],
        "penalty": [StrOptions({"norm", "coef"})],
        "priors": ["array-like", StrOptions({"equal"}), None],
        "n_components": [Number(Integral, 1, None, closed="left"), None],
        **KERNEL_CONSTRAINTS,
    }

    def __init__(
        self,
        kernel: KernelLike = "rbf",
        *,
        gamma: float | str = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        reg: float | str = 1.0,
        penalty: str = "norm",
        priors: ArrayLike | str | None = None,
        n_components: int | None = None,
    ) -> None:
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.reg = reg
        self.penalty = penalty
        self.priors = priors
        self.n_components = n_components

    @all_or_nothing
    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Find the discriminants.

        Parameters
        ----------
        X : array-like of shape (n, d) or (n, n)
            Training points, or the Gram matrix for a precomputed kernel.
        y : array-like of shape (n,)
            Class labels.

        Returns
        -------
        KernelFisherDiscriminant
            The fitted estimator.
        """
        self._validate_params()
        X, y = validate_data(self, X, y, dtype=np.float64)
        self._check_reg()
        for optional in ("loo_regs_", "loo_errors_", "rayleigh_quotient_"):
            self.__dict__.pop(optional, None)
        Y = self._class_indicators(y)
        counts = Y.sum(axis=0)
        self._check_components(len(counts))
        self.priors_ = self._resolve_priors(counts)
        self.kernel_ = self._resolve_kernel(X)
        self._mean = X.mean(axis=0)
        self._split = self.kernel_.about(self._mean)
        K = training_gram(self._split, X)
        self.X_fit_ = X
        self.degeneracy_: str | None = None
        self.reg_ = self._choose_reg(K, Y) if self.reg == "loo" else float(self.reg)
        self._set_discriminants(K, Y, *self._solve(K, Y))
        return self

    def transform(self, X: ArrayLike) -> Matrix:
        """Project points on the first ``n_components`` discriminants.

        Parameters
        ----------
        X : array-like of shape (m, d), or (m, n_train) for a precomputed kernel
            Points, or their kernel values with the training points.

        Returns
        -------
        ndarray of shape (m, n_components)
            In units of the regularised within-class standard deviation, about the training
            mean.
        """
        return self._projections(X)[:, : self._n_features_out]

    def decision_function(self, X: ArrayLike) -> Matrix:
        """Evaluate the log-odds of the positive class, or a score for each of several.

        Parameters
        ----------
        X : array-like of shape (m, d), or (m, n_train) for a precomputed kernel
            Points, or their kernel values with the training points.

        Returns
        -------
        ndarray of shape (m,) or (m, n_classes)
            Values for Gaussian classes with the common regularised covariance; see Notes of the
            class. With two classes positive on the side of ``classes_[1]``. A regularised
            covariance is no estimate of the spread of new points: take the values as an order,
            not as calibrated probabilities.
        """
        scores = self._projections(X) @ self.projected_means_.T
        scores += np.log(self.priors_) - 0.5 * (self.projected_means_**2).sum(axis=1)
        return scores[:, 1] - scores[:, 0] if len(self.classes_) == 2 else scores

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Predict the class of the nearest projected mean, moved by the priors.

        Parameters
        ----------
        X : array-like of shape (m, d), or (m, n_train) for a precomputed kernel
            Points, or their kernel values with the training points.

        Returns
        -------
        ndarray of shape (m,)
            Labels.
        """
        scores = self.decision_function(X)
        positive = scores > 0 if scores.ndim == 1 else scores.argmax(axis=1)
        return self.classes_[np.asarray(positive, dtype=int)]

    def _projections(self, X: ArrayLike) -> Matrix:
        check_is_fitted(self)
        X = self._check_new_points(X)
        alpha = self.alpha_.reshape(len(self.X_fit_), -1)
        projections: Matrix = self._split.evaluate(X, self.X_fit_) @ alpha
        projections += np.outer(self._split.one_sided(X), self._alpha_sums) - self._mean_projection
        return projections

    def _choose_reg(self, K: Matrix, Y: Matrix) -> float:
        """The candidate of least leave-one-out error, the larger one of equals."""
        self.loo_regs_, self.loo_errors_ = leave_one_out(K, Y)
        best = int(np.argmin(self.loo_errors_))
        least = float(self.loo_errors_[best])
        # The largest candidates all give the direction between the means: no end in truth.
        if best == len(self.loo_regs_) - 1 or least > USELESS * self._error_of_frequencies(Y):
            self.degeneracy_ = (
                f"reg='loo' found nothing to choose by: of {len(self.loo_regs_)} candidates the "
                f"best is {self.loo_regs_[best]:.3g}, an end of the grid or hardly better than "
                "the class frequencies. Scale the features (StandardScaler), or choose gamma or "
                "reg yourself."
            )
        return float(self.loo_regs_[best])

    @staticmethod
    def _error_of_frequencies(Y: Matrix) -> float:
        """Leave-one-out error of the mean of the targets, in the unit of ``loo_errors_``."""
        targets = Y / np.sqrt(Y.sum(axis=0))
        residuals = (targets - targets.mean(axis=0)) * len(Y) / (len(Y) - 1)
        return float((residuals**2).sum(axis=1).mean())

    def _solve(self, K: Matrix, Y: Matrix) -> tuple[Matrix, Matrix]:
        if self.penalty == "coef":
            return solve_coef(K, self._split.one_sided(self.X_fit_), Y, self.reg_)
        if self.kernel_.is_linear:
            return solve_linear(self.X_fit_ - self._mean, Y, self.reg_)
        return solve_norm(K, Y, self.reg_)

    def _set_discriminants(self, K: Matrix, Y: Matrix, directions: Matrix, S: Matrix) -> None:
        """From N_mu^-1 D (n, C) and D' N_mu^-1 D (C, C), where B = D D'."""
        n, n_classes = Y.shape
        values, vectors = eigh(S)
        values, vectors = values[:0:-1], vectors[:, :0:-1]
        values = np.where(values > n_classes * EPSILON * values[0], values, 0.0)
        scale = np.sqrt(n / np.where(values > 0, values, np.inf))
        alpha = (directions @ vectors) * scale
        # With the norm penalised the coefficients sum to zero, up to rounding.
        sums = alpha.sum(axis=0) * (self.penalty == "coef")
        projections = K @ alpha + np.outer(self._split.one_sided(self.X_fit_), sums)
        means = Y.T @ projections / Y.sum(axis=0)[:, None]
        centre = projections.mean(axis=0)
        means -= centre
        signs = np.sign(means[1] - means[0]) if n_classes == 2 else sign_columns(means)
        self.eigenvalues_ = values
        self.alpha_ = alpha[:, 0] * signs[0] if n_classes == 2 else alpha * signs
        self.projected_means_ = means * signs
        self._mean_projection, self._alpha_sums = centre * signs, sums * signs
        if n_classes == 2:
            self.rayleigh_quotient_ = float(values[0] * n / np.prod(Y.sum(axis=0)))

    def _class_indicators(self, y: NDArray[Any]) -> Matrix:
        check_classification_targets(y)
        self.classes_, index = np.unique(y, return_inverse=True)
        check_several_classes(self.classes_, "discriminant")
        return np.eye(len(self.classes_))[index]

    def _resolve_priors(self, counts: Matrix) -> Matrix:
        if self.priors is None:
            return counts / counts.sum()
        if isinstance(self.priors, str):
            return np.full(len(counts), 1.0 / len(counts))
        priors = np.asarray(self.priors, dtype=np.float64)
        if priors.shape != counts.shape or not (priors > 0).all() or abs(priors.sum() - 1) > 1e-8:
            raise ValueError(
                f"priors must be {len(counts)} positive numbers that sum to 1, one for each of "
                f"classes_, got {self.priors!r}."
            )
        return priors

    def _check_reg(self) -> None:
        if self.reg == 0:
            raise ValueError(
                "The 'reg' parameter of KernelFisherDiscriminant must be positive: the within-"
                "class scatter (n, n) has at most rank n - n_classes, so that without "
                "regularization it is singular and the discriminant is not defined. "
                f"Got {self.reg!r} instead."
            )
        if self.reg == "loo" and self.penalty != "norm":
            raise ValueError("reg='loo' has its closed form for penalty='norm' only.")

    def _check_components(self, n_classes: int) -> None:
        if self.n_components is not None and self.n_components >= n_classes:
            raise ValueError(
                f"n_components must be None or an integer from 1 to n_classes - 1 = "
                f"{n_classes - 1}, got {self.n_components!r}."
            )

    @property
    def _n_features_out(self) -> int:
        return int(self.n_components or len(self.eigenvalues_))
