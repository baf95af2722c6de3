"""Whether two classes can be separated: a hard margin, or the proof that there is none."""

from typing import NamedTuple

import numpy as np
from scipy.optimize import linprog
from sklearn.svm import SVC

from benchmarks import dual
from benchmarks.plan import Ceiling, Cell, Group, Method
from benchmarks.problems import CACHE_MB
from kernelbook.exceptions import NotSeparableError
from kernelbook.svm import HardMarginSVC

__all__ = ["GROUP", "Data", "Result", "check", "make"]

# A C that stands for infinity.
LARGE_C = 1e6


class Data(NamedTuple):
    X: np.ndarray
    y: np.ndarray
    linear: bool
    separable: bool


class Result(NamedTuple):
    """The answer, and coefficients (n,) that prove it: alpha, or weights of one mean in both."""

    separable: bool
    proof: np.ndarray | None


def make(*, n: int, d: int, linear: int, separable: int) -> Data:
    """Points on two sides of a plane (or of a sphere); if not separable, ten contradict others."""
    X = np.random.default_rng(0).standard_normal((n, d))
    height = X[:, 0] if linear else (X**2).sum(axis=1) - d
    kept = np.abs(height) > 0.1
    X, y = X[kept], np.sign(height[kept])
    if not separable:
        # Between two points of a class lies one of the other.
        same = np.flatnonzero(y == y[0])[:30].reshape(3, 10)
        X[same[2]] = (X[same[0]] + X[same[1]]) / 2.0 if linear else X[same[0]]
        y[same[2]] *= -1
    return Data(X, y, bool(linear), bool(separable))


def ours(data: Data) -> Result:
    machine = HardMarginSVC(**_kernel(data))
    try:
        return Result(True, machine.fit(data.X, data.y).alpha_)
    except NotSeparableError as error:
        return Result(False, error.weights)


def _kernel(data: Data) -> dict[str, object]:
    return {"kernel": "linear"} if data.linear else {"kernel": "rbf", "gamma": _gamma(data)}


def _gamma(data: Data) -> float:
    return 1.0 / data.X.shape[1]


def linear_program(data: Data) -> Result:
    """Is there a w, b with y (w'x + b) >= 1? No margin is asked for."""
    rows = -data.y[:, None] * np.column_stack([data.X, np.ones(len(data.X))])
    found = linprog(np.zeros(rows.shape[1]), rows, -np.ones(len(rows)), bounds=(None, None))
    return Result(found.status == 0, None)


def soft(data: Data) -> Result:
    """A soft margin at a large C, and whether it errs on a training point."""
    svc = SVC(C=LARGE_C, cache_size=CACHE_MB, max_iter=10**7, **_kernel(data))
    return Result(svc.fit(data.X, data.y).score(data.X, data.y) == 1.0, None)


def check(data: Data, result: Result) -> dict[str, float]:
    """``gap`` of the margin; for a refusal, squared distance of two means over the spread."""
    found = {"wrong": float(result.separable != data.separable)}
    if result.proof is None:
        return found
    gamma, degree = (1.0, 1) if data.linear else (_gamma(data), None)
    signed, box = result.proof * data.y, 2.0 * result.proof.max()
    program = dual.classification(data.X, data.y, box, gamma, degree=degree)
    if result.separable:
        return found | {"gap": dual.check(program, signed)["gap"]}
    spread = dual.squared_norm(program, np.where(data.y > 0, 1.0, 0.0) / len(data.y))
    return found | {"gap": dual.squared_norm(program, signed) / spread}


OURS, HIGHS, SOFT = "kernelbook HardMarginSVC", "HiGHS, feasibility", "scikit-learn SVC, C = 1e6"


def _cell(n: int, linear: int, separable: int, repeats: int = 5) -> Cell:
    problem = {"n": n, "d": 10 if linear else 2, "linear": linear, "separable": separable}
    return Cell(problem, {OURS: repeats, HIGHS if linear else SOFT: repeats})


GROUP = Group(
    make=make,
    check=check,
    methods=[
        Method(OURS, ours, ours=True),
        Method(HIGHS, linear_program),
        Method(SOFT, soft),
    ],
    cells=[_cell(2000, linear, separable) for linear in (1, 0) for separable in (1, 0)],
    quick=[_cell(200, linear, separable, 1) for linear in (1, 0) for separable in (1, 0)],
    warm_up={"n": 500},
    goals=[
        Ceiling({"n": 2000, "linear": 1}, OURS, 1.0, "cpu_s"),
        Ceiling({"n": 2000, "linear": 0}, OURS, 5.0, "cpu_s"),
    ],
    limits={"wrong": 0.0, "gap": 1e-10},
)
