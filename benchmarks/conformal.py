"""A machine on a kernel that a first machine has transformed, scheme of Williams et al. (2007).

With f the first machine, D = exp(-kappa f^2), kappa so that D is 0.1 where |f| is largest; then D
is scaled to a mean square of 1, and the second machine has the kernel D(x) D(x') K(x, x').
"""

from typing import NamedTuple

import numpy as np
from scipy.spatial.distance import cdist
from sklearn.svm import SVC

from benchmarks import dual
from benchmarks.plan import Cell, Group, Method
from benchmarks.problems import CACHE_MB, Labelled, all_coefficients, labelled
from benchmarks.weighted import MINORITY, balanced_box
from kernelbook.conformal import ConformalSVC

__all__ = ["GROUP", "Result", "check"]

SMALLEST = 0.1


class Result(NamedTuple):
    """Signed coefficients (n,) of the second machine, and its D at the points (n,)."""

    signed: np.ndarray
    D: np.ndarray


def ours(data: Labelled) -> Result:
    svc = ConformalSVC(
        "williams", C=data.C, kernel="rbf", gamma=data.gamma, class_weight="balanced"
    ).fit(data.X, data.y)
    return Result(svc.alpha_ * data.y, svc.factor_(data.X))


def peer(data: Labelled) -> Result:
    """Twice a machine of scikit-learn, the second with the matrix D K D."""
    settings = {"C": data.C, "class_weight": "balanced", "cache_size": CACHE_MB}
    first = SVC(gamma=data.gamma, **settings).fit(data.X, data.y)
    values = np.square(first.decision_function(data.X))
    D = SMALLEST ** (values / values.max())
    D /= np.sqrt(np.mean(D**2))
    K = np.exp(-data.gamma * cdist(data.X, data.X, "sqeuclidean"))
    second = SVC(kernel="precomputed", **settings).fit(D[:, None] * K * D, data.y)
    return Result(all_coefficients(second, len(data.y)), D)


def check(data: Labelled, result: Result) -> dict[str, float]:
    """Of the second machine, given D."""
    box = balanced_box(data)
    program = dual.classification(data.X, data.y, box, data.gamma, factor=result.D)
    return dual.check(program, result.signed)


OURS, PEER = "kernelbook ConformalSVC", "scikit-learn SVC twice, tol 1e-3"


def _cell(n: int, repeats: int = 5) -> Cell:
    problem = {"n": n, "d": 2, "C": 10.0, "minority": MINORITY}
    return Cell(problem, {OURS: repeats, PEER: repeats})


GROUP = Group(
    make=labelled,
    check=check,
    methods=[Method(OURS, ours, ours=True), Method(PEER, peer)],
    cells=[_cell(n) for n in (1000, 5000)],
    quick=[_cell(400, 1)],
    warm_up={"n": 500},
    limits=dual.LIMITS,
)
