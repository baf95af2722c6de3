"""What every estimator with a kernel shares: its parameters, its Gram matrices, a fit that is
all or nothing."""

from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data

from kernelbook.kernels import (
    Kernel,
    Matrix,
    check_gram,
    gram,
    is_positive_semidefinite_by_construction,
    resolve_gamma,
)

__all__ = ["KernelEstimator", "atomic_fit"]

KERNELS_WITH_GAMMA = ("poly", "rbf", "laplacian", "sigmoid")


def atomic_fit(fit: Callable[..., Any]) -> Callable[..., Any]:
    """Make a ``fit`` method all or nothing: an error leaves the estimator as it was before."""

    @wraps(fit)
    def fit_or_restore(self: Any, *args: Any, **kwargs: Any) -> Any:
        before = dict(vars(self))
        try:
            return fit(self, *args, **kwargs)
        except BaseException:
            vars(self).clear()
            vars(self).update(before)
            raise

    return fit_or_restore


class KernelEstimator(BaseEstimator):
    """Base of the estimators with parameters ``kernel``, ``gamma``, ``degree``, ``coef0``.

    A subclass calls, in ``fit``, :meth:`_training_points`, then :meth:`_training_gram` (which
    sets ``gamma_``), and later, for new points, :meth:`_new_points` and :meth:`_gram`.
    """

    kernel: Kernel
    gamma: float | str
    degree: int
    coef0: float
    gamma_: float

    def _training_points(self, X: ArrayLike, **check_params: Any) -> Any:
        """Check training points (n, d), or a precomputed matrix (n, n); with ``y=``, also y."""
        return validate_data(self, X, dtype=np.float64, **check_params)

    def _fit_kernel(self, X: Matrix, sample_weight: Matrix | None = None) -> None:
        """Resolve what of the kernel depends on the training points: ``gamma_``."""
        self._require_square(X)
        uses_gamma = isinstance(self.kernel, str) and self.kernel in KERNELS_WITH_GAMMA
        self.gamma_ = resolve_gamma(self.gamma, X, sample_weight) if uses_gamma else 1.0

    def _is_psd_by_construction(self) -> bool:
        return is_positive_semidefinite_by_construction(
            self.kernel, gamma=self.gamma_, coef0=self.coef0
        )

    def _training_gram(self, X: Matrix, sample_weight: Matrix | None = None) -> Matrix:
        """Resolve ``gamma_`` and return the Gram matrix (n, n), refused unless it is PSD."""
        self._fit_kernel(X, sample_weight)
        return self._checked_gram(X)

    def _checked_gram(self, X: Matrix) -> Matrix:
        """The Gram matrix (n, n) with the resolved ``gamma_``, refused unless it is PSD."""
        K = self._gram(X)
        if self._is_psd_by_construction():
            return K
        name = "the precomputed X" if self._is_precomputed() else "the Gram matrix"
        return check_gram(K, name=name)

    def _new_points(self, X: ArrayLike) -> Matrix:
        """Check points to predict: (m, d), or kernel values against the training set (m, n)."""
        try:
            return validate_data(self, X, dtype=np.float64, reset=False)
        except ValueError as error:
            if self._is_precomputed() and "features" in str(error):
                raise ValueError(
                    f"{error} With kernel='precomputed' X must hold the kernel values between "
                    f"new and training points: shape (n_test, n_train) = "
                    f"(?, {self.n_features_in_})."
                ) from None
            raise

    def _require_square(self, X: Matrix) -> None:
        if self._is_precomputed() and X.shape[0] != X.shape[1]:
            raise ValueError(
                "kernel='precomputed' needs the square Gram matrix (n_train, n_train) in fit, "
                f"got shape {X.shape}."
            )

    def _gram(self, X: Matrix, Y: Matrix | None = None) -> Matrix:
        """Kernel values (m, n) of checked points, with the fitted ``gamma_``."""
        return gram(self.kernel, X, Y, gamma=self.gamma_, degree=self.degree, coef0=self.coef0)

    def _is_precomputed(self) -> bool:
        return isinstance(self.kernel, str) and self.kernel == "precomputed"

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self._is_precomputed()
        return tags
