"""The one quadratic program behind every machine of this package, solved and certified."""

from kernelbook.qp.certificate import Certificate
from kernelbook.qp.from_arrays import certify, solve_qp
from kernelbook.qp.gram import GramQuadratic
from kernelbook.qp.low_rank import LowRankQuadratic
from kernelbook.qp.options import SOLVERS, SolverOptions
from kernelbook.qp.program import DenseQuadratic, Quadratic, QuadraticProgram, double_centre
from kernelbook.qp.solve import QPSolution, certify_residual, goes_exact, solve
from kernelbook.qp.structured import PairedQuadratic

__all__ = [
    "SOLVERS",
    "Certificate",
    "DenseQuadratic",
    "GramQuadratic",
    "LowRankQuadratic",
    "PairedQuadratic",
    "QPSolution",
    "Quadratic",
    "QuadraticProgram",
    "SolverOptions",
    "certify",
    "certify_residual",
    "double_centre",
    "goes_exact",
    "solve",
    "solve_qp",
]
