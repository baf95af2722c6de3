"""How the library checks a number, and names a function, that a caller hands in."""

import math
import re
from numbers import Integral, Real
from typing import Any, Literal, overload

from sklearn.utils import check_scalar

__all__ = ["check_number", "name_of"]

Inclusive = Literal["both", "left", "right", "neither"]


@overload
def check_number(  # numpydoc ignore=GL08
    value: Any, name: str, *, integer: Literal[True], low: float | None = ...,
    high: float | None = ..., inclusive: Inclusive = ...,
) -> int: ...  # fmt: skip
@overload
def check_number(  # numpydoc ignore=GL08
    value: Any, name: str, *, integer: Literal[False] = ..., low: float | None = ...,
    high: float | None = ..., inclusive: Inclusive = ...,
) -> float: ...  # fmt: skip
def check_number(
    value: Any,
    name: str,
    *,
    integer: bool = False,
    low: float | None = None,
    high: float | None = None,
    inclusive: Inclusive = "both",
) -> float:
    """Return a finite number within its bounds, or raise an error that names the argument.

    Parameters
    ----------
    value : object
        What the caller handed in.
    name : str
        Name of the argument, for the message.
    integer : bool, default=False
        Whether the number must be an integer.
    low : float, default=None
        Lower bound. If None, there is none.
    high : float, default=None
        Upper bound. If None, there is none.
    inclusive : {'both', 'left', 'right', 'neither'}, default='both'
        Which of the two bounds are allowed values themselves.

    Returns
    -------
    int or float
        The value as a Python number.

    Raises
    ------
    ValueError
        If the value is no number (a string, a bool, an array), not an integer where one is
        needed, NaN, infinite, or outside the bounds.

    Examples
    --------
    >>> check_number(2, "C", low=0, inclusive="neither")
    2.0
    >>> check_number(0, "n_samples", low=1, integer=True)
    Traceback (most recent call last):
    ...
    ValueError: n_samples must be an integer >= 1, got 0.
    >>> check_number(95, "confidence", low=0, high=1, inclusive="neither")
    Traceback (most recent call last):
    ...
    ValueError: confidence must be a number in (0, 1), got 95.
    """
    kind = Integral if integer else Real
    try:
        check_scalar(value, name, kind, min_val=low, max_val=high, include_boundaries=inclusive)
        # scikit-learn takes True for 1, and NaN satisfies every bound.
        valid = not isinstance(value, bool) and math.isfinite(value)
    except (TypeError, ValueError):
        valid = False
    if not valid:
        wanted = f"{'an integer' if integer else 'a number'}{_bounds(low, high, inclusive)}"
        raise ValueError(f"{name} must be {wanted}, got {value!r}.")
    return int(value) if integer else float(value)


def _bounds(low: float | None, high: float | None, inclusive: Inclusive) -> str:
    left, right = inclusive in ("both", "left"), inclusive in ("both", "right")
    if low is not None and high is not None:
        return f" in {'[' if left else '('}{low:g}, {high:g}{']' if right else ')'}"
    if low is not None:
        return f" {'>=' if left else '>'} {low:g}"
    return "" if high is None else f" {'<=' if right else '<'} {high:g}"


def name_of(function: Any) -> str:
    """Return how a function is written in a ``repr``: without its address, equal in every run.

    Parameters
    ----------
    function : callable
        Function, method, partial or object.

    Returns
    -------
    str
        Its ``repr`` without addresses.

    Examples
    --------
    >>> name_of(lambda x: x)
    '<function <lambda>>'
    """
    return re.sub(r" at 0x[0-9A-Fa-f]+", "", repr(function))
