"""Answers to the exercises of notebook 15, auditing a published table."""

from collections.abc import Callable, Sequence
from functools import cache

import numpy as np
from scipy.optimize import brentq

from kernelbook import audit
from kernelbook.audit.counts import Rounding
from kernelbook.metrics import expected_rates
from kernelcourse.exercises.grading import Exercise

__all__ = ["EXERCISES"]

Row = tuple[str, ...]  # accuracy, sensitivity, specificity
Fault = Callable[[list[Row], int, int], Sequence[int] | None]

A, F1 = 0.5249, 0.6078
TABLES: tuple[tuple[list[Row], int, int], ...] = (
    (
        [
            ("85.5", "77.5", "87.5"),
            ("80.5", "82.5", "80.0"),
            ("78.0", "75.0", "90.0"),  # exchanged
            ("89.5", "72.5", "93.8"),
        ],
        40,
        160,
    ),
    (
        [
            ("70.0", "66.6", "75.0"),  # cut off
            ("68", "67", "70"),
            ("88", "67", "80"),  # no sum
            ("70.0", "66", "75"),  # no count
        ],
        30,
        20,
    ),
    (
        [("50.00", "33.33", "66.67"), ("50.00", "33.3", "66.66"), ("60.0", "66.7", "50")],
        3,
        3,
    ),
)


def ward(found: float, left_in_peace: float) -> list[float]:
    """Infected patients found and alarms, of 1000 patients with 110 infected."""
    precision = expected_rates(found, left_in_peace, 0.11)["precision"]
    return [110 * found, 110 * found / precision]


def least_prevalence() -> float:
    """TP from the definition of F1, by root finding."""
    return float(brentq(lambda hits: 2 * hits / (2 * hits + 1 - A) - F1, 0, A))


def marks(function: Fault) -> list[float] | None:
    """Each row of each table: 1 if the function names it."""
    found: list[float] = []
    for rows, n_positive, n_negative in TABLES:
        named = function(list(rows), n_positive, n_negative)
        if named is None:
            return None
        indices = [int(index) for index in named]
        found += [float(index in indices) for index in range(len(rows))]
    return found


def impossible(
    rows: list[Row], n_positive: int, n_negative: int, rounding: Rounding = "nearest"
) -> list[int]:
    def counts(text: str, n: int) -> list[int]:
        return audit.grim(text, len(text.partition(".")[2]), n, rounding=rounding)

    found = []
    for index, (accuracy, *rates) in enumerate(rows):
        hits, passes = (counts(*case) for case in zip(rates, (n_positive, n_negative), strict=True))
        sums = set(np.add.outer(hits, passes).ravel().tolist())
        if not sums & set(counts(accuracy, n_positive + n_negative)):
            found.append(index)
    return found


def each_alone(rows: list[Row], n_positive: int, n_negative: int) -> list[int]:
    sizes = n_positive + n_negative, n_positive, n_negative
    return [
        index
        for index, row in enumerate(rows)
        if not all(
            audit.grim(text, len(text.partition(".")[2]), n)
            for text, n in zip(row, sizes, strict=True)
        )
    ]


def one_decimal(rows: list[Row], n_positive: int, n_negative: int) -> list[int]:
    forced = [tuple(f"{float(text):.1f}" for text in row) for row in rows]
    return impossible(forced, n_positive, n_negative)


def cut_off(rows: list[Row], n_positive: int, n_negative: int) -> list[int]:
    return impossible(rows, n_positive, n_negative, "down")


@cache
def longest_search(decimals: int = 1, n_values: int = 4, chance: float = 0.5) -> int:
    """The M from which on a search finds an N with this chance, by drawing."""
    steps = 100 * 10**decimals
    draws = np.random.default_rng(2).integers(0, steps + 1, size=(40_000, n_values))
    found = np.zeros(len(draws), dtype=bool)
    for n in range(1, steps + 1):
        printed = np.zeros(steps + 1, dtype=bool)
        printed[np.rint(steps * np.arange(n + 1) / n).astype(int)] = True
        found |= printed[draws].all(axis=1)
        if found.mean() >= chance:
            return n
    return steps


EXERCISES = (
    Exercise(
        "15.1",
        right=lambda: audit.implied_prevalence(0.9, 0.9, 0.9, 3),
        mistakes=(
            ((0.1, 0.1), "Compute the accuracy at another prevalence as well."),
            ((0.5, 0.5), "Equal rates do not say that the classes are equally large."),
            ((0.9, 0.9), "That is a rate; what is the accuracy at another prevalence?"),
            ((1, 0), "The least one first."),
        ),
        otherwise="Where on the line of figure 15.2 is the accuracy the printed one?",
    ),
    Exercise(
        "15.2",
        right=lambda: brentq(lambda p: 0.9 * p + 0.5 * (1 - p) - 0.8, 0, 1),
        mistakes=(
            (0.25, "That is the fraction of the negatives."),
            (0.3, "That is the prevalence in the report, not the implied one."),
            ((0.8 - 0.5) / 0.9, "Divide by the difference of the two rates."),
        ),
        otherwise="The accuracy is the specificity at prevalence 0, the sensitivity at 1.",
    ),
    Exercise(
        "15.3",
        right=lambda: ward(0.4315, 0.934),
        mistakes=(
            (lambda: ward(0.934, 0.4315), "That is the row as printed."),
            (
                lambda: [47.465, np.diff(ward(0.4315, 0.934))[0]],
                "Those are the false alarms; alarms that are right count, too.",
            ),
            (lambda: [62.535, 106.205], "Those are the infected patients missed."),
            (
                lambda: [1000 * rate for rate in (0.4315, 1 - 0.934)],
                "A rate is that of its own class: 110 patients, or 890.",
            ),
        ),
        otherwise="Found is a rate of 110 patients, false alarms one of 890; alarms are their sum.",
        rtol=0.01,
    ),
    Exercise(
        "15.4",
        right=least_prevalence,
        mistakes=(
            (F1 * (1 - A) / (1 - F1), "All errors are 1 - a; did you halve?"),
            (F1 * A / (2 * (1 - F1)), "a is the accuracy; take the errors."),
            (lambda: 1 - A + least_prevalence(), "That is the largest prevalence."),
            (F1 / (2 - F1), "That is where flagging everything has this F1."),
        ),
        otherwise="The least prevalence is TP of (15.6), from three numbers.",
        rtol=3e-4,
    ),
    Exercise(
        "15.5",
        right=impossible,
        mistakes=(
            (each_alone, "Each rate fits a count by itself; do the counts fit each other?"),
            (one_decimal, "Take the number of decimals of each rate from its text."),
            (cut_off, "Printed values are rounded, not cut off."),
            (lambda rows, *sizes: [], "There are faults in our tables."),
        ),
        otherwise="Find the counts behind either rate first; then try all their sums.",
        evaluate=marks,
        rtol=0.0,
    ),
    Exercise(
        "15.6",
        right=longest_search,
        mistakes=(
            (lambda: longest_search(2), "That is for two decimals."),
            (lambda: longest_search(1, 1), "That is for a single percentage."),
            (lambda: longest_search(1, 3), "That is for three percentages."),
            (lambda: longest_search(chance=0.05), "That is where one in twenty finds an N."),
        ),
        otherwise="Double M until the chance passes one half, then halve the steps.",
        rtol=0.03,
    ),
)
