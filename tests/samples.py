"""Points, labels and kernels that the tests of several machines share."""

import re

import numpy as np
import pytest

SOLVERS = ["dense", "reference"]
BOTH = pytest.mark.parametrize("solver", SOLVERS)
EVERY_KERNEL = [
    {"kernel": "linear"},
    {"kernel": "poly", "gamma": 0.5, "degree": 2, "coef0": 1.0},
    {"kernel": "poly", "gamma": 0.4, "degree": 3, "coef0": 0.0},
    {"kernel": "rbf", "gamma": 0.4},
    {"kernel": "laplacian", "gamma": 0.3},
]
# An odd function separates hardly anything: classifiers and regressions do without the cubic.
KERNELS = [kernel for kernel in EVERY_KERNEL if kernel.get("degree") != 3]
BY_KERNEL = pytest.mark.parametrize("kernel", KERNELS, ids=lambda k: k["kernel"])
BY_EVERY_KERNEL = pytest.mark.parametrize("kernel", EVERY_KERNEL, ids=lambda k: k["kernel"])
SMOOTH = {
    "rbf": {"kernel": "rbf", "gamma": 0.4},
    "poly": {"kernel": "poly", "gamma": 0.3, "degree": 3, "coef0": 1.0},
    "linear": {"kernel": "linear"},
}
SCHEMES = ["wu_chang", "amari_wu", "wu_amari", "williams", "kba"]
BY_SCHEME = pytest.mark.parametrize("scheme", SCHEMES)
PENALTIES = ["norm", "coef"]
PREIMAGES = ["fixed_point", "distance", "ridge"]

# Ten points on a line of which two lie on the wrong side: w = 1/2, b = -3/2 at C = 1.
LINE = np.array([[0.0], [1.0], [2.0], [2.5], [3.0], [1.5], [2.2], [4.0], [5.0], [6.0]])
SIDES = np.array([-1, -1, -1, -1, -1, 1, 1, 1, 1, 1])
XOR = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]), np.array([-1, 1, 1, -1])
FOUR = np.array([[0.0], [1.0], [2.0], [3.0]])


def named(name, value):
    """What an estimator says of a wrong parameter: which it is, and the value."""
    return rf"The '{name}' parameter of \w+ must be .*\. Got {re.escape(repr(value))} instead\."


def points(n=40, d=2, seed=0, centre=0.0):
    return np.random.default_rng(seed).normal(centre, size=(n, d))


def labelled(n=40, n_outliers=8, d=2, seed=0, shift=1.0, spread=2.0):
    """Targets and outliers that overlap, unless `shift` sets them apart."""
    rng = np.random.default_rng(seed)
    X = np.vstack([rng.normal(size=(n, d)), rng.normal(shift, spread, size=(n_outliers, d))])
    return X, np.repeat([1, -1], [n, n_outliers])


def classes(n=40, d=2, seed=0, noise=0.5):
    """Labels by the sign of a noisy sum of the features, both of them present."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    y = np.where(X.sum(axis=1) + noise * rng.normal(size=n) > 0, 1, -1)
    y[:2] = -1, 1
    return X, y


def imbalanced(n=60, d=2, fraction=0.25, seed=0, shift=1.5):
    """Two overlapping Gaussians, the class 1 with the given fraction."""
    rng = np.random.default_rng(seed)
    y = (np.arange(n) < fraction * n).astype(int)
    return rng.normal(size=(n, d)) + shift * y[:, None], y


def blobs(n=45, classes=2, d=3, seed=0):
    """Labels in turn, so that every class is present, and overlapping Gaussian points."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % classes
    y[: n // 5] = 0
    return rng.normal(size=(n, d)) + 1.5 * rng.normal(size=(classes, d))[y], y


def curve(n=40, d=2, seed=0, noise=0.2):
    """A sine of the first feature plus the last one, with noise."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-2, 2, size=(n, d))
    return X, np.sin(2 * X[:, 0]) + X[:, -1] + noise * rng.normal(size=n)
