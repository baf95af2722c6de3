"""Answers to the exercises of notebook 06, kernel Fisher discriminant."""

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from scipy.optimize import brentq

from kernelbook.datasets import make_gaussians, make_ringnorm, make_twonorm
from kernelbook.fisher import KernelFisherDiscriminant
from kernelbook.kernels import rbf
from kernelcourse.exercises.grading import Exercise, values_on

__all__ = ["EXERCISES"]

SIX, LABELS = np.array([[0.0], [1.0], [2.0], [6.0], [7.0], [8.0]]), np.repeat([-1, 1], 3)
PENALTIES = (0.1, 1.0, 10.0)


def _quotient(mu: float) -> float:
    machine = KernelFisherDiscriminant(kernel="linear", reg=mu).fit(SIX, LABELS)
    return float(machine.rayleigh_quotient_)


def _within_classes(y: np.ndarray) -> np.ndarray:
    """The projection W (n, n) that subtracts class means."""
    members = np.column_stack([y == label for label in np.unique(y)]).astype(float)
    return np.eye(len(y)) - (members / members.sum(axis=0)) @ members.T


def _rank() -> int:
    X, y = make_ringnorm(60, n_features=4, random_state=1)
    factor = X @ X.T @ _within_classes(y)  # N is its product with its own transpose
    values = np.linalg.svd(factor, compute_uv=False)
    return int((values > 1e-9 * values[0]).sum())


@cache
def _prior_of_a_cut_at_one() -> float:
    """The prior with which decision values are 1 less than with equal ones, by bisection."""
    X, y = make_gaussians(900, 100, random_state=6)

    def values(p: float) -> np.ndarray:
        machine = KernelFisherDiscriminant(kernel="linear", priors=[1 - p, p]).fit(X, y)
        return machine.decision_function(X[:1])[0]

    return float(brentq(lambda p: values(p) - values(0.5) + 1, 0.01, 0.99))


def _ridge(K: np.ndarray, t: np.ndarray, mu: float) -> tuple[np.ndarray, float]:
    n = len(K)
    system = np.block([[K + mu * np.eye(n), np.ones((n, 1))], [np.ones((1, n)), np.zeros((1, 1))]])
    solution = np.linalg.solve(system, np.append(t, 0.0))
    return solution[:-1], solution[-1]


def _wrong_by_fits(K: np.ndarray, t: np.ndarray, mu: float) -> int:
    wrong = 0
    for i in range(len(K)):
        rest = np.delete(np.arange(len(K)), i)
        a, b = _ridge(K[np.ix_(rest, rest)], t[rest], mu)
        wrong += (K[i, rest] @ a + b) * t[i] < 0
    return int(wrong)


def _wrong_in_training(K: np.ndarray, t: np.ndarray, mu: float) -> int:
    a, b = _ridge(K, t, mu)
    return int(((K @ a + b) * t < 0).sum())


def _wrong_without_intercept(K: np.ndarray, t: np.ndarray, mu: float) -> int:
    inverse = np.linalg.inv(K + mu * np.eye(len(K)))
    return int(((t - inverse @ t / np.diag(inverse)) * t < 0).sum())


def _counts(function: Callable[..., Any]) -> list[Any] | None:
    X, y = make_ringnorm(30, n_features=2, random_state=6)
    K, t = rbf(X, gamma=0.3), np.where(y == 1, 1.0, -1.0)
    return values_on(function, [(K, t, mu) for mu in PENALTIES])


@cache
def _paths() -> np.ndarray:
    """Test errors in percent (2 penalties, 7 weights, 4 realisations)."""
    errors = np.empty((2, 7, 4))
    for k in range(4):
        X, y = make_twonorm(400, random_state=100 + k)
        new = make_twonorm(3000, random_state=1000 + k)
        for i, penalty in enumerate(("norm", "coef")):
            for j, reg in enumerate(10.0 ** np.arange(-2, 5)):
                machine = KernelFisherDiscriminant(
                    gamma=0.01, reg=reg, penalty=penalty, priors="equal"
                )
                errors[i, j, k] = 100 * (1 - machine.fit(X, y).score(*new))
    return errors


EXERCISES = (
    Exercise(
        "06.1",
        right=lambda: brentq(lambda mu: _quotient(mu) - 4, 0.1, 100),
        mistakes=(
            (9.0, "You have left out the scatter of the classes."),
            (7.0, "Both classes have a scatter, and they add up."),
            (-2.5, "The distance of the means is squared in the quotient."),
            (9 - 4 / 6, "The scatter is a sum over the points, not a mean."),
        ),
        otherwise="Write the quotient (6.1) with the penalty: a square over a sum.",
    ),
    Exercise(
        "06.2",
        right=_rank,
        rtol=0.0,
        mistakes=(
            (58, "That is the rank of W. Which rank has K?"),
            (60, "W removes dimensions, and K has fewer than you think."),
            (2, "Two is what W removes; look at the rank of K."),
            (1, "That is the rank of the scatter between two classes."),
        ),
        otherwise="How many independent columns can K have, if each point has so few features?",
    ),
    Exercise(
        "06.3",
        right=_prior_of_a_cut_at_one,
        mistakes=(
            (1 / (1 + np.exp(-1)), "The cut has moved to the other side."),
            (np.exp(-1), "Those are the odds; the probability is asked for."),
            (1 / (1 + 9 * np.exp(1)), "With equal priors class sizes play no part."),
            (0.1, "That is the fraction of positives in the training set."),
        ),
        otherwise="By how much has the last term of (6.9) to differ from that of equal priors?",
    ),
    Exercise(
        "06.4",
        right=_wrong_by_fits,
        evaluate=_counts,
        rtol=0.0,
        mistakes=(
            (_wrong_in_training, "You count errors on points that were learned."),
            (
                _wrong_without_intercept,
                "The free intercept is missing: take the inverse of the whole system (6.6).",
            ),
            (
                lambda K, t, mu: len(K) - _wrong_by_fits(K, t, mu),
                "You count the points that are right.",
            ),
        ),
        otherwise="It differs from the count of thirty fits. Is it the left-out output, or (6.8)?",
    ),
    Exercise(
        "06.5",
        right=lambda: _paths().mean(axis=2).min(axis=1),
        rtol=0.0,
        atol=0.02,
        mistakes=(
            (
                lambda: _paths().min(axis=1).mean(axis=1),
                "Each realisation has taken its own best weight: average first.",
            ),
            (
                lambda: _paths().mean(axis=2)[:, 2],
                "That is the error at a weight of 1; scan the whole path.",
            ),
            (lambda: _paths().mean(axis=2).min(axis=1) / 100, "In percent, please."),
        ),
        otherwise="Two numbers: the least average for norm, then for coef, with equal priors.",
    ),
)
