"""Tables 1 and 2 of Cohen, Hilario and Pellegrini: every identity among the printed numbers."""

import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy.stats import binomtest

from kernelbook.audit import (
    audit_table,
    chance_of_fit,
    fitting_denominators,
    grim,
    grim_folds,
    weight_sum,
)
from kernelbook.metrics import expected_rates

PUBLISHED = Path(__file__).parents[1] / "data" / "published"
RATES = ["accuracy", "sensitivity", "specificity"]
INFECTED, NORMAL, FOLDS = 75, 608, 5
TESTED = INFECTED * FOLDS  # every infected patient in each fold: the reading of the counts
SHARE = INFECTED / (INFECTED + NORMAL)


def read(name):
    return pd.read_csv(PUBLISHED / name, dtype=str)


def decimals_of(column):
    return [len(text.partition(".")[2]) for text in column]


def fractions(frame):
    return frame[RATES].astype(float).to_numpy() / 100


def places(frame):
    """Decimals of the fractions, shape (n, 3)."""
    return np.column_stack([decimals_of(frame[name]) for name in RATES]) + 2


def g_mean(frame):
    rates = fractions(frame)
    return np.sqrt(rates[:, 1] * rates[:, 2])


def standard_error(rates, n):
    return np.sqrt(rates * (1 - rates) / n)


@pytest.fixture(scope="module")
def table1():
    return read("cohen2004_table1.csv")


@pytest.fixture(scope="module")
def table2():
    return read("cohen2004_table2.csv")


@pytest.fixture(scope="module")
def rbf(table1):
    return table1[table1.kernel == "RBF"]


@pytest.fixture(scope="module")
def conformal(table1):
    return table1[table1.kernel == "conformal"].reset_index(drop=True)


@pytest.fixture(scope="module")
def binary(table2):
    return table2[table2.classifier.str.startswith("binary")]


def audited(frame):
    return audit_table(frame.assign(n_positive=INFECTED, n_negative=NORMAL))


# --- the tables as such ----------------------------------------------------------------------


def test_the_tables_are_whole(table1, table2):
    assert table1.place.tolist() == [f"Table 1, row {i}" for i in range(1, 9)]
    assert table2.place.tolist() == [f"Table 2, row {i}" for i in range(1, 5)]
    assert table1.kernel.value_counts().to_dict() == {"RBF": 4, "conformal": 4}
    assert not table1.isna().any(axis=None) and not table2.isna().any(axis=None)
    assert table1.groupby("kernel").nu.apply(sorted).map(tuple).nunique() == 1


def test_sizes_are_those_stated():
    stated = read("stated.csv").query("source == 'Cohen2004'").set_index("quantity").value
    sizes = stated.astype(int)
    assert (sizes.infected, sizes.not_infected, sizes.folds) == (INFECTED, NORMAL, FOLDS)
    assert sizes.patients == INFECTED + NORMAL
    assert round(100 * SHARE) == sizes.infected_percent
    assert sizes.test_percent * sizes.folds == 100


def test_table_2_repeats_the_most_sensitive_rows(table1, table2):
    best = table1.loc[
        table1.groupby("kernel").sensitivity.apply(lambda s: s.astype(float).idxmax())
    ]
    assert best.kernel.tolist() == ["RBF", "conformal"]
    assert best[RATES].to_numpy().tolist() == table2[RATES].iloc[2:].to_numpy().tolist()


# --- accuracy from sensitivity, specificity and a share of positives -------------------------


def test_binary_rows_have_the_stated_share(binary):
    audit = audited(binary)
    assert (audit.prevalence_low < SHARE).all() and (audit.prevalence_high > SHARE).all()
    assert (audit.finding == "").all()


def test_one_class_rows_have_another_share(table1):
    audit = audited(table1)
    low = [0.6300, 0.6587, 0.6730, 0.8667, 0.6441, 0.6863, 0.6579, 0.7066]
    high = [0.6334, 0.6600, 0.6748, 0.8750, 0.6474, 0.6890, 0.6754, 0.7177]
    assert_allclose(audit.prevalence_low, low, atol=5e-5)
    assert_allclose(audit.prevalence_high, high, atol=5e-5)
    assert audit.finding.str.contains("not the stated 0.110").all()
    at_stated = [0.491, 0.673, 0.695, 0.725, 0.487, 0.661, 0.710, 0.703]
    assert_allclose(audit.accuracy_at_stated, at_stated, atol=6e-4)


def test_three_accuracies_exceed_their_bound(table1):
    # The bound specificity + share holds for means over folds of any size as well.
    exceeds = audited(table1).finding.str.contains("exceeds")
    assert table1.place[exceeds].str[-1].tolist() == ["1", "5", "6"]


# --- the counts behind the RBF rows ----------------------------------------------------------


def test_counts_of_the_rbf_rows(rbf):
    accepted = grim(rbf.sensitivity.tolist(), decimals_of(rbf.sensitivity), NORMAL)
    # 80.60 is no count of 608 (490 is 80.59), but a mean over five folds of 121 or 122.
    assert accepted == [[563], [], [482], [454]]
    assert grim_folds(rbf.sensitivity[1], 2, [122, 122, 122, 121, 121]) == [490]
    rejected = grim(rbf.specificity.tolist(), 2, TESTED)
    assert rejected == [[164], [246], [256], [271]]
    right = grim(rbf.accuracy.tolist(), decimals_of(rbf.accuracy), 975)
    assert right == [[563 + 164], [490 + 246], [482 + 256], [454 + 271]]


def test_as_printed_only_one_sensitivity_is_a_count(rbf):
    counts = grim(rbf.sensitivity.tolist(), decimals_of(rbf.sensitivity), INFECTED)
    assert counts == [[], [], [], [56]]
    # In folds of unequal size a mean may be anything, and decides nothing.
    assert grim_folds("92.6", 1, [13, 14, 15, 16, 17])


def test_search_over_denominators(rbf):
    assert fitting_denominators(rbf.specificity.tolist(), 2) == [TESTED, 2 * TESTED]
    accuracy = rbf.accuracy.tolist(), decimals_of(rbf.accuracy)
    assert fitting_denominators(*accuracy) == [975, 979]


def test_chance_of_such_a_fit():
    assert_allclose(chance_of_fit(4, 2, TESTED), 2.0e-6, rtol=0.01)
    assert 0.016 < chance_of_fit(4, 2, range(1, 1001), random_state=0) < 0.023


# --- the eight patients that the accuracies do not count -------------------------------------


def rescaled_shares(frame, factor):
    """Interval of the implied share of each row if the accuracies are multiplied by a factor."""
    rates, half = fractions(frame), 0.5 * 10.0 ** -places(frame)
    ends = []
    for a in (rates[:, 0] - half[:, 0], rates[:, 0] + half[:, 0]):
        for s in (rates[:, 1] - half[:, 1], rates[:, 1] + half[:, 1]):
            for t in (rates[:, 2] - half[:, 2], rates[:, 2] + half[:, 2]):
                ends.append((factor * a - t) / (s - t))
    return np.min(ends, axis=0), np.max(ends, axis=0)


def test_eight_missing_patients_scatter_the_shares(rbf):
    a, s, t = fractions(rbf).T
    assert_allclose((a - t) / (s - t), [0.632, 0.659, 0.674, 0.871], atol=5e-4)
    counted = NORMAL + TESTED
    assert counted - 975 == 8
    rescaled = (a * 975 / counted - t) / (s - t)
    assert_allclose(rescaled, NORMAL / counted, atol=1e-3)
    low, high = rescaled_shares(rbf, 975 / counted)
    assert (low < NORMAL / counted).all() and (high > NORMAL / counted).all()
    # The same error of 8/975 moves a share by a / (s - t) times as much.
    assert_allclose((a - t) / (s - t) - rescaled, a * 8 / counted / (s - t))


def test_no_weights_of_sum_one_give_the_rbf_accuracies(rbf):
    low, high = weight_sum(*fractions(rbf).T, places(rbf))
    assert low < 983 / 975 < high
    assert_allclose([low, high], [1.0080, 1.0084], atol=5e-5)


# --- the conformal rows ----------------------------------------------------------------------


def test_no_weights_at_all_give_the_conformal_accuracies(conformal):
    assert all(map(math.isnan, weight_sum(*fractions(conformal).T, places(conformal))))


def test_conformal_counts_cannot_be_reconstructed(conformal):
    specificity = grim(conformal.specificity.tolist(), decimals_of(conformal.specificity), TESTED)
    assert specificity == [[], [], [], []]
    accepted = grim(conformal.sensitivity.tolist(), decimals_of(conformal.sensitivity), NORMAL)
    assert accepted == [[568], [], [493], [481]]  # six of ten arbitrary tenths are such counts
    low, high = rescaled_shares(conformal, 975 / 983)
    holds = (low < NORMAL / 983) & (high > NORMAL / 983)
    assert holds.tolist() == [False, False, True, False]
    a, s, t = fractions(conformal).T
    cases = (NORMAL * s + TESTED * t) / a
    assert_allclose(cases, [965.2, 966.8, 976.0, 971.1], atol=0.1)


def test_conformal_numbers_are_multiples_of_a_twentieth(rbf, conformal):
    def multiples(frame):
        hundredths = np.rint(1e4 * fractions(frame)).astype(int)
        return int((hundredths % 5 == 0).sum())

    assert (multiples(rbf), multiples(conformal)) == (4, 12)


def test_the_conformal_kernel_changes_no_g_mean_by_its_error(rbf, conformal):
    before, after = g_mean(rbf), g_mean(conformal)
    assert_allclose(before, [0.636, 0.727, 0.736, 0.735], atol=5e-4)
    assert_allclose(after, [0.635, 0.727, 0.752, 0.740], atol=5e-4)
    errors = []
    for frame in (rbf, conformal):
        s, t = fractions(frame).T[1:]
        relative = np.hypot(standard_error(s, NORMAL) / s, standard_error(t, INFECTED) / t)
        errors.append(g_mean(frame) / 2 * relative)  # by the delta method
    assert_allclose(errors[0], [0.042, 0.031, 0.030, 0.028], atol=5e-4)
    assert (np.abs(after - before) < 0.6 * errors[0]).all()


def test_changes_of_the_two_rates_from_rbf_to_conformal(rbf, conformal):
    change = 100 * (fractions(conformal) - fractions(rbf))
    assert_allclose(change[:, 1], [0.80, 1.75, 1.82, 4.43], atol=5e-3)  # normals accepted
    assert_allclose(change[:, 2], [-0.58, -1.50, 1.43, -3.07], atol=5e-3)  # infected rejected
    z = []
    for column, n in ((1, NORMAL), (2, INFECTED)):
        errors = [100 * standard_error(fractions(f)[:, column], n) for f in (rbf, conformal)]
        z.append(change[:, column] / np.hypot(*errors))  # as if the patients were not the same
    assert_allclose(z[0], [0.55, 0.79, 0.80, 1.83], atol=5e-3)
    assert np.abs(z[1]).max() < 0.5


def test_only_three_pairs_differ_in_nothing_but_the_kernel(rbf, conformal):
    same = rbf.sigma.astype(float).to_numpy() == conformal.sigma.astype(float).to_numpy()
    assert same.tolist() == [True, True, True, False]
    assert rbf.nu.tolist() == conformal.nu.tolist()


# --- readings --------------------------------------------------------------------------------


def test_sensitivity_follows_one_minus_nu(table1):
    wide = table1[table1.sigma == "1e-4"]
    promised = 100 * (1 - wide.nu.astype(float))
    assert len(wide) == 4
    assert (wide.sensitivity.astype(float) - promised).abs().max() < 2.5


def test_binary_rows_are_counts_of_683(binary):
    audit = audited(binary)
    assert audit.sensitivity_counts.tolist() == [[38], [69]]
    assert audit.specificity_counts.tolist() == [[574], [439]]
    assert grim(binary.accuracy.tolist(), 1, INFECTED + NORMAL) == [[38 + 574], [69 + 439]]
    # 38/75 is 50.67: printed 50.6, cut off.
    assert grim("50.6", 1, INFECTED) == [] and grim("50.6", 1, INFECTED, rounding="down") == [38]


def test_exchanged_classes_turn_the_comparison_round(rbf, binary):
    found, alarms = fractions(rbf)[:, 2], 1 - fractions(rbf)[:, 1]
    assert_allclose(found, [0.437, 0.656, 0.683, 0.723], atol=5e-4)
    row = expected_rates(found[0], 1 - alarms[0], SHARE)
    assert_allclose(row["accuracy"], 0.872, atol=5e-4)
    first, asymmetric = (
        binomtest(k, INFECTED).proportion_ci(method="wilson") for k in (round(164 / 5), 69)
    )
    assert first.high < asymmetric.low
    assert found.max() < fractions(binary)[1, 1]


def test_g_means_need_no_exchange(table1, binary):
    assert g_mean(table1).max() < 0.76 and g_mean(binary)[1] > 0.81


def test_a_thousand_patients_at_eleven_percent(rbf, binary):
    def thousand(sensitivity, specificity):
        found, false = 110 * sensitivity, 890 * (1 - specificity)
        return [round(value) for value in (found + false, found, 110 - found)]

    s, t = fractions(binary)[1, 1:]
    assert thousand(164 / TESTED, 563 / NORMAL) == [114, 48, 62]  # alarms, found, missed
    assert thousand(s, t) == [349, 101, 9]


def test_a_fold_with_all_infected_holds_38_percent():
    assert round(INFECTED / (INFECTED + NORMAL / FOLDS), 2) == 0.38
