"""The page on the solver lists every number that the solver's modules and options set."""

import ast
import re
from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest

from kernelbook.qp import SolverOptions

ROOT = Path(__file__).parents[1]
LIBRARY = ROOT / "lib" / "kernelbook"
MODULES = [
    *sorted((LIBRARY / "qp").rglob("*.py")),
    *(LIBRARY / "kernels" / f"{name}.py" for name in ("compiled", "expansion", "loops")),
]
PAGE = (ROOT / "book" / "pages" / "solver.md").read_text(encoding="utf-8")
ROW = re.compile(r"^\| `(\w+)` \| `([\w.]+)` \| `([^`]+)` \| \S", re.MULTILINE)
LISTED = {(name, module): value for name, module, value in ROW.findall(PAGE)}
EPS = float(np.finfo(float).eps)


def is_numeric(node):
    """Whether an expression has numbers only, and no container other than a tuple."""
    parts = list(ast.walk(node))
    constants = [part.value for part in parts if isinstance(part, ast.Constant)]
    return all(isinstance(value, (int, float)) for value in constants) and not any(
        isinstance(part, (ast.Dict, ast.List, ast.Subscript)) for part in parts
    )


def constants(path):
    """Upper-case names of a module and the numbers that they stand for."""
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if not isinstance(node, (ast.Assign, ast.AnnAssign)) or not is_numeric(node.value):
            continue
        target = node.targets[0] if isinstance(node, ast.Assign) else node.target
        value = evaluated(ast.unparse(node.value))
        several = isinstance(target, ast.Tuple)
        pairs = zip(target.elts, value, strict=True) if several else [(target, value)]
        for name, number in pairs:
            if re.fullmatch(r"[A-Z][A-Z0-9_]*", name.id):
                yield (name.id, path.relative_to(LIBRARY).with_suffix("").as_posix()), number


def evaluated(expression):
    return eval(expression, {"np": np, "EPS": EPS})


DEFINED = {
    **{key: number for path in MODULES for key, number in constants(path)},
    **{(field.name, "qp/options"): field.default for field in fields(SolverOptions)},
}


def test_constants_are_found_in_the_modules():
    assert len(DEFINED) > 70
    assert DEFINED["RIDGES", "qp/exact/bordered"] == (1e-13, 1e-11, 1e-9)


@pytest.mark.parametrize("name", sorted({name for name, _ in DEFINED}))
def test_the_page_names_the_constant(name):
    assert f"`{name}`" in PAGE


def test_rows_are_the_constants_with_their_values():
    written = {
        (name, module.replace(".", "/")): evaluated(value)
        for (name, module), value in LISTED.items()
    }
    assert written == DEFINED
