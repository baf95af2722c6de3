"""Bayesian support vector data description: posterior draws of the centre of a sphere."""

from __future__ import annotations

from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.validation import check_is_fitted, validate_data

from kernelbook.bayes.cutoff import CUTOFF_CONSTRAINTS, check_cutoff, choose_radius
from kernelbook.bayes.draws import SAMPLERS, DrawnCentre, probes_of, sample_posterior
from kernelbook.bayes.posterior import SpherePosterior
from kernelbook.bayes.prior import (
    PRIOR_CONSTRAINTS,
    check_covariance,
    full_row_sums,
    prior_mean_vector,
)
from kernelbook.estimator import KERNEL_CONSTRAINTS, Number, all_or_nothing, training_gram
from kernelbook.exceptions import CollapseWarning, warn_user
from kernelbook.kernels import Array, KernelLike, Matrix
from kernelbook.svdd import SphereDetector, target_signs

__all__ = ["BayesianSVDD"]


# Fewer effective atoms than this, and than a tenth of the targets, are a collapse.
HANDFUL = 10
# Sampled distances are not vouched for beyond this fraction of their scale.
RESOLUTION = 1e-9


class BayesianSVDD(SphereDetector):
    r"""Bayesian SVDD (BSVDD): a posterior of centres, and a vote of its draws on each point.

    The n targets are :math:`\phi(x_i) \sim N(a, I)` around
    :math:`a = \sum_j \alpha_j \phi(x_j)` with :math:`\alpha = \operatorname{softmax}(\beta)` and
    :math:`\beta \sim N(m, \Sigma)`. Up to a constant the log posterior is

    .. math:: -\tfrac12 \bigl\{ n \alpha^\top K \alpha - 2 \alpha^\top K \mathbf 1
              + (\beta - m)^\top \Sigma^{-1} (\beta - m) \bigr\},

    and, with :math:`d_z = \|\phi(z) - a\|` and a cutoff R, a point z lies inside if
    :math:`P(d_z \le R) > \tfrac12` over the posterior: if the median of :math:`d_z` is at most R.

    Parameters
    ----------
    prior_mean : {'row_sum', 'row_mean', 'constant'} or array-like of shape (n,), default='row_mean'
        :math:`m = -(K \mathbf 1)^v`, entry by entry, :math:`m = -(K \mathbf 1 / n)^v`,
        :math:`m = 0`, or m itself, one number a target. ``'row_sum'`` is the prior of
        [Kim2024]_, and it collapses: see the notes.
    prior_exponent : float, default=1.0
        The exponent v > 0; ignored for 'constant' and an array.
    prior_scale : float or array-like of shape (n, n), default=1.0
        Variance s of :math:`\Sigma = sI`, or :math:`\Sigma` itself.
    cutoff : {'rejection_rate', 'f1', 'balanced_accuracy'}, default='rejection_rate'
        How R (D_opt in [Kim2024]_) follows from the medians of :math:`d_z`: so that a fraction
        ``rejection_rate`` of the targets lies outside, or with the best score against outliers,
        which y then has to mark.
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
    sampler : {'split_hmc', 'pcn', 'elliptical_slice', 'metropolis'}, default='split_hmc'
        A sampler of :mod:`kernelbook.mcmc`. The default also serves where the likelihood is strong.
    n_samples : int, default=300
        Number of draws kept of each chain.
    n_burn_in : int, default=200
        Number of iterations before them.
    n_chains : int, default=16
        Number of chains.
    thin : int, default=1
        Number of iterations for each kept draw.
    sampler_options : dict, default=None
        Further arguments of the sampler, such as ``{"n_leapfrog": 10}``.
    random_state : int, RandomState instance or None, default=None
        Determines the draws. Pass an int for reproducible output across multiple calls.

    Attributes
    ----------
    alpha_draws_ : ndarray of shape (n_draws, n_targets)
        Weights of each draw, chain after chain.
    idata_ : arviz.InferenceData
        ``lp``, the log posterior, in ``sample_stats``; in ``posterior`` what the chains are
        compared by: ``distance`` (:math:`d_z` of the targets of indices ``probes_``),
        ``center_norm`` (:math:`\|a\|`), ``effective_atoms``. Made for
        :func:`kernelbook.mcmc.diagnose`.
    n_effective_atoms_ : float
        Posterior median of :math:`1 / \sum_i \alpha_i^2`: n if all weights are equal, 1 if
        one point has all the weight.
    posterior_ : SpherePosterior
        The log posterior and its gradient.
    probes_ : ndarray of shape (n_probes,), dtype=int
        Targets whose distances the chains are compared by.
    alpha_ : ndarray of shape (n,)
        Posterior means of the weights of all training points; 0 for outliers.
    center_ : ndarray of shape (d,)
        The centre in input space; linear kernel only, of the posterior mean.
    dual_coef_ : ndarray of shape (1, n_SV)
        Coefficients of the centre, of the posterior mean.
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
    ValueError
        If a prior has the wrong shape, a parameter is out of range, the sampler is not known, or
        an entry is NaN.
    NotPositiveSemidefiniteError
        If the kernel matrix or the covariance has a negative eigenvalue.
    ImportError
        If ArviZ is not installed.

    Warns
    -----
    CollapseWarning
        If the effective number of atoms is below 10 and below n/10, with the number.
    sklearn.exceptions.ConvergenceWarning
        If R-hat exceeds 1.01: longer chains are needed.

    Notes
    -----
    **Collapse.** Row sums of an RBF Gram matrix grow with n and are smallest for the most
    outlying targets. As logits, :math:`-K\mathbf 1` differs by tens between targets, while
    :math:`\Sigma = I` lets each move by about 1: a softmax then gives nearly all the weight to
    one to eight outlying points, for every width from wide to moderate, and the likelihood is
    too weak to take it back. The centre sits on outliers, and which ones is chance. Row means
    (``prior_mean='row_mean'``, the default) are of order 1 for any n, as logits should be; for
    some hundred targets an exponent of at most 0.25 has the same effect; ``'constant'`` has no
    preference. Notebook 13.

    **Constant directions.** Adding a number to all :math:`\beta_i` changes no weight, so that
    only the prior holds it; R-hat is computed from distances instead of :math:`\beta`.

    References
    ----------
    [Kim2024]_

    Examples
    --------
    With a prior close to m = 0 the four points share the weight about equally, around 0:

    >>> X = [[-1.0], [-1.0], [1.0], [1.0]]
    >>> model = BayesianSVDD("constant", 1.0, 0.01, kernel="linear", random_state=0).fit(X)
    >>> bool(abs(model.alpha_ - 0.25).max() < 0.01), round(float(model.distance([[3.0]])[0]), 1)
    (True, 3.0)
    >>> model.predict([[0.5], [3.0]]).tolist(), model.predict_proba([[3.0]]).tolist()
    ([1, -1], [[1.0, 0.0]])
    """

    _centre: DrawnCentre  # type: ignore[assignment]

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "sampler": [StrOptions(set(SAMPLERS))],
        "n_samples": [Number(Integral, 1, None, closed="left")],
        "n_burn_in": [Number(Integral, 0, None, closed="left")],
        "n_chains": [Number(Integral, 1, None, closed="left")],
        "thin": [Number(Integral, 1, None, closed="left")],
        "sampler_options": [dict, None],
        "random_state": ["random_state"],
        **PRIOR_CONSTRAINTS,
        **CUTOFF_CONSTRAINTS,
        **KERNEL_CONSTRAINTS,
    }

    def __init__(
        self,
        prior_mean: str | ArrayLike = "row_mean",
        prior_exponent: float = 1.0,
        prior_scale: float | ArrayLike = 1.0,
        *,
        cutoff: str = "rejection_rate",
        rejection_rate: float = 0.05,
        rank: int | None = None,
        cv: int | None = None,
        kernel: KernelLike = "rbf",
        degree: int = 3,
        gamma: float | str = "scale",
        coef0: float = 0.0,
        sampler: str = "split_hmc",
        n_samples: int = 300,
        n_burn_in: int = 200,
        n_chains: int = 16,
        thin: int = 1,
        sampler_options: dict[str, Any] | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.prior_mean = prior_mean
        self.prior_exponent = prior_exponent
        self.prior_scale = prior_scale
        self.cutoff = cutoff
        self.rejection_rate = rejection_rate
        self.rank = rank
        self.cv = cv
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.sampler = sampler
        self.n_samples = n_samples
        self.n_burn_in = n_burn_in
        self.n_chains = n_chains
        self.thin = thin
        self.sampler_options = sampler_options
        self.random_state = random_state

    @all_or_nothing
    def fit(self, X: ArrayLike, y: ArrayLike | None = None) -> Self:
        """Fit the posterior of the centre, then choose the radius.

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
        BayesianSVDD
            The fitted estimator.
        """
        self._validate_params()
        X = validate_data(self, X, dtype=np.float64)
        signs = target_signs(y, X)
        return self._fit_posterior(X, signs, np.flatnonzero(signs > 0), (1.0, 1.0))

    def _fit_posterior(
        self,
        X: Matrix,
        signs: Array,
        kept: NDArray[np.intp],
        minority_prior: tuple[float, float],
    ) -> Self:
        """Sample the centre of the kept points' images, then choose the radius."""
        check_cutoff(self.cutoff, self.rank, self.cv, self.prior_mean, self.prior_scale, signs)
        taking_part = np.zeros(len(X))
        taking_part[kept] = 1.0
        kernel, points, split = self._training_points(X, kept, taking_part)
        K = training_gram(split, points)
        of_targets = np.flatnonzero(signs[kept] > 0)
        targets = kernel.subset(points, of_targets)
        row_sums = full_row_sums(K[np.ix_(of_targets, of_targets)], split, targets)
        prior_mean = prior_mean_vector(self.prior_mean, row_sums, self.prior_exponent)
        left_out = 0.5 * len(targets) * split.constant + float(split.one_sided(targets).sum())
        posterior = SpherePosterior(
            K, signs[kept], prior_mean, check_covariance(self.prior_scale, len(of_targets)),
            minority_prior=minority_prior, constant=left_out,
        )  # fmt: skip
        options = {
            "n_samples": self.n_samples, "n_burn_in": self.n_burn_in, "n_chains": self.n_chains,
            "thin": self.thin, "random_state": self.random_state,
        }  # fmt: skip
        theta, self.idata_ = sample_posterior(
            posterior, split, points,
            sampler=self.sampler, options=options | dict(self.sampler_options or {}),
        )  # fmt: skip
        coefficients = posterior.coefficients(theta)
        products = coefficients @ K
        self.kernel_, self._split = kernel, split
        self.posterior_, self.prior_mean_ = posterior, prior_mean
        self.probes_, self.alpha_draws_ = probes_of(posterior), np.abs(coefficients)
        self.support_ = kept
        self.support_vectors_ = np.empty((0, 0)) if kernel.is_precomputed else X[kept]
        self.dual_coef_ = coefficients.mean(axis=0)[None, :]
        self.alpha_ = np.zeros(len(X))
        self.alpha_[kept] = np.abs(self.dual_coef_[0])
        self.n_effective_atoms_ = float(np.median(self.idata_.posterior["effective_atoms"].values))
        self._centre = DrawnCentre(
            split.expansion(X, kept, coefficients.T), np.einsum("ij,ij->i", coefficients, products)
        )
        diagonal = np.abs(np.diagonal(K)).max()
        self.resolution_ = RESOLUTION * float(max(diagonal, 2.0 * np.abs(products).max()))
        # New points come with kernel values to all training points, outliers included.
        own = split.diagonal(X)
        self._diagonal_range = (float(own.min()), float(own.max()))
        self._set_radius(choose_radius(self, X, signs, self._centre.squared_distances(X, own)))
        self._warn_of_collapse(posterior)
        return self

    def _warn_of_collapse(self, posterior: SpherePosterior) -> None:
        n, atoms = posterior.n_targets, self.n_effective_atoms_
        if atoms >= min(HANDFUL, n / 10):
            return
        remedy = "Use prior_mean='row_mean' or 'constant', or prior_exponent=0.25"
        if posterior.n_flat:
            remedy += f"; minority_prior=(1, {posterior.n_flat}) if outliers push too hard"
        warn_user(
            f"the posterior rests on {atoms:.1f} effective atoms of {n} targets: a few points, "
            f"mostly outlying ones, have nearly all the weight, so the description is arbitrary. "
            f"{remedy}.",
            CollapseWarning,
        )

    def distance_draws(self, X: ArrayLike, diagonal: ArrayLike | None = None) -> Array:
        r"""Return posterior draws of :math:`d_z`, the distance of each point to the centre.

        Parameters
        ----------
        X : array-like of shape (m, d), or (m, n_train) for a precomputed kernel
            Points, or their kernel values with the training points.
        diagonal : array-like of shape (m,), default=None
            As for :meth:`distance`, which returns the medians of these draws.

        Returns
        -------
        ndarray of shape (m, n_draws)
            In the unit of ``radius_``.
        """
        check_is_fitted(self)
        X = self._check_new_points(X)
        draws = np.empty((len(X), len(self.alpha_draws_)))
        own = self._own_products(X, diagonal)
        for block, squared in self._centre.squared_draws(X, own):
            draws[block] = np.sqrt(np.maximum(squared, 0.0))
        return draws

    def predict_proba(self, X: ArrayLike, diagonal: ArrayLike | None = None) -> Matrix:
        r"""Return posterior probabilities of lying outside and inside.

        Parameters
        ----------
        X : array-like of shape (m, d), or (m, n_train) for a precomputed kernel
            Points, or their kernel values with the training points.
        diagonal : array-like of shape (m,), default=None
            As for :meth:`distance`.

        Returns
        -------
        ndarray of shape (m, 2)
            Columns for -1 and +1. The second is the fraction of draws with :math:`d_z \le R`;
            :meth:`predict` is +1 where it exceeds 1/2.
        """
        check_is_fitted(self)
        X = self._check_new_points(X)
        inside = np.empty(len(X))
        for block, squared in self._centre.squared_draws(X, self._own_products(X, diagonal)):
            inside[block] = (squared <= self.radius_squared_ + self.resolution_).mean(axis=1)
        return np.column_stack([1.0 - inside, inside])
