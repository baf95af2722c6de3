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
    warn_unless_converged(idata, ["constant"])
    with pytest.warns(ConvergenceWarning, match="R-hat of stuck is inf"):
        warn_unless_converged(idata, ["constant", "stuck"])
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
