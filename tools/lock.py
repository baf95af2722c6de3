"""Resolve ``requirements.lock`` from pyproject.toml and copy its pins to environment.yml.

python -m tools.lock              keep the versions that still fit
python -m tools.lock --upgrade    take the newest ones

Needs the standard library alone, so that a broken lock can be repaired with it.
"""

import argparse
import re
import subprocess
import sys
import tomllib
from collections.abc import Sequence
from pathlib import Path

__all__ = ["conda_environment", "direct_dependencies", "locked_versions", "main", "normalised"]

ROOT = Path(__file__).resolve().parents[1]
LOCK = "requirements.lock"
ENVIRONMENT = "environment.yml"
# Packages that conda-forge does not carry; conda hands them to pip.
FROM_PIP = {"sphinx-mathjax-offline", "sphinx-revealjs"}

HEAD = f"""\
# For users of conda or mamba:
#   conda env create -f {ENVIRONMENT} && conda activate kernelbook && jupyter lab notebooks
# Written by `make lock`: every pin is that of {LOCK}, and a test compares them. Inside this
# environment the notebooks run with `python -m tools.run_notebooks run` and, on Linux or a Mac, are
# checked with `python -m tools.check`.
name: kernelbook
channels:
  - conda-forge
  - nodefaults
dependencies:
"""


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tools.lock")
    parser.add_argument("--upgrade", action="store_true", help="take the newest versions")
    options = parser.parse_args(arguments)
    print(f"Resolving {LOCK} from pyproject.toml for Python 3.11 and newer, all platforms")
    # --no-header, or the file would record the command line; never uv.lock, which records the
    # host names of the package index.
    command = [str(Path(sys.executable).parent / "uv"), "--quiet", "pip", "compile"]
    command += ["pyproject.toml", "--all-extras", "--universal", "--python-version", "3.11"]
    command += ["--generate-hashes", "--no-header", "-o", LOCK]
    command += ["--upgrade"] if options.upgrade else []
    code = subprocess.run(command, cwd=ROOT, stdout=subprocess.DEVNULL).returncode
    if code:
        print(
            "\nThe versions could not be resolved; the lock is as it was. Change the bounds in "
            "pyproject.toml or the access to the package index, then `make lock` again.",
            file=sys.stderr,
        )
        return code
    text = conda_environment(
        (ROOT / "pyproject.toml").read_text(encoding="utf-8"),
        (ROOT / LOCK).read_text(encoding="utf-8"),
    )
    (ROOT / ENVIRONMENT).write_text(text, encoding="utf-8")
    print(f"Wrote {LOCK} and {ENVIRONMENT}. Now `make test`, then `make record`.")
    return 0


def normalised(name: str) -> str:
    """The name of a distribution as package indexes compare it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def direct_dependencies(pyproject: str) -> list[str]:
    """Names of the packages that pyproject.toml asks for, core and extras, sorted."""
    project = tomllib.loads(pyproject)["project"]
    groups = [project["dependencies"], *project.get("optional-dependencies", {}).values()]
    names = {
        normalised(re.match(r"[A-Za-z0-9._-]+", requirement).group())  # type: ignore[union-attr]
        for group in groups
        for requirement in group
    }
    return sorted(names - {normalised(project["name"])})


def locked_versions(lock: str) -> dict[str, str]:
    """Version of every package of a lock; one listed twice is an error."""
    versions: dict[str, str] = {}
    for name, version in re.findall(r"^([A-Za-z0-9._-]+)==([^\s;\\]+)", lock, re.MULTILINE):
        if normalised(name) in versions:
            raise ValueError(
                f"{LOCK} has two versions of {name}: outputs would differ between Pythons. Add "
                "an upper bound to pyproject.toml (see tool.uv there), then `make lock`."
            )
        versions[normalised(name)] = version
    return versions


def conda_environment(pyproject: str, lock: str) -> str:
    """Text of environment.yml: the direct dependencies, pinned as in the lock."""
    versions = locked_versions(lock)
    names = direct_dependencies(pyproject)
    missing = [name for name in names if name not in versions]
    if missing:
        raise ValueError(f"{LOCK} lacks {', '.join(missing)}: run `make lock`.")
    pins = {name: f"{name}=={versions[name]}" for name in names}
    from_pip = [pins.pop(name) for name in names if name in FROM_PIP]
    conda = "".join(f"  - {line}\n" for line in ["python>=3.11,<3.15", "pip", *pins.values()])
    pip = "".join(f"      - {line}\n" for line in [*from_pip, "-e ."])
    return f"{HEAD}{conda}  - pip:\n{pip}"


if __name__ == "__main__":
    raise SystemExit(main())
