"""Run tests in a copy of the repository, so that a change of the library touches no other tree."""

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from tools.reproducible import reproducible_environment

__all__ = ["IsolatedCopy", "Verdict"]

# What a change touches, or a test finds beside itself; to all else a link is enough.
COPIED = ("lib", "tests", "tools", "conftest.py", "pyproject.toml")
FIRST_FAILURE = re.compile(r"^(?:FAILED|ERROR) (\S+)", re.MULTILINE)


@dataclass(frozen=True)
class Verdict:
    """What a run of tests said.

    Attributes
    ----------
    outcome : {"passed", "failed", "timeout"}
        Whether all tests passed within the limit.
    seconds : float
        How long they ran.
    first_failure : str
        The first test that failed, or the last line of the output.
    """

    outcome: str
    seconds: float
    first_failure: str = ""


@dataclass(frozen=True)
class IsolatedCopy:
    """A copy of a repository.

    Attributes
    ----------
    root : Path
        The folder of the copy.
    """

    root: Path

    @classmethod
    def of(cls, repository: Path, folder: Path) -> Self:
        """Copy a repository.

        Parameters
        ----------
        repository : Path
            The repository, or a copy of it.
        folder : Path
            Where the copy is made; it must not exist.

        Returns
        -------
        IsolatedCopy
            The copy.
        """
        folder.mkdir()
        for path in repository.iterdir():
            if path.name in COPIED:
                copy = shutil.copytree if path.is_dir() else shutil.copy2
                copy(path, folder / path.name)
            elif path.name != "build" and not path.name.startswith("."):
                (folder / path.name).symlink_to(path.resolve())
        return cls(folder)

    def test(self, targets: Sequence[str], limit: float | None = None) -> Verdict:
        """Run tests until the first one fails.

        Only a run without a limit leaves compiled files behind: where a file changes twice
        within a second, they would be taken for those of the other text.

        Parameters
        ----------
        targets : sequence of str
            Files of tests or doctests, relative to the root.
        limit : float, default=None
            Seconds after which the run is killed; if None, it is not.

        Returns
        -------
        Verdict
            What the tests said.
        """
        options = ["-x", "-q", "--no-header", "--tb=no", "-p", "no:cacheprovider"]
        options += ["-c", str(self.root / "pyproject.toml"), "--rootdir", str(self.root)]
        environment = {
            **reproducible_environment(),
            "PYTHONPATH": str(self.root / "lib"),
            "PYTHONDONTWRITEBYTECODE": "" if limit is None else "1",
            # Loading those that are installed takes longer than most tests.
            "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
        }
        started = time.monotonic()
        process = subprocess.Popen(
            [sys.executable, "-m", "pytest", *options, *targets],
            cwd=self.root,
            env=environment,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            output, _ = process.communicate(timeout=limit)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            return Verdict("timeout", time.monotonic() - started)
        seconds = time.monotonic() - started
        if process.returncode == 0:
            return Verdict("passed", seconds)
        failure = FIRST_FAILURE.search(output)
        return Verdict("failed", seconds, failure[1] if failure else output.split("\n")[-2])
