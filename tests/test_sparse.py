"""Sparse points: the machines of the same points as an array, without ever writing them out."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.svm import SVC

from kernelbook.conformal import ConformalSVC
from kernelbook.kernels import RBF, Linear, Polynomial, resolve_gamma
from kernelbook.kernels.sparse import WRITTEN_OUT, inner_products, squared_distances
from kernelbook.kpca import KernelPCA
from kernelbook.oneclass import OneClassSVM
from kernelbook.svdd import SVDD
from kernelbook.svm import HardMarginSVC, KernelSVC
from kernelbook.svr import KernelSVR

KERNELS = [
    {"kernel": "linear"},
    {"kernel": "rbf"},
    {"kernel": "rbf", "gamma": "median"},
    {"kernel": "poly", "coef0": 1.0},
    {"kernel": "poly", "degree": 2},
    {"kernel": RBF(0.2)},
]


def points(n, d=40, density=0.15, seed=0):
    """Points as an array, and a linear response."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * (rng.random((n, d)) < density)
    return X, X @ rng.normal(size=d) + 0.3 * rng.normal(size=n)


MACHINES = {
    "svc": (KernelSVC(), lambda response: response > 0),
    "classes": (KernelSVC(), lambda response: np.digitize(response, [-0.5, 0.5])),
    "svr": (KernelSVR(C=2.0), lambda response: response),
    "oneclass": (OneClassSVM(0.3), lambda response: None),
    "svdd": (SVDD(nu=0.2), lambda response: None),
}


def values_of(machine, X):
    return machine.predict(X) if isinstance(machine, KernelSVR) else machine.decision_function(X)


# The same machines


@pytest.mark.parametrize("n", [80, 700], ids=["formed", "rows"])
@pytest.mark.parametrize("name", MACHINES)
@pytest.mark.parametrize("parameters", KERNELS, ids=str)
def test_a_sparse_fit_is_the_dense_fit(n, name, parameters):
    X, response = points(n)
    machine, target = MACHINES[name]
    machine.set_params(gamma="scale", degree=3, coef0=0.0).set_params(**parameters)
    weights = np.random.default_rng(1).integers(0, 3, n).astype(float)
    y = target(response)
    dense = values_of(machine.fit(X, y, sample_weight=weights), X)
    assert machine.certificate_.status == "optimal"
    for container in (sparse.csr_matrix, sparse.csr_array):
        values = values_of(machine.fit(container(X), y, sample_weight=weights), container(X))
        assert machine.certificate_.status == "optimal"
        assert machine.certificate_.duality_gap < 1e-9 or parameters == {"kernel": "linear"}
        small = 1e-9 * max(1.0, np.abs(dense).max())
        assert_allclose(values, dense, atol=small, rtol=0)
        assert_allclose(values_of(machine, X), values, atol=1e-2 * small, rtol=0)
        assert sparse.issparse(machine.support_vectors_)
        again = pickle.loads(pickle.dumps(machine))
        assert_array_equal(values_of(again, X[:5]), values_of(machine, X[:5]))


def test_coefficients_are_those_of_scikit_learn():
    X, response = points(300)
    X, y = sparse.csr_matrix(X), response > 0
    theirs = SVC(kernel="linear", tol=1e-10).fit(X, y)
    ours = KernelSVC(kernel="linear").fit(X, y)
    assert_allclose(ours.coef_, theirs.coef_.toarray(), atol=1e-6)
    assert_allclose(ours.intercept_, theirs.intercept_, atol=1e-6)
    assert_array_equal(ours.support_, np.sort(theirs.support_))


# Kernels


@pytest.mark.parametrize("n", [3, 1500], ids=["few", "many"])
def test_products_and_distances_are_those_of_arrays(n):
    X, Y = points(n, 800, 0.02)[0], points(1400, 800, 0.02, seed=1)[0]
    assert min(n, 1400) * 800 <= WRITTEN_OUT or n == 1500
    squares = ((X[:20, None] - Y[None, :7]) ** 2).sum(axis=2)
    ways = ((sparse.csr_array, np.asarray), (np.asarray, sparse.csr_array), [sparse.csr_array] * 2)
    for first, second in ways:
        products = inner_products(first(X), second(Y))
        assert isinstance(products, np.ndarray)
        assert_allclose(products, X @ Y.T, atol=1e-12)
        assert_allclose(squared_distances(first(X), second(Y))[:20, :7], squares, atol=1e-12)


@pytest.mark.parametrize("kernel", [RBF(0.3), Linear(), Polynomial(2, 0.5, 1.0)], ids=repr)
def test_a_kernel_takes_sparse_points(kernel):
    X = points(50)[0]
    K = kernel(sparse.csr_matrix(X))
    assert_allclose(K, kernel(X), atol=1e-12)
    assert_array_equal(K, K.T)
    assert_allclose(kernel.diagonal(sparse.csr_matrix(X)), np.diagonal(K), atol=1e-12)
    about = kernel.about(np.zeros(X.shape[1]))
    split = about.gram(sparse.csr_matrix(X))
    assert_allclose(about.diagonal(sparse.csr_matrix(X)), np.diagonal(split), atol=1e-12)
    assert_array_equal(split, split.T)


@pytest.mark.parametrize("rule", ["scale", "auto", "median"])
def test_rules_for_the_width_are_those_of_arrays(rule):
    X = points(60)[0]
    weights = np.random.default_rng(0).uniform(0, 2, 60)
    for given in (None, weights):
        found = resolve_gamma(rule, sparse.csr_matrix(X), given)
        assert found == pytest.approx(resolve_gamma(rule, X, given), rel=1e-12)
    assert resolve_gamma("scale", sparse.csr_matrix((5, 3))) == 1.0


# Memory and errors


def test_a_large_matrix_is_never_written_out(monkeypatch):
    n, d = 700, 400_000
    rng, each = np.random.default_rng(0), 20
    entries = (rng.normal(size=n * each), rng.integers(0, d, n * each))
    X = sparse.csr_array((*entries, np.arange(n + 1) * each), shape=(n, d))
    y = np.asarray(X.sum(axis=1)).ravel() > 0
    written, write_out = [], type(X).toarray

    def remember(matrix):
        written.append(matrix.shape[0] * matrix.shape[1])
        return write_out(matrix)

    monkeypatch.setattr(type(X), "toarray", remember)
    machine = KernelSVC(kernel="linear").fit(X, y)
    machine.predict(X)
    assert machine.certificate_.status == "optimal"
    assert 0 < max(written) <= max(WRITTEN_OUT, n**2)


@pytest.mark.parametrize(
    "machine",
    [
        KernelSVC(kernel="laplacian"),
        KernelSVC(kernel="precomputed"),
        KernelSVC(kernel=RBF(1.0) + Linear()),
        KernelSVC(kernel=lambda A, B: A @ B.T),
        HardMarginSVC(),
        KernelPCA(),
        ConformalSVC(),
    ],
    ids=lambda machine: f"{type(machine).__name__}-{str(machine.kernel)[:12]}",
)
def test_what_takes_no_sparse_points_says_so(machine):
    X, response = points(30)
    with pytest.raises((TypeError, ValueError), match=r"[Ss]parse.*toarray\(\)") as caught:
        machine.fit(sparse.csr_matrix(X), response > 0)
    assert type(machine).__name__ in str(caught.value)
    assert not machine.__sklearn_tags__().input_tags.sparse


def test_a_machine_of_arrays_takes_sparse_points_to_predict():
    X, response = points(100)
    machine = KernelSVC().fit(X, response > 0)
    values = machine.decision_function(sparse.csc_array(X))
    assert_allclose(values, machine.decision_function(X), atol=1e-12)
