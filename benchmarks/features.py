"""Support vector machines whose kernel has few features: linear, and polynomials of low degree."""

from typing import Any

import numpy as np
from sklearn.svm import SVC, LinearSVC

from benchmarks import dual
from benchmarks.plan import Ceiling, Cell, Goal, Group, Method
from benchmarks.problems import CACHE_MB, all_coefficients, labelled
from kernelbook.svm import KernelSVC

__all__ = ["GROUP", "check", "make"]


def make(*, n: int, d: int, degree: int, C: float) -> dual.Dual:
    """The kernel (gamma x'z + 1)^degree; in degree 1 the one changes nothing, as sum x = 0."""
    data = labelled(n=n, d=d, C=C)
    gamma = 1.0 if degree == 1 else data.gamma
    return dual.classification(data.X, data.y, C, gamma, degree=degree)


def _settings(data: dual.Dual) -> dict[str, Any]:
    settings: dict[str, Any] = {"C": float(data.box[0]), "kernel": "linear"}
    if data.degree != 1:
        settings |= {"kernel": "poly", "degree": data.degree, "gamma": data.gamma, "coef0": 1.0}
    return settings


def ours(data: dual.Dual) -> np.ndarray:
    svc = KernelSVC(**_settings(data)).fit(data.X, data.signs)
    return svc.alpha_ * data.signs


def peer(data: dual.Dual) -> np.ndarray:
    svc = SVC(cache_size=CACHE_MB, **_settings(data)).fit(data.X, data.signs)
    return all_coefficients(svc, len(data.X))


def liblinear(data: dual.Dual) -> None:
    """Another problem: the square of the bias is part of its objective."""
    svc = LinearSVC(C=float(data.box[0]), loss="hinge", max_iter=100_000, random_state=0)
    svc.fit(data.X, data.signs)


def check(data: dual.Dual, signed: np.ndarray | None) -> dict[str, float]:
    return {} if signed is None else dual.check(data, signed)


OURS, PEER = "kernelbook KernelSVC", "scikit-learn SVC, tol 1e-3"
LIBLINEAR = "scikit-learn LinearSVC, bias penalised"


def _cell(n: int, d: int, degree: int, C: float, repeats: int = 5) -> Cell:
    turns = {OURS: repeats}
    if n <= 5000 and C <= 1:  # minutes beyond
        turns[PEER] = repeats
    if degree == 1 and C <= 1:
        turns[LIBLINEAR] = repeats
    return Cell({"n": n, "d": d, "degree": degree, "C": C}, turns)


GROUP = Group(
    make=make,
    check=check,
    methods=[
        Method(OURS, ours, ours=True),
        Method(PEER, peer),
        Method(LIBLINEAR, liblinear),
    ],
    cells=[
        *(_cell(n, 10, 1, C) for C in (1.0, 100.0) for n in (1000, 5000)),
        _cell(1000, 50, 1, 1.0),
        *(_cell(n, 10, 2, 1.0) for n in (500, 5000)),
        *(_cell(n, 10, 3, 1.0) for n in (500, 2000)),
    ],
    more=[
        _cell(100_000, 10, 1, 1.0, 3),
        _cell(1_000_000, 10, 1, 1.0, 1),
        _cell(5000, 10, 2, 100.0, 3),
        _cell(5000, 10, 3, 1.0, 3),
    ],
    quick=[_cell(200, 3, 1, 1.0, 1), _cell(200, 3, 2, 1.0, 1)],
    warm_up={"n": 500},
    goals=[
        Goal({"n": 5000, "d": 10, "degree": 1, "C": 1}, OURS, PEER, 25.0),
        Goal({"degree": (1, 2)}, OURS, PEER, 1.0),
        Goal({"degree": 3}, OURS, PEER, 1.0),
        Ceiling({"n": 1_000_000}, OURS, 20.0, "cpu_s"),
        Ceiling({"n": 1_000_000}, OURS, 1024.0, "memory_mb"),
    ],
    limits=dual.LIMITS,
)
