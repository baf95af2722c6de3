"""From what an estimator was given as its kernel to the object that it stands for."""

from collections.abc import Callable

from numpy.typing import ArrayLike

from kernelbook.kernels.base import NAMED, Array, Kernel, KernelParameters, Matrix
from kernelbook.kernels.given import FromCallable

__all__ = ["KernelLike", "resolve_kernel"]

KernelLike = str | Kernel | Callable[..., ArrayLike]


def resolve_kernel(
    kernel: KernelLike,
    X: Matrix,
    *,
    gamma: float | str = 1.0,
    degree: int = 3,
    coef0: float = 0.0,
    sample_weight: Array | None = None,
) -> Kernel:
    """Return the kernel object for what was given as an estimator's ``kernel``.

    Parameters
    ----------
    kernel : str, Kernel or callable
        A name of :data:`NAMED`, an object, or a function of (X, Y) that returns the matrix of
        values. An object or a function has its own parameters: the others are ignored.
    X : ndarray of shape (n, d)
        Training points, or the Gram matrix for 'precomputed'.
    gamma : float or str, default=1.0
        The width of a named kernel, or a rule for it; see
        :func:`~kernelbook.kernels.resolve_gamma`.
    degree : int, default=3
        Degree of 'poly'.
    coef0 : float, default=0.0
        Independent term of 'poly' and 'sigmoid'.
    sample_weight : ndarray of shape (n,), default=None
        Weights of the points in rules for the width.

    Returns
    -------
    Kernel
        The object itself if one was given.

    Raises
    ------
    ValueError
        If the name is not known, a parameter is out of range, or a precomputed matrix is not
        square.

    Examples
    --------
    >>> from kernelbook.kernels import RBF
    >>> resolve_kernel("rbf", np.array([[0.0], [2.0]]), gamma="auto")
    RBF(gamma=1.0)
    """
    if isinstance(kernel, type):
        raise ValueError(f"kernel must be an object, not a class: {kernel.__name__}(...).")
    if isinstance(kernel, Kernel):
        resolved = kernel
    elif isinstance(kernel, str) and kernel in NAMED:
        parameters = KernelParameters(gamma, degree, coef0, sample_weight)
        resolved = NAMED[kernel].from_parameters(X, parameters)
    elif callable(kernel):
        resolved = FromCallable(kernel)
    else:
        raise ValueError(
            f"kernel must be one of {[*NAMED]}, a Kernel object or a callable, got {kernel!r}."
        )
    if resolved.is_precomputed and X.shape[0] != X.shape[1]:
        raise ValueError(
            "kernel='precomputed' needs the square Gram matrix (n_train, n_train) in fit, "
            f"got shape {X.shape}."
        )
    return resolved
