"""Derivatives of the kernels that have them: what gradients and metrics are made of."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernelbook.kernels import Kernel, Matrix, check_degree, gram

__all__ = ["SmoothKernel"]

Array = NDArray[np.float64]


@dataclass(frozen=True)
class SmoothKernel:
    r"""A linear, polynomial or RBF kernel with its derivatives.

    Parameters
    ----------
    kernel : {'linear', 'poly', 'rbf'}
    gamma, degree, coef0
        As in :func:`kernelbook.kernels.gram`; the linear kernel has none of them.

    Raises
    ------
    ValueError
        For any other kernel: the Laplacian has no derivative at y = x, the sigmoid is no
        kernel, and of callables and matrices the derivative is not known.

    Examples
    --------
    The RBF kernel's metric is 2 gamma times the identity, 1 / sigma**2:

    >>> SmoothKernel("rbf", gamma=0.5).metric(np.array([[1.0, 7.0]])).tolist()
    [[[1.0, 0.0], [0.0, 1.0]]]
    """

    kernel: Kernel
    gamma: float = 1.0
    degree: int = 3
    coef0: float = 0.0

    def __post_init__(self) -> None:
        if not isinstance(self.kernel, str) or self.kernel not in ("linear", "poly", "rbf"):
            raise ValueError(
                f"kernel={self.kernel!r} has no known derivatives: gradients and metrics exist "
                "for 'linear', 'poly' and 'rbf'."
            )

    @classmethod
    def of(cls, machine: Any) -> "SmoothKernel":
        """The kernel of a fitted machine."""
        return cls(machine.kernel, machine.gamma_, machine.degree, machine.coef0)

    def weighted_gradient(self, X: Matrix, A: Matrix, weights: Matrix) -> Matrix:
        """Sums over j of weights (m, p) times the gradient of K(x, a_j) in x; shape (m, d)."""
        if self.kernel == "rbf":
            slopes = -2.0 * self.gamma * weights * gram("rbf", X, A, gamma=self.gamma)
            return X * slopes.sum(axis=1)[:, None] - slopes @ A
        return (weights * self._slope(X @ A.T)) @ A

    def diagonal(self, X: Matrix) -> Array:
        """K(x, x), shape (m,)."""
        if self.kernel == "rbf":
            return np.ones(len(X))
        gamma, degree, coef0 = self._polynomial()
        return (gamma * np.einsum("ij,ij->i", X, X) + coef0) ** degree

    def one_sided_gradient(self, X: Matrix) -> Matrix:
        """Gradient of K(x, y) in x, taken at y = x; shape (m, d). Half that of K(x, x)."""
        if self.kernel == "rbf":
            return np.zeros_like(X)
        return self._slope(np.einsum("ij,ij->i", X, X))[:, None] * X

    def metric(self, X: Matrix) -> Matrix:
        """Mixed second derivatives of K(x, y) in x_i and y_j at y = x; shape (m, d, d)."""
        identity = np.eye(X.shape[1])
        if self.kernel == "rbf":
            return np.tile(2.0 * self.gamma * identity, (len(X), 1, 1))
        gamma, degree, coef0 = self._polynomial()
        squares = np.einsum("ij,ij->i", X, X)
        metric = self._slope(squares)[:, None, None] * identity
        if degree == 1:
            return metric
        bend = degree * (degree - 1) * gamma**2 * (gamma * squares + coef0) ** (degree - 2)
        return metric + bend[:, None, None] * (X[:, :, None] * X[:, None, :])

    def _slope(self, products: Matrix) -> Matrix:
        """Derivative of the kernel in the inner product."""
        gamma, degree, coef0 = self._polynomial()
        return degree * gamma * (gamma * products + coef0) ** (degree - 1)

    def _polynomial(self) -> tuple[float, int, float]:
        if self.kernel == "linear":
            return 1.0, 1, 0.0
        return self.gamma, check_degree(self.degree), self.coef0
