"""One audit of a whole published table."""

import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple

from kernelbook.audit.counts import grim
from kernelbook.audit.prevalence import (
    NOTHING,
    Interval,
    accuracy_bound,
    implied_prevalence,
    prevalence_from_f1,
    prevalence_from_precision,
    trivial_f1,
)
from kernelbook.metrics import expected_rates
from kernelbook.optional import import_optional

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["audit_table"]

TWO = ("sensitivity", "specificity")
RATES = ("accuracy", *TWO, "precision", "f1")
IDENTITIES: dict[str, tuple[Callable[..., Interval], tuple[str, ...]]] = {
    "": (implied_prevalence, ("accuracy", *TWO)),
    "precision_": (prevalence_from_precision, ("precision", *TWO)),
    "f1_": (prevalence_from_f1, ("accuracy", "f1")),
}
# What averaging over runs may leave: of prevalences, of accuracies and of F1.
TOLERANCE = 0.005

Audit = dict[str, Any]


class _Cell(NamedTuple):
    """A printed rate as an exact fraction, with the decimals of that fraction."""

    exact: Fraction
    decimals: int

    @property
    def value(self) -> float:
        return float(self.exact)

    @property
    def half(self) -> float:
        return 0.5 * 10.0**-self.decimals


class _Row(NamedTuple):
    """A printed row: its rates, and what the publication states about the cases."""

    cells: dict[str, _Cell]
    stated: float
    sizes: dict[str, int]

    def has(self, *names: str) -> bool:
        return set(names) <= self.cells.keys()

    def value(self, name: str) -> float:
        return self.cells[name].value if name in self.cells else math.nan


def audit_table(frame: "pd.DataFrame", *, group: str | None = None) -> "pd.DataFrame":
    r"""Hold every row of a published table against the arithmetic of this module.

    Parameters
    ----------
    frame : pandas.DataFrame
        One row for each printed row. Columns ``accuracy``, and ``sensitivity`` and
        ``specificity`` or ``f1`` or all; optionally ``precision``; and, as stated by the
        publication, ``n_positive`` and ``n_negative``, or ``prevalence`` (a fraction). Other
        columns are ignored. Rates are fractions, or percentages if any of them exceeds 1. Best
        read with ``dtype=str``: text keeps the printed decimals ("80.60"), a number has those of
        its shortest form, which forgets a final 0 and so allows more.
    group : str, default=None
        Column that tells which rows describe the same data: their prevalences should agree.

    Returns
    -------
    pandas.DataFrame
        Index as in ``frame``; fractions; NaN where the columns needed are missing.

        ``prevalence_low``, ``prevalence_high``
            :func:`implied_prevalence`.
        ``precision_prevalence_low``, ``precision_prevalence_high``
            :func:`prevalence_from_precision`.
        ``f1_prevalence_low``, ``f1_prevalence_high``
            :func:`prevalence_from_f1`.
        ``stated_prevalence``, ``accuracy_at_stated``, ``accuracy_bound``
            The prevalence stated, the accuracy :math:`\pi s + (1 - \pi) t` there, and
            :func:`accuracy_bound`.
        ``balanced_accuracy``, ``mcc``
            From the rates, at the middle of the implied prevalences.
        ``f1_other_class``
            F1 from the rates with the roles of the classes exchanged.
        ``trivial_f1``, ``f1_excess``
            F1 of flagging everything at the prevalence the group agrees on (its complement for a
            row with the other class as positive), or else the row's own; and F1 minus that.
        ``sensitivity_counts``, ``specificity_counts``
            Lists of the counts of ``n_positive`` and ``n_negative`` that fit (:func:`grim`, rounded
            or cut off).
        ``finding``
            In words, what the row cannot be, separated by "; "; empty if nothing was found.
            Disagreements of at most 0.005 are left to averaging over runs.

    Raises
    ------
    ValueError
        If a column is missing, the frame is empty, or a rate is below 0 or above 100 %.
    ImportError
        If pandas or imbalanced-learn is not installed.

    Notes
    -----
    A row *is consistent with the other class as positive* if its implied prevalence disagrees with
    the median of its group of three or more (without a group: with the stated prevalence), but one
    minus it agrees. At a prevalence near 1/2 the two cannot be told apart and nothing is said.
    Whether the columns or the training classes were exchanged, the table cannot tell.

    Examples
    --------
    The rates say that half of the cases are positive, the text that one in ten is.

    >>> import pandas as pd
    >>> table = pd.DataFrame(
    ...     {"accuracy": ["70.0"], "sensitivity": ["80.0"], "specificity": ["60.0"],
    ...      "n_positive": [10], "n_negative": [90]})
    >>> print(audit_table(table).finding[0])
    the rates imply a prevalence of 0.495 to 0.505, not the stated 0.100
    """
    pd = import_optional("pandas", extra="metrics", purpose="audit_table")
    rows = _read_rows(frame)
    audits = [_identities(row) for row in rows]
    for row, audit, agreed in zip(rows, audits, _agreed(frame, audits, group), strict=True):
        reference = row.stated if math.isnan(agreed) else agreed
        flipped = _agrees(1 - reference, audit) and not _agrees(reference, audit)
        audit["trivial_f1"] = _trivial_f1(audit, agreed, flipped)
        audit["f1_excess"] = row.value("f1") - audit["trivial_f1"]
        audit |= {f"{name}_counts": _counts(row, name) for name in TWO}
        audit["finding"] = "; ".join(
            [
                *_prevalence_findings(row, audit, flipped),
                *_f1_findings(row, audit),
                *_count_findings(row, audit),
            ]
        )
    return pd.DataFrame(audits, index=frame.index)


def _read_rows(frame: "pd.DataFrame") -> list[_Row]:
    names = [name for name in RATES if name in frame.columns]
    if "accuracy" not in names or not ({*TWO} <= set(names) or "f1" in names):
        raise ValueError(
            "frame needs the columns accuracy, and sensitivity with specificity or f1; it has "
            f"{list(frame.columns)}."
        )
    numbers = frame[names].astype(float)
    if frame.empty or numbers["accuracy"].isna().any():
        raise ValueError("frame needs at least one row, and an accuracy in each.")
    if numbers.min(axis=None) < 0 or numbers.max(axis=None) > 100:
        raise ValueError("frame holds rates below 0 or above 100 %.")
    percent = bool(numbers.max(axis=None) > 1)
    rows = []
    for i, (stated, sizes) in enumerate(_stated(frame)):
        present = numbers.iloc[i].dropna().index
        text = {name: str(frame[name].iloc[i]).strip() for name in present}
        cells = {
            name: _Cell(
                Fraction(printed) / (100 if percent else 1),
                len(printed.partition(".")[2]) + 2 * percent,
            )
            for name, printed in text.items()
        }
        rows.append(_Row(cells, stated, sizes))
    return rows


def _stated(frame: "pd.DataFrame") -> list[tuple[float, dict[str, int]]]:
    """Prevalence, and number of cases behind sensitivity and specificity, of each row."""
    sizes: list[dict[str, int]] = [{} for _ in range(len(frame))]
    prevalences = [math.nan] * len(frame)
    if {"n_positive", "n_negative"} <= set(frame.columns):
        counts = frame[["n_positive", "n_negative"]].astype(int).to_numpy().tolist()
        sizes = [dict(zip(TWO, pair, strict=True)) for pair in counts]
        prevalences = [p / (p + n) for p, n in counts]
    if "prevalence" in frame.columns:
        prevalences = frame["prevalence"].astype(float).tolist()
    return list(zip(prevalences, sizes, strict=True))


def _identities(row: _Row) -> Audit:
    """What one row says by itself."""
    audit: Audit = {}
    for prefix, (function, names) in IDENTITIES.items():
        cells = [row.cells[name] for name in names if name in row.cells]
        interval = NOTHING
        if len(cells) == len(names):
            interval = function(*(cell.value for cell in cells), [cell.decimals for cell in cells])
        audit[f"{prefix}prevalence_low"], audit[f"{prefix}prevalence_high"] = interval
    p, s, t = row.stated, *(row.value(name) for name in TWO)
    audit["stated_prevalence"] = p
    audit["accuracy_at_stated"] = p * s + (1 - p) * t
    audit["accuracy_bound"] = math.nan if math.isnan(p + s + t) else accuracy_bound(s, t, p)
    audit["balanced_accuracy"] = (s + t) / 2
    audit["mcc"] = audit["f1_other_class"] = math.nan
    implied = _middle(audit)
    if not math.isnan(implied):
        audit["mcc"] = expected_rates(s, t, implied)["mcc"]
        audit["f1_other_class"] = expected_rates(t, s, 1 - implied)["f1"]
    return audit


def _middle(audit: Audit) -> float:
    return (audit["prevalence_low"] + audit["prevalence_high"]) / 2


def _agreed(frame: "pd.DataFrame", audits: list[Audit], group: str | None) -> list[float]:
    """Median implied prevalence of each row's group; nan where fewer than three rows have one."""
    if group is None:
        return [math.nan] * len(audits)
    implied = frame[[group]].assign(middle=[_middle(audit) for audit in audits])
    of_group = implied.groupby(group, dropna=False)["middle"]
    return of_group.transform("median").where(of_group.transform("count") > 2).tolist()


def _agrees(prevalence: float, audit: Audit, prefix: str = "") -> bool:
    low, high = audit[f"{prefix}prevalence_low"], audit[f"{prefix}prevalence_high"]
    return bool(low - TOLERANCE <= prevalence <= high + TOLERANCE)


def _trivial_f1(audit: Audit, agreed: float, flipped: bool) -> float:
    """F1 of flagging everything at the prevalence of the group, or else of the row."""
    prevalence = _middle(audit) if math.isnan(agreed) else 1 - agreed if flipped else agreed
    return math.nan if math.isnan(prevalence) else trivial_f1(prevalence)


def _counts(row: _Row, name: str) -> list[int] | None:
    """Counts that fit a rate; None where the number of cases is not stated."""
    if name not in row.sizes or name not in row.cells:
        return None
    exact, decimals = row.cells[name]
    return grim(exact, decimals, row.sizes[name], unit="fraction", rounding="any")


def _prevalence_findings(row: _Row, audit: Audit, flipped: bool) -> Iterator[str]:
    stated, low, high = row.stated, audit["prevalence_low"], audit["prevalence_high"]
    if row.has(*TWO) and math.isnan(low):
        yield "the accuracy is no average of the two rates"
    if not math.isnan(stated + low) and not _agrees(stated, audit):
        yield (
            f"the rates imply a prevalence of {low:.3f} to {high:.3f}, not the stated {stated:.3f}"
        )
    if row.has(*TWO) and not math.isnan(stated):
        # Both rates at the upper end of their rounding, the accuracy at its lower one.
        s, t = (row.cells[name].value + row.cells[name].half for name in TWO)
        bound = accuracy_bound(s, t, stated)
        if row.cells["accuracy"].value - row.cells["accuracy"].half > bound + TOLERANCE:
            yield (
                f"an accuracy of {row.value('accuracy'):.3f} exceeds {bound:.3f}, the most that "
                "its rates leave at the stated prevalence"
            )
    if flipped:
        yield (
            f"consistent with the other class as positive: 1 - prevalence is {1 - high:.3f} to "
            f"{1 - low:.3f}"
        )


def _f1_findings(row: _Row, audit: Audit) -> Iterator[str]:
    if not row.has("f1"):
        return
    low, high, stated = audit["f1_prevalence_low"], audit["f1_prevalence_high"], row.stated
    if math.isnan(low):
        yield "no table of counts has this accuracy and this F1"
    elif not math.isnan(stated) and not _agrees(stated, audit, "f1_"):
        yield (
            f"accuracy and F1 leave a prevalence of {low:.3f} to {high:.3f}, not the stated "
            f"{stated:.3f}"
        )
    if row.has("precision", "sensitivity"):
        v, s = row.value("precision"), row.value("sensitivity")
        harmonic = 2 * v * s / (v + s) if v + s > 0 else 0.0
        slack = sum(row.cells[name].half for name in ("precision", "sensitivity", "f1"))
        if abs(row.value("f1") - harmonic) > TOLERANCE + 2 * slack:
            yield f"F1 is not the harmonic mean {harmonic:.3f} of precision and sensitivity"
    if abs(audit["f1_excess"]) <= TOLERANCE:
        yield (
            f"F1 is {audit['f1_excess']:+.4f} from the {audit['trivial_f1']:.4f} of flagging "
            "everything"
        )


def _count_findings(row: _Row, audit: Audit) -> Iterator[str]:
    for name, size in row.sizes.items():
        if audit[f"{name}_counts"] == []:
            yield f"no count of {size} gives the {name}, unless it averages folds of unequal size"
