"""Whatever a text refers to exists: equations, figures, works, files and places in them."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

from tools.book import figures, figures_page
from tools.notebook_form import FENCE, HEADING, TAG, Page

ROOT = Path(__file__).parents[1]
NOTEBOOKS = sorted((ROOT / "notebooks").glob("[0-9]*.ipynb"))
MODULES = sorted((ROOT / "lib" / "kernelbook").rglob("*.py"))
BOOK = sorted((ROOT / "book").glob("*.md")) + sorted((ROOT / "book" / "pages").glob("*.md"))
TEXTS = [*sorted(ROOT.glob("*.md")), *BOOK, *sorted((ROOT / "data").rglob("*.md")), *NOTEBOOKS]
KEY = re.compile(r"\[([A-Z][A-Za-z]+(?:19|20)\d\d[a-z]?)\](?!\()")
EQUATION = re.compile(
    r"(?:((?i:equations?) ))?(?<!\w)\((\d{1,2}\.\d{1,2}[a-z]?)\)(?: of notebook (\d\d))?"
)
LINK = re.compile(r"\]\((?!https?:|mailto:)([^)#\s]*)(#[^)\s]+)?\)")
ENTRY = re.compile(r"^[*-] \[([A-Za-z]+\d{4}[a-z]?)\]", re.MULTILINE)


def relative(path):
    return path.relative_to(ROOT).as_posix()


@cache
def page(path):
    return Page.read(path)


@cache
def prose(path):
    """The text of a page or a notebook without its code blocks."""
    return page(path).text if path.suffix == ".ipynb" else FENCE.sub("", path.read_text("utf-8"))


@cache
def strings(module):
    """Every text in a module, docstrings among them."""
    nodes = ast.walk(ast.parse(module.read_text("utf-8")))
    return [
        node.value
        for node in nodes
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    ]


@cache
def tags():
    return [tag for path in NOTEBOOKS for tag in TAG.findall(page(path).text)]


@cache
def works():
    text = (ROOT / "book" / "bibliography.rst").read_text("utf-8")
    return re.findall(r"^\.\. \[(\w+)\] ", text, re.MULTILINE)


@cache
def numbers(path):
    """The numbers of the figures that the code of a notebook shows, in its order."""
    return [
        ast.literal_eval(keyword.value)
        for _, name, call in page(path).calls()
        if name.split(".")[-1] == "show"
        for keyword in call.keywords
        if keyword.arg == "number"
    ]


@cache
def anchors(path):
    """The places in a page that a link can name."""
    found = {slug(heading) for _, heading in HEADING.findall(prose(path))}
    if path.suffix == ".ipynb":
        found |= {f"equation-{tag.replace('.', '-')}" for tag in TAG.findall(page(path).text)}
        found |= {f"figure-{number.replace('.', '-')}" for number in numbers(path)}
    return found


def slug(heading):
    """The anchor of a heading: its words in small letters, joined by hyphens."""
    text = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading)
    return re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-")


def unknown_equations(text, notebook=None):
    """Equations that a text names and no notebook has.

    A number in brackets alone is an equation only in the notebook that it begins with, since it
    may be just a number.
    """
    for word, tag, said in EQUATION.findall(text):
        chapter = int(tag.split(".")[0])
        named = word or (notebook is not None and chapter == notebook > 0)
        if (named and tag not in tags()) or (said and int(said) != chapter):
            yield tag


def test_tags_are_unique():
    assert len(tags()) == len(set(tags())) > 100


@pytest.mark.parametrize("path", TEXTS, ids=relative)
def test_equations_that_a_text_names_exist(path):
    number = page(path).number if path.suffix == ".ipynb" else None
    assert list(unknown_equations(prose(path), number)) == []


@pytest.mark.parametrize("path", MODULES, ids=relative)
def test_equations_that_a_module_names_exist(path):
    for text in strings(path):
        assert list(unknown_equations(text)) == []
        bare = {tag for _, tag, _ in EQUATION.findall(text) if not tag.startswith("0.")}
        assert bare <= set(tags())


def test_an_equation_that_does_not_exist_is_noticed():
    assert list(unknown_equations("By equation (3.99), and (3.98), 0.1 (0.25).", 3)) == [
        "3.99",
        "3.98",
    ]
    assert list(unknown_equations("equation (3.1) of notebook 04")) == ["3.1"]
    assert list(unknown_equations("equation (3.1) of notebook 03, and (7.77)")) == []


def test_bibliography_is_sorted_and_names_each_work_once():
    assert works() == sorted(set(works()), key=str.lower)


def test_cited_works_and_listed_works_are_the_same():
    texts = [prose(path) for path in (*BOOK, *NOTEBOOKS)]
    cited = {key for text in texts for key in KEY.findall(text)}
    cited |= {
        key
        for path in MODULES
        for text in strings(path)
        for key in re.findall(KEY.pattern + "_", text)
    }
    assert cited - set(works()) == set(), "not in book/bibliography.rst"
    assert set(works()) - cited == set(), "in book/bibliography.rst, and nothing cites them"


@pytest.mark.parametrize("path", NOTEBOOKS, ids=relative)
def test_a_notebook_lists_what_it_cites(path):
    assert set(KEY.findall(prose(path))) == set(ENTRY.findall(prose(path)))


@pytest.mark.parametrize("path", MODULES, ids=relative)
def test_references_of_a_docstring_are_keys_alone(path):
    for text in strings(path):
        assert re.search(r"\[\d+\]_|^ *\.\. \[", text, re.MULTILINE) is None
        section = re.search(r"^ *References\n *-{10}\n(.*?)(?:\n\s*\n|\s*\Z)", text, re.M | re.S)
        if section:
            assert re.fullmatch(r"\s*(\[\w+\]_[,\s]*)+", section[1]), section[1]


def dead_links(text, path):
    """Links of a text in the folder of path whose file, or place in it, there is not."""
    # The landing page of the book is staged at the root, among pages that are made there.
    is_landing = path == ROOT / "book" / "index.md"
    folder = ROOT if is_landing else path.parent
    made = {ROOT / "book" / "figures.md", ROOT / "api" / "index.rst"} if is_landing else set()
    for file, place in LINK.findall(text):
        target = (folder / file).resolve() if file else path
        if not (target.exists() or target in made):
            yield file
        elif place and target.suffix in (".md", ".ipynb") and place[1:] not in anchors(target):
            yield file + place


@pytest.mark.parametrize("path", TEXTS, ids=relative)
def test_links_lead_to_files_and_places(path):
    assert list(dead_links(prose(path), path)) == []


def test_a_link_that_leads_nowhere_is_noticed():
    notebook = "../../notebooks/03_kernel_svm.ipynb"
    wrong = [f"{notebook}#figure-3-99", f"{notebook}#equation-9-1", "../no_page.md", "#no"]
    wrong.append("../../api/index.rst")  # in the book alone
    text = " ".join(f"[a]({target})" for target in [f"{notebook}#figure-3-6", *wrong])
    assert list(dead_links(text, ROOT / "book" / "pages" / "errata.md")) == wrong


@pytest.mark.parametrize("path", sorted((ROOT / "book").glob("*.rst")), ids=relative)
def test_a_source_links_to_no_page_of_the_built_book(path):
    assert re.findall(r"<[^<>:]*\.html[^<>]*>", path.read_text("utf-8")) == []


@pytest.mark.parametrize("path", NOTEBOOKS, ids=relative)
def test_figures_are_numbered_in_their_order(path):
    number = page(path).number
    assert numbers(path) == [f"{number}.{i + 1}" for i in range(len(numbers(path)))]
    assert [figure for figure, _ in figures(path)] == numbers(path)


def test_index_of_figures_lists_every_figure():
    listed = re.findall(
        r"^\* \[Figure ([\d.]+)\]\(\.\./notebooks/\w+\.ipynb#figure-[\d-]+\) \S",
        figures_page(NOTEBOOKS),
        re.MULTILINE,
    )
    assert listed == [number for path in NOTEBOOKS for number in numbers(path)]
    assert len(listed) > 80
