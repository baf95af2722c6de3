"""Make the virtual environment of this project, or find that it is up to date already.

    python -m tools.set_up                            prints the environment's interpreter
    python -m tools.set_up -- -m tools.check ruff     goes on as that interpreter

Needs nothing but the standard library of Python 3.11 or newer: it runs before anything is
installed. Progress goes to stderr; a lock lets one set-up of a checkout run at a time, and what
an interrupted or damaged one has left is repaired by the next.

``.venv`` belongs to the first interpreter that asked for it; another version of Python gets a
directory of its own beside it (``.venv-3.13``), so that both stay usable.
"""

import argparse
import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from tools.one_at_a_time import one_at_a_time
from tools.processes import Stopped, child, stop_on_signals
from tools.remedies import remedy

UV_VERSION = "0.13.9"
ROOT = Path(__file__).resolve().parents[1]
STAMP = "set-up.stamp"


class SetUpError(Exception):
    """A step of the set-up failed; the message says how to go on."""


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tools.set_up")
    parser.add_argument(
        "--installer-only", action="store_true", help="uv alone: enough to resolve a new lock"
    )
    parser.add_argument(
        "--benchmarks", action="store_true", help="the peers too, from benchmarks/requirements.lock"
    )
    parser.add_argument("then", nargs="*", help="arguments of the environment's Python, after --")
    options = parser.parse_args(arguments)
    try:
        python = interpreter(ready(options.benchmarks, options.installer_only))
        if not options.then:
            print(python)
            return 0
        # The same process goes on, so that a signal to `make` arrives where the work is done.
        os.execv(python, [str(python), *options.then])
    except SetUpError as error:
        say(f"\nSet-up stopped. {error}")
    except OSError as error:
        say(f"\nSet-up stopped. {error}\n{remedy(str(error)) or 'Give the same command again.'}")
    except Stopped as signal:
        say(f"\nSet-up stopped by {signal}; the same command goes on from here.")
        return signal.code
    return 1


def ready(benchmarks: bool, installer_only: bool) -> Path:
    """The environment's directory, after whatever it still needs."""
    name, lock = ".venv", ROOT / "requirements.lock"
    if benchmarks and (ROOT / "benchmarks" / "requirements.lock").exists():
        name, lock = ".venv-bench", ROOT / "benchmarks" / "requirements.lock"
    version = sys.version_info[:2]
    directory = choose_directory(ROOT, name, version)
    if not installer_only and is_complete(directory, lock):
        return directory  # nothing is written, not even a lock: the checkout may be read-only
    refuse_path(directory)
    with one_at_a_time(ROOT / ".venv.lock", say):
        directory = choose_directory(ROOT, name, version)  # another set-up may have taken it
        if installer_only:
            install_uv(directory)
        elif not is_complete(directory, lock):
            set_up(directory, lock)
            write_stamp(directory, lock)
    return directory


def choose_directory(root: Path, name: str, version: tuple[int, int]) -> Path:
    """``root/name`` if it is free or of this Python version, else ``root/name-X.Y``."""
    directory = root / name
    if version_of(directory) in (None, version):
        return directory
    return root / f"{name}-{version[0]}.{version[1]}"


def version_of(directory: Path) -> tuple[int, int] | None:
    """Python version (major, minor) of a usable virtual environment, else None."""
    settings = directory / "pyvenv.cfg"
    if not (interpreter(directory).exists() and settings.exists()):
        return None
    for line in settings.read_text(encoding="utf-8").splitlines():
        key, _, value = line.partition("=")
        if key.strip() == "version":
            major, minor = value.strip().split(".")[:2]
            return int(major), int(minor)
    return None


def interpreter(directory: Path) -> Path:
    return directory / "bin" / "python"


def refuse_path(directory: Path) -> None:
    """Name what no virtual environment can live with, before anything is downloaded."""
    if os.pathsep in str(directory):
        raise SetUpError(
            f"The path {ROOT} has a {os.pathsep!r}, which separates the folders of PATH. Move the "
            "project to a folder whose name has none, and give the same command there."
        )
    if os.path.lexists(directory) and not directory.is_dir():
        raise SetUpError(f"{directory} is no folder. Move it away, and give the command again.")


def is_complete(directory: Path, lock: Path) -> bool:
    """Whether all that the last set-up has installed is still there, and still wanted."""
    stamp = read_stamp(directory)
    present = contents(directory)
    return stamp.get("fingerprint") == fingerprint(lock, directory) and is_undamaged(stamp, present)


def is_undamaged(stamp: dict, present: dict[str, int]) -> bool:
    wanted = stamp.get("contents") or {"nothing was ever finished": 1}
    return all(present.get(name, 0) >= count for name, count in wanted.items())


def read_stamp(directory: Path) -> dict:
    try:
        return dict(json.loads((directory / STAMP).read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return {}


def write_stamp(directory: Path, lock: Path) -> None:
    stamp = {"fingerprint": fingerprint(lock, directory), "contents": contents(directory)}
    (directory / STAMP).write_text(json.dumps(stamp), encoding="utf-8")


def fingerprint(lock: Path, directory: Path) -> str:
    """Hash of all that decides what the environment holds."""
    digest = hashlib.sha256()
    for part in (lock.read_bytes(), (ROOT / "pyproject.toml").read_bytes()):
        digest.update(hashlib.sha256(part).digest())
    digest.update(repr((sys.version_info[:3], UV_VERSION, str(directory))).encode())
    return digest.hexdigest()


def contents(directory: Path) -> dict[str, int]:
    """Number of entries of each folder of programs and packages; of a file it is 1."""
    if not interpreter(directory).exists():
        return {}
    counts = {"bin": len(os.listdir(directory / "bin"))}
    for packages in directory.glob("lib/python*/site-packages"):
        for entry in os.scandir(packages):
            names = os.listdir(entry) if entry.is_dir() else [entry.name]
            counts[entry.name] = len([name for name in names if name != "__pycache__"])
    return counts


def set_up(directory: Path, lock: Path) -> None:
    """Install the locked packages, then the project itself, into ``directory``."""
    say(f"Setting up {directory.name} with Python {sys.version.split()[0]} (new: a minute)")
    # The installer takes a package for installed though its files are gone, or not all there yet.
    present = contents(directory)
    damaged = bool(present) and not is_undamaged(read_stamp(directory), present)
    (directory / STAMP).unlink(missing_ok=True)
    install_uv(directory)
    python = str(interpreter(directory))
    # Without --no-config uv would take the constraints in pyproject.toml, which carry no hash,
    # for requirements of this installation.
    uv = [str(directory / "bin" / "uv"), "--quiet", "--no-config", "pip", "install"]
    uv += ["--python", python] + ["--reinstall"] * damaged
    # Paths are relative: in an absolute one `#` and `%` would have a meaning.
    step("installing requirements.lock", [*uv, "--require-hashes", "-r", relative(lock)])
    step("installing kernelbook itself, editable", [*uv, "--no-deps", "-e", "."])
    step("compiling the loops of the exact solver", [python, "-m", "kernelbook.compile_loops"])


def relative(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def install_uv(directory: Path) -> None:
    """Make the virtual environment unless it works already, with the installer in it."""
    python = str(interpreter(directory))
    if not works([python, "-m", "pip", "--version"]):
        check_venv_module()
        # In two steps: venv would not tell what its call of ensurepip has said.
        command = [base_interpreter(), "-m", "venv", "--clear", "--without-pip", str(directory)]
        step(f"creating {directory.name}", command)
        step("installing pip", [python, "-m", "ensurepip", "--upgrade", "--default-pip"])
    check = f"import importlib.metadata as m; assert m.version('uv') == '{UV_VERSION}'"
    if not works([python, "-c", check]) or not works([str(directory / "bin/uv"), "--version"]):
        command = [python, "-m", "pip", "install", "-qq", "--force-reinstall", f"uv=={UV_VERSION}"]
        step(f"installing uv {UV_VERSION}", command)


def check_venv_module() -> None:
    if not works([base_interpreter(), "-c", "import venv, ensurepip"]):
        raise SetUpError(
            f"{base_interpreter()} has no venv module. Install it (Debian, Ubuntu: apt install "
            f"python3-venv or python{sys.version_info[0]}.{sys.version_info[1]}-venv) or name "
            "another Python: make run PYTHON=python3.12"
        )


def base_interpreter() -> str:
    """The Python outside any virtual environment that runs this script."""
    return getattr(sys, "_base_executable", None) or sys.executable


def works(command: list[str]) -> bool:
    try:
        return subprocess.run(command, capture_output=True).returncode == 0
    except OSError:
        return False


def step(title: str, command: list[str]) -> None:
    """Run one step; if it fails, what it said decides which remedy is shown."""
    say(f"  {title}")
    environment = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "PYTHONHOME")}
    pipe = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    with child(command, cwd=ROOT, env=environment, text=True, errors="replace", **pipe) as process:
        said, _ = process.communicate()
    if process.returncode == 0:
        return
    if known := remedy(said):
        raise SetUpError(f"{title[0].upper()}{title[1:]} failed. {known}\n{last_line(said)}")
    raise SetUpError(
        f"This command failed with exit code {process.returncode}:\n  {' '.join(command)}\n{said}\n"
        "Give the same make command again: finished steps are kept."
    )


def last_line(said: str) -> str:
    """The line in which a program names its error: the last one that is not empty."""
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    return f"  ({lines[-1]})" if lines else ""


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    stop_on_signals()
    raise SystemExit(main())
