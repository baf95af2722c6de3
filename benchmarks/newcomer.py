"""How long a newcomer waits: set-up, first page, all pages, tests, and the same once more.

    python -m benchmarks.newcomer                     all steps: most of an hour on two cores
    python -m benchmarks.newcomer set-up first again  some of them
    python -m benchmarks.newcomer --empty-cache       with nothing downloaded before

Each step is the command of the README, in a fresh clone of the committed tree with an empty home.
Needs the standard library alone. The table goes to stdout.
"""

import argparse
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from tools.processes import child, cores, exit_code

ROOT = Path(__file__).resolve().parents[1]
STEPS = {
    "set-up": ("make setup", "the environment is there"),
    "first": ("make run NB=00", "the first page can be read"),
    "again": ("make run NB=00", "nothing to do"),
    "run": ("make run", "all pages can be read"),
    "test": ("make test", "every check has passed"),
    "second run": ("make run", "nothing to do"),
}


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.newcomer")
    parser.add_argument("steps", nargs="*", metavar="STEP", help="all if left out")
    parser.add_argument("--empty-cache", action="store_true", help="download every package")
    options = parser.parse_args(arguments)
    if unknown := set(options.steps) - set(STEPS):
        parser.error(
            f"no step is called {', '.join(sorted(unknown))}; there are {', '.join(STEPS)}"
        )
    rows, codes = [], []
    with tempfile.TemporaryDirectory(prefix="newcomer-") as folder:
        clone = Path(folder) / "kernelbook"
        subprocess.run(["git", "clone", "-q", str(ROOT), str(clone)], check=True)
        for name in options.steps or STEPS:
            command, meaning = STEPS[name]
            print(f"{name}: {command}", file=sys.stderr, flush=True)
            started = time.monotonic()
            codes.append(run(command, clone, environment(Path(folder), options.empty_cache)))
            seconds = time.monotonic() - started
            outcome = meaning if codes[-1] == 0 else f"failed with exit code {codes[-1]}"
            rows.append(f"| {name} | `{command}` | {seconds:.1f} | {outcome} |")
    print(f"{platform.system()} {platform.machine()}, {cores()} cores, load at the end ", end="")
    print(f"{os.getloadavg()[0]:.1f}, Python {platform.python_version()}\n")
    print("| step | command | seconds | then |\n|---|---|---:|---|")
    print("\n".join(rows))
    return 1 if any(codes) else 0


def environment(folder: Path, empty_cache: bool) -> dict[str, str]:
    """Variables of a newcomer: an empty home, and none of Python's or of this checkout."""
    kept = {
        key: value
        for key, value in os.environ.items()
        if not key.startswith(("PYTHON", "VIRTUAL_ENV", "MAKE", "MFLAGS", "OMP_", "OPENBLAS_"))
    }
    home = folder / "home"
    home.mkdir(exist_ok=True)
    caches = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache"))
    caches = home / ".cache" if empty_cache else caches
    kept |= {"UV_CACHE_DIR": str(caches / "uv"), "PIP_CACHE_DIR": str(caches / "pip")}
    return {**kept, "HOME": str(home), "XDG_CACHE_HOME": str(home / ".cache")}


def run(command: str, clone: Path, variables: dict[str, str]) -> int:
    with child(command.split(), cwd=clone, env=variables, stdout=sys.stderr) as process:
        return process.wait()


if __name__ == "__main__":
    raise SystemExit(exit_code(main))
