"""What a type checker, and so an editor, sees of the library from a user's script."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

LIBRARY = Path(__file__).parents[1] / "lib" / "kernelbook"

SCRIPT = """
from kernelbook import KernelSVC, SVDD, certify
from kernelbook.kernels import RBF, Linear

machine = KernelSVC(C=10, kernel=RBF(0.5) + Linear()).fit([[0.0], [1.0]], [0, 1])
reveal_type(machine)
reveal_type(machine.decision_function([[0.0]]))
reveal_type(machine.certificate_)
reveal_type(SVDD().fit([[0.0]]).distance([[1.0]]))
reveal_type(certify)
KernelSVC().fit(nonsense=3)
KernelSVC(nonsense=3)
machine.predict([[0.0]], nonsense=3)
"""


@pytest.fixture(scope="module")
def seen_by_mypy(tmp_path_factory):
    script = tmp_path_factory.mktemp("user") / "script.py"
    script.write_text(SCRIPT)
    command = [sys.executable, "-m", "mypy", "--config-file", "pyproject.toml", str(script)]
    result = subprocess.run(command, capture_output=True, text=True, cwd=LIBRARY.parents[1])
    return result.stdout


@pytest.mark.slow
def test_wrong_arguments_are_errors_before_they_run(seen_by_mypy):
    errors = re.findall(r'error: Unexpected keyword argument "nonsense" for "(.*?)"', seen_by_mypy)
    assert errors == ["fit", "KernelSVC", "predict"], seen_by_mypy


@pytest.mark.slow
def test_results_have_types(seen_by_mypy):
    revealed = re.findall(r'Revealed type is "(.*)"', seen_by_mypy)
    assert revealed[0] == "kernelbook.svm.classifier.KernelSVC"
    assert "numpy.float64" in revealed[1]
    assert revealed[2] == "kernelbook.qp.certificate.Certificate"
    assert "numpy.float64" in revealed[3]
    assert revealed[4].endswith("-> kernelbook.certification.MachineCertificate")


def test_nothing_public_returns_any():
    untyped = [
        f"{path.relative_to(LIBRARY)}:{node.lineno} {node.name}"
        for path in LIBRARY.rglob("[!_]*.py")
        for node in public_functions(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node.returns, ast.Name) and node.returns.id == "Any"
    ]
    # A module of an optional package has no type of its own.
    assert [name for name in untyped if not name.startswith("optional.py")] == []


def public_functions(module):
    for node in module.body:
        members = node.body if isinstance(node, ast.ClassDef) else [node]
        if isinstance(node, ast.ClassDef) and node.name.startswith("_"):
            continue
        for member in members:
            if isinstance(member, ast.FunctionDef) and not member.name.startswith("_"):
                yield member
