"""Elliptical slice sampling of many chains at once."""

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
    log_uniforms,
    normals,
    sample,
    uniforms,
)
from kernelbook.mcmc._target import GaussianPrior, LogDensity, State, Target, check_prior

if TYPE_CHECKING:
    from arviz import InferenceData

__all__ = ["elliptical_slice"]


def elliptical_slice(
    log_likelihood: LogDensity,
    prior_mean: ArrayLike,
    prior_cov: ArrayLike = 1.0,
    *,
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
    r"""Elliptical slice sampling: a slice of the likelihood on an ellipse through the state.

    With :math:`\nu \sim N(0, \Sigma)` and a level :math:`\log y = \log L(\theta) + \log u`, an
    angle is drawn and the bracket shrunk towards 0 until

    .. math::  \theta' = m + (\theta - m) \cos\varphi + \nu \sin\varphi, \qquad
               \log L(\theta') > \log y.

    Every iteration moves, and nothing has to be tuned. The ellipse is centred at the prior
    mean m: rotating :math:`\theta` itself would sample a different posterior unless m = 0.

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
        As :func:`metropolis` returns it, without a step size; ``n_evaluations`` counts the calls
        of the likelihood. The acceptance rate is 1, except for chains whose bracket shrank to a
        point.

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
    pcn : The sampler with a step to tune, for likelihoods that are expensive to evaluate.
    split_hmc : For likelihoods that inform many directions strongly.

    References
    ----------
    [Murray2010]_

    Examples
    --------
    Prior N(2, 1) and one observation y = 0 with unit noise: the posterior mean is 1.

    >>> idata = elliptical_slice(lambda t: -0.5 * t[0] ** 2, [2.0], random_state=0)
    >>> bool(abs(idata.posterior["theta"].mean() - 1.0) < 0.1)
    True
    """
    prior = check_prior(prior_mean, prior_cov)
    return sample(
        "elliptical_slice", _EllipticalSlice(prior), prior, Target(log_likelihood, vectorized),
        n_samples=n_samples, n_burn_in=n_burn_in, n_chains=n_chains, thin=thin, start=start,
        functionals=functionals, store_draws=store_draws, random_state=random_state,
    )  # fmt: skip


@dataclass(frozen=True)
class _EllipticalSlice:
    prior: GaussianPrior

    def __call__(self, state: State, target: Target, rngs: Generators) -> Statistics:
        n_chains = len(rngs)
        noise = normals(rngs, self.prior.n_dim)
        coloured = self.prior.colour(noise)
        level = state.log_likelihood + log_uniforms(rngs)
        angle = 2.0 * np.pi * uniforms(rngs)
        low, high = angle - 2.0 * np.pi, angle.copy()
        n_evaluations = np.zeros(n_chains)
        accepted = np.zeros(n_chains, dtype=bool)
        active = np.arange(n_chains)
        while active.size:
            cos, sin = np.cos(angle[active])[:, None], np.sin(angle[active])[:, None]
            deviation = cos * state.deviation[active] + sin * coloured[active]
            values = target.value(self.prior.mean + deviation)
            n_evaluations[active] += 1
            above = values > level[active]
            done = active[above]
            state.z[done] = cos[above] * state.z[done] + sin[above] * noise[done]
            state.deviation[done] = deviation[above]
            state.log_likelihood[done] = values[above]
            accepted[done] = True
            active = active[~above]
            negative = angle[active] < 0
            low[active[negative]] = angle[active[negative]]
            high[active[~negative]] = angle[active[~negative]]
            # A bracket of a few ulp holds the old state only, up to the rounding of its value.
            active = active[high[active] - low[active] > 8 * np.finfo(np.float64).eps]
            draw = uniforms(rngs[chain] for chain in active)
            angle[active] = low[active] + draw * (high[active] - low[active])
        return {
            "accepted": accepted,
            "acceptance_rate": accepted[None].astype(np.float64),
            "n_evaluations": n_evaluations,
        }
