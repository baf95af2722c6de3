"""Bayesian support vector data description: posterior draws of the centre of a sphere."""

import warnings
from collections.abc import Callable
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit
from sklearn.utils import gen_batches

from kernelbook.base import atomic_fit
from kernelbook.bayes.posterior import SpherePosterior
from kernelbook.bayes.prior import check_covariance, prior_mean_vector
from kernelbook.bayes.sphere import BayesianSphere
from kernelbook.exceptions import CollapseWarning
from kernelbook.kernels import Kernel, Matrix
from kernelbook.mcmc import elliptical_slice, metropolis, pcn, split_hmc
from kernelbook.support import BLOCK_VALUES
from kernelbook.svdd import target_signs

__all__ = ["BayesianSVDD", "BayesianSVDDMinority"]

Array = NDArray[np.float64]

SAMPLERS: dict[str, Callable[..., Any]] = {
    "split_hmc": split_hmc,
    "pcn": pcn,
    "elliptical_slice": elliptical_slice,
    "metropolis": metropolis,
}
FLAT_SAMPLERS = ("split_hmc", "metropolis")
# Fewer effective atoms than this, and than a tenth of the targets, are a collapse.
HANDFUL = 10
N_PROBES = 5
# Sampled distances are not vouched for beyond this share of their scale.
RESOLUTION = 1e-9


class BayesianSVDD(BayesianSphere):
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
    prior_mean : {'row_sum', 'row_mean', 'constant'} or array-like, shape (n,), default='row_sum'
        :math:`m = -(K \mathbf 1)^v`, entry by entry, :math:`m = -(K \mathbf 1 / n)^v`,
        :math:`m = 0`, or m itself, one number a target. The default is that of [Kim2024]_, and it
        collapses; ``'row_mean'`` repairs it: see the notes.
    prior_exponent : float, default=1.0
        v > 0.
    prior_scale : float or array-like, shape (n, n), default=1.0
        Variance s of :math:`\Sigma = sI`, or :math:`\Sigma` itself.
    cutoff, rejection_rate, rank, cv
        How R (D_opt in [Kim2024]_) follows from the medians of :math:`d_z`, as for
        :class:`~kernelbook.bayes.BayesianDataDescription`.
    kernel : {'linear', 'poly', 'rbf', 'laplacian', 'sigmoid', 'precomputed'} or callable
        A kernel that is not positive semi-definite on the data is refused.
    degree, gamma, coef0
        Of the kernel; ``gamma`` is a number, ``'scale'``, ``'auto'`` or ``'median'``.
    sampler : {'split_hmc', 'pcn', 'elliptical_slice', 'metropolis'}, default='split_hmc'
        Of :mod:`kernelbook.mcmc`. The default also serves where the likelihood is strong.
    n_samples, n_burn_in, n_chains, thin : int, default=300, 200, 16, 1
        Draws kept of each chain, iterations before them, chains, iterations a kept draw.
    sampler_options : dict, optional
        Further arguments of the sampler, such as ``{"n_leapfrog": 10}``.
    random_state : int, RandomState or None

    Attributes
    ----------
    alpha_ : ndarray, shape (n,)
        Posterior means of the weights of all training points; 0 for outliers.
    alpha_draws_ : ndarray, shape (n_draws, n_targets)
        Weights of each draw, chain after chain.
    n_effective_atoms_ : float
        Posterior median of :math:`1 / \sum_i \alpha_i^2`: n if all weights are equal, 1 if one
        point has all the weight.
    radius_, radius_squared_ : float
        R and its square.
    idata_ : arviz.InferenceData
        ``lp``, the log posterior, in ``sample_stats``; in ``posterior`` what the chains are
        compared by: ``distance`` (:math:`d_z` of the targets of indices ``probes_``),
        ``center_norm`` (:math:`\|a\|`), ``effective_atoms``. Made for
        :func:`kernelbook.mcmc.diagnose`.
    posterior_ : SpherePosterior
        The log posterior and its gradient.
    prior_mean_ : ndarray, shape (n_targets,)
        m.
    center_, dual_coef_, offset_
        As for :class:`~kernelbook.svdd.SVDD`, of the posterior mean of the centre.
    probes_, support_, support_vectors_, gamma_, n_features_in_

    Warns
    -----
    CollapseWarning
        If the effective number of atoms is below 10 and below n/10, with the number.
    sklearn.exceptions.ConvergenceWarning
        If R-hat exceeds 1.01: longer chains are needed.

    Raises
    ------
    ValueError
        For a prior of the wrong shape, parameters out of range, an unknown sampler, NaN.
    NotPositiveSemidefiniteError
        For a kernel matrix or a covariance with a negative eigenvalue.
    ImportError
        Without ArviZ.

    Notes
    -----
    **Collapse.** Row sums of an RBF Gram matrix grow with n and are smallest for the most
    outlying targets. As logits, :math:`-K\mathbf 1` differs by tens between targets, while
    :math:`\Sigma = I` lets each move by about 1: a softmax then gives nearly all the weight to
    one to eight outlying points, for every width from wide to moderate, and the likelihood is
    too weak to take it back. The centre sits on outliers, and which ones is chance. Row means
    (``prior_mean='row_mean'``) are of order 1 for any n, as logits should be; an exponent of at
    most 0.25 has the same effect; ``'constant'`` has no preference. Notebook 13.

    **Constant directions.** Adding a number to all :math:`\beta_i` changes no weight, so that
    only the prior holds it; R-hat looks at distances instead of at :math:`\beta`.

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

    alpha_draws_: Array
    n_effective_atoms_: float
    idata_: Any
    posterior_: SpherePosterior
    probes_: NDArray[np.intp]
    _coefficients: Array
    _products: Array
    tol = RESOLUTION

    def __init__(
        self,
        prior_mean: str | ArrayLike = "row_sum",
        prior_exponent: float = 1.0,
        prior_scale: float | ArrayLike = 1.0,
        *,
        cutoff: str = "rejection_rate",
        rejection_rate: float = 0.05,
        rank: int | None = None,
        cv: int | None = None,
        kernel: Kernel = "rbf",
        degree: int = 3,
        gamma: float | str = "scale",
        coef0: float = 0.0,
        sampler: str = "split_hmc",
        n_samples: int = 300,
        n_burn_in: int = 200,
        n_chains: int = 16,
        thin: int = 1,
        sampler_options: dict[str, Any] | None = None,
        random_state: Any = None,
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
        return self._fit_posterior(X, signs, np.flatnonzero(signs > 0))

    def _minority_prior(self) -> tuple[float, float]:
        return 1.0, 1.0

    def _fit_posterior(self, X: Matrix, signs: Array, kept: NDArray[np.intp]) -> Self:
        """Sample the centre of the kept points' images, then choose the radius."""
        self._check_cutoff(signs)
        if self.sampler not in SAMPLERS:
            raise ValueError(f"sampler must be one of {sorted(SAMPLERS)}, got {self.sampler!r}.")
        points, kept_signs = self._rows(X, kept), signs[kept]
        K = self._training_gram(points)
        of_targets = np.flatnonzero(kept_signs > 0)
        targets = self._rows(points, of_targets)
        sums = self._full_row_sums(K[np.ix_(of_targets, of_targets)], targets)
        self.prior_mean_ = prior_mean_vector(self.prior_mean, sums, self.prior_exponent)
        self.posterior_ = SpherePosterior(
            K, kept_signs, self.prior_mean_, check_covariance(self.prior_scale, len(of_targets)),
            minority_prior=self._minority_prior(), constant=self._likelihood_constant(targets),
        )  # fmt: skip
        self._keep_draws(X, kept, self._sample(points))
        self._choose_radius(X, signs)
        self._warn_of_collapse()
        return self

    def _sample(self, points: Matrix) -> Array:
        """Run the chains; returns all draws of theta, shape (n_draws, n_0 + n_1)."""
        posterior = self.posterior_
        options = self._default_options() | dict(self.sampler_options or {})
        target: Callable[[Array], Any] = posterior.log_likelihood
        if self.sampler != "split_hmc":
            target = self._values_only
        idata = SAMPLERS[self.sampler](
            target, posterior.prior_mean, posterior.prior_cov,
            n_samples=self.n_samples, n_burn_in=self.n_burn_in, n_chains=self.n_chains,
            thin=self.thin, functionals=self._functionals(points), vectorized=True,
            random_state=self.random_state, **options,
        )  # fmt: skip
        theta = idata.posterior["theta"].values
        idata.posterior = idata.posterior.drop_vars("theta")
        self.idata_ = idata
        return theta.reshape(-1, theta.shape[-1])

    def _values_only(self, theta: Array) -> Array:
        return self.posterior_.log_likelihood(theta)[0]

    def _default_options(self) -> dict[str, Any]:
        return {"n_leapfrog": 5} if self.sampler == "split_hmc" else {}

    def _functionals(self, points: Matrix) -> Callable[[Array], dict[str, Array]]:
        """What the chains are compared by: distances of a few targets, norm, atoms."""
        posterior = self.posterior_
        diagonal, one_sided = np.diagonal(posterior.K), self._one_sided(points)
        constant = self._constant()
        by_depth = posterior.targets[np.argsort(posterior.row_sums[posterior.targets])]
        places = np.linspace(0, len(by_depth) - 1, min(N_PROBES, len(by_depth))).astype(int)
        probes = by_depth[places]
        self.probes_ = probes

        def functionals(theta: Array) -> dict[str, Array]:
            c = posterior.coefficients(theta)
            products = c @ posterior.K
            norms = np.einsum("ij,ij->i", c, products)
            squared = diagonal[probes] - 2.0 * products[:, probes] + norms[:, None]
            shares = posterior.shares(theta)
            named = {
                "distance": np.sqrt(np.maximum(squared, 0.0)),
                "center_norm": np.sqrt(np.maximum(norms + constant + 2.0 * c @ one_sided, 0.0)),
                "effective_atoms": 1.0 / np.einsum("ij,ij->i", shares, shares),
            }
            if posterior.n_flat:
                named["minority_weight"] = expit(theta[:, posterior.n_targets :]).sum(axis=1)
            return named

        return functionals

    def _keep_draws(self, X: Matrix, kept: NDArray[np.intp], theta: Array) -> None:
        posterior = self.posterior_
        self._coefficients = posterior.coefficients(theta)
        self.alpha_draws_ = np.abs(self._coefficients)
        products = self._coefficients @ posterior.K
        self._products = np.einsum("ij,ij->i", self._coefficients, products)
        self.support_ = kept
        self.support_vectors_ = np.empty((0, 0)) if self._is_precomputed() else X[kept].copy()
        self.dual_coef_ = self._coefficients.mean(axis=0)[None, :]
        self.alpha_ = np.zeros(len(X))
        self.alpha_[kept] = np.abs(self.dual_coef_[0])
        diagonal = np.diagonal(posterior.K)
        self._training_diagonal = (float(diagonal.min()), float(diagonal.max()))
        scale = max(float(np.abs(diagonal).max()), 2.0 * float(np.abs(products).max()))
        self._resolution = RESOLUTION * scale
        atoms = self.idata_.posterior["effective_atoms"].values
        self.n_effective_atoms_ = float(np.median(atoms))

    def _warn_of_collapse(self) -> None:
        n, atoms = self.posterior_.n_targets, self.n_effective_atoms_
        if atoms >= min(HANDFUL, n / 10):
            return
        remedy = "Use prior_mean='row_mean' or 'constant', or prior_exponent=0.25"
        if self.posterior_.n_flat:
            remedy += f"; minority_prior=(1, {self.posterior_.n_flat}) if outliers push too hard"
        warnings.warn(
            f"the posterior rests on {atoms:.1f} effective atoms of {n} targets: a few points, "
            f"mostly outlying ones, have nearly all the weight, so the description is arbitrary. "
            f"{remedy}.",
            CollapseWarning,
            stacklevel=5,
        )

    def distance_draws(self, X: ArrayLike, diagonal: ArrayLike | None = None) -> Array:
        r"""Posterior draws of :math:`d_z`, the distance of each point to the centre.

        Parameters
        ----------
        X, diagonal
            As for :meth:`distance`, which returns the medians of these draws.

        Returns
        -------
        ndarray, shape (m, n_draws)
            In the unit of ``radius_``.
        """
        X = self._checked_new_points(X)
        return np.sqrt(np.maximum(self._squared_draws(X, self._own_products(X, diagonal)), 0.0))

    def predict_proba(self, X: ArrayLike, diagonal: ArrayLike | None = None) -> Matrix:
        r"""Posterior probabilities of lying outside and inside: columns for -1 and +1.

        Parameters
        ----------
        X, diagonal
            As for :meth:`distance`.

        Returns
        -------
        ndarray, shape (m, 2)
            The second column is the share of draws with :math:`d_z \le R`; :meth:`predict` is +1
            where it exceeds 1/2.
        """
        X = self._checked_new_points(X)
        own = self._own_products(X, diagonal)
        inside = np.empty(len(X))
        for block in self._batches(len(X)):
            squared = self._squared_draws(X[block], own[block])
            inside[block] = (squared <= self.radius_squared_ + self._resolution).mean(axis=1)
        return np.column_stack([1.0 - inside, inside])

    def _distances_of(self, X: Matrix, own: Array) -> Array:
        """Squared medians: of an even number of draws the upper, as the vote needs more than
        half of them."""
        middle = len(self._products) // 2
        medians = np.empty(len(X))
        for block in self._batches(len(X)):
            squared = self._squared_draws(X[block], own[block])
            squared.partition(middle, axis=1)
            medians[block] = squared[:, middle]
        return medians

    def _batches(self, n: int) -> Any:
        columns = max(len(self._products), len(self.support_))
        return gen_batches(n, max(1, BLOCK_VALUES // columns))

    def _squared_draws(self, X: Matrix, own: Array) -> Matrix:
        products = self._support_kernel(X) @ self._coefficients.T
        products *= -2.0
        products += own[:, None]
        products += self._products
        return products


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
    prior_mean, prior_exponent, prior_scale
        As for :class:`BayesianSVDD`; row sums are those among the targets.
    minority_prior : pair of float, default=(1.0, 1.0)
        p and q; the default is the uniform prior of [Kim2024]_, see the notes.
    cutoff, rejection_rate, rank, cv, kernel, degree, gamma, coef0
        As for :class:`BayesianSVDD`.
    sampler, n_samples, n_burn_in, n_chains, thin, sampler_options, random_state
        As for :class:`BayesianSVDD`; the sampler is 'split_hmc' or 'metropolis', because the
        logits of :math:`\alpha_1` have no Gaussian prior.

    Attributes
    ----------
    alpha_ : ndarray, shape (n,)
        Posterior means of :math:`\alpha_0` and :math:`\alpha_1`, in the order of X.
    alpha_draws_ : ndarray, shape (n_draws, n)
        The same, draw by draw.
    n_effective_atoms_ : float
        Of the softmax, as for :class:`BayesianSVDD`.
    idata_ : arviz.InferenceData
        As for :class:`BayesianSVDD`, and ``minority_weight``, :math:`\mathbf 1^\top \alpha_1`.
        ``lp`` is a density of the logits of :math:`\alpha_1`: it includes their Jacobian.
    radius_, posterior_, prior_mean_, probes_, center_, dual_coef_, offset_, support_, ...
        As for :class:`BayesianSVDD`.

    Raises
    ------
    ValueError
        Without an outlier, marked by -1, in y; and as :class:`BayesianSVDD`.

    Notes
    -----
    **The uniform prior.** The outliers enter the likelihood through the centre alone, and their
    weights are of mean 1/2 a priori, so that :math:`\mathbf 1^\top \alpha_1` is about
    :math:`n_1/2`: many outliers put the centre far beyond the targets before the data speak.
    ``minority_prior=(1, n_1)`` keeps the sum at about 1 whatever their number.

    **Sampling.** On :math:`\theta = \operatorname{logit} \alpha_1` the density has the factor
    :math:`\alpha_1 (1 - \alpha_1)`; without this Jacobian the posterior of :math:`\alpha_1` would
    be another one, with a mean near 0.

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

    def __init__(
        self,
        prior_mean: str | ArrayLike = "row_sum",
        prior_exponent: float = 1.0,
        prior_scale: float | ArrayLike = 1.0,
        *,
        minority_prior: tuple[float, float] = (1.0, 1.0),
        cutoff: str = "rejection_rate",
        rejection_rate: float = 0.05,
        rank: int | None = None,
        cv: int | None = None,
        kernel: Kernel = "rbf",
        degree: int = 3,
        gamma: float | str = "scale",
        coef0: float = 0.0,
        sampler: str = "split_hmc",
        n_samples: int = 300,
        n_burn_in: int = 200,
        n_chains: int = 16,
        thin: int = 1,
        sampler_options: dict[str, Any] | None = None,
        random_state: Any = None,
    ) -> None:
        super().__init__(
            prior_mean, prior_exponent, prior_scale,
            cutoff=cutoff, rejection_rate=rejection_rate, rank=rank, cv=cv,
            kernel=kernel, degree=degree, gamma=gamma, coef0=coef0,
            sampler=sampler, n_samples=n_samples, n_burn_in=n_burn_in, n_chains=n_chains,
            thin=thin, sampler_options=sampler_options, random_state=random_state,
        )  # fmt: skip
        self.minority_prior = minority_prior

    @atomic_fit
    def fit(self, X: ArrayLike, y: ArrayLike | None = None) -> Self:
        """Fit to points X (n, d), or a Gram matrix (n, n).

        Parameters
        ----------
        X : array-like, shape (n, d) or (n, n)
        y : array-like, shape (n,), optional
            -1 marks an outlier; +1, or any other whole number of at least 0, a target. Without
            an outlier the model is :class:`BayesianSVDD`.

        Returns
        -------
        self
        """
        X = self._training_points(X)
        signs = target_signs(y, X)
        flat = bool((signs < 0).any())
        if flat and self.sampler in SAMPLERS and self.sampler not in FLAT_SAMPLERS:
            raise ValueError(
                f"sampler={self.sampler!r} needs a Gaussian prior of all coordinates, which "
                f"alpha_1 has not: use one of {list(FLAT_SAMPLERS)}."
            )
        return self._fit_posterior(X, signs, np.arange(len(X)))

    def _minority_prior(self) -> tuple[float, float]:
        return self.minority_prior

    def _default_options(self) -> dict[str, Any]:
        options = super()._default_options()
        posterior = self.posterior_
        if not posterior.n_flat:
            return options
        if self.sampler == "split_hmc":
            n = posterior.n_targets
            options["blocks"] = [np.arange(n), np.arange(n, n + posterior.n_flat)]
            # Longer trajectories of the logits turn back.
            options["n_leapfrog"] = [5, 3]
        return options | {"n_flat": posterior.n_flat}
