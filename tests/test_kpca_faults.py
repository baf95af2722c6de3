"""Wrong arguments of kernel PCA, and refits."""

import pickle
import warnings

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from samples import named, points

from kernelbook.kernels import rbf
from kernelbook.kpca import KernelPCA

# Failures


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_components": 0}, named("n_components", 0)),
        ({"n_components": 61}, "n_components must be at most n_samples=60, got 61"),
        ({"n_components": 2.0}, named("n_components", 2.0)),
        ({"n_components": True}, named("n_components", True)),
        ({"kernel": "cosine"}, named("kernel", "cosine")),
        ({"gamma": -1.0}, named("gamma", -1.0)),
        ({"kernel": "poly", "degree": 1.5}, "degree must be an integer >= 1, got 1.5"),
        ({"eigen_solver": "arpack"}, named("eigen_solver", "arpack")),
        ({"preimage": "mds"}, named("preimage", "mds")),
        ({"preimage_reg": 0.0}, named("preimage_reg", 0.0)),
        ({"n_neighbors": 0}, named("n_neighbors", 0)),
        ({"n_restarts": -1}, named("n_restarts", -1)),
        ({"preimage_max_iter": 0}, named("preimage_max_iter", 0)),
    ],
    ids=str,
)
def test_wrong_parameters_are_named_and_leave_no_trace(parameters, message):
    pca = KernelPCA(**parameters)
    before = dict(vars(pca))
    with pytest.raises(ValueError, match=message):
        pca.fit(points(60, 3))
    assert vars(pca) == before


def test_wrong_data_is_refused():
    X = points(60, 3)
    with pytest.raises(ValueError, match="square Gram matrix"):
        KernelPCA(kernel="precomputed").fit(X)
    with pytest.raises(ValueError, match="not symmetric"):
        KernelPCA(kernel="precomputed").fit(X[:3] + 1.0)
    with pytest.raises(ValueError, match="overflows"):
        KernelPCA(kernel="poly", degree=9, coef0=1.0, gamma=1.0).fit(X * 1e40)
    pca = KernelPCA(2, gamma=0.4).fit(X)
    with pytest.raises(ValueError, match="3 columns, but there are 2 components"):
        pca.inverse_transform(np.zeros((1, 3)))
    with pytest.raises(ValueError, match="learned in fit"):
        pca.set_params(preimage="ridge").inverse_transform(np.zeros((1, 2)))
    with pytest.raises(ValueError, match="no points to return"):
        KernelPCA(2, kernel="precomputed").fit(rbf(X)).inverse_transform(np.zeros((1, 2)))


def test_a_fitted_estimator_survives_pickling_and_a_failed_refit():
    X = points(60, 3)
    pca = KernelPCA(2, gamma=0.4, preimage="ridge").fit(X)
    projections = pca.transform(X)
    copy = pickle.loads(pickle.dumps(pca))
    assert_array_equal(copy.inverse_transform(projections), pca.inverse_transform(projections))
    with pytest.raises(ValueError, match="n_components"):
        pca.set_params(n_components=0).fit(X[:5])
    assert_array_equal(pca.transform(X), projections)


def test_nothing_is_printed(capfd):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        X = points(400, 2)
        pca = KernelPCA(3, preimage="distance").fit(X)
        pca.inverse_transform(pca.transform(X[:5]))
    out = capfd.readouterr()
    assert (out.out, out.err) == ("", "")
