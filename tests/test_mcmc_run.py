"""How chains are run: tuned steps, seeds, starts, what is kept, errors that name the argument."""

import sys
import warnings

import numpy as np
import pytest
from gaussian_models import SAMPLERS, disagreement_allowed, run, small_model, theta_of
from scipy.special import log_softmax, softmax
from sklearn.exceptions import ConvergenceWarning

from kernelbook.exceptions import NotPositiveSemidefiniteError
from kernelbook.mcmc import diagnose, elliptical_slice, metropolis, pcn, split_hmc

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
    assert np.all(first != draws(43))
    assert len(np.unique(first[:, -1], axis=0)) == 4
    np.testing.assert_array_equal(np.random.get_state()[1], before)
    generator = np.random.RandomState(0)
    once, twice = draws(generator), draws(generator)
    np.testing.assert_array_equal(once, draws(np.random.RandomState(0)))
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
def test_integers_first_do_not_truncate_a_functional():
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
def test_elliptical_slice_ends_where_the_likelihood_is_noise():
    """Noise in the likelihood may leave no point above the level: the state then stays."""
    values = iter(np.linspace(0.0, -1e6, 100_000))
    idata = elliptical_slice(
        lambda t: next(values), [0.0], n_chains=1, n_samples=8, n_burn_in=0, random_state=0
    )
    assert not idata.sample_stats["accepted"].values.any()


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
        (lambda: pcn(constant, [0.0], beta=1.5), ValueError, r"beta must be .* \(0, 1\]"),
        (lambda: pcn(constant, [0.0], n_samples=0), ValueError, "n_samples must be .* >= 1"),
        (lambda: pcn(constant, [0.0], n_burn_in=-1), ValueError, "n_burn_in must be .* >= 0"),
        (lambda: pcn(constant, [0.0], n_chains=0), ValueError, "n_chains must be .* >= 1"),
        (lambda: pcn(constant, [0.0], thin=1.5), ValueError, "thin must be an integer >= 1"),
        (lambda: pcn(constant, [0.0], target_acceptance=0.0), ValueError, "target_acceptance must"),
        (lambda: pcn(constant, [0.0], store_draws=False), ValueError, "store_draws=False keeps"),
        (lambda: pcn(constant, [0.0], start=[0.0, 1.0]), ValueError, "start must be finite"),
        (lambda: pcn(constant, [0.0], random_state="x"), ValueError, "random_state must be"),
        (lambda: metropolis(constant), ValueError, r"flat prior .* give start"),
        (lambda: metropolis(constant, n_flat=2, start=[0.0]), ValueError, "need prior_mean"),
        (lambda: metropolis(constant, [0.0], step=0.0), ValueError, "step must be a number > 0"),
        (lambda: metropolis(constant, [0.0], n_flat=-1), ValueError, "n_flat must be .* >= 0"),
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
            "n_leapfrog must be an integer >= 1, got 0",
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


def test_without_arviz_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "arviz", None)
    with pytest.raises(ImportError, match=r"kernelbook\[bayes\]"):
        pcn(constant, [0.0])
