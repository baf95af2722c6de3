"""The checks behind `make test`: what strict nbval sees, and that no failure is hidden."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook, new_output

from tools import check
from tools.check import Check
from tools.normalise import normalise

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
