"""Pictures of an expanded SVM; the sign of a value shows in colour, hatching and text alike.

Every function draws on the matplotlib axes given, or on new ones, and returns the axes.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from kernelbook.kernels import Matrix

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from kernelbook.explain.explainer import PolynomialExplainer

POSITIVE, NEGATIVE, NEUTRAL = "#0072B2", "#D55E00", "#999999"
"""Blue, vermilion and grey of the palette of Okabe and Ito."""

DECISION = "contribution to the decision value"


def plot_model_bar(
    explainer: "PolynomialExplainer",
    top: int = 10,
    *,
    data: ArrayLike | None = None,
    pair: Any = None,
    magnitude: bool = False,
    ax: "Axes | None" = None,
) -> "Axes":
    """Bars of the most important interactions.

    Parameters
    ----------
    top : int, default=10
        Number of interactions shown.
    data : array-like or DataFrame, shape (n, n_features), optional
        If given, the bars are the spreads of the contributions on these points, else weights.
    pair : tuple of two labels, optional
        Which of ``pairs_``. With several and none given, the bars are means over the pairs.
    magnitude : bool, default=False
        Draw the sizes of the weights instead of the signed weights.
    ax : matplotlib Axes, optional

    Returns
    -------
    matplotlib Axes
    """
    table = explainer.importance(data, pair=pair, top=top)
    signed = "weight" in table and data is None and not magnitude
    values = table["weight" if signed else "importance"].to_numpy()
    ax = _axes(ax, len(values))
    _bars(ax, np.zeros(len(values)), values, list(table["name"]), signed=signed)
    if data is not None:
        label = "standard deviation of the contribution"
    elif signed:
        label = "weight in the decision value"
    else:
        label = "size of the weight"
    if len(explainer.constant_) > 1 and pair is None:
        label += ", mean over the pairs"
    kept = int(explainer.mask_.sum())
    ax.set_xlabel(label)
    ax.set_title(f"{len(values)} most important of {kept} interactions{_of_pair(pair)}")
    return ax


def plot_sample_waterfall(
    explainer: "PolynomialExplainer",
    x: ArrayLike,
    top: int = 10,
    *,
    pair: Any = None,
    ax: "Axes | None" = None,
) -> "Axes":
    """From the constant to the decision value of one point, interaction by interaction.

    Parameters
    ----------
    x : array-like, shape (n_features,), or one row of a DataFrame
    top : int, default=10
        Number of interactions shown; the others are summed in one bar.
    pair : tuple of two labels, optional
        Which of ``pairs_``; to be given if there are several.
    ax : matplotlib Axes, optional

    Returns
    -------
    matplotlib Axes
    """
    [parts] = explainer.contributions(_one_point(x), pair=pair)
    constant = float(explainer.constant_[explainer._function(pair)])
    order = np.flatnonzero(explainer.mask_)
    order = order[np.argsort(-np.abs(parts[order]), kind="stable")]
    shown, others = order[:top], order[top:]
    expansion = explainer._expansion
    names = [expansion.name(expansion.key(place)) for place in shown]
    steps = [constant, *parts[shown]]
    if len(others):
        names.append("1 other" if len(others) == 1 else f"{len(others)} others")
        steps.append(parts[others].sum())
    return _waterfall(ax, steps, ["constant", *names], pair)


def plot_degree_waterfall(
    explainer: "PolynomialExplainer",
    x: ArrayLike,
    *,
    pair: Any = None,
    ax: "Axes | None" = None,
) -> "Axes":
    """From the constant to the decision value of one point, degree by degree.

    Parameters
    ----------
    x : array-like, shape (n_features,), or one row of a DataFrame
    pair : tuple of two labels, optional
        Which of ``pairs_``; to be given if there are several.
    ax : matplotlib Axes, optional

    Returns
    -------
    matplotlib Axes
    """
    [parts] = explainer.degree_contributions(_one_point(x), pair=pair)
    constant = float(explainer.constant_[explainer._function(pair)])
    names = ["constant", *(f"degree {d}" for d in range(1, len(parts)))]
    return _waterfall(ax, [constant, *parts[1:]], names, pair)


def plot_degree_bar(
    explainer: "PolynomialExplainer",
    data: ArrayLike,
    *,
    pair: Any = None,
    ax: "Axes | None" = None,
) -> "Axes":
    """Mean size of every degree's contribution, with its signed mean and spread.

    Bars: mean magnitude. Diamonds: signed mean, with one standard deviation to both sides. A
    diamond near zero on a tall bar is a degree without a preferred direction.

    Parameters
    ----------
    data : array-like or DataFrame, shape (n, n_features)
    pair : tuple of two labels, optional
        Which of ``pairs_``; to be given if there are several.
    ax : matplotlib Axes, optional

    Returns
    -------
    matplotlib Axes
    """
    table = explainer.degree_importance(data, pair=pair)
    ax = _axes(ax)
    degrees = table.index.to_numpy()
    ax.bar(degrees, table["mean_magnitude"], color=POSITIVE, alpha=0.6, label="mean magnitude")
    ax.errorbar(
        degrees,
        table["mean"],
        yerr=table["standard_deviation"],
        fmt="D",
        color="black",
        capsize=4,
        label="mean ± standard deviation",
    )
    ax.legend()
    return _degree_axes(ax, degrees, pair)


def plot_degree_box(
    explainer: "PolynomialExplainer",
    data: ArrayLike,
    *,
    pair: Any = None,
    ax: "Axes | None" = None,
) -> "Axes":
    """Box plot of every degree's contribution over given points.

    Parameters
    ----------
    data : array-like or DataFrame, shape (n, n_features)
    pair : tuple of two labels, optional
        Which of ``pairs_``; to be given if there are several.
    ax : matplotlib Axes, optional

    Returns
    -------
    matplotlib Axes
    """
    parts = explainer.degree_contributions(data, pair=pair)[:, 1:]
    ax = _axes(ax)
    degrees = np.arange(1, parts.shape[1] + 1)
    ax.boxplot(
        parts,
        positions=degrees,
        widths=0.5,
        patch_artist=True,
        boxprops={"facecolor": POSITIVE, "alpha": 0.6},
        medianprops={"color": "black", "linewidth": 2},
    )
    return _degree_axes(ax, degrees, pair)


def _waterfall(ax: "Axes | None", steps: Sequence[float], names: list[str], pair: Any) -> "Axes":
    values = np.asarray(steps, dtype=np.float64)
    ends = values.cumsum()
    ax = _axes(ax, len(values))
    _bars(ax, ends - values, values, names, signed=True)
    ax.patches[-len(values)].set(facecolor=NEUTRAL, hatch="")
    for row, end in enumerate(ends[:-1]):
        ax.plot([end, end], [row - 0.4, row + 1.4], color="black", linewidth=0.8)
    ax.axvline(ends[-1], color="black", linestyle="--", linewidth=1.0)
    ax.set_xlabel(DECISION)
    ax.set_title(f"decision value {ends[-1]:.4g}{_of_pair(pair)}")
    return ax


def _bars(ax: "Axes", starts: Matrix, values: Matrix, names: list[str], *, signed: bool) -> None:
    """Horizontal bars, first on top, each with its value in figures at its end."""
    for row, (start, value) in enumerate(zip(starts, values, strict=True)):
        negative = value < 0
        ax.barh(
            row,
            value,
            left=start,
            color=NEGATIVE if negative else POSITIVE,
            hatch="///" if negative else "",
            edgecolor="white",
        )
        ax.annotate(
            f"{value:+.3g}" if signed else f"{value:.3g}",
            (start + value, row),
            xytext=(-4 if negative else 4, 0),
            textcoords="offset points",
            ha="right" if negative else "left",
            va="center",
            fontsize="small",
            bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.8, "pad": 0.5},
        )
    ax.axvline(0.0, color="black", linewidth=0.8)
    ax.set_yticks(range(len(names)), names)
    ax.set_ylim(len(names) - 0.4, -0.6)
    edges = np.concatenate((starts, starts + values, [0.0]))
    room = 0.2 * (np.ptp(edges) or 1.0)
    ax.set_xlim(edges.min() - room * (edges.min() < 0), edges.max() + room * (edges.max() > 0))


def _degree_axes(ax: "Axes", degrees: Any, pair: Any) -> "Axes":
    ax.axhline(0.0, color="black", linewidth=0.8)
    ax.set_xticks(degrees, [str(d) for d in degrees])
    ax.set_xlabel("degree")
    ax.set_ylabel(DECISION)
    ax.set_title(f"contribution of every degree{_of_pair(pair)}")
    return ax


def _of_pair(pair: Any) -> str:
    return "" if pair is None else f"\n{pair[0]} (+) against {pair[1]} (-)"


def _one_point(x: ArrayLike) -> ArrayLike:
    if np.ndim(x) == 1:
        return np.asarray(x)[None, :]
    if np.ndim(x) == 2 and np.shape(x)[0] == 1:
        return x
    raise ValueError(f"x must be one point, shape (n_features,), got shape {np.shape(x)}.")


def _axes(ax: "Axes | None", rows: int | None = None) -> "Axes":
    if ax is not None:
        return ax
    try:
        from matplotlib import pyplot
    except ImportError as error:
        raise ImportError('plots need matplotlib: pip install "kernelbook[plots]".') from error
    size = (6.4, 4.0) if rows is None else (7.0, 1.2 + 0.32 * rows)
    return pyplot.subplots(figsize=size, layout="constrained")[1]
