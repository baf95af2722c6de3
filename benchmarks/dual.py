r"""One form for the duals of all kernel machines, and its independent check.

A machine minimises, over w and b,

    1/2 |w|^2 + total b + sum_i box_i max(0, sign_i (linear_i - w'phi(x_i) - b)),

and its dual, in signed coefficients x with 0 <= sign_i x_i <= box_i and sum x = total, is to

    maximise linear'x - 1/2 x'Kx.

| machine                | rows                | linear      | sign  | total |
|------------------------|---------------------|-------------|-------|-------|
| classification         | points              | y           | y     | 0     |
| regression             | points, then again  | y -+ eps    | +1 -1 | 0     |
| one-class              | points              | 0           | +1    | 1     |
| SVDD (b = (R^2-|a|^2)/2) | points            | K(x, x) / 2 | +1 -1 | 1     |
"""

from typing import NamedTuple

import numpy as np
from scipy.spatial.distance import cdist

__all__ = [
    "LIMITS",
    "Dual",
    "check",
    "classification",
    "description",
    "kernel_sums",
    "regression",
    "squared_norm",
]

ROWS = 1000
# A coefficient so close to an end of its box, relative to the box, is at that end.
AT_BOUND = 1e-12
# Rounding errors of a term of the two objectives, in units of the last place.
ULPS = 4 * np.finfo(float).eps
LIMITS = {"gap": 1e-10, "violation": 1e-6, "infeasibility": 1e-10}


class Dual(NamedTuple):
    """The numbers of the table above, one a row; ``factor`` D (n,) makes the kernel D K D.

    The kernel is the RBF; with a ``degree`` it is (gamma x'z + 1)^degree.
    """

    X: np.ndarray
    gamma: float
    linear: np.ndarray
    signs: np.ndarray
    box: np.ndarray
    total: float
    factor: np.ndarray | float = 1.0
    degree: int | None = None


def classification(
    X: np.ndarray,
    y: np.ndarray,
    box: np.ndarray | float,
    gamma: float,
    factor: np.ndarray | float = 1.0,
    degree: int | None = None,
) -> Dual:
    return Dual(X, gamma, y, y, np.broadcast_to(box, y.shape), 0.0, factor, degree)


def regression(X: np.ndarray, y: np.ndarray, C: float, epsilon: float, gamma: float) -> Dual:
    one = np.ones(len(y))
    linear, signs = np.concatenate([y - epsilon, y + epsilon]), np.concatenate([one, -one])
    return Dual(X, gamma, linear, signs, np.tile(C * one, 2), 0.0)


def description(X: np.ndarray, signs: np.ndarray, C: float, gamma: float, half: float) -> Dual:
    """One-class machine (``half`` = 0) or sphere (``half`` = K(x, x) / 2 = 1/2)."""
    n = len(X)
    return Dual(X, gamma, np.full(n, half), signs, np.full(n, C), 1.0)


def check(dual: Dual, x: np.ndarray) -> dict[str, float]:
    """Relative duality gap and its rounding, m - M of LIBSVM's rule, distance from feasibility.

    The primal objective is least where its slope in b changes sign: at the threshold
    linear_i - f_i up to which the boxes sum to those of the positive signs, minus the total.
    """
    coefficients = x.reshape(-1, len(dual.X)).sum(axis=0)
    values, magnitudes = _products(dual, coefficients)
    thresholds = dual.linear - np.resize(values, len(x))
    quadratic = coefficients @ values / 2.0
    best = dual.linear @ x - quadratic
    order = np.argsort(thresholds)
    wanted = dual.box[dual.signs > 0].sum() - dual.total
    place = np.searchsorted(np.cumsum(dual.box[order]), wanted * (1.0 - AT_BOUND))
    bias = thresholds[order[place]]
    hinges = np.maximum(0.0, dual.signs * (thresholds - bias))
    primal = quadratic + dual.total * bias + dual.box @ hinges
    rounding = np.abs(coefficients) @ magnitudes + np.abs(dual.linear) @ np.abs(x)
    sizes, room = dual.signs * x, AT_BOUND * dual.box
    outside = max(-sizes.min(), (sizes - dual.box).max(), abs(x.sum() - dual.total), 0.0)
    low, high = sizes <= room, sizes >= dual.box - room
    grows = np.where(dual.signs > 0, ~high, ~low)
    shrinks = np.where(dual.signs > 0, ~low, ~high)
    violation = thresholds[grows].max() - thresholds[shrinks].min()
    return {
        "gap": max(float((primal - best) / abs(best)), 0.0),
        "gap_floor": float(ULPS * rounding / abs(best)),
        "violation": max(float(violation), 0.0),
        "infeasibility": abs(float(outside / dual.box.max())),
    }


def squared_norm(dual: Dual, coefficients: np.ndarray) -> float:
    """c'Kc for coefficients c (n,), never negative."""
    return max(float(coefficients @ _products(dual, coefficients)[0]), 0.0)


def _products(dual: Dual, coefficients: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """K c and |K| |c|, (n,) each, in blocks of rows and over the support vectors only."""
    if dual.degree == 1:
        sizes = np.abs(dual.X)
        values = dual.X @ (dual.X.T @ coefficients) * dual.gamma + coefficients.sum()
        magnitudes = sizes @ (sizes.T @ np.abs(coefficients)) * dual.gamma
        return values, magnitudes + np.abs(coefficients).sum()
    kept = np.flatnonzero(coefficients)
    scaled = (dual.factor * coefficients)[kept]
    both = np.column_stack([scaled, np.abs(scaled)])
    products = kernel_sums(dual.X, dual.X[kept], both, dual.gamma, dual.degree)
    values, magnitudes = (products * np.reshape(dual.factor, (-1, 1))).T
    return values, magnitudes


def kernel_sums(
    X: np.ndarray, points: np.ndarray, weights: np.ndarray, gamma: float, degree: int | None = None
) -> np.ndarray:
    """Sums over points (k, d) of weights (k, ...) times kernel values, for each row of X (n, d)."""

    def values(rows: np.ndarray) -> np.ndarray:
        if degree is None:
            return np.exp(-gamma * cdist(rows, points, "sqeuclidean"))
        return (gamma * (rows @ points.T) + 1.0) ** degree

    blocks = np.array_split(X, -(-len(X) // ROWS))
    return np.concatenate([values(rows) @ weights for rows in blocks])
