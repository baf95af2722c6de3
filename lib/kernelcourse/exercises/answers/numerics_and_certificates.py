"""Answers to the exercises of notebook 16, numerics and certificates."""

from functools import cache

import numpy as np
from sklearn.datasets import make_moons

from kernelbook.kernels import rbf
from kernelbook.svm import KernelSVC
from kernelcourse.exercises.grading import Exercise, values_on

__all__ = ["EXERCISES"]

Array = np.ndarray

TWO, THREE = np.array([[-1.0], [1.0]]), np.array([[2.0, -2.0], [1.0, 0.0], [3.0, -1.0]])
LINE = np.array([[0.0], [1.0], [2.0], [3.0]])
TARGET = np.array([0.1, 0.8, 2.3, 2.9])
# K, y, C, epsilon, beta, b: two feasible machines, one outside the box, one with another sum.
CASES = tuple(
    (LINE @ LINE.T, TARGET, 1.0, 0.1, np.array(beta), b)
    for beta, b in (
        ([-0.4, 0.0, 0.3, 0.1], 0.2),
        ([-0.3, -0.1, 0.4, 0.0], -0.1),
        ([-1.5, 0.0, 0.5, 1.0], 0.0),
        ([-0.4, 0.0, 0.3, 0.3], 0.2),
    )
)
# A function is judged by finite numbers.
INFINITE = 10.0


def exponents() -> list[float]:
    values = []
    for scale, cost in ((1.0, 1.0), (1000.0, 1e-6)):
        K, signs = scale**2 * THREE @ THREE.T, np.array([-1.0, 1.0, 1.0])
        best = KernelSVC(cost, kernel="precomputed").fit(K, signs)
        optimum = primal_and_dual(K, signs, cost, signs * best.alpha_, best.intercept_[0])[0]
        P, D = primal_and_dual(K, signs, cost, cost * np.array([-0.8, 0.3, 0.5]), -0.2)
        values.append((optimum, P - D, (P - D) / P))
    return list(np.log10(np.array(values[1]) / values[0]))


def primal_and_dual(K: Array, signs: Array, C: float, beta: Array, b: float) -> tuple[float, float]:
    half = beta @ K @ beta / 2
    P = half + C * np.maximum(1 - signs * (K @ beta + b), 0).sum()
    return P, signs @ beta - half


def offered() -> list[float]:
    P, D = primal_and_dual(TWO @ TWO.T, np.array([-1, 1]), 1.0, np.array([-0.3, 0.3]), 0.1)
    return [P, D, np.sqrt(2 * (P - D))]


def end_of_the_path() -> Array:
    return KernelSVC(0.5, kernel="linear").fit(THREE, [-1, 1, 1]).alpha_[1:]


def regression_gap(
    K: Array, y: Array, C: float, epsilon: float, beta: Array, b: float, *, checked: bool = True
) -> float:
    if checked and (np.abs(beta).max() > C + 1e-9 or abs(beta.sum()) > 1e-9):
        return np.inf
    half = beta @ K @ beta / 2
    P = half + C * np.maximum(np.abs(y - K @ beta - b) - epsilon, 0).sum()
    return float(P - (y @ beta - epsilon * np.abs(beta).sum() - half))


def pairwise(K: Array, signs: Array, C: float, tol: float) -> tuple[Array, float]:
    lower, upper = np.minimum(0, C * signs), np.maximum(0, C * signs)
    beta = np.zeros(len(signs))
    while True:
        r = signs - K @ beta
        i = np.argmax(np.where(beta < upper, r, -np.inf))
        j = np.argmin(np.where(beta > lower, r, np.inf))
        if r[i] - r[j] <= tol:
            return beta, (r[i] + r[j]) / 2
        step = (r[i] - r[j]) / (K[i, i] + K[j, j] - 2 * K[i, j])
        step = min(step, upper[i] - beta[i], beta[j] - lower[j])
        beta[i] = upper[i] if step == upper[i] - beta[i] else beta[i] + step
        beta[j] = lower[j] if step == beta[j] - lower[j] else beta[j] - step


@cache
def last_useful_tolerances() -> tuple[int, int]:
    """The last k for which a tolerance of 1e-k lowers the gap by more than a fifth."""
    X, labels = make_moons(100, noise=0.25, random_state=16)
    K, signs = rbf(X, gamma=1.0), np.where(labels == 1, 1.0, -1.0)
    single = K.astype(np.float32).astype(float)
    last = []
    for C, most in ((10.0, 8), (1000.0, 6)):
        gaps = []
        for k in range(1, most + 1):
            P, D = primal_and_dual(K, signs, C, *pairwise(single, signs, C, 10.0**-k))
            gaps.append((P - D) / P)
        ratios = np.array(gaps[1:]) / gaps[:-1]
        last.append(2 + int(np.flatnonzero(ratios < 0.8).max()))
    return last[0], last[1]


EXERCISES = (
    Exercise(
        "16.1",
        right=exponents,
        mistakes=(
            ((-6, -6, -6), "The last one is a quotient of two objectives."),
            ((0, 0, 0), "The line stays; what happens to the length of w, and to C?"),
            ((6, 6, 0), "w shrinks when the points grow."),
            ((-3, -3, 0), "w is divided by 1000; the objective has its square."),
            ((-6, 0, 6), "The gap is a difference of two objectives."),
            ((1e-6, 1e-6, 1), "Those are the factors; asked for are the exponents."),
        ),
        otherwise="Give the new objective for the same line: the slacks are what they were.",
    ),
    Exercise(
        "16.2",
        right=offered,
        mistakes=(
            ((0.98, 0.42, 0.56), "The last one is the gap; (16.2) takes the root of its double."),
            ((0.98, 0.42, 0.4), "That is the distance itself; asked for is the bound."),
            ((0.58, 0.42, 0.32**0.5), "Both points have slack, because b is not 0."),
            ((0.98, 0.42, 0.56**0.5), "The square root is of twice the gap."),
        ),
        otherwise="What are f(-1) and f(1)? Their slacks give P.",
    ),
    Exercise(
        "16.3",
        right=end_of_the_path,
        mistakes=(
            ((0.2, 0.8), "That is the end for C = 1; alpha_1 can be no more than 1/2 now."),
            ((0.4, 0.1), "On the slanted side one step is left (the order: alpha_2, alpha_3)."),
            ((0.18, 0.32), "On the slanted side the two positive points still disagree."),
            ((0.4, 0.9), "There is room for 0.1 only until the slanted side."),
            ((0.08, 0.32), "There is room for 0.1 until the slanted side."),
        ),
        otherwise="Which pair disagrees most, and what is K_ii + K_jj - 2 K_ij for it?",
    ),
    Exercise(
        "16.4",
        right=regression_gap,
        mistakes=(
            (
                lambda *case: regression_gap(*case, checked=False),
                "For beta outside the box, or with another sum, there is no bound.",
            ),
            (
                lambda K, y, C, epsilon, beta, b: regression_gap(K, y, C, 0.0, beta, b),
                "Where is epsilon?",
            ),
            (
                lambda K, y, C, epsilon, beta, b: regression_gap(K, y, C, epsilon, beta, 0.0),
                "Where is b?",
            ),
        ),
        otherwise="Which of P, D and the two conditions is different from the text?",
        evaluate=lambda gap: _finite(values_on(gap, CASES)),
    ),
    Exercise(
        "16.5",
        right=last_useful_tolerances,
        mistakes=(
            ((4, 7), "The order is C = 10, C = 1000."),
            ((8, 6), "Those are the tightest tolerances; did they still lower the gap?"),
            ((8, 5), "At the last k that counts the gap falls; from there on it stays."),
        ),
        otherwise="Certify with the true K, and divide each gap by the one before.",
    ),
)


def _finite(values: list[float] | None) -> list[float] | None:
    return None if values is None else [min(float(value), INFINITE) for value in values]
