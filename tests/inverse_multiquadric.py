"""A kernel of somebody else's: one class, of which no line of the library knows."""

from dataclasses import dataclass

import numpy as np

from kernelbook.kernels import Matrix, Radial

__all__ = ["InverseMultiquadric"]


@dataclass(frozen=True)
class InverseMultiquadric(Radial):
    r"""Inverse multiquadric kernel :math:`k(x, z) = 1 / \sqrt{1 + \gamma \|x - z\|^2}`.

    A mixture of Gaussian kernels of all widths, and so positive semi-definite.

    Parameters
    ----------
    gamma : float, default=1.0
        Inverse squared width > 0.

    Examples
    --------
    Two units apart and with gamma = 2 it is 1 / sqrt(1 + 2 * 4):

    >>> InverseMultiquadric(gamma=2.0)([[0.0]], [[0.0], [2.0]]).round(6).tolist()
    [[1.0, 0.333333]]
    """

    gamma: float = 1.0
    is_psd = True

    def __post_init__(self) -> None:
        if not 0.0 < self.gamma < np.inf:
            raise ValueError(f"gamma must be positive and finite, got {self.gamma!r}.")

    def profile(self, squares: Matrix) -> Matrix:
        return (1.0 + self.gamma * squares) ** -0.5

    def slope(self, squares: Matrix) -> Matrix:
        return -0.5 * self.gamma * (1.0 + self.gamma * squares) ** -1.5
