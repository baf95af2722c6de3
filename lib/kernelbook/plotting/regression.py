"""A regression on one feature, with its tube."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.pipeline import Pipeline
from sklearn.utils import check_array

from kernelbook.plotting.style import (
    CLASS_COLOURS,
    axes_or_new,
    legend_below,
    name_axes,
    pandas,
    ring,
)


def plot_regression_tube(
    estimator: Any,
    X: ArrayLike,
    y: ArrayLike,
    *,
    epsilon: float | None = None,
    truth: Callable[..., Any] | None = None,
    size: float = 26.0,
    legend: bool = True,
    ax: Any = None,
) -> Any:
    r"""Draw a regression on one feature with its tube of half-width :math:`\varepsilon`.

    Parameters
    ----------
    estimator : fitted regressor of one feature
        Points outside the tube or on its edge, its support vectors, are ringed.
    X : array or DataFrame, shape (n, 1)
    y : array, shape (n,)
    epsilon : float, optional
        Half-width of the tube; ``estimator.epsilon`` by default.
    truth : callable, optional
        The function behind the data, (m, 1) to (m,), drawn as a thin dotted line.
    size, legend, ax
        As in :func:`plot_points`.

    Returns
    -------
    matplotlib axes

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from sklearn.svm import SVR
    >>> X, y = [[0.0], [1.0], [2.0]], [0.0, 1.0, 2.0]
    >>> ax = plot_regression_tube(SVR(kernel="linear", epsilon=0.5).fit(X, y), X, y)
    >>> plt.close(ax.figure)
    """
    points = np.asarray(check_array(X, dtype=np.float64, input_name="X"))
    if points.shape[1] != 1:
        raise ValueError(f"X has {points.shape[1]} features, but a tube is drawn over one.")
    final = estimator[-1] if isinstance(estimator, Pipeline) else estimator
    epsilon = getattr(final, "epsilon", None) if epsilon is None else epsilon
    if epsilon is None:
        raise ValueError(f"{type(final).__name__} has no epsilon: give epsilon= as an argument.")
    ax = axes_or_new(ax)
    line = np.linspace(points.min(), points.max(), 400)[:, None]
    columns = getattr(X, "columns", None)
    at: Any = line if columns is None else pandas().DataFrame(line, columns=columns)
    prediction = np.asarray(estimator.predict(at))
    blue, red = CLASS_COLOURS[:2]
    ax.fill_between(line[:, 0], prediction - epsilon, prediction + epsilon, color=blue, alpha=0.15)
    for side in (-1, 1):
        ax.plot(line[:, 0], prediction + side * epsilon, color=blue, linestyle="--", linewidth=1.0)
    ax.plot(line[:, 0], prediction, color=blue, label="prediction")
    if truth is not None:
        ax.plot(line[:, 0], truth(line), color="black", linestyle=":", linewidth=1.5, label="truth")
    ax.scatter(
        points[:, 0],
        y,
        s=size,
        color=red,
        marker="o",
        edgecolors="white",
        linewidths=0.6,
        zorder=3,
        label=f"data (n = {len(points)})",
    )
    support = getattr(final, "support_", None)
    if support is not None:
        ring(ax, np.column_stack([points[support, 0], np.asarray(y)[support]]), size)
    name_axes(ax, "$x$" if columns is None else str(columns[0]), "$y$")
    if legend:
        legend_below(ax)
    return ax
