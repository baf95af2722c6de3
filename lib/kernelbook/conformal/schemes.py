r"""The published schemes: how the support vectors of a first machine make a conformal factor.

Every scheme looks at distinct support vectors: copies of a point count once, so that a sample
weight of k stays the same as k copies. Widths of zero (support vectors of both classes in one
place) are replaced by the smallest positive one; without any, the factor is constant.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np

from kernelbook.conformal.factors import (
    ConformalFactor,
    DecisionFactor,
    GaussianFactor,
    Machine,
    mixed_distances,
    spread,
)
from kernelbook.conformal.spaces import Space, space_around
from kernelbook.kernels import RBF, Array, Index, Kernel, Matrix
from kernelbook.validation import check_number

__all__ = [
    "METRIC_OF_SCHEME",
    "SIGMA_RULE",
    "Built",
    "Centres",
    "Etas",
    "amari_wu",
    "bumps",
    "check_etas",
    "kba",
    "resolve_tau",
    "rightly_classified",
    "williams",
    "wu_amari",
    "wu_chang",
]

Etas = tuple[float | None, float | None]
# A factor, and what could not be done as asked (None if all could).
Built = tuple[ConformalFactor, str | None]

# The metric of each scheme unless one is given. (The README through which we know 'wu_chang' has
# input distances in D and feature-space widths below them.)
METRIC_OF_SCHEME: dict[str, str | None] = {
    "wu_chang": "feature",
    "kba": "feature",
    "amari_wu": "input",
    "wu_amari": "input",
    "williams": None,
}
SIGMA_RULE = "sigma/sqrt(d)"
NO_DISTANCE = "the support vectors lie in one place: the factor is constant"
# An alpha below this part of the sum of all is lost in the rounding of f: no support vector.
NEGLIGIBLE = 1e-14
# The factor of 'williams' at the largest |f|, if kappa is not given.
SMALLEST_WILLIAMS = 0.1


@dataclass(frozen=True)
class Centres:
    """Distinct support vectors of a fitted machine.

    Attributes
    ----------
    index : ndarray of shape (p,), dtype=int
        Rows of the training set, one for each distinct support vector.
    alpha : ndarray of shape (p,)
        Dual variables, summed over copies.
    signs : ndarray of shape (p,)
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
        cls,
        X: Matrix,
        signs: Array,
        alpha: Array,
        kept: Index,
        *,
        metric: str,
        kernel: Kernel,
        by_class: bool = False,
    ) -> Self:
        """Find the distinct ones among some training points.

        Parameters
        ----------
        X : ndarray of shape (n, d) or (n, n)
            Training points, or the Gram matrix for a precomputed kernel.
        signs : ndarray of shape (n,)
            Class, -1 or +1.
        alpha : ndarray of shape (n,)
            Dual variables.
        kept : ndarray of shape (k,), dtype=int
            The points to choose from.
        metric : {'feature', 'input'}
            Where distances are measured.
        kernel : Kernel
            The kernel, for distances in feature space.
        by_class : bool, default=False
            Whether copies in two classes count twice.

        Returns
        -------
        Centres
            One for each distinct point.
        """
        kept = kept[alpha[kept] > NEGLIGIBLE * float(alpha[kept].sum())]
        rows = np.column_stack([X[kept], signs[kept]]) if by_class else X[kept]
        _, first, inverse = np.unique(rows, axis=0, return_index=True, return_inverse=True)
        order = np.argsort(first)
        sums: Array = np.bincount(inverse.ravel(), weights=alpha[kept]).astype(np.float64)
        index = kept[first[order]]
        return cls(index, sums[order], signs[index], space_around(metric, kernel, X, index))

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
        """Return the mean squared distance to the nearest other support vectors.

        Parameters
        ----------
        n_neighbors : int
            How many of them.

        Returns
        -------
        ndarray of shape (p,)
            Zeros for a single support vector.
        """
        if len(self.index) < 2:
            return np.zeros(len(self.index))
        nearest = min(n_neighbors, len(self.index) - 1)
        return np.partition(self.elsewhere, nearest - 1, axis=1)[:, :nearest].mean(axis=1)


def bumps(space: Space, widths: Array, heights: Array, mixing: Matrix | None = None) -> Built:
    """Return Gaussian bumps, or a constant factor if no width can be used.

    Parameters
    ----------
    space : Space
        Distances to the p anchors.
    widths : ndarray of shape (c,)
        Squared widths. Those of 0 become the smallest other one.
    heights : ndarray of shape (c,)
        Heights.
    mixing : ndarray of shape (c, p), default=None
        Centres as means of anchors. If None, the anchors are the centres.

    Returns
    -------
    factor : ConformalFactor
        The factor.
    note : str or None
        What could not be done as asked.
    """
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

    Parameters
    ----------
    centres : Centres
        Distinct support vectors of the first machine.
    tau : float or None
        The width. If None, :math:`2\tau^2` is the mean of Wu and Amari's widths.
    n_neighbors : int
        Of the rule for the width.

    Returns
    -------
    factor : ConformalFactor
        The factor.
    note : str or None
        What could not be done as asked.
    """
    mean_width = float(centres.neighbour_widths(n_neighbors).mean())
    width = mean_width if tau is None else 2.0 * tau**2
    return bumps(centres.space, np.full(len(centres.index), width), centres.alpha)


def wu_amari(centres: Centres, n_neighbors: int) -> Built:
    r""":math:`D(x) = \sum_k e^{-d_k(x)^2 / \tau_k^2}`, each width from the nearest others.

    Parameters
    ----------
    centres : Centres
        Distinct support vectors of the first machine.
    n_neighbors : int
        Support vectors whose mean squared distance is :math:`\tau_k^2`.

    Returns
    -------
    factor : ConformalFactor
        The factor.
    note : str or None
        What could not be done as asked.
    """
    widths = centres.neighbour_widths(n_neighbors)
    return bumps(centres.space, widths, np.ones(len(widths)))


def williams(machine: Machine, X: Matrix, kappa: float | None) -> Built:
    r""":math:`D(x) = e^{-\kappa f(x)^2}`.

    Parameters
    ----------
    machine : KernelSVC or ConformalSVC
        The fitted first machine f.
    X : ndarray of shape (n, d)
        Training points.
    kappa : float or None
        If None, D is 0.1 at the training points' largest :math:`|f|`.

    Returns
    -------
    factor : ConformalFactor
        The factor.
    note : str or None
        What could not be done as asked.
    """
    if kappa is None:
        largest = float(np.abs(machine.decision_function(X)).max())
        if largest == 0:
            return ConformalFactor(), "the first machine is 0 everywhere: the factor is constant"
        kappa = -np.log(SMALLEST_WILLIAMS) / largest**2
    return DecisionFactor(machine, float(kappa)), None


def wu_chang(centres: Centres, etas: Etas) -> Built:
    r""":math:`D(x) = \sum_k e^{-d_k(x)^2 / \eta_k \tau_k^2}`, widths from the opposite class.

    :math:`\tau_k^2` is the mean squared distance from support vector k to those of the opposite
    class that are no farther than the midpoint between its nearest and its farthest support
    vector (of either class); if there are none, the squared distance to the nearest of the
    opposite class.

    Parameters
    ----------
    centres : Centres
        Distinct support vectors of the first machine.
    etas : pair of float or None
        :math:`\eta_k` for the negative and the positive class; None is the number of support
        vectors of the other class by that of its own.

    Returns
    -------
    factor : ConformalFactor
        The factor.
    note : str or None
        What could not be done as asked.
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
    the pair at a fraction of the way from the minority class to the other. :math:`\tau_k^2` is
    the mean squared distance from the centre to the support vectors that are no farther than the
    midpoint between the nearest and the farthest.

    Parameters
    ----------
    centres : Centres
        Distinct support vectors of the first machine.
    boundary : float or None
        The fraction. If None, r / (1 + r) with r >= 1 the number of frequent support vectors by
        that of rare ones.
    minority : float
        Sign of the minority class.

    Returns
    -------
    factor : ConformalFactor
        The factor.
    note : str or None
        What could not be done as asked.
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
    spreads = spread(mixing, centres.distances)
    d2 = mixed_distances(centres.distances, mixing, spreads).T
    midpoint = (d2.min(axis=1) + d2.max(axis=1)) / 2
    near = d2 <= midpoint[:, None]
    widths = np.where(near, d2, 0.0).sum(axis=1) / near.sum(axis=1)
    return bumps(centres.space, widths, np.ones(len(pairs)), mixing)


def rightly_classified(machine: Machine, X: Matrix, signs: Array) -> tuple[Index, str | None]:
    """Return the support vectors on their own side, or all of a class that would have none.

    Parameters
    ----------
    machine : KernelSVC or ConformalSVC
        The fitted machine.
    X : ndarray of shape (n, d)
        Training points.
    signs : ndarray of shape (n,)
        Class, -1 or +1.

    Returns
    -------
    support : ndarray of int
        Rows of the training set.
    note : str or None
        What could not be done as asked.
    """
    support = machine.support_
    y = signs[support]
    right = y * machine.decision_function(X[support]) > 0
    empty = [side for side in (-1.0, 1.0) if not right[y == side].any()]
    if not empty:
        return support[right], None
    labels = machine.classes_[[int(side > 0) for side in empty]].tolist()
    note = f"every support vector of class {labels} is misclassified: all are kept"
    return support[right | np.isin(y, empty)], note


def resolve_tau(tau: float | str, kernel: Kernel, metric: str | None, d: int) -> float | None:
    r"""Return a width in units of the distance, also for Amari and Wu's :math:`\sigma / \sqrt d`.

    Parameters
    ----------
    tau : float, 'auto' or 'sigma/sqrt(d)'
        A number, the rule, or the rule where it applies.
    kernel : Kernel
        The kernel, whose sigma it is.
    metric : {'feature', 'input'} or None
        Where distances are measured.
    d : int
        Number of features.

    Returns
    -------
    float or None
        None if the rule need not apply and does not.

    Raises
    ------
    ValueError
        If the rule is asked for and does not apply.

    Examples
    --------
    gamma = 1/2 is sigma = 1:

    >>> resolve_tau("auto", RBF(gamma=0.5), "input", 4)
    0.5
    """
    if not isinstance(tau, str):
        return tau
    if isinstance(kernel, RBF) and metric == "input":
        return float(1.0 / np.sqrt(2.0 * kernel.gamma * d))
    if tau == SIGMA_RULE:
        raise ValueError(
            f"tau={SIGMA_RULE!r} needs kernel='rbf' and metric='input': elsewhere there is no "
            "sigma. Give tau as a number, in units of the distance."
        )
    return None


def check_etas(etas: tuple[float | None, ...] | list[float | None] | None) -> Etas:
    """Return a pair of positive numbers, or None where the rule decides.

    Parameters
    ----------
    etas : pair of float or None
        For the negative and the positive class.

    Returns
    -------
    tuple of float or None
        For the negative and the positive class.

    Raises
    ------
    ValueError
        If it is no pair, or a number is not positive and finite.

    Examples
    --------
    >>> check_etas((2, None))
    (2.0, None)
    """
    if etas is None:
        return None, None
    if len(etas) != 2:
        raise ValueError(
            f"eta must be None or a pair (for classes_[0], for classes_[1]), got {etas!r}."
        )
    negative, positive = (
        None if eta is None else check_number(eta, f"eta[{i}]", low=0, inclusive="neither")
        for i, eta in enumerate(etas)
    )
    return negative, positive
