"""Make the virtual environment of this project, or find that it is up to date already.

Needs nothing but the standard library of Python 3.11 or newer: it runs before anything is
installed. Progress goes to stderr; the only line on stdout is the path of the environment's
interpreter, for the Makefile to call.

``.venv`` belongs to the first interpreter that asked for it; another version of Python gets a
directory of its own beside it (``.venv-3.13``), so that both stay usable.
"""

import argparse
import hashlib
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

UV_VERSION = "0.13.9"
ROOT = Path(__file__).resolve().parents[1]


class SetUpError(Exception):
    """A step of the set-up failed; the message says how to go on."""


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--installer-only", action="store_true", help="uv alone: enough to resolve a new lock"
    )
    parser.add_argument(
        "--benchmarks", action="store_true", help="the peers too, from benchmarks/requirements.lock"
    )
    options = parser.parse_args(arguments)
    lock = ROOT / "requirements.lock"
    name = ".venv"
    if options.benchmarks and (ROOT / "benchmarks" / "requirements.lock").exists():
        lock = ROOT / "benchmarks" / "requirements.lock"
        name = ".venv-bench"
    try:
        directory = choose_directory(ROOT, name, sys.version_info[:2])
        if options.installer_only:
            install_uv(directory)
        elif stamp_of(directory) != (wanted := fingerprint(lock, directory)):
            set_up(directory, lock)
            (directory / "set-up.stamp").write_text(wanted)
    except SetUpError as error:
        print(f"\nSet-up stopped. {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\nSet-up interrupted; the same command goes on from here.", file=sys.stderr)
        return 130
    print(interpreter(directory))
    return 0


def choose_directory(root: Path, name: str, version: tuple[int, int]) -> Path:
    """``root/name`` if it is free or of this Python version, else ``root/name-X.Y``."""
    directory = root / name
    if version_of(directory) in (None, version):
        return directory
    return root / f"{name}-{version[0]}.{version[1]}"


def version_of(directory: Path) -> tuple[int, int] | None:
    """Python version (major, minor) of a usable virtual environment, else None."""
    if not interpreter(directory).exists():
        return None
    for line in (directory / "pyvenv.cfg").read_text().splitlines():
        key, _, value = line.partition("=")
        if key.strip() == "version":
            major, minor = value.strip().split(".")[:2]
            return int(major), int(minor)
    return None


def interpreter(directory: Path) -> Path:
    return directory / "bin" / "python"


def fingerprint(lock: Path, directory: Path) -> str:
    """Hash of all that decides what the environment holds."""
    digest = hashlib.sha256()
    for part in (lock.read_bytes(), (ROOT / "pyproject.toml").read_bytes()):
        digest.update(hashlib.sha256(part).digest())
    digest.update(repr((sys.version_info[:3], UV_VERSION, str(directory))).encode())
    return digest.hexdigest()


def stamp_of(directory: Path) -> str | None:
    stamp = directory / "set-up.stamp"
    return stamp.read_text() if stamp.exists() and interpreter(directory).exists() else None


def set_up(directory: Path, lock: Path) -> None:
    """Install the locked packages, then the project itself, into ``directory``."""
    say(f"Setting up {directory.name} with Python {sys.version.split()[0]} (new: a minute)")
    install_uv(directory)
    python = str(interpreter(directory))
    # Without --no-config uv would take the constraints in pyproject.toml, which carry no hash,
    # for requirements of this installation.
    uv = [str(directory / "bin" / "uv"), "--quiet", "--no-config", "pip", "install"]
    uv += ["--python", python]
    say(f"  installing {lock.relative_to(ROOT)}")
    run([*uv, "--require-hashes", "-r", str(lock)])
    say("  installing kernelbook itself, editable")
    run([*uv, "--no-deps", "-e", str(ROOT)])
    say("  compiling the loops of the exact solver")
    run([python, "-m", "kernelbook.compile_loops"])


def install_uv(directory: Path) -> None:
    """Make the virtual environment unless it works already, with the installer in it."""
    python = str(interpreter(directory))
    if not works([python, "-m", "pip", "--version"]):
        check_venv_module()
        say(f"  creating {directory.name}")
        run([base_interpreter(), "-m", "venv", "--clear", str(directory)])
    check = f"import importlib.metadata as m; assert m.version('uv') == '{UV_VERSION}'"
    if not works([python, "-c", check]):
        say(f"  installing uv {UV_VERSION}")
        run([python, "-m", "pip", "install", "-qq", f"uv=={UV_VERSION}"])


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


def run(command: list[str]) -> None:
    # The output of a step is for a person: stdout carries the result of this script.
    environment = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "PYTHONHOME")}
    code = subprocess.run(command, cwd=ROOT, stdout=sys.stderr, env=environment).returncode
    if code:
        raise SetUpError(
            f"This command failed with exit code {code}:\n  {' '.join(command)}\n"
            "Without access to a package index check the network, the proxy and the free disk "
            "space; then give the same make command again: finished steps are kept."
        )


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    raise SystemExit(main())
