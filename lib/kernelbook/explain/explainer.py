r"""Exact global and local explanations of SVMs with a polynomial kernel."""

import copy
from collections.abc import Callable, Iterable, Sequence
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.metrics import accuracy_score, r2_score
from sklearn.utils import check_array

from kernelbook.explain import machine, plots
from kernelbook.explain.expansion import Expansion, Key, Mask
from kernelbook.kernels import Matrix

if TYPE_CHECKING:
    from pandas import DataFrame

__all__ = ["PolynomialExplainer"]


class PolynomialExplainer:
    r"""A fitted polynomial-kernel SVM written out as a linear model of feature interactions.

    With signed dual coefficients :math:`a_i` (alpha times y), kernel
    :math:`(\gamma\, x_i^\top x + r)^D` and intercept :math:`b_0`,

    .. math::

        f(x) = b_0 + \sum_{d=0}^{D} \binom{D}{d} r^{D-d} \gamma^d
               \sum_{i} a_i (x_i^\top x)^d
             = c + \sum_{1 \le |t| \le D} w_t \prod_{j \in t} x_j ,

    where t runs over the interactions, the sorted tuples of feature indices, and

    .. math::

        w_t = \binom{D}{d} r^{D-d} \gamma^d\, \frac{d!}{\prod_j n_j!}
              \sum_i a_i \prod_{j \in t} x_{ij}, \qquad
        c = b_0 + r^D \sum_i a_i ,

    with d the length of t and :math:`n_j` the number of times that j occurs in it. The equation
    is an identity: the explanation is the model. (The README of ExplainPolySVM 1.2.0 prints the
    formula without :math:`\gamma^d` and :math:`b_0`; its code has both.)

    Parameters
    ----------
    model : estimator
        A fitted SVC, NuSVC, SVR, NuSVR or OneClassSVM of scikit-learn, or an estimator of this
        package with the same attributes, with ``kernel='poly'``. It is read once and neither
        kept nor changed. For raw arrays see :meth:`from_support_vectors`.
    feature_names : sequence of str, optional
        By default the column names of the DataFrame that the model was fitted on, else
        ``x0, x1, ...``.

    Attributes
    ----------
    coef_ : ndarray, shape (n_functions, n_interactions)
        The weights :math:`w_t`; computed when first asked for. Zero for dropped interactions.
    constant_ : ndarray, shape (n_functions,)
        The constant c.
    intercept_ : ndarray, shape (n_functions,)
        :math:`b_0`, the intercept of the model. It differs from ``constant_`` where the dual
        coefficients do not sum to 0, as in one-class machines, and :math:`r \ne 0`.
    n_interactions : int
        :math:`\binom{p+D}{D} - 1`, those with weight zero included (all below degree D if
        ``coef0=0``).
    pairs_ : list of tuple, or None
        For classifiers, the label that a positive value of each function votes for and the label
        that a negative value votes for: one pair for two classes, all pairs (one-vs-one) for
        more. None for regression and novelty detection, which have one function.
    classes_ : ndarray, or None
    mask_ : ndarray of bool, shape (n_interactions,)
        The interactions that this explainer keeps; see :meth:`keep`.
    feature_names : tuple of str
    n_features_in_ : int
    degree, gamma, coef0 : int, float, float
        D, :math:`\gamma` (the resolved number) and r.

    Raises
    ------
    TypeError, ValueError
        For a model that is no SVM with ``kernel='poly'``, is not fitted, or whose decision
        values are not reproduced by its support vectors (parameters changed after the fit, or a
        decision function of another form); for a degree that is no whole number of at least 1.

    Notes
    -----
    An interaction is named by the tuple of its feature indices or feature names, in any order, a
    power by repetition: ``(0, 2, 2)`` or ``("age", "dose", "dose")`` is
    :math:`x_0 x_2^2`; a single feature may stand without a tuple. Tables and :meth:`weights`
    give the sorted indices.

    Weights depend on the units of the features, so standardise before the fit or rank by the
    spread of the contributions on given data (``data=`` of several methods).

    A model with p features and n support vectors is expanded in
    :math:`O(n \binom{p+D}{D})` operations and :math:`O(n p^{\lceil D/2 \rceil})` memory.

    This is no scikit-learn estimator: it has nothing to fit, takes a model that is fitted
    already, and is not meant to be cloned. The checks of estimators that concern prediction (wrong
    number or names of columns, NaN, one-dimensional input, pickling, shapes and labels equal to
    the model's own) hold.

    References
    ----------
    .. [1] R. Vinge, S. Byttner and J. Lundström, "Expanding Polynomial Kernels for Global and
       Local Explanations of Support Vector Machines", IDA 2025, 456-468.

    Examples
    --------
    One support vector (1, 2) of weight 1 and the kernel :math:`(x^\top z + 1)^2`: expanding
    :math:`(x_0 + 2 x_1 + 1)^2` by hand gives the weights 2, 4, 1, 4, 4 and the constant 1.

    >>> explainer = PolynomialExplainer.from_support_vectors(
    ...     [[1.0, 2.0]], [1.0], degree=2, gamma=1.0, coef0=1.0
    ... )
    >>> explainer.weights()
    {(0,): 2.0, (1,): 4.0, (0, 0): 1.0, (0, 1): 4.0, (1, 1): 4.0}
    >>> explainer.constant_.tolist(), explainer.decision_function([[1.0, 1.0]]).tolist()
    ([1.0], [16.0])
    """

    def __init__(
        self,
        model: BaseEstimator | machine.PolynomialSVM,
        *,
        feature_names: Sequence[str] | None = None,
    ) -> None:
        svm = model if isinstance(model, machine.PolynomialSVM) else machine.from_model(model)
        self.n_features_in_ = svm.support_vectors.shape[1]
        self._has_names = feature_names is not None or svm.feature_names is not None
        self.feature_names = _checked_names(
            svm.feature_names if feature_names is None else feature_names, self.n_features_in_
        )
        self._machine = svm
        self._expansion = Expansion(svm, self.feature_names)
        self.n_interactions = self._expansion.size
        self.degree, self.gamma, self.coef0 = svm.degree, svm.gamma, svm.coef0
        self.classes_ = svm.classes
        self.pairs_ = None if svm.pairs is None else list(svm.pairs)
        self._kept: Mask | None = None

    @classmethod
    def from_support_vectors(
        cls,
        support_vectors: ArrayLike,
        dual_coef: ArrayLike,
        intercept: ArrayLike = 0.0,
        *,
        degree: int,
        gamma: float,
        coef0: float = 0.0,
        classes: ArrayLike | None = None,
        feature_names: Sequence[str] | None = None,
    ) -> "PolynomialExplainer":
        """Explain one decision function given by its arrays, whatever library made it.

        Parameters
        ----------
        support_vectors : array-like, shape (n_sv, n_features)
        dual_coef : array-like, shape (n_sv,), (1, n_sv) or (n_sv, 1)
            Signed weights: alpha times y, or alpha minus alpha* in regression.
        intercept : float or array of size 1, default=0.0
        degree, gamma, coef0 : int, float, float
            Of the kernel; gamma is the number that the model used, not a rule such as 'scale'.
        classes : (label, label), optional
            The label of negative and of positive decision values. Without it the function is a
            regression and ``predict`` returns its values.
        feature_names : sequence of str, optional

        Returns
        -------
        PolynomialExplainer

        Raises
        ------
        ValueError
            For arrays that do not fit together, or parameters that are not numbers.

        Examples
        --------
        >>> PolynomialExplainer.from_support_vectors(
        ...     [[3.0]], [2.0], -1.0, degree=1, gamma=0.5, classes=("no", "yes")
        ... ).predict([[0.0], [1.0]]).tolist()
        ['no', 'yes']
        """
        svm = machine.from_arrays(
            support_vectors,
            dual_coef,
            intercept,
            degree=degree,
            gamma=gamma,
            coef0=coef0,
            classes=classes,
        )
        return cls(svm, feature_names=feature_names)

    def __repr__(self) -> str:
        kept = int(self.mask_.sum())
        return (
            f"PolynomialExplainer({self._machine.kind}, degree={self.degree}, "
            f"n_features={self.n_features_in_}, interactions={kept} of {self.n_interactions})"
        )

    @property
    def coef_(self) -> Matrix:
        if self._kept is None:
            return self._expansion.coef
        return np.where(self._kept, self._expansion.coef, 0.0)

    @property
    def constant_(self) -> Matrix:
        return self._expansion.constant

    @property
    def intercept_(self) -> Matrix:
        return self._machine.intercept

    @property
    def mask_(self) -> Mask:
        return np.ones(self.n_interactions, dtype=bool) if self._kept is None else self._kept

    # The model -----------------------------------------------------------------------------

    def decision_function(self, X: ArrayLike) -> Matrix:
        """Decision values through the expansion, in the shape that the model itself returns.

        Parameters
        ----------
        X : array-like or DataFrame, shape (n, n_features)

        Returns
        -------
        ndarray, shape (n,), or (n, n_classes) or (n, n_pairs) for several classes
            As the model's ``decision_function_shape`` says; for regression the prediction.

        Raises
        ------
        ValueError
            For other columns than those of the model, NaN or infinity.
        """
        return self._machine.shaped(self._decisions(self._points(X)))

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Labels, regression values, or +1 inside and -1 outside, as the model's ``predict``.

        Parameters
        ----------
        X : array-like or DataFrame, shape (n, n_features)

        Returns
        -------
        ndarray, shape (n,)
        """
        return self._machine.predictions(self._decisions(self._points(X)))

    def score(
        self,
        X: ArrayLike,
        y: ArrayLike,
        *,
        metric: Callable[[Any, Any], float] | None = None,
    ) -> float:
        """Score of the predictions; of the interactions kept, if some were dropped.

        Parameters
        ----------
        X : array-like or DataFrame, shape (n, n_features)
        y : array-like, shape (n,)
        metric : callable(y_true, y_pred) -> float, optional
            By default the accuracy, and R squared for regression. For imbalanced classes pass,
            say, ``sklearn.metrics.balanced_accuracy_score``.

        Returns
        -------
        float
        """
        if metric is None:
            metric = r2_score if self._machine.kind == "regressor" else accuracy_score
        return float(metric(y, self.predict(X)))

    # Global explanations -------------------------------------------------------------------

    def interactions(self, degree: int | None = None) -> list[Key]:
        """Sorted feature indices of all interactions (of one degree), in the order of ``coef_``.

        >>> PolynomialExplainer.from_support_vectors(
        ...     [[1.0, 2.0]], [1.0], degree=2, gamma=1.0
        ... ).interactions(degree=2)
        [(0, 0), (0, 1), (1, 1)]
        """
        tables = self._expansion.of_degree
        return [tuple(row) for d in self._degrees(degree) for row in tables[d].indices.tolist()]

    def name(self, interaction: Any) -> str:
        """The interaction as a product of feature names, such as ``x0·x2²``."""
        [place] = self._expansion.positions([interaction])
        return self._expansion.name(self._expansion.key(place))

    def weights(self, *, pair: Any = None, degree: int | None = None) -> dict[Key, float]:
        """The weights of the kept interactions, in the order of ``coef_``.

        Parameters
        ----------
        pair : tuple of two labels, optional
            Which of ``pairs_``; to be given if there are several.
        degree : int, optional
            Only the interactions of this degree.

        Returns
        -------
        dict
            From sorted feature indices to the weight.
        """
        row, mask = self._row(pair), self.mask_
        found: dict[Key, float] = {}
        for d in self._degrees(degree):
            part = self._expansion.slices[d]
            kept = np.flatnonzero(mask[part])
            keys = self._expansion.of_degree[d].indices[kept].tolist()
            found.update(zip(map(tuple, keys), row[part][kept].tolist(), strict=True))
        return found

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
        return _pandas().DataFrame(columns)

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
        return _pandas().DataFrame({"feature": names, "importance": totals[order], "share": share})

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
        pandas = _pandas()
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

    # Selection -----------------------------------------------------------------------------

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

    def keep(self, interactions: Mask | Iterable[Any]) -> "PolynomialExplainer":
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
        return _pandas().DataFrame(rows, columns=["count", "share_of_importance", "score"])

    # Local explanations --------------------------------------------------------------------

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
        row, expansion = self._row(pair)[None], self._expansion
        parts = [np.full(len(X), self.constant_[function] - self.intercept_[function])]
        parts += [expansion.degree_values(X, row, d)[:, 0] for d in expansion.degrees]
        return np.column_stack(parts)

    # Pictures ------------------------------------------------------------------------------

    plot_model_bar = plots.plot_model_bar
    plot_sample_waterfall = plots.plot_sample_waterfall
    plot_degree_waterfall = plots.plot_degree_waterfall
    plot_degree_bar = plots.plot_degree_bar
    plot_degree_box = plots.plot_degree_box

    # Internals -----------------------------------------------------------------------------

    def _points(self, X: ArrayLike) -> Matrix:
        columns = getattr(X, "columns", None)
        if self._has_names and columns is not None and list(columns) != list(self.feature_names):
            raise ValueError(
                "X must have the columns of the model in their order: "
                f"{list(self.feature_names)}, got {list(columns)}."
            )
        X = check_array(X, dtype=np.float64, input_name="X")
        if X.shape[1] != self.n_features_in_:
            raise ValueError(
                f"X has {X.shape[1]} features, but PolynomialExplainer is expecting "
                f"{self.n_features_in_} features as input."
            )
        return X

    def _decisions(self, X: Matrix) -> Matrix:
        return self._expansion.decisions(X, self.coef_)

    def _function(self, pair: Any) -> int:
        if pair is None and len(self.intercept_) == 1:
            return 0
        pairs = self.pairs_ or []
        if pair in pairs:
            return pairs.index(pair)
        if not pairs:
            raise ValueError(f"pair must be left out of a model without classes, got {pair!r}.")
        raise ValueError(f"pair must be one of {pairs}, in this order, got {pair!r}.")

    def _row(self, pair: Any) -> Matrix:
        return self.coef_[self._function(pair)]

    def _degrees(self, degree: int | None) -> Sequence[int]:
        if degree is None:
            return self._expansion.degrees
        if degree not in self._expansion.degrees:
            raise ValueError(f"degree must be from 1 to {self.degree}, got {degree!r}.")
        return [degree]

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

    def _masked(self, mask: Mask) -> "PolynomialExplainer":
        masked = copy.copy(self)
        masked._kept = mask
        return masked


def _checked_names(names: Sequence[str] | None, n_features: int) -> tuple[str, ...]:
    if names is None:
        return tuple(f"x{i}" for i in range(n_features))
    names = tuple(names)
    if len(names) != n_features or len(set(names)) != n_features:
        raise ValueError(
            f"feature_names must be {n_features} different names, one a column, got {names!r}."
        )
    return tuple(str(name) for name in names)


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


def _pandas() -> Any:
    try:
        import pandas
    except ImportError as error:
        raise ImportError(
            'tables need pandas: pip install "kernelbook[data]". The numbers themselves are in '
            "weights(), coef_ and interactions()."
        ) from error
    return pandas
