"""Do the chains agree? Tables and warnings for agreeing, disagreeing, stuck and short chains."""

from types import SimpleNamespace

import gaussian_models
import numpy as np
import pytest
from gaussian_models import run, theta_of
from sklearn.exceptions import ConvergenceWarning

from kernelbook.mcmc import diagnose, elliptical_slice, metropolis, pcn, split_hmc
from kernelbook.mcmc.diagnostics import import_arviz, warn_unless_converged

arviz = import_arviz()


def from_arrays(**arrays):
    return arviz.from_dict(posterior={name: np.asarray(a, float) for name, a in arrays.items()})


def test_diagnose_constant_and_stuck_quantities():
    rng = np.random.default_rng(0)
    stuck = np.broadcast_to([[1.0], [2.0]], (2, 100))
    idata = from_arrays(
        good=rng.normal(size=(2, 100, 2)), constant=np.full((2, 100), 0.1), stuck=stuck
    )
    table = diagnose(idata)
    assert table.index.tolist() == ["good[0]", "good[1]", "constant", "stuck"]
    assert table.loc["good[0]", "ess_bulk"] > 100
    assert np.isnan(table.loc["constant", "r_hat"])
    assert table.loc["stuck", "r_hat"] == np.inf
    moved = np.ones(2, dtype=bool)
    warn_unless_converged(idata, ["constant"], moved)
    with pytest.warns(ConvergenceWarning, match="R-hat of stuck is inf"):
        warn_unless_converged(idata, ["constant", "stuck"], moved)
    with pytest.raises(ValueError, match=r"3 draws in 2 chain\(s\) are too few"):
        diagnose(from_arrays(short=rng.normal(size=(2, 3))))
    with pytest.raises(ValueError, match=r"var_names has \['bad'\]"):
        diagnose(idata, ["bad"])


def test_diagnose_agrees_with_arviz():
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
    assert caught[0].filename == gaussian_models.__file__  # where `run` calls the sampler


def test_elliptical_slice_jumps_between_modes():
    theta = theta_of(run(elliptical_slice, two_modes(), n_samples=2000))
    assert np.all((theta < 0).any(axis=1) & (theta > 0).any(axis=1))


SPREAD = np.array([[-0.5], [0.0], [0.3], [0.6]])
PRIOR = {"prior_mean": [0.0], "prior_cov": 36.0}
ON_A_PLATEAU = [
    (metropolis, {}),
    (metropolis, PRIOR),
    (pcn, PRIOR),
    (elliptical_slice, PRIOR),
    (split_hmc, {**PRIOR, "gradient": np.zeros_like, "step": 0.01, "adapt": False}),
]


def on_islands(centre):
    """Log of 1 within a distance 1 of either centre, and of 0 elsewhere."""
    return lambda t: np.where(np.abs(np.abs(t[:, 0]) - centre) < 1, 0.0, -np.inf)


@pytest.mark.parametrize(("sampler", "options"), ON_A_PLATEAU)
def test_a_constant_log_posterior_is_no_stuck_chain(sampler, options):
    options = {"n_samples": 3000, "random_state": 0, "vectorized": True, **options}
    idata = sampler(on_islands(0), start=SPREAD, **options)  # a warning would be an error
    theta = theta_of(idata)
    assert np.abs(theta).max() < 1
    # The prior is all but flat on the interval, so the posterior is all but uniform.
    assert theta.var() == pytest.approx(1 / 3, rel=0.1)
    assert diagnose(idata).loc["theta[0]", "r_hat"] < 1.01


@pytest.mark.parametrize("store_draws", [True, False])
@pytest.mark.parametrize(
    ("sampler", "options"), [case for case in ON_A_PLATEAU if case[0] is not elliptical_slice]
)
def test_islands_show_r_hat_not_a_stuck_chain(sampler, options, store_draws):
    name = "theta[0]" if store_draws else "place"
    options = {"n_samples": 500, "random_state": 0, "vectorized": True, **options}
    start = 20 * np.array([[-1.0], [-1.0], [1.0], [1.0]])
    with pytest.warns(ConvergenceWarning) as caught:
        idata = sampler(
            on_islands(20),
            start=start,
            store_draws=store_draws,
            functionals=None if store_draws else lambda t: {"place": t[:, 0]},
            **options,
        )
    worst = diagnose(idata).loc[name, "r_hat"]
    assert worst > 1.7
    (warning,) = caught
    assert str(warning.message).startswith(f"R-hat of {name} is {worst:.4g}")


def test_a_stuck_chain_hides_no_r_hat():
    def steep(t):
        return np.where(t[:, 0] < 0, 0.0, np.where(t[:, 0] == 1, 0.0, -np.inf))

    start = np.array([[-1.0], [-2.0], [1.0]])
    with pytest.warns(ConvergenceWarning, match=r"\[2\] never moved: no (.|\n)*R-hat of") as caught:
        idata = pcn(
            steep, [0.0], start=start, beta=0.1, adapt=False, vectorized=True, random_state=0
        )
    worst = diagnose(idata)["r_hat"]
    assert f"R-hat of {worst.idxmax()} is {worst.max():.4g}" in str(caught[0].message)


def test_steps_lost_in_rounding_never_move_a_chain():
    with pytest.warns(ConvergenceWarning, match=r"\[0, 1\] never moved: .* larger step"):
        idata = metropolis(
            lambda t: 0.0,
            start=np.ones((2, 1)),
            step=1e-30,
            adapt=False,
            n_samples=10,
            n_burn_in=0,
            random_state=0,
        )
    assert idata.sample_stats["accepted"].values.all()
    assert np.ptp(theta_of(idata)) == 0


def test_draws_that_are_not_finite_are_named():
    with pytest.warns(ConvergenceWarning, match="Draws of ratio are not finite"):
        pcn(
            lambda t: 0.0,
            [0.0],
            functionals=lambda t: {"ratio": np.nan if t[0] > 0 else t[0]},
            n_samples=500,
            random_state=0,
        )


def test_chains_that_never_move_and_short_runs_warn():
    with pytest.warns(ConvergenceWarning, match=r"Chain\(s\) \[0, 1\] never moved: no proposal"):
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
