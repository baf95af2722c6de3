"""Answers to the exercises of notebook 14, the comparison of Bayesian descriptions."""

import numpy as np
import pandas as pd
from scipy.integrate import quad
from scipy.spatial.distance import cdist
from scipy.special import softmax
from scipy.stats import chi2, ncx2, norm

from kernelbook.datasets import data_directory
from kernelcourse.exercises.grading import Exercise, values_on

__all__ = ["EXERCISES"]

M, BASE, MOVED = "BSVDD-M", "Parzen window", "KernelSVC, moved threshold"
Array = np.ndarray
RANDOM = np.random.default_rng(14)
CASES = tuple(
    (RANDOM.normal(size=(9, p)), np.repeat([0, 1], [6, 3]), RANDOM.normal(size=(4, p)), gamma)
    for p, gamma in ((2, 0.3), (3, 1.7))
)


def far_weight(n: int, divisor: float) -> float:
    K = np.pad(np.ones((n - 1, n - 1)), (0, 1))
    K[-1, -1] = 1.0
    return float(softmax(-K.sum(axis=1) / divisor)[-1])


def rows(name: str) -> pd.DataFrame:
    """A table of the stored study."""
    return pd.read_csv(data_directory() / "results" / f"{name}.csv")


def designs(measure: str) -> list[bool]:
    """For each design, whether the machine with a moved threshold is better."""
    table = rows("bayesian_svdd").query("method == @MOVED and measure == @measure")
    return (table["verdict"] == "better").tolist()


def spreads() -> tuple[float, float, float]:
    """Standard deviations of the AUC of both models at the centre, and of the difference."""
    scores = rows("bayesian_svdd_scores").query("data == 'centre' and measure == 'AUC'")
    wide = scores.pivot(index="repeat", columns="method", values="value")
    return wide[M].std(), wide[BASE].std(), (wide[M] - wide[BASE]).std()


def unpaired(power: int = 2) -> float:
    one, other, difference = spreads()
    return float((one**power + other**power) ** (1 / power) / difference)


def auc_of_norm() -> float:
    """P(squared norm of a minority point > that of a target), without the normal approximation."""
    return quad(lambda r: ncx2.sf(r, 100, 9) * chi2.pdf(r, 100), 0, 400)[0]


def difference_of_means(
    X: Array, y: Array, Z: Array, gamma: float, power: int = 2, total: bool = False
) -> Array:
    """Mean similarity to class 1 minus that to class 0, or the same with sums."""
    weights = np.where(y == 1, 1.0, -1.0)
    if not total:
        weights /= np.where(y == 1, np.sum(y == 1), np.sum(y == 0))
    return np.exp(-gamma * cdist(Z, X) ** power) @ weights


EXERCISES = (
    Exercise(
        "14.1",
        right=lambda: far_weight(20, 20),
        mistakes=(
            (lambda: far_weight(20, 1), "Those are row sums; the prior has row means."),
            (1 / 20, "That is the weight under a constant prior."),
            (lambda: (1 - far_weight(20, 20)) / 19, "That is one of the equal points."),
            (lambda: far_weight(20, 19), "A row mean divides by all n points."),
        ),
        otherwise="Two logits: one for the equal points, one for the far one.",
        rtol=5e-3,
    ),
    Exercise(
        "14.2",
        right=lambda: sum(designs("balanced accuracy")),
        mistakes=(
            (lambda: sum(designs("AUC")), "That is the AUC: the ranking alone."),
            (lambda: designs("balanced accuracy").count(False), "Those are the other designs."),
        ),
        otherwise="One row a design: those of the balanced accuracy; count the verdicts.",
    ),
    Exercise(
        "14.3",
        right=difference_of_means,
        mistakes=(
            (
                lambda *case: -difference_of_means(*case),
                "The sign: a rare case has to have the larger value.",
            ),
            (
                lambda X, y, Z, gamma: difference_of_means(X, y, Z, gamma, total=True),
                "Those are sums: the larger class counts more. Take means.",
            ),
            (
                lambda X, y, Z, gamma: difference_of_means(X, y, Z, gamma, power=1),
                "The kernel has squared distances, without a root.",
            ),
            (
                lambda X, y, Z, gamma: difference_of_means(X, y, Z, 1 / gamma),
                "Multiply the squared distance by gamma, do not divide.",
            ),
        ),
        otherwise="One value for each row of Z: mean similarity to class 1 minus that to class 0.",
        evaluate=lambda function: values_on(function, CASES),
    ),
    Exercise(
        "14.4",
        right=unpaired,
        mistakes=(
            (lambda: 1 / unpaired(), "Which of the two intervals is the longer one?"),
            (lambda: unpaired() ** 2, "Lengths go with standard deviations, not variances."),
            (lambda: unpaired(1), "Variances of independent numbers add, not deviations."),
            (lambda: unpaired() / np.sqrt(2), "A difference has the sum of both variances."),
        ),
        otherwise="Compare the variance of the difference with the sum of the two variances.",
    ),
    Exercise(
        "14.5",
        right=auc_of_norm,
        mistakes=(
            (norm.cdf(9 / np.sqrt(236)), "The common cases vary, too."),
            (norm.cdf(9 / np.sqrt(200)), "The rare cases vary, too."),
            (norm.cdf(9 / np.sqrt(400)), "The variance of the rare class is larger."),
            (
                norm.cdf(9 / (np.sqrt(200) + np.sqrt(236))),
                "Variances add, standard deviations do not.",
            ),
            (norm.cdf(9 / np.sqrt(76)), "That is for ten features."),
            (norm.cdf(9 / 436), "A root is missing."),
        ),
        otherwise="The AUC is the chance that one of two normal numbers exceeds the other.",
        rtol=0.01,
    ),
)
