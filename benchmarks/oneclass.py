"""One-class machines and spheres around the data: their duals with an RBF kernel."""

from typing import NamedTuple

import numpy as np
from sklearn.svm import OneClassSVM as PeerOneClassSVM

from benchmarks import dual
from benchmarks.plan import Cell, Goal, Group, Method
from benchmarks.problems import CACHE_MB, all_coefficients, two_classes
from kernelbook.oneclass import OneClassSVM
from kernelbook.svdd import SVDD

__all__ = ["GROUP", "Data", "Result", "check"]

OUTLIERS = 0.05


class Data(NamedTuple):
    X: np.ndarray
    y: np.ndarray
    nu: float
    gamma: float

    @property
    def C(self) -> float:  # noqa: N802
        return 1.0 / (self.nu * len(self.X))


class Result(NamedTuple):
    """Signed coefficients (n,) of sum 1, and whose dual they solve."""

    x: np.ndarray
    half_diagonal: float
    signs: np.ndarray | None = None


def make(*, n: int, d: int, nu: float) -> Data:
    """Targets +1, one in twenty -1: only the sphere with negatives reads these labels."""
    X, y = two_classes(n, d, OUTLIERS)
    return Data(X, np.where(y == 1, -1, 1), nu, 1.0 / d)


def machine(data: Data) -> Result:
    model = OneClassSVM(data.nu, kernel="rbf", gamma=data.gamma).fit(data.X)
    return Result(model.alpha_, 0.0)


def sphere(data: Data) -> Result:
    model = SVDD(C=data.C, kernel="rbf", gamma=data.gamma).fit(data.X)
    return Result(model.alpha_, 0.5)


def sphere_with_negatives(data: Data) -> Result:
    model = SVDD(C=data.C, kernel="rbf", gamma=data.gamma).fit(data.X, data.y)
    return Result(data.y * model.alpha_, 0.5, data.y)


def peer(data: Data) -> Result:
    """Its coefficients have the sum nu n."""
    model = PeerOneClassSVM(nu=data.nu, gamma=data.gamma, cache_size=CACHE_MB).fit(data.X)
    return Result(all_coefficients(model, len(data.X)) * data.C, 0.0)


def check(data: Data, result: Result) -> dict[str, float]:
    signs = np.ones(len(data.X)) if result.signs is None else result.signs
    program = dual.description(data.X, signs, data.C, data.gamma, result.half_diagonal)
    return dual.check(program, result.x)


OURS, SPHERE = "kernelbook OneClassSVM", "kernelbook SVDD"
NEGATIVES = "kernelbook SVDD, 5 % negatives"
PEER = "scikit-learn OneClassSVM, tol 1e-3"


def _cell(n: int, d: int, repeats: int = 5) -> Cell:
    turns = dict.fromkeys((OURS, SPHERE, NEGATIVES, PEER), repeats)
    return Cell({"n": n, "d": d, "nu": 0.1}, turns)


GROUP = Group(
    make=make,
    check=check,
    methods=[
        Method(OURS, machine, ours=True),
        Method(SPHERE, sphere, ours=True),
        Method(NEGATIVES, sphere_with_negatives, ours=True),
        Method(PEER, peer),
    ],
    cells=[_cell(n, d) for d in (2, 10, 50) for n in (1000, 5000)],
    quick=[_cell(400, 2, 1)],
    warm_up={"n": 500},
    goals=[
        Goal({"n": 5000}, name, PEER, at_least, median=median)
        for name in (OURS, SPHERE)
        for at_least, median in ((1.0, False), (2.0, True))
    ],
    limits=dual.LIMITS,
)
