"""Data sets are verified, described, and parsed into what their files say."""

import csv
import hashlib
import re
import shutil
import sys

import numpy as np
import pandas as pd
import pytest

from kernelbook import datasets
from kernelbook.datasets import _files
from kernelbook.datasets._files import FILES

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
    assert "data/README.md names its source" in str(error.value)


def test_missing_file_is_named_with_the_remedy(copied):
    with pytest.raises(FileNotFoundError, match=r"glass\.csv is missing") as error:
        load("glass")
    assert "git checkout -- data/glass.csv" in str(error.value)
    assert "data/README.md names its source" in str(error.value)


def test_missing_directory_is_an_error_that_names_the_variable(monkeypatch, tmp_path):
    monkeypatch.setenv("KERNELBOOK_DATA", str(tmp_path / "nowhere"))
    with pytest.raises(FileNotFoundError, match="KERNELBOOK_DATA names it"):
        load("glass")
    monkeypatch.delenv("KERNELBOOK_DATA")
    monkeypatch.setattr(_files, "__file__", str(tmp_path / "a" / "b" / "c" / "d.py"))
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
        ({"n_positive": 30, "n_negative": 5}, r"n_positive must be an integer in \[0, 29\]"),
        ({"n_positive": 3, "n_negative": 186}, r"n_negative must be an integer in \[0, 185\]"),
        ({"n_positive": -1, "n_negative": 5}, r"n_positive must be an integer in \[0, 29\]"),
    ],
)
def test_draw_refuses_more_than_there_are(sizes, name):
    X, y = load("glass", return_X_y=True, binary=True)
    with pytest.raises(ValueError, match=name):
        datasets.draw_imbalanced(X, y, **sizes)
