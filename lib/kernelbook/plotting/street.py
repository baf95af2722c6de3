"""The street of a linear machine: white between its margins, a tint of each class beyond."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kernelbook.plotting._parts import axes_or_new, legend_below, pale, ring
from kernelbook.plotting.plane import Limits, plot_points
from kernelbook.plotting.style import CLASS_COLOURS

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_street"]

TINT = 0.22
GRID_POINTS = 2  # between them a linear function is exact


def plot_street(
    w: ArrayLike,
    b: float,
    X: ArrayLike,
    y: ArrayLike,
    *,
    limits: Limits,
    names: Sequence[str] | None = None,
    touching: ArrayLike | None = None,
    size: float = 30.0,
    legend: bool = True,
    ax: Axes | None = None,
) -> Axes:
    r"""Draw a line of the plane with its two margins and the points of two classes.

    The solid line is :math:`f(x) = w^\top x + b = 0`, the dashed ones are :math:`f = \pm 1`. What
    lies between them is white, and each side beyond has the tint of the class answered there.

    Parameters
    ----------
    w : array-like of shape (2,)
        Normal vector of the line, not zero.
    b : float
        Its bias.
    X : array-like or DataFrame of shape (n, 2)
        Points.
    y : array-like of shape (n,)
        Their labels; the larger of two is the class where f is positive.
    limits : sequence of two tuples of float
        The limits ((left, right), (bottom, top)).
    names : sequence of str, default=None
        Names of the classes in the order of the sorted labels.
    touching : array-like of shape (m, 2), default=None
        Points to ring: those that hold the street. If None, none.
    size : float, default=30.0
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
        If w is not a vector of two numbers, or is zero.

    See Also
    --------
    plot_decision : Decision values of any machine as colour.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> box = ((-1, 3), (-1, 1))
    >>> ax = plot_street([1.0, 0.0], -1.0, [[0, 0], [2, 0]], [-1, 1], limits=box)
    >>> ax.get_legend_handles_labels()[1]
    ['class -1 (n = 1)', 'class 1 (n = 1)']
    >>> plt.close(ax.figure)
    """
    normal = np.asarray(w, dtype=np.float64)
    if normal.shape != (2,) or not normal.any():
        raise ValueError(f"w must be two numbers that are not both 0, got {w!r}.")
    ax = axes_or_new(ax)
    grid = _values(normal, b, limits)
    low, high = min(grid[2].min(), -1.0) - 1, max(grid[2].max(), 1.0) + 1
    tints: list[Any] = [pale(colour, TINT) for colour in CLASS_COLOURS[:2]]
    ax.contourf(*grid, levels=[low, -1, 1, high], colors=[tints[0], "white", tints[1]], zorder=0)
    for levels, style in (([0.0], "solid"), ([-1.0, 1.0], "dashed")):
        inside = [level for level in levels if grid[2].min() < level < grid[2].max()]
        if inside:
            ax.contour(
                *grid, levels=inside, colors="black", linestyles=style, linewidths=1.6, zorder=2
            )
    plot_points(X, y, names=names, size=size, legend=False, ax=ax)
    if touching is not None:
        ring(ax, np.asarray(touching, dtype=np.float64), size)
    ax.set(xlim=limits[0], ylim=limits[1], aspect="equal")
    if legend:
        legend_below(ax)
    return ax


def _values(
    normal: NDArray[np.float64], b: float, limits: Limits
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    horizontal, vertical = (np.linspace(low, high, GRID_POINTS) for low, high in limits)
    across, up = np.meshgrid(horizontal, vertical)
    return horizontal, vertical, normal[0] * across + normal[1] * up + b
