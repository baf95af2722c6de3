"""A sample of given imbalance from a data set."""

from collections.abc import Hashable
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from kernelbook.datasets._checks import RandomState
from kernelbook.validation import check_number

if TYPE_CHECKING:
    import pandas as pd

Points = TypeVar("Points", NDArray[Any], "pd.DataFrame")
Target = TypeVar("Target", NDArray[Any], "pd.Series")


def draw_imbalanced(
    X: Points,
    y: Target,
    *,
    n_positive: int,
    n_negative: int,
    positive: Hashable = 1,
    random_state: RandomState = None,
) -> tuple[Points, Target]:
    """Draw given numbers of positives and negatives without replacement, in their old order.

    Parameters
    ----------
    X : ndarray or DataFrame of shape (n, d)
        Points.
    y : ndarray or Series of shape (n,)
        Labels.
    n_positive : int
        Number of rows with ``y == positive`` to keep.
    n_negative : int
        Number of other rows to keep.
    positive : hashable, default=1
        The label of the positive class.
    random_state : int, RandomState or None, default=None
        Seed of the draw.

    Returns
    -------
    X : ndarray or DataFrame
        The points drawn, of the same type.
    y : ndarray or Series
        Their labels, of the same type.

    Raises
    ------
    ValueError
        If a class has fewer rows than are asked for.

    See Also
    --------
    sklearn.utils.resample : Draws with given proportions.

    Examples
    --------
    The shape of the hospital-infection study, 683 patients of whom 75 are infected:

    >>> from kernelbook.datasets import load_nhefs_mortality
    >>> X, y = load_nhefs_mortality(return_X_y=True)
    >>> X, y = draw_imbalanced(X, y, n_positive=75, n_negative=608, random_state=0)
    >>> X.shape, int(y.sum())
    ((683, 50), 75)
    """
    random = check_random_state(random_state)
    is_positive = np.asarray(y) == positive
    drawn = []
    for name, size, rows in (
        ("n_positive", n_positive, np.flatnonzero(is_positive)),
        ("n_negative", n_negative, np.flatnonzero(~is_positive)),
    ):
        size = check_number(size, name, low=0, high=len(rows), integer=True)
        drawn.append(random.choice(rows, size, replace=False))
    kept = np.sort(np.concatenate(drawn))
    return _rows(X, kept), _rows(y, kept)


def _rows(values: Any, kept: NDArray[np.int64]) -> Any:
    return values.iloc[kept] if hasattr(values, "iloc") else np.asarray(values)[kept]
