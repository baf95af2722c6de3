"""Answers to the exercises of notebook 11, one-class SVM with a conformal kernel."""

import math
from collections.abc import Callable, Iterable

import numpy as np
from scipy.optimize import brentq
from sklearn.svm import OneClassSVM as LibraryOneClass

from kernelbook import audit
from kernelbook.oneclass import OneClassSVM
from kernelcourse.exercises.grading import Exercise

__all__ = ["EXERCISES"]

Counts = Callable[[str, int], Iterable[int] | None]

PRINTED = [("43.73", 375), ("80.60", 608), ("12.5", 8), ("33.3", 300), ("92.6", 608), ("0.3", 683)]


def counts_of(function: Counts) -> list[int] | None:
    """How many counts each printed percentage has, and their sum."""
    found = []
    for text, n in PRINTED:
        counts = function(text, n)
        if counts is None:
            return None
        listed = [int(count) for count in counts]
        found += [len(listed), sum(listed)]
    return found


def by_audit(text: str, n: int) -> list[int]:
    return audit.grim([text], len(text.partition(".")[2]), n)[0]


def cut_off(text: str, n: int) -> list[int]:
    scale = 10 ** len(text.partition(".")[2])
    return [k for k in range(n + 1) if 100 * scale * k // n == round(float(text) * scale)]


def exact(text: str, n: int) -> list[int]:
    return [k for k in range(n + 1) if math.isclose(100 * k / n, float(text))]


def one_decimal(text: str, n: int) -> list[int]:
    return [k for k in range(n + 1) if abs(100 * k / n - float(text)) <= 0.05]


def accepted(d: int, training: bool = False) -> float:
    """Mean fraction accepted over five samples, by scikit-learn."""
    fractions = []
    for seed in range(5):
        random = np.random.default_rng(seed)
        train, new = random.normal(size=(200, d)), random.normal(size=(2000, d))
        machine = LibraryOneClass(nu=0.1, gamma=1 / d, tol=1e-8).fit(train)
        fractions.append(np.mean(machine.decision_function(train if training else new) > -1e-6))
    return float(np.mean(fractions))


EXERCISES = (
    Exercise(
        "11.1",
        right=lambda: OneClassSVM(0.5, kernel="linear").fit([[1.0], [2.0], [3.0], [4.0]]).offset_,
        mistakes=(
            (3, "That is the lower end of the interval."),
            (4.5, "That is the upper end of the interval."),
            (1.5, "That is w; rho has the unit of w times x."),
            (2.5, "That is a place on the line; rho is a value of w x."),
        ),
        otherwise="Points at the bound need f <= 0, the others f >= 0.",
    ),
    Exercise(
        "11.2",
        right=lambda: [
            max(k for k in range(609) if k / 608 <= 0.05),
            min(k for k in range(609) if k / 608 >= 0.05),
        ],
        mistakes=(
            ((31, 30), "One is an upper, the other a lower bound: which is which?"),
            ((30.4, 30.4), "Patients are whole."),
            ((30, 30), "With so few support vectors the weights do not sum to 1."),
            ((31, 31), "So many rejected ones have more weight than 1 in all."),
            ((577, 578), "Those are patients accepted; rejected ones are asked for."),
        ),
        otherwise="Compute the product of nu and n; which of the two may lie above it?",
    ),
    Exercise(
        "11.3",
        right=lambda: brentq(lambda fraction: 0.9 * fraction + 0.5 * (1 - fraction) - 0.8, 0, 1),
        mistakes=(
            (0.25, "That is the fraction of the negatives."),
            (0.3, "That is the fraction in the report, not the implied one."),
            ((0.8 - 0.5) / 0.9, "Divide by the difference of the two rates."),
        ),
        otherwise="The specificity is the accuracy at a fraction of 0, the sensitivity at 1.",
    ),
    Exercise(
        "11.4",
        right=lambda: brentq(lambda floor: floor**2 / (1 + floor**2) - 1e-8, 1e-9, 1, xtol=1e-15),
        mistakes=(
            (1e-8, "The factor stands at both points of the kernel."),
            (1e-16, "The square goes the other way."),
            (1e-6, "That keeps a point from vanishing by the definition only."),
        ),
        otherwise="Set the offset of (11.7) equal to what the solver resolves.",
        atol=0.0,
    ),
    Exercise(
        "11.5",
        right=by_audit,
        mistakes=(
            (cut_off, "Printed values are rounded, not cut off."),
            (exact, "A rounded percentage is seldom equal to the exact one."),
            (one_decimal, "Take the number of decimals from the text."),
        ),
        otherwise="Try all counts from 0 to n: round 100 k / n to the decimals that are printed.",
        evaluate=counts_of,
        rtol=0.0,
    ),
    Exercise(
        "11.6",
        right=lambda: accepted(50),
        mistakes=(
            (0.9, "That is what the property says of training points. Measure."),
            (lambda: accepted(50, training=True), "Those are the training points."),
            (lambda: accepted(2), "That is the plane."),
            (lambda: 1 - accepted(50), "That is the fraction that is rejected."),
        ),
        otherwise="Train on 200 points, predict the 2000 others, average over the five seeds.",
        rtol=5e-3,
    ),
)
