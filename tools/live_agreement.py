"""What live figures have solved in a browser, solved again by the machines of the library.

The browser test writes down every problem that the figures pose at the places of their sliders
which it visits, and what they find. Here each is posed to the machine of the library; what differs
by more than a millionth is told.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from kernelbook.kernels import Array
from kernelbook.oneclass import OneClassSVM
from kernelbook.svdd import SVDD
from kernelbook.svm import KernelSVC
from kernelbook.svr import KernelSVR

__all__ = ["ALLOWED", "differences", "disagreement", "tell"]

ALLOWED = 1e-6
Solved = dict[str, Any]


def tell(record: Path) -> int:
    """Print each difference between a record of the browser test and the library.

    Parameters
    ----------
    record : Path
        A list of problems and solutions as JSON; see `disagreement`.

    Returns
    -------
    int
        0 if nothing differs, else 1.
    """
    solved = json.loads(record.read_text(encoding="utf-8"))
    found = list(differences(solved))
    for words in found:
        print(words)
    print(f"{len(solved)} solutions of live figures, {len(found)} differ from the library")
    return 1 if found else 0


def differences(solved: list[Solved]) -> Iterator[str]:
    """A sentence for each solution that is not proved, or not that of the library.

    Parameters
    ----------
    solved : list of dict
        See `disagreement`.

    Yields
    ------
    str
        What differs, and in which problem.
    """
    for one in solved:
        distance = disagreement(one)
        if not (distance <= ALLOWED and 0 <= one["gap"] <= ALLOWED):
            settings = {key: value for key, value in one["parameters"].items() if key != "C"}
            yield (
                f"{one['machine']} {settings} on {len(one['X'])} points: gap {one['gap']:.1e}, "
                f"{distance:.1e} from the library"
            )


def disagreement(one: Solved) -> float:
    """How far a solution is from that of the library, as a function of points.

    Parameters
    ----------
    one : dict
        ``machine``, ``X``, ``y`` (None for one class), ``parameters``, ``free`` (indices of the
        free support vectors) and ``decision``, the values at the points.

    Returns
    -------
    float
        The largest difference at the points, relative to the largest value there, but at least 1.
        Without a free support vector an offset is optimal within an interval: then the two may
        differ by a constant.
    """
    X = np.array(one["X"], dtype=float)
    wanted, given = _exact(one, X), np.array(one["decision"], dtype=float)
    apart = given - wanted
    if not one["free"]:
        apart -= np.median(apart)
    return float(np.abs(apart).max() / max(1.0, np.abs(wanted).max()))


def _exact(one: Solved, X: Array) -> Array:
    """The decision function, or the prediction, of the library at the points."""
    given = dict(one["parameters"])
    C = given.pop("C", None)
    match one["machine"]:
        case "svc":
            y = np.array(one["y"])
            weight = np.broadcast_to(np.asarray(C, dtype=float), y.shape)
            return KernelSVC(C=1.0, **given).fit(X, y, sample_weight=weight).decision_function(X)
        case "svr":
            return KernelSVR(C=C, **given).fit(X, np.array(one["y"])).predict(X)
        case "oneClass":
            return OneClassSVM(**given).fit(X).decision_function(X)
        case "svdd":
            return SVDD(C=C, **given).fit(X).decision_function(X)
        case other:
            raise ValueError(f"no machine of the library belongs to {other!r}.")
