"""What the texts of the repository say about it is true: links, commands, arrows."""

import re
import tomllib
from pathlib import Path

import pytest

from tools.readme import TIME, index_of_notebooks, picture

ROOT = Path(__file__).parents[1]
PAGES = sorted(ROOT.glob("*.md")) + sorted((ROOT / "data").glob("*.md"))
SOURCES = [
    path
    for directory in ("lib", "tools", "tests", "benchmarks", "studies", "notebooks", "data")
    for pattern in ("*.py", "*.md", "*.ipynb", "*.j2")
    for path in sorted((ROOT / directory).rglob(pattern))
    if ".ipynb_checkpoints" not in path.parts
]
# Put together from parts, or this file would be found by its own test.
UNFINISHED = re.compile(r"\b(TO" + r"DO|FIX" + r"ME|XX" + r"X)\b|raise Not" + r"ImplementedError")
MACHINE = re.compile(r"(?<![\w.:/])/(?:root|work|tmp|farm)/[\w.-]|files\.python" + r"hosted\.org")
# Words that the books of the field do not use in such a sense, and those that they do.
DIALECT = {
    r"\b[Mm]end(s|ed|ing)?\b": "fix, correct, repair",
    r"\bwhole numbers?\b": "integer",
    r"\bthe exact way\b": "the exact solver",
    r"\bthat is none\b": "say what it is",
    r"\btimes less\b": "a fraction of",
    r"\bnothing much\b": "hardly anything",
    r"\b[Ss]hares? of (?!work\b)": "fraction of, proportion of",
    r"\b(class|same|larger|smaller|true|implied|which|what) shares?\b": "proportion",
}
# What the browser test has installed is not ours.
BOOK = [
    path
    for kind in ("*.md", "*.rst")
    for path in sorted((ROOT / "book").rglob(kind))
    if "node_modules" not in path.parts
]
PROSE = [
    *(path for path in SOURCES if path.parts[-2] != "tests" and path.suffix != ".j2"),
    *PAGES,
    *BOOK,
]


def relative(path):
    return path.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("page", PAGES, ids=relative)
def test_links_lead_to_files(page):
    targets = re.findall(r"\]\((?!https?:|#|mailto:)([^)#\s]+)", page.read_text(encoding="utf-8"))
    assert [target for target in targets if not (page.parent / target).exists()] == []


@pytest.mark.parametrize("page", PAGES, ids=relative)
def test_commands_that_are_named_exist(page):
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    code = re.findall(r"`([^`\n]+)`|^(make .*)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    named = {
        command.split()[1] for command in map("".join, code) if re.match(r"make [a-z-]+\b", command)
    }
    assert named <= targets


def test_arrows_in_contributing_are_those_that_are_checked():
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    block = re.search(r"## What may import what.*?```\n(.*?)```", text, re.DOTALL)[1]
    drawn = [set(re.split(r" {3,}", line)[0].split()) for line in block.splitlines()]
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]
    layers = contracts["contracts"][0]["layers"]
    assert drawn == [set(re.findall(r"\w+", layer)) for layer in layers]


@pytest.mark.parametrize("source", SOURCES, ids=relative)
def test_nothing_unfinished_and_no_trace_of_a_machine(source):
    text = source.read_text(encoding="utf-8")
    assert UNFINISHED.search(text) is None
    assert MACHINE.search(text) is None


def test_the_map_of_the_notebooks_is_up_to_date():
    text = (ROOT / "notebooks" / "README.md").read_text(encoding="utf-8")
    assert index_of_notebooks(ROOT / "notebooks") == text, "run `python -m tools.readme`"


@pytest.mark.parametrize(
    "said, time",
    [
        ("**Time to study:** 90 minutes, and more.", "90 minutes"),
        ("Time to study: about 90 minutes with exercises 13.1 and 13.2.", "90 minutes"),
        ("**Time to run:** about a minute.", "about a minute"),
        ("in an hour. **Time to run:** under half a minute. Exercises 10.1", "under half a minute"),
    ],
)
def test_a_time_is_read_without_what_it_includes(said, time):
    ((_, found),) = TIME.findall(said)
    assert found == time


def test_picture_of_the_readme_is_whole_and_its_caption_true():
    figure = picture()
    figure.draw_without_rendering()
    outer, drawn = figure.bbox_inches, figure.get_tightbbox()
    assert outer.x0 <= drawn.x0 and drawn.x1 <= outer.x1
    assert outer.y0 <= drawn.y0 and drawn.y1 <= outer.y1
    titles = " ".join(axes.get_title(loc="left") for axes in figure.axes)
    few, false, most, alarms = re.findall(r"(\d+) (?:of 20 found|false alarms)", titles)
    said = " ".join((ROOT / "README.md").read_text(encoding="utf-8").split())
    assert f"Equal costs find {few} of the 20 rare points; balanced costs find {most}" in said
    assert f"pay with {alarms} false alarms in place of {false}" in said


def python_of(page):
    text = (ROOT / page).read_text(encoding="utf-8")
    (code,) = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    return code


def test_readme_is_short_and_its_lines_print_what_it_says(capsys):
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 90
    code = python_of("README.md")
    assert len([line for line in code.splitlines() if line]) <= 8
    exec(compile(code, "README.md", "exec"), {})
    equal, balanced, certificate = capsys.readouterr().out.splitlines()
    assert f"It prints `{equal}` and `{balanced}`" in text
    assert "status='optimal'" in certificate


def test_extras_that_a_page_names_exist():
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    for page in PAGES + BOOK:
        text = page.read_text(encoding="utf-8")
        named = set(re.findall(r"extra `(\w+)`", text))
        for listed in re.findall(r"\.\[([\w,]+)\]", text):
            named |= set(listed.split(","))
        assert named <= set(extras["optional-dependencies"]), page


def test_the_page_on_the_library_certifies_a_fit(capsys):
    exec(compile(python_of("book/pages/library.md"), "library.md", "exec"), {})
    assert 0 < float(capsys.readouterr().out.split()[0]) < 1e-2


@pytest.mark.parametrize("page", PROSE, ids=relative)
def test_words_are_those_of_the_field(page):
    text = re.sub(r'"image/png": "[^"]*"', "", page.read_text(encoding="utf-8"))
    found = {
        match[0]: better
        for pattern, better in DIALECT.items()
        for match in re.finditer(pattern, text)
    }
    assert found == {}


@pytest.mark.parametrize("text", ["mended it", "the share of positives", "a whole number", "mends"])
def test_a_word_of_dialect_is_noticed(text):
    assert any(re.search(pattern, text) for pattern in DIALECT)
