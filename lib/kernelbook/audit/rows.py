"""What several rows of a table, or the several runs behind one row, have in common."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import linprog

from kernelbook.audit.prevalence import NOTHING, Interval
from kernelbook.validation import check_number

__all__ = ["DeviatingRuns", "deviating_runs", "weight_sum"]


def weight_sum(
    accuracy: ArrayLike, sensitivity: ArrayLike, specificity: ArrayLike, decimals: ArrayLike
) -> Interval:
    r"""Find the range of A + B if accuracy = A sensitivity + B specificity in all rows.

    A and B are at least 0. An accuracy computed on the cases that the two rates describe is their
    weighted mean, with A + B = 1. A range that excludes 1 says that it is not: that cases are
    missing from one of the denominators, say. The range is found by two linear programs, in which
    each printed value may be anywhere within its rounding.

    Parameters
    ----------
    accuracy, sensitivity, specificity : array-like of shape (n,)
        Printed fractions of n >= 2 rows that share one class mix.
    decimals : int or array-like of int of shape (n, 3)
        Decimals of the fractions, for all or for each.

    Returns
    -------
    tuple of float
        The smallest and the largest A + B; (nan, nan) if no A and B fit all rows.

    Examples
    --------
    Fifty cases of each class, but the correct ones were divided by 80: 50/80 of each rate.

    >>> low, high = weight_sum([0.5, 0.6875], [0.4, 0.6], [0.4, 0.5], decimals=6)
    >>> print(f"{low:.3f} {high:.3f}")
    1.250 1.250
    """
    values = np.column_stack([accuracy, sensitivity, specificity]).astype(float)
    half = 0.5 * 10.0 ** -np.broadcast_to(np.asarray(decimals, dtype=float), values.shape)
    low, high = values - half, values + half
    constraints = np.vstack([low[:, 1:], -high[:, 1:]])
    bounds = np.concatenate([high[:, 0], -low[:, 0]])
    ends = [linprog(sign * np.ones(2), A_ub=constraints, b_ub=bounds) for sign in (1, -1)]
    if any(end.status == 3 for end in ends):
        return float(ends[0].fun), math.inf
    if any(not end.success for end in ends):
        return NOTHING
    return float(ends[0].fun), float(-ends[1].fun)


class DeviatingRuns(NamedTuple):
    r"""How a mean and a standard deviation distribute over the runs.

    Parameters
    ----------
    from_mean : float
        Value of the odd run if all others give u exactly, computed from the mean.
    from_sd : float
        The same, computed from the standard deviation; if both agree, one odd run explains the
        row.
    effective_runs : float
        :math:`(\sum d_i)^2 / \sum d_i^2`, 1 for a single odd run, n if all deviate alike.
    largest_share : float
        Its inverse, a lower bound for the part of the run that deviates most in
        :math:`\sum d_i`, since :math:`\sum d_i^2 \le \max_i d_i \sum d_i`.

    See Also
    --------
    deviating_runs : The function that returns it.
    """

    from_mean: float
    from_sd: float
    effective_runs: float
    largest_share: float


def deviating_runs(
    mean: float, sd: float, n_runs: int, usual: float, *, ddof: int = 1
) -> DeviatingRuns:
    r"""Explain a printed mean and standard deviation by runs that mostly give one value.

    For a rate that cannot pass the value u that most runs give (1 for the sensitivity of flagging
    everything, 0 for its specificity), the deviations :math:`d_i = |x_i - u|` of the n runs have
    one sign, and

    .. math:: \sum_i d_i = n\,|\bar x - u|, \qquad
              \sum_i d_i^2 = (n - \text{ddof})\,\text{sd}^2 + n\,(\bar x - u)^2 .

    Parameters
    ----------
    mean, sd : float
        Printed mean and standard deviation over the runs.
    n_runs : int
        Number n of runs, at least 2.
    usual : float
        The value u, a bound of the rate.
    ddof : {1, 0}, default=1
        Divisor n - ddof of the variance.

    Returns
    -------
    DeviatingRuns
        The value that one odd run must have, from the mean and from the standard deviation, and
        on how many runs the deviations are spread.

    Raises
    ------
    ValueError
        If the mean equals ``usual`` (no run deviates), or there are fewer than two runs.

    Examples
    --------
    Nine runs of 0 and one of 0.5: mean 0.05, standard deviation sqrt(0.025) = 0.158.

    >>> runs = deviating_runs(0.05, 0.025**0.5, n_runs=10, usual=0)
    >>> print(f"{runs.from_mean:.3f} {runs.from_sd:.3f} {runs.effective_runs:.3f}")
    0.500 0.500 1.000
    """
    n_runs = check_number(n_runs, "n_runs", low=2, integer=True)
    deviation = mean - usual
    if deviation == 0:
        raise ValueError(f"The mean equals usual={usual!r}: no run deviates from it.")
    sum_squared = (n_runs * deviation) ** 2
    sum_of_squares = (n_runs - ddof) * sd**2 + n_runs * deviation**2
    # One run at u + d and n - 1 at u have the sum of squared deviations d^2 (1 - 1/n).
    size = sd * math.sqrt((n_runs - ddof) * n_runs / (n_runs - 1))
    return DeviatingRuns(
        from_mean=usual + n_runs * deviation,
        from_sd=usual + math.copysign(size, deviation),
        effective_runs=sum_squared / sum_of_squares,
        largest_share=sum_of_squares / sum_squared,
    )
