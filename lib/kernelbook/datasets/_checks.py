"""What the generators share."""

import numpy as np
from numpy.typing import NDArray

from kernelbook.validation import check_number

Matrix = NDArray[np.float64]
Labels = NDArray[np.int64]
Sample = tuple[Matrix, Labels]
RandomState = int | np.random.RandomState | None


def two_classes(**counts: int) -> Labels:
    """Labels 0, then labels 1, as many as told; a class may be empty, but not both."""
    sizes = [check_number(size, name, low=0, integer=True) for name, size in counts.items()]
    if sum(sizes) == 0:
        raise ValueError(f"{' + '.join(counts)} must be at least 1: the sample would be empty.")
    return np.repeat([0, 1], sizes)
