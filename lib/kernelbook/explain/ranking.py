"""What matters most: tables of importance, and the selection of the most important."""

from numbers import Integral, Real
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils._param_validation import Interval, validate_parameter_constraints

from kernelbook.explain.interactions import Interactions, Mask
from kernelbook.explain.monomials import Indices, Matrix
from kernelbook.optional import import_optional

if TYPE_CHECKING:
    from pandas import DataFrame

__all__ = ["degree_table", "feature_table", "interaction_table", "selected", "table"]

CRITERIA = ("count", "fraction_of_interactions", "fraction_of_importance")
FRACTION = Interval(Real, 0, 1, closed="right")


def selected(scores: Matrix, kept: Mask, *criteria: float | None) -> Mask:
    """Return a mask of the kept interactions with the largest scores.

    Parameters
    ----------
    scores : ndarray of shape (n_interactions,)
        Their importance.
    kept : ndarray of shape (n_interactions,), dtype=bool
        Those from which to select.
    *criteria : int or float or None
        In order ``count``, ``fraction_of_interactions`` and ``fraction_of_importance``: one is a
        number, which as few interactions as possible have to reach.

    Returns
    -------
    ndarray of shape (n_interactions,), dtype=bool
        The selection.

    Raises
    ------
    ValueError
        If not exactly one criterion is given, or it is out of range.

    Examples
    --------
    >>> scores, kept = np.array([2.0, 4.0, 1.0, 3.0]), np.array([True, True, True, False])
    >>> selected(scores, kept, None, None, 0.8).tolist()  # 6 of 7
    [True, True, False, False]
    """
    given = [(k, value) for k, value in zip(CRITERIA, criteria, strict=True) if value is not None]
    if len(given) != 1:
        raise ValueError(f"give exactly one of {', '.join(CRITERIA)}, got {len(given)}.")
    [(name, value)] = given
    order = _ranked(scores, kept)
    allowed = Interval(Integral, 0, len(order), closed="both") if name == "count" else FRACTION
    validate_parameter_constraints({name: [allowed]}, {name: value}, caller_name="select")
    if name != "count":
        value = _smallest_reaching(scores[order], value, by=name)
    mask = np.zeros(len(scores), dtype=bool)
    mask[order[:value]] = True
    return mask


def interaction_table(
    interactions: Interactions, scores: Matrix, kept: Mask, coef: Matrix, top: int | None
) -> "DataFrame":
    """Return a table of the kept interactions, in falling order of their scores.

    Parameters
    ----------
    interactions : Interactions
        All interactions.
    scores : ndarray of shape (n_interactions,)
        Their importance.
    kept : ndarray of shape (n_interactions,), dtype=bool
        Those that are kept.
    coef : ndarray of shape (n_functions, n_interactions)
        Their weights, shown if there is one function.
    top : int or None
        Number of rows. If None, all.

    Returns
    -------
    DataFrame
        What :meth:`PolynomialExplainer.importance` returns.
    """
    order = _ranked(scores, kept)[:top]
    keys = [interactions.key(place) for place in order]
    fraction = scores[order] / (scores.sum() or 1.0)
    columns = {
        "interaction": keys,
        "name": [interactions.name(key) for key in keys],
        "degree": [len(key) for key in keys],
        "weight": coef[0][order],
        "importance": scores[order],
        "fraction": fraction,
        "cumulative_fraction": fraction.cumsum(),
    }
    if len(coef) > 1:
        del columns["weight"]
    return table(columns)


def feature_table(names: tuple[str, ...], totals: Matrix) -> "DataFrame":
    """Return a table of the features, in falling order of their totals.

    Parameters
    ----------
    names : tuple of str
        Names of the features.
    totals : ndarray of shape (n_features,)
        Their importance.

    Returns
    -------
    DataFrame
        Columns ``feature``, ``importance``, ``fraction``.
    """
    fraction = totals / (totals.sum() or 1.0)
    features = table({"feature": names, "importance": totals, "fraction": fraction})
    return features.iloc[np.argsort(-totals, kind="stable")].reset_index(drop=True)


def degree_table(parts: Matrix) -> "DataFrame":
    """Return a table of statistics of the contributions of each degree.

    Parameters
    ----------
    parts : ndarray of shape (n, D)
        Contributions of degrees 1 to D at n points.

    Returns
    -------
    DataFrame
        What :meth:`PolynomialExplainer.degree_importance` returns.
    """
    magnitude = np.abs(parts).mean(axis=0)
    lower, median, upper = np.percentile(parts, [25, 50, 75], axis=0)
    columns = {
        "degree": np.arange(1, parts.shape[1] + 1),
        "mean_magnitude": magnitude,
        "fraction": magnitude / (magnitude.sum() or 1.0),
        "mean": parts.mean(axis=0),
        "standard_deviation": parts.std(axis=0),
        "lower_quartile": lower,
        "median": median,
        "upper_quartile": upper,
    }
    return table(columns).set_index("degree")


def table(columns: dict[str, Any]) -> "DataFrame":
    """Return a DataFrame of given columns.

    Parameters
    ----------
    columns : dict
        From names to values.

    Returns
    -------
    DataFrame
        The table.

    Raises
    ------
    ImportError
        If pandas is not installed.
    """
    return import_optional("pandas", extra="data", purpose="A table").DataFrame(columns)


def _ranked(scores: Matrix, kept: Mask) -> Indices:
    """Positions of what is kept in falling order of the scores, ties by position."""
    order = np.argsort(-scores, kind="stable")
    return order[kept[order]]


def _smallest_reaching(scores: Matrix, fraction: float, *, by: str) -> int:
    """How many of the scores, in falling order, reach a fraction of their number or their sum."""
    if by == "fraction_of_interactions":
        scores = np.ones(len(scores))
    reached = scores.cumsum()
    if not reached.any():
        raise ValueError(f"{by}: all interactions have importance zero.")
    if fraction == 1.0:
        # Sums stop growing where the scores fall below the rounding of the total.
        return int(np.count_nonzero(scores))
    return int(np.argmax(reached / reached[-1] >= fraction)) + 1
