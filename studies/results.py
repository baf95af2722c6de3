"""The tables of data/results: one way to write them, so that one way reads them."""

from collections.abc import Mapping
from pathlib import Path

import pandas as pd

from kernelbook.datasets import data_directory
from kernelbook.study import Comparison

__all__ = ["read", "write", "write_table"]

DIGITS = 7
WORDS = ("chosen", "widen", "fixed")


def write(name: str, comparisons: Mapping[str, Comparison]) -> None:
    """Write comparisons as NAME.csv, one row a measure and method, and NAME_scores.csv.

    Parameters
    ----------
    name : str
        The study.
    comparisons : dict of str to Comparison
        One for each data set or design, which becomes the first column.
    """
    for suffix, part in (("", "table"), ("_scores", "scores")):
        frames = {key: getattr(found, part) for key, found in comparisons.items()}
        joined = pd.concat(frames, names=["data"]).reset_index(level="data")
        write_table(name + suffix, joined)


def write_table(name: str, table: pd.DataFrame) -> None:
    """Write one table as NAME.csv.

    Parameters
    ----------
    name : str
        The study.
    table : pandas.DataFrame
        Its rows.
    """
    table.to_csv(_path(name), index=False, lineterminator="\n", float_format=f"%.{DIGITS}g")


def read(name: str) -> pd.DataFrame:
    """Return a table of data/results; empty cells are empty strings, or missing numbers.

    Parameters
    ----------
    name : str
        The study, or the study with ``_scores``.

    Returns
    -------
    pandas.DataFrame
        The rows as written.
    """
    # As text also where a column is empty from top to bottom, which would be read as numbers.
    frame = pd.read_csv(_path(name), dtype=dict.fromkeys(WORDS, str))
    return frame.fillna({word: "" for word in WORDS if word in frame})


def _path(name: str) -> Path:
    return data_directory() / "results" / f"{name}.csv"
