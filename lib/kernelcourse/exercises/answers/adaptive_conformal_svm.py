"""Answers to the exercises of notebook 10, adaptive conformal machines."""

from typing import Any

import numpy as np
from scipy.integrate import quad
from scipy.stats import norm
from sklearn.datasets import make_moons
from sklearn.metrics import roc_curve

from kernelbook.svm import KernelSVC
from kernelcourse.exercises.grading import Exercise

__all__ = ["EXERCISES"]

FREQUENT, RARE = (0.0, 2.0, 4.0), (7.0,)
FRACTIONS = np.linspace(0.0, 1.0, 10_001)


def width_of(x: float) -> float:
    """eta tau^2 of (10.1) for a frequent support vector x of the four."""
    others = [(x - z) ** 2 for z in FREQUENT + RARE if z != x]
    midpoint = (min(others) + max(others)) / 2
    opposite = [(x - z) ** 2 for z in RARE]
    near = [squared for squared in opposite if squared <= midpoint]
    return len(RARE) / len(FREQUENT) * (float(np.mean(near)) if near else min(opposite))


def boundary() -> float:
    """The place of least loss (10.2), by trial."""
    fraction = FRACTIONS[np.argmin(4 * (1 - FRACTIONS) ** 2 + FRACTIONS**2)]
    return float((1 - fraction) * 10)


def mean_distance() -> float:
    """Mean of |u - v| for two standard normal numbers: u - v has the variance 2."""
    return 2 * quad(lambda t: t * norm.pdf(t, scale=np.sqrt(2)), 0, np.inf)[0]


def moons() -> tuple[Any, Any, Any, Any]:
    X, y = make_moons((300, 20), noise=0.3, random_state=10)
    X_new, y_new = make_moons((4000, 4000), noise=0.3, random_state=1010)
    return X, y, X_new, y_new


def g_means(class_weight: str | None) -> tuple[float, float]:
    """G-mean at the machine's own threshold, and at the best one for the new points."""
    X, y, X_new, y_new = moons()
    values = KernelSVC(C=1.0, gamma=1.0, class_weight=class_weight).fit(X, y)
    values = values.decision_function(X_new)
    false_alarms, found, threshold = roc_curve(y_new, values, drop_intermediate=False)
    g = np.sqrt(found * (1 - false_alarms))
    return float(g[np.count_nonzero(threshold > 0) - 1]), float(g.max())


EXERCISES = (
    Exercise(
        "10.1",
        right=lambda: width_of(4.0),
        mistakes=(
            (3 * 9, "Which way round is eta for a frequent support vector?"),
            (9, "That is tau squared; eta is missing."),
            ((4 + 9) / 2 / 3, "The mean is over support vectors of the other class."),
            (np.sqrt(9) / 3, "Distances are squared."),
        ),
        otherwise="Begin with the three squared distances; who is below the midpoint, and rare?",
    ),
    Exercise(
        "10.2",
        right=boundary,
        mistakes=(
            (8, "The fraction is counted from the rare point on."),
            (5, "That is the middle; here a shortfall of the rare one counts more."),
            (0.8, "That is the fraction of the way; where on the line does it end?"),
        ),
        otherwise="Find the fraction of the way; the boundary is nearer to the frequent point.",
    ),
    Exercise(
        "10.3",
        right=lambda: -16 * mean_distance() / 0.5 / np.log(10),
        mistakes=(
            (lambda: 16 * mean_distance() / 0.5 / np.log(10), "A bump is below 1: the sign."),
            (lambda: -16 * mean_distance() / 0.5, "That is the natural logarithm."),
            (lambda: -mean_distance() / 0.5 / np.log(10), "That is one feature of them all."),
            (-16 * 2 / 0.5 / np.log(10), "The mixture does not square the distance."),
            (lambda: -16 * mean_distance() * 0.5 / np.log(10), "Divide by the width."),
        ),
        otherwise="Mean distance, divided by the width; then the base of the logarithm.",
        rtol=2e-3,
    ),
    Exercise(
        "10.4",
        right=lambda: np.sqrt((1 / 10) / (1 / 10 + 0.2 / 0.8)),
        mistakes=(
            ((1 / 10) / (1 / 10 + 1 / 4), "Lengths are roots of variances."),
            (np.sqrt((1 / 10 + 1 / 4) / (1 / 10)), "The naive interval is shorter."),
            (np.sqrt((1 / 10) / (1 / 10 + 1 / 5)), "test / train, not test / all."),
            (np.sqrt((1 / 5) / (1 / 5 + 1 / 4)), "Repeated twice, how many results?"),
        ),
        otherwise="What takes the place of 1/n, and what does a root do to a ratio?",
        rtol=1e-2,
    ),
    Exercise(
        "10.5",
        right=lambda: g_means(None)[1],
        mistakes=(
            (lambda: g_means(None)[0], "That is the threshold 0, which is at fault."),
            (lambda: g_means("balanced")[0], "That is the machine with class weights."),
            (lambda: g_means("balanced")[1], "That machine has class weights already."),
        ),
        otherwise="Fit without weights on the 320 points; try every decision value as threshold.",
    ),
)
