"""Print the map of the package and of the notebooks, the versions, and the extras that are there.

python -m kernelbook
"""

import ast
import json
import platform
import re
import textwrap
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, requires, version
from importlib.util import find_spec
from pathlib import Path

import kernelbook

NOTEBOOKS = Path(__file__).resolve().parents[2] / "notebooks"


def main() -> None:
    print(f"kernelbook {kernelbook.__version__}: {_summary(kernelbook.__doc__)}")
    _print_section("Modules", modules())
    _print_section("Notebooks", notebooks(NOTEBOOKS))
    _print_section("Versions", versions())
    _print_section("Extras", extras())


def modules() -> Iterator[tuple[str, str]]:
    """Name and summary of each public module, read from its source: none is imported for it."""
    for name in sorted(kernelbook.MODULES):
        spec = find_spec(f"kernelbook.{name}")
        if spec is not None and spec.origin is not None:
            source = Path(spec.origin).read_text(encoding="utf-8")
            yield name, _summary(ast.get_docstring(ast.parse(source)))


def notebooks(directory: Path) -> Iterator[tuple[str, str]]:
    """Number and title of each notebook, or where they are if the library stands alone."""
    if not directory.is_dir():
        yield "-", "not here: they are in the repository, of which this is the library alone"
    for path in sorted(directory.glob("[0-9]*.ipynb")):
        heading = json.loads(path.read_text(encoding="utf-8"))["cells"][0]["source"]
        number, title = re.findall(r"# (\d+)\W+(.+)", "".join(heading))[0]
        yield number, title


def versions() -> Iterator[tuple[str, str]]:
    """Python and the packages that every part of the library needs."""
    yield "python", platform.python_version()
    for package in requirements()[""]:
        yield package, version(package)


def extras() -> Iterator[tuple[str, str]]:
    """Each extra, and which of its packages are missing."""
    for extra, names in requirements().items():
        if extra:
            missing = [name for name in names if not _is_installed(name)]
            yield extra, f"missing: {', '.join(missing)}" if missing else "present"


def requirements() -> dict[str, list[str]]:
    """Names of the packages of each extra; what is always needed has the key ''."""
    packages: dict[str, list[str]] = {}
    for requirement in requires("kernelbook") or ():
        if found := re.fullmatch(r"([\w.-]+).*?(?:; *extra == ['\"](\w+)['\"])?", requirement):
            packages.setdefault(found[2] or "", []).append(found[1])
    return packages


def _is_installed(package: str) -> bool:
    try:
        return bool(version(package))
    except PackageNotFoundError:
        return False


def _summary(docstring: str | None) -> str:
    return " ".join((docstring or "").split("\n\n")[0].split())


def _print_section(title: str, rows: Iterator[tuple[str, str]]) -> None:
    print(f"\n{title}")
    pairs = list(rows)
    width = max(len(name) for name, _ in pairs)
    for name, text in pairs:
        lead = f"  {name:<{width}}  "
        indent = " " * len(lead)
        print(
            textwrap.fill(
                text, 100, initial_indent=lead, subsequent_indent=indent, break_on_hyphens=False
            )
        )


if __name__ == "__main__":
    main()
