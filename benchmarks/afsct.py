"""Adaptive conformal transformation of a kernel on a rare class: fit, then predict new points."""

from typing import NamedTuple

import numpy as np
from sklearn.datasets import make_classification
from sklearn.metrics import recall_score
from sklearn.svm import SVC

from benchmarks.plan import Cell, Goal, Group, Method

__all__ = ["GROUP", "Data", "check"]

RARE = 0.1


class Data(NamedTuple):
    X: np.ndarray
    y: np.ndarray
    X_new: np.ndarray
    y_new: np.ndarray


def make(*, n: int, d: int) -> Data:
    """n points to fit and n to predict, one in ten of the rare class, each feature in [0, 1]."""
    X, y = make_classification(
        2 * n, d, n_informative=d, n_redundant=0, weights=[1 - RARE], flip_y=0.02, random_state=0
    )
    X = (X - X.min(axis=0)) / np.ptp(X, axis=0)
    return Data(X[:n], y[:n], X[n:], y[n:])


def ours(data: Data) -> np.ndarray:
    from kernelbook.conformal import AFSCTSVC

    return AFSCTSVC().fit(data.X, data.y).predict(data.X_new)


def peer(data: Data) -> np.ndarray:
    from afc_imbalanced_learning import AFSCTSvm

    model = AFSCTSvm()
    model.fit(data.X, data.y)
    return model.predict(data.X_new)


def untransformed(data: Data) -> np.ndarray:
    """The machine without the transformation, for the accuracy that it has to beat."""

    def laplacian(A: np.ndarray, B: np.ndarray) -> np.ndarray:
        from scipy.spatial.distance import cdist

        return np.exp(-cdist(A, B, "cityblock"))

    return SVC(kernel=laplacian, class_weight="balanced").fit(data.X, data.y).predict(data.X_new)


def check(data: Data, predicted: np.ndarray) -> dict[str, float]:
    """Geometric mean of sensitivity and specificity on the new points."""
    recalls = recall_score(data.y_new, predicted, average=None)
    return {"g_mean": float(np.sqrt(np.prod(recalls)))}


OURS, PEER, BASE = "kernelbook", "afc-svm-imbalanced 0.10.0", "scikit-learn, untransformed"


def _cell(n: int, repeats: int) -> Cell:
    return Cell({"n": n, "d": 5}, dict.fromkeys((OURS, PEER, BASE), repeats))


GROUP = Group(
    make=make,
    check=check,
    methods=[
        Method(OURS, ours, ours=True, needs="kernelbook.conformal"),
        Method(PEER, peer, needs="afc_imbalanced_learning"),
        Method(BASE, untransformed),
    ],
    cells=[_cell(500, 5), _cell(2000, 5)],
    quick=[_cell(200, 1)],
    warm_up={"n": 500, "d": 5},
    goals=[Goal({"n": 2000}, OURS, PEER, 2)],
)
