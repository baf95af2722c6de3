"""What all figures share: colours, markers, panels, labels, lazy imports."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

CLASS_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
CLASS_MARKERS = ("o", "^", "s", "D", "v", "P", "X")
MARKER_AREAS = (1.0, 1.4, 0.9, 0.8, 1.4, 1.2, 1.2)
PANEL_WIDTHS = {1: 6.4, 2: 7.6, 3: 10.0}
LEGEND_WIDTH = 5.0  # inches that two entries beside each other need


def pyplot() -> Any:
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError('Figures need matplotlib: pip install "kernelbook[plots]"') from error
    return plt


def seaborn() -> Any:
    try:
        import seaborn as sns
    except ImportError as error:
        raise ImportError('This figure needs seaborn: pip install "kernelbook[plots]"') from error
    return sns


def pandas() -> Any:
    import pandas as pd  # only for a caller who already holds a DataFrame

    return pd


def use_style() -> None:
    """Use the style sheet of the collection for every figure that follows.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> use_style()
    >>> plt.rcParams["axes.spines.top"]
    False
    """
    pyplot().style.use(Path(__file__).parents[1] / "kernelbook.mplstyle")


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
    >>> import matplotlib.pyplot as plt
    >>> figure, axes = panels(2)
    >>> axes.shape
    (2,)
    >>> plt.close(figure)
    """
    if columns not in PANEL_WIDTHS or rows < 1:
        raise ValueError(
            f"columns must be 1, 2 or 3 and rows at least 1, got {columns!r} and {rows!r}: more "
            "columns are not legible; use more rows."
        )
    width = PANEL_WIDTHS[columns]
    height = height if height is not None else {1: 4.4, 2: 3.9, 3: 3.5}[columns]
    return pyplot().subplots(
        rows, columns, figsize=(width, height * rows), sharex=share, sharey=share
    )


def axes_or_new(ax: Any) -> Any:
    return pyplot().subplots()[1] if ax is None else ax


def class_names(
    y: NDArray[Any], names: Sequence[str] | None, classes: Any = None
) -> dict[Any, str]:
    """Label -> name, in the order of colours and markers."""
    labels = list(np.unique(y) if classes is None else classes)
    if len(labels) > len(CLASS_COLOURS):
        raise ValueError(f"y has {len(labels)} classes, but only {len(CLASS_COLOURS)} colours.")
    if names is not None and len(names) != len(labels):
        raise ValueError(f"names must hold {len(labels)} names, one a class, got {len(names)}.")
    return dict(zip(labels, names or [f"class {label}" for label in labels], strict=True))


def name_axes(ax: Any, horizontal: str, vertical: str) -> None:
    """Label the axes; of panels with shared limits only the outer ones."""
    ax.set(xlabel=horizontal, ylabel=vertical)
    if len(ax.get_shared_x_axes().get_siblings(ax)) > 1:
        ax.label_outer()


def legend_below(ax: Any) -> None:
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


def ring(ax: Any, points: NDArray[np.float64], size: float) -> None:
    ax.scatter(
        *points.T,
        s=4 * size,
        facecolors="none",
        edgecolors="black",
        linewidths=1.1,
        zorder=4.5,
        label=f"support vector (n = {len(points)})",
    )


def diverging_map() -> Any:
    """Pale versions of the two class colours, so that points stand out on them."""
    pyplot()
    from matplotlib.colors import LinearSegmentedColormap, to_rgb

    low, high = (tuple(0.55 * np.array(to_rgb(c)) + 0.45) for c in CLASS_COLOURS[:2])
    return LinearSegmentedColormap.from_list("decision", [low, (1.0, 1.0, 1.0), high])


def draw_scale(ax: Any, filled: Any, label: str, low: float, high: float) -> None:
    ticks = [tick for tick in pyplot().MaxNLocator(5).tick_values(low, high) if low <= tick <= high]
    beside = ax.inset_axes((1.03, 0.0, 0.04, 1.0))  # as high as the axes, whatever their aspect
    ax.figure.colorbar(filled, cax=beside, label=label, ticks=ticks, format="%.3g")
