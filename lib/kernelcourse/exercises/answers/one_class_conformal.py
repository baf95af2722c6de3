"""Answers to the exercises of notebook 11, one-class SVM with a conformal kernel."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.optimize import brentq
from sklearn.svm import OneClassSVM as LibraryOneClass

from kernelbook.oneclass import OneClassSVM
from kernelcourse.exercises.grading import Exercise

__all__ = ["EXERCISES"]

NU, TAU = 0.4, 0.7


def values(function: Callable[..., Any]) -> Any:
    """A factor at three points, made of twelve training points of which four are rejected."""
    X = np.random.default_rng(11).normal(size=(12, 2))
    alpha = OneClassSVM(NU, gamma=0.5).fit(X).alpha_
    return function(np.array([[0.0, 0.0], [1.0, -0.5], [-2.0, 1.0]]), X, alpha, NU, TAU)


def bumps(
    every: bool = False, weighted: bool = True, twice: bool = True
) -> Callable[..., list[float]]:
    """The factor as a loop, right or with one mistake."""

    def factor(
        Z: np.ndarray, X: np.ndarray, alpha: np.ndarray, nu: float, tau: float
    ) -> list[float]:
        below = 1 / (nu * len(X)) - 1e-9
        found = []
        for z in Z:
            total = 0.0
            for x, weight in zip(X, alpha, strict=True):
                if weight > 0 and (every or weight < below):
                    square = sum((z - x) ** 2) / ((2 if twice else 1) * tau**2)
                    total += (weight if weighted else 1.0) * math.exp(-square)
            found.append(total)
        return found

    return factor


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
        "11.4",
        right=bumps(),
        mistakes=(
            (bumps(every=True), "Rejected training points do not lie on the boundary."),
            (bumps(weighted=False), "Each bump has its alpha as a weight."),
            (bumps(twice=False), "The square of tau is doubled in the exponent."),
        ),
        otherwise="Sum over the margin support vectors: which alpha do they have?",
        evaluate=values,
    ),
    Exercise(
        "11.5",
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
