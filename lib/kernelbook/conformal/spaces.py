"""Squared distances from any point to a set of anchors, in input space or in feature space."""

from abc import ABC, abstractmethod

import numpy as np
from scipy.spatial.distance import cdist

from kernelbook.kernels import Index, Kernel, Matrix, squared_feature_distances
from kernelbook.kernels.compiled import loops_are_available

__all__ = ["FeatureSpace", "GramSpace", "InputSpace", "Space", "check_metric", "space_around"]


# Diagonals that agree to this fraction count as constant: single precision.
CONSTANT = 1e-6
# Anchors from which the compiled loops save more time than it takes to load them.
COMPILED_FROM = 200


class Space(ABC):
    """Distances to p anchors."""

    @abstractmethod
    def __len__(self) -> int:
        """Return the number of anchors p."""

    @abstractmethod
    def squared_distances(self, X: Matrix) -> Matrix:
        """Return the squared distances (m, p) of points to the anchors.

        Parameters
        ----------
        X : ndarray of shape (m, d)
            The points.

        Returns
        -------
        ndarray of shape (m, p)
            Never negative.
        """

    @abstractmethod
    def between_anchors(self) -> Matrix:
        """Return the squared distances (p, p) of the anchors to each other."""

    @abstractmethod
    def weighted_gradient(self, X: Matrix, weights: Matrix) -> Matrix:
        """Return sums over the anchors of weight times the gradient of the squared distance.

        Parameters
        ----------
        X : ndarray of shape (m, d)
            Where the gradient is taken.
        weights : ndarray of shape (m, p)
            The weights.

        Returns
        -------
        ndarray of shape (m, d)
            One gradient a point.
        """


class InputSpace(Space):
    """Euclidean distances between the points themselves; see :class:`Space`.

    Parameters
    ----------
    anchors : ndarray of shape (p, d)
        The anchors.

    Examples
    --------
    >>> InputSpace(np.array([[0.0, 0.0], [3.0, 4.0]])).between_anchors().tolist()
    [[0.0, 25.0], [25.0, 0.0]]
    """

    def __init__(self, anchors: Matrix) -> None:
        self.anchors = anchors

    def __repr__(self) -> str:
        return f"InputSpace({len(self)} anchors)"

    def __len__(self) -> int:
        return len(self.anchors)

    def squared_distances(self, X: Matrix) -> Matrix:
        return cdist(X, self.anchors, "sqeuclidean")

    def between_anchors(self) -> Matrix:
        return self.squared_distances(self.anchors)

    def weighted_gradient(self, X: Matrix, weights: Matrix) -> Matrix:
        return 2.0 * (X * weights.sum(axis=1)[:, None] - weights @ self.anchors)


class FeatureSpace(Space):
    """Distances between images; see :class:`Space`.

    They are computed from what :meth:`~kernelbook.kernels.Kernel.about` leaves of the kernel, so
    that wide kernels and data far from the origin lose no digits.

    Parameters
    ----------
    kernel : Kernel
        The kernel.
    anchors : ndarray of shape (p, d)
        The anchors.

    Examples
    --------
    >>> from kernelbook.kernels import Linear
    >>> FeatureSpace(Linear(), np.array([[0.0], [3.0]])).squared_distances(np.array([[1.0]]))
    array([[1., 4.]])
    """

    def __init__(self, kernel: Kernel, anchors: Matrix) -> None:
        self.kernel, self.anchors = kernel, anchors
        self.split = kernel.about(anchors.mean(axis=0))
        self.anchor_diagonal = self.split.diagonal(anchors)

    def __repr__(self) -> str:
        return f"FeatureSpace({self.kernel!r}, {len(self)} anchors)"

    def __len__(self) -> int:
        return len(self.anchors)

    def squared_distances(self, X: Matrix) -> Matrix:
        K = self._kernel_values(X)
        return squared_feature_distances(K, self.split.diagonal(X), self.anchor_diagonal)

    def between_anchors(self) -> Matrix:
        return self.squared_distances(self.anchors)

    def weighted_gradient(self, X: Matrix, weights: Matrix) -> Matrix:
        own = self.kernel.one_sided_gradient(X) * weights.sum(axis=1)[:, None]
        return 2.0 * (own - self.kernel.weighted_gradient(X, self.anchors, weights))

    def _kernel_values(self, X: Matrix) -> Matrix:
        """Values (m, p) of the split kernel."""
        p = len(self.anchors)
        if p >= COMPILED_FROM and loops_are_available():
            points = self.split.compiled(np.vstack([self.anchors, X]))
            if points is not None and points.is_exponential:
                return points.block(np.arange(p, p + len(X)), np.arange(p))
        return self.split.evaluate(X, self.anchors)


class GramSpace(Space):
    """Distances between images from a precomputed matrix; see :class:`Space`.

    The points are rows of kernel values with the training points, which do not tell a new
    point's own, K(x, x): it is taken to be the training points', which must therefore be
    constant.

    Parameters
    ----------
    K : ndarray of shape (n, n)
        Gram matrix of the training points.
    columns : ndarray of shape (p,), dtype=int
        Which of them are the anchors.

    Raises
    ------
    ValueError
        If the diagonal of K is not constant.

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

    def __repr__(self) -> str:
        return f"GramSpace({len(self)} anchors)"

    def __len__(self) -> int:
        return len(self.columns)

    def squared_distances(self, X: Matrix) -> Matrix:
        own, others = np.full(len(X), self.own), np.full(len(self), self.own)
        return squared_feature_distances(X[:, self.columns], own, others)

    def between_anchors(self) -> Matrix:
        return self.between

    def weighted_gradient(self, X: Matrix, weights: Matrix) -> Matrix:
        raise ValueError("kernel='precomputed' has no gradient in the points: pass the points.")


def check_metric(metric: str | None, kernel: Kernel) -> str | None:
    """Return a metric that the kernel has, or say why it has not.

    Parameters
    ----------
    metric : {'feature', 'input'} or None
        Where distances are measured; None where there are none.
    kernel : Kernel
        The kernel.

    Returns
    -------
    str or None
        The metric.

    Raises
    ------
    ValueError
        If points are asked for that a precomputed kernel does not know.

    Examples
    --------
    >>> from kernelbook.kernels import RBF
    >>> check_metric("input", RBF())
    'input'
    """
    if metric == "input" and kernel.is_precomputed:
        raise ValueError(
            "metric='input' measures distances between points, which kernel='precomputed' does "
            "not know: use metric='feature'."
        )
    return metric


def space_around(metric: str, kernel: Kernel, X: Matrix, anchors: Index) -> Space:
    """Return the distances to some of the training points.

    Parameters
    ----------
    metric : {'feature', 'input'}
        Where they are measured.
    kernel : Kernel
        The kernel, for distances in feature space.
    X : ndarray of shape (n, d) or (n, n)
        Training points, or the Gram matrix for a precomputed kernel.
    anchors : ndarray of shape (p,), dtype=int
        Which of them are the anchors.

    Returns
    -------
    Space
        Whose anchors they are.

    Examples
    --------
    >>> from kernelbook.kernels import Linear
    >>> X = np.array([[0.0], [3.0]])
    >>> space_around("input", Linear(), X, np.array([1])).squared_distances(X).tolist()
    [[9.0], [0.0]]
    """
    if metric == "input":
        return InputSpace(X[anchors])
    return GramSpace(X, anchors) if kernel.is_precomputed else FeatureSpace(kernel, X[anchors])
