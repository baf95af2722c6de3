"""Kernel PCA: proved values, limits, parity with scikit-learn, large offsets."""

from fractions import Fraction

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from oracles import kernel_parameters, problems
from samples import EVERY_KERNEL, PREIMAGES, points
from scipy.linalg import eigvalsh
from scipy.sparse.linalg import ArpackNoConvergence
from scipy.spatial.distance import cdist
from sklearn import decomposition
from sklearn.datasets import load_digits

import kernelbook.kpca
from kernelbook.component_signs import sign_columns
from kernelbook.exceptions import NotPositiveSemidefiniteError
from kernelbook.kernels import gram, laplacian, rbf
from kernelbook.kpca import KernelPCA
from kernelbook.qp import double_centre

# Proved values and what users reported


@pytest.mark.parametrize("problem", problems("kpca"), ids=lambda p: p["id"])
@pytest.mark.parametrize("eigen_solver", ["dense", "iterative"])
def test_proved_values(problem, eigen_solver):
    data, expected, tolerance = problem["data"], problem["expected"], problem["tolerance"]
    pca = KernelPCA(
        problem["params"]["n_components"],
        **kernel_parameters(problem["params"]["kernel"]),
        eigen_solver=eigen_solver,
    ).fit(data["X"])
    rtol = tolerance["eigenvalue_rtol"]
    assert_allclose(pca.eigenvalues_, expected["eigenvalues"], rtol=rtol)
    assert_allclose(pca.trace_, expected["trace"], rtol=rtol)
    ratio = expected["explained_variance_ratio"]
    assert_allclose(pca.explained_variance_ratio_, ratio, rtol=rtol)
    assert_allclose(
        np.abs(pca.transform(data["X_query"])),
        expected["abs_projection"],
        rtol=0,
        atol=tolerance["projection_atol"],
    )


def test_an_indefinite_matrix_is_refused_with_its_eigenvalue():
    X = np.array([[0.9, 0.1], [0.2, 0.8], [0.7, 0.7], [0.1, 0.2], [0.5, 0.9]])
    for pca, data in (
        (KernelPCA(5, kernel="sigmoid", gamma=4.0), X),
        (KernelPCA(5, kernel="precomputed"), np.tanh(4 * X @ X.T)),
    ):
        with pytest.raises(NotPositiveSemidefiniteError, match=r"-0\.206038, 0\.7426 of the lar"):
            pca.fit(data)
        assert not hasattr(pca, "eigenvalues_")


def test_components_beyond_the_rank_are_zero_and_finite():
    X = np.array([[1.0, 2.0], [2.0, 4.0], [3.0, 6.0], [4.0, 8.0]])
    pca = KernelPCA(3, kernel="linear")
    scores = pca.fit_transform(X)
    assert_allclose(pca.eigenvalues_, [25, 0, 0], rtol=1e-12)
    assert_array_equal(pca.eigenvalues_[1:], 0)
    assert_allclose(np.abs(scores[:, 0]), [3.354102, 1.118034, 1.118034, 3.354102], atol=5e-7)
    assert np.sign(scores[:, 0]).tolist() in ([1, 1, -1, -1], [-1, -1, 1, 1])
    assert_array_equal(scores[:, 1:], 0)
    assert_array_equal(pca.eigenvectors_[:, 1:], 0)
    assert_allclose(pca.transform(X), scores, atol=1e-12)
    assert_allclose(pca.explained_variance_ratio_, [1, 0, 0], rtol=1e-12)


def test_new_points_are_centred_with_training_means():
    X, new = np.array([[0.0], [1.0], [3.0]]), np.array([[2.0], [-1.0], [0.5]])
    pca = KernelPCA(2, kernel="rbf", gamma=0.5).fit(X)
    assert_allclose(pca.eigenvalues_, [1.111709, 0.386307], atol=1e-6)
    batch = pca.transform(new)
    expected = [[0.347162, 0.43258], [0.182743, 0.555121], [0.511935, 0.039378]]
    assert_allclose(np.abs(batch), expected, atol=1e-6)
    rows = np.vstack([pca.transform(new[i : i + 1]) for i in range(3)])
    assert_allclose(rows, batch, rtol=1e-13, atol=1e-15)


@pytest.mark.parametrize("preimage", PREIMAGES)
def test_a_linear_kernel_gives_the_points_back_with_their_mean(preimage):
    X = np.array([[10.0, 20.0], [12.0, 20.0], [10.0, 24.0], [12.0, 24.0]])
    pca = KernelPCA(2, kernel="linear", preimage=preimage).fit(X)
    assert_allclose(pca.eigenvalues_, [16, 4], rtol=1e-13)
    assert_allclose(pca.inverse_transform(pca.transform(X)), X, rtol=1e-14)
    assert_allclose(pca.inverse_transform([[0.0, 0.0]]), [[11, 22]], rtol=1e-14)


# Theory


@pytest.mark.parametrize("parameters", EVERY_KERNEL, ids=str)
def test_components_are_orthonormal_and_solve_the_eigenproblem(parameters):
    X = points(60, 3)
    pca = KernelPCA(5, **parameters).fit(X)
    K = gram(**parameters, X=X)
    C = double_centre(K)[0]
    assert_allclose(C @ pca.eigenvectors_, pca.eigenvectors_ * pca.eigenvalues_, atol=1e-10)
    rank = np.count_nonzero(pca.eigenvalues_)
    unit = np.diag(np.arange(5) < rank).astype(float)
    assert_allclose(pca.eigenvectors_.T @ pca.eigenvectors_, unit, atol=1e-12)
    assert_allclose(pca.alpha_.T @ C @ pca.alpha_, unit, atol=1e-10)
    assert_allclose(pca.alpha_.sum(axis=0), 0, atol=1e-11)
    assert_allclose(pca.trace_, np.trace(C), rtol=1e-12)
    scores = pca.transform(X)
    assert_allclose(scores, C @ pca.alpha_, atol=1e-10)
    assert_allclose((scores**2).sum(axis=0), pca.eigenvalues_, rtol=1e-10)


def test_a_linear_kernel_is_principal_component_analysis():
    X, new = points(40, 4), points(10, 4, seed=1)
    ours = KernelPCA(4, kernel="linear").fit(X)
    theirs = decomposition.PCA(4).fit(X)
    assert_allclose(ours.eigenvalues_, theirs.explained_variance_ * (len(X) - 1), rtol=1e-12)
    ratio = theirs.explained_variance_ratio_
    assert_allclose(ours.explained_variance_ratio_, ratio, rtol=1e-12)
    assert_allclose(np.abs(ours.transform(new)), np.abs(theirs.transform(new)), atol=1e-12)
    back = KernelPCA(2, kernel="linear").fit(X)
    two = decomposition.PCA(2).fit(X)
    assert_allclose(
        back.inverse_transform(back.transform(new)),
        two.inverse_transform(two.transform(new)),
        atol=1e-12,
    )


@pytest.mark.parametrize("gamma", [1e-6, 1e-10, 1e-14])
def test_a_very_wide_rbf_kernel_tends_to_linear_components(gamma):
    # k = 1 - gamma d^2 + O(gamma^2 d^4): after centring 2 gamma times the linear Gram matrix.
    X = points(80, 3) + 1e4
    wide = KernelPCA(3, kernel="rbf", gamma=gamma).fit(X)
    linear = KernelPCA(3, kernel="linear").fit(X)
    assert_allclose(wide.eigenvalues_, 2 * gamma * linear.eigenvalues_, rtol=20 * gamma + 1e-11)


def test_minus_half_the_squared_distances_serve_as_a_kernel():
    X = points(30, 2)
    scaling = KernelPCA(2, kernel="precomputed").fit(-0.5 * cdist(X, X, "sqeuclidean"))
    linear = KernelPCA(2, kernel="linear").fit(X)
    assert_allclose(scaling.eigenvalues_, linear.eigenvalues_, rtol=1e-12)
    assert_allclose(scaling.eigenvectors_, linear.eigenvectors_, atol=1e-12)


def test_explained_variance_is_relative_to_all_components():
    X = points(60, 3)
    every, few = KernelPCA(gamma=0.3).fit(X), KernelPCA(2, gamma=0.3).fit(X)
    assert_allclose(every.explained_variance_ratio_.sum(), 1.0, rtol=1e-12)
    assert_allclose(every.explained_variance_ratio_[:2], few.explained_variance_ratio_, rtol=1e-12)
    assert few.explained_variance_ratio_.sum() < 0.9


@pytest.mark.parametrize("n_components", [1, 3])
def test_equal_eigenvalues_are_found(n_components):
    # A narrow kernel sees fifty strangers: LAPACK's search for a few of equal values finds none.
    X = np.arange(50.0)[:, None]
    pca = KernelPCA(n_components, gamma=1e6).fit(X)
    assert_allclose(pca.eigenvalues_, np.ones(n_components))


def test_n_components_none_means_the_rank():
    X = points(12, 2)
    assert KernelPCA(kernel="linear").fit_transform(X).shape == (12, 2)
    assert KernelPCA(gamma=1.0).fit_transform(X).shape == (12, 11)
    names = KernelPCA(kernel="linear").fit(X).get_feature_names_out()
    assert names.tolist() == ["kernelpca0", "kernelpca1"]


def test_components_below_the_relative_floor_are_left_out():
    X = np.linspace(0, 1, 40)[:, None]
    pca = KernelPCA(gamma=1.0).fit(X)
    every = np.sort(eigvalsh(double_centre(rbf(X))[0]))[::-1]
    assert len(pca.eigenvalues_) == np.count_nonzero(every > 1e-12 * every[0])
    assert every[len(pca.eigenvalues_)] > 10 * np.finfo(float).eps
    assert pca.eigenvalues_[-1] > 1e-12 * pca.eigenvalues_[0]


def test_permuted_points_have_the_same_components():
    X, order = points(60, 3), np.random.default_rng(1).permutation(60)
    first, second = KernelPCA(4, gamma=0.3).fit(X), KernelPCA(4, gamma=0.3).fit(X[order])
    assert_allclose(first.eigenvalues_, second.eigenvalues_, rtol=1e-12)
    assert_allclose(first.transform(X), second.transform(X), atol=1e-12)


def test_signs_do_not_depend_on_rounding():
    X = np.array([[-1.0], [1.0]])
    assert KernelPCA(1, kernel="linear").fit(X).eigenvectors_[0, 0] > 0
    V = np.array([[-0.5, 0.3, 0.0], [0.5 + 1e-12, -0.9, 0.0]])
    assert sign_columns(V).tolist() == [-1.0, -1.0, 1.0]
    pca = KernelPCA(6, gamma=0.4).fit(points(60, 3))
    largest = np.abs(pca.eigenvectors_).argmax(axis=0)
    assert (pca.eigenvectors_[largest, np.arange(6)] > 0).all()


def test_points_that_coincide_have_no_components_and_no_nan():
    X = np.full((6, 2), 3.0)
    for kernel in ("linear", "rbf", "poly", "laplacian"):
        pca = KernelPCA(2, kernel=kernel, preimage="ridge").fit(X)
        assert_array_equal(pca.eigenvalues_, 0)
        assert_array_equal(pca.explained_variance_ratio_, 0)
        assert_array_equal(pca.transform([[1.0, 2.0]]), 0)
        assert_allclose(pca.inverse_transform([[0.0, 0.0]]), [[3, 3]])
    assert KernelPCA().fit_transform(X).shape == (6, 1)
    constant = KernelPCA(3, kernel="precomputed").fit(np.full((5, 5), 0.1))
    assert_array_equal(constant.eigenvalues_, 0)


# Parity


@pytest.mark.parametrize("parameters", EVERY_KERNEL, ids=str)
def test_parity_with_scikit_learn(parameters):
    X, new = points(80, 3), points(15, 3, seed=1)
    ours = KernelPCA(3, **parameters).fit(X)
    settings = {k: v for k, v in parameters.items() if k != "kernel"}
    if parameters["kernel"] == "laplacian":
        theirs = decomposition.KernelPCA(3, kernel="precomputed").fit(laplacian(X, **settings))
        scores = theirs.transform(laplacian(new, X, **settings))
    else:
        theirs = decomposition.KernelPCA(3, **parameters).fit(X)
        scores = theirs.transform(new)
    assert_allclose(ours.eigenvalues_, theirs.eigenvalues_, rtol=1e-10)
    assert_allclose(np.abs(ours.transform(new)), np.abs(scores), rtol=0, atol=1e-8)


def test_parity_on_digits():
    X = load_digits().data
    ours = KernelPCA(10, gamma=1e-3).fit(X[:600])
    theirs = decomposition.KernelPCA(10, kernel="rbf", gamma=1e-3, eigen_solver="dense")
    theirs.fit(X[:600])
    assert_allclose(ours.eigenvalues_, theirs.eigenvalues_, rtol=1e-10)
    new = X[600:700]
    assert_allclose(np.abs(ours.transform(new)), np.abs(theirs.transform(new)), rtol=0, atol=1e-8)


def test_precomputed_and_callable_kernels_equal_the_named_one():
    X, new = points(60, 3), points(9, 3, seed=1)
    named = KernelPCA(4, gamma=0.4).fit(X)
    K, K_new = rbf(X, gamma=0.4), rbf(new, X, gamma=0.4)
    unchanged = K.copy()
    given = KernelPCA(4, kernel="precomputed").fit(K)
    called = KernelPCA(4, kernel=lambda A, B: rbf(A, B, gamma=0.4)).fit(X)
    assert_allclose(given.transform(K_new), named.transform(new), atol=1e-12)
    assert_allclose(called.transform(new), named.transform(new), atol=1e-12)
    assert_array_equal(K, unchanged)


# Large n and large offsets


def test_the_iterative_solver_agrees_with_lapack_and_with_itself():
    X = points(400, 5)
    iterative = KernelPCA(8, gamma=0.1).fit(X)
    assert_array_equal(iterative.eigenvectors_, KernelPCA(8, gamma=0.1).fit(X).eigenvectors_)
    dense = KernelPCA(8, gamma=0.1, eigen_solver="dense").fit(X)
    assert not np.array_equal(iterative.eigenvectors_, dense.eigenvectors_)
    assert_allclose(iterative.eigenvalues_, dense.eigenvalues_, rtol=1e-12)
    assert_allclose(iterative.eigenvectors_, dense.eigenvectors_, atol=1e-10)


def test_the_iterative_solver_meets_multiple_eigenvalues():
    multiple = KernelPCA(3, kernel="precomputed", eigen_solver="iterative").fit(np.eye(50))
    assert_allclose(multiple.eigenvalues_, 1.0, rtol=1e-12)
    X = points(300, 2)
    missing = KernelPCA(5, kernel="linear", eigen_solver="iterative").fit(X)
    squares = np.linalg.svd(X - X.mean(axis=0), compute_uv=False) ** 2
    assert_allclose(missing.eigenvalues_, [*squares, 0, 0, 0], rtol=1e-12)
    assert_array_equal(missing.transform(X)[:, 2:], 0)


def test_lapack_steps_in_where_iterations_do_not_converge(monkeypatch):
    def fails(*args, **kwargs):
        raise ArpackNoConvergence("no convergence", np.empty(0), np.empty((0, 0)))

    X = points(60, 3)
    expected = KernelPCA(2, gamma=0.4, eigen_solver="dense").fit(X)
    monkeypatch.setattr(kernelbook.kpca, "eigsh", fails)
    pca = KernelPCA(2, gamma=0.4, eigen_solver="iterative").fit(X)
    assert_array_equal(pca.eigenvectors_, expected.eigenvectors_)


@pytest.mark.parametrize("parameters", EVERY_KERNEL[:1] + EVERY_KERNEL[3:], ids=str)
def test_an_offset_of_a_million_changes_nothing(parameters):
    grid = 2.0**-20  # exact beside 1e6, so that both samples hold the same numbers
    X, new = (np.round(points(50, 3, seed=s) / grid) * grid for s in (0, 1))
    near = KernelPCA(3, **parameters).fit(X)
    far = KernelPCA(3, **parameters).fit(X + 1e6)
    assert_allclose(far.eigenvalues_, near.eigenvalues_, rtol=1e-11)
    assert_allclose(far.transform(new + 1e6), near.transform(new), rtol=0, atol=1e-10)


@pytest.mark.parametrize("degree", [1, 2, 3, 5])
def test_polynomial_components_a_million_away_keep_their_digits(degree):
    # Not invariant to translation, so the centred Gram matrix is built from exact fractions.
    X = points(12, 2) + 1e6
    exact = [[Fraction(float(v)) for v in row] for row in X]
    K = [
        [
            (Fraction(1, 2) * sum(p * q for p, q in zip(a, b, strict=True)) + 1) ** degree
            for b in exact
        ]
        for a in exact
    ]
    n = len(X)
    means = [sum(row) / n for row in K]
    grand = sum(means) / n
    centred = np.array(
        [[float(K[i][j] - means[i] - means[j] + grand) for j in range(n)] for i in range(n)]
    )
    parameters = {"kernel": "poly", "gamma": 0.5, "degree": degree, "coef0": 1.0}
    pca = KernelPCA(2, **parameters).fit(X)
    assert_allclose(pca.eigenvalues_, eigvalsh(centred)[:-3:-1], rtol=1e-11)
    assert_allclose(pca.trace_, np.trace(centred), rtol=1e-12)
    first = pca.alpha_[:, 0]
    assert_allclose(pca.transform(X)[:, 0], centred @ first, rtol=1e-9)


def test_a_small_trace_is_the_sum_of_squares_about_the_mean():
    pca = KernelPCA(kernel="linear").fit([[0.1], [0.2], [0.3]])
    assert_allclose(pca.trace_, 0.02, rtol=1e-12)
