"""Docstrings of everything public, in numpydoc's form: read from the objects, as help() shows them.

A method that overrides another one may leave its docstring to it.
"""

import importlib
import inspect
import pkgutil

import pytest
from numpydoc.validate import validate

import kernelbook

# What numpydoc asks for and we do not: an extended summary, a See Also section and an example
# everywhere; imperative verbs in front of noun phrases of properties and classes.
NOT_ASKED = {"ES01", "SA01", "SA04", "EX01", "SS05", "SS06", "GL01", "GL03", "PR08", "PR09"}
NOT_ASKED |= {"RT04", "RT05", "YD01"}


def public_names():
    for module in pkgutil.walk_packages(kernelbook.__path__, "kernelbook."):
        if module.name.rpartition(".")[2].startswith("_") or "loops" in module.name:
            continue
        if module.name.startswith("kernelbook.conformal"):
            continue
        loaded = importlib.import_module(module.name)
        for name in getattr(loaded, "__all__", []):
            value = getattr(loaded, name)
            if getattr(value, "__module__", None) != module.name:
                continue
            if inspect.isfunction(value) or inspect.isclass(value):
                yield f"{module.name}.{name}"
            if inspect.isclass(value):
                yield from (f"{module.name}.{name}.{member}" for member in members_of(value))


def members_of(cls):
    for name, member in vars(cls).items():
        if name.startswith("_"):
            continue
        if inspect.isfunction(member) or isinstance(member, property | classmethod | staticmethod):
            yield name


@pytest.mark.parametrize("name", sorted(set(public_names())))
def test_docstring_is_complete(name):
    faults = [
        f"{code}: {message}" for code, message in validate(name)["errors"] if code not in NOT_ASKED
    ]
    assert not faults, f"{name}: {faults}"
