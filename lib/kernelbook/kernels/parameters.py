"""What an estimator was given for a kernel that it names."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["Array", "Index", "KernelParameters", "Matrix"]

Matrix = NDArray[np.float64]
Array = NDArray[np.float64]
Index = NDArray[np.intp]


@dataclass(frozen=True)
class KernelParameters:
    """Parameters of an estimator from which a named kernel is made.

    Parameters
    ----------
    gamma : float or str, default=1.0
        The width, or a rule for it; see :func:`~kernelbook.kernels.resolve_gamma`.
    degree : int, default=3
        Degree of a polynomial.
    coef0 : float, default=0.0
        Independent term.
    sample_weight : ndarray of shape (n,), default=None
        Weights of the training points in rules for the width.
    """

    gamma: float | str = 1.0
    degree: int = 3
    coef0: float = 0.0
    sample_weight: Array | None = None
