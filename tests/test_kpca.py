"""Kernel PCA: proved values, limits, parity with scikit-learn, pre-images, what users reported."""

import pickle
import warnings
from fractions import Fraction

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from oracles import problems
from scipy.linalg import eigvalsh
from scipy.sparse.linalg import ArpackNoConvergence
from scipy.spatial.distance import cdist
from sklearn import decomposition
from sklearn.datasets import load_digits, make_moons
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.estimator_checks import parametrize_with_checks

import kernelbook.kpca
from kernelbook.exceptions import NotPositiveSemidefiniteError
from kernelbook.kernels import gram, laplacian, rbf
from kernelbook.kpca import KernelPCA
from kernelbook.preimage import distance_preimages, fixed_point_preimages
from kernelbook.projection import double_centred, sign_columns

KERNELS = [
    {"kernel": "linear"},
    {"kernel": "poly", "gamma": 0.5, "degree": 2, "coef0": 1.0},
    {"kernel": "poly", "gamma": 0.3, "degree": 3, "coef0": 0.0},
    {"kernel": "rbf", "gamma": 0.4},
    {"kernel": "laplacian", "gamma": 0.3},
]
PREIMAGES = ["fixed_point", "distance", "ridge"]


def points(n=60, d=3, seed=0):
    return np.random.default_rng(seed).normal(size=(n, d))


def kernel_parameters(kernel):
    given = {k: v for k, v in kernel.items() if k != "name" and v is not None}
    return {"kernel": kernel["name"], **given}


def checks_that_pass_no_gram_matrix(estimator):
    reason = "it cuts the Gram matrix down to whole numbers: indefinite"
    return {"check_estimators_dtypes": reason} if estimator.kernel == "precomputed" else {}


@parametrize_with_checks(
    [
        KernelPCA(),
        KernelPCA(2, kernel="linear"),
        KernelPCA(2, preimage="ridge"),
        KernelPCA(2, preimage="distance", eigen_solver="dense"),
        KernelPCA(1, kernel="poly", coef0=1.0, eigen_solver="iterative"),
        KernelPCA(kernel="laplacian"),
        KernelPCA(kernel=laplacian),
        KernelPCA(kernel="precomputed"),
    ],
    expected_failed_checks=checks_that_pass_no_gram_matrix,
)
def test_scikit_learn_estimator_checks(estimator, check):
    check(estimator)


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


def test_an_indefinite_gram_matrix_is_refused_with_the_ratio_of_its_eigenvalues():
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


def test_new_points_are_centred_with_training_means_one_by_one_as_in_a_batch():
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


@pytest.mark.parametrize("parameters", KERNELS, ids=str)
def test_components_are_orthonormal_and_solve_the_eigenproblem(parameters):
    X = points()
    pca = KernelPCA(5, **parameters).fit(X)
    K = gram(**parameters, X=X)
    C = double_centred(K)
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
    X = points(80) + 1e4
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
    X = points()
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


def test_left_out_n_components_means_the_rank():
    X = points(12, 2)
    assert KernelPCA(kernel="linear").fit_transform(X).shape == (12, 2)
    assert KernelPCA(gamma=1.0).fit_transform(X).shape == (12, 11)
    names = KernelPCA(kernel="linear").fit(X).get_feature_names_out()
    assert names.tolist() == ["kernelpca0", "kernelpca1"]


def test_components_below_the_relative_floor_are_left_out():
    X = np.linspace(0, 1, 40)[:, None]
    pca = KernelPCA(gamma=1.0).fit(X)
    every = np.sort(eigvalsh(double_centred(rbf(X))))[::-1]
    assert len(pca.eigenvalues_) == np.count_nonzero(every > 1e-12 * every[0])
    assert every[len(pca.eigenvalues_)] > 10 * np.finfo(float).eps
    assert pca.eigenvalues_[-1] > 1e-12 * pca.eigenvalues_[0]


def test_permuted_points_have_the_same_components():
    X, order = points(), np.random.default_rng(1).permutation(60)
    first, second = KernelPCA(4, gamma=0.3).fit(X), KernelPCA(4, gamma=0.3).fit(X[order])
    assert_allclose(first.eigenvalues_, second.eigenvalues_, rtol=1e-12)
    assert_allclose(first.transform(X), second.transform(X), atol=1e-12)


def test_signs_do_not_depend_on_rounding():
    X = np.array([[-1.0], [1.0]])
    assert KernelPCA(1, kernel="linear").fit(X).eigenvectors_[0, 0] > 0
    V = np.array([[-0.5, 0.3, 0.0], [0.5 + 1e-12, -0.9, 0.0]])
    assert sign_columns(V).tolist() == [-1.0, -1.0, 1.0]
    pca = KernelPCA(6, gamma=0.4).fit(points())
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


@pytest.mark.parametrize("parameters", KERNELS, ids=str)
def test_parity_with_scikit_learn(parameters):
    X, new = points(80), points(15, seed=1)
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


def test_precomputed_and_callable_kernels_give_what_the_name_gives():
    X, new = points(), points(9, seed=1)
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


def test_the_iterative_solver_meets_multiple_and_missing_eigenvalues():
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

    X = points()
    expected = KernelPCA(2, gamma=0.4, eigen_solver="dense").fit(X)
    monkeypatch.setattr(kernelbook.kpca, "eigsh", fails)
    pca = KernelPCA(2, gamma=0.4, eigen_solver="iterative").fit(X)
    assert_array_equal(pca.eigenvectors_, expected.eigenvectors_)


@pytest.mark.parametrize("parameters", KERNELS[:1] + KERNELS[3:], ids=str)
def test_an_offset_of_a_million_changes_nothing(parameters):
    grid = 2.0**-20  # exact beside 1e6, so that both samples hold the same numbers
    X, new = (np.round(points(50, seed=s) / grid) * grid for s in (0, 1))
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


# Pre-images


def feature_distance(X, weights, Z, gamma):
    """Squared distance between phi(z) and sum w_i phi(x_i), from kernel values."""
    return (
        1
        - 2 * (weights * rbf(Z, X, gamma=gamma)).sum(axis=1)
        + np.einsum("ij,jk,ik->i", weights, rbf(X, gamma=gamma), weights)
    )


@pytest.mark.parametrize("offset", [0.0, 1e6])
@pytest.mark.parametrize("preimage", PREIMAGES)
def test_images_come_back_when_all_components_are_kept(preimage, offset):
    X = make_moons(100, noise=0.1, random_state=0)[0] + offset
    pca = KernelPCA(gamma=2.0, preimage=preimage, preimage_reg=1e-6).fit(X)
    back = pca.inverse_transform(pca.transform(X))
    assert_allclose(back - offset, X - offset, rtol=0, atol=2e-3)


def test_the_fixed_point_is_stationary_and_better_than_its_starts():
    gamma, X = 1.0, make_moons(120, noise=0.15, random_state=1)[0]
    pca = KernelPCA(4, gamma=gamma).fit(X)
    projections = pca.transform(X[:20] + 0.1)
    Z = pca.inverse_transform(projections)
    weights = projections @ pca.alpha_.T + 1 / len(X)
    assert_allclose(weights.sum(axis=1), 1.0, rtol=1e-12)
    products = weights * rbf(Z, X, gamma=gamma)
    assert_allclose(products @ X / products.sum(axis=1)[:, None], Z, atol=1e-5)
    reached = feature_distance(X, weights, Z, gamma)
    for row in range(20):
        own = np.repeat(weights[row : row + 1], len(X), axis=0)
        starts = feature_distance(X, own, X, gamma)
        assert reached[row] <= starts.min() + 1e-12


def test_the_wanted_point_is_as_far_from_training_images_as_the_components_say():
    X, gamma = points(40, 2), 0.5
    pca = KernelPCA(5, gamma=gamma).fit(X)
    projections = pca.transform(points(6, 2, seed=1))
    weights = projections @ pca.alpha_.T + 1 / len(X)
    expected = np.column_stack(
        [feature_distance(X, weights, np.repeat(X[j : j + 1], 6, axis=0), gamma) for j in range(40)]
    )
    assert_allclose(pca._feature_distances(projections), expected, atol=1e-12)


def test_more_restarts_never_make_the_fixed_point_worse():
    gamma, X = 8.0, make_moons(80, noise=0.1, random_state=2)[0]
    pca = KernelPCA(4, gamma=gamma, n_restarts=0).fit(X)
    projections = pca.transform(X)
    weights = projections @ pca.alpha_.T + 1 / len(X)
    one = feature_distance(X, weights, pca.inverse_transform(projections), gamma)
    pca.set_params(n_restarts=4)
    five = feature_distance(X, weights, pca.inverse_transform(projections), gamma)
    assert (five <= one + 1e-12).all()
    assert (five < one - 1e-3).any()


def test_the_fixed_point_survives_weights_that_defeat_the_plain_iteration():
    # Negative weights let the denominator of the published step vanish or change its sign.
    X = np.array([[0.0], [1.0], [3.0]])
    weights = np.array([[2.0, -1.6, 0.6], [-1.0, 1.0, 1.0], [-1.0, -1.0, -1.0]])
    starts = np.array([[0, 1, 2]] * 3)
    Z = fixed_point_preimages(X, weights, starts, gamma=1.0)
    reached = (weights * rbf(Z, X)).sum(axis=1)
    line = np.linspace(-5, 8, 2001)[:, None]
    best = (rbf(line, X) @ weights.T).max(axis=0)
    assert_allclose(reached[:2], best[:2], atol=1e-5)
    assert Z[2] in X


def test_a_step_of_the_published_iteration_that_descends_is_shortened():
    X, weights = np.array([[-0.1], [1.4], [0.3]]), np.array([[-7.2, -3.3, 11.5]])

    def value(Z):
        return (weights * rbf(Z, X)).sum()

    plain = X[[2]]
    for _ in range(200):
        products = weights * rbf(plain, X)
        plain = products @ X / products.sum()
    assert value(plain) < 0 < value(X[[2]])
    ours = fixed_point_preimages(X, weights, np.array([[2]]), gamma=1.0)
    line = np.linspace(-3, 4, 7001)[:, None]
    assert_allclose(value(ours), (rbf(line, X) @ weights.T).max(), rtol=1e-5)


def test_distances_locate_a_point_exactly_and_ignore_neighbours_without_a_distance():
    X = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [9.0, 9.0]])
    z = np.array([[0.3, 0.2]])
    squared = 2 - 2 * np.exp(-0.7 * cdist(z, X, "sqeuclidean"))
    squared[0, 3] = 2.5
    assert_allclose(distance_preimages(X, squared, gamma=0.7), z, rtol=1e-10)
    nowhere = distance_preimages(X, np.array([[2.3, 2.1, 2.2, 2.4]]), gamma=0.7)
    assert_array_equal(nowhere, X[[1]])


@pytest.mark.parametrize("preimage", PREIMAGES)
def test_noise_is_taken_from_digits(preimage):
    rng = np.random.default_rng(0)
    X = rng.permutation(load_digits().data)
    clean = X[400:450]
    noisy = clean + rng.normal(scale=4.0, size=clean.shape)
    pca = KernelPCA(30, gamma="median", preimage=preimage).fit(X[:400])
    denoised = pca.inverse_transform(pca.transform(noisy))
    linear = decomposition.PCA(30).fit(X[:400])
    error = ((denoised - clean) ** 2).mean()
    assert error < ((linear.inverse_transform(linear.transform(noisy)) - clean) ** 2).mean()
    assert error < 0.6 * ((noisy - clean) ** 2).mean()


@pytest.mark.parametrize(
    "parameters", [*KERNELS[1:3], KERNELS[4], {"kernel": laplacian}], ids=lambda p: str(p["kernel"])
)
def test_the_learned_way_back_serves_every_kernel(parameters):
    X = points(60, 2)
    pca = KernelPCA(8, **parameters, preimage="ridge").fit(X)
    assert ((pca.inverse_transform(pca.transform(X)) - X) ** 2).mean() < 0.2 * X.var()
    for preimage in ("fixed_point", "distance"):
        with pytest.raises(ValueError, match=r"needs kernel='rbf'.*preimage='ridge'"):
            pca.set_params(preimage=preimage).inverse_transform(np.zeros((1, 8)))


def test_an_unfinished_fixed_point_warns():
    X = points(60, 2)
    pca = KernelPCA(3, gamma=0.5, preimage_max_iter=1).fit(X)
    with pytest.warns(ConvergenceWarning, match="still moved after 1 steps"):
        pca.inverse_transform(pca.transform(X))


# Failures


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_components": 0}, "n_components must be None or a whole number from 1 to n_samples=60"),
        ({"n_components": 61}, "n_components"),
        ({"n_components": 2.0}, "n_components"),
        ({"n_components": True}, "n_components"),
        ({"kernel": "cosine"}, "kernel must be one of"),
        ({"gamma": -1.0}, "gamma must be"),
        ({"kernel": "poly", "degree": 1.5}, "degree must be a whole number"),
        ({"eigen_solver": "arpack"}, "eigen_solver must be one of"),
        ({"preimage": "mds"}, "preimage must be one of"),
        ({"preimage_reg": 0.0}, "preimage_reg must be positive"),
        ({"n_neighbors": 0}, "n_neighbors must be a whole number of at least 1"),
        ({"n_restarts": -1}, "n_restarts must be a whole number of at least 0"),
        ({"preimage_max_iter": 0}, "preimage_max_iter must be"),
    ],
    ids=str,
)
def test_wrong_parameters_are_named_and_leave_no_trace(parameters, message):
    pca = KernelPCA(**parameters)
    before = dict(vars(pca))
    with pytest.raises(ValueError, match=message):
        pca.fit(points())
    assert vars(pca) == before


def test_wrong_data_is_refused():
    X = points()
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
    X = points()
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
