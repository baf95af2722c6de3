"""Kernel Fisher discriminants of two classes, by factorisation and by eigenvectors."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.linalg import cho_factor, cho_solve, eigh
from scipy.spatial.distance import cdist

from benchmarks.plan import Cell, Goal, Group, Method
from benchmarks.problems import two_classes
from kernelbook.fisher import KernelFisherDiscriminant

__all__ = ["GROUP", "Data", "check"]


class Data(NamedTuple):
    X: np.ndarray
    y: np.ndarray
    reg: float
    gamma: float


class Direction(NamedTuple):
    alpha: np.ndarray
    penalty: str


def make(*, n: int, d: int, reg: float) -> Data:
    return Data(*two_classes(n, d), reg, 1.0 / d)


def ours(penalty: str) -> Callable[[Data], Direction]:
    def run(data: Data) -> Direction:
        model = KernelFisherDiscriminant(
            kernel="rbf", gamma=data.gamma, reg=data.reg, penalty=penalty
        )
        return Direction(model.fit(data.X, data.y).alpha_, penalty)

    return run


def generalised_eigenproblem(data: Data) -> Direction:
    """B alpha = lambda (N + mu I) alpha, all eigenvectors, as the textbook writes it."""
    _, m, N = _scatter(data)
    N[np.diag_indices_from(N)] += data.reg
    _, vectors = eigh(np.outer(m, m), N, check_finite=False)
    return Direction(vectors[:, -1], "coef")


def peer(data: Data) -> Direction:
    """kfda 0.1.1, whose every fit ends in an error on a current numpy.

    Fixed here and nowhere else: the class centres reach scikit-learn as an array, no matrix.
    """
    import kfda.kfda as module
    from sklearn.neighbors import NearestCentroid

    class Centres(NearestCentroid):
        def fit(self, X: np.ndarray, y: np.ndarray) -> "Centres":
            return super().fit(np.asarray(X), y)

    module.NearestCentroid = Centres
    model = module.Kfda(1, kernel="rbf", gamma=data.gamma, robustness_offset=data.reg)
    return Direction(np.ravel(model.fit(data.X, data.y).weights_), "coef")


def check(data: Data, direction: Direction) -> dict[str, float]:
    """Fraction of the best possible quotient (m' alpha)^2 / alpha' N_mu alpha that is missing.

    The best is m' N_mu^-1 m, m the difference of the class means; with penalty 'norm' the
    quotient is bounded through (W K + mu I) alpha = e, W centring within the classes.
    """
    K, m, N = _scatter(data)
    alpha = direction.alpha
    if direction.penalty == "coef":
        N[np.diag_indices_from(N)] += data.reg
        best = m @ cho_solve(cho_factor(N), m)
    else:
        N += data.reg * K
        best = m @ np.linalg.solve(_within(K, data.y) + data.reg * np.eye(len(K)), _gap(data.y))
    return {"shortfall": abs(float(1.0 - (m @ alpha) ** 2 / (alpha @ N @ alpha) / best))}


def _scatter(data: Data) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """K, the difference of the class means of its columns, the within-class scatter N."""
    K = np.exp(-data.gamma * cdist(data.X, data.X, "sqeuclidean"))
    Q = _within(K, data.y)
    return K, K @ _gap(data.y), Q.T @ Q


def _within(K: np.ndarray, y: np.ndarray) -> np.ndarray:
    Q = K.copy()
    for label in np.unique(y):
        Q[y == label] -= K[y == label].mean(axis=0)
    return Q


def _gap(y: np.ndarray) -> np.ndarray:
    """Weights whose sum over points is the mean of the second class minus that of the first."""
    first, second = np.unique(y)
    return (y == second) / np.sum(y == second) - (y == first) / np.sum(y == first)


OURS = {"kernelbook, penalty norm": "norm", "kernelbook, penalty coef": "coef"}
EIGEN, PEER = "generalised eigenproblem", "kfda 0.1.1, fixed"


def _cell(n: int, repeats: int, eigen_repeats: int) -> Cell:
    turns = dict.fromkeys([*OURS, PEER], repeats) | {EIGEN: eigen_repeats}
    return Cell({"n": n, "d": 10, "reg": 1.0}, turns)


GROUP = Group(
    make=make,
    check=check,
    methods=[
        *(Method(name, ours(penalty), ours=True) for name, penalty in OURS.items()),
        Method(EIGEN, generalised_eigenproblem),
        Method(PEER, peer, needs="kfda"),
    ],
    cells=[_cell(1000, 5, 3), _cell(3000, 5, 3)],
    quick=[_cell(200, 1, 1)],
    warm_up={"n": 500, "d": 3, "reg": 1.0},
    goals=[Goal({"n": 3000}, name, EIGEN, 15) for name in OURS],
    limits={"shortfall": 1e-9},
)
