"""What every estimator with a kernel shares: Gram matrices, checked points, fits that are whole."""

import inspect
from numbers import Real
from typing import ClassVar

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.utils.validation import validate_data

from kernelbook.estimator import (
    KERNEL_CONSTRAINTS,
    KernelEstimator,
    Number,
    all_or_nothing,
    degeneracy,
    expand,
    training_gram,
    training_matrix,
)
from kernelbook.exceptions import NotPositiveSemidefiniteError
from kernelbook.kernels import (
    RBF,
    FromCallable,
    Precomputed,
    gram,
    linear,
    rbf,
    resolve_kernel,
    sigmoid,
)
from kernelbook.qp import DenseQuadratic, GramQuadratic, SolverOptions


class MeanEmbedding(KernelEstimator):
    """The smallest estimator there can be: f(x) is the mean of K(x_i, x)."""

    _parameter_constraints: ClassVar = KERNEL_CONSTRAINTS

    def __init__(self, kernel="rbf", gamma="scale", degree=3, coef0=0.0, error=None):
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.error = error

    @all_or_nothing
    def fit(self, X, y=None, sample_weight=None):
        """Fit."""
        self._validate_params()
        X = validate_data(self, X, dtype=np.float64)
        self.kernel_ = resolve_kernel(
            self.kernel,
            X,
            gamma=self.gamma,
            degree=self.degree,
            coef0=self.coef0,
            sample_weight=sample_weight,
        )
        self.gram_ = training_gram(self.kernel_, X)
        self._expansion = self.kernel_.expansion(X, np.arange(len(X)), np.full(len(X), 1 / len(X)))
        if self.error is not None:
            raise self.error
        return self

    def values(self, X):
        return self._expansion(self._check_new_points(X))


def points(n=12, d=2, seed=0):
    return np.random.default_rng(seed).normal(size=(n, d))


# All or nothing


@pytest.mark.parametrize("error", [ValueError("no"), KeyboardInterrupt(), MemoryError()])
def test_a_failed_first_fit_leaves_nothing_behind(error):
    model = MeanEmbedding(error=error)
    before = dict(vars(model))
    with pytest.raises(type(error)):
        model.fit(points())
    assert vars(model) == before


def test_a_failed_refit_leaves_the_old_fit():
    X = pd.DataFrame(points(), columns=["a", "b"])
    model = MeanEmbedding().fit(X)
    before = dict(vars(model))
    model.error = ValueError("no")
    with pytest.raises(ValueError, match="no"):
        model.fit(points(5, 7))
    assert vars(model) == {**before, "error": model.error}
    assert model.n_features_in_ == 2
    assert_array_equal(model.feature_names_in_, ["a", "b"])
    assert_allclose(model.values(X), rbf(X, gamma=model.gamma_).mean(axis=1))


def test_a_fit_keeps_its_name_signature_and_result():
    assert MeanEmbedding.fit.__name__ == "fit"
    assert MeanEmbedding.fit.__doc__ == "Fit."
    assert list(inspect.signature(MeanEmbedding.fit).parameters) == [
        "self", "X", "y", "sample_weight",
    ]  # fmt: skip
    model = MeanEmbedding()
    assert model.fit(points()) is model


# Gram matrices


@pytest.mark.parametrize(
    "parameters",
    [
        {"kernel": "linear"},
        {"kernel": "poly", "gamma": 0.5, "degree": 2, "coef0": 1.0},
        {"kernel": "rbf", "gamma": 0.4},
        {"kernel": "laplacian", "gamma": 0.3},
        {"kernel": RBF(0.4) + 2.0 * RBF(3.0)},
        {"kernel": rbf},
    ],
    ids=str,
)
def test_kernel_values_are_those_of_gram(parameters):
    X, new = points(), points(4, seed=1)
    model = MeanEmbedding(**parameters).fit(X)
    assert_array_equal(model.gram_, gram(X=X, **parameters))
    means = gram(X=new, Y=X, **parameters).mean(axis=1)
    assert_allclose(model.values(new), means, rtol=1e-14, atol=1e-15)


def test_the_width_is_resolved_where_the_kernel_has_one():
    X = points() * 3
    assert MeanEmbedding().fit(X).gamma_ == pytest.approx(1 / (2 * X.var()))
    assert MeanEmbedding(gamma="auto", kernel="laplacian").fit(X).gamma_ == 0.5
    assert MeanEmbedding(kernel=RBF(0.3)).fit(X).gamma_ == 0.3
    for kernel in (rbf, RBF(1.0) + RBF(2.0)):
        assert not hasattr(MeanEmbedding(kernel=kernel).fit(X), "gamma_")


def test_an_unfitted_machine_has_no_width():
    assert not hasattr(MeanEmbedding(), "gamma_")


def test_weights_enter_the_width():
    X = points()
    doubled = MeanEmbedding().fit(X, sample_weight=np.repeat([1.0, 2.0], 6))
    assert doubled.gamma_ == pytest.approx(
        MeanEmbedding().fit(X[[*range(12), *range(6, 12)]]).gamma_
    )


@pytest.mark.parametrize(
    ("parameters", "X", "name"),
    [
        ({"kernel": "sigmoid", "gamma": 1.0, "coef0": 1.0}, points(), "the Gram matrix"),
        ({"kernel": "poly", "gamma": 1.0, "degree": 2, "coef0": -9.0}, points(), "the Gram matrix"),
        ({"kernel": sigmoid}, points(), "the Gram matrix"),
        ({"kernel": -1.0 * RBF(1.0)}, points(), "the Gram matrix"),
        ({"kernel": "precomputed"}, [[1.0, 3.0], [3.0, 1.0]], "the precomputed X"),
        ({"kernel": Precomputed()}, [[1.0, 3.0], [3.0, 1.0]], "the precomputed X"),
    ],
    ids=["sigmoid", "poly", "callable", "negative", "precomputed", "precomputed object"],
)
def test_a_kernel_that_is_none_on_these_points_is_refused(parameters, X, name):
    message = f"{name} is not positive semi-definite: its smallest eigenvalue is -"
    with pytest.raises(NotPositiveSemidefiniteError, match=message):
        MeanEmbedding(**parameters).fit(X)


def test_an_asymmetric_callable_is_refused():
    with pytest.raises(ValueError, match="the Gram matrix is not symmetric"):
        MeanEmbedding(kernel=lambda A, B: A @ B.T + np.arange(len(A))[:, None]).fit(points())


@pytest.mark.parametrize("kernel", ["gauss", None, 2, "RBF", ""])
def test_an_unknown_kernel_is_named(kernel):
    with pytest.raises(ValueError, match=f"'kernel' parameter of MeanEmbedding .* Got {kernel!r}"):
        MeanEmbedding(kernel=kernel).fit(points())


# The matrix of a program


@pytest.mark.usefixtures("compiled_loops")
@pytest.mark.parametrize(
    ("kernel", "options", "expected"),
    [
        (RBF(), {}, DenseQuadratic),
        (RBF(), {"solver": "exact", "in_memory_up_to": 11}, GramQuadratic),
        (RBF(), {"solver": "exact", "in_memory_up_to": 12}, DenseQuadratic),
        (RBF(), {"solver": "dense", "in_memory_up_to": 0}, DenseQuadratic),
        (RBF(), {"exact_from": 12, "in_memory_up_to": 0}, GramQuadratic),
        (RBF(), {"exact_from": 13, "in_memory_up_to": 0}, DenseQuadratic),
        # What has to be checked has to be formed.
        (FromCallable(rbf), {"solver": "exact", "in_memory_up_to": 0}, DenseQuadratic),
    ],
    ids=str,
)
def test_a_matrix_is_formed_where_that_is_cheaper_or_needed(kernel, options, expected):
    Q = training_matrix(kernel, points(), SolverOptions(**options))
    assert type(Q) is expected
    x = np.linspace(-1, 1, 12)
    assert_allclose(Q.product(x), rbf(points()) @ x, rtol=1e-12)


def test_what_a_split_leaves_is_known_to_be_relative():
    X = points()
    assert training_matrix(RBF().about(X[0]), X, SolverOptions()).is_relative
    assert not training_matrix(RBF(), X, SolverOptions()).is_relative


# Points, and precomputed matrices


def test_a_precomputed_matrix_is_square_in_fit():
    for kernel in ("precomputed", Precomputed()):
        with pytest.raises(ValueError, match=r"square Gram matrix .* got shape \(12, 2\)"):
            MeanEmbedding(kernel).fit(points())


@pytest.mark.parametrize("shape", [(2, 2), (12, 3)])
def test_new_precomputed_rows_need_a_column_per_training_point(shape):
    X = points()
    model = MeanEmbedding("precomputed").fit(linear(X))
    with pytest.raises(ValueError, match=r"\(n_test, n_train\) = \(\?, 12\)"):
        model.values(np.ones(shape))
    with pytest.raises(ValueError, match="NaN"):
        model.values(np.full((3, 12), np.nan))


def test_another_dimension_is_no_matter_of_precomputed_matrices():
    with pytest.raises(ValueError, match="X has 3 features, but") as raised:
        MeanEmbedding().fit(points()).values(points(3, 3))
    assert "precomputed" not in str(raised.value)


def test_only_precomputed_matrices_are_pairwise():
    for kernel in ("precomputed", Precomputed()):
        assert MeanEmbedding(kernel).__sklearn_tags__().input_tags.pairwise
    for kernel in (linear, "rbf", RBF(), "no such kernel"):
        assert not MeanEmbedding(kernel).__sklearn_tags__().input_tags.pairwise


def test_columns_have_to_keep_their_names():
    X = pd.DataFrame(points(), columns=["a", "b"])
    model = MeanEmbedding().fit(X)
    with pytest.raises(ValueError, match="feature names should match"):
        model.values(X.rename(columns={"a": "c"}))


# Numbers, supports


@pytest.mark.parametrize("value", [True, False, np.True_, "1", None, np.nan])
def test_what_is_no_number_satisfies_no_interval(value):
    assert not Number(Real, None, None, closed="neither").is_satisfied_by(value)


def test_zeros_are_exact_unless_a_solver_was_stopped():
    index, values = np.array([0, 2, 3]), np.array([1e-9, -2.0, 0.0])
    whole, support = expand(5, index, values)
    assert_array_equal(whole, [1e-9, 0, -2.0, 0, 0])
    assert_array_equal(support, [0, 2])
    whole, support = expand(5, index, values, is_polished=False)
    assert_array_equal(whole, [0, 0, -2.0, 0, 0])
    assert_array_equal(support, [2])
    assert expand(3, np.arange(3), np.zeros(3), is_polished=False)[1].size == 0


def test_a_solution_that_tells_little_is_told():
    assert degeneracy(0, 5).startswith("no training point is a support vector")
    assert degeneracy(5, 5).startswith("every training point is a support vector")
    assert degeneracy(4, 5) is None
