"""Weights of interactions: proved values, keys and names, raw support vectors, refusals."""

from fractions import Fraction
from math import comb

import numpy as np
import pytest
from explainers import BY_HAND, random_explainer, square
from oracles import problems
from sklearn.svm import SVC

from kernelbook.explain import PolynomialExplainer, expansion


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
    counts = [1, *(len(explainer.interactions(d)) for d in range(1, explainer.degree_ + 1))]
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
    explainer = PolynomialExplainer().fit(svc.fit(X, [1, 1, -1, -1, 1]))
    # Binomials, multiplicities and gamma^d all enter: without the binomials the value is -.3204.
    wanted = [0.792371, 0.320771, 0.142648, -0.109052, -0.002045]
    assert explainer.coef_[0] == pytest.approx(wanted, abs=2e-6)
    assert explainer.constant_ == pytest.approx([-0.350278], abs=2e-6)
    assert explainer.constant_ == pytest.approx(explainer.intercept_, abs=1e-12)
    assert explainer.decision_function([[0.3, -0.7]]) == pytest.approx([-0.302369], abs=2e-6)


def test_weights_by_hand():
    explainer = square()
    assert explainer.weights() == BY_HAND
    assert explainer.weights(degree=1) == {(0,): 2.0, (1,): 4.0}
    assert explainer.weights(degree=2) == {(0, 0): 1.0, (0, 1): 4.0, (1, 1): 4.0}
    assert explainer.constant_.tolist() == [1.0]
    assert explainer.interactions() == list(BY_HAND)
    with pytest.raises(ValueError, match="degree must be from 1 to 2, got 3"):
        explainer.weights(degree=3)


def test_without_coef0_only_the_highest_degree_has_weights():
    explainer = random_explainer(coef0=0.0)
    for d in (1, 2):
        assert not any(explainer.weights(degree=d).values())
    assert all(explainer.weights(degree=3).values())
    assert explainer.constant_.tolist() == explainer.intercept_.tolist()


@pytest.mark.parametrize(("p", "degree"), [(1, 1), (3, 2), (5, 4), (50, 4)])
def test_number_of_interactions(p, degree):
    explainer = PolynomialExplainer.from_support_vectors(
        np.ones((1, p)), [1.0], degree=degree, gamma=1.0
    )
    assert explainer.n_interactions_ == comb(p + degree, degree) - 1
    assert explainer.coef_.shape == (1, explainer.n_interactions_)


def test_too_large_an_expansion_is_refused_but_not_its_degrees(monkeypatch):
    explainer = random_explainer()
    monkeypatch.setattr(expansion, "LARGEST", explainer.n_interactions_ - 1)
    with pytest.raises(ValueError, match="34 interactions, more than the limit of 33"):
        explainer.decision_function(np.eye(4))
    assert explainer.degree_contributions(np.eye(4)).shape == (4, 4)


# Names and keys


def test_names_can_be_given():
    explainer = square(feature_names=["dose", "age"])
    assert explainer.name((1, 0)) == "dose·age"
    assert explainer.name(["age", "age"]) == "age²"
    assert explainer.importance()["name"].tolist() == ["age", "dose·age", "age²", "dose", "dose²"]
    assert square().name((1, 1)) == "x1²"


def test_exponents_of_two_digits():
    explainer = PolynomialExplainer.from_support_vectors([[1.0]], [1.0], degree=12, gamma=1.0)
    assert explainer.name((0,) * 11) == "x0¹¹"
    assert explainer.name((0,) * 12) == "x0¹²"


def test_keys_in_any_order_by_index_or_name():
    explainer = square(feature_names=["a", "b"])
    for key in ((0, 1), (1, 0), ("b", "a"), ("a", 1), [1, 0], np.array([1, 0])):
        assert explainer.keep([key]).weights() == {(0, 1): 4.0}
    for key in (1, "b", np.int64(1), (1,)):
        assert explainer.keep([key]).weights() == {(1,): 4.0}


@pytest.mark.parametrize(
    ("kept", "message"),
    [
        ([(2,)], "2 is no feature"),
        ([(-1,)], "-1 is no feature"),
        ([("c",)], "'c' is no feature"),
        (["0,1"], "'0,1' is no feature: name one of a, b"),
        ([True, False, True, False, True], "True is no feature"),
        ([(0, 0, 1)], "has degree 3; this model has degrees 1 to 2"),
        ([()], "has degree 0"),
        ((0, 1), "must be a list"),
        ("a", "must be a list"),
        (np.ones(4, dtype=bool), r"a mask must have shape \(5,\)"),
    ],
)
def test_interactions_that_do_not_exist_are_refused(kept, message):
    with pytest.raises(ValueError, match=message):
        square(feature_names=["a", "b"]).keep(kept)


# Raw arrays


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"dual_coef": [1.0, 2.0]}, "dual_coef must hold one signed weight for each of the 1"),
        ({"dual_coef": [np.nan]}, "dual_coef contains NaN"),
        ({"intercept": [1.0, 2.0]}, "intercept must be one number"),
        ({"intercept": np.inf}, "intercept contains infinity"),
        ({"degree": 2.5}, "'degree' parameter"),
        ({"degree": 0}, "'degree' parameter"),
        ({"degree": "3"}, "'degree' parameter"),
        ({"degree": None}, "'degree' parameter"),
        ({"gamma": "scale"}, "'gamma' parameter"),
        ({"gamma": None}, "'gamma' parameter"),
        ({"coef0": np.nan}, "'coef0' parameter"),
        ({"classes": ["a", "b", "c"]}, "classes must be two different labels"),
        ({"classes": ["a", "a"]}, "classes must be two different labels"),
        ({"support_vectors": [[np.nan, 1.0]]}, "support_vectors contains NaN"),
        ({"support_vectors": [1.0, 2.0]}, "2D array"),
        ({"feature_names": ["a"]}, "feature_names must be 2 different names"),
        ({"feature_names": ["a", "a"]}, "feature_names must be 2 different names"),
        ({"feature_names": "ab"}, "'feature_names' parameter"),
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


def test_raw_function_with_classes_predicts_labels():
    explainer = PolynomialExplainer.from_support_vectors(
        [[3.0]], [2.0], -1.0, degree=1, gamma=0.5, classes=("no", "yes")
    )
    # 3 x - 1; the boundary itself belongs to the first label.
    assert explainer.predict([[0.0], [1.0 / 3.0], [1.0]]).tolist() == ["no", "no", "yes"]
    assert explainer.pairs_ == [("yes", "no")]


def test_explainer_does_not_follow_changes_of_given_arrays():
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
