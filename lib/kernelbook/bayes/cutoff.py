"""Where the description ends: the radius from distances of training or held-out points."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.utils._param_validation import StrOptions

from kernelbook.estimator import Number
from kernelbook.kernels import Array, Matrix
from kernelbook.svdd import SphereDetector
from kernelbook.validation import check_number

__all__ = [
    "CUTOFF_CONSTRAINTS",
    "best_cutoff",
    "check_cutoff",
    "choose_radius",
    "ranked_cutoff",
]


CUTOFF_CONSTRAINTS: dict[str, list[Any]] = {
    "cutoff": [StrOptions({"rejection_rate", "f1", "balanced_accuracy"})],
    "rejection_rate": [Number(Real, 0, 1, closed="left")],
    "rank": [Number(Integral, 1, None, closed="left"), None],
    "cv": [Number(Integral, 2, None, closed="left"), None],
}


def check_cutoff(
    cutoff: str,
    rank: int | None,
    cv: int | None,
    prior_mean: str | ArrayLike,
    prior_scale: float | ArrayLike,
    signs: Array,
) -> None:
    """Raise a ValueError unless the parameters say, for these signs, how to find the radius.

    Parameters
    ----------
    cutoff : {'rejection_rate', 'f1', 'balanced_accuracy'}
        The rule.
    rank : int or None
        Which of the targets' distances is the radius.
    cv : int or None
        Number of folds.
    prior_mean : str or array-like
        Mean of the prior.
    prior_scale : float or array-like
        Covariance of the prior.
    signs : ndarray of shape (n,)
        +1 for targets, -1 for outliers.

    Raises
    ------
    ValueError
        If the rank or the number of folds exceeds what there is, a score is asked for without
        outliers, or folds come with a prior of a given size.

    Examples
    --------
    >>> check_cutoff("rejection_rate", None, None, "row_sum", 1.0, np.ones(3))
    """
    n = int(np.count_nonzero(signs > 0))
    if rank is not None:
        check_number(rank, "rank", low=1, high=n, integer=True)
    if cutoff != "rejection_rate" and n == len(signs):
        raise ValueError(
            f"cutoff={cutoff!r} needs outliers: mark them by -1 in y, or use "
            "cutoff='rejection_rate'."
        )
    if cv is None:
        return
    check_number(cv, "cv", low=2, high=n if n == len(signs) else min(n, len(signs) - n))
    if not isinstance(prior_mean, str) or np.ndim(prior_scale) != 0:
        raise ValueError(
            "cv refits on parts of the data, for which an array as prior_mean or prior_scale "
            "has the wrong shape: name the prior mean, give a number as scale, or use cv=None."
        )


def choose_radius(
    detector: Any, X: Matrix, signs: Array, squared_distances: NDArray[np.float64]
) -> float:
    """Return the squared radius by the rule that a description's parameters name.

    Parameters
    ----------
    detector : BayesianDataDescription, BayesianSVDD or BayesianSVDDMinority
        With a ``cutoff``, ``rejection_rate``, ``rank`` and ``cv``.
    X : ndarray of shape (n, d)
        Training points, or the precomputed matrix.
    signs : ndarray of shape (n,)
        +1 for targets, -1 for outliers.
    squared_distances : ndarray of shape (n,)
        Squared distances of the training points to the centre.

    Returns
    -------
    float
        The squared radius, in squared units of feature space.
    """
    if detector.cv is None:
        squared = np.maximum(squared_distances, 0.0)
    else:
        squared = _held_out_distances(detector, X, signs, detector.cv)
    if detector.cutoff == "rejection_rate":
        return ranked_cutoff(squared[signs > 0], detector.rejection_rate, detector.rank)
    return best_cutoff(np.sqrt(squared), signs, detector.cutoff) ** 2


def ranked_cutoff(distances: Array, rejection_rate: float, rank: int | None = None) -> float:
    """Return the distance of a given rank, or the smallest that the rejection rate allows.

    Parameters
    ----------
    distances : ndarray of shape (n,)
        Distances of targets.
    rejection_rate : float
        At most this fraction of them lies above.
    rank : int, default=None
        Rank of the distance, 1 for the smallest. If None, the rejection rate sets it.

    Returns
    -------
    float
        One of the distances.

    Examples
    --------
    >>> ranked_cutoff(np.array([4.0, 1.0, 3.0, 2.0]), rejection_rate=0.3)
    3.0
    >>> ranked_cutoff(np.array([4.0, 1.0, 3.0, 2.0]), rejection_rate=0.3, rank=2)
    2.0
    """
    n = len(distances)
    if rank is None:
        # A product such as 0.29 * 100 falls below an integer by rounding.
        rank = max(n - int(np.floor(rejection_rate * n * (1.0 + 4 * np.finfo(float).eps))), 1)
    return float(np.partition(distances, rank - 1)[rank - 1])


def best_cutoff(distances: Array, signs: Array, score: str) -> float:
    """Return the cutoff that separates targets (+1) from outliers (-1) with the best score.

    Halfway between two distances, above all of them, or 0: everything is outside. Of equal
    scores the largest cutoff counts, which rejects least.

    Parameters
    ----------
    distances : ndarray of shape (n,)
        Distances of targets and outliers.
    signs : ndarray of shape (n,)
        +1 for targets, -1 for outliers.
    score : {'f1', 'balanced_accuracy'}
        The score, with the outliers as the positive class.

    Returns
    -------
    float
        Distances up to it are inside.

    Examples
    --------
    >>> best_cutoff(np.array([1.0, 2.0, 4.0]), np.array([1, 1, -1]), "f1")
    3.0
    """
    order = np.argsort(distances, kind="stable")
    d, outlier = distances[order], signs[order] < 0
    ends = np.flatnonzero(np.append(np.diff(d) > 0, True))
    # Flagged beyond the k-th distance; the first candidate flags everything.
    inside = np.concatenate([[0], ends + 1])
    missed = np.concatenate([[0], np.cumsum(outlier)])[inside]
    n_outliers = np.count_nonzero(outlier)
    hits = n_outliers - missed
    flagged = len(d) - inside
    if score == "f1":
        scores = 2.0 * hits / (flagged + n_outliers)
    else:
        n_targets = len(d) - n_outliers
        scores = (hits / n_outliers + (inside - missed) / n_targets) / 2.0
    best = len(scores) - 1 - int(np.argmax(scores[::-1]))
    if best == 0:
        return 0.0
    last = ends[best - 1]
    return float(d[last] if best == len(ends) else (d[last] + d[last + 1]) / 2.0)


def _held_out_distances(detector: SphereDetector, X: Matrix, signs: Array, cv: int) -> Array:
    """Squared distances (n,) of each point from the centre of a fit without its fold.

    The folds depend on n and the signs only.
    """
    folds = StratifiedKFold if (signs < 0).any() else KFold
    splitter = folds(int(cv), shuffle=True, random_state=0)
    distances = np.empty(len(X))
    is_pairwise = detector.__sklearn_tags__().input_tags.pairwise
    for train, test in splitter.split(X, signs):
        model = clone(detector).set_params(cv=None, cutoff="rejection_rate", rank=None)
        if is_pairwise:
            model.fit(X[np.ix_(train, train)], signs[train])
            diagonal = np.diagonal(X)[test]
            distances[test] = model.distance(X[np.ix_(test, train)], diagonal)
        else:
            model.fit(X[train], signs[train])
            distances[test] = model.distance(X[test])
    return distances**2
