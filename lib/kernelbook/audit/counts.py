"""The counts behind printed percentages."""

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

__all__ = ["chance_of_fit", "fitting_denominators", "grim", "grim_folds"]

Decimals = int | Sequence[int]
Rounding = Literal["nearest", "half_up", "down", "any"]
Unit = Literal["percent", "fraction"]


def grim(
    values: Any,
    decimals: Decimals,
    denominators: int | Iterable[int],
    *,
    unit: Unit = "percent",
    rounding: Rounding = "nearest",
) -> Any:
    r"""Counts k of N cases that a printed rate can stand for (granularity of a rate, GRIM).

    All integers k in 0..N with :math:`|u k / N - v| \le \tfrac12 10^{-d}`, in exact arithmetic;
    u is 100 for percentages and 1 for fractions, v the printed value and d its decimals.

    Parameters
    ----------
    values : number or text, or a sequence of them
        Printed rates. Text is read exactly; a float stands for its shortest decimal form.
    decimals : int or sequence of ints
        Decimals printed, for all values or each ("80.60" has 2 and cannot be 490 of 608; "80.6"
        can).
    denominators : int or iterable of ints
        Numbers N of cases.
    unit : {'percent', 'fraction'}
        What the values are.
    rounding : {'nearest', 'half_up', 'down', 'any'}
        ``'nearest'`` lets a tie go either way, ``'half_up'`` upwards only, ``'down'`` is cutting
        off, ``'any'`` is nearest or down.

    Returns
    -------
    list of ints, or a list of such lists, or a dict of either
        For one value and one N the counts; for several values a list in their order; for several
        N a dict with N as key.

    Notes
    -----
    With N large against 10^d every value fits, and nothing follows. Nor does it follow from a
    misfit if the value is an average of the rates of folds of unequal size: see
    :func:`grim_folds`. After [Brown2017]_, who ask it of means of integers.

    References
    ----------
    [Brown2017]_

    Examples
    --------
    >>> grim(92.6, 1, 608)
    [563]
    >>> grim(["66.7", "70.0"], 1, [3, 10])
    {3: [[2], []], 10: [[], [7]]}
    """
    one_value = isinstance(values, (str, int, float, np.number, Fraction))
    printed = _printed([values] if one_value else list(values), decimals)
    for name, choice, choices in (
        ("unit", unit, get_args(Unit)),
        ("rounding", rounding, get_args(Rounding)),
    ):
        if choice not in choices:
            raise ValueError(f"{name} must be one of {choices}, got {choice!r}.")
    scale = 100 if unit == "percent" else 1

    def counts(n: int) -> Any:
        each = [_counts(value, d, n, scale, rounding) for value, d in printed]
        return each[0] if one_value else each

    if isinstance(denominators, (int, np.integer)):
        return counts(int(denominators))
    return {int(n): counts(int(n)) for n in denominators}


def fitting_denominators(
    values: Sequence[Any],
    decimals: Decimals,
    denominators: Iterable[int] = range(1, 1001),
    *,
    unit: Unit = "percent",
    rounding: Rounding = "nearest",
) -> list[int]:
    """Those numbers of cases N for which every printed rate can be a count of N.

    Parameters
    ----------
    values, decimals, denominators, unit, rounding
        As in :func:`grim`.

    Returns
    -------
    list of ints

    See Also
    --------
    chance_of_fit : how surprising a fit is, the search counted.

    Examples
    --------
    Thirds have a denominator that is a multiple of 3.

    >>> fitting_denominators(["33.3", "66.7"], 1, range(1, 10))
    [3, 6, 9]
    """
    fits = grim(values, decimals, denominators, unit=unit, rounding=rounding)
    return [n for n, counts in fits.items() if all(counts)]


def grim_folds(value: Any, decimals: int, fold_sizes: Sequence[int]) -> list[int]:
    r"""Total counts that an average over folds, printed in percent, can stand for.

    All :math:`\sum_f k_f` with :math:`0 \le k_f \le n_f` and
    :math:`|\tfrac{100}{F} \sum_f k_f / n_f - v| \le \tfrac12 10^{-d}`.

    Parameters
    ----------
    value : number or text
        Printed percentage.
    decimals : int
        Its decimals.
    fold_sizes : sequence of ints
        Number of cases :math:`n_f` in each of the F folds.

    Returns
    -------
    list of ints
        Possible totals in increasing order.

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
    share of percentages that :func:`grim` accepts. For a set of N, searched for one that fits all
    m values, it is estimated by drawing.

    Parameters
    ----------
    n_values : int
        Number m of values.
    decimals : int
        Decimals d of the percentages, at most 3.
    denominators : int or iterable of ints
        N, or the set that was searched.
    n_draws : int
        Draws of m values, for a set.
    random_state : int, RandomState or None
        Seed of the draws.

    Returns
    -------
    float

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
    if isinstance(denominators, (int, np.integer)):
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


def _printed(values: Sequence[Any], decimals: Decimals) -> list[tuple[Fraction, int]]:
    each = [decimals] * len(values) if isinstance(decimals, (int, np.integer)) else list(decimals)
    if len(each) != len(values):
        raise ValueError(f"decimals must be one integer or {len(values)} of them, got {each}.")
    try:
        exact = [Fraction(str(value)) for value in values]
    except ValueError:
        raise ValueError(f"values must be numbers, or text that is one; got {values}.") from None
    return [(value, int(d)) for value, d in zip(exact, each, strict=True)]


def _counts(value: Fraction, decimals: int, n: int, scale: int, rounding: Rounding) -> list[int]:
    if n < 1:
        raise ValueError(f"denominators must be positive integers, got {n}.")
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
