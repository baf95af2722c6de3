"""The split Hamiltonian integrator: its laws, its blocks, flat coordinates, gradients."""

from types import SimpleNamespace

import numpy as np
import pytest
from gaussian_models import disagreement_allowed, run, small_model, theta_of
from scipy.special import expit, softmax

from kernelbook.mcmc import diagnose, split_hmc
from kernelbook.mcmc._run import StepSizes
from kernelbook.mcmc._target import State, Target, check_prior
from kernelbook.mcmc.hamiltonian import _SplitHamiltonian


def trajectory(model, prior, momentum, state_z, step, length, block):
    target = Target(model.log_likelihood, True, model.gradient)
    deviation = prior.colour(state_z)
    values, slope = target.value_and_gradient(prior.mean + deviation)
    state = State(state_z, deviation, values, prior.pull_back(slope))
    hamiltonian = _SplitHamiltonian(prior, StepSizes([step], False, 0.8), [block], [length])
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
def test_gaussian_and_flat_coordinates_agree_with_quadrature(blocks):
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
