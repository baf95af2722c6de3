"""Answers to the exercises of notebook 08, explaining polynomial SVMs."""

import math
from functools import cache

import numpy as np
from sklearn.model_selection import train_test_split
from sklearn.svm import SVC

from kernelbook.explain import PolynomialExplainer
from kernelcourse.exercises.grading import Exercise

__all__ = ["EXERCISES"]

OFFSET = math.sqrt(2)
Points = tuple[np.ndarray, np.ndarray]


@cache
def _split() -> tuple[Points, Points]:
    """Training and test points of the hidden rule (8.6)."""
    rng = np.random.default_rng(1011)
    X = 10 * (rng.random((4000, 5)) - 0.5)
    rule = 0.5 * X[:, 0] * (X[:, 1] - X[:, 2]) - 0.15 * X[:, 3] ** 2 + 0.1 * X.sum(axis=1)
    y = np.where(rule + rng.normal(0, 0.4, len(X)) > -1, 1, -1)
    X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=2000, random_state=10)
    return (X_train, y_train), (X_test, y_test)


def _cubic(X: np.ndarray, y: np.ndarray) -> SVC:
    gamma = 1 / (5 * _split()[0][0].var())  # of the five features, copies or not
    return SVC(kernel="poly", degree=3, gamma=gamma, coef0=OFFSET, tol=1e-8).fit(X, y)


@cache
def _values_by_degree(test: bool) -> np.ndarray:
    """Decision values (4, 2000): the intercept and degree 0, then degrees 1, 2, 3."""
    train, others = _split()
    explainer = PolynomialExplainer().fit(_cubic(*train))
    parts = explainer.degree_contributions((others if test else train)[0])
    parts[:, 0] += explainer.intercept_[0]
    return parts.T


def _changed(degrees: tuple[int, ...], test: bool = True) -> int:
    """How many answers change when other degrees than these are dropped."""
    values = _values_by_degree(test)
    kept = values[0] + values[list(degrees)].sum(axis=0)
    return int(((kept > 0) != (values.sum(axis=0) > 0)).sum())


@cache
def _fraction_of_x0(copied: bool) -> float:
    X, y = _split()[0]
    if copied:
        X = np.column_stack([X, X[:, 0]])
    table = PolynomialExplainer().fit(_cubic(X, y)).feature_importance(X)
    return float(table.set_index("feature")["fraction"]["x0"])


def _by_the_library() -> float:
    vector = PolynomialExplainer.from_support_vectors(
        [[1, -1, 2]], [2], degree=3, gamma=0.5, coef0=1
    )
    return float(vector.weights()[0, 2, 2])


EXERCISES = (
    Exercise(
        "08.1",
        right=_by_the_library,
        mistakes=(
            (1.0, "The multiplicity is missing: in how many orders can one write it?"),
            (24.0, "Where is gamma, to the power of the degree?"),
            (1.5, "The feature of higher power enters the sum squared, too."),
            (12.0, "gamma is taken to the power of the degree."),
            (-1.5, "The feature in the middle is not part of this interaction."),
        ),
        otherwise="Write down the five factors one by one.",
    ),
    Exercise(
        "08.2",
        right=lambda: sum(math.comb(50 + d - 1, d) for d in (1, 2, 3, 4)),
        rtol=0.0,
        mistakes=(
            (math.comb(54, 4), "The constant is no interaction."),
            (
                sum(math.comb(50, d) for d in (1, 2, 3, 4)),
                "A feature may occur more than once in an interaction.",
            ),
            (math.comb(53, 4), "Lower degrees count, too."),
            (
                sum(50**d for d in (1, 2, 3, 4)),
                "Those are ordered tuples; the order of the factors does not matter.",
            ),
        ),
        otherwise="What are p and D in (8.4)?",
    ),
    Exercise(
        "08.3",
        right=lambda: float(
            np.diff(
                PolynomialExplainer.from_support_vectors(
                    [[1, 2]], [1], degree=2, gamma=1, coef0=1
                ).contributions([[3, 1], [3, 2]], interactions=[(0, 1)])[:, 0]
            )[0]
        ),
        mistakes=(
            (4.0, "That is the weight; the other factor of the product is not 1."),
            (24.0, "That is the contribution afterwards; how large was it before?"),
            (28.0, "That is the change of f; one interaction is asked for."),
            (3.0, "That is the other factor; times the weight."),
        ),
        otherwise="The contribution is weight times both features; take the difference.",
    ),
    Exercise(
        "08.4",
        right=lambda: _changed((1, 2)),
        rtol=0.0,
        atol=1.0,
        mistakes=(
            (0, "The accuracy does not change. Are the answers the same?"),
            (lambda: _changed((1, 2)) / 2, "Count the answers that got worse as well."),
            (lambda: _changed((2,)), "Single features are to be kept, too."),
            (lambda: _changed((1,)), "The products of two features are to be kept, too."),
            (lambda: _changed((1, 2), test=False), "Those are training points."),
        ),
        otherwise="Compare predict of both machines on the test points, and count.",
    ),
    Exercise(
        "08.5",
        right=lambda: _fraction_of_x0(copied=True),
        mistakes=(
            (
                lambda: _fraction_of_x0(copied=False),
                "That is the fraction before there was a copy.",
            ),
            (
                lambda: _fraction_of_x0(copied=False) / 2,
                "Half of the old fraction is a good guess, but the machine has to be fitted again.",
            ),
            (
                lambda: 2 * _fraction_of_x0(copied=True),
                "That is the feature with its copy; by itself?",
            ),
        ),
        otherwise="By spread over the training points, with the gamma of the first machine.",
    ),
)
