"""Parts that several figures have: axes, points, legends, maps of colours."""

from collections.abc import Sequence
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kernelbook.optional import import_optional
from kernelbook.plotting.style import CLASS_COLOURS, pyplot

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.colors import Colormap

MARKER_AREAS = (1.0, 1.4, 0.9, 0.8, 1.4, 1.2, 1.2)
LEGEND_WIDTH = 5.0  # inches that two entries beside each other need


def axes_or_new(ax: "Axes | None") -> "Axes":
    return pyplot().subplots()[1] if ax is None else ax


def like(X: ArrayLike, points: NDArray[np.float64]) -> "NDArray[np.float64] | pd.DataFrame":
    """Points as a frame if X is one: what an estimator that was fitted on a frame expects."""
    frame: Any = X
    return type(frame)(points, columns=frame.columns) if hasattr(frame, "columns") else points


def class_names(
    y: NDArray[Any], names: Sequence[str] | None, classes: Sequence[Any] | None = None
) -> dict[Any, str]:
    """Label -> name, in the order of colours and markers."""
    labels = list(np.unique(y) if classes is None else classes)
    if len(labels) > len(CLASS_COLOURS):
        raise ValueError(f"y has {len(labels)} classes, but only {len(CLASS_COLOURS)} colours.")
    if names is not None and len(names) != len(labels):
        raise ValueError(f"names must hold {len(labels)} names, one a class, got {len(names)}.")
    return dict(zip(labels, names or [f"class {label}" for label in labels], strict=True))


def name_axes(ax: "Axes", horizontal: str, vertical: str) -> None:
    """Label the axes; of panels with shared limits only the outer ones."""
    ax.set(xlabel=horizontal, ylabel=vertical)
    if len(ax.get_shared_x_axes().get_siblings(ax)) > 1:
        ax.label_outer()


def legend_below(ax: "Axes") -> None:
    place, figure = ax.get_subplotspec(), ax.figure
    beside = 1 if place is None else place.get_gridspec().ncols
    width = figure.bbox.width / figure.dpi / beside
    ax.legend(
        loc="upper center",
        bbox_to_anchor=(0.5, 0.0),
        borderaxespad=3.8,  # in heights of the text: room for the label of the axis
        ncols=2 if width >= LEGEND_WIDTH else 1,
        columnspacing=1.2,
        handletextpad=0.3,
    )


def write_beside(ax: "Axes", row: float, text: str) -> None:
    """Write to the right of the axes, at the height of a row."""
    ax.text(1.02, row, text, transform=ax.get_yaxis_transform(), va="center", fontsize=10)


def scatter(
    ax: "Axes",
    points: NDArray[np.float64],
    label: str,
    *,
    colour: str,
    marker: str,
    size: float,
    zorder: float = 3,
) -> None:
    ax.scatter(
        points[:, 0],
        points[:, 1],
        s=size,
        color=colour,
        marker=marker,
        edgecolors="white",
        linewidths=0.6,
        label=f"{label} (n = {len(points)})",
        zorder=zorder,
    )


def ring(ax: "Axes", points: NDArray[np.float64], size: float) -> None:
    ax.scatter(
        points[:, 0],
        points[:, 1],
        s=4 * size,
        facecolors="none",
        edgecolors="black",
        linewidths=1.1,
        zorder=4.5,
        label=f"support vector (n = {len(points)})",
    )


def pale(colour: str, strength: float) -> NDArray[np.float64]:
    """A colour mixed with white, on which points stand out."""
    return strength * np.array(_colors().to_rgb(colour)) + (1 - strength)


def diverging_map() -> "Colormap":
    """From the colour of class 0 to that of class 1, both pale, white in the middle."""
    low, high = (pale(colour, 0.55) for colour in CLASS_COLOURS[:2])
    return _colors().LinearSegmentedColormap.from_list("decision", [low, (1.0, 1.0, 1.0), high])


def draw_scale(ax: "Axes", filled: Any, label: str, low: float, high: float) -> None:
    ticks = [tick for tick in pyplot().MaxNLocator(5).tick_values(low, high) if low <= tick <= high]
    beside = ax.inset_axes((1.03, 0.0, 0.04, 1.0))  # as high as the axes, whatever their aspect
    ax.figure.colorbar(filled, cax=beside, label=label, ticks=ticks, format="%.3g")


def _colors() -> ModuleType:
    return import_optional("matplotlib.colors", extra="plots", purpose="A figure")
