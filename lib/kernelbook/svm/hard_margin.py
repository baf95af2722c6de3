"""The hard-margin support vector classifier, or the proof that no hyperplane separates."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from operator import itemgetter
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import Tags
from sklearn.utils.validation import validate_data

from kernelbook.estimator import (
    KERNEL_CONSTRAINTS,
    SOLVER_CONSTRAINTS,
    all_or_nothing,
    low_rank_matrix,
    training_gram,
)
from kernelbook.exceptions import NotSeparableError
from kernelbook.kernels import KernelLike
from kernelbook.qp import DenseQuadratic, QPSolution, Quadratic, SolverOptions, solve
from kernelbook.qp.interior_solver import approach
from kernelbook.qp.low_rank import LowRankQuadratic, within_rounding
from kernelbook.svm.classifier import SIDES, BinaryClassifier, encode_labels, svc_dual
from kernelbook.svm.hulls import common_point

__all__ = ["HardMarginSVC"]

Array = NDArray[np.float64]

# Boxes for the hard margin, in units of 1 / (squared spread of the data). A solution that touches
# the last one proves that the hulls are at most sqrt(2 / 1e13) = 5e-7 of the spread apart.
HARD_MARGIN_BOXES = (1e3, 1e6, 1e9, 1e13)
TOUCHING = 5e-7
# Rounding of a distance that comes from kernel values: nearer weighted means are one point.
COINCIDENT = 1e-8


class HardMarginSVC(BinaryClassifier):
    r"""The separating hyperplane of largest margin, or the proof that there is none.

    .. math:: \min_{w, b} \tfrac12 \|w\|^2
              \quad\text{s.t.}\quad y_i (w^\top \phi(x_i) + b) \ge 1

    Parameters
    ----------
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
    tol : float, default=1e-9
        Largest violation of the optimality conditions, relative to the gradient.
    max_iter : int, default=100
        Maximum number of interior-point steps, or of working sets of the exact solver.
    solver : {'auto', 'exact', 'low_rank', 'dense', 'reference'}, default='auto'
        See :func:`~kernelbook.qp.solve_qp`.

    Attributes
    ----------
    margin_ : float
        Distance 1 / ||w|| of the hyperplane to the nearest points, in feature space; the empty
        strip between the classes is twice as wide.
    alpha_ : ndarray of shape (n,)
        Dual variables >= 0, of sum ||w||^2.
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
    NotSeparableError
        If the convex hulls of the classes meet in feature space. Its ``weights`` name a common
        point, which proves it. Hulls nearer than 5e-7 of the data's spread are taken to meet:
        a Gram matrix in double precision hardly tells them apart.
    ValueError
        As for :class:`KernelSVC`.
    NotPositiveSemidefiniteError
        As for :class:`KernelSVC`.

    See Also
    --------
    KernelSVC : The machine for classes that overlap.

    Notes
    -----
    The dual is solved in a box :math:`\alpha_i \le C` that widens until no variable touches it.
    As long as one does, :math:`\alpha` divided by half its sum weighs two points, one in the hull
    of each class, at a distance of at most :math:`\sqrt{2/C}`: at the optimum
    :math:`\|w\|^2 \le \sum_i \alpha_i`, and the sum is at least 2C. If the classes are not
    separable the distance falls to zero as C grows; by Farkas' lemma the differences between
    solutions for C and 2C then become the weights of one point of both hulls.
    Where rounding leaves the kernel few features, such a point is first looked for by steps of
    affine scaling. Notebook 01.

    Examples
    --------
    The boundary of 0 and 2 against 4 lies half way, at 3, one unit from the nearest points:

    >>> svc = HardMarginSVC(kernel="linear").fit([[0.0], [2.0], [4.0]], [-1, -1, 1])
    >>> svc.coef_.round(12).tolist(), svc.intercept_.round(12).tolist(), round(svc.margin_, 12)
    ([[1.0]], [-3.0], 1.0)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **KERNEL_CONSTRAINTS,
        **{name: SOLVER_CONSTRAINTS[name] for name in ("tol", "max_iter", "solver")},
    }

    def __init__(
        self,
        *,
        kernel: KernelLike = "rbf",
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

    @all_or_nothing
    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Fit the machine, or prove that the classes are not separable.

        Parameters
        ----------
        X : array-like of shape (n, d) or (n, n)
            Training points, or the Gram matrix for a precomputed kernel.
        y : array-like of shape (n,)
            Any two labels; ``classes_[1]``, the larger one, is the positive class.

        Returns
        -------
        HardMarginSVC
            The fitted estimator.
        """
        self._validate_params()
        X, y = validate_data(self, X, y, dtype=np.float64)
        classes, signs = encode_labels(y)
        every = np.arange(len(X))
        kernel, _, split = self._training_points(X, every)
        _refuse_copies(X, signs)
        options = SolverOptions(self.tol, self.max_iter, self.solver)
        K = low_rank_matrix(split, X, options) or DenseQuadratic(
            training_gram(split, X), entry_error=split.entry_error
        )
        solution = _widest_margin(K, signs, options)
        self._keep_support(X, kernel, split, every, solution, solution.x)
        squared_norm = float(solution.x @ K.product(solution.x))
        self._keep_intercept(X, split, solution.multiplier)
        self.classes_ = classes
        self.margin_ = squared_norm**-0.5 if squared_norm > 0 else np.inf
        return self

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags


def _refuse_copies(X: Array, signs: Array) -> None:
    """Raise NotSeparableError if a point, or a row of a Gram matrix, has both labels."""
    _, first, group = np.unique(X, axis=0, return_index=True, return_inverse=True)
    others = np.flatnonzero(signs != signs[first][group])
    if len(others) == 0:
        return
    copy, other = first[group[others[0]]], others[0]
    weights = np.zeros(len(signs))
    weights[[copy, other]] = 1.0
    raise NotSeparableError(
        f"the data are not separable in this feature space, nor in any: rows {copy} and {other} "
        "are equal and have different labels. Use KernelSVC with a finite C, or remove one.",
        weights=weights,
        distance=0.0,
    )


def _widest_margin(K: Quadratic, signs: Array, options: SolverOptions) -> QPSolution:
    """Solve in boxes that widen until the solution touches none, or raise NotSeparableError."""
    centred = K.centred(np.ones(len(signs)))
    squared_spread = float(centred.diagonal.max())
    # Not positive for a function that is no kernel: a solver refuses it.
    size = squared_spread if squared_spread > 0 else 1.0
    first, *wide = [box / size for box in HARD_MARGIN_BOXES]
    within = partial(_within, K, signs, options, size)
    found = within([first], partial(_in_box, K, signs, options))
    if found is None:
        _refuse_common_point(K, matrix := within_rounding(centred), signs, size)
        if options.solver == "auto":
            found = within(wide, partial(_near_box, matrix, signs, options))
    if found is None:
        # Steps on pairs are slow in wide boxes that the solution touches.
        solver = "dense" if options.solver == "auto" else options.solver
        found = within(wide, partial(_in_box, K, signs, replace(options, solver=solver)))
    # A solver that was stopped early: it will warn.
    return found or solve(svc_dual(K, signs, wide[-1]), options)


def _within(
    K: Quadratic,
    signs: Array,
    options: SolverOptions,
    size: float,
    boxes: Sequence[float],
    in_box: Callable[[float], Array],
) -> QPSolution | None:
    """The solution if it touches none of the boxes; NotSeparableError if the hulls meet."""
    for box in boxes:
        x = in_box(box)
        largest = float(np.abs(x).max())
        inside = 0 < largest < box
        candidates = [x] if inside else [x, in_box(2 * box) - x]
        means = [_weighted_means(K, signs, signed) for signed in candidates]
        weights, distance = min(means, key=itemgetter(1))
        distance /= size**0.5
        if distance <= (TOUCHING if inside or box == HARD_MARGIN_BOXES[-1] / size else COINCIDENT):
            raise _no_margin(weights, distance)
        if inside:
            # In a box of twice the solution's size the gap says what it should.
            found = solve(svc_dual(K, signs, 2 * largest), options)
            if float(np.abs(found.x).max()) < 2 * largest:
                return found
    return None


def _refuse_common_point(K: Quadratic, matrix: Quadratic, signs: Array, size: float) -> None:
    """Raise NotSeparableError if a few features, and then the kernel, show a common point."""
    if not isinstance(matrix, LowRankQuadratic):
        return
    weights = common_point(matrix.F, signs, COINCIDENT * size**0.5)
    if weights is None:
        return
    weights, distance = _weighted_means(K, signs, signs * weights)
    if distance <= TOUCHING * size**0.5:
        raise _no_margin(weights, distance / size**0.5)


def _no_margin(weights: Array, distance: float) -> NotSeparableError:
    return NotSeparableError(
        "the data are not separable in this feature space: the convex hulls of the two "
        f"classes meet (two weighted means at a distance of {distance:.2g} of the data's "
        "spread; see the error's `weights`). Use KernelSVC with a finite C, or a kernel with "
        "more features.",
        weights=weights,
        distance=distance,
    )


def _in_box(K: Quadratic, signs: Array, options: SolverOptions, box: float) -> Array:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return solve(svc_dual(K, signs, box), options).x


def _near_box(K: Quadratic, signs: Array, options: SolverOptions, box: float) -> Array:
    """As :func:`_in_box`, without a proof: the weighted means, or the last fit, bring one."""
    solver = "low_rank" if K.is_low_rank else "dense"
    return approach(solver, svc_dual(K, signs, box), options.max_iter)


def _weighted_means(K: Quadratic, y: Array, signed: Array) -> tuple[Array, float]:
    """Weights >= 0 of sum 1 in each class, and the distance of the two weighted means."""
    weights = np.maximum(y * signed, 0.0)
    for side in SIDES:
        total = float(weights[y == side].sum())
        if total == 0:
            return weights, np.inf
        weights[y == side] /= total
    squared_distance = float((y * weights) @ K.product(y * weights))
    return weights, max(squared_distance, 0.0) ** 0.5
