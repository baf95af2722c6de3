"""A clone of the committed tree with two small notebooks, in which faults are provoked."""

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from tools.processes import ENDING, end

__all__ = ["QUICK", "SLOW", "Bench", "SkippedError", "notebook"]

ROOT = Path(__file__).resolve().parents[1]
QUICK, SLOW = "90_quick", "91_slow"
STARTED = "started"  # the file that tells that the slow notebook sleeps
PATIENCE = 240.0  # seconds for a step, on a machine with other work
STAMP = """
from tools import set_up
set_up.write_stamp(set_up.ROOT / ".venv", set_up.ROOT / "requirements.lock")
"""


class SkippedError(Exception):
    """A fault cannot be provoked on this machine; the message says why."""


@dataclass(frozen=True)
class Said:
    """How a program ended, and all that it said."""

    code: int
    text: str


@dataclass(frozen=True)
class Bench:
    """The clone.

    Attributes
    ----------
    root : Path
        Its folder.
    """

    root: Path

    @classmethod
    def below(cls, folder: Path, name: str) -> "Bench":
        """Clone the committed tree, with the environment of this one by hard links."""
        bench = cls(folder / name)
        subprocess.run(["git", "clone", "-q", str(ROOT), str(bench.root)], check=True)
        for path in (bench.root / "notebooks").glob("[0-9]*.ipynb"):
            path.unlink()
        bench.restore()
        shutil.copytree(ROOT / ".venv", bench.environment, symlinks=True, copy_function=_link)
        for path in bench.packages.glob("__editable__*kernelbook*.pth"):
            path.unlink()  # never written through: it is the file of this tree
            path.write_text(f"{bench.root}/lib\n", encoding="utf-8")
        (bench.environment / "set-up.stamp").unlink(missing_ok=True)
        subprocess.run([str(bench.python), "-c", STAMP], cwd=bench.root, check=True)
        return bench

    @property
    def environment(self) -> Path:
        return self.root / ".venv"

    @property
    def python(self) -> Path:
        return self.environment / "bin" / "python"

    @property
    def packages(self) -> Path:
        return next(self.environment.glob("lib/python*/site-packages"))

    @property
    def notebooks(self) -> Path:
        return self.root / "notebooks"

    @property
    def build(self) -> Path:
        return self.root / "build"

    def restore(self) -> None:
        """The two notebooks as they were, and nothing built."""
        shutil.rmtree(self.build, ignore_errors=True)
        (self.root / STARTED).unlink(missing_ok=True)
        for path in self.notebooks.glob("[0-9]*.ipynb"):
            path.unlink()
        sleep = f"import time\n\nopen('../{STARTED}', 'w').close()\ntime.sleep(600)"
        for name, code in ((QUICK, "6 * 7"), (SLOW, sleep)):
            (self.notebooks / f"{name}.ipynb").write_text(notebook(code), encoding="utf-8")

    def snapshot(self) -> dict[str, bytes]:
        """Content of all notebooks."""
        return {path.name: path.read_bytes() for path in self.notebooks.glob("[0-9]*.ipynb")}

    def start(self, *command: str, **variables: str) -> subprocess.Popen:
        """Start a program in the clone, in a session of its own."""
        environment = {
            key: value
            for key, value in os.environ.items()
            if key not in ("PYTHONPATH", "PYTHON", "MAKEFLAGS", "MAKELEVEL", "MFLAGS")
        }
        return subprocess.Popen(
            command,
            cwd=self.root,
            env={**environment, **variables},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            start_new_session=True,
            preexec_fn=_heed_signals,
        )

    def run(self, *command: str, **variables: str) -> Said:
        """Run a program in the clone to its end."""
        return finish(self.start(*command, **variables))

    def start_slow(self, action: str) -> subprocess.Popen:
        """``make run``, or ``make record``, once the slow notebook sleeps in its kernel."""
        process = self.start("make", action, "NB=91")
        self.wait_for(lambda: (self.root / STARTED).exists(), process)
        return process

    def wait_for(self, condition: Callable[[], bool], process: subprocess.Popen) -> None:
        deadline = time.monotonic() + PATIENCE
        while not condition():
            if process.poll() is not None or time.monotonic() > deadline:
                end(process)
                raise AssertionError(f"it never came so far: {finish(process).text.strip()}")
            time.sleep(0.05)

    def processes(self) -> list[str]:
        """Processes whose command lies in the clone: kernels, runners, installers."""
        listing = subprocess.run(["ps", "-A", "-ww", "-o", "pid=,args="], capture_output=True)
        lines = listing.stdout.decode(errors="replace").splitlines()
        return [line.strip() for line in lines if str(self.environment) in line]

    def child_of(self, make: subprocess.Popen) -> int:
        """The process that does the work of ``make``: its one child."""
        command = ["ps", "-A", "-o", "ppid=,pid="]
        listing = subprocess.run(command, capture_output=True, text=True).stdout
        pairs = [line.split() for line in listing.splitlines()]
        return next(int(pid) for parent, pid in pairs if int(parent) == make.pid)

    def leftovers(self) -> list[str]:
        """What no program may leave behind: half-written files, locks."""
        found = [*self.root.glob(".venv.lock"), *self.notebooks.glob(".*.part")]
        return [path.name for path in [*found, *self.build.rglob(".*.part")]]

    @contextlib.contextmanager
    def mounted(self, folder: Path, *options: str) -> Iterator[None]:
        """A file system on a folder of the clone, where the system permits it."""
        if sys.platform != "linux" or os.geteuid() != 0:
            raise SkippedError("only root may mount a file system")
        folder.mkdir(parents=True, exist_ok=True)
        mount = subprocess.run(["mount", *options, str(folder)], capture_output=True, text=True)
        if mount.returncode:
            raise SkippedError(f"no file system may be mounted here: {mount.stderr.strip()}")
        try:
            yield
        finally:
            subprocess.run(["umount", str(folder)], check=True)

    def remove(self) -> None:
        """End what still runs and remove the clone."""
        for line in self.processes():
            with contextlib.suppress(ProcessLookupError):
                os.kill(int(line.split()[0]), signal.SIGKILL)
        shutil.rmtree(self.root, ignore_errors=True)


def _heed_signals() -> None:
    """Take signals in a child: those that a shell ignores for what it starts are handed down."""
    for name in ENDING:
        signal.signal(getattr(signal, name), signal.SIG_DFL)


def finish(process: subprocess.Popen) -> Said:
    try:
        text, _ = process.communicate(timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        end(process)
        raise AssertionError(f"it has not ended after {PATIENCE:.0f} s") from None
    return Said(process.returncode, text)


def notebook(*sources: str) -> str:
    """A notebook of a title and some code cells, as text."""
    cells: list[dict] = [{"cell_type": "markdown", "metadata": {}, "source": "# 90. Small"}]
    for source in sources:
        cell = {"cell_type": "code", "source": source, "metadata": {}, "outputs": []}
        cells.append({**cell, "execution_count": None})
    cells = [{"id": f"cell-{number:02d}", **cell} for number, cell in enumerate(cells)]
    return json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5})


def _link(source: str, target: str) -> None:
    try:
        os.link(source, target)
    except OSError:  # another file system
        shutil.copy2(source, target)
