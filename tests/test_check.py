"""The checks behind `make test`: what strict nbval sees, and that no failure is hidden."""

import re
import shlex
import subprocess
import sys
import time
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook, new_output

from tools import check
from tools.check import Check
from tools.normalise import normalise
from tools.processes import is_alive

ROOT = Path(__file__).parents[1]

# Code, what is stored, and whether nbval has to accept it.
CELLS = {
    "right": ("print(0.25)", "0.25\n", True),
    "wrong digit": ("print(0.25)", "0.26\n", False),
    "missing line": ("print('a')\nprint('b')", "a\n", False),
    "nothing stored": ("print(0.25)", None, False),
    "negative zero": ("print(-0.0)", "0.0\n", False),
    "address": ("print(object())", "<object object at 0x7f0000aa11bb>\n", True),
    "uuid": ("import uuid\n\nprint(uuid.uuid4())", "6f1c1dd2-7b33-4a3c-9f6e-0e6c2f4f1a11\n", True),
    "other class": ("print([])", "{}\n", False),
    "numpy scalar": ("import numpy as np\n\nprint(repr(np.float64(0.5)))", "0.5\n", False),
    "no seed": ("print(np.random.default_rng().normal())", "0.1257\n", False),
    "error that is not stored": ("1 / 0", None, False),
}


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory):
    """What the very command of `make test` says about each cell of a notebook."""
    folder = tmp_path_factory.mktemp("nbval")
    cells = []
    for code, stored, _ in CELLS.values():
        outputs = [] if stored is None else [new_output("stream", name="stdout", text=stored)]
        cells.append(new_code_cell(code, outputs=outputs))
    nbformat.write(normalise(new_notebook(cells=cells)), folder / "cells.ipynb")
    _, *arguments = shlex.split(check.NBVAL.format(jobs=1).replace("notebooks/", str(folder)))
    command = [sys.executable, "-m", "pytest", *arguments, "-v", "--tb=no", "--rootdir", str(ROOT)]
    output = subprocess.run(command, cwd=ROOT, capture_output=True, text=True).stdout
    assert [path.name for path in folder.iterdir()] == ["cells.ipynb"]
    return output


@pytest.mark.parametrize("position, name", list(enumerate(CELLS)), ids=CELLS)
def test_nbval_is_strict_but_for_addresses_and_identifiers(outcomes, position, name):
    accepted = CELLS[name][2]
    said = re.findall(rf"(PASSED|FAILED) \S*cells\.ipynb::Cell {position}\s*$", outcomes, re.M)
    assert said == ["PASSED" if accepted else "FAILED"]


@pytest.fixture
def programs(monkeypatch):
    """Two checks that pass and one between them that fails."""
    checks = [
        Check("first", "passes", "python -c 'print()'", "nothing"),
        Check("second", "fails", "python -c 'raise SystemExit(2)'", "mend it so"),
        Check("third", "passes", "python -c 'print()'", "nothing"),
    ]
    monkeypatch.setattr(check, "CHECKS", tuple(checks))


def test_a_failure_is_loud_and_does_not_hide_the_next_check(programs, capsys):
    assert check.main([]) == 1
    said = capsys.readouterr().out
    assert "== third: passes" in said
    assert "== 2 of 3 checks passed" in said
    assert "second failed: mend it so; again: make test ONLY=second" in said


def test_some_checks_can_be_chosen(programs, capsys):
    assert check.main(["first", "third"]) == 0
    assert "== 2 of 2 checks passed" in capsys.readouterr().out
    with pytest.raises(SystemExit):
        check.main(["fourth"])
    assert "no check is called fourth" in capsys.readouterr().err


def test_every_check_runs_a_program_of_the_environment():
    names = {shlex.split(one.command)[0] for one in check.CHECKS}
    folder = Path(sys.executable).parent
    assert [name for name in names if not (folder / name).exists()] == []
    assert {"ruff", "mypy", "lint-imports", "pytest"} <= names


def test_a_pattern_stands_for_the_files_it_matches():
    one = Check("", "", "python tests/**/oracles.* --flag", "")
    folder = str(Path(sys.executable).parent)
    assert check.command_of(one, 2) == [
        f"{folder}/python",
        "tests/oracles.json",
        "tests/oracles.py",
        "--flag",
    ]


MEET = """
import pathlib, sys, time
mine, other = map(pathlib.Path, sys.argv[1:])
print(mine.name, 'begins', flush=True)
mine.touch()
while not other.exists():
    time.sleep(0.01)
print(mine.name, 'ends')
"""


def meeting(folder, mine, other, **options):
    """A check that ends only if the other one runs beside it."""
    command = shlex.join(["python", "-c", MEET, str(folder / mine), str(folder / other)])
    return Check(mine, "meets", command, "nothing", **options)


def test_checks_run_at_once_and_are_told_in_order(tmp_path, monkeypatch, capsys):
    checks = (
        meeting(tmp_path, "a", "b"),
        meeting(tmp_path, "b", "a", is_longest=True),
        Check("c", "comes last", "python -c 'print()'", "nothing", is_alone=True),
    )
    monkeypatch.setattr(check, "CHECKS", checks)
    assert check.main(["--jobs", "2"]) == 0
    said = re.findall(
        r"^(?:== )?([abc])(?:: | (?=begins|ends))(.*)$", capsys.readouterr().out, re.M
    )
    assert [name for name, _ in said] == ["a", "a", "a", "b", "b", "b", "c"]


def test_one_alone_waits_and_the_longest_starts_first():
    checks = [Check(name, "", "", "", name == "b", name == "d") for name in "abcd"]

    class Running:
        def __init__(self, seconds=None):
            self.seconds = seconds

        def has_ended(self):
            return self.seconds is not None

    def names(runs, jobs):
        return "".join(one.name for one in check.startable(checks, runs, jobs))

    assert names({}, 2) == "ba"
    assert names({}, 1) == "a"
    assert names({"b": Running(), "a": Running(1)}, 2) == "c"
    assert names({"b": Running(), "a": Running(1), "c": Running(1)}, 2) == ""
    assert names(dict.fromkeys("abc", Running(1)), 2) == "d"


STOPPED = """
import sys
import time
from pathlib import Path
from tools import check, processes
code = "import os, sys, time; open(sys.argv[1], 'w').write(f'{os.getpid()} '); time.sleep(60)"
check.CHECKS = tuple(
    check.Check(name, "sleeps", f'python -c "{code}" {sys.argv[1]}/{name}', "nothing")
    for name in "ab"
)
processes.stop_on_signals()
sys.exit(check.main(["--jobs", "2"]))
"""


def test_a_signal_ends_all_checks(tmp_path):
    command = [sys.executable, "-c", STOPPED, tmp_path]
    run = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    files = [tmp_path / name for name in "ab"]
    deadline = time.monotonic() + 60
    while not all(path.exists() and path.read_text().endswith(" ") for path in files):
        assert time.monotonic() < deadline
        time.sleep(0.02)
    run.terminate()
    said, _ = run.communicate(timeout=30)
    assert run.returncode == 143
    assert "stopped by SIGTERM; every check has ended" in said
    assert [path for path in files if is_alive(int(path.read_text()))] == []
