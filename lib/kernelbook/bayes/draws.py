r"""Draws of a centre from its posterior: how they are made, and the distances to all of them."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import expit
from sklearn.utils import gen_batches

from kernelbook.bayes.posterior import SpherePosterior
from kernelbook.kernels import BLOCK_VALUES, Array, Expansion, Index, Kernel, Matrix
from kernelbook.mcmc import elliptical_slice, metropolis, pcn, split_hmc

__all__ = ["SAMPLERS", "DrawnCentre", "probes_of", "sample_posterior"]


SAMPLERS: dict[str, Callable[..., Any]] = {
    "split_hmc": split_hmc,
    "pcn": pcn,
    "elliptical_slice": elliptical_slice,
    "metropolis": metropolis,
}
# Targets whose distances the chains are compared by.
N_PROBES = 5


@dataclass(frozen=True)
class DrawnCentre:
    r"""Draws of a centre :math:`a = \sum_i c_i \phi(x_i)` of sum 1.

    Parameters
    ----------
    expansion : callable
        From points (m, d) to the sums :math:`\sum_i c_i k_c(z, x_i)` of each draw, (m, n_draws).
    products : ndarray of shape (n_draws,)
        The inner product of each centre with itself, by :math:`k_c`.

    Examples
    --------
    Three draws 0, 1 and 4 of a centre on the line, and the distances of the point 2:

    >>> draws = np.array([0.0, 1.0, 4.0])
    >>> centre = DrawnCentre(lambda X: X * draws, draws**2)
    >>> centre.squared_distances(np.array([[2.0]]), own=np.array([4.0])).tolist()
    [4.0]
    """

    expansion: Expansion
    products: Array

    def squared_distances(self, X: Matrix, own: Array) -> Array:
        """Return the squared median of the distances of each point over the draws.

        Of an even number of draws it is the upper median, as the vote needs more than half of
        them.

        Parameters
        ----------
        X : ndarray of shape (m, d)
            The points.
        own : ndarray of shape (m,)
            Their values k_c(z, z) with themselves.

        Returns
        -------
        ndarray of shape (m,)
            In squared units of feature space.
        """
        middle = len(self.products) // 2
        medians = np.empty(len(X))
        for block, squared in self.squared_draws(X, own):
            squared.partition(middle, axis=1)
            medians[block] = squared[:, middle]
        return medians

    def squared_draws(self, X: Matrix, own: Array) -> Iterator[tuple[slice, Matrix]]:
        """Yield the squared distances of some points at a time, so that memory stays bounded.

        Parameters
        ----------
        X : ndarray of shape (m, d)
            The points.
        own : ndarray of shape (m,)
            Their values k_c(z, z) with themselves.

        Yields
        ------
        block : slice
            Which points.
        squared : ndarray of shape (k, n_draws)
            Their squared distances to each draw; the caller may change it.
        """
        for block in gen_batches(len(X), max(1, BLOCK_VALUES // len(self.products))):
            squared = self.expansion(X[block])
            squared *= -2.0
            squared += own[block, None]
            squared += self.products
            yield block, squared


def probes_of(posterior: SpherePosterior) -> Index:
    """Return the indices of a few targets, from outlying ones to central ones.

    Parameters
    ----------
    posterior : SpherePosterior
        The posterior.

    Returns
    -------
    ndarray of shape (n_probes,), dtype=int
        At most 5 indices, by rising row sum of the Gram matrix.

    Examples
    --------
    >>> K = np.array([[1.0, 0.9, 0.0], [0.9, 1.0, 0.0], [0.0, 0.0, 1.0]])
    >>> probes_of(SpherePosterior(K, np.ones(3), np.zeros(3))).tolist()
    [2, 0, 1]
    """
    by_depth = posterior.targets[np.argsort(posterior.row_sums[posterior.targets])]
    places = np.linspace(0, len(by_depth) - 1, min(N_PROBES, len(by_depth))).astype(int)
    probes: Index = by_depth[places]
    return probes


def sample_posterior(
    posterior: SpherePosterior,
    split: Kernel,
    points: Matrix,
    *,
    sampler: str,
    options: Mapping[str, Any],
) -> tuple[Array, Any]:
    """Run the chains.

    Parameters
    ----------
    posterior : SpherePosterior
        What is sampled.
    split : Kernel
        The kernel whose values the posterior holds.
    points : ndarray of shape (n, d)
        Targets and minority, in the order of the posterior.
    sampler : str
        A name of :data:`SAMPLERS`.
    options : mapping
        Arguments of the sampler.

    Returns
    -------
    theta : ndarray of shape (n_draws, n_0 + n_1)
        All draws, chain after chain.
    idata : arviz.InferenceData
        What the chains are compared by; theta itself is not kept.
    """
    defaults: dict[str, Any] = {}
    if sampler == "split_hmc":
        defaults["n_leapfrog"] = 5
    if posterior.n_flat:
        defaults["n_flat"] = posterior.n_flat
        if sampler == "split_hmc":
            n = posterior.n_targets
            defaults["blocks"] = [np.arange(n), np.arange(n, n + posterior.n_flat)]
            # Longer trajectories of the logits turn back.
            defaults["n_leapfrog"] = [5, 3]
    target = posterior.log_likelihood if sampler == "split_hmc" else _values_of(posterior)
    idata = SAMPLERS[sampler](
        target, posterior.prior_mean, posterior.prior_cov,
        functionals=_functionals(posterior, split, points), vectorized=True,
        **defaults | dict(options),
    )  # fmt: skip
    theta = idata.posterior["theta"].values
    idata.posterior = idata.posterior.drop_vars("theta")
    return theta.reshape(-1, theta.shape[-1]), idata


def _values_of(posterior: SpherePosterior) -> Callable[[Array], Array]:
    return lambda theta: posterior.log_likelihood(theta)[0]


def _functionals(
    posterior: SpherePosterior, split: Kernel, points: Matrix
) -> Callable[[Array], dict[str, Array]]:
    """What the chains are compared by: distances of a few targets, norm, atoms."""
    diagonal, one_sided = np.diagonal(posterior.K), split.one_sided(points)
    constant, probes = split.constant, probes_of(posterior)

    def functionals(theta: Array) -> dict[str, Array]:
        c = posterior.coefficients(theta)
        products = c @ posterior.K
        norms = np.einsum("ij,ij->i", c, products)
        squared = diagonal[probes] - 2.0 * products[:, probes] + norms[:, None]
        fractions = posterior.shares(theta)
        named = {
            "distance": np.sqrt(np.maximum(squared, 0.0)),
            "center_norm": np.sqrt(np.maximum(norms + constant + 2.0 * c @ one_sided, 0.0)),
            "effective_atoms": 1.0 / np.einsum("ij,ij->i", fractions, fractions),
        }
        if posterior.n_flat:
            named["minority_weight"] = expit(theta[:, posterior.n_targets :]).sum(axis=1)
        return named

    return functionals
