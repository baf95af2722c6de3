"""Errors and warnings that say what is wrong with the problem, not with the code."""

import os
import sys
import warnings
from pathlib import Path

import sklearn
from numpy import float64
from numpy.typing import NDArray

__all__ = [
    "CollapseWarning",
    "CompilationWarning",
    "InfeasibleError",
    "LabelWarning",
    "NotPositiveSemidefiniteError",
    "NotSeparableError",
    "warn_user",
]


# Where the user's line is not: in this package, and in the tools that call its estimators.
INSIDE = tuple(f"{Path(path).parent}{os.sep}" for path in (__file__, sklearn.__file__))


class NotSeparableError(ValueError):
    """No hyperplane of this feature space separates the two classes.

    Parameters
    ----------
    message : str
        What is wrong, and what to do about it.
    weights : ndarray of shape (n,), default=None
        The certificate, kept as an attribute: non-negative, of sum 1 in each class, so that the
        weighted means of the two classes in feature space coincide. A point common to both
        convex hulls lies on no side of any hyperplane.
    distance : float, default=None
        Distance of the two weighted means relative to the spread of the data, kept as an
        attribute: what rounding left of zero.

    Examples
    --------
    >>> error = NotSeparableError("the hulls meet", distance=0.0)
    >>> str(error), error.distance, error.weights
    ('the hulls meet', 0.0, None)
    """

    def __init__(
        self,
        message: str,
        *,
        weights: NDArray[float64] | None = None,
        distance: float | None = None,
    ) -> None:
        super().__init__(message)
        self.weights = weights
        self.distance = distance


class NotPositiveSemidefiniteError(ValueError):
    """A Gram matrix has a negative eigenvalue, so it is no matrix of inner products."""


class InfeasibleError(ValueError):
    """No point of the box meets the equality constraint; the message names the bound."""


class LabelWarning(UserWarning):
    """Labels that say neither target (+1) nor outlier (-1) were taken for targets."""


class CollapseWarning(UserWarning):
    """A model puts nearly all its weight on a handful of points, so its output is arbitrary."""


class CompilationWarning(UserWarning):
    """A fit is about to compile the loops of the exact solver, once on a machine."""


def warn_user(message: str, category: type[Warning]) -> None:
    """Warn at the line that led here, outside this package and scikit-learn.

    Parameters
    ----------
    message : str
        What happened, and what to do about it.
    category : type of Warning
        The class of the warning.

    Examples
    --------
    >>> import warnings
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     warn_user("look out", CollapseWarning)
    >>> caught[0].category.__name__, str(caught[0].message)
    ('CollapseWarning', 'look out')
    """
    level, frame = 1, sys._getframe(0)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(INSIDE):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)
