"""Hamiltonian Monte Carlo that follows a Gaussian prior exactly, block by block."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kernelbook.mcmc._run import (
    Functionals,
    Generators,
    RandomState,
    Statistics,
    StepSizes,
    accept,
    normals,
    sample,
    uniforms,
)
from kernelbook.mcmc._target import Array, GaussianPrior, LogDensity, State, Target, check_prior
from kernelbook.validation import check_number

if TYPE_CHECKING:
    from arviz import InferenceData

__all__ = ["split_hmc"]

JITTER = 0.2


def split_hmc(
    log_likelihood: LogDensity,
    prior_mean: ArrayLike,
    prior_cov: ArrayLike = 1.0,
    *,
    gradient: LogDensity | None = None,
    n_flat: int = 0,
    blocks: Sequence[ArrayLike] | None = None,
    n_leapfrog: int | Sequence[int] = 10,
    step: float | None = None,
    adapt: bool = True,
    target_acceptance: float = 0.8,
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
    r"""Hamiltonian Monte Carlo that follows the Gaussian prior exactly, block by block.

    In whitened coordinates, with a momentum :math:`p \sim N(0, I)`,

    .. math::  H(z, p) = -\log L(m + A z) + \tfrac12 \|z\|^2 + \tfrac12 \|p\|^2

    is split into the likelihood, which kicks p by half a step times its gradient, and the rest,
    whose flow is the rotation :math:`(z \cos\epsilon + p \sin\epsilon,\; p \cos\epsilon - z
    \sin\epsilon)`, followed exactly [Shahbaba2014]_. After ``n_leapfrog`` such steps the end is
    accepted on the full H. The prior costs no accuracy however stiff or large it is. Coordinates
    with a flat prior drift, :math:`z + \epsilon p`.

    Parameters
    ----------
    log_likelihood : callable
        As in :func:`metropolis`. If ``gradient`` is None, it returns the pair of the log
        likelihood and its gradient, which often share their work.
    prior_mean : array-like of shape (d - n_flat,)
        Mean m of the Gaussian prior, which is required here.
    prior_cov : float or array-like of shape (k,) or (k, k), default=1.0
        Covariance :math:`\Sigma` of the prior, k = d - n_flat, as in :func:`metropolis`.
    gradient : callable, default=None
        Gradient of ``log_likelihood`` in theta: (d,) to (d,), or (m, d) to (m, d).
    n_flat : int, default=0
        The last ``n_flat`` coordinates have a flat prior.
    blocks : sequence of array-like of int, default=None
        A partition of the d coordinates; the blocks are updated in turn, each given the others,
        with steps of their own. If None, one block of all. Put the directions that the
        likelihood informs strongly in a block of their own. For a ``prior_cov`` that is not
        diagonal the indices are those of z, where A is the lower Cholesky factor.
    n_leapfrog : int or sequence of int, default=10
        Steps a trajectory, one number or one for each block.
    step : float, default=None
        The first step size epsilon, an angle. If None, a quarter turn over twice ``n_leapfrog``.
        A trajectory turns by at most a quarter, beyond which the prior flow comes back. Each
        trajectory uses a step shortened at random by up to a fifth, against resonance.
    adapt : bool, default=True
        Whether to tune the step of each chain and block during the burn-in.
    target_acceptance : float, default=0.8
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
        As :func:`metropolis` returns it; ``acceptance_rate`` and ``step_size`` have a last
        dimension ``block`` if there are several, and ``accepted`` says whether any block moved.

    Raises
    ------
    ValueError
        For arguments out of range or of the wrong shape, blocks that are no partition, a start
        outside the support, or a log likelihood or gradient that is not finite or has the wrong
        shape.
    ImportError
        If ArviZ is not installed.

    Warns
    -----
    sklearn.exceptions.ConvergenceWarning
        If R-hat exceeds 1.01, with the number.

    See Also
    --------
    elliptical_slice : For weak likelihoods, without gradient and without tuning.

    References
    ----------
    [Shahbaba2014]_

    Examples
    --------
    Prior N(0, 1) and one observation y = 1 with noise variance 1/9: the posterior is N(.9, .1).

    >>> idata = split_hmc(
    ...     lambda t: -4.5 * (1.0 - t[0]) ** 2, [0.0], gradient=lambda t: 9.0 * (1.0 - t),
    ...     n_leapfrog=5, n_samples=500, n_burn_in=200, random_state=0)
    >>> bool(abs(idata.posterior["theta"].mean() - 0.9) < 0.05)
    True
    """
    prior = check_prior(prior_mean, prior_cov, n_flat)
    partition = _check_blocks(blocks, prior.n_dim)
    lengths = _check_lengths(n_leapfrog, len(partition))
    largest = [
        np.pi / 2 / length if np.any(block < prior.n_gaussian) else np.inf
        for block, length in zip(partition, lengths, strict=True)
    ]
    if step is not None:
        step = check_number(step, "step", low=0, inclusive="neither")
    first = [np.pi / 4 / length if step is None else step for length in lengths]
    steps = StepSizes(list(map(min, first, largest)), adapt, target_acceptance, largest)
    return sample(
        "split_hmc", _SplitHamiltonian(prior, steps, partition, lengths), prior,
        Target(log_likelihood, vectorized, gradient), steps=steps, gradient=True,
        n_samples=n_samples, n_burn_in=n_burn_in, n_chains=n_chains, thin=thin, start=start,
        functionals=functionals, store_draws=store_draws, random_state=random_state,
    )  # fmt: skip


@dataclass(frozen=True)
class _SplitHamiltonian:
    prior: GaussianPrior
    steps: StepSizes
    blocks: list[NDArray[np.intp]]
    lengths: list[int]

    def __call__(self, state: State, target: Target, rngs: Generators) -> Statistics:
        moved = np.zeros(len(rngs), dtype=bool)
        probabilities = np.empty((len(self.blocks), len(rngs)))
        for index, (block, length) in enumerate(zip(self.blocks, self.lengths, strict=True)):
            momentum = normals(rngs, block.size)
            step = self.steps.size[index] * (1.0 - JITTER * uniforms(rngs))
            end, end_momentum = self.trajectory(state, momentum, block, step, length, target)
            log_ratio = self.energy(state, momentum) - self.energy(end, end_momentum)
            accepted, probabilities[index] = accept(state, end, log_ratio, rngs)
            moved |= accepted
        return {"accepted": moved, "acceptance_rate": probabilities}

    def energy(self, state: State, momentum: Array) -> Array:
        """The full H of each chain."""
        kinetic = 0.5 * np.einsum("ij,ij->i", momentum, momentum)
        return kinetic - state.log_likelihood - self.prior.log_density(state.z)

    def trajectory(
        self,
        state: State,
        momentum: Array,
        block: NDArray[np.intp],
        step: Array,
        length: int,
        target: Target,
    ) -> tuple[State, Array]:
        """Half kick, exact flow of prior and momentum, half kick, ``length`` times."""
        step = step[:, None]
        gaussian = block < self.prior.n_gaussian
        along = np.where(gaussian, np.cos(step), 1.0)
        across = np.where(gaussian, np.sin(step), step)
        back = np.where(gaussian, np.sin(step), 0.0)
        z, p, gradient = state.z.copy(), momentum, state.gradient
        assert gradient is not None  # as `sample` was asked to
        for _ in range(length):
            p = p + 0.5 * step * gradient[:, block]
            position = z[:, block]
            z[:, block] = along * position + across * p
            p = along * p - back * position
            deviation = self.prior.colour(z)
            values, slope = target.value_and_gradient(self.prior.mean + deviation)
            gradient = self.prior.pull_back(slope)
            p = p + 0.5 * step * gradient[:, block]
        return State(z, deviation, values, gradient), p


def _check_blocks(blocks: Sequence[ArrayLike] | None, n_dim: int) -> list[NDArray[np.intp]]:
    if blocks is None:
        return [np.arange(n_dim)]
    arrays = [np.atleast_1d(np.asarray(block)) for block in blocks]
    joined = np.concatenate(arrays) if arrays else np.empty(0)
    if not np.array_equal(np.sort(joined), np.arange(n_dim)):
        raise ValueError(
            f"blocks must hold each coordinate 0, ..., {n_dim - 1} exactly once, as indices."
        )
    return [array.astype(np.intp) for array in arrays if array.size]


def _check_lengths(n_leapfrog: int | Sequence[int], n_blocks: int) -> list[int]:
    lengths = list(n_leapfrog) if isinstance(n_leapfrog, Sequence) else [n_leapfrog] * n_blocks
    if len(lengths) != n_blocks:
        raise ValueError(
            f"n_leapfrog has {len(lengths)} entries for {n_blocks} blocks: give one number, or "
            "one for each block."
        )
    return [check_number(length, "n_leapfrog", low=1, integer=True) for length in lengths]
