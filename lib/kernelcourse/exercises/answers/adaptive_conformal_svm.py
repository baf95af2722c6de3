"""Answers to the exercises of notebook 10, adaptive conformal machines."""

from typing import Any

import numpy as np
from sklearn.datasets import make_moons
from sklearn.metrics import roc_curve

from kernelbook.kernels import rbf
from kernelbook.svm import KernelSVC
from kernelcourse.exercises.grading import Exercise, values_on

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
    """The place of least loss (10.3), by trial."""
    fraction = FRACTIONS[np.argmin(4 * (1 - FRACTIONS) ** 2 + FRACTIONS**2)]
    return float((1 - fraction) * 10)


def squared_distance(k_xx: float, k_x: Any, K_pair: Any, beta: float) -> float:
    """Squared distance (10.4): the quadratic form of the three images, x and the pair."""
    gram = np.block([[np.array([[k_xx]]), np.atleast_2d(k_x)], [np.c_[k_x], np.asarray(K_pair)]])
    weights = np.array([1.0, beta - 1.0, -beta])
    return float(weights @ gram @ weights)


def exchanged(k_xx: float, k_x: Any, K_pair: Any, beta: float) -> float:
    return squared_distance(k_xx, k_x, K_pair, 1 - beta)


def without_the_centre(k_xx: float, k_x: Any, K_pair: Any, beta: float) -> float:
    return float(k_xx - 2 * np.dot([1 - beta, beta], k_x))


def diagonal_alone(k_xx: float, k_x: Any, K_pair: Any, beta: float) -> float:
    return squared_distance(k_xx, k_x, np.diag(np.diag(K_pair)), beta)


def on_pairs(function: Any) -> Any:
    """Values on a pair of a line, and on two pairs with an RBF kernel."""
    points = np.array([[0.2, 1.0], [1.0, 0.0], [-1.0, 0.5]])
    K = rbf(points, gamma=0.5)
    cases = [
        (16.0, np.array([20.0, 12.0]), np.array([[25.0, 15.0], [15.0, 9.0]]), 0.6),
        (K[0, 0], K[0, 1:], K[1:, 1:], 0.8),
        (K[2, 2], K[2, :2], K[:2, :2], 0.5),
    ]
    return values_on(function, cases)


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
        right=squared_distance,
        evaluate=on_pairs,
        mistakes=(
            (exchanged, "Which of the two has the weight beta? The fraction is counted from rare."),
            (without_the_centre, "The centre has a length of its own: the last sum of (10.4)."),
            (diagonal_alone, "The last sum has products of both points, too."),
        ),
        otherwise="Multiply out the square by hand for the pair (5, 0) and the point 4.",
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
        right=lambda: g_means("balanced")[1],
        mistakes=(
            (lambda: g_means("balanced")[0], "That is the threshold 0; is it the best?"),
            (lambda: g_means(None)[1], "That is the machine without weights, of figure 10.6."),
            (lambda: g_means(None)[0], "That is without weights, and at the threshold 0."),
        ),
        otherwise="Fit with weights on the 320 points; try every decision value as threshold.",
    ),
)
