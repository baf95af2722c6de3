"""Local explanations: contributions by interaction, by feature and by degree."""

from itertools import permutations
from math import factorial

import numpy as np
import pytest
from explainers import random_explainer

from kernelbook.explain import expansion, polynomial_svm


def test_contributions_of_some_interactions():
    explainer = random_explainer()
    points = np.random.default_rng(1).normal(size=(6, 4))
    whole = explainer.contributions(points)
    keys = [(3, 0), (1,), (2, 2, 2)]
    some = explainer.contributions(points, keys)
    columns = [explainer.interactions().index(tuple(sorted(key))) for key in keys]
    np.testing.assert_allclose(some, whole[:, columns], rtol=1e-14)


@pytest.mark.parametrize("rows_at_once", [1, 2**21])
def test_feature_contributions_are_shapley_values(rows_at_once, monkeypatch):
    monkeypatch.setattr(expansion, "ENTRIES_AT_ONCE", rows_at_once)
    p, explainer = 4, random_explainer()
    points = np.random.default_rng(1).normal(size=(3, p))
    shapley = np.zeros((3, p))
    for order in permutations(range(p)):
        present = np.zeros_like(points)  # absent features are zero
        before = explainer.decision_function(present)
        for feature in order:
            present[:, feature] = points[:, feature]
            after = explainer.decision_function(present)
            shapley[:, feature] += (after - before) / factorial(p)
            before = after
    np.testing.assert_allclose(explainer.feature_contributions(points), shapley, atol=1e-12)


@pytest.mark.parametrize("entries_at_once", [1, 2**21])
def test_degree_contributions_need_no_expansion(entries_at_once, monkeypatch):
    explainer = random_explainer(degree=3)
    points = np.random.default_rng(1).normal(size=(20, 4))
    with monkeypatch.context() as patch:
        patch.setattr(expansion, "LARGEST", 0)
        patch.setattr(polynomial_svm, "ENTRIES_AT_ONCE", entries_at_once)
        parts = explainer.degree_contributions(points)
    by_expansion = explainer.keep(explainer.mask_).degree_contributions(points)
    np.testing.assert_allclose(parts, by_expansion, atol=1e-12)
    total = parts.sum(axis=1) + explainer.intercept_[0]
    np.testing.assert_allclose(total, explainer.decision_function(points), atol=1e-12)


def test_degree_importance_summarises_the_contributions():
    explainer = random_explainer(degree=3)
    points = np.random.default_rng(1).normal(size=(21, 4))
    parts = explainer.degree_contributions(points)[:, 1:]
    table = explainer.degree_importance(points)
    assert table.index.tolist() == [1, 2, 3]
    magnitude = np.abs(parts).mean(axis=0)
    assert table["mean_magnitude"].tolist() == pytest.approx(magnitude)
    assert table["fraction"].tolist() == pytest.approx(magnitude / magnitude.sum())
    assert table["mean"].tolist() == pytest.approx(parts.mean(axis=0))
    assert table["median"].tolist() == pytest.approx(np.median(parts, axis=0))
    assert table["standard_deviation"].tolist() == pytest.approx(parts.std(axis=0))
    inside = (parts >= table["lower_quartile"].to_numpy()) & (
        parts <= table["upper_quartile"].to_numpy()
    )
    assert inside.sum(axis=0).tolist() == [11, 11, 11]
