r"""The published schemes: how the support vectors of a first machine make a conformal factor.

Every scheme looks at distinct support vectors: copies of a point count once, so that a sample
weight of k stays the same as k copies. Widths of zero (support vectors of both classes in one
place) are replaced by the smallest positive one; without any, the factor is constant.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernelbook.conformal.factors import (
    ConformalFactor,
    DecisionFactor,
    GaussianFactor,
    mixed_distances,
)
from kernelbook.conformal.machine import root_machine
from kernelbook.conformal.spaces import Space, space_around
from kernelbook.kernels import Matrix

__all__ = [
    "Centres",
    "amari_wu",
    "bumps",
    "kba",
    "rightly_classified",
    "williams",
    "wu_amari",
    "wu_chang",
]

Array = NDArray[np.float64]
Index = NDArray[np.intp]
# A factor, and what could not be done as asked (None if all could).
Built = tuple[ConformalFactor, str | None]

NO_DISTANCE = "the support vectors lie in one place: the factor is constant"
# The factor of 'williams' at the largest |f|, if kappa is not given.
SMALLEST_WILLIAMS = 0.1


@dataclass(frozen=True)
class Centres:
    """Distinct support vectors of a fitted machine.

    Attributes
    ----------
    index : ndarray, shape (p,)
        Rows of the training set, one for each distinct support vector.
    alpha : ndarray, shape (p,)
        Dual variables, summed over copies.
    signs : ndarray, shape (p,)
        Class, -1 or +1.
    space : Space
        Distances to them.
    """

    index: Index
    alpha: Array
    signs: Array
    space: Space

    @classmethod
    def of(
        cls, machine: Any, X: Matrix, signs: Array, kept: Index, metric: str, by_class: bool
    ) -> "Centres":
        """Distinct points among X[kept]; copies in two classes count twice if ``by_class``."""
        rows = np.column_stack([X[kept], signs[kept]]) if by_class else X[kept]
        _, first, inverse = np.unique(rows, axis=0, return_index=True, return_inverse=True)
        order = np.argsort(first)
        sums: Array = np.bincount(inverse.ravel(), weights=machine.alpha_[kept]).astype(np.float64)
        alpha = sums[order]
        index = kept[first[order]]
        space = space_around(metric, root_machine(machine), X, index)
        return cls(index, alpha, signs[index], space)

    @cached_property
    def distances(self) -> Matrix:
        """Squared distances (p, p)."""
        return self.space.between_anchors()

    @cached_property
    def elsewhere(self) -> Matrix:
        """Squared distances (p, p), infinite on the diagonal."""
        distances = self.distances.copy()
        np.fill_diagonal(distances, np.inf)
        return distances

    def neighbour_widths(self, n_neighbors: int) -> Array:
        """Mean squared distance to the nearest other support vectors, shape (p,)."""
        if len(self.index) < 2:
            return np.zeros(len(self.index))
        nearest = min(n_neighbors, len(self.index) - 1)
        return np.partition(self.elsewhere, nearest - 1, axis=1)[:, :nearest].mean(axis=1)


def bumps(space: Space, widths: Array, heights: Array, mixing: Matrix | None = None) -> Built:
    """Gaussian bumps of usable widths, or a constant factor."""
    usable = (widths > 0) & np.isfinite(widths)
    if not usable.any():
        return ConformalFactor(), NO_DISTANCE
    note = None
    if not usable.all():
        note = f"{int((~usable).sum())} of {len(widths)} widths were 0: set to the smallest other"
        widths = np.where(usable, widths, widths[usable].min())
    return GaussianFactor(space, widths, heights, mixing), note


def amari_wu(centres: Centres, tau: float | None, n_neighbors: int) -> Built:
    r""":math:`D(x) = \sum_k \alpha_k e^{-d_k(x)^2 / 2\tau^2}`.

    Without a tau, :math:`2\tau^2` is the mean of Wu and Amari's widths.
    """
    mean_width = float(centres.neighbour_widths(n_neighbors).mean())
    width = mean_width if tau is None else 2.0 * tau**2
    return bumps(centres.space, np.full(len(centres.index), width), centres.alpha)


def wu_amari(centres: Centres, n_neighbors: int) -> Built:
    r""":math:`D(x) = \sum_k e^{-d_k(x)^2 / \tau_k^2}`, each width from the nearest others."""
    widths = centres.neighbour_widths(n_neighbors)
    return bumps(centres.space, widths, np.ones(len(widths)))


def williams(machine: Any, X: Matrix, kappa: float | None) -> Built:
    r""":math:`D(x) = e^{-\kappa f(x)^2}`.

    Without a kappa, D is 0.1 at the training set's largest |f|.
    """
    if kappa is None:
        largest = float(np.abs(machine.decision_function(X)).max())
        if largest == 0:
            return ConformalFactor(), "the first machine is 0 everywhere: the factor is constant"
        kappa = -np.log(SMALLEST_WILLIAMS) / largest**2
    return DecisionFactor(machine, float(kappa)), None


def wu_chang(centres: Centres, etas: tuple[float | None, float | None]) -> Built:
    r""":math:`D(x) = \sum_k e^{-d_k(x)^2 / \eta_k \tau_k^2}`, widths from the opposite class.

    :math:`\tau_k^2` is the mean squared distance from support vector k to those of the opposite
    class that are no farther than the midpoint between its nearest and its farthest support
    vector (of either class); if there are none, the squared distance to the nearest of the
    opposite class. :math:`\eta_k` is the number of support vectors of the other class by that of
    its own, or the given number (negative class, positive class).
    """
    d2, signs = centres.elsewhere, centres.signs
    finite = np.where(np.isfinite(d2), d2, -np.inf)
    midpoint = (d2.min(axis=1) + finite.max(axis=1)) / 2
    opposite = np.where(signs[:, None] != signs, d2, np.inf)
    near = opposite <= midpoint[:, None]
    lonely = ~near.any(axis=1)
    nearest = opposite.min(axis=1)
    sums = np.where(near, opposite, 0.0).sum(axis=1)
    tau = np.where(lonely, nearest, sums / np.maximum(near.sum(axis=1), 1))
    positive = signs > 0
    skew = positive.sum() / (~positive).sum()
    eta_negative, eta_positive = etas
    eta = np.where(
        positive,
        1 / skew if eta_positive is None else eta_positive,
        skew if eta_negative is None else eta_negative,
    )
    return bumps(centres.space, eta * tau, np.ones(len(signs)))


def kba(centres: Centres, boundary: float | None, minority: float) -> Built:
    r""":math:`D(x) = \sum_k e^{-d_k(x)^2 / \tau_k^2}` around points of an ideal boundary.

    Each support vector is paired with the nearest one of the opposite class; the centre divides
    the pair at the share ``boundary`` of the way from the ``minority`` class (its sign) to the
    other. :math:`\tau_k^2` is the mean squared distance from the centre to the support vectors
    that are no farther than the midpoint between the nearest and the farthest.
    """
    signs = centres.signs
    opposite = np.where(signs[:, None] != signs, centres.distances, np.inf)
    partner = opposite.argmin(axis=1)
    own = np.arange(len(signs))
    rare = signs == minority
    pairs = np.unique(
        np.column_stack([np.where(rare, own, partner), np.where(rare, partner, own)]), axis=0
    )
    if boundary is None:
        ratio = max(1.0, float((~rare).sum() / rare.sum()))
        boundary = ratio / (1.0 + ratio)
    mixing = np.zeros((len(pairs), len(signs)))
    rows = np.arange(len(pairs))
    mixing[rows, pairs[:, 0]] = 1.0 - boundary
    mixing[rows, pairs[:, 1]] += boundary
    d2 = mixed_distances(centres.distances, mixing, centres.distances).T
    midpoint = (d2.min(axis=1) + d2.max(axis=1)) / 2
    near = d2 <= midpoint[:, None]
    widths = np.where(near, d2, 0.0).sum(axis=1) / near.sum(axis=1)
    return bumps(centres.space, widths, np.ones(len(pairs)), mixing)


def rightly_classified(machine: Any, X: Matrix, signs: Array) -> tuple[Index, str | None]:
    """Support vectors on their own side, or all of a class that would have none."""
    support = machine.support_
    y = signs[support]
    right = y * machine.decision_function(X[support]) > 0
    empty = [
        label
        for side, label in zip((-1.0, 1.0), machine.classes_.tolist(), strict=True)
        if not right[y == side].any()
    ]
    if not empty:
        return support[right], None
    emptied = np.isin(y, [-1.0 if label == machine.classes_[0] else 1.0 for label in empty])
    note = f"every support vector of class {empty} is misclassified: all are kept"
    return support[right | emptied], note
