"""Frames of live figures: what the library computes, with its certificate, kept meanwhile."""

import json
import re
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

from kernelbook.bayes import BayesianSVDD
from kernelbook.conformal import ConformalSVC, magnification
from tools import frames as module

PAGE = Path(__file__).parents[1] / "book" / "pages" / "live.md"


@pytest.fixture(scope="module")
def factor():
    return module.factor([-0.5, 0.0])


@pytest.fixture(scope="module")
def posterior():
    return module.posterior([0.0], n_samples=60)


def nodes(data):
    """The places of the grid, as frames.js has them: row by row, two beyond the limits."""
    n = data["nodes"]
    for row in range(n):
        for column in range(n):
            yield [
                low + (place - 2) * (high - low) / (n - 5)
                for place, (low, high) in zip((column, row), data["limits"], strict=True)
            ]


def test_a_frame_of_the_factor_is_that_of_the_machine(factor):
    narrow, middle = factor["frames"]
    machine = ConformalSVC("amari_wu", C=1.0, gamma=1.0, tau=0.5).fit(
        factor["points"], factor["positive"]
    )
    grid = np.array(list(nodes(factor)))
    wanted = np.log10(magnification(grid, "rbf", machine.factor_, gamma=1.0) / 2)
    # The points are rounded to 3 digits on their way.
    seen = wanted > -2
    assert_allclose(np.array(middle["level"])[seen] / 100, wanted[seen], rtol=0, atol=0.05)
    decision = np.clip(machine.decision_function(grid), -3, 3)
    assert_allclose(np.array(middle["decision"]) / 100, decision, rtol=0, atol=0.05)
    assert middle["first"] == machine.previous_.support_.tolist()
    assert max(narrow["gap"], middle["gap"]) < 1e-9
    assert middle["after"] < middle["before"] == narrow["before"] < narrow["after"]
    assert narrow["least"] < middle["least"] < 1 < middle["most"] < narrow["most"]


def test_a_frame_of_the_posterior_is_that_of_the_chains(posterior):
    means, sums = posterior["frames"]
    machine = BayesianSVDD("row_mean", 1.0, 1.0, gamma=1.0, n_samples=60, random_state=13)
    machine.fit(np.array(posterior["points"]))
    assert_allclose(means["weights"], machine.alpha_, rtol=0, atol=0.003)
    inside = machine.predict_proba(list(nodes(posterior)))[:, 1]
    assert np.abs(np.array(means["inside"]) / 100 - inside).mean() < 0.01
    assert_allclose(np.sum(means["weights"]), 1, atol=0.01)
    assert means["rHat"] < 1.05 and 0 < means["worth"] <= 2 * means["draws"]
    assert sums["atoms"] < 5 < means["atoms"]


@pytest.mark.parametrize("name", ["factor", "posterior"])
def test_a_frame_goes_into_a_script(name, factor, posterior, monkeypatch, tmp_path):
    found = {"factor": factor, "posterior": posterior}[name]
    calls = []
    monkeypatch.setattr(module, "KEPT", tmp_path)
    monkeypatch.setitem(module.FRAMES, name, lambda: calls.append(name) or found)
    (tmp_path / f"{name}-0123456789abcdef.js").touch()  # that of an older library
    script = module.frames(name)
    assert module.frames(name) == script
    assert calls == [name]
    assert len(list(tmp_path.iterdir())) == 1
    start, _, data = script.partition(f".{name} = ")
    assert start == "(globalThis.kernelbookFrames ??= {})"
    assert json.loads(data.rstrip(";\n")) == found


def test_the_page_says_how_much_was_computed():
    text = PAGE.read_text(encoding="utf-8")
    assert "thirteen widths" in text and np.size(_default(module.factor)) == 13
    draws, settings = re.search(r"(\d+) draws at each of (\w+) settings", text).groups()
    assert settings == "fourteen" and 2 * np.size(_default(module.posterior)) == 14
    n_chains = BayesianSVDD().n_chains
    assert int(draws) == n_chains * module.posterior.__defaults__[1]


def _default(function):
    return function.__defaults__[0]
