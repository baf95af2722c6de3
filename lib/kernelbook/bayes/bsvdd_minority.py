"""Bayesian support vector data description with known outliers that push the centre away."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import validate_data

from kernelbook.bayes.bsvdd import BayesianSVDD
from kernelbook.estimator import all_or_nothing
from kernelbook.kernels import KernelLike
from kernelbook.svdd import target_signs

__all__ = ["BayesianSVDDMinority"]

# The samplers that do not need a Gaussian prior of all coordinates.
FLAT_SAMPLERS = ("split_hmc", "metropolis")


class BayesianSVDDMinority(BayesianSVDD):
    r"""Bayesian SVDD that uses known outliers (BSVDD-M): they push the centre away.

    The :math:`n_0` targets are :math:`\phi(x_i) \sim N(a, I)` around

    .. math:: a = \sum_{i \le n_0} \alpha_{0i} \phi(x_i) - \sum_{l \le n_1} \alpha_{1l} \phi(z_l),
              \qquad
              \alpha_0 = \operatorname{softmax}(\tau)\, (1 + \mathbf 1^\top \alpha_1),\quad
              \tau \sim N(m, \Sigma),\quad \alpha_{1l} \sim \mathrm{Beta}(p, q),

    with the :math:`n_1` outliers :math:`z_l` of the training set, so that all coefficients have
    the sum 1. The rule is that of :class:`BayesianSVDD`: inside if
    :math:`P(d_z \le R) > \tfrac12`.

    Parameters
    ----------
    prior_mean : {'row_sum', 'row_mean', 'constant'} or array-like of shape (n,), default='row_mean'
        As for :class:`BayesianSVDD`; row sums are those among the targets.
    prior_exponent : float, default=1.0
        The exponent v > 0; ignored for 'constant' and an array.
    prior_scale : float or array-like of shape (n, n), default=1.0
        Variance s of :math:`\Sigma = sI`, or :math:`\Sigma` itself.
    minority_prior : pair of float, default=(1.0, 1.0)
        The parameters p and q; the default is the uniform prior of [Kim2024]_, see the notes.
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
    sampler : {'split_hmc', 'metropolis'}, default='split_hmc'
        A sampler of :mod:`kernelbook.mcmc`. The logits of :math:`\alpha_1` have no Gaussian prior,
        which the other samplers need.
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
    alpha_draws_ : ndarray of shape (n_draws, n)
        Weights of targets and outliers of each draw, in the order of X, chain after chain.
    idata_ : arviz.InferenceData
        ``lp``, the log posterior, in ``sample_stats``; in ``posterior`` what the chains are
        compared by: ``distance`` (:math:`d_z` of the targets of indices ``probes_``),
        ``center_norm`` (:math:`\|a\|`), ``effective_atoms``,
        and ``minority_weight``, :math:`\mathbf 1^\top \alpha_1`. ``lp`` is a density of the
        logits of :math:`\alpha_1`: it includes their Jacobian. Made for
        :func:`kernelbook.mcmc.diagnose`.
    n_effective_atoms_ : float
        Posterior median of :math:`1 / \sum_i \alpha_i^2` of the softmax: n if all weights are
        equal, 1 if one point has all the weight.
    posterior_ : SpherePosterior
        The log posterior and its gradient.
    probes_ : ndarray of shape (n_probes,), dtype=int
        Targets whose distances the chains are compared by.
    alpha_ : ndarray of shape (n,)
        Posterior means of :math:`\alpha_0` and :math:`\alpha_1`, in the order of X.
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
        As for :class:`BayesianSVDD`; and if y marks outliers that the sampler cannot serve.

    Notes
    -----
    **The uniform prior.** The outliers enter the likelihood through the centre alone, and their
    weights are of mean 1/2 a priori, so that :math:`\mathbf 1^\top \alpha_1` is about
    :math:`n_1/2`: many outliers put the centre far beyond the targets before the data speak.
    ``minority_prior=(1, n_1)`` keeps the mean of that sum below 1
    whatever their number.

    **Sampling.** On :math:`\theta = \operatorname{logit} \alpha_1` the density has the factor
    :math:`\alpha_1 (1 - \alpha_1)`; without this Jacobian the posterior of :math:`\alpha_1` would,
    with the uniform prior, be no distribution: its integral is infinite.

    References
    ----------
    [Kim2024]_

    Examples
    --------
    A known outlier at 3 pushes the centre of -1 and 1 to the other side:

    >>> model = BayesianSVDDMinority("constant", kernel="linear", random_state=0)
    >>> model = model.fit([[-1.0], [-1.0], [1.0], [1.0], [3.0]], [1, 1, 1, 1, -1])
    >>> bool(model.center_[0] < 0), model.predict([[0.0], [4.0]]).tolist()
    (True, [1, -1])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "minority_prior": ["array-like"],
        **BayesianSVDD._parameter_constraints,
    }

    def __init__(
        self,
        prior_mean: str | ArrayLike = "row_mean",
        prior_exponent: float = 1.0,
        prior_scale: float | ArrayLike = 1.0,
        *,
        minority_prior: tuple[float, float] = (1.0, 1.0),
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
        super().__init__(
            prior_mean, prior_exponent, prior_scale,
            cutoff=cutoff, rejection_rate=rejection_rate, rank=rank, cv=cv,
            kernel=kernel, degree=degree, gamma=gamma, coef0=coef0,
            sampler=sampler, n_samples=n_samples, n_burn_in=n_burn_in, n_chains=n_chains,
            thin=thin, sampler_options=sampler_options, random_state=random_state,
        )  # fmt: skip
        self.minority_prior = minority_prior

    @all_or_nothing
    def fit(self, X: ArrayLike, y: ArrayLike | None = None) -> Self:
        """Fit the posterior of the centre, then choose the radius.

        Parameters
        ----------
        X : array-like of shape (n, d) or (n, n)
            Training points, or the Gram matrix for a precomputed kernel.
        y : array-like of shape (n,), default=None
            -1 marks an outlier, without which the model is :class:`BayesianSVDD`, +1 a target. If
            None, all points are targets. Other integers >= 0 count as targets, with a
            :class:`~kernelbook.exceptions.LabelWarning`.

        Returns
        -------
        BayesianSVDDMinority
            The fitted estimator.
        """
        self._validate_params()
        X = validate_data(self, X, dtype=np.float64)
        signs = target_signs(y, X)
        if (signs < 0).any() and self.sampler not in FLAT_SAMPLERS:
            raise ValueError(
                f"sampler={self.sampler!r} needs a Gaussian prior of all coordinates, which "
                f"alpha_1 has not: use one of {list(FLAT_SAMPLERS)}."
            )
        return self._fit_posterior(X, signs, np.arange(len(X)), self.minority_prior)
