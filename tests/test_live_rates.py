"""The rates of the live figure on prevalence, run by node: scipy and our own audit agree."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest
from numpy.testing import assert_allclose
from scipy.stats import norm

from kernelbook.audit import implied_prevalence

NODE = shutil.which("node")
pytestmark = pytest.mark.skipif(NODE is None, reason="the live figures are computed by node here")
SCRIPT = Path(__file__).parents[1] / "book" / "_static" / "live" / "rates.js"
ASKED = """
require(process.argv[1]);
const { ratesAt, impliedPrevalence } = globalThis.kernelbookRates;
const cases = JSON.parse(process.argv[2]);
process.stdout.write(JSON.stringify(cases.map((one) => {
  const rates = ratesAt(...one);
  return { ...rates, implied: impliedPrevalence(rates, 2) };
})));
"""
# Cut-off, distance of the means, prevalence: the last three are ends of the sliders.
CASES = [(1.5, 2.0, 0.1), (1.0, 2.0, 0.1), (0.3, 1.0, 0.5), (-3.0, 0.5, 0.001), (6.0, 4.0, 0.5),
         (6.0, 0.5, 0.001)]  # fmt: skip


@pytest.fixture(scope="module")
def found():
    command = [NODE, "-e", ASKED, str(SCRIPT), json.dumps(CASES)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def test_rates_are_those_of_normal_scores(found):
    for (cutoff, distance, prevalence), rates in zip(CASES, found, strict=True):
        s, t = norm.sf(cutoff - distance), norm.cdf(cutoff)
        positive = prevalence * s + (1 - prevalence) * norm.sf(cutoff)
        wanted = [s, t, prevalence * s + (1 - prevalence) * t, prevalence * s / positive]
        keys = ("sensitivity", "specificity", "accuracy", "precision")
        assert_allclose([rates[key] for key in keys], wanted, rtol=1e-6)


def test_implied_prevalence_is_that_of_the_audit(found):
    for (_, _, prevalence), rates in zip(CASES, found, strict=True):
        printed = [round(rates[key], 2) for key in ("accuracy", "sensitivity", "specificity")]
        assert_allclose(rates["implied"], implied_prevalence(*printed, 2), atol=1e-12)
        assert rates["implied"][0] <= prevalence <= rates["implied"][1]
    assert found[1]["implied"] == [0.0, 1.0]  # sensitivity and specificity are equal
