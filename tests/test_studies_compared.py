"""The stored comparisons follow from their stored scores, and cells can be made again."""

import numpy as np
import pandas as pd
import pytest

from kernelbook.study import cell_seed, verdict
from studies import fisher, membrane, preimages, regression, results, rule_recovery, tumours

COMPARED = ["regression", "fisher", "tumours", "membrane"]


@pytest.mark.parametrize("name", COMPARED)
def test_a_table_follows_from_its_scores(name):
    table, scores = results.read(name), results.read(f"{name}_scores")
    keys = ["data", "measure", "method"]
    values = scores.groupby(keys)["value"]
    stored = table.set_index(keys)
    assert np.allclose(values.mean()[stored.index], stored["mean"], rtol=1e-5)
    assert (values.size()[stored.index] == stored["n"]).all() and (stored["n"] >= 20).all()
    for row in table.itertuples():
        assert row.verdict in ("reference", verdict(row.low, row.high, row.margin))


# The notebooks name these edges with their reasons.
NAMED = {
    ("regression", "three wrong", "least squares", "gamma"),
    ("fisher", "waveform", "Fisher", "reg"),
}


@pytest.mark.parametrize("name", COMPARED)
def test_no_choice_lies_at_an_edge_that_is_not_named(name):
    table = results.read(name)
    at_edge = table[table["widen"] != ""]
    found = {(name, row.data, row.method, row.widen) for row in at_edge.itertuples()}
    assert found <= NAMED


def test_cells_of_the_regression_come_out_again():
    again = regression.tube_width(0.05, n_repeats=2).scores
    stored = results.read("regression_scores").query("data == 'noise 0.05' and repeat < 2")
    both = again.merge(stored, on=["method", "repeat", "measure"], suffixes=("", "_stored"))
    assert len(both) == len(again) == len(stored)
    assert np.allclose(both["value"], both["value_stored"], rtol=1e-5)


def test_cells_of_the_tumours_come_out_again():
    again = tumours.run(n_repeats=2).scores
    stored = results.read("tumours_scores").query("repeat < 2")
    both = again.merge(stored, on=["method", "repeat", "measure"], suffixes=("", "_stored"))
    assert len(both) == len(again) == len(stored)
    assert np.allclose(both["value"], both["value_stored"], rtol=1e-6)


def test_a_wrong_value_is_the_only_difference_of_two_data_sets():
    clean, spoilt = (regression._sinc(0.05, 900, off) for off in (False, True))
    moved = np.abs(clean[1] - spoilt[1])
    assert np.isin(moved[moved > 1e-9].round(9), [3.0, 4.0]).all()
    assert (moved > 1e-9).sum() == 3 and np.array_equal(clean[0], spoilt[0])


def test_a_loss_is_the_mean_paired_difference():
    rows = [
        (data, method, repeat, value + repeat)
        for data, value in (("clean", -1.0), ("three wrong", -3.0))
        for method in ("tube", "least squares")
        for repeat in (0, 1)
    ]
    scores = pd.DataFrame(rows, columns=["data", "method", "repeat", "value"])
    assert np.allclose(regression.loss_by_wrong_values(scores), 2.0)


def test_a_row_of_the_rule_comes_out_again():
    stored = pd.read_csv(rule_recovery.TABLE)
    again = rule_recovery.recover(3, cell_seed({"seed": 3}, rule_recovery.SEED))
    assert again["top_eight"] == stored["top_eight"][3]
    assert again["error"] == pytest.approx(stored["error"][3], rel=1e-4)
    assert again["x3x3"] == pytest.approx(stored["x3x3"][3], rel=1e-4)
    assert np.allclose(stored["x0x1"] - stored["x0x2"], 1, atol=1e-6)
    assert len(stored) == rule_recovery.SEEDS


def test_fractions_count_the_rows_for_which_a_statement_holds():
    table = pd.DataFrame(
        {
            "top_eight": [True, True, False, True],
            "error": [0.01, 0.06, 0.01, 0.02],
            "spurious": 0.01,
        }
    )
    found = rule_recovery.fractions(table)
    assert found["holds"].tolist() == [3, 3, 4, 2]
    assert (found["low"] < found["fraction"]).all() and (found["fraction"] <= found["high"]).all()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("run", "name", "data"),
    [
        (lambda: fisher.run("ringnorm", n_repeats=2), "fisher", "ringnorm"),
        (lambda: membrane.run(n_repeats=2), "membrane", "yeast ME2"),
        (lambda: regression.wrong_values(True, n_repeats=2), "regression", "three wrong"),
    ],
)
def test_searched_cells_come_out_again(run, name, data):
    stored = results.read(f"{name}_scores").query("data == @data and repeat < 2")
    both = run().scores.merge(stored, on=["method", "repeat", "measure"], suffixes=("", "_stored"))
    assert len(both) == len(stored)
    assert np.allclose(both["value"], both["value_stored"], rtol=1e-5)


def test_the_preimages_have_one_named_edge():
    stored = pd.read_csv(preimages.TABLE)
    assert len(stored) == preimages.REPEATS and stored.filter(like=": error").notna().all(axis=None)
    edges = preimages.edges(stored)
    assert set(edges[edges > 0.1].index) == {("fixed point", "components", "high")}
    assert preimages.differences(stored, "error").loc["fixed point", "verdict"] == "reference"
