"""The rules of form for a committed notebook, each a function that returns what breaks it.

What a comparison of outputs cannot see is checked here: cells that never ran, pictures without a
description, headings, seeds, traces of one machine. :func:`problems` applies every rule to one
notebook, :func:`problems_of_collection` those that need all of them.
"""

import ast
import re
from collections.abc import Callable, Iterable, Iterator
from copy import deepcopy
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from tools.normalise import StoredWarningError, normalise
from tools.tracks import HIDE_CELL, HIDE_INPUT, folding, length, summary

__all__ = ["RULES", "TWO_SPEEDS", "Page", "problems", "problems_of_collection"]

LARGEST = 1_000_000  # bytes
MOST_WORDS, MOST_LINES, MOST_CELLS = 2000, 150, 40
FEWEST_FIGURES, MOST_FIGURES = 7, 12
SUMMARY = re.compile(r"(Checked|More): \S")
SECTION = re.compile(r"^## +(.+?)\s*\n+(?:\*(\d+) min from the start\*)?", re.MULTILINE)
IMAGES = ("image/png", "image/jpeg", "image/svg+xml")
FIGURE = re.compile(r"Figure (\d+)\.(\d+): \S")
HEADING = re.compile(r"^(#{1,6}) +(.+?)\s*$", re.MULTILINE)
FENCE = re.compile(r"^(```|~~~).*?^\1", re.MULTILINE | re.DOTALL)
TAG = re.compile(r"\\tag\{([^}]*)\}")
ABSOLUTE_PATH = re.compile(r"(?<![\w.:/])/(?:home|Users|root|tmp|work|mnt|var)/\w|\b[A-Z]:\\\w")
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")  # all but tab and newline
TIMING = re.compile(
    r"\b\d+(?:\.\d+)?\s?(?:ns|µs|us|ms|s|secs?|seconds?|minutes?)\b(?!/)"
    r"|Wall time|CPU times|\d%\||\bit/s\b"
)
SECTIONS = {
    r"you will be able to": "a list of objectives, 'You will be able to'",
    r"^#+ +.*what we saw": "a closing section 'What we saw'",
}
EXERCISES = re.compile(r"^#+ +.*exercises", re.IGNORECASE | re.MULTILINE)


@dataclass(frozen=True)
class Page:
    """A notebook with its file name and its size in bytes."""

    name: str
    notebook: NotebookNode
    size: int

    @classmethod
    def read(cls, path: Path) -> "Page":
        return cls(path.name, nbformat.read(path, as_version=4), path.stat().st_size)

    @property
    def number(self) -> int:
        return int(self.name[:2])

    @property
    def code_cells(self) -> list[NotebookNode]:
        cells = self.notebook.cells
        return [cell for cell in cells if cell.cell_type == "code" and cell.source.strip()]

    @property
    def text(self) -> str:
        """All Markdown without its code blocks."""
        cells = self.notebook.cells
        return "\n\n".join(
            FENCE.sub("", cell.source) for cell in cells if cell.cell_type == "markdown"
        )

    def outputs(self) -> Iterator[tuple[NotebookNode, NotebookNode]]:
        for cell in self.code_cells:
            for output in cell.outputs:
                yield cell, output

    def printed(self) -> Iterator[tuple[NotebookNode, str]]:
        """Every stored text with its cell."""
        for cell, output in self.outputs():
            yield cell, output.get("text", "")
            for kind, content in output.get("data", {}).items():
                if kind.startswith("text/"):
                    yield cell, content

    def calls(self) -> Iterator[tuple[NotebookNode, str, ast.Call]]:
        """Every call in the code: its cell, the dotted name of the function, the call."""
        for cell in self.code_cells:
            for node in ast.walk(_parsed(cell.source) or ast.Module([], [])):
                if isinstance(node, ast.Call):
                    yield cell, ast.unparse(node.func), node


def executed_in_order(page: Page) -> Iterator[str]:
    counts = [cell.execution_count for cell in page.code_cells]
    if counts != list(range(1, len(counts) + 1)):
        yield f"execution counts are {counts}, not 1..{len(counts)}"


def recorded(page: Page) -> Iterator[str]:
    ids = [cell.get("id") for cell in page.notebook.cells]
    if ids != [f"cell-{position:02d}" for position in range(len(ids))]:
        yield "cell ids are not cell-00, cell-01, ..."
    try:
        if normalise(deepcopy(page.notebook)) != page.notebook:
            yield "not in the form that `make record` stores"
    except StoredWarningError as error:
        yield str(error)


def plain_python(page: Page) -> Iterator[str]:
    for cell in page.code_cells:
        if _parsed(cell.source) is None:
            yield f"{cell.id} is not plain Python (a magic or a shell command?)"
    for cell, name, _ in page.calls():
        if name == "get_ipython":
            yield f"{cell.id} calls get_ipython"


def no_stored_failures(page: Page) -> Iterator[str]:
    for cell, output in page.outputs():
        wanted = "raises-exception" in cell.metadata.get("tags", [])
        if output.output_type == "error" and not wanted:
            yield f"{cell.id} stores an error; tag it raises-exception if it is meant"


def figures_described(page: Page) -> Iterator[str]:
    for cell, output in page.outputs():
        data = output.get("data", {})
        for kind in set(IMAGES) & set(data):
            if not str(output.metadata.get(kind, {}).get("alt", "")).strip():
                yield f"{cell.id} has a picture without alternative text"
            label = FIGURE.match(data.get("text/plain", ""))
            if label is None:
                yield f"{cell.id} has a picture that show did not make"
            elif int(label[1]) != page.number:
                yield f"{cell.id} has a figure {label[1]}.{label[2]} in notebook {page.number}"
    for cell, name, call in page.calls():
        given = {keyword.arg for keyword in call.keywords}
        if name in ("show", "kernelcourse.show"):
            for missing in {"number", "alt", "caption"} - given:
                yield f"{cell.id} calls show without {missing}="
    if re.search(r"!\[\s*\]\(", page.text) or re.search(r"<img(?![^>]*\balt=\"[^\"])", page.text):
        yield "a picture in the text has no alternative text"


def headings_nested(page: Page) -> Iterator[str]:
    headings = HEADING.findall(page.text)
    levels = [len(marks) for marks, _ in headings]
    if levels.count(1) != 1 or levels[:1] != [1]:
        yield "the notebook needs exactly one first-level heading, at its head"
    for (before, after), (_, text) in zip(pairwise(levels), headings[1:], strict=True):
        if after > before + 1:
            yield f"the heading {text!r} skips a level"


def title_numbered(page: Page) -> Iterator[str]:
    title = next((text for marks, text in HEADING.findall(page.text) if marks == "#"), "")
    number = re.match(r"\d+", title)
    if number is None or int(number[0]) != page.number:
        yield f"the title {title!r} does not begin with the number of the file, {page.number}"


def sections_present(page: Page) -> Iterator[str]:
    for pattern, name in SECTIONS.items():
        if not re.search(pattern, page.text, re.IGNORECASE | re.MULTILINE):
            yield f"there is no {name}"
    if page.number > 0 and not EXERCISES.search(page.text):
        yield "there is no section 'Exercises'"


def no_lost_lines(page: Page) -> Iterator[str]:
    """MyST takes a line that begins with % for a comment, and the book would drop it."""
    for line in page.text.splitlines():
        if line.lstrip().startswith("%"):
            yield f"the line {line[:40]!r} begins with %: no page of the book would show it"


def seeded(page: Page) -> Iterator[str]:
    draws = False
    for cell, name, call in page.calls():
        if name.endswith("default_rng") and not (call.args or call.keywords):
            yield f"{cell.id} draws without a seed"
        if re.fullmatch(r"(np|numpy)\.random\.[a-z_]+", name) and not name.endswith("default_rng"):
            yield f"{cell.id} uses the global random state ({name}); take a Generator"
        keywords = {keyword.arg: ast.unparse(keyword.value) for keyword in call.keywords}
        draws = draws or name.endswith("default_rng")
        draws = draws or keywords.get("random_state", "None") != "None"
    if draws and not any(_assigns_seed(cell.source) for cell in page.code_cells):
        yield "random numbers are drawn, but no cell sets SEED = ... or rng = ..."


def small_enough(page: Page) -> Iterator[str]:
    if page.size >= LARGEST:
        yield f"{page.size / 1e6:.2f} MB, and 1 MB is the limit: fewer or smaller pictures"


def no_absolute_paths(page: Page) -> Iterator[str]:
    for cell in page.notebook.cells:
        if found := ABSOLUTE_PATH.search(cell.source):
            yield f"{cell.id} names an absolute path ({found[0]}...)"
    for cell, text in page.printed():
        if found := ABSOLUTE_PATH.search(text):
            yield f"{cell.id} has printed an absolute path ({found[0]}...)"


def no_timings(page: Page) -> Iterator[str]:
    for cell, text in page.printed():
        if found := TIMING.search(text):
            yield f"{cell.id} stores a timing or a progress bar ({found[0]!r}), new at every run"


def no_control_characters(page: Page) -> Iterator[str]:
    r"""A caption with ``\alpha`` in a string that is not raw rings a bell."""
    for cell, output in page.outputs():
        alts = [
            str(about["alt"]) for about in output.get("metadata", {}).values() if "alt" in about
        ]
        texts = [text for kind, text in output.get("data", {}).items() if kind.startswith("text/")]
        for text in (*alts, *texts, output.get("text", "")):
            if found := CONTROL.search(text):
                yield f"{cell.id} stores the control character {found[0]!r}: is a string not raw?"


def folded_with_a_line(page: Page) -> Iterator[str]:
    for cell in page.notebook.cells:
        tag, kind = folding(cell), cell.cell_type
        if tag and kind == "markdown":
            yield f"{cell.id} is text, which no tag folds: use <details>"
        elif tag == HIDE_CELL and not SUMMARY.match(summary(cell)):
            yield f"{cell.id} is folded: begin it with '# Checked: ...' or '# More: ...'"


def within_budget(page: Page) -> Iterator[str]:
    """The main line: what a reader meets who opens nothing."""
    found = length(page.notebook)
    for name, number, limit in (
        ("words", found.words, MOST_WORDS),
        ("lines of visible code", found.lines, MOST_LINES),
        ("cells", found.cells, MOST_CELLS),
        ("figures", found.figures, MOST_FIGURES),
    ):
        if number > limit:
            yield f"{number} {name}, and {limit} is the limit"
    if page.number > 0 and found.figures < FEWEST_FIGURES:
        yield f"{found.figures} figures, and {FEWEST_FIGURES} is the least"


def figures_without_their_code(page: Page) -> Iterator[str]:
    for cell, output in page.outputs():
        if set(IMAGES) & set(output.get("data", {})) and folding(cell) != HIDE_INPUT:
            yield f"{cell.id} shows a figure: tag it {HIDE_INPUT}"


def time_marks(page: Page) -> Iterator[str]:
    """Minutes from the start, ascending, at each section up to the exercises or the summary."""
    before = -1
    for title, minutes in SECTION.findall(page.text):
        if title == "What we saw":  # notebook 00 has no exercises
            return
        if not minutes:
            yield f"the section {title!r} does not begin with '*25 min from the start*'"
        elif int(minutes) <= before:
            yield f"the section {title!r} is {minutes} min from the start, after {before}"
        else:
            before = int(minutes)
        if title.endswith("Exercises"):
            return


Rule = Callable[[Page], Iterator[str]]
RULES: tuple[Rule, ...] = (
    executed_in_order,
    recorded,
    plain_python,
    no_stored_failures,
    figures_described,
    headings_nested,
    title_numbered,
    sections_present,
    no_lost_lines,
    seeded,
    small_enough,
    no_absolute_paths,
    no_timings,
    no_control_characters,
    folded_with_a_line,
)
TWO_SPEEDS: tuple[Rule, ...] = (within_budget, figures_without_their_code, time_marks)


def problems(page: Page, rules: Iterable[Rule] = RULES) -> list[str]:
    """Everything that is wrong with one notebook."""
    return [problem for rule in rules for problem in rule(page)]


def problems_of_collection(pages: Iterable[Page]) -> list[str]:
    """Equation tags and figure numbers that occur twice or belong to another notebook."""
    found = []
    seen: dict[str, str] = {}
    for page in pages:
        tags = TAG.findall(page.text)
        found += [
            f"{page.name}: the equation tag {tag} does not begin with {page.number}."
            for tag in tags
            if not re.fullmatch(rf"{page.number}\.\d+[a-z]?", tag)
        ]
        labels = [f"equation {tag}" for tag in tags]
        labels += [
            f"figure {label[1]}.{label[2]}"
            for _, output in page.outputs()
            if (label := FIGURE.match(output.get("data", {}).get("text/plain", "")))
        ]
        for label in labels:
            if label in seen:
                found.append(f"{label} is in {seen[label]} and again in {page.name}")
            seen[label] = page.name
    return found


def _parsed(source: str) -> ast.Module | None:
    try:
        return ast.parse(source)
    except SyntaxError:
        return None


def _assigns_seed(source: str) -> bool:
    tree = _parsed(source)
    return tree is not None and any(
        isinstance(target, ast.Name) and target.id.lower() in ("seed", "rng")
        for statement in tree.body
        if isinstance(statement, ast.Assign)
        for target in statement.targets
    )
