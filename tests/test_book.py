"""The book: what its extensions make of a small notebook, and the pages made of other files."""

import re
from pathlib import Path

import nbformat
import pytest
from building import build_pages, build_strictly
from numpydoc.docscrape import get_doc_object

import kernelbook
import kernelcourse
from kernelbook.svm import KernelSVC
from tools import book, browser_test, pdf

ROOT = Path(__file__).parents[1]
PNG = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJg"
    "gg=="
)


def display(data, alt=None):
    metadata = {} if alt is None else {"image/png": {"alt": alt}}
    return nbformat.v4.new_output("display_data", data=data, metadata=metadata)


def notebook(text, cells=()):
    """One equation, one figure, one cell with sliders, and more cells."""
    python = {"language_info": {"name": "python", "pygments_lexer": "ipython3"}}
    figure = nbformat.v4.new_code_cell("show(figure)", execution_count=1)
    figure.outputs = [
        display({"image/png": PNG, "text/plain": "Figure 3.1: One <red> dot."}, "One <red> dot."),
        display(
            {
                "text/markdown": "**Figure 3.1.** A dot at $x = 1$.",
                "text/plain": "Figure 3.1. A dot at $x = 1$.",
            }
        ),
    ]
    sliders = nbformat.v4.new_code_cell("margin_slider(X, y)", execution_count=2)
    sliders.metadata.tags = ["widget"]
    sliders.outputs = [display({"text/plain": "interactive(children=...)"})]
    prose = nbformat.v4.new_markdown_cell(f"# 03 A title\n\nWhat is asked here?\n\n{text}")
    cells = [prose, figure, sliders, *cells]
    return nbformat.v4.new_notebook(cells=cells, metadata=python)


def build(folder, text, cells=(), **environment):
    """The page of the notebook as Sphinx writes it, its exit code and its warnings."""
    source, target = folder / "source", folder / "target"
    (source / "notebooks").mkdir(parents=True)
    (source / "book").mkdir(exist_ok=True)
    nbformat.write(notebook(text, cells), source / "notebooks" / "03_title.ipynb")
    (source / "index.md").write_text("# Index\n\n```{toctree}\nnotebooks/03_title\nbook/run\n```\n")
    (source / "book" / "run.md").write_text(
        "# Run\n\n[A place](../notebooks/03_title.ipynb#figure-3-1)"
    )
    (source / "works.rst").write_text(
        ":orphan:\n\nWorks\n=====\n\n.. [Cortes1995] C. Cortes and V. Vapnik.\n"
    )
    code, warnings = build_strictly(source, target, **environment)
    page = (target / "notebooks" / "03_title.html").read_text(encoding="utf-8")
    return page, code, warnings


GOOD = r"""
$$ a = \begin{cases} 1 & x > 0 \\ 0 & x \le 0 \end{cases} \tag{3.1} $$

By equation (3.1), or (3.1) alone, and figure 3.1; a number (0.25) and `(3.1)` in code stay as they
are. See notebook 03 and [Cortes1995]. Notebooks 03 (again) and 03.
"""


@pytest.fixture(scope="module")
def good(tmp_path_factory):
    return build(tmp_path_factory.mktemp("good"), GOOD)


def test_a_notebook_is_built_without_a_warning(good):
    _, code, warnings = good
    assert (code, warnings) == (0, "")


def test_what_is_named_becomes_a_link(good):
    page, _, _ = good
    assert page.count('href="#equation-3-1"') == 2
    assert '<a class="reference internal" href="#figure-3-1"' in page
    assert 'href="../works.html#cortes1995"' in page
    linked = re.findall(r'href="(?:#|03_title\.html)"[^>]*><[^>]*>([^<]*)<', page)
    assert [text for text in linked if "03" in text][-3:] == ["notebook 03", "Notebooks 03", "03"]
    assert "a number <span>(0.25)</span> and" in page
    assert re.search(r"<code[^>]*>(<[^>]*>)*\(3\.1\)", page)


def test_an_equation_of_several_lines_keeps_its_tag(good):
    page, _, _ = good
    block = re.search(r'<div class="[^"]*math[^"]*" id="equation-3-1">(.*?)</div>', page, re.DOTALL)
    assert r"\tag{3.1}" in block[1]
    assert "split" not in block[1]


def test_a_figure_has_its_text_its_caption_and_its_anchor(good):
    page, _, _ = good
    figure = re.search(r'<figure[^>]*id="figure-3-1">(.*?)</figure>', page, re.DOTALL)[1]
    assert 'alt="One &lt;red&gt; dot."' in figure
    assert "A dot at" in figure
    assert r"\(x = 1\)" in figure
    assert "href" not in figure.split("headerlink")[0]
    assert page.count("A dot at") == 1


def test_sliders_leave_their_code_and_a_sentence(good):
    page, _, _ = good
    assert "margin_slider" in page
    assert "interactive(children" not in page
    assert "They move when the notebook runs live" in page
    assert page.index("The figure below moves here") < page.index('data-live="soft-margin"')


def test_a_page_describes_itself(good):
    page, _, _ = good
    assert '<meta content="What is asked here?" name="description"' in page
    assert re.search(r"<title>\s*03 A title .*kernelbook</title>", page)
    assert '<html lang="en"' in page
    assert "03_title.ipynb" in page.split("<article")[0]  # to be downloaded
    assert len(re.findall(r"<h1", page)) == 1


def test_nothing_is_fetched_from_elsewhere(good):
    page, _, _ = good
    assert 'src="../_static/mathjax/tex-chtml.js' in page
    assert re.findall(r'<(?:script|img|iframe)[^>]*src="(?:https?:)?//[^"]*"', page) == []
    assert re.findall(r'<link[^>]*href="(?:https?:)?//[^"]*"', page) == []
    assert "binder" not in page.lower() and "colab" not in page.lower()


def test_mathjax_is_in_the_book(good, tmp_path_factory):
    (built,) = tmp_path_factory.getbasetemp().glob("good0/target/_static/mathjax")
    assert (built / "tex-chtml.js").stat().st_size > 1e6
    assert len(list((built / "output/chtml/fonts/woff-v2").glob("*.woff"))) > 20
    assert (built / "input/tex/extensions/boldsymbol.js").exists()


@pytest.fixture(scope="module")
def bad(tmp_path_factory):
    text = "By equation (3.9), figure 3.8, notebook 77 and [Nobody2001]."
    address = "https://github.com/some/book"
    return build(tmp_path_factory.mktemp("bad"), text, KERNELBOOK_REPOSITORY=address)


@pytest.mark.parametrize("missing", ["equation-3-9", "figure-3-8", "77", "Nobody2001"])
def test_what_does_not_exist_breaks_the_build(bad, missing):
    _, code, warnings = bad
    assert code == 1
    assert any(missing in line for line in warnings.splitlines())


def test_one_setting_gives_the_buttons_of_binder_and_colab(bad):
    page, _, _ = bad
    path = "notebooks/03_title.ipynb"
    assert f"mybinder.org/v2/gh/some/book/main?urlpath=lab/tree/{path}" in page
    assert f"colab.research.google.com/github/some/book/blob/main/{path}" in page


def test_every_module_that_says_what_it_offers_has_a_page():
    modules = book.public_modules()
    names = {module.__name__.removeprefix("kernelbook.") for module in modules}
    assert {"svm", "svdd", "bayes", "qp", "kernels", "audit", "kernelcourse"} <= names
    assert not any(name.startswith("_") for name in names)
    page = book.api_page(modules)
    assert all(page.count(f"<{name}>") == 1 for name in names)


def test_a_module_without_a_group_is_noticed(monkeypatch):
    monkeypatch.setattr(book, "GROUPS", {"Some": ("svm", "kernelcourse")})
    with pytest.raises(ValueError, match="no place for audit"):
        book.public_modules()


@pytest.fixture(scope="module")
def api(tmp_path_factory):
    """The page of kernelbook.svm as Sphinx writes it, without the rest of the book."""
    source, target = (tmp_path_factory.mktemp("api") / name for name in ("source", "target"))
    (source / "api").mkdir(parents=True)
    (source / "index.rst").write_text("Index\n=====\n\n.. toctree::\n\n   api/svm\n")
    (source / "api" / "svm.rst").write_text(book.module_page(kernelbook.svm), encoding="utf-8")
    assert build_pages(source, target)[0] == 0
    return (target / "api" / "svm.html").read_text(encoding="utf-8")


def test_attributes_keep_their_underscore(api):
    section = re.search(r'<section id="kernelsvc">(.*?)</section>', api, re.DOTALL)[1]
    listed = re.search(r"Attributes<.*?Raises<", section, re.DOTALL)[0]
    names = [attribute.name for attribute in get_doc_object(KernelSVC)["Attributes"]]
    assert {"alpha_", "dual_coef_", "n_iter_", "kernel_"} <= set(names)
    assert re.findall(r"<strong>(\w+)</strong>", listed) == names


def test_a_class_shows_what_it_has_from_its_bases_here(api):
    for name in ("fit", "decision_function", "predict", "coef_"):
        assert f'id="kernelbook.svm.KernelSVC.{name}"' in api
    assert "KernelSVC.get_params" not in api and "set_fit_request" not in api


def test_page_of_a_module_names_each_class_and_function_once():
    page = book.module_page(kernelbook.svm)
    assert page.count(".. autoclass:: KernelSVC\n") == 1
    assert page.count(".. autofunction:: encode_labels\n") == 1
    kernels = book.module_page(kernelbook.kernels)
    assert "BLOCK_VALUES" not in kernels and "Matrix" not in kernels  # a number, a name of a type
    assert book.module_page(kernelcourse).count(".. autofunction:: show\n") == 1


def test_sources_are_staged_once_and_what_has_gone_goes(tmp_path, monkeypatch):
    monkeypatch.setattr(book, "sources", lambda: iter([("a/b.md", b"# B")]))
    monkeypatch.setattr(book, "TARGET", tmp_path / "book")
    stage = tmp_path / "stage"
    book.stage(stage)
    before = (stage / "a" / "b.md").stat().st_mtime_ns
    (tmp_path / "book").mkdir()
    book.stage(stage)
    assert (stage / "a" / "b.md").stat().st_mtime_ns == before
    assert (tmp_path / "book").exists()
    (stage / "old.md").write_text("# Old")
    book.stage(stage)
    assert not (stage / "old.md").exists()
    assert not (tmp_path / "book").exists()


def source(name):
    """One source of the book, without those that come after it and take their time."""
    return next(content for path, content in book.sources() if path == name).decode()


def test_the_address_of_the_repository_is_filled_in(monkeypatch):
    monkeypatch.delenv("KERNELBOOK_REPOSITORY", raising=False)
    assert book.PLACE in source("book/run.md")
    monkeypatch.setenv("KERNELBOOK_REPOSITORY", "https://example.org/some/book")
    text = source("book/run.md")
    assert "git clone --depth 1 https://example.org/some/book" in text
    assert book.PLACE not in text


def test_browser_test_says_what_is_missing():
    assert browser_test.missing("/usr/bin/chromium", "/usr/bin/npm") == ""
    assert "apt install npm" in browser_test.missing("/usr/bin/chromium", None)
    assert "apt install chromium npm" in browser_test.missing(None, None)
    assert "make pdf CHROMIUM=" in browser_test.missing(None, "npm", "pdf")


def test_pdf_without_a_browser_says_what_is_missing(monkeypatch, capsys):
    monkeypatch.setattr(pdf, "chromium", lambda: None)
    assert pdf.main() == 1
    assert "make pdf needs chromium" in capsys.readouterr().err


def test_lock_of_the_browser_test_names_no_address():
    text = (ROOT / "book" / "browser" / "package-lock.json").read_text(encoding="utf-8")
    assert text.count('"integrity": "sha512-') == 2
    assert "://" not in text


def test_no_target_is_taken_for_the_folder_of_that_name():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = re.findall(r"^([a-z-]+):.*## ", makefile, re.MULTILINE)
    assert set(re.search(r"^\.PHONY: (.*)$", makefile, re.MULTILINE)[1].split()) == set(targets)
