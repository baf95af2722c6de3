"""The tables of a comparison, from the results of its cells."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.model_selection import ParameterGrid

from kernelbook.study._trial import Method
from kernelbook.study.paired import paired_interval, verdict

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["base_name", "differences", "tabulate_choices", "tabulate_methods", "tabulate_scores"]

TOO_OFTEN_AT_AN_EDGE = 0.1


def base_name(parameter: str) -> str:
    """Return the name of a parameter without the steps of the pipeline before it.

    Parameters
    ----------
    parameter : str
        Such as ``'kernelsvc__C'``.

    Returns
    -------
    str

    Examples
    --------
    >>> base_name("kernelsvc__C")
    'C'
    """
    return parameter.rpartition("__")[2]


def tabulate_scores(raw: "pd.DataFrame", measures: Iterable[str]) -> "pd.DataFrame":
    columns = {f"score {measure}": measure for measure in measures}
    wide = raw.set_index(["method", "repeat"])[list(columns)].rename(columns=columns)
    return wide.melt(ignore_index=False, var_name="measure", value_name="value").reset_index()


def differences(
    scores: "pd.DataFrame",
    methods: Sequence[str],
    reference: str,
    margin: Mapping[str, float],
    test_to_train: float,
    level: float,
) -> Iterator[dict[str, Any]]:
    """One row a measure and method: its scores, and the paired differences to the reference."""
    for measure, of_measure in scores.groupby("measure", sort=False):
        wide = of_measure.pivot(index="repeat", columns="method", values="value")
        for method in methods:
            paired = wide[method] - wide[reference]
            mean, low, high = paired_interval(paired, test_to_train=test_to_train, level=level)
            found = verdict(low, high, margin[measure])
            yield {
                "measure": measure,
                "method": method,
                "n": len(paired),
                "mean": wide[method].mean(),
                "sd": wide[method].std(),
                "difference": mean,
                "low": low,
                "high": high,
                "margin": margin[measure],
                "verdict": "reference" if method == reference else found,
            }


def tabulate_choices(
    pandas: Any,
    raw: "pd.DataFrame",
    methods: Mapping[str, Method],
    saturated: Mapping[str, Sequence[str]],
) -> "pd.DataFrame":
    rows = []
    for name, repeat, setting in raw[["method", "repeat", "setting"]].itertuples(index=False):
        grid = methods[name].grid
        for parameter, value in sorted(ParameterGrid(grid)[setting].items()):
            edge = _edge(value, grid[parameter], saturated.get(base_name(parameter), ()))
            rows.append((name, repeat, parameter, value, edge))
    columns = ["method", "repeat", "parameter", "value", "edge"]
    frame: pd.DataFrame = pandas.DataFrame(rows, columns=columns)
    return frame


def _edge(value: Any, values: Sequence[Any], allowed: Sequence[str]) -> str:
    numbers = [v for v in values if isinstance(v, Real) and not isinstance(v, bool)]
    if len(numbers) < 2 or value not in (ends := (min(numbers), max(numbers))):
        return ""
    end = "low" if value == ends[0] else "high"
    return "saturated" if end in allowed else end


def tabulate_methods(
    pandas: Any,
    raw: "pd.DataFrame",
    methods: Mapping[str, Method],
    reference: str,
    choices: "pd.DataFrame",
    fixed: Mapping[str, Sequence[str]],
) -> "pd.DataFrame":
    """What the search chose and how many answers differ: one row a method."""
    answers = raw.pivot(index="repeat", columns="method", values="answers")
    rows = []
    for name, method in methods.items():
        chosen, edges = [], {}
        for parameter, found in choices[choices["method"] == name].groupby("parameter"):
            chosen.append(f"{base_name(parameter)} {_summary(found['value'].tolist())}")
            edges[base_name(parameter)] = found["edge"].isin(["low", "high"]).mean()
        often = [name for name, fraction in edges.items() if fraction > TOO_OFTEN_AT_AN_EDGE]
        rows.append(
            {
                "method": name,
                "changed": _fraction_changed(answers[name], answers[reference]),
                "n_settings": len(ParameterGrid(method.grid)),
                "chosen": "; ".join(chosen),
                "edge": max(edges.values(), default=0.0),
                "widen": ", ".join(often),
                "fixed": ", ".join(fixed.get(name, ())),
            }
        )
    frame: pd.DataFrame = pandas.DataFrame(rows)
    return frame


def _summary(values: list[Any]) -> str:
    """Median and range of numbers, or the most frequent of other values with its frequency."""
    if all(isinstance(value, Real) and not isinstance(value, bool) for value in values):
        return f"{np.median(values):.3g} [{min(values):.3g}, {max(values):.3g}]"
    value, count = Counter(map(str, values)).most_common(1)[0]
    return f"{value} ({count / len(values):.0%})"


def _fraction_changed(answers: Iterable[str], others: Iterable[str]) -> float:
    """Mean over repeats of the fraction of characters that differ; nan without answers."""
    pairs = zip("".join(answers), "".join(others), strict=True)
    different = [answer != other for answer, other in pairs]
    return float(np.mean(different)) if different else np.nan
