"""Statistical figures, by seaborn: Gram matrices, scores by class, means with intervals."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import ModuleType
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import t as student_t
from sklearn.utils import check_array

from kernelbook.optional import import_optional
from kernelbook.plotting._parts import (
    axes_or_new,
    class_names,
    diverging_map,
    legend_below,
    name_axes,
    write_beside,
)
from kernelbook.plotting.style import CLASS_COLOURS, CLASS_MARKERS, pyplot
from kernelbook.validation import check_number

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

Kind = Literal["ci", "sd", "quantile"]


def plot_gram(
    K: ArrayLike,
    y: ArrayLike | None = None,
    *,
    label: str = "$K(x, x')$",
    ax: Axes | None = None,
) -> Axes:
    """Draw a Gram matrix as a heat map.

    Parameters
    ----------
    K : array-like of shape (n, m)
        Kernel values; a matrix with negative values gets the diverging map, white at 0.
    y : array-like of shape (n,), default=None
        Labels of a square matrix: rows and columns are sorted by class, with a line between the
        classes.
    label : str, default="$K(x, x')$"
        What the colour means.
    ax : matplotlib.axes.Axes, default=None
        Where to draw. If None, on the axes of a new figure.

    Returns
    -------
    matplotlib.axes.Axes
        The axes with the drawing.

    Raises
    ------
    ValueError
        If there are labels and K is not square of their number.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> ax = plot_gram([[1.0, 0.5], [0.5, 1.0]])
    >>> plt.close(ax.figure)
    """
    sns = _seaborn()
    K = check_array(K, dtype=np.float64, input_name="K")
    ax = axes_or_new(ax)
    borders: list[int] = []
    if y is not None:
        codes = np.unique(np.asarray(y), return_inverse=True)[1]
        if K.shape != (len(codes), len(codes)):
            raise ValueError(
                f"y has {len(codes)} labels, so K must be square of that size: {K.shape}."
            )
        order = np.argsort(codes, kind="stable")
        K = K[np.ix_(order, order)]
        borders = (np.flatnonzero(np.diff(codes[order])) + 1).tolist()
    reach = np.abs(K).max()
    centred = K.min() < 0
    sns.heatmap(
        K,
        ax=ax,
        square=True,
        cmap=diverging_map() if centred else "viridis",
        vmin=-reach if centred else 0.0,
        vmax=reach,
        xticklabels=False,
        yticklabels=False,
        cbar_kws={"label": label},
    )
    for border in borders:
        for line in (ax.axhline, ax.axvline):
            line(border, color="black" if centred else "white", linewidth=1.5)
    sorted_by = ", sorted by class" if borders else ""
    ax.set(xlabel=f"{K.shape[1]} points{sorted_by}", ylabel=f"{K.shape[0]} points{sorted_by}")
    return ax


def plot_scores(
    scores: ArrayLike,
    y: ArrayLike,
    *,
    names: Sequence[str] | None = None,
    label: str = "decision value $f(x)$",
    legend: bool = True,
    ax: Axes | None = None,
) -> Axes:
    """Draw the distribution of a score in each class, as densities that each integrate to 1.

    The rare class would not be seen on one common scale of counts. A black line at 0 shows where
    the decision changes.

    Parameters
    ----------
    scores : array-like of shape (n,)
        Scores; subtract a threshold that is not 0.
    y : array-like of shape (n,)
        Labels.
    names : sequence of str, default=None
        Names of the classes in the order of the sorted labels.
    label : str, default="decision value $f(x)$"
        Name of the score.
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
        If scores and labels are not vectors of one length.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> ax = plot_scores([-1.0, -0.5, 0.2, 1.0], [0, 0, 0, 1])
    >>> plt.close(ax.figure)
    """
    sns = _seaborn()
    values, labels = np.asarray(scores, dtype=np.float64), np.asarray(y)
    if values.shape != labels.shape or values.ndim != 1:
        raise ValueError(
            f"scores and y must be vectors of one length, got {values.shape} and {labels.shape}."
        )
    ax = axes_or_new(ax)
    edges = np.histogram_bin_edges(values, bins=30)
    for index, (known, name) in enumerate(class_names(labels, names).items()):
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
    ax.axvline(0.0, color="black", linewidth=1.6)
    name_axes(ax, label, "density in the class")
    if legend:
        legend_below(ax)
    return ax


def plot_intervals(
    frame: pd.DataFrame,
    *,
    x: str,
    y: str,
    hue: str | None = None,
    interval: Kind = "ci",
    level: float = 0.95,
    reference: float | None = None,
    digits: int = 3,
    ax: Axes | None = None,
) -> Axes:
    """Compare groups by the means of their repetitions, each with an interval, in figures too.

    Parameters
    ----------
    frame : pandas.DataFrame
        Tidy: one row for each repetition.
    x : str
        Column of numbers.
    y : str
        Column of groups, drawn as rows in the order of their appearance.
    hue : str, default=None
        Column of a second grouping, at most seven values, by colour and marker.
    interval : {'ci', 'sd', 'quantile'}, default='ci'
        Interval of Student's t for the mean; mean plus and minus one standard deviation; or the
        central quantiles of the repetitions.
    level : float, default=0.95
        Coverage of ``'ci'`` and ``'quantile'``, in (0, 1).
    reference : float, default=None
        A value to compare with, a dotted line: a trivial baseline, a published figure.
    digits : int, default=3
        Decimals of the figures at the right of a row.
    ax : matplotlib.axes.Axes, default=None
        Where to draw. If None, on the axes of a new figure, as high as its rows need.

    Returns
    -------
    matplotlib.axes.Axes
        The axes with the drawing.

    Raises
    ------
    ValueError
        If a column is missing, ``hue`` has too many values, or ``interval`` or ``level`` is none.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"model": ["a"] * 3 + ["b"] * 3, "auc": [0.7, 0.8, 0.9] + [0.5] * 3})
    >>> ax = plot_intervals(frame, x="auc", y="model", interval="sd", digits=2)
    >>> [text.get_text() for text in ax.texts]
    ['0.80 [0.70, 0.90]', '0.50 [0.50, 0.50]']
    >>> plt.close(ax.figure)
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
        ax = pyplot().subplots(figsize=(6.4, 1.3 + 0.34 * rows + 0.1 * len(groups)))[1]
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
                mean, low, high = (f"{number + 0.0:.{digits}f}" for number in numbers)
                write_beside(ax, position + offset, f"{mean} [{low}, {high}]")
    if reference is not None:
        ax.axvline(reference, color="black", linestyle=":", linewidth=1.5, zorder=1)
    ax.set(ylabel="", ylim=(len(groups) - 0.5, -0.5))
    ax.grid(axis="x")
    if hue is not None:
        legend_below(ax)
    return ax


def _seaborn() -> ModuleType:
    return import_optional("seaborn", extra="plots", purpose="This figure")


def _interval(kind: Kind, level: float) -> Callable[[ArrayLike], tuple[float, float]]:
    """Function from repetitions to (low, high)."""
    level = check_number(level, "level", low=0, high=1, inclusive="neither")
    if kind not in get_args(Kind):
        raise ValueError(f"interval must be 'ci', 'sd' or 'quantile', got {kind!r}.")

    def bounds(values: ArrayLike) -> tuple[float, float]:
        numbers = np.asarray(values)
        if kind == "quantile":
            low, high = np.quantile(numbers, [(1 - level) / 2, (1 + level) / 2])
            return float(low), float(high)
        half = np.std(numbers, ddof=1) if len(numbers) > 1 else 0.0
        if kind == "ci" and len(numbers) > 1:
            half *= student_t.ppf((1 + level) / 2, len(numbers) - 1) / np.sqrt(len(numbers))
        return float(numbers.mean() - half), float(numbers.mean() + half)

    return bounds
