"""Metropolis-Hastings with a linear Gaussian proposal: random walk and Crank-Nicolson."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from kernelbook.mcmc._run import (
    Functionals,
    Generators,
    RandomState,
    Statistics,
    StepSizes,
    accept,
    normals,
    sample,
)
from kernelbook.mcmc._target import GaussianPrior, LogDensity, State, Target, check_prior
from kernelbook.validation import check_number

if TYPE_CHECKING:
    from arviz import InferenceData

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
) -> InferenceData:
    r"""Random-walk Metropolis: a symmetric Gaussian step, accepted by the posterior's ratio.

    .. math::  \theta' = \theta + s A \xi,\quad \xi \sim N(0, I),\quad A A^\top = \Sigma, \qquad
               P(\text{accept}) = \min\{1, \pi(\theta') / \pi(\theta)\}

    Parameters
    ----------
    log_likelihood : callable
        :math:`\log L` of one vector (d,), returning a number; with ``vectorized=True`` of many,
        (m, d) to (m,), for any m. Up to an additive constant; ``-inf`` outside the support.
    prior_mean : array-like of shape (d - n_flat,), default=None
        Mean m of the Gaussian prior. If None, the prior is flat, ``log_likelihood`` is the log
        density to sample, and ``start`` must be given.
    prior_cov : float or array-like of shape (k,) or (k, k), default=1.0
        Covariance :math:`\Sigma` of the prior, k = d - n_flat: a number s for s I, variances, or
        a symmetric positive semi-definite matrix. It also shapes the proposal.
    n_flat : int, default=0
        The last ``n_flat`` coordinates have a flat prior: ``log_likelihood`` has to include the
        whole of their density, with the Jacobian if they are transformed.
    step : float, default=None
        The first step size s. If None, :math:`2.38 / \sqrt d`, the best for a target as wide
        as the prior.
    adapt : bool, default=True
        Whether to tune the step of each chain to ``target_acceptance`` during the burn-in. It is
        fixed afterwards.
    target_acceptance : float, default=0.234
        The acceptance rate that is optimal in high dimension [Roberts1997]_.
    n_samples : int, default=1000
        Draws kept of each chain.
    n_burn_in : int, default=1000
        Iterations before the first kept draw; they are not stored.
    n_chains : int, default=None
        Chains side by side. If None, as many as ``start`` has rows, or 4.
    thin : int, default=1
        Iterations a kept draw.
    start : array-like of shape (n_chains, d) or (d,), default=None
        Starts of the chains; one vector starts all of them at one point, where R-hat can notice
        less. If None, the starts are over-dispersed: m plus twice a draw of the prior's
        spread, and N(0, 4) for flat coordinates.
    functionals : callable, default=None
        Called with the kept states, as ``log_likelihood`` is; returns a dictionary of named
        arrays (vectorized: m rows each), which are stored in the posterior. If given, R-hat
        judges them and the log posterior, and not the raw coordinates.
    store_draws : bool, default=True
        Whether to store the states as ``theta``. With False only the functionals are kept, which
        saves memory in high dimension.
    vectorized : bool, default=False
        Whether ``log_likelihood`` and ``functionals`` take many states at once.
    random_state : int, RandomState or None, default=None
        Seed; chain k uses its k-th child. An int gives the same chains each time.

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
        For arguments out of range or of the wrong shape, a start outside the support, or a log
        likelihood that returns NaN, infinity or the wrong shape.
    NotPositiveSemidefiniteError
        If ``prior_cov`` is no covariance.
    ImportError
        If ArviZ is not installed.

    Warns
    -----
    sklearn.exceptions.ConvergenceWarning
        If R-hat exceeds 1.01, with the number.

    See Also
    --------
    diagnose : R-hat and effective sample sizes as a table.
    pcn : The proposal whose acceptance does not fall with the dimension.

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
    if step is None:
        step = 2.38 / np.sqrt(prior.n_dim)
    step = check_number(step, "step", low=0, inclusive="neither")
    steps = StepSizes([step], adapt, target_acceptance)
    return sample(
        "metropolis", _Proposal(prior, steps, preserves_prior=False), prior,
        Target(log_likelihood, vectorized), steps=steps,
        n_samples=n_samples, n_burn_in=n_burn_in, n_chains=n_chains, thin=thin, start=start,
        functionals=functionals, store_draws=store_draws, random_state=random_state,
    )  # fmt: skip


def _flat_prior(prior_cov: ArrayLike, n_flat: int, start: ArrayLike | None) -> GaussianPrior:
    if not np.array_equal(prior_cov, 1.0) or n_flat:
        raise ValueError("prior_cov and n_flat need prior_mean: without it the prior is flat.")
    if start is None:
        raise ValueError(
            "A flat prior (prior_mean=None) has no width to draw starts from: give start, shape "
            "(n_chains, d), spread wider than the target."
        )
    n_dim = np.atleast_1d(start).shape[-1]
    return GaussianPrior(np.zeros(n_dim), np.ones(n_dim), n_flat=n_dim)


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
) -> InferenceData:
    r"""Preconditioned Crank-Nicolson: a step that leaves the prior unchanged.

    .. math::  \theta' = m + \sqrt{1 - \beta^2}\,(\theta - m) + \beta A \xi, \qquad
               P(\text{accept}) = \min\{1, L(\theta') / L(\theta)\}

    The prior cancels, so acceptance does not fall as the dimension grows, as long as the
    likelihood informs a fixed number of directions [Cotter2013]_.

    Parameters
    ----------
    log_likelihood : callable
        :math:`\log L` of one vector or, with ``vectorized=True``, of many, as in
        :func:`metropolis`.
    prior_mean : array-like of shape (d,)
        Mean m of the Gaussian prior, which is required here.
    prior_cov : float or array-like of shape (d,) or (d, d), default=1.0
        Covariance :math:`\Sigma` of the prior: a number s for s I, variances, or a symmetric
        positive semi-definite matrix.
    beta : float, default=0.5
        The first step, in (0, 1]; 1 proposes a fresh draw of the prior each time.
    adapt : bool, default=True
        Whether to tune the step of each chain during the burn-in. It grows to 1 if even a fresh
        draw is accepted more often than the target.
    target_acceptance : float, default=0.234
        The acceptance rate to which steps are tuned.
    n_samples : int, default=1000
        Draws kept of each chain.
    n_burn_in : int, default=1000
        Iterations before the first kept draw.
    n_chains : int, default=None
        Chains side by side. If None, as many as ``start`` has rows, or 4.
    thin : int, default=1
        Iterations a kept draw.
    start : array-like of shape (n_chains, d) or (d,), default=None
        Starts of the chains, as in :func:`metropolis`.
    functionals : callable, default=None
        Named quantities of the state to store and to judge, as in :func:`metropolis`.
    store_draws : bool, default=True
        Whether to store the states themselves.
    vectorized : bool, default=False
        Whether ``log_likelihood`` and ``functionals`` take many states at once.
    random_state : int, RandomState or None, default=None
        Seed; chain k uses its k-th child.

    Returns
    -------
    arviz.InferenceData
        As :func:`metropolis` returns it; ``step_size`` is beta.

    Raises
    ------
    ValueError
        For arguments out of range or of the wrong shape, a start outside the support, or a log
        likelihood that returns NaN, infinity or the wrong shape.
    ImportError
        If ArviZ is not installed.

    Warns
    -----
    sklearn.exceptions.ConvergenceWarning
        If R-hat exceeds 1.01, with the number.

    See Also
    --------
    elliptical_slice : The same use, without a step to tune.

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
    beta = check_number(beta, "beta", low=0, high=1, inclusive="right")
    steps = StepSizes([beta], adapt, target_acceptance, largest=[1.0])
    return sample(
        "pcn", _Proposal(prior, steps, preserves_prior=True), prior,
        Target(log_likelihood, vectorized), steps=steps,
        n_samples=n_samples, n_burn_in=n_burn_in, n_chains=n_chains, thin=thin, start=start,
        functionals=functionals, store_draws=store_draws, random_state=random_state,
    )  # fmt: skip


@dataclass(frozen=True)
class _Proposal:
    """Metropolis-Hastings with a linear proposal: the old state shrunk, plus a prior draw."""

    prior: GaussianPrior
    steps: StepSizes
    preserves_prior: bool

    def __call__(self, state: State, target: Target, rngs: Generators) -> Statistics:
        step = self.steps.size[0][:, None]
        keep = np.sqrt(1.0 - step**2) if self.preserves_prior else 1.0
        noise = normals(rngs, self.prior.n_dim)
        z = keep * state.z + step * noise
        deviation = keep * state.deviation + step * self.prior.colour(noise)
        proposal = State(z, deviation, target.value(self.prior.mean + deviation))
        log_ratio = proposal.log_likelihood - state.log_likelihood
        if not self.preserves_prior:
            log_ratio += self.prior.log_density(z) - self.prior.log_density(state.z)
        accepted, probability = accept(state, proposal, log_ratio, rngs)
        return {"accepted": accepted, "acceptance_rate": probability[None]}
