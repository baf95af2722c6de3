"""Expansion of polynomial-kernel SVMs: proved values, identities, parity, selection, refusals."""

import inspect
import pickle
from fractions import Fraction
from itertools import combinations, combinations_with_replacement, permutations
from math import comb, factorial

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.axes import Axes
from oracles import problems
from scipy.sparse import csr_array
from sklearn.base import BaseEstimator, OutlierMixin
from sklearn.datasets import load_wine
from sklearn.exceptions import NotFittedError
from sklearn.metrics import balanced_accuracy_score
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR, LinearSVC, NuSVC, NuSVR, OneClassSVM

from kernelbook.explain import PolynomialExplainer
from kernelbook.explain import expansion as expansion_module
from kernelbook.explain import monomials as monomials_module
from kernelbook.explain.monomials import (
    Monomials,
    index_table,
    monomials,
    multiplicities,
    n_monomials,
    positions,
)
from kernelbook.oneclass import OneClassSVM as ExactOneClassSVM
from kernelbook.svdd import SVDD
from kernelbook.svm import KernelSVC
from kernelbook.svr import KernelSVR

# (x0 + 2 x1 + 1)^2 by hand.
BY_HAND = {(0,): 2.0, (1,): 4.0, (0, 0): 1.0, (0, 1): 4.0, (1, 1): 4.0}


def square(**kwargs):
    return PolynomialExplainer.from_support_vectors(
        [[1.0, 2.0]], [1.0], degree=2, gamma=1.0, coef0=1.0, **kwargs
    )


def random_explainer(n=12, p=4, degree=3, coef0=0.7, seed=0, **kwargs):
    rng = np.random.default_rng(seed)
    return PolynomialExplainer.from_support_vectors(
        rng.normal(size=(n, p)),
        rng.normal(size=n),
        0.3,
        degree=degree,
        gamma=0.6,
        coef0=coef0,
        **kwargs,
    )


@pytest.fixture(scope="module")
def wine():
    data = load_wine(as_frame=True)
    X = (data.data - data.data.mean()) / data.data.std()
    return X.iloc[:, :6], data.target_names[data.target]


@pytest.fixture(scope="module")
def binary(wine):
    X, y = wine
    y = np.where(y == "class_1", "second", "another")
    return X, y, SVC(kernel="poly", degree=2, coef0=1.0).fit(X, y)


@pytest.fixture(scope="module")
def three_classes(wine):
    X, y = wine
    return X, y, SVC(kernel="poly", degree=3, coef0=1.0).fit(X, y)


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


# Monomials

SIZES = [(1, 1), (1, 4), (4, 1), (4, 2), (4, 3), (3, 4), (2, 5), (3, 6), (5, 3)]


@pytest.mark.parametrize(("p", "degree"), SIZES)
@pytest.mark.parametrize("at_once", [1, 2**21])
def test_monomials_equal_products_over_all_sorted_tuples(p, degree, at_once, monkeypatch):
    monkeypatch.setattr(monomials_module, "ENTRIES_AT_ONCE", at_once)
    rng = np.random.default_rng(p + 10 * degree)
    X, weights = rng.normal(size=(7, p)), rng.normal(size=7)
    tuples = list(combinations_with_replacement(range(p), degree))
    products = np.array([np.prod(X[:, key], axis=1) for key in tuples])
    terms = Monomials(p, degree)
    assert len(terms) == len(tuples) == n_monomials(p, degree)
    assert [tuple(row) for row in index_table(p, degree).tolist()] == tuples
    assert positions(terms.indices, p, degree).tolist() == list(range(len(tuples)))
    np.testing.assert_allclose(monomials(X, degree), products, rtol=1e-14)
    np.testing.assert_allclose(terms.weighted_sums(X, weights), products @ weights, atol=1e-12)
    coefficients = rng.normal(size=len(terms))
    np.testing.assert_allclose(terms.linear_form(X, coefficients), coefficients @ products)
    np.testing.assert_allclose(terms.standard_deviations(X), products.std(axis=1))


@pytest.mark.parametrize(("p", "degree"), SIZES)
def test_monomials_by_last_index_are_the_same_in_another_order(p, degree):
    X = np.random.default_rng(0).normal(size=(3, p))
    indices = index_table(p, degree, by_last=True)
    assert (np.diff(indices[:, -1]) >= 0).all()
    assert {*map(tuple, indices.tolist())} == {*map(tuple, index_table(p, degree).tolist())}
    products = np.array([np.prod(X[:, key], axis=1) for key in indices])
    np.testing.assert_allclose(monomials(X, degree, by_last=True), products, rtol=1e-14)


def test_multiplicities_count_the_distinct_orders():
    for degree in (1, 2, 3, 4, 5):
        indices = index_table(3, degree)
        counted = [len({*permutations(row)}) for row in indices.tolist()]
        assert multiplicities(indices).tolist() == counted
        assert sum(counted) == 3**degree


def test_published_example_of_a_multiplicity():
    # x2 x3 x2 x8 x10: five factors, one of them twice.
    assert multiplicities(np.array([[2, 2, 3, 8, 10]])).tolist() == [factorial(5) / 2]


# Proved values


def exact(values):
    return np.array([float(Fraction(value)) for value in np.ravel(values)]).reshape(
        np.shape(values)
    )


@pytest.mark.parametrize("problem", problems("poly_expansion"), ids=lambda problem: problem["id"])
def test_oracle(problem):
    data, expected, rtol = problem["data"], problem["expected"], problem["tolerance"]["rtol"]
    params = {
        name: float(Fraction(problem["params"][name])) for name in ("gamma", "coef0", "intercept")
    }
    explainer = PolynomialExplainer.from_support_vectors(
        data["X"], data["y"], degree=problem["params"]["degree"], **params
    )
    wanted = {
        tuple(int(i) for i in key.split(",")): float(Fraction(value))
        for key, value in expected["coefficients"].items()
        if key
    }
    found = explainer.weights()
    assert found.keys() == wanted.keys()
    size = max(map(abs, wanted.values()))
    for key, value in wanted.items():
        assert found[key] == pytest.approx(value, rel=rtol, abs=rtol * size * 1e-2)
    constant_of_kernel = float(Fraction(expected["coefficients"][""]))
    kernel_part = explainer.constant_ - explainer.intercept_
    assert kernel_part == pytest.approx([constant_of_kernel], abs=rtol)
    constant = float(Fraction(expected["constant_total"]))
    assert explainer.constant_ == pytest.approx([constant], rel=rtol)
    counts = [1, *(len(explainer.interactions(d)) for d in range(1, explainer.degree + 1))]
    assert counts == expected["n_terms"]
    queries = data["X_query"]
    parts = exact(expected["degree_contribution"])
    values = exact(expected["decision_function"])
    scale = np.abs(parts).max()
    whole = explainer.keep(explainer.mask_)  # through the expansion instead of the kernel
    for result in (explainer, whole):
        found_parts = result.degree_contributions(queries)
        np.testing.assert_allclose(found_parts, parts, rtol=rtol, atol=rtol * scale)
        found_values = result.decision_function(queries)
        np.testing.assert_allclose(found_values, values, rtol=rtol, atol=rtol * scale)


def test_weights_of_a_small_fitted_svc():
    X = np.array([[1.0, 2], [2, 1], [-1, 0], [0, -2], [1.5, -1]])
    svc = SVC(kernel="poly", degree=2, gamma=0.5, coef0=1.0, C=10.0, tol=1e-9)
    explainer = PolynomialExplainer(svc.fit(X, [1, 1, -1, -1, 1]))
    # Binomials, multiplicities and gamma^d all enter: without the binomials the value is -.3204.
    wanted = [0.792371, 0.320771, 0.142648, -0.109052, -0.002045]
    assert explainer.coef_[0] == pytest.approx(wanted, abs=2e-6)
    assert explainer.constant_ == pytest.approx([-0.350278], abs=2e-6)
    assert explainer.constant_ == pytest.approx(explainer.intercept_, abs=1e-12)
    assert explainer.decision_function([[0.3, -0.7]]) == pytest.approx([-0.302369], abs=2e-6)


@pytest.mark.parametrize("degree", [2.5, 0, -1, "3", True, None, np.nan])
def test_degree_must_be_a_whole_number_of_at_least_one(degree):
    with pytest.raises(ValueError, match="degree"):
        PolynomialExplainer.from_support_vectors([[1.0]], [1.0], degree=degree, gamma=1.0)


def test_degree_given_as_a_whole_float_is_accepted():
    explainer = PolynomialExplainer.from_support_vectors([[2.0]], [1.0], degree=2.0, gamma=1.0)
    assert explainer.weights() == {(0,): 0.0, (0, 0): 4.0}


def test_without_coef0_only_the_highest_degree_has_weights():
    explainer = random_explainer(coef0=0.0)
    for d in (1, 2):
        assert not any(explainer.weights(degree=d).values())
    assert all(explainer.weights(degree=3).values())
    assert explainer.constant_.tolist() == explainer.intercept_.tolist()


def test_weights_by_hand():
    assert square().weights() == BY_HAND
    assert square().weights(degree=1) == {(0,): 2.0, (1,): 4.0}
    assert square().constant_.tolist() == [1.0]
    assert square().interactions() == list(BY_HAND)


@pytest.mark.parametrize(("p", "degree"), [(1, 1), (3, 2), (5, 4), (50, 4)])
def test_number_of_interactions(p, degree):
    explainer = PolynomialExplainer.from_support_vectors(
        np.ones((1, p)), [1.0], degree=degree, gamma=1.0
    )
    assert explainer.n_interactions == comb(p + degree, degree) - 1
    assert explainer.coef_.shape == (1, explainer.n_interactions)


# Parity with the models

MODELS = {
    "SVC": SVC(),
    "SVC, three classes": SVC(),
    "SVC, three classes, ovo": SVC(decision_function_shape="ovo"),
    "SVC, three classes, ties broken": SVC(break_ties=True),
    "NuSVC": NuSVC(nu=0.2),
    "NuSVC, three classes": NuSVC(nu=0.2),
    "SVR": SVR(),
    "NuSVR": NuSVR(),
    "OneClassSVM": OneClassSVM(nu=0.2),
    "exact OneClassSVM": ExactOneClassSVM(nu=0.2),
    "KernelSVC": KernelSVC(),
    "KernelSVR": KernelSVR(),
}


@pytest.mark.parametrize("coef0", [0.0, 1.0, 2**0.5])
@pytest.mark.parametrize("degree", [1, 2, 3, 4])
@pytest.mark.parametrize("name", MODELS)
def test_expansion_is_the_model(name, degree, coef0, wine):
    X, labels = wine
    X = X.to_numpy() + 0.5  # not centred: a linear one-class machine on centred data is all noise
    if "SVR" in name:
        y = X[:, 0] * X[:, 1] - X[:, 2]
    else:
        y = labels if "three" in name else labels == "class_1"
    model = BaseEstimator.__sklearn_clone__(MODELS[name]).set_params(
        kernel="poly", degree=degree, coef0=coef0
    )
    model.fit(X, y)
    explainer = PolynomialExplainer(model)
    points = np.random.default_rng(0).normal(size=(40, X.shape[1]))
    own = model.predict(points) if "SVR" in name else model.decision_function(points)
    found = explainer.decision_function(points)
    assert found.shape == own.shape
    np.testing.assert_allclose(found, own, rtol=1e-10, atol=1e-10 * np.abs(own).max())
    if "SVR" in name:
        np.testing.assert_allclose(explainer.predict(points), own, rtol=1e-10, atol=1e-10)
    else:
        predicted, wanted = explainer.predict(points), model.predict(points)
        assert predicted.dtype == wanted.dtype
        assert (predicted == wanted).all()
    assert explainer.score(X, y) == pytest.approx(
        np.mean(model.predict(X) == y) if "OneClass" in name else model.score(X, y)
    )


def test_collapsed_one_class_machine_is_closer_to_the_exact_value_than_its_own_decision(wine):
    # On centred data the linear one-class machine is a difference of two equal numbers.
    X = wine[0].to_numpy()
    model = OneClassSVM(kernel="poly", degree=1, coef0=1.0, gamma=0.25).fit(X)
    explainer = PolynomialExplainer(model)
    weights = [Fraction(a) for a in model.dual_coef_[0]]
    points = [[Fraction(v) for v in row] for row in model.support_vectors_.tolist()]
    normal = [
        sum(a * point[j] for a, point in zip(weights, points, strict=True)) / 4
        for j in range(X.shape[1])
    ]
    shift = sum(weights) + Fraction(model.intercept_[0])
    exact_values = [
        float(sum(w * Fraction(v) for w, v in zip(normal, row, strict=True)) + shift)
        for row in X[:10].tolist()
    ]
    size = np.abs(model.dual_coef_).sum()
    error = np.abs(explainer.decision_function(X[:10]) - exact_values).max()
    assert error <= 1e-14 * size
    # Degree 0 does not vanish here: the dual coefficients sum to nu n, not to 0.
    assert abs(explainer.constant_[0] - explainer.intercept_[0]) > 0.4 * len(X)


def test_degree_zero_vanishes_where_the_weights_sum_to_zero(binary):
    explainer = PolynomialExplainer(binary[2])
    assert explainer.constant_ == pytest.approx(explainer.intercept_, abs=1e-10)


def test_gamma_enters_the_weights_to_the_power_of_the_degree():
    # The published README prints the formula without gamma^d.
    weights = {
        gamma: PolynomialExplainer.from_support_vectors(
            [[1.0, 2.0]], [1.0], degree=3, gamma=gamma, coef0=1.0
        ).weights()
        for gamma in (1.0, 0.5)
    }
    for key, value in weights[1.0].items():
        assert weights[0.5][key] == value * 0.5 ** len(key)


def test_pairs_of_several_classes(three_classes):
    X, y, model = three_classes
    explainer = PolynomialExplainer(model)
    assert explainer.pairs_ == [*combinations(["class_0", "class_1", "class_2"], 2)]
    model = SVC(**model.get_params()).set_params(decision_function_shape="ovo").fit(X, y)
    decisions = model.decision_function(X)
    for column, pair in enumerate(explainer.pairs_):
        total = explainer.contributions(X, pair=pair).sum(axis=1) + explainer.constant_[column]
        np.testing.assert_allclose(total, decisions[:, column], rtol=1e-10, atol=1e-10)
        of_first = explainer.contributions(X[y == pair[0]], pair=pair).sum(axis=1)
        assert of_first.mean() + explainer.constant_[column] > 0
        assert len(explainer.weights(pair=pair)) == explainer.n_interactions


def test_one_function_of_several_must_be_named(three_classes):
    X, _, model = three_classes
    explainer = PolynomialExplainer(model)
    for call in (
        explainer.weights,
        lambda: explainer.contributions(X),
        lambda: explainer.degree_contributions(X),
        lambda: explainer.feature_contributions(X),
        lambda: explainer.plot_sample_waterfall(X.iloc[0]),
        lambda: explainer.weights(pair=("class_1", "class_0")),
    ):
        with pytest.raises(ValueError, match=r"pair must be one of \[\('class_0', 'class_1'\)"):
            call()
    with pytest.raises(ValueError, match="without classes"):
        square().weights(pair=(0, 1))


def test_importance_over_pairs_is_the_mean_size(three_classes):
    explainer = PolynomialExplainer(three_classes[2])
    table = explainer.importance()
    assert "weight" not in table
    each = [explainer.weights(pair=pair) for pair in explainer.pairs_]
    mean = [sum(abs(weights[key]) for weights in each) / 3 for key in table["interaction"]]
    assert table["importance"].to_numpy() == pytest.approx(mean)
    of_pair = explainer.importance(pair=explainer.pairs_[1], top=5)
    assert of_pair["importance"].tolist() == of_pair["weight"].abs().tolist()


def test_pair_of_a_binary_classifier_starts_with_the_positive_label(binary):
    X, _, model = binary
    explainer = PolynomialExplainer(model)
    assert explainer.pairs_ == [("second", "another")]
    assert list(explainer.classes_) == ["another", "second"]
    positive = explainer.decision_function(X) > 0
    assert (explainer.predict(X) == np.where(positive, "second", "another")).all()
    assert explainer.weights(pair=("second", "another")) == explainer.weights()


def test_model_fitted_on_a_sparse_matrix(binary):
    X, y, _ = binary
    sparse = csr_array(X.to_numpy())
    model = SVC(kernel="poly", degree=2, coef0=1.0).fit(sparse, y)
    found = PolynomialExplainer(model).decision_function(X.to_numpy())
    np.testing.assert_allclose(found, model.decision_function(sparse), rtol=1e-10)


def test_boundary_points_of_an_exact_detector_are_inside(wine):
    X = wine[0].to_numpy() + 0.5
    model = ExactOneClassSVM(nu=0.2, kernel="poly", degree=2, coef0=1.0).fit(X)
    explainer = PolynomialExplainer(model)
    on_boundary = model.decision_function(X) == 0.0
    assert on_boundary.sum() > 3
    assert (explainer.decision_function(X)[on_boundary] == 0.0).all()
    assert (explainer.predict(X) == model.predict(X)).all()


def test_model_without_support_vectors_is_its_constant(wine):
    X = wine[0].to_numpy()
    model = SVR(kernel="poly", degree=2, coef0=1.0, epsilon=1e3).fit(X, X[:, 0])
    explainer = PolynomialExplainer(model)
    assert len(model.support_vectors_) == 0
    assert explainer.predict(X).tolist() == model.predict(X).tolist()
    assert not explainer.degree_contributions(X).any()
    assert explainer.importance()["share"].tolist() == [0.0] * 27


# Raw support vectors


@pytest.mark.parametrize("shape", [(-1,), (1, -1), (-1, 1)])
def test_raw_arrays_of_any_orientation(shape, binary):
    X, _, model = binary
    explainer = PolynomialExplainer.from_support_vectors(
        model.support_vectors_,
        model.dual_coef_.reshape(shape),
        model.intercept_,
        degree=2,
        gamma=model._gamma,
        coef0=1.0,
        classes=model.classes_,
    )
    np.testing.assert_allclose(explainer.decision_function(X), model.decision_function(X))
    assert (explainer.predict(X) == model.predict(X)).all()
    explainer.plot_sample_waterfall(X.iloc[0])  # an intercept of shape (1,) draws as well


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"dual_coef": [1.0, 2.0]}, "dual_coef must hold one signed weight for each of the 1"),
        ({"dual_coef": [np.nan]}, "finite"),
        ({"intercept": [1.0, 2.0]}, "intercept must be one number"),
        ({"intercept": np.inf}, "finite"),
        ({"gamma": "scale"}, "gamma must be the finite number"),
        ({"gamma": None}, "gamma must be the finite number"),
        ({"coef0": np.nan}, "coef0 must be the finite number"),
        ({"classes": ["a", "b", "c"]}, "classes must be two different labels"),
        ({"classes": ["a", "a"]}, "classes must be two different labels"),
        ({"support_vectors": [[np.nan, 1.0]]}, "support_vectors contains NaN"),
        ({"support_vectors": [1.0, 2.0]}, "2D array"),
        ({"feature_names": ["a"]}, "feature_names must be 2 different names"),
        ({"feature_names": ["a", "a"]}, "feature_names must be 2 different names"),
    ],
)
def test_raw_arrays_that_do_not_fit(change, message):
    arguments = {
        "support_vectors": [[1.0, 2.0]],
        "dual_coef": [1.0],
        "intercept": 0.0,
        "degree": 2,
        "gamma": 1.0,
        "coef0": 0.0,
    }
    with pytest.raises(ValueError, match=message):
        PolynomialExplainer.from_support_vectors(**(arguments | change))


def test_raw_function_without_classes_predicts_its_values():
    explainer = random_explainer()
    points = np.eye(4)
    assert explainer.predict(points).tolist() == explainer.decision_function(points).tolist()
    assert explainer.classes_ is None
    assert explainer.pairs_ is None


# Refusals


@pytest.mark.parametrize(
    "kernel", ["rbf", "linear", "sigmoid", "precomputed", lambda A, B: (A @ B.T) ** 3]
)
def test_other_kernels_are_refused(kernel, wine):
    X = wine[0].to_numpy()[:, :4]
    X = X @ X.T if kernel == "precomputed" else X
    model = SVC(kernel=kernel).fit(X, wine[1] == "class_1")
    with pytest.raises(ValueError, match="kernel='poly'"):
        PolynomialExplainer(model)


def test_models_that_are_no_kernel_svm_are_refused(binary):
    X, y, model = binary
    pipeline = make_pipeline(StandardScaler(), SVC(kernel="poly")).fit(X, y)
    search = GridSearchCV(SVC(kernel="poly"), {"C": [1.0]}, cv=2).fit(X, y)
    with pytest.raises(ValueError, match="Of a pipeline pass the last step"):
        PolynomialExplainer(pipeline)
    with pytest.raises(ValueError, match="best_estimator_"):
        PolynomialExplainer(search)
    with pytest.raises(ValueError, match="not a support vector machine with a kernel"):
        PolynomialExplainer(LinearSVC().fit(X, y))
    with pytest.raises(TypeError, match="from_support_vectors"):
        PolynomialExplainer(model.support_vectors_)
    PolynomialExplainer(pipeline[-1])
    PolynomialExplainer(search.best_estimator_)


def test_unfitted_model_is_refused():
    with pytest.raises(NotFittedError):
        PolynomialExplainer(SVC(kernel="poly"))


@pytest.mark.parametrize("change", [{"degree": 3}, {"coef0": 2.0}])
def test_parameters_changed_after_the_fit_count_as_they_do_for_the_model(change, binary):
    X, y, model = binary
    model = SVC(**model.get_params()).fit(X, y).set_params(**change)
    found = PolynomialExplainer(model).decision_function(X)
    np.testing.assert_allclose(found, model.decision_function(X), rtol=1e-10)
    with pytest.raises(ValueError, match="degree must be a whole number"):
        PolynomialExplainer(model.set_params(degree=0))


class _SquaredDistance(OutlierMixin, BaseEstimator):
    """A machine that has all the attributes, but whose decision value is another function."""

    def __init__(self, kernel="poly", degree=2, gamma=1.0, coef0=0.0):
        self.kernel, self.degree, self.gamma, self.coef0 = kernel, degree, gamma, coef0

    def fit(self, X, y=None):
        self.support_vectors_ = np.asarray(X)
        self.dual_coef_ = np.full((1, len(X)), 2.0 / len(X))
        self.intercept_ = np.array([1.0])
        return self

    def decision_function(self, X):
        kernel = (X @ self.support_vectors_.T) ** self.degree
        own = (X**2).sum(axis=1) ** self.degree
        return kernel @ self.dual_coef_[0] + self.intercept_[0] - own


def test_decision_function_of_another_form_is_refused():
    model = _SquaredDistance().fit(np.array([[1.0, 0.0], [0.0, 2.0]]))
    with pytest.raises(ValueError, match="no machine of this form"):
        PolynomialExplainer(model)
    with pytest.raises(ValueError, match=r"SVDD has no intercept_|no machine of this form"):
        PolynomialExplainer(SVDD(kernel="poly", degree=2).fit(np.eye(3) + 1.0))
    del model.dual_coef_
    with pytest.raises(ValueError, match="has no dual_coef_"):
        PolynomialExplainer(model)


def test_too_large_an_expansion_is_refused_but_degrees_are_explained(monkeypatch):
    explainer = random_explainer()
    monkeypatch.setattr(expansion_module, "LARGEST", explainer.n_interactions - 1)
    with pytest.raises(ValueError, match=r"4 features at degree 3 have 34 interactions"):
        explainer.decision_function(np.eye(4))
    assert explainer.degree_contributions(np.eye(4)).shape == (4, 4)


@pytest.mark.parametrize("points", [np.ones((2, 3)), np.ones((2, 5))])
def test_wrong_number_of_columns_is_refused(points):
    explainer = random_explainer()
    for method in (
        explainer.decision_function,
        explainer.predict,
        explainer.contributions,
        explainer.feature_contributions,
        explainer.degree_contributions,
        explainer.importance,
        explainer.degree_importance,
    ):
        with pytest.raises(ValueError, match=r"but PolynomialExplainer is expecting 4 features"):
            method(points)


@pytest.mark.parametrize("points", [np.full((1, 4), np.nan), np.ones(4), np.ones((0, 4))])
def test_points_that_are_none_are_refused(points):
    with pytest.raises(ValueError, match=r"NaN|2D array|0 sample"):
        random_explainer().decision_function(points)


# Names


def test_names_come_from_the_data_frame(binary):
    X, _, model = binary
    explainer = PolynomialExplainer(model)
    assert list(explainer.feature_names) == list(X.columns)
    assert explainer.importance(X, top=1)["name"].iloc[0].split("·")[0].strip("²") in X.columns
    found = explainer.decision_function(X)
    assert found.tolist() == explainer.decision_function(X.to_numpy()).tolist()
    with pytest.raises(ValueError, match="columns of the model in their order"):
        explainer.predict(X.iloc[:, ::-1])
    with pytest.raises(ValueError, match="columns of the model in their order"):
        explainer.predict(X.rename(columns={"alcohol": "ethanol"}))


def test_names_can_be_given():
    explainer = square(feature_names=["dose", "age"])
    assert explainer.name((1, 0)) == "dose·age"
    assert explainer.name(["age", "age"]) == "age²"
    assert explainer.importance()["name"].tolist() == ["age", "dose·age", "age²", "dose", "dose²"]
    assert square().name((1, 1)) == "x1²"
    # Default names say nothing about the columns of a DataFrame.
    frame = pd.DataFrame([[1.0, 1.0]], columns=["dose", "age"])
    assert square().decision_function(frame).tolist() == [16.0]


def test_exponents_of_two_digits():
    explainer = PolynomialExplainer.from_support_vectors([[1.0]], [1.0], degree=12, gamma=1.0)
    assert explainer.name((0,) * 12) == "x0¹²"


# Importance and selection


def test_importance_is_sorted_and_shares_add_up():
    explainer = random_explainer()
    table = explainer.importance()
    assert table["importance"].is_monotonic_decreasing
    assert table["importance"].tolist() == table["weight"].abs().tolist()
    assert table["share"].sum() == pytest.approx(1.0)
    assert table["cumulative_share"].iloc[-1] == pytest.approx(1.0)
    assert dict(zip(table["interaction"], table["weight"], strict=True)) == explainer.weights()
    assert (table["degree"] == table["interaction"].map(len)).all()
    cubic = explainer.importance(degree=3, top=4)
    wanted = table[table["degree"] == 3].head(4)
    assert cubic["interaction"].tolist() == wanted["interaction"].tolist()
    assert cubic["share"].tolist() == wanted["share"].tolist()
    with pytest.raises(ValueError, match="degree must be from 1 to 3"):
        explainer.importance(degree=4)


def test_importance_by_spread_is_the_spread_of_the_contributions():
    explainer = random_explainer(degree=4)
    data = np.random.default_rng(1).normal(loc=3.0, size=(50, 4))
    table = explainer.importance(data)
    spreads = explainer.contributions(data).std(axis=0)
    wanted = dict(zip(explainer.interactions(), spreads, strict=True))
    assert table["importance"].to_numpy() == pytest.approx(
        [wanted[key] for key in table["interaction"]]
    )
    with pytest.raises(ValueError, match="at least two points"):
        explainer.importance(data[:1])


def test_spread_keeps_its_digits_far_from_the_origin():
    explainer = PolynomialExplainer.from_support_vectors(
        [[1.0]], [1.0], degree=2, gamma=1.0, coef0=0.0
    )
    # (1e7 + e)^2 deviates from its mean by 2e7 e to first order; e = -0.5, 0.5.
    table = explainer.importance(np.array([[1e7 - 0.5], [1e7 + 0.5]]))
    assert table["importance"].iloc[0] == pytest.approx(1e7, rel=1e-12)


def test_importance_by_spread_does_not_depend_on_the_unit_and_weights_do(binary):
    X, y, _ = binary
    rank = {}
    for unit in (1.0, 1000.0):
        scaled = X.to_numpy() * unit
        model = SVC(kernel="poly", degree=2, coef0=1.0, gamma=0.1 / unit**2).fit(scaled, y)
        explainer = PolynomialExplainer(model)
        rank[unit] = explainer.importance(scaled), explainer.importance()
    spread, weight = zip(rank[1.0], rank[1000.0], strict=True)
    np.testing.assert_allclose(spread[0]["importance"], spread[1]["importance"], rtol=1e-5)
    assert spread[0]["interaction"].tolist() == spread[1]["interaction"].tolist()
    assert weight[1]["degree"].iloc[0] == 1
    assert weight[0]["importance"].iloc[0] > 100 * weight[1]["importance"].iloc[0]


def test_feature_totals_split_every_interaction_equally():
    # 2 x0 + 4 x1 + x0^2 + 4 x0 x1 + 4 x1^2
    table = square(feature_names=["a", "b"]).feature_importance()
    assert table["feature"].tolist() == ["b", "a"]
    assert table["importance"].tolist() == [10.0, 5.0]
    assert table["share"].sum() == pytest.approx(1.0)
    data = np.random.default_rng(0).normal(size=(9, 4))
    explainer = random_explainer()
    totals = explainer.feature_importance(data)["importance"].sum()
    assert totals == pytest.approx(explainer.importance(data)["importance"].sum())


def test_selection_by_count():
    explainer = random_explainer()
    for count in (1, 5, explainer.n_interactions):
        mask = explainer.select(count)
        assert mask.sum() == count
        kept = np.abs(explainer.coef_[0])
        assert kept[mask].min() >= kept[~mask].max(initial=0.0)


@given(
    weights=st.lists(st.floats(-1e3, 1e3, width=32), min_size=2, max_size=9),
    share=st.floats(0.01, 1.0),
)
def test_selection_by_share_is_the_smallest_that_reaches_it(weights, share):
    # One support vector of weight 1 in degree 1: the weights are its coordinates.
    explainer = PolynomialExplainer.from_support_vectors([weights], [1.0], degree=1, gamma=1.0)
    sizes = np.abs(explainer.coef_[0])
    n = explainer.select(share_of_interactions=share).sum()
    assert n / len(weights) >= share > (n - 1) / len(weights)
    if not sizes.any():
        with pytest.raises(ValueError, match="importance zero"):
            explainer.select(share_of_importance=share)
        return
    mask = explainer.select(share_of_importance=share)
    total = np.sort(sizes)[::-1].cumsum()[-1]
    chosen = np.sort(sizes[mask])[::-1]
    if share == 1.0:
        assert mask.tolist() == (sizes > 0).tolist()
    else:
        assert chosen.cumsum()[-1] / total >= share
        assert len(chosen) == 1 or chosen[:-1].cumsum()[-1] / total < share
    assert sizes[mask].min() >= sizes[~mask].max(initial=0.0)


def test_selected_share_is_reached_where_the_sum_falls_just_short():
    # The first interactions hold .973 of the importance: .99 needs one more.
    explainer = PolynomialExplainer.from_support_vectors(
        [[900.0, 73.0, 20.0, 7.0]], [1.0], degree=1, gamma=1.0
    )
    assert explainer.select(share_of_importance=0.99).tolist() == [True, True, True, False]
    assert explainer.select(share_of_importance=0.973).tolist() == [True, True, False, False]
    ones = PolynomialExplainer.from_support_vectors([[1.0] * 10], [1.0], degree=1, gamma=1.0)
    assert ones.select(share_of_importance=0.9).sum() == 9
    assert ones.select(share_of_interactions=0.3).sum() == 3


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"count": 2, "share_of_interactions": 0.5},
        {"count": 0},
        {"count": 6},
        {"count": 1.5},
        {"count": True},
        {"share_of_interactions": 0.0},
        {"share_of_interactions": 1.01},
        {"share_of_importance": -0.1},
        {"share_of_importance": np.nan},
        {"share_of_importance": "0.9"},
    ],
)
def test_selection_asks_for_one_criterion_in_its_range(arguments):
    with pytest.raises(ValueError, match=r"exactly one|count must be|must lie in"):
        square().select(**arguments)


def test_selection_by_spread():
    explainer = square()
    data = np.array([[1.0, 0.0], [1.0, 0.0], [-1.0, 1e-3]])  # x0 varies, its square does not
    assert explainer.select(1).tolist() == [False, True, False, False, False]
    assert explainer.select(1, data=data).tolist() == [True, False, False, False, False]


# Reduced models


def test_reduced_model_is_the_sum_of_what_is_kept():
    explainer = random_explainer(degree=4)
    points = np.random.default_rng(1).normal(size=(20, 4))
    kept = [(0, 2, 2), (3,), (1, 1, 1, 3)]
    reduced = explainer.keep(kept)
    weights = explainer.weights()
    wanted = explainer.constant_[0] + sum(
        weights[key] * np.prod(points[:, key], axis=1) for key in kept
    )
    np.testing.assert_allclose(reduced.decision_function(points), wanted)
    assert reduced.weights() == {key: weights[key] for key in sorted(kept, key=len)}
    np.testing.assert_allclose(
        reduced.contributions(points).sum(axis=1) + reduced.constant_[0], wanted
    )
    parts = reduced.degree_contributions(points)
    np.testing.assert_allclose(parts.sum(axis=1) + reduced.intercept_[0], wanted)
    assert not parts[:, 2].any()
    np.testing.assert_allclose(
        reduced.feature_contributions(points).sum(axis=1) + reduced.constant_[0], wanted
    )
    assert len(reduced.importance()) == reduced.mask_.sum() == 3
    assert reduced.importance()["share"].sum() == pytest.approx(1.0)


def test_keeping_changes_nothing_in_the_whole_and_can_be_repeated():
    explainer = random_explainer()
    before = explainer.weights()
    half = explainer.keep(explainer.select(share_of_interactions=0.5))
    few = half.keep(half.select(3))
    assert explainer.weights() == before
    assert half.mask_.sum() == 17
    assert few.mask_.sum() == 3
    assert (half.mask_ | ~few.mask_).all()
    assert explainer.keep(explainer.mask_).weights() == before
    assert half.select(share_of_interactions=1.0).sum() == 17
    with pytest.raises(ValueError, match="from 1 to 17"):
        half.select(18)
    with pytest.raises(ValueError, match="was dropped before"):
        few.keep(half.mask_)


def test_keys_in_any_order_by_index_or_name():
    explainer = square(feature_names=["a", "b"])
    for key in ((0, 1), (1, 0), ("b", "a"), ("a", 1), [1, 0], np.array([1, 0])):
        assert explainer.keep([key]).weights() == {(0, 1): 4.0}
    for key in (1, "b", np.int64(1), (1,)):
        assert explainer.keep([key]).weights() == {(1,): 4.0}


@pytest.mark.parametrize(
    ("kept", "message"),
    [
        ([], "no interaction matches"),
        ([(2,)], "2 is no feature"),
        ([(-1,)], "-1 is no feature"),
        ([("c",)], "'c' is no feature"),
        (["0,1"], "'0,1' is no feature"),
        ([(0, 0, 1)], "has degree 3; this model has degrees 1 to 2"),
        ([()], "has degree 0"),
        ((0, 1), "must be a list of keys"),
        ("a", "must be a list of keys"),
        (np.zeros(5, dtype=bool), "no interaction matches"),
        (np.ones(4, dtype=bool), r"a mask must have shape \(5,\)"),
    ],
)
def test_masks_that_match_nothing_are_refused(kept, message):
    with pytest.raises(ValueError, match=message):
        square(feature_names=["a", "b"]).keep(kept)


def test_score_by_count(binary):
    X, y, model = binary
    explainer = PolynomialExplainer(model)
    table = explainer.score_by_count(X, y)
    assert table["count"].tolist() == [0, 1, 2, 5, 10, 20, 27]
    sign = "second" if explainer.constant_[0] > 0 else "another"
    assert table["score"].iloc[0] == np.mean(y == sign)
    assert table["score"].iloc[-1] == model.score(X, y)
    assert table["share_of_importance"].iloc[[0, -1]].tolist() == pytest.approx([0.0, 1.0])
    reduced = explainer.keep(explainer.select(5))
    assert table["score"].iloc[3] == reduced.score(X, y)
    shares = explainer.importance()["cumulative_share"]
    assert table["share_of_importance"].iloc[3] == pytest.approx(shares.iloc[4])
    balanced = explainer.score_by_count(X, y, [5], data=X, metric=balanced_accuracy_score)
    by_spread = explainer.keep(explainer.select(5, data=X))
    assert balanced["score"].tolist() == [balanced_accuracy_score(y, by_spread.predict(X))]
    with pytest.raises(ValueError, match="from 0 to 27"):
        explainer.score_by_count(X, y, [28])


def test_score_by_count_of_a_regression_is_r_squared(wine):
    X = wine[0].to_numpy()
    y = X[:, 0] * X[:, 1]
    model = SVR(kernel="poly", degree=2, coef0=1.0, epsilon=1e-3, C=100.0).fit(X, y)
    table = PolynomialExplainer(model).score_by_count(X, y, [1, 27])
    # The target is one product: that product alone explains it.
    assert table["score"].to_numpy() == pytest.approx([1.0, 1.0], abs=1e-4)
    assert PolynomialExplainer(model).importance(top=1)["interaction"].tolist() == [(0, 1)]


# Local explanations


def test_contributions_of_some_interactions():
    explainer = random_explainer()
    points = np.random.default_rng(1).normal(size=(6, 4))
    whole = explainer.contributions(points)
    keys = [(3, 0), (1,), (2, 2, 2)]
    some = explainer.contributions(points, interactions=keys)
    columns = [explainer.interactions().index(tuple(sorted(key))) for key in keys]
    np.testing.assert_allclose(some, whole[:, columns], rtol=1e-14)


@pytest.mark.parametrize("rows_at_once", [1, 2**21])
def test_feature_contributions_are_shapley_values_with_absent_features_at_zero(
    rows_at_once, monkeypatch
):
    monkeypatch.setattr(expansion_module, "ENTRIES_AT_ONCE", rows_at_once)
    p, explainer = 4, random_explainer()
    points = np.random.default_rng(1).normal(size=(3, p))
    shapley = np.zeros((3, p))
    for order in permutations(range(p)):
        present = np.zeros_like(points)
        before = explainer.decision_function(present)
        for feature in order:
            present[:, feature] = points[:, feature]
            after = explainer.decision_function(present)
            shapley[:, feature] += (after - before) / factorial(p)
            before = after
    np.testing.assert_allclose(explainer.feature_contributions(points), shapley, atol=1e-12)


def test_degree_contributions_need_no_expansion(monkeypatch):
    explainer = random_explainer(degree=3)
    points = np.random.default_rng(1).normal(size=(20, 4))
    parts = explainer.degree_contributions(points)
    assert "coef" not in vars(explainer._expansion)
    by_expansion = explainer.keep(explainer.mask_).degree_contributions(points)
    np.testing.assert_allclose(parts, by_expansion, atol=1e-12)
    total = parts.sum(axis=1) + explainer.intercept_[0]
    np.testing.assert_allclose(total, explainer.decision_function(points), atol=1e-12)
    monkeypatch.setattr("kernelbook.explain.machine.ENTRIES_AT_ONCE", 1)
    np.testing.assert_allclose(explainer.degree_contributions(points), parts, rtol=1e-12)


def test_degree_importance_summarises_the_contributions():
    explainer = random_explainer(degree=3)
    points = np.random.default_rng(1).normal(size=(21, 4))
    parts = explainer.degree_contributions(points)[:, 1:]
    table = explainer.degree_importance(points)
    assert table.index.tolist() == [1, 2, 3]
    assert table["mean_magnitude"].tolist() == pytest.approx(np.abs(parts).mean(axis=0))
    assert table["mean"].tolist() == pytest.approx(parts.mean(axis=0))
    assert table["median"].tolist() == pytest.approx(np.median(parts, axis=0))
    assert table["standard_deviation"].tolist() == pytest.approx(parts.std(axis=0))
    inside = (parts >= table["lower_quartile"].to_numpy()) & (
        parts <= table["upper_quartile"].to_numpy()
    )
    assert inside.sum(axis=0).tolist() == [11, 11, 11]
    assert table["share"].sum() == pytest.approx(1.0)


# Pictures


def labels(ax):
    return [text.get_text() for text in ax.get_yticklabels()]


def figures(ax):
    return [text.get_text() for text in ax.texts]


def bars(ax):
    return [(bar.get_x(), bar.get_x() + bar.get_width()) for bar in ax.patches]


def test_bars_of_the_model_show_the_sign_in_text_and_hatching():
    explainer = PolynomialExplainer.from_support_vectors(
        [[3.0, -5.0, 1.0]], [1.0], degree=1, gamma=1.0, feature_names=["a", "b", "c"]
    )
    ax = explainer.plot_model_bar(2)
    assert labels(ax) == ["b", "a"]
    assert figures(ax) == ["-5", "+3"]
    assert bars(ax) == [(0.0, -5.0), (0.0, 3.0)]
    assert [bool(bar.get_hatch()) for bar in ax.patches] == [True, False]
    assert ax.patches[0].get_facecolor() != ax.patches[1].get_facecolor()
    assert ax.get_title() == "2 most important of 3 interactions"
    assert ax.get_xlabel() == "weight in the decision value"
    sizes = explainer.plot_model_bar(magnitude=True)
    assert figures(sizes) == ["5", "3", "1"]
    by_spread = explainer.plot_model_bar(data=[[0.0, 0.0, 0.0], [2.0, 0.0, 0.0]])
    assert labels(by_spread)[0] == "a"
    assert figures(by_spread)[0] == "3"
    assert by_spread.get_xlabel() == "standard deviation of the contribution"


def test_bars_of_several_classes(three_classes):
    explainer = PolynomialExplainer(three_classes[2])
    assert "mean over the pairs" in explainer.plot_model_bar().get_xlabel()
    ax = explainer.plot_model_bar(pair=("class_0", "class_2"))
    assert ax.get_title().endswith("class_0 (+) against class_2 (-)")


def test_waterfall_runs_from_the_constant_to_the_decision_value():
    # At (1, -1): 1 + 2 - 4 + 1 - 4 + 4 = 0.
    ax = square().plot_sample_waterfall([1.0, -1.0], top=3)
    assert labels(ax) == ["constant", "x1", "x0·x1", "x1²", "2 others"]
    assert figures(ax) == ["+1", "-4", "-4", "+4", "+3"]
    assert bars(ax) == [(0.0, 1.0), (1.0, -3.0), (-3.0, -7.0), (-7.0, -3.0), (-3.0, 0.0)]
    assert ax.get_title() == "decision value 0"
    one_other = square().plot_sample_waterfall([1.0, -1.0], top=4)
    assert labels(one_other)[-1] == "1 other"
    whole = square().plot_sample_waterfall(pd.Series([1.0, -1.0]))
    assert len(labels(whole)) == 6


def test_waterfall_of_a_reduced_model_shows_what_it_keeps():
    ax = square().keep([(1,), (0, 0)]).plot_sample_waterfall([1.0, -1.0])
    assert labels(ax) == ["constant", "x1", "x0²"]
    assert ax.get_title() == "decision value -2"


def test_waterfall_of_degrees():
    ax = square().plot_degree_waterfall([1.0, -1.0])
    assert labels(ax) == ["constant", "degree 1", "degree 2"]
    assert bars(ax) == [(0.0, 1.0), (1.0, -1.0), (-1.0, 0.0)]


@pytest.mark.parametrize("x", [np.ones((2, 2)), 1.0])
def test_waterfall_takes_one_point(x):
    with pytest.raises(ValueError, match="one point"):
        square().plot_sample_waterfall(x)


def test_pictures_of_degrees_show_their_table():
    explainer = random_explainer(degree=3)
    points = np.random.default_rng(1).normal(size=(21, 4))
    table = explainer.degree_importance(points)
    ax = explainer.plot_degree_bar(points)
    assert [bar.get_height() for bar in ax.patches] == table["mean_magnitude"].tolist()
    assert [text.get_text() for text in ax.get_xticklabels()] == ["1", "2", "3"]
    box = explainer.plot_degree_box(points)
    medians = [line.get_ydata()[0] for line in box.lines if line.get_linewidth() == 2]
    assert medians == pytest.approx(table["median"].tolist())


@pytest.mark.parametrize(
    ("plot", "point"),
    [
        ("plot_model_bar", False),
        ("plot_sample_waterfall", True),
        ("plot_degree_waterfall", True),
        ("plot_degree_bar", True),
        ("plot_degree_box", True),
    ],
)
def test_pictures_are_drawn_where_asked(plot, point):
    _, (left, right) = plt.subplots(1, 2)
    points = [np.ones((1, 2))] if point else []
    returned = getattr(square(), plot)(*points, ax=right)
    assert isinstance(returned, Axes)
    assert returned is right
    assert not left.has_data()
    assert right.get_title()
    assert len(plt.get_fignums()) == 1
    assert inspect.signature(getattr(square(), plot)).parameters["ax"].default is None


# Behaviour as an object


def test_explainer_neither_keeps_nor_changes_the_model(binary):
    X, y, model = binary
    model = SVC(**model.get_params()).fit(X, y)
    before = pickle.dumps(model)
    explainer = PolynomialExplainer(model)
    explainer.importance(X)
    explainer.keep([0]).predict(X)
    assert pickle.dumps(model) == before
    values = explainer.decision_function(X)
    model.fit(X, y[::-1])
    assert explainer.decision_function(X).tolist() == values.tolist()


def test_explainer_does_not_follow_changes_of_the_arrays_it_was_given():
    vectors, weights, bias = np.array([[1.0, 2.0]]), np.array([1.0]), np.array([0.5])
    explainer = PolynomialExplainer.from_support_vectors(
        vectors, weights, bias, degree=2, gamma=1.0, coef0=1.0
    )
    for array in (vectors, weights, bias):
        array[...] = 7.0
    assert explainer.weights() == BY_HAND
    assert explainer.constant_.tolist() == [1.5]
    with pytest.raises(ValueError, match="read-only"):
        explainer.coef_[0, 0] = 7.0


def test_explainer_can_be_pickled(three_classes):
    X, _, model = three_classes
    explainer = PolynomialExplainer(model)
    reduced = explainer.keep(explainer.select(7))
    copy = pickle.loads(pickle.dumps(reduced))
    assert copy.decision_function(X).tolist() == reduced.decision_function(X).tolist()
    assert copy.importance().equals(reduced.importance())


def test_repr_says_what_is_explained():
    assert repr(square().keep([0])) == (
        "PolynomialExplainer(regressor, degree=2, n_features=2, interactions=1 of 5)"
    )


@pytest.mark.parametrize("missing", ["pandas", "matplotlib"])
def test_missing_extra_is_named(missing, monkeypatch):
    explainer = square()
    monkeypatch.setitem(__import__("sys").modules, missing, None)
    extra = {"pandas": "data", "matplotlib": "plots"}[missing]
    with pytest.raises(ImportError, match=rf'pip install "kernelbook\[{extra}\]"'):
        explainer.plot_degree_box([[1.0, 1.0]]) if extra == "plots" else explainer.importance()
    assert explainer.weights() == BY_HAND
    assert explainer.select(2).sum() == 2
