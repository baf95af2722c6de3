"""Kim's performance charts: every identity among the 144 printed numbers."""

import math
from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy.special import expit
from scipy.stats import chi2

from kernelbook.audit import audit_table, deviating_runs, prevalence_from_f1, trivial_f1
from kernelbook.metrics import expected_rates

PUBLISHED = Path(__file__).parents[1] / "data" / "published"
MEASURES = ["accuracy", "f1", "fpr", "fnr", "ppv", "g_mean"]
MODELS = ["SVDD", "BDD", "BSVDD", "BSVDD-M"]
RUNS = 10
SHARES = {5: 0.4444, 10: 0.4552, 20: 0.4600}  # what three of the four models imply


@pytest.fixture(scope="module")
def text():
    return pd.read_csv(PUBLISHED / "slides2024_performance.csv", dtype=str)


@pytest.fixture(scope="module")
def table(text):
    numbers = text.drop(columns=["place", "model"]).astype(float)
    rates = {"sensitivity": 1 - numbers.fnr, "specificity": 1 - numbers.fpr}
    share = numbers.v.map(SHARES)
    return numbers.assign(model=text.model, v=numbers.v.astype(int), share=share, **rates)


@pytest.fixture(scope="module")
def stated():
    values = pd.read_csv(PUBLISHED / "stated.csv", dtype=str).query("source == 'Kim2024'")
    return {row.quantity: float(Fraction(row.value)) for row in values.itertuples()}


@pytest.fixture(scope="module")
def audit(table):
    """All rates have four decimals, also where a final zero was dropped."""
    frame = table.drop(columns="fnr").rename(columns={"ppv": "precision"})
    rates = ["accuracy", "sensitivity", "specificity", "precision", "f1"]
    printed = frame.assign(prevalence=0.1, **frame[rates].map("{:.4f}".format))
    return audit_table(printed, group="v")


def of(table, model):
    return table[table.model == model].set_index("v")


def f1_of(share, sensitivity, specificity):
    return expected_rates(sensitivity, specificity, share)["f1"]


# --- the chart as such -----------------------------------------------------------------------


def test_the_chart_is_whole(text):
    assert text.model.tolist() == [model for model in MODELS for _ in range(3)]
    assert text.v.tolist() == ["5", "10", "20"] * 4
    assert sorted(text.columns) == sorted(
        ["place", "model", "v", *MEASURES, *(f"{name}_sd" for name in MEASURES)]
    )
    assert not text.isna().any(axis=None)


def test_means_drop_a_final_zero_and_deviations_do_not(text):
    def decimals(columns):
        return text[columns].map(lambda value: len(value.partition(".")[2])).to_numpy()

    assert (decimals([f"{name}_sd" for name in MEASURES]) == 4).all()
    means = decimals(MEASURES)
    assert set(means.ravel()) == {3, 4} and (means == 3).sum() == 8  # 7.2 of 72 to be expected


# --- the share of class 1 --------------------------------------------------------------------


def test_three_models_agree_on_the_share(table, audit):
    middle = (audit.prevalence_low + audit.prevalence_high) / 2
    width = audit.prevalence_high - audit.prevalence_low
    same = table.model != "BDD"
    assert width.max() < 7e-4
    assert_allclose(middle[same], table.share[same], atol=2e-4)


def test_bdd_implies_one_minus_the_share(table, audit):
    middle = (audit.prevalence_low + audit.prevalence_high) / 2
    bdd = table.model == "BDD"
    assert_allclose(middle[bdd], [0.5562, 0.5448, 0.5407], atol=5e-5)
    assert_allclose(1 - middle[bdd], table.share[bdd], atol=1e-3)
    flipped = audit.finding.str.contains("other class as positive")
    assert (flipped == bdd).all()


def test_no_row_has_the_stated_share(audit, stated):
    assert stated["imbalance_ratio"] == 0.1
    assert audit.finding.str.contains("not the stated 0.100").all()


def test_share_from_accuracy_and_f1_alone(table):
    rows = zip(table.accuracy, table.f1, strict=True)
    bounds = pd.DataFrame([prevalence_from_f1(*row, 4) for row in rows], columns=["low", "high"])
    low, high = (getattr(bounds.groupby(table.v)[end], way)() for end, way in
                 (("low", "max"), ("high", "min")))  # fmt: skip
    assert_allclose(low, [0.4436, 0.4542, 0.4591], atol=5e-5)
    assert_allclose(high, [0.4808, 0.5025, 0.5079], atol=5e-5)


def test_share_from_precision(table, audit):
    by_accuracy = (audit.prevalence_low + audit.prevalence_high) / 2
    by_precision = (audit.precision_prevalence_low + audit.precision_prevalence_high) / 2
    far = (by_precision - by_accuracy).abs() > 0.002
    # A mean of ratios: the precision of SVDD at v = 5 varies by .06 between runs.
    assert table[far][["model", "v"]].to_numpy().tolist() == [["SVDD", 5]]
    assert table.ppv_sd[far].item() == table.ppv_sd.max() == 0.0617
    assert_allclose(by_precision[far] - by_accuracy[far], 0.0163, atol=1e-4)


# --- F1, G-mean, balanced accuracy -----------------------------------------------------------


def test_f1_is_the_harmonic_mean_nearly(table):
    harmonic = 2 * table.ppv * table.sensitivity / (table.ppv + table.sensitivity)
    difference = table.f1 - harmonic
    assert difference.between(-0.0032, 1e-4).all()  # means over runs lie below
    large = table[difference.abs() > 0.001]
    assert large[["model", "v"]].to_numpy().tolist() == [
        ["SVDD", 5],
        ["BDD", 5],
        ["BDD", 10],
        ["BDD", 20],
    ]


def test_g_mean_is_below_that_of_the_mean_rates(table):
    of_means = np.sqrt(table.sensitivity * table.specificity)
    difference = of_means - table.g_mean
    assert (difference > 0).all()  # Cauchy and Schwarz: the mean of a product of roots
    odd = table.model == "BSVDD-M"
    assert difference[~odd].max() < 0.0103
    assert_allclose(difference[odd], [0.0617, 0.0581, 0.0594], atol=1e-4)


def test_f1_of_flagging_everything(table, audit):
    assert_allclose(trivial_f1(0.4444), 0.6153, atol=5e-5)
    near = audit.finding.str.contains("of flagging everything")
    assert (near == table.model.str.startswith("BSVDD")).all()
    assert audit.f1_excess[near].between(-0.00165, 0.0008).all()


def test_flagging_nothing_has_the_larger_accuracy(table):
    bayesian = table[table.model.str.startswith("BSVDD")]
    assert (1 - bayesian.share - bayesian.accuracy).between(0.075, 0.11).all()


def test_balanced_accuracies_are_near_a_coin(table, audit):
    expected = [0.5167, 0.5144, 0.5123, 0.5098, 0.5091, 0.4911]
    expected += [0.5022, 0.5020, 0.5015, 0.5014, 0.5014, 0.5012]
    assert_allclose(audit.balanced_accuracy, expected, atol=5e-5)
    mcc = [61, 48, 41, 21, 19, -19, 35, 33, 28, 13, 13, 11]
    assert_allclose(audit.mcc, np.array(mcc) / 1000, atol=6e-4)


def test_bdd_with_class_1_as_positive(table):
    bdd = of(table, "BDD")
    flagged = bdd.share * (1 - bdd.specificity) + (1 - bdd.share) * bdd.sensitivity
    f1 = [f1_of(row.share, row.specificity, row.sensitivity) for row in bdd.itertuples()]
    assert_allclose(f1, [0.396, 0.389, 0.377], atol=5e-4)
    assert_allclose(1 - flagged, 1 / 3, atol=0.02)  # points that it calls class 1
    accuracy = bdd.share * bdd.specificity + (1 - bdd.share) * bdd.sensitivity
    assert_allclose(accuracy, bdd.accuracy, atol=5e-4)


# --- standard deviations ---------------------------------------------------------------------


def test_precision_of_flagging_everything_is_the_share(table, stated):
    bsvdd = of(table, "BSVDD")
    assert_allclose(bsvdd.ppv, bsvdd.share, atol=1.1e-3)
    # Then F1 varies as 2 p / (1 + p) does, whose derivative is 2 / (1 + p)^2.
    assert_allclose(bsvdd.f1_sd, 2 / (1 + bsvdd.share) ** 2 * bsvdd.ppv_sd, atol=2e-4)
    # And the share varies not much more than that of 10,000 independent labels.
    binomial = np.sqrt(bsvdd.share * (1 - bsvdd.share) / stated["n_test"])
    assert_allclose(binomial, 0.0050, atol=5e-5)
    statistic = (RUNS - 1) * (bsvdd.ppv_sd / binomial) ** 2
    assert (chi2.sf(statistic, RUNS - 1) > 0.04).all()


def test_deviations_of_the_other_measures_follow(table):
    # Flagging nearly everything: the G-mean is the root of the specificity, accuracy the share.
    bsvdd = of(table, "BSVDD")
    assert_allclose(bsvdd.g_mean_sd, bsvdd.fpr_sd / (2 * np.sqrt(bsvdd.specificity)), atol=5e-4)
    assert_allclose(bsvdd.accuracy_sd, bsvdd.ppv_sd, atol=5e-4)
    # Of the other two one rate rises where the other falls, as along a curve of cutoffs: accuracy
    # varies less than it would if the two were independent, and not less than they can cancel.
    others = table[table.model.isin(["SVDD", "BDD"])]
    of_positives = others.share * others.fnr_sd
    of_negatives = (1 - others.share) * others.fpr_sd
    assert (others.accuracy_sd > (of_positives - of_negatives).abs() - 7e-4).all()
    assert (others.accuracy_sd < np.hypot(of_positives, of_negatives)).all()


@pytest.mark.parametrize("v, t, s", [(5, 0.128, 0.899), (10, 0.132, 0.897), (20, 0.128, 0.896)])
def test_nine_runs_plus_one(table, v, t, s):
    row = of(table, "BSVDD-M").loc[v]
    for mean, sd, usual, odd in (
        (row.specificity, row.fpr_sd, 0, t),
        (row.sensitivity, row.fnr_sd, 1, s),
    ):
        runs = deviating_runs(mean, sd, RUNS, usual)
        assert_allclose(runs.from_mean, odd, atol=5e-4)
        assert_allclose(runs.from_sd, odd, atol=8e-3)
        assert runs.largest_share > 0.90 and runs.effective_runs < 1.10


@pytest.mark.parametrize("v", [5, 10, 20])
def test_the_odd_run_gives_the_other_columns(table, v):
    row = of(table, "BSVDD-M").loc[v]
    s, t = 1 - RUNS * row.fnr, RUNS * row.specificity
    odd = expected_rates(s, t, row.share)
    nine = expected_rates(1.0, 0.0, row.share)
    for name, printed in (("accuracy", row.accuracy), ("precision", row.ppv), ("f1", row.f1)):
        assert_allclose(0.9 * nine[name] + 0.1 * odd[name], printed, atol=2.5e-4)
    # The rest of the G-mean: the nine flag nearly everything, not quite.
    rest = (RUNS * row.g_mean - odd["g_mean"]) / (RUNS - 1)
    assert 3e-4 < rest**2 < 7e-4
    assert_allclose((odd["g_mean"] - rest) / math.sqrt(RUNS), row.g_mean_sd, atol=2.5e-3)


def test_deviations_are_those_of_samples(table):
    # Divided by n, the ratio of deviation to mean of ten numbers >= 0 is at most 3.
    rows = of(table, "BSVDD-M")
    assert ((rows.fnr_sd - 5e-5) / (rows.fnr + 5e-5) > math.sqrt(RUNS - 1)).all()
    assert (rows.fnr_sd / rows.fnr < math.sqrt(RUNS)).all()


# --- the conclusions of the slides -----------------------------------------------------------


@pytest.mark.parametrize("model", ["BSVDD", "BSVDD-M"])
def test_f1_rises_with_v_as_the_share_does(table, model):
    rows = of(table, model)
    step = rows.f1.diff().iloc[1:]
    assert (step > 0).all()
    assert_allclose(step, rows.share.map(trivial_f1).diff().iloc[1:], atol=3e-4)


def test_f1_of_bdd_falls_and_the_share_explains_two_fifths(table):
    rows = of(table, "BDD")
    assert rows.f1.is_monotonic_decreasing
    fall = rows.f1[20] - rows.f1[5]
    # With the rates of v = 5, and the class that the row treats as positive growing rarer.
    same_rates = [f1_of(1 - p, rows.sensitivity[5], rows.specificity[5]) for p in rows.share]
    by_share = same_rates[2] - same_rates[0]
    assert_allclose([fall, by_share], [-0.0237, -0.0093], atol=2e-4)
    error = math.hypot(rows.f1_sd[5], rows.f1_sd[20]) / math.sqrt(RUNS)
    assert_allclose([fall / error, (fall - by_share) / error], [-1.27, -0.77], atol=0.01)


def test_svdd_has_the_low_f1_of_flagging_a_tenth(table):
    rows = of(table, "SVDD")
    flagged = rows.share * rows.sensitivity + (1 - rows.share) * rows.fpr
    assert_allclose(flagged, [0.081, 0.100, 0.100], atol=1e-3)
    # Flagging a tenth at random has this F1, flagging everything .62 to .63.
    at_random = 2 * rows.share * flagged / (rows.share + flagged)
    assert_allclose(at_random, [0.137, 0.164, 0.164], atol=1e-3)
    assert (rows.f1 - at_random).between(0.02, 0.032).all()


# --- the settings ----------------------------------------------------------------------------


def test_the_mean_coefficients_would_give_a_tenth(stated):
    slopes = np.array([stated[f"mean_of_beta_{j}"] for j in (1, 2, 3, 4)])
    assert_allclose(slopes.sum(), 3.56)
    variance = stated["variance_of_features_1_to_4"] * (slopes**2).sum()
    shares = []
    for name in ("class_0", "class_1"):
        eta = stated["beta_0"] + stated[f"mean_of_features_1_to_4_{name}"] * slopes.sum()
        z, weight = np.polynomial.hermite_e.hermegauss(60)
        shares.append(weight @ expit(eta + math.sqrt(variance) * z) / weight.sum())
    assert_allclose(shares, [0.025, 0.932], atol=2e-3)
    assert_allclose(0.9 * shares[0] + 0.1 * shares[1], 0.116, atol=2e-3)
