"""Which interactions and which features matter: by weight, or by spread on given data."""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kernelbook.explain.expanded import ExpandedSVM
from kernelbook.kernels import Matrix

if TYPE_CHECKING:
    from pandas import DataFrame


class Ranking(ExpandedSVM):
    """Global explanations: importance of interactions and totals of features."""

    def importance(
        self,
        data: ArrayLike | None = None,
        *,
        pair: Any = None,
        degree: int | None = None,
        top: int | None = None,
    ) -> "DataFrame":
        r"""The kept interactions in the order of their importance.

        Parameters
        ----------
        data : array-like or DataFrame, shape (n, n_features), optional
            If given, the importance of an interaction is the standard deviation of its
            contribution :math:`w_t \prod_{j \in t} x_j` over these points, which does not depend
            on the units of the features. Otherwise it is :math:`|w_t|`.
        pair : tuple of two labels, optional
            Which of ``pairs_``. With several and none given, the importance is the mean over the
            pairs, and the table has no signed weights.
        degree : int, optional
            Only the interactions of this degree.
        top : int, optional
            Only so many rows.

        Returns
        -------
        DataFrame
            Columns ``interaction`` (sorted feature indices), ``name``, ``degree``, ``weight``
            (signed), ``importance``, ``share`` of the importance of all kept interactions, and
            ``cumulative_share``.

        Raises
        ------
        ImportError
            If pandas is missing.
        """
        scores = self._scores(data, pair)
        order = self._ranked(scores)
        if degree is not None:
            [d] = self._degrees(degree)
            part = self._expansion.slices[d]
            order = order[(order >= part.start) & (order < part.stop)]
        order = order[:top]
        keys = [self._expansion.key(place) for place in order]
        share = scores[order] / (scores.sum() or 1.0)
        columns: dict[str, Any] = {
            "interaction": keys,
            "name": [self._expansion.name(key) for key in keys],
            "degree": [len(key) for key in keys],
        }
        if pair is not None or len(self.constant_) == 1:
            columns["weight"] = self._row(pair)[order]
        columns |= {"importance": scores[order], "share": share, "cumulative_share": share.cumsum()}
        return import_pandas().DataFrame(columns)

    def feature_importance(self, data: ArrayLike | None = None, *, pair: Any = None) -> "DataFrame":
        """Total importance of every feature, most important first.

        The importance of an interaction (see :meth:`importance`) is split equally among its
        distinct features, as in :meth:`feature_contributions`.

        Parameters
        ----------
        data : array-like or DataFrame, shape (n, n_features), optional
        pair : tuple of two labels, optional
            As in :meth:`importance`.

        Returns
        -------
        DataFrame
            Columns ``feature``, ``importance``, ``share``.
        """
        totals = self._expansion.feature_totals(self._scores(data, pair))
        order = np.argsort(-totals, kind="stable")
        names = [self.feature_names[i] for i in order]
        share = totals[order] / (totals.sum() or 1.0)
        return import_pandas().DataFrame(
            {"feature": names, "importance": totals[order], "share": share}
        )

    def _scores(self, data: ArrayLike | None, pair: Any) -> Matrix:
        """Importance of all interactions, shape (n_interactions,); 0 for dropped ones."""
        coef = self.coef_ if pair is None else self._row(pair)[None]
        scores = np.abs(coef).mean(axis=0)
        if data is None:
            return scores
        X = self._points(data)
        if len(X) < 2:
            raise ValueError("data must hold at least two points: one point has no spread.")
        return scores * self._expansion.spreads(X)

    def _ranked(self, scores: Matrix) -> NDArray[np.intp]:
        """Positions of the kept interactions, most important first, ties by position."""
        order = np.argsort(-scores, kind="stable")
        return order if self._kept is None else order[self._kept[order]]


def import_pandas() -> Any:
    try:
        import pandas
    except ImportError as error:
        raise ImportError(
            'tables need pandas: pip install "kernelbook[data]". The numbers themselves are in '
            "weights(), coef_ and interactions()."
        ) from error
    return pandas
