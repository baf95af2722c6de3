"""Bayesian data description: the most probable weights of a centre in feature space."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import validate_data

from kernelbook.bayes.cutoff import CUTOFF_CONSTRAINTS, check_cutoff, choose_radius
from kernelbook.bayes.prior import (
    PRIOR_CONSTRAINTS,
    check_covariance,
    full_row_sums,
    precision_matrix,
    prior_mean_vector,
)
from kernelbook.estimator import (
    KERNEL_CONSTRAINTS,
    SOLVER_CONSTRAINTS,
    Number,
    all_or_nothing,
    training_gram,
)
from kernelbook.exceptions import InfeasibleError
from kernelbook.kernels import KernelLike
from kernelbook.qp import DenseQuadratic, QuadraticProgram, SolverOptions, solve
from kernelbook.svdd import ROUNDING, Centre, SphereDetector, full_norm, target_signs

__all__ = ["BayesianDataDescription"]


class BayesianDataDescription(SphereDetector):
    r"""Bayesian data description (BDD): the most probable centre of the data in feature space.

    The n targets are :math:`\phi(x_i) \sim N(\sum_j \alpha_j \phi(x_j), I)` with the prior
    :math:`\alpha \sim N(m, \Sigma)`; the mode of the posterior, among weights of sum 1, solves

    .. math:: \min_\alpha \alpha^\top (nK + \Sigma^{-1}) \alpha
              - 2 \alpha^\top (K \mathbf 1 + \Sigma^{-1} m)
              \quad\text{s.t.}\quad \sum_i \alpha_i = 1,\; 0 \le \alpha_i \le u,

    and a point z lies inside where :math:`\|\phi(z) - \sum_i \alpha_i \phi(x_i)\| \le R`.

    Parameters
    ----------
    prior_mean : {'row_sum', 'row_mean', 'constant'} or array-like of shape (n,), default='row_sum'
        :math:`m = -(K \mathbf 1)^v`, entry by entry, :math:`m = -(K \mathbf 1 / n)^v`,
        :math:`m = 0`, or m itself, one number a target.
    prior_exponent : float, default=1.0
        The exponent v > 0; ignored for 'constant' and an array.
    prior_scale : float or array-like of shape (n, n), default=1.0
        Variance s of :math:`\Sigma = sI`, or :math:`\Sigma` itself.
    upper : float, default=1.0
        Upper bound u of a weight, at least 1/n. 1 bounds nothing; :math:`1/(\nu n)` spreads the
        weight over at least :math:`\nu n` points.
    cutoff : {'rejection_rate', 'f1', 'balanced_accuracy'}, default='rejection_rate'
        How R follows from distances: so that a fraction ``rejection_rate`` of the targets lies
        outside, or with the best score against outliers, which y then has to mark.
    rejection_rate : float, default=0.05
        In [0, 1): R is the quantile :math:`1 - r` of the targets' distances, in the sense that
        at most the fraction r lies outside.
    rank : int, default=None
        Replaces the rejection rate: R is the distance of the ``rank``-th nearest target.
    cv : int, default=None
        Number of folds: R follows from distances of points that were held out of the fit, which are
        larger than those of training points. If None, from training distances. The folds are
        the same in each fit. The prior has to be given by name and number.
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
    certificate_ : Certificate
        ``duality_gap`` (relative), ``kkt_violation`` and ``status`` of the fit.
    degeneracy_ : str or None
        Why the solution, optimal as it is, tells little about new points; None if it does not.
    n_iter_ : int
        Interior-point steps, or working sets.
    objective_ : float
        The minimum; minus half of it is the largest log posterior, without constants.
    alpha_ : ndarray of shape (n,)
        Weights of all training points; 0 for outliers.
    center_ : ndarray of shape (d,)
        The centre in input space; linear kernel only.
    center_norm_ : float
        Norm :math:`\|a\|` of the centre.
    dual_coef_ : ndarray of shape (1, n_SV)
        Coefficients of the centre.
    feature_names_in_ : ndarray of shape (d,)
        Names of the features, if X has string names.
    gamma_ : float
        The width that was used, if the kernel has one.
    kernel_ : Kernel
        The kernel object that was used.
    n_features_in_ : int
        Number of features.
    offset_ : float
        :math:`-R^2`: decision values are ``score_samples - offset_``.
    prior_mean_ : ndarray of shape (n_targets,)
        The mean m of the prior.
    radius_ : float
        The radius R.
    radius_squared_ : float
        The squared radius.
    resolution_ : float
        Decision values up to this size have no sign that the solution could vouch for: 0.
    support_ : ndarray of shape (n_SV,)
        Indices of the points with a coefficient.
    support_vectors_ : ndarray of shape (n_SV, d)
        The points with a coefficient; empty for a precomputed kernel.

    Raises
    ------
    InfeasibleError
        If ``upper`` is below 1/n.
    ValueError
        If a prior has the wrong shape, a parameter is out of range, an exponent that is not an
        integer meets negative row sums, or an entry is NaN.
    NotPositiveSemidefiniteError
        If the kernel matrix or the covariance has a negative eigenvalue.

    Notes
    -----
    **A path.** With :math:`\Sigma = sI` a constant m gives :math:`\alpha_i = 1/n`, the kernel
    mean, whatever s. If moreover K(x, x) is constant, :math:`m = -sK\mathbf 1` gives the
    hard-margin SVDD of :math:`K + I/(ns)`. Exponents between 0 and 1 lie between the two, from
    all points to some. Notebook 13.

    **The exponent.** The slides quote v in (0, 1) for this model and take v = 1 for the logits of
    :class:`BayesianSVDD` [Kim2024]_. The default, 1, is outside that range: the end of the path.

    References
    ----------
    [Ghasemi2012]_, [Kim2024]_

    Examples
    --------
    A constant prior mean gives the mean, here 3, and the distance of the second nearest point:

    >>> X = [[1.0], [2.0], [3.0], [6.0]]
    >>> bdd = BayesianDataDescription("constant", kernel="linear", rank=2).fit(X)
    >>> bdd.alpha_.round(12).tolist(), bdd.center_.round(12).tolist(), round(bdd.radius_, 12)
    ([0.25, 0.25, 0.25, 0.25], [3.0], 1.0)
    >>> bdd.predict([[2.5], [6.0]]).tolist()
    [1, -1]
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "upper": [Number(Real, 0, None, closed="neither")],
        **PRIOR_CONSTRAINTS,
        **CUTOFF_CONSTRAINTS,
        **KERNEL_CONSTRAINTS,
        **{name: SOLVER_CONSTRAINTS[name] for name in ("tol", "max_iter", "solver")},
    }

    def __init__(
        self,
        prior_mean: str | ArrayLike = "row_sum",
        prior_exponent: float = 1.0,
        prior_scale: float | ArrayLike = 1.0,
        *,
        upper: float = 1.0,
        cutoff: str = "rejection_rate",
        rejection_rate: float = 0.05,
        rank: int | None = None,
        cv: int | None = None,
        kernel: KernelLike = "rbf",
        degree: int = 3,
        gamma: float | str = "scale",
        coef0: float = 0.0,
        tol: float = 1e-9,
        max_iter: int = 100,
        solver: str = "auto",
    ) -> None:
        self.prior_mean = prior_mean
        self.prior_exponent = prior_exponent
        self.prior_scale = prior_scale
        self.upper = upper
        self.cutoff = cutoff
        self.rejection_rate = rejection_rate
        self.rank = rank
        self.cv = cv
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.tol = tol
        self.max_iter = max_iter
        self.solver = solver

    @all_or_nothing
    def fit(self, X: ArrayLike, y: ArrayLike | None = None) -> Self:
        """Fit the centre, then choose the radius.

        Parameters
        ----------
        X : array-like of shape (n, d) or (n, n)
            Training points, or the Gram matrix for a precomputed kernel.
        y : array-like of shape (n,), default=None
            -1 marks an outlier, which takes part in the choice of R only, +1 a target. If None,
            all points are targets. Other integers >= 0 count as targets, with a
            :class:`~kernelbook.exceptions.LabelWarning`.

        Returns
        -------
        BayesianDataDescription
            The fitted estimator.
        """
        self._validate_params()
        X = validate_data(self, X, dtype=np.float64)
        signs = target_signs(y, X)
        check_cutoff(self.cutoff, self.rank, self.cv, self.prior_mean, self.prior_scale, signs)
        kept = np.flatnonzero(signs > 0)
        n = len(kept)
        if self.upper * n < 1.0 - ROUNDING:
            raise InfeasibleError(
                f"upper = {self.upper:g} is below 1/n = {1 / n:.6g} for n = {n} targets: their "
                f"weights cannot reach the sum 1. Use upper of at least {1 / n:.6g}."
            )
        taking_part = (signs > 0).astype(np.float64)
        kernel, targets, split = self._training_points(X, kept, taking_part)
        K = training_gram(split, targets)
        row_sums = full_row_sums(K, split, targets)
        m = prior_mean_vector(self.prior_mean, row_sums, self.prior_exponent)
        precision = precision_matrix(check_covariance(self.prior_scale, n), n)
        # Half the objective; of the kernel only k_c matters, since the weights have the sum 1.
        program = QuadraticProgram(
            DenseQuadratic(n * K + precision), -(K.sum(axis=1) + precision @ m),
            np.ones(n), 1.0, np.zeros(n), np.full(n, min(float(self.upper), 1.0)),
        )  # fmt: skip
        solution = solve(program, SolverOptions(self.tol, self.max_iter, self.solver))
        self._keep_support(X, kernel, split, kept, solution, solution.x)
        products, diagonal = K @ solution.x, np.diagonal(K)
        product = float(solution.x @ products)
        self.prior_mean_ = m
        left_out = 0.5 * n * split.constant + float(split.one_sided(targets).sum())
        self.objective_ = 2.0 * (solution.objective - left_out)
        self._split, self._centre = split, Centre(self._expansion, product)
        self.center_norm_ = full_norm(split, targets, solution.x, product)
        self.resolution_ = self.tol * float(
            max(np.abs(diagonal).max(), 2.0 * np.abs(products).max())
        )
        # New points come with kernel values to all training points, outliers included.
        own = split.diagonal(X)
        self._diagonal_range = (float(own.min()), float(own.max()))
        distances = self._centre.squared_distances(X, own)
        self._set_radius(choose_radius(self, X, signs, distances))
        return self
