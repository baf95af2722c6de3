"""Weights of classes, by label."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernelbook.validation import check_number

__all__ = ["class_weights"]

Array = NDArray[np.float64]
Index = NDArray[np.intp]

# What wrappers make of any labels.
WRAPPED = (
    " In a wrapper for several classes, such as OneVsOneClassifier, each machine sees 0 and 1 in "
    "their place: give sample_weight there, or fit KernelSVC, which takes them all, without it."
)


def class_weights(
    class_weight: dict[Any, float] | str, classes: NDArray[Any], codes: Index, sample_weight: Array
) -> Array:
    """Return what an estimator's ``class_weight`` makes of each point.

    Parameters
    ----------
    class_weight : dict or 'balanced'
        Weights by label, 1 where there is none; ``'balanced'`` is n / (k n_c).
    classes : ndarray of shape (k,)
        The labels.
    codes : ndarray of shape (n,), dtype=int
        The place of each point's class among them.
    sample_weight : ndarray of shape (n,)
        A weight of w counts as w points.

    Returns
    -------
    ndarray of shape (n,)
        The weight of each point's class.

    Raises
    ------
    ValueError
        If a label is unknown, or a weight is negative or no number.

    Examples
    --------
    >>> classes, codes = np.array(["a", "b"]), np.array([0, 0, 0, 1])
    >>> class_weights("balanced", classes, codes, np.ones(4)).round(2).tolist()
    [0.67, 0.67, 0.67, 2.0]
    >>> class_weights({"b": 5.0}, classes, codes, np.ones(4)).tolist()
    [1.0, 1.0, 1.0, 5.0]
    """
    by_class = np.ones(len(classes))
    if isinstance(class_weight, dict):
        labels = classes.tolist()
        if unknown := [label for label in class_weight if label not in labels]:
            raise ValueError(
                f"class_weight names {unknown}, but the classes are {labels}: use the labels of "
                f"y, in their type.{WRAPPED if labels == [0, 1] else ''}"
            )
        for label, value in class_weight.items():
            by_class[labels.index(label)] = check_number(value, f"class_weight[{label!r}]", low=0)
    else:
        total = float(sample_weight.sum())
        for code in range(len(classes)):
            of_class = float(sample_weight[codes == code].sum())
            by_class[code] = total / (len(classes) * of_class) if of_class > 0 else 1.0
    return by_class[codes]
