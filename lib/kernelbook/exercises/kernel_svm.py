"""Exercises of notebook 03, kernels."""

import numpy as np

from kernelbook.exercises.grading import Exercise, Mistake
from kernelbook.kernels import polynomial

__all__ = ["EXERCISES"]

X, Z = [[2.0, 1.0]], [[2.0, 0.0]]
FIVE = np.arange(-2.0, 3.0)[:, np.newaxis]

EXERCISES = (
    Exercise(
        "03.1",
        right=lambda: polynomial(X, Z, degree=3, gamma=0.5, coef0=1.0)[0, 0],
        mistakes=(
            Mistake(lambda: 0.5 * 4 + 1, "That is the base; the degree is missing."),
            Mistake(lambda: (0.5 * (4 + 1)) ** 3, "gamma multiplies the inner product alone."),
            Mistake(lambda: (4 + 1) ** 3, "Where is gamma?"),
            Mistake(lambda: (0.5 * 4) ** 3, "Where is r?"),
        ),
        otherwise="Begin with the inner product of x and z.",
    ),
    Exercise(
        "03.2",
        right=lambda: (np.linalg.eigvalsh(polynomial(FIVE, degree=2, coef0=-1.0)) < -1e-9).sum(),
        mistakes=(
            Mistake(lambda: 0, "Look at the sign of the term in x z."),
            Mistake(lambda: 2, "One of the three terms is subtracted: how many features is that?"),
        ),
        otherwise="Expand the square; each term is one feature with a sign.",
    ),
)
