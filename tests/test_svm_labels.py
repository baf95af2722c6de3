"""What labels may be, and what weights of classes and points do."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from samples import LINE, SIDES, classes, named
from sklearn.base import clone
from sklearn.multiclass import OneVsRestClassifier

from kernelbook.svm import HardMarginSVC, KernelSVC, encode_labels

# Labels


def test_the_ten_points_on_a_line():
    svc = KernelSVC(1.0, kernel="linear").fit(LINE, SIDES)
    assert_allclose(svc.coef_, [[0.5]], rtol=1e-12)
    assert_allclose(svc.intercept_, [-1.5], rtol=1e-12)
    free = (svc.alpha_ > 0) & (svc.alpha_ < 1)
    assert_array_equal(LINE[free].ravel(), [1, 5])
    assert_allclose(svc.alpha_[free], 0.075, rtol=1e-10)
    # The mean over all support vectors, also those at their bound, is another number.
    every = (SIDES - 0.5 * LINE.ravel())[svc.support_].mean()
    assert_allclose(every, -1.325)


@pytest.mark.parametrize(
    "y",
    [
        (SIDES > 0).astype(int),
        np.where(SIDES > 0, "spam", "ham"),
        np.where(SIDES > 0, "spam", "ham").astype(object),
        (SIDES > 0) + 1,
        (SIDES > 0).astype(object),
        SIDES.astype(object),
        SIDES > 0,
        SIDES.astype(float),
        SIDES.astype(np.int8),
        SIDES.astype(np.float32),
        SIDES.tolist(),
        pd.Series(np.where(SIDES > 0, "spam", "ham"), dtype="category"),
        pd.Series(SIDES, dtype="Int64"),
    ],
    ids=lambda y: f"{type(y).__name__}-{getattr(y, 'dtype', '')}-{list(y)[-1]}",
)
def test_any_two_labels_give_the_same_machine(y):
    svc = KernelSVC(1.0, kernel="linear").fit(LINE, y)
    assert_allclose(svc.coef_, [[0.5]], rtol=1e-12)
    assert_allclose(svc.intercept_, [-1.5], rtol=1e-12)
    assert_array_equal(svc.classes_, np.unique(np.asarray(y).tolist()))
    off = LINE[LINE.ravel() != 3]  # 3 lies on the boundary
    predicted = svc.predict(off)
    assert_array_equal(predicted, svc.classes_[(off.ravel() > 3).astype(int)])
    assert predicted[-1] == list(y)[-1]


@pytest.mark.parametrize(
    ("X", "rtol"),
    [
        (np.round(2 * LINE).astype(int), 1e-12),
        (np.round(2 * LINE).astype(np.int8), 1e-12),
        (LINE.astype(np.float32), 1e-5),
        (LINE.tolist(), 1e-12),
        (pd.DataFrame(LINE, columns=["x"]), 1e-12),
        (np.asfortranarray(np.column_stack([LINE, LINE]))[:, :1], 1e-12),
    ],
    ids=["int64", "int8", "float32", "list", "frame", "strided"],
)
def test_any_numeric_points_will_do(X, rtol):
    svc = KernelSVC(1.0, kernel="linear").fit(X, SIDES)
    assert svc.support_vectors_.dtype == np.float64
    plain = KernelSVC(1.0, kernel="linear").fit(np.asarray(X, dtype=float), SIDES)
    assert_allclose(svc.decision_function(X), plain.decision_function(np.asarray(X, float)))
    if np.asarray(X).max() == 6:
        assert_allclose([svc.coef_[0, 0], svc.intercept_[0]], [0.5, -1.5], rtol=rtol)


@pytest.mark.parametrize("estimator", [KernelSVC(), HardMarginSVC()], ids=["soft", "hard"])
@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([0.5, 1.5, 0.5, 1.5, 0.5, 1.5], "continuous"),
        ([1, 1, 1, 1, 1, 1], r"y holds one class only \(1\): .* needs at least 2 classes"),
        (["a"] * 6, r"y holds one class only \('a'\)"),
        ([0, 0, 1, 1, 1, np.nan], "Input y contains NaN"),
        (np.array([0, 0, 1, 1, "1", "0"], dtype=object), "y mixes labels of several types"),
        (np.array(["a", None] * 3, dtype=object), "or has a missing one"),
        (np.array([None, 1] * 3, dtype=object), "or has a missing one"),
        ([[0, 1]] * 6, "y should be a 1d array"),
        ([0, 1, 0], "inconsistent numbers of samples"),
        (None, "requires y to be passed"),
    ],
    ids=str,
)
def test_labels_that_are_no_two_classes_are_refused(estimator, y, message):
    svc = clone(estimator)
    with pytest.raises(ValueError, match=message):
        svc.fit(np.arange(6.0)[:, None], y)
    assert vars(svc) == svc.get_params()


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([0, 0, 1, 1, 2, 2], "Only binary classification is supported.*3 classes: wrap the"),
        (["a", "b", "c", "a", "b", "c"], "multiclass, with 3 classes"),
    ],
    ids=str,
)
def test_a_hard_margin_is_one_of_two_classes(y, message):
    svc = HardMarginSVC()
    with pytest.raises(ValueError, match=message):
        svc.fit(np.arange(6.0)[:, None], y)
    assert vars(svc) == svc.get_params()


def test_more_classes_go_through_one_against_the_rest():
    X = np.array([[0.0, 0], [0, 1], [5, 0], [5, 1], [0, 9], [1, 9]])
    y = ["a", "a", "b", "b", "c", "c"]
    assert OneVsRestClassifier(KernelSVC(10.0)).fit(X, y).predict(X).tolist() == y


def test_labels_are_coded_in_sorted_order():
    names, signs = encode_labels(["no", "yes", "no"])
    assert_array_equal(names, ["no", "yes"])
    assert_array_equal(signs, [-1.0, 1.0, -1.0])


# Weights

IMBALANCED = LINE[:8], np.array([0, 0, 0, 0, 0, 0, 1, 1])


@pytest.mark.parametrize(
    ("weights", "w", "b"),
    [
        (None, 0.7, -2.575),
        ("balanced", 0.8, -2.2),
        ({0: 2 / 3, 1: 2.0}, 0.8, -2.2),
        # Every alpha is at a bound, so that any b in [-2, -1.2] is optimal. LIBSVM returns -2,
        # for in single precision 2.2 is another number, and one alpha is below its bound.
        ({0: 1, 1: 5}, 1.0, -1.6),
        ({1: 5}, 1.0, -1.6),
    ],
    ids=str,
)
def test_class_weights_multiply_c(weights, w, b):
    svc = KernelSVC(1.0, kernel="linear", class_weight=weights).fit(*IMBALANCED)
    assert_allclose(svc.coef_, [[w]], rtol=1e-10)
    assert_allclose(svc.intercept_, [b], rtol=1e-10)


def test_every_bias_of_the_interval_costs_the_same():
    X, y = IMBALANCED
    svc = KernelSVC(1.0, kernel="linear", class_weight={1: 5}).fit(X, y)
    price = np.where(y == 1, 5, 1)
    assert ((svc.alpha_ == 0) | (svc.alpha_ == price)).all()
    biases = np.array([[-2.0], [-1.6], [-1.2], [-2.1], [-1.1]])
    values = X @ svc.coef_[0] + biases
    costs = np.maximum(1 - np.where(y == 1, 1, -1) * values, 0) @ price
    assert_allclose(costs[:3], costs.min(), rtol=1e-12)
    assert (costs[3:] > costs.min() + 0.01).all()


def test_class_weights_go_by_the_labels_whatever_their_type():
    X, y = IMBALANCED
    names = np.where(y == 1, "rare", "common")
    for labels, rare in (
        (names, "rare"), (names.astype(object), "rare"), (y == 1, True), (y.astype(object), 1)
    ):  # fmt: skip
        svc = KernelSVC(1.0, kernel="linear", class_weight={rare: 5}).fit(X, labels)
        assert_allclose(svc.coef_, [[1.0]], rtol=1e-10)


def test_balanced_counts_the_points_that_are_kept():
    X, y = classes(30)
    weights = np.ones(30)
    weights[np.flatnonzero(y == 1)[3:]] = 0
    kept = weights > 0
    with_zeros = KernelSVC(gamma=0.5, class_weight="balanced").fit(X, y, weights)
    without = KernelSVC(gamma=0.5, class_weight="balanced").fit(X[kept], y[kept])
    assert_allclose(with_zeros.decision_function(X), without.decision_function(X), rtol=1e-9)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ({"spam": 2.0}, r"class_weight names \['spam'\], but the classes are \[0, 1\]"),
        ({0: 1.0, 7: 2.0}, r"class_weight names \[7\]"),
        ({"1": 2.0}, r"names \['1'\], but the classes are \[0, 1\]: use the labels of y, in their"),
        ({0: -1.0}, r"class_weight\[0\] must be a number >= 0, got -1\.0"),
        ({1: np.nan}, r"class_weight\[1\] must be a number >= 0, got nan"),
        ({1: 0.0}, "every point of class 1 has weight zero"),
        ("even", named("class_weight", "even")),
        ([1.0, 2.0], named("class_weight", [1.0, 2.0])),
    ],
    ids=str,
)
def test_wrong_class_weights_are_named(weights, message):
    with pytest.raises(ValueError, match=message):
        KernelSVC(class_weight=weights).fit(*IMBALANCED)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1, 1, 1, -1, 1, 1, 1, 1], "Negative values in data passed to `sample_weight`"),
        (np.zeros(8), "sample_weight is zero for every point"),
        ([1, 1, 1, 1, 1, 1, 0, 0], "every point of class 1 has weight zero: at least 2 classes"),
        ([1, 1], "sample_weight.shape"),
        ([np.nan] * 8, "NaN"),
        ([np.inf] * 8, "infinity"),
    ],
    ids=str,
)
def test_wrong_sample_weights_are_named(weights, message):
    with pytest.raises(ValueError, match=message):
        KernelSVC().fit(*IMBALANCED, sample_weight=weights)


def test_balanced_weighs_a_single_point_as_its_class():
    # n / (2 n_k) for three and one of four points: 2/3 and 2. The prices bound the coefficients.
    X, y = np.array([[0.0], [1.0], [2.0], [0.1]]), np.array([0, 0, 0, 1])
    svc = KernelSVC(0.05, kernel="linear", class_weight="balanced").fit(X, y)
    assert_allclose(svc.alpha_, 0.05 * np.array([2, 2, 2, 6]) / 3, rtol=1e-12)
