"""Support vector regression with a certificate."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import RegressorMixin
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
from kernelbook.kernels import Array, KernelLike, Matrix, linear_coefficients
from kernelbook.qp import PairedQuadratic, Quadratic, QuadraticProgram, SolverOptions, solve

__all__ = ["KernelSVR", "svr_dual"]


class KernelSVR(RegressorMixin, KernelEstimator):
    r"""Support vector regression: a tube of half-width epsilon, solved to a proved optimum.

    .. math:: \min_{w, b} \tfrac12 \|w\|^2
              + \sum_i C_i \max(0, |y_i - w^\top \phi(x_i) - b| - \epsilon)

    with :math:`C_i = C \cdot` sample weight, through its dual

    .. math:: \min_{\alpha, \alpha^*} \tfrac12 \beta^\top K \beta - y^\top \beta
              + \epsilon \sum_i (\alpha_i + \alpha_i^*), \quad \beta = \alpha - \alpha^*,
              \quad \sum_i \beta_i = 0,\; 0 \le \alpha_i, \alpha_i^* \le C_i.

    Parameters
    ----------
    C : float, default=1.0
        Cost of an error beyond the tube: a larger C makes for smaller training errors and less
        regularization. It is the upper bound of the dual variables (not divided by n).
    epsilon : float, default=0.1
        Half-width of the tube, in the unit of the target; 0 is allowed.
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
        'auto' takes the one that suits the problem; the solution is the same. See
        :func:`~kernelbook.qp.solve_qp`.
    cache_size : float, default=200.0
        Megabytes for kernel rows of the exact solver; its working sets may take four times that.

    Attributes
    ----------
    alpha_ : ndarray of shape (n,)
        Size of the coefficient, alpha_i + alpha_i^*, of which one is always zero.
    certificate_ : Certificate
        ``duality_gap`` (relative), ``kkt_violation`` and ``status`` of the fit, see
        :class:`~kernelbook.qp.Certificate`.
    coef_ : ndarray of shape (1, d)
        Normal vector of the hyperplane; linear kernel only.
    degeneracy_ : str or None
        Why the solution, optimal as it is, tells little about new points; None if it does not.
    dual_coef_ : ndarray of shape (1, n_SV)
        The difference alpha_i - alpha_i^* as in scikit-learn: positive where the target lies
        above the tube.
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
    support_ : ndarray of shape (n_SV,)
        Indices of the support vectors: the points whose alpha is not exactly zero.
    support_vectors_ : ndarray of shape (n_SV, d)
        The support vectors; empty for a precomputed kernel.

    Raises
    ------
    ValueError
        If a parameter is out of range, an entry is NaN, or a sample weight is negative.
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
    kernelbook.certification.certify : The certificate of a machine of scikit-learn.

    Notes
    -----
    The 2n variables are eliminated to n in every step of the solver. The bias is the value that
    all free support vectors agree on; without any, the midpoint of the interval that the
    optimality conditions allow, as in LIBSVM. Notebook 05.

    References
    ----------
    [Smola2004]_

    Examples
    --------
    All targets fit into the tube, so the flattest function is constant, half way between the
    extremes:

    >>> svr = KernelSVR(epsilon=0.5).fit([[0.0], [1.0], [2.0]], [0.0, 0.2, 0.1])
    >>> len(svr.support_), svr.predict([[7.0]]).round(12).tolist()
    (0, [0.1])
    """

    takes_sparse = True
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "C": [Number(Real, 0, None, closed="neither")],
        "epsilon": [Number(Real, 0, None, closed="left")],
        **KERNEL_CONSTRAINTS,
        **SOLVER_CONSTRAINTS,
    }

    def __init__(
        self,
        C: float = 1.0,
        epsilon: float = 0.1,
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
        self.epsilon = epsilon
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.tol = tol
        self.max_iter = max_iter
        self.solver = solver
        self.cache_size = cache_size

    @all_or_nothing
    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the machine.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n, d) or (n, n)
            Training points, or the Gram matrix for a precomputed kernel. Sparse points are taken
            with 'linear', 'poly' and 'rbf'.
        y : array-like of shape (n,)
            Targets.
        sample_weight : array-like of shape (n,), default=None
            Multiplies C point by point; a weight of 0 leaves the point out.

        Returns
        -------
        KernelSVR
            The fitted estimator.
        """
        self._validate_params()
        X, y = validate_data(
            self, X, y, y_numeric=True, dtype=np.float64, accept_sparse=self._sparse_format
        )
        weights = check_weights(sample_weight, X)
        kept = np.flatnonzero(weights)
        kernel, points, split = self._training_points(X, kept, weights)
        options = SolverOptions(self.tol, self.max_iter, self.solver, self.cache_size)
        K = training_matrix(split, points, options)
        target = np.asarray(y, dtype=np.float64)[kept]
        # A constant in the target goes to the bias; in the dual it would cost digits.
        constant = float(target.mean())
        box = self.C * weights[kept]
        centred = target.astype(np.longdouble) - constant
        solution = solve(svr_dual(K, centred, box, self.epsilon), options)
        n = len(kept)
        # Without a tube alpha and alpha* are not unique, but their difference is.
        x = solution.x if self.epsilon == 0 else solution.x[:n] - solution.x[n:]
        self._keep_support(X, kernel, split, kept, solution, x)
        self._keep_intercept(X, split, solution.multiplier + constant)
        return self

    @property
    def coef_(self) -> Matrix:
        """Normal vector of the function in input space, shape (1, d); linear kernel only."""
        return linear_coefficients(self.kernel_, self.dual_coef_, self.support_vectors_)

    def predict(self, X: ArrayLike) -> Array:
        r"""Evaluate :math:`f(x) = \sum_i (\alpha_i - \alpha_i^*) K(x_i, x) + b`.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (m, d), or (m, n_train) for a precomputed kernel
            Points, or their kernel values with the training points.

        Returns
        -------
        ndarray of shape (m,)
            In the unit of the target.
        """
        check_is_fitted(self)
        return self._expansion(self._check_new_points(X)) + self._bias


def svr_dual(
    K: Quadratic, y: Array | NDArray[np.longdouble], box: Array, epsilon: float
) -> QuadraticProgram:
    r"""Return the dual, in :math:`(\alpha, \alpha^*)` or, without a tube, in their difference.

    Parameters
    ----------
    K : Quadratic
        Gram matrix (n, n).
    y : ndarray of shape (n,)
        Targets, in double or extended precision.
    box : ndarray of shape (n,)
        Upper bounds of the dual variables.
    epsilon : float
        Half-width of the tube.

    Returns
    -------
    QuadraticProgram
        With 2n variables, n if ``epsilon`` is 0.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelbook.qp import DenseQuadratic
    >>> K, one = DenseQuadratic(np.eye(2)), np.ones(2)
    >>> len(svr_dual(K, one, one, 0.1).q), len(svr_dual(K, one, one, 0.0).q)
    (4, 2)
    """
    one = np.ones(len(y))
    if epsilon == 0:
        q, rest = _rounded(-y)
        return QuadraticProgram(K, q, one, 0.0, -box, box, rest)
    q, rest = _rounded(np.concatenate([epsilon - y, epsilon + y]))
    return QuadraticProgram(
        PairedQuadratic(K),
        q,
        np.concatenate([one, -one]),
        0.0,
        np.zeros(2 * len(y)),
        np.tile(box, 2),
        q_rest=rest,
    )


def _rounded(wide: Array | NDArray[np.longdouble]) -> tuple[Array, Array]:
    """The numbers in double precision, and what that took from them."""
    q = wide.astype(np.float64)
    return q, (wide - q).astype(np.float64)
