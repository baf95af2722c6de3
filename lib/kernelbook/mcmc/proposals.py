"""Metropolis-Hastings with a linear Gaussian proposal: random walk and Crank-Nicolson."""

from abc import ABC, abstractmethod
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_scalar

from kernelbook.mcmc.run import (
    Functionals,
    Generators,
    RandomState,
    Statistics,
    StepSizes,
    Transition,
    accept,
    count_chains,
    normals,
    sample,
)
from kernelbook.mcmc.target import Array, GaussianPrior, LogDensity, State, Target, check_prior

__all__ = ["metropolis", "pcn"]


def metropolis(
    log_likelihood: LogDensity,
    prior_mean: ArrayLike | None = None,
    prior_cov: ArrayLike = 1.0,
    *,
    n_flat: int = 0,
    step: float | None = None,
    adapt: bool = True,
    target_acceptance: float = 0.234,
    n_samples: int = 1000,
    n_burn_in: int = 1000,
    n_chains: int | None = None,
    thin: int = 1,
    start: ArrayLike | None = None,
    functionals: Functionals | None = None,
    store_draws: bool = True,
    vectorized: bool = False,
    random_state: RandomState = None,
    progress: bool = False,
) -> Any:
    r"""Random-walk Metropolis: a symmetric Gaussian step, accepted by the posterior's ratio.

    .. math::  \theta' = \theta + s A \xi,\quad \xi \sim N(0, I),\quad A A^\top = \Sigma, \qquad
               P(\text{accept}) = \min\{1, \pi(\theta') / \pi(\theta)\}

    Parameters
    ----------
    log_likelihood : callable
        :math:`\log L` of one vector (d,), returning a number; with ``vectorized=True`` of many,
        (m, d) to (m,), for any m. Up to an additive constant; ``-inf`` outside the support.
    prior_mean : array-like, shape (d - n_flat,), optional
        Mean m of the Gaussian prior. Left out: the prior is flat, ``log_likelihood`` is the log
        density to sample, and ``start`` must be given.
    prior_cov : float or array-like, shape (k,) or (k, k), default=1.0
        Covariance Sigma of the prior, k = d - n_flat: a number s for s I, variances, or a
        symmetric positive semi-definite matrix. It also shapes the proposal.
    n_flat : int, default=0
        The last ``n_flat`` coordinates have a flat prior: ``log_likelihood`` has to include the
        whole of their density, with the Jacobian if they are transformed.
    step : float, optional
        The first step size s; left out, :math:`2.38 / \sqrt d`, the best for a target as wide
        as the prior.
    adapt : bool, default=True
        Tune the step of each chain to ``target_acceptance`` during the burn-in. It is fixed
        afterwards; with False, always.
    target_acceptance : float, default=0.234
        The acceptance rate that is optimal in high dimension [Roberts1997]_.
    n_samples : int, default=1000
        Draws kept of each chain.
    n_burn_in : int, default=1000
        Iterations before the first kept draw; they are not stored.
    n_chains : int, optional
        Chains side by side; left out, as many as ``start`` has rows, or 4.
    thin : int, default=1
        Iterations a kept draw.
    start : array-like, shape (n_chains, d) or (d,), optional
        Starts of the chains; one vector starts all of them at one point, where R-hat can notice
        less. Left out, the starts are over-dispersed: m plus twice a draw of the prior's
        spread, and N(0, 4) for flat coordinates.
    functionals : callable, optional
        Called with the kept states, as ``log_likelihood`` is; returns a dictionary of named
        arrays (vectorised: m rows each), which are stored in the posterior. If given, R-hat
        judges them and the log posterior, and not the raw coordinates.
    store_draws : bool, default=True
        Store the states as ``theta``. With False only the functionals are kept, which saves
        memory in high dimension.
    vectorized : bool, default=False
        Whether ``log_likelihood`` and ``functionals`` take many states at once.
    random_state : int, SeedSequence, Generator, RandomState or None
        Seed; chain k uses its k-th child. An int gives the same chains each time.
    progress : bool, default=False
        Show a progress bar (tqdm).

    Returns
    -------
    arviz.InferenceData
        ``posterior``: ``theta`` (chain, draw, d) and the functionals. ``sample_stats``: ``lp``,
        the log posterior without the prior's normalising constant,
        :math:`\log L - \frac12 (\theta-m)^\top \Sigma^{-1} (\theta-m)`; ``accepted``, whether
        the state moved; ``acceptance_rate``, the acceptance probability of the proposal;
        ``step_size``. Attributes name the sampler and its settings.

    Raises
    ------
    ValueError
        For arguments of the wrong shape, a start outside the support, or a log likelihood that
        returns NaN, infinity or the wrong shape. NotPositiveSemidefiniteError, a ValueError,
        for an invalid ``prior_cov``.
    ImportError
        Without ArviZ or, with ``progress=True``, without tqdm.

    Warns
    -----
    sklearn.exceptions.ConvergenceWarning
        If R-hat exceeds 1.01, with the number.

    See Also
    --------
    diagnose : R-hat and effective sample sizes as a table.

    Notes
    -----
    The number of steps needed grows like d: use :func:`pcn` or :func:`elliptical_slice` there.

    References
    ----------
    [Roberts1997]_

    Examples
    --------
    Prior N(0, 1) and one observation y = 1 with unit noise: the posterior is N(1/2, 1/2).

    >>> idata = metropolis(
    ...     lambda t: -0.5 * (1.0 - t[:, 0]) ** 2, [0.0], n_samples=4000, vectorized=True,
    ...     random_state=0)
    >>> theta = idata.posterior["theta"]
    >>> bool(abs(theta.mean() - 0.5) < 0.05), bool(abs(theta.var() - 0.5) < 0.05)
    (True, True)
    """
    if prior_mean is None:
        prior = _flat_prior(prior_cov, n_flat, start)
    else:
        prior = check_prior(prior_mean, prior_cov, n_flat)
    n_chains = count_chains(n_chains, start)
    step = 2.38 / np.sqrt(prior.n_dim) if step is None else step
    return sample(
        _Metropolis(prior, StepSizes([step], n_chains, adapt, target_acceptance)),
        prior, Target(log_likelihood, vectorized),
        n_samples=n_samples, n_burn_in=n_burn_in, n_chains=n_chains, thin=thin, start=start,
        functionals=functionals, store_draws=store_draws, random_state=random_state,
        progress=progress,
    )  # fmt: skip


def _flat_prior(prior_cov: ArrayLike, n_flat: int, start: ArrayLike | None) -> GaussianPrior:
    if not np.array_equal(prior_cov, 1.0) or n_flat:
        raise ValueError("prior_cov and n_flat need prior_mean: without it the prior is flat.")
    if start is None:
        raise ValueError(
            "A flat prior (prior_mean=None) has no width to draw starts from: give start, shape "
            "(n_chains, d), spread wider than the target."
        )
    return GaussianPrior(np.empty(0), np.float64(1.0), n_flat=np.atleast_1d(start).shape[-1])


def pcn(
    log_likelihood: LogDensity,
    prior_mean: ArrayLike,
    prior_cov: ArrayLike = 1.0,
    *,
    beta: float = 0.5,
    adapt: bool = True,
    target_acceptance: float = 0.234,
    n_samples: int = 1000,
    n_burn_in: int = 1000,
    n_chains: int | None = None,
    thin: int = 1,
    start: ArrayLike | None = None,
    functionals: Functionals | None = None,
    store_draws: bool = True,
    vectorized: bool = False,
    random_state: RandomState = None,
    progress: bool = False,
) -> Any:
    r"""Preconditioned Crank-Nicolson: a step that leaves the prior unchanged.

    .. math::  \theta' = m + \sqrt{1 - \beta^2}\,(\theta - m) + \beta A \xi, \qquad
               P(\text{accept}) = \min\{1, L(\theta') / L(\theta)\}

    The prior cancels, so acceptance does not fall as the dimension grows, as long as the
    likelihood informs a fixed number of directions [Cotter2013]_.

    Parameters
    ----------
    log_likelihood, prior_mean, prior_cov : as in :func:`metropolis`
        The Gaussian prior is required here.
    beta : float, default=0.5
        The first step, in (0, 1]; 1 proposes a fresh draw of the prior each time.
    adapt, target_acceptance : as in :func:`metropolis`
        beta grows to 1 if even a fresh draw is accepted more often than the target.
    n_samples, n_burn_in, n_chains, thin, start : as in :func:`metropolis`
    functionals, store_draws, vectorized, random_state, progress : as in :func:`metropolis`

    Returns
    -------
    arviz.InferenceData
        As :func:`metropolis`; ``step_size`` is beta.

    Raises
    ------
    ValueError, ImportError
        As :func:`metropolis`, and for a beta outside (0, 1].

    Warns
    -----
    sklearn.exceptions.ConvergenceWarning
        If R-hat exceeds 1.01, with the number.

    References
    ----------
    [Cotter2013]_

    Examples
    --------
    Without data the posterior is the prior, and beta = 1 draws from it independently.

    >>> idata = pcn(lambda t: 0.0, [3.0], 4.0, beta=1.0, random_state=0)
    >>> bool(idata.sample_stats["accepted"].all())
    True
    >>> round(float(idata.posterior["theta"].mean()), 1)
    3.0
    """
    prior = check_prior(prior_mean, prior_cov)
    check_scalar(beta, "beta", Real, min_val=0, max_val=1, include_boundaries="right")
    n_chains = count_chains(n_chains, start)
    steps = StepSizes([beta], n_chains, adapt, target_acceptance, largest=[1.0])
    return sample(
        _CrankNicolson(prior, steps),
        prior, Target(log_likelihood, vectorized),
        n_samples=n_samples, n_burn_in=n_burn_in, n_chains=n_chains, thin=thin, start=start,
        functionals=functionals, store_draws=store_draws, random_state=random_state,
        progress=progress,
    )  # fmt: skip


class _Proposal(Transition, ABC):
    """Metropolis-Hastings with a linear proposal: old state times a, plus b times the prior."""

    steps: StepSizes

    def __init__(self, prior: GaussianPrior, steps: StepSizes) -> None:
        self.prior = prior
        self.steps = steps

    @abstractmethod
    def coefficients(self, step: Array) -> tuple[Array, Array]: ...

    @abstractmethod
    def log_prior_ratio(self, old: Array, new: Array) -> Array | float: ...

    def __call__(self, state: State, target: Target, rngs: Generators) -> Statistics:
        keep, add = self.coefficients(self.steps.size[0][:, None])
        noise = normals(rngs, self.prior.n_dim)
        z = keep * state.z + add * noise
        deviation = keep * state.deviation + add * self.prior.colour(noise)
        proposal = State(z, deviation, target.value(self.prior.mean + deviation))
        log_ratio = proposal.log_likelihood - state.log_likelihood
        log_ratio = log_ratio + self.log_prior_ratio(state.z, z)
        accepted, probability = accept(state, proposal, log_ratio, rngs)
        return {"accepted": accepted, "acceptance_rate": probability[None]}


class _Metropolis(_Proposal):
    name = "metropolis"

    def coefficients(self, step: Array) -> tuple[Array, Array]:
        return np.ones_like(step), step

    def log_prior_ratio(self, old: Array, new: Array) -> Array:
        return self.prior.log_density(new) - self.prior.log_density(old)


class _CrankNicolson(_Proposal):
    name = "pcn"

    def coefficients(self, step: Array) -> tuple[Array, Array]:
        return np.sqrt(1.0 - step**2), step

    def log_prior_ratio(self, old: Array, new: Array) -> float:
        return 0.0  # the proposal is reversible under the prior
