"""One style for all figures: colours, markers, panels, one legend for all of them."""

from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Literal, cast, overload

import numpy as np
from numpy.typing import NDArray

from kernelbook.optional import import_optional

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.legend import Legend

CLASS_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
CLASS_MARKERS = ("o", "^", "s", "D", "v", "P", "X")
PANEL_WIDTHS = {1: 6.4, 2: 7.6, 3: 10.0}
PANEL_HEIGHTS = {1: 4.4, 2: 3.9, 3: 3.5}


def pyplot() -> ModuleType:
    """Import ``matplotlib.pyplot``, or say how to install it.

    Returns
    -------
    module
        The module.
    """
    return import_optional("matplotlib.pyplot", extra="plots", purpose="A figure")


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


@overload
def panels(  # numpydoc ignore=GL08
    columns: Literal[1] = ..., rows: Literal[1] = ..., *, height: float | None = ...,
    share: bool = ...,
) -> "tuple[Figure, Axes]": ...  # fmt: skip
@overload
def panels(  # numpydoc ignore=GL08
    columns: int = ..., rows: int = ..., *, height: float | None = ..., share: bool = ...
) -> "tuple[Figure, NDArray[np.object_]]": ...
def panels(
    columns: int = 1, rows: int = 1, *, height: float | None = None, share: bool = True
) -> "tuple[Figure, Axes | NDArray[np.object_]]":
    """Make a figure of panels that have the same limits, so that they can be compared.

    Parameters
    ----------
    columns : {1, 2, 3}, default=1
        Panels beside each other. On a telephone two are still legible.
    rows : int, default=1
        Panels below each other.
    height : float, default=None
        Height of one row in inches. If None, panels are about square.
    share : bool, default=True
        Whether all panels have the same limits.

    Returns
    -------
    figure : matplotlib.figure.Figure
        The figure.
    axes : matplotlib.axes.Axes or ndarray of Axes
        One axes for a single panel, else an array (columns,), (rows,) or (rows, columns).

    Raises
    ------
    ValueError
        If there are more than three columns, which nobody can read.

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
    if height is None:
        height = PANEL_HEIGHTS[columns]
    size = (PANEL_WIDTHS[columns], height * rows)
    return pyplot().subplots(rows, columns, figsize=size, sharex=share, sharey=share)


def legend_of(ax: "Axes", columns: int = 3) -> "Legend":
    """Give a figure one legend below its panels, from what one of them shows.

    Counts in parentheses are left out: each panel may have its own. The layout of
    :func:`use_style` makes room for the legend.

    Parameters
    ----------
    ax : matplotlib.axes.Axes
        The panel with the most entries.
    columns : int, default=3
        Entries beside each other.

    Returns
    -------
    matplotlib.legend.Legend
        The legend of the figure.

    Raises
    ------
    ValueError
        If nothing on the axes has a label.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> figure, axes = panels(2)
    >>> handle = axes[0].plot([0, 1], label="positive (n = 2)")
    >>> [text.get_text() for text in legend_of(axes[0]).get_texts()]
    ['positive']
    >>> plt.close(figure)
    """
    handles, labels = ax.get_legend_handles_labels()
    if not handles:
        raise ValueError("ax has nothing to explain: draw something with label=... on it first.")
    names = [label.partition(" (")[0] for label in labels]
    figure = cast("Figure", ax.figure)
    return figure.legend(handles, names, loc="outside lower center", ncols=columns)
