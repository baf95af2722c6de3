"""The arithmetic of published tables: proved values, exact searches, audits of made tables."""

import itertools
import math
import sys

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from oracles import problems

from kernelbook.audit import (
    accuracy_bound,
    audit_table,
    chance_of_fit,
    deviating_runs,
    grim,
    grim_folds,
    implied_prevalence,
    prevalence_from_f1,
    prevalence_from_precision,
    trivial_f1,
    weight_sum,
)
from kernelbook.metrics import expected_rates

RATES = ("accuracy", "sensitivity", "specificity")
AUDITS = problems("audit")
rate = st.floats(0, 1)


# --- proved values ---------------------------------------------------------------------------


@pytest.mark.parametrize("problem", AUDITS, ids=[p["id"] for p in AUDITS])
def test_proved_values(problem):
    params, expected = problem["params"], problem["expected"]
    if params["function"] == "implied_prevalence":
        values = [params[name] for name in RATES]
        low, high = implied_prevalence(*values, params["decimals"])
        assert_allclose([low, high], [expected["low"], expected["high"]], atol=1e-12)
        assert low <= expected["point"] <= high
    else:
        assert params["function"] == "grim"
        args = params["value_percent"], params["decimals"], params["denominator"]
        assert grim(*args) == expected["possible_counts"]
        assert grim(*args, rounding="half_up") == expected["possible_counts_half_up"]


def test_the_proved_problems_were_found():
    assert {p["params"]["function"] for p in AUDITS} == {"implied_prevalence", "grim"}


# --- the share of positives ------------------------------------------------------------------


@settings(deadline=None)
@given(rate, rate, rate, st.integers(1, 5))
def test_the_interval_holds_the_share_that_made_the_rates(share, s, t, d):
    a = share * s + (1 - share) * t
    low, high = implied_prevalence(round(a, d), round(s, d), round(t, d), d)
    assert low - 1e-9 <= share <= high + 1e-9


@settings(deadline=None)
@given(rate, st.floats(0.01, 1), rate, st.integers(2, 5))
def test_the_interval_from_precision_holds_the_share(share, s, t, d):
    flagged = share * s + (1 - share) * (1 - t)
    if flagged > 0:
        precision = share * s / flagged
        low, high = prevalence_from_precision(round(precision, d), round(s, d), round(t, d), d)
        assert low - 1e-9 <= share <= high + 1e-9


@settings(deadline=None)
@given(st.lists(st.integers(0, 500), min_size=4, max_size=4), st.integers(2, 5))
def test_the_bounds_from_f1_hold_the_share(table, d):
    tp, fn, fp, tn = table
    if tp + fn + fp > 0:
        n = sum(table)
        f1 = 2 * tp / (2 * tp + fn + fp)
        low, high = prevalence_from_f1(round((tp + tn) / n, d), round(f1, d), d)
        assert low - 1e-9 <= (tp + fn) / n <= high + 1e-9


def test_the_implied_interval_is_attained_and_no_more():
    low, high = implied_prevalence(0.6, 0.9, 0.2, 1)
    grid = np.linspace(-0.05, 0.05, 11)
    for share in np.linspace(0.01, 0.99, 99):
        errors = [
            abs(share * min(0.9 + s, 1) + (1 - share) * (0.2 + t) - 0.6)
            for s, t in itertools.product(grid, grid)
        ]
        assert (min(errors) <= 0.05 + 1e-12) == (low <= share <= high), share


def test_decimals_for_each_value():
    wide = implied_prevalence(0.75, 0.9, 0.5, 2)
    assert wide == implied_prevalence(0.75, 0.9, 0.5, (2, 2, 2))
    narrow = implied_prevalence(0.75, 0.9, 0.5, (2, 4, 4))
    assert wide[0] < narrow[0] < narrow[1] < wide[1]


def test_equal_rates_say_nothing_and_impossible_ones_say_so():
    assert implied_prevalence(0.7, 0.7, 0.7, 2) == (0.0, 1.0)
    assert all(map(math.isnan, implied_prevalence(0.95, 0.9, 0.8, 3)))
    assert all(map(math.isnan, implied_prevalence(0.9, 0.7, 0.7, 3)))
    assert all(map(math.isnan, prevalence_from_f1(0.05, 0.9, 3)))
    assert prevalence_from_precision(0.5, 0.0, 1.0, 2) == (0.0, 1.0)
    assert prevalence_from_f1(1.0, 1.0, 3)[1] == 1.0


@given(rate, rate, rate)
def test_accuracy_never_exceeds_its_bound(share, s, t):
    assert share * s + (1 - share) * t <= accuracy_bound(s, t, share) + 1e-12


def test_trivial_f1_is_the_f1_of_flagging_everything():
    for share in (0.001, 0.1, 0.4444, 1.0):
        assert_allclose(trivial_f1(share), expected_rates(1, 0, share)["f1"])


# --- counts ----------------------------------------------------------------------------------


@settings(deadline=None)
@given(st.integers(1, 400), st.data())
def test_grim_finds_the_count_that_made_the_value(n, data):
    k = data.draw(st.integers(0, n))
    d = data.draw(st.integers(0, 3))
    exact = 100 * k / n
    assert k in grim(f"{exact:.{d}f}", d, n)
    cut = math.floor(exact * 10**d + 1e-9) / 10**d
    assert k in grim(f"{cut:.{d}f}", d, n, rounding="down")
    assert k in grim(f"{cut:.{d}f}", d, n, rounding="any")
    assert k in grim(f"{k / n:.{d + 2}f}", d + 2, n, unit="fraction")


def test_ties_round_either_way_unless_half_up():
    assert grim("12", 0, 8) == grim("13", 0, 8) == [1]  # 12.5 %
    assert grim("12", 0, 8, rounding="half_up") == []
    assert grim("13", 0, 8, rounding="half_up") == [1]


def test_shapes_of_grim():
    assert grim([50, 33.3], [0, 1], 3) == [[], [1]]
    assert grim(np.float64(33.3), 1, np.int64(3)) == grim(pd.Series([33.3]), 1, 3)[0] == [1]
    assert grim("50.6", 1, 75) == [] and grim("50.6", 1, 75, rounding="down") == [38]


def test_folds_by_brute_force():
    sizes = (4, 4, 5)
    for value in np.arange(0, 100.1, 0.5):
        totals = {
            sum(counts)
            for counts in itertools.product(*(range(n + 1) for n in sizes))
            if abs(100 * np.mean([k / n for k, n in zip(counts, sizes, strict=True)]) - value)
            <= 0.05 + 1e-12
        }
        assert grim_folds(f"{value:.1f}", 1, sizes) == sorted(totals)


def test_chance_of_fit_by_counting_and_by_drawing():
    hits = [bool(grim(f"{v / 10:.1f}", 1, 7)) for v in range(1001)]
    assert_allclose(chance_of_fit(3, 1, 7), np.mean(hits) ** 3)
    drawn = chance_of_fit(1, 1, [7], n_draws=40_000, random_state=0)
    assert abs(drawn - np.mean(hits)) < 4 * np.sqrt(np.mean(hits) / 40_000)
    args = (2, 1, range(5, 50))
    assert chance_of_fit(*args, random_state=1) == chance_of_fit(*args, random_state=1)
    assert chance_of_fit(*args, random_state=1) != chance_of_fit(*args, random_state=2)


# --- rows and runs ---------------------------------------------------------------------------


def test_weight_sum_of_a_sound_table_holds_one():
    rng = np.random.default_rng(0)
    s, t = rng.integers(0, 41, 5) / 40, rng.integers(0, 161, 5) / 160
    a = 0.2 * s + 0.8 * t
    low, high = weight_sum(a.round(3), s.round(3), t.round(3), 3)
    assert low <= 1 <= high < low + 0.1
    assert all(map(math.isnan, weight_sum([a[0] + 0.2, *a[1:]], s, t, 3)))


def test_weight_sum_without_an_upper_end():
    low, high = weight_sum([0.5, 0.5], [0.5, 0.5], [0.0, 0.0], 3)
    assert low > 0.99 and high == math.inf


@pytest.mark.parametrize("ddof", [0, 1])
def test_one_odd_run_is_recovered(ddof):
    runs = np.r_[np.ones(9), 0.3]
    got = deviating_runs(runs.mean(), runs.std(ddof=ddof), 10, usual=1, ddof=ddof)
    assert_allclose([got.from_mean, got.from_sd], 0.3)
    assert_allclose([got.effective_runs, got.largest_share], 1)


def test_largest_share_is_a_lower_bound():
    rng = np.random.default_rng(1)
    for _ in range(50):
        runs = rng.gamma(0.3, size=8)
        got = deviating_runs(runs.mean(), runs.std(ddof=1), 8, usual=0)
        assert 1 / 8 - 1e-12 <= got.largest_share <= runs.max() / runs.sum() + 1e-12
        assert_allclose(got.effective_runs, runs.sum() ** 2 / (runs**2).sum())


# --- any table -------------------------------------------------------------------------------


def sound_table():
    rng = np.random.default_rng(3)
    tp, tn = rng.integers(10, 50, 4), rng.integers(100, 400, 4)
    fp = 400 - tn
    share_right = (tp + tn) / 450
    columns = {
        "accuracy": share_right,
        "sensitivity": tp / 50,
        "specificity": tn / 400,
        "precision": tp / (tp + fp),
        "f1": 2 * tp / (tp + fp + 50),
    }
    frame = pd.DataFrame({name: [f"{v:.4f}" for v in c] for name, c in columns.items()})
    return frame.assign(n_positive=50, n_negative=400, data="same")


def test_nothing_is_found_in_a_sound_table():
    frame = sound_table()
    for table in (frame, frame.astype(dict.fromkeys(["accuracy", "f1"], float))):
        audit = audit_table(table, group="data")
        assert (audit.finding == "").all()
        for prefix in ("", "precision_", "f1_"):
            assert (audit[f"{prefix}prevalence_low"] <= 1 / 9).all()
            assert (audit[f"{prefix}prevalence_high"] >= 1 / 9).all()


def test_percentages_and_fractions_give_the_same_audit():
    frame = sound_table()
    rates = ["accuracy", "sensitivity", "specificity", "precision", "f1"]
    percent = frame.assign(
        **{name: [f"{100 * float(v):.2f}" for v in frame[name]] for name in rates}
    )
    pd.testing.assert_frame_equal(audit_table(percent), audit_table(frame))


def test_one_changed_figure_is_found():
    frame = sound_table()
    frame.loc[1, "accuracy"], frame.loc[2, "f1"] = "0.2222", "0.9999"
    frame.loc[3, "specificity"] = "0.1234"
    found = audit_table(frame).finding
    assert found[0] == ""
    assert "no average of the two rates" in found[1] or "not the stated" in found[1]
    assert "not the harmonic mean" in found[2]
    assert "no count of 400 gives the specificity" in found[3]


def test_the_index_is_kept_and_missing_values_are_skipped():
    frame = sound_table().set_index(pd.Index(list("abcd")))
    frame.loc["b", "sensitivity"] = np.nan
    frame.loc["c", "f1"] = None
    audit = audit_table(frame)
    assert list(audit.index) == list("abcd")
    assert math.isnan(audit.prevalence_low["b"]) and math.isnan(audit.f1_excess["c"])
    assert (audit.finding == "").all()


# --- failures --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda: implied_prevalence(74.6, 92.6, 43.7, 1), "accuracy must be a number in"),
        (lambda: implied_prevalence(0.7, 0.9, 0.4, (1, 2)), "decimals must be one integer or 3"),
        (lambda: implied_prevalence(math.nan, 0.9, 0.4, 2), "accuracy must be a number in"),
        (lambda: trivial_f1(44.4), "prevalence must be a number in"),
        (lambda: grim(50, 0, 0), "n must be an integer >= 1"),
        (lambda: grim([50, 60], [0], 10), "decimals must be one integer or 2"),
        (lambda: grim(50, 0, 10, unit="share"), "unit must be"),
        (lambda: grim(50, 0, 10, rounding="up"), "rounding must be"),
        (lambda: grim("fifty", 0, 10), "values must be numbers"),
        (lambda: deviating_runs(1.0, 0.1, 10, usual=1.0), "no run deviates"),
        (lambda: deviating_runs(0.9, 0.1, 1, usual=1.0), "n_runs must be an integer >= 2"),
        (lambda: audit_table(pd.DataFrame({"accuracy": [0.5]})), "sensitivity with specificity"),
        (lambda: audit_table(pd.DataFrame({"accuracy": [], "f1": []})), "at least one row"),
        (lambda: audit_table(pd.DataFrame({"accuracy": [700], "f1": [5]})), "above 100"),
        (lambda: expected_rates(0.5, 1.5, 0.1), "specificity must be a number in"),
    ],
)
def test_errors_name_the_argument(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_missing_pandas_is_named_with_its_extra(monkeypatch):
    frame = sound_table()
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match=r"kernelbook\[metrics\]"):
        audit_table(frame)
