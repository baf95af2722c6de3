"""Samplers of the posterior of a Bayesian data description: effective samples a second.

The rival is random-walk Metropolis of this library too, with its step tuned and all chains in one
product: what lecture notes write is slower still. Seconds include the burn-in.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy.spatial.distance import cdist

from benchmarks.plan import Cell, Goal, Group, Method
from kernelbook import mcmc
from kernelbook.bayes import SpherePosterior, prior_mean_vector

__all__ = ["GROUP", "Data", "check"]

CHAINS = 16
WIDE, NARROW = 0.02, 0.5
# Means of d_z at the three probes, by split HMC: 16 chains of 2000 draws.
REFERENCE = {
    (900, WIDE): (0.6723, 0.2301, 0.1028),
    (900, NARROW): (0.9299, 1.0164, 1.0489),
    (20, WIDE): (0.4002, 0.1654, 0.0699),
}


class Data(NamedTuple):
    """A posterior of n weights; points whose distance to the centre is followed; its means."""

    posterior: SpherePosterior
    probes: np.ndarray
    means: tuple[float, ...]


def make(*, n: int, gamma: float) -> Data:
    """Normal points in the plane; prior mean -(K 1)^(1/2), prior covariance I."""
    X = np.random.default_rng(0).standard_normal((n, 2))
    K = np.exp(-gamma * cdist(X, X, "sqeuclidean"))
    sums = K.sum(axis=1)
    posterior = SpherePosterior(K, np.ones(n), prior_mean_vector("row_sum", sums, 0.5))
    probes = np.argsort(sums)[[0, n // 2, n - 1]]
    return Data(posterior, probes, REFERENCE[n, gamma])


def sampler(
    name: str, n_samples: int, n_burn_in: int, **options: Any
) -> Callable[[Data], dict[str, np.ndarray]]:
    """Run that sampler; the log posterior (chains, draws) and d_z (chains, draws, probes)."""

    def run(data: Data) -> dict[str, np.ndarray]:
        posterior, probes, _ = data

        def distances(theta: np.ndarray) -> dict[str, np.ndarray]:
            c = posterior.coefficients(theta)
            products = c @ posterior.K
            norms = np.einsum("ij,ij->i", c, products)
            return {"d_z": np.sqrt(1.0 - 2.0 * products[:, probes] + norms[:, None])}

        gradient = name == "split_hmc"
        idata = getattr(mcmc, name)(
            lambda theta: posterior.log_likelihood(theta)[slice(None) if gradient else 0],
            posterior.prior_mean, posterior.prior_cov, n_samples=n_samples, n_burn_in=n_burn_in,
            n_chains=CHAINS, functionals=distances, store_draws=False, vectorized=True,
            random_state=0, **options,
        )  # fmt: skip
        return {"lp": idata.sample_stats["lp"].values, "d_z": idata.posterior["d_z"].values}

    return run


def check(data: Data, draws: dict[str, np.ndarray]) -> dict[str, float]:
    """Effective samples of the log posterior, and of d_z where they are fewest; R-hat; error.

    ``error`` is how far the means of d_z are from those of a long run, in posterior standard
    deviations.
    """
    import arviz

    d_z = np.moveaxis(draws["d_z"], -1, 0)
    away = np.abs(d_z.mean(axis=(1, 2)) - data.means) / d_z.std(axis=(1, 2))
    return {
        "ess_lp": float(arviz.ess(draws["lp"])),
        "ess_d_z": min(float(arviz.ess(chains)) for chains in d_z),
        "r_hat": max(float(arviz.rhat(chains)) for chains in (draws["lp"], *d_z)),
        "error": float(away.max()),
    }


SPLIT, PCN, SLICE = "kernelbook split_hmc", "kernelbook pcn", "kernelbook elliptical_slice"
WALK = "random-walk Metropolis"
N = 900


def _cell(gamma: float, turns: dict[str, int]) -> Cell:
    return Cell({"n": N, "gamma": gamma}, turns)


GROUP = Group(
    make=make,
    check=check,
    methods=[
        Method(SPLIT, sampler("split_hmc", 300, 300, n_leapfrog=5), ours=True, needs="arviz"),
        Method(PCN, sampler("pcn", 1000, 500), ours=True, needs="arviz"),
        Method(SLICE, sampler("elliptical_slice", 1000, 500), ours=True, needs="arviz"),
        Method(WALK, sampler("metropolis", 5000, 5000), needs="arviz"),
    ],
    # The wide kernel makes a weak likelihood, where all of them work; pCN and the slice sampler
    # are not for the other one.
    cells=[
        _cell(WIDE, {SPLIT: 3, PCN: 3, SLICE: 3, WALK: 1}),
        _cell(NARROW, {SPLIT: 3, WALK: 1}),
    ],
    quick=[Cell({"n": 20, "gamma": WIDE}, {SPLIT: 1, PCN: 1, SLICE: 1})],
    warm_up={"n": 20, "gamma": WIDE},
    goals=[
        Goal({"n": N, "gamma": gamma}, name, WALK, 500.0, quantity)
        for name, gamma in ((SPLIT, WIDE), (PCN, WIDE), (SPLIT, NARROW))
        for quantity in ("ess_lp/s", "ess_d_z/s")
    ],
    limits={"r_hat": 1.01, "error": 0.1},
    rates=("ess_lp", "ess_d_z"),
)
