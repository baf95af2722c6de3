"""What a learner needs who has no copy of the repository: two wheels, and notebooks that say so.

python -m tools.course

build/course gets the wheel of the library; the wheel ``kernelbook-course`` with the exercises and
their answers, the data sets, the studies and their stored results; and a copy of each notebook
whose first cell says how to install both where they are missing. Neither wheel asks for a version
of IPython or Jupyter: those are the host's.
"""

import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import nbformat
from nbformat import NotebookNode

__all__ = ["guarded", "main", "stage", "wheels"]

ROOT = Path(__file__).resolve().parents[1]
TARGET = ROOT / "build" / "course"
SOURCE = ROOT / "build" / "course-source"
WHEELS = ("kernelbook", "kernelbook_course")
FOLDERS = {
    "lib/kernelcourse": "kernelcourse", "studies": "studies", "data": "kernelbook_data",
}  # fmt: skip
PROJECT = """\
[build-system]
requires = ["setuptools>=77"]
build-backend = "setuptools.build_meta"

[project]
name = "{name}"
version = "{version}"
description = "{description}"
requires-python = "{python}"
license = "BSD-3-Clause"
license-files = ["LICENSE"]
dependencies = ["kernelbook[{extra}]=={version}"]

{packages}"""
ALL_FILES = """\
[tool.setuptools]
packages = {find = {namespaces = true}}
package-data = {"*" = ["*"]}
"""
GUARD = """\
# Nothing to do where kernelbook is installed. The versions of IPython and Jupyter stay as they are.
try:
    import kernelbook
    import kernelcourse
except ModuleNotFoundError as missing:
    raise SystemExit(
        f"This notebook needs {{missing.name}}. Run this in a cell, and then the notebook:\\n"
        "%pip install {library} {course}"
    )"""


def main() -> int:
    shutil.rmtree(TARGET, ignore_errors=True)
    TARGET.mkdir(parents=True)
    library, course = wheels(TARGET)
    for path in sorted((ROOT / "notebooks").glob("[0-9]*.ipynb")):
        notebook = guarded(nbformat.read(path, as_version=4), library.name, course.name)
        nbformat.write(notebook, TARGET / path.name)
    print(f"Wheels and notebooks are in {TARGET.relative_to(ROOT)}: pip install both wheels")
    return 0


def guarded(notebook: NotebookNode, library: str, course: str) -> NotebookNode:
    """A copy of a notebook whose first cell says how to install what is missing.

    Parameters
    ----------
    notebook : NotebookNode
        A notebook of the course.
    library, course : str
        What pip is to install: names of the two wheels, or their addresses.

    Returns
    -------
    NotebookNode
        The copy, without outputs: those of a host with other versions may differ.
    """
    result = nbformat.from_dict(notebook)
    for cell in result.cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    cell = nbformat.v4.new_code_cell(GUARD.format(library=library, course=course))
    cell["id"] = "guard"
    result.cells.insert(0, cell)
    return result


def wheels(target: Path) -> tuple[Path, Path]:
    """Build the wheel of the library and that of the course.

    Parameters
    ----------
    target : Path
        The directory that gets them.

    Returns
    -------
    tuple of Path
        Library and course.
    """
    stage(SOURCE)
    library = SOURCE.with_name("library-source")
    _copy(library, {"lib/kernelbook": "lib/kernelbook"})
    shutil.copy(ROOT / "pyproject.toml", library)
    shutil.copy(ROOT / "README.md", library)
    for source in (library, SOURCE):
        command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-index"]
        command += ["--no-build-isolation", "--wheel-dir", str(target), str(source)]
        subprocess.run(command, check=True)
    (first,), (second,) = (target.glob(f"{name}-*.whl") for name in WHEELS)
    return first, second


def stage(target: Path) -> Path:
    """Write the sources of the wheel of the course.

    Parameters
    ----------
    target : Path
        A directory, which is replaced.

    Returns
    -------
    Path
        The same directory; ``pip wheel`` takes it.
    """
    write_package(
        target,
        FOLDERS,
        name="kernelbook-course",
        description="Exercises, sliders, data sets and studies of the notebooks of kernelbook",
        extra="course",
        packages=ALL_FILES,
    )
    return target


def write_package(
    target: Path,
    folders: dict[str, str],
    *,
    name: str,
    description: str,
    extra: str,
    packages: str,
    left_out: tuple[str, ...] = (),
) -> None:
    """Write the sources of a package that belongs to this version of the library.

    Parameters
    ----------
    target : Path
        A directory, which is replaced.
    folders : dict
        Folders of the repository, and their names in the package.
    name, description : str
        Of the package.
    extra : str
        That of the library which the package needs.
    packages : str
        What setuptools is to take, as lines of pyproject.toml.
    left_out : tuple of str, default=()
        Names of files and folders that are not copied.
    """
    _copy(target, folders, left_out)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    text = PROJECT.format(
        name=name,
        description=description,
        version=project["version"],
        python=project["requires-python"],
        extra=extra,
        packages=packages,
    )
    (target / "pyproject.toml").write_text(text, encoding="utf-8")


def _copy(target: Path, folders: dict[str, str], left_out: tuple[str, ...] = ()) -> None:
    shutil.rmtree(target, ignore_errors=True)
    ignored = shutil.ignore_patterns("__pycache__", ".*", *left_out)
    for source, name in folders.items():
        shutil.copytree(ROOT / source, target / name, ignore=ignored)
    shutil.copy(ROOT / "LICENSE", target)


if __name__ == "__main__":
    raise SystemExit(main())
