"""What Bayesian descriptions share: split Gram matrices put right, and a radius by a rule."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kernelbook.bayes.cutoff import (
    best_cutoff,
    check_cutoff,
    held_out_distances,
    ranked_cutoff,
)
from kernelbook.kernels import Matrix
from kernelbook.svdd import FeatureSphere

__all__ = ["BayesianSphere"]

Array = NDArray[np.float64]


class BayesianSphere(FeatureSphere):
    """A centre that is inferred first, then a radius from the distances of known points."""

    prior_mean: str | ArrayLike
    prior_exponent: float
    prior_scale: float | ArrayLike
    cutoff: str
    rejection_rate: float
    rank: int | None
    cv: int | None
    prior_mean_: Array

    def _check_cutoff(self, signs: Array) -> None:
        check_cutoff(self.cutoff, self.rejection_rate, self.rank, self.cv, signs)
        by_name = isinstance(self.prior_mean, str) and np.ndim(self.prior_scale) == 0
        if self.cv is not None and not by_name:
            raise ValueError(
                "cv refits on parts of the data, for which an array as prior_mean or prior_scale "
                "has the wrong shape: name the prior mean, give a number as scale, or use cv=None."
            )

    def _choose_radius(self, X: Matrix, signs: Array) -> None:
        """Set the radius by the rule that the parameters name."""
        if self._is_precomputed():
            # New points come with kernel values to all training points, outliers included.
            diagonal = np.diagonal(X)
            self._training_diagonal = (float(diagonal.min()), float(diagonal.max()))
        if self.cv is None:
            diagonal = np.diagonal(X) if self._is_precomputed() else None
            distances = self._distances_of(X, self._own_products(X, diagonal))
        else:
            distances = held_out_distances(self, X, signs, self.cv)
        distances = np.maximum(distances, 0.0)
        if self.cutoff == "rejection_rate":
            inside = distances[signs > 0]
            self._set_radius(ranked_cutoff(inside, self.rejection_rate, self.rank))
        else:
            self._set_radius(best_cutoff(np.sqrt(distances), signs, self.cutoff) ** 2)

    def _full_row_sums(self, K: Matrix, X: Matrix) -> Array:
        """Row sums (n,) of the Gram matrix of the points X, of which K holds k_c only."""
        sums: Array = K.sum(axis=1)
        if not self._is_split():
            return sums
        one_sided = self._one_sided(X)
        return sums + len(X) * (one_sided + self._constant()) + one_sided.sum()

    def _likelihood_constant(self, X: Matrix) -> float:
        """What k_c leaves out of the log likelihood of the targets X."""
        if not self._is_split():
            return 0.0
        return 0.5 * len(X) * self._constant() + float(self._one_sided(X).sum())
