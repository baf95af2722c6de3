"""Wrong arguments and data of regression, failed fits, the limits of the solvers."""

import tracemalloc

import cvxopt
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from samples import BOTH, curve, named
from sklearn.exceptions import ConvergenceWarning, NotFittedError

from kernelbook.exceptions import NotPositiveSemidefiniteError
from kernelbook.kernels import linear
from kernelbook.svr import KernelSVR

# Failures


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"C": 0}, named("C", 0)),
        ({"C": np.inf}, named("C", np.inf)),
        ({"epsilon": -0.1}, named("epsilon", -0.1)),
        ({"epsilon": np.nan}, named("epsilon", np.nan)),
        ({"epsilon": None}, named("epsilon", None)),
        ({"kernel": "gaussian"}, named("kernel", "gaussian")),
        ({"gamma": 0.0}, named("gamma", 0.0)),
        ({"kernel": "poly", "degree": 1.5}, "degree must be an integer >= 1, got 1.5"),
        ({"solver": "smo"}, named("solver", "smo")),
        ({"max_iter": -1}, named("max_iter", -1)),
        ({"tol": -1e-9}, named("tol", -1e-9)),
    ],
    ids=str,
)
def test_a_wrong_parameter_is_named(parameters, message):
    svr = KernelSVR(**parameters)
    with pytest.raises(ValueError, match=message):
        svr.fit(*curve())
    assert vars(svr) == svr.get_params()


@pytest.mark.parametrize(
    ("X", "y", "weights", "message"),
    [
        ([[1.0], [np.nan]], [0, 1], None, "Input X contains NaN"),
        ([[1.0], [2.0]], [0, np.inf], None, "Input y contains infinity"),
        ([[1.0], [2.0]], [0, 1, 2], None, "inconsistent numbers of samples"),
        ([[1.0], [2.0]], [[0, 1], [0, 1]], None, "y should be a 1d array"),
        ([[1.0], [2.0]], ["a", "b"], None, "could not convert string|dtype='numeric'"),
        ([1.0, 2.0], [0, 1], None, "Expected 2D array"),
        ([[1.0], [2.0]], [0, 1], [1, -1], "Negative values in data passed to `sample_weight`"),
        ([[1.0], [2.0]], [0, 1], [0, 0], "sample_weight is zero for every point"),
        ([[1.0], [2.0]], [0, 1], [1, 1, 1], "sample_weight.shape"),
    ],
)
def test_wrong_data_are_refused(X, y, weights, message):
    with pytest.raises(ValueError, match=message):
        KernelSVR().fit(X, y, weights)


def test_a_kernel_that_is_none_is_refused():
    X, y = curve(10)
    with pytest.raises(NotPositiveSemidefiniteError, match="smallest eigenvalue is -"):
        KernelSVR(kernel="sigmoid", gamma=1.0, coef0=1.0).fit(X, y)
    with pytest.raises(ValueError, match=r"square Gram matrix .* got shape \(10, 2\)"):
        KernelSVR(kernel="precomputed").fit(X, y)
    svr = KernelSVR(kernel="precomputed").fit(linear(X), y)
    with pytest.raises(ValueError, match=r"\(n_test, n_train\) = \(\?, 10\)"):
        svr.predict(linear(X[:3]))


def test_before_a_fit_there_is_nothing_to_predict():
    with pytest.raises(NotFittedError):
        KernelSVR().predict([[0.0]])


def test_a_failed_refit_leaves_the_old_fit_as_it_was():
    X, y = curve()
    svr = KernelSVR(gamma=0.5).fit(X, y)
    before, values = dict(vars(svr)), svr.predict(X)
    with pytest.raises(ValueError, match="NaN"):
        svr.fit(np.full((3, 5), np.nan), np.zeros(3))
    assert all(vars(svr)[name] is before[name] for name in before)
    assert_array_equal(svr.predict(X), values)


def test_single_precision_and_whole_numbers_will_do():
    X, y = np.arange(5)[:, None], np.array([1, 3, 5, 7, 40])
    svr = KernelSVR(kernel="linear").fit(X, y)
    assert_allclose(svr.coef_, [[2.0]], rtol=1e-10)
    single = KernelSVR(kernel="linear").fit(X.astype(np.float32), y.astype(np.float32))
    assert_allclose(single.coef_, svr.coef_, rtol=1e-12)
    objects = KernelSVR(kernel="linear").fit(X, y.astype(object))
    assert_array_equal(objects.coef_, svr.coef_)


# The solver


@BOTH
def test_three_steps_are_too_few_and_thirty_are_enough(solver):
    X, y = curve()
    svr = KernelSVR(10.0, gamma=0.5, max_iter=3, solver=solver)
    with pytest.warns(ConvergenceWarning, match="relative duality gap") as seen:
        svr.fit(X, y)
    assert f"gap {svr.certificate_.duality_gap:.3g}," in str(seen[0].message)
    assert (svr.certificate_.status, svr.n_iter_) == ("max_iter", 3)
    # The box and the equality hold even so.
    assert np.abs(svr.dual_coef_).max() <= 10.0
    assert_allclose(svr.dual_coef_.sum(), 0, atol=1e-12 * np.abs(svr.dual_coef_).sum())
    svr.set_params(max_iter=30).fit(X, y)
    assert svr.certificate_.status == "optimal"
    assert 3 < svr.n_iter_ <= 30


def test_nothing_is_printed_and_the_options_of_cvxopt_stay(monkeypatch, capfd):
    monkeypatch.setitem(cvxopt.solvers.options, "maxiters", 2)
    before = dict(cvxopt.solvers.options)
    for solver in ("dense", "reference"):
        assert KernelSVR(solver=solver).fit(*curve()).certificate_.status == "optimal"
    assert cvxopt.solvers.options == before
    assert capfd.readouterr() == ("", "")


def test_the_doubled_variables_cost_no_doubled_matrix():
    n = 1500
    X, y = curve(n)
    tracemalloc.start()
    svr = KernelSVR(solver="dense").fit(X, y)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    # A dense matrix of the 4n inequalities of 2n variables alone would take 8 times that of K.
    assert peak < 5 * 8 * n**2
    assert svr.certificate_.kkt_violation < 1e-9
