"""Exact global and local explanations of SVMs with a polynomial kernel."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, is_regressor
from sklearn.metrics import accuracy_score, r2_score
from sklearn.utils import Tags
from sklearn.utils.metadata_routing import UNUSED
from sklearn.utils.validation import check_is_fitted, validate_data

from kernelbook.explain.expansion import Expansion
from kernelbook.explain.interactions import Interaction, Interactions, Key, Mask
from kernelbook.explain.monomials import Matrix
from kernelbook.explain.polynomial_svm import Pair, PolynomialSVM
from kernelbook.explain.ranking import degree_table, feature_table, interaction_table, selected
from kernelbook.explain.reader import read_arrays, read_model

if TYPE_CHECKING:
    from pandas import DataFrame

__all__ = ["PolynomialExplainer"]


class PolynomialExplainer(BaseEstimator):
    r"""Explain a polynomial-kernel SVM as the linear model of feature interactions that it is.

    With signed dual coefficients :math:`a_i` (alpha times y), kernel
    :math:`(\gamma\, x_i^\top x + r)^D` and intercept :math:`b_0` it is

    .. math::

        f(x) = c + \sum_{1 \le |t| \le D} w_t \prod_{j \in t} x_j , \qquad
        c = b_0 + r^D \sum_i a_i, \qquad
        w_t = \binom{D}{d} r^{D-d} \gamma^d\, \frac{d!}{\prod_j n_j!}
              \sum_i a_i \prod_{j \in t} x_{ij},

    where t runs over the interactions, the sorted tuples of feature indices, d is the length of t
    and :math:`n_j` the number of times that j occurs in it: the explanation is the model.

    Parameters
    ----------
    feature_names : sequence of str, default=None
        Names of the features. If None, the columns of the DataFrame that the model was fitted
        on, else ``x0, x1, ...``.

    Attributes
    ----------
    coef_ : ndarray of shape (n_functions, n_interactions)
        The weights :math:`w_t`; computed when first asked for. Zero for dropped interactions.
    constant_ : ndarray of shape (n_functions,)
        The constant c.
    intercept_ : ndarray of shape (n_functions,)
        :math:`b_0`, the intercept of the model: not c if dual coefficients do not sum to 0.
    n_interactions_ : int
        :math:`\binom{p+D}{D} - 1`, those with weight zero included (all below degree D if r is 0).
    mask_ : ndarray of shape (n_interactions,), dtype=bool
        Which interactions are kept; see :meth:`keep`.
    pairs_ : list of tuple, or None
        For each function of a classifier the labels that its positive and its negative values
        vote for, one-vs-one. None for regression and outlier detection, with one function.
    classes_ : ndarray of shape (n_classes,), or None
        The labels of a classifier.
    degree_ : int
        Degree D of the kernel.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Defined only if the model was fitted on a DataFrame.

    See Also
    --------
    kernelbook.explain.plot_importance : The most important interactions as bars.
    kernelbook.explain.plot_waterfall : From the constant to one decision value.

    Notes
    -----
    An interaction is a tuple of feature indices or names in any order, a power by repetition:
    ``(0, 2, 2)`` or ``("age", "dose", "dose")`` is :math:`x_0 x_2^2`. A single feature needs no
    tuple; results have the sorted indices. Weights depend on the units of the features:
    standardise before the fit, or rank by the spread of the contributions on given data. Both
    depend on the origin: in shifted features the same function has other interactions.

    References
    ----------
    [Vinge2025]_

    Examples
    --------
    One support vector (1, 2) of weight 1 and the kernel :math:`(x^\top z + 1)^2`: expanding
    :math:`(x_0 + 2 x_1 + 1)^2` by hand gives the weights 2, 4, 1, 4, 4 and the constant 1.

    >>> explainer = PolynomialExplainer.from_support_vectors(
    ...     [[1.0, 2.0]], [1.0], degree=2, gamma=1.0, coef0=1.0
    ... )
    >>> explainer.weights()
    {(0,): 2.0, (1,): 4.0, (0, 0): 1.0, (0, 1): 4.0, (1, 1): 4.0}

    At (1, 1) the terms with :math:`x_0` give 2 + 1 + 4/2, those with :math:`x_1` 4 + 4 + 4/2:

    >>> explainer.feature_contributions([[1.0, 1.0]]).tolist()
    [[5.0, 10.0]]
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {"feature_names": ["array-like", None]}
    __metadata_request__fit: ClassVar[dict[str, str]] = {"model": UNUSED}

    def __init__(self, *, feature_names: Sequence[str] | None = None) -> None:
        self.feature_names = feature_names

    def fit(self, model: BaseEstimator) -> Self:
        """Read a fitted machine, which is neither kept nor changed.

        Parameters
        ----------
        model : estimator
            A fitted SVC, NuSVC, SVR, NuSVR or OneClassSVM of scikit-learn, or an estimator of
            this package with the same attributes, with a polynomial (or linear) kernel.

        Returns
        -------
        PolynomialExplainer
            The explainer itself.

        Raises
        ------
        TypeError
            If ``model`` is no estimator.
        ValueError
            If it is no fitted SVM with such a kernel, or its decision values at some support
            vectors are not its dual coefficients times the kernel plus its intercept.
        """
        self._validate_params()
        return self._read(read_model(model))

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
    ) -> Self:
        """Explain one decision function given by its arrays, whatever library made it.

        Parameters
        ----------
        support_vectors : array-like of shape (n_sv, n_features)
            Points of the training set.
        dual_coef : array-like of shape (n_sv,), (1, n_sv) or (n_sv, 1)
            Signed weights: alpha times y, or alpha minus alpha* in regression.
        intercept : float or array of size 1, default=0.0
            The number b_0.
        degree : int
            Degree D of the kernel.
        gamma : float
            Factor of its inner product: the number that was used, not a rule such as 'scale'.
        coef0 : float, default=0.0
            Its constant r.
        classes : tuple of two labels, default=None
            The label of negative and of positive decision values. If None, a regression.
        feature_names : sequence of str, default=None
            Names of the features. If None, ``x0, x1, ...``.

        Returns
        -------
        PolynomialExplainer
            A fitted one.
        """
        explainer = cls(feature_names=feature_names)
        explainer._validate_params()
        kernel = {"degree": degree, "gamma": gamma, "coef0": coef0}
        svm = read_arrays(support_vectors, dual_coef, intercept, classes, **kernel)
        return explainer._read(svm)

    def for_pair(self, pair: Pair) -> Self:
        """Explain one function of a classifier with several classes.

        Parameters
        ----------
        pair : tuple of two labels
            One of ``pairs_``. Positive values vote for the first label.

        Returns
        -------
        PolynomialExplainer
            A new one, with two classes, that keeps the same interactions.
        """
        check_is_fitted(self)
        return copy.copy(self)._with(self._expansion.for_pair(pair))

    @property
    def coef_(self) -> Matrix:
        """Weights of all interactions, shape (n_functions, n_interactions)."""
        return self._expansion.coef

    @property
    def mask_(self) -> Mask:
        """Mask of the interactions that are kept, shape (n_interactions,)."""
        return self._expansion.mask

    def decision_function(self, X: ArrayLike) -> Matrix:
        """Compute decision values by the expansion, in the shape that the model itself returns.

        Parameters
        ----------
        X : array-like of shape (n, n_features)
            Points.

        Returns
        -------
        ndarray of shape (n,), or (n, n_classes) or (n, n_pairs) for several classes
            As the model's ``decision_function_shape`` says; for regression the prediction.
        """
        X = self._points(X)
        return self._expansion.svm.shaped(self._expansion.decisions(X))

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Predict labels, regression values, or +1 inside and -1 outside, as the model does.

        Parameters
        ----------
        X : array-like of shape (n, n_features)
            Points.

        Returns
        -------
        ndarray of shape (n,)
            Predictions, by the kept interactions alone.
        """
        X = self._points(X)
        return self._expansion.svm.predictions(self._expansion.decisions(X))

    def score(self, X: ArrayLike, y: ArrayLike) -> float:
        """Return the accuracy of the predictions, or R squared for regression.

        Parameters
        ----------
        X : array-like of shape (n, n_features)
            Points.
        y : array-like of shape (n,)
            True labels or values.

        Returns
        -------
        float
            At most 1; higher is better.
        """
        metric = r2_score if is_regressor(self) else accuracy_score
        return float(metric(y, self.predict(X)))

    def interactions(self, degree: int | None = None) -> list[Key]:
        """List all interactions, dropped ones among them, in the order of ``coef_``.

        Parameters
        ----------
        degree : int, default=None
            The degree. If None, all of them.

        Returns
        -------
        list of tuple of int
            Sorted feature indices: for two features at degree 2 (0, 0), (0, 1) and (1, 1).
        """
        check_is_fitted(self)
        return self._expansion.interactions.keys(degree)

    def name(self, interaction: Interaction) -> str:
        """Write an interaction as a product of feature names.

        Parameters
        ----------
        interaction : tuple of int or str
            As in the notes of the class.

        Returns
        -------
        str
            Text such as ``x0·x2²``.
        """
        check_is_fitted(self)
        interactions = self._expansion.interactions
        [place] = interactions.positions([interaction])
        return interactions.name(interactions.key(place))

    def weights(self, degree: int | None = None) -> dict[Key, float]:
        """Return the weights of the kept interactions of one function.

        Parameters
        ----------
        degree : int, default=None
            The degree. If None, all of them.

        Returns
        -------
        dict
            From sorted feature indices to the weight, in the order of ``coef_``.
        """
        keys, places = self.interactions(degree), self._expansion.interactions.places(degree)
        columns = keys, self._expansion.row[places].tolist(), self.mask_[places]
        return {key: weight for key, weight, kept in zip(*columns, strict=True) if kept}

    def importance(self, data: ArrayLike | None = None, *, top: int | None = None) -> DataFrame:
        r"""Rank the kept interactions, most important first.

        Parameters
        ----------
        data : array-like of shape (n, n_features), default=None
            If given, importance is the standard deviation of the contribution over these points,
            which does not depend on the units of the features. If None, it is :math:`|w_t|`. With
            several functions it is the mean over them.
        top : int, default=None
            Number of rows. If None, all.

        Returns
        -------
        DataFrame
            Columns ``interaction`` (sorted feature indices), ``name``, ``degree``, ``weight`` (of
            one function only), ``importance``, its ``fraction`` and ``cumulative_fraction``.
        """
        scores, interactions = self._scores(data), self._expansion.interactions
        return interaction_table(interactions, scores, self.mask_, self.coef_, top)

    def feature_importance(self, data: ArrayLike | None = None) -> DataFrame:
        """Rank the features by their total importance, most important first.

        The importance of an interaction is split equally among its distinct features.

        Parameters
        ----------
        data : array-like of shape (n, n_features), default=None
            As in :meth:`importance`.

        Returns
        -------
        DataFrame
            Columns ``feature``, ``importance``, ``fraction``.
        """
        totals = self._expansion.feature_totals(self._scores(data))
        return feature_table(self._expansion.interactions.feature_names, totals)

    def degree_importance(self, data: ArrayLike) -> DataFrame:
        """Summarize how much each degree adds to the decision values of given points.

        Parameters
        ----------
        data : array-like of shape (n, n_features)
            Points.

        Returns
        -------
        DataFrame
            Indexed by ``degree`` 1..D: ``mean_magnitude`` of :meth:`degree_contributions` and its
            ``fraction``, the signed ``mean``, ``standard_deviation`` (divisor n),
            ``lower_quartile``, ``median`` and ``upper_quartile``.
        """
        return degree_table(self.degree_contributions(data)[:, 1:])

    def contributions(
        self, X: ArrayLike, interactions: Iterable[Interaction] | None = None
    ) -> Matrix:
        """Compute what every interaction adds to a decision value, weight times product.

        Parameters
        ----------
        X : array-like of shape (n, n_features)
            Points.
        interactions : list of interactions, default=None
            Only these, in this order. If None, all, in the order of ``coef_``.

        Returns
        -------
        ndarray of shape (n, n_interactions) or (n, len(interactions))
            The rows of the whole matrix plus ``constant_`` are the decision values.
        """
        X = self._points(X)
        if interactions is None:
            return self._expansion.contributions(X)
        return self._expansion.contributions_of(interactions, X)

    def feature_contributions(self, X: ArrayLike) -> Matrix:
        """Compute what every feature adds to a decision value.

        Each interaction is split equally among its distinct features: the Shapley values of the
        game in which absent features are 0, the mean of standardised data.

        Parameters
        ----------
        X : array-like of shape (n, n_features)
            Points.

        Returns
        -------
        ndarray of shape (n, n_features)
            The rows plus ``constant_`` are the decision values.
        """
        return self._expansion.feature_contributions(self._points(X))

    def degree_contributions(self, X: ArrayLike) -> Matrix:
        r"""Compute what every degree d of the kernel adds to a decision value.

        It is :math:`\binom{D}{d} r^{D-d} \gamma^d \sum_i a_i (x_i^\top x)^d`, computed so, without
        the expansion, unless interactions were dropped.

        Parameters
        ----------
        X : array-like of shape (n, n_features)
            Points.

        Returns
        -------
        ndarray of shape (n, D + 1)
            Column d for degree d. The rows plus ``intercept_`` are the decision values.
        """
        return self._expansion.degree_contributions(self._points(X))

    def select(
        self,
        count: int | None = None,
        *,
        fraction_of_interactions: float | None = None,
        fraction_of_importance: float | None = None,
        data: ArrayLike | None = None,
    ) -> Mask:
        """Select the most important interactions, as few as meet one of three criteria.

        Parameters
        ----------
        count : int, default=None
            Number of interactions. Exactly one of the three is a number.
        fraction_of_interactions : float in (0, 1], default=None
            At least this fraction of the number of kept interactions.
        fraction_of_importance : float in (0, 1], default=None
            At least this fraction of the summed importance. With 1, all that are not zero.
        data : array-like of shape (n, n_features), default=None
            As in :meth:`importance`.

        Returns
        -------
        ndarray of shape (n_interactions,), dtype=bool
            A mask for :meth:`keep`.
        """
        return selected(
            self._scores(data), self.mask_, count, fraction_of_interactions, fraction_of_importance
        )

    def keep(self, interactions: Mask | Iterable[Interaction]) -> Self:
        """Reduce the model to its constant and some interactions.

        Parameters
        ----------
        interactions : ndarray of shape (n_interactions,), dtype=bool, or list of interactions
            A mask such as :meth:`select` returns, or keys, none of them dropped before.

        Returns
        -------
        PolynomialExplainer
            A new one, all of whose methods speak of the reduced model; this one is not changed.
        """
        check_is_fitted(self)
        return copy.copy(self)._with(self._expansion.reduced(interactions))

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        if "_expansion" in vars(self):
            tags.estimator_type = self._expansion.svm.kind
        return tags

    def _read(self, svm: PolynomialSVM) -> Self:
        p = svm.support_vectors.shape[1]
        names = svm.feature_names if self.feature_names is None else self.feature_names
        interactions = Interactions(p, svm.degree, names)
        self.__dict__.pop("feature_names_in_", None)
        if svm.feature_names is not None:
            self.feature_names_in_ = svm.feature_names
        self.n_features_in_ = p
        return self._with(Expansion(svm, interactions))

    def _with(self, expansion: Expansion) -> Self:
        self._expansion, svm = expansion, expansion.svm
        self.constant_, self.intercept_ = expansion.constant, svm.intercept
        self.pairs_, self.classes_ = svm.pairs, svm.classes
        self.n_interactions_, self.degree_ = expansion.interactions.size, svm.degree
        return self

    def _points(self, X: ArrayLike) -> Matrix:
        check_is_fitted(self)
        points: Matrix = validate_data(self, X, dtype=np.float64, reset=False)
        return points

    def _scores(self, data: ArrayLike | None) -> Matrix:
        check_is_fitted(self)
        return self._expansion.importance(None if data is None else self._points(data))
