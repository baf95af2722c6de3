"""The chain of the live figure, run by node: exact means, and draws that are worth what it says."""

import json
import shutil
import subprocess
from pathlib import Path

import arviz
import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.integrate import quad
from scipy.special import expit

from kernelbook.mcmc import metropolis

NODE = shutil.which("node")
pytestmark = pytest.mark.skipif(NODE is None, reason="the live figures are computed by node here")
SCRIPT = Path(__file__).parents[1] / "book" / "_static" / "live" / "chain.js"
ASKED = """
require(process.argv[1]);
const { effectiveSize, expectation, metropolis, uniforms } = globalThis.kernelbookChain;
const weight = (delta) => 1 / (1 + Math.exp(-delta));
const [cases, count] = JSON.parse(process.argv[2]);
const chains = cases.map(({ prior, ...settings }) => {
  const log = (delta) => weight(delta) * weight(-delta) - (delta - prior) ** 2 / 4;
  const { draws, accepted } = metropolis(log, settings);
  const t = draws.map(weight);
  const exact = expectation(weight, log, [-30, 34]);
  return { draws: [...draws], t: [...t], accepted, exact, ...effectiveSize(t) };
});
const uniform = uniforms(0);
process.stdout.write(JSON.stringify({ chains, uniforms: Array.from({ length: count }, uniform) }));
"""
STEPS = (0.3, 3.0, 30.0)


def run(cases, count=0):
    command = [NODE, "-e", ASKED, str(SCRIPT), json.dumps([cases, count])]
    return json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


@pytest.fixture(scope="module")
def chains():
    cases = [{"prior": 1, "from": 0, "step": step, "count": 20_000} for step in STEPS]
    return dict(zip(STEPS, run(cases)["chains"], strict=True))


def log_posterior(delta, prior=1.0):
    t = expit(delta)
    return t * (1 - t) - (delta - prior) ** 2 / 4


def exact_mean(prior):
    def weight(delta):
        return np.exp(log_posterior(delta, prior))

    numerator = quad(lambda delta: expit(delta) * weight(delta), -30, 34, epsabs=1e-13)[0]
    return numerator / quad(weight, -30, 34, epsabs=1e-13)[0]


@pytest.mark.parametrize("prior", [0.0, 1.0, 4.0])
def test_the_exact_mean_is_that_of_quadrature(prior):
    (found,) = run([{"prior": prior, "from": 0, "step": 1, "count": 100}])["chains"]
    assert_allclose(found["exact"]["value"], exact_mean(prior), rtol=0, atol=1e-12)
    assert found["exact"]["error"] < 1e-12


def test_uniform_numbers_are_those_of_the_recurrence():
    x, y, wanted = [12345] * 3, [12345] * 3, []
    for _ in range(1000):
        x = [*x[1:], (1403580 * x[1] - 810728 * x[0]) % 4294967087]
        y = [*y[1:], (527612 * y[2] - 1370589 * y[0]) % 4294944443]
        wanted.append(((x[2] - y[2]) % 4294967087 or 4294967087) / 4294967088)
    assert run([], count=1000)["uniforms"] == wanted


@pytest.mark.parametrize("step", STEPS)
def test_a_chain_errs_as_its_effective_draws_allow(chains, step):
    found = chains[step]
    assert_allclose(found["mean"], np.mean(found["t"]), rtol=1e-12)
    assert_allclose(found["error"], np.std(found["t"]) / np.sqrt(found["size"]), rtol=1e-12)
    assert abs(found["mean"] - exact_mean(1.0)) < 4 * found["error"]
    moved = np.diff(found["draws"]) != 0
    assert_allclose(moved.mean(), found["accepted"], rtol=0, atol=1e-3)


@pytest.mark.parametrize("step", STEPS)
def test_effective_draws_are_those_of_arviz(chains, step):
    found = chains[step]
    # Both are estimates; arviz halves the chain first.
    assert_allclose(found["size"], arviz.ess(np.array(found["t"]), method="mean"), rtol=0.3)


def test_a_chain_accepts_as_our_own_with_the_same_step(chains):
    def log_likelihood(theta):
        t = expit(theta[:, 0])
        return t * (1 - t)

    def accepted(step):
        # The prior has the variance 2; the step of our own chain is in units of its deviation.
        ours = metropolis(
            log_likelihood, [1.0], 2.0, step=step / np.sqrt(2), adapt=False, n_samples=20_000,
            n_burn_in=100, n_chains=4, vectorized=True, random_state=0,
        )  # fmt: skip
        return float(ours.sample_stats["acceptance_rate"].values.mean())

    for step in STEPS:
        assert_allclose(chains[step]["accepted"], accepted(step), rtol=0, atol=0.02)


def test_a_chain_that_stays_is_worth_one_draw():
    (found,) = run([{"prior": 1, "from": 0, "step": 1e9, "count": 100}])["chains"]
    assert (found["size"], found["accepted"], found["error"]) == (1, 0, None)  # no JSON infinity


def test_streams_differ_and_one_stream_repeats():
    case = {"prior": 1, "from": 0, "step": 1, "count": 50}
    first, again, other = run([case, case, case | {"stream": 1}])["chains"]
    assert first["draws"] == again["draws"] != other["draws"]
