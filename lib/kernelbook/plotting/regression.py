"""A regression on one feature, with its tube."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.pipeline import Pipeline
from sklearn.utils import check_array

from kernelbook.plotting._parts import (
    axes_or_new,
    legend_below,
    like,
    name_axes,
    ring,
    scatter,
)
from kernelbook.plotting.style import CLASS_COLOURS

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Not the colours of two classes: a regression has none.
CURVE_COLOUR, DATA_COLOUR = CLASS_COLOURS[2], "#404040"


def plot_regression_tube(
    estimator: Any,
    X: ArrayLike,
    y: ArrayLike,
    *,
    epsilon: float | None = None,
    truth: Callable[[NDArray[np.float64]], ArrayLike] | None = None,
    size: float = 26.0,
    legend: bool = True,
    ax: Axes | None = None,
) -> Axes:
    r"""Draw a regression on one feature with its tube of half-width :math:`\varepsilon`.

    Parameters
    ----------
    estimator : estimator
        A fitted regressor of one feature. Points outside the tube or on its edge, its support
        vectors, are ringed.
    X : array-like or DataFrame of shape (n, 1)
        Points.
    y : array-like of shape (n,)
        Their values.
    epsilon : float, default=None
        Half-width of the tube. If None, ``estimator.epsilon``.
    truth : callable, default=None
        The function behind the data, (m, 1) to (m,), drawn as a thin dotted line.
    size : float, default=26.0
        Area of a marker in square points.
    legend : bool, default=True
        Whether to draw a legend below the axes.
    ax : matplotlib.axes.Axes, default=None
        Where to draw. If None, on the axes of a new figure.

    Returns
    -------
    matplotlib.axes.Axes
        The axes with the drawing.

    Raises
    ------
    ValueError
        If X has more than one feature, or there is no epsilon.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from sklearn.svm import SVR
    >>> X, y = [[0.0], [1.0], [2.0]], [0.0, 1.0, 2.0]
    >>> ax = plot_regression_tube(SVR(kernel="linear", epsilon=0.5).fit(X, y), X, y)
    >>> plt.close(ax.figure)
    """
    points = check_array(X, dtype=np.float64, input_name="X")
    if points.shape[1] != 1:
        raise ValueError(f"X has {points.shape[1]} features, but a tube is drawn over one.")
    final = estimator[-1] if isinstance(estimator, Pipeline) else estimator
    epsilon = getattr(final, "epsilon", None) if epsilon is None else epsilon
    if epsilon is None:
        raise ValueError(f"{type(final).__name__} has no epsilon: give epsilon= as an argument.")
    ax = axes_or_new(ax)
    line = np.linspace(points.min(), points.max(), 400)[:, None]
    prediction = np.asarray(estimator.predict(like(X, line)))
    low, high = prediction - epsilon, prediction + epsilon
    ax.fill_between(line[:, 0], low, high, color=CURVE_COLOUR, alpha=0.15)
    for edge in (low, high):
        ax.plot(line[:, 0], edge, color=CURVE_COLOUR, linestyle="--", linewidth=1.0)
    ax.plot(line[:, 0], prediction, color=CURVE_COLOUR, label="prediction")
    if truth is not None:
        ax.plot(line[:, 0], truth(line), color="black", linestyle=":", linewidth=1.5, label="truth")
    data = np.column_stack([points[:, 0], y])
    scatter(ax, data, "data", colour=DATA_COLOUR, marker="o", size=size)
    support = getattr(final, "support_", None)
    if support is not None:
        ring(ax, data[support], size)
    name_axes(ax, str(getattr(X, "columns", ["$x$"])[0]), "$y$")
    if legend:
        legend_below(ax)
    return ax
