"""Spheres in feature space: a centre, distances to it, and detectors that answer by them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import OutlierMixin
from sklearn.utils import check_consistent_length, column_or_1d
from sklearn.utils.validation import check_is_fitted

from kernelbook.estimator import KernelEstimator, is_precomputed
from kernelbook.exceptions import LabelWarning, warn_user
from kernelbook.kernels import Array, Expansion, Kernel, Matrix

__all__ = ["Centre", "SphereDetector", "full_norm", "precomputed_diagonal", "target_signs"]


# Kernel values in single precision agree to this fraction.
SINGLE_PRECISION = 1e-6


def target_signs(y: ArrayLike | None, X: Matrix) -> Array:
    """Return the sides of the points: -1 for outliers, which y marks by -1, +1 for targets.

    Parameters
    ----------
    y : array-like of shape (n,) or None
        +1 for targets, -1 for outliers. If None, all points are targets. Other integers >= 0
        count as targets, with a warning.
    X : ndarray of shape (n, d)
        The points.

    Returns
    -------
    ndarray of shape (n,)
        Signs, -1.0 or +1.0.

    Raises
    ------
    ValueError
        If the labels are not integers >= -1, or mark every point as an outlier.

    Warns
    -----
    LabelWarning
        If there are labels other than +1 and -1; it says which points are taken for targets.

    Examples
    --------
    >>> import numpy as np
    >>> target_signs([1, -1, 1], np.zeros((3, 2))).tolist()
    [1.0, -1.0, 1.0]
    """
    if y is None:
        return np.ones(X.shape[0])
    y = column_or_1d(y, warn=True)
    check_consistent_length(X, y)
    if y.dtype == object:
        y = np.asarray(y.tolist())
    if y.dtype.kind not in "iuf" or not np.all((y >= -1) & (y == np.floor(y))):
        raise ValueError(
            "y must hold integers: -1 for outliers, +1 (or any other label >= 0) for targets, "
            f"got {np.unique(y)[:5].tolist()} of type {y.dtype}. For other labels "
            "pass np.where(labels == outlier, -1, 1)."
        )
    others = np.unique(y[np.abs(y) != 1])
    if len(others):
        marked = (
            "those marked -1 for outliers" if (y == -1).any() else "none of them for an outlier"
        )
        warn_user(
            f"y holds labels other than +1 and -1 ({others[:5].tolist()}): their points are taken "
            f"for targets, {marked}. Mark them with np.where(labels == outlier, -1, 1).",
            LabelWarning,
        )
    signs = np.where(y == -1, -1.0, 1.0)
    if not (signs > 0).any():
        raise ValueError(
            "y marks every point as an outlier (-1): a description needs at least one target."
        )
    return signs


@dataclass(frozen=True)
class Centre:
    r"""A centre :math:`a = \sum_i \beta_i \phi(x_i)` of sum 1, by which points are judged.

    Only differences :math:`\phi(z) - a` matter, so kernel values :math:`k_c` of the split
    (:meth:`~kernelbook.kernels.Kernel.about`) serve, which lose nothing to an offset.

    Parameters
    ----------
    expansion : callable
        From points (m, d) to the sums :math:`\sum_i \beta_i k_c(z, x_i)`, (m,).
    product : float
        The inner product of the centre with itself, by :math:`k_c`.

    Examples
    --------
    The centre 2 of the linear kernel, from which 5 is 3 away:

    >>> import numpy as np
    >>> centre = Centre(lambda X: 2.0 * X[:, 0], product=4.0)
    >>> centre.squared_distances(np.array([[5.0]]), own=np.array([25.0])).tolist()
    [9.0]
    """

    expansion: Expansion
    product: float

    def squared_distances(self, X: Matrix, own: Array) -> Array:
        """Return the squared distances of points to the centre.

        Parameters
        ----------
        X : ndarray of shape (m, d)
            The points.
        own : ndarray of shape (m,)
            Their values k_c(z, z) with themselves.

        Returns
        -------
        ndarray of shape (m,)
            In squared units of feature space; negative by rounding at most.
        """
        return own - 2.0 * self.expansion(X) + self.product


def full_norm(split: Kernel, points: Matrix, beta: Array, product: float) -> float:
    r"""Return :math:`\|a\|` from the inner product of the centre with itself by :math:`k_c`.

    Parameters
    ----------
    split : Kernel
        What :meth:`~kernelbook.kernels.Kernel.about` returned.
    points : ndarray of shape (n, d)
        The points of the centre.
    beta : ndarray of shape (n,)
        Their coefficients, of sum 1.
    product : float
        :math:`\beta^\top K_c \beta`.

    Returns
    -------
    float
        The distance of the centre from the origin of feature space.

    Examples
    --------
    The mean of 1 and 3 is 2, but 0 from itself:

    >>> import numpy as np
    >>> from kernelbook.kernels import Linear
    >>> points = np.array([[1.0], [3.0]])
    >>> full_norm(Linear().about(np.array([2.0])), points, np.full(2, 0.5), 0.0)
    2.0
    """
    squared = product + split.constant + 2.0 * float(beta @ split.one_sided(points))
    return float(np.sqrt(max(squared, 0.0)))


class SphereDetector(OutlierMixin, KernelEstimator, ABC):
    """A detector that accepts what lies near a centre in feature space."""

    radius_: float
    radius_squared_: float
    offset_: float
    _split: Kernel
    _centre: Centre
    _diagonal_range: tuple[float, float]
    resolution_: float

    @property
    def center_(self) -> Array:
        """Centre in input space, shape (d,); linear kernel only."""
        if not self.kernel_.is_linear:
            raise AttributeError(
                f"center_ exists for the linear kernel only, not {self.kernel_!r}."
            )
        return self.dual_coef_[0] @ self.support_vectors_

    def distance(self, X: ArrayLike, diagonal: ArrayLike | None = None) -> Array:
        r"""Return the distance :math:`\|\phi(z) - a\|` of each point to the centre.

        Parameters
        ----------
        X : array-like of shape (m, d), or (m, n_train) for a precomputed kernel
            Points, or their kernel values with the training points.
        diagonal : array-like of shape (m,), default=None
            Only for a precomputed kernel: the values K(z, z) of the points of X, which the
            kernel values between them and the training points do not tell. If None, they are
            taken to be the training diagonal if that is constant, as for all normalised and
            all stationary kernels.

        Returns
        -------
        ndarray of shape (m,)
            In the same unit as ``radius_``, that of :math:`\sqrt{K}`.

        Raises
        ------
        ValueError
            If the diagonal is needed and None, or contradicts the kernel values: no
            :math:`K(z, x)^2` can exceed :math:`K(z, z) K(x, x)`.
        """
        return np.sqrt(np.maximum(self._squared_distances(X, diagonal), 0.0))

    def decision_function(self, X: ArrayLike, diagonal: ArrayLike | None = None) -> Array:
        r"""Evaluate :math:`R^2 - \|\phi(z) - a\|^2`.

        Parameters
        ----------
        X : array-like of shape (m, d), or (m, n_train) for a precomputed kernel
            Points, or their kernel values with the training points.
        diagonal : array-like of shape (m,), default=None
            As for :meth:`distance`.

        Returns
        -------
        ndarray of shape (m,)
            Positive inside the sphere, in squared units of feature space. Exactly 0 on the
            sphere: values below ``tol`` times the scale of the training points' squared
            distances have no sign that the solution could vouch for.
        """
        squared = self._squared_distances(X, diagonal)
        values = self.radius_squared_ - squared
        return np.where(np.abs(values) <= self.resolution_, 0.0, values)

    def score_samples(self, X: ArrayLike, diagonal: ArrayLike | None = None) -> Array:
        """Return minus the squared distance to the centre.

        Parameters
        ----------
        X : array-like of shape (m, d), or (m, n_train) for a precomputed kernel
            Points, or their kernel values with the training points.
        diagonal : array-like of shape (m,), default=None
            As for :meth:`distance`.

        Returns
        -------
        ndarray of shape (m,)
            Higher means more normal.
        """
        return self.decision_function(X, diagonal) + self.offset_

    def predict(self, X: ArrayLike, diagonal: ArrayLike | None = None) -> NDArray[np.int_]:
        """Predict which points are normal.

        Parameters
        ----------
        X : array-like of shape (m, d), or (m, n_train) for a precomputed kernel
            Points, or their kernel values with the training points.
        diagonal : array-like of shape (m,), default=None
            As for :meth:`distance`.

        Returns
        -------
        ndarray of shape (m,)
            +1 for points inside or on the sphere, -1 for those outside.
        """
        return np.where(self.decision_function(X, diagonal) >= 0, 1, -1)

    def fit_predict(
        self, X: ArrayLike, y: ArrayLike | None = None, **fit_params: Any
    ) -> NDArray[np.int_]:
        """Fit, and predict the training points.

        Parameters
        ----------
        X : array-like of shape (n, d) or (n, n)
            Training points, or the Gram matrix for a precomputed kernel.
        y : array-like of shape (n,), default=None
            Labels, as for ``fit``.
        **fit_params : dict
            Further arguments of ``fit``.

        Returns
        -------
        ndarray of shape (n,)
            +1 inside or on the sphere, -1 outside.
        """
        self.fit(X, y, **fit_params)
        if not is_precomputed(self.kernel):
            return self.predict(X)
        return self.predict(X, diagonal=np.diagonal(np.asarray(X, dtype=np.float64)))

    @abstractmethod
    def fit(self, X: ArrayLike, y: ArrayLike | None = None) -> Self:
        """Fit the centre and the radius: what the classes that derive from this one define.

        Parameters
        ----------
        X : array-like of shape (n, d) or (n, n)
            Training points, or the Gram matrix for a precomputed kernel.
        y : array-like of shape (n,), default=None
            -1 marks an outlier, +1 a target. If None, all points are targets.

        Returns
        -------
        SphereDetector
            The fitted estimator.
        """

    def _set_radius(self, radius_squared: float) -> None:
        self.radius_squared_ = max(radius_squared, 0.0)
        self.radius_ = float(np.sqrt(self.radius_squared_))
        self.offset_ = -self.radius_squared_

    def _squared_distances(self, X: ArrayLike, diagonal: ArrayLike | None) -> Array:
        check_is_fitted(self)
        X = self._check_new_points(X)
        return self._centre.squared_distances(X, self._own_products(X, diagonal))

    def _own_products(self, X: Matrix, diagonal: ArrayLike | None) -> Array:
        """Values of k_c for each checked point with itself, shape (m,)."""
        if self.kernel_.is_precomputed:
            return precomputed_diagonal(X, diagonal, *self._diagonal_range)
        if diagonal is not None:
            raise ValueError(
                "diagonal is for a precomputed kernel only: any other kernel is evaluated."
            )
        return self._split.diagonal(X)


def precomputed_diagonal(
    X: Matrix, diagonal: ArrayLike | None, smallest: float, largest: float
) -> Array:
    """Return the values K(z, z) of new points, given or taken from a constant training diagonal.

    Parameters
    ----------
    X : ndarray of shape (m, n)
        Kernel values of the new points with the training points.
    diagonal : array-like of shape (m,) or None
        The values, if they are known.
    smallest : float
        Smallest value of the training diagonal.
    largest : float
        Largest value of the training diagonal.

    Returns
    -------
    ndarray of shape (m,)
        The values K(z, z).

    Raises
    ------
    ValueError
        If they are needed and None, or contradict the kernel values.

    Examples
    --------
    >>> precomputed_diagonal(np.array([[0.5, 0.2]]), None, 1.0, 1.0).tolist()
    [1.0]
    """
    if diagonal is None:
        if largest - smallest > SINGLE_PRECISION * largest:
            raise ValueError(
                "a precomputed kernel needs diagonal=K(z, z) of the points to predict, shape "
                f"({len(X)},): its values with the training points do not tell them, and the "
                f"training diagonal is not constant ({smallest:.6g} to {largest:.6g})."
            )
        values = np.full(len(X), largest)
    else:
        values = np.asarray(diagonal, dtype=np.float64)
        if values.shape != (len(X),) or not np.isfinite(values).all():
            raise ValueError(
                f"diagonal must hold K(z, z) of each point, {len(X)} finite numbers, got "
                f"shape {values.shape}."
            )
    if np.any((X**2).max(axis=1) > values * largest * (1.0 + SINGLE_PRECISION)):
        raise ValueError(
            "diagonal contradicts the kernel values: K(z, x)**2 exceeds K(z, z) K(x, x) for "
            "some point z. Pass diagonal=K(z, z) of the points in X."
        )
    return values
