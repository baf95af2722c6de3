"""Labels of two classes as signs."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.multiclass import type_of_target

from kernelbook.svm.classifier import class_codes

__all__ = ["SIDES", "encode_labels"]

Array = NDArray[np.float64]

SIDES = (-1.0, 1.0)


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
