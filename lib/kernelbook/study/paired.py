"""What paired differences say against a margin."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import t as student_t

__all__ = ["paired_interval", "verdict"]


def paired_interval(
    differences: ArrayLike, *, test_to_train: float = 0.0, level: float = 0.95
) -> tuple[float, float, float]:
    r"""Mean of paired differences and its interval of Student's t, corrected for resampling.

    .. math:: \bar d \pm t_{n-1} \, s_d \sqrt{\frac1n + \frac{n_\text{test}}{n_\text{train}}}

    Parameters
    ----------
    differences : array-like of shape (n,)
        One difference for each split or data set, n >= 2.
    test_to_train : float, default=0.0
        Ratio of the sizes of test and training part. Splits of one data set share training points,
        so that their results are not independent, and the ratio corrects for it. Leave it at 0 for
        independent data sets.
    level : float, default=0.95
        Coverage.

    Returns
    -------
    mean : float
        Mean, in the unit of the differences.
    low : float
        Lower end of the interval.
    high : float
        Upper end of the interval.

    Raises
    ------
    ValueError
        For less than two differences.

    References
    ----------
    [Nadeau2003]_

    Examples
    --------
    Of 0 and 2 the standard deviation is the root of 2; five folds add 1/4 to the 1/2:

    >>> [round(value, 2) for value in paired_interval([0.0, 2.0], test_to_train=1 / 4)]
    [1.0, -14.56, 16.56]
    """
    values = np.asarray(differences, dtype=np.float64)
    if values.ndim != 1 or len(values) < 2:
        raise ValueError(f"at least two differences are needed, got shape {values.shape}.")
    mean = float(values.mean())
    error = float(values.std(ddof=1)) * (1 / len(values) + test_to_train) ** 0.5
    half = float(student_t.ppf((1 + level) / 2, len(values) - 1)) * error
    return mean, mean - half, mean + half


def verdict(low: float, high: float, margin: float) -> str:
    """Say what an interval tells about a difference that matters from a margin on.

    Parameters
    ----------
    low, high : float
        Ends of the interval of the difference to the reference; positive is better.
    margin : float
        The smallest difference that would matter, positive.

    Returns
    -------
    {'better', 'worse', 'equivalent', 'undecided'}
        'better' if the interval lies above the margin, 'worse' if it lies below minus the margin,
        'equivalent' if it lies between the two. Else 'undecided', whether or not it contains 0.

    Examples
    --------
    >>> [verdict(low, high, 0.02) for low, high in ((0.03, 0.05), (-0.01, 0.01), (-0.1, 0.1))]
    ['better', 'equivalent', 'undecided']
    """
    if low > margin:
        return "better"
    if high < -margin:
        return "worse"
    return "equivalent" if -margin <= low and high <= margin else "undecided"
