"""The pages of the book that are no notebooks: their code runs, each claim has a proof."""

import ast
import re
import warnings
from pathlib import Path

import pytest

from kernelcourse.exercises import exercises_of
from tools.readme import map_of_notebooks

ROOT = Path(__file__).parents[1]
DIRECTORY = ROOT / "book" / "pages"
NAMES = (
    "comparing",
    "course",
    "data_use",
    "errata",
    "errata_tables",
    "sharp_bits",
    "solver",
    "sources",
    "which_method",
)


def text_of(name):
    return (DIRECTORY / f"{name}.md").read_text(encoding="utf-8")


def prose(name):
    return re.sub(r"```.*?```", "", text_of(name), flags=re.DOTALL)


def code_blocks():
    for name in NAMES:
        for match in re.finditer(r"```python\n(.*?)```", text_of(name), re.DOTALL):
            line = text_of(name)[: match.start()].count("\n") + 2
            yield pytest.param(match[1], id=f"{name}:{line}")


@pytest.mark.parametrize("code", list(code_blocks()))
def test_a_block_runs_by_itself_and_asserts_what_the_page_says(code):
    assert any(isinstance(node, ast.Assert) for node in ast.walk(ast.parse(code)))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        exec(compile(code, "page", "exec"), {})


@pytest.mark.parametrize("name", NAMES)
def test_a_page_begins_with_its_title(name):
    assert re.match(r"# \w[^\n]*\n\n\w", text_of(name))


@pytest.mark.parametrize("name", NAMES)
def test_no_line_of_prose_is_taken_for_a_comment(name):
    assert re.findall(r"^\s*%.*$", prose(name), re.MULTILINE) == []  # MyST drops such a line


def claims(name):
    """List items, and the sentences of paragraphs, below the first section."""
    body = re.split(r"^## ", prose(name), maxsplit=1, flags=re.MULTILINE)[1]
    for block in re.split(r"\n\s*\n|\n(?=\* )", body)[1:]:
        block = " ".join(block.split())
        if block.startswith("* "):
            yield block
        elif block and not block.startswith(("#", "|")):
            yield from re.split(r"(?<=[.?!])\s+(?=[A-Z*\[])", block)


def test_each_sentence_on_methods_links_to_what_shows_it():
    sentences = list(claims("which_method"))
    assert len(sentences) > 30
    assert [sentence for sentence in sentences if "ipynb#" not in sentence] == []


@pytest.mark.parametrize("name", ["errata", "errata_tables", "sharp_bits"])
def test_each_section_is_proved_by_a_block_or_by_a_linked_cell(name):
    level = "##" if name == "sharp_bits" else "###"
    sections = re.split(rf"^{level} ", text_of(name), flags=re.MULTILINE)[1:]
    assert len(sections) > 12
    proof = "```python" if name == "sharp_bits" else "ipynb#"
    unproved = [part.splitlines()[0] for part in sections if proof not in part]
    by_block = [part.splitlines()[0] for part in sections if "```python" in part]
    assert [heading for heading in unproved if heading not in by_block] == []


def minutes(text):
    """Minutes of a time to study as the notebooks put it."""
    words = {"an hour": 60, "two hours": 120, "three hours": 180}
    number = re.search(r"\d+", text)
    return int(number[0]) if number else words[text.strip()]


def test_time_in_the_course_is_that_of_the_notebooks():
    row = re.compile(r"^\| (\d\d) \|.*\| ([^|]*) \| [^|]* \|$", re.MULTILINE)
    study = {
        number: minutes(time) for number, time in row.findall(map_of_notebooks(ROOT / "notebooks"))
    }
    week_row = re.compile(r"^\| (\d+) \| .*? \| ([\d, ]+) \| (\d+) \|$", re.MULTILINE)
    plan = [
        (int(week), re.findall(r"\d\d", numbers), int(said))
        for week, numbers, said in week_row.findall(text_of("course"))
    ]
    assert [week for week, *_ in plan] == list(range(1, 13))
    assert sorted(number for _, numbers, _ in plan for number in numbers) == sorted(study)
    for week, numbers, said in plan:
        assert said == sum(study[number] for number in numbers), f"week {week}"


def test_exercises_that_the_course_sets_exist():
    text = re.sub(r"\[[^]]*\]\([^)]*\)", "", prose("course"))  # figures have numbers too
    named = set(re.findall(r"\b(\d\d\.\d)\b", text))
    known = {
        exercise.number for number in range(1, 17) for exercise in exercises_of(f"{number:02d}")
    }
    assert len(named) > 24
    assert named <= known
    assert {number[:2] for number in named} == {f"{number:02d}" for number in range(1, 17)}
