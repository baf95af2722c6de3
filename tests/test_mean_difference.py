"""The nearest mean in feature space and the Parzen window: values on paper, theory, errors."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.neighbors import KernelDensity, NearestCentroid
from sklearn.utils.estimator_checks import parametrize_with_checks

from kernelbook.datasets import make_gaussians
from kernelbook.kernels import gram, rbf
from kernelbook.mean_difference import MeanDifferenceClassifier, ParzenWindow
from kernelbook.oneclass import OneClassSVM

X, Y = make_gaussians(60, 12, random_state=0)
NEW = np.random.default_rng(1).normal(size=(30, 2)) * 2

ESTIMATORS = [
    MeanDifferenceClassifier(),
    MeanDifferenceClassifier(kernel="linear"),
    MeanDifferenceClassifier(kernel="poly", degree=2, coef0=1.0),
    MeanDifferenceClassifier(kernel="precomputed"),
    ParzenWindow(),
    ParzenWindow(nu=0.1, kernel="laplacian", gamma=0.5),
    ParzenWindow(kernel="precomputed"),
]


NO_GRAM_MATRIX = dict.fromkeys(
    ("check_outliers_fit_predict", "check_outliers_train"), "the check hands in no Gram matrix"
)


@parametrize_with_checks(
    ESTIMATORS,
    expected_failed_checks=lambda e: NO_GRAM_MATRIX if e.kernel == "precomputed" else {},
)
def test_scikit_learn_check(estimator, check):
    check(estimator)


def test_value_is_half_the_difference_of_squared_distances():
    model = MeanDifferenceClassifier(gamma=0.7).fit(X, Y)
    K = rbf(X, gamma=0.7)
    squares = []
    for label in (0, 1):
        weights = (label == Y) / (label == Y).sum()
        cross = rbf(NEW, X, gamma=0.7) @ weights
        squares.append(1.0 - 2.0 * cross + weights @ K @ weights)
    assert_allclose(model.decision_function(NEW), (squares[0] - squares[1]) / 2, atol=1e-14)


def test_linear_kernel_gives_the_nearest_centroid():
    rng = np.random.default_rng(2)
    points, labels = rng.normal(size=(90, 3)) + 5.0, np.repeat(["c", "a", "b"], 30)
    model = MeanDifferenceClassifier(kernel="linear").fit(points, labels)
    peer = NearestCentroid().fit(points, labels)
    new = rng.normal(size=(200, 3)) + 5.0
    assert model.decision_function(new).shape == (200, 3)
    assert_array_equal(model.predict(new), peer.predict(new))


def test_size_of_a_class_does_not_matter():
    model = MeanDifferenceClassifier(gamma=1.0).fit(X, Y)
    copies = np.r_[np.arange(72), np.tile(np.flatnonzero(Y == 0), 9)]
    heavier = MeanDifferenceClassifier(gamma=1.0).fit(X[copies], Y[copies])
    assert_allclose(heavier.decision_function(NEW), model.decision_function(NEW), atol=1e-14)


@pytest.mark.parametrize("gamma", ["scale", 0.3])
def test_weights_count_as_copies_and_zero_leaves_out(gamma):
    weights = np.random.default_rng(3).integers(0, 4, size=72)
    copies = np.repeat(np.arange(72), weights)
    for model, y in ((MeanDifferenceClassifier(gamma=gamma), Y), (ParzenWindow(gamma=gamma), None)):
        weighted = model.fit(X, y, sample_weight=weights).decision_function(NEW)
        copied = model.fit(X[copies], None if y is None else y[copies]).decision_function(NEW)
        assert_allclose(weighted, copied, atol=1e-14)


def test_precomputed_kernel_gives_the_same_values():
    for model in (MeanDifferenceClassifier, ParzenWindow):
        expected = model(gamma=0.5).fit(X, Y).decision_function(NEW)
        given = model(kernel="precomputed").fit(rbf(X, gamma=0.5), Y)
        values = given.decision_function(rbf(NEW, X, gamma=0.5))
        assert_allclose(values, expected, rtol=0, atol=1e-15)


def test_batches_join_without_a_seam(monkeypatch):
    expected = MeanDifferenceClassifier().fit(X, Y).decision_function(NEW)
    monkeypatch.setattr("kernelbook.kernels.expansion.BLOCK_VALUES", 7 * len(X))
    assert_allclose(
        MeanDifferenceClassifier().fit(X, Y).decision_function(NEW), expected, atol=1e-15
    )


def test_callable_kernel():
    def kernel(A, B):
        return gram("rbf", A, B, gamma=0.4)

    expected = MeanDifferenceClassifier(gamma=0.4).fit(X, Y).decision_function(NEW)
    assert_array_equal(
        MeanDifferenceClassifier(kernel=kernel).fit(X, Y).decision_function(NEW), expected
    )


# --- one class ---


@pytest.mark.parametrize("nu", [0.01, 0.1, 0.25, 0.5, 0.7, 1.0])
@pytest.mark.parametrize("gamma", [0.01, 1.0, 100.0])
def test_fraction_nu_of_the_targets_lies_outside(nu, gamma):
    points = np.random.default_rng(4).normal(size=(60, 2))
    model = ParzenWindow(nu, gamma=gamma).fit(points)
    outside = (model.predict(points) < 0).sum()
    assert outside == min(np.floor(60 * nu + 1e-9), 59)
    assert_array_equal([model.predict(x[None])[0] for x in points], model.predict(points))


def test_values_are_proportional_to_a_kernel_density():
    gamma = 2.0
    density = KernelDensity(bandwidth=(2 * gamma) ** -0.5).fit(X)
    ratio = ParzenWindow(gamma=gamma).fit(X).score_samples(NEW) / np.exp(density.score_samples(NEW))
    assert_allclose(ratio, np.pi / gamma, rtol=1e-9)  # the integral of exp(-gamma |x|^2)


def test_one_class_machine_of_nu_1_has_the_same_normal_vector():
    machine = OneClassSVM(nu=1.0, gamma=0.5).fit(X)
    window = ParzenWindow(nu=1.0, gamma=0.5).fit(X)
    assert_allclose(window.score_samples(NEW), machine.score_samples(NEW), atol=1e-8)


def test_labels_are_ignored_by_the_window():
    assert_array_equal(
        ParzenWindow().fit(X, Y).score_samples(NEW), ParzenWindow().fit(X).score_samples(NEW)
    )


@pytest.mark.parametrize(
    ("model", "y", "weights", "message"),
    [
        (MeanDifferenceClassifier(), np.full(72, "well"), None, r"one class only \('well'\): "),
        (MeanDifferenceClassifier(), Y, 1 - Y, "every point of class 1 has weight zero"),
        (MeanDifferenceClassifier(), Y, -np.ones(72), "[Nn]egative"),
        (MeanDifferenceClassifier(gamma=-1), Y, None, "gamma"),
        (MeanDifferenceClassifier(kernel="precomputed"), Y, None, "square Gram matrix"),
        (ParzenWindow(0.0), None, None, r"'nu' parameter .* \(0\.0, 1\.0\]"),
        (ParzenWindow(1.5), None, None, r"'nu' parameter .* \(0\.0, 1\.0\]"),
        (ParzenWindow(), None, np.zeros(72), "zero"),
    ],
)
def test_what_cannot_be_fitted_is_named(model, y, weights, message):
    with pytest.raises(ValueError, match=message):
        model.fit(X, y, sample_weight=weights)
