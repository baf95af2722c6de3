"""Docstrings of everything public, in numpydoc's form: read from the objects, as help() shows them.

A method that overrides a documented one may leave its docstring to it.
"""

import ast
import builtins
import doctest
import importlib
import inspect
import pkgutil
import re
import sys
from dataclasses import fields, is_dataclass
from functools import cached_property

import pytest
from numpy.typing import ArrayLike
from numpydoc.docscrape import get_doc_object
from numpydoc.validate import Validator, validate

import kernelbook

# What numpydoc asks for and we do not.
NOT_ASKED = {
    "ES01",  # an extended summary: often the first line says it all
    "EX01",  # an example: what needs a fitted machine or pages of set-up has none
    "SA01",  # a See Also section: most functions have no relative
}
# Other ways to write a type, and a line that goes on, of which numpydoc sees the first part only.
FORMS = re.compile(r", shape \(|\bof (?:int|bool), shape|\boptional\b|\\")
# Beginnings of a first line that is no command.
NOUNS = re.compile(r"(The|An?|All|Every|Each|Whether|How|What|Which|Where|Number|Whose)\b")
# Modules whose examples take numpy for granted.
NUMPY_AT_HAND = {"qp"}
METHODS = property | cached_property | classmethod | staticmethod


class Documented(Validator):
    """numpydoc's view of an object; the fields of a dataclass may stand under Attributes."""

    def __init__(self, obj_name):
        value = self._load_obj(obj_name)
        # A class method hides its function, and its name, from numpydoc.
        super().__init__(get_doc_object(getattr(value, "__func__", value)))

    @property
    def signature_parameters(self):
        # A protocol is not called.
        return () if getattr(self.obj, "_is_protocol", False) else super().signature_parameters

    @property
    def attributes(self):
        # Without such a section numpydoc makes one of the properties.
        return self.doc["Attributes"] if "Attributes" in self.section_titles else []

    @property
    def doc_all_parameters(self):
        parameters = super().doc_all_parameters
        if is_dataclass(self.obj):
            own = {field.name for field in fields(self.obj)}
            parameters |= {
                name: (kind, text) for name, kind, text in self.attributes if name in own
            }
        return parameters


def public_names():
    for module in pkgutil.walk_packages(kernelbook.__path__, "kernelbook."):
        if any(part.startswith("_") for part in module.name.split(".")):
            continue
        loaded = importlib.import_module(module.name)
        for name in getattr(loaded, "__all__", []):
            value = getattr(loaded, name)
            if not belongs(value, module.name):
                continue
            if inspect.isfunction(value) or inspect.isclass(value):
                yield f"{module.name}.{name}"
            if inspect.isclass(value):
                yield from (f"{module.name}.{name}.{member}" for member in members_of(value))


def belongs(value, module):
    """Whether a module speaks for it: its own, or a package whose module has no ``__all__``."""
    home = getattr(value, "__module__", None) or ""
    if home.startswith(f"{module}."):
        return not hasattr(sys.modules[home], "__all__")
    return home == module


def members_of(cls):
    """Methods and properties of a class itself, but for those that inherit their docstring."""
    for name, member in vars(cls).items():
        if name.startswith("_") or not (inspect.isfunction(member) or isinstance(member, METHODS)):
            continue
        above = [vars(base).get(name) for base in cls.__mro__[1:]]
        if member.__doc__ or not any(getattr(one, "__doc__", None) for one in above):
            yield name


PUBLIC = sorted(set(public_names()))


@pytest.mark.parametrize("name", PUBLIC)
def test_docstring_is_complete(name):
    errors = validate(name, Documented)["errors"]
    assert [error for error in errors if error[0] not in NOT_ASKED] == []


@pytest.mark.parametrize("name", PUBLIC)
def test_a_function_says_what_it_does(name):
    documented = Documented(name)
    nouns = NOUNS.match(documented.summary) if documented.is_function_or_method else None
    assert nouns is None, documented.summary


@pytest.mark.parametrize("name", PUBLIC)
def test_types_have_the_form_of_scikit_learn(name):
    documented = Documented(name)
    attributes = documented.attributes
    assert [one.name for one in attributes if "," in one.name or not (one.type and one.desc)] == []
    types = [kind for kind, _ in documented.doc_all_parameters.values()]
    types += [one.type for one in (*attributes, *documented.returns, *documented.yields)]
    assert [kind for kind in types if FORMS.search(kind)] == []


# What help() opens with


def signature(name):
    """How help() writes the call of an object; nothing where it is not called."""
    try:
        return str(inspect.signature(Documented._load_obj(name)))
    except (TypeError, ValueError):
        return ""


@pytest.mark.parametrize("name", PUBLIC)
def test_a_signature_names_its_types(name):
    assert "_array_like" not in signature(name)


def test_a_type_that_is_spelled_out_is_noticed():
    assert "_array_like" in signature(f"{__name__}.wrong")


# Examples that a reader pastes


def unknown(source, known):
    """The names that a piece of code reads, and that neither it nor the reader has made."""
    made, read = {*dir(builtins), *known}, set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.alias):
            made.add((node.asname or node.name).split(".")[0])
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            made.add(node.name)
        elif isinstance(node, ast.arg):
            made.add(node.arg)
        elif isinstance(node, ast.Name):
            (read if isinstance(node.ctx, ast.Load) else made).add(node.id)
    return read - made


def examples():
    for module in sorted(kernelbook.MODULES - NUMPY_AT_HAND):
        loaded = importlib.import_module(f"kernelbook.{module}")
        for name in loaded.__all__:
            text = getattr(getattr(loaded, name), "__doc__", None) or ""
            source = "".join(one.source for one in doctest.DocTestParser().get_examples(text))
            if source:
                yield pytest.param(source, loaded.__all__, id=f"{module}.{name}")


@pytest.mark.parametrize(("source", "known"), list(examples()))
def test_an_example_is_complete(source, known):
    assert unknown(source, known) == set()


def test_a_name_that_is_missing_is_noticed():
    source = "import numpy.linalg as la\n[f(x, la) for x in range(3)]\ng = np.ones(2)"
    assert unknown(source, ["f"]) == {"np"}


def wrong(X: ArrayLike, y):
    """A sum of both.

    Parameters
    ----------
    X : array-like, shape (n,)
    """
    return X + y


def test_what_is_wrong_is_noticed():
    documented = Documented(f"{__name__}.wrong")
    codes = {code for code, _ in validate(f"{__name__}.wrong", Documented)["errors"]}
    assert {"PR01", "PR07", "RT01"} <= codes - NOT_ASKED
    assert NOUNS.match(documented.summary)
    assert FORMS.search(documented.doc_all_parameters["X"][0])


def test_everything_public_is_looked_at():
    modules = {name.split(".")[1] for name in PUBLIC}
    assert {"kernels", "qp", "svm", "conformal", "mcmc", "audit", "mean_difference"} <= modules
    assert "kernelbook.svm.classifier.BinaryClassifier.predict" in PUBLIC
    assert "kernelbook.kernels.radial.RBF.diagonal" not in PUBLIC  # Kernel documents it
