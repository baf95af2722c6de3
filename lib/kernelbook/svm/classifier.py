"""The soft-margin support vector classifier, with a certificate."""

from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils import Tags
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import check_is_fitted, column_or_1d, validate_data

from kernelbook.estimator import (
    KERNEL_CONSTRAINTS,
    SOLVER_CONSTRAINTS,
    KernelEstimator,
    Number,
    all_or_nothing,
    check_weights,
    training_matrix,
)
from kernelbook.kernels import KernelLike, Matrix, linear_coefficients
from kernelbook.qp import Quadratic, QuadraticProgram, SolverOptions, solve
from kernelbook.validation import check_number

__all__ = [
    "SIDES",
    "BinaryClassifier",
    "KernelSVC",
    "encode_labels",
    "svc_dual",
]

Array = NDArray[np.float64]

SIDES = (-1.0, 1.0)


def encode_labels(y: ArrayLike) -> tuple[NDArray[Any], Array]:
    """Return the sorted classes, and the side of each point.

    Parameters
    ----------
    y : array-like of shape (n,)
        Two labels of one type.

    Returns
    -------
    classes : ndarray of shape (2,)
        The labels.
    signs : ndarray of shape (n,)
        -1 for the first class, +1 for the second.

    Raises
    ------
    ValueError
        If there are not exactly two labels, or labels of several types.

    Examples
    --------
    >>> encode_labels(["no", "yes", "no"])[1].tolist()
    [-1.0, 1.0, -1.0]
    """
    y = column_or_1d(y, warn=True)
    if y.dtype == object:
        strings = {isinstance(label, str) for label in y}
        y = np.asarray(y.tolist())
        if y.dtype == object or len(strings) > 1:
            raise ValueError("y mixes labels of several types, or has a missing one: use one type.")
    check_classification_targets(y)
    classes, codes = np.unique(y, return_inverse=True)
    if len(classes) > 2:
        raise ValueError(
            "Only binary classification is supported. The type of the target is "
            f"{type_of_target(y)}, with {len(classes)} classes: wrap the estimator in "
            "sklearn.multiclass.OneVsOneClassifier or OneVsRestClassifier."
        )
    if len(classes) < 2:
        raise ValueError(
            f"y holds one class only ({classes.tolist()[0]!r}): a classifier needs at least "
            "2 classes."
        )
    return classes, np.where(codes == 1, 1.0, -1.0)


class BinaryClassifier(ClassifierMixin, KernelEstimator):
    r"""Values and predictions of a binary machine :math:`f(x) = \sum_i \beta_i k(x_i, x) + b`."""

    classes_: NDArray[Any]

    @property
    def coef_(self) -> Matrix:
        """Normal vector of the hyperplane in input space, shape (1, d); linear kernel only."""
        return linear_coefficients(self.kernel_, self.dual_coef_, self.support_vectors_)

    @property
    def n_support_(self) -> NDArray[np.int32]:
        """Number of support vectors of each class, shape (2,)."""
        negative = int((self.dual_coef_ < 0).sum())
        return np.array([negative, len(self.support_) - negative], dtype=np.int32)

    def decision_function(self, X: ArrayLike) -> Array:
        r"""Evaluate :math:`f(x) = \sum_i \alpha_i y_i K(x_i, x) + b`.

        Parameters
        ----------
        X : array-like of shape (m, d), or (m, n_train) for a precomputed kernel
            Points, or their kernel values with the training points.

        Returns
        -------
        ndarray of shape (m,)
            Positive on the side of ``classes_[1]``; +1 and -1 on the margins.
        """
        check_is_fitted(self)
        return self._expansion(self._check_new_points(X)) + self._bias

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Predict the class of each point.

        Parameters
        ----------
        X : array-like of shape (m, d), or (m, n_train) for a precomputed kernel
            Points, or their kernel values with the training points.

        Returns
        -------
        ndarray of shape (m,)
            ``classes_[1]`` where the decision is positive, else ``classes_[0]``.
        """
        positive = self.decision_function(X) > 0
        return self.classes_[positive.astype(int)]

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags


class KernelSVC(BinaryClassifier):
    r"""Soft-margin support vector classifier, solved to a proved optimum.

    .. math:: \min_{w, b, \xi} \tfrac12 \|w\|^2 + \sum_i C_i \xi_i
              \quad\text{s.t.}\quad y_i (w^\top \phi(x_i) + b) \ge 1 - \xi_i,\; \xi_i \ge 0

    with :math:`C_i = C \cdot` class weight of :math:`y_i \cdot` sample weight, through its dual

    .. math:: \max_\alpha \sum_i \alpha_i - \tfrac12 \sum_{ij} \alpha_i \alpha_j y_i y_j
              K(x_i, x_j) \quad\text{s.t.}\quad \sum_i \alpha_i y_i = 0,\;
              0 \le \alpha_i \le C_i.

    Parameters
    ----------
    C : float, default=1.0
        Regularization parameter: the upper bound of the dual variables, as in scikit-learn
        (not divided by n).
    kernel : str, Kernel or callable, default='rbf'
        One of 'linear', 'poly', 'rbf', 'laplacian', 'sigmoid' and 'precomputed', an object of
        :mod:`kernelbook.kernels`, or a function of (X, Y) that returns the matrix of values.
        One that is not positive semi-definite on the data is rejected.
    degree : int, default=3
        Degree of the polynomial kernel; ignored by the others.
    gamma : {'scale', 'auto', 'median'} or float, default='scale'
        Width of 'rbf', 'poly', 'laplacian' and 'sigmoid';
        see :func:`~kernelbook.kernels.resolve_gamma`.
    coef0 : float, default=0.0
        Independent term of 'poly' and 'sigmoid'.
    class_weight : dict or 'balanced', default=None
        Multiplies C by class; ``'balanced'`` is n / (2 n_c), a sample weight of k counted as k
        points.
    tol : float, default=1e-9
        Largest violation of the optimality conditions, relative to the gradient.
    max_iter : int, default=100
        Maximum number of interior-point steps, or of working sets of the exact solver.
    solver : {'auto', 'exact', 'low_rank', 'dense', 'reference'}, default='auto'
        See :func:`~kernelbook.qp.solve_qp`.
    cache_size : float, default=200.0
        Megabytes for kernel rows of the exact solver; its working sets may take four times that.

    Attributes
    ----------
    alpha_ : ndarray of shape (n,)
        Dual variables on the textbook's scale, in [0, C_i]; exactly 0 or C_i at the bounds.
    certificate_ : Certificate
        ``duality_gap`` (relative), ``kkt_violation`` and ``status`` of the fit.
    classes_ : ndarray of shape (2,)
        The labels; ``classes_[1]`` is the positive class.
    coef_ : ndarray of shape (1, d)
        Normal vector of the hyperplane; linear kernel only.
    degeneracy_ : str or None
        Why the solution, optimal as it is, tells little about new points; None if it does not.
    dual_coef_ : ndarray of shape (1, n_SV)
        The signed y_i alpha_i of the support vectors, as in scikit-learn.
    feature_names_in_ : ndarray of shape (d,)
        Names of the features, if X has string names.
    gamma_ : float
        The width that was used, if the kernel has one.
    intercept_ : ndarray of shape (1,)
        The bias b.
    kernel_ : Kernel
        The kernel object that was used.
    n_features_in_ : int
        Number of features.
    n_iter_ : int
        Interior-point steps, or working sets.
    n_support_ : ndarray of shape (2,)
        Number of support vectors of each class.
    support_ : ndarray of shape (n_SV,)
        Indices of the support vectors: the points whose alpha is not exactly zero.
    support_vectors_ : ndarray of shape (n_SV, d)
        The support vectors; empty for a precomputed kernel.

    Raises
    ------
    ValueError
        If there are not exactly two classes, a parameter is out of range, or a sample weight is
        negative.
    NotPositiveSemidefiniteError
        If the kernel matrix has a negative eigenvalue; the message quotes it.

    See Also
    --------
    HardMarginSVC : The limit of an infinite C.
    kernelbook.certification.certify : The certificate of a machine of scikit-learn.
    svc_path : Machines for several C.

    Notes
    -----
    The bias is the value that all free support vectors (0 < alpha_i < C_i) agree on; without
    any, the midpoint of the interval that the optimality conditions allow, as in LIBSVM. A
    sample weight of zero leaves the point out. Notebooks 02 and 03.

    References
    ----------
    [Cortes1995]_, [Platt1998]_, [Fan2005]_

    Examples
    --------
    Two points at -1 and 1 have alpha = 2 / distance**2 = 1/2 each, and f(x) = x:

    >>> svc = KernelSVC(C=10, kernel="linear").fit([[-1.0], [1.0]], ["no", "yes"])
    >>> svc.alpha_.round(12).tolist(), svc.decision_function([[3.0]]).round(12).tolist()
    ([0.5, 0.5], [3.0])
    >>> svc.predict([[3.0]]).tolist(), svc.certificate_.status
    (['yes'], 'optimal')
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "C": [Number(Real, 0, None, closed="neither")],
        "class_weight": [dict, StrOptions({"balanced"}), None],
        **KERNEL_CONSTRAINTS,
        **SOLVER_CONSTRAINTS,
    }

    def __init__(
        self,
        C: float = 1.0,
        *,
        kernel: KernelLike = "rbf",
        degree: int = 3,
        gamma: float | str = "scale",
        coef0: float = 0.0,
        class_weight: dict[Any, float] | str | None = None,
        tol: float = 1e-9,
        max_iter: int = 100,
        solver: str = "auto",
        cache_size: float = 200.0,
    ) -> None:
        self.C = C
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.class_weight = class_weight
        self.tol = tol
        self.max_iter = max_iter
        self.solver = solver
        self.cache_size = cache_size

    @all_or_nothing
    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the machine.

        Parameters
        ----------
        X : array-like of shape (n, d) or (n, n)
            Training points, or the Gram matrix for a precomputed kernel.
        y : array-like of shape (n,)
            Any two labels; ``classes_[1]``, the larger one, is the positive class.
        sample_weight : array-like of shape (n,), default=None
            Multiplies C point by point; a weight of 0 leaves the point out.

        Returns
        -------
        KernelSVC
            The fitted estimator.
        """
        return self._fit_from(None, X, y, sample_weight)

    def _fit_from(
        self, start: Array | None, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None
    ) -> Self:
        """Fit with the signed coefficients (n,) of a similar machine to start from, if any."""
        if isinstance(self.C, float) and np.isposinf(self.C):
            raise ValueError(
                f"The 'C' parameter of {type(self).__name__} must be finite: the limit is the hard "
                "margin, HardMarginSVC. Got inf instead."
            )
        self._validate_params()
        X, y = validate_data(self, X, y, dtype=np.float64)
        classes, signs = encode_labels(y)
        weights = check_weights(sample_weight, X)
        box = self.C * weights * _class_weights(self.class_weight, classes, signs, weights)
        for side, label in zip(SIDES, classes.tolist(), strict=True):
            if not box[signs == side].any():
                raise ValueError(
                    f"every point of class {label!r} has weight zero: at least 2 classes must "
                    "keep a point."
                )
        kept = np.flatnonzero(box)
        kernel, points, split = self._training_points(X, kept, weights)
        options = SolverOptions(self.tol, self.max_iter, self.solver, self.cache_size)
        K = training_matrix(split, points, options)
        near = None if start is None else start[kept]
        solution = solve(svc_dual(K, signs[kept], box[kept]), options, near)
        self._keep_support(X, kernel, split, kept, solution, solution.x)
        self._keep_intercept(X, split, solution.multiplier)
        self.classes_ = classes
        return self


def svc_dual(K: Quadratic, signs: Array, box: Array | float) -> QuadraticProgram:
    r"""Return the dual in signed variables: x = y alpha of sum 0, with 0 <= alpha <= box.

    Parameters
    ----------
    K : Quadratic
        Gram matrix (n, n).
    signs : ndarray of shape (n,)
        Class of each point, -1 or +1.
    box : float or ndarray of shape (n,)
        Upper bounds of alpha.

    Returns
    -------
    QuadraticProgram
        Minimise 1/2 x'Kx - y'x.

    Examples
    --------
    >>> from kernelbook.qp import DenseQuadratic
    >>> svc_dual(DenseQuadratic(np.eye(2)), np.array([-1.0, 1.0]), 3.0).lower.tolist()
    [-3.0, 0.0]
    """
    lower, upper = np.minimum(0.0, box * signs), np.maximum(0.0, box * signs)
    return QuadraticProgram(K, -signs, np.ones(len(signs)), 0.0, lower, upper)


def _class_weights(
    class_weight: dict[Any, float] | str | None,
    classes: NDArray[Any],
    signs: Array,
    weights: Array,
) -> Array:
    """Weight of each point's class (n,); 'balanced' counts a weight of k as k points."""
    if class_weight is None:
        return np.ones(len(signs))
    by_class = dict.fromkeys(SIDES, 1.0)
    if isinstance(class_weight, dict):
        labels = classes.tolist()
        if unknown := [label for label in class_weight if label not in labels]:
            raise ValueError(
                f"class_weight names {unknown}, but the classes are {labels}. In a wrapper for "
                "several classes, such as OneVsOneClassifier, each machine sees two of them: give "
                "sample_weight in place of class_weight."
            )
        for label, value in class_weight.items():
            by_class[SIDES[labels.index(label)]] = check_number(
                value, f"class_weight[{label!r}]", low=0
            )
    else:
        total = float(weights.sum())
        for side in SIDES:
            of_side = float(weights[signs == side].sum())
            by_class[side] = total / (2.0 * of_side) if of_side > 0 else 1.0
    return np.where(signs > 0, by_class[1.0], by_class[-1.0])
