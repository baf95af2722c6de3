"""Answers to the exercises of notebook 13, Bayesian SVDD."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.random import Generator
from scipy.optimize import brentq

from kernelbook.bayes import BayesianDataDescription
from kernelcourse.exercises.grading import Exercise, values_on

__all__ = ["EXERCISES"]

Array = np.ndarray
Density = Callable[[float], float]
Step = Callable[[float, float, Density, Generator], float | None]

GAP = 4.0
TWINS = np.array([[1.0, 1.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
CHAINS = (
    (np.array([[1.0, 2.0, 3.0, 4.0], [2.0, 3.0, 4.0, 5.0]]),),
    (np.array([[0.0, 1.0, 0.0, 2.0, 1.0], [5.0, 6.0, 4.0, 5.0, 7.0], [1.0, 0.0, 3.0, 1.0, 1.0]]),),
)


def weights(prior_mean: Any, K: Array) -> Array:
    return BayesianDataDescription(prior_mean, kernel="precomputed").fit(K).alpha_


def fraction_of_atoms(s: float) -> float:
    """(E e^xi)^2 / E e^(2 xi) for xi with the variance s, by quadrature."""
    z, weight = np.polynomial.hermite_e.hermegauss(60)
    first, second = (weight @ np.exp(k * math.sqrt(s) * z) / weight.sum() for k in (1, 2))
    return float(first**2 / second)


def lonely(ridge: float) -> float:
    """Weight of the third point that minimises (13.4) with another ridge, by trial."""
    b = np.linspace(0, 1, 30_001)
    a = (1 - b) / 2
    return float(b[np.argmin(4 * a**2 + b**2 + ridge * (2 * a**2 + b**2))])


def r_hat(chains: Array, ddof: int = 1, of_means: float = 1.0) -> float:
    n = chains.shape[1]
    within = np.mean([chain.var(ddof=ddof) for chain in chains])
    between = of_means * chains.mean(axis=1).var(ddof=ddof)
    return math.sqrt(((n - 1) / n * within + between) / within)


def logistic(delta: float) -> float:
    return 1 / (1 + math.exp(-delta))


def of_two_points(delta: float) -> float:
    """The log likelihood of section 3."""
    return logistic(delta) * (1 - logistic(delta))


def strong(delta: float) -> float:
    """A log likelihood that no step can overlook: it turns the prior N(4, 2) into N(2, 1)."""
    return -(delta**2) / 4


def mean_of_t(step: Step, log_likelihood: Density) -> float | None:
    """Mean of t = 1 / (1 + e^-delta) over a chain."""
    random, n_steps = np.random.default_rng(13), 5000
    delta, total = GAP, 0.0
    for _ in range(n_steps):
        moved = step(delta, GAP, log_likelihood, random)
        if moved is None:
            return None
        delta = float(moved)
        total += logistic(delta)
    return total / n_steps


def independent(delta: float, gap: float, log_likelihood: Density, rng: Generator) -> float:
    """Another sampler of the same posterior: proposals from the prior."""
    proposal = rng.normal(gap, math.sqrt(2))
    accepted = math.log(rng.random()) < log_likelihood(proposal) - log_likelihood(delta)
    return proposal if accepted else delta


def as_given(delta: float, gap: float, log_likelihood: Density, rng: Generator) -> float:
    """The step of the exercise: its ellipse turns about 0."""
    xi = rng.normal(0, math.sqrt(2))
    level = log_likelihood(delta) + math.log(rng.random())
    theta = rng.uniform(0, 2 * math.pi)
    low, high = theta - 2 * math.pi, theta
    while True:
        proposal = delta * math.cos(theta) + xi * math.sin(theta)
        if log_likelihood(proposal) > level:
            return proposal
        low, high = (theta, high) if theta < 0 else (low, theta)
        theta = rng.uniform(low, high)


def from_prior(delta: float, gap: float, log_likelihood: Density, rng: Generator) -> float:
    return rng.normal(gap, math.sqrt(2))


def standing(delta: float, gap: float, log_likelihood: Density, rng: Generator) -> float:
    return delta


EXERCISES = (
    Exercise(
        "13.1",
        right=lambda: weights([0.0, -2.0], np.eye(2))[0],
        mistakes=(
            (1 / 6, "Which of the two points does the prior ask to weigh more?"),
            (1.0, "Nothing is cut off: check k, and the 2 in both denominators."),
            (0.5, "That is what the data alone say."),
            (1 / 3, "That is what the prior adds to one half."),
        ),
        otherwise="Put k, s and the two prior means into (13.3).",
    ),
    Exercise(
        "13.2",
        right=lambda: weights(-TWINS.sum(axis=1), TWINS)[2],
        mistakes=(
            (1 / 3, "That is the weight under a constant prior."),
            (4 / 15, "That is the weight of a twin."),
            (lambda: lonely(0.0), "The ridge of (13.4) is missing."),
            (lambda: lonely(1.0), "The ridge of (13.4) is divided by n s."),
        ),
        otherwise="Twins have equal weights: one unknown is left in (13.4).",
        rtol=2e-3,
    ),
    Exercise(
        "13.3",
        right=lambda: brentq(lambda s: fraction_of_atoms(s) - 0.1, 0.1, 6.0),
        mistakes=(
            (math.sqrt(math.log(10)), "s is a variance, not a standard deviation."),
            (math.log10(10), "The logarithm to the base e."),
            (math.log(10) / 2, "The exponent of (13.8) is s itself."),
            (-math.log(10), "A variance is positive."),
        ),
        otherwise="Which s makes the factor of n in (13.8) a tenth?",
        rtol=5e-3,
    ),
    Exercise(
        "13.4",
        right=r_hat,
        mistakes=(
            (lambda chains: r_hat(chains, ddof=0), "Divide variances by N - 1."),
            (lambda chains: r_hat(chains) ** 2, "The root is missing."),
            (
                lambda chains: r_hat(chains, of_means=1 / chains.shape[1]),
                "B / N is the variance of the means already; it is not divided by N again.",
            ),
            (
                lambda chains: chains.var(ddof=1) / r_hat(chains),
                "Compare with the variance within chains, not with that of all draws.",
            ),
        ),
        otherwise="For the two chains of section 4 the text gives W, B / N and the result.",
        evaluate=lambda function: values_on(function, CHAINS),
    ),
    Exercise(
        "13.5",
        right=independent,
        mistakes=(
            (as_given, "The mean of t is that of the step as given, near one half."),
            (standing, "The chain never moves."),
            (from_prior, "The likelihood plays no part in your step."),
        ),
        otherwise="The mean of t is off. Which distribution does the ellipse leave unchanged?",
        evaluate=lambda step: values_on(
            lambda log_likelihood: mean_of_t(step, log_likelihood), [(of_two_points,), (strong,)]
        ),
        rtol=0.02,
    ),
)
