r"""Conformal transformations of a kernel: support vector machines with a metric of their own.

A kernel K induces a Riemannian metric on the input space. Multiplied by a positive factor,

.. math:: \tilde K(x, y) = D(x)\, D(y)\, K(x, y),

it stretches the space where D is large: near the boundary, one hopes, and on the side of the rare
class. The factor is built from a first machine, and a second, ordinary one is trained with the
new kernel, :class:`Conformal`, which serves every other machine, too. ("Conformal" is the
geometers' word for maps that keep angles; conformal *prediction* has nothing to do with it.)
"""

from kernelbook.conformal.afsct import AFSCTSVC
from kernelbook.conformal.classifier import ConformalSVC
from kernelbook.conformal.factors import (
    ConformalFactor,
    DecisionFactor,
    FunctionFactor,
    GaussianFactor,
)
from kernelbook.conformal.kernel import Conformal, magnification
from kernelbook.conformal.one_class import ConformalOneClassSVM

__all__ = [
    "AFSCTSVC",
    "Conformal",
    "ConformalFactor",
    "ConformalOneClassSVM",
    "ConformalSVC",
    "DecisionFactor",
    "FunctionFactor",
    "GaussianFactor",
    "magnification",
]
