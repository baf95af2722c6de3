"""The measures of an imbalanced classifier, beside the classifiers that learn nothing.

The table of tests of two classes is the only input of every rate here; each classifier, the
trivial ones included, is such a table, and scikit-learn and imbalanced-learn compute the rates.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import binomtest
from sklearn.metrics import (
    accuracy_score,
    average_precision_score,
    balanced_accuracy_score,
    confusion_matrix,
    f1_score,
    matthews_corrcoef,
    precision_score,
    recall_score,
    roc_auc_score,
)
from sklearn.utils import assert_all_finite, check_array
from sklearn.utils.multiclass import unique_labels
from sklearn.utils.validation import check_consistent_length, column_or_1d

from kernelbook.optional import import_optional
from kernelbook.validation import check_number

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["expected_rates", "imbalance_report"]

RANKING = ("roc_auc", "average_precision")

# The four cells of a 2 x 2 table in the order tp, fn, fp, tn: a table of counts is a weight of
# each cell, which serves an expected table (fractions) as well as an observed one.
CELLS = np.array([1, 1, 0, 0]), np.array([1, 0, 1, 0])

Vector = NDArray[np.float64]
Flags = NDArray[np.bool_]
Rates = dict[str, float]
Label = Hashable


def imbalance_report(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    y_score: ArrayLike | None = None,
    *,
    pos_label: Label | None = None,
    prevalence: float | None = None,
    confidence: float | None = None,
) -> pd.DataFrame:
    r"""Tabulate the rates of a two-class classifier beside those of trivial classifiers.

    With :math:`s` the sensitivity, :math:`t` the specificity and :math:`\pi` the prevalence, the
    fraction of positives,

    .. math::
       \text{precision} &= \frac{\pi s}{q}, \quad q = \pi s + (1 - \pi)(1 - t), &
       F_1 &= \frac{2 \pi s}{\pi + q}, &
       G &= \sqrt{s t}, \\
       \text{balanced accuracy} &= \tfrac12 (s + t), &
       \text{accuracy} &= \pi s + (1 - \pi) t, &
       \text{MCC} &= (s + t - 1) \sqrt{\frac{\pi (1 - \pi)}{q (1 - q)}} .

    Sensitivity, specificity, G-mean, balanced accuracy and ROC AUC do not depend on
    :math:`\pi`; the others do, which is why a sample with its majority thinned out flatters them.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n,)
        True and predicted labels: any two values (numbers, strings, booleans).
    y_score : array-like of shape (n,), default=None
        Larger means more likely positive: ``decision_function(X)``, or the column of
        ``predict_proba(X)`` that belongs to the positive class. If None, the two ranking
        measures of the model are NaN.
    pos_label : hashable, default=None
        The positive class. If None, 1 if the labels are among {0, 1} or {-1, 1}, else the
        second label in sorted order (``classes_[1]``).
    prevalence : float, default=None
        True prevalence :math:`\pi`, in (0, 1), of the population where the classifier will be
        used. The positives then weigh :math:`\pi / n_+` each and the negatives
        :math:`(1 - \pi) / n_-`. If None, the prevalence in ``y_true``.
    confidence : float, default=None
        Confidence level in (0, 1); adds the rows ``model_low`` and ``model_high``, see Notes.

    Returns
    -------
    pandas.DataFrame
        Rows ``model``, ``all_positive``, ``all_negative`` and ``prior_random`` (says positive
        with probability :math:`\pi`, whatever x is). Columns ``sensitivity specificity precision
        f1 g_mean balanced_accuracy mcc accuracy roc_auc average_precision``, all fractions (MCC
        in [-1, 1]).

    Raises
    ------
    ValueError
        If there are more than two labels, if lengths differ, if ``pos_label`` is not a label, if
        ``y_score`` is not one finite number a sample, if ``prevalence`` or ``confidence`` is not
        in (0, 1), or if ``prevalence`` is given and ``y_true`` holds one class only.
    ImportError
        If pandas or imbalanced-learn is not installed.

    See Also
    --------
    expected_rates : The same measures from known rates.
    imblearn.metrics.classification_report_imbalanced : Each class of several.

    Notes
    -----
    *Undefined rates.* 0/0 is NaN, without a warning: the precision of a classifier that flags
    nothing; everything that needs the class that ``y_true`` lacks. scikit-learn and
    imbalanced-learn print 0 there. The MCC of a constant prediction is 0, as in scikit-learn: its
    covariance with the truth is 0; it is NaN only where ``y_true`` itself is constant.

    *prior_random* draws nothing. Its row holds the rates of the expected table, with
    :math:`s = \pi` and :math:`t = 1 - \pi`: for sensitivity, specificity, balanced accuracy and
    accuracy these are the exact expectations; so they are for precision and MCC, given
    that something, but not everything, is flagged; F1 and G-mean, which are curved, have them as
    the limit of large n. A score independent of the truth has an expected AUC of 1/2; its average
    precision is :math:`\pi` in the same limit.

    *Intervals.* With confidence level :math:`c`, sensitivity and specificity have their Wilson
    intervals at level :math:`c` each. The others are increasing functions of the two with
    :math:`\pi` held fixed, so they are evaluated at the ends of the two Wilson intervals at level
    :math:`\sqrt c`, which hold together with probability :math:`c` since the two classes are
    independent samples: conservative. The samples must be independent (not the repeated test
    folds of a cross-validation). A class without a sample has the interval [0, 1]. The ranking
    measures get no interval (NaN).

    *More than two classes.* No report: compare one label with the rest, ``y == label``, or use
    ``imblearn.metrics.geometric_mean_score``, the k-th root of the product of the k recalls.

    The G-mean comes from imbalanced-learn, the rest from scikit-learn. The specificity is
    scikit-learn's recall of the negative class, since ``imblearn.metrics.specificity_score``
    (0.14) mixes weighted with unweighted counts.

    Examples
    --------
    Ten people, three ill; two of them found, one healthy person flagged.

    >>> y_true = [1, 1, 1, 0, 0, 0, 0, 0, 0, 0]
    >>> y_pred = [1, 1, 0, 1, 0, 0, 0, 0, 0, 0]
    >>> report = imbalance_report(y_true, y_pred)
    >>> report[["sensitivity", "specificity", "precision", "f1"]].round(3)
                  sensitivity  specificity  precision     f1
    model               0.667        0.857      0.667  0.667
    all_positive        1.000        0.000      0.300  0.462
    all_negative        0.000        1.000        NaN  0.000
    prior_random        0.300        0.700      0.300  0.300

    Where one person in a hundred is ill, 0.01 * 0.667 = 0.0067 are rightly flagged and
    0.99 * 0.143 = 0.1414 wrongly, and the precision is 0.0067 / 0.1481:

    >>> print(f"{imbalance_report(y_true, y_pred, prevalence=0.01).precision['model']:.3f}")
    0.045
    """
    pd = import_optional("pandas", extra="metrics", purpose="A report")
    truth, prediction = _positives(y_true, y_pred, pos_label)
    score = None if y_score is None else _checked_score(y_score, len(truth))
    if prevalence is None:
        p, weights = float(truth.mean()), np.ones(len(truth))
    else:
        p = check_number(prevalence, "prevalence", low=0, high=1, inclusive="neither")
        weights = _weights(truth, p)
    rows = {"model": _rates(_table(truth, prediction, weights)) | _ranking(truth, score, weights)}
    if confidence is not None:
        confidence = check_number(confidence, "confidence", low=0, high=1, inclusive="neither")
        counts = _table(truth, prediction, np.ones(len(truth)))
        rows["model_low"], rows["model_high"] = _bounds(counts, p, confidence)
    for name, flagged in (("all_positive", 1.0), ("all_negative", 0.0), ("prior_random", p)):
        rows[name] = _uninformed(p, flagged)
    return pd.DataFrame.from_dict(rows, orient="index")


def expected_rates(sensitivity: float, specificity: float, prevalence: float) -> Rates:
    r"""Compute the measures of a classifier with known rates in a population.

    Parameters
    ----------
    sensitivity, specificity : float
        Fractions :math:`s` and :math:`t`, in [0, 1], of the positives and the negatives
        classified correctly.
    prevalence : float
        Fraction :math:`\pi` of positives, in [0, 1].

    Returns
    -------
    dict of str to float
        ``sensitivity specificity precision f1 g_mean balanced_accuracy mcc accuracy`` by the
        formulas of :func:`imbalance_report`, NaN where they are 0/0.

    Raises
    ------
    ValueError
        If an argument is not in [0, 1].
    ImportError
        If imbalanced-learn is not installed.

    See Also
    --------
    imbalance_report : The same measures from labels, beside trivial classifiers.

    Examples
    --------
    A test that is right for 99 of 100, ill or healthy, where one in a hundred is ill:

    >>> print(f"{expected_rates(0.99, 0.99, 0.01)['precision']:.3f}")
    0.500
    """
    s = check_number(sensitivity, "sensitivity", low=0, high=1)
    t = check_number(specificity, "specificity", low=0, high=1)
    p = check_number(prevalence, "prevalence", low=0, high=1)
    return _rates(np.array([p * s, p * (1 - s), (1 - p) * (1 - t), (1 - p) * t]))


def _positives(
    y_true: ArrayLike, y_pred: ArrayLike, pos_label: Label | None
) -> tuple[Flags, Flags]:
    """Truth and prediction as booleans: is it the positive class?"""
    true_labels, predicted_labels = _plain(column_or_1d(y_true)), _plain(column_or_1d(y_pred))
    check_consistent_length(true_labels, predicted_labels)
    if len(true_labels) == 0:
        raise ValueError("y_true is empty: a report needs at least one sample.")
    assert_all_finite(true_labels, input_name="y_true")
    assert_all_finite(predicted_labels, input_name="y_pred")
    labels = unique_labels(true_labels, predicted_labels).tolist()
    if len(labels) > 2:
        raise ValueError(
            f"y_true and y_pred hold {len(labels)} labels, {labels[:5]}...: imbalance_report is "
            "for two. Compare one with the rest (y == label), or use "
            "imblearn.metrics.geometric_mean_score for the G-mean of several classes."
        )
    positive = _positive_label(labels) if pos_label is None else pos_label
    if positive not in labels and len(labels) == 2:
        raise ValueError(f"pos_label={pos_label!r} is not one of the labels {labels}.")
    return true_labels == positive, predicted_labels == positive


def _plain(labels: NDArray[np.generic]) -> NDArray[np.generic]:
    """Labels of one type in an array of that type, which a column of objects may hold."""
    if labels.dtype != object:
        return labels
    plain = np.asarray(labels.tolist())
    is_mixed = plain.dtype.kind == "U" and not all(isinstance(label, str) for label in labels)
    return labels if is_mixed else plain


def _positive_label(labels: list[Label]) -> Label:
    if set(labels) <= {0, 1} or set(labels) <= {-1, 1}:
        return 1
    if len(labels) == 1:
        raise ValueError(
            f"y_true and y_pred hold the single label {labels[0]!r}: say which class is the "
            "positive one with pos_label=."
        )
    return labels[1]


def _checked_score(y_score: ArrayLike, n_samples: int) -> Vector:
    score = check_array(y_score, dtype=np.float64, ensure_2d=False, input_name="y_score")
    if score.shape != (n_samples,):
        raise ValueError(
            f"y_score must have shape ({n_samples},), one number a sample, got {score.shape}; of "
            "predict_proba pass the column of the positive class."
        )
    return score


def _weights(truth: Flags, prevalence: float) -> Vector:
    """Weights of mean one that give the sample this prevalence."""
    n, n_positive = len(truth), int(truth.sum())
    if n_positive in (0, n):
        raise ValueError(
            "prevalence= re-weights the two classes, but y_true holds only one of them."
        )
    return np.where(truth, prevalence * n / n_positive, (1 - prevalence) * n / (n - n_positive))


def _table(truth: Flags, prediction: Flags, weights: Vector) -> Vector:
    """Weighted counts in the order of CELLS."""
    table = confusion_matrix(truth, prediction, labels=[True, False], sample_weight=weights)
    return table.ravel()


def _rates(table: Vector) -> Rates:
    """All measures of a 2 x 2 table (tp, fn, fp, tn), nan where they are 0/0."""
    imblearn = import_optional("imblearn.metrics", extra="metrics", purpose="The G-mean")
    tp, fn, fp, tn = table
    both_classes = tp + fn > 0 and fp + tn > 0

    def rate(measure: Callable[..., float], **options: float) -> float:
        return measure(*CELLS, sample_weight=table, **options)

    def if_both(measure: Callable[..., float]) -> float:
        return rate(measure) if both_classes else np.nan

    return {
        "sensitivity": rate(recall_score, zero_division=np.nan),
        "specificity": rate(recall_score, pos_label=0, zero_division=np.nan),
        "precision": rate(precision_score, zero_division=np.nan),
        "f1": rate(f1_score, zero_division=np.nan),
        "g_mean": if_both(imblearn.geometric_mean_score),
        "balanced_accuracy": if_both(balanced_accuracy_score),
        "mcc": if_both(matthews_corrcoef),
        "accuracy": rate(accuracy_score),
    }


def _ranking(truth: Flags, score: Vector | None, weights: Vector) -> Rates:
    """ROC AUC and average precision, nan without a score or without the class they need."""
    row = dict.fromkeys(RANKING, np.nan)
    if score is not None and truth.any():
        row["average_precision"] = average_precision_score(truth, score, sample_weight=weights)
        if not truth.all():
            row["roc_auc"] = roc_auc_score(truth, score, sample_weight=weights)
    return row


def _uninformed(prevalence: float, flagged: float) -> Rates:
    """Measures of a classifier that says positive with probability ``flagged`` whatever x is."""
    row = expected_rates(flagged, 1 - flagged, prevalence)
    both = 0 < prevalence < 1
    # Independent of the truth: these are known, and the formulas would leave rounding noise.
    row["mcc"] = 0.0 if both else np.nan
    row["roc_auc"] = 0.5 if both else np.nan
    row["average_precision"] = prevalence if prevalence > 0 else np.nan
    return row


def _bounds(table: Vector, prevalence: float, confidence: float) -> list[Rates]:
    """Lower and upper bounds of every measure from the Wilson intervals of the two recalls."""
    tp, fn, fp, tn = (int(count) for count in table)
    rows = []
    for end in (0, 1):
        s, t, s_of_both, t_of_both = (
            _wilson(successes, trials, level)[end]
            for level in (confidence, confidence**0.5)
            for successes, trials in ((tp, tp + fn), (tn, fp + tn))
        )
        row = expected_rates(s_of_both, t_of_both, prevalence) | {
            "sensitivity": s,
            "specificity": t,
        }
        rows.append(row | dict.fromkeys(RANKING, np.nan))
    return rows


def _wilson(successes: int, trials: int, confidence: float) -> tuple[float, float]:
    if trials == 0:  # no sample of this class: nothing is known of its recall
        return 0.0, 1.0
    interval = binomtest(successes, trials).proportion_ci(confidence, method="wilson")
    return float(interval.low), float(interval.high)
