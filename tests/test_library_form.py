"""The form of the library: what a module may know of another, and what a fit costs in calls."""

import ast
import cProfile
import os
import pstats
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest
from sklearn.datasets import make_moons

import kernelbook
from kernelbook.kernels import NAMED
from kernelbook.svm import KernelSVC

LIBRARY = Path(kernelbook.__file__).parent
MODULES = sorted(LIBRARY.rglob("*.py"))
# Packages that are slow to load, or optional, and that no machine needs before it is fitted.
SLOW = {"cvxopt", "numba", "llvmlite", "pandas", "matplotlib", "seaborn", "arviz", "joblib"}
# Names of others that begin with an underscore and have no public twin.
NEEDED = {
    "_getframe": "documented by Python",
    "_validate_params": "what scikit-learn's estimators inherit to check their parameters",
    "_gamma": "the only place where a machine of scikit-learn keeps the width that it used",
}
# A fit of a few hundred points is short enough to be read from beginning to end.
MOST_CALLS, MOST_FILES = 120, 8


def relative(path):
    return path.relative_to(LIBRARY).as_posix()


def outside(*packages):
    """Modules that belong to none of these packages."""
    kept = [path for path in MODULES if relative(path).split("/")[0] not in packages]
    return pytest.mark.parametrize("path", kept, ids=relative)


@cache
def tree(path):
    return ast.parse(path.read_text(encoding="utf-8"))


# Kernels are objects: nobody asks for their names


def texts(node):
    """The constant strings of an expression, also within lists and the like."""
    return {leaf.value for leaf in ast.walk(node) if isinstance(leaf, ast.Constant)}


def names_compared(root):
    """Kernels' names in comparisons, in cases of a match, and as keys of a dictionary."""
    for node in ast.walk(root):
        if isinstance(node, ast.Compare):
            parts = [node.left, *node.comparators]
        elif isinstance(node, ast.MatchValue):
            parts = [node.value]
        elif isinstance(node, ast.Dict):
            parts = [key for key in node.keys if key is not None]
        else:
            continue
        for part in parts:
            yield from texts(part) & set(NAMED)


@outside("kernels")
def test_no_kernel_is_told_by_its_name(path):
    assert list(names_compared(tree(path))) == []


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("kernel == 'rbf'", ["rbf"]),
        ("'linear' != kernel", ["linear"]),
        ("kernel in ('poly', 'a')", ["poly"]),
        ("kernel not in {'sigmoid'}", ["sigmoid"]),
        ("{'laplacian': 1, **others}", ["laplacian"]),
        ("match kernel:\n    case 'precomputed':\n        pass", ["precomputed"]),
        ("f(kernel='rbf')", []),
        ("kernel == 'dense'", []),
        ("def f(kernel='rbf'):\n    '''Not only 'rbf'.'''", []),
    ],
)
def test_a_name_that_is_compared_is_noticed(source, found):
    assert list(names_compared(ast.parse(source))) == found


# Protocols are classes: nobody asks whether an attribute is there


def guesses(root):
    """Calls of getattr with a default, and of hasattr."""
    for node in ast.walk(root):
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name)):
            continue
        if node.func.id == "hasattr" or (node.func.id == "getattr" and len(node.args) > 2):
            yield ast.unparse(node)


@pytest.mark.parametrize(
    "path",
    [p for p in MODULES if relative(p).split("/")[0] in ("qp", "kernels", "svm", "estimator.py")],
    ids=relative,
)
def test_the_core_guesses_no_attributes(path):
    assert list(guesses(tree(path))) == []


def test_a_guess_is_noticed():
    source = "getattr(Q, 'compiled', None)\nhasattr(Q, 'compiled')\ngetattr(Q, name)"
    assert list(guesses(ast.parse(source))) == source.splitlines()[:2]


# What is private to a package stays there


def package(path):
    """The top-level package or module that a file belongs to."""
    return relative(path).split("/")[0].removesuffix(".py")


def is_private(name):
    return name.startswith("_") and not name.startswith("__") and name != "_"


@cache
def defined(name):
    """The private names that a package defines: functions, classes, variables, attributes."""
    found = set()
    for path in MODULES:
        if package(path) != name:
            continue
        for node in ast.walk(tree(path)):
            if isinstance(node, ast.FunctionDef | ast.ClassDef):
                found.add(node.name)
            elif isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Store):
                found.add(node.id if isinstance(node, ast.Name) else node.attr)
    return {one for one in found if is_private(one)}


def borrowed(root, own):
    """Private attributes of something else than self or cls, and private imports, not one's own."""
    for node in ast.walk(root):
        if isinstance(node, ast.Attribute) and is_private(node.attr):
            owner = node.value.id if isinstance(node.value, ast.Name) else ""
            is_super = isinstance(node.value, ast.Call) and ast.unparse(node.value.func) == "super"
            if owner not in ("self", "cls") and not is_super and node.attr not in own | {*NEEDED}:
                yield ast.unparse(node)
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("kernelbook"):
            yield from (one.name for one in node.names if is_private(one.name))


@pytest.mark.parametrize("path", MODULES, ids=relative)
def test_no_module_reads_what_is_private_to_another(path):
    assert list(borrowed(tree(path), defined(package(path)))) == []


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("machine._bias", ["machine._bias"]),
        ("f(x)._split.gram(X)", ["f(x)._split"]),
        ("self._bias + cls._bias + super()._bias", []),
        ("machine._own", []),
        ("np.__version__, a._, sys._getframe(0)", []),
        ("from kernelbook.qp.solve import _certified", ["_certified"]),
        ("from sklearn.utils.validation import _check_sample_weight", []),
    ],
)
def test_a_private_attribute_of_another_is_noticed(source, found):
    assert list(borrowed(ast.parse(source), {"_own"})) == found


# What an import loads, and what a fit calls


@cache
def loaded_by(code):
    """The slow packages that a fresh interpreter has loaded after some code."""
    code += f"\nimport sys\nprint(*sorted(set(sys.modules) & {SLOW!r}))"
    paths = os.pathsep.join(filter(None, [str(LIBRARY.parent), os.environ.get("PYTHONPATH")]))
    run = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": paths},
        capture_output=True,
        text=True,
        check=True,
    )
    return set(run.stdout.split())


FIT = "\nsvm.KernelSVC({}).fit([[0.0], [1.0]], [0, 1])"


def test_what_is_loaded_is_seen():
    assert {"cvxopt", "pandas"} <= loaded_by("import cvxopt, pandas")


def test_an_import_of_a_machine_loads_nothing_slow():
    modules = ["svm", "svr", "oneclass", "svdd", "kpca", "fisher", "kernels", "qp", "certification"]
    imports = "\n".join(f"import kernelbook.{module}" for module in modules)
    # scikit-learn itself loads joblib, and pandas if it is there.
    assert loaded_by(imports) == loaded_by("import sklearn.svm")


def test_a_small_fit_needs_neither_compiled_loops_nor_cvxopt():
    small = "from kernelbook import svm" + FIT.format("")
    assert loaded_by(small) == loaded_by("import sklearn.svm")
    assert "numba" in loaded_by("from kernelbook import svm" + FIT.format("solver='exact'"))


def test_a_fit_calls_few_functions_in_few_files():
    X, y = make_moons(450, noise=0.2, random_state=0)
    machine = KernelSVC().fit(X, y)
    profile = cProfile.Profile()
    profile.runcall(machine.fit, X, y)
    calls = {}
    for (file, _, _), (_, n_calls, *_) in pstats.Stats(profile).stats.items():
        if Path(file).is_relative_to(LIBRARY):
            calls[file] = calls.get(file, 0) + n_calls
    assert 20 < sum(calls.values()) <= MOST_CALLS
    assert len(calls) <= MOST_FILES
