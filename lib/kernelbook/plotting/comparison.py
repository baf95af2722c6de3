"""The table of a comparison as a figure: intervals, the band of the margin, verdicts."""

from typing import TYPE_CHECKING, Any

from kernelbook.plotting._parts import write_beside
from kernelbook.plotting.style import pyplot

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

__all__ = ["plot_comparison"]

MARKERS = {"better": ">", "worse": "<", "equivalent": "s", "undecided": "o"}
BAND = "#D9D9D9"


def plot_comparison(
    table: "pd.DataFrame",
    measure: str | None = None,
    *,
    digits: int = 3,
    smaller_is_better: bool = False,
    ax: "Axes | None" = None,
) -> "Axes":
    """Draw the differences to the reference with their intervals, the margin and the verdicts.

    Right of 0 a method is better than the reference. A marker points to the better or the worse
    side, a square is equivalent, a hollow circle undecided. Beside a row stand the difference, its
    interval and the verdict, and the parameters whose grid is to be widened.

    Parameters
    ----------
    table : pandas.DataFrame
        The ``table`` of :func:`kernelbook.study.compare`.
    measure : str, default=None
        One of its measures. May be None if there is only one.
    digits : int, default=3
        Decimals of the numbers beside a row.
    smaller_is_better : bool, default=False
        Whether the measure is an error. Its differences stand in the table with the sign turned
        round, positive for a smaller error, and the label of the axis says so: a gain.
    ax : matplotlib.axes.Axes, default=None
        Where to draw. If None, the axes of a new figure.

    Returns
    -------
    matplotlib.axes.Axes
        The axes with the drawing.

    Raises
    ------
    ValueError
        If the table does not hold the measure, or several and none is named.
    ImportError
        Without matplotlib.

    See Also
    --------
    plot_intervals : Means with intervals that are not paired.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> import pandas as pd
    >>> row = {"measure": "AP", "margin": 0.02, "widen": ""}
    >>> a = {"method": "a", "difference": 0.0, "low": 0.0, "high": 0.0, "verdict": "reference"}
    >>> b = {"method": "b", "difference": 0.1, "low": 0.05, "high": 0.15, "verdict": "better"}
    >>> ax = plot_comparison(pd.DataFrame([row | a, row | b]), digits=2)
    >>> [text.get_text() for text in ax.texts]
    ['+0.10 [+0.05, +0.15] better']
    >>> plt.close(ax.figure)
    """
    measures = list(dict.fromkeys(table["measure"]))
    if measure is None and len(measures) == 1:
        (measure,) = measures
    if measure not in measures:
        raise ValueError(f"measure must be one of {measures}, got {measure!r}.")
    rows = table[table["measure"] == measure]
    is_reference = rows["verdict"] == "reference"
    (reference,) = rows.loc[is_reference, "method"]
    rows = rows[~is_reference].fillna({"widen": ""})  # empty in a CSV file
    if ax is None:
        ax = pyplot().subplots(figsize=(7.6, 1.5 + 0.34 * len(rows)))[1]
    margin = float(rows["margin"].iloc[0])
    label = f"{measure}: difference from {reference}"
    if smaller_is_better:
        label = f"gain on {reference} (smaller {measure})"
    ax.axvspan(-margin, margin, color=BAND, linewidth=0, zorder=0)
    ax.axvline(0.0, color="black", linestyle=":", linewidth=1.5, zorder=1)
    for position, row in enumerate(rows.itertuples()):
        ax.plot([row.low, row.high], [position, position], color="black", linewidth=1.5, zorder=2)
        ax.plot(
            row.difference,
            position,
            MARKERS[row.verdict],
            color="black",
            markerfacecolor="white" if row.verdict == "undecided" else "black",
            zorder=3,
        )
        write_beside(ax, position, _said(row, digits))
    ax.set_yticks(range(len(rows)), rows["method"])
    ax.set(
        xlabel=f"{label}\n(grey: margin of {margin:g})",
        ylim=(len(rows) - 0.5, -0.5),
    )
    ax.locator_params(axis="x", nbins=4)
    ax.grid(axis="x")
    return ax


def _said(row: Any, digits: int) -> str:
    # Rounded first, and 0.0 added: a difference of -0.001 reads +0.00, not -0.00.
    ends = (row.difference, row.low, row.high)
    numbers = (f"{round(float(number), digits) + 0.0:+.{digits}f}" for number in ends)
    difference, low, high = numbers
    advice = f"; widen {row.widen}" if row.widen else ""
    return f"{difference} [{low}, {high}] {row.verdict}{advice}"
