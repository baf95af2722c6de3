"""A polynomial-kernel SVM read and written out as a linear model of interactions."""

import copy
from collections.abc import Callable, Sequence
from itertools import chain
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.metrics import accuracy_score, r2_score
from sklearn.utils import check_array

from kernelbook.explain import machine
from kernelbook.explain.expansion import Expansion, Key, Mask
from kernelbook.kernels import Matrix


class ExpandedSVM:
    """The linear model itself: its weights by interaction, its values and its predictions."""

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
    ) -> Self:
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
        >>> from kernelbook.explain import PolynomialExplainer
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
            f"{type(self).__name__}({self._machine.kind}, degree={self.degree}, "
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

    def interactions(self, degree: int | None = None) -> list[Key]:
        """Sorted feature indices of all interactions (of one degree), in the order of ``coef_``.

        >>> from kernelbook.explain import PolynomialExplainer
        >>> PolynomialExplainer.from_support_vectors(
        ...     [[1.0, 2.0]], [1.0], degree=2, gamma=1.0
        ... ).interactions(degree=2)
        [(0, 0), (0, 1), (1, 1)]
        """
        return [key for d in self._degrees(degree) for key in self._expansion.keys(d)]

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
        row, mask = self._row(pair).tolist(), self.mask_
        places = [
            range(self.n_interactions)[self._expansion.slices[d]] for d in self._degrees(degree)
        ]
        return {
            key: row[place]
            for key, place in zip(self.interactions(degree), chain(*places), strict=True)
            if mask[place]
        }

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
        return self._machine.resolved(self._expansion.decisions(X, self.coef_))

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

    def _masked(self, mask: Mask) -> Self:
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
