"""Answers to the exercises of notebook 03, kernels."""

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.linalg import circulant
from sklearn.svm import SVC

from kernelbook.kernels import polynomial
from kernelcourse.exercises.grading import Exercise, values_on

__all__ = ["EXERCISES"]

X, Z = [[2.0, 1.0]], [[2.0, 0.0]]
FIVE = np.arange(-2.0, 3.0)[:, np.newaxis]
EXPONENT = 3e-7


def value_of_libsvm() -> float:
    machine = SVC(C=1e9, gamma=EXPONENT, tol=1e-12).fit([[0.0], [1.0]], [1, -1])
    return float(machine.decision_function([[0.0]])[0])


def on_circles(function: Callable[..., Any]) -> list[Any] | None:
    """Values of a function of (angles, gamma, power) on points of the circle."""
    four, twelve = (2 * np.pi * np.arange(n) / n for n in (4, 12))
    problems = [(four, 0.1, 2), (four, 0.1, 1), (twelve, 0.2, 2), (four + 5.0, 0.1, 2)]
    return values_on(function, problems)


def smallest_by_fourier(angles: Any, gamma: float, power: float) -> float:
    """For equally spaced points the matrix is circulant: its eigenvalues are a Fourier sum."""
    n = len(angles)
    steps = np.minimum(np.arange(n), n - np.arange(n)) * 2 * np.pi / n
    return np.fft.fft(np.exp(-gamma * steps**power)).real.min()


def of_circulant(distance: Callable[..., Any], pick: Callable[..., Any]) -> Callable[..., float]:
    """A wrong answer: another distance of equally spaced points, or another eigenvalue."""

    def function(angles: Any, gamma: float, power: float) -> float:
        steps = distance(2 * np.pi * np.arange(len(angles)) / len(angles))
        return pick(np.linalg.eigvalsh(circulant(np.exp(-gamma * steps**power))))

    return function


def arc(steps: Any) -> Any:
    return np.minimum(steps, 2 * np.pi - steps)


def straight(angles: Any, gamma: float, power: float) -> float:
    """A wrong answer: the difference of the angles, without a way round zero."""
    differences = np.abs(np.subtract.outer(angles, angles))
    return np.linalg.eigvalsh(np.exp(-gamma * differences**power)).min()


EXERCISES = (
    Exercise(
        "03.1",
        right=lambda: polynomial(X, Z, degree=3, gamma=0.5, coef0=1.0)[0, 0],
        mistakes=(
            (0.5 * 4 + 1, "That is the base; the degree is missing."),
            ((0.5 * (4 + 1)) ** 3, "gamma multiplies the inner product alone."),
            ((4 + 1) ** 3, "Where is gamma?"),
            ((0.5 * 4) ** 3, "Where is r?"),
        ),
        otherwise="Begin with the inner product of x and z.",
    ),
    Exercise(
        "03.2",
        right=lambda: (np.linalg.eigvalsh(polynomial(FIVE, degree=2, coef0=-1.0)) < -1e-9).sum(),
        mistakes=(
            (0, "Look at the sign of the term in x z."),
            (2, "One of the three terms is subtracted: how many features is that?"),
        ),
        otherwise="Expand the square; each term is one feature with a sign.",
    ),
    Exercise(
        "03.3",
        right=value_of_libsvm,
        mistakes=(
            (2**24 / 5, "That is alpha; f multiplies it by the true 1 - K."),
            (
                2**23 / 3 * EXPONENT,
                "The steps of single precision just below 1 are half as large as just above it.",
            ),
            (1.0, "That is the optimum; LIBSVM solves a rounded problem."),
            (5 / 2**24 / EXPONENT, "Upside down: alpha is one over the rounded gap."),
        ),
        otherwise="Round 1 - K to a integer number of steps of 2**-24, invert it, and multiply by "
        "the true 1 - K.",
        rtol=5e-4,
    ),
    Exercise(
        "03.4",
        right=smallest_by_fourier,
        evaluate=on_circles,
        mistakes=(
            (straight, "On a circle 6.2 and 0.1 are near: take the shorter arc."),
            (
                of_circulant(lambda steps: 2 * np.sin(steps / 2), np.min),
                "That is the length of the chord, and a kernel; the arc is asked for.",
            ),
            (of_circulant(arc, np.max), "The smallest eigenvalue is asked for."),
            (
                lambda angles, gamma, power: smallest_by_fourier(angles, gamma, 2),
                "The power has to be an argument of the kernel.",
            ),
        ),
        otherwise="Four points at right angles have arcs of 0, pi/2, pi and pi/2: try these.",
    ),
)
