"""Decision values of new points, beside one product of matrices of the same size."""

from typing import NamedTuple

import numpy as np
from sklearn.svm import SVC

from benchmarks.dual import kernel_sums
from benchmarks.plan import Cell, Goal, Group, Method
from benchmarks.problems import labelled
from kernelbook.svm import KernelSVC

__all__ = ["GROUP", "Data", "check", "make"]

C = 10.0


class Data(NamedTuple):
    """Two machines of the same problem, and new points (m, d)."""

    ours: KernelSVC
    peer: SVC
    X: np.ndarray


def make(*, n: int, d: int, m: int) -> Data:
    data = labelled(n=n, d=d, C=C)
    settings = {"C": C, "gamma": data.gamma}
    peer = SVC(**settings).fit(data.X, data.y)
    new = np.random.default_rng(0).standard_normal((m, d))
    return Data(KernelSVC(**settings).fit(data.X, data.y), peer, new)


def ours(data: Data) -> np.ndarray:
    return data.ours.decision_function(data.X)


def peer(data: Data) -> np.ndarray:
    return data.peer.decision_function(data.X)


def product(data: Data) -> None:
    """Inner products of new points and support vectors, times the coefficients."""
    (data.X @ data.ours.support_vectors_.T) @ data.ours.dual_coef_[0]


def check(data: Data, values: np.ndarray | None) -> dict[str, float]:
    """``difference`` from the sum over our support vectors, relative to the largest value.

    The machine of the peer is another one, by its tolerance.
    """
    if values is None:
        return {}
    svc = data.ours
    right = kernel_sums(data.X, svc.support_vectors_, svc.dual_coef_[0], svc.gamma_)
    right += svc.intercept_[0]
    return {"difference": float(np.abs(values - right).max() / np.abs(right).max())}


OURS, PEER = "kernelbook decision_function", "scikit-learn decision_function"
PRODUCT = "one product of matrices"


def _cell(n: int, d: int, m: int, repeats: int = 5) -> Cell:
    return Cell({"n": n, "d": d, "m": m}, dict.fromkeys((OURS, PEER, PRODUCT), repeats))


GROUP = Group(
    make=make,
    check=check,
    methods=[
        Method(OURS, ours, ours=True),
        Method(PEER, peer),
        Method(PRODUCT, product),
    ],
    cells=[_cell(5000, d, 20_000) for d in (2, 10, 50)],
    quick=[_cell(300, 2, 500, 1)],
    warm_up={"n": 500},
    goals=[Goal({}, OURS, PRODUCT, 0.5), Goal({}, OURS, PEER, 1.0)],
    limits={"difference": 1e-10},
)
