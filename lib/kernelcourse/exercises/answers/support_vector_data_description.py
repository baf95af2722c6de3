"""Answers to the exercises of notebook 12, support vector data description."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from kernelbook.datasets import make_banana
from kernelbook.kernels import rbf
from kernelbook.svdd import SVDD
from kernelcourse.exercises.grading import Exercise, values_on

__all__ = ["EXERCISES"]

Array = np.ndarray

FOUR = np.array([[0.0], [2.0], [4.0], [8.0]])
FIVE = np.array([[0.0], [1.0], [2.0], [3.0], [10.0]])
CASES = (
    (np.array([9.0, 1.0, 4.0, 2.0]), 0.3),
    (np.array([9.0, 1.0, 4.0, 2.0]), 0.5),
    (np.array([16.0, 4.0, 0.0, 16.0, 7.0]), 0.8),
    (np.array([3.0, 5.0, 8.0]), 0.2),
    (np.array([3.0, 5.0, 8.0]), 1 / 3),
    (np.array([3.0, 5.0, 8.0]), 2.0),
)


def objective(d2: Array, squared: Array, C: float) -> Array:
    return squared + C * np.maximum(d2[:, None] - squared, 0).sum(axis=0)


def interval(d2: Array, C: float) -> tuple[float, float]:
    """All minima of (12.6), by trial: it is a broken line with corners at 0 and at each d2."""
    corners = np.append(0.0, d2)
    heights = objective(d2, corners, C)
    best = corners[heights <= heights.min() + 1e-9]
    return float(best.min()), float(best.max())


def of_the_four() -> tuple[float, float]:
    centre = SVDD(0.5, kernel="linear").fit(FOUR).center_
    return interval(((FOUR - centre) ** 2).sum(axis=1), 0.5)


def factors() -> list[float]:
    before, after = (SVDD(0.4, kernel="linear").fit(scale * FIVE) for scale in (1, 10))
    # C stays as it is: alpha has no unit.
    return [1.0, after.radius_squared_ / before.radius_squared_]


def fading() -> tuple[SVDD, float]:
    """The machine with the fading kernel, and the squared distance of a point far away."""

    def kernel(A: Array, B: Array) -> Array:
        c, d = (np.exp(-(P**2).sum(axis=1) / 5) for P in (A, B))
        return c[:, None] * rbf(A, B, gamma=1.0) * d

    X, _ = make_banana(150, random_state=12)
    machine = SVDD(nu=0.1, kernel=kernel).fit(X[:40])
    return machine, float(machine.distance([[80.0, -60.0]])[0] ** 2)


def fading_answer(quantity: Callable[[SVDD, float], Sequence[float]]) -> Any:
    return quantity(*fading())


def outlier_weights() -> Array:
    points = [[-1.0, 0.0], [1.0, 0.0], [0.0, 0.25]]
    return SVDD(C=100.0, kernel="linear").fit(points, [1, 1, -1]).alpha_


EXERCISES = (
    Exercise(
        "12.1",
        right=of_the_four,
        mistakes=(
            ((2, 4), "Those are radii; squared ones are asked for."),
            ((0, 16), "The lower end is too low: too many points would be outside."),
            ((16, 16), "No support vector is free: who fixes the lower end?"),
            ((16, 4), "The lower end comes first."),
        ),
        otherwise="Find the centre, then the four squared distances to it.",
    ),
    Exercise(
        "12.2",
        right=factors,
        mistakes=(
            ((1, 10), "C is right; R^2 is a squared length."),
            ((100, 100), "R^2 is right; which unit has C?"),
            ((0.01, 100), "R^2 is right; which unit has xi?"),
            ((10, 10), "Which unit has xi, and which R^2?"),
        ),
        otherwise="Give each symbol of (12.1) its unit.",
    ),
    Exercise(
        "12.3",
        right=lambda: outlier_weights().max(),
        mistakes=(
            (lambda: outlier_weights().min(), "That holds the targets; the outlier as well?"),
            (15 / 8, "That is how far the centre moves."),
            (1, "At that C the weights sum to 1 with all three at the bound."),
            (1 + (15 / 8) ** 2, "That is the squared radius."),
        ),
        otherwise="Where is the centre, and with which weights?",
    ),
    Exercise(
        "12.4",
        right=lambda d2, C: np.mean(interval(d2, C)),
        mistakes=(
            (
                lambda d2, C: interval(d2, C)[0],
                "Where an interval is optimal, its middle is asked for.",
            ),
            (
                lambda d2, C: np.quantile(d2, 1 - 1 / (len(d2) * C) if len(d2) * C > 1 else 0),
                "The minimum is at one of the values; this quantile lies between them.",
            ),
            (lambda d2, C: d2.max(), "C is not used: that is the hard sphere."),
            (lambda d2, C: np.sqrt(np.mean(interval(d2, C))), "The squared radius, please."),
        ),
        otherwise="The slope in (12.6) changes only at a value of d2; when does its sign change?",
        evaluate=lambda radius: values_on(radius, CASES),
    ),
    Exercise(
        "12.5",
        right=lambda: fading_answer(lambda machine, squared: (squared, 1)),
        mistakes=(
            (
                lambda: fading_answer(lambda machine, squared: (squared, -1)),
                "The distance is right; compare it with the squared radius.",
            ),
            (
                lambda: fading_answer(lambda machine, squared: (squared**0.5, 1)),
                "That is the distance; its square is asked for.",
            ),
            (
                lambda: fading_answer(lambda machine, squared: (1 + squared, -1)),
                "K(z, z) is not 1 here.",
            ),
            (
                lambda: fading_answer(lambda machine, squared: (machine.radius_squared_, 1)),
                "That is the squared radius.",
            ),
        ),
        otherwise="Which point of feature space is the image of a far point?",
    ),
)
