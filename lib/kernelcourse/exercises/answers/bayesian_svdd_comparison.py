"""Answers to the exercises of notebook 14, the comparison of Bayesian descriptions."""

import csv
from collections import defaultdict

import numpy as np
from scipy.integrate import quad
from scipy.optimize import brentq
from scipy.special import softmax
from scipy.stats import chi2, ncx2, norm

from kernelbook.datasets import data_directory
from kernelcourse.exercises.grading import Exercise, Mistake

__all__ = ["EXERCISES"]

A, F1 = 0.5249, 0.6078
DESIGN = ("boundary", "p", "imbalance", "contamination")
CENTRE = ("line", "10", "10", "0")
M, BASE, TWO_CLASS = "BSVDD-M, repaired", "kernel mean", "two-class SVM"


def least_fraction() -> float:
    """TP from the definition of F1, by root finding."""
    return float(brentq(lambda hits: 2 * hits / (2 * hits + 1 - A) - F1, 0, A))


def far_weight(n: int, divisor: float) -> float:
    K = np.pad(np.ones((n - 1, n - 1)), (0, 1))
    K[-1, -1] = 1.0
    return float(softmax(-K.sum(axis=1) / divisor)[-1])


def values(measure: str) -> dict[tuple[tuple[str, ...], str], list[float]]:
    """A measure of the stored study by design and model, replicates in order."""
    found = defaultdict(list)
    with (data_directory() / "results" / "bayesian_svdd.csv").open(encoding="utf-8") as file:
        rows = sorted(csv.DictReader(file), key=lambda row: int(row["replicate"]))
    for row in rows:
        found[tuple(row[key] for key in DESIGN), row["model"]].append(float(row[measure]))
    return found


def designs_won(measure: str) -> int:
    found = values(measure)
    designs = {design for design, _ in found}
    return sum(np.mean(found[d, M]) > np.mean(found[d, TWO_CLASS]) for d in designs)


def spreads() -> tuple[float, float, float]:
    """Standard deviations of the AUC of both models, and of the difference."""
    found = values("roc_auc")
    one, other = np.array(found[CENTRE, M]), np.array(found[CENTRE, BASE])
    return one.std(ddof=1), other.std(ddof=1), (one - other).std(ddof=1)


def unpaired(power: int = 2) -> float:
    one, other, difference = spreads()
    return float((one**power + other**power) ** (1 / power) / difference)


def auc_of_norm() -> float:
    """P(squared norm of a minority point > that of a target), without the normal approximation."""
    return quad(lambda r: ncx2.sf(r, 50, 9) * chi2.pdf(r, 50), 0, 250)[0]


EXERCISES = (
    Exercise(
        "14.1",
        right=least_fraction,
        mistakes=(
            Mistake(lambda: F1 * (1 - A) / (1 - F1), "All errors are 1 - a; did you halve?"),
            Mistake(lambda: F1 * A / (2 * (1 - F1)), "a is the accuracy; take the errors."),
            Mistake(lambda: 1 - A + least_fraction(), "That is the largest fraction."),
            Mistake(lambda: F1 / (2 - F1), "That is where flagging everything has this F1."),
        ),
        otherwise="The least fraction is TP of (14.1), from three numbers.",
        rtol=3e-4,
    ),
    Exercise(
        "14.2",
        right=lambda: far_weight(20, 20),
        mistakes=(
            Mistake(lambda: far_weight(20, 1), "Those are row sums; the prior has row means."),
            Mistake(lambda: 1 / 20, "That is the weight under a constant prior."),
            Mistake(lambda: (1 - far_weight(20, 20)) / 19, "That is one of the equal points."),
            Mistake(lambda: far_weight(20, 19), "A row mean divides by all n points."),
        ),
        otherwise="Two logits: one for the equal points, one for the far one.",
        rtol=5e-3,
    ),
    Exercise(
        "14.3",
        right=lambda: designs_won("balanced_accuracy"),
        mistakes=(
            Mistake(lambda: designs_won("roc_auc"), "That is the AUC: the ranking alone."),
            Mistake(lambda: designs_won("g_mean"), "That is the G-mean."),
            Mistake(
                lambda: 9 - designs_won("balanced_accuracy"), "Those are the designs that it loses."
            ),
        ),
        otherwise="Two means for each of nine designs; count the rows.",
    ),
    Exercise(
        "14.4",
        right=unpaired,
        mistakes=(
            Mistake(lambda: 1 / unpaired(), "Which of the two intervals is the longer one?"),
            Mistake(lambda: unpaired() ** 2, "Lengths go with standard deviations, not variances."),
            Mistake(lambda: unpaired(1), "Variances of independent numbers add, not deviations."),
            Mistake(lambda: unpaired() / np.sqrt(2), "A difference has the sum of both variances."),
        ),
        otherwise="Compare the variance of the difference with the sum of the two variances.",
    ),
    Exercise(
        "14.5",
        right=auc_of_norm,
        mistakes=(
            Mistake(lambda: norm.cdf(9 / np.sqrt(136)), "The targets vary, too."),
            Mistake(lambda: norm.cdf(9 / 10), "The minority points vary, too."),
            Mistake(lambda: norm.cdf(9 / np.sqrt(200)), "The variance of the minority is larger."),
            Mistake(
                lambda: norm.cdf(9 / (10 + np.sqrt(136))),
                "Variances add, standard deviations do not.",
            ),
            Mistake(lambda: norm.cdf(9 / np.sqrt(76)), "That is for ten features."),
            Mistake(lambda: norm.cdf(9 / 236), "A root is missing."),
        ),
        otherwise="The AUC is the chance that one of two normal numbers exceeds the other.",
        rtol=0.01,
    ),
)
