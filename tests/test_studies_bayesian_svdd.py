"""The study of Bayesian descriptions: the design, its data, and tables that can be made again."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm
from sklearn.metrics import roc_auc_score

from kernelbook.study import cell_seed
from studies import bayesian_svdd as study

STORED = pd.read_csv(study.TABLE)
REPLICATED = pd.read_csv(study.REPLICATION_TABLE)
KEYS = ["boundary", "p", "imbalance", "contamination", "replicate", "model"]
PAIR_KEYS = ["variance", "redraw", "pair", "model"]
RATES = ["sensitivity", "specificity", "g_mean", "balanced_accuracy", "mcc", "roc_auc"]


def test_stored_tables_have_every_cell_once_in_order():
    for table, design in ((STORED, study.cells()), (REPLICATED, study.pairs())):
        cells = pd.DataFrame(design)
        pd.testing.assert_frame_equal(table[list(cells)], cells, check_dtype=False)
    assert STORED.replicate.nunique() == 30
    assert STORED[["sensitivity", "specificity", "g_mean", "roc_auc"]].notna().all(axis=None)


@pytest.mark.parametrize(
    ("model", "variation", "tolerance"),
    [
        ("kernel mean", {}, 1e-3),
        ("BDD, printed", {"contamination": 0.1}, 1e-3),
        ("SVDD", {"imbalance": 50}, 1e-3),
        ("two-class SVM", {"boundary": "parabola", "p": 2}, 1e-3),
        # Chains may part after a rounding on another processor.
        ("BSVDD-M, repaired", {"imbalance": 20}, 0.02),
    ],
)
def test_a_cell_gives_the_stored_numbers_again(model, variation, tolerance):
    cell = {**study.CENTRE, **variation, "replicate": 7, "model": model}
    row = STORED[(STORED[KEYS] == pd.Series(cell)[KEYS]).all(axis=1)].iloc[0]
    result = study.run_cell(**cell, random_state=cell_seed(cell, study.SEED))
    assert list(STORED.columns) == [*cell, *result]
    for rate in RATES:
        assert row[rate] == pytest.approx(result[rate], abs=tolerance)


def test_a_pair_gives_the_stored_numbers_again():
    cell = {"variance": 10.0, "redraw": "data_set", "pair": 3, "model": "BDD"}
    row = REPLICATED[(REPLICATED[PAIR_KEYS] == pd.Series(cell)[PAIR_KEYS]).all(axis=1)].iloc[0]
    result = study.run_pair(**cell, random_state=cell_seed(cell, study.SEED))
    assert list(REPLICATED.columns) == [*cell, *result]
    for name in ("prevalence", "accuracy", "f1", "roc_auc"):
        assert row[name] == pytest.approx(result[name], abs=1e-3)


@pytest.mark.parametrize("curvature", [0.0, 1.0])
def test_best_score_has_the_stated_auc(curvature):
    X = study.draw(20_000, 20_000, curvature, 3, np.random.default_rng(0))
    best = X[:, 1] - curvature * (X[:, 0] ** 2 - 1.0)
    auc = roc_auc_score(np.repeat([0, 1], 20_000), best)
    assert auc == pytest.approx(norm.cdf(study.SHIFT / np.sqrt(2)), abs=0.002)


def test_contamination_changes_training_targets_only():
    X, y, *_, truth = study.make_data("line", 10, 10, 0.1, 0)
    assert (y == 1).sum() == study.N_TARGETS and (y == -1).sum() == 20
    assert (truth == 1).sum() == study.N_TEST_TARGETS and (truth == -1).sum() == 200
    feature = X[y == 1][:, 1]
    hidden, shown = feature[-20:], feature[:-20]
    assert hidden.mean() - shown.mean() > 1.5
    assert abs(X[y == 1].mean(axis=0)).max() < 1e-12


def test_models_of_a_replicate_meet_the_same_points():
    first, second = (study.make_data("line", 2, 20, 0.0, 4) for _ in range(2))
    assert all(np.array_equal(a, b) for a, b in zip(first, second, strict=True))
    other = study.make_data("line", 2, 20, 0.0, 5)
    assert not np.array_equal(first[0], other[0])


@pytest.mark.parametrize("redraw", ["observation", "data_set"])
def test_pairs_hold_both_classes(redraw):
    _, y, _, truth = study.make_pair(5.0, redraw, 0)
    assert len(y) == len(truth) == 1000
    assert 0.05 <= np.mean(y < 0) <= 0.95 and 0 < np.mean(truth < 0) < 1


def test_stored_g_means_follow_from_the_rates():
    for table in (STORED, REPLICATED):
        assert np.allclose(table.g_mean, np.sqrt(table.sensitivity * table.specificity), atol=2e-4)


def test_posteriors_have_atoms_and_r_hat():
    sampled = STORED.model.str.startswith("BSVDD")
    assert STORED.r_hat.notna().equals(sampled)
    assert STORED.atoms.isna().equals(STORED.model.eq("two-class SVM"))
    assert STORED[STORED.model.eq("BSVDD, printed")].atoms.median() < 10
    assert STORED[STORED.model.eq("BSVDD, repaired")].atoms.min() > 50
