"""Bayesian data description: the most probable weights of a centre in feature space."""

from dataclasses import replace
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kernelbook.base import atomic_fit
from kernelbook.bayes.prior import check_covariance, precision_matrix, prior_mean_vector
from kernelbook.bayes.sphere import BayesianSphere
from kernelbook.exceptions import InfeasibleError
from kernelbook.kernels import Kernel, Matrix, check_positive
from kernelbook.qp import DenseQuadratic
from kernelbook.svdd import ROUNDING, target_signs

__all__ = ["BayesianDataDescription"]

Array = NDArray[np.float64]


class BayesianDataDescription(BayesianSphere):
    r"""Bayesian data description (BDD): the most probable centre of the data in feature space.

    The n targets are :math:`\phi(x_i) \sim N(\sum_j \alpha_j \phi(x_j), I)` with the prior
    :math:`\alpha \sim N(m, \Sigma)`; the mode of the posterior, among weights of sum 1, solves

    .. math:: \min_\alpha \alpha^\top (nK + \Sigma^{-1}) \alpha
              - 2 \alpha^\top (K \mathbf 1 + \Sigma^{-1} m)
              \quad\text{s.t.}\quad \sum_i \alpha_i = 1,\; 0 \le \alpha_i \le u,

    and a point z lies inside where :math:`\|\phi(z) - \sum_i \alpha_i \phi(x_i)\| \le R`.

    Parameters
    ----------
    prior_mean : {'row_sum', 'row_mean', 'constant'} or array-like, shape (n,), default='row_sum'
        :math:`m = -(K \mathbf 1)^v`, entry by entry, :math:`m = -(K \mathbf 1 / n)^v`,
        :math:`m = 0`, or m itself, one number a target.
    prior_exponent : float, default=1.0
        v > 0.
    prior_scale : float or array-like, shape (n, n), default=1.0
        Variance s of :math:`\Sigma = sI`, or :math:`\Sigma` itself.
    upper : float, default=1.0
        Upper bound u of a weight, at least 1/n. 1 bounds nothing; :math:`1/(\nu n)` spreads the
        weight over at least :math:`\nu n` points.
    cutoff : {'rejection_rate', 'f1', 'balanced_accuracy'}, default='rejection_rate'
        How R follows from distances: so that a share ``rejection_rate`` of the targets lies
        outside, or with the best score against outliers, which y then has to mark.
    rejection_rate : float, default=0.05
        In [0, 1): R is the quantile :math:`1 - r` of the targets' distances, in the sense that
        at most the share r lies outside.
    rank : int, optional
        Replaces the rejection rate: R is the distance of the ``rank``-th nearest target.
    cv : int, optional
        Folds: R follows from distances of points that were left out of the fit, which are
        larger than those of training points; left out, from training distances. The folds are
        the same in each fit. The prior has to be given by name and number.
    kernel : {'linear', 'poly', 'rbf', 'laplacian', 'sigmoid', 'precomputed'} or callable
        A kernel that is not positive semi-definite on the data is refused.
    degree, gamma, coef0
        Of the kernel; ``gamma`` is a number, ``'scale'``, ``'auto'`` or ``'median'``.
    tol, max_iter, solver
        As for :class:`~kernelbook.svdd.SVDD`.

    Attributes
    ----------
    alpha_ : ndarray, shape (n,)
        Weights of all training points; 0 for outliers.
    objective_ : float
        The minimum; minus half of it is the largest log posterior, without constants.
    prior_mean_ : ndarray, shape (n_targets,)
        m.
    radius_, radius_squared_ : float
        R and its square.
    center_norm_, center_, dual_coef_, offset_, certificate_
        As for :class:`~kernelbook.svdd.SVDD`.
    support_, support_vectors_, gamma_, n_iter_, n_features_in_

    Raises
    ------
    InfeasibleError
        For ``upper`` below 1/n.
    ValueError
        For a prior of the wrong shape, parameters out of range, a broken exponent with negative
        row sums, NaN.
    NotPositiveSemidefiniteError
        For a kernel matrix or a covariance with a negative eigenvalue.

    Notes
    -----
    **A path.** With :math:`\Sigma = sI` a constant m gives :math:`\alpha_i = 1/n`, the kernel
    mean, whatever s. If moreover K(x, x) is constant, :math:`m = -sK\mathbf 1` gives the
    hard-margin SVDD of :math:`K + I/(ns)`. Exponents between 0 and 1 lie between the two, from
    all points to some. Notebook 13.

    **The exponent.** The papers take v in (0, 1) [Kim2024]_ and, in the authors' program, v = 1.

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

    objective_: float

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
        kernel: Kernel = "rbf",
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

    @atomic_fit
    def fit(self, X: ArrayLike, y: ArrayLike | None = None) -> Self:
        """Fit to points X (n, d), or a Gram matrix (n, n).

        Parameters
        ----------
        X : array-like, shape (n, d) or (n, n)
        y : array-like, shape (n,), optional
            -1 marks an outlier, which takes part in the choice of R only; +1, or any other whole
            number of at least 0, a target. All points are targets if it is left out.

        Returns
        -------
        self
        """
        X = self._training_points(X)
        signs = target_signs(y, X)
        self._check_cutoff(signs)
        kept = np.flatnonzero(signs > 0)
        self._check_upper(len(kept))
        targets = self._rows(X, kept)
        self._maximise_posterior(X, kept, self._training_gram(targets), targets)
        self._choose_radius(X, signs)
        return self

    def _maximise_posterior(
        self, X: Matrix, kept: NDArray[np.intp], K: Matrix, targets: Matrix
    ) -> None:
        n = len(K)
        row_sums = self._full_row_sums(K, targets)
        m = prior_mean_vector(self.prior_mean, row_sums, self.prior_exponent)
        precision = precision_matrix(check_covariance(self.prior_scale, n), n)
        q = -(K.sum(axis=1) + precision @ m)
        # Half the objective; of the kernel only k_c matters, since the weights have the sum 1.
        solution = self._solve_program(
            DenseQuadratic(n * K + precision), q, np.ones(n), 1.0, np.zeros(n),
            np.full(n, min(float(self.upper), 1.0)),
        )  # fmt: skip
        kernel = DenseQuadratic(K)
        self._keep_center(X, kept, kernel, replace(solution, product=kernel.mv(solution.x)))
        self.prior_mean_ = m
        self.objective_ = 2.0 * (solution.objective - self._likelihood_constant(targets))

    def _check_upper(self, n: int) -> None:
        upper = check_positive("upper", self.upper)
        if upper * n < 1.0 - ROUNDING:
            raise InfeasibleError(
                f"upper = {upper:g} is below 1/n = {1 / n:.6g} for n = {n} targets: their weights "
                f"cannot reach the sum 1. Use upper of at least {1 / n:.6g}."
            )
