"""Configuration of the book; `make book` stages the sources and calls Sphinx with it."""

import os
import sys
import tomllib
from pathlib import Path

from sphinx.application import Sphinx
from sphinx.domains.python import PyObject

BOOK = Path(__file__).resolve().parent
sys.path[:0] = [str(BOOK.parent), str(BOOK / "ext")]

from tools.book import repository  # noqa: E402

_project = tomllib.loads((BOOK.parent / "pyproject.toml").read_text(encoding="utf-8"))["project"]

project = _project["name"]
author = "the kernelbook authors"
copyright = "the kernelbook authors. Text and figures: CC BY 4.0, code: BSD-3-Clause"
version = release = _project["version"]
language = "en"
root_doc = "index"

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.napoleon",
    "sphinx.ext.mathjax",
    "sphinx.ext.viewcode",
    "myst_nb",
    "references",
    "outputs",
    "answers",
    "predictions",
    "live_figures",
    "offline_mathjax",
    "excerpts",
]

# A work that nothing cites: tests/test_references.py finds it, and duplicates, without a build.
suppress_warnings = ["ref.citation"]

# Notebooks are shown as they were recorded; tests compare those outputs with new ones.
nb_execution_mode = "off"
nb_ipywidgets_js: dict[str, dict[str, str]] = {}
nb_merge_streams = True
nb_code_prompt_show = "Show the code of this figure"
nb_code_prompt_hide = "Hide the code of this figure"
nb_render_markdown_format = "myst"  # captions hold mathematics
myst_enable_extensions = ["dollarmath", "amsmath", "deflist", "colon_fence"]
myst_heading_anchors = 4
myst_links_external_new_tab = False

autosummary_generate = False
toc_object_entries = False
autodoc_typehints = "none"
autodoc_member_order = "bysource"
# Estimators show what they have from their bases; kernels and matrices refer to theirs.
autodoc_default_options = {
    "members": True,
    "show-inheritance": True,
    "inherited-members": "BaseException, Kernel, Radial, Quadratic",
}
napoleon_google_docstring = False
napoleon_use_rtype = False
napoleon_use_ivar = True
# Names such as alpha_ keep their underscore, which is a link in reStructuredText otherwise.
strip_signature_backslash = True

# The source of each object is a page of the book, so that its link works from the disk.
viewcode_follow_imported_members = True
viewcode_line_numbers = True

# Links to numpy, scipy and scikit-learn need their lists of names at build time, hence a network,
# and a reader who is online: only a build that is going to be published asks for them.
if os.environ.get("KERNELBOOK_INTERSPHINX"):
    extensions.append("sphinx.ext.intersphinx")
    intersphinx_mapping = {
        "python": ("https://docs.python.org/3", None),
        "numpy": ("https://numpy.org/doc/stable", None),
        "scipy": ("https://docs.scipy.org/doc/scipy", None),
        "sklearn": ("https://scikit-learn.org/stable", None),
    }

templates_path = [str(BOOK / "_templates")]
html_static_path = [str(BOOK / "_static")]
html_css_files = ["book.css"]
html_js_files = ["book.js"]
html_theme = "sphinx_book_theme"
html_title = "kernelbook"
html_logo = html_favicon = str(BOOK / "_static" / "mark.svg")
html_context = {"default_mode": "auto"}
html_use_index = False
html_domain_indices = False
html_copy_source = True
html_show_sphinx = False
html_last_updated_fmt = None
html_theme_options = {
    "logo": {"text": "kernelbook", "alt_text": "kernelbook, to the first page"},
    "show_toc_level": 2,
    "navigation_with_keys": False,
    "search_bar_text": "Search the book",
    "navbar_persistent": [],  # one search box is enough: that of the sidebar
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
    "use_download_button": True,
}


def skip_member(
    app: Sphinx, what: str, name: str, item: object, skip: bool, options: object
) -> bool | None:
    """Leave out what other libraries define, and what has no text of its own."""
    routing = name.startswith("set_") and name.endswith("_request")
    function = getattr(item, "fget", item)
    package = (getattr(function, "__module__", None) or "kernelbook").split(".")[0]
    foreign = package not in ("kernelbook", "kernelcourse")
    return True if routing or foreign or not getattr(item, "__doc__", None) else None


def setup(app: Sphinx) -> None:
    app.connect("autodoc-skip-member", skip_member)
    # The attributes of an object, which Sphinx calls variables.
    for field in PyObject.doc_field_types:
        if field.name == "variable":
            field.label = "Attributes"


# Without a public address no button is shown, and no link is dead.
if address := repository():
    html_theme_options |= {
        "repository_url": address,
        "repository_branch": "main",
        "use_repository_button": True,
        "use_issues_button": True,
        "launch_buttons": {
            "binderhub_url": "https://mybinder.org",
            "colab_url": "https://colab.research.google.com",
            "notebook_interface": "jupyterlab",
        },
    }
