"""Precomputed matrices, wrong arguments, failed fits, and the limits of the solvers."""

import tracemalloc

import cvxopt
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from samples import BOTH, FOUR, LINE, SOLVERS, classes, named
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError

from kernelbook.exceptions import NotPositiveSemidefiniteError
from kernelbook.svm import HardMarginSVC, KernelSVC


def test_a_precomputed_matrix_predicts_from_kernel_values():
    svc = KernelSVC(kernel="precomputed").fit(FOUR @ FOUR.T, [0, 0, 1, 1])
    new = np.array([[-1.0], [10.0]])
    assert_allclose(svc.decision_function(new @ FOUR.T), [-2.5, 8.5], rtol=1e-10)
    assert svc.predict(new @ FOUR.T).tolist() == [0, 1]
    for wrong in (new @ new.T, FOUR @ new.T):
        with pytest.raises(ValueError, match=r"\(n_test, n_train\) = \(\?, 4\)"):
            svc.predict(wrong)
    assert svc.support_vectors_.shape == (0, 0)


@pytest.mark.parametrize("estimator", [KernelSVC, HardMarginSVC])
@pytest.mark.parametrize(
    ("K", "error", "message"),
    [
        (FOUR @ FOUR[:3].T, ValueError, r"square Gram matrix .* got shape \(4, 3\)"),
        (np.eye(4) * np.nan, ValueError, "NaN"),
        (np.eye(4) + np.eye(4, k=1), ValueError, "the precomputed X is not symmetric"),
        (3 * np.ones((4, 4)) - 2 * np.eye(4), NotPositiveSemidefiniteError, "eigenvalue is -2 "),
    ],
    ids=["shape", "NaN", "asymmetric", "indefinite"],
)
def test_a_matrix_of_no_kernel_is_refused(estimator, K, error, message):
    svc = estimator(kernel="precomputed")
    with pytest.raises(error, match=message) as raised:
        svc.fit(K, [0, 0, 1, 1])
    assert "Rank" not in str(raised.value)
    assert vars(svc) == svc.get_params()


@BOTH
@pytest.mark.parametrize(("coef0", "smallest"), [(-1.0, r"-2\.318922"), (1.0, r"-0\.88923")])
def test_an_indefinite_sigmoid_is_refused_by_every_solver(solver, coef0, smallest):
    X, y = [[-2.0], [-1.0], [0.0], [1.0], [2.0]], [-1, 1, -1, 1, -1]
    with pytest.raises(NotPositiveSemidefiniteError, match=f"smallest eigenvalue is {smallest}"):
        KernelSVC(kernel="sigmoid", gamma=1.0, coef0=coef0, solver=solver).fit(X, y)


# Failures


@pytest.mark.parametrize("estimator", [KernelSVC, HardMarginSVC])
@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"kernel": "gaussian"}, named("kernel", "gaussian")),
        ({"gamma": -1.0}, named("gamma", -1.0)),
        ({"gamma": -1.0}, r"\{'auto', 'median', 'scale'\} \(for the Laplacian kernel also 'mean_"),
        ({"gamma": "wide"}, named("gamma", "wide")),
        ({"gamma": True}, named("gamma", True)),
        ({"gamma": "mean_distance"}, "'mean_distance' is for the Laplacian kernel"),
        ({"coef0": np.nan}, named("coef0", np.nan)),
        ({"kernel": "poly", "degree": "2"}, named("degree", "2")),
        ({"kernel": "poly", "degree": 0}, named("degree", 0)),
        ({"kernel": "poly", "degree": 2.5}, "degree must be an integer >= 1, got 2.5"),
        ({"solver": "smo"}, named("solver", "smo")),
        ({"max_iter": 0}, named("max_iter", 0)),
        ({"max_iter": 10.0}, named("max_iter", 10.0)),
        ({"max_iter": True}, named("max_iter", True)),
        ({"tol": 0}, named("tol", 0)),
    ],
    ids=str,
)
def test_a_wrong_parameter_is_named(estimator, parameters, message):
    svc = estimator(**parameters)
    with pytest.raises(ValueError, match=message):
        svc.fit(*classes())
    assert vars(svc) == svc.get_params()


@pytest.mark.parametrize("C", [0, -1.0, np.nan, np.inf, "1", None, True])
def test_a_c_that_is_not_positive_is_refused(C):
    with pytest.raises(ValueError, match=named("C", C)):
        KernelSVC(C).fit(*classes())


@pytest.mark.parametrize("estimator", [KernelSVC, HardMarginSVC])
@pytest.mark.parametrize(
    ("X", "message"),
    [
        ([[1.0], [np.nan]], "Input X contains NaN"),
        ([[1.0], [np.inf]], "Input X contains infinity"),
        ([1.0, 2.0], "Expected 2D array"),
        ([["a"], ["b"]], "could not convert string"),
        (np.zeros((2, 0)), r"0 feature\(s\)"),
    ],
    ids=["NaN", "infinity", "flat", "text", "empty"],
)
def test_wrong_points_are_refused(estimator, X, message):
    with pytest.raises(ValueError, match=message):
        estimator().fit(X, [0, 1])


def test_values_beyond_double_precision_are_refused():
    X, y = classes()
    with pytest.raises(ValueError, match="overflows on this X: rescale the features"):
        KernelSVC(kernel="poly", degree=5, gamma=1.0).fit(1e100 * X, y)


def test_before_a_fit_there_is_nothing_to_predict():
    for svc in (KernelSVC(), HardMarginSVC()):
        with pytest.raises(NotFittedError):
            svc.predict(LINE)


def test_points_of_another_dimension_are_refused():
    svc = KernelSVC().fit(*classes())
    with pytest.raises(ValueError, match="X has 3 features, but KernelSVC is expecting 2"):
        svc.predict(np.zeros((1, 3)))


@pytest.mark.parametrize("wrong", [{"C": -1.0}, {"max_iter": 0}, {"kernel": "sigmoid"}])
def test_a_failed_refit_leaves_the_old_fit_as_it_was(wrong):
    X, y = classes()
    svc = KernelSVC(gamma=0.5, coef0=1.0).fit(X, y)
    before = {name: value for name, value in vars(svc).items() if name.endswith("_")}
    values = svc.decision_function(X)
    svc.set_params(**wrong)
    with pytest.raises(ValueError):
        svc.fit(classes(10, 4)[0], classes(10, 4)[1])
    after = {name: value for name, value in vars(svc).items() if name.endswith("_")}
    assert after.keys() == before.keys()
    assert all(after[name] is before[name] for name in before)
    svc.set_params(kernel="rbf")
    assert_array_equal(svc.decision_function(X), values)


# The solver


@BOTH
def test_three_steps_are_too_few_and_twenty_are_enough(solver):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(30, 2))
    y = np.where(X[:, 0] + X[:, 1] > 0, 1, -1)
    svc = KernelSVC(10.0, gamma=0.5, max_iter=3, solver=solver)
    with pytest.warns(ConvergenceWarning, match="relative duality gap") as seen:
        svc.fit(X, y)
    assert f"gap {svc.certificate_.duality_gap:.3g}," in str(seen[0].message)
    assert (svc.certificate_.status, svc.n_iter_) == ("max_iter", 3)
    # The box and the equality hold even so.
    assert svc.alpha_.min() >= 0 and svc.alpha_.max() <= 10.0
    assert_allclose(svc.alpha_ @ y, 0, atol=1e-12 * svc.alpha_.sum())
    assert_array_equal(svc.support_, np.flatnonzero(svc.alpha_))
    svc.set_params(max_iter=20).fit(X, y)
    assert svc.certificate_.status == "optimal"
    assert 3 < svc.n_iter_ <= 20


@pytest.mark.parametrize("estimator", [KernelSVC(gamma=0.5), HardMarginSVC(gamma=0.5)])
def test_nothing_is_printed_and_the_options_of_cvxopt_stay(estimator, monkeypatch, capfd):
    monkeypatch.setitem(cvxopt.solvers.options, "maxiters", 2)
    before = dict(cvxopt.solvers.options)
    for solver in SOLVERS:
        svc = clone(estimator).set_params(solver=solver).fit(*classes(20, noise=0))
        assert svc.certificate_.status == "optimal"
    assert cvxopt.solvers.options == before
    assert capfd.readouterr() == ("", "")


def test_a_fit_takes_a_few_times_the_memory_of_its_gram_matrix():
    n = 2000
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 2))
    y = np.where(X.sum(axis=1) > 0, 1, -1)
    tracemalloc.start()
    svc = KernelSVC(solver="dense").fit(X, y)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 4 * 8 * n**2
    assert svc.certificate_.kkt_violation < 1e-9
    tracemalloc.start()
    svc.predict(rng.normal(size=(100_000, 2)))
    assert tracemalloc.get_traced_memory()[1] < 4 * 8 * n**2
    tracemalloc.stop()
