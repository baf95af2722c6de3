"""The mutation tester: what it changes, and what it says of a tiny library and its tests."""

import ast
import csv
import textwrap
from pathlib import Path

import pytest

from tools import mutate
from tools.isolated import IsolatedCopy
from tools.mutants import mutants_of

ROOT = Path(__file__).parents[1]


def changed(source):
    """What the source becomes by each of its mutants."""
    source = source.encode()
    return [one.applied_to(source).decode() for place in mutants_of(source) for one in place]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("a < b", ["(a <= b)"]),
        ("a >= b", ["(a > b)"]),
        ("a == b", ["(a != b)"]),
        ("a <= b < c", ["(a < b < c)", "(a <= b <= c)"]),
        ("a + b", ["(a - b)"]),
        ("a / b", ["(a * b)"]),
        ("a and b", ["(a or b)"]),
        ("not a", ["(a)"]),
        ("-a", ["(a)"]),
        ("2.5", ["(3.5)", "(5.0)", "(0)"]),
        ("0", ["(1)"]),
        ("1", ["(2)", "(0)"]),
        ("min(a)", ["(max)(a)"]),
        ("K.argmax()", ["(K.argmin)()"]),
        ("np.maximum(a, b)", ["(np.minimum)(a, b)"]),
        ("a if b else c", ["(c if b else a)"]),
        ("if a:\n    b", ["if (not a):\n    b"]),
        ("x -= y", ["pass", "x += y"]),
        ("x **= y", ["pass"]),
    ],
)
def test_every_kind_of_change(source, expected):
    assert changed(source) == expected


@pytest.mark.parametrize(
    "source",
    [
        "'text of 3 words'",
        "True",
        "a in b",
        "a is not b",
        "a @ b",
        "import min",
        "def f(x: 3 = 4, *, y=5) -> 6: pass",
        "@cache(7)\ndef f(): pass",
        "x: 3",
        "raise ValueError(a + 1)",
        "f'{a + 1}'",
    ],
)
def test_what_computes_nothing_stays(source):
    assert changed(source) == []


def test_a_change_keeps_the_text_around_it():
    source = "α = 'é'; β = (\n    α  # why\n    + 1\n)\nreturn_ = 0\n".encode()
    (place, *_) = mutants_of(source)
    assert place[0].lines(source) == ("α # why + 1", "(α - 1)")
    assert place[0].applied_to(source).decode() == "α = 'é'; β = (\n    (α - 1)\n)\nreturn_ = 0\n"
    last = mutants_of(b"x = 1")[0][0]
    assert last.lines(b"x = 1") == ("x = 1", "x = (2)")


def test_every_mutant_is_a_program_that_differs():
    source = (ROOT / "lib/kernelbook/audit/prevalence.py").read_bytes()
    whole = ast.dump(ast.parse(source))
    for place in mutants_of(source):
        assert whole not in {ast.dump(ast.parse(one.applied_to(source))) for one in place}


SHAPES = '''
"""Shapes."""

import math


def clipped(x, low, high):
    """Take x into an interval.

    >>> clipped(5, 0, 3)
    3
    """
    return max(low, min(x, high))


def tripled(x):
    y = x
    y += x
    return y + x
'''
TESTS = """
from kernelbook.shapes import clipped, tripled


def test_clipped():
    assert clipped(-1, 0, 3) == 0


def test_tripled():
    assert tripled(0) == 0
"""


@pytest.fixture
def project(tmp_path):
    """A library of one module, whose tests take x = 0 for enough."""
    for folder in ("lib/kernelbook", "tests", "tools"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "lib/kernelbook/__init__.py").touch()
    (tmp_path / "lib/kernelbook/shapes.py").write_text(textwrap.dedent(SHAPES))
    (tmp_path / "tests/test_shapes.py").write_text(TESTS)
    settings = '[tool.pytest.ini_options]\naddopts = "--doctest-modules"\n'
    (tmp_path / "pyproject.toml").write_text(settings)
    return tmp_path


def judged(project, *options):
    code = mutate.main(["shapes", *options], root=project)
    with (project / "build/mutants.csv").open(newline="") as file:
        return code, list(csv.DictReader(file))


def test_survivors_are_told_and_all_else_is_killed(project, capsys):
    before = {path: path.read_bytes() for path in project.rglob("*.*") if path.is_file()}
    code, rows = judged(project)
    assert code == 1
    assert [(row["operator"], row["outcome"]) for row in rows] == [
        ("extreme", "killed"),
        ("extreme", "killed"),
        (rows[2]["operator"], "survived"),
        ("arithmetic", "survived"),
    ]
    assert rows[0]["killer"].endswith("shapes.py::kernelbook.shapes.clipped")
    assert float(rows[0]["seconds"]) > 0
    said = capsys.readouterr().out
    assert "lib/kernelbook/shapes.py:19 (arithmetic)\n- return y + x\n+ return (y - x)\n" in said
    assert said.split("s each\n")[1].split()[:6] == ["shapes", "4", "2", "0", "2", "0"]
    assert {path: path.read_bytes() for path in before} == before


def test_what_is_explained_is_no_failure(project, capsys):
    odd = [("y += x", "pass"), ("y += x", "y -= x"), ("return y + x", "return (y - x)")]
    with (project / mutate.EXPLAINED).open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["path", "before", "after", "reason"])
        writer.writerows(["lib/kernelbook/shapes.py", *lines, "x is zero"] for lines in odd)
    code, rows = judged(project)
    assert code == 0
    assert [row["outcome"] for row in rows] == ["killed", "killed", "explained", "explained"]


def test_tests_that_fail_anyway_judge_nothing(project, capsys):
    (project / "tests/test_shapes.py").write_text("def test_false():\n    assert 0\n")
    assert mutate.main(["shapes"], root=project) == 2
    assert "the tests of shapes fail anyway: tests/test_shapes.py" in capsys.readouterr().err


def test_modules_without_a_file_or_tests_are_named(project, capsys):
    assert mutate.main(["forms"], root=project) == 2
    assert "the library has no module 'forms'" in capsys.readouterr().err
    (project / "tests/test_shapes.py").unlink()
    assert mutate.main(["shapes"], root=project) == 2
    assert "there is no file tests/test_shapes*.py" in capsys.readouterr().err


def test_the_seed_chooses_and_compiled_files_are_left_out(capsys):
    chosen = [mutate.sample(ROOT, "qp", 12, seed) for seed in (0, 0, 1)]
    assert len(chosen[0]) == 12
    assert chosen[0] == chosen[1] != chosen[2]
    everything = mutate.sample(ROOT, "qp", 10**6, 0)
    assert {name for name, _ in everything} > {"lib/kernelbook/qp/solve.py"}
    assert "lib/kernelbook/qp/exact/smo.py: compiled by numba" in capsys.readouterr().out
    assert not any("compiled" in name for name, _ in everything)


def test_tests_that_never_end_are_stopped(project):
    (project / "tests/test_shapes.py").write_text(
        "def test_end():\n    while True:\n        pass\n"
    )
    copy = IsolatedCopy.of(project, project / "build")
    verdict = copy.test(["tests/test_shapes.py"], limit=2.0)
    assert (verdict.outcome, verdict.first_failure) == ("timeout", "")
    assert 2.0 <= verdict.seconds < 10


def test_every_module_of_the_core_has_tests():
    for module in mutate.CORE:
        assert mutate.sample(ROOT, module, 1, 0)
        assert list((ROOT / "tests").glob(f"test_{module}*.py"))
