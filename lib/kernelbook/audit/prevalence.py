"""The prevalence, and what it bounds."""

import math
from collections.abc import Sequence

from kernelbook.audit._rounding import decimals_of_each
from kernelbook.validation import check_number

__all__ = [
    "accuracy_bound",
    "implied_prevalence",
    "prevalence_from_f1",
    "prevalence_from_precision",
    "trivial_f1",
]

Interval = tuple[float, float]
NOTHING: Interval = (math.nan, math.nan)


def implied_prevalence(
    accuracy: float, sensitivity: float, specificity: float, decimals: int | Sequence[int]
) -> Interval:
    r"""Find the prevalence that three printed rates imply, as an interval.

    Solves :math:`a = \pi s + (1 - \pi) t` for :math:`\pi \in [0, 1]`, with :math:`a, s, t`
    anywhere within the rounding of the printed values:

    .. math::
       \pi (s_{lo} - t_{lo}) \le a_{hi} - t_{lo}
       \quad\text{and}\quad
       \pi (s_{hi} - t_{hi}) \ge a_{lo} - t_{hi} .

    Parameters
    ----------
    accuracy, sensitivity, specificity : float
        Printed rates as fractions in [0, 1]: 92.6 % is 0.926.
    decimals : int or sequence of int
        Decimals of the *fractions* that were printed (92.6 % has 3), for all three or for each.

    Returns
    -------
    tuple of float
        The smallest and the largest prevalence that some unrounded values allow; (nan, nan) if
        there is none, which says that the accuracy is no average of the two rates.

    Raises
    ------
    ValueError
        If a rate is not in [0, 1], or there are neither one nor three ``decimals``.

    See Also
    --------
    audit_table : This for every row of a table, with what follows from it.

    Notes
    -----
    Averages over folds or runs obey the identity too if each has the same prevalence. If
    sensitivity and specificity are nearly equal the interval is wide: they say nothing about the
    prevalence.

    Examples
    --------
    Sensitivity 1/2, specificity 1, accuracy 9/10: a prevalence p costs p/2, so p = 0.2.

    >>> low, high = implied_prevalence(0.900, 0.500, 1.000, 3)
    >>> print(f"{low:.3f} {high:.3f}")
    0.198 0.201
    """
    a, s, t = _rounded(
        decimals, accuracy=accuracy, sensitivity=sensitivity, specificity=specificity
    )
    low, high = 0.0, 1.0
    # Both conditions as slope * prevalence <= offset.
    for slope, offset in ((s[0] - t[0], a[1] - t[0]), (t[1] - s[1], t[1] - a[0])):
        if slope > 0:
            high = min(high, offset / slope)
        elif slope < 0:
            low = max(low, offset / slope)
        elif offset < 0:
            return NOTHING
    return (low, high) if low <= high else NOTHING


def prevalence_from_precision(
    precision: float, sensitivity: float, specificity: float, decimals: int | Sequence[int]
) -> Interval:
    r"""Find the prevalence that a printed precision implies, as an interval.

    .. math:: \frac{\pi}{1 - \pi} = \frac{v}{1 - v} \cdot \frac{1 - t}{s},
              \qquad v = \text{precision}

    Parameters
    ----------
    precision, sensitivity, specificity : float
        Printed rates as fractions in [0, 1].
    decimals : int or sequence of int
        Decimals of the fractions, for all three or for each.

    Returns
    -------
    tuple of float
        The smallest and the largest prevalence; (0, 1) if the rates allow a classifier that flags
        nothing, whose precision is not defined.

    Raises
    ------
    ValueError
        If a rate is not in [0, 1], or there are neither one nor three ``decimals``.

    Notes
    -----
    A precision averaged over runs is a mean of ratios and obeys this only nearly.

    Examples
    --------
    Half of what is flagged is positive, and both classes are flagged equally often.

    >>> low, high = prevalence_from_precision(0.5, 0.8, 0.2, decimals=6)
    >>> print(f"{low:.4f} {high:.4f}")
    0.5000 0.5000
    """
    v, s, t = _rounded(
        decimals, precision=precision, sensitivity=sensitivity, specificity=specificity
    )

    def prevalence(value: float, sensitivity: float, specificity: float) -> float:
        positive, negative = value * (1 - specificity), (1 - value) * sensitivity
        return positive / (positive + negative) if positive + negative > 0 else math.nan

    low, high = prevalence(v[0], s[1], t[1]), prevalence(v[1], s[0], t[0])
    return (0.0, 1.0) if math.isnan(low) or math.isnan(high) else (low, high)


def prevalence_from_f1(accuracy: float, f1: float, decimals: int | Sequence[int]) -> Interval:
    r"""Bound the prevalence by a printed accuracy and F1 alone.

    As fractions of all cases, :math:`F_1 = 2 TP / (2 TP + 1 - a)`, so the true positives are known,
    and with them the true negatives:

    .. math:: TP = \frac{F_1 (1 - a)}{2 (1 - F_1)}, \quad TN = a - TP,
              \qquad TP \le \pi \le 1 - TN .

    Parameters
    ----------
    accuracy, f1 : float
        Printed values as fractions in [0, 1].
    decimals : int or sequence of int
        Decimals of the fractions, for both or for each.

    Returns
    -------
    tuple of float
        The smallest and the largest prevalence; (nan, nan) if no table has this accuracy and F1.

    Raises
    ------
    ValueError
        If a rate is not in [0, 1], or there are neither one nor two ``decimals``.

    Notes
    -----
    Rows that describe the same data must have a prevalence in common. An F1 averaged over runs
    obeys this only nearly.

    Examples
    --------
    Accuracy 0.6 and F1 0.5: TP = 0.5 * 0.4 / (2 * 0.5) = 0.2 and TN = 0.4.

    >>> low, high = prevalence_from_f1(0.6, 0.5, decimals=6)
    >>> print(f"{low:.4f} {high:.4f}")
    0.2000 0.6000
    """
    a, f = _rounded(decimals, accuracy=accuracy, f1=f1)

    def true_positives(accuracy: float, f1: float) -> float:
        return f1 * (1 - accuracy) / (2 * (1 - f1)) if f1 < 1 else 1.0

    fewest, most = true_positives(a[1], f[0]), true_positives(a[0], f[1])
    if fewest > a[1]:
        return NOTHING
    return fewest, min(1.0, 1 - a[0] + most)


def accuracy_bound(sensitivity: float, specificity: float, prevalence: float) -> float:
    r"""Bound the accuracy at a prevalence by either of the two rates.

    .. math:: \pi s + (1 - \pi) t \le \min(t + \pi,\; s + 1 - \pi,\; 1)

    Weaker than the identity, and the harder to escape: it holds for averages over folds of any
    size as long as each has the prevalence :math:`\pi`.

    Parameters
    ----------
    sensitivity, specificity : float
        The two rates :math:`s` and :math:`t`, in [0, 1].
    prevalence : float
        Fraction :math:`\pi` of positives.

    Returns
    -------
    float
        The largest possible accuracy.

    Examples
    --------
    >>> print(f"{accuracy_bound(0.926, 0.4373, 75 / 683):.3f}")
    0.547
    """
    return min(specificity + prevalence, sensitivity + 1 - prevalence, 1.0)


def trivial_f1(prevalence: float) -> float:
    r"""Compute the F1 of flagging everything, :math:`2 \pi / (1 + \pi)`.

    Its precision is :math:`\pi` and its sensitivity 1; any F1 at or below it needs no classifier.

    Parameters
    ----------
    prevalence : float
        Fraction :math:`\pi` of positives, in [0, 1].

    Returns
    -------
    float
        The F1 that a useful classifier exceeds.

    Examples
    --------
    >>> trivial_f1(1 / 3)
    0.5
    """
    p = check_number(prevalence, "prevalence", low=0, high=1)
    return 2 * p / (1 + p)


def _rounded(decimals: int | Sequence[int], **rates: float) -> list[Interval]:
    """What each printed fraction can have been before rounding, kept within [0, 1]."""
    intervals = []
    for (name, rate), d in zip(rates.items(), decimals_of_each(decimals, len(rates)), strict=True):
        value, half = check_number(rate, name, low=0, high=1), 0.5 * 10.0**-d
        intervals.append((max(0.0, value - half), min(1.0, value + half)))
    return intervals
