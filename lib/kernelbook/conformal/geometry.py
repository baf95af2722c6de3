"""The geometry that a kernel, conformally transformed or not, gives the input space."""

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_array

from kernelbook.conformal.factors import ConformalFactor
from kernelbook.conformal.smooth import SmoothKernel
from kernelbook.kernels import Matrix

__all__ = ["magnification"]

Array = NDArray[np.float64]

# Step of central differences: the cube root of the machine precision.
STEP = float(np.cbrt(np.finfo(float).eps))


def magnification(
    X: ArrayLike,
    kernel: str = "rbf",
    factor: ConformalFactor | Callable[[Matrix], ArrayLike] | None = None,
    *,
    gamma: float = 1.0,
    degree: int = 3,
    coef0: float = 0.0,
) -> Array:
    r"""Volume of feature space per volume of input space, at each point.

    .. math:: \sqrt{\det \tilde g(x)},\qquad
              \tilde g_{ij} = D_i D_j K + D\,(D_i K_j + K_i D_j) + D^2 g_{ij}

    where :math:`g_{ij} = \partial^2 K(x, y) / \partial x_i \partial y_j` and
    :math:`K_i = \partial K(x, y) / \partial x_i`, both at y = x, and :math:`D_i` is the gradient
    of the factor. Without a factor it is :math:`\sqrt{\det g}`.

    Parameters
    ----------
    X : array-like, shape (m, d)
    kernel : {'rbf', 'poly', 'linear'}, default='rbf'
    factor : ConformalFactor or callable, optional
        ``factor_`` of a fitted conformal machine, or any positive function of an (m, d) array
        with values (m,), whose gradient is then taken by central differences.
    gamma, degree, coef0
        Of the kernel, as numbers: ``gamma_`` of the machine.

    Returns
    -------
    ndarray, shape (m,)
        In units of feature space to the power d per unit of volume. For the RBF kernel without
        a factor :math:`(2\gamma)^{d/2} = \sigma^{-d}` everywhere. It can be zero: the
        linear kernel's factor :math:`1/\|x\|` maps a ray to one point.

    Raises
    ------
    ValueError
        For kernels that are not differentiable at y = x, or whose derivatives are not known.

    Notes
    -----
    The cross term is symmetric in i and j; it vanishes for kernels with a constant K(x, x),
    whose :math:`K_i` is zero, and only for those. Notebook 09.

    Examples
    --------
    For gamma = 1/2, sigma is 1, and a constant factor 3 stretches the plane 3 * 3 times:

    >>> magnification([[0.0, 0.0]], "rbf", gamma=0.5).tolist()
    [1.0]
    >>> magnification([[0.0, 0.0]], "rbf", lambda X: 3 + 0 * X[:, 0], gamma=0.5).round(6).tolist()
    [9.0]
    """
    X = check_array(X, dtype=np.float64, input_name="X")
    smooth = SmoothKernel(kernel, gamma, degree, coef0)
    metric = smooth.metric(X)
    if factor is None:
        return _root_determinant(metric, np.zeros(len(X)))
    # With l the gradient of log D the metric is D^2 [K l l' + l k' + k l' + g].
    log_factor, slope = _log_and_slope(factor, X)
    one_sided = smooth.one_sided_gradient(X)
    cross = slope[:, :, None] * one_sided[:, None, :]
    own = smooth.diagonal(X)[:, None, None] * slope[:, :, None] * slope[:, None, :]
    return _root_determinant(own + cross + cross.transpose(0, 2, 1) + metric, log_factor)


def _root_determinant(metric: Matrix, log_factor: Array) -> Array:
    """Square roots of the determinants of D^2 times the matrices (m, d, d)."""
    sign, log_determinant = np.linalg.slogdet(metric)
    log_root = 0.5 * log_determinant + metric.shape[1] * log_factor
    return np.where(sign > 0, np.exp(log_root), 0.0)


def _log_and_slope(
    factor: ConformalFactor | Callable[[Matrix], ArrayLike], X: Matrix
) -> tuple[Array, Matrix]:
    """Logarithm (m,) of a factor and its gradient (m, d)."""
    if isinstance(factor, ConformalFactor):
        return factor.log(X), factor.log_gradient(X)
    slope = np.empty_like(X)
    for j in range(X.shape[1]):
        steps = np.zeros_like(X)
        steps[:, j] = STEP * np.maximum(1.0, np.abs(X[:, j]))
        above, below = _log_values(factor, X + steps), _log_values(factor, X - steps)
        slope[:, j] = (above - below) / (2.0 * steps[:, j])
    return _log_values(factor, X), slope


def _log_values(factor: Callable[[Matrix], ArrayLike], X: Matrix) -> Array:
    values = np.asarray(factor(X), dtype=np.float64)
    if values.shape != (len(X),) or not np.all((values > 0) & np.isfinite(values)):
        raise ValueError(
            f"factor must return a positive number for each of the {len(X)} points, got shape "
            f"{values.shape}."
        )
    return np.log(values)
