"""Answers to the exercises of notebook 09, conformal transformation."""

from functools import cache

import numpy as np
from scipy.optimize import minimize_scalar
from sklearn.svm import SVC

from kernelbook.conformal import magnification
from kernelbook.datasets import make_bell
from kernelbook.kernels import rbf
from kernelbook.svm import KernelSVC
from kernelcourse.exercises.grading import Exercise

__all__ = ["EXERCISES"]

TEN = np.array([0, 1, 2, 2.5, 3, 1.5, 2.2, 4, 5, 6])[:, np.newaxis]
COSTS = (1e2, 1e3, 1e4, 1e5)


def _squared_distance() -> float:
    """From the Gram matrix of the two transformed images."""
    D = np.array([2.0, 4.0])
    G = D[:, np.newaxis] * rbf([[0.0], [2.0]], gamma=0.5) * D
    return float(np.array([1.0, -1.0]) @ G @ np.array([1.0, -1.0]))


def _bump(points: np.ndarray) -> np.ndarray:
    return np.exp(-2 * (np.asarray(points) ** 2).sum(axis=1))  # tau = 1/2


@cache
def _rim() -> float:
    """The distance at which the library's magnification is largest."""

    def downhill(distance: float) -> float:
        return -float(magnification([[distance, 0.0, 0.0, 0.0]], "rbf", _bump, gamma=1 / 8)[0])

    return float(minimize_scalar(downhill, bounds=(0, 2), options={"xatol": 1e-6}).x)


def _effective_cost() -> float:
    """The bound of s^2 alpha in a machine with 9 K and C = 2, in which some alphas are bounded."""
    y = np.repeat([-1, 1], 5)
    machine = KernelSVC(2.0, kernel=lambda A, B: 9 * rbf(A, B, gamma=0.5)).fit(TEN, y)
    return 9 * float(machine.alpha_.max())


@cache
def _towards_linear() -> tuple[float, float]:
    """Bound of the linear machine, and how the distance to it shrinks, from explicit kernels."""
    X, y = make_bell(100, random_state=9)
    linear = SVC(C=10.0, kernel="linear", tol=1e-10).fit(X, y).decision_function(X)
    away = []
    for gamma in (1e-3, 1e-4):
        K = (rbf(X, gamma=gamma) - 1) / (2 * gamma)  # a constant in the kernel changes nothing
        machine = SVC(C=10.0, kernel="precomputed", tol=1e-10).fit(K, y)
        away.append(np.abs(machine.decision_function(K) - linear).max())
    return 10.0, float(away[0] / away[1])


def _ridge(points: np.ndarray, tau: float) -> np.ndarray:
    above = points[:, 1] - np.exp(-4 * points[:, 0] ** 2)
    return np.exp(-(above**2) / (2 * tau**2))


@cache
def _errors() -> np.ndarray:
    """Test errors in percent (3 machines, 4 values of C), from Gram matrices of level 1."""
    X_test, y_test = make_bell(2000, random_state=1009)
    errors = np.zeros((3, len(COSTS)))
    for seed in range(5):
        X, y = make_bell(100, random_state=seed)
        for i, tau in enumerate((np.inf, 1 / 4, 1 / 2)):
            level = np.sqrt(np.mean(_ridge(X, tau) ** 2))
            D, D_test = _ridge(X, tau) / level, _ridge(X_test, tau) / level
            K = D[:, None] * rbf(X, gamma=0.25) * D
            K_test = D_test[:, None] * rbf(X_test, X, gamma=0.25) * D
            for j, C in enumerate(COSTS):
                machine = SVC(C=C, kernel="precomputed", tol=1e-6).fit(K, y)
                errors[i, j] += 100 * (1 - machine.score(K_test, y_test)) / 5
    return errors


EXERCISES = (
    Exercise(
        "09.1",
        right=_squared_distance,
        mistakes=(
            (20.0, "The cross term is missing: the images are not orthogonal."),
            (20 - 2 * np.exp(-2), "The cross term has factors of its own."),
            (20 - 8 * np.exp(-2), "The cross term counts twice."),
            (6 - 16 * np.exp(-2), "In the squared lengths D is squared, too."),
            (20 - 16 * np.exp(-1), "The kernel has the distance squared."),
        ),
        otherwise="Three terms; the cosine of the two images is unchanged, the lengths are not.",
        rtol=2e-3,
    ),
    Exercise(
        "09.2",
        right=lambda: magnification([[1.0]], "poly", gamma=1.0, degree=3, coef0=1.0)[0],
        rtol=2e-3,
        mistakes=(
            (24.0, "That is the metric g; the magnification is its root."),
            (12**0.5, "The product rule has two terms; one is missing."),
            (12.0, "One term of the product rule is missing, and so is the root."),
            (8**0.5, "That is the length of the image, not of a step."),
        ),
        otherwise="Take the mixed second derivative, put z = x = 1, then the root.",
    ),
    Exercise(
        "09.3",
        right=_rim,
        rtol=0.0,
        atol=6e-3,
        mistakes=(
            (0.25 / 4 - 0.0625 / 4, "That is the square of the distance."),
            (0.0, "Not at the support vector: is tau larger than the proper width?"),
            ((0.25 - 0.0625 / 4) ** 0.5, "d in (9.6) is not one here."),
            (0.25, "The second term of (9.6) is missing."),
        ),
        otherwise="Put d, sigma and tau into (9.6); the distance is asked for, not its square.",
    ),
    Exercise(
        "09.4",
        right=_effective_cost,
        rtol=0.07,
        mistakes=(
            (6.0, "A constant factor multiplies the kernel twice."),
            (2 / 9, "Turn it round: a larger kernel is like a larger C."),
            (9.0, "Times the C that the machine had."),
            (2.0, "That C belongs to another level of the kernel."),
        ),
        otherwise="By how much does a nearly constant factor multiply the kernel?",
    ),
    Exercise(
        "09.5",
        right=_towards_linear,
        rtol=0.03,
        mistakes=(
            (lambda: (5.0, _towards_linear()[1]), "The cross term of the expansion has a 2."),
            (lambda: (2.5, _towards_linear()[1]), "The 2 multiplies: (9.7) with s^2 = 2 gamma."),
            (lambda: (10.0, 100.0), "With C = 5 / gamma a term in gamma^2 C falls like gamma."),
        ),
        otherwise="Expand the kernel to first order; both machines on the same 100 points.",
    ),
    Exercise(
        "09.6",
        right=lambda: _errors().min(axis=1),
        rtol=0.0,
        atol=0.1,
        mistakes=(
            (lambda: _errors()[:, 1], "Each machine may take its own best C."),
            (lambda: _errors().min(axis=1)[[0, 2, 1]], "The narrower factor comes first."),
            (lambda: _errors().min(axis=1) / 100, "In percent, please."),
        ),
        otherwise="Three errors; is the mean of D squared 1 on each training set?",
    ),
)
