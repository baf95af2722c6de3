"""The soft-margin support vector classifier, with a certificate."""

from __future__ import annotations

from dataclasses import replace
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.multiclass import (
    _ovr_decision_function,
    check_classification_targets,
    type_of_target,
)
from sklearn.utils.validation import check_is_fitted, column_or_1d, validate_data

from kernelbook.estimator import (
    KERNEL_CONSTRAINTS,
    SOLVER_CONSTRAINTS,
    KernelEstimator,
    Number,
    all_or_nothing,
    check_several_classes,
    check_weights,
    degeneracy,
    threads,
    training_matrix,
)
from kernelbook.kernels import Kernel, KernelLike, Matrix, linear_coefficients
from kernelbook.qp import (
    Certificate,
    Quadratic,
    QuadraticProgram,
    SolverOptions,
    solve,
)
from kernelbook.svm.pairs import (
    Pairs,
    matrix_of_pairs,
    most_votes,
    paired,
    rows_of_pairs,
    signed_start,
    solve_pairs,
    worst,
)
from kernelbook.svm.weights import class_weights

__all__ = ["SIDES", "BinaryClassifier", "KernelSVC", "encode_labels", "svc_dual"]

Array = NDArray[np.float64]
Index = NDArray[np.intp]

SIDES = (-1.0, 1.0)


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


class KernelSVC(BinaryClassifier):
    r"""Soft-margin support vector classifier, solved to a proved optimum.

    Of two classes, y = -1 and y = 1, it solves

    .. math:: \min_{w, b, \xi} \tfrac12 \|w\|^2 + \sum_i C_i \xi_i
              \quad\text{s.t.}\quad y_i (w^\top \phi(x_i) + b) \ge 1 - \xi_i,\; \xi_i \ge 0

    with :math:`C_i = C \cdot` class weight of :math:`y_i \cdot` sample weight, through its dual

    .. math:: \max_\alpha \sum_i \alpha_i - \tfrac12 \sum_{ij} \alpha_i \alpha_j y_i y_j
              K(x_i, x_j) \quad\text{s.t.}\quad \sum_i \alpha_i y_i = 0,\;
              0 \le \alpha_i \le C_i.

    Of k > 2 classes it is one such machine for each of the k (k - 1) / 2 pairs.

    Parameters
    ----------
    C : float, default=1.0
        Cost of an error: a larger C makes for fewer training errors and less regularization. It
        is the upper bound of the dual variables, as in scikit-learn (not divided by n).
    kernel : str, Kernel or callable, default='rbf'
        One of 'linear', 'poly', 'rbf', 'laplacian', 'sigmoid' and 'precomputed', an object of
        :mod:`kernelbook.kernels`, or a function of (X, Y) that returns the matrix of values.
        One that is not positive semi-definite on the data is rejected.
    degree : int, default=3
        Degree of the polynomial kernel; ignored by the others.
    gamma : {'scale', 'auto', 'median', 'mean_distance'} or float, default='scale'
        Width of 'rbf', 'poly', 'laplacian' and 'sigmoid'; 'mean_distance' is for 'laplacian' only.
        See :func:`~kernelbook.kernels.resolve_gamma`.
    coef0 : float, default=0.0
        Independent term of 'poly' and 'sigmoid'.
    class_weight : dict or 'balanced', default=None
        Multiplies C by class, by 1 where a dict does not name it; ``'balanced'`` is n / (k n_c)
        for k classes, with a sample weight of w counted as w points.
    tol : float, default=1e-9
        Largest violation of the optimality conditions, relative to the gradient.
    max_iter : int, default=100
        Maximum number of interior-point steps, or of working sets of the exact solver.
    solver : {'auto', 'exact', 'low_rank', 'dense', 'reference'}, default='auto'
        'auto' takes the one that suits the problem; the solution is the same. See
        :func:`~kernelbook.qp.solve_qp`.
    cache_size : float, default=200.0
        Megabytes for kernel rows of the exact solver; its working sets may take four times that.
    decision_function_shape : {'ovr', 'ovo'}, default='ovr'
        What :meth:`decision_function` returns of more than two classes: one value for each class,
        or one for each pair. The machine is the same.
    break_ties : bool, default=False
        Whether :meth:`predict` decides between classes with as many votes by their decision
        values, and not by their order; of more than two classes, with
        ``decision_function_shape='ovr'`` only.
    n_jobs : int, default=None
        Number of threads that solve pairs of classes, or that share the sums of kernel values over
        many points of two classes; the result does not depend on it. If None, 1 unless in a
        ``joblib.parallel_config`` context; -1 for one a core.
    verbose : bool, default=False
        Whether the exact solver shows, for two classes, the digits that it has gained with gap
        and active variables (tqdm).

    Attributes
    ----------
    alpha_ : ndarray of shape (n,) or (k - 1, n)
        Dual variables on the textbook's scale, in [0, C_i]; exactly 0 or C_i at the bounds. Of
        more than two classes in the rows of ``dual_coef_``.
    certificate_ : Certificate
        ``duality_gap`` (relative), ``kkt_violation`` and ``status`` of the fit, see
        :class:`~kernelbook.qp.Certificate`; of several pairs the largest gap, the largest
        violation and the worst status.
    certificates_ : tuple of Certificate
        One for each pair, in the order of ``intercept_``.
    classes_ : ndarray of shape (k,)
        The labels; of two ``classes_[1]`` is the positive class.
    coef_ : ndarray of shape (1, d) or (k (k - 1) / 2, d)
        Normal vectors of the hyperplanes; linear kernel only.
    degeneracy_ : str or None
        Why the solution, optimal as it is, tells little about new points; None if it does not.
    dual_coef_ : ndarray of shape (k - 1, n_SV)
        The signed y_i alpha_i of the support vectors, as in scikit-learn: those of a support vector
        of class c against class r stand in row r if r < c, else in row r - 1.
    feature_names_in_ : ndarray of shape (d,)
        Names of the features, if X has string names.
    gamma_ : float
        The width that was used, if the kernel has one.
    intercept_ : ndarray of shape (k (k - 1) / 2,)
        The bias b of each pair (0, 1), (0, 2), ..., (k - 2, k - 1).
    kernel_ : Kernel
        The kernel object that was used.
    n_features_in_ : int
        Number of features.
    n_iter_ : int
        Interior-point steps, or working sets; of several pairs the largest number.
    n_support_ : ndarray of shape (k,)
        Number of support vectors of each class.
    support_ : ndarray of shape (n_SV,)
        Indices of the support vectors: the points whose alpha is not exactly zero. Of more than
        two classes they stand class by class.
    support_vectors_ : ndarray of shape (n_SV, d)
        The support vectors; empty for a precomputed kernel.

    Raises
    ------
    ValueError
        If there are fewer than two classes, a parameter is out of range, or a sample weight is
        negative.
    NotPositiveSemidefiniteError
        If the kernel matrix has a negative eigenvalue; the message quotes it.

    Warns
    -----
    ConvergenceWarning
        If the solution is not optimal to ``tol``; the message quotes the gap and says what to do.
    CompilationWarning
        Before the loops of the exact solver are compiled, once on a machine.

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

    **More than two classes.** As in scikit-learn, every pair of classes has a machine, the first
    class of the pair on its positive side, and a point belongs to the class that wins most pairs;
    of several, to the first. All pairs have one kernel, whose width 'scale' comes from all points,
    and share what is computed of its matrix beforehand. For one machine a class, against all
    others, wrap this one in :class:`sklearn.multiclass.OneVsRestClassifier`.

    **Differences from** :class:`sklearn.svm.SVC`. There is no ``probability`` (see the last
    example), ``shrinking`` or ``random_state``: nothing is drawn. ``tol`` is relative, and 1e-9 in
    place of 1e-3; ``max_iter`` counts the steps named above, not pairs of variables. A kernel
    matrix with a negative eigenvalue, common with 'sigmoid', is refused. The rules
    ``gamma='scale'`` and ``class_weight='balanced'`` count sample weights.

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

    Three classes on a line, and the votes for each at 2.5, with ties broken by the margins:

    >>> svc = KernelSVC(kernel="linear").fit([[0.0], [2.0], [4.0]], ["a", "b", "c"])
    >>> svc.predict([[2.5]]).tolist(), svc.decision_function([[2.5]]).round(2).tolist()
    (['b'], [[-0.21, 2.22, 0.93]])

    Probabilities come from decision values of points that a machine was not fitted to:

    >>> from sklearn.calibration import CalibratedClassifierCV
    >>> X, y = [[i / 9] for i in range(30)], [i // 10 for i in range(30)]
    >>> CalibratedClassifierCV(KernelSVC()).fit(X, y).predict_proba([[0.2]]).round(1).tolist()
    [[0.7, 0.2, 0.1]]
    """

    takes_sparse = True
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "C": [Number(Real, 0, None, closed="neither")],
        "class_weight": [dict, StrOptions({"balanced"}), None],
        "decision_function_shape": [StrOptions({"ovr", "ovo"})],
        "break_ties": ["boolean"],
        "n_jobs": [None, Number(Integral, None, None, closed="neither")],
        "verbose": ["boolean"],
        **KERNEL_CONSTRAINTS,
        **SOLVER_CONSTRAINTS,
    }
    certificates_: tuple[Certificate, ...]

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
        decision_function_shape: str = "ovr",
        break_ties: bool = False,
        n_jobs: int | None = None,
        verbose: bool = False,
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
        self.decision_function_shape = decision_function_shape
        self.break_ties = break_ties
        self.n_jobs = n_jobs
        self.verbose = verbose

    @all_or_nothing
    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        start: ArrayLike | None = None,
    ) -> Self:
        """Fit the machine.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n, d) or (n, n)
            Training points, or the Gram matrix for a precomputed kernel. Sparse points are taken
            with 'linear', 'poly' and 'rbf'.
        y : array-like of shape (n,)
            Labels of two classes or more; of two ``classes_[1]``, the larger one, is the positive
            class.
        sample_weight : array-like of shape (n,), default=None
            Multiplies C point by point; a weight of 0 leaves the point out.
        start : array-like of shape (n,) or (k - 1, n), default=None
            Where the exact solver begins, near the solution: ``alpha_`` of a machine that
            ``max_iter`` has stopped, or of one with a similar C. The solution is the same.

        Returns
        -------
        KernelSVC
            The fitted estimator; an interrupted one is as it was before.
        """
        if isinstance(self.C, float) and np.isposinf(self.C):
            raise ValueError(
                f"The 'C' parameter of {type(self).__name__} must be finite: the limit is the hard "
                "margin, HardMarginSVC. Got inf instead."
            )
        self._validate_params()
        if self.break_ties and self.decision_function_shape == "ovo":
            raise ValueError("break_ties needs decision_function_shape='ovr': set one of both.")
        X, y = validate_data(self, X, y, dtype=np.float64, accept_sparse=self._sparse_format)
        classes, codes = class_codes(y)
        weights = check_weights(sample_weight, X)
        box = self.C * weights
        if self.class_weight is not None:
            box *= class_weights(self.class_weight, classes, codes, weights)
        for code, label in enumerate(classes.tolist()):
            if not box[codes == code].any():
                raise ValueError(
                    f"every point of class {label!r} has weight zero: at least 2 classes are "
                    "needed, and each has to keep a point."
                )
        kept = np.flatnonzero(box)
        kernel, points, split = self._training_points(X, kept, weights)
        options = SolverOptions(self.tol, self.max_iter, self.solver, self.cache_size)
        near = None if start is None else signed_start(start, codes, len(classes))[:, kept]
        if len(classes) > 2:
            K = matrix_of_pairs(split, points, options)
            solutions = solve_pairs(
                svc_dual, K, codes[kept], box[kept], options, n_jobs=self.n_jobs, start=near
            )
            self._keep_pairs(X, kernel, split, paired(codes, kept, solutions))
            self.degeneracy_ = degeneracy(len(self.support_), len(kept))
        else:
            K = training_matrix(split, points, options)
            program = svc_dual(K, np.where(codes[kept] == 1, 1.0, -1.0), box[kept])
            options = replace(options, verbose=self.verbose)
            with threads(self.n_jobs):
                solution = solve(program, options, None if near is None else near[0])
            self._keep_support(X, kernel, split, kept, solution, solution.x)
            self._keep_intercept(X, split, solution.multiplier)
            self.certificates_ = (self.certificate_,)
        self.classes_ = classes
        return self

    def _keep_pairs(self, X: Matrix, kernel: Kernel, split: Kernel, pairs: Pairs) -> None:
        """Set what follows from the machines of more than two classes."""
        support = pairs.support
        self.kernel_, self.support_, self._of_support = kernel, support, pairs.codes
        self.support_vectors_ = np.empty((0, 0)) if kernel.is_precomputed else X[support]
        self.dual_coef_ = pairs.coefficients[:, support]
        self.alpha_ = np.abs(pairs.coefficients)
        self.certificates_, self.n_iter_ = pairs.certificates, pairs.n_iter
        self.certificate_ = worst(pairs.certificates)
        self._expansion, self._bias = pairs.expansion(split, X), pairs.biases
        self.intercept_ = pairs.biases - self._rows @ split.one_sided(X[support])

    @property
    def _rows(self) -> Matrix:
        """Coefficients of the support vectors, one row a pair."""
        return rows_of_pairs(self.dual_coef_, self._of_support)

    @property
    def coef_(self) -> Matrix:
        """Normal vector of the hyperplane of each pair in input space; linear kernel only."""
        if len(self.classes_) == 2:
            return super().coef_
        return linear_coefficients(self.kernel_, self._rows, self.support_vectors_)

    @property
    def n_support_(self) -> NDArray[np.int32]:
        """Number of support vectors of each class, shape (k,)."""
        if len(self.classes_) == 2:
            return super().n_support_
        counts = np.bincount(self._of_support, minlength=len(self.classes_))
        return counts.astype(np.int32)

    def decision_function(self, X: ArrayLike) -> Array:
        r"""Evaluate :math:`f(x) = \sum_i \alpha_i y_i K(x_i, x) + b`, of each pair if k > 2.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (m, d), or (m, n_train) for a precomputed kernel
            Points, or their kernel values with the training points.

        Returns
        -------
        ndarray of shape (m,), (m, k) or (m, k (k - 1) / 2)
            Of two classes positive on the side of ``classes_[1]``; +1 and -1 on the margins. Of
            more with 'ovo' the values of all pairs, positive on the side of the first class; with
            'ovr' the votes for each class, plus a number between -1/3 and 1/3 that grows with the
            sum of its values.
        """
        values = super().decision_function(X)
        if len(self.classes_) == 2 or self.decision_function_shape == "ovo":
            return values
        by_class: Array = _ovr_decision_function(values < 0, -values, len(self.classes_))
        return by_class

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Predict the class of each point.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (m, d), or (m, n_train) for a precomputed kernel
            Points, or their kernel values with the training points.

        Returns
        -------
        ndarray of shape (m,)
            Of two classes ``classes_[1]`` where the decision is positive, else ``classes_[0]``;
            of more the class that wins most pairs.
        """
        check_is_fitted(self)
        if len(self.classes_) == 2:
            return super().predict(X)
        if self.break_ties:
            return self.classes_[np.argmax(self.decision_function(X), axis=1)]
        return self.classes_[most_votes(super().decision_function(X), len(self.classes_))]


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
    >>> import numpy as np
    >>> from kernelbook.qp import DenseQuadratic
    >>> svc_dual(DenseQuadratic(np.eye(2)), np.array([-1.0, 1.0]), 3.0).lower.tolist()
    [-3.0, 0.0]
    """
    lower, upper = np.minimum(0.0, box * signs), np.maximum(0.0, box * signs)
    return QuadraticProgram(K, -signs, np.ones(len(signs)), 0.0, lower, upper)


def class_codes(y: ArrayLike) -> tuple[NDArray[Any], Index]:
    """Return the sorted classes, and the place of each point's class among them.

    Parameters
    ----------
    y : array-like of shape (n,)
        Labels of one type.

    Returns
    -------
    classes : ndarray of shape (n_classes,)
        The labels, at least two.
    codes : ndarray of shape (n,), dtype=int
        From 0 to n_classes - 1.

    Raises
    ------
    ValueError
        If there is one label only, or labels of several types.

    Examples
    --------
    >>> class_codes(["low", "high", "mid"])[1].tolist()
    [1, 0, 2]
    """
    y = column_or_1d(y, warn=True)
    if y.dtype == object:
        strings = {isinstance(label, str) for label in y}
        y = np.asarray(y.tolist())
        if y.dtype == object or len(strings) > 1:
            raise ValueError("y mixes labels of several types, or has a missing one: use one type.")
    check_classification_targets(y)
    classes, codes = np.unique(y, return_inverse=True)
    check_several_classes(classes)
    return classes, codes


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
    classes, codes = class_codes(y)
    if len(classes) > 2:
        raise ValueError(
            "Only binary classification is supported. The type of the target is "
            f"{type_of_target(classes[codes])}, with {len(classes)} classes: wrap the estimator in "
            "sklearn.multiclass.OneVsOneClassifier or OneVsRestClassifier."
        )
    return classes, np.where(codes == 1, 1.0, -1.0)
