"""Pre-images: images come back, stationary points, noise taken from digits."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from rational_quadratic import RadialRationalQuadratic
from samples import EVERY_KERNEL, PREIMAGES, points
from scipy.spatial.distance import cdist
from sklearn import decomposition
from sklearn.datasets import load_digits, make_moons
from sklearn.exceptions import ConvergenceWarning

from kernelbook.kernels import RBF, Radial, laplacian, rbf
from kernelbook.kpca import KernelPCA
from kernelbook.preimage import distance_preimages, fixed_point_preimages

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


def test_the_fixed_point_is_stationary_and_beats_its_starts():
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


def test_feature_distances_follow_from_the_components():
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


def test_the_fixed_point_survives_negative_weights():
    # Negative weights let the denominator of the published step vanish or change its sign.
    X = np.array([[0.0], [1.0], [3.0]])
    weights = np.array([[2.0, -1.6, 0.6], [-1.0, 1.0, 1.0], [-1.0, -1.0, -1.0]])
    starts = np.array([[0, 1, 2]] * 3)
    Z = fixed_point_preimages(X, weights, starts, RBF(1.0))
    reached = (weights * rbf(Z, X)).sum(axis=1)
    line = np.linspace(-5, 8, 2001)[:, None]
    best = (rbf(line, X) @ weights.T).max(axis=0)
    assert_allclose(reached[:2], best[:2], atol=1e-5)
    assert Z[2] in X


def test_a_published_step_that_descends_is_shortened():
    X, weights = np.array([[-0.1], [1.4], [0.3]]), np.array([[-7.2, -3.3, 11.5]])

    def value(Z):
        return (weights * rbf(Z, X)).sum()

    plain = X[[2]]
    for _ in range(200):
        products = weights * rbf(plain, X)
        plain = products @ X / products.sum()
    assert value(plain) < 0 < value(X[[2]])
    ours = fixed_point_preimages(X, weights, np.array([[2]]), RBF(1.0))
    line = np.linspace(-3, 4, 7001)[:, None]
    assert_allclose(value(ours), (rbf(line, X) @ weights.T).max(), rtol=1e-5)


def test_distances_locate_a_point_exactly():
    X = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [9.0, 9.0]])
    z = np.array([[0.3, 0.2]])
    squared = 2 - 2 * np.exp(-0.7 * cdist(z, X, "sqeuclidean"))
    squared[0, 3] = 2.5
    assert_allclose(distance_preimages(X, squared, RBF(0.7)), z, rtol=1e-10)
    nowhere = distance_preimages(X, np.array([[2.3, 2.1, 2.2, 2.4]]), RBF(0.7))
    assert_array_equal(nowhere, X[[1]])


# Other radial kernels


@pytest.mark.parametrize("alpha", [0.5, 3.0])
def test_images_of_any_radial_kernel_come_back(alpha):
    X = make_moons(100, noise=0.1, random_state=0)[0]
    for preimage in ("fixed_point", "distance"):
        pca = KernelPCA(kernel=RadialRationalQuadratic(alpha), preimage=preimage).fit(X)
        assert_allclose(pca.inverse_transform(pca.transform(X)), X, rtol=0, atol=2e-3)


def test_the_fixed_point_of_a_radial_kernel_is_stationary():
    kernel, X = RadialRationalQuadratic(0.5), make_moons(120, noise=0.15, random_state=1)[0]
    pca = KernelPCA(4, kernel=kernel).fit(X)
    projections = pca.transform(X[:20] + 0.1)
    Z = pca.inverse_transform(projections)
    weights = projections @ pca.alpha_.T + 1 / len(X)
    slope = kernel.weighted_gradient(Z, X, weights)
    assert_allclose(slope, 0, atol=1e-5)
    reached = (weights * kernel.evaluate(Z, X)).sum(axis=1)
    at_points = weights @ kernel.gram(X)
    assert (reached >= at_points.max(axis=1) - 1e-12).all()


@pytest.mark.parametrize("factor", [1.0, 4.0])
def test_distances_of_a_radial_kernel_locate_a_point_exactly(factor):
    class Scaled(RadialRationalQuadratic):
        """A profile whose height at zero is not 1."""

        def profile(self, squares):
            return factor * super().profile(squares)

    kernel = Scaled(0.8)
    X, z = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [2.0, 2.0]]), np.array([[0.3, 0.2]])
    squared = 2 * factor - 2 * kernel.evaluate(z, X)
    assert_allclose(distance_preimages(X, squared, kernel), z, rtol=1e-8)


def test_a_radial_kernel_without_a_slope_has_no_fixed_point():
    class Bump(RBF):
        def slope(self, squares):
            return Radial.slope(self, squares)

    pca = KernelPCA(2, kernel=Bump(0.5)).fit(points(30, 2))
    with pytest.raises(ValueError, match="has no known derivatives"):
        pca.inverse_transform(np.zeros((1, 2)))
    assert pca.set_params(preimage="distance").inverse_transform(np.zeros((1, 2))).shape == (1, 2)


# In use


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
    "parameters",
    [*EVERY_KERNEL[1:3], EVERY_KERNEL[4], {"kernel": laplacian}],
    ids=lambda p: str(p["kernel"]),
)
def test_the_learned_way_back_serves_every_kernel(parameters):
    X = points(60, 2)
    pca = KernelPCA(8, **parameters, preimage="ridge").fit(X)
    assert ((pca.inverse_transform(pca.transform(X)) - X) ** 2).mean() < 0.2 * X.var()
    for preimage in ("fixed_point", "distance"):
        with pytest.raises(ValueError, match=r"needs a radial kernel .*'rbf'.*preimage='ridge'"):
            pca.set_params(preimage=preimage).inverse_transform(np.zeros((1, 8)))


def test_an_unfinished_fixed_point_warns():
    X = points(60, 2)
    pca = KernelPCA(3, gamma=0.5, preimage_max_iter=1).fit(X)
    with pytest.warns(ConvergenceWarning, match="still moved after 1 steps"):
        pca.inverse_transform(pca.transform(X))
