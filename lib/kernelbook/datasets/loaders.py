"""One loader for each data file; what they return is described in the package."""

import csv
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias, overload

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import Bunch

from kernelbook.datasets._files import (
    FILES,
    DataFile,
    data_directory,
    description,
    read_verified,
)
from kernelbook.optional import import_optional

if TYPE_CHECKING:
    import pandas as pd

Arrays = tuple[NDArray[np.float64], NDArray[Any]]
Frames = tuple["pd.DataFrame", "pd.Series"]
Data: TypeAlias = Bunch | Arrays | Frames


class _Loader(Protocol):
    """The types of a loader: a Bunch, two arrays or two pandas objects."""

    @overload
    def __call__(self, *, return_X_y: Literal[False] = ..., as_frame: bool = ...) -> Bunch: ...
    @overload
    def __call__(self, *, return_X_y: Literal[True], as_frame: Literal[False] = ...) -> Arrays: ...
    @overload
    def __call__(self, *, return_X_y: Literal[True], as_frame: Literal[True]) -> Frames: ...


class _BinaryLoader(Protocol):
    """The same with a parameter ``binary``."""

    @overload
    def __call__(
        self, *, return_X_y: Literal[False] = ..., as_frame: bool = ..., binary: bool = ...
    ) -> Bunch: ...
    @overload
    def __call__(
        self, *, return_X_y: Literal[True], as_frame: Literal[False] = ..., binary: bool = ...
    ) -> Arrays: ...
    @overload
    def __call__(
        self, *, return_X_y: Literal[True], as_frame: Literal[True], binary: bool = ...
    ) -> Frames: ...


def _loader(function: Callable[..., Any]) -> _Loader:
    return function


def _binary_loader(function: Callable[..., Any]) -> _BinaryLoader:
    return function


@_loader
def load_nhefs_mortality(*, return_X_y: bool = False, as_frame: bool = False) -> Data:
    """Load deaths from 1983 to 1992 among 1322 smokers: 50 features, 145 positive (11.0 %).

    Parameters
    ----------
    return_X_y : bool, default=False
        Whether to return ``(data, target)`` in place of the Bunch.
    as_frame : bool, default=False
        Whether to return pandas objects.

    Returns
    -------
    Bunch or tuple
        Described in :mod:`kernelbook.datasets`. Target: 1 died, 0 survived.

    Notes
    -----
    It stands in for the hospital-infection data of Cohen, Hilario and Pellegrini (683 patients, 75
    infected), which we do not have; :func:`draw_imbalanced` makes a sample of that shape. 209
    values are missing.

    Examples
    --------
    >>> nhefs = load_nhefs_mortality()
    >>> nhefs.data.shape, int((nhefs.target == nhefs.positive).sum())
    ((1322, 50), 145)
    """
    return _load("nhefs_mortality", return_X_y, as_frame)


@_loader
def load_hypothyroid(*, return_X_y: bool = False, as_frame: bool = False) -> Data:
    """Load hypothyroid patients, 151 of 3163 (4.8 %): 25 features of history and blood tests.

    Parameters
    ----------
    return_X_y : bool, default=False
        Whether to return ``(data, target)`` in place of the Bunch.
    as_frame : bool, default=False
        Whether to return pandas objects.

    Returns
    -------
    Bunch or tuple
        Described in :mod:`kernelbook.datasets`. Target: 1 hypothyroid, 0 not.

    Notes
    -----
    ``TBG`` is blank in 92 % of the rows: drop it. 77 rows repeat another.

    Examples
    --------
    >>> load_hypothyroid().data.shape
    (3163, 25)
    """
    return _load("hypothyroid", return_X_y, as_frame)


@_loader
def load_thyroid0387_euthyroid(*, return_X_y: bool = False, as_frame: bool = False) -> Data:
    """Load sick euthyroid patients, 436 of 7207 (6.0 %): 21 features of history and blood tests.

    Parameters
    ----------
    return_X_y : bool, default=False
        Whether to return ``(data, target)`` in place of the Bunch.
    as_frame : bool, default=False
        Whether to return pandas objects.

    Returns
    -------
    Bunch or tuple
        Described in :mod:`kernelbook.datasets`. Target: 1 sick euthyroid, 0 not.

    Notes
    -----
    A stand-in for the euthyroid file of the literature, not that file. 82 rows repeat another.

    Examples
    --------
    >>> load_thyroid0387_euthyroid().data.shape
    (7207, 21)
    """
    return _load("thyroid0387_euthyroid", return_X_y, as_frame)


@_binary_loader
def load_glass(*, return_X_y: bool = False, as_frame: bool = False, binary: bool = False) -> Data:
    """Load six types of glass, 214 splinters, by refractive index and eight oxides.

    Parameters
    ----------
    return_X_y : bool, default=False
        Whether to return ``(data, target)`` in place of the Bunch.
    as_frame : bool, default=False
        Whether to return pandas objects.
    binary : bool, default=False
        Whether to return 1 for the positive class (type 7, headlamps: 29 of 214) and 0 for every
        other.

    Returns
    -------
    Bunch or tuple
        Described in :mod:`kernelbook.datasets`. Target: 1, 2, 3, 5, 6, 7 (there is no type 4).

    Examples
    --------
    >>> X, y = load_glass(return_X_y=True, binary=True)
    >>> X.shape, y.tolist().count(1)
    ((214, 9), 29)
    """
    return _load("glass", return_X_y, as_frame, binary)


@_binary_loader
def load_yeast(*, return_X_y: bool = False, as_frame: bool = False, binary: bool = False) -> Data:
    """Load ten places in the cell for 1484 yeast proteins, by eight scores.

    Parameters
    ----------
    return_X_y : bool, default=False
        Whether to return ``(data, target)`` in place of the Bunch.
    as_frame : bool, default=False
        Whether to return pandas objects.
    binary : bool, default=False
        Whether to return 1 for the positive class (ME2: 51 of 1484) and 0 for every
        other.

    Returns
    -------
    Bunch or tuple
        Described in :mod:`kernelbook.datasets`. Target: three-letter names.

    Notes
    -----
    31 rows repeat another.

    Examples
    --------
    >>> yeast = load_yeast()
    >>> yeast.data.shape, yeast.positive
    ((1484, 8), 'ME2')
    """
    return _load("yeast", return_X_y, as_frame, binary)


@_binary_loader
def load_abalone(*, return_X_y: bool = False, as_frame: bool = False, binary: bool = False) -> Data:
    """Load the number of rings of 4177 abalone: regression, or 19 rings against the rest.

    Parameters
    ----------
    return_X_y : bool, default=False
        Whether to return ``(data, target)`` in place of the Bunch.
    as_frame : bool, default=False
        Whether to return pandas objects.
    binary : bool, default=False
        Whether to return 1 for the positive class (19 rings: 32 of 4177) and 0 for every
        other.

    Returns
    -------
    Bunch or tuple
        Described in :mod:`kernelbook.datasets`. Target: integers 1 to 29.

    Notes
    -----
    ``sex`` is one categorical column of the frame, three columns ``sex_F``, ``sex_I``, ``sex_M`` (0
    or 1) of the array.

    Examples
    --------
    >>> abalone = load_abalone()
    >>> abalone.data.shape, abalone.feature_names[:4]
    ((4177, 10), ['sex_F', 'sex_I', 'sex_M', 'length'])
    """
    return _load("abalone", return_X_y, as_frame, binary)


@_binary_loader
def load_car(*, return_X_y: bool = False, as_frame: bool = False, binary: bool = False) -> Data:
    """Load four grades of acceptability of 1728 makes of car, by six ordered categories.

    Parameters
    ----------
    return_X_y : bool, default=False
        Whether to return ``(data, target)`` in place of the Bunch.
    as_frame : bool, default=False
        Whether to return pandas objects.
    binary : bool, default=False
        Whether to return 1 for the positive class ('good': 69 of 1728) and 0 for every
        other.

    Returns
    -------
    Bunch or tuple
        Described in :mod:`kernelbook.datasets`. Target: ``'unacc'``, ``'acc'``, ``'good'``,
        ``'vgood'``.

    Notes
    -----
    The frame holds ordered categories, the array their ranks from 0 (cheapest, smallest, least
    safe).

    Examples
    --------
    >>> load_car().data[0]  # vhigh, vhigh, 2, 2, small, low
    array([3., 3., 0., 0., 0., 0.])
    """
    return _load("car", return_X_y, as_frame, binary)


@_binary_loader
def load_segment(*, return_X_y: bool = False, as_frame: bool = False, binary: bool = False) -> Data:
    """Load seven kinds of outdoor image region, 330 of each, by 19 features of 3 x 3 pixels.

    Parameters
    ----------
    return_X_y : bool, default=False
        Whether to return ``(data, target)`` in place of the Bunch.
    as_frame : bool, default=False
        Whether to return pandas objects.
    binary : bool, default=False
        Whether to return 1 for the positive class (1, brickface: 330 of 2310) and 0 for every
        other.

    Returns
    -------
    Bunch or tuple
        Described in :mod:`kernelbook.datasets`. Target: 1 to 7.

    Notes
    -----
    224 rows repeat another: split by ``groups``. ``Region-pixel-count`` is constant.

    Examples
    --------
    >>> segment = load_segment()
    >>> segment.data.shape, len(set(segment.groups.tolist()))
    ((2310, 19), 2086)
    """
    return _load("segment", return_X_y, as_frame, binary)


@_loader
def load_haberman(*, return_X_y: bool = False, as_frame: bool = False) -> Data:
    """Load deaths within five years of surgery for breast cancer: 81 of 306, by three features.

    Parameters
    ----------
    return_X_y : bool, default=False
        Whether to return ``(data, target)`` in place of the Bunch.
    as_frame : bool, default=False
        Whether to return pandas objects.

    Returns
    -------
    Bunch or tuple
        Described in :mod:`kernelbook.datasets`. Target: 1 died, 0 survived.

    Notes
    -----
    17 rows repeat another.

    Examples
    --------
    >>> load_haberman().feature_names
    ['age', 'year', 'nodes']
    """
    return _load("haberman", return_X_y, as_frame)


@_loader
def load_airfoil(*, return_X_y: bool = False, as_frame: bool = False) -> Data:
    """Load the sound pressure level (dB) of wing sections in a wind tunnel, 1503 rows.

    Parameters
    ----------
    return_X_y : bool, default=False
        Whether to return ``(data, target)`` in place of the Bunch.
    as_frame : bool, default=False
        Whether to return pandas objects.

    Returns
    -------
    Bunch or tuple
        Described in :mod:`kernelbook.datasets`. Target: float; ``positive``
        is None.

    Notes
    -----
    A regression problem. Rows come in 106 runs of one section, angle and speed.

    Examples
    --------
    >>> airfoil = load_airfoil()
    >>> airfoil.data.shape, float(airfoil.target[0])
    ((1503, 5), 126.201)
    """
    return _load("airfoil", return_X_y, as_frame)


@_binary_loader
def load_sonar(*, return_X_y: bool = False, as_frame: bool = False, binary: bool = False) -> Data:
    """Load sonar echoes of 111 mines and 97 rocks, energy in 60 bands of frequency.

    Parameters
    ----------
    return_X_y : bool, default=False
        Whether to return ``(data, target)`` in place of the Bunch.
    as_frame : bool, default=False
        Whether to return pandas objects.
    binary : bool, default=False
        Whether to return 1 for the positive class (mines: 111 of 208) and 0 for every
        other.

    Returns
    -------
    Bunch or tuple
        Described in :mod:`kernelbook.datasets`. Target: 'M' (positive) or 'R'.

    Examples
    --------
    >>> load_sonar(binary=True).target_names
    ['rest', 'mine']
    """
    return _load("sonar", return_X_y, as_frame, binary)


@_loader
def load_creditcard_sample(*, return_X_y: bool = False, as_frame: bool = False) -> Data:
    """Load card payments: all 473 distinct frauds and 4500 genuine ones of a file of 283,726.

    Parameters
    ----------
    return_X_y : bool, default=False
        Whether to return ``(data, target)`` in place of the Bunch.
    as_frame : bool, default=False
        Whether to return pandas objects.

    Returns
    -------
    Bunch or tuple
        Described in :mod:`kernelbook.datasets`. Target: 1 fraud, 0 genuine.

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


def _load(name: str, return_X_y: bool, as_frame: bool, binary: bool = False) -> Data:
    file = FILES[name]
    header, *rows = csv.reader(read_verified(name).splitlines())
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
        DESCR=description(name),
        filename=str(data_directory() / f"{name}.csv"),
    )


def _column(fields: tuple[str, ...]) -> NDArray[Any]:
    """One column as int64 if every field is an integer, else float64 with NaN for a blank."""
    try:
        return np.array([int(text) for text in fields])
    except ValueError:
        return np.array([float(text) if text else np.nan for text in fields])


def _numeric(file: DataFile, columns: dict[str, Any]) -> tuple[NDArray[np.float64], list[str]]:
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


def _frame(file: DataFile, columns: dict[str, Any]) -> "pd.DataFrame":
    """Features as a DataFrame, text columns as categories in their documented order."""
    pd = import_optional("pandas", extra="data", purpose="as_frame=True")
    frame = pd.DataFrame(columns)
    for name, categories in {**file.ordered, **file.nominal}.items():
        frame[name] = pd.Categorical(frame[name], categories, ordered=name in file.ordered)
    return frame


def _group_numbers(rows: list[tuple[str, ...]]) -> NDArray[np.int64]:
    numbers: dict[tuple[str, ...], int] = {}
    return np.array([numbers.setdefault(row, len(numbers)) for row in rows], dtype=np.int64)
