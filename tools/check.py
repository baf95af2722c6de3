"""Run every check of the project, one after the other, and sum up.

python -m tools.check                 all
python -m tools.check ruff mypy       some

A failing check does not hide the next one: all are run, and the exit code is 1 if any failed.
"""

import argparse
import shlex
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from glob import glob
from pathlib import Path

from tools.reproducible import reproducible_environment

ROOT = Path(__file__).resolve().parents[1]
NBVAL = (
    "pytest --nbval --nbval-current-env --nbval-sanitize-with nbval_sanitize.cfg "
    "--nbval-cell-timeout 300 -n 2 --dist loadfile -p no:cacheprovider notebooks/"
)


@dataclass(frozen=True)
class Check:
    name: str
    purpose: str
    command: str
    remedy: str


CHECKS = (
    Check("ruff", "lint of code and notebooks", "ruff check .", "`make format` mends most of it"),
    Check("format", "layout of the code", "ruff format --check .", "`make format`"),
    Check("codespell", "spelling", "codespell", "a right word goes into pyproject.toml"),
    Check("mypy", "types", "mypy", "read the lines named above"),
    Check(
        "imports",
        "arrows between modules",
        "lint-imports --no-logo --no-cache",
        "see CONTRIBUTING.md",
    ),
    Check("unit", "unit tests and doctests", "pytest -n 2", "one alone: pytest tests/test_x.py -x"),
    Check(
        "book",
        "the HTML book builds without a warning",
        "python -m tools.book",
        "the warnings above name file and line",
    ),
    Check(
        "nbval",
        "notebooks give their stored outputs",
        NBVAL,
        "after a wanted change `make record NB=03`, then read its diff",
    ),
)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tools.check")
    parser.add_argument("names", nargs="*", help=", ".join(check.name for check in CHECKS))
    wanted = set(parser.parse_args(arguments).names)
    if unknown := wanted - {check.name for check in CHECKS}:
        parser.error(f"no check is called {', '.join(sorted(unknown))}")
    checks = [check for check in CHECKS if not wanted or check.name in wanted]
    failed = [check for check in checks if not passes(check)]
    print(f"\n== {len(checks) - len(failed)} of {len(checks)} checks passed", flush=True)
    for check in failed:
        print(f"   {check.name} failed: {check.remedy}; again: make test ONLY={check.name}")
    return 1 if failed else 0


def passes(check: Check) -> bool:
    print(f"\n== {check.name}: {check.purpose}\n   {check.command}", flush=True)
    if check.name == "nbval" and not any((ROOT / "notebooks").glob("*.ipynb")):
        print("   there are no notebooks yet: nothing to compare")
        return True
    started = time.monotonic()
    code = subprocess.run(command_of(check), cwd=ROOT, env=reproducible_environment()).returncode
    print(f"   {'failed' if code else 'passed'} in {time.monotonic() - started:.0f} s", flush=True)
    return code == 0


def command_of(check: Check) -> list[str]:
    """Program of this environment, and arguments; a pattern stands for the files it matches."""
    program, *arguments = shlex.split(check.command)
    command = [str(Path(sys.executable).parent / program)]
    for argument in arguments:
        files = glob(argument, root_dir=ROOT, recursive=True) if "*" in argument else [argument]
        command += sorted(files)
    return command


if __name__ == "__main__":
    raise SystemExit(main())
