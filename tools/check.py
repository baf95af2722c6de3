"""Run every check of the project, on all cores, and sum up.

python -m tools.check                 all
python -m tools.check ruff mypy       some

Checks run at once where one core each is enough for them, beside the unit tests, which take the
rest; the notebooks come last. What a check says appears in the order below, as if they ran one
after the other. A failing check does not hide the next one: all are run, and the exit code is 1
if any failed. A signal ends them all.
"""

import argparse
import contextlib
import os
import shlex
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from glob import glob
from pathlib import Path

from tools.processes import Stopped, child, cores, stop_on_signals
from tools.reproducible import reproducible_environment

ROOT = Path(__file__).resolve().parents[1]
PAUSE = 0.05  # seconds between two looks at what runs
# A file stays with its worker, and the doctests, short files, come last: the workers end together.
UNIT = "pytest -n {jobs} --dist loadfile --no-loadscope-reorder"
NBVAL = (
    "pytest --nbval --nbval-current-env --nbval-sanitize-with nbval_sanitize.cfg "
    "--nbval-cell-timeout 300 -n {jobs} --dist loadfile -p no:cacheprovider notebooks/"
)


@dataclass(frozen=True)
class Check:
    """A check: the longest of those that run at once starts first, one that is alone last."""

    name: str
    purpose: str
    command: str
    remedy: str
    is_longest: bool = False
    is_alone: bool = False


CHECKS = (
    Check("ruff", "lint of code and notebooks", "ruff check .", "`make format` fixes most of it"),
    Check("format", "layout of the code", "ruff format --check .", "`make format`"),
    Check("codespell", "spelling", "codespell", "a right word goes into pyproject.toml"),
    Check("mypy", "types", "mypy", "read the lines named above"),
    Check(
        "imports",
        "arrows between modules",
        "lint-imports --no-logo --no-cache",
        "see CONTRIBUTING.md",
    ),
    Check(
        "unit",
        "unit tests and doctests",
        UNIT,
        "one alone: pytest tests/test_x.py -x",
        is_longest=True,
    ),
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
        is_alone=True,
    ),
)


@dataclass
class Run:
    """A check that runs, or has run: its process, and the file that takes what it says."""

    process: subprocess.Popen
    output: int
    told: int = 0
    started: float = field(default_factory=time.monotonic)
    seconds: float | None = None

    def has_ended(self) -> bool:
        if self.seconds is None and self.process.poll() is not None:
            self.seconds = time.monotonic() - self.started
        return self.seconds is not None

    def tell(self) -> None:
        """Print what has been said since the last look."""
        while said := os.pread(self.output, 1 << 16, self.told):
            self.told += len(said)
            print(said.decode(errors="replace"), end="", flush=True)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tools.check")
    parser.add_argument("names", nargs="*", help=", ".join(check.name for check in CHECKS))
    parser.add_argument("--jobs", type=int, default=cores(), help="cores to use")
    options = parser.parse_args(arguments)
    wanted = set(options.names)
    if unknown := wanted - {check.name for check in CHECKS}:
        parser.error(f"no check is called {', '.join(sorted(unknown))}")
    if options.jobs < 1:
        parser.error(f"--jobs is the number of cores to use, at least 1, not {options.jobs}")
    checks = [check for check in CHECKS if not wanted or check.name in wanted]
    try:
        failed = run_all(checks, options.jobs)
    except Stopped as stopped:
        print(f"\n== stopped by {stopped}; every check has ended", flush=True)
        return stopped.code
    print(f"\n== {len(checks) - len(failed)} of {len(checks)} checks passed", flush=True)
    for check in failed:
        print(f"   {check.name} failed: {check.remedy}; again: make test ONLY={check.name}")
    return 1 if failed else 0


def run_all(checks: Sequence[Check], jobs: int) -> list[Check]:
    """Run the checks, at most ``jobs`` at once; tell of them in order; return those that failed."""
    failed = []
    runs: dict[str, Run] = {}
    with contextlib.ExitStack() as stack:
        for check in checks:
            print(f"\n== {check.name}: {check.purpose}\n   {check.command}", flush=True)
            while True:
                for waiting in startable(checks, runs, jobs):
                    runs[waiting.name] = stack.enter_context(running(waiting, jobs))
                if check.name in runs:
                    run = runs[check.name]
                    ended = run.has_ended()  # before the last look at its output
                    run.tell()
                    if ended:
                        break
                time.sleep(PAUSE)
            said = "failed" if run.process.returncode else "passed"
            print(f"   {said} in {run.seconds:.0f} s", flush=True)
            if run.process.returncode:
                failed.append(check)
    return failed


def startable(checks: Sequence[Check], runs: dict[str, Run], jobs: int) -> list[Check]:
    """The checks that may start now, the longest first."""
    free = jobs - sum(not run.has_ended() for run in runs.values())
    waiting = [check for check in checks if check.name not in runs]
    if beside := [check for check in waiting if not check.is_alone]:
        beside.sort(key=lambda check: jobs > 1 and not check.is_longest)
        return beside[: max(0, free)]
    return waiting[:1] if free == jobs else []


@contextlib.contextmanager
def running(check: Check, jobs: int) -> Iterator[Run]:
    """Start a check; when the block is left, it has ended with all that it has started."""
    command = command_of(check, jobs)
    with tempfile.TemporaryFile() as output:
        pipes = {"stdin": subprocess.DEVNULL, "stdout": output, "stderr": subprocess.STDOUT}
        with child(command, cwd=ROOT, env=reproducible_environment(), **pipes) as process:
            yield Run(process, output.fileno())


def command_of(check: Check, jobs: int) -> list[str]:
    """Program of this environment, and arguments; a pattern stands for the files it matches."""
    program, *arguments = shlex.split(check.command.replace("{jobs}", str(jobs)))
    command = [str(Path(sys.executable).parent / program)]
    for argument in arguments:
        files = glob(argument, root_dir=ROOT, recursive=True) if "*" in argument else [argument]
        command += sorted(file for file in files if "__pycache__" not in file)
    return command


if __name__ == "__main__":
    stop_on_signals()
    raise SystemExit(main())
