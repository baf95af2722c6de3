"""One rule for the cut-off of classifiers and novelty detectors, in the labels of the classes."""

from functools import cached_property
from numbers import Real
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone, is_outlier_detector
from sklearn.metrics import get_scorer, roc_curve
from sklearn.utils import _safe_indexing
from sklearn.utils.metaestimators import available_if

__all__ = ["Decision"]

Array = NDArray[np.float64]


class Decision(ClassifierMixin, BaseEstimator):
    """A classifier or a novelty detector that answers with labels, by a given cut-off.

    A detector is fitted to the rows of the target class and gets the sign of a classifier:
    ``decision_function`` is positive on the side of ``classes_[1]``.

    Parameters
    ----------
    estimator : estimator
        Classifier or novelty detector.
    classes : ndarray of shape (n_classes,)
        The labels, sorted.
    target : label, default=None
        Label of the class that detectors describe.
    with_outliers : bool, default=False
        Fit a detector to all rows, with y = -1 for those that are no targets.
    cutoff : float, str or scorer, default=None
        See :func:`~kernelbook.study.compare`.
    cv : splitter, default=None
        Gives the folds for the cut-off.

    Attributes
    ----------
    estimator_ : estimator
        The fitted estimator.
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted.
    threshold_ : float
        Similarity to the upper class from which on it is answered. It takes one more fit a fold,
        so it is found when an answer is first asked for; a ranking does not need it.
    """

    def __init__(
        self,
        estimator: BaseEstimator,
        classes: NDArray[Any],
        *,
        target: Any = None,
        with_outliers: bool = False,
        cutoff: Any = None,
        cv: Any = None,
    ) -> None:
        self.estimator = estimator
        self.classes = classes
        self.target = target
        self.with_outliers = with_outliers
        self.cutoff = cutoff
        self.cv = cv

    def fit(self, X: Any, y: ArrayLike, row_groups: ArrayLike | None = None) -> Self:
        labels = np.asarray(y)
        self._training = X, labels, row_groups
        self.estimator_ = clone(self.estimator)
        self.classes_ = self.classes
        if not is_outlier_detector(self.estimator):
            self.estimator_.fit(X, labels)
            self.classes_ = self.estimator_.classes_
        elif self.with_outliers:
            self.estimator_.fit(X, np.where(labels == self.target, 1, -1))
        else:
            self.estimator_.fit(_safe_indexing(X, np.flatnonzero(labels == self.target)))
        return self

    def decision_function(self, X: Any) -> Array:
        if not hasattr(self.estimator_, "decision_function"):
            fractions = self.estimator_.predict_proba(X)
            return fractions[:, 1] if fractions.shape[1] == 2 else fractions
        values = self.estimator_.decision_function(X)
        flipped = is_outlier_detector(self.estimator) and self.target == self.classes_[0]
        return -values if flipped else values

    @available_if(lambda self: hasattr(self.estimator, "predict_proba"))
    def predict_proba(self, X: Any) -> Array:
        return self.estimator_.predict_proba(X)

    def predict(self, X: Any) -> NDArray[Any]:
        if self.cutoff is not None:
            return self._labels(self._similarity(X) >= self.threshold_)
        answers = self.estimator_.predict(X)
        return self._labels(answers > 0) if is_outlier_detector(self.estimator) else answers

    @cached_property
    def threshold_(self) -> float:
        X, y, groups = self._training
        plain = clone(self).set_params(cutoff=None)
        parts = [
            (
                plain.fit(_safe_indexing(X, train), y[train])._similarity(_safe_indexing(X, test)),
                test,
            )
            for train, test in self.cv.split(X, y, groups)
        ]
        values = np.concatenate([similarity for similarity, _ in parts])
        y = y[np.concatenate([test for _, test in parts])]
        if isinstance(self.cutoff, Real):
            return float(np.quantile(values[y == self._upper], float(self.cutoff)))
        return self._best_threshold(values, y)

    def _best_threshold(self, values: Array, y: NDArray[Any]) -> float:
        """Half way between two values; among equally good ones the middle one."""
        scorer, machine = get_scorer(self.cutoff), _Cut(self)
        thresholds = roc_curve(y == self._upper, values)[2]
        scores = [scorer(machine.at(threshold), values, y) for threshold in thresholds]
        best = np.flatnonzero(np.equal(scores, max(scores)))
        threshold = thresholds[best[(len(best) - 1) // 2]]
        lower = values[values < threshold]
        return float((threshold + lower.max()) / 2) if len(lower) else -np.inf

    @property
    def _upper(self) -> Any:
        return self.classes_[1] if self.target is None else self.target

    def _similarity(self, X: Any) -> Array:
        values = self.decision_function(X)
        return values if self._upper == self.classes_[1] else -values

    def _labels(self, upper: NDArray[np.bool_]) -> NDArray[Any]:
        first, second = self.classes_[::-1] if self._upper == self.classes_[1] else self.classes_
        return np.where(upper, first, second)


class _Cut(ClassifierMixin, BaseEstimator):
    """Answers to known similarities at any threshold, for a scorer."""

    def __init__(self, decision: Decision) -> None:
        self.decision = decision
        self.classes_ = decision.classes_

    def at(self, threshold: float) -> Self:
        self.threshold = threshold
        return self

    def predict(self, values: Array) -> NDArray[Any]:
        return self.decision._labels(values >= self.threshold)
