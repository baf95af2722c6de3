"""Answers to the exercises of notebook 02, soft-margin SVM."""

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog
from sklearn.preprocessing import StandardScaler

from kernelbook.datasets import load_haberman
from kernelbook.svm import KernelSVC
from kernelcourse.exercises.grading import Exercise

__all__ = ["EXERCISES"]

THREE = np.array([[0.0], [3.0], [4.0]]), np.array([-1.0, 1.0, 1.0])
TEN = (
    np.array([[0], [1], [2], [2.5], [3], [1.5], [2.2], [4], [5], [6]]),
    np.repeat([-1.0, 1.0], 5),
)
COMMON = np.array([-2.0, -1.0, 1.0, 2.0])

Interval = Callable[..., Any]


def best_biases(K: Any, y: Any, alpha: Any, C: float) -> tuple[float, float]:
    """Ends of the interval on which the hinge loss is smallest, for the w of alpha."""
    corners = y - K @ (alpha * y)  # the loss is linear in b between these
    losses = [np.maximum(1 - y * (y - corners + b), 0).sum() for b in corners]
    best = corners[np.isclose(losses, min(losses), rtol=1e-9, atol=1e-9)]
    return best.min(), best.max()


def turned(K: Any, y: Any, alpha: Any, C: float) -> tuple[float, float]:
    """The conditions (2.8) with the two sides exchanged."""
    r = y - K @ (alpha * y)
    low = np.where(y > 0, alpha > 0, alpha < C)
    high = np.where(y > 0, alpha < C, alpha > 0)
    return r[low].max(), r[high].min()


def support_only(K: Any, y: Any, alpha: Any, C: float) -> tuple[float, float]:
    """What the support vectors alone demand."""
    r = y - K @ (alpha * y)
    return r[(alpha > 0) & (y < 0)].max(), r[(alpha > 0) & (y > 0)].min()


def on_small_problems(interval: Interval) -> NDArray[np.float64] | None:
    """The intervals of four machines: two without free support vectors, one with, one tiny C."""
    problems = [(*THREE, 0.1), (*THREE, 0.05), (*TEN, 1.0), (*THREE, 1e-6)]
    ends = []
    for x, y, C in problems:
        alpha = KernelSVC(C=C, kernel="linear").fit(x, y).alpha_
        given = interval(x @ x.T, y, alpha, C)
        if given is None:
            return None
        ends.append(np.asarray(given, dtype=float))
    return np.concatenate(ends)


def bias_interval_of_three(C: float) -> tuple[float, float]:
    x, y = THREE
    alpha = KernelSVC(C=C, kernel="linear").fit(x, y).alpha_
    return best_biases(x @ x.T, y, alpha, C)


def largest_mean(bound: float) -> float:
    """The largest weighted mean of the common class if no weight exceeds a bound."""
    return -linprog(-COMMON, A_eq=np.ones((1, 4)), b_eq=[1.0], bounds=(0, bound)).fun


@cache
def growth_of_the_weight_of_age() -> float:
    """Mean weight of the age with noise of 0.01 on the tied feature, over that with 0.001."""
    haberman = load_haberman()
    logarithm = np.log1p(haberman.data[:, 2])
    Z = StandardScaler().fit_transform(np.column_stack([haberman.data[:, :2], logarithm]))

    def mean_weight(s: float) -> float:
        weights = []
        for seed in range(20):
            noisy = Z.copy()
            noisy[:, 2] += s * np.random.default_rng(seed).normal(size=len(Z))
            machine = KernelSVC(C=1.0, kernel="linear", class_weight="balanced", tol=1e-7)
            weights.append(machine.fit(noisy, haberman.target).coef_[0, 0])
        return float(np.mean(weights))

    return mean_weight(0.01) / mean_weight(0.001)


EXERCISES = (
    Exercise(
        "02.1",
        right=lambda: 10.0**-2,
        mistakes=(
            (1.0, "Then the squared norm of w counts for less beside the same slack."),
            (10.0, "The other way: the squared norm has become smaller, not larger."),
            (100.0, "The other way: the squared norm has become smaller."),
            (0.1, "The norm is ten times smaller; (2.2) has its square."),
        ),
        otherwise="Which w gives the same decision values, and what is its squared norm?",
    ),
    Exercise(
        "02.2",
        right=lambda: bias_interval_of_three(0.05),
        mistakes=(
            (lambda: bias_interval_of_three(0.1), "That is the interval for C = 0.1."),
            (lambda: bias_interval_of_three(0.05)[::-1], "The lower end comes first."),
            ((-1.0, 0.55), "One more point asks for a larger b: where is f < 1?"),
            ((0.475, 0.475), "That is the middle; where does the interval end?"),
        ),
        otherwise="First w from alpha, then one inequality a point by (2.6).",
    ),
    Exercise(
        "02.3",
        right=lambda: 2 * largest_mean(1 / 2),
        mistakes=(
            (lambda: largest_mean(1 / 2), "That bounds the *mean* of the rare class."),
            (
                lambda: 2 * largest_mean(1.0),
                "Your weighted mean puts all the weight on one point; (2.13) limits it.",
            ),
            (lambda: largest_mean(1.0), "The rare point may lie outside the common class."),
            (lambda: 2 * largest_mean(1 / 4), "Equal weights are not the best choice."),
        ),
        otherwise="How far right can a weighted mean of the common class be under (2.13)?",
    ),
    Exercise(
        "02.4",
        right=best_biases,
        evaluate=on_small_problems,
        mistakes=(
            (turned, "The two kinds of points are exchanged: look at (2.6) again."),
            (support_only, "Points with alpha = 0 bound b, too."),
            (
                lambda *given: (np.mean(best_biases(*given)),) * 2,
                "Without a free support vector the two ends differ.",
            ),
        ),
        otherwise="Take the three points at C = 0.1, by hand and by your function; and mind that "
        "a tolerance for alpha has to follow C.",
    ),
    Exercise(
        "02.5",
        right=growth_of_the_weight_of_age,
        mistakes=(
            (1.0, "The weight does not jump to a fixed value: print it for both s."),
            (
                lambda: 1 / growth_of_the_weight_of_age(),
                "That is the weight at the small s over that at the large s.",
            ),
            (
                lambda: growth_of_the_weight_of_age() ** 2,
                "That is the square; does the weight follow s or its square?",
            ),
        ),
        otherwise="Standardize first, then add the noise, to the third column alone; take the mean "
        "of the weights before the ratio.",
        rtol=0.1,
    ),
)
