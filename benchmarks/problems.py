"""Points, labels and targets that the groups share."""

from typing import Any, NamedTuple

import numpy as np
from sklearn.datasets import make_classification, make_moons

__all__ = ["CACHE_MB", "Labelled", "all_coefficients", "labelled", "response", "two_classes"]

# Megabytes of kernel rows that scikit-learn's machines may keep.
CACHE_MB = 1000


class Labelled(NamedTuple):
    """Points X (n, d), signs y (n,), the price C of slack, the RBF kernel's gamma."""

    X: np.ndarray
    y: np.ndarray
    C: float
    gamma: float


def labelled(*, n: int, d: int, C: float, minority: float = 0.5) -> Labelled:
    """Two classes with signs, the fraction ``minority`` of +1; gamma = 1 / d."""
    X, y = two_classes(n, d, minority)
    return Labelled(X, np.where(y == 1, 1.0, -1.0), C, 1.0 / d)


def all_coefficients(machine: Any, n: int) -> np.ndarray:
    """Dual coefficients (n,) of a fitted machine, zero for points that are no support vectors."""
    coefficients = np.zeros(n)
    coefficients[machine.support_] = machine.dual_coef_[0]
    return coefficients


def two_classes(n: int, d: int, minority: float = 0.5) -> tuple[np.ndarray, np.ndarray]:
    """Two moons in the plane, else clouds with a few wrong labels; y is 0 or 1.

    Each feature has mean 0 and variance 1, so that gamma = 1 / d suits any d.
    """
    if d == 2:
        rare = round(minority * n)
        X, y = make_moons((n - rare, rare), noise=0.3, random_state=0)
    else:
        X, y = make_classification(
            n,
            d,
            n_informative=d // 2 + 1,
            n_redundant=0,
            flip_y=0.05,
            weights=[1.0 - minority],
            random_state=0,
        )
    return (X - X.mean(axis=0)) / X.std(axis=0), y


def response(n: int, d: int) -> tuple[np.ndarray, np.ndarray]:
    """Normal points and a smooth function of their first two features, with noise."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, d))
    return X, np.sin(2.0 * X[:, 0]) + X[:, 1] ** 2 / 2.0 + 0.3 * rng.standard_normal(n)
