"""Kernels as objects: values by the formula, and what machines ask of them besides."""

import math
import pickle
import re
from copy import deepcopy
from dataclasses import FrozenInstanceError, dataclass
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from rational_quadratic import RadialRationalQuadratic, RationalQuadratic
from sklearn.base import clone

from kernelbook.kernels import (
    NAMED,
    RBF,
    Constant,
    FromCallable,
    Kernel,
    Laplacian,
    Linear,
    Polynomial,
    Precomputed,
    Product,
    Sigmoid,
    Sum,
    gram,
    rbf,
    resolve_gamma,
    resolve_kernel,
)
from kernelbook.kernels.expansion import BLOCK_VALUES
from kernelbook.svm import KernelSVC


def dot(x, y):
    return math.fsum(a * b for a, b in zip(x, y, strict=True))


def squared(x, y):
    return math.fsum((a - b) ** 2 for a, b in zip(x, y, strict=True))


def city(x, y):
    return math.fsum(abs(a - b) for a, b in zip(x, y, strict=True))


# Each kernel with its formula, written for two points.
FORMULAS = [
    (Linear(), dot),
    (Polynomial(3, 0.5, 1.0), lambda x, y: (0.5 * dot(x, y) + 1.0) ** 3),
    (Polynomial(2, 0.7), lambda x, y: (0.7 * dot(x, y)) ** 2),
    (Polynomial(1, 2.0, -3.0), lambda x, y: 2.0 * dot(x, y) - 3.0),
    (RBF(0.4), lambda x, y: math.exp(-0.4 * squared(x, y))),
    (Laplacian(0.3), lambda x, y: math.exp(-0.3 * city(x, y))),
    (Sigmoid(0.2, -0.5), lambda x, y: math.tanh(0.2 * dot(x, y) - 0.5)),
    (Constant(2.5), lambda x, y: 2.5),
    (RBF(0.4) + Linear(), lambda x, y: math.exp(-0.4 * squared(x, y)) + dot(x, y)),
    (RBF(0.4) * Linear(), lambda x, y: math.exp(-0.4 * squared(x, y)) * dot(x, y)),
    (3.0 * Laplacian(0.3), lambda x, y: 3.0 * math.exp(-0.3 * city(x, y))),
    (Linear() * 2, lambda x, y: 2.0 * dot(x, y)),
    (FromCallable(rbf), lambda x, y: math.exp(-squared(x, y))),
    (RationalQuadratic(2.0), lambda x, y: (1.0 + squared(x, y) / 4.0) ** -2.0),
    (RadialRationalQuadratic(2.0), lambda x, y: (1.0 + squared(x, y) / 4.0) ** -2.0),
]
BY_FORMULA = pytest.mark.parametrize(("kernel", "formula"), FORMULAS, ids=lambda v: repr(v)[:40])
BY_KERNEL = pytest.mark.parametrize("kernel", [kernel for kernel, _ in FORMULAS], ids=repr)


def points(n=20, d=3, seed=0):
    return np.random.default_rng(seed).normal(size=(n, d))


# Values


@BY_FORMULA
def test_values_are_those_of_the_formula(kernel, formula):
    X, Y = points(6), points(4, seed=1)
    loops = [[formula(x, y) for y in Y.tolist()] for x in X.tolist()]
    for K in (kernel(X, Y), kernel.evaluate(X, Y)):
        assert_allclose(K, loops, rtol=1e-13, atol=1e-15)


@BY_KERNEL
def test_a_gram_matrix_holds_the_values_and_is_symmetric(kernel):
    X = points(50)
    K = kernel.gram(X)
    assert_array_equal(K, K.T)
    assert_array_equal(kernel(X), K)
    # Rounding beside the largest term that goes into a value.
    assert_allclose(K, kernel.evaluate(X, X), rtol=0, atol=1e-15 * np.abs(K).max())


@BY_KERNEL
@pytest.mark.parametrize("n", [1, 16, 50])
def test_a_diagonal_is_that_of_the_gram_matrix(kernel, n):
    X = points(50)
    K = kernel.gram(X)
    diagonal = kernel.diagonal(X[:n])
    assert diagonal.shape == (n,)
    assert_allclose(diagonal, np.diagonal(K)[:n], rtol=1e-13)


@pytest.mark.parametrize("kernel", [RBF(0.3), Laplacian(2.0), RadialRationalQuadratic()], ids=repr)
def test_stationary_kernels_have_ones_on_the_diagonal(kernel):
    X = points() * 1e3
    assert_array_equal(kernel.diagonal(X), 1.0)
    assert_array_equal(np.diagonal(kernel.gram(X)), 1.0)


def test_an_offset_of_the_data_costs_a_radial_kernel_no_digits():
    X = np.round(4 * points(30)) / 4
    for kernel in (RBF(0.5), RadialRationalQuadratic(), RBF(0.5) + Laplacian(0.1)):
        assert_array_equal(kernel(X + 1e8), kernel(X))


@pytest.mark.parametrize("kernel", [RBF(), Linear() + Constant(), RationalQuadratic()], ids=repr)
@pytest.mark.parametrize(
    ("X", "Y", "message"),
    [
        ([[np.nan]], None, "X contains NaN"),
        ([[1.0]], [[np.inf]], "Y contains infinity"),
        ([[1.0, 2.0]], [[1.0]], "X has 2 features and Y has 1"),
        ([1.0, 2.0], None, "2D array"),
    ],
)
def test_what_is_called_is_checked(kernel, X, Y, message):
    with pytest.raises(ValueError, match=message):
        kernel(X, Y)


# Sums over points


@BY_KERNEL
def test_an_expansion_is_a_sum_of_kernel_values(kernel):
    X, new, index = points(), points(5, seed=1), np.array([7, 0, 19])
    columns = np.array([[1.0, 0.5], [-2.0, 0.0], [0.25, 3.0]])
    K = kernel.evaluate(new, X[index])
    for coefficients in (columns, columns[:, 0]):
        sums = kernel.expansion(X, index, coefficients)(new)
        assert_allclose(sums, K @ coefficients, rtol=1e-12, atol=1e-13)


def test_an_expansion_of_nothing_is_zero():
    none = np.zeros(0, dtype=int)
    assert_array_equal(RBF().expansion(points(), none, np.zeros(0))(points(3)), np.zeros(3))
    assert_array_equal(RBF().expansion(points(), none, np.zeros((0, 2)))(points(3)), 0)
    assert RBF().expansion(points(), none, np.zeros((0, 2)))(points(3)).shape == (3, 2)


def test_an_expansion_is_evaluated_in_blocks_that_fit_in_memory():
    sizes = []

    def kernel(X, Y):
        sizes.append(len(X) * len(Y))
        return X @ Y.T

    X, new = points(3000, 1), points(3000, 1, seed=1)
    sums = FromCallable(kernel).expansion(X, np.arange(3000), np.ones(3000))(new)
    assert len(sizes) > 1
    assert max(sizes) <= BLOCK_VALUES
    assert_allclose(sums, new[:, 0] * X.sum(), rtol=1e-10, atol=1e-10)


@BY_KERNEL
def test_a_subset_is_some_of_the_points(kernel):
    X = points()
    assert_array_equal(kernel.subset(X, np.array([3, 1])), X[[3, 1]])
    assert kernel.subset(X, np.arange(20)) is X


def test_precomputed_values_are_rows_and_columns():
    K, kernel, index = RBF().gram(points(6)), Precomputed(), np.array([4, 1])
    assert_array_equal(kernel.gram(K), K)
    assert_array_equal(kernel.diagonal(K), np.ones(6))
    assert_array_equal(kernel.subset(K, index), K[[4, 1]][:, [4, 1]])
    assert kernel.subset(K, np.arange(6)) is K
    sums = kernel.expansion(K, index, np.array([2.0, -1.0]))(K[:3])
    assert_allclose(sums, 2 * K[:3, 4] - K[:3, 1], rtol=1e-15)
    assert kernel.about(K.mean(axis=0)) is kernel


# Features


@pytest.mark.parametrize(
    ("kernel", "size"),
    [
        (Linear(), 3),
        (Polynomial(2, 0.7, 0.0), 6),
        (Polynomial(3, 0.5, 1.0), 20),
        (Polynomial(1, 2.0, 4.0), 4),
        (Constant(2.0), 1),
        (Linear() + Polynomial(2, 1.0, 1.0), 13),
        (Constant(0.0) + Linear(), 4),
    ],
    ids=repr,
)
def test_features_have_the_kernel_as_their_inner_product(kernel, size):
    X, Y = points(15), points(4, seed=1)
    F, G = kernel.features(X), kernel.features(Y)
    assert F.shape == (15, size)
    assert_allclose(F @ G.T, kernel.evaluate(X, Y), rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize(
    "kernel",
    [
        RBF(),
        Laplacian(),
        Sigmoid(),
        Constant(-1.0),
        Polynomial(2, 1.0, -1.0),
        Linear() + RBF(),
        Linear() * Linear(),
        RationalQuadratic(),
    ],
    ids=repr,
)
def test_kernels_without_few_known_features_have_none(kernel):
    assert kernel.features(points()) is None


@pytest.mark.parametrize(
    "kernel", [Polynomial(3, 1.0, 1.0), Linear() + Polynomial(2, 1.0, 1.0) + Polynomial(2)]
)
def test_too_many_features_are_not_formed(kernel):
    X = points()
    size = kernel.features(X).shape[1]
    assert kernel.features(X, size).shape == (20, size)
    assert kernel.features(X, size - 1) is None


# From names, functions and parameters


def test_names_are_those_of_scikit_learn_and_the_matrix_itself():
    assert set(NAMED) == {"linear", "poly", "rbf", "laplacian", "sigmoid", "precomputed"}


def test_a_later_name_takes_the_estimators_parameters():
    @dataclass(frozen=True)
    class Shifted(Kernel, name="shifted"):
        gamma: float = 1.0
        shift: float = 2.0
        is_psd = True

        def evaluate(self, X, Y):
            return self.gamma * (X @ Y.T + self.shift)

    try:
        X, y = points(), np.arange(20) % 2
        assert KernelSVC(kernel="shifted", gamma=0.25).fit(X, y).kernel_ == Shifted(0.25)
        with pytest.raises(ValueError, match="name 'shifted' belongs to the kernel Shifted"):
            type("Other", (Kernel,), {}, name="shifted")
    finally:
        del NAMED["shifted"]


def test_a_class_is_no_kernel_object():
    with pytest.raises(ValueError, match=r"kernel must be an object, not a class: RBF\(...\)"):
        KernelSVC(kernel=RBF).fit(points(), np.arange(20) % 2)


def test_defaults_of_scikit_learn_have_their_own_objects():
    assert resolve_kernel("rbf", points()) == RBF(1.0)
    assert resolve_kernel("poly", points()) == Polynomial(3, 1.0, 0.0)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("linear", Linear()),
        ("poly", Polynomial(2, 0.5, 1.5)),
        ("rbf", RBF(0.5)),
        ("laplacian", Laplacian(0.5)),
        ("sigmoid", Sigmoid(0.5, 1.5)),
    ],
)
def test_a_name_stands_for_the_object_with_its_parameters(name, expected):
    resolved = resolve_kernel(name, points(), gamma=0.5, degree=2, coef0=1.5)
    assert resolved == expected
    assert type(resolved) is type(expected)
    assert_array_equal(resolved(points()), gram(name, points(), gamma=0.5, degree=2, coef0=1.5))


@pytest.mark.parametrize("name", ["poly", "rbf", "laplacian", "sigmoid"])
@pytest.mark.parametrize("rule", ["scale", "auto", "median"])
def test_rules_for_the_width_see_points_and_weights(name, rule):
    X, weights = points() * 3, np.arange(20.0)
    plain = resolve_kernel(name, X, gamma=rule)
    weighted = resolve_kernel(name, X, gamma=rule, sample_weight=weights)
    assert plain.gamma == resolve_gamma(rule, X)
    assert weighted.gamma == resolve_gamma(rule, X, weights)


@BY_KERNEL
def test_an_object_is_taken_as_it_is(kernel):
    assert resolve_kernel(kernel, points(), gamma="no rule", degree=-1, coef0=np.nan) is kernel


@pytest.mark.parametrize("function", [rbf, partial(rbf, gamma=0.3), lambda A, B: A @ B.T])
def test_a_function_becomes_a_kernel_of_its_values(function):
    kernel = resolve_kernel(function, points())
    assert kernel == FromCallable(function)
    assert_array_equal(kernel.evaluate(points(), points(4)), function(points(), points(4)))


def test_a_matrix_has_to_be_square():
    for kernel in ("precomputed", Precomputed()):
        with pytest.raises(ValueError, match=r"square Gram matrix .* got shape \(20, 3\)"):
            resolve_kernel(kernel, points())
        assert resolve_kernel(kernel, np.eye(3)).is_precomputed


@pytest.mark.parametrize("kernel", ["RBF", "", None, 3])
def test_anything_else_is_no_kernel(kernel):
    message = rf"kernel must be one of \[.*\], a Kernel object or a callable, got {kernel!r}\."
    with pytest.raises(ValueError, match=message):
        resolve_kernel(kernel, points())


# Objects


@pytest.mark.parametrize("gamma", [0, -1.0, np.nan, np.inf, "scale", None, True])
@pytest.mark.parametrize("kernel", [RBF, Laplacian])
def test_a_width_is_a_positive_number(kernel, gamma):
    with pytest.raises(ValueError, match=f"gamma must be .* got {re.escape(repr(gamma))}"):
        kernel(gamma)


@pytest.mark.parametrize("degree", [2.5, 0, -1, "3", None, np.nan, True])
def test_a_degree_is_a_positive_integer(degree):
    with pytest.raises(ValueError, match=f"degree must be an integer >= 1, got {degree!r}"):
        Polynomial(degree)


@BY_KERNEL
def test_a_kernel_is_a_value(kernel):
    twin = deepcopy(kernel)
    assert twin == kernel
    assert hash(twin) == hash(kernel)
    assert kernel != RBF(123.0)
    with pytest.raises(FrozenInstanceError):
        kernel.gamma = 2.0


@pytest.mark.parametrize("kernel", [RBF(0.5) + 2.0 * Linear(), RationalQuadratic(), Precomputed()])
def test_a_kernel_survives_pickling_and_cloning(kernel):
    assert pickle.loads(pickle.dumps(kernel)) == kernel
    assert clone(KernelSVC(kernel=kernel)).get_params()["kernel"] == kernel


def test_a_kernel_reads_as_it_is_written():
    assert repr(RBF(0.5)) == "RBF(gamma=0.5)"
    assert repr(Linear()) == "Linear()"
    assert repr(2.0 * Linear()) == "Product(first=Linear(), second=Constant(value=2.0))"
    for kernel in (Polynomial(2, 0.5, 1.0), RBF() + Constant(3.0), Sigmoid()):
        assert eval(repr(kernel)) == kernel


@given(st.floats(0.01, 5), st.floats(0.01, 5), st.integers(1, 3))
def test_sums_and_products_follow_the_rules_of_numbers(gamma, factor, degree):
    X, Y = points(6), points(4, seed=1)
    first, second = RBF(gamma), Polynomial(degree, 0.5, 1.0)
    K, L = first(X, Y), second(X, Y)
    cases = [
        (first + second, K + L),
        (first * second, K * L),
        (factor * first, factor * K),
        (first * factor, factor * K),
        (first * (second + Constant(factor)), K * (L + factor)),
    ]
    for kernel, expected in cases:
        assert_allclose(kernel(X, Y), expected, rtol=1e-14)
    assert isinstance(first + second, Sum)
    assert isinstance(first * second, Product)


def test_a_matrix_cannot_be_combined_with_a_kernel_of_points():
    for combine in (Sum, Product):
        for pair in ((Precomputed(), RBF()), (RBF(), Precomputed())):
            with pytest.raises(ValueError, match="a precomputed matrix cannot be combined"):
                combine(*pair)


def test_only_the_linear_kernel_is_linear():
    assert Linear().is_linear
    assert not any(kernel.is_linear for kernel, _ in FORMULAS if kernel != Linear())
    assert not any(kernel.is_precomputed for kernel, _ in FORMULAS)
    assert Precomputed().is_precomputed
    assert Linear() != Polynomial(1)
