"""Statistical figures, by seaborn: Gram matrices, scores by class, means with intervals."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import t as student_t
from sklearn.utils import check_array

from kernelbook.plotting.style import (
    CLASS_COLOURS,
    CLASS_MARKERS,
    axes_or_new,
    class_names,
    diverging_map,
    legend_below,
    name_axes,
    pyplot,
    seaborn,
)


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
    >>> import matplotlib.pyplot as plt
    >>> ax = plot_gram([[1.0, 0.5], [0.5, 1.0]])
    >>> plt.close(ax.figure)
    """
    sns = seaborn()
    K = np.asarray(check_array(K, dtype=np.float64, input_name="K"))
    ax = axes_or_new(ax)
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
        cmap=diverging_map() if centred else "viridis",
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
    >>> import matplotlib.pyplot as plt
    >>> ax = plot_scores([-1.0, -0.5, 0.2, 1.0], [0, 0, 0, 1])
    >>> plt.close(ax.figure)
    """
    sns = seaborn()
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
    if threshold is not None:
        ax.axvline(threshold, color="black", linewidth=1.6)
    name_axes(ax, label, "density in the class")
    if legend:
        legend_below(ax)
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
    sns, bounds = seaborn(), _interval(interval, level)
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
                _write_beside(ax, position + offset, numbers, digits)
    if reference is not None:
        ax.axvline(reference, color="black", linestyle=":", linewidth=1.5, zorder=1)
    ax.set(ylabel="", ylim=(len(groups) - 0.5, -0.5))
    ax.grid(axis="x")
    if hue is not None:
        legend_below(ax)
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
