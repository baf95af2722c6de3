"""What every estimator with a kernel shares: Gram matrices, checked points, fits all or nothing."""

import inspect

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from kernelbook.base import KernelEstimator, atomic_fit
from kernelbook.exceptions import NotPositiveSemidefiniteError
from kernelbook.kernels import gram, linear, rbf, sigmoid


class MeanEmbedding(KernelEstimator):
    """The smallest estimator there can be: f(x) is the mean of K(x_i, x)."""

    def __init__(self, kernel="rbf", gamma="scale", degree=3, coef0=0.0, error=None):
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.error = error

    @atomic_fit
    def fit(self, X, y=None, sample_weight=None):
        """Fit."""
        X = self._training_points(X)
        self.gram_ = self._training_gram(X, sample_weight)
        self.points_ = X
        if self.error is not None:
            raise self.error
        return self

    def values(self, X):
        return self._gram(self._new_points(X), self.points_).mean(axis=1)


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
        {"kernel": rbf},
    ],
    ids=str,
)
def test_kernel_values_are_those_of_gram(parameters):
    X, new = points(), points(4, seed=1)
    model = MeanEmbedding(**parameters).fit(X)
    assert_array_equal(model.gram_, gram(X=X, **parameters))
    assert_array_equal(model.values(new), gram(X=new, Y=X, **parameters).mean(axis=1))


def test_the_width_is_resolved_where_the_kernel_has_one():
    X = points() * 3
    assert MeanEmbedding().fit(X).gamma_ == pytest.approx(1 / (2 * X.var()))
    assert MeanEmbedding(gamma="auto", kernel="laplacian").fit(X).gamma_ == 0.5
    assert MeanEmbedding(kernel="linear").fit(X).gamma_ == 1.0
    assert MeanEmbedding(kernel=rbf).fit(X).gamma_ == 1.0


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
        ({"kernel": "precomputed"}, [[1.0, 3.0], [3.0, 1.0]], "the precomputed X"),
    ],
    ids=["sigmoid", "poly", "callable", "precomputed"],
)
def test_a_kernel_that_is_none_on_these_points_is_refused(parameters, X, name):
    message = f"{name} is not positive semi-definite: its smallest eigenvalue is -"
    with pytest.raises(NotPositiveSemidefiniteError, match=message):
        MeanEmbedding(**parameters).fit(X)


def test_an_asymmetric_callable_is_refused():
    with pytest.raises(ValueError, match="the Gram matrix is not symmetric"):
        MeanEmbedding(kernel=lambda A, B: A @ B.T + np.arange(len(A))[:, None]).fit(points())


@pytest.mark.parametrize("kernel", ["gauss", None, 2])
def test_an_unknown_kernel_is_named(kernel):
    with pytest.raises(ValueError, match=f"kernel must be one of .* got {kernel!r}"):
        MeanEmbedding(kernel=kernel).fit(points())


# Points, and precomputed matrices


def test_a_precomputed_matrix_is_square_in_fit():
    with pytest.raises(ValueError, match=r"square Gram matrix .* got shape \(12, 2\)"):
        MeanEmbedding("precomputed").fit(points())


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
    assert MeanEmbedding("precomputed").__sklearn_tags__().input_tags.pairwise
    assert not MeanEmbedding(linear).__sklearn_tags__().input_tags.pairwise
    assert not MeanEmbedding().__sklearn_tags__().input_tags.pairwise


def test_columns_have_to_keep_their_names():
    X = pd.DataFrame(points(), columns=["a", "b"])
    model = MeanEmbedding().fit(X)
    with pytest.raises(ValueError, match="feature names should match"):
        model.values(X.rename(columns={"a": "c"}))
