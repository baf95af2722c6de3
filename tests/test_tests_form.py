"""The form of the tests themselves: short files, short names, and no test that cannot fail."""

import ast
from functools import cache
from pathlib import Path

import pytest

FILES = sorted(Path(__file__).parent.glob("*.py"))
LONGEST_FILE, LONGEST_NAME = 500, 60
# What raises in a test that fails; `check` is the argument that scikit-learn's decorator fills.
RAISING = {"check", "fail", "raises", "warns"}
BY_FILE = pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)


@cache
def functions(path):
    nodes = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
    return [node for node in nodes if isinstance(node, ast.FunctionDef)]


def called(function):
    """The last names of what a function calls."""
    for node in ast.walk(function):
        if isinstance(node, ast.Call):
            yield getattr(node.func, "attr", getattr(node.func, "id", ""))


def asserts(function, helpers=frozenset()):
    """Whether a function can fail by itself, or by what it calls."""
    if any(isinstance(node, ast.Assert) and not idle(node.test) for node in ast.walk(function)):
        return True
    return any(name.startswith("assert_") or name in RAISING | helpers for name in called(function))


def idle(claim):
    """Whether a claim holds whatever the code does: it names nothing, or both sides are one.

    Two calls that read the same may differ, by a random state for example.
    """
    nodes = list(ast.walk(claim))
    if isinstance(claim, ast.Compare) and not any(isinstance(node, ast.Call) for node in nodes):
        sides = [ast.dump(side) for side in (claim.left, *claim.comparators)]
        if len(set(sides)) == 1:
            return True
    return not any(isinstance(node, ast.Name) for node in nodes)


@cache
def asserting_helpers():
    """Functions of any file that are no tests and assert, or call one that does."""
    every = [one for path in FILES for one in functions(path) if not one.name.startswith("test_")]
    found = frozenset()
    while True:
        more = frozenset(one.name for one in every if asserts(one, found))
        if more == found:
            return found
        found = more


def written_tests(path):
    return [one for one in functions(path) if one.name.startswith("test_")]


@BY_FILE
def test_no_file_is_too_long(path):
    assert len(path.read_text(encoding="utf-8").splitlines()) <= LONGEST_FILE


@BY_FILE
def test_no_name_is_too_long(path):
    assert [one.name for one in written_tests(path) if len(one.name) > LONGEST_NAME] == []


@BY_FILE
def test_every_test_can_fail(path):
    helpers = asserting_helpers()
    assert [one.name for one in written_tests(path) if not asserts(one, helpers)] == []


@BY_FILE
def test_no_claim_is_idle(path):
    claims = [node for one in functions(path) for node in ast.walk(one)]
    claims = [node for node in claims if isinstance(node, ast.Assert) and idle(node.test)]
    assert [ast.unparse(claim) for claim in claims] == []


@BY_FILE
def test_no_name_is_given_twice(path):
    names = [node.name for node in ast.parse(path.read_text(encoding="utf-8")).body
             if isinstance(node, ast.FunctionDef)]  # fmt: skip
    assert sorted(names) == sorted(set(names))


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("f()", False),
        ("x = f()\nx.ready", False),
        ("assert True", False),
        ("assert 1 + 1 == 2", False),
        ("assert x == x", False),
        ("assert x == y", True),
        ("assert f(0) == f(0)", True),
        ("assert_allclose(x, y)", True),
        ("np.testing.assert_array_equal(x, y)", True),
        ("with pytest.raises(ValueError):\n    f()", True),
        ("with pytest.warns(UserWarning):\n    f()", True),
        ("helper(x)", True),
    ],
)
def test_what_cannot_fail_is_found(source, expected):
    body = "".join(f"    {line}\n" for line in source.splitlines())
    (function,) = ast.parse(f"def test_x():\n{body}").body
    assert asserts(function, frozenset({"helper"})) is expected
