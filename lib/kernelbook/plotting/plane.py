"""Figures of the plane: points, decision regions, functions of two features."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import logit
from sklearn.base import BaseEstimator, is_outlier_detector
from sklearn.pipeline import Pipeline
from sklearn.utils import check_array

from kernelbook.plotting._parts import (
    MARKER_AREAS,
    axes_or_new,
    class_names,
    diverging_map,
    draw_scale,
    legend_below,
    like,
    name_axes,
    pale,
    ring,
    scatter,
)
from kernelbook.plotting.style import CLASS_COLOURS, CLASS_MARKERS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.colors import Colormap

GRID_POINTS = 160
CLASS_GRID_POINTS = 320
FILL_LEVELS = 20

Limits = Sequence[tuple[float, float]]
Grid = tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]
Function = Callable[[Any], ArrayLike]


def plot_points(
    X: ArrayLike,
    y: ArrayLike | None = None,
    *,
    names: Sequence[str] | None = None,
    classes: Sequence[Any] | None = None,
    size: float = 30.0,
    legend: bool = True,
    ax: Axes | None = None,
) -> Axes:
    """Draw points of the plane; each class has a colour, a marker and its count in the legend.

    Parameters
    ----------
    X : array-like or DataFrame of shape (n, 2)
        Points.
    y : array-like of shape (n,), default=None
        Labels. If None, all points are alike.
    names : sequence of str, default=None
        Names of the classes in the order of the sorted labels.
    classes : sequence, default=None
        All labels, if ``y`` may lack some: keeps a class's colour the same in every panel.
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
        If X has not two features, or lengths or numbers of names differ.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> ax = plot_points([[0, 0], [1, 1], [2, 0]], [0, 0, 1])
    >>> ax.get_legend_handles_labels()[1]
    ['class 0 (n = 2)', 'class 1 (n = 1)']
    >>> plt.close(ax.figure)
    """
    points, coordinates = _plane_points(X)
    labels = np.zeros(len(points)) if y is None else np.asarray(y)
    if len(labels) != len(points):
        raise ValueError(f"y has {len(labels)} labels and X has {len(points)} points.")
    known = class_names(labels, ["points"] if y is None else names, classes)
    ax = axes_or_new(ax)
    marks = zip(CLASS_COLOURS, CLASS_MARKERS, MARKER_AREAS, strict=True)
    for (label, name), (colour, marker, area) in zip(known.items(), marks, strict=False):
        own = points[labels == label]
        # The rare class lies above the common one, or it could not be seen.
        zorder = 3 + 0.9 * (1 - len(own) / max(len(labels), 1))
        scatter(ax, own, name, colour=colour, marker=marker, size=size * area, zorder=zorder)
    name_axes(ax, *coordinates)
    if legend:
        legend_below(ax)
    return ax


def plot_decision(
    estimator: Any,
    X: ArrayLike,
    y: ArrayLike | None = None,
    *,
    names: Sequence[str] | None = None,
    margins: bool | None = None,
    support: bool = True,
    limits: Limits | None = None,
    equal: bool = True,
    scale: float | None = None,
    size: float = 30.0,
    legend: bool = True,
    colorbar: bool = True,
    ax: Axes | None = None,
) -> Axes:
    r"""Draw the decision function of two features, its boundary, its margins and the points.

    The colour is the decision value :math:`f(x)`, white at 0, with the tint of the class that is
    answered: of a novelty detector the inside has that of class 0, the common one. The solid line
    is :math:`f = 0`, the dashed lines are :math:`f = \pm 1`. With three or more classes the colour
    is the class predicted.

    Parameters
    ----------
    estimator : estimator or callable
        A fitted classifier, novelty detector or pipeline, of which ``decision_function`` is
        drawn, or log odds of ``predict_proba`` where it has none. A callable maps (m, 2) to (m,)
        values, for instance ``bayes_gaussians``.
    X : array-like or DataFrame of shape (n, 2)
        Points to draw, not necessarily those of the fit.
    y : array-like of shape (n,), default=None
        Their labels.
    names : sequence of str, default=None
        Names of the classes in the order of the sorted labels.
    margins : bool, default=None
        Whether to draw the dashed lines. If None, for support vector classifiers only.
    support : bool, default=True
        Whether to ring the support vectors of the fit.
    limits : sequence of two tuples of float, default=None
        The limits ((left, right), (bottom, top)). If None, the range of X plus 8 %.
    equal : bool, default=True
        Whether a unit has the same length on both axes, so that a margin looks as wide as it is.
    scale : float, default=None
        Decision value of full colour; give it where panels are compared. If None, 95 % of the
        area has a smaller one.
    size : float, default=30.0
        Area of a marker in square points.
    legend : bool, default=True
        Whether to draw a legend below the axes.
    colorbar : bool, default=True
        Whether to draw the scale of the decision values.
    ax : matplotlib.axes.Axes, default=None
        Where to draw. If None, on the axes of a new figure.

    Returns
    -------
    matplotlib.axes.Axes
        The axes with the drawing.

    Raises
    ------
    ValueError
        If X has not two features, or a callable returns values of another shape.
    TypeError
        If the estimator has neither of the two methods and is no callable.

    See Also
    --------
    plot_field : Any function of the plane.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from sklearn.svm import SVC
    >>> X, y = [[0.0, 0.0], [1.0, 1.0], [2.0, 2.0]], [0, 1, 1]
    >>> ax = plot_decision(SVC(kernel="linear").fit(X, y), X, y)
    >>> ax.get_legend_handles_labels()[1][-1]
    'support vector (n = 2)'
    >>> plt.close(ax.figure)
    """
    points, _ = _plane_points(X)
    ax = axes_or_new(ax)
    if limits is None:
        limits = _limits(points)
    classes = getattr(estimator, "classes_", None)
    if classes is not None and len(classes) > 2:

        def codes(P: NDArray[np.float64]) -> ArrayLike:
            return np.searchsorted(classes, estimator.predict(like(X, P)))

        grid = _on_grid(codes, limits, CLASS_GRID_POINTS)
        _fill_classes(ax, grid, len(classes))
        margins = False
    else:
        decision = _decision(estimator)
        grid = _on_grid(lambda P: decision(like(X, P)), limits)
        # A few points far from all data must not take the whole range of colours.
        reach = np.quantile(np.abs(grid[2]), 0.95) if scale is None else abs(scale)
        ends = (-(reach or 1.0), reach or 1.0)
        # Of a novelty detector the inside, where f > 0, is the common class.
        novelty = isinstance(estimator, BaseEstimator) and is_outlier_detector(estimator)
        colours = diverging_map().reversed() if novelty else diverging_map()
        _fill(ax, grid, ends, colours, "both", "decision value $f(x)$", colorbar)
        _contour(ax, grid, [0.0], "solid")
    vectors = _support_vectors(estimator)
    if margins or (margins is None and vectors is not None and classes is not None):
        _contour(ax, grid, [-1.0, 1.0], "dashed")
    plot_points(X, y, names=names, classes=classes, size=size, legend=False, ax=ax)
    if support and vectors is not None:
        ring(ax, vectors, size)
    ax.set(xlim=limits[0], ylim=limits[1])
    if equal:
        ax.set_aspect("equal")
    if legend:
        legend_below(ax)
    return ax


def plot_field(
    function: Function,
    X: ArrayLike | None = None,
    y: ArrayLike | None = None,
    *,
    label: str,
    limits: Limits | None = None,
    log: bool = False,
    scale: tuple[float, float] | None = None,
    n_lines: int = 0,
    size: float = 30.0,
    colorbar: bool = True,
    ax: Axes | None = None,
) -> Axes:
    """Draw a function of the plane as colour: a magnification, a density, one component.

    Parameters
    ----------
    function : callable
        Maps points (m, 2) to values (m,).
    X : array-like or DataFrame of shape (n, 2), default=None
        Points to draw on top.
    y : array-like of shape (n,), default=None
        Their labels.
    label : str
        What the colour means, with its unit.
    limits : sequence of two tuples of float, default=None
        The limits ((left, right), (bottom, top)). If None, the range of X plus 8 %.
    log : bool, default=False
        Whether to colour the decimal logarithm; the values have to be positive.
    scale : tuple of float, default=None
        Values of the two ends of the map (logarithms if ``log``); give them where panels are
        compared. If None, the smallest and the largest value.
    n_lines : int, default=0
        Number of lines of equal value to draw.
    size : float, default=30.0
        Area of a marker in square points.
    colorbar : bool, default=True
        Whether to draw the scale.
    ax : matplotlib.axes.Axes, default=None
        Where to draw. If None, on the axes of a new figure.

    Returns
    -------
    matplotlib.axes.Axes
        The axes with the drawing.

    Raises
    ------
    ValueError
        If there are neither X nor limits, the function returns values of another shape, or
        values to be logarithms are not positive.

    See Also
    --------
    plot_decision : Decision values, with their boundary and margins.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> ax = plot_field(lambda P: P[:, 0], limits=((-1, 1), (-1, 1)), label="$x_1$")
    >>> plt.close(ax.figure)
    """
    if limits is None:
        if X is None:
            raise ValueError("limits must be given where there is no X to take them from.")
        limits = _limits(_plane_points(X)[0])
    ax = axes_or_new(ax)
    horizontal, vertical, values = _on_grid(function, limits)
    if log:
        if values.min() <= 0:
            raise ValueError("log=True needs positive values; the function has some at most 0.")
        values, label = np.log10(values), f"$\\log_{{10}}$ {label}"
    grid = (horizontal, vertical, values)
    ends = (values.min(), values.max()) if scale is None else scale
    _fill(ax, grid, ends, "viridis", "neither" if scale is None else "both", label, colorbar)
    if n_lines:
        inner = np.linspace(values.min(), values.max(), n_lines + 2)[1:-1]
        _contour(ax, grid, inner.tolist(), "solid", width=0.8)
    name_axes(ax, "$x_1$", "$x_2$")
    if X is not None:
        plot_points(X, y, size=size, legend=False, ax=ax)
    ax.set(xlim=limits[0], ylim=limits[1], aspect="equal")
    return ax


def _plane_points(X: ArrayLike) -> tuple[NDArray[np.float64], list[str]]:
    """Points of the plane and the names of their two coordinates."""
    names = [str(name) for name in getattr(X, "columns", ("$x_1$", "$x_2$"))]
    points = check_array(X, dtype=np.float64, input_name="X")
    if points.shape[1] != 2:
        raise ValueError(
            f"X has {points.shape[1]} features and this figure shows a plane: choose two "
            "columns, or project first."
        )
    return points, names


def _limits(points: NDArray[np.float64]) -> Limits:
    low, high = points.min(axis=0), points.max(axis=0)
    pad = 0.08 * np.where(high > low, high - low, 1.0)
    (left, bottom), (right, top) = (low - pad).tolist(), (high + pad).tolist()
    return (left, right), (bottom, top)


def _on_grid(function: Function, limits: Limits, size: int = GRID_POINTS) -> Grid:
    """Coordinates and values of a function of (m, 2) on a grid over the limits."""
    horizontal, vertical = (np.linspace(low, high, size) for low, high in limits)
    points = np.stack(np.meshgrid(horizontal, vertical), axis=-1).reshape(-1, 2)
    values = np.asarray(function(points))
    if values.shape != (size**2,):
        raise ValueError(
            f"The function must return one value for each of the {size**2} points, "
            f"got the shape {values.shape}."
        )
    return horizontal, vertical, values.reshape(size, size)


def _fill(
    ax: Axes,
    grid: Grid,
    ends: tuple[float, float],
    cmap: str | Colormap,
    extend: Literal["neither", "both"],
    label: str,
    colorbar: bool,
) -> None:
    levels = np.linspace(*ends, FILL_LEVELS + 1) if ends[1] > ends[0] else None
    filled = ax.contourf(*grid, levels=levels, cmap=cmap, extend=extend, zorder=0)
    if colorbar:
        draw_scale(ax, filled, label, *ends)


def _fill_classes(ax: Axes, grid: Grid, n_classes: int) -> None:
    horizontal, vertical, codes = grid
    colours = [pale(colour, 0.35) for colour in CLASS_COLOURS[:n_classes]]
    edges = np.arange(n_classes + 1) - 0.5
    ax.contourf(*grid, levels=edges, colors=colours, zorder=0)
    for code in range(n_classes):
        _contour(ax, (horizontal, vertical, (codes == code).astype(float)), [0.5], "solid")


def _contour(ax: Axes, grid: Grid, levels: Sequence[float], style: str, width: float = 1.6) -> None:
    low, high = grid[2].min(), grid[2].max()
    inside = [level for level in levels if low < level < high]
    if inside:
        ax.contour(
            *grid, levels=inside, colors="black", linestyles=style, linewidths=width, zorder=2
        )


def _support_vectors(estimator: Any) -> NDArray[np.float64] | None:
    """Support vectors in the coordinates of the figure, also behind scaling steps."""
    final = estimator[-1] if isinstance(estimator, Pipeline) else estimator
    vectors = getattr(final, "support_vectors_", None)
    if vectors is None:
        return None
    if isinstance(estimator, Pipeline) and len(estimator) > 1:
        vectors = estimator[:-1].inverse_transform(vectors)
    return np.asarray(vectors, dtype=np.float64)


def _decision(estimator: Any) -> Function:
    if hasattr(estimator, "decision_function"):
        return estimator.decision_function
    if hasattr(estimator, "predict_proba"):
        # k-NN and trees give probabilities of exactly 0 and 1.
        return lambda P: logit(np.clip(estimator.predict_proba(P)[:, 1], 1e-3, 1 - 1e-3))
    if callable(estimator):
        return estimator
    raise TypeError(
        f"{type(estimator).__name__} has neither decision_function nor predict_proba: give a "
        "fitted classifier, a novelty detector or a function of (m, 2) points."
    )
