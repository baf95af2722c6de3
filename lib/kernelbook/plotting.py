"""Figures in one style: decision regions, Gram matrices, tubes, scores, intervals, captions.

A class has a colour and a marker, support vectors are ringed, a boundary is solid and a margin
dashed, decision values have a diverging map centred at 0. Every ``plot_*`` function draws on
``ax``, or on the axes of a new figure if that is None, and returns the axes. Call
:func:`use_style` once at the head of a notebook and end each figure with :func:`show`.

matplotlib, seaborn and pandas are imported when first needed: ``pip install "kernelbook[plots]"``.
"""

import io
import re
from base64 import b64encode
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import t as student_t
from sklearn.pipeline import Pipeline
from sklearn.utils import check_array

__all__ = [
    "CLASS_COLOURS",
    "CLASS_MARKERS",
    "panels",
    "plot_decision",
    "plot_field",
    "plot_gram",
    "plot_intervals",
    "plot_points",
    "plot_regression_tube",
    "plot_scores",
    "show",
    "use_style",
]

CLASS_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
CLASS_MARKERS = ("o", "^", "s", "D", "v", "P", "X")
MARKER_AREAS = (1.0, 1.4, 0.9, 0.8, 1.4, 1.2, 1.2)
PANEL_WIDTHS = {1: 6.4, 2: 7.6, 3: 10.0}
FIGURE_NUMBER = re.compile(r"\d{1,2}\.\d{1,2}")
GRID_POINTS = 160
CLASS_GRID_POINTS = 320
FILL_LEVELS = 20
LEGEND_WIDTH = 5.0  # inches that two entries beside each other need
LAYOUT_ROUNDS = 2


def _pyplot() -> Any:
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError('Figures need matplotlib: pip install "kernelbook[plots]"') from error
    return plt


def _seaborn() -> Any:
    try:
        import seaborn as sns
    except ImportError as error:
        raise ImportError('This figure needs seaborn: pip install "kernelbook[plots]"') from error
    return sns


def _pandas() -> Any:
    import pandas as pd  # only for a caller who already holds a DataFrame

    return pd


def _axes(ax: Any) -> Any:
    return _pyplot().subplots()[1] if ax is None else ax


def use_style() -> None:
    """Use the style sheet of the collection for every figure that follows.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> use_style()
    >>> plt.rcParams["axes.spines.top"]
    False
    """
    _pyplot().style.use(Path(__file__).with_name("kernelbook.mplstyle"))


def panels(
    columns: int = 1, rows: int = 1, *, height: float | None = None, share: bool = True
) -> tuple[Any, Any]:
    """Make a figure of panels that have the same limits, so that they can be compared.

    Parameters
    ----------
    columns, rows : int
        Panels beside and below each other. On a telephone two columns are still legible.
    height : float, optional
        Height of one row in inches; about square panels by default.
    share : bool
        All panels have the same limits.

    Returns
    -------
    figure, axes
        ``axes`` is one axes for a single panel, else an ndarray of them, (columns,), (rows,) or
        (rows, columns).

    Examples
    --------
    >>> figure, axes = panels(2)
    >>> axes.shape
    (2,)
    >>> _pyplot().close(figure)
    """
    if columns not in PANEL_WIDTHS or rows < 1:
        raise ValueError(
            f"columns must be 1, 2 or 3 and rows at least 1, got {columns!r} and {rows!r}: more "
            "columns are not legible; use more rows."
        )
    width = PANEL_WIDTHS[columns]
    height = height if height is not None else {1: 4.4, 2: 3.9, 3: 3.5}[columns]
    return _pyplot().subplots(
        rows, columns, figsize=(width, height * rows), sharex=share, sharey=share
    )


def _plane(X: ArrayLike) -> tuple[NDArray[np.float64], list[str]]:
    """Points of the plane and the names of their two coordinates."""
    names = [str(name) for name in getattr(X, "columns", ("$x_1$", "$x_2$"))]
    points = np.asarray(check_array(X, dtype=np.float64, input_name="X"))
    if points.shape[1] != 2:
        raise ValueError(
            f"X has {points.shape[1]} features and this figure shows a plane: choose two "
            "columns, or project first."
        )
    return points, names


def _classes(y: NDArray[Any], names: Sequence[str] | None, classes: Any = None) -> dict[Any, str]:
    """Label -> name, in the order of colours and markers."""
    labels = list(np.unique(y) if classes is None else classes)
    if len(labels) > len(CLASS_COLOURS):
        raise ValueError(f"y has {len(labels)} classes, but only {len(CLASS_COLOURS)} colours.")
    if names is not None and len(names) != len(labels):
        raise ValueError(f"names must hold {len(labels)} names, one a class, got {len(names)}.")
    return dict(zip(labels, names or [f"class {label}" for label in labels], strict=True))


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
    >>> ax = plot_points([[0, 0], [1, 1], [2, 0]], [0, 0, 1])
    >>> ax.get_legend_handles_labels()[1]
    ['class 0 (n = 2)', 'class 1 (n = 1)']
    >>> _pyplot().close(ax.figure)
    """
    points, coordinates = _plane(X)
    labels = np.zeros(len(points)) if y is None else np.asarray(y)
    if len(labels) != len(points):
        raise ValueError(f"y has {len(labels)} labels and X has {len(points)} points.")
    known = _classes(labels, ["points"] if y is None else names, classes)
    ax = _axes(ax)
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
    _name_axes(ax, *coordinates)
    if legend:
        _legend_below(ax)
    return ax


def _name_axes(ax: Any, horizontal: str, vertical: str) -> None:
    """Label the axes; of panels with shared limits only the outer ones."""
    ax.set(xlabel=horizontal, ylabel=vertical)
    if len(ax.get_shared_x_axes().get_siblings(ax)) > 1:
        ax.label_outer()


def _legend_below(ax: Any) -> None:
    beside = 1 if ax.get_subplotspec() is None else ax.get_subplotspec().get_gridspec().ncols
    columns = 2 if ax.figure.get_figwidth() / beside >= LEGEND_WIDTH else 1
    ax.legend(
        loc="upper center",
        bbox_to_anchor=(0.5, 0.0),
        borderaxespad=3.8,  # in heights of the text: room for the label of the axis
        ncols=columns,
        columnspacing=1.2,
        handletextpad=0.3,
    )


def _ring(ax: Any, points: NDArray[np.float64], size: float) -> None:
    ax.scatter(
        *points.T,
        s=4 * size,
        facecolors="none",
        edgecolors="black",
        linewidths=1.1,
        zorder=4.5,
        label=f"support vector (n = {len(points)})",
    )


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
        points = _pandas().DataFrame(points, columns=columns)
    values = np.asarray(function(points))
    if values.shape != (size**2,):
        raise ValueError(
            f"The function must return one value for each of the {size**2} points, "
            f"got the shape {values.shape}."
        )
    return horizontal, vertical, values.reshape(size, size)


def _diverging_map() -> Any:
    """Pale versions of the two class colours, so that points stand out on them."""
    _pyplot()
    from matplotlib.colors import LinearSegmentedColormap, to_rgb

    low, high = (tuple(0.55 * np.array(to_rgb(c)) + 0.45) for c in CLASS_COLOURS[:2])
    return LinearSegmentedColormap.from_list("decision", [low, (1.0, 1.0, 1.0), high])


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
        cmap=_diverging_map(),
        extend="both",
        zorder=0,
    )
    if colorbar:
        _scale(ax, filled, label, -reach, reach)


def _scale(ax: Any, filled: Any, label: str, low: float, high: float) -> None:
    ticks = [
        tick for tick in _pyplot().MaxNLocator(5).tick_values(low, high) if low <= tick <= high
    ]
    beside = ax.inset_axes((1.03, 0.0, 0.04, 1.0))  # as high as the axes, whatever their aspect
    ax.figure.colorbar(filled, cax=beside, label=label, ticks=ticks, format="%.3g")


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
    >>> from sklearn.svm import SVC
    >>> X, y = [[0.0, 0.0], [1.0, 1.0], [2.0, 2.0]], [0, 1, 1]
    >>> ax = plot_decision(SVC(kernel="linear").fit(X, y), X, y)
    >>> ax.get_legend_handles_labels()[1][-1]
    'support vector (n = 2)'
    >>> _pyplot().close(ax.figure)
    """
    points, coordinates = _plane(X)
    ax = _axes(ax)
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
        _ring(ax, vectors, size)
    ax.set(xlim=limits[0], ylim=limits[1])
    if equal:
        ax.set_aspect("equal")
    if legend:
        _legend_below(ax)
    return ax


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
    >>> ax = plot_field(lambda P: P[:, 0], limits=((-1, 1), (-1, 1)), label="$x_1$")
    >>> _pyplot().close(ax.figure)
    """
    if limits is None:
        if X is None:
            raise ValueError("limits must be given where there is no X to take them from.")
        limits = _limits(_plane(X)[0])
    if centred and log:
        raise ValueError("centred and log exclude each other: a logarithm has no centre at 0.")
    ax = _axes(ax)
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
            _scale(ax, filled, label, low, high)
    if n_lines:
        inner = np.linspace(values.min(), values.max(), n_lines + 2)[1:-1]
        ax.contour(
            *grid, levels=inner, colors="black", linestyles="solid", linewidths=0.8, zorder=2
        )
    _name_axes(ax, "$x_1$", "$x_2$")
    if X is not None:
        plot_points(X, y, names=names, size=size, legend=False, ax=ax)
    ax.set(xlim=limits[0], ylim=limits[1], aspect="equal")
    return ax


def plot_gram(
    K: ArrayLike, y: ArrayLike | None = None, *, label: str = "$K(x, x')$", ax: Any = None
) -> Any:
    """Draw a Gram matrix as a heat map, with seaborn.

    Parameters
    ----------
    K : array, shape (n, m)
        Kernel values; a matrix with negative values gets the diverging map, white at 0.
    y : array, shape (n,), optional
        Labels of a square matrix: rows and columns are sorted by class, with a line between the
        classes.
    label : str
        What the colour means.
    ax : matplotlib axes, optional

    Returns
    -------
    matplotlib axes

    Examples
    --------
    >>> ax = plot_gram([[1.0, 0.5], [0.5, 1.0]])
    >>> _pyplot().close(ax.figure)
    """
    sns = _seaborn()
    K = np.asarray(check_array(K, dtype=np.float64, input_name="K"))
    ax = _axes(ax)
    borders: list[int] = []
    if y is not None:
        y = np.asarray(y)
        if K.shape != (len(y), len(y)):
            raise ValueError(f"y has {len(y)} labels, so K must be square of that size: {K.shape}.")
        order = np.argsort(y, kind="stable")
        K = K[np.ix_(order, order)]
        borders = (
            np.flatnonzero(np.diff(np.unique(y, return_inverse=True)[1][order])) + 1
        ).tolist()
    centred = K.min() < 0
    reach = np.abs(K).max()
    sns.heatmap(
        K,
        ax=ax,
        square=True,
        cmap=_diverging_map() if centred else "viridis",
        vmin=-reach if centred else min(K.min(), 0.0),
        vmax=reach if centred else K.max(),
        xticklabels=False,
        yticklabels=False,
        cbar_kws={"label": label},
    )
    for border in borders:
        ax.axhline(border, color="white" if not centred else "black", linewidth=1.5)
        ax.axvline(border, color="white" if not centred else "black", linewidth=1.5)
    sorted_by = ", sorted by class" if borders else ""
    ax.set(xlabel=f"{K.shape[1]} points{sorted_by}", ylabel=f"{K.shape[0]} points{sorted_by}")
    return ax


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
    >>> from sklearn.svm import SVR
    >>> X, y = [[0.0], [1.0], [2.0]], [0.0, 1.0, 2.0]
    >>> ax = plot_regression_tube(SVR(kernel="linear", epsilon=0.5).fit(X, y), X, y)
    >>> _pyplot().close(ax.figure)
    """
    points = np.asarray(check_array(X, dtype=np.float64, input_name="X"))
    if points.shape[1] != 1:
        raise ValueError(f"X has {points.shape[1]} features, but a tube is drawn over one.")
    final = estimator[-1] if isinstance(estimator, Pipeline) else estimator
    epsilon = getattr(final, "epsilon", None) if epsilon is None else epsilon
    if epsilon is None:
        raise ValueError(f"{type(final).__name__} has no epsilon: give epsilon= as an argument.")
    ax = _axes(ax)
    line = np.linspace(points.min(), points.max(), 400)[:, None]
    columns = getattr(X, "columns", None)
    at: Any = line if columns is None else _pandas().DataFrame(line, columns=columns)
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
        _ring(ax, np.column_stack([points[support, 0], np.asarray(y)[support]]), size)
    _name_axes(ax, "$x$" if columns is None else str(columns[0]), "$y$")
    if legend:
        _legend_below(ax)
    return ax


def plot_scores(
    scores: ArrayLike,
    y: ArrayLike,
    *,
    names: Sequence[str] | None = None,
    threshold: float | None = 0.0,
    label: str = "decision value $f(x)$",
    legend: bool = True,
    ax: Any = None,
) -> Any:
    """Draw the distribution of a score in each class, as densities that each integrate to 1.

    The rare class would not be seen on one common scale of counts.

    Parameters
    ----------
    scores : array, shape (n,)
    y : array, shape (n,)
        Labels.
    names : sequence of str, optional
        Names of the classes in the order of the sorted labels.
    threshold : float, optional
        Where the decision changes, a black line.
    label : str
        Name of the score.
    legend, ax
        As in :func:`plot_points`.

    Returns
    -------
    matplotlib axes

    Examples
    --------
    >>> ax = plot_scores([-1.0, -0.5, 0.2, 1.0], [0, 0, 0, 1])
    >>> _pyplot().close(ax.figure)
    """
    sns = _seaborn()
    values, labels = np.asarray(scores, dtype=np.float64), np.asarray(y)
    if values.shape != labels.shape or values.ndim != 1:
        raise ValueError(
            f"scores and y must be vectors of one length, got {values.shape} and {labels.shape}."
        )
    ax = _axes(ax)
    edges = np.histogram_bin_edges(values, bins=30)
    for index, (known, name) in enumerate(_classes(labels, names).items()):
        own = values[labels == known]
        sns.histplot(
            x=own,
            bins=edges,
            stat="density",
            element="step",
            color=CLASS_COLOURS[index],
            alpha=0.3,
            linestyle=("-", "--", "-.", ":")[index % 4],
            label=f"{name} (n = {len(own)})",
            ax=ax,
        )
    if threshold is not None:
        ax.axvline(threshold, color="black", linewidth=1.6)
    _name_axes(ax, label, "density in the class")
    if legend:
        _legend_below(ax)
    return ax


def plot_intervals(
    frame: Any,
    *,
    x: str,
    y: str,
    hue: str | None = None,
    interval: str = "ci",
    level: float = 0.95,
    reference: float | None = None,
    digits: int = 3,
    ax: Any = None,
) -> Any:
    r"""Compare groups by the means of their repetitions, each with an interval, in figures too.

    Parameters
    ----------
    frame : DataFrame
        Tidy: one row for each repetition.
    x : str
        Column of numbers.
    y : str
        Column of groups, drawn as rows in the order of their appearance.
    hue : str, optional
        Column of a second grouping, at most seven values, by colour and marker.
    interval : {'ci', 'sd', 'quantile'}
        Interval of Student's t for the mean; mean plus and minus one standard deviation; or the
        central quantiles of the repetitions.
    level : float
        Coverage of 'ci' and 'quantile'.
    reference : float, optional
        A value to compare with, a dotted line: a trivial baseline, a published figure.
    digits : int
        Decimals of the figures at the right of a row.
    ax : matplotlib axes, optional

    Returns
    -------
    matplotlib axes

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"model": ["a"] * 3 + ["b"] * 3, "auc": [0.7, 0.8, 0.9] + [0.5] * 3})
    >>> ax = plot_intervals(frame, x="auc", y="model", interval="sd", digits=2)
    >>> [text.get_text() for text in ax.texts]
    ['0.80 [0.70, 0.90]', '0.50 [0.50, 0.50]']
    >>> _pyplot().close(ax.figure)
    """
    missing = [column for column in (x, y, hue) if column is not None and column not in frame]
    if missing:
        raise ValueError(f"frame has no column {missing}; it has {list(frame.columns)}.")
    sns, bounds = _seaborn(), _interval(interval, level)
    groups = list(dict.fromkeys(frame[y]))
    hues = [None] if hue is None else list(dict.fromkeys(frame[hue]))
    if len(hues) > len(CLASS_COLOURS):
        raise ValueError(
            f"hue={hue!r} has {len(hues)} values, at most {len(CLASS_COLOURS)} allowed."
        )
    if ax is None:
        rows = len(groups) * len(hues)
        ax = _pyplot().subplots(figsize=(6.4, 1.3 + 0.34 * rows + 0.1 * len(groups)))[1]
    dodge = 0.8 * (1 - 1 / len(hues))
    sns.pointplot(
        data=frame,
        x=x,
        y=y,
        hue=hue,
        orient="h",
        order=groups,
        hue_order=None if hue is None else hues,
        errorbar=bounds,
        dodge=dodge or False,
        markers=CLASS_MARKERS[0] if hue is None else list(CLASS_MARKERS[: len(hues)]),
        palette=None if hue is None else list(CLASS_COLOURS[: len(hues)]),
        linestyle="none",
        capsize=0.12,
        err_kws={"linewidth": 1.5},
        ax=ax,
    )
    offsets = np.linspace(-dodge / 2, dodge / 2, len(hues))
    for kind, offset in zip(hues, offsets, strict=True):
        of_kind = frame if kind is None else frame[frame[hue] == kind]
        for position, group in enumerate(groups):
            values = of_kind.loc[of_kind[y] == group, x]
            if len(values):
                numbers = (values.mean(), *bounds(values))
                _write_beside(ax, position + offset, numbers, digits)
    if reference is not None:
        ax.axvline(reference, color="black", linestyle=":", linewidth=1.5, zorder=1)
    ax.set(ylabel="", ylim=(len(groups) - 0.5, -0.5))
    ax.grid(axis="x")
    if hue is not None:
        _legend_below(ax)
    return ax


def _write_beside(ax: Any, row: float, numbers: Sequence[float], digits: int) -> None:
    """Write mean and interval at the right of a row."""
    mean, low, high = (f"{number + 0.0:.{digits}f}" for number in numbers)
    ax.text(
        1.02,
        row,
        f"{mean} [{low}, {high}]",
        transform=ax.get_yaxis_transform(),
        va="center",
        fontsize=10,
    )


def _interval(kind: str, level: float) -> Callable[[Any], tuple[float, float]]:
    """Function from repetitions to (low, high)."""
    if not 0 < level < 1:
        raise ValueError(f"level must lie strictly between 0 and 1, got {level!r}.")

    def half_width(values: Any) -> float:
        if len(values) < 2:
            return 0.0
        spread = float(np.std(values, ddof=1))
        if kind == "sd":
            return spread
        factor = student_t.ppf((1 + level) / 2, len(values) - 1)
        return float(factor * spread / np.sqrt(len(values)))

    if kind in ("ci", "sd"):
        return lambda v: (float(np.mean(v)) - half_width(v), float(np.mean(v)) + half_width(v))
    if kind == "quantile":
        return lambda v: tuple(np.quantile(v, [(1 - level) / 2, (1 + level) / 2]).tolist())
    raise ValueError(f"interval must be 'ci', 'sd' or 'quantile', got {kind!r}.")


def show(figure: Any, *, number: str, alt: str, caption: str) -> None:
    """Show a figure in a notebook with its alternative text and its caption, and close it.

    The picture is a PNG whose output metadata hold the alternative text, ``metadata["image/png"]
    ["alt"]``; from there the HTML pages take it. Beside the picture its plain text repeats number
    and alternative text, and the caption follows as text: what a test of stored outputs compares,
    and what an index of figures is made of. The same figure gives the same bytes.

    Parameters
    ----------
    figure : matplotlib figure
        For axes ``ax`` that is ``ax.figure``.
    number : str
        Notebook and place, for instance ``"3.4"``.
    alt : str
        What a person who cannot see the picture has to know: kind of picture, axes, what stands
        out.
    caption : str
        What the picture shows, with the numbers that matter; Markdown and mathematics allowed.

    Raises
    ------
    ValueError
        If the number has another form, or a text is empty.

    Examples
    --------
    >>> ax = plot_points([[0, 0], [1, 1]])
    >>> show(ax.figure, number="3", alt="Two points.", caption="Two points.")
    Traceback (most recent call last):
    ...
    ValueError: number must be '<notebook>.<figure>', for instance '3.4', got '3'.
    >>> _pyplot().close(ax.figure)
    """
    if not isinstance(number, str) or not FIGURE_NUMBER.fullmatch(number):
        raise ValueError(
            f"number must be '<notebook>.<figure>', for instance '3.4', got {number!r}."
        )
    alt, caption = (" ".join(text.split()) for text in (alt, caption))
    for name, text in (("alt", alt), ("caption", caption)):
        if not text:
            raise ValueError(f"{name} must not be empty: say what figure {number} shows.")
    plt = _pyplot()
    try:
        from IPython.display import display
    except ImportError as error:
        raise ImportError('show needs a notebook: pip install "kernelbook[notebooks]"') from error
    png = b64encode(_png(figure)).decode("ascii")
    plt.close(figure)
    display(
        {"image/png": png, "text/plain": f"Figure {number}: {alt}"},
        metadata={"image/png": {"alt": alt}},
        raw=True,
    )
    display(
        {
            "text/markdown": f"**Figure {number}.** {caption}",
            "text/plain": f"Figure {number}. {caption}",
        },
        raw=True,
    )


def _png(figure: Any) -> bytes:
    """The figure as PNG of at most 256 colours, a third of the bytes, without date or program."""
    from PIL import Image

    for _ in range(LAYOUT_ROUNDS):  # the layout of axes with a fixed aspect settles by steps
        figure.draw_without_rendering()
    drawn, packed = io.BytesIO(), io.BytesIO()
    figure.savefig(drawn, format="png", metadata={"Software": None})
    with Image.open(drawn) as image:
        palette = image.convert("RGB").quantize(256, dither=Image.Dither.NONE)
    palette.save(packed, format="PNG", optimize=True)
    return packed.getvalue()
