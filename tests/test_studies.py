"""The studies: splits, searches and intervals hold; stored tables can be made again."""

import doctest

import numpy as np
import pandas as pd
import pytest

from kernelbook.study import cell_seed
from studies import adaptive_conformal as study

STORED = pd.read_csv(study.TABLE)
KEYS = ["data", "method", "repeat", "fold"]


def again(data, method, repeat, fold):
    cell = {"data": data, "method": method, "repeat": repeat, "fold": fold}
    return cell, study.run_cell(**cell, random_state=cell_seed(cell, study.SEED))


def stored_row(cell):
    return STORED[(STORED[KEYS] == pd.Series(cell)[KEYS]).all(axis=1)].iloc[0]


def test_examples():
    assert doctest.testmod(study).failed == 0


def test_stored_table_has_every_cell_once_and_every_column():
    cells = pd.DataFrame(study.cells())
    assert STORED[KEYS].equals(cells[KEYS])
    results = study.run_cell("glass 7", "constant", 0, 0, random_state=0)
    assert list(STORED.columns) == KEYS + list(results)
    assert STORED[["tp", "fn", "fp", "tn", "g_mean", "roc_auc"]].notna().all(axis=None)


@pytest.mark.parametrize("method", ["coin", "smote + svc", "kba balanced"])
def test_a_cell_gives_the_stored_numbers_again(method):
    cell, result = again("glass 7", method, 1, 2)
    row = stored_row(cell)
    for name in ("tp", "fn", "fp", "tn"):
        assert row[name] == result[name]
    for name in ("g_mean", "roc_auc", "inner_g_mean"):
        assert row[name] == pytest.approx(result[name], abs=1e-9)
    for name in ("C", "width", "sv_negative", "sv_positive_before"):
        assert row[name] == result[name] or (pd.isna(row[name]) and result[name] is None)


def test_stored_counts_give_the_stored_g_means():
    sensitivity = STORED.tp / (STORED.tp + STORED.fn)
    specificity = STORED.tn / (STORED.tn + STORED.fp)
    assert np.allclose(STORED.g_mean, np.sqrt(sensitivity * specificity), atol=1e-9)


def test_folds_keep_equal_rows_together_and_nest():
    _, y, groups = study.load("yeast ME2")
    tests = []
    for fold in range(study.FOLDS):
        train, test, inner = study.split("yeast ME2", 0, fold)
        tests.append(test)
        assert not set(groups[train]) & set(groups[test])
        assert y[test].sum() >= 9
        assert all(max(part.max() for part in pair) < len(train) for pair in inner)
        assert not set(groups[train][inner[0][0]]) & set(groups[train][inner[0][1]])
    assert sorted(np.concatenate(tests)) == list(range(len(y)))


def test_thyroid_part_keeps_the_share_of_the_rare_class():
    X, y, groups = study.load("thyroid")
    assert len(X) == len(y) == len(groups) == study.THYROID_ROWS
    assert abs(y.mean() - 436 / 7207) < 0.5 / study.THYROID_ROWS


@pytest.mark.parametrize(
    ("method", "candidates"), [("constant", 1), ("act", 15), ("svc balanced, fine grid", 30)]
)
def test_number_of_candidates(method, candidates):
    grid = study.search(method, 9, 3, random_state=0).param_grid
    assert np.prod([len(values) for values in grid.values()]) == candidates


def test_a_conformal_machine_has_the_weights_of_its_name():
    assert study.machine("act", 0)[1].class_weight is None
    assert study.machine("kba balanced", 0)[1].class_weight == "balanced"
    assert [name for name, _ in study.machine("smote + svc", 0)[0]] == ["sample"]


def test_the_corrected_interval_is_the_wider_one():
    values = np.array([0.1, 0.4, 0.3, 0.2, 0.5])
    mean, low, high = study.corrected_interval(values)
    assert mean == pytest.approx(0.3)
    naive = 2.776445 * values.std(ddof=1) / np.sqrt(5)
    assert (high - low) / 2 == pytest.approx(naive * np.sqrt((1 / 5 + 1 / 4) * 5), rel=1e-6)
