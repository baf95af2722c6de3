"""Polynomial support vector machines written out as linear models in all interactions."""

from typing import Any, NamedTuple

import numpy as np
from sklearn.datasets import make_classification
from sklearn.svm import SVC

from benchmarks.plan import Cell, Goal, Group, Method
from kernelbook.explain import PolynomialExplainer

__all__ = ["GROUP", "Data", "check"]

PROBES = 20


class Data(NamedTuple):
    model: SVC
    X: np.ndarray


def make(*, p: int, D: int, n: int) -> Data:
    """A machine of degree D on n points with p features, fitted by scikit-learn."""
    X, y = make_classification(
        n + PROBES, p, n_informative=p // 2 + 1, n_redundant=0, flip_y=0.2, random_state=0
    )
    model = SVC(kernel="poly", degree=D, coef0=1.0, gamma=1.0 / p).fit(X[:n], y[:n])
    return Data(model, X[n:])


def ours(data: Data) -> PolynomialExplainer:
    explainer = PolynomialExplainer().fit(data.model)
    _ = explainer.coef_  # computed when first asked for
    return explainer


def ours_by_name(data: Data) -> PolynomialExplainer:
    """The weights and a dictionary that finds them by interaction, as the peer holds them."""
    explainer = PolynomialExplainer().fit(data.model)
    explainer.weights()
    return explainer


def peer(data: Data) -> Any:
    from explainpolysvm.expsvm import ExPSVM

    explainer = ExPSVM(svm_model=data.model)
    explainer.transform_svm()
    return explainer


def check(data: Data, explainer: Any) -> dict[str, float]:
    """Largest difference from the machine's decision values at new points, relative to them."""
    wanted = data.model.decision_function(data.X)
    found = np.ravel(explainer.decision_function(data.X))
    return {"difference": float(np.abs(found - wanted).max() / np.abs(wanted).max())}


OURS, BY_NAME, PEER = "kernelbook", "kernelbook, weights by name", "explainpolysvm 1.2.0"


def _cell(p: int, D: int, n: int, repeats: int, peer_repeats: int) -> Cell:
    return Cell({"p": p, "D": D, "n": n}, {OURS: repeats, BY_NAME: repeats, PEER: peer_repeats})


GROUP = Group(
    make=make,
    check=check,
    methods=[
        Method(OURS, ours, ours=True),
        Method(BY_NAME, ours_by_name, ours=True),
        Method(PEER, peer, needs="explainpolysvm"),
    ],
    cells=[_cell(50, 3, 600, 5, 3), _cell(50, 4, 600, 3, 1)],
    quick=[_cell(8, 3, 100, 1, 1)],
    warm_up={"p": 4, "D": 2, "n": 40},
    goals=[
        Goal({"p": 50, "D": D}, OURS, PEER, at_least, quantity)
        for D in (3, 4)
        for quantity, at_least in (("cpu_s", 50), ("memory_mb", 10))
    ],
    limits={"difference": 1e-10},
)
