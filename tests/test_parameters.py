"""Every parameter of every estimator with values that it cannot take: the error names it."""

import importlib
import inspect
import pkgutil
import warnings

import numpy as np
import pytest
from numpydoc.docscrape import ClassDoc
from sklearn.base import BaseEstimator
from sklearn.utils._param_validation import StrOptions

import kernelbook

WRONG = {
    "None": None,
    "a word": "no such word",
    "NaN": np.nan,
    "infinity": np.inf,
    "negative": -1.0,
    "zero": 0,
    "a bool": True,
    "huge": 10**400,
    "a list": [],
    "an object": object(),
}
# Samplers are short, and nothing else differs from the defaults.
FAST = {"n_samples": 4, "n_burn_in": 4, "n_chains": 2}
RNG = np.random.default_rng(0)
X = np.r_[RNG.normal(size=(9, 2)), RNG.normal(size=(6, 2)) + 1.0]
Y = np.repeat([0, 1], [9, 6])


def estimators():
    """Concrete public estimators of the library that need no other estimator."""
    found = {}
    for module in pkgutil.walk_packages(kernelbook.__path__, "kernelbook."):
        if module.name.endswith("__main__"):
            continue
        for name, one in vars(importlib.import_module(module.name)).items():
            if not (inspect.isclass(one) and issubclass(one, BaseEstimator)):
                continue
            needs = [p for p in inspect.signature(one).parameters.values() if p.default is p.empty]
            is_ours = one.__module__.startswith("kernelbook") and not name.startswith("_")
            if not is_ours or needs or inspect.isabstract(one) or not hasattr(one, "fit"):
                continue
            if "y" in inspect.signature(one.fit).parameters:
                found[name] = one
    return found


ESTIMATORS = {
    name: one
    for name, one in sorted(estimators().items())
    if name not in ("BinaryClassifier", "KernelEstimator")
}
# It refuses two samplers that the base class takes, and says why.
SILENT_ON_A_RULE = {"BayesianSVDDMinority"}
PARAMETERS = [(name, p) for name, one in ESTIMATORS.items() for p in one().get_params(deep=False)]


def test_estimators_are_found():
    assert {"KernelSVC", "KernelSVR", "SVDD", "OneClassSVM", "KernelPCA"} <= set(ESTIMATORS)
    assert len(PARAMETERS) > 150


@pytest.mark.parametrize(("name", "parameter"), PARAMETERS, ids=map("-".join, PARAMETERS))
def test_an_error_names_the_parameter(name, parameter):
    for what, value in WRONG.items():
        machine = ESTIMATORS[name]()
        fast = {key: n for key, n in FAST.items() if key in machine.get_params()}
        machine.set_params(**{**fast, parameter: value})
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                machine.fit(X, Y)
            except (ValueError, TypeError) as error:
                assert parameter in str(error), (what, str(error))


@pytest.mark.parametrize("name", sorted(ESTIMATORS.keys() - SILENT_ON_A_RULE))
def test_every_word_that_is_taken_is_documented(name):
    types = {one.name: one.type for one in ClassDoc(ESTIMATORS[name])["Parameters"]}
    for parameter, constraints in ESTIMATORS[name]._parameter_constraints.items():
        words = {w for one in constraints if isinstance(one, StrOptions) for w in one.options}
        if parameter in types and parameter != "kernel":  # its names stand in the text
            assert {w for w in words if repr(w) not in types[parameter]} == set(), parameter
