"""Soft-margin support vector machines: the dual with an RBF kernel, solved several ways."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.spatial.distance import cdist
from sklearn.datasets import make_classification, make_moons
from sklearn.svm import SVC

from benchmarks import naive
from benchmarks.plan import Cell, Goal, Group, Method
from kernelbook.svm import KernelSVC

__all__ = ["GROUP", "Data", "check"]

ROWS = 1000


class Data(NamedTuple):
    X: np.ndarray
    y: np.ndarray
    C: float
    gamma: float


def make(*, n: int, d: int, C: float) -> Data:
    """Two moons in the plane, else two classes in d dimensions; gamma = 1 / d."""
    if d == 2:
        X, y = make_moons(n, noise=0.3, random_state=0)
    else:
        X, y = make_classification(
            n, d, n_informative=d // 2 + 1, n_redundant=0, flip_y=0.05, random_state=0
        )
    return Data(X, np.where(y == 1, 1.0, -1.0), C, 1.0 / d)


def ours(solver: str) -> Callable[[Data], np.ndarray]:
    def run(data: Data) -> np.ndarray:
        svc = KernelSVC(C=data.C, kernel="rbf", gamma=data.gamma, solver=solver)
        return svc.fit(data.X, data.y).alpha_ * data.y

    return run


def scikit_learn(tol: float) -> Callable[[Data], np.ndarray]:
    def run(data: Data) -> np.ndarray:
        svc = SVC(C=data.C, kernel="rbf", gamma=data.gamma, tol=tol).fit(data.X, data.y)
        signed = np.zeros(len(data.y))
        signed[svc.support_] = svc.dual_coef_[0]
        return signed

    return run


def check(data: Data, signed: np.ndarray) -> dict[str, float]:
    """Relative duality gap, m - M of LIBSVM's stopping rule, distance from feasibility over C.

    With equal prices of slack the primal objective is least where the slope of the hinge sum
    changes sign, at the bias y_i - f_i that is the n_+-th smallest.
    """
    X, y, C, gamma = data
    values = _values(X, signed, gamma)
    alpha = y * signed
    quadratic = signed @ values / 2
    dual = alpha.sum() - quadratic
    bias = np.sort(y - values)[int((y > 0).sum()) - 1]
    primal = quadratic + C * np.maximum(0.0, 1.0 - y * (values + bias)).sum()
    outside = max(-alpha.min(), (alpha - C).max(), abs(signed.sum()), 0.0)
    grows = np.where(y > 0, alpha < C, alpha > 0)
    shrinks = np.where(y > 0, alpha > 0, alpha < C)
    residual = y - values
    violation = residual[grows].max() - residual[shrinks].min()
    return {
        "gap": max(float((primal - dual) / abs(dual)), 0.0),
        "violation": max(float(violation), 0.0),
        "infeasibility": abs(float(outside / C)),
    }


def _values(X: np.ndarray, signed: np.ndarray, gamma: float) -> np.ndarray:
    """K signed (n,), in blocks of rows and over the support vectors only."""
    kept = np.flatnonzero(signed)
    blocks = (X[start : start + ROWS] for start in range(0, len(X), ROWS))
    return np.concatenate(
        [np.exp(-gamma * cdist(block, X[kept], "sqeuclidean")) @ signed[kept] for block in blocks]
    )


def _solvers() -> list[str]:
    """The ways to solve that this version of the library offers."""
    offered = []
    for solver in ("reference", "dense", "exact"):
        try:
            KernelSVC(kernel="linear", solver=solver).fit([[-1.0], [1.0]], [-1, 1])
        except ValueError:
            continue
        offered.append(solver)
    return offered


OURS = [f"kernelbook {solver}" for solver in _solvers()]
PEERS = ["scikit-learn, tol 1e-3", "scikit-learn, tol 1e-6"]
NAIVE = "naive dense G"


def _cell(n: int, d: int, repeats: int, naive_repeats: int) -> Cell:
    turns = {NAIVE: naive_repeats} | dict.fromkeys([*OURS, *PEERS], repeats)
    return Cell({"n": n, "d": d, "C": 10.0}, turns)


GOALS = [
    Goal({"n": 2000, "d": 2}, "kernelbook reference", NAIVE, 7),
    Goal({"n": 2000, "d": 2}, "kernelbook dense", NAIVE, 7),
    Goal({"n": 2000, "d": 2}, "kernelbook exact", NAIVE, 300),
    Goal({"n": 1000, "d": 10}, "kernelbook exact", NAIVE, 50),
]

GROUP = Group(
    make=make,
    check=check,
    methods=[
        Method(NAIVE, lambda data: naive.solve(*data)),
        *(Method(name, ours(name.split()[1]), ours=True) for name in OURS),
        Method(PEERS[0], scikit_learn(1e-3)),
        Method(PEERS[1], scikit_learn(1e-6)),
    ],
    cells=[
        _cell(n, d, repeats, turns)
        for d in (2, 10)
        for n, repeats, turns in ((500, 5, 3), (1000, 5, 3), (2000, 3, 1))
    ],
    quick=[_cell(n, 2, 1, 1) for n in (100, 200)],
    warm_up={"n": 40, "d": 2, "C": 1.0},
    goals=[goal for goal in GOALS if goal.ours in OURS],
    limits={"gap": 1e-8, "violation": 1e-6, "infeasibility": 1e-10},
)
