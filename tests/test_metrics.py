"""The report of an imbalanced classifier: values, conventions for 0/0, weights, intervals."""

import itertools
import math
import sys

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from imblearn.metrics import geometric_mean_score, specificity_score
from numpy.testing import assert_allclose
from oracles import problems
from scipy.stats import binom
from sklearn.dummy import DummyClassifier
from sklearn.metrics import (
    accuracy_score,
    average_precision_score,
    balanced_accuracy_score,
    f1_score,
    matthews_corrcoef,
    precision_score,
    roc_auc_score,
)

from kernelbook.metrics import _bounds, expected_rates, imbalance_report

METRICS = problems("metrics")
TEN_TRUE = [1, 1, 1, 0, 0, 0, 0, 0, 0, 0]
TEN_PRED = [1, 1, 0, 1, 0, 0, 0, 0, 0, 0]
TEN_SCORE = [0.9, 0.8, 0.4, 0.7, 0.3, 0.2, 0.1, 0.35, 0.05, 0.15]


def sample(n=400, share=0.1, seed=0):
    rng = np.random.default_rng(seed)
    truth = rng.random(n) < share
    score = truth + rng.normal(size=n)
    return truth.astype(int), (score > 0.8).astype(int), score


# --- proved values ---------------------------------------------------------------------------


@pytest.mark.parametrize("problem", METRICS, ids=[p["id"] for p in METRICS])
def test_proved_values(problem):
    params, expected = problem["params"], problem["expected"]
    data = params["y_true"], params["y_pred"], params["y_score"]
    report = imbalance_report(*data, pos_label=params["positive"])
    for column in report:
        if column in expected:
            value = math.nan if expected[column] is None else expected[column]
            assert_allclose(report.loc["model", column], value, atol=1e-12, err_msg=column)
    for name, row in expected.get("trivial", {}).items():
        for column, value in row.items():
            got = report.loc[name.removesuffix("_expected"), column]
            assert_allclose(got, value, atol=1e-12, err_msg=f"{name} {column}")
    key = "precision_at_prevalence_0.0017"
    if key in expected:
        report = imbalance_report(*data, pos_label=params["positive"], prevalence=0.0017)
        assert_allclose(report.loc["model", "precision"], expected[key], atol=1e-12)


def test_the_proved_problems_were_found():
    assert len(METRICS) >= 5


# --- parity ----------------------------------------------------------------------------------


def test_model_row_is_scikit_learn_and_imbalanced_learn():
    truth, prediction, score = sample()
    row = imbalance_report(truth, prediction, score).loc["model"]
    assert_allclose(row["precision"], precision_score(truth, prediction))
    assert_allclose(row["f1"], f1_score(truth, prediction))
    assert_allclose(row["g_mean"], geometric_mean_score(truth, prediction))
    assert_allclose(row["specificity"], specificity_score(truth, prediction))
    assert_allclose(row["balanced_accuracy"], balanced_accuracy_score(truth, prediction))
    assert_allclose(row["mcc"], matthews_corrcoef(truth, prediction))
    assert_allclose(row["accuracy"], accuracy_score(truth, prediction))
    assert_allclose(row["roc_auc"], roc_auc_score(truth, score))
    assert_allclose(row["average_precision"], average_precision_score(truth, score))


def test_constant_rows_are_the_constant_predictions():
    truth, _, _ = sample()
    report = imbalance_report(truth, truth)
    for name, label in (("all_positive", 1), ("all_negative", 0)):
        constant = np.full(len(truth), label)
        as_model = imbalance_report(truth, constant, constant.astype(float)).loc["model"]
        assert_allclose(report.loc[name], as_model, atol=1e-15)


def test_prior_random_row_is_the_mean_of_drawn_ones():
    truth, _, _ = sample(n=2000, share=0.2)
    expected = imbalance_report(truth, truth).loc["prior_random"]
    X, drawn = np.zeros((len(truth), 1)), []
    for seed in range(40):
        dummy = DummyClassifier(strategy="stratified", random_state=seed).fit(X, truth)
        prediction = dummy.predict(X)
        drawn.append(imbalance_report(truth, prediction, prediction).loc["model"])
    frame = pd.DataFrame(drawn)
    standard_error = frame.std() / np.sqrt(len(frame))
    assert np.all(np.abs(frame.mean() - expected) < 4 * standard_error + 1e-3)


# --- prevalence ------------------------------------------------------------------------------


def test_prevalence_equals_a_sample_with_the_majority_repeated():
    truth = np.array([1] * 10 + [0] * 10)
    prediction = np.array([1] * 8 + [0] * 2 + [1] * 3 + [0] * 7)
    score = prediction + np.linspace(0, 0.5, 20)
    copies = np.where(truth == 1, 1, 99)
    full = imbalance_report(*(np.repeat(v, copies) for v in (truth, prediction, score)))
    weighted = imbalance_report(truth, prediction, score, prevalence=0.01)
    assert_allclose(weighted, full, rtol=1e-12)


def test_prevalence_moves_only_what_depends_on_it():
    truth, prediction, score = sample()
    before = imbalance_report(truth, prediction, score).loc["model"]
    after = imbalance_report(truth, prediction, score, prevalence=0.001).loc["model"]
    unmoved = ["sensitivity", "specificity", "g_mean", "balanced_accuracy", "roc_auc"]
    assert_allclose(after[unmoved], before[unmoved], rtol=1e-12)
    for column in ("precision", "f1", "mcc", "average_precision"):
        assert after[column] < before[column] / 2


def test_the_formulas_of_the_docstring():
    truth, prediction, _ = sample()
    pi = 0.03
    row = imbalance_report(truth, prediction, prevalence=pi).loc["model"]
    s, t = row["sensitivity"], row["specificity"]
    q = pi * s + (1 - pi) * (1 - t)
    assert_allclose(row["precision"], pi * s / q)
    assert_allclose(row["f1"], 2 * pi * s / (pi + q))
    assert_allclose(row["g_mean"], np.sqrt(s * t))
    assert_allclose(row["accuracy"], pi * s + (1 - pi) * t)
    assert_allclose(row["mcc"], (s + t - 1) * np.sqrt(pi * (1 - pi) / (q * (1 - q))))


def test_expected_rates_are_the_report_at_that_prevalence():
    truth, prediction, _ = sample()
    row = imbalance_report(truth, prediction, prevalence=0.03).loc["model"]
    rates = expected_rates(row["sensitivity"], row["specificity"], 0.03)
    assert_allclose([rates[name] for name in row.index[:8]], row[:8], rtol=1e-12)
    with pytest.raises(ValueError, match="prevalence must be a number in"):
        expected_rates(0.9, 0.9, 90)


# --- labels and undefined rates --------------------------------------------------------------


@pytest.mark.parametrize("positive, negative", [(1, -1), ("ill", "healthy"), (True, False), (2, 1)])
def test_any_two_labels(positive, negative):
    encode = np.array([negative, positive])
    reference = imbalance_report(TEN_TRUE, TEN_PRED, TEN_SCORE)
    report = imbalance_report(encode[TEN_TRUE], encode[TEN_PRED], TEN_SCORE)
    pd.testing.assert_frame_equal(report, reference)
    series = pd.Series(encode[TEN_TRUE], index=range(100, 110), name="y")
    pd.testing.assert_frame_equal(imbalance_report(series, encode[TEN_PRED], TEN_SCORE), reference)


def test_pos_label_flips_the_roles():
    flipped = imbalance_report(TEN_TRUE, TEN_PRED, pos_label=0).loc["model"]
    plain = imbalance_report(TEN_TRUE, TEN_PRED).loc["model"]
    assert flipped["sensitivity"] == plain["specificity"]
    assert flipped["specificity"] == plain["sensitivity"]
    assert_allclose(flipped["mcc"], plain["mcc"])


def test_g_mean_of_three_classes_is_left_to_imbalanced_learn():
    truth, prediction = [0, 1, 2, 0, 1, 2], [0, 2, 1, 0, 1, 2]
    assert_allclose(geometric_mean_score(truth, prediction), 0.25 ** (1 / 3))
    with pytest.raises(ValueError, match="geometric_mean_score"):
        imbalance_report(truth, prediction)
    one_against_rest = imbalance_report(np.equal(truth, 1), np.equal(prediction, 1))
    assert_allclose(one_against_rest.loc["model", "g_mean"], np.sqrt(0.5 * 0.75))


def test_all_majority_prediction():
    truth, prediction = np.r_[np.zeros(95), np.ones(5)], np.zeros(100)
    report = imbalance_report(truth, prediction)
    row = report.loc["model"]
    assert row["accuracy"] == 0.95
    assert row["balanced_accuracy"] == 0.5
    assert row["g_mean"] == row["sensitivity"] == row["f1"] == row["mcc"] == 0
    assert math.isnan(row["precision"])
    assert_allclose(row[:8], report.loc["all_negative"][:8])


def test_one_class_in_y_true_gives_nan_where_the_other_is_needed():
    row = imbalance_report([1, 1], [1, 2]).loc["model"]  # 2 is positive, and absent from y_true
    assert row["specificity"] == row["accuracy"] == 0.5
    for column in ("sensitivity", "g_mean", "balanced_accuracy", "mcc"):
        assert math.isnan(row[column]), column
    only_positive = imbalance_report([1, 1, 1], [1, 0, 1], [0.5, 0.1, 0.9], pos_label=1)
    row = only_positive.loc["model"]
    assert math.isnan(row["specificity"]) and math.isnan(row["roc_auc"])
    assert row["precision"] == row["average_precision"] == 1
    assert math.isnan(only_positive.loc["all_negative", "precision"])


def test_a_single_unusual_label_needs_pos_label():
    assert imbalance_report([0, 0], [0, 0]).loc["model", "specificity"] == 1
    assert imbalance_report([1, 1], [1, 1]).loc["model", "sensitivity"] == 1
    with pytest.raises(ValueError, match="pos_label="):
        imbalance_report(["a", "a"], ["a", "a"])
    assert imbalance_report(["a"], ["a"], pos_label="b").loc["model", "specificity"] == 1


# --- intervals -------------------------------------------------------------------------------


def test_wilson_interval_by_hand():
    # 8 of 10 at 95 %: centre (8 + z^2/2) / (10 + z^2), half-width by Wilson's formula.
    truth, prediction = [1] * 10 + [0] * 10, [1] * 8 + [0] * 12
    report = imbalance_report(truth, prediction, confidence=0.95)
    z2 = 1.959963984540054**2
    centre = (8 + z2 / 2) / (10 + z2)
    half = np.sqrt(z2 * (0.8 * 0.2 * 10 + z2 / 4)) / (10 + z2)
    assert_allclose(report.loc["model_low", "sensitivity"], centre - half)
    assert_allclose(report.loc["model_high", "sensitivity"], centre + half)
    assert_allclose(report.loc["model_low", "specificity"], 10 / (10 + z2))
    assert list(report.index[:3]) == ["model", "model_low", "model_high"]
    assert report.loc["model_low":"model_high", "roc_auc":].isna().to_numpy().all()


@pytest.mark.parametrize("prevalence", [None, 0.01])
def test_intervals_hold_the_estimate_and_shrink(prevalence):
    truth, prediction, _ = sample()
    widths = []
    for repeats in (1, 16):
        data = np.tile(truth, repeats), np.tile(prediction, repeats)
        report = imbalance_report(*data, prevalence=prevalence, confidence=0.9).iloc[:, :8]
        assert (report.loc["model_low"] < report.loc["model"]).all()
        assert (report.loc["model"] < report.loc["model_high"]).all()
        widths.append(report.loc["model_high"] - report.loc["model_low"])
    assert (widths[1] < 0.35 * widths[0]).all()


def test_coverage_of_the_interval_of_the_g_mean():
    """Exact, by summing over all tables of 8 positives and 10 negatives."""
    n_positive, n_negative, s, t = 8, 10, 0.7, 0.8
    covered = 0.0
    for tp, tn in itertools.product(range(n_positive + 1), range(n_negative + 1)):
        table = np.array([tp, n_positive - tp, n_negative - tn, tn], dtype=float)
        low, high = _bounds(table, n_positive / (n_positive + n_negative), confidence=0.9)
        if low["g_mean"] <= np.sqrt(s * t) <= high["g_mean"]:
            covered += binom.pmf(tp, n_positive, s) * binom.pmf(tn, n_negative, t)
    assert covered > 0.9


def test_a_class_without_a_sample_has_the_vacuous_interval():
    report = imbalance_report([0, 0, 0], [0, 1, 0], confidence=0.9)
    assert math.isnan(report.loc["model", "sensitivity"])
    assert report.loc["model_low", "sensitivity"] == 0
    assert report.loc["model_high", "sensitivity"] == 1


@settings(deadline=None, max_examples=20)
@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=30))
def test_invariances(pairs):
    truth, prediction = np.array(pairs).T
    report = imbalance_report(truth, prediction)
    order = np.random.default_rng(0).permutation(len(truth))
    pd.testing.assert_frame_equal(imbalance_report(truth[order], prediction[order]), report)
    doubled = imbalance_report(np.tile(truth, 2), np.tile(prediction, 2))
    assert_allclose(doubled, report, atol=1e-15)
    flipped = imbalance_report(~truth, ~prediction)
    for mine, other in (("sensitivity", "specificity"), ("mcc", "mcc"), ("accuracy", "accuracy")):
        assert_allclose(flipped.loc["model", mine], report.loc["model", other], atol=1e-12)


# --- failures --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "args, kwargs, message",
    [
        (([0, 1], [0, 1, 1]), {}, "inconsistent numbers of samples"),
        (([], []), {}, "y_true is empty"),
        (([0, 1], [0, 1]), {"pos_label": 2}, "pos_label=2 is not one of the labels"),
        (([0, 1], [0, 1], [0.1]), {}, r"y_score must have shape \(2,\)"),
        (([0, 1], [0, 1], [[0.1, 0.9], [0.4, 0.6]]), {}, "column of the positive class"),
        (([0, 1], [0, 1], [0.1, np.nan]), {}, "y_score contains NaN"),
        (([0, 0], [0, 1]), {"prevalence": 0.1}, "only one of them"),
        (([0, 1], [0, 1]), {"prevalence": 1.7}, r"prevalence must be a number in \(0, 1\)"),
        (([0, 1], [0, 1]), {"confidence": 95}, r"confidence must be a number in \(0, 1\), got 95"),
        (([0.0, np.nan], [0, 1]), {}, "NaN"),
        (([0, 1], ["0", "1"]), {}, "label"),
        (([0, 1], [0.2, 0.8]), {}, "continuous"),
        (([[0, 1], [1, 0]], [0, 1]), {}, "1d"),
    ],
)
def test_errors_name_the_argument(args, kwargs, message):
    with pytest.raises(ValueError, match=message):
        imbalance_report(*args, **kwargs)


@pytest.mark.parametrize("missing", ["pandas", "imblearn.metrics"])
def test_a_missing_package_is_named_with_its_extra(monkeypatch, missing):
    monkeypatch.setitem(sys.modules, missing, None)
    with pytest.raises(ImportError, match=r"kernelbook\[metrics\]"):
        imbalance_report([0, 1], [0, 1])
