"""Answers to the exercises of notebook 04, SVM on card fraud."""

import math

import numpy as np
from scipy.stats import binom
from sklearn.metrics import average_precision_score

from kernelbook.metrics import expected_rates
from kernelcourse.exercises.grading import Exercise, values_on

__all__ = ["EXERCISES"]

FRAUDS, GENUINE = 473, 283_253
PREVALENCE = FRAUDS / (FRAUDS + GENUINE)
SPARE, ALLOWED, RATE = 2131, 2, 0.001

Array = np.ndarray
LUCK = np.arange(190.0), np.append(np.ones(189, dtype=int), 0), GENUINE / 4500
RANKINGS = (  # scores, labels, and payments for which a genuine row stands
    (np.array([0.2, 2.5, -1.0, 1.5, 0.7, -0.3]), np.array([1, 1, 0, 0, 1, 0]), 10.0),
    (np.array([3.0, 2.0, 1.0, 0.0]), np.array([0, 1, 0, 1]), 2.0),
    LUCK,  # one genuine row above all frauds
)


def log_odds(fraction: float) -> float:
    return math.log(fraction / (1 - fraction))


def average_precision(f: Array, y: Array, weight: float) -> float:
    """That of the ranking if a genuine row stands for so many payments."""
    return float(average_precision_score(y, f, sample_weight=np.where(y == 1, 1.0, weight)))


def precisions_of(f: Array, y: Array, weight: float) -> Array:
    """Precision at each threshold, the highest first."""
    ranked = y[np.argsort(-f)]
    right, false = np.cumsum(ranked), weight * np.cumsum(1 - ranked)
    return np.asarray(right / (right + false))


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
        right=average_precision,
        evaluate=lambda function: values_on(function, RANKINGS),
        mistakes=(
            (
                lambda f, y, weight: average_precision(f, y, 1.0),
                "That is the area on the sample: a genuine row stands for `weight` payments.",
            ),
            (
                lambda f, y, weight: average_precision(-f, y, weight),
                "The highest score ranks first: `np.argsort` sorts the other way.",
            ),
            (
                lambda f, y, weight: precisions_of(f, y, weight).mean(),
                "The mean runs over the frauds only: the area grows where the sensitivity does.",
            ),
            (
                lambda f, y, weight: precisions_of(f, y, weight)[-1],
                "That is the precision if every payment raises an alarm.",
            ),
        ),
        otherwise="Sort, count frauds and genuine payments down to each fraud, divide, and take "
        "the mean over the frauds.",
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
