"""Labels as numbers of classes, and those of two classes as signs."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import column_or_1d

__all__ = ["SIDES", "class_codes", "encode_labels"]

Array = NDArray[np.float64]
Index = NDArray[np.intp]

SIDES = (-1.0, 1.0)


def class_codes(y: ArrayLike) -> tuple[NDArray[Any], Index]:
    """Return the sorted classes, and the place of each point's class among them.

    Parameters
    ----------
    y : array-like of shape (n,)
        Labels of one type.

    Returns
    -------
    classes : ndarray of shape (n_classes,)
        The labels, at least two.
    codes : ndarray of shape (n,), dtype=int
        From 0 to n_classes - 1.

    Raises
    ------
    ValueError
        If there is one label only, or labels of several types.

    Examples
    --------
    >>> class_codes(["low", "high", "mid"])[1].tolist()
    [1, 0, 2]
    """
    y = column_or_1d(y, warn=True)
    if y.dtype == object:
        strings = {isinstance(label, str) for label in y}
        y = np.asarray(y.tolist())
        if y.dtype == object or len(strings) > 1:
            raise ValueError("y mixes labels of several types, or has a missing one: use one type.")
    check_classification_targets(y)
    classes, codes = np.unique(y, return_inverse=True)
    if len(classes) < 2:
        raise ValueError(
            f"y holds one class only ({classes.tolist()[0]!r}): a classifier needs at least "
            "2 classes."
        )
    return classes, codes


def encode_labels(y: ArrayLike) -> tuple[NDArray[Any], Array]:
    """Return the sorted classes, and the side of each point.

    Parameters
    ----------
    y : array-like of shape (n,)
        Two labels of one type.

    Returns
    -------
    classes : ndarray of shape (2,)
        The labels.
    signs : ndarray of shape (n,)
        -1 for the first class, +1 for the second.

    Raises
    ------
    ValueError
        If there are not exactly two labels, or labels of several types.

    Examples
    --------
    >>> encode_labels(["no", "yes", "no"])[1].tolist()
    [-1.0, 1.0, -1.0]
    """
    classes, codes = class_codes(y)
    if len(classes) > 2:
        raise ValueError(
            "Only binary classification is supported. The type of the target is "
            f"{type_of_target(classes[codes])}, with {len(classes)} classes: wrap the estimator in "
            "sklearn.multiclass.OneVsOneClassifier or OneVsRestClassifier."
        )
    return classes, np.where(codes == 1, 1.0, -1.0)
