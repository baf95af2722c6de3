"""Factors and their geometry: finite differences, closed forms, plain loops."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from samples import SMOOTH, imbalanced
from sklearn.base import clone

from kernelbook.conformal import (
    ConformalOneClassSVM,
    ConformalSVC,
    GaussianFactor,
    magnification,
)
from kernelbook.conformal.factors import normalizing_scale
from kernelbook.conformal.spaces import InputSpace
from kernelbook.kernels import gram, laplacian, rbf

# Geometry


FACTORS = {
    "wu_chang": ConformalSVC("wu_chang"),
    "amari_wu": ConformalSVC("amari_wu"),
    "amari_wu in feature space": ConformalSVC("amari_wu", metric="feature"),
    "wu_amari": ConformalSVC("wu_amari"),
    "williams": ConformalSVC("williams"),
    "williams twice": ConformalSVC("williams", n_passes=2),
    "kba": ConformalSVC("kba"),
    "kba in input space": ConformalSVC("kba", metric="input"),
    "one class": ConformalOneClassSVM(0.2, tau=0.8, floor=0.1),
}


def by_differences(X, transformed, step=1e-3):
    """sqrt(det g) from central differences of the transformed kernel, of fourth order."""
    nodes, weights = np.array([-2, -1, 1, 2]), np.array([1, -8, 8, -1]) / 12
    d = X.shape[1]
    roots = np.empty(len(X))
    for m, x in enumerate(X):
        moved = x + step * nodes[:, None, None] * np.eye(d)  # node, coordinate, point
        values = transformed(moved.reshape(-1, d)).reshape(4, d, 4, d)
        metric = np.einsum("a,aibj,b->ij", weights, values, weights) / step**2
        roots[m] = np.sqrt(np.linalg.det(metric))
    return roots


@pytest.mark.parametrize("kernel", SMOOTH)
@pytest.mark.parametrize("name", FACTORS)
def test_magnification_against_finite_differences(name, kernel):
    X, y = imbalanced(seed=3)
    model = clone(FACTORS[name]).set_params(**SMOOTH[kernel]).fit(X, y)
    values = {k: v for k, v in SMOOTH[kernel].items() if k != "kernel"}
    query = X[:8] + 0.1

    def transformed(points):
        D = model.factor_(points)
        return D[:, None] * gram(kernel, points, **values) * D

    found = magnification(query, kernel, model.factor_, **values)
    expected = by_differences(query, transformed)
    assert_allclose(found, expected, rtol=1e-5)
    # A plain function instead of a factor with a gradient.
    assert_allclose(
        magnification(query, kernel, model.factor_.__call__, **values), found, rtol=1e-6
    )


def test_magnification_of_plain_kernels():
    X = np.random.default_rng(0).normal(size=(5, 3))
    # sigma ** -d, the same everywhere.
    assert_allclose(magnification(X, "rbf", gamma=1 / (2 * 0.5**2)), 0.5**-3)
    assert_allclose(magnification(X, "linear"), 1.0)
    # (x'y)^2 is the map (x^2, sqrt(2) x z, z^2), whose tangents span this area:
    x, z = 0.7, -1.1
    tangents = np.array([[2 * x, np.sqrt(2) * z, 0], [0, np.sqrt(2) * x, 2 * z]])
    expected = np.sqrt(np.linalg.det(tangents @ tangents.T))
    assert_allclose(magnification([[x, z]], "poly", degree=2), expected)


def test_one_bump_is_flattest_at_sigma_over_root_d():
    """Amari and Wu's closed form: a bump of height h and width tau at a distance r."""
    d, sigma = 2, 0.8
    radius = np.linspace(0, 1, 11)
    X = np.column_stack([radius, np.zeros(11)])
    centre = InputSpace(np.zeros((1, d)))
    for tau in (0.4, sigma / np.sqrt(d), 1.2):
        bump = GaussianFactor(centre, np.array([2 * tau**2]), np.array([3.0]))
        found = magnification(X, "rbf", bump, gamma=1 / (2 * sigma**2))
        spread = np.sqrt(1 + sigma**2 * radius**2 / tau**4)
        expected = (3.0 / sigma) ** d * np.exp(-d * radius**2 / (2 * tau**2)) * spread
        assert_allclose(found, expected, rtol=1e-7)
        # It falls from the support vector on if tau is at least the rule's, and rises below it.
        assert (found[1] > found[0]) == (tau < sigma / np.sqrt(d))


@pytest.mark.parametrize("kernel", ["laplacian", "sigmoid", "precomputed", laplacian])
def test_magnification_needs_a_smooth_kernel(kernel):
    with pytest.raises(ValueError, match="no known derivatives"):
        magnification([[0.0]], kernel)


def test_magnification_refuses_a_factor_that_is_none():
    with pytest.raises(ValueError, match="positive number for each of the 2"):
        magnification([[0.0], [1.0]], "rbf", lambda X: X[:, 0])


# Schemes: factors by plain loops


def loops_wu_chang(d2, signs):
    """tau_k^2 and eta_k from squared distances between support vectors."""
    widths = []
    for k in range(len(signs)):
        others = [d2[k, s] for s in range(len(signs)) if s != k]
        midpoint = (min(others) + max(others)) / 2
        opposite = [d2[k, s] for s in range(len(signs)) if signs[s] != signs[k]]
        near = [value for value in opposite if value <= midpoint] or [min(opposite)]
        eta = sum(signs != signs[k]) / sum(signs == signs[k])
        widths.append(eta * sum(near) / len(near))
    return np.array(widths)


def test_wu_chang_by_loops():
    X, y = imbalanced()
    svc = ConformalSVC("wu_chang", gamma=0.5, normalize=False).fit(X, y)
    support = svc.previous_.support_
    d2 = 2 - 2 * rbf(X[support], gamma=0.5)
    widths = loops_wu_chang(d2, y[support])
    assert_allclose(svc.factor_.widths, widths, rtol=1e-10)
    D = [sum(np.exp(-row / widths)) for row in 2 - 2 * rbf(X, X[support], gamma=0.5)]
    assert_allclose(svc.factor_(X), D, rtol=1e-10)
    given = ConformalSVC("wu_chang", gamma=0.5, eta=(1.0, 3.0)).fit(X, y).factor_.widths
    ratio = given / widths
    negatives = (y[support] == 0).sum()
    positives = (y[support] == 1).sum()
    expected = np.where(y[support] == 1, 3.0 * positives / negatives, negatives / positives)
    assert_allclose(ratio, expected, rtol=1e-10)


@pytest.mark.parametrize("boundary", ["auto", 0.5, 0.8, 1.0])
def test_kba_by_loops_in_input_space(boundary):
    X, y = imbalanced()
    svc = ConformalSVC("kba", metric="input", boundary=boundary, normalize=False).fit(X, y)
    support = svc.previous_.support_
    points, signs = X[support], y[support]
    ratio = max(1.0, (signs == 0).sum() / (signs == 1).sum())
    beta = ratio / (1 + ratio) if boundary == "auto" else boundary
    pairs = set()
    for k, point in enumerate(points):
        opposite = np.flatnonzero(signs != signs[k])
        nearest = opposite[((points[opposite] - point) ** 2).sum(axis=1).argmin()]
        pairs.add((k, nearest) if signs[k] == 1 else (nearest, k))
    D = np.zeros(len(X))
    for rare, frequent in pairs:
        centre = (1 - beta) * points[rare] + beta * points[frequent]
        d2 = ((points - centre) ** 2).sum(axis=1)
        near = d2[d2 <= (d2.min() + d2.max()) / 2]
        D += np.exp(-((X - centre) ** 2).sum(axis=1) / near.mean())
    assert_allclose(svc.factor_(X), D, rtol=1e-10)


@pytest.mark.parametrize("scheme", ["wu_chang", "amari_wu", "wu_amari", "kba"])
def test_feature_space_of_the_linear_kernel_is_input_space(scheme):
    X, y = imbalanced()
    far = X + 1e4  # distances must not drown in the offset
    values = [
        ConformalSVC(scheme, kernel="linear", metric=metric).fit(far, y).factor_(far)
        for metric in ("feature", "input")
    ]
    assert_allclose(*values, rtol=1e-6)


def test_amari_wu_rule_for_the_width():
    X, y = imbalanced(d=3)
    svc = ConformalSVC("amari_wu", gamma=0.5).fit(X, y)
    # sigma = 1, d = 3.
    assert_allclose(svc.factor_.widths, 2 / 3)
    assert_allclose(svc.factor_.heights, svc.previous_.alpha_[svc.previous_.support_])
    same = ConformalSVC("amari_wu", gamma=0.5, tau="sigma/sqrt(d)").fit(X, y)
    assert_array_equal(same.factor_.widths, svc.factor_.widths)


def test_williams_kappa():
    X, y = imbalanced()
    svc = ConformalSVC("williams", normalize=False).fit(X, y)
    f = svc.previous_.decision_function(X)
    assert svc.factor_(X).min() == pytest.approx(0.1, rel=1e-12)
    assert_allclose(svc.factor_(X), 0.1 ** (f**2 / (f**2).max()), rtol=1e-12)


def test_values_of_weight_zero_have_no_scale():
    assert normalizing_scale(np.zeros(2), np.zeros(2), np.ones(2)) == 0.0
