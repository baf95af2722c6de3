"""Support vector machines whose slack costs more in the rare class."""

import numpy as np
from sklearn.svm import SVC

from benchmarks import dual
from benchmarks.plan import Cell, Group, Method
from benchmarks.problems import CACHE_MB, Labelled, all_coefficients, labelled
from kernelbook.svm import KernelSVC

__all__ = ["GROUP", "balanced_box", "check"]

MINORITY = 0.05


def ours(data: Labelled) -> np.ndarray:
    svc = KernelSVC(data.C, kernel="rbf", gamma=data.gamma, class_weight="balanced")
    return svc.fit(data.X, data.y).alpha_ * data.y


def peer(data: Labelled) -> np.ndarray:
    svc = SVC(C=data.C, gamma=data.gamma, class_weight="balanced", cache_size=CACHE_MB)
    return all_coefficients(svc.fit(data.X, data.y), len(data.y))


def balanced_box(data: Labelled) -> np.ndarray:
    """C n / (2 n_c) of each point (n,), c its class."""
    return data.C / (2.0 * np.where(data.y > 0, np.mean(data.y > 0), np.mean(data.y < 0)))


def check(data: Labelled, signed: np.ndarray) -> dict[str, float]:
    program = dual.classification(data.X, data.y, balanced_box(data), data.gamma)
    return dual.check(program, signed)


OURS, PEER = "kernelbook KernelSVC", "scikit-learn SVC, tol 1e-3"


def _cell(n: int, d: int, repeats: int = 5) -> Cell:
    problem = {"n": n, "d": d, "C": 10.0, "minority": MINORITY}
    return Cell(problem, {OURS: repeats, PEER: repeats})


GROUP = Group(
    make=labelled,
    check=check,
    methods=[Method(OURS, ours, ours=True), Method(PEER, peer)],
    cells=[_cell(n, d) for d in (2, 10) for n in (1000, 5000)],
    quick=[_cell(400, 2, 1)],
    warm_up={"n": 500},
    limits=dual.LIMITS,
)
