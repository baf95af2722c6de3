"""Answers to the exercises of notebook 05, support vector regression."""

from functools import cache

import numpy as np

from kernelbook.svr import KernelSVR
from kernelcourse.exercises.grading import Exercise

__all__ = ["EXERCISES"]

FIVE, FAR = np.arange(5.0)[:, np.newaxis], np.array([1.0, 3.0, 5.0, 7.0, 40.0])
FLAT = np.array([2.0, 2.6, 3.0])


def _slope(X: np.ndarray, y: np.ndarray, C: float) -> float:
    return float(KernelSVR(C=C, epsilon=0.1, kernel="linear").fit(X, y).coef_[0, 0])


@cache
def _first_final_cost() -> float:
    """The smallest C with the slope of a very large one, by bisection."""
    final, low, high = _slope(FIVE, FAR, 100.0), 1.0, 10.0
    while high - low > 1e-5:
        middle = (low + high) / 2
        if abs(_slope(FIVE, FAR, middle) - final) < 1e-7:
            high = middle
        else:
            low = middle
    return high


def _ends_without_loss() -> list[float]:
    """The smallest and the largest bias, on a grid, for which no target costs anything."""
    grid = np.linspace(0, 5, 5001)
    free = grid[(np.abs(FLAT - grid[:, np.newaxis]) < 1 + 1e-9).all(axis=1)]
    return [float(free[0]), float(free[-1])]


EXERCISES = (
    Exercise(
        "05.1",
        right=lambda: _slope(FIVE[:2], FIVE[:2, 0], 1e3),
        mistakes=(
            (1.0, "That line misses no point at all; the tube allows a flatter one."),
            (0.9, "You use the tube at one point only."),
            (1.2, "That is the steepest line in the tube; the norm of w is small."),
            (0.0, "A flat line would leave the tube, and C is very large."),
        ),
        otherwise="Draw the tube around both targets and the flattest line that stays in it.",
    ),
    Exercise(
        "05.2",
        right=_ends_without_loss,
        mistakes=(
            ([1.0, 4.0], "At those ends one target is inside; all three have to be."),
            ([2.5, 2.5], "That is the bias the library takes; where may it lie?"),
            ([3.0, 2.0], "The lower end comes first."),
            ([2.0 - 0.5, 3.0 + 0.5], "epsilon is half the width of the tube."),
        ),
        otherwise="How far down, and how far up, may b go before one target leaves the tube?",
    ),
    Exercise(
        "05.3",
        right=lambda: [200.0, 10.0],
        mistakes=(
            ([2.0, 10.0], "epsilon is right, but the losses have grown: see C."),
            ([200.0, 0.1], "C is right; in which unit is epsilon?"),
            ([0.02, 10.0], "epsilon is right; C goes the other way."),
            ([2e4, 10.0], "The norm grows by the square, the loss does not."),
            ([200.0, 15.0], "Another zero of the target moves b alone."),
        ),
        otherwise="Give C' and epsilon', in this order; by what is each term of (5.1) multiplied?",
    ),
    Exercise(
        "05.4",
        right=_first_final_cost,
        mistakes=(
            (2.0, "From there on the slope grows; where does it stop?"),
            (1.0, "The slope at this C is not final: try a much larger one."),
        ),
        otherwise="Compare the slope at your C with that at C = 100, and with that just below.",
    ),
    Exercise(
        "05.5",
        right=lambda: [np.log(2), 1.0],
        rtol=0.0,
        atol=0.1,
        mistakes=(
            ([1.0, np.log(2)], "Support vectors come first."),
            ([0.0, 0.0], "The noise is never negative: measure from the sine."),
            ([1.0, 1.0], "The two differ: is epsilon zero in the first?"),
            ([np.log(2), np.log(2)], "The two differ: is the second least squares?"),
        ),
        otherwise="Subtract the sine from both curves, on the grid, and average over ten seeds.",
    ),
)
