"""Support vector data description: the smallest sphere around most of the targets."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import validate_data

from kernelbook.estimator import (
    KERNEL_CONSTRAINTS,
    SOLVER_CONSTRAINTS,
    Number,
    all_or_nothing,
    check_weights,
    training_matrix,
)
from kernelbook.exceptions import InfeasibleError
from kernelbook.kernels import Array, KernelLike
from kernelbook.qp import Quadratic, QuadraticProgram, SolverOptions, solve
from kernelbook.svdd.sphere import Centre, SphereDetector, full_norm, target_signs

__all__ = ["ROUNDING", "SVDD", "svdd_dual"]


# By how much a sum of boxes may fall short of 1 by rounding.
ROUNDING = 1e-10
# The fraction of targets outside if neither C nor nu says it.
DEFAULT_NU = 0.05


class SVDD(SphereDetector):
    r"""The smallest sphere around most of the targets, with known outliers outside.

    .. math:: \min_{R, a, \xi} R^2 + \sum_i C_i \xi_i
              \quad\text{s.t.}\quad y_i (\|\phi(x_i) - a\|^2 - R^2) \le \xi_i,\;
              \xi_i \ge 0,\; R^2 \ge 0

    with y = +1 for targets and -1 for outliers, :math:`C_i` = C or C_outlier, times the sample
    weight. Its dual, in signed variables :math:`\beta_i = y_i \alpha_i`, is

    .. math:: \max_\beta \sum_i \beta_i K(x_i, x_i) - \beta^\top K \beta
              \quad\text{s.t.}\quad \sum_i \beta_i = 1,\; 0 \le y_i \beta_i \le C_i,

    and the centre is :math:`a = \sum_i \beta_i \phi(x_i)`.

    Parameters
    ----------
    C : float, default=None
        Regularization parameter: the cost of a target's squared distance beyond the sphere. At
        least 1/n for n targets; from 1 on, without outliers, the sphere holds every target. If
        None, ``nu`` sets it.
    C_outlier : float, default=None
        The cost of an outlier's squared distance below the sphere. If None, that of targets.
    nu : float, default=None
        Sets C to 1 / (nu n) for n targets, n their sum of weights: without outliers at most
        this fraction of the targets lies outside. In (0, 1]. If None, and C is None too, 0.05.
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
        Largest violation of the optimality conditions, relative to the gradient; also what
        separates the sphere from its outside, see :meth:`decision_function`.
    max_iter : int, default=100
        Maximum number of interior-point steps, or of working sets of the exact solver.
    solver : {'auto', 'exact', 'low_rank', 'dense', 'reference'}, default='auto'
        'auto' takes the one that suits the problem; the solution is the same. See
        :func:`~kernelbook.qp.solve_qp`.
    cache_size : float, default=200.0
        Megabytes for kernel rows of the exact solver; its working sets may take four times that.

    Attributes
    ----------
    alpha_ : ndarray of shape (n,)
        Dual variables :math:`\alpha_i \ge 0` of all training points.
    certificate_ : Certificate
        ``duality_gap`` (relative), ``kkt_violation`` and ``status`` of the fit, see
        :class:`~kernelbook.qp.Certificate`.
    center_ : ndarray of shape (d,)
        The centre in input space; linear kernel only.
    center_norm_ : float
        Norm :math:`\|a\|` of the centre (not its square): its distance from the origin of
        feature space.
    degeneracy_ : str or None
        Why the solution, optimal as it is, tells little about new points; None if it does not.
    dual_coef_ : ndarray of shape (1, n_SV)
        The signed :math:`\beta_i = y_i \alpha_i` of the support vectors, of sum 1.
    feature_names_in_ : ndarray of shape (d,)
        Names of the features, if X has string names.
    gamma_ : float
        The width that was used, if the kernel has one.
    kernel_ : Kernel
        The kernel object that was used.
    n_features_in_ : int
        Number of features.
    n_iter_ : int
        Interior-point steps, or working sets.
    offset_ : float
        :math:`-R^2`: decision values are ``score_samples - offset_``.
    radius_ : float
        The radius R.
    radius_squared_ : float
        The squared radius.
    resolution_ : float
        Decision values up to this size have no sign that the solution could vouch for: 0.
    support_ : ndarray of shape (n_SV,)
        Indices of the support vectors: the points whose alpha is not exactly zero.
    support_vectors_ : ndarray of shape (n_SV, d)
        The support vectors; empty for a precomputed kernel.

    Raises
    ------
    InfeasibleError
        If C is below 1/n, n the number of targets (their sum of weights): the message names it.
    ValueError
        If both C and nu are given, a parameter is out of range, there is no target, or an entry
        is NaN.
    NotPositiveSemidefiniteError
        If the kernel matrix has a negative eigenvalue.

    Warns
    -----
    ConvergenceWarning
        If the solution is not optimal to ``tol``; the message quotes the gap and says what to do.
    CompilationWarning
        Before the loops of the exact solver are compiled, once on a machine.
    LabelWarning
        If ``y`` holds labels other than +1 and -1.

    See Also
    --------
    kernelbook.oneclass.OneClassSVM : A hyperplane in place of a sphere.
    kernelbook.bayes.BayesianSVDD : A posterior of the centre.

    Notes
    -----
    **Convexity.** The problem is that of [Tax2004]_ with :math:`R^2 \ge 0` written out. With
    :math:`R^2 - \|a\|^2` in place of :math:`R^2` all constraints are linear and the objective is
    convex, with outliers too, so the dual is tight and the certificate's gap is that of the
    sphere. With outliers C >= 1 is no hard margin: single :math:`\alpha_i` may exceed 1.

    **Radius.** All free support vectors lie on the sphere. Without any, every
    :math:`R^2 \ge 0` between the distances of those that must be inside and of those that must
    be outside is optimal, and the midpoint is taken; at C = 1/n that is half the smallest
    squared distance.

    **One-class SVM.** For a constant K(x, x) and no outliers this is
    :class:`~kernelbook.oneclass.OneClassSVM` with :math:`\nu = 1/(nC)`: the same
    :math:`\alpha`, and decision values twice as large (up to the choice of :math:`R^2` where it
    is not unique).

    **Far points.** For other kernels the centre need not be near the data, and a kernel that
    tends to 0 maps far points to the origin, which lies inside any sphere with
    :math:`R > \|a\|`. Notebook 12.

    References
    ----------
    [Tax2004]_

    Examples
    --------
    Four corners of a square with the linear kernel: centre (4, 4) and R^2 = 2.

    >>> square = [[3.0, 3.0], [3.0, 5.0], [5.0, 3.0], [5.0, 5.0]]
    >>> svdd = SVDD(C=1.0, kernel="linear").fit(square)
    >>> svdd.center_.round(12).tolist(), round(svdd.radius_squared_, 12)
    ([4.0, 4.0], 2.0)
    >>> svdd.predict([[3.0, 3.0], [4.5, 4.0], [6.0, 4.0]]).tolist()
    [1, 1, -1]

    Two outliers lie outside the sphere around 0, 1 and 2, whose centre is 1, R = 1:

    >>> points = [[0.0], [1.0], [2.0], [3.0], [6.0]]
    >>> svdd = SVDD(C=1.0, kernel="linear").fit(points, [1, 1, 1, -1, -1])
    >>> svdd.center_.round(12).tolist(), round(svdd.radius_, 12)
    ([1.0], 1.0)
    """

    takes_sparse = True
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "C": [Number(Real, 0, None, closed="neither"), None],
        "C_outlier": [Number(Real, 0, None, closed="neither"), None],
        "nu": [Number(Real, 0, 1, closed="right"), None],
        **KERNEL_CONSTRAINTS,
        **SOLVER_CONSTRAINTS,
    }

    def __init__(
        self,
        C: float | None = None,
        C_outlier: float | None = None,
        nu: float | None = None,
        *,
        kernel: KernelLike = "rbf",
        degree: int = 3,
        gamma: float | str = "scale",
        coef0: float = 0.0,
        tol: float = 1e-9,
        max_iter: int = 100,
        solver: str = "auto",
        cache_size: float = 200.0,
    ) -> None:
        self.C = C
        self.C_outlier = C_outlier
        self.nu = nu
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.tol = tol
        self.max_iter = max_iter
        self.solver = solver
        self.cache_size = cache_size

    @all_or_nothing
    def fit(
        self, X: ArrayLike, y: ArrayLike | None = None, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Fit the sphere.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n, d) or (n, n)
            Training points, or the Gram matrix for a precomputed kernel. Sparse points are taken
            with 'linear', 'poly' and 'rbf'.
        y : array-like of shape (n,), default=None
            -1 marks an outlier, +1 a target. If None, all points are targets. Other integers
            >= 0 count as targets, with a :class:`~kernelbook.exceptions.LabelWarning`.
        sample_weight : array-like of shape (n,), default=None
            How often each point counts: multiplies its C. A weight of 0 leaves the point out.

        Returns
        -------
        SVDD
            The fitted estimator.
        """
        self._validate_params()
        X = validate_data(self, X, dtype=np.float64, accept_sparse=self._sparse_format)
        signs, weights = target_signs(y, X), check_weights(sample_weight, X)
        kept = np.flatnonzero(weights)
        box = (signs * _costs(self.C, self.C_outlier, self.nu, signs, weights))[kept]
        kernel, points, split = self._training_points(X, kept, weights)
        options = SolverOptions(self.tol, self.max_iter, self.solver, self.cache_size)
        K = training_matrix(split, points, options)
        solution = solve(svdd_dual(K, box), options)
        self._keep_support(X, kernel, split, kept, solution, solution.x)
        product = float(solution.x @ solution.product)
        self._split, self._centre = split, Centre(self._expansion, product)
        self.center_norm_ = full_norm(split, points, solution.x, product)
        self._diagonal_range = (float(K.diagonal.min()), float(K.diagonal.max()))
        scale = max(np.abs(K.diagonal).max(), 2.0 * np.abs(solution.product).max())
        self.resolution_ = self.tol * float(scale)
        radius_squared = product + 2.0 * solution.multiplier
        # With every variable at its upper bound only R^2 >= 0 bounds R^2 from below.
        grows = solution.x < np.maximum(box, 0.0)
        self._set_radius(radius_squared if grows.any() else radius_squared / 2.0)
        return self


def svdd_dual(K: Quadratic, box: Array) -> QuadraticProgram:
    """Return half the dual with its sign turned, so that K itself is the matrix.

    Parameters
    ----------
    K : Quadratic
        Gram matrix (n, n).
    box : ndarray of shape (n,)
        Signed bounds: C of a target, minus that of an outlier.

    Returns
    -------
    QuadraticProgram
        In the signed variables beta, of sum 1.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelbook.qp import DenseQuadratic
    >>> svdd_dual(DenseQuadratic(np.eye(2)), np.array([2.0, -3.0])).lower.tolist()
    [0.0, -3.0]
    """
    lower, upper = np.minimum(box, 0.0), np.maximum(box, 0.0)
    return QuadraticProgram(K, -0.5 * K.diagonal, np.ones(len(box)), 1.0, lower, upper)


def _costs(
    C: float | None, C_outlier: float | None, nu: float | None, signs: Array, weights: Array
) -> Array:
    """C of each point, shape (n,), if the targets can reach a sum of 1."""
    n = float(weights[signs > 0].sum())
    if n == 0:
        raise ValueError("sample_weight is zero for every target: at least one must stay in.")
    if C is not None and nu is not None:
        raise ValueError(f"give C or nu, not both, got C={C!r} and nu={nu!r}.")
    if C is None:
        C = 1.0 / ((DEFAULT_NU if nu is None else nu) * n)
    if C * n < 1.0 - ROUNDING:
        raise InfeasibleError(
            f"C = {C:g} is below 1/n = {1 / n:.6g} for n = {n:g} targets: their alpha cannot "
            f"reach the sum 1. Use C of at least {1 / n:.6g}, or nu in (0, 1]."
        )
    costs = weights * np.where(signs > 0, C, C if C_outlier is None else C_outlier)
    # The sum 1 lets no target reach more than half of this: wider boxes cost digits only.
    wide = 2.0 + 2.0 * float(costs[signs < 0].sum())
    return np.where(signs > 0, np.minimum(costs, wide), costs)
