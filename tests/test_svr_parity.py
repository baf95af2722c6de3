"""Support vector regression beside that of scikit-learn, and inside its tools."""

import pickle

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from oracles import problems
from samples import curve
from sklearn.base import clone
from sklearn.datasets import load_diabetes
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVR

from kernelbook.datasets import load_abalone, load_airfoil
from kernelbook.svr import KernelSVR

# Parity with scikit-learn


def airfoil():
    bunch = load_airfoil()
    return bunch.data[::5], bunch.target[::5]


def abalone():
    bunch = load_abalone()
    numeric = [list(bunch.feature_names).index(name) for name in NUMERIC_ABALONE]
    return bunch.data[:250, numeric], bunch.target[:250].astype(float)


NUMERIC_ABALONE = ["length", "diameter", "height", "whole_weight"]
REAL = {
    "airfoil": airfoil,
    "abalone": abalone,
    "diabetes": lambda: load_diabetes(return_X_y=True),
}


@pytest.mark.parametrize("name", REAL)
@pytest.mark.parametrize(
    "parameters",
    [
        {"kernel": "linear", "C": 0.1},
        {"kernel": "rbf", "C": 1.0},
        {"kernel": "rbf", "C": 1.0, "epsilon": 0.0, "gamma": 0.1},
        {"kernel": "poly", "C": 0.01, "degree": 2, "coef0": 1.0, "gamma": 0.1},
    ],
    ids=lambda p: f"{p['kernel']}-{p['C']:g}-{p.get('epsilon', 0.1):g}",
)
def test_values_are_those_of_scikit_learn_on_real_data(name, parameters):
    X, y = REAL[name]()
    X, y = StandardScaler().fit_transform(X), (y - y.mean()) / y.std()
    theirs = SVR(**parameters, tol=1e-10, cache_size=500).fit(X, y)
    ours = KernelSVR(**parameters).fit(X, y)
    values = theirs.predict(X)
    atol = 1e-6 * np.abs(values).max()
    assert_allclose(ours.predict(X), values, rtol=0, atol=atol)
    assert_allclose(ours.intercept_, theirs.intercept_, atol=atol)
    if parameters["kernel"] == "linear":
        assert_allclose(ours.coef_, theirs.coef_, atol=atol)
    assert ours.certificate_.status == "optimal"


def test_at_a_large_c_the_proof_decides_against_libsvm():
    problem = next(p for p in problems("svr") if p["id"] == "svr-25")
    X, y = np.array(problem["data"]["X"]), np.array(problem["data"]["y"])
    query = problem["data"]["X_query"]
    parameters = {"C": 1e4, "epsilon": 100.0, "gamma": 0.5}
    proved = np.array(problem["expected"]["prediction"])
    theirs = SVR(**parameters, tol=1e-5).fit(X, y)
    ours = KernelSVR(**parameters).fit(X, y)
    assert np.abs(ours.predict(query) - proved).max() < 1e-9 * y.std()
    assert np.abs(theirs.predict(query) - proved).max() > 1e-8 * y.std()


# One of scikit-learn's own


def test_a_grid_search_over_a_pipeline():
    X, y = airfoil()
    frame = pd.DataFrame(X, columns=list("abcde"))
    search = GridSearchCV(
        make_pipeline(StandardScaler(), KernelSVR(epsilon=0.5)),
        {"kernelsvr__C": [0.01, 100.0], "kernelsvr__gamma": ["scale", 0.5]},
        cv=3,
    ).fit(frame, y)
    assert search.best_params_["kernelsvr__C"] == 100.0
    assert search.score(frame, y) > 0.8


def test_a_copy_from_the_pickle_predicts_the_same():
    X, y = curve()
    svr = KernelSVR(gamma="median").fit(X, y)
    copy = pickle.loads(pickle.dumps(svr))
    assert_array_equal(copy.predict(X), svr.predict(X))
    assert copy.certificate_ == svr.certificate_
    assert repr(clone(svr)) == "KernelSVR(gamma='median')"
