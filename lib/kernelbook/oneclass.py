"""The one-class support vector machine, solved to a proved optimum."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import OutlierMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from kernelbook.estimator import (
    KERNEL_CONSTRAINTS,
    SOLVER_CONSTRAINTS,
    KernelEstimator,
    Number,
    all_or_nothing,
    check_weights,
    training_matrix,
)
from kernelbook.kernels import Array, KernelLike, Matrix
from kernelbook.qp import QuadraticProgram, SolverOptions, solve

__all__ = ["OneClassSVM", "one_class_path"]


class OneClassSVM(OutlierMixin, KernelEstimator):
    r"""The hyperplane that separates most of the data from the origin of feature space.

    .. math:: \min_{w, \rho, \xi} \tfrac12 \|w\|^2 - \rho + \frac1{\nu n} \sum_i \xi_i
              \quad\text{s.t.}\quad w^\top \phi(x_i) \ge \rho - \xi_i,\; \xi_i \ge 0

    through its dual

    .. math:: \min_\alpha \tfrac12 \alpha^\top K \alpha
              \quad\text{s.t.}\quad \sum_i \alpha_i = 1,\; 0 \le \alpha_i \le \frac1{\nu n};

    a point x lies inside where :math:`f(x) = \sum_i \alpha_i K(x_i, x) - \rho \ge 0`.

    Parameters
    ----------
    nu : float, default=0.5
        In (0, 1]: an upper bound of the fraction of training points outside, and a lower bound
        of the fraction of support vectors. The default, that of scikit-learn, rejects about half
        of the training points: take 0.05 or so where most are normal.
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
        Largest violation of the optimality conditions, relative to the gradient
        :math:`K\alpha`; also what separates the boundary from the outside, see
        :meth:`decision_function`.
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
        Dual variables >= 0, of sum 1; exactly 0 or at the upper bound where bounded.
    certificate_ : Certificate
        ``duality_gap`` (relative), ``kkt_violation`` and ``status`` of the fit, see
        :class:`~kernelbook.qp.Certificate`.
    coef_ : ndarray of shape (1, d)
        Normal vector of the hyperplane; linear kernel only.
    degeneracy_ : str or None
        Why the solution, optimal as it is, tells little about new points; None if it does not.
    dual_coef_ : ndarray of shape (1, n_SV)
        Values alpha of the support vectors.
    feature_names_in_ : ndarray of shape (d,)
        Names of the features, if X has string names.
    gamma_ : float
        The width that was used, if the kernel has one.
    intercept_ : ndarray of shape (1,)
        :math:`-\rho`.
    kernel_ : Kernel
        The kernel object that was used.
    n_features_in_ : int
        Number of features.
    n_iter_ : int
        Interior-point steps, or working sets.
    n_support_ : ndarray of shape (1,)
        Number of support vectors.
    offset_ : float
        :math:`\rho`, in the unit of :math:`w^\top \phi`.
    resolution_ : float
        Decision values up to this size have no sign that the solution could vouch for: 0.
    support_ : ndarray of shape (n_SV,)
        Indices of the support vectors: the points whose alpha is not exactly zero.
    support_vectors_ : ndarray of shape (n_SV, d)
        The support vectors; empty for a precomputed kernel.

    Raises
    ------
    ValueError
        If nu is outside (0, 1], an entry is NaN, or a sample weight is negative.
    NotPositiveSemidefiniteError
        If the kernel matrix has a negative eigenvalue.

    Warns
    -----
    ConvergenceWarning
        If the solution is not optimal to ``tol``; the message quotes the gap and says what to do.
    CompilationWarning
        Before the loops of the exact solver are compiled, once on a machine.

    See Also
    --------
    kernelbook.svdd.SVDD : A sphere in place of a hyperplane.
    one_class_path : Machines for several nu.

    Notes
    -----
    **Scale.** :math:`\alpha` is on the textbook's scale, of sum 1. LIBSVM and scikit-learn keep
    :math:`\nu n \alpha` with bounds of 1: their ``dual_coef_``, ``intercept_``, ``offset_`` and
    decision values are those of this class times :math:`\nu n` (:math:`\nu \sum_i s_i` with
    sample weights).

    **Offset.** All free support vectors (:math:`0 < \alpha_i < 1/(\nu n)`) agree on
    :math:`\rho`. Without any, the optimality conditions leave an interval, whose midpoint is
    taken. At nu = 1 it has no upper end: :math:`\rho` is then the lower one, the largest
    :math:`w^\top \phi(x_i)`, so that no training point lies strictly inside.

    **Origin.** Unlike the other machines this one depends on where the origin of feature space
    lies, so that a linear or polynomial kernel makes it depend on the origin of the data. For
    kernels with a constant K(x, x) it is :class:`~kernelbook.svdd.SVDD` with
    :math:`C = 1/(\nu n)`. Notebook 11.

    References
    ----------
    [Scholkopf2001]_

    Examples
    --------
    At nu = 1 every alpha is 1/n, and w is the mean, here 2 with the linear kernel:

    >>> model = OneClassSVM(nu=1, kernel="linear").fit([[1.0], [2.0], [3.0]])
    >>> model.coef_.round(12).tolist(), round(model.offset_, 12)
    ([[2.0]], 6.0)

    With a small nu the boundary goes through the point that is nearest to the origin:

    >>> model = OneClassSVM(nu=0.1, kernel="linear").fit([[1.0], [2.0], [3.0]])
    >>> model.alpha_.round(12).tolist(), model.predict([[0.9], [1.0], [9.0]]).tolist()
    ([1.0, 0.0, 0.0], [-1, 1, 1])
    """

    takes_sparse = True
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "nu": [Number(Real, 0, 1, closed="right")],
        **KERNEL_CONSTRAINTS,
        **SOLVER_CONSTRAINTS,
    }

    def __init__(
        self,
        nu: float = 0.5,
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
    def fit(self, X: ArrayLike, y: object = None, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the machine.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n, d) or (n, n)
            Training points, or the Gram matrix for a precomputed kernel. Sparse points are taken
            with 'linear', 'poly' and 'rbf'.
        y : Ignored
            Not used, present for API consistency by convention.
        sample_weight : array-like of shape (n,), default=None
            How often each point counts: its bound becomes s_i / (nu sum(s)). A weight of 0
            leaves the point out.

        Returns
        -------
        OneClassSVM
            The fitted estimator.
        """
        return self._fit_from(None, X, sample_weight)

    def _fit_from(self, start: Array | None, X: ArrayLike, sample_weight: ArrayLike | None) -> Self:
        """Fit with the alpha (n,) of a similar machine to start from, if any."""
        self._validate_params()
        X = validate_data(self, X, dtype=np.float64, accept_sparse=self._sparse_format)
        weights = check_weights(sample_weight, X)
        kept = np.flatnonzero(weights)
        kernel, points, split = self._training_points(X, kept, weights)
        options = SolverOptions(self.tol, self.max_iter, self.solver, self.cache_size)
        K = training_matrix(split, points, options)
        # What the split leaves out of a'Ka adds a linear term (and a constant).
        linear = split.one_sided(points)
        box = weights[kept] / (self.nu * weights.sum())
        near = None if start is None else start[kept]
        program = QuadraticProgram(K, linear, np.ones(len(kept)), 1.0, np.zeros(len(kept)), box)
        solution = solve(program, options, near)
        self._keep_support(X, kernel, split, kept, solution, solution.x)
        self.n_support_ = np.array([len(self.support_)], dtype=np.int32)
        self._split, self._threshold = split, -solution.multiplier
        self.resolution_ = self.tol * float(
            max(np.abs(linear).max(), np.abs(solution.product).max())
        )
        self.offset_ = self._threshold + float(solution.x @ linear) + split.constant
        self.intercept_ = np.array([-self.offset_])
        return self

    @property
    def coef_(self) -> Matrix:
        """Normal vector w in input space, shape (1, d); linear kernel only."""
        if not self.kernel_.is_linear:
            raise AttributeError(f"coef_ exists for the linear kernel only, not {self.kernel_!r}.")
        return self.dual_coef_ @ self.support_vectors_

    def decision_function(self, X: ArrayLike) -> Array:
        r"""Evaluate :math:`f(x) = \sum_i \alpha_i K(x_i, x) - \rho`.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (m, d), or (m, n_train) for a precomputed kernel
            Points, or their kernel values with the training points.

        Returns
        -------
        ndarray of shape (m,)
            Positive inside. Exactly 0 on the boundary: values below ``tol`` times the largest
            :math:`|(K\alpha)_i|` have no sign that the solution could vouch for. For a Gaussian
            kernel K - 1 stands for K in that product, so that wide kernels lose nothing.
        """
        check_is_fitted(self)
        X = self._check_new_points(X)
        values = self._expansion(X) + self._split.one_sided(X) - self._threshold
        return np.where(np.abs(values) <= self.resolution_, 0.0, values)

    def score_samples(self, X: ArrayLike) -> Array:
        r"""Evaluate :math:`w^\top \phi(x) = f(x) + \rho`.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (m, d), or (m, n_train) for a precomputed kernel
            Points, or their kernel values with the training points.

        Returns
        -------
        ndarray of shape (m,)
            Higher means more normal.
        """
        return self.decision_function(X) + self.offset_

    def predict(self, X: ArrayLike) -> NDArray[np.int_]:
        """Predict which points are normal.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (m, d), or (m, n_train) for a precomputed kernel
            Points, or their kernel values with the training points.

        Returns
        -------
        ndarray of shape (m,)
            +1 for points inside or on the boundary, -1 for those outside.
        """
        return np.where(self.decision_function(X) >= 0, 1, -1)


def one_class_path(
    X: ArrayLike, nus: ArrayLike, sample_weight: ArrayLike | None = None, **parameters: Any
) -> list[OneClassSVM]:
    r"""Fit machines for a path of nu, each from where the one before it ended.

    From the smallest nu to the largest the upper bounds fall, and :math:`\alpha` clipped to them
    is where the next fit starts. The solutions are those of separate fits.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n, d) or (n, n)
        Training points, or the Gram matrix for a precomputed kernel.
    nus : array-like of shape (k,)
        In (0, 1].
    sample_weight : array-like of shape (n,), default=None
        How often each point counts.
    **parameters : dict
        Further parameters of :class:`OneClassSVM`.

    Returns
    -------
    list of OneClassSVM
        In the order of ``nus``.

    Raises
    ------
    ValueError
        If ``nus`` is empty, or one of them is outside (0, 1].

    Examples
    --------
    At nu = 1 all of three points have the weight 1/3, at a small nu the one nearest to the origin
    has all of it:

    >>> machines = one_class_path([[1.0], [2.0], [3.0]], [1.0, 0.1], kernel="linear")
    >>> [machine.alpha_.round(12).tolist() for machine in machines]
    [[0.333333333333, 0.333333333333, 0.333333333333], [1.0, 0.0, 0.0]]
    """
    nus = np.asarray(nus, dtype=np.float64)
    if nus.ndim != 1 or len(nus) == 0:
        raise ValueError(f"nus must be a list of at least one number, got shape {nus.shape}.")
    machines = [OneClassSVM(nu, **parameters) for nu in nus.tolist()]
    start = None
    for machine in sorted(machines, key=lambda machine: machine.nu):
        machine._fit_from(start, X, sample_weight)
        start = machine.alpha_
    return machines
