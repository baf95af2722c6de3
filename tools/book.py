"""Build the HTML book from the committed outputs of the notebooks.

python -m tools.book

The sources are staged under build/book-source in the layout of the repository, so that relative
links mean the same there, together with the pages that are made of other files: the map of the
notebooks, the index of figures, one page a module. Sphinx writes the book to build/book; a warning
is an error.
"""

import argparse
import importlib
import inspect
import os
import pkgutil
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import ModuleType

import nbformat

import kernelbook
import kernelcourse
from tools.answers import answers
from tools.frames import FRAMES, frames
from tools.notebook_form import Page
from tools.predictions import predictions
from tools.readme import map_of_notebooks
from tools.reproducible import reproducible_environment

__all__ = [
    "api_page",
    "figures",
    "figures_page",
    "main",
    "module_page",
    "public_modules",
    "repository",
    "sources",
    "stage",
]

ROOT = Path(__file__).resolve().parents[1]
STAGE = ROOT / "build" / "book-source"
TARGET = ROOT / "build" / "book"
PAGES = (
    "CHANGELOG.md",
    "book/*.md",
    "book/*.rst",
    "book/pages/*.md",
    "notebooks/[0-9]*.ipynb",
    "data/**/README.md",
)
PLACE = "<address of the repository>"
# The modules of the library by what they are for; the pages stand in this order.
GROUPS = {
    "Classifiers and regression": ("svm", "svr", "fisher", "conformal", "mean_difference"),
    "Descriptions of one class": ("oneclass", "svdd", "bayes"),
    "Components and explanations": ("kpca", "explain"),
    "Kernels, the solver and its proofs": ("kernels", "qp", "certification"),
    "Measuring, comparing, sampling": ("metrics", "study", "audit", "mcmc"),
    "Data and figures": ("datasets", "plotting"),
    "For those who extend the library": (
        "exceptions", "estimator", "coefficients", "component_signs", "preimage", "validation",
        "optional", "compile_loops",
    ),
    "The course": ("kernelcourse",),
}  # fmt: skip


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tools.book")
    parser.add_argument("--builder", default="html", help="of Sphinx, for instance linkcheck")
    options = parser.parse_args(arguments)
    code = build(options.builder, TARGET, ROOT / "build" / "book-doctrees")
    if code == 0:
        print(f"The book is in {TARGET.relative_to(ROOT)}: open index.html there")
    return code


def build(builder: str, target: Path, doctrees: Path) -> int:
    """Let Sphinx write the book; a warning is an error. Returns the exit code."""
    stage(STAGE)
    command = [sys.executable, "-m", "sphinx", "-b", builder, "-c", str(ROOT / "book")]
    command += ["-d", str(doctrees), "-W", "--keep-going", "-q", str(STAGE), str(target)]
    return subprocess.run(command, cwd=ROOT, env=reproducible_environment()).returncode


def stage(target: Path) -> None:
    """Bring ``target`` up to date; what has not changed keeps its time, and Sphinx skips it."""
    wanted = dict(sources())
    files = [path for path in target.rglob("*") if path.is_file()]
    for path in files:
        if str(path.relative_to(target)) not in wanted:
            path.unlink()
            shutil.rmtree(TARGET, ignore_errors=True)  # or its page would stay
    for name, content in wanted.items():
        path = target / name
        if not path.exists() or path.read_bytes() != content:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)


def sources() -> Iterator[tuple[str, bytes]]:
    """Every source of the book: its path below the stage, its content."""
    for pattern in PAGES:
        for path in sorted(ROOT.glob(pattern)):
            if path != ROOT / "book" / "index.md":
                yield str(path.relative_to(ROOT)), _text(path)
    index = (ROOT / "book" / "index.md").read_text(encoding="utf-8")
    notebooks = ROOT / "notebooks"
    yield "index.md", index.replace("<!-- map -->\n", map_of_notebooks(notebooks)).encode()
    paths = sorted(notebooks.glob("[0-9]*.ipynb"))
    yield "book/figures.md", figures_page(paths).encode()
    for path in paths:
        yield f"book/answers/{path.stem}.json", answers(path).encode()
        yield f"book/predictions/{path.stem}.json", predictions(path).encode()
    for name in FRAMES:
        yield f"book/frames/live/{name}-frames.js", frames(name).encode()
    modules = public_modules()
    yield "api/index.rst", api_page(modules).encode()
    for module in modules:
        yield f"api/{_page(module)}.rst", module_page(module).encode()


def _text(path: Path) -> bytes:
    content, address = path.read_bytes(), repository()
    return content.replace(PLACE.encode(), address.encode()) if address else content


def repository() -> str:
    """The public address of the repository, the one setting that buttons and links need.

    From the environment variable ``KERNELBOOK_REPOSITORY``, else from pyproject.toml, else empty.
    """
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    known = project.get("urls", {}).get("Repository", "")
    return os.environ.get("KERNELBOOK_REPOSITORY", known).rstrip("/")


def figures_page(notebooks: Sequence[Path]) -> str:
    """The index of figures: number, link and caption of each, by notebook."""
    lines = [
        "# Figures",
        "",
        "Every figure of the notebooks with its caption; the number leads to the figure.",
        "",
    ]
    for path in notebooks:
        title = nbformat.read(path, as_version=4).cells[0].source.splitlines()[0]
        lines += [f"## {title.lstrip('# ')}", ""]
        for number, caption in figures(path):
            place = f"../notebooks/{path.name}#figure-{number.replace('.', '-')}"
            lines.append(f"* [Figure {number}]({place}) {caption}")
        lines.append("")
    return "\n".join(lines)


def figures(path: Path) -> Iterator[tuple[str, str]]:
    """Number and caption of the figures of one notebook, in their order."""
    caption = re.compile(r"\*\*Figure (\d+\.\d+)\.\*\* (.+)", re.DOTALL)
    for _, output in Page.read(path).outputs():
        text = output.get("data", {}).get("text/markdown", "")
        if found := caption.match(text):
            yield found[1], " ".join(found[2].split())


def public_modules() -> list[ModuleType]:
    """The modules of the library that say what they offer, and the course, group by group."""
    names = {info.name for info in pkgutil.iter_modules(kernelbook.__path__)}
    modules = [importlib.import_module(f"kernelbook.{name}") for name in names if name[0] != "_"]
    found = {_page(module): module for module in modules if hasattr(module, "__all__")}
    found["kernelcourse"] = kernelcourse
    order = [name for group in GROUPS.values() for name in group]
    if lost := sorted(found.keys() - order):
        raise ValueError(f"GROUPS in tools/book.py has no place for {', '.join(lost)}.")
    return [found[name] for name in order if name in found]


def api_page(modules: Sequence[ModuleType]) -> str:
    """One line a module, group by group, and the order of their pages."""
    lines = [
        *_heading("The library", "="),
        "Each estimator is a scikit-learn estimator; each fit carries a certificate. The problem",
        "that a function solves stands first in its description, then shapes, units and signs,",
        "then what is rejected and why. The estimators can be imported from ``kernelbook`` itself.",
        "",
    ]
    for title, names in GROUPS.items():
        rows = [module for module in modules if _page(module) in names]
        if rows:
            lines += [*_heading(title, "-"), ".. list-table::", "   :widths: 30 70", ""]
        for module in rows:
            lines += [
                f"   * - :doc:`{module.__name__} <{_page(module)}>`",
                f"     - {_summary(module)}",
            ]
        lines.append("")
    lines += [".. toctree::", "   :hidden:", ""]
    lines += [f"   {_page(module)}" for module in modules]
    return "\n".join(lines) + "\n"


def module_page(module: ModuleType) -> str:
    """The page of one module: its text, a table of its names, then each of them."""
    documented = [name for name in module.__all__ if _is_documented(getattr(module, name))]
    lines = [
        *_heading(module.__name__, "="),
        f".. automodule:: {module.__name__}",
        "   :no-members:",
        "   :no-inherited-members:",
        "",
        f".. currentmodule:: {module.__name__}",
        "",
        ".. autosummary::",
        "   :nosignatures:",
        "",
        *(f"   {name}" for name in documented),
        "",
    ]
    for name in documented:
        kind = "class" if isinstance(getattr(module, name), type) else "function"
        lines += [*_heading(name, "-"), f".. auto{kind}:: {name}", ""]
    return "\n".join(lines) + "\n"


def _is_documented(value: object) -> bool:
    """Whether a name has an entry: numbers, and names of types, have none."""
    return inspect.isclass(value) or inspect.isfunction(value)


def _page(module: ModuleType) -> str:
    return module.__name__.removeprefix("kernelbook.")


def _heading(title: str, line: str) -> list[str]:
    return [title, line * len(title), ""]


def _summary(module: ModuleType) -> str:
    """The first sentence of what a module says of itself."""
    return " ".join((module.__doc__ or "").strip().split("\n\n")[0].split())


if __name__ == "__main__":
    raise SystemExit(main())
