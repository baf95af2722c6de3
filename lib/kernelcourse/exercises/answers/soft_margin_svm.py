"""Answers to the exercises of notebook 02, soft-margin SVM."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog

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


def objectives_of_ten() -> tuple[float, float, float]:
    """Sum of slack, primal and dual objective of the fitted machine."""
    x, y = TEN
    machine = KernelSVC(C=1.0, kernel="linear").fit(x, y)
    slack = np.maximum(1 - y * machine.decision_function(x), 0).sum()
    half = (machine.coef_**2).sum() / 2
    return slack, half + slack, machine.alpha_.sum() - half


def largest_mean(bound: float) -> float:
    """The largest weighted mean of the common class if no weight exceeds a bound."""
    return -linprog(-COMMON, A_eq=np.ones((1, 4)), b_eq=[1.0], bounds=(0, bound)).fun


EXERCISES = (
    Exercise(
        "02.1",
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
        "02.2",
        right=objectives_of_ten,
        mistakes=(
            (
                (4.9, 5.025, 6.025),
                "Points outside the strip have no slack; they do not pay back either.",
            ),
            ((5.9, 6.15, 6.025), "The primal has half the square of w."),
            ((5.9, 6.025, 6.15), "The dual is more than the sum of alpha."),
            (
                (3.15, 3.275, 6.025),
                "Points on the right side have slack, too, where they lie inside the strip.",
            ),
        ),
        otherwise="The slack is what the third row of the table lacks to 1; at the optimum both "
        "objectives are equal.",
        rtol=1e-4,
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
)
