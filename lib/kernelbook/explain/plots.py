"""Pictures of an explainer; the sign of a value shows in colour, hatching and text alike.

Every function draws on the matplotlib axes given, or on new ones, and returns the axes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from kernelbook.explain.explainer import PolynomialExplainer
from kernelbook.explain.monomials import Matrix
from kernelbook.optional import import_optional

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = [
    "plot_degree_contributions",
    "plot_degree_importance",
    "plot_degree_waterfall",
    "plot_importance",
    "plot_waterfall",
]

POSITIVE, NEGATIVE, NEUTRAL = "#D55E00", "#0072B2", "#999999"
"""Vermilion, blue and grey of the palette of Okabe and Ito, as the classes have them."""

DECISION = "contribution to the decision value"


def plot_importance(
    explainer: PolynomialExplainer,
    top: int = 10,
    *,
    data: ArrayLike | None = None,
    signed: bool = True,
    ax: Axes | None = None,
) -> Axes:
    """Draw the most important interactions as bars.

    Parameters
    ----------
    explainer : PolynomialExplainer
        A fitted one. With several functions the bars are means over them.
    top : int, default=10
        Number of interactions shown.
    data : array-like of shape (n, n_features), default=None
        If given, the bars are the spreads of the contributions on these points. If None, they are
        the weights.
    signed : bool, default=True
        Whether weights of one function are drawn with their sign.
    ax : matplotlib Axes, default=None
        Where to draw. If None, on new axes.

    Returns
    -------
    matplotlib Axes
        Those drawn on.
    """
    table = explainer.importance(data, top=top)
    signed = signed and data is None and "weight" in table
    values = table["weight" if signed else "importance"].to_numpy()
    ax = _axes(ax, len(values))
    _bars(ax, np.zeros(len(values)), values, list(table["name"]), signed=signed)
    label = "weight in the decision value" if signed else "size of the weight"
    if data is not None:
        label = "standard deviation of the contribution"
    if len(explainer.constant_) > 1:
        label += ", mean over the pairs"
    ax.set_xlabel(label)
    title = f"{len(values)} most important of {explainer.mask_.sum()} interactions"
    ax.set_title(title + _pair(explainer))
    return ax


def plot_waterfall(
    explainer: PolynomialExplainer, x: ArrayLike, top: int = 10, *, ax: Axes | None = None
) -> Axes:
    """Draw how interactions lead from the constant to the decision value of one point.

    Parameters
    ----------
    explainer : PolynomialExplainer
        A fitted one, of one function.
    x : array-like of shape (n_features,)
        The point.
    top : int, default=10
        Number of interactions shown; the others are summed in one bar.
    ax : matplotlib Axes, default=None
        Where to draw. If None, on new axes.

    Returns
    -------
    matplotlib Axes
        Those drawn on.
    """
    [parts] = explainer.contributions(_one_point(x))
    order = np.flatnonzero(explainer.mask_)
    order = order[np.argsort(-np.abs(parts[order]), kind="stable")]
    shown, others = order[:top], order[top:]
    keys = explainer.interactions()
    names = [explainer.name(keys[place]) for place in shown]
    values = parts[shown].tolist()
    if len(others):
        names.append("1 other" if len(others) == 1 else f"{len(others)} others")
        values.append(parts[others].sum())
    return _waterfall(explainer, values, names, ax)


def plot_degree_waterfall(
    explainer: PolynomialExplainer, x: ArrayLike, *, ax: Axes | None = None
) -> Axes:
    """Draw how degrees lead from the constant to the decision value of one point.

    Parameters
    ----------
    explainer : PolynomialExplainer
        A fitted one, of one function.
    x : array-like of shape (n_features,)
        The point.
    ax : matplotlib Axes, default=None
        Where to draw. If None, on new axes.

    Returns
    -------
    matplotlib Axes
        Those drawn on.
    """
    [parts] = explainer.degree_contributions(_one_point(x))
    names = [f"degree {d}" for d in range(1, len(parts))]
    return _waterfall(explainer, parts[1:], names, ax)


def plot_degree_importance(
    explainer: PolynomialExplainer, data: ArrayLike, *, ax: Axes | None = None
) -> Axes:
    """Draw the mean size of every degree's contribution, with its signed mean and spread.

    Bars: mean magnitude. Diamonds: signed mean, with one standard deviation to both sides. A
    diamond near zero on a tall bar is a degree without a preferred direction.

    Parameters
    ----------
    explainer : PolynomialExplainer
        A fitted one, of one function.
    data : array-like of shape (n, n_features)
        Points.
    ax : matplotlib Axes, default=None
        Where to draw. If None, on new axes.

    Returns
    -------
    matplotlib Axes
        Those drawn on.
    """
    table = explainer.degree_importance(data)
    ax = _degree_axes(explainer, ax)
    sizes, means, spreads = table[["mean_magnitude", "mean", "standard_deviation"]].to_numpy().T
    ax.bar(table.index, sizes, color=POSITIVE, alpha=0.6, label="mean magnitude")
    label = "mean ± standard deviation"
    ax.errorbar(table.index, means, spreads, fmt="D", color="black", capsize=4, label=label)
    ax.set_xticks(table.index)
    ax.legend()
    return ax


def plot_degree_contributions(
    explainer: PolynomialExplainer, data: ArrayLike, *, ax: Axes | None = None
) -> Axes:
    """Draw a box plot of every degree's contribution over given points.

    Parameters
    ----------
    explainer : PolynomialExplainer
        A fitted one, of one function.
    data : array-like of shape (n, n_features)
        Points.
    ax : matplotlib Axes, default=None
        Where to draw. If None, on new axes.

    Returns
    -------
    matplotlib Axes
        Those drawn on.
    """
    parts = explainer.degree_contributions(data)[:, 1:]
    ax = _degree_axes(explainer, ax)
    box, median = {"facecolor": POSITIVE, "alpha": 0.6}, {"color": "black", "linewidth": 2}
    ax.boxplot(parts, widths=0.5, patch_artist=True, boxprops=box, medianprops=median)
    return ax


def _waterfall(
    explainer: PolynomialExplainer, parts: Sequence[float], names: list[str], ax: Axes | None
) -> Axes:
    values = np.array([explainer.constant_[0], *parts])
    ends = values.cumsum()
    ax = _axes(ax, len(values))
    _bars(ax, ends - values, values, ["constant", *names], signed=True)
    ax.patches[-len(values)].set(facecolor=NEUTRAL, hatch="")
    for row, end in enumerate(ends[:-1]):
        ax.plot([end, end], [row - 0.4, row + 1.4], color="black", linewidth=0.8)
    ax.axvline(ends[-1], color="black", linestyle="--", linewidth=1.0)
    ax.set_xlabel(DECISION)
    ax.set_title(f"decision value {ends[-1]:.4g}{_pair(explainer)}")
    return ax


def _bars(ax: Axes, starts: Matrix, values: Matrix, names: list[str], *, signed: bool) -> None:
    """Horizontal bars, first on top, each with its value in figures at its end."""
    rows, negative, ends = range(len(values)), values < 0, starts + values
    colors, hatches = np.where(negative, NEGATIVE, POSITIVE), np.where(negative, "///", "")
    bars = ax.barh(rows, values, left=starts, color=colors, hatch=hatches, edgecolor="white")
    labels = [f"{value:{'+' if signed else ''}.3g}" for value in values]
    frame = {"facecolor": "white", "edgecolor": "none", "alpha": 0.8, "pad": 0.5}
    ax.bar_label(bars, labels, padding=4, fontsize="small", bbox=frame)
    ax.axvline(0.0, color="black", linewidth=0.8)
    ax.set_yticks(rows, names)
    ax.set_ylim(len(names) - 0.4, -0.6)
    edges = np.concatenate((starts, ends, [0.0]))
    room = 0.2 * (np.ptp(edges) or 1.0)
    ax.set_xlim(edges.min() - room * (edges.min() < 0), edges.max() + room * (edges.max() > 0))


def _degree_axes(explainer: PolynomialExplainer, ax: Axes | None) -> Axes:
    ax = _axes(ax)
    ax.axhline(0.0, color="black", linewidth=0.8)
    ax.set(xlabel="degree", ylabel=DECISION)
    ax.set_title(f"contribution of every degree{_pair(explainer)}")
    return ax


def _pair(explainer: PolynomialExplainer) -> str:
    """What the signs mean, for a classifier with one function."""
    if explainer.pairs_ is None or len(explainer.pairs_) > 1:
        return ""
    [(positive, negative)] = explainer.pairs_
    return f"\n{positive} (+) against {negative} (-)"


def _one_point(x: ArrayLike) -> ArrayLike:
    if np.ndim(x) == 1:
        # A row of a DataFrame keeps the names of its columns.
        return x.to_frame().T if hasattr(x, "to_frame") else np.asarray(x)[None]
    if np.shape(x)[:1] != (1,):
        raise ValueError(f"x must be one point, shape (n_features,), got shape {np.shape(x)}.")
    return x


def _axes(ax: Axes | None, rows: int | None = None) -> Axes:
    if ax is not None:
        return ax
    pyplot = import_optional("matplotlib.pyplot", extra="plots", purpose="A figure")
    size = (6.4, 4.0) if rows is None else (7.0, 1.2 + 0.32 * rows)
    return pyplot.subplots(figsize=size, layout="constrained")[1]
