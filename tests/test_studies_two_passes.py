"""The study of notebook 09: protocols, draws, and tables that can be made again."""

import numpy as np
import pandas as pd
import pytest

from studies import results
from studies import two_passes as study

TABLE, SCORES = results.read(study.NAME), results.read(f"{study.NAME}_scores")
ALL = pd.concat([SCORES, results.read(f"{study.NAME}_set_aside_scores")])


def test_stored_table_is_that_of_the_design():
    assert list(TABLE["data"].unique()) == list(study.PROTOCOLS)
    assert not TABLE.duplicated(["data", "measure", "method"]).any()
    for protocol, part in TABLE.groupby("data"):
        assert set(study.methods(protocol)) < set(part["method"])
        assert (part["n"] == study.PROTOCOLS[protocol][2]).all()
    assert (TABLE["margin"] == study.MARGIN).all()
    assert (TABLE["widen"] == "").all()


def test_the_run_set_aside_is_kept_with_its_reason():
    (protocol, (_, grid, n, seed)), *more = study.SET_ASIDE.items()
    first = results.read(f"{study.NAME}_set_aside")
    assert not more and (first["data"] == protocol).all() and (first["n"] == n).all()
    assert seed == study.SEED and grid["C"] == study.COSTS[1:]
    assert first.set_index("method").loc["plain", "widen"] == "C"  # why it was set aside
    scores = results.read(f"{study.NAME}_set_aside_scores")
    assert np.allclose(
        scores.groupby("method")["value"].mean()[first["method"]], first["mean"], rtol=1e-6
    )


def test_means_of_the_table_are_those_of_the_scores():
    means = SCORES.groupby(["data", "measure", "method"])["value"].mean()
    stored = TABLE.set_index(["data", "measure", "method"])["mean"]
    assert np.allclose(means[stored.index], stored, rtol=1e-6)


@pytest.mark.parametrize(
    "protocol", ["C = 1, undivided", "C = 1000", "C chosen", "C chosen, first run"]
)
def test_scores_can_be_made_again(protocol):
    options = {"baselines": [], "backend": "sequential", "progress": False, "n_repeats": 2}
    found = study.run(protocol, **options).scores
    stored = ALL[ALL["data"] == protocol]
    both = found.merge(stored, on=["method", "repeat", "measure"])
    assert len(both) == len(found) == 8
    assert np.allclose(both["value_x"], both["value_y"], rtol=1e-6)


def test_both_passes_have_one_cost_and_the_named_level():
    for protocol, (given, grid, *_) in study.PROTOCOLS.items():
        undivided = "undivided" in protocol
        for name, (machine, searched) in study.methods(protocol).items():
            assert getattr(machine, "C_second", None) is None
            assert getattr(machine, "normalize", not undivided) == (not undivided)
            assert searched == grid or name == "plain, gamma = 1/4"
            assert all(getattr(machine, key) == value for key, value in given.items())


def test_a_draw_is_a_pair_of_sets_without_noise():
    X, y, X_test, y_test = study.draw(5)
    assert X.shape == (100, 2) and X_test.shape == (2000, 2)
    assert set(y) == {0, 1}
    assert np.array_equal(y_test, X_test[:, 1] > np.exp(-4 * X_test[:, 0] ** 2))
