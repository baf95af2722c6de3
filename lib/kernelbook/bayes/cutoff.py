"""Where the description ends: the radius from distances of training or held-out points."""

from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.model_selection import KFold, StratifiedKFold

from kernelbook.kernels import Matrix

__all__ = ["CUTOFFS", "best_cutoff", "check_cutoff", "held_out_distances", "ranked_cutoff"]

Array = NDArray[np.float64]
Signs = NDArray[np.float64]

CUTOFFS = ("rejection_rate", "f1", "balanced_accuracy")


def check_cutoff(
    cutoff: object, rejection_rate: object, rank: object, cv: object, signs: Signs
) -> None:
    """Raise a ValueError unless the parameters say, for these signs, how to find the radius.

    Examples
    --------
    >>> check_cutoff("rejection_rate", 0.05, None, None, np.ones(3))
    """
    if cutoff not in CUTOFFS:
        raise ValueError(f"cutoff must be one of {list(CUTOFFS)}, got {cutoff!r}.")
    n = int(np.count_nonzero(signs > 0))
    if not isinstance(rejection_rate, Real) or not 0 <= float(rejection_rate) < 1:
        raise ValueError(
            f"rejection_rate must be in [0, 1), the share of targets outside, got "
            f"{rejection_rate!r}."
        )
    whole = isinstance(rank, Integral) and not isinstance(rank, bool)
    if rank is not None and (not whole or not 1 <= int(rank) <= n):  # type: ignore[call-overload]
        raise ValueError(
            f"rank must be a whole number from 1 to {n}, the number of targets, got {rank!r}."
        )
    if cutoff != "rejection_rate" and n == len(signs):
        raise ValueError(
            f"cutoff={cutoff!r} needs outliers: mark them by -1 in y, or use "
            "cutoff='rejection_rate'."
        )
    if cv is None:
        return
    smallest = n if n == len(signs) else min(n, len(signs) - n)
    if not isinstance(cv, Integral) or isinstance(cv, bool) or not 2 <= int(cv) <= smallest:
        raise ValueError(
            f"cv must be None or a number of folds from 2 to {smallest}, the size of the smaller "
            f"class, got {cv!r}."
        )


def ranked_cutoff(distances: Array, rejection_rate: float, rank: int | None = None) -> float:
    """The c-th smallest distance, c the rank, or as large as the rejection rate allows.

    At most a share ``rejection_rate`` of the distances lies above.

    Examples
    --------
    >>> ranked_cutoff(np.array([4.0, 1.0, 3.0, 2.0]), rejection_rate=0.3)
    3.0
    >>> ranked_cutoff(np.array([4.0, 1.0, 3.0, 2.0]), rejection_rate=0.3, rank=2)
    2.0
    """
    n = len(distances)
    if rank is None:
        # A product such as 0.29 * 100 falls below a whole number by rounding.
        rank = max(n - int(np.floor(rejection_rate * n * (1.0 + 4 * np.finfo(float).eps))), 1)
    return float(np.partition(distances, rank - 1)[rank - 1])


def best_cutoff(distances: Array, signs: Signs, score: str) -> float:
    """The cutoff that separates targets (+1) from outliers (-1) with the best score.

    Halfway between two distances, above all of them, or 0: everything is outside. Of equal
    scores the largest cutoff counts, which rejects least.

    Parameters
    ----------
    distances : ndarray, shape (n,)
    signs : ndarray, shape (n,)
    score : {'f1', 'balanced_accuracy'}
        Of the outliers, that is with them as the positive class.

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


def held_out_distances(estimator: Any, X: Matrix, signs: Signs, cv: int) -> Array:
    """Squared distances (n,) of each point from the centre of a fit without its fold.

    The folds depend on n and the signs only.
    """
    folds = StratifiedKFold if (signs < 0).any() else KFold
    splitter = folds(int(cv), shuffle=True, random_state=0)
    distances = np.empty(len(X))
    for train, test in splitter.split(X, signs):
        model = clone(estimator).set_params(cv=None, cutoff="rejection_rate", rank=None)
        if model._is_precomputed():
            model.fit(X[np.ix_(train, train)], signs[train])
            diagonal = np.diagonal(X)[test]
            distances[test] = model._squared_distances(X[np.ix_(test, train)], diagonal)
        else:
            model.fit(X[train], signs[train])
            distances[test] = model._squared_distances(X[test], None)
    return distances
