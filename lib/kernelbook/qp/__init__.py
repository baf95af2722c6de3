"""The one quadratic program behind every machine of this package, solved and certified."""

from kernelbook.qp.certificate import Certificate, certify
from kernelbook.qp.quadratic import DenseQuadratic, PairedQuadratic, Quadratic
from kernelbook.qp.solve import QPSolution, solve_qp

__all__ = [
    "Certificate",
    "DenseQuadratic",
    "PairedQuadratic",
    "QPSolution",
    "Quadratic",
    "certify",
    "solve_qp",
]
