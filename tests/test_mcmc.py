"""Samplers: exact posteriors, invariance, the integrator's laws, seeds, tuning, diagnostics."""

import sys
import warnings
from types import SimpleNamespace

import numpy as np
import pytest
from oracles import problems
from scipy import stats
from scipy.special import expit, log_softmax, softmax
from sklearn.exceptions import ConvergenceWarning

from kernelbook.exceptions import NotPositiveSemidefiniteError
from kernelbook.mcmc import (
    diagnose,
    elliptical_slice,
    gelman_rubin,
    metropolis,
    pcn,
    split_hmc,
    warn_unless_converged,
)
from kernelbook.mcmc.hamiltonian import _SplitHamiltonian
from kernelbook.mcmc.run import StepSizes
from kernelbook.mcmc.target import State, Target, check_prior

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


# The split Hamiltonian integrator.


def trajectory(model, prior, momentum, state_z, step, length, block):
    target = Target(model.log_likelihood, True, model.gradient)
    deviation = prior.colour(state_z)
    values, slope = target.value_and_gradient(prior.mean + deviation)
    state = State(state_z, deviation, values, prior.pull_back(slope))
    hamiltonian = _SplitHamiltonian(
        prior, StepSizes([step], len(state_z), False, 0.8), [block], [length]
    )
    steps = np.full(len(state_z), step)
    end, end_momentum = hamiltonian.trajectory(state, momentum, block, steps, length, target)
    drift = hamiltonian.energy(end, end_momentum) - hamiltonian.energy(state, momentum)
    return end, end_momentum, drift


def test_flow_of_the_prior_alone_conserves_energy_at_any_step():
    free = SimpleNamespace(log_likelihood=lambda t: np.zeros(len(t)), gradient=np.zeros_like)
    rng = np.random.default_rng(0)
    prior = check_prior(rng.normal(size=3), np.diag([1.0, 4.0, 9.0]) + 0.5, n_flat=2)
    z, p = rng.normal(size=(6, 5)), rng.normal(size=(6, 5))
    end, _, drift = trajectory(free, prior, p, z, 0.9, 7, np.arange(5))
    np.testing.assert_allclose(drift, 0.0, atol=1e-12)
    turned = np.cos(6.3) * z + np.sin(6.3) * p
    np.testing.assert_allclose(end.z[:, :3], turned[:, :3], atol=1e-12)
    np.testing.assert_allclose(end.z[:, 3:], (z + 6.3 * p)[:, 3:], atol=1e-12)


def test_trajectories_are_reversible_and_second_order():
    model = small_model()
    rng = np.random.default_rng(0)
    z = rng.normal(size=(5, 3))
    gaussian = check_prior(model.prior_mean, model.prior_cov)
    with_flat = check_prior(model.prior_mean[:2], model.prior_cov[:2, :2], n_flat=1)
    for prior, block in (
        (gaussian, np.arange(3)),
        (gaussian, np.array([2, 0])),
        (with_flat, np.arange(3)),
        (with_flat, np.array([2])),
    ):
        p = rng.normal(size=(5, block.size))
        end, end_momentum, drift = trajectory(model, prior, p, z, 0.02, 8, block)
        back, back_momentum, _ = trajectory(model, prior, -end_momentum, end.z, 0.02, 8, block)
        np.testing.assert_allclose(back.z, z, atol=1e-11)
        np.testing.assert_allclose(back_momentum, -p, atol=1e-11)
        _, _, finer = trajectory(model, prior, p, z, 0.01, 16, block)
        np.testing.assert_allclose(drift / finer, 4.0, rtol=0.05)
        untouched = np.setdiff1d(np.arange(3), block)
        np.testing.assert_array_equal(end.z[:, untouched], z[:, untouched])


@pytest.mark.parametrize("blocks", [None, [[0, 1], [2]]], ids=["joint", "blocks"])
def test_gaussian_and_flat_coordinates_together_agree_with_quadrature(blocks):
    """Two logits under a Gaussian prior and theta = logit(a), a ~ Beta(1, 1) with its Jacobian."""
    m, s = np.array([1.0, -0.5]), np.array([0.5, 2.0])

    def parts(t):
        a, w = expit(t[..., 2]), softmax(t[..., :2], axis=-1)
        return a, w, w[..., 0] * (1 + a)

    def log_likelihood(t):
        a, _, u = parts(t)
        return -4.0 * (u - 0.3) ** 2 + 2.0 * a + np.log(a) + np.log1p(-a)

    def pair(t):
        a, w, u = parts(t)
        du = -8.0 * (u - 0.3)
        along = du * (1 + a) * w[..., 0] * w[..., 1]
        da = a * (1 - a) * (du * w[..., 0] + 2.0) + 1.0 - 2.0 * a
        return log_likelihood(t), np.stack([along, -along, da], axis=-1)

    idata = split_hmc(
        pair,
        m,
        s,
        n_flat=1,
        blocks=blocks,
        n_leapfrog=4,
        n_samples=1500,
        n_burn_in=300,
        vectorized=True,
        random_state=0,
        functionals=lambda t: {"a": expit(t[:, 2]), "w": parts(t)[1][:, 0]},
    )
    # Only the difference of the logits matters: N(1.5, 2.5) by Gauss-Hermite, a by a fine grid.
    nodes, weights = np.polynomial.hermite_e.hermegauss(80)
    w = expit(1.5 + np.sqrt(2.5) * nodes)[:, None]
    a = (np.arange(4000) + 0.5) / 4000
    density = weights[:, None] * np.exp(-4.0 * (w * (1 + a) - 0.3) ** 2 + 2.0 * a)
    mean_a, mean_w = (density * a).sum() / density.sum(), (density * w).sum() / density.sum()
    ess = diagnose(idata, ["a", "w"])["ess_bulk"]
    assert ess.min() > 400
    assert float(idata.posterior["a"].mean()) == pytest.approx(mean_a, abs=0.02)
    assert float(idata.posterior["w"].mean()) == pytest.approx(mean_w, abs=0.02)
    expected_dims = ("chain", "draw") if blocks is None else ("chain", "draw", "block")
    assert idata.sample_stats["acceptance_rate"].dims == expected_dims


@disagreement_allowed
def test_gradient_apart_or_paired_is_the_same_run():
    model = small_model()

    def pair(t):
        return model.log_likelihood(t), model.gradient(t)

    options = {"vectorized": True, "random_state": 0, "n_samples": 40, "n_burn_in": 40}
    apart = run(split_hmc, model, **options)
    paired = split_hmc(pair, model.prior_mean, model.prior_cov, **options)
    plain = split_hmc(pair, model.prior_mean, model.prior_cov, **(options | {"vectorized": False}))
    np.testing.assert_array_equal(theta_of(apart), theta_of(paired))
    np.testing.assert_allclose(theta_of(apart), theta_of(plain), rtol=1e-7)


# Tuning and the dimension.


@disagreement_allowed
def test_pcn_does_not_notice_the_dimension_and_metropolis_does():
    def acceptance(sampler, d, **options):
        idata = sampler(
            lambda t: -0.5 * (t[:, 0] - 1.0) ** 2,
            np.zeros(d),
            start=np.random.default_rng(0).normal(size=(4, d)),
            adapt=False,
            n_burn_in=0,
            n_samples=300,
            vectorized=True,
            random_state=0,
            **options,
        )
        return float(idata.sample_stats["acceptance_rate"].mean())

    low, high = (acceptance(pcn, d, beta=0.5) for d in (5, 500))
    assert abs(low - high) < 0.06
    assert acceptance(metropolis, 5, step=0.5) > 0.5
    assert acceptance(metropolis, 500, step=0.5) < 1e-4


@disagreement_allowed
def test_fixed_proposal_scale_dies_in_high_dimension():
    """Case M01: scale 1 in 50 dimensions is hardly ever accepted, 2.38 / sqrt(d) is."""
    d = 50

    def run_metropolis(step, **options):
        idata = metropolis(
            lambda t: -0.5 * (t**2).sum(axis=1),
            start=np.random.default_rng(7).normal(size=(4, d)),
            step=step,
            n_samples=5000,
            vectorized=True,
            random_state=0,
            **options,
        )
        rate = idata.sample_stats["accepted"].values.mean()
        probability = float(idata.sample_stats["acceptance_rate"].mean())
        assert rate == pytest.approx(probability, abs=0.01)
        return probability, idata.sample_stats["step_size"].values

    too_wide, _ = run_metropolis(1.0, adapt=False, n_burn_in=0)
    assert too_wide == pytest.approx(2e-4, abs=2e-4)
    scaled, _ = run_metropolis(2.38 / np.sqrt(d), adapt=False, n_burn_in=0)
    assert scaled == pytest.approx(0.236, abs=0.02)
    tuned, sizes = run_metropolis(1.0, n_burn_in=1000)
    assert tuned == pytest.approx(0.234, abs=0.03)
    np.testing.assert_allclose(sizes, 2.38 / np.sqrt(d), rtol=0.15)


@pytest.mark.parametrize("sampler", [metropolis, pcn, split_hmc])
def test_steps_change_in_the_burn_in_only(sampler):
    model = small_model()
    first = {"beta": 0.1} if sampler is pcn else {"step": 0.1}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        tuned = run(sampler, model, n_samples=100, n_burn_in=300, **first)
        fixed = run(sampler, model, n_samples=100, n_burn_in=300, adapt=False, **first)
        unburnt = run(sampler, model, n_samples=100, n_burn_in=0, **first)
    sizes = tuned.sample_stats["step_size"].values
    assert np.all(sizes == sizes[:, :1])
    assert np.all(sizes != 0.1)
    for idata in (fixed, unburnt):
        np.testing.assert_allclose(idata.sample_stats["step_size"], 0.1)


def test_pcn_step_stops_at_a_full_refresh():
    idata = pcn(lambda t: 0.0, [0.0], n_samples=200, random_state=0)
    np.testing.assert_allclose(idata.sample_stats["step_size"], 1.0, rtol=1e-3)


def test_rejected_states_are_repeated():
    """Case M03: without the repeats the variance would be 1.27."""
    idata = metropolis(
        lambda t: -0.5 * t[:, 0] ** 2,
        start=np.linspace(-2, 2, 8)[:, None],
        step=5.0,
        adapt=False,
        n_burn_in=0,
        n_samples=25_000,
        vectorized=True,
        random_state=0,
    )
    theta = theta_of(idata)[..., 0]
    assert theta.shape == (8, 25_000)
    assert theta.var() == pytest.approx(1.0, abs=0.02)
    moved = np.diff(theta, axis=1) != 0
    np.testing.assert_array_equal(moved, idata.sample_stats["accepted"].values[:, 1:])
    kept = np.concatenate([chain[1:][m] for chain, m in zip(theta, moved, strict=True)])
    assert kept.var() == pytest.approx(1.27, abs=0.03)


@disagreement_allowed
def test_tiny_likelihoods_do_not_underflow():
    """Case M05: log densities of -1000 and -1001 differ by a ratio of exp(-1)."""
    idata = metropolis(
        lambda t: -1000.0 - (t[:, 0] != 0.0),
        start=np.zeros((20, 1)),
        n_burn_in=0,
        n_samples=1,
        vectorized=True,
        random_state=0,
    )
    np.testing.assert_array_equal(idata.sample_stats["acceptance_rate"], np.exp(-1.0))
    huge = metropolis(
        lambda t: -1e6 - 0.5 * t[:, 0] ** 2,
        start=np.zeros(1),
        n_samples=3000,
        vectorized=True,
        random_state=0,
    )
    assert theta_of(huge).var() == pytest.approx(1.0, abs=0.1)


def test_softmax_weights_are_judged_on_weights():
    """Case M07: a constant added to all logits changes nothing: under a flat prior they drift."""
    counts = np.array([5.0, 3.0, 2.0])

    def log_likelihood(t):
        return log_softmax(t, axis=-1) @ counts

    point = np.random.default_rng(0).normal(size=3)
    assert log_likelihood(point + 50) == pytest.approx(log_likelihood(point), abs=1e-12)
    idata = metropolis(
        log_likelihood,
        start=np.random.default_rng(1).normal(size=(8, 3)),
        step=0.5,
        adapt=False,
        n_samples=8000,
        n_burn_in=0,
        vectorized=True,
        random_state=0,
        functionals=lambda t: {"p": softmax(t, axis=1)},
    )
    np.testing.assert_allclose(
        idata.posterior["p"].mean(("chain", "draw")), [0.5, 0.3, 0.2], atol=0.02
    )
    assert diagnose(idata, ["p"])["r_hat"].max() < 1.01
    assert theta_of(idata).mean(axis=2).var() > 50
    assert diagnose(idata, ["theta"]).drop(index="lp")["r_hat"].min() > 1.05


# Seeds.


@disagreement_allowed
@pytest.mark.parametrize("sampler", SAMPLERS)
def test_seeds(sampler):
    """Case M09: same seed, same chains; the global generator is left alone."""
    model = small_model()
    np.random.seed(11)
    before = np.random.get_state()[1].copy()

    def draws(random_state, **options):
        return theta_of(
            run(sampler, model, random_state=random_state, n_samples=20, n_burn_in=10, **options)
        )

    first = draws(42)
    np.testing.assert_array_equal(first, draws(42))
    np.testing.assert_array_equal(first, draws(np.random.SeedSequence(42)))
    assert np.all(first != draws(43))
    assert len(np.unique(first[:, -1], axis=0)) == 4
    np.testing.assert_array_equal(np.random.get_state()[1], before)
    for make in (np.random.default_rng, np.random.RandomState):
        generator = make(0)
        once, twice = draws(generator), draws(generator)
        np.testing.assert_array_equal(once, draws(make(0)))
        assert np.all(once != twice)
    assert np.all(draws(None) != draws(None))


@disagreement_allowed
@pytest.mark.parametrize("sampler", SAMPLERS)
def test_a_chain_does_not_depend_on_its_neighbours(sampler):
    model = small_model()
    options = {"n_samples": 20, "n_burn_in": 30, "random_state": 5}
    few, many = (
        run(sampler, model, n_chains=2, **options),
        run(sampler, model, n_chains=9, **options),
    )
    np.testing.assert_allclose(theta_of(few), theta_of(many)[:2], rtol=1e-6)


@disagreement_allowed
def test_entropy_of_an_unseeded_run_repeats_it():
    first = pcn(lambda t: 0.0, [0.0], n_samples=10, n_burn_in=0)
    again = pcn(
        lambda t: 0.0, [0.0], n_samples=10, n_burn_in=0, random_state=int(first.attrs["entropy"])
    )
    np.testing.assert_array_equal(theta_of(first), theta_of(again))


@disagreement_allowed
def test_default_starts_are_over_dispersed():
    idata = metropolis(
        lambda t: np.zeros(len(t)),
        np.full(2, 3.0),
        4.0,
        n_flat=1,
        step=1e-9,
        adapt=False,
        n_burn_in=0,
        n_samples=1,
        n_chains=4000,
        vectorized=True,
        random_state=0,
    )
    start = theta_of(idata)[:, 0]
    np.testing.assert_allclose(start.mean(axis=0), [3.0, 3.0, 0.0], atol=0.3)
    np.testing.assert_allclose(start.std(axis=0), [4.0, 4.0, 2.0], rtol=0.05)


# What is kept.


@disagreement_allowed
def test_thinning_and_functionals():
    model = small_model()
    options = {"n_burn_in": 10, "n_chains": 3}
    every = run(pcn, model, n_samples=30, **options)
    third = run(pcn, model, n_samples=10, thin=3, **options)
    np.testing.assert_array_equal(theta_of(every)[:, 2::3], theta_of(third))
    functionals = run(
        pcn,
        model,
        n_samples=30,
        store_draws=False,
        functionals=lambda t: {"norm": (t**2).sum(axis=1), "first": t[:, :2], "count": t[:, 0] > 0},
        **options,
    )
    assert set(functionals.posterior.data_vars) == {"norm", "first", "count"}
    np.testing.assert_array_equal(functionals.posterior["first"], theta_of(every)[..., :2])
    np.testing.assert_allclose(functionals.posterior["norm"], (theta_of(every) ** 2).sum(axis=2))
    plain = pcn(
        lambda t: float(model.log_likelihood(t)),
        model.prior_mean,
        model.prior_cov,
        n_samples=30,
        functionals=lambda t: {"norm": (t**2).sum()},
        random_state=0,
        **options,
    )
    np.testing.assert_allclose(plain.posterior["norm"], functionals.posterior["norm"], rtol=1e-7)


@disagreement_allowed
def test_whole_numbers_first_do_not_truncate_a_functional():
    values = iter([1, 0.5, 0.25, 0.125])
    idata = pcn(
        lambda t: 0.0,
        [0.0],
        n_chains=1,
        n_samples=4,
        functionals=lambda t: {"v": next(values)},
        random_state=0,
    )
    assert idata.posterior["v"].values.tolist() == [[1.0, 0.5, 0.25, 0.125]]


@disagreement_allowed
def test_elliptical_slice_counts_its_evaluations():
    calls = []

    def log_likelihood(t):
        calls.append(1)
        return -50.0 * (t[0] - 1.0) ** 2

    idata = elliptical_slice(
        log_likelihood, [0.0], n_chains=2, n_samples=40, n_burn_in=0, random_state=0
    )
    assert idata.sample_stats["n_evaluations"].values.sum() == len(calls) - 2  # two starts
    assert idata.sample_stats["accepted"].values.all()


@disagreement_allowed
def test_elliptical_slice_ends_when_the_likelihood_is_not_a_function():
    """Noise in the likelihood may leave no point above the level: the state then stays."""
    values = iter(np.linspace(0.0, -1e6, 100_000))
    idata = elliptical_slice(
        lambda t: next(values), [0.0], n_chains=1, n_samples=8, n_burn_in=0, random_state=0
    )
    assert not idata.sample_stats["accepted"].values.any()


@disagreement_allowed
def test_progress_bar_changes_nothing_else(monkeypatch, capsys):
    shown = []

    def bar(iterable, desc):
        shown.append((len(iterable), desc))
        return iterable

    monkeypatch.setattr("tqdm.auto.tqdm", bar)
    options = {"n_samples": 10, "n_burn_in": 5, "thin": 2}
    quiet = run(pcn, small_model(), **options)
    assert shown == []
    loud = run(pcn, small_model(), progress=True, **options)
    assert shown == [(25, "pcn")]
    assert capsys.readouterr() == ("", "")
    np.testing.assert_array_equal(theta_of(quiet), theta_of(loud))


# Diagnostics.


def test_classic_r_hat():
    """Case M11, the numbers by hand."""
    assert gelman_rubin([[1, 2, 3, 4], [2, 3, 4, 5]]) == pytest.approx(1.024695, abs=1e-6)
    assert gelman_rubin([[0, 1, 0, 1], [10, 11, 10, 11]]) == pytest.approx(12.278029, abs=1e-6)
    assert np.isnan(gelman_rubin([[1, 1, 1], [1, 1, 1]]))
    assert gelman_rubin([[1, 1, 1], [2, 2, 2]]) == np.inf
    for chains in ([[1, 2, 3]], [[1], [2]], [1, 2, 3]):
        with pytest.raises(ValueError, match="at least two"):
            gelman_rubin(chains)


def from_arrays(**arrays):
    import arviz

    return arviz.from_dict(posterior={name: np.asarray(a, float) for name, a in arrays.items()})


def test_diagnose_constant_and_stuck_quantities():
    rng = np.random.default_rng(0)
    stuck = np.broadcast_to([[1.0], [2.0]], (2, 100))
    idata = from_arrays(good=rng.normal(size=(2, 100, 2)), constant=np.ones((2, 100)), stuck=stuck)
    table = diagnose(idata)
    assert table.index.tolist() == ["good[0]", "good[1]", "constant", "stuck"]
    assert table.loc["good[0]", "ess_bulk"] > 100
    assert np.isnan(table.loc["constant", "r_hat"])
    assert table.loc["stuck", "r_hat"] == np.inf
    warn_unless_converged(idata, ["constant"])
    with pytest.warns(ConvergenceWarning, match="R-hat of stuck is inf"):
        warn_unless_converged(idata, ["constant", "stuck"])
    with pytest.raises(ValueError, match=r"3 draws in 2 chain\(s\) are too few"):
        diagnose(from_arrays(short=rng.normal(size=(2, 3))))
    with pytest.raises(ValueError, match=r"var_names has \['bad'\]"):
        diagnose(idata, ["bad"])


def test_diagnose_agrees_with_arviz():
    import arviz

    draws = np.random.default_rng(0).normal(size=(4, 300)).cumsum(axis=1)
    table = diagnose(from_arrays(walk=draws))
    assert table.loc["walk", "r_hat"] == pytest.approx(float(arviz.rhat(draws)))
    assert table.loc["walk", "ess_bulk"] == pytest.approx(float(arviz.ess(draws)))
    assert table.loc["walk", "ess_tail"] == pytest.approx(float(arviz.ess(draws, method="tail")))
    assert table.loc["walk", "mean"] == pytest.approx(draws.mean())


def test_a_single_chain_is_compared_with_itself():
    rng = np.random.default_rng(0)
    still, trend = rng.normal(size=(1, 501)), rng.normal(size=(1, 501)) + np.linspace(0, 5, 501)
    table = diagnose(from_arrays(still=still, trend=trend))
    assert table.loc["still", "r_hat"] < 1.02
    assert table.loc["trend", "r_hat"] > 1.5


def two_modes():
    """At -6 and 6, with standard deviation 0.1, under a prior that spans both."""
    return SimpleNamespace(
        log_likelihood=lambda t: -50.0 * (np.abs(t[:, 0]) - 6.0) ** 2,
        gradient=lambda t: -100.0 * (t - 6.0 * np.sign(t)),
        prior_mean=[0.0],
        prior_cov=36.0,
    )


@pytest.mark.parametrize(
    ("sampler", "step"),
    [(metropolis, {"step": 0.03}), (pcn, {"beta": 0.03}), (split_hmc, {"step": 0.01})],
)
def test_disagreeing_chains_warn_with_the_number(sampler, step):
    start = np.array([[-6.0], [6.0], [-6.0], [6.0]])
    options = {"start": start, "n_samples": 200, "n_burn_in": 0, "adapt": False, **step}
    with pytest.warns(ConvergenceWarning, match=r"R-hat of theta\[0\] is [\d.]+") as caught:
        idata = run(sampler, two_modes(), **options)
    assert f"{diagnose(idata)['r_hat'].max():.4g}" in str(caught[0].message)
    assert caught[0].filename == __file__


def test_elliptical_slice_jumps_between_modes():
    theta = theta_of(run(elliptical_slice, two_modes(), n_samples=2000))
    assert np.all((theta < 0).any(axis=1) & (theta > 0).any(axis=1))


def test_chains_that_never_move_and_short_runs_warn():
    with pytest.warns(ConvergenceWarning, match=r"chain\(s\) \[0, 1\] never changed"):
        metropolis(
            lambda t: -1e12 * t[0] ** 2,
            start=np.zeros((2, 1)),
            adapt=False,
            n_samples=10,
            n_burn_in=0,
            random_state=0,
        )
    with pytest.warns(ConvergenceWarning, match=r"2 draws in 4 chain\(s\) are too few"):
        pcn(lambda t: 0.0, [0.0], n_samples=2, random_state=0)


# Errors name the argument and the remedy.


def constant(t):
    return 0.0


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: pcn(constant, [[0.0, 1.0]]), ValueError, "prior_mean must be a vector"),
        (lambda: pcn(constant, [np.nan]), ValueError, "prior_mean must be a vector"),
        (lambda: pcn(constant, [0.0, 0.0], np.eye(3)), ValueError, "prior_cov must be a number"),
        (lambda: pcn(constant, [0.0], np.inf), ValueError, "prior_cov has entries"),
        (lambda: pcn(constant, [0.0], -1.0), NotPositiveSemidefiniteError, "positive variances"),
        (
            lambda: pcn(constant, [0.0, 0.0], [[1.0, 2.0], [2.0, 1.0]]),
            NotPositiveSemidefiniteError,
            "smallest eigenvalue is -1",
        ),
        (lambda: pcn(constant, [0.0, 0.0], [[1.0, 0.5], [0.0, 1.0]]), ValueError, "symmetric"),
        (lambda: pcn(constant, [0.0], beta=1.5), ValueError, "beta"),
        (lambda: pcn(constant, [0.0], n_samples=0), ValueError, "n_samples"),
        (lambda: pcn(constant, [0.0], n_burn_in=-1), ValueError, "n_burn_in"),
        (lambda: pcn(constant, [0.0], n_chains=0), ValueError, "n_chains"),
        (lambda: pcn(constant, [0.0], thin=1.5), TypeError, "thin"),
        (lambda: pcn(constant, [0.0], target_acceptance=0.0), ValueError, "target_acceptance"),
        (lambda: pcn(constant, [0.0], store_draws=False), ValueError, "store_draws=False keeps"),
        (lambda: pcn(constant, [0.0], start=[0.0, 1.0]), ValueError, "start must be finite"),
        (lambda: pcn(constant, [0.0], random_state="x"), ValueError, "random_state"),
        (lambda: metropolis(constant), ValueError, r"flat prior .* give start"),
        (lambda: metropolis(constant, n_flat=2, start=[0.0]), ValueError, "need prior_mean"),
        (lambda: metropolis(constant, [0.0], step=0.0), ValueError, "step"),
        (lambda: metropolis(constant, [0.0], n_flat=-1), ValueError, "n_flat"),
        (lambda: elliptical_slice(lambda t: -np.inf, [0.0]), ValueError, "-inf at the start"),
        (lambda: elliptical_slice(lambda t: np.nan, [0.0]), ValueError, "log_likelihood is nan"),
        (lambda: elliptical_slice(lambda t: np.inf, [0.0]), ValueError, "log_likelihood is inf"),
        (lambda: elliptical_slice(lambda t: "x", [0.0]), ValueError, "must return numbers"),
        (lambda: elliptical_slice(lambda t: t, [0.0, 0.0]), ValueError, "must return one number"),
        (
            lambda: elliptical_slice(constant, [0.0], vectorized=True),
            ValueError,
            r"must return shape \(4,\)",
        ),
        (
            lambda: pcn(constant, np.zeros(2), np.ones((2, 2)), start=[1.0, 2.0]),
            ValueError,
            "outside the range of the singular prior_cov",
        ),
        (lambda: split_hmc(constant, [0.0]), ValueError, "must return the pair"),
        (
            lambda: split_hmc(constant, [0.0], gradient=lambda t: 0.0),
            ValueError,
            "gradient must have the shape",
        ),
        (
            lambda: split_hmc(constant, [0.0], gradient=lambda t: [np.nan]),
            ValueError,
            "gradient is not finite",
        ),
        (
            lambda: split_hmc(constant, [0.0, 0.0], gradient=np.zeros_like, blocks=[[0], [0]]),
            ValueError,
            "blocks must hold each coordinate",
        ),
        (
            lambda: split_hmc(constant, [0.0, 0.0], gradient=np.zeros_like, n_leapfrog=[1, 2]),
            ValueError,
            "n_leapfrog has 2 entries for 1 blocks",
        ),
        (
            lambda: split_hmc(constant, [0.0], gradient=np.zeros_like, n_leapfrog=0),
            ValueError,
            "n_leapfrog",
        ),
        (
            lambda: pcn(constant, [0.0], functionals=lambda t: {"theta": 1.0}),
            ValueError,
            "a name other than 'theta'",
        ),
        (
            lambda: pcn(
                lambda t: np.zeros(len(t)),
                [0.0],
                vectorized=True,
                functionals=lambda t: {"f": 1.0},
                n_burn_in=0,
            ),
            ValueError,
            "one row for each of the 4 states",
        ),
    ],
)
def test_errors(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_missing_packages_name_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    with pytest.raises(ImportError, match=r"kernelbook\[bayes\]"):
        pcn(constant, [0.0], progress=True)
    monkeypatch.setitem(sys.modules, "arviz", None)
    with pytest.raises(ImportError, match=r"kernelbook\[bayes\]"):
        pcn(constant, [0.0])
