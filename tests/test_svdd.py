"""Support vector data description: proved values, theory, the one-class SVM."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from oracles import kernel_parameters, problems
from samples import BY_EVERY_KERNEL, EVERY_KERNEL, labelled, points
from sklearn.preprocessing import StandardScaler
from sklearn.svm import OneClassSVM as LibraryOneClass

from kernelbook.datasets import load_hypothyroid
from kernelbook.exceptions import InfeasibleError
from kernelbook.kernels import gram, linear, rbf
from kernelbook.oneclass import OneClassSVM
from kernelbook.svdd import SVDD

LINE = np.array([[0.0], [1.0], [2.0], [3.0], [10.0]])
SQUARE = np.array([[3.0, 3.0], [5.0, 3.0], [3.0, 5.0], [5.0, 5.0], [4.0, 4.0], [4.5, 4.2]])


def geometry(X, y, alpha, kernel):
    """Squared distances to the centre, and the centre's squared norm, by the textbook."""
    K, beta = gram(X=X, **kernel), y * alpha
    norm_squared = beta @ K @ beta
    return K.diagonal() - 2 * K @ beta + norm_squared, norm_squared


# Proved values and what users reported


def proved(outcome):
    found = problems("svdd") + problems("svdd_negatives")
    found = [problem for problem in found if problem["expected"]["outcome"] == outcome]
    return pytest.mark.parametrize("problem", found, ids=lambda p: p["id"])


def from_problem(problem, **options):
    params = problem["params"]
    prices = {"C": params["C"], "C_outlier": params["C_outlier"]}
    return SVDD(**prices, **kernel_parameters(params["kernel"]), **options)


@proved("solved")
@pytest.mark.parametrize("solver", ["dense", "reference"])
def test_proved_values(problem, solver):
    data, expected = problem["data"], problem["expected"]
    atol, rtol = problem["tolerance"]["decision_atol"], problem["tolerance"]["objective_rtol"]
    model = from_problem(problem, solver=solver).fit(data["X"], data["y"])
    low, high = expected["r2_interval"]
    assert low - atol <= model.radius_squared_ <= high + atol
    assert_allclose(model.radius_squared_, (low + high) / 2, rtol=0, atol=atol)
    assert model.radius_ == pytest.approx(model.radius_squared_**0.5)
    assert_allclose(model.center_norm_**2, expected["center_norm_sq"], rtol=0, atol=atol)
    squared = model.distance(data["X_query"]) ** 2
    assert_allclose(squared, expected["distance_sq"], rtol=0, atol=atol)
    decision = model.decision_function(data["X_query"])
    assert_allclose(decision, expected["decision_function"], rtol=0, atol=atol)
    assert_array_equal(model.predict(data["X_query"]), np.where(decision >= 0, 1, -1))
    if "center" in expected:
        assert_allclose(model.center_, expected["center"], rtol=0, atol=1e-9)
    y = np.array(data["y"])
    scores = y * model.decision_function(data["X"])
    prices = np.where(y > 0, model.C, model.C_outlier or model.C)
    primal = model.radius_squared_ + prices @ np.maximum(-scores, 0)
    assert_allclose(primal, expected["objective"], rtol=rtol)
    assert model.certificate_.status == "optimal"
    assert model.certificate_.duality_gap < 1e-9


@proved("error")
def test_proved_to_be_infeasible(problem):
    data = problem["data"]
    assert problem["expected"]["error"] == "InfeasibleError"
    with pytest.raises(InfeasibleError, match=r"1/n = 0.025"):
        from_problem(problem).fit(data["X"], data["y"])


def test_square_and_centre():
    model = SVDD(1.0, kernel="linear").fit(SQUARE)
    assert_allclose(model.center_, [4, 4], atol=1e-12)
    assert model.radius_squared_ == pytest.approx(2.0)
    assert model.radius_ == pytest.approx(2**0.5)
    assert_allclose(model.distance(SQUARE) ** 2, [2, 2, 2, 2, 0, 0.29], atol=1e-12)
    assert_array_equal(model.decision_function(SQUARE)[:4], 0.0)
    assert_array_equal(model.predict(SQUARE), 1)


@pytest.mark.parametrize(
    ("C", "alpha", "centre", "radius_squared"),
    [
        (0.2, [0.2, 0.2, 0.2, 0.2, 0.2], 3.2, 0.02),
        (0.4, [0.4, 0.2, 0, 0, 0.4], 4.2, 10.24),
        (1.0, [0.5, 0, 0, 0, 0.5], 5.0, 25.0),
        (5.0, [0.5, 0, 0, 0, 0.5], 5.0, 25.0),
        (1e12, [0.5, 0, 0, 0, 0.5], 5.0, 25.0),
    ],
)
def test_path_of_c(C, alpha, centre, radius_squared):
    model = SVDD(C, kernel="linear").fit(LINE)
    assert_allclose(model.alpha_, alpha, atol=1e-12)
    assert_allclose(model.center_, [centre], atol=1e-12)
    assert model.radius_squared_ == pytest.approx(radius_squared)
    assert model.certificate_.duality_gap < 1e-12


@pytest.mark.parametrize(
    ("C", "centre", "radius_squared"), [(0.1, 3.2, 0.0), (0.4, 4.2, 10.24), (1.0, 5.0, 25.0)]
)
def test_best_on_a_grid(C, centre, radius_squared):
    # Below 1/n, where the dual is empty, the best sphere is the mean with radius 0.
    trials = []
    for a in np.linspace(0, 10, 1001):
        squared = (LINE[:, 0] - a) ** 2
        for r in (0.0, *squared):
            trials.append((r + C * np.maximum(squared - r, 0).sum(), a, r))
    assert_allclose(min(trials)[1:], [centre, radius_squared], atol=1e-9)


@pytest.mark.parametrize("y", [None, [1, 1, 1, 1, 1, -1]])
def test_c_below_one_over_n(y):
    X = LINE if y is None else np.vstack([LINE, [[20.0]]])
    with pytest.raises(InfeasibleError, match=r"C = 0.1 is below 1/n = 0.2 for n = 5 targets"):
        SVDD(0.1, kernel="linear").fit(X, y)


def test_c_below_one_over_n_by_rounding_only():
    for n in (3, 7, 49, 93):
        for C in (1 / n, np.nextafter(1 / n, 0), np.nextafter(1 / n, 1)):
            model = SVDD(C).fit(points(n))
            assert_allclose(model.alpha_, 1 / n)


def test_outliers_stay_outside():
    X, y = [[0.0], [1.0], [2.0], [3.0], [6.0]], [1, 1, 1, -1, -1]
    model = SVDD(1.0, kernel="linear").fit(X, y)
    assert_allclose(model.center_, [1.0], atol=1e-12)
    assert model.radius_squared_ == pytest.approx(1.0)
    assert_allclose(model.distance(X) ** 2, [1, 0, 1, 4, 25], atol=1e-12)
    assert_array_equal(model.predict(X), y)


@pytest.mark.parametrize("value", [2.0, 0.1])
@pytest.mark.parametrize("kernel", ["linear", "rbf", "poly", "laplacian"])
def test_identical_points_and_one_point(kernel, value):
    for n in (1, 4):
        X = [[value, 5.1]] * n
        model = SVDD(1.0, kernel=kernel).fit(X)
        assert model.alpha_.sum() == pytest.approx(1.0)
        assert 0 <= model.radius_ < 1e-12
        assert_allclose(model.distance(X), 0, atol=1e-12)
        assert_array_equal(model.predict(X), 1)
        assert_array_equal(model.predict([[value, 5.2]]), -1)
    assert_allclose(SVDD(kernel="linear").fit(X).center_, [value, 5.1])


def test_rounding_makes_no_squared_radius_negative():
    for n in range(2, 12):
        for value in np.linspace(0.1, 7.3, 13):
            model = SVDD(kernel=linear).fit([[value]] * n)
            assert 0 <= model.radius_squared_ <= 1e-15 * n * value**2
            assert_array_equal(model.predict([[value]]), 1)


# Theory


@BY_EVERY_KERNEL
@pytest.mark.parametrize("C", [0.04, 0.2, 1.0, 7.0])
@pytest.mark.parametrize("C_outlier", [None, 0.05, 3.0])
@pytest.mark.parametrize("outliers", [0, 8])
def test_primal_equals_dual(kernel, C, C_outlier, outliers):
    X, y = labelled(n_outliers=outliers)
    model = SVDD(C, C_outlier, **kernel).fit(X, y)
    squared, norm_squared = geometry(X, y, model.alpha_, kernel)
    prices = np.where(y > 0, C, C if C_outlier is None else C_outlier)
    slack = np.maximum(y * (squared - model.radius_squared_), 0)
    primal = model.radius_squared_ + prices @ slack
    dual = (y * model.alpha_) @ gram(X=X, **kernel).diagonal() - norm_squared
    assert primal == pytest.approx(dual, rel=1e-8)
    assert (y * model.alpha_).sum() == pytest.approx(1.0)
    assert (model.alpha_ <= prices * (1 + 1e-12)).all()
    assert model.certificate_.duality_gap < 1e-9


@BY_EVERY_KERNEL
def test_distances_are_those_of_the_textbook(kernel):
    X, y = labelled()
    model = SVDD(0.1, 0.3, **kernel).fit(X, y)
    squared, norm_squared = geometry(X, y, model.alpha_, kernel)
    scale = squared.max()
    assert_allclose(model.distance(X) ** 2, squared, atol=1e-12 * scale)
    assert model.center_norm_**2 == pytest.approx(norm_squared, rel=1e-12)
    decision = model.radius_squared_ - squared
    assert_allclose(model.decision_function(X), decision, atol=1e-8 * scale)
    assert_allclose(model.score_samples(X), -squared, atol=1e-8 * scale)
    assert_array_equal(model.decision_function(X), model.score_samples(X) - model.offset_)
    assert_allclose(model.dual_coef_[0], (y * model.alpha_)[model.support_])


@given(st.integers(0, 10**6), st.floats(0.01, 1.0), st.sampled_from(EVERY_KERNEL))
def test_share_of_targets_outside_is_at_most_nu(seed, nu, kernel):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 30))
    X = np.round(rng.normal(size=(n, 2)), int(rng.integers(0, 4))) * 10.0 ** rng.integers(-3, 4)
    model = SVDD(nu=nu, **kernel).fit(X)
    assert (model.predict(X) < 0).sum() <= nu * n * (1 + 1e-12)
    assert len(model.support_) >= nu * n * (1 - 1e-12)


def test_no_free_support_vector_takes_the_midpoint():
    # Two of four points outside, at C = 1/2: any R^2 between 1 and 9 is optimal.
    X = np.array([[-3.0], [-1.0], [1.0], [3.0]])
    model = SVDD(0.5, kernel="linear").fit(X)
    assert_allclose(model.alpha_, [0.5, 0, 0, 0.5], atol=1e-12)
    assert model.radius_squared_ == pytest.approx(5.0)
    # At C = 1/n only R^2 >= 0 bounds R^2 from below.
    ring = np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]])
    model = SVDD(0.25, kernel="linear").fit(ring)
    assert model.radius_squared_ == pytest.approx(0.5)


def test_no_hard_margin_with_outliers():
    X, y = labelled(20, 10, seed=4)
    model = SVDD(5.0, kernel="linear").fit(X, y)
    assert model.alpha_[y > 0].max() == pytest.approx(5.0)
    assert model.alpha_[y > 0].sum() == pytest.approx(26.0)
    assert (model.predict(X[y > 0]) < 0).sum() == 3


@pytest.mark.parametrize("offset", [1e4, 1e8])
@pytest.mark.parametrize("kernel", ["linear", "rbf", "laplacian"])
def test_offset_of_the_data_does_not_matter(kernel, offset):
    X, y = labelled()
    X = np.round(X * 1024) / 1024  # exact after the shift, too
    Z = points(seed=5)
    Z = np.round(Z * 1024) / 1024
    here = SVDD(0.1, kernel=kernel, gamma=0.5).fit(X, y)
    there = SVDD(0.1, kernel=kernel, gamma=0.5).fit(X + offset, y)
    assert_allclose(there.radius_, here.radius_, rtol=1e-8)
    assert_allclose(there.distance(Z + offset), here.distance(Z), atol=1e-7)
    if kernel == "linear":
        assert_allclose(there.center_ - offset, here.center_, atol=1e-7)
        assert there.center_norm_ == pytest.approx(np.linalg.norm(there.center_))


@pytest.mark.parametrize("scale", [1e-8, 1e8])
def test_distances_have_the_unit_of_the_data(scale):
    X, y = labelled()
    model = SVDD(0.1, kernel="linear").fit(X, y)
    scaled = SVDD(0.1, kernel="linear").fit(scale * X, y)
    assert scaled.radius_ == pytest.approx(scale * model.radius_)
    assert_allclose(scaled.distance(scale * X), scale * model.distance(X))
    assert_array_equal(scaled.predict(scale * X), model.predict(X))


def test_far_points_lie_inside_if_their_image_is_the_origin():
    # A kernel that vanishes far away, as a conformal transformation makes it.
    def factor(A):
        return np.exp(-0.2 * (A**2).sum(axis=1))

    def vanishing(A, B):
        return factor(A)[:, None] * rbf(A, B) * factor(B)

    model = SVDD(nu=0.1, kernel=vanishing).fit(points())
    far = [[50.0, 50.0]]
    assert model.distance(far) == pytest.approx(model.center_norm_)
    assert model.center_norm_ < model.radius_
    assert model.predict(far) == 1


# The one-class SVM


@pytest.mark.parametrize("kernel", ["rbf", "laplacian"])
@pytest.mark.parametrize("nu", [0.03, 0.2, 0.5, 0.77])
def test_equals_the_one_class_svm(kernel, nu):
    X, Z = points(), 2 * points(seed=1)
    svdd = SVDD(C=1 / (nu * len(X)), kernel=kernel, gamma=0.5).fit(X)
    one_class = OneClassSVM(nu, kernel=kernel, gamma=0.5).fit(X)
    assert_allclose(svdd.alpha_, one_class.alpha_, atol=1e-9)
    decision = one_class.decision_function(Z)
    assert_allclose(svdd.decision_function(Z), 2 * decision, atol=1e-9)
    assert_array_equal(svdd.predict(X), one_class.predict(X))
    by_nu = SVDD(nu=nu, kernel=kernel, gamma=0.5).fit(X)
    assert_allclose(by_nu.alpha_, svdd.alpha_, atol=1e-12)


def test_equals_the_one_class_svm_in_the_reported_case():
    X = np.random.default_rng(7).normal(size=(25, 2))
    svdd, one_class = SVDD(nu=0.2, gamma=0.5).fit(X), OneClassSVM(0.2, gamma=0.5).fit(X)
    assert_allclose(svdd.alpha_, one_class.alpha_, atol=1e-9)
    assert len(svdd.support_) == 8
    assert_allclose(svdd.decision_function(X), 2 * one_class.decision_function(X), atol=1e-9)
    assert svdd.radius_squared_ == pytest.approx(0.75489, abs=5e-6)


def test_equals_the_one_class_svm_on_real_data():
    X = load_hypothyroid().data[:400]
    X = StandardScaler().fit_transform(X[:, X.std(axis=0) > 0])
    svdd, one_class = SVDD(nu=0.1234).fit(X), OneClassSVM(0.1234).fit(X)
    assert_allclose(svdd.decision_function(X), 2 * one_class.decision_function(X), atol=1e-9)


def test_alpha_is_that_of_scikit_learn():
    X = points() + 1.0
    n, nu = len(X), 0.123
    reference = LibraryOneClass(nu=nu, gamma=1.0, tol=1e-9).fit(X)
    alpha = np.zeros(n)
    alpha[reference.support_] = reference.dual_coef_[0] / (nu * n)
    assert_allclose(SVDD(nu=nu, gamma=1.0).fit(X).alpha_, alpha, atol=1e-6)


def test_differs_from_the_one_class_svm_for_the_linear_kernel():
    X = points() + 1.0
    svdd, one_class = (
        model.fit(X) for model in (SVDD(nu=0.2, kernel="linear"), OneClassSVM(0.2, kernel="linear"))
    )
    assert np.abs(svdd.alpha_ - one_class.alpha_).max() > 1e-2
