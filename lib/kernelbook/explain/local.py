"""Why a point has its decision value: by interaction, by feature, by degree."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from kernelbook.explain.expanded import ExpandedSVM
from kernelbook.explain.ranking import import_pandas
from kernelbook.kernels import Matrix

if TYPE_CHECKING:
    from pandas import DataFrame


class LocalExplanations(ExpandedSVM):
    """Contributions that add up to the decision value of every point."""

    def contributions(
        self, X: ArrayLike, *, pair: Any = None, interactions: Iterable[Any] | None = None
    ) -> Matrix:
        r"""What every interaction adds to the decision value, :math:`w_t \prod_{j \in t} x_j`.

        Parameters
        ----------
        X : array-like or DataFrame, shape (n, n_features)
        pair : tuple of two labels, optional
            Which of ``pairs_``; to be given if there are several.
        interactions : list of interactions, optional
            Only these, in this order; by default all, in the order of ``coef_``.

        Returns
        -------
        ndarray, shape (n, n_interactions) or (n, len(interactions))
            The rows of the whole matrix plus ``constant_`` are the decision values.
        """
        X, row = self._points(X), self._row(pair)
        if interactions is None:
            return self._expansion.contributions(X, row)
        return self._expansion.contributions_at(X, row, self._expansion.positions(interactions))

    def feature_contributions(self, X: ArrayLike, *, pair: Any = None) -> Matrix:
        """What every feature adds to the decision value.

        The contribution of an interaction is split equally among its distinct features. The
        totals are the Shapley values of the game in which absent features are 0 (the mean, for
        standardised data): a product vanishes unless all its features are present.

        Parameters
        ----------
        X : array-like or DataFrame, shape (n, n_features)
        pair : tuple of two labels, optional
            Which of ``pairs_``; to be given if there are several.

        Returns
        -------
        ndarray, shape (n, n_features)
            The rows plus ``constant_`` are the decision values.

        Examples
        --------
        f(x) = 2 x0 + 4 x1 + x0^2 + 4 x0 x1 + 4 x1^2 + 1 at (1, 1): 2 + 1 + 2 and 4 + 2 + 4.

        >>> from kernelbook.explain import PolynomialExplainer
        >>> PolynomialExplainer.from_support_vectors(
        ...     [[1.0, 2.0]], [1.0], degree=2, gamma=1.0, coef0=1.0
        ... ).feature_contributions([[1.0, 1.0]]).tolist()
        [[5.0, 10.0]]
        """
        return self._expansion.feature_contributions(self._points(X), self._row(pair))

    def degree_contributions(self, X: ArrayLike, *, pair: Any = None) -> Matrix:
        r"""What every degree d of the kernel adds to the decision value.

        .. math:: \binom{D}{d} r^{D-d} \gamma^d \sum_i a_i (x_i^\top x)^d

        Computed so, without the expansion, unless interactions were dropped.

        Parameters
        ----------
        X : array-like or DataFrame, shape (n, n_features)
        pair : tuple of two labels, optional
            Which of ``pairs_``; to be given if there are several.

        Returns
        -------
        ndarray, shape (n, D + 1)
            Column d for degree d. The rows plus ``intercept_`` are the decision values.
        """
        X, function = self._points(X), self._function(pair)
        if self._kept is None:
            return self._machine.degree_terms(X, function)
        row, expansion = self._row(pair), self._expansion
        parts = [np.full(len(X), self.constant_[function] - self.intercept_[function])]
        parts += [expansion.degree_values(X, row, d) for d in expansion.degrees]
        return np.column_stack(parts)

    def degree_importance(self, data: ArrayLike, *, pair: Any = None) -> "DataFrame":
        """How much of the decision values each degree is responsible for, over given points.

        Parameters
        ----------
        data : array-like or DataFrame, shape (n, n_features)
        pair : tuple of two labels, optional
            Which of ``pairs_``; to be given if there are several.

        Returns
        -------
        DataFrame
            Indexed by ``degree`` 1..D, with the statistics of :meth:`degree_contributions`:
            ``mean_magnitude`` and its ``share``, the signed ``mean`` (near zero beside a large
            magnitude: the degree has no preferred direction), ``standard_deviation`` (divisor n),
            ``lower_quartile``, ``median`` and ``upper_quartile``.
        """
        parts = self.degree_contributions(data, pair=pair)[:, 1:]
        magnitude = np.abs(parts).mean(axis=0)
        lower, median, upper = np.percentile(parts, [25, 50, 75], axis=0)
        pandas = import_pandas()
        return pandas.DataFrame(
            {
                "mean_magnitude": magnitude,
                "share": magnitude / (magnitude.sum() or 1.0),
                "mean": parts.mean(axis=0),
                "standard_deviation": parts.std(axis=0),
                "lower_quartile": lower,
                "median": median,
                "upper_quartile": upper,
            },
            index=pandas.RangeIndex(1, self.degree + 1, name="degree"),
        )
