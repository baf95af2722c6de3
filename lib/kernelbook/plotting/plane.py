"""Figures of the plane: points, decision regions, functions of two features."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.pipeline import Pipeline
from sklearn.utils import check_array

from kernelbook.plotting.style import (
    CLASS_COLOURS,
    CLASS_MARKERS,
    MARKER_AREAS,
    axes_or_new,
    class_names,
    diverging_map,
    draw_scale,
    legend_below,
    name_axes,
    pandas,
    ring,
)

GRID_POINTS = 160
CLASS_GRID_POINTS = 320
FILL_LEVELS = 20


def plane_points(X: ArrayLike) -> tuple[NDArray[np.float64], list[str]]:
    """Points of the plane and the names of their two coordinates."""
    names = [str(name) for name in getattr(X, "columns", ("$x_1$", "$x_2$"))]
    points = np.asarray(check_array(X, dtype=np.float64, input_name="X"))
    if points.shape[1] != 2:
        raise ValueError(
            f"X has {points.shape[1]} features and this figure shows a plane: choose two "
            "columns, or project first."
        )
    return points, names


def plot_points(
    X: ArrayLike,
    y: ArrayLike | None = None,
    *,
    names: Sequence[str] | None = None,
    classes: Sequence[Any] | None = None,
    size: float = 30.0,
    legend: bool = True,
    ax: Any = None,
) -> Any:
    """Draw points of the plane; each class has a colour, a marker and its count in the legend.

    Parameters
    ----------
    X : array or DataFrame, shape (n, 2)
    y : array, shape (n,), optional
        Labels; without them all points are alike.
    names : sequence of str, optional
        Names of the classes in the order of the sorted labels.
    classes : sequence, optional
        All labels, if ``y`` may lack some: keeps a class's colour the same in every panel.
    size : float
        Area of a marker in square points.
    legend : bool
        Draw a legend below the axes.
    ax : matplotlib axes, optional

    Returns
    -------
    matplotlib axes

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> ax = plot_points([[0, 0], [1, 1], [2, 0]], [0, 0, 1])
    >>> ax.get_legend_handles_labels()[1]
    ['class 0 (n = 2)', 'class 1 (n = 1)']
    >>> plt.close(ax.figure)
    """
    points, coordinates = plane_points(X)
    labels = np.zeros(len(points)) if y is None else np.asarray(y)
    if len(labels) != len(points):
        raise ValueError(f"y has {len(labels)} labels and X has {len(points)} points.")
    known = class_names(labels, ["points"] if y is None else names, classes)
    ax = axes_or_new(ax)
    counts = {label: int(np.count_nonzero(labels == label)) for label in known}
    for index, (label, name) in enumerate(known.items()):
        own = labels == label
        ax.scatter(
            *points[own].T,
            s=size * MARKER_AREAS[index],
            color=CLASS_COLOURS[index],
            marker=CLASS_MARKERS[index],
            edgecolors="white",
            linewidths=0.6,
            label=f"{name} (n = {counts[label]})",
            # The rare class lies above the common one, or it could not be seen.
            zorder=3 + 0.9 * (1 - counts[label] / max(len(labels), 1)),
        )
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
    limits: Any = None,
    equal: bool = True,
    scale: float | None = None,
    size: float = 30.0,
    legend: bool = True,
    colorbar: bool = True,
    ax: Any = None,
) -> Any:
    r"""Draw the decision function of two features, its boundary, its margins and the points.

    The colour is the decision value :math:`f(x)`, white at 0; the solid line is :math:`f = 0`, the
    dashed lines are :math:`f = \pm 1`. With three or more classes the colour is the class
    predicted.

    Parameters
    ----------
    estimator : fitted classifier or novelty detector, or callable
        Its ``decision_function`` is drawn, or log odds of ``predict_proba`` where it has none; a
        pipeline will do. A callable maps (m, 2) to (m,) values, for instance ``bayes_gaussians``.
    X : array or DataFrame, shape (n, 2)
        Points to draw, not necessarily those of the fit.
    y : array, shape (n,), optional
        Their labels.
    names : sequence of str, optional
        Names of the classes in the order of the sorted labels.
    margins : bool, optional
        Draw the dashed lines; by default for support vector classifiers only.
    support : bool
        Ring the support vectors of the fit.
    limits : ((left, right), (bottom, top)), optional
        The range of X plus 8 % by default.
    equal : bool
        A unit has the same length on both axes, so that a margin looks as wide as it is.
    scale : float, optional
        Decision value of full colour; give it where panels are compared. By default 95 % of the
        area has a smaller one.
    size, legend, ax
        As in :func:`plot_points`.
    colorbar : bool
        Draw the scale of the decision values.

    Returns
    -------
    matplotlib axes

    Raises
    ------
    ValueError
        If X has not two features.

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
    points, coordinates = plane_points(X)
    ax = axes_or_new(ax)
    limits = _limits(points) if limits is None else limits
    columns = coordinates if hasattr(X, "columns") else None
    classes = getattr(estimator, "classes_", None)
    if classes is not None and len(classes) > 2:
        codes: Callable[..., Any] = lambda P: np.searchsorted(classes, estimator.predict(P))  # noqa: E731
        grid = _on_grid(codes, limits, columns, CLASS_GRID_POINTS)
        _fill_classes(ax, grid, len(classes))
        margins = False
    else:
        grid = _on_grid(_decision(estimator), limits, columns)
        _fill_centred(ax, grid, "decision value $f(x)$", colorbar, scale)
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
    function: Callable[..., Any],
    X: ArrayLike | None = None,
    y: ArrayLike | None = None,
    *,
    label: str,
    limits: Any = None,
    centred: bool = False,
    log: bool = False,
    scale: tuple[float, float] | None = None,
    n_lines: int = 0,
    names: Sequence[str] | None = None,
    size: float = 30.0,
    colorbar: bool = True,
    ax: Any = None,
) -> Any:
    """Draw a function of the plane as colour: a magnification, a density, one component.

    Parameters
    ----------
    function : callable
        Maps points (m, 2) to values (m,).
    X, y : arrays, optional
        Points to draw on top, with or without labels.
    label : str
        What the colour means, with its unit.
    limits : ((left, right), (bottom, top)), optional
        The range of X plus 8 % by default; needed without X.
    centred : bool
        Use the diverging map, white at 0, in place of viridis.
    log : bool
        Colour the decimal logarithm; the values have to be positive.
    scale : (low, high), optional
        Values of the two ends of the map (logarithms if ``log``; of opposite signs if
        ``centred``); give it where panels are compared.
    n_lines : int
        Number of lines of equal value to draw.
    names, size, ax
        As in :func:`plot_points`.
    colorbar : bool
        Draw the scale.

    Returns
    -------
    matplotlib axes

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> ax = plot_field(lambda P: P[:, 0], limits=((-1, 1), (-1, 1)), label="$x_1$")
    >>> plt.close(ax.figure)
    """
    if limits is None:
        if X is None:
            raise ValueError("limits must be given where there is no X to take them from.")
        limits = _limits(plane_points(X)[0])
    if centred and log:
        raise ValueError("centred and log exclude each other: a logarithm has no centre at 0.")
    ax = axes_or_new(ax)
    horizontal, vertical, values = _on_grid(function, limits)
    if log:
        if values.min() <= 0:
            raise ValueError("log=True needs positive values; the function has some at most 0.")
        values, label = np.log10(values), f"$\\log_{{10}}$ {label}"
    grid = (horizontal, vertical, values)
    if centred:
        _fill_centred(ax, grid, label, colorbar, None if scale is None else max(map(abs, scale)))
    else:
        low, high = (values.min(), values.max()) if scale is None else scale
        levels = np.linspace(low, high, FILL_LEVELS + 1) if high > low else None
        extend = "neither" if scale is None else "both"
        filled = ax.contourf(*grid, levels=levels, cmap="viridis", extend=extend, zorder=0)
        if colorbar:
            draw_scale(ax, filled, label, low, high)
    if n_lines:
        inner = np.linspace(values.min(), values.max(), n_lines + 2)[1:-1]
        ax.contour(
            *grid, levels=inner, colors="black", linestyles="solid", linewidths=0.8, zorder=2
        )
    name_axes(ax, "$x_1$", "$x_2$")
    if X is not None:
        plot_points(X, y, names=names, size=size, legend=False, ax=ax)
    ax.set(xlim=limits[0], ylim=limits[1], aspect="equal")
    return ax


def _limits(points: NDArray[np.float64]) -> tuple[tuple[float, float], tuple[float, float]]:
    low, high = points.min(axis=0), points.max(axis=0)
    pad = 0.08 * np.where(high > low, high - low, 1.0)
    (left, bottom), (right, top) = (low - pad).tolist(), (high + pad).tolist()
    return (left, right), (bottom, top)


def _on_grid(
    function: Callable[..., Any], limits: Any, columns: Any = None, size: int = GRID_POINTS
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Coordinates and values of a function of (m, 2) on a grid over the limits."""
    horizontal, vertical = (np.linspace(low, high, size) for low, high in limits)
    points: Any = np.stack(np.meshgrid(horizontal, vertical), axis=-1).reshape(-1, 2)
    if columns is not None:
        points = pandas().DataFrame(points, columns=columns)
    values = np.asarray(function(points))
    if values.shape != (size**2,):
        raise ValueError(
            f"The function must return one value for each of the {size**2} points, "
            f"got the shape {values.shape}."
        )
    return horizontal, vertical, values.reshape(size, size)


def _fill_centred(
    ax: Any,
    grid: tuple[Any, Any, NDArray[Any]],
    label: str,
    colorbar: bool,
    scale: float | None,
) -> None:
    # A few points far from all data must not take the whole range of colours.
    reach = float(np.quantile(np.abs(grid[2]), 0.95)) if scale is None else abs(scale)
    reach = reach or 1.0
    filled = ax.contourf(
        *grid,
        levels=np.linspace(-reach, reach, FILL_LEVELS + 1),
        cmap=diverging_map(),
        extend="both",
        zorder=0,
    )
    if colorbar:
        draw_scale(ax, filled, label, -reach, reach)


def _contour(ax: Any, grid: tuple[Any, Any, NDArray[Any]], levels: Any, style: str) -> None:
    low, high = grid[2].min(), grid[2].max()
    inside = [level for level in levels if low < level < high]
    if inside:
        ax.contour(*grid, levels=inside, colors="black", linestyles=style, linewidths=1.6, zorder=2)


def _fill_classes(ax: Any, grid: tuple[Any, Any, NDArray[Any]], n_classes: int) -> None:
    from matplotlib.colors import to_rgb

    horizontal, vertical, codes = grid
    pale = [0.35 * np.array(to_rgb(colour)) + 0.65 for colour in CLASS_COLOURS[:n_classes]]
    edges = np.arange(n_classes + 1) - 0.5
    ax.contourf(horizontal, vertical, codes, levels=edges, colors=pale, zorder=0)
    for code in range(n_classes):
        _contour(ax, (horizontal, vertical, (codes == code).astype(float)), [0.5], "solid")


def _support_vectors(estimator: Any) -> NDArray[np.float64] | None:
    """Support vectors in the coordinates of the figure, also behind scaling steps."""
    final = estimator[-1] if isinstance(estimator, Pipeline) else estimator
    vectors = getattr(final, "support_vectors_", None)
    if vectors is None:
        return None
    if isinstance(estimator, Pipeline) and len(estimator) > 1:
        vectors = estimator[:-1].inverse_transform(vectors)
    return np.asarray(vectors, dtype=np.float64)


def _decision(estimator: Any) -> Callable[..., Any]:
    if hasattr(estimator, "decision_function"):
        return estimator.decision_function
    if hasattr(estimator, "predict_proba"):
        return lambda P: _log_odds(estimator.predict_proba(P)[:, 1])
    if callable(estimator):
        return estimator
    raise TypeError(
        f"{type(estimator).__name__} has neither decision_function nor predict_proba: give a "
        "fitted classifier, a novelty detector or a function of (m, 2) points."
    )


def _log_odds(probability: NDArray[np.float64]) -> NDArray[np.float64]:
    # k-NN and trees give probabilities of exactly 0 and 1.
    bounded = np.clip(probability, 1e-3, 1 - 1e-3)
    return np.log(bounded / (1 - bounded))
