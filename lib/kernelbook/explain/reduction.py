"""What a model that is reduced to few interactions keeps of its score."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from numpy.typing import ArrayLike
from sklearn.metrics import check_scoring

from kernelbook.explain.explainer import PolynomialExplainer
from kernelbook.explain.ranking import table

if TYPE_CHECKING:
    from pandas import DataFrame

__all__ = ["score_by_count"]


def score_by_count(
    explainer: PolynomialExplainer,
    X: ArrayLike,
    y: ArrayLike,
    counts: Iterable[int] | None = None,
    *,
    data: ArrayLike | None = None,
    scoring: str | Callable[..., float] | None = None,
) -> DataFrame:
    """Score a model reduced to its k most important interactions, for several k.

    Parameters
    ----------
    explainer : PolynomialExplainer
        A fitted one.
    X : array-like of shape (n, n_features)
        Points that were not used in the fit, for an honest score.
    y : array-like of shape (n,)
        True labels or values.
    counts : iterable of int, default=None
        The values of k; 0 is the constant alone. If None, 0, 1, 2, 5, 10, ... up to all.
    data : array-like of shape (n_data, n_features), default=None
        Rank by the spread of the contributions on these points; see
        :meth:`PolynomialExplainer.importance`.
    scoring : str or callable(estimator, X, y) -> float, default=None
        As in scikit-learn, such as ``'balanced_accuracy'``. If None,
        :meth:`PolynomialExplainer.score`.

    Returns
    -------
    DataFrame
        Columns ``count``, ``fraction_of_importance``, ``score``.

    Examples
    --------
    With the labels that the whole machine gives:

    >>> explainer = PolynomialExplainer.from_support_vectors(
    ...     [[1.0, 2.0]], [1.0], degree=1, gamma=1.0, classes=(-1, 1)
    ... )
    >>> table = score_by_count(explainer, [[1, 0], [3, -1], [-1, 0]], [1, 1, -1])
    >>> table["score"].round(2).tolist()
    [0.33, 0.33, 1.0]
    """
    scorer = check_scoring(explainer, scoring)
    reached = [0.0, *explainer.importance(data)["cumulative_fraction"]]
    rows = []
    for count in _round_counts(len(reached) - 1) if counts is None else counts:
        reduced = explainer.keep(explainer.select(count, data=data))
        rows.append((count, reached[count], scorer(reduced, X, y)))
    count, fraction, score = zip(*rows, strict=True)
    return table({"count": count, "fraction_of_importance": fraction, "score": score})


def _round_counts(largest: int) -> list[int]:
    """0, 1, 2, 5, 10, 20, 50, ... and the largest itself.

    >>> _round_counts(27)
    [0, 1, 2, 5, 10, 20, 27]
    """
    steps = (m * 10**e for e in range(len(str(largest))) for m in (1, 2, 5))
    return [0, *(step for step in steps if step < largest), largest]
