"""Answers to the exercises of notebook 01, hard-margin SVM."""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernelbook.exceptions import NotSeparableError
from kernelbook.svm import HardMarginSVC
from kernelcourse.exercises.grading import Exercise

__all__ = ["EXERCISES"]

PAIR = [[1.0, 2.0], [4.0, 6.0]]
LINE = [[0.0], [4.0], [3.0]]
SIX = np.array([[0, 0], [-1, 1], [-1, -1], [2, 1], [2, -1], [3, 0]], dtype=float)
LABELS = np.repeat([-1, 1], 3)


def plane_between() -> list[float]:
    machine = HardMarginSVC(kernel="linear").fit(PAIR, [-1, 1])
    return [*machine.coef_[0], machine.intercept_[0], machine.margin_]


def shared_point() -> NDArray[np.float64]:
    try:
        HardMarginSVC(kernel="linear").fit(LINE, [-1, -1, 1])
    except NotSeparableError as error:
        return np.asarray(error.weights)
    raise AssertionError("a threshold separates the three points")


def margins_without_one() -> list[float]:
    return [
        HardMarginSVC(kernel="linear").fit(np.delete(SIX, i, 0), np.delete(LABELS, i)).margin_
        for i in range(6)
    ]


def factors_of_a_ruler() -> list[float]:
    """What ||w||, b, margin and alpha are multiplied by when every feature is, by ten."""
    before, after = (
        HardMarginSVC(kernel="linear").fit(scale * np.array(PAIR), [-1, 1]) for scale in (1, 10)
    )
    return [
        float(np.linalg.norm(after.coef_) / np.linalg.norm(before.coef_)),
        float(after.intercept_[0] / before.intercept_[0]),
        after.margin_ / before.margin_,
        float(after.alpha_[0] / before.alpha_[0]),
    ]


def separable_fraction(n: int, d: int, *, bias: bool = True) -> float:
    """Fraction of the labellings of n points in general position that a hyperplane realises.

    Cover's count: of n points in d dimensions, 2 * sum of binom(n - 1, k) over k < d labellings
    are realised by hyperplanes through the origin; a bias is one dimension more.
    """
    return sum(math.comb(n - 1, k) for k in range(d + bias)) / 2 ** (n - 1)


def changed(**entries: Any) -> NDArray[np.float64]:
    """The right plane with some of its four numbers (w, b, margin) replaced."""
    *w, b, margin = plane_between()
    parts: dict[str, Any] = {"w": w, "b": b, "margin": margin} | entries
    return np.array([*parts["w"], parts["b"], parts["margin"]])


EXERCISES = (
    Exercise(
        "01.1",
        right=plane_between,
        mistakes=(
            (
                lambda: changed(w=[-0.24, -0.32], b=1.88),
                "w points the wrong way: both points are on the wrong side.",
            ),
            (lambda: changed(margin=5.0), "That is the whole strip, not the margin."),
            (
                lambda: changed(w=[0.6, 0.8], b=-4.7),
                "The scale is not fixed: y f has to be 1 on both points.",
            ),
            (
                lambda: changed(w=[0.12, 0.16], b=-0.94),
                "y f is one half on both points: which alpha belongs to two points?",
            ),
            (lambda: changed(b=1.88), "The boundary does not pass half way: look at b."),
        ),
        otherwise="Put both points into f: y f has to be 1, and w has to point from one to the "
        "other.",
    ),
    Exercise(
        "01.2",
        right=shared_point,
        mistakes=(
            ([0.75, 0.25, 1.0], "Which of the two ends is nearer to 3?"),
            ([0.5, 0.5, 1.0], "The middle of the negative points is not 3."),
            ([1.0, 3.0, 4.0], "The weights of each class have to add up to 1."),
            ([-0.25, -0.75, 1.0], "Weights are not negative; the labels carry -."),
        ),
        otherwise="Both weighted means have to be the same point, with weights of sum 1 in each "
        "class.",
    ),
    Exercise(
        "01.3",
        right=margins_without_one,
        mistakes=(
            (
                lambda: 2 * np.array(margins_without_one()),
                "Those are the distances of the hulls; what part of it is the margin?",
            ),
            (
                [1.5, 1, 1, 1, 1, 1],
                "Points 1, 2, 3 and 6 are right. With 4 gone, is a foot of the old segment left?",
            ),
            (np.ones(6), "Three of the six hold the strip: their removal widens it."),
            (
                [1.5, 1, 1, 1.5, 1.5, 1],
                "Points 1, 2, 3 and 6 are right. Draw the hull that is left when 4 goes.",
            ),
        ),
        otherwise="Half the distance of the two hulls that are left, once for each point.",
        rtol=1e-2,
    ),
    Exercise(
        "01.4",
        right=factors_of_a_ruler,
        mistakes=(
            ([10, 1, 10, 100], "Does f keep its values on the edges if w grows with the features?"),
            ([0.1, 1, 10, 0.1], "Only alpha is wrong: what is its sum by (1.7)?"),
            ([0.1, 0.1, 10, 0.01], "The inner product of w and x has not changed: look at b."),
            ([0.1, 10, 10, 0.01], "The inner product of w and x has not changed: look at b again."),
            (np.ones(4), "The margin is a distance, and all distances are larger."),
        ),
        otherwise="Begin with the margin, go on with the norm of w, then look at f and at (1.7).",
        rtol=1e-4,
    ),
    Exercise(
        "01.5",
        right=lambda: separable_fraction(20, 10),
        mistakes=(
            (
                lambda: separable_fraction(20, 10, bias=False),
                "So many are separated by planes through the origin: is b in your program?",
            ),
            (1.0, "Every labelling can be separated up to n = d + 1 points only."),
            (0.0, "Does your program accept points that are separable for sure?"),
            (lambda: 1 - separable_fraction(20, 10), "Is that the fraction *not* separable?"),
        ),
        otherwise="Try your function on XOR and on two points first; then take 500 draws or more.",
        rtol=0.1,
    ),
)
