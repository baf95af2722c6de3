"""Errors and warnings that say what is wrong with the problem, not with the code."""

__all__ = [
    "CollapseWarning",
    "InfeasibleError",
    "NotPositiveSemidefiniteError",
    "NotSeparableError",
]


class NotSeparableError(ValueError):
    """No hyperplane of this feature space separates the two classes."""


class NotPositiveSemidefiniteError(ValueError):
    """A Gram matrix has a negative eigenvalue, so it is no matrix of inner products."""


class InfeasibleError(ValueError):
    """No point of the box meets the equality constraint; the message names the bound."""


class CollapseWarning(UserWarning):
    """A model puts nearly all its weight on a handful of points, so its output is arbitrary."""
