"""Support vector classifiers with a certificate: hard margin, and soft margin with any kernel."""

import warnings
from operator import itemgetter
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import column_or_1d

from kernelbook.base import atomic_fit
from kernelbook.exceptions import NotSeparableError
from kernelbook.kernels import Kernel, Matrix, check_positive
from kernelbook.qp import DenseQuadratic, QPSolution, Quadratic
from kernelbook.support import InterceptMachine, positive_weights

__all__ = ["BinaryClassifier", "HardMarginSVC", "KernelSVC", "encode_labels", "path"]

Array = NDArray[np.float64]

SIDES = (-1.0, 1.0)
# Boxes for the hard margin, in units of 1 / (squared spread of the data). A solution that touches
# the last one proves that the hulls are at most sqrt(2 / 1e13) = 5e-7 of the spread apart.
HARD_MARGIN_BOXES = (1e3, 1e6, 1e9, 1e13)
TOUCHING = 5e-7
# Rounding of a distance that comes from kernel values: nearer weighted means are one point.
COINCIDENT = 1e-8


def encode_labels(y: ArrayLike) -> tuple[NDArray[Any], Array]:
    """Sorted classes (2,) and signs (n,): -1 for the first class, +1 for the second."""
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


class BinaryClassifier(ClassifierMixin, InterceptMachine):
    """Labels, values and predictions of a binary kernel machine with an intercept."""

    tol: float
    max_iter: int
    solver: str
    classes_: NDArray[Any]
    n_support_: NDArray[np.int32]

    def decision_function(self, X: ArrayLike) -> Array:
        r"""Signed value :math:`f(x) = \sum_i \alpha_i y_i K(x_i, x) + b`.

        Parameters
        ----------
        X : array-like, shape (m, d), or (m, n_train) if ``kernel='precomputed'``

        Returns
        -------
        ndarray, shape (m,)
            Positive on the side of ``classes_[1]``; +1 and -1 on the margins.
        """
        return self._values(X)

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Class of each point, shape (m,): ``classes_[1]`` where the decision is positive."""
        positive = self.decision_function(X) > 0
        return self.classes_[positive.astype(int)]

    def _solve_in_box(
        self,
        Q: Quadratic,
        y: Array,
        box: Array | float,
        start: Array | None = None,
        solver: str | None = None,
    ) -> QPSolution:
        """Solve the dual in signed form: x = y alpha, of sum 0, with 0 <= alpha <= box."""
        lower, upper = np.minimum(0.0, box * y), np.maximum(0.0, box * y)
        return self._solve_program(Q, -y, np.ones(len(y)), 0.0, lower, upper, start, solver)

    def _keep_classifier(self, X: Matrix, signed: Array, solution: QPSolution) -> None:
        self._keep_machine(X, signed, solution)
        negative = int((self.dual_coef_ < 0).sum())
        self.n_support_ = np.array([negative, len(self.support_) - negative], dtype=np.int32)

    def __sklearn_tags__(self) -> Any:
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
        Price of a unit of slack; the box of the dual, as in scikit-learn (not divided by n).
    kernel : {'linear', 'poly', 'rbf', 'laplacian', 'sigmoid', 'precomputed'} or callable
        A kernel that is not positive semi-definite on the data is refused.
    degree, gamma, coef0
        Of the kernel; ``gamma`` is a number, ``'scale'``, ``'auto'`` or ``'median'``
        (:func:`~kernelbook.kernels.resolve_gamma`).
    class_weight : dict or 'balanced', optional
        Multiplies C by class; ``'balanced'`` is n / (2 n_c).
    tol : float, default=1e-9
        Largest violation of the optimality conditions, relative to the gradient.
    max_iter : int, default=100
        Interior-point steps, or working sets of the exact way.
    solver : {'auto', 'exact', 'dense', 'reference'}, default='auto'
        See :func:`~kernelbook.qp.solve_qp`.
    cache_size : float, default=200
        Megabytes for kernel rows in the exact way; its working sets may take four times that.

    Attributes
    ----------
    alpha_ : ndarray, shape (n,)
        Dual variables on the textbook's scale, in [0, C_i]; exactly 0 or C_i at the bounds.
    certificate_ : Certificate
        ``duality_gap`` (relative), ``kkt_violation``, ``status``.
    support_, support_vectors_, dual_coef_, intercept_, coef_, n_support_, classes_
        As scikit-learn's SVC has them: ``dual_coef_`` (1, n_SV) is y_i alpha_i, positive for
        ``classes_[1]``. A point is a support vector if its alpha is not zero, whatever C.
    gamma_ : float
        The width that was used.
    n_iter_ : int

    Raises
    ------
    ValueError
        For anything but two classes, a parameter out of range, negative sample weights.
    NotPositiveSemidefiniteError
        For a kernel matrix with a negative eigenvalue; the message quotes it.

    Notes
    -----
    The bias is the value that all free support vectors (0 < alpha_i < C_i) agree on; without
    any, the midpoint of the interval that the optimality conditions allow, as in LIBSVM. A
    sample weight of zero leaves the point out. Notebooks 02 and 03.

    Examples
    --------
    Two points at -1 and 1 have alpha = 2 / distance**2 = 1/2 each, and f(x) = x:

    >>> svc = KernelSVC(C=10, kernel="linear").fit([[-1.0], [1.0]], ["no", "yes"])
    >>> svc.alpha_.round(12).tolist(), svc.decision_function([[3.0]]).round(12).tolist()
    ([0.5, 0.5], [3.0])
    >>> svc.predict([[3.0]]).tolist(), svc.certificate_.status
    (['yes'], 'optimal')
    """

    def __init__(
        self,
        C: float = 1.0,
        *,
        kernel: Kernel = "rbf",
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

    @atomic_fit
    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit to points X (n, d), or a Gram matrix (n, n), with two labels y (n,).

        Parameters
        ----------
        X : array-like, shape (n, d) or (n, n)
        y : array-like, shape (n,)
            Any two labels; ``classes_[1]``, the larger one, is the positive class.
        sample_weight : array-like, shape (n,), optional
            Multiplies C point by point.

        Returns
        -------
        self
        """
        return self._fit_from(None, X, y, sample_weight)

    def _fit_from(
        self, start: Array | None, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None
    ) -> Self:
        """Fit with the signed coefficients (n,) of a similar machine to start from, if any."""
        C = check_positive("C", self.C)
        X, y = self._training_points(X, y=y)
        self.classes_, signs = encode_labels(y)
        weights = positive_weights(sample_weight, X)
        self._require_both_classes(signs, weights)
        box = C * weights * self._class_weights(signs, weights > 0)
        self._require_both_classes(signs, box)
        kept = np.flatnonzero(box)
        Q = self._training_quadratic(self._rows(X, kept), weights[kept])
        near = None if start is None else start[kept]
        solution = self._solve_in_box(Q, signs[kept], box[kept], near)
        signed = np.zeros(len(X))
        signed[kept] = solution.x
        self._keep_classifier(X, signed, solution)
        return self

    def _require_both_classes(self, signs: Array, weights: Array) -> None:
        for side, label in zip(SIDES, self.classes_.tolist(), strict=True):
            if not weights[signs == side].any():
                raise ValueError(
                    f"every point of class {label!r} has weight zero: at least 2 classes must "
                    "keep a point."
                )

    def _class_weights(self, signs: Array, kept: NDArray[np.bool_]) -> Array:
        """Weight of each point's class (n,); 'balanced' counts the kept points only."""
        by_class = {side: 1.0 for side in SIDES}
        if isinstance(self.class_weight, dict):
            by_class |= self._given_class_weights(self.class_weight)
        elif isinstance(self.class_weight, str) and self.class_weight == "balanced":
            by_class = {side: kept.sum() / (2.0 * (signs[kept] == side).sum()) for side in SIDES}
        elif self.class_weight is not None:
            raise ValueError(
                f"class_weight must be a dict, 'balanced' or None, got {self.class_weight!r}."
            )
        return np.where(signs > 0, by_class[1.0], by_class[-1.0])

    def _given_class_weights(self, weights: dict[Any, float]) -> dict[float, float]:
        labels = self.classes_.tolist()
        if unknown := [label for label in weights if label not in labels]:
            raise ValueError(f"class_weight names {unknown}, but the classes are {labels}.")
        return {
            SIDES[labels.index(label)]: check_positive(f"class_weight[{label!r}]", value, zero=True)
            for label, value in weights.items()
        }


def path(
    X: ArrayLike,
    y: ArrayLike,
    Cs: ArrayLike,
    sample_weight: ArrayLike | None = None,
    **parameters: Any,
) -> list[KernelSVC]:
    r"""Machines for a path of C, each fitted from where the one before it ended.

    From the smallest C to the largest, :math:`\alpha` times the ratio of the two C is where the
    next fit starts: bounded variables stay at their bounds. The solutions are those of separate
    fits; ``solver='exact'``, the default from 400 points on, makes use of the start.

    Parameters
    ----------
    X : array-like, shape (n, d) or (n, n)
    y : array-like, shape (n,)
    Cs : array-like, shape (k,)
    sample_weight : array-like, shape (n,), optional
    **parameters
        Of :class:`KernelSVC`, but for C.

    Returns
    -------
    list of KernelSVC, length k
        In the order of ``Cs``.

    Examples
    --------
    Points -1 and 1 have alpha = min(C, 1/2):

    >>> machines = path([[-1.0], [1.0]], [0, 1], [4.0, 0.25], kernel="linear")
    >>> [machine.alpha_.round(12).tolist() for machine in machines]
    [[0.5, 0.5], [0.25, 0.25]]
    """
    Cs = np.asarray(Cs, dtype=np.float64)
    if Cs.ndim != 1 or len(Cs) == 0:
        raise ValueError(f"Cs must be a list of at least one number, got shape {Cs.shape}.")
    machines = [KernelSVC(check_positive("Cs", C), **parameters) for C in Cs.tolist()]
    before, start = 1.0, None
    for machine in sorted(machines, key=lambda machine: machine.C):
        near = None if start is None else machine.C / before * start
        machine._fit_from(near, X, y, sample_weight)
        before, start = machine.C, np.zeros(len(machine.alpha_))
        start[machine.support_] = machine.dual_coef_[0]
    return machines


class HardMarginSVC(BinaryClassifier):
    r"""The separating hyperplane of largest margin, or the proof that there is none.

    .. math:: \min_{w, b} \tfrac12 \|w\|^2
              \quad\text{s.t.}\quad y_i (w^\top \phi(x_i) + b) \ge 1

    Parameters
    ----------
    kernel : {'linear', 'poly', 'rbf', 'laplacian', 'sigmoid', 'precomputed'} or callable
        A kernel that is not positive semi-definite on the data is refused.
    degree, gamma, coef0
        Of the kernel; ``gamma`` is a number, ``'scale'``, ``'auto'`` or ``'median'``.
    tol : float, default=1e-9
        Largest violation of the optimality conditions, relative to the gradient.
    max_iter : int, default=100
        Interior-point steps, or working sets of the exact way.
    solver : {'auto', 'exact', 'dense', 'reference'}, default='auto'
        See :func:`~kernelbook.qp.solve_qp`.

    Attributes
    ----------
    margin_ : float
        Distance 1 / ||w|| of the hyperplane to the nearest points, in feature space; the empty
        strip between the classes is twice as wide.
    alpha_ : ndarray, shape (n,)
        Dual variables >= 0, of sum ||w||^2.
    certificate_, support_, support_vectors_, dual_coef_, intercept_, coef_, n_support_, classes_
        As for :class:`KernelSVC`.

    Raises
    ------
    NotSeparableError
        If the convex hulls of the classes meet in feature space. Its ``weights`` name a common
        point, which proves it. Hulls nearer than 5e-7 of the data's spread are taken to meet:
        a Gram matrix in double precision hardly tells them apart.
    ValueError, NotPositiveSemidefiniteError
        As for :class:`KernelSVC`.

    Notes
    -----
    The dual is solved in a box :math:`\alpha_i \le C` that widens until no variable touches it.
    As long as one does, :math:`\alpha` divided by half its sum weighs two points, one in the hull
    of each class, at a distance of at most :math:`\sqrt{2/C}`: at the optimum
    :math:`\|w\|^2 \le \sum_i \alpha_i`, and the sum is at least 2C. If the classes are not
    separable the distance falls to zero as C grows; by Farkas' lemma the differences between
    solutions for C and 2C then become the weights of one point of both hulls. Notebook 01.

    Examples
    --------
    The boundary of 0 and 2 against 4 lies half way, at 3, one unit from the nearest points:

    >>> svc = HardMarginSVC(kernel="linear").fit([[0.0], [2.0], [4.0]], [-1, -1, 1])
    >>> svc.coef_.round(12).tolist(), svc.intercept_.round(12).tolist(), round(svc.margin_, 12)
    ([[1.0]], [-3.0], 1.0)
    """

    def __init__(
        self,
        *,
        kernel: Kernel = "rbf",
        degree: int = 3,
        gamma: float | str = "scale",
        coef0: float = 0.0,
        tol: float = 1e-9,
        max_iter: int = 100,
        solver: str = "auto",
    ) -> None:
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.tol = tol
        self.max_iter = max_iter
        self.solver = solver

    @atomic_fit
    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Fit to points X (n, d), or a Gram matrix (n, n), with two labels y (n,).

        Returns
        -------
        self
        """
        X, y = self._training_points(X, y=y)
        self.classes_, signs = encode_labels(y)
        Q = DenseQuadratic(self._training_gram(X))
        solution = self._solve(Q, signs)
        self._keep_classifier(X, solution.x, solution)
        squared_norm = float(solution.x @ Q.mv(solution.x))
        self.margin_ = squared_norm**-0.5 if squared_norm > 0 else np.inf
        return self

    def _solve(self, Q: DenseQuadratic, y: Array) -> QPSolution:
        squared_spread = float(Q.centred(np.ones(len(y))).diagonal().max())
        size = squared_spread if squared_spread > 0 else 1.0
        for box in HARD_MARGIN_BOXES:
            # Steps on pairs are slow in wide boxes that the solution touches.
            solver = "dense" if self.solver == "auto" and box > HARD_MARGIN_BOXES[0] else None
            x = self._try_box(Q, y, box / size, solver)
            largest = float(np.abs(x).max())
            if 0 < largest < box / size:
                # In a box of twice the solution's size the gap says what it should.
                return self._solve_in_box(Q, y, 2 * largest)
            wider = self._try_box(Q, y, 2 * box / size, solver)
            candidates = [_weighted_means(Q, y, signed) for signed in (x, wider - x)]
            weights, distance = min(candidates, key=itemgetter(1))
            distance /= size**0.5
            if distance <= COINCIDENT:
                break
        if distance > TOUCHING:
            return self._solve_in_box(Q, y, box / size)  # stopped early: it will warn
        raise NotSeparableError(
            "the data are not separable in this feature space: the convex hulls of the two "
            f"classes meet (two weighted means at a distance of {distance:.2g} of the data's "
            "spread; see the error's `weights`). Use KernelSVC with a finite C, or a kernel with "
            "more features.",
            weights=weights,
            distance=distance,
        )

    def _try_box(self, Q: DenseQuadratic, y: Array, box: float, solver: str | None) -> Array:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            return self._solve_in_box(Q, y, box, solver=solver).x


def _weighted_means(Q: DenseQuadratic, y: Array, signed: Array) -> tuple[Array, float]:
    """Weights >= 0 of sum 1 in each class, and the distance of the two weighted means."""
    weights = np.maximum(y * signed, 0.0)
    for side in SIDES:
        total = float(weights[y == side].sum())
        if total == 0:
            return weights, np.inf
        weights[y == side] /= total
    squared_distance = float((y * weights) @ Q.mv(y * weights))
    return weights, max(squared_distance, 0.0) ** 0.5
