"""What conformal machines share: values D(x) D(x_i) K(x_i, x), and a second program with D K D."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernelbook.conformal.factors import ConformalFactor
from kernelbook.kernels import Matrix
from kernelbook.projection import KernelProjector
from kernelbook.qp import DenseQuadratic, Quadratic
from kernelbook.support import SupportVectorEstimator

__all__ = ["ConformalMachine", "root_machine"]

Array = NDArray[np.float64]
Scaled = Callable[[Array], Quadratic]


def root_machine(machine: Any) -> Any:
    """The machine without a factor that a chain of conformal machines began with."""
    while hasattr(machine, "previous_"):
        machine = machine.previous_
    return machine


class ConformalMachine(SupportVectorEstimator, KernelProjector):
    """A machine with the kernel D(x) D(y) K(x, y).

    The factor varies from point to point, so the transformed kernel cannot leave out what
    depends on one argument of K only: plain kernel values serve.
    """

    factor_: ConformalFactor
    support_factor_: Array
    previous_: Any
    fallback_: str | None

    def _is_split(self) -> bool:
        return False

    def _second_quadratic(self, X: Matrix) -> Scaled:
        """D -> the matrix D K D, with the width of the machine before, which checked K."""
        self.gamma_ = self.previous_.gamma_
        if self._computes_from_points(len(X)):
            return partial(self._points_quadratic, X)
        K = self._gram(X)
        if not self._is_psd_by_construction():
            K = (K + K.T) / 2
        return lambda D: DenseQuadratic(D[:, None] * K * D)

    def _block_sum(self, X: Matrix) -> Array:
        """Sum of coefficient times D(x) D(x_i) K(x_i, x), shape (m,)."""
        coefficients = self.dual_coef_[0] * self.support_factor_
        return self.factor_(X) * (self._support_kernel(X) @ coefficients)

    @property
    def coef_(self) -> Matrix:
        """Not there: with a factor no hyperplane of the input space is left."""
        raise AttributeError(
            "coef_ does not exist: the factor D(x) leaves no hyperplane in input space."
        )
