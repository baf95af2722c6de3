"""Support vector machines of several classes, one for each pair."""

from itertools import combinations
from typing import NamedTuple

import numpy as np
from sklearn.datasets import load_digits, load_iris, load_wine, make_classification
from sklearn.svm import SVC

from benchmarks import dual
from benchmarks.plan import Cell, Group, Method
from benchmarks.problems import CACHE_MB
from kernelbook.svm import KernelSVC

__all__ = ["GROUP", "Data", "Result", "check"]

# By their number of rows.
TABLES = {150: load_iris, 178: load_wine, 1797: load_digits}


class Data(NamedTuple):
    X: np.ndarray
    y: np.ndarray  # classes from 0 to k - 1
    C: float
    gamma: float


class Result(NamedTuple):
    """Coefficients (k - 1, n_SV) in the layout of scikit-learn, and the support vectors."""

    dual_coef: np.ndarray
    support: np.ndarray


def make(*, n: int, d: int, classes: int, C: float) -> Data:
    """Iris, wine or digits where n is theirs, else clouds; variance 1, gamma 1 / d."""
    if n in TABLES:
        X, y = TABLES[n](return_X_y=True)
        X = X[:, X.std(axis=0) > 0]
    else:
        X, y = make_classification(
            n, d, n_informative=d, n_redundant=0, n_classes=classes, random_state=0
        )
    return Data((X - X.mean(axis=0)) / X.std(axis=0), y, C, 1.0 / d)


def ours(data: Data) -> Result:
    svc = KernelSVC(data.C, gamma=data.gamma).fit(data.X, data.y)
    return Result(svc.dual_coef_, svc.support_)


def peer(data: Data) -> Result:
    svc = SVC(C=data.C, gamma=data.gamma, cache_size=CACHE_MB).fit(data.X, data.y)
    return Result(svc.dual_coef_, svc.support_)


def check(data: Data, result: Result) -> dict[str, float]:
    """The worst numbers of all pairs."""
    coefficients = np.zeros((len(result.dual_coef), len(data.y)))
    coefficients[:, result.support] = result.dual_coef
    worst: dict[str, float] = {}
    for i, j in combinations(range(len(coefficients) + 1), 2):
        pair = (data.y == i) | (data.y == j)
        first = data.y[pair] == i
        x = np.where(first, coefficients[j - 1, pair], coefficients[i, pair])
        signs = np.where(first, 1.0, -1.0)
        program = dual.classification(data.X[pair], signs, data.C, data.gamma)
        for name, value in dual.check(program, x).items():
            worst[name] = max(value, worst.get(name, 0.0))
    return worst


OURS, PEER = "kernelbook KernelSVC", "scikit-learn SVC, tol 1e-3"


def _cell(n: int, d: int, classes: int, repeats: int = 5) -> Cell:
    problem = {"n": n, "d": d, "classes": classes, "C": 10.0}
    return Cell(problem, {OURS: repeats, PEER: repeats})


GROUP = Group(
    make=make,
    check=check,
    methods=[Method(OURS, ours, ours=True), Method(PEER, peer)],
    cells=[
        _cell(150, 4, 3),
        _cell(178, 13, 3),
        _cell(1797, 61, 10),
        *(_cell(n, 10, 5) for n in (2000, 5000, 10_000)),
    ],
    quick=[_cell(400, 5, 4, 1)],
    warm_up={"n": 800},
    limits=dual.LIMITS,
)
