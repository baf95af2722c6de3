"""One audit of a whole published table."""

import math
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

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

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["audit_table"]

RATES = ("accuracy", "sensitivity", "specificity", "precision", "f1")


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
    stated_share: float
    sizes: dict[str, int]

    def value(self, name: str) -> float:
        return self.cells[name].value if name in self.cells else math.nan


def audit_table(
    frame: "pd.DataFrame",
    *,
    decimals: int | Mapping[str, Any] | None = None,
    group: str | list[str] | None = None,
    tolerance: float = 0.005,
) -> "pd.DataFrame":
    r"""Hold every row of a published table against the arithmetic of this module.

    Parameters
    ----------
    frame : DataFrame
        One row for each printed row. Columns ``accuracy``, and ``sensitivity`` and
        ``specificity`` or ``f1`` or all; optionally ``precision``; and, as stated by the
        publication, ``n_positive`` and ``n_negative``, or ``prevalence`` (a fraction). Other
        columns are ignored. Rates are fractions, or percentages if any of them exceeds 1. Best
        read with ``dtype=str``: text keeps the printed decimals ("80.60").
    decimals : int or mapping from column to int or to one int a row, optional
        Decimals of the printed rates, in the table's unit. By default those of the text, or of
        the shortest form of the number (which forgets a final 0 and so allows more).
    group : str or list of str, optional
        Columns that tell which rows describe the same data: their shares of positives should
        agree.
    tolerance : float
        Disagreement of shares, and of F1, that is left to averaging over runs.

    Returns
    -------
    DataFrame
        Index as in ``frame``; fractions; nan where the columns needed are not there.

        ``prevalence_low``, ``prevalence_high``
            :func:`implied_prevalence`.
        ``precision_prevalence_low``, ``precision_prevalence_high``
            :func:`prevalence_from_precision`.
        ``f1_prevalence_low``, ``f1_prevalence_high``
            :func:`prevalence_from_f1`.
        ``stated_prevalence``, ``accuracy_at_stated``, ``accuracy_bound``
            The share stated, the accuracy :math:`\pi s + (1 - \pi) t` there, and
            :func:`accuracy_bound`.
        ``balanced_accuracy``, ``mcc``
            From the rates, at the middle of the implied shares.
        ``trivial_f1``, ``f1_excess``
            F1 of flagging everything at the share the group agrees on (its complement for a row
            with the other class as positive), or else the row's own; and F1 minus that.
        ``f1_other_class``
            F1 from the rates with the roles of the classes exchanged.
        ``sensitivity_counts``, ``specificity_counts``
            Lists of the counts of ``n_positive`` and ``n_negative`` that fit (:func:`grim`, rounded
            or cut off).
        ``finding``
            In words, what the row cannot be, sentences parted by "; "; empty if nothing was found.

    Notes
    -----
    A row *is consistent with the other class as positive* if its implied share disagrees with the
    median of its group of three or more (without a group: with the stated share), but one minus it
    agrees. At a share near 1/2 the two cannot be told apart
    and nothing is said. Whether the columns or the training classes were exchanged, the table
    cannot tell.

    Examples
    --------
    The rates say that half of the cases are positive, the text that one in ten is.

    >>> import pandas as pd
    >>> table = pd.DataFrame(
    ...     {"accuracy": ["70.0"], "sensitivity": ["80.0"], "specificity": ["60.0"],
    ...      "n_positive": [10], "n_negative": [90]})
    >>> for line in audit_table(table).finding[0].split("; "):
    ...     print(line)
    the rates imply a share of positives of 0.495 to 0.505, not the stated 0.100
    """
    try:
        import pandas as pd
    except ImportError as error:
        raise ImportError('audit_table needs pandas: pip install "kernelbook[metrics]"') from error

    rows = _read_rows(frame, decimals)
    audits = [_identities(row) for row in rows]
    for row, audit, agreed in zip(rows, audits, _agreed_shares(frame, audits, group), strict=True):
        reference = row.stated_share if math.isnan(agreed) else agreed
        flipped = _is_flipped(audit, reference, tolerance)
        audit |= _f1_columns(row, audit, agreed, flipped)
        audit |= _count_columns(row)
        findings = [
            *_share_findings(row, audit, flipped, tolerance),
            *_f1_findings(row, audit, tolerance),
            *_count_findings(row, audit),
        ]
        audit["finding"] = "; ".join(findings)
    return pd.DataFrame(audits, index=frame.index)


def _read_rows(frame: "pd.DataFrame", decimals: Any) -> list[_Row]:
    names = [name for name in RATES if name in frame.columns]
    two_more = {"sensitivity", "specificity"} <= set(names) or "f1" in names
    if "accuracy" not in names or not two_more:
        raise ValueError(
            "frame needs the columns accuracy, and sensitivity with specificity or f1; it has "
            f"{list(frame.columns)}."
        )
    numbers = frame[names].astype(float).to_numpy()
    if np.isnan(numbers[:, names.index("accuracy")]).any() or len(frame) == 0:
        raise ValueError("frame needs at least one row, and an accuracy in each.")
    percent = bool(np.nanmax(numbers) > 1)
    if np.nanmin(numbers) < 0 or np.nanmax(numbers) > 100:
        raise ValueError("frame holds rates below 0 or above 100 %.")
    shares, sizes = _stated(frame)
    rows = []
    for i in range(len(frame)):
        cells = {}
        for name, number in zip(names, numbers[i], strict=True):
            if not math.isnan(number):
                text = str(frame[name].iloc[i]).strip()
                d = _decimals(decimals, name, i, text)
                cells[name] = _Cell(Fraction(text) / (100 if percent else 1), d + 2 * percent)
        rows.append(_Row(cells, shares[i], sizes[i]))
    return rows


def _decimals(decimals: Any, name: str, row: int, text: str) -> int:
    given = decimals.get(name) if isinstance(decimals, Mapping) else decimals
    if given is None:
        return len(text.partition(".")[2])
    return int(given if np.ndim(given) == 0 else np.asarray(given)[row])


def _stated(frame: "pd.DataFrame") -> tuple[list[float], list[dict[str, int]]]:
    """Share of positives, and number of cases behind sensitivity and specificity."""
    sizes: list[dict[str, int]] = [{} for _ in range(len(frame))]
    shares = [math.nan] * len(frame)
    if {"n_positive", "n_negative"} <= set(frame.columns):
        counts = frame[["n_positive", "n_negative"]].astype(int).to_numpy().tolist()
        sizes = [{"sensitivity": p, "specificity": n} for p, n in counts]
        shares = [p / (p + n) for p, n in counts]
    if "prevalence" in frame.columns:
        shares = frame["prevalence"].astype(float).tolist()
    return shares, sizes


def _identities(row: _Row) -> dict[str, Any]:
    """What one row says by itself."""
    rates = ("sensitivity", "specificity")
    audit: dict[str, Any] = {}
    for prefix, function, names in (
        ("", implied_prevalence, ("accuracy", *rates)),
        ("precision_", prevalence_from_precision, ("precision", *rates)),
        ("f1_", prevalence_from_f1, ("accuracy", "f1")),
    ):
        low, high = _interval(row, function, names)
        audit[f"{prefix}prevalence_low"], audit[f"{prefix}prevalence_high"] = low, high
    p, s, t = row.stated_share, *(row.value(name) for name in rates)
    audit["stated_prevalence"] = p
    audit["accuracy_at_stated"] = p * s + (1 - p) * t
    all_three = not math.isnan(p + s + t)
    audit["accuracy_bound"] = accuracy_bound(s, t, p) if all_three else math.nan
    share = _middle(audit)
    known = not math.isnan(share)
    expected = expected_rates(s, t, share) if known else {}
    audit["balanced_accuracy"] = (s + t) / 2
    audit["mcc"] = expected.get("mcc", math.nan)
    audit["f1_other_class"] = expected_rates(t, s, 1 - share)["f1"] if known else math.nan
    return audit


def _interval(row: _Row, function: Callable[..., Interval], names: tuple[str, ...]) -> Interval:
    if not set(names) <= row.cells.keys():
        return NOTHING
    cells = [row.cells[name] for name in names]
    return function(*(cell.value for cell in cells), [cell.decimals for cell in cells])


def _middle(audit: dict[str, Any]) -> float:
    return (audit["prevalence_low"] + audit["prevalence_high"]) / 2


def _agreed_shares(
    frame: "pd.DataFrame", audits: list[dict[str, Any]], group: str | list[str] | None
) -> list[float]:
    """Median implied share of each row's group; nan where fewer than three rows have one."""
    if group is None:
        return [math.nan] * len(audits)
    columns = [group] if isinstance(group, str) else group
    keys = list(frame[columns].itertuples(index=False, name=None))
    agreed = []
    for key in keys:
        pairs = zip(keys, audits, strict=True)
        shares = [_middle(audit) for other, audit in pairs if other == key]
        known = [share for share in shares if not math.isnan(share)]
        agreed.append(float(np.median(known)) if len(known) > 2 else math.nan)
    return agreed


def _within(share: float, audit: dict[str, Any], tolerance: float, prefix: str = "") -> bool:
    low, high = audit[f"{prefix}prevalence_low"], audit[f"{prefix}prevalence_high"]
    return bool(low - tolerance <= share <= high + tolerance)


def _is_flipped(audit: dict[str, Any], reference: float, tolerance: float) -> bool:
    return _within(1 - reference, audit, tolerance) and not _within(reference, audit, tolerance)


def _f1_columns(row: _Row, audit: dict[str, Any], agreed: float, flipped: bool) -> dict[str, float]:
    share = _middle(audit) if math.isnan(agreed) else 1 - agreed if flipped else agreed
    trivial = math.nan if math.isnan(share) else trivial_f1(share)
    return {"trivial_f1": trivial, "f1_excess": row.value("f1") - trivial}


def _count_columns(row: _Row) -> dict[str, list[int] | None]:
    """Counts that fit the two rates; None where the number of cases is not stated."""
    columns: dict[str, list[int] | None] = {}
    for name in ("sensitivity", "specificity"):
        known = name in row.sizes and name in row.cells
        columns[f"{name}_counts"] = _counts(row.cells[name], row.sizes[name]) if known else None
    return columns


def _counts(cell: _Cell, size: int) -> list[int]:
    return grim(cell.exact, cell.decimals, size, unit="fraction", rounding="any")


def _share_findings(row: _Row, audit: dict[str, Any], flipped: bool, tolerance: float) -> list[str]:
    stated, low, high = row.stated_share, audit["prevalence_low"], audit["prevalence_high"]
    findings = []
    if {"sensitivity", "specificity"} <= row.cells.keys() and math.isnan(low):
        findings.append("the accuracy is no average of the two rates")
    if not math.isnan(stated + low) and not _within(stated, audit, tolerance):
        findings.append(
            f"the rates imply a share of positives of {low:.3f} to {high:.3f}, not the stated "
            f"{stated:.3f}"
        )
    bound = _largest_bound(row)
    if row.cells["accuracy"].value - row.cells["accuracy"].half > bound + tolerance:
        findings.append(
            f"an accuracy of {row.value('accuracy'):.3f} exceeds {bound:.3f}, the most that its "
            "rates leave at the stated share"
        )
    if flipped:
        findings.append(
            f"consistent with the other class as positive: 1 - share is {1 - high:.3f} to "
            f"{1 - low:.3f}"
        )
    return findings


def _largest_bound(row: _Row) -> float:
    """The bound on the accuracy with both rates at the upper end of their rounding."""
    if math.isnan(row.stated_share) or not {"sensitivity", "specificity"} <= row.cells.keys():
        return math.inf
    s, t = (row.cells[name].value + row.cells[name].half for name in ("sensitivity", "specificity"))
    return accuracy_bound(s, t, row.stated_share)


def _f1_findings(row: _Row, audit: dict[str, Any], tolerance: float) -> list[str]:
    if "f1" not in row.cells:
        return []
    findings = []
    low, high, stated = audit["f1_prevalence_low"], audit["f1_prevalence_high"], row.stated_share
    if math.isnan(low):
        findings.append("no table of counts has this accuracy and this F1")
    elif not math.isnan(stated) and not _within(stated, audit, tolerance, "f1_"):
        findings.append(
            f"accuracy and F1 leave a share of positives of {low:.3f} to {high:.3f}, not the "
            f"stated {stated:.3f}"
        )
    if {"precision", "sensitivity"} <= row.cells.keys():
        v, s = row.value("precision"), row.value("sensitivity")
        harmonic = 2 * v * s / (v + s) if v + s > 0 else 0.0
        slack = sum(row.cells[name].half for name in ("precision", "sensitivity", "f1"))
        if abs(row.value("f1") - harmonic) > tolerance + 2 * slack:
            findings.append(
                f"F1 is not the harmonic mean {harmonic:.3f} of precision and sensitivity"
            )
    if abs(audit["f1_excess"]) <= tolerance:
        findings.append(
            f"F1 is {audit['f1_excess']:+.4f} from the {audit['trivial_f1']:.4f} of flagging "
            "everything"
        )
    return findings


def _count_findings(row: _Row, audit: dict[str, Any]) -> list[str]:
    return [
        f"no count of {size} gives the {name}, unless it averages folds of unequal size"
        for name, size in row.sizes.items()
        if audit[f"{name}_counts"] == []
    ]
