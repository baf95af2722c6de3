"""Linear models whose posterior is known, and how the tests run a sampler on them."""

from types import SimpleNamespace

import numpy as np
import pytest

from kernelbook.mcmc import elliptical_slice, metropolis, pcn, split_hmc

SAMPLERS = (metropolis, pcn, elliptical_slice, split_hmc)
disagreement_allowed = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def linear_model(X, y, noise, prior_mean, prior_cov):
    """Log likelihood, gradient and exact posterior of Bayesian linear regression."""
    X, y, m, S = (np.asarray(a, dtype=float) for a in (X, y, prior_mean, prior_cov))
    precision = np.linalg.inv(S) + X.T @ X / noise**2
    cov = np.linalg.inv(precision)
    return SimpleNamespace(
        log_likelihood=lambda t: -0.5 * ((y - t @ X.T) ** 2).sum(axis=-1) / noise**2,
        gradient=lambda t: (y - t @ X.T) @ X / noise**2,
        prior_mean=m,
        prior_cov=S,
        mean=cov @ (np.linalg.solve(S, m) + X.T @ y / noise**2),
        cov=(cov + cov.T) / 2,
    )


def small_model():
    """Three correlated coefficients under a correlated prior with a mean far from 0."""
    rng = np.random.default_rng(5)
    root = rng.normal(size=(3, 3))
    X = rng.normal(size=(4, 3))
    return linear_model(X, rng.normal(size=4), 1.0, [2.0, -1.0, 3.0], root @ root.T + np.eye(3))


def run(sampler, model, **options):
    if sampler is split_hmc:
        options = {"gradient": model.gradient, **options}
    options = {"vectorized": True, "random_state": 0, **options}
    return sampler(model.log_likelihood, model.prior_mean, model.prior_cov, **options)


def theta_of(idata):
    return idata.posterior["theta"].values
