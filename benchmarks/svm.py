"""Soft-margin support vector machines: the dual with an RBF kernel, solved several ways."""

from collections.abc import Callable

import numpy as np
from sklearn.svm import SVC

from benchmarks import dual, general
from benchmarks.plan import Ceiling, Cell, Goal, Group, Method
from benchmarks.problems import CACHE_MB, Labelled, all_coefficients, labelled
from kernelbook.svm import KernelSVC

__all__ = ["GROUP", "check"]


def ours(solver: str) -> Callable[[Labelled], np.ndarray]:
    def run(data: Labelled) -> np.ndarray:
        svc = KernelSVC(C=data.C, kernel="rbf", gamma=data.gamma, solver=solver)
        return svc.fit(data.X, data.y).alpha_ * data.y

    return run


def scikit_learn(tol: float) -> Callable[[Labelled], np.ndarray]:
    def run(data: Labelled) -> np.ndarray:
        svc = SVC(C=data.C, kernel="rbf", gamma=data.gamma, tol=tol, cache_size=CACHE_MB)
        return all_coefficients(svc.fit(data.X, data.y), len(data.y))

    return run


def check(data: Labelled, signed: np.ndarray) -> dict[str, float]:
    return dual.check(dual.classification(data.X, data.y, data.C, data.gamma), signed)


EXACT, DENSE, REFERENCE = (f"kernelbook {name}" for name in ("exact", "dense", "reference"))
LOOSE, TIGHT = "scikit-learn, tol 1e-3", "scikit-learn, tol 1e-6"
NAIVE, SPARSE, PIQP, CLARABEL = "naive dense G", "sparse G", "piqp", "clarabel"

DIMENSIONS, PRICES = (2, 10, 50), (1.0, 10.0, 100.0)
SIZES = (1000, 2000, 5000, 10000)
SUBSET = (1000, 5000)
LARGE = (20000, 50000, 100000)


def _cell(n: int, d: int, C: float, repeats: int = 5) -> Cell:
    turns = {EXACT: repeats, LOOSE: repeats}
    if n <= 2000 and d <= 10 and C == 10:
        turns |= dict.fromkeys((NAIVE, SPARSE), 1 if n >= 1000 else 3)
        turns |= {REFERENCE: 3, DENSE: 3, TIGHT: repeats}
        turns |= dict.fromkeys((PIQP, CLARABEL), 3) if n <= 1000 else {}
    return Cell({"n": n, "d": d, "C": C}, turns)


GRID = [_cell(n, d, C) for d in DIMENSIONS for C in PRICES for n in SIZES]
# The general solver takes half a minute here, and goal 3 asks for it.
SLOW = [cell for cell in GRID if cell.problem == {"n": 2000, "d": 2, "C": 10.0}]
CELLS = [cell for cell in GRID if cell.problem["n"] in SUBSET] + SLOW

GROUP = Group(
    make=labelled,
    check=check,
    methods=[
        Method(NAIVE, lambda data: general.dense_constraints(*data)),
        Method(SPARSE, lambda data: general.sparse_constraints(*data)),
        Method(PIQP, lambda data: general.piqp(*data), needs="piqp"),
        Method(CLARABEL, lambda data: general.clarabel(*data), needs="clarabel"),
        Method(REFERENCE, ours("reference"), ours=True),
        Method(DENSE, ours("dense"), ours=True),
        Method(EXACT, ours("exact"), ours=True, needs="numba"),
        Method(LOOSE, scikit_learn(1e-3)),
        Method(TIGHT, scikit_learn(1e-6)),
    ],
    cells=CELLS,
    more=[
        *(_cell(500, d, 10.0) for d in DIMENSIONS[:2]),
        *(cell for cell in GRID if cell not in CELLS),
        *(_cell(n, 2, 10.0) for n in LARGE),
    ],
    quick=[
        Cell({"n": 200, "d": 2, "C": 10.0}, dict.fromkeys(_cell(500, 2, 10.0).repeats, 1)),
        Cell({"n": 400, "d": 2, "C": 10.0}, {EXACT: 1, LOOSE: 1}),
    ],
    warm_up={"n": 500},
    goals=[
        Goal({"n": SIZES}, EXACT, LOOSE, 1.0),
        Goal({"n": SIZES}, EXACT, LOOSE, 3.0, median=True),
        *(Goal({"n": n}, EXACT, LOOSE, 4.0) for n in LARGE[1:]),
        Ceiling({"n": LARGE[-1]}, EXACT, 400.0, "memory_mb"),
        Goal({"n": 2000, "d": 2, "C": 10.0}, EXACT, NAIVE, 2000.0),
        Goal({"n": 1000, "d": 10, "C": 10.0}, EXACT, NAIVE, 50.0),
    ],
    limits=dual.LIMITS,
)
