"""Cells and results as text: the one form that all backends and the store share."""

import hashlib
import inspect
import json
from collections.abc import Callable, Iterable, Mapping
from numbers import Integral, Real
from typing import Any

import numpy as np

__all__ = ["TRACEBACK", "Cell", "check_cells", "check_result", "seed_of_text", "short", "to_text"]

Cell = dict[str, Any]

TRACEBACK = "traceback"


def seed_of_text(text: str, seed: int) -> int:
    digest = hashlib.sha256(f"{int(seed)} {text}".encode()).digest()
    return int.from_bytes(digest[:4], "big")


def check_cells(
    function: Callable[..., Any], cells: Iterable[Mapping[str, Any]], seed: int
) -> dict[str, Cell]:
    """The cells by their canonical JSON text: all valid, different, and fit to the function."""
    if not isinstance(seed, Integral):
        raise ValueError(f"seed must be an int, got {seed!r}.")
    checked: dict[str, Cell] = {}
    for position, cell in enumerate(cells):
        name = f"cells[{position}]"
        text = to_text(cell, name)
        if text in checked:
            raise ValueError(
                f"{name} equals cells[{list(checked).index(text)}], {text}: equal cells have equal "
                "seeds and results. Add an entry such as 'replicate' to repeat one."
            )
        for reserved in ("random_state", TRACEBACK):
            if reserved in cell:
                raise ValueError(f"{name} has the entry {reserved!r}, a name run_study uses.")
        _check_signature(function, cell, name)
        checked[text] = _plain(cell, name)
    return checked


def _check_signature(function: Callable[..., Any], cell: Mapping[str, Any], name: str) -> None:
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return  # some compiled functions have none; the call itself will tell
    try:
        signature.bind(**cell, random_state=0)
    except TypeError as error:
        raise ValueError(
            f"{name} does not fit function(**cell, random_state=...): {error}."
        ) from error


def to_text(entries: Any, name: str) -> str:
    """Canonical JSON: sorted keys; floats by their shortest exact form."""
    if not isinstance(entries, Mapping):
        raise ValueError(f"{name} must be a dict, got {type(entries).__name__}.")
    return json.dumps(_plain(entries, name), sort_keys=True)


def _plain(value: Any, name: str) -> Any:
    """The value in Python's own types, or a ValueError with the path to what has no JSON form."""
    if isinstance(value, Mapping):
        for key in value:
            if not isinstance(key, str):
                raise ValueError(f"{name} has the key {key!r}: keys must be strings.")
        return {str(key): _plain(entry, f"{name}[{key!r}]") for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(entry, f"{name}[{i}]") for i, entry in enumerate(value)]
    return _plain_scalar(value, name)


def _plain_scalar(value: Any, name: str) -> Any:
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value[()]
    if value is None:
        return None
    for kind, plain in ((bool | np.bool_, bool), (str, str), (Integral, int)):
        if isinstance(value, kind):
            return plain(value)
    if isinstance(value, Real) and (float(value) == value or value != value):
        return float(value)
    raise ValueError(
        f"{name} is {short(value)}, of type {type(value).__name__}: only str, bool, int, float "
        "and None can be kept."
    )


def short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


def check_result(result: Any, cell: Cell) -> Cell:
    if not isinstance(result, Mapping):
        raise ValueError(f"The function must return a dict, got {short(result)}.")
    plain = _plain(result, "result")
    for key, value in plain.items():
        if isinstance(value, list | dict):
            raise ValueError(
                f"result[{key!r}] is a {type(value).__name__}: return scalars, one for each column."
            )
        if key in cell or key == TRACEBACK:
            raise ValueError(f"result[{key!r}] has the name of another column: rename it.")
    return plain
