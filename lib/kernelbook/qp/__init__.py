"""The one quadratic program behind every machine of this package, solved and certified."""

from kernelbook.qp.certificate import Certificate, certify, certify_residual
from kernelbook.qp.points import BLOCK_VALUES, PointsQuadratic
from kernelbook.qp.points import KINDS as COMPILED_KERNELS
from kernelbook.qp.quadratic import DenseQuadratic, PairedQuadratic, Quadratic
from kernelbook.qp.solve import QPSolution, goes_exact, solve_qp

__all__ = [
    "BLOCK_VALUES",
    "COMPILED_KERNELS",
    "Certificate",
    "DenseQuadratic",
    "PairedQuadratic",
    "PointsQuadratic",
    "QPSolution",
    "Quadratic",
    "certify",
    "certify_residual",
    "goes_exact",
    "solve_qp",
]
