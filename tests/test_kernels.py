"""Kernels: plain loops, accuracy far from the origin, widths, what is no Gram matrix."""

import math
import re
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import cdist, pdist
from sklearn.metrics.pairwise import pairwise_kernels

from kernelbook.exceptions import NotPositiveSemidefiniteError
from kernelbook.kernels import (
    RBF,
    Constant,
    FromCallable,
    Laplacian,
    Linear,
    Polynomial,
    Precomputed,
    Sigmoid,
    check_gram,
    gram,
    laplacian,
    linear,
    polynomial,
    rbf,
    resolve_gamma,
    resolve_kernel,
    sigmoid,
    squared_feature_distances,
)
from kernelbook.kernels.inner_product import check_degree

NAMED = [
    ("linear", {}),
    ("poly", {"degree": 3, "gamma": 0.5, "coef0": 1.0}),
    ("poly", {"degree": 2, "gamma": 0.7, "coef0": 0.0}),
    ("rbf", {"gamma": 0.4}),
    ("laplacian", {"gamma": 0.3}),
    ("sigmoid", {"gamma": 0.2, "coef0": -0.5}),
]
BY_NAME = pytest.mark.parametrize(("name", "parameters"), NAMED, ids=lambda v: str(v))
FORMULAS = {
    "linear": lambda x, y: sum(map(float.__mul__, x, y)),
    "poly": lambda x, y, degree, gamma, coef0: (
        (gamma * sum(map(float.__mul__, x, y)) + coef0) ** degree
    ),
    "rbf": lambda x, y, gamma: math.exp(
        -gamma * sum((a - b) ** 2 for a, b in zip(x, y, strict=True))
    ),
    "laplacian": lambda x, y, gamma: math.exp(
        -gamma * sum(abs(a - b) for a, b in zip(x, y, strict=True))
    ),
    "sigmoid": lambda x, y, gamma, coef0: math.tanh(gamma * sum(map(float.__mul__, x, y)) + coef0),
}


def points(n=20, d=3, seed=0):
    return np.random.default_rng(seed).normal(size=(n, d))


# Values


@BY_NAME
def test_values_are_those_of_two_plain_loops(name, parameters):
    X, Y = points(6), points(4, seed=1)
    loops = [[FORMULAS[name](x, y, **parameters) for y in Y.tolist()] for x in X.tolist()]
    assert_allclose(gram(name, X, Y, **parameters), loops, rtol=1e-13, atol=1e-15)


@BY_NAME
def test_values_are_those_of_scikit_learn(name, parameters):
    X, Y = points(), points(7, seed=1)
    theirs = pairwise_kernels(X, Y, metric=name, **parameters)
    assert_allclose(gram(name, X, Y, **parameters), theirs, rtol=1e-12, atol=1e-14)


@BY_NAME
def test_a_gram_matrix_is_exactly_symmetric(name, parameters):
    X = points(50)
    K = gram(name, X, **parameters)
    assert_array_equal(K, K.T)
    assert_array_equal(K, gram(name, X, X, **parameters))
    if name in ("rbf", "laplacian"):
        assert_array_equal(np.diagonal(K), 1.0)


@pytest.mark.parametrize("kernel", [rbf, laplacian])
def test_an_offset_of_the_data_costs_no_digits(kernel):
    # Multiples of 1/4 stay exact near 1e8, so the kernel values must not change at all.
    X = np.round(4 * points(30)) / 4
    assert_array_equal(kernel(X + 1e8, gamma=0.5), kernel(X, gamma=0.5))
    assert_array_equal(kernel(X + 1e8, X[:3] + 1e8, gamma=0.5), kernel(X, X[:3], gamma=0.5))


def test_half_a_unit_apart_at_a_hundred_million():
    K = rbf(np.array([[0.0], [0.5], [1.0]]) + 1e8, gamma=0.5)
    assert_allclose(K[0, 1], 0.8824969, atol=5e-8)
    assert_array_equal(np.diagonal(K), 1.0)
    assert_array_equal(K, K.T)


@given(
    st.lists(st.integers(-50, 50), min_size=2, max_size=2),
    st.integers(1, 5),
    st.integers(-3, 3),
)
def test_polynomial_values_of_whole_numbers_are_exact(xy, degree, coef0):
    x, y = xy
    K = polynomial([[x]], [[y]], degree=degree, gamma=0.5, coef0=coef0)
    assert Fraction(K[0, 0]) == (Fraction(x * y, 2) + coef0) ** degree


def test_points_may_be_lists_and_whole_numbers():
    assert_array_equal(linear([[1, 2], [3, 4]], [[1, 0]]), [[1.0], [3.0]])
    assert linear(np.eye(2, dtype=np.int8)).dtype == np.float64


@pytest.mark.parametrize("kernel", [linear, polynomial, rbf, laplacian, sigmoid])
@pytest.mark.parametrize(
    ("X", "Y", "message"),
    [
        ([[np.nan]], None, "X contains NaN"),
        ([[1.0]], [[np.inf]], "Y contains infinity"),
        ([[1.0, 2.0]], [[1.0]], "X has 2 features and Y has 1"),
        ([1.0, 2.0], None, "2D array"),
    ],
)
def test_points_of_different_spaces_or_with_nan_are_refused(kernel, X, Y, message):
    with pytest.raises(ValueError, match=message):
        kernel(X, Y)


# By name


def test_a_callable_gets_both_samples_and_its_matrix_is_taken():
    X, Y = points(5), points(3, seed=1)

    def kernel(A, B):
        return (A @ B.T) ** 2

    assert_allclose(gram(kernel, X, Y), polynomial(X, Y, degree=2), rtol=1e-13)
    assert_allclose(gram(kernel, X), polynomial(X, degree=2), rtol=1e-13)
    assert_array_equal(gram(lambda A, B: np.ones((len(A), len(B)), dtype=int), X, Y), 1.0)


def test_a_precomputed_matrix_comes_back_as_it_is():
    K = rbf(points())
    assert_array_equal(gram("precomputed", K), K)
    assert_array_equal(gram("precomputed", K[:3], K), K[:3])


@pytest.mark.parametrize(
    ("kernel", "message"),
    [
        (
            "gaussian",
            r"kernel must be one of \[.*'linear', .*'precomputed'.*\], a Kernel object or",
        ),
        (None, "kernel must be one of"),
        (3, "kernel must be one of"),
        (lambda A, B: A @ B.T + np.nan, "callable returned NaN or infinity"),
        (lambda A, B: np.ones(len(A)), r"returned shape \(4,\) for 4 and 4 points"),
        (lambda A, B: np.ones((2, 2)), r"it must return the matrix of shape \(4, 4\)"),
    ],
)
def test_a_wrong_kernel_is_named(kernel, message):
    with pytest.raises(ValueError, match=message):
        gram(kernel, points(4))


@pytest.mark.parametrize("name", ["linear", "poly"])
def test_overflow_is_refused_without_a_stray_warning(name):
    kernel = {"linear": "Linear", "poly": "Polynomial"}[name]
    with pytest.raises(
        ValueError, match=rf"the kernel {kernel}\(.*\) overflows on this X: rescale"
    ):
        gram(name, points(4) * 1e200, degree=3)


@pytest.mark.parametrize("degree", [2.5, 0, -1, "3", None, np.nan, np.inf, True])
def test_a_degree_that_is_no_positive_whole_number_is_refused(degree):
    with pytest.raises(
        ValueError, match=f"degree must be an integer >= 1, got {re.escape(repr(degree))}"
    ):
        gram("poly", points(4), degree=degree)


@pytest.mark.parametrize("degree", [2, 2.0, np.int8(2), np.float32(2)])
def test_a_whole_degree_may_have_any_numeric_type(degree):
    assert check_degree(degree) == 2
    assert type(check_degree(degree)) is int


# Widths


def test_scale_is_one_over_the_variance_of_all_entries():
    assert resolve_gamma("scale", [[0, 0], [4, 0], [0, 4], [4, 4]]) == 0.125
    X = points(40) * [1.0, 10.0, 100.0]
    assert_allclose(resolve_gamma("scale", X), 1 / (3 * X.var()), rtol=1e-13)


def test_auto_and_median():
    X = points(40)
    assert resolve_gamma("auto", X) == 1 / 3
    assert_allclose(resolve_gamma("median", X), 1 / np.median(pdist(X, "sqeuclidean")))
    # Far from the origin the width is the same, up to what the offset costs the data.
    assert_allclose(resolve_gamma("median", X + 1e6), resolve_gamma("median", X), rtol=1e-9)
    assert_allclose(resolve_gamma("scale", X[:, :1] + 1e6), resolve_gamma("scale", X[:, :1]))


def test_the_median_is_taken_over_the_first_two_thousand_rows():
    X = np.concatenate([points(2000, 1), 100 + points(500, 1)])
    assert resolve_gamma("median", X) == resolve_gamma("median", X[:2000])


@pytest.mark.parametrize("rule", ["scale", "median"])
@pytest.mark.parametrize(
    "X", [np.full((4, 2), 3.0), np.full((300, 3), 0.1), np.full((5, 1), 1e300), np.zeros((1, 2))]
)
def test_constant_data_have_the_width_one(rule, X):
    assert resolve_gamma(rule, X) == 1.0


def test_weights_count_as_copies():
    X, weights = points(30), np.arange(30.0) % 4
    copies = np.repeat(X, weights.astype(int), axis=0)
    assert_allclose(resolve_gamma("scale", X, weights), resolve_gamma("scale", copies), rtol=1e-13)
    X[weights == 0] = 1e6
    assert_allclose(resolve_gamma("scale", X, weights), resolve_gamma("scale", copies), rtol=1e-13)
    kept = X[weights > 0]
    assert resolve_gamma("median", X, weights) == resolve_gamma("median", kept)


@pytest.mark.parametrize("gamma", [2, 0.5, np.float32(0.5), np.int64(3), Fraction(1, 2)])
def test_a_number_is_the_width(gamma):
    assert resolve_gamma(gamma, [[0.0]]) == float(gamma)


@pytest.mark.parametrize("gamma", [0, -1.0, np.nan, np.inf])
def test_a_width_out_of_range_is_refused(gamma):
    with pytest.raises(
        ValueError, match=f"gamma must be a positive finite number, .* got {gamma!r}"
    ):
        resolve_gamma(gamma, points())


@pytest.mark.parametrize("gamma", ["Scale", "", None, True, [1.0], np.array([1.0, 2.0])])
def test_an_unknown_rule_for_the_width_is_refused(gamma):
    message = "gamma must be a .*'scale', 'auto' or 'median', got " + re.escape(repr(gamma))
    with pytest.raises(ValueError, match=message):
        resolve_gamma(gamma, points())


def test_the_mean_distance_is_for_the_laplacian_kernel():
    X = points(30)
    mean = cdist(X, X, "cityblock").mean()
    assert_allclose(resolve_kernel("laplacian", X, gamma="mean_distance").gamma, 1 / mean)
    for name in ("rbf", "poly", "sigmoid"):
        with pytest.raises(ValueError, match="'mean_distance' is for the Laplacian kernel"):
            resolve_kernel(name, X, gamma="mean_distance")
    assert resolve_kernel("laplacian", np.ones((4, 2)), gamma="mean_distance").gamma == 1.0


def test_the_mean_distance_counts_weights_as_copies():
    X, weights = points(20, 2), np.arange(20.0) % 3
    copies = np.repeat(X, weights.astype(int), axis=0)
    weighted = resolve_kernel("laplacian", X, gamma="mean_distance", sample_weight=weights)
    assert_allclose(weighted.gamma, 1 / cdist(copies, copies, "cityblock").mean(), rtol=1e-13)


# Positive semi-definiteness


@given(st.integers(0, 2**32 - 1), st.sampled_from(NAMED), st.floats(-6, 3))
def test_gram_matrices_by_construction_pass_the_check(seed, named, exponent):
    name, parameters = named
    X = points(15, 2, seed) * 10.0**exponent
    X[7:] = X[:8]
    kernel = resolve_kernel(name, X, **parameters)
    if kernel.is_psd:
        K = kernel.gram(X)
        assert_array_equal(check_gram(K), K)


@pytest.mark.parametrize(
    ("kernel", "expected"),
    [
        (Linear(), True),
        (RBF(), True),
        (Laplacian(), True),
        (Polynomial(), True),
        (Polynomial(coef0=-0.1), False),
        (Polynomial(gamma=-1.0), False),
        (Sigmoid(), False),
        (Precomputed(), False),
        (FromCallable(rbf), False),
        (Constant(2.0), True),
        (Constant(-2.0), False),
        (RBF() + Linear(), True),
        (RBF() + Sigmoid(), False),
        (Sigmoid() * RBF(), False),
        (-1.0 * RBF(), False),
        (0.5 * (RBF() * Linear()), True),
    ],
    ids=repr,
)
def test_what_has_to_be_checked(kernel, expected):
    assert kernel.is_psd is expected


def test_an_indefinite_matrix_is_refused_with_its_eigenvalue():
    with pytest.raises(NotPositiveSemidefiniteError, match=r"smallest eigenvalue is -2 \(largest"):
        check_gram([[1.0, 3.0], [3.0, 1.0]])


@pytest.mark.parametrize(("coef0", "smallest"), [(-1.0, -2.318922), (1.0, -0.889235)])
def test_a_sigmoid_matrix_is_refused_with_its_eigenvalue(coef0, smallest):
    K = sigmoid([[-2.0], [-1.0], [0.0], [1.0], [2.0]], coef0=coef0)
    with pytest.raises(NotPositiveSemidefiniteError) as raised:
        check_gram(K)
    quoted = re.search(r"smallest eigenvalue is (\S+)", str(raised.value))
    assert_allclose(float(quoted.group(1)), smallest, atol=1e-6)


@pytest.mark.parametrize(
    ("K", "message"),
    [
        ([[1.0, np.nan], [0.0, 1.0]], "kernel matrix contains NaN"),
        ([[np.inf, 0.0], [0.0, 1.0]], "kernel matrix contains infinity"),
        ([[1.0, 0.9], [0.1, 1.0]], r"kernel matrix is not symmetric: .* differ by up to 0\.8\."),
        ([[1.0, 0.1], [0.9, 1.0]], r"differ by up to 0\.8\."),
        (np.ones((2, 3)), r"kernel matrix must be a square Gram matrix .* shape \(2, 3\)"),
        ([[-1.0]], "kernel matrix is not positive semi-definite"),
        (np.zeros((0, 0)), "0 sample"),
    ],
)
def test_what_is_no_gram_matrix_is_refused_by_its_name(K, message):
    with pytest.raises(ValueError, match=message):
        check_gram(K, name="kernel matrix")


@pytest.mark.parametrize("scale", [1e-200, 1e-8, 1.0, 1e8, 1e200])
def test_tolerances_are_relative_to_the_matrix(scale):
    asymmetric = np.array([[1.0, 0.5 + 1e-7], [0.5, 1.0]])
    indefinite = np.array([[1.0, 1.00001], [1.00001, 1.0]])
    for wrong in (asymmetric, indefinite):
        with pytest.raises(ValueError, match=r"not (symmetric|positive semi-definite)"):
            check_gram(scale * wrong)
    rounded = np.array([[1.0, 0.5 + 1e-10], [0.5, 1.0]])
    assert_array_equal(check_gram(scale * rounded), check_gram(scale * rounded).T)
    singular = np.ones((3, 3))
    assert_array_equal(check_gram(scale * singular), scale * singular)


def test_rounding_to_single_precision_is_allowed():
    K = rbf(points(200, 2), gamma=0.01)
    single = K.astype(np.float32)
    assert np.linalg.eigvalsh(single.astype(float))[0] < -1e-8
    assert check_gram(single).dtype == np.float64


def test_a_symmetric_matrix_is_neither_copied_nor_changed():
    K = rbf(points())
    before = K.copy()
    assert check_gram(K) is K
    assert_array_equal(K, before)


# Distances in feature space


def test_feature_distances_of_the_linear_kernel_are_distances():
    X, Y = points(), points(6, seed=1)
    distances = squared_feature_distances(linear(X, Y), (X**2).sum(axis=1), (Y**2).sum(axis=1))
    assert_allclose(distances, cdist(X, Y, "sqeuclidean"), rtol=1e-12)


def test_feature_distances_are_never_negative():
    X = points(50, 2)
    K = linear(X)
    distances = squared_feature_distances(K, np.diagonal(K), np.diagonal(K))
    assert distances.min() == 0.0
    assert_allclose(np.diagonal(distances), 0, atol=1e-14)
    assert_array_equal(squared_feature_distances([[2.0]], [1.0], [1.0]), 0.0)


def test_feature_distances_of_a_narrow_kernel_are_two():
    K = rbf([[0.0], [10.0]], gamma=10.0)
    assert_allclose(squared_feature_distances(K, [1, 1], [1, 1]), [[0, 2], [2, 0]], atol=1e-12)
