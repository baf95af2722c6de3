"""The counts behind printed percentages."""

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Literal, get_args, overload

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from kernelbook.audit._rounding import decimals_of_each
from kernelbook.validation import check_number

__all__ = ["chance_of_fit", "fitting_denominators", "grim", "grim_folds"]

Printed = str | float | Fraction
Rounding = Literal["nearest", "half_up", "down", "any"]
Unit = Literal["percent", "fraction"]


@overload
def grim(  # type: ignore[overload-overlap]  # numpydoc ignore=GL08
    values: Printed, decimals: int, n: int, *, unit: Unit = ..., rounding: Rounding = ...
) -> list[int]: ...
@overload
def grim(  # numpydoc ignore=GL08
    values: Iterable[Printed], decimals: int | Sequence[int], n: int, *, unit: Unit = ...,
    rounding: Rounding = ...,
) -> list[list[int]]: ...  # fmt: skip
def grim(
    values: Printed | Iterable[Printed],
    decimals: int | Sequence[int],
    n: int,
    *,
    unit: Unit = "percent",
    rounding: Rounding = "nearest",
) -> list[int] | list[list[int]]:
    r"""Find the counts k of N cases that a printed rate can stand for (GRIM).

    All integers k in 0..N with :math:`|u k / N - v| \le \tfrac12 10^{-d}`, in exact arithmetic;
    u is 100 for percentages and 1 for fractions, v the printed value and d its decimals.

    Parameters
    ----------
    values : str, float or Fraction, or iterable of these
        Printed rates. Text is read exactly; a float stands for its shortest decimal form.
    decimals : int or sequence of int
        Decimals printed, for all values or for each ("80.60" has 2 and cannot be 490 of 608;
        "80.6" can).
    n : int
        Number N of cases, at least 1.
    unit : {'percent', 'fraction'}, default='percent'
        What the values are.
    rounding : {'nearest', 'half_up', 'down', 'any'}, default='nearest'
        ``'nearest'`` lets a tie go either way, ``'half_up'`` upwards only, ``'down'`` is cutting
        off, ``'any'`` is nearest or down.

    Returns
    -------
    list of int, or list of lists of int
        The counts of one value; of several values a list for each, in their order.

    Raises
    ------
    ValueError
        If a value is no number, an argument is out of range, or the lengths of ``values`` and
        ``decimals`` differ.

    See Also
    --------
    grim_folds : The counts behind an average over folds.
    fitting_denominators : The search for N.

    Notes
    -----
    With N large against 10^d every value fits, and nothing follows. Nor does it follow from a
    misfit if the value is an average of the rates of folds of unequal size: see
    :func:`grim_folds`. [Brown2017]_, it seems, ask it of means of integers.

    References
    ----------
    [Brown2017]_

    Examples
    --------
    >>> grim(92.6, 1, 608)
    [563]
    >>> grim(["66.7", "70.0"], 1, 10)
    [[], [7]]
    """
    if isinstance(values, str) or not isinstance(values, Iterable):
        return grim([values], decimals, n, unit=unit, rounding=rounding)[0]
    n = check_number(n, "n", low=1, integer=True)
    for name, choice, choices in (("unit", unit, Unit), ("rounding", rounding, Rounding)):
        if choice not in get_args(choices):
            raise ValueError(f"{name} must be one of {get_args(choices)}, got {choice!r}.")
    scale = 100 if unit == "percent" else 1
    return [_counts(value, d, n, scale, rounding) for value, d in _printed(values, decimals)]


def fitting_denominators(
    values: Sequence[Printed],
    decimals: int | Sequence[int],
    denominators: Iterable[int] = range(1, 1001),
    *,
    unit: Unit = "percent",
    rounding: Rounding = "nearest",
) -> list[int]:
    """Find those numbers of cases N of which every printed rate can be a count.

    Parameters
    ----------
    values : sequence of str, float or Fraction
        Printed rates.
    decimals : int or sequence of int
        Decimals printed, for all values or for each.
    denominators : iterable of int, default=range(1, 1001)
        The N to try.
    unit : {'percent', 'fraction'}, default='percent'
        What the values are.
    rounding : {'nearest', 'half_up', 'down', 'any'}, default='nearest'
        As in :func:`grim`.

    Returns
    -------
    list of int
        Those of ``denominators`` that fit.

    See Also
    --------
    chance_of_fit : How surprising a fit is, the search counted.

    Examples
    --------
    Thirds have a denominator that is a multiple of 3.

    >>> fitting_denominators(["33.3", "66.7"], 1, range(1, 10))
    [3, 6, 9]
    """
    values = list(values)
    return [n for n in denominators if all(grim(values, decimals, n, unit=unit, rounding=rounding))]


def grim_folds(value: Printed, decimals: int, fold_sizes: Sequence[int]) -> list[int]:
    r"""Find the total counts that an average over folds, printed in percent, can stand for.

    All :math:`\sum_f k_f` with :math:`0 \le k_f \le n_f` and
    :math:`|\tfrac{100}{F} \sum_f k_f / n_f - v| \le \tfrac12 10^{-d}`.

    Parameters
    ----------
    value : str, float or Fraction
        Printed percentage.
    decimals : int
        Its decimals.
    fold_sizes : sequence of int
        Number of cases :math:`n_f` in each of the F folds.

    Returns
    -------
    list of int
        Possible totals in increasing order.

    See Also
    --------
    grim : The counts behind a rate of one set of cases.

    Notes
    -----
    Folds of unequal size reach more values than their pooled counts do: an average that fits no
    count of the pooled cases may well be right. The work grows with the number of *different*
    sizes; stratified folds have one or two.

    Examples
    --------
    1 of 2 and 2 of 3 average to 58.3 %, which is no multiple of 1/5.

    >>> grim(58.3, 1, 5), grim_folds(58.3, 1, [2, 3])
    ([], [3])
    """
    [(exact, d)] = _printed([value], decimals)
    half = Fraction(1, 2 * 10**d)
    sizes = sorted({int(n) for n in fold_sizes})
    folds_of = [sum(n == size for n in fold_sizes) for size in sizes]
    scale = Fraction(100, len(fold_sizes))
    # Folds of one size matter only through their summed count.
    sums = {(Fraction(0), 0)}
    for size, folds in zip(sizes[:-1], folds_of[:-1], strict=True):
        sums = {
            (share + Fraction(k, size), total + k)
            for share, total in sums
            for k in range(size * folds + 1)
        }
    last, most = sizes[-1], sizes[-1] * folds_of[-1]
    totals: set[int] = set()
    for share, total in sums:
        low = math.ceil(((exact - half) / scale - share) * last)
        high = math.floor(((exact + half) / scale - share) * last)
        totals.update(total + k for k in range(max(low, 0), min(high, most) + 1))
    return sorted(totals)


def chance_of_fit(
    n_values: int,
    decimals: int,
    denominators: int | Iterable[int],
    *,
    n_draws: int = 20_000,
    random_state: int | np.random.RandomState | None = None,
) -> float:
    r"""Probability that arbitrary percentages all fit the counts of one number of cases.

    The values are independent and uniform over the :math:`10^{d+2} + 1` percentages with d
    decimals. For one N given beforehand the answer is exact, :math:`(h_N)^m` with :math:`h_N` the
    fraction of percentages that :func:`grim` accepts. For a set of N, searched for one that fits
    all m values, it is estimated by drawing.

    Parameters
    ----------
    n_values : int
        Number m of values.
    decimals : int
        Decimals d of the percentages, at most 3.
    denominators : int or iterable of int
        N, or the set that was searched.
    n_draws : int, default=20_000
        Draws of m values, for a set.
    random_state : int, RandomState or None, default=None
        Seed of the draws.

    Returns
    -------
    float
        The probability.

    See Also
    --------
    fitting_denominators : The search.

    Notes
    -----
    A fit that was found by a search must be judged by the chance that the search finds one.

    Examples
    --------
    Over 100 cases the whole percentages are counts: 101 of the 1001 values with one decimal.

    >>> print(f"{chance_of_fit(1, 1, 100):.4f}")
    0.1009
    """
    steps = 100 * 10**decimals
    if not isinstance(denominators, Iterable):
        return float(_fits(steps, np.array([denominators])).mean() ** n_values)
    fits = _fits(steps, np.fromiter(denominators, dtype=np.int64))
    draws = check_random_state(random_state).randint(0, steps + 1, size=(n_draws, n_values))
    found = 0
    for chunk in np.array_split(draws, max(1, n_draws // 2000)):
        all_fit = fits[chunk[:, 0]]
        for column in chunk[:, 1:].T:
            all_fit = all_fit & fits[column]
        found += int(all_fit.any(axis=1).sum())
    return found / n_draws


def _fits(steps: int, denominators: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Does v of ``steps`` round from some k/N? Shape (steps + 1, n_denominators)."""
    v = np.arange(steps + 1)[:, None]
    remainder = (v * denominators) % steps  # |k * steps - v * N| for the nearest two k
    return 2 * np.minimum(remainder, steps - remainder) <= denominators


def _printed(
    values: Iterable[Printed], decimals: int | Sequence[int]
) -> list[tuple[Fraction, int]]:
    text = [str(value) for value in values]
    try:
        exact = [Fraction(number) for number in text]
    except ValueError:
        raise ValueError(f"values must be numbers, or text that is one; got {text}.") from None
    return list(zip(exact, decimals_of_each(decimals, len(exact)), strict=True))


def _counts(value: Fraction, decimals: int, n: int, scale: int, rounding: Rounding) -> list[int]:
    step = Fraction(1, 10**decimals)
    below, above = {
        "nearest": (step / 2, step / 2),
        "half_up": (step / 2, step / 2),
        "down": (Fraction(0), step),
        "any": (step / 2, step),
    }[rounding]
    low = math.ceil((value - below) * n / scale)
    upper = (value + above) * n / scale
    # A value cut off, or rounded half up, is strictly below its upper end.
    high = math.floor(upper) if rounding == "nearest" else math.ceil(upper) - 1
    return list(range(max(low, 0), min(high, n) + 1))
