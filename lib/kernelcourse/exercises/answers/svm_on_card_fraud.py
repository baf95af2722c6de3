"""Answers to the exercises of notebook 04, SVM on card fraud."""

import math
from collections.abc import Callable

import numpy as np
from scipy.stats import binom

from kernelbook.metrics import expected_rates
from kernelcourse.exercises.grading import Exercise, values_on

__all__ = ["EXERCISES"]

FRAUDS, GENUINE = 473, 283_253
PREVALENCE = FRAUDS / (FRAUDS + GENUINE)
SPARE, ALLOWED, RATE = 2131, 2, 0.001

Array = np.ndarray
THREE, LABELS = np.array([0.0, 3.0, 4.0]), np.array([-1.0, 1.0, 1.0])
CLIPPED = np.array([1.0, 1.0, 0.0])  # times C: no free support vector
TEN = np.array([0, 1, 2, 2.5, 3, 1.5, 2.2, 4, 5, 6])
SIGNS = np.repeat([-1.0, 1.0], 5)
SOLUTIONS = (  # r, y, alpha and C; of each set without a free support vector the mirror image, too
    (LABELS - 0.3 * THREE, LABELS, 0.1 * CLIPPED, 0.1),
    (-LABELS + 0.3 * THREE, -LABELS, 0.1 * CLIPPED, 0.1),
    (LABELS - 0.15 * THREE, LABELS, 0.05 * CLIPPED, 0.05),
    (SIGNS - 0.5 * TEN, SIGNS, np.array([0, 0.075, 1, 1, 1, 1, 1, 1, 0.075, 0]), 1.0),
)


def log_odds(fraction: float) -> float:
    return math.log(fraction / (1 - fraction))


def midpoint(r: Array, y: Array, alpha: Array, C: float) -> float:
    """Middle of the interval (2.8)."""
    below = (y > 0) == (alpha < C)
    return float((r[below].max() + r[~below].min()) / 2)


def free_or(otherwise: Callable[..., float]) -> Callable[..., float]:
    """Mean over the free support vectors, and something else where there are none."""

    def bias(r: Array, y: Array, alpha: Array, C: float) -> float:
        free = (alpha > 0) & (alpha < C)
        return float(r[free].mean()) if free.any() else otherwise(r, y, alpha, C)

    return bias


bias_of = free_or(midpoint)


EXERCISES = (
    Exercise(
        "04.1",
        right=lambda: expected_rates(0.8, 0.995, 0.001)["precision"],
        mistakes=(
            (0.8 / (0.8 + 0.005), "That is for as many ill as healthy people."),
            (
                expected_rates(0.8, 0.005, 0.001)["precision"],
                "The specificity is the fraction *without* an alarm.",
            ),
            (0.8, "That is the fraction of the ill who are found."),
            (
                1 - expected_rates(0.8, 0.995, 0.001)["precision"],
                "That is the fraction of the alarms that are false.",
            ),
        ),
        otherwise="Divide the right alarms by all alarms; nearly everybody may raise a false one.",
        rtol=0.01,
    ),
    Exercise(
        "04.2",
        right=lambda: log_odds(PREVALENCE) - log_odds(1 / 3),
        mistakes=(
            (
                log_odds(1 / 3) - log_odds(PREVALENCE),
                "The sign is turned round: fraud is rarer in production than in training.",
            ),
            (log_odds(PREVALENCE), "The prior log odds of training are still in f."),
            (
                log_odds(PREVALENCE) - math.log(1 / 3),
                "A fraction of one in three has other odds than 1 to 3.",
            ),
            (
                math.log10(math.exp(log_odds(PREVALENCE) - log_odds(1 / 3))),
                "Log odds are natural logarithms.",
            ),
        ),
        otherwise="Take the old prior log odds away and put the new ones in.",
    ),
    Exercise(
        "04.3",
        # The exact bound that the rule of three approximates.
        right=lambda: math.log(0.05) / math.log1p(-PREVALENCE / 10),
        mistakes=(
            (3 / PREVALENCE, "So many show that they are no more frequent."),
            (0.3 / PREVALENCE, "A stricter claim needs more rows, not fewer."),
            (3000.0, "Where is the prevalence?"),
            (10 / PREVALENCE, "With 95 % confidence, not with 63 %."),
        ),
        otherwise="Which rate q is claimed? Then (4.2).",
        rtol=0.01,
    ),
    Exercise(
        "04.4",
        right=bias_of,
        evaluate=lambda function: values_on(function, SOLUTIONS),
        mistakes=(
            (free_or(lambda r, y, alpha, C: 0.0), "Without free support vectors b is not 0."),
            (
                lambda r, y, alpha, C: r[alpha > 0].mean(),
                "The mean runs over the free support vectors only, not over the bounded ones.",
            ),
            (
                free_or(lambda r, y, alpha, C: r[alpha > 0].mean()),
                "Without free support vectors each point bounds b from one side; none fixes it.",
            ),
        ),
        otherwise="Is the mean over the free support vectors right, and each point on its side of "
        "the interval where there are none?",
    ),
    Exercise(
        "04.5",
        # The rate exceeds RATE if no more than the allowed number of spare rows lie above the
        # quantile that belongs to RATE.
        right=lambda: binom.cdf(ALLOWED, SPARE, RATE),
        mistakes=(
            (binom.sf(ALLOWED, SPARE, RATE), "That is how often the claim is *right*."),
            (binom.cdf(ALLOWED + 1, SPARE, RATE), "Your threshold lets three spare rows pass."),
            (0.0, "Two of 2131 were counted; the next 2131 may hold more."),
            (1.0, "The mean lies above the claim, but the rate is often below it."),
            (0.5, "The rate is not symmetric about the claim: draw it."),
        ),
        otherwise="Draw 2131 uniform scores, take the third largest, and see which fraction of all "
        "scores lies above it; repeat.",
        rtol=0.04,
    ),
)
