"""The typed files are those that were compared with the sources, number by number."""

import hashlib
import re
from pathlib import Path

import pandas as pd
import pytest

ROOT = Path(__file__).parents[1]
PUBLISHED = ROOT / "data" / "published"
README = (PUBLISHED / "README.md").read_text(encoding="utf-8")
FILES = sorted(PUBLISHED.glob("*.csv"))
SOURCES = ("Cohen2004", "Kim2024", "AFSCT", "ExPSVM", "Tutorial2022")


def numbers(frame):
    """Cells that hold a number, or a fraction such as 1/10."""
    return frame.map(lambda text: re.fullmatch(r"-?[\d.]+(e-\d+|/\d+)?", text) is not None)


def names(path):
    return path.name


@pytest.mark.parametrize("path", FILES, ids=names)
def test_a_file_is_the_one_that_was_compared(path):
    content = path.read_bytes()
    row = f"| {path.name} | {len(content)} | {hashlib.sha256(content).hexdigest()} |"
    assert row in README
    assert b"\r" not in content and content.endswith(b"\n")


@pytest.mark.parametrize("path", FILES, ids=names)
def test_a_file_has_the_numbers_that_the_readme_counts(path):
    frame = pd.read_csv(path, dtype=str)
    found = re.search(rf"^\| {re.escape(path.name)} \| (\d+) \| (\d+) \|", README, re.MULTILINE)
    labels = {"v"}  # of the columns of the printed chart
    values = frame.drop(columns=labels & set(frame.columns))
    assert [int(text) for text in found.groups()] == [len(frame), int(numbers(values).sum().sum())]
    assert frame["place"].str.strip().astype(bool).all()


def test_stated_numbers_name_the_five_sources():
    stated = pd.read_csv(PUBLISHED / "stated.csv", dtype=str)
    assert tuple(stated.source.unique()) == SOURCES
    assert numbers(stated[["value"]]).all(axis=None)
    assert not stated.duplicated(["source", "quantity"]).any()


def rows_of_sources():
    text = (ROOT / "book" / "pages" / "sources.md").read_text(encoding="utf-8")
    for section in re.split(r"^## ", text, flags=re.MULTILINE)[1:]:
        title, *lines = section.splitlines()
        rows = [line for line in lines if line.startswith("| ") and not line.startswith("| item")]
        yield pytest.param(rows, id=title)


@pytest.mark.parametrize("rows", list(rows_of_sources()))
def test_each_item_of_a_source_is_found_or_explained(rows):
    assert len(rows) > 10
    for row in rows:
        item, place, here = (cell.strip() for cell in re.split(r" \| ", row.strip("| ")))
        assert item and place
        shown = "ipynb#" in here or "errata" in here or "`" in here
        assert shown or here.startswith("Not here: "), item


def test_the_page_of_sources_has_the_five():
    assert len(list(rows_of_sources())) == len(SOURCES)
