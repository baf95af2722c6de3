"""Compile the loops of the exact solver and keep them on disk, so that no first fit waits."""

import warnings

import numpy as np

from kernelbook.exceptions import CompilationWarning
from kernelbook.kernels import RBF, FromCallable, Kernel, Laplacian, Linear, Polynomial, linear
from kernelbook.qp import DenseQuadratic, GramQuadratic, Quadratic, QuadraticProgram, solve
from kernelbook.qp.options import SolverOptions

__all__ = ["compile_loops"]


def compile_loops() -> None:
    """Solve one small problem for each kind of matrix that the loops are compiled for."""
    X, y = np.linspace(0.0, 1.0, 8)[:, None], np.tile([-1.0, 1.0], 4)
    lower, upper = np.minimum(0.0, 10.0 * y), np.maximum(0.0, 10.0 * y)
    kernels: list[Kernel] = [RBF(), Laplacian(), Linear(), Polynomial(), FromCallable(linear)]
    matrices: list[Quadratic] = [DenseQuadratic(X @ X.T)]
    matrices += [GramQuadratic(kernel.about(X.mean(axis=0)), X) for kernel in kernels]
    for Q in matrices:
        program = QuadraticProgram(Q, -y, np.ones(8), 0.0, lower, upper)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", CompilationWarning)
            solve(program, SolverOptions(solver="exact"))


if __name__ == "__main__":
    compile_loops()
