"""The studies of Bayesian descriptions: designs, their data, and tables that can be made again."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm
from sklearn.metrics import roc_auc_score

from kernelbook.datasets import data_directory
from kernelbook.study import cell_seed
from studies import bayesian_svdd as study
from studies import results

TABLE, SCORES = results.read("bayesian_svdd"), results.read("bayesian_svdd_scores")
PAIRS, CHAINS = (
    pd.read_csv(data_directory() / "results" / f"bayesian_svdd_{name}.csv")
    for name in ("replication", "chains")
)
KNOWN = {name: study.CENTRE | design for name, design in study.DESIGNS.items()}


def stored(table, cell):
    (record,) = table[(table[list(cell)] == pd.Series(cell)).all(axis=1)].to_dict("records")
    return record


def test_stored_tables_have_every_cell_once_in_order():
    pairs = pd.DataFrame(study.pairs())
    pd.testing.assert_frame_equal(PAIRS[list(pairs)], pairs, check_dtype=False)
    cells = pd.DataFrame(study.chain_cells())
    first = CHAINS[: len(cells)]
    pd.testing.assert_frame_equal(first[list(cells)], cells, check_dtype=False)
    again = CHAINS[len(cells) :]
    assert again[list(cells)].to_dict("records") == study.long_cells(first)


def test_every_design_has_all_methods_on_twenty_data_sets():
    assert list(dict.fromkeys(TABLE.data)) == list(study.DESIGNS)
    assert (TABLE.n == study.REPEATS).all() and (TABLE.widen == "").all()
    assert (TABLE.n_settings == 1).all() and (TABLE.margin == study.MARGIN).all()
    baselines = {"difference of kernel means", "KernelSVC, moved threshold", "Parzen window"}
    baselines |= {"always 0", "always 1", "random"}
    for _, part in TABLE.groupby(["data", "measure"]):
        assert set(part.method) == set(study.methods(1)) | baselines


def test_scores_give_the_table():
    means = SCORES.groupby(["data", "measure", "method"]).value.mean()
    rows = TABLE.set_index(["data", "measure", "method"])["mean"]
    np.testing.assert_allclose(means[rows.index], rows, atol=1e-6)


def test_two_data_sets_give_the_stored_scores_again():
    made = study.quietly(study.compare_design, "parabola, p = 2", n_repeats=2).scores
    keys = ["method", "repeat", "measure"]
    known = SCORES[SCORES.data == "parabola, p = 2"].set_index(keys).value
    difference = (made.set_index(keys).value - known).dropna().abs().groupby("method").max()
    sampled = ["BSVDD", "BSVDD-M", study.UNIFORM]
    assert difference.drop(sampled).max() < 1e-3
    assert difference[sampled].max() < 0.02  # chains may part after a rounding


@pytest.mark.parametrize("model", ["SVDD", "BDD"])
def test_a_pair_gives_the_stored_numbers_again(model):
    cell = {"v": 10.0, "pair": 3, "model": model}
    row = stored(PAIRS, cell)
    result = study.run_pair(**cell, random_state=cell_seed(cell, study.SEED))
    assert list(PAIRS.columns) == [*cell, *result]
    for name in ("prevalence", "accuracy", "f1", "fpr", "fnr", "ppv", "g_mean", "auc"):
        assert row[name] == pytest.approx(result[name], abs=1e-3)


def test_chains_give_the_stored_numbers_again():
    cell = {"data": 7, "model": "BSVDD-M, repaired", "longer": 1}
    row = stored(CHAINS, cell)
    result = study.run_chains(**cell, random_state=cell_seed(cell, study.SEED))
    assert list(CHAINS.columns) == [*cell, *result]
    assert row["auc"] == pytest.approx(result["auc"], abs=0.01)
    assert (CHAINS.auc_low <= CHAINS.auc_high).all()


@pytest.mark.parametrize("curvature", [0.0, 1.0])
def test_best_score_has_the_stated_auc(curvature):
    X = study.draw(20_000, 20_000, curvature, 3, np.random.default_rng(0))
    best = X[:, 1] - curvature * (X[:, 0] ** 2 - 1.0)
    auc = roc_auc_score(np.repeat([0, 1], 20_000), best)
    assert auc == pytest.approx(norm.cdf(study.SHIFT / np.sqrt(2)), abs=0.002)


def test_contamination_changes_training_targets_only():
    X, y, _, truth = study.make_data(0, **KNOWN["10 % hidden"])
    assert (y == 0).sum() == study.N_TARGETS and (y == 1).sum() == 20
    assert tuple(np.bincount(truth)) == study.N_TEST
    feature = X[y == 0][:, 1]
    hidden, shown = feature[-20:], feature[:-20]
    assert hidden.mean() - shown.mean() > 1.5
    assert abs(X[y == 0].mean(axis=0)).max() < 1e-12


def test_pairs_have_the_sizes_of_the_slides():
    X, y, Z, truth = study.make_pair(5.0, 0)
    assert X.shape == (1000, 50) and Z.shape == (10_000, 50)
    assert len(y) == 1000 and len(truth) == 10_000
    assert abs(X[y == 0].mean(axis=0)).max() < 1e-12


def test_replicated_rates_agree_with_each_other():
    positive = PAIRS.prevalence
    accuracy = positive * (1 - PAIRS.fnr) + (1 - positive) * (1 - PAIRS.fpr)
    np.testing.assert_allclose(PAIRS.accuracy, accuracy, atol=1e-6)
    np.testing.assert_allclose(PAIRS.g_mean, np.sqrt((1 - PAIRS.fnr) * (1 - PAIRS.fpr)), atol=1e-5)


def test_posteriors_have_atoms_and_r_hat():
    for table in (PAIRS, CHAINS):
        sampled = table.model.str.startswith("BSVDD")
        assert table.r_hat.notna().equals(sampled) and table.atoms.notna().equals(sampled)
    atoms = CHAINS.groupby("model").atoms
    assert atoms.median()["BSVDD, printed"] < 10 and atoms.min()["BSVDD, repaired"] > 50
