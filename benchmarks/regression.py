"""Support vector regression with a tube: the dual with an RBF kernel."""

from typing import NamedTuple

import numpy as np
from sklearn.svm import SVR

from benchmarks import dual
from benchmarks.plan import Cell, Goal, Group, Method
from benchmarks.problems import CACHE_MB, all_coefficients, response
from kernelbook.svr import KernelSVR

__all__ = ["GROUP", "Data", "check"]

EPSILON = 0.1


class Data(NamedTuple):
    X: np.ndarray
    y: np.ndarray
    C: float
    gamma: float


def make(*, n: int, d: int, C: float) -> Data:
    return Data(*response(n, d), C, 1.0 / d)


def ours(data: Data) -> np.ndarray:
    svr = KernelSVR(data.C, EPSILON, kernel="rbf", gamma=data.gamma).fit(data.X, data.y)
    return all_coefficients(svr, len(data.y))


def peer(data: Data) -> np.ndarray:
    svr = SVR(C=data.C, epsilon=EPSILON, gamma=data.gamma, cache_size=CACHE_MB)
    return all_coefficients(svr.fit(data.X, data.y), len(data.y))


def check(data: Data, beta: np.ndarray) -> dict[str, float]:
    signed = np.concatenate([np.maximum(beta, 0.0), np.minimum(beta, 0.0)])
    return dual.check(dual.regression(data.X, data.y, data.C, EPSILON, data.gamma), signed)


OURS, PEER = "kernelbook KernelSVR", "scikit-learn SVR, tol 1e-3"


def _cell(n: int, d: int, repeats: int = 5) -> Cell:
    return Cell({"n": n, "d": d, "C": 10.0}, {OURS: repeats, PEER: repeats})


GROUP = Group(
    make=make,
    check=check,
    methods=[Method(OURS, ours, ours=True), Method(PEER, peer)],
    cells=[_cell(n, d) for d in (2, 10, 50) for n in (1000, 5000)],
    quick=[_cell(400, 2, 1)],
    warm_up={"n": 500},
    goals=[
        Goal({"n": 5000}, OURS, PEER, 1.0),
        Goal({"n": 5000}, OURS, PEER, 2.0, median=True),
    ],
    limits=dual.LIMITS,
)
