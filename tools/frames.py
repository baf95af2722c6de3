"""Live figures whose problem a page is too slow to solve: one frame for each place of a slider.

The frames are computed when the book is built, with the certificate of each, and are kept in
build/frames until the library or this file changes. A page gets them as a script.
"""

import hashlib
import json
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.exceptions import ConvergenceWarning

from kernelbook.bayes import BayesianSVDD
from kernelbook.conformal import ConformalSVC, magnification
from kernelbook.datasets import make_banana, make_bell
from kernelbook.exceptions import CollapseWarning
from kernelbook.kernels import Matrix
from kernelbook.mcmc import diagnose
from tools.files import write_atomically

__all__ = ["FRAMES", "factor", "frames", "posterior"]

ROOT = Path(__file__).resolve().parents[1]
KEPT = ROOT / "build" / "frames"
NODES = 41  # in each direction; the page draws lines between them
HUNDREDTHS = 100

# Decimal logarithms of the places of the sliders.
WIDTHS = tuple(np.arange(-6, 7) / 6)
SCALES = tuple(np.arange(-4, 3) / 2)

Frames = dict[str, Any]


def frames(name: str) -> str:
    """The script that gives a page the frames of a figure, from build/frames if nothing changed.

    Parameters
    ----------
    name : str
        One of `FRAMES`.

    Returns
    -------
    str
        A classic script: it adds an entry to ``globalThis.kernelbookFrames``.
    """
    state = hashlib.sha256(Path(__file__).read_bytes())
    for path in sorted((ROOT / "lib" / "kernelbook").rglob("*.py")):
        state.update(path.read_bytes())
    kept = KEPT / f"{name}-{state.hexdigest()[:16]}.js"
    if not kept.exists():
        found = json.dumps(FRAMES[name](), separators=(",", ":"), allow_nan=False)
        for old in KEPT.glob(f"{name}-*.js"):
            old.unlink()
        script = f"(globalThis.kernelbookFrames ??= {{}}).{name} = {found};\n"
        write_atomically(kept, script)
    return kept.read_text(encoding="utf-8")


def factor(logarithms: ArrayLike = WIDTHS) -> Frames:
    r"""The factor of Amari and Wu on the bell, by the width tau of its bumps.

    Parameters
    ----------
    logarithms : array-like, default=-1 to 1
        Decimal logarithms of tau in units of :math:`\sigma/\sqrt d`.

    Returns
    -------
    dict
        Points, limits, and a frame for each width: logarithm of the magnification and decision
        function on a grid, support vectors, errors on new points, and the larger of the relative
        duality gaps of both machines.
    """
    X, y = make_bell(100, random_state=9)
    X_new, y_new = make_bell(10_000, random_state=1009)
    x = np.linspace(-1, 1, 201)
    bell = np.column_stack([x, np.exp(-4 * x**2)])
    limits = [[-1.0, 1.0], [-1.0, 1.0]]
    grid = _grid(limits)
    unit = 1 / np.sqrt(2 * 1.0 * 2)

    def frame(logarithm: float) -> Frames:
        machine = ConformalSVC("amari_wu", C=1.0, gamma=1.0, tau=10**logarithm * unit).fit(X, y)
        on_bell = _ratio(machine, bell)
        return {
            "at": float(logarithm),
            "level": _hundredths(np.log10(np.maximum(_ratio(machine, grid), 1e-4))),
            "decision": _hundredths(np.clip(machine.decision_function(grid), -3, 3)),
            "first": machine.previous_.support_.tolist(),
            "least": float(on_bell.min()),
            "most": float(on_bell.max()),
            "before": int((machine.previous_.predict(X_new) != y_new).sum()),
            "after": int((machine.predict(X_new) != y_new).sum()),
            "gap": max(
                machine.certificate_.duality_gap, machine.previous_.certificate_.duality_gap
            ),
        }

    return {
        "limits": limits, "nodes": NODES, "new": len(X_new), "bell": bell[::4].round(4).tolist(),
        "points": X.round(3).tolist(), "positive": (y == y.max()).tolist(),
        "frames": [frame(each) for each in np.ravel(logarithms)],
    }  # fmt: skip


def _ratio(machine: ConformalSVC, points: Matrix) -> Matrix:
    """Magnification after / before: that of the RBF kernel with gamma = 1 is 2 in the plane."""
    return magnification(points, "rbf", machine.factor_, gamma=1.0) / 2.0


def posterior(logarithms: ArrayLike = SCALES, n_samples: int = 500) -> Frames:
    """The posterior of BSVDD on a banana, by the mean of its prior and its scale s.

    Parameters
    ----------
    logarithms : array-like, default=-2 to 1
        Decimal logarithms of s.
    n_samples : int, default=500
        Draws kept of each chain.

    Returns
    -------
    dict
        Points, limits, and a frame for each prior and scale: P(inside) on a grid, the mean weight
        of each point, effective atoms, and what the chains are worth: the largest R-hat and the
        least effective sample size.
    """
    X, _ = make_banana(60, random_state=13)
    limits = [[-2.2, 2.2], [-1.6, 1.92]]
    grid = _grid(limits)

    def frame(prior: str, logarithm: float) -> Frames:
        machine = BayesianSVDD(
            prior, 1.0, 10**logarithm, gamma=1.0, n_samples=n_samples, random_state=13
        )
        with warnings.catch_warnings():  # the page shows R-hat, and the collapse
            warnings.simplefilter("ignore", ConvergenceWarning)
            warnings.simplefilter("ignore", CollapseWarning)
            machine.fit(X)
            table = diagnose(machine.idata_)
        return {
            "prior": prior,
            "at": float(logarithm),
            "inside": _hundredths(machine.predict_proba(grid)[:, 1]),
            "weights": machine.alpha_.round(4).tolist(),
            "atoms": round(machine.n_effective_atoms_, 2),
            "draws": len(machine.alpha_draws_),
            "worth": round(float(table["ess_bulk"].min())),
            "rHat": round(float(table["r_hat"].max()), 4),
        }

    return {
        "limits": limits, "nodes": NODES, "points": X.round(3).tolist(),
        "frames": [
            frame(prior, each)
            for prior in ("row_mean", "row_sum")
            for each in np.ravel(logarithms)
        ],
    }  # fmt: skip


FRAMES: dict[str, Callable[[], Frames]] = {"factor": factor, "posterior": posterior}


def _grid(limits: list[list[float]]) -> Matrix:
    """The nodes, row by row from below; two beyond the limits on each side."""
    axes = []
    for low, high in limits:
        step = (high - low) / (NODES - 5)
        axes.append(low + step * (np.arange(NODES) - 2))
    across, up = np.meshgrid(*axes)
    return np.column_stack([across.ravel(), up.ravel()])


def _hundredths(values: Matrix) -> list[int]:
    """As integers, which are short in a script and precise enough for a drawing."""
    return np.rint(HUNDREDTHS * values).astype(int).tolist()
