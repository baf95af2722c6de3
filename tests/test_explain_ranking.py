"""Importance by weight and by spread, selection, reduced models and their scores."""

import sys

import numpy as np
import pytest
from explainers import BY_HAND, binary, random_explainer, square, three_classes, wine
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import balanced_accuracy_score, roc_auc_score
from sklearn.svm import SVC, SVR

from kernelbook.explain import PolynomialExplainer, score_by_count


def test_importance_is_sorted_and_its_fractions_add_up():
    explainer = random_explainer()
    table = explainer.importance()
    assert table["importance"].is_monotonic_decreasing
    assert table["importance"].tolist() == table["weight"].abs().tolist()
    assert table["fraction"].sum() == pytest.approx(1.0)
    assert table["cumulative_fraction"].tolist() == pytest.approx(table["fraction"].cumsum())
    assert dict(zip(table["interaction"], table["weight"], strict=True)) == explainer.weights()
    assert (table["degree"] == table["interaction"].map(len)).all()
    assert explainer.importance(top=4).equals(table.head(4))


def test_importance_by_spread_is_that_of_the_contributions():
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


def test_spread_does_not_depend_on_the_unit_and_weights_do():
    X, y, _ = binary()
    rank = {}
    for unit in (1.0, 1000.0):
        scaled = X.to_numpy() * unit
        model = SVC(kernel="poly", degree=2, coef0=1.0, gamma=0.1 / unit**2).fit(scaled, y)
        explainer = PolynomialExplainer().fit(model)
        rank[unit] = explainer.importance(scaled), explainer.importance()
    spread, weight = zip(rank[1.0], rank[1000.0], strict=True)
    np.testing.assert_allclose(spread[0]["importance"], spread[1]["importance"], rtol=1e-5)
    assert spread[0]["interaction"].tolist() == spread[1]["interaction"].tolist()
    assert weight[1]["degree"].iloc[0] == 1
    assert weight[0]["importance"].iloc[0] > 100 * weight[1]["importance"].iloc[0]


def test_importance_over_pairs_is_the_mean_size():
    explainer = PolynomialExplainer().fit(three_classes()[2])
    table = explainer.importance()
    assert "weight" not in table
    each = [explainer.for_pair(pair).weights() for pair in explainer.pairs_]
    mean = [sum(abs(weights[key]) for weights in each) / 3 for key in table["interaction"]]
    assert table["importance"].to_numpy() == pytest.approx(mean)
    of_pair = explainer.for_pair(explainer.pairs_[1]).importance(top=5)
    assert of_pair["importance"].tolist() == of_pair["weight"].abs().tolist()
    assert of_pair["weight"].tolist() == [each[1][key] for key in of_pair["interaction"]]


def test_feature_totals_split_every_interaction_equally():
    # 2 x0 + 4 x1 + x0^2 + 4 x0 x1 + 4 x1^2
    table = square(feature_names=["a", "b"]).feature_importance()
    assert table["feature"].tolist() == ["b", "a"]
    assert table["importance"].tolist() == [10.0, 5.0]
    assert table["fraction"].tolist() == pytest.approx([2 / 3, 1 / 3])
    data = np.random.default_rng(0).normal(size=(9, 4))
    explainer = random_explainer()
    totals = explainer.feature_importance(data)["importance"].sum()
    assert totals == pytest.approx(explainer.importance(data)["importance"].sum())


# Selection


def test_selection_by_count():
    explainer = random_explainer()
    for count in (0, 1, 5, explainer.n_interactions_):
        mask = explainer.select(count)
        assert mask.sum() == count
        size = np.abs(explainer.coef_[0])
        assert size[mask].min(initial=np.inf) >= size[~mask].max(initial=0.0)


@given(
    weights=st.lists(st.floats(-1e3, 1e3, width=32), min_size=2, max_size=9),
    fraction=st.floats(0.01, 1.0),
)
def test_selection_is_the_smallest_that_reaches_a_fraction(weights, fraction):
    # One support vector of weight 1 in degree 1: the weights are its coordinates.
    explainer = PolynomialExplainer.from_support_vectors([weights], [1.0], degree=1, gamma=1.0)
    sizes = np.abs(explainer.coef_[0])
    n = explainer.select(fraction_of_interactions=fraction).sum()
    assert n / len(weights) >= fraction > (n - 1) / len(weights)
    if not sizes.any():
        with pytest.raises(ValueError, match="importance zero"):
            explainer.select(fraction_of_importance=fraction)
        return
    mask = explainer.select(fraction_of_importance=fraction)
    total = np.sort(sizes)[::-1].cumsum()[-1]
    chosen = np.sort(sizes[mask])[::-1]
    if fraction == 1.0:
        assert mask.tolist() == (sizes > 0).tolist()
    else:
        assert chosen.cumsum()[-1] / total >= fraction
        assert len(chosen) == 1 or chosen[:-1].cumsum()[-1] / total < fraction
    assert sizes[mask].min() >= sizes[~mask].max(initial=0.0)


def test_a_fraction_is_reached_where_the_sum_falls_just_short():
    # The first interactions hold .973 of the importance: .99 needs one more.
    explainer = PolynomialExplainer.from_support_vectors(
        [[900.0, 73.0, 20.0, 7.0]], [1.0], degree=1, gamma=1.0
    )
    assert explainer.select(fraction_of_importance=0.99).tolist() == [True, True, True, False]
    assert explainer.select(fraction_of_importance=0.973).tolist() == [True, True, False, False]
    ones = PolynomialExplainer.from_support_vectors([[1.0] * 10], [1.0], degree=1, gamma=1.0)
    assert ones.select(fraction_of_importance=0.9).sum() == 9
    assert ones.select(fraction_of_interactions=0.3).sum() == 3


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"count": 2, "fraction_of_interactions": 0.5},
        {"count": -1},
        {"count": 6},
        {"count": 1.5},
        {"fraction_of_interactions": 0.0},
        {"fraction_of_interactions": 1.01},
        {"fraction_of_importance": -0.1},
        {"fraction_of_importance": np.nan},
        {"fraction_of_importance": "0.9"},
    ],
)
def test_selection_asks_for_one_criterion_in_its_range(arguments):
    with pytest.raises(ValueError, match=r"exactly one|parameter of select must be"):
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
    assert reduced.importance()["fraction"].sum() == pytest.approx(1.0)


def test_keeping_leaves_the_whole_and_can_be_repeated():
    explainer = random_explainer()
    before = explainer.weights()
    half = explainer.keep(explainer.select(fraction_of_interactions=0.5))
    few = half.keep(half.select(3))
    assert explainer.weights() == before
    assert half.mask_.sum() == 17
    assert few.mask_.sum() == 3
    assert (half.mask_ | ~few.mask_).all()
    assert explainer.keep(explainer.mask_).weights() == before
    assert half.select(fraction_of_interactions=1.0).sum() == 17
    with pytest.raises(ValueError, match=r"range \[0, 17\]. Got 18"):
        half.select(18)
    with pytest.raises(ValueError, match="was dropped before"):
        few.keep(half.mask_)


@pytest.mark.parametrize("nothing", [[], np.zeros(34, dtype=bool)])
def test_with_nothing_kept_the_constant_is_left(nothing):
    explainer = random_explainer()
    reduced = explainer.keep(nothing)
    assert reduced.decision_function(np.eye(4)).tolist() == [explainer.constant_[0]] * 4
    assert reduced.weights() == {}
    assert reduced.contributions(np.eye(4), []).shape == (4, 0)


def test_score_by_count():
    X, y, model = binary()
    explainer = PolynomialExplainer().fit(model)
    table = score_by_count(explainer, X, y)
    assert table["count"].tolist() == [0, 1, 2, 5, 10, 20, 27]
    sign = "second" if explainer.constant_[0] > 0 else "another"
    assert table["score"].iloc[0] == np.mean(y == sign)
    assert table["score"].iloc[-1] == model.score(X, y)
    assert table["fraction_of_importance"].iloc[[0, -1]].tolist() == pytest.approx([0.0, 1.0])
    reduced = explainer.keep(explainer.select(5))
    assert table["score"].iloc[3] == reduced.score(X, y)
    fractions = explainer.importance()["cumulative_fraction"]
    assert table["fraction_of_importance"].iloc[3] == pytest.approx(fractions.iloc[4])
    with pytest.raises(ValueError, match=r"range \[0, 27\]. Got 28"):
        score_by_count(explainer, X, y, [28])
    with pytest.raises(ValueError, match=r"range \[0, 27\]. Got -1"):
        score_by_count(explainer, X, y, [-1])


def test_score_by_count_by_another_ranking_and_score():
    X, y, model = binary()
    explainer = PolynomialExplainer().fit(model)
    reduced = explainer.keep(explainer.select(5, data=X))
    balanced = score_by_count(explainer, X, y, [5], data=X, scoring="balanced_accuracy")
    assert balanced["score"].tolist() == [balanced_accuracy_score(y, reduced.predict(X))]
    fractions = explainer.importance(X)["cumulative_fraction"]
    assert balanced["fraction_of_importance"].tolist() == [fractions.iloc[4]]
    auc = score_by_count(explainer, X, y, [5], data=X, scoring="roc_auc")
    assert auc["score"].tolist() == [roc_auc_score(y == "second", reduced.decision_function(X))]


def test_score_by_count_of_a_regression_is_r_squared():
    X = wine()[0].to_numpy()
    y = X[:, 0] * X[:, 1]
    model = SVR(kernel="poly", degree=2, coef0=1.0, epsilon=1e-3, C=100.0).fit(X, y)
    explainer = PolynomialExplainer().fit(model)
    # The target is one product: that product alone explains it.
    table = score_by_count(explainer, X, y, [1, 27])
    assert table["score"].to_numpy() == pytest.approx([1.0, 1.0], abs=1e-4)
    assert explainer.importance(top=1)["interaction"].tolist() == [(0, 1)]


def test_tables_name_the_missing_pandas(monkeypatch):
    explainer = square()
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match=r'pip install "kernelbook\[data\]"'):
        explainer.importance()
    assert explainer.weights() == BY_HAND
    assert explainer.select(2).sum() == 2
