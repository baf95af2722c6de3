"""The quadratic program that the ways to solve it hand on to each other."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from kernelbook.qp.quadratic import Quadratic, RestrictedQuadratic, ScaledQuadratic, mean_product

__all__ = ["Program"]

Array = NDArray[np.float64]
Index = NDArray[np.intp]


def _restricted(Q: Quadratic, index: Index) -> Quadratic:
    """Q over some variables; a Q that can do that itself keeps what it knows."""
    own = getattr(Q, "restricted", None)
    return RestrictedQuadratic(Q, index) if own is None else own(index)


@dataclass(frozen=True)
class Program:
    r"""Minimise a quadratic over a box with one equality; all vectors have shape (n,).

    .. math::  \min_x \tfrac12 x^\top Q x + q^\top x
               \quad\text{s.t.}\quad a^\top x = b,\; \ell \le x \le u
    """

    Q: Quadratic
    q: Array
    a: Array
    b: float
    lower: Array
    upper: Array

    @cached_property
    def curvature(self) -> float:
        """Largest entry of the diagonal of Q."""
        return float(self.Q.diagonal().max())

    @cached_property
    def size_of_terms(self) -> float:
        """Largest entry of the diagonal of Q or, if that is larger, of P Q P in :meth:`centred`.

        A Q that is semi-definite on the equality only, such as K - 1, may have no diagonal.
        """
        means = mean_product(self.Q, self.a)
        diagonal = self.Q.diagonal() - 2.0 * self.a * means
        diagonal += self.a**2 * (float(self.a @ means) / float(self.a @ self.a))
        return max(self.curvature, float(diagonal.max()))

    def objective_and_gradient(self, x: Array) -> tuple[float, Array]:
        product = self.Q.mv(x)
        return 0.5 * float(x @ product) + float(self.q @ x), product + self.q

    def restricted(self, index: Index, x: Array) -> "Program":
        """The program of the variables in index, the others fixed at their values in x."""
        fixed = x.copy()
        fixed[index] = 0.0
        return Program(
            self.Q if len(index) == len(x) else _restricted(self.Q, index),
            (self.q + self.Q.mv(fixed))[index],
            self.a[index],
            self.b - float(self.a @ fixed),
            self.lower[index],
            self.upper[index],
        )

    def centred(self) -> "Program":
        r"""The same program without what the equality makes constant.

        With :math:`P = I - aa^\top / a^\top a` every feasible x is :math:`Px + (b/a^\top a)\, a`,
        so that Q can give way to P Q P, and the vector to P times itself.
        """
        size = float(self.a @ self.a)
        linear = self.q + (self.b / size) * self.Q.mv(self.a)
        linear = linear - (float(self.a @ linear) / size) * self.a
        return Program(self.Q.centred(self.a), linear, self.a, self.b, self.lower, self.upper)

    def scaled(self, s: float, weight: float) -> "Program":
        """The program of z = x / s, its objective divided by s times weight."""
        return Program(
            ScaledQuadratic(self.Q, s / weight),
            self.q / weight,
            self.a,
            self.b / s,
            self.lower / s,
            self.upper / s,
        )
