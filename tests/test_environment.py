"""The environment is one: lock, environment.yml, pyproject.toml and what is installed agree."""

import ast
import importlib.metadata
import json
import os
import re
import subprocess
import sys
import tomllib
from functools import cache
from pathlib import Path

import pytest
import yaml

from tools import lock
from tools.reproducible import ENVIRONMENT, reproducible_environment

ROOT = Path(__file__).parents[1]
PYPROJECT = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
LOCK = (ROOT / "requirements.lock").read_text(encoding="utf-8")
CONDA = (ROOT / "environment.yml").read_text(encoding="utf-8")
VERSIONS = lock.locked_versions(LOCK)
FIRST_PARTY = {"kernelbook", "kernelcourse", "tools", "benchmarks", "studies"}
FIRST_PARTY |= {path.stem for path in Path(__file__).parent.glob("*.py")}
OPTIONAL = (
    "arviz",
    "dask",
    "distributed",
    "imblearn",
    "IPython",
    "ipywidgets",
    "matplotlib",
    "pandas",
    "seaborn",
    "tqdm",
)


def conda_pins(text):
    """What conda installs, then what it hands to pip, without the project itself."""
    *conda, from_pip = yaml.safe_load(text)["dependencies"]
    return [*conda, *(entry for entry in from_pip["pip"] if entry != "-e .")]


def test_conda_environment_is_the_one_that_make_lock_writes():
    assert lock.conda_environment(PYPROJECT, LOCK) == CONDA


def test_every_conda_pin_is_locked_and_installed():
    pins = dict(entry.split("==") for entry in conda_pins(CONDA) if "==" in entry)
    assert set(pins) == set(lock.direct_dependencies(PYPROJECT))
    assert pins == {name: VERSIONS[name] for name in pins}
    assert pins == {name: importlib.metadata.version(name) for name in pins}


def test_conda_pins_have_no_build_string_nor_extension():
    loose = [entry for entry in conda_pins(CONDA) if "==" not in entry]
    assert loose == ["python>=3.11,<3.15", "pip"]
    assert not any(re.search(r"(?<!=)=(?!=)", entry.split(">=")[0]) for entry in conda_pins(CONDA))
    assert "nbextension" not in CONDA


def test_python_bound_is_that_of_the_project():
    assert tomllib.loads(PYPROJECT)["project"]["requires-python"] == ">=3.11"


def test_lock_has_a_hash_for_every_package_and_no_address():
    entries = re.split(r"\n(?=[A-Za-z0-9])", LOCK.strip())
    assert len(entries) == len(VERSIONS) > 100
    assert [entry.split()[0] for entry in entries if "--hash=sha256:" not in entry] == []
    assert "://" not in LOCK
    assert not re.search(r"^#|--(extra-)?index-url|--find-links", LOCK, re.MULTILINE)


def test_lock_with_two_versions_of_a_package_is_refused():
    with pytest.raises(ValueError, match="two versions of Numpy"):
        lock.locked_versions("numpy==2.3.0 ; python_version < '3.12'\nNumpy==2.4.0 \\\n")


def test_dependency_that_is_not_locked_is_named():
    with pytest.raises(ValueError, match="lacks scipy"):
        lock.conda_environment('[project]\nname = "x"\ndependencies = ["scipy>1"]', "numpy==2.0\n")


def test_there_is_no_other_lock():
    assert not (ROOT / "uv.lock").exists()
    ignored = (ROOT / ".gitignore").read_text(encoding="utf-8").splitlines()
    assert "uv.lock" in ignored
    assert not {"lib/", "lib", "/lib/"} & set(ignored)


def python_sources():
    for directory in ("lib", "tools", "tests"):
        for path in sorted((ROOT / directory).rglob("*.py")):
            yield path.relative_to(ROOT).as_posix(), path.read_text(encoding="utf-8")
    for path in sorted((ROOT / "notebooks").glob("*.ipynb")):
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        code = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
        yield path.relative_to(ROOT).as_posix(), "\n".join(code)


def imported_packages(source):
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name.split(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            yield node.module.split(".")[0]


packages_distributions = cache(importlib.metadata.packages_distributions)  # reads every package


def undeclared(source):
    """Imported packages that no dependency of pyproject.toml provides."""
    declared = set(lock.direct_dependencies(PYPROJECT))
    providers = packages_distributions()
    return {
        package
        for package in imported_packages(source)
        if package not in FIRST_PARTY | set(sys.stdlib_module_names)
        and not {lock.normalised(name) for name in providers.get(package, [])} & declared
    }


@pytest.mark.parametrize("name, source", [pytest.param(*s, id=s[0]) for s in python_sources()])
def test_every_import_is_declared(name, source):
    assert undeclared(source) == set()


def test_an_undeclared_import_is_found():
    source = "import numpy, setuptools\nfrom nowhere.part import x\nfrom yaml import safe_load"
    assert undeclared(source) == {"nowhere", "setuptools"}


def test_every_module_imports_without_the_optional_packages():
    names = sorted(
        ".".join(path.relative_to(ROOT / "lib").with_suffix("").parts)
        for path in (ROOT / "lib").rglob("*.py")
        if path.name not in ("__init__.py", "__main__.py")
        and path.parent.name != "answers"  # the key of the course reads the tables of the studies
    )
    code = f"""
import importlib, sys
sys.modules.update(dict.fromkeys({OPTIONAL}))  # as if they were not installed
for name in {names}:
    importlib.import_module(name)
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (run.returncode, run.stdout, run.stderr) == (0, "", "")


def test_tests_run_under_the_reproducible_environment():
    assert set(ENVIRONMENT) <= set(os.environ)
    assert reproducible_environment({"OMP_NUM_THREADS": "2"})["OMP_NUM_THREADS"] == "2"


def make(*arguments):
    return subprocess.run(["make", *arguments], cwd=ROOT, capture_output=True, text=True)


def test_help_lists_every_target():
    text = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = re.search(r"^\.PHONY: (.*)$", text, re.MULTILINE)[1].split()
    listed = re.findall(r"^  ([a-z-]+) ", make("help").stdout, re.MULTILINE)
    assert listed == targets


def test_continuous_integration_runs_make_test_and_nothing_else():
    script = ROOT / ".ci" / "run"
    commands = [
        line for line in script.read_text().splitlines() if line and not line.startswith("#")
    ]
    assert commands == ["set -eu", 'cd "$(dirname "$0")/.."', "exec make test"]
    assert script.stat().st_mode & 0o111
