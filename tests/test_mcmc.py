"""Samplers draw from the posterior: exact answers, invariance under one iteration, boundaries."""

import warnings

import numpy as np
import pytest
from gaussian_models import (
    SAMPLERS,
    disagreement_allowed,
    linear_model,
    run,
    small_model,
    theta_of,
)
from oracles import problems
from scipy import stats
from sklearn.exceptions import ConvergenceWarning

from kernelbook.mcmc import diagnose, elliptical_slice, metropolis, pcn, split_hmc

# Proved posteriors.


@disagreement_allowed
@pytest.mark.parametrize("sampler", SAMPLERS)
@pytest.mark.parametrize("problem", problems("mcmc"), ids=lambda p: p["id"])
def test_closed_form_posteriors(problem, sampler):
    data, expected = problem["data"], problem["expected"]
    model = linear_model(data["X"], data["y"], data["noise"], data["prior_mean"], data["prior_cov"])
    slow = len(model.prior_mean) > 2 and sampler is not split_hmc  # hundreds of steps a draw
    thin = 2 if sampler is elliptical_slice else 6
    length = {"n_chains": 32, "thin": thin, "n_burn_in": 1000} if slow else {"n_burn_in": 500}
    idata = run(sampler, model, n_samples=1000, **length)
    theta = theta_of(idata)
    ess = diagnose(idata).drop(index="lp")["ess_bulk"].to_numpy()
    assert ess.min() > 50
    variance = np.array(expected["variance"])
    assert np.all(np.abs(theta.mean((0, 1)) - expected["mean"]) <= 5 * np.sqrt(variance / ess))
    assert np.all(np.abs(theta.var((0, 1)) - variance) <= 5 * variance * np.sqrt(2 / ess))
    p = expected["prob_theta0_positive"]
    error = abs((theta[..., 0] > 0).mean() - p)
    assert error <= 5 * np.sqrt(p * (1 - p) / ess[0]) + 1e-12


def test_plain_function_of_one_vector():
    data = problems("mcmc")[0]["data"]
    X, y, noise = np.array(data["X"]), np.array(data["y"]), data["noise"]
    idata = elliptical_slice(
        lambda theta: -0.5 * ((y - X @ theta) @ (y - X @ theta)) / noise**2,
        data["prior_mean"],
        data["prior_cov"],
        random_state=3,
    )
    expected = problems("mcmc")[0]["expected"]
    assert theta_of(idata).shape == (4, 1000, 1)
    assert theta_of(idata).mean() == pytest.approx(expected["mean"][0], abs=0.03)


@pytest.mark.parametrize("sampler", SAMPLERS)
def test_log_posterior_is_likelihood_plus_prior_quadratic(sampler):
    model = small_model()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        idata = run(sampler, model, n_samples=50, n_burn_in=20)
    theta = theta_of(idata)
    offset = theta - model.prior_mean
    quadratic = np.einsum("cdi,ij,cdj->cd", offset, np.linalg.inv(model.prior_cov), offset)
    expected = model.log_likelihood(theta) - 0.5 * quadratic
    np.testing.assert_allclose(idata.sample_stats["lp"], expected, rtol=1e-9)


# One iteration from exact draws leaves them exact: no burn-in can hide a biased kernel.


def exact_draws(model, n, seed=1):
    return np.random.default_rng(seed).multivariate_normal(model.mean, model.cov, size=n)


@disagreement_allowed
@pytest.mark.parametrize(
    ("sampler", "options"),
    [
        (metropolis, {"step": 0.3}),
        (pcn, {"beta": 0.3}),
        (elliptical_slice, {}),
        (split_hmc, {"n_leapfrog": 3, "step": 0.15}),
        (split_hmc, {"blocks": [[2], [0, 1]], "n_leapfrog": [2, 1], "step": 0.15}),
    ],
    ids=["metropolis", "pcn", "elliptical_slice", "split_hmc", "blocks"],
)
def test_the_posterior_is_invariant(sampler, options):
    model = small_model()
    n = 6000
    idata = run(
        sampler,
        model,
        start=exact_draws(model, n),
        n_chains=n,
        n_burn_in=0,
        n_samples=2,
        **options,
    )
    accepted = idata.sample_stats["accepted"].values.mean()
    assert accepted > 0.2
    whitened = np.linalg.solve(
        np.linalg.cholesky(model.cov), (theta_of(idata)[:, -1] - model.mean).T
    )
    np.testing.assert_allclose(whitened.mean(axis=1), 0.0, atol=4.5 / np.sqrt(n))
    np.testing.assert_allclose(np.cov(whitened), np.eye(3), atol=4.5 * np.sqrt(2 / n))
    for coordinate in whitened:
        assert stats.kstest(coordinate, "norm").pvalue > 1e-4


@disagreement_allowed
def test_the_invariance_check_notices_a_wrong_target():
    """The check has power: the prior's draws are told from the posterior's."""
    model = small_model()
    whitened = np.linalg.solve(
        np.linalg.cholesky(model.cov), (exact_draws(model, 6000) - model.prior_mean).T
    )
    assert any(stats.kstest(coordinate, "norm").pvalue < 1e-4 for coordinate in whitened)


def test_elliptical_slice_is_centred_at_the_prior_mean():
    """Rotating theta itself would pull the posterior towards 0 by more than 1.3."""
    model = linear_model([[1.0]], [6.0], 1.0, [4.0], [[1.0]])
    idata = run(elliptical_slice, model, n_samples=2000)
    assert theta_of(idata).mean() == pytest.approx(5.0, abs=0.05)


def test_singular_prior_covariance_keeps_the_state_in_its_range():
    ones = np.ones((3, 3))
    for sampler in (pcn, elliptical_slice):
        idata = sampler(
            lambda t: -0.5 * (t[:, 0] - 2.0) ** 2,
            np.zeros(3),
            ones,
            vectorized=True,
            random_state=0,
            n_samples=2000,
            functionals=lambda t: {"first": t[:, 0]},
        )
        theta = theta_of(idata)
        np.testing.assert_allclose(theta, theta[..., :1].repeat(3, axis=-1), atol=1e-6)
        assert theta.mean() == pytest.approx(1.0, abs=0.1)  # N(1, 1/2)
        assert theta[..., 0].var() == pytest.approx(0.5, abs=0.1)


def test_support_with_a_boundary():
    """A standard normal cut to the positive half: mean sqrt(2 / pi)."""

    def log_likelihood(t):
        return np.where(t[:, 0] > 0, 0.0, -np.inf)

    def gradient(t):
        return np.where(t > 0, 0.0, np.nan)  # outside the support it is never used

    for sampler, options in (
        (metropolis, {}),
        (pcn, {}),
        (elliptical_slice, {}),
        (split_hmc, {"gradient": gradient, "n_leapfrog": 2}),
    ):
        idata = sampler(
            log_likelihood,
            [0.0],
            start=[0.5],
            n_samples=3000,
            n_chains=8,
            vectorized=True,
            random_state=0,
            **options,
        )
        theta = theta_of(idata)
        assert theta.min() > 0
        assert theta.mean() == pytest.approx(np.sqrt(2 / np.pi), abs=0.05)
