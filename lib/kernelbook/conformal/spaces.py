"""Squared distances from any point to a set of anchors, in input space or in feature space."""

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist
from sklearn.utils import gen_batches

from kernelbook.conformal.smooth import SmoothKernel
from kernelbook.kernels import Matrix, squared_feature_distances
from kernelbook.projection import METRICS

__all__ = ["FeatureSpace", "GramSpace", "InputSpace", "Space", "space_around"]

Array = NDArray[np.float64]
Index = NDArray[np.intp]

DIAGONAL_BLOCK = 16
# Diagonals that agree to this share count as constant: single precision.
CONSTANT = 1e-6


class Space(Protocol):
    """Distances to p anchors."""

    def __len__(self) -> int:
        """Number of anchors p."""
        ...

    def squared_distances(self, X: Matrix) -> Matrix:
        """Squared distances (m, p) of the points X to the anchors."""
        ...

    def between_anchors(self) -> Matrix:
        """Squared distances (p, p) of the anchors to each other."""
        ...

    def weighted_gradient(self, X: Matrix, weights: Matrix) -> Matrix:
        """Sums over j of weights (m, p) times the gradient of the j-th distance; (m, d)."""
        ...


class InputSpace:
    """Euclidean distances between the points themselves.

    Examples
    --------
    >>> InputSpace(np.array([[0.0, 0.0], [3.0, 4.0]])).between_anchors().tolist()
    [[0.0, 25.0], [25.0, 0.0]]
    """

    def __init__(self, anchors: Matrix) -> None:
        self.anchors = anchors

    def __len__(self) -> int:
        return len(self.anchors)

    def squared_distances(self, X: Matrix) -> Matrix:
        return cdist(X, self.anchors, "sqeuclidean")

    def between_anchors(self) -> Matrix:
        return self.squared_distances(self.anchors)

    def weighted_gradient(self, X: Matrix, weights: Matrix) -> Matrix:
        return 2.0 * (X * weights.sum(axis=1)[:, None] - weights @ self.anchors)


class FeatureSpace:
    """Distances between images, from the kernel values of a fitted machine.

    The machine's own split of the kernel serves, so that wide kernels and data far from the
    origin lose no digits.
    """

    def __init__(self, machine: Any, anchors: Matrix) -> None:
        self.machine, self.anchors = machine, anchors
        self.anchor_diagonal = self._diagonal(anchors)

    def __len__(self) -> int:
        return len(self.anchors)

    def squared_distances(self, X: Matrix) -> Matrix:
        K = self.machine._gram(X, self.anchors)
        return squared_feature_distances(K, self._diagonal(X), self.anchor_diagonal)

    def between_anchors(self) -> Matrix:
        return self.squared_distances(self.anchors)

    def weighted_gradient(self, X: Matrix, weights: Matrix) -> Matrix:
        kernel = SmoothKernel.of(self.machine)
        own = kernel.one_sided_gradient(X) * weights.sum(axis=1)[:, None]
        return 2.0 * (own - kernel.weighted_gradient(X, self.anchors, weights))

    def _diagonal(self, X: Matrix) -> Array:
        values = np.zeros(len(X))
        if self.machine._is_split() and self.machine.kernel in METRICS:
            return values
        for block in gen_batches(len(X), DIAGONAL_BLOCK):
            values[block] = np.diagonal(self.machine._gram(X[block]))
        return values


class GramSpace:
    """Distances between images from a precomputed matrix, whose rows stand for the points.

    Kernel values between a new point and the training points do not tell the new point's own,
    K(x, x): it is taken to be the training points', which must therefore be constant.

    Examples
    --------
    >>> K = np.array([[1.0, 0.5], [0.5, 1.0]])
    >>> GramSpace(K, np.array([1])).squared_distances(K).tolist()
    [[1.0], [0.0]]
    """

    def __init__(self, K: Matrix, columns: Index) -> None:
        diagonal = K.diagonal()
        self.columns, self.own = columns, float(diagonal.mean())
        self.between = squared_feature_distances(
            K[np.ix_(columns, columns)], diagonal[columns], diagonal[columns]
        )
        if np.ptp(diagonal) > CONSTANT * abs(self.own):
            raise ValueError(
                "distances in feature space need K(x, x) of new points, which a precomputed "
                "matrix between new and training points does not hold, unless it is constant; "
                f"the diagonal of X goes from {diagonal.min():.6g} to {diagonal.max():.6g}. "
                "Normalise the kernel to K(x, y) / sqrt(K(x, x) K(y, y)), or use "
                "scheme='williams', which needs no distances."
            )

    def __len__(self) -> int:
        return len(self.columns)

    def squared_distances(self, X: Matrix) -> Matrix:
        own = np.full(len(X), self.own)
        return squared_feature_distances(
            X[:, self.columns], own, np.full(len(self.columns), self.own)
        )

    def between_anchors(self) -> Matrix:
        return self.between

    def weighted_gradient(self, X: Matrix, weights: Matrix) -> Matrix:
        raise ValueError("kernel='precomputed' has no gradient in the points: pass the points.")


def space_around(metric: str, machine: Any, X: Matrix, anchors: Index) -> Space:
    """Distances to the training points X[anchors], by ``metric`` 'input' or 'feature'."""
    precomputed = machine._is_precomputed()
    if metric == "input":
        if precomputed:
            raise ValueError(
                "metric='input' measures distances between points, which kernel='precomputed' "
                "does not know: use metric='feature'."
            )
        return InputSpace(X[anchors])
    return GramSpace(X, anchors) if precomputed else FeatureSpace(machine, X[anchors])
