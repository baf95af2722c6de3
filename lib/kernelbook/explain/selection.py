"""Reduced models: the most important interactions, what they keep of the score."""

from collections.abc import Callable, Iterable
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike

from kernelbook.explain.expansion import Mask
from kernelbook.explain.ranking import Ranking, import_pandas
from kernelbook.kernels import Matrix

if TYPE_CHECKING:
    from pandas import DataFrame


class Selection(Ranking):
    """Selection of interactions, and the model reduced to them."""

    def select(
        self,
        count: int | None = None,
        *,
        share_of_interactions: float | None = None,
        share_of_importance: float | None = None,
        data: ArrayLike | None = None,
        pair: Any = None,
    ) -> Mask:
        """The smallest set of most important interactions that reaches what is asked for.

        Parameters
        ----------
        count : int
            So many interactions.
        share_of_interactions : float in (0, 1]
            At least this share of the number of kept interactions.
        share_of_importance : float in (0, 1]
            At least this share of the summed importance. With 1, all that are not zero.
        data, pair
            What importance means, as in :meth:`importance`.

        Returns
        -------
        ndarray of bool, shape (n_interactions,)
            To be given to :meth:`keep`.

        Raises
        ------
        ValueError
            Unless exactly one of the three is given, in its range.

        Examples
        --------
        Weights 2, 4, 1, 4, 4: two thirds of their sum, 10 of 15, are reached by three of them.

        >>> from kernelbook.explain import PolynomialExplainer
        >>> explainer = PolynomialExplainer.from_support_vectors(
        ...     [[1.0, 2.0]], [1.0], degree=2, gamma=1.0, coef0=1.0
        ... )
        >>> explainer.select(share_of_importance=2 / 3).tolist()
        [False, True, False, True, True]
        """
        wanted = {
            "count": count,
            "share_of_interactions": share_of_interactions,
            "share_of_importance": share_of_importance,
        }
        given = {name: value for name, value in wanted.items() if value is not None}
        if len(given) != 1:
            raise ValueError(
                f"give exactly one of count, share_of_interactions and share_of_importance, got "
                f"{list(given) or 'none'}."
            )
        [(name, value)] = given.items()
        scores = self._scores(data, pair)
        order = self._ranked(scores)
        if name == "count":
            n = _whole_number(value, len(order), name, smallest=1)
        elif not isinstance(value, Real) or not 0 < value <= 1:
            raise ValueError(f"{name} must lie in (0, 1], got {value!r}.")
        elif name == "share_of_interactions":
            n = _smallest_reaching(np.ones(len(order)), value)
        else:
            n = _smallest_reaching(scores[order], value)
        mask = np.zeros(self.n_interactions, dtype=bool)
        mask[order[:n]] = True
        return mask

    def keep(self, interactions: Mask | Iterable[Any]) -> Self:
        """The model with only some interactions, the constant always among them.

        Every method of the result, plots included, speaks of the reduced model.

        Parameters
        ----------
        interactions : ndarray of bool, shape (n_interactions,), or list of interactions
            A mask such as :meth:`select` returns, or keys as in the notes of the class.

        Returns
        -------
        PolynomialExplainer
            A new one; this one is not changed.

        Raises
        ------
        ValueError
            For interactions that do not exist or were dropped before, or if none is left.

        Examples
        --------
        >>> from kernelbook.explain import PolynomialExplainer
        >>> explainer = PolynomialExplainer.from_support_vectors(
        ...     [[1.0, 2.0]], [1.0], degree=2, gamma=1.0, coef0=1.0
        ... )
        >>> explainer.keep([(1, 0), 1]).weights()
        {(1,): 4.0, (0, 1): 4.0}
        """
        mask = self._expansion.mask(interactions)
        dropped = np.flatnonzero(mask & ~self.mask_)
        if len(dropped):
            raise ValueError(
                f"{self._expansion.name(self._expansion.key(dropped[0]))} was dropped before: "
                "keep it in the first place, or start from the whole explainer."
            )
        if not mask.any():
            raise ValueError("no interaction matches: keep at least one.")
        return self._masked(mask)

    def score_by_count(
        self,
        X: ArrayLike,
        y: ArrayLike,
        counts: Iterable[int] | None = None,
        *,
        data: ArrayLike | None = None,
        metric: Callable[[Any, Any], float] | None = None,
    ) -> "DataFrame":
        """Score of the model reduced to its k most important interactions, for several k.

        Parameters
        ----------
        X : array-like or DataFrame, shape (n, n_features)
            Points that were not used in the fit, for an honest score.
        y : array-like, shape (n,)
        counts : iterable of int, optional
            The values of k; 0 is the constant alone. By default 0, 1, 2, 5, 10, ... up to all.
        data : array-like or DataFrame, optional
            Rank by the spread of the contributions on these points, as in :meth:`importance`.
        metric : callable(y_true, y_pred) -> float, optional
            As in :meth:`score`.

        Returns
        -------
        DataFrame
            Columns ``count``, ``share_of_importance``, ``score``.
        """
        scores = self._scores(data, None)
        order = self._ranked(scores)
        total = scores.sum() or 1.0
        steps = _round_numbers(len(order)) if counts is None else counts
        rows = []
        for step in steps:
            n = _whole_number(step, len(order), "each of counts", smallest=0)
            mask = np.zeros(self.n_interactions, dtype=bool)
            mask[order[:n]] = True
            score = self._masked(mask).score(X, y, metric=metric)
            rows.append((n, scores[order[:n]].sum() / total, score))
        return import_pandas().DataFrame(rows, columns=["count", "share_of_importance", "score"])


def _smallest_reaching(scores: Matrix, share: float) -> int:
    """How many of the scores, in falling order, sum up to at least a share of all."""
    reached = scores.cumsum()
    if reached[-1] == 0.0:
        raise ValueError("share_of_importance: all interactions have importance zero.")
    if share == 1.0:
        # Sums stop growing where the scores fall below the rounding of the total.
        return int(np.count_nonzero(scores))
    return int(np.argmax(reached / reached[-1] >= share)) + 1


def _whole_number(value: Any, largest: int, name: str, *, smallest: int) -> int:
    is_whole = isinstance(value, Integral) and not isinstance(value, bool)
    if not is_whole or not smallest <= value <= largest:
        raise ValueError(
            f"{name} must be a whole number from {smallest} to {largest}, got {value!r}."
        )
    return int(value)


def _round_numbers(largest: int) -> list[int]:
    """0, 1, 2, 5, 10, 20, 50, ... and the largest itself."""
    steps = (m * 10**e for e in range(len(str(largest))) for m in (1, 2, 5))
    return [0, *(step for step in steps if step < largest), largest]
