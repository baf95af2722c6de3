"""Compile the loops of the exact solver and keep them on disk, so that no first fit waits."""

import numpy as np

from kernelbook.qp.points import KINDS, PointsQuadratic
from kernelbook.qp.solve import solve_qp

__all__ = ["compile_loops"]


def compile_loops() -> None:
    """Solve one small problem for each kind of matrix that the loops are compiled for."""
    X, y = np.linspace(0.0, 1.0, 8)[:, None], np.tile([-1.0, 1.0], 4)
    bounds = np.minimum(0.0, 10.0 * y), np.maximum(0.0, 10.0 * y)
    for kind in (*KINDS, None):
        Q = PointsQuadratic(X, lambda A, B: A @ B.T, kind=kind, gamma=1.0)
        solve_qp(Q, -y, np.ones(8), 0.0, *bounds, solver="exact")
    solve_qp(X @ X.T, -y, np.ones(8), 0.0, *bounds, solver="exact")


if __name__ == "__main__":
    compile_loops()
