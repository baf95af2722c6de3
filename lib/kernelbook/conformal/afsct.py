"""Wu and Chang's adaptive feature-space conformal transformation, with their defaults."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernelbook.conformal.checks import Settings, check_eta, check_metric
from kernelbook.conformal.classifier import ConformalSVC
from kernelbook.kernels import Kernel, Matrix, check_positive

__all__ = ["AFSCTSVC"]

Array = NDArray[np.float64]

MEAN_DISTANCE = "mean_distance"


class AFSCTSVC(ConformalSVC):
    r"""Adaptive feature-space conformal transformation with Wu and Chang's defaults.

    :class:`ConformalSVC` with ``scheme='wu_chang'``, the Laplacian kernel
    :math:`e^{-\gamma \|x - y\|_1}`, costs inverse to the class sizes, and without support
    vectors that the first machine misclassifies:

    .. math:: \tilde K(x, y) = D(x) D(y) K(x, y),\qquad
              D(x) = \sum_k e^{-\|\phi(x) - \phi(x_k)\|^2 / \eta_k \tau_k^2}.

    Parameters
    ----------
    C : float, default=1.0
        Price of slack, in both machines.
    class_weight : dict or 'balanced', default='balanced'
    neg_eta, pos_eta : float, optional
        :math:`\eta_k` of the support vectors of ``classes_[0]`` and ``classes_[1]``. None (or
        'auto'): the number of support vectors of the other class by that of its own.
    kernel : as for :class:`ConformalSVC`, default='laplacian'
    gamma : float or {'mean_distance', 'scale', 'auto', 'median'}, default='mean_distance'
        Of the kernel. 'mean_distance', for the Laplacian kernel only, is one over the mean
        city-block distance between two training points (drawn with their weights), so that the
        units of the features do not matter.
    degree, coef0
        Of the kernel.
    ignore_outlier_svs : bool, default=True
        Leave misclassified support vectors out of D.
    metric, normalize, tol, max_iter, solver
        As for :class:`ConformalSVC`.

    Attributes
    ----------
    factor_, previous_, fallback_, alpha_, certificate_, support_, classes_ and the others
        As for :class:`ConformalSVC`.

    Notes
    -----
    For users of the package afc-svm-imbalanced-learning (0.10.0), whose class ``AFSCTSvm`` has
    these arguments:

    ======================== =================================================================
    ``AFSCTSvm``             here
    ======================== =================================================================
    ``C``, ``class_weight``  the same; sample weights multiply class weights, not replace them
    ``kernel=None``          ``gamma=1.0``; the kernel is the default
    ``kernel=function``      the same, called with (X, Y)
    ``neg_eta``, ``pos_eta`` the same numbers; None is the ratio above here, 1 there
    ``neg_eta='auto'``       None (there ``pos_eta`` times the inverse of the ratio)
    ``ignore_outlier_svs``   the same
    ``probability=True``     ``sklearn.calibration.CalibratedClassifierCV(AFSCTSVC())``
    ``random_state``         not needed: nothing is drawn
    ======================== =================================================================

    What differs in the numbers: there D takes the L1 distance between points, not squared, in a
    Gaussian whose width is a squared distance in feature space, so that it depends on the units
    of the features; here both are distances in feature space. Only distances to the opposite
    class set the neighbourhood there, and D is not normalised. Any two labels are accepted here,
    ``fit`` returns the estimator, and prediction needs the support vectors only.

    Examples
    --------
    >>> X = [[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]]
    >>> afsct = AFSCTSVC().fit(X, ["usual", "usual", "usual", "usual", "rare", "rare"])
    >>> afsct.predict([[0.5], [4.5]]).tolist(), afsct.fallback_
    (['usual', 'rare'], None)
    """

    def __init__(
        self,
        C: float = 1.0,
        *,
        class_weight: dict[Any, float] | str | None = "balanced",
        neg_eta: float | str | None = None,
        pos_eta: float | str | None = None,
        kernel: Kernel = "laplacian",
        degree: int = 3,
        gamma: float | str = MEAN_DISTANCE,
        coef0: float = 0.0,
        ignore_outlier_svs: bool = True,
        metric: str | None = None,
        normalize: bool = True,
        tol: float = 1e-9,
        max_iter: int = 100,
        solver: str = "auto",
    ) -> None:
        self.C = C
        self.class_weight = class_weight
        self.neg_eta = neg_eta
        self.pos_eta = pos_eta
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.ignore_outlier_svs = ignore_outlier_svs
        self.metric = metric
        self.normalize = normalize
        self.tol = tol
        self.max_iter = max_iter
        self.solver = solver

    def _settings(self) -> Settings:
        precomputed = self._is_precomputed()
        return Settings(
            scheme="wu_chang",
            metric="feature" if self.metric is None else check_metric(self.metric, precomputed),
            C_second=check_positive("C", self.C),
            normalize=bool(self.normalize),
            n_passes=1,
            tau=None,
            n_neighbors=1,
            kappa=None,
            etas=(
                check_eta("neg_eta", None if self.neg_eta == "auto" else self.neg_eta),
                check_eta("pos_eta", None if self.pos_eta == "auto" else self.pos_eta),
            ),
            boundary=None,
            drop_misclassified=bool(self.ignore_outlier_svs),
        )

    def _width_rule(self, X: Matrix, weights: Array) -> float | str:
        if not isinstance(self.gamma, str) or self.gamma != MEAN_DISTANCE:
            return self.gamma
        if self._is_precomputed():
            return 1.0
        if self.kernel != "laplacian":
            raise ValueError(
                f"gamma={MEAN_DISTANCE!r} is for the Laplacian kernel: with "
                f"kernel={self.kernel!r} pass a number, 'scale', 'auto' or 'median'."
            )
        mean = mean_city_block_distance(X, weights)
        return 1.0 / mean if mean > 0 else 1.0


def mean_city_block_distance(X: Matrix, weights: Array) -> float:
    r"""Mean of :math:`\|x - x'\|_1` over pairs drawn independently with weights (n,).

    Sorted coordinate by coordinate: between two neighbouring values lie the pairs with one
    point at or below and one above.

    Examples
    --------
    Of the four pairs of 0 and 3 two are 3 apart:

    >>> mean_city_block_distance(np.array([[0.0], [3.0]]), np.ones(2))
    1.5
    """
    order = np.argsort(X, axis=0)
    steps = np.diff(np.take_along_axis(X, order, axis=0), axis=0)
    below = np.cumsum(weights[order], axis=0)[:-1] / weights.sum()
    return float(2.0 * (steps * below * (1.0 - below)).sum())
