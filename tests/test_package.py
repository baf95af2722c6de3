"""The package stands alone: its wheel, what it needs, what it imports, what it says of itself."""

import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from email import message_from_bytes
from importlib.metadata import (
    PackageNotFoundError,
    packages_distributions,
    requires,
    version,
)
from pathlib import Path

import pytest
import yaml

import kernelbook
from kernelbook import __main__ as package_map

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
CORE = {"joblib", "numpy", "scipy", "scikit-learn", "numba"}

# Whatever is installed here and is no dependency of the wheel looks as if it were not.
BARE = """
import sys
from importlib.machinery import PathFinder

class Bare(PathFinder):
    @classmethod
    def find_spec(cls, name, path=None, target=None):
        hidden = name.partition(".")[0] in FORBIDDEN
        return None if hidden else super().find_spec(name, path, target)

sys.meta_path[sys.meta_path.index(PathFinder)] = Bare
"""


def requirement_name(requirement):
    return re.match(r"[\w.-]+", requirement)[0]


def needed(names):
    """The packages and what they need themselves, without any extra."""
    closure, waiting = set(), set(names)
    while waiting:
        name = waiting.pop()
        closure.add(name)
        always = [entry for entry in requires(name) or () if "extra ==" not in entry]
        waiting |= {requirement_name(entry) for entry in always} - closure
    return closure


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    """A copy of what the wheel is built from: the build writes beside its sources."""
    tree = tmp_path_factory.mktemp("tree")
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, tree)
    leftovers = shutil.ignore_patterns("__pycache__", "*.egg-info")
    shutil.copytree(ROOT / "lib", tree / "lib", ignore=leftovers)
    return tree


@pytest.fixture(scope="module")
def wheel(tree):
    """A wheel of this tree, built offline."""
    pip("wheel", "--no-build-isolation", "--wheel-dir", tree / "dist", tree)
    (path,) = (tree / "dist").iterdir()
    return path


@pytest.fixture(scope="module")
def bare(wheel, tmp_path_factory):
    """Run code where the wheel and its dependencies are all that can be imported."""
    # Three directories deep, as in a real installation.
    target = tmp_path_factory.mktemp("bare") / "lib" / "python" / "site-packages"
    pip("install", "--target", target, wheel)
    allowed = needed(CORE) | {"kernelbook"}
    forbidden = {
        module
        for module, providers in packages_distributions().items()
        if allowed.isdisjoint(providers)
    }
    assert {"pandas", "matplotlib", "IPython", "arviz"} <= forbidden

    def run(code):
        check = f"import kernelbook\nassert kernelbook.__file__.startswith({str(target)!r})\n"
        return subprocess.run(
            [sys.executable, "-c", f"FORBIDDEN = {forbidden}" + BARE + check + code],
            cwd=target.parent,
            env={"PYTHONPATH": str(target), "PYTHONHASHSEED": "0", "OMP_NUM_THREADS": "1"},
            capture_output=True,
            text=True,
        )

    return run


def pip(command, *arguments):
    options = ["--quiet", "--no-deps", "--no-index", "--no-cache-dir"]
    subprocess.run(
        [sys.executable, "-m", "pip", command, *options, *map(str, arguments)],
        check=True,
        capture_output=True,
    )


def metadata(wheel):
    with zipfile.ZipFile(wheel) as archive:
        (name,) = [name for name in archive.namelist() if name.endswith(".dist-info/METADATA")]
        return message_from_bytes(archive.read(name))


def test_wheel_holds_the_library_and_nothing_else(wheel):
    kept = {".py", ".typed", ".mplstyle"}
    sources = {
        path.relative_to(ROOT / "lib").as_posix()
        for path in (ROOT / "lib" / "kernelbook").rglob("*")
        if path.suffix in kept
    }
    with zipfile.ZipFile(wheel) as archive:
        packed = {name for name in archive.namelist() if ".dist-info/" not in name}
    assert packed == sources
    assert "kernelbook/py.typed" in packed
    assert not any("kernelcourse" in name for name in packed)


def test_editable_installation_finds_the_course_too(tree, tmp_path):
    pip("install", "--no-build-isolation", "--target", tmp_path, "--editable", tree)
    (path,) = tmp_path.glob("*.pth")
    assert Path(path.read_text(encoding="utf-8").strip()) == tree / "lib"
    assert (tree / "lib" / "kernelcourse" / "__init__.py").exists()


def test_library_never_names_the_course():
    sources = (ROOT / "lib" / "kernelbook").rglob("*.py")
    assert [path for path in sources if "kernelcourse" in path.read_text("utf-8")] == []


def test_wheel_needs_the_core_packages_and_names_the_extras(wheel):
    head = metadata(wheel)
    entries = head.get_all("Requires-Dist")
    core = {requirement_name(entry) for entry in entries if "extra ==" not in entry}
    assert core == CORE == set(package_map.requirements()[""])
    assert head.get_all("Provides-Extra") == list(PROJECT["optional-dependencies"])
    assert head["Requires-Python"] == PROJECT["requires-python"]
    assert head.get_all("License-File") == ["LICENSE"]


def test_version_is_said_once_and_repeated_faithfully():
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    released = re.findall(r"^## \[(\d[^]]*)\]", changes, re.MULTILINE)
    assert kernelbook.__version__ == PROJECT["version"], "run `make setup`"
    assert citation["version"] == released[0]
    major, minor, _ = map(int, released[0].split("."))
    changed = "**Breaking**" in changes.split("## [Unreleased]")[1].split(f"## [{released[0]}]")[0]
    assert PROJECT["version"] == (f"{major}.{minor + 1}.0.dev0" if changed else released[0])


def test_six_lines_certify_a_machine_in_a_bare_environment(bare):
    text = (ROOT / "book" / "pages" / "library.md").read_text(encoding="utf-8")
    (script,) = re.findall(r"```py\n(.*?)```", text, re.DOTALL)
    assert len([line for line in script.splitlines() if line]) == 6
    run = bare(script)
    assert run.returncode == 0, run.stderr
    assert "status='optimal'" in run.stdout


def test_bare_environment_is_bare(bare):
    run = bare("import pandas")
    assert "No module named 'pandas'" in run.stderr


def test_table_without_its_extra_names_the_extra(bare):
    run = bare("from kernelbook.metrics import imbalance_report\nimbalance_report([0, 1], [0, 1])")
    assert 'pip install "kernelbook[metrics]"' in run.stderr


def test_loader_without_the_repository_says_where_the_data_are(bare):
    run = bare("from kernelbook.datasets import load_yeast\nload_yeast()")
    assert "Clone the repository and set the environment variable KERNELBOOK_DATA" in run.stderr


def test_import_loads_nothing_beyond_the_core_dependencies(bare):
    run = bare(
        "import sklearn.svm\nbefore = set(sys.modules)\nimport kernelbook.svm\n"
        "print(*{name.partition('.')[0] for name in set(sys.modules) - before})"
    )
    assert set(run.stdout.split()) == {"kernelbook"}


def test_package_itself_imports_no_array_library(bare):
    run = bare("print('numpy' in sys.modules)")
    assert run.stdout.split() == ["False"]


def test_map_without_the_repository_says_so(bare):
    run = bare("import runpy\nrunpy.run_module('kernelbook', run_name='__main__')")
    assert run.returncode == 0, run.stderr
    assert "they are in the repository" in run.stdout


def test_map_names_what_is_public_notebooks_versions_and_extras(capsys):
    package_map.main()
    said = capsys.readouterr().out
    library = ROOT / "lib" / "kernelbook"
    names = {path.stem for path in library.glob("*.py")}
    names |= {path.parent.name for path in library.glob("*/__init__.py")}
    listed = re.findall(r"^  (\w+) +(.*)$", said.split("Modules\n")[1].split("\n\n")[0], re.M)
    assert {name for name, _ in listed} == kernelbook.MODULES < names
    assert all(len(summary) > 20 for _, summary in listed)
    numbers = [path.name[:2] for path in sorted((ROOT / "notebooks").glob("*.ipynb"))]
    assert re.findall(r"^  (\d\d)  \w", said, re.M) == numbers
    assert re.search(rf"^  numpy +{re.escape(version('numpy'))}$", said, re.M)
    assert list(dict(package_map.extras())) == list(PROJECT["optional-dependencies"])


def test_map_names_what_an_extra_lacks(monkeypatch):
    def absent(package):
        if package == "imbalanced-learn":
            raise PackageNotFoundError(package)
        return "1"

    monkeypatch.setattr(package_map, "version", absent)
    told = dict(package_map.extras())
    assert told["metrics"] == "missing: imbalanced-learn"
    assert told["data"] == "present"


@pytest.mark.parametrize("name", ["data_set", "teaching", "wrong_number"])
def test_issue_form_asks_for_what_an_answer_needs(name):
    path = ROOT / ".github" / "ISSUE_TEMPLATE" / f"{name}.yml"
    form = yaml.safe_load(path.read_text(encoding="utf-8"))
    assert {"name", "description", "labels", "body"} == set(form)
    fields = [field for field in form["body"] if field["type"] != "markdown"]
    assert len({field["id"] for field in fields}) == len(fields) > 2
    assert sum(field.get("validations", {}).get("required", False) for field in fields) > 2
    assert all(field["attributes"]["label"] for field in fields)
