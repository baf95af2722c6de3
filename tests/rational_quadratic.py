"""A kernel that the library does not know: what a user writes to add one."""

from dataclasses import dataclass

import numpy as np
from scipy.spatial.distance import cdist

from kernelbook.kernels import Kernel, Radial


@dataclass(frozen=True)
class RationalQuadratic(Kernel):
    """k(x, y) = (1 + |x - y|^2 / (2 alpha))^-alpha, with no method but the one that is needed."""

    alpha: float = 1.0
    is_psd = True

    def evaluate(self, X, Y):
        return (1.0 + cdist(X, Y, "sqeuclidean") / (2.0 * self.alpha)) ** -self.alpha


@dataclass(frozen=True)
class RadialRationalQuadratic(Radial):
    """The same, by its profile and slope."""

    alpha: float = 1.0
    is_psd = True

    def profile(self, squares):
        return (1.0 + np.asarray(squares) / (2.0 * self.alpha)) ** -self.alpha

    def slope(self, squares):
        return -0.5 * (1.0 + np.asarray(squares) / (2.0 * self.alpha)) ** (-self.alpha - 1.0)
