"""What machines with support vectors share: weights checked before a fit, values after it."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import gen_batches
from sklearn.utils.validation import _check_sample_weight, check_is_fitted

from kernelbook.base import KernelEstimator
from kernelbook.kernels import Matrix, check_degree
from kernelbook.projection import KernelProjector
from kernelbook.qp import (
    BLOCK_VALUES,
    COMPILED_KERNELS,
    Certificate,
    DenseQuadratic,
    PointsQuadratic,
    QPSolution,
    Quadratic,
    goes_exact,
    solve_qp,
)

__all__ = [
    "BLOCK_VALUES",
    "InterceptMachine",
    "SupportVectorEstimator",
    "positive_weights",
]

Array = NDArray[np.float64]

# An interior point that was stopped early leaves no exact zeros.
UNPOLISHED_ZERO = 1e-6


def positive_weights(sample_weight: ArrayLike | None, X: Matrix) -> Array:
    """Check sample weights; shape (n,), ones if left out."""
    if sample_weight is not None and not np.any(np.asarray(sample_weight)):
        raise ValueError("sample_weight is zero for every point: at least one must stay in.")
    weights: Array = _check_sample_weight(sample_weight, X, dtype=np.float64)
    if (weights < 0).any():
        raise ValueError(
            "sample_weight must not be negative: a weight of 0 leaves a point out, larger ones "
            "multiply its C."
        )
    return weights


class SupportVectorEstimator(KernelEstimator):
    """A kernel machine whose values are sums over support vectors."""

    support_: NDArray[np.intp]
    support_vectors_: Matrix
    dual_coef_: Matrix
    alpha_: Array
    certificate_: Certificate
    n_iter_: int
    tol: float
    max_iter: int
    solver: str
    # Machines that don't let it be chosen have what solve_qp takes by itself.
    cache_size: float = 200.0

    def _solve_program(
        self,
        Q: Quadratic,
        q: Array,
        a: Array,
        b: float,
        lower: ArrayLike,
        upper: ArrayLike,
        start: Array | None = None,
        solver: str | None = None,
    ) -> QPSolution:
        """Solve a quadratic program with the estimator's own tolerance, limits and solver."""
        return solve_qp(
            *(Q, q, a, b, lower, upper),
            tol=self.tol,
            max_iter=self.max_iter,
            solver=solver or self.solver,
            cache_size=self.cache_size,
            start=start,
        )

    def _training_quadratic(
        self, X: Matrix, sample_weight: Array | None = None
    ) -> DenseQuadratic | PointsQuadratic:
        """The Gram matrix of :meth:`_training_gram`, in memory only where the solver wants it."""
        self._fit_kernel(X, sample_weight)
        if self._computes_from_points(len(X)):
            return self._points_quadratic(X)
        return DenseQuadratic(self._checked_gram(X))

    def _computes_from_points(self, n: int) -> bool:
        """Whether a fit to n points takes the exact way, on a Gram matrix that is never formed."""
        from_points = not self._is_precomputed() and self._is_psd_by_construction()
        return from_points and goes_exact(self.solver, n)

    def _points_quadratic(self, X: Matrix, scale: Array | None = None) -> PointsQuadratic:
        """The Gram matrix D K D computed when needed, with the fitted ``gamma_``."""
        numbers: dict[str, Any] = {}
        if self.kernel != "linear":
            degree = check_degree(self.degree) if self.kernel == "poly" else 1
            numbers = {"gamma": self.gamma_, "degree": degree, "coef0": self.coef0}
        return PointsQuadratic(
            X,
            self._gram,
            kind=self.kernel if self.kernel in COMPILED_KERNELS else None,
            **numbers,
            centre=getattr(self, "_reference", None),
            scale=scale,
        )

    def _keep_support(self, X: Matrix, coefficients: Array, solution: QPSolution) -> None:
        """Keep the training points with non-zero signed coefficients (n,), and the proof."""
        size = np.abs(coefficients)
        smallest = 0.0 if solution.status != "max_iter" else UNPOLISHED_ZERO * size.max()
        self.support_ = np.flatnonzero(size > smallest)
        self.support_vectors_ = (
            np.empty((0, 0)) if self._is_precomputed() else X[self.support_].copy()
        )
        self.dual_coef_ = coefficients[self.support_][None, :]
        self.alpha_ = np.zeros(len(coefficients))
        self.alpha_[self.support_] = size[self.support_]
        self.certificate_ = solution.certificate
        self.n_iter_ = max(1, solution.n_iter)

    def _rows(self, X: Matrix, kept: NDArray[np.intp]) -> Matrix:
        """The training set of the kept points only, precomputed or not."""
        self._require_square(X)
        if len(kept) == len(X):
            return X
        return X[np.ix_(kept, kept)] if self._is_precomputed() else X[kept]

    def _weighted_kernel_sum(self, X: Matrix) -> Array:
        """Sum over support vectors of coefficient times kernel value, in blocks; shape (m,)."""
        values = np.zeros(len(X))
        if len(self.support_):
            for block in gen_batches(len(X), max(1, BLOCK_VALUES // len(self.support_))):
                values[block] = self._block_sum(X[block])
        return values

    def _block_sum(self, X: Matrix) -> Array:
        """The sum for the points of one block, shape (m,)."""
        return self._support_kernel(X) @ self.dual_coef_[0]

    def _support_kernel(self, X: Matrix) -> Matrix:
        """Kernel values with the support vectors, shape (m, n_SV), precomputed or not."""
        if self._is_precomputed():
            return X[:, self.support_]
        return self._gram(X, self.support_vectors_)

    def _checked_new_points(self, X: ArrayLike) -> Matrix:
        check_is_fitted(self, "dual_coef_")
        return self._new_points(X)


class InterceptMachine(SupportVectorEstimator, KernelProjector):
    """A machine f(x) = sum_i beta_i K(x_i, x) + b whose coefficients beta sum to zero.

    Only differences between images matter to it, so the Gram matrices of
    :class:`~kernelbook.projection.KernelProjector` serve, which lose nothing to an offset.
    """

    intercept_: Array
    _bias: float

    @property
    def coef_(self) -> Matrix:
        """Normal vector of the hyperplane in input space, shape (1, d); linear kernel only."""
        if self.kernel != "linear":
            raise AttributeError(f"coef_ exists for kernel='linear' only, not {self.kernel!r}.")
        return self.dual_coef_ @ (self.support_vectors_ - self._reference)

    def _keep_machine(self, X: Matrix, coefficients: Array, solution: QPSolution) -> None:
        """Keep a solution: signed coefficients beta of all training points (n,)."""
        self._keep_support(X, coefficients, solution)
        self._bias = solution.multiplier
        # The Gram matrix left the terms out that depend on one argument only.
        shift = 0.0
        if len(self.support_) and not self._is_precomputed():
            shift = float(self.dual_coef_[0] @ self._one_sided(self.support_vectors_))
        self.intercept_ = np.array([self._bias - shift])

    def _values(self, X: ArrayLike) -> Array:
        return self._weighted_kernel_sum(self._checked_new_points(X)) + self._bias
