"""The radius: rejection rates, ranks, best cutoffs, cross-validation."""

import numpy as np
import pytest
from bayesian import BDD, BSVDD, MINORITY, labelled_apart, short, short_chains
from numpy.testing import assert_allclose
from samples import points
from sklearn.metrics import balanced_accuracy_score, f1_score

from kernelbook.bayes.cutoff import best_cutoff, ranked_cutoff

# The cutoff


@pytest.mark.parametrize("rate", [0.0, 0.05, 0.29, 0.5])
def test_at_most_the_rejection_rate_is_rejected(rate):
    X = points(100)
    outside = (BDD("row_mean", rejection_rate=rate).fit(X).predict(X) == -1).mean()
    assert_allclose(outside, rate, atol=1e-12)


def test_rank_counts_from_the_nearest_target():
    X = points(25)
    for rank in (1, 13, 25):
        model = BDD("constant", rank=rank).fit(X)
        assert (model.predict(X) == 1).sum() == rank
        assert_allclose(model.radius_, np.sort(model.distance(X))[rank - 1], rtol=1e-10)


@pytest.mark.parametrize(("score", "function"), [
    ("f1", lambda y, p: f1_score(y, p, pos_label=-1)),
    ("balanced_accuracy", balanced_accuracy_score),
])  # fmt: skip
def test_best_cutoff_beats_every_other(score, function):
    rng = np.random.default_rng(0)
    signs = np.where(rng.random(60) < 0.2, -1, 1)
    distances = np.round(rng.normal(size=60) + (signs < 0), 1) + 4
    cutoff = best_cutoff(distances, signs, score)

    def value(c):
        return function(signs, np.where(distances <= c, 1, -1))

    assert value(cutoff) == max(value(c) for c in np.append(distances, 0.0))
    X, y = labelled_apart(40, 10, shift=1.0)
    model = BDD("constant", cutoff=score).fit(X, y)
    best = max(
        function(y, np.where(model.distance(X) <= c, 1, -1)) for c in [0, *model.distance(X)]
    )
    assert_allclose(function(y, model.predict(X)), best)


def test_an_inverted_score_flags_everything():
    assert best_cutoff(np.array([1.0, 2.0, 3.0]), np.array([-1, -1, 1]), "f1") == 0.0
    assert best_cutoff(np.array([1.0, 1.0]), np.array([-1, 1]), "balanced_accuracy") == 1.0
    assert ranked_cutoff(np.array([5.0]), 0.9) == 5.0


def test_outliers_only_set_the_radius():
    X, y = labelled_apart(40, 8)
    alone = BDD("row_sum", 0.5).fit(X[y == 1])
    model = BDD("row_sum", 0.5, cutoff="f1").fit(X, y)
    assert_allclose(model.alpha_[y == 1], alone.alpha_, atol=1e-12)
    assert not model.alpha_[y == -1].any()
    assert model.radius_ != alone.radius_
    assert_allclose(model.distance(X), alone.distance(X), rtol=1e-10)


def test_held_out_distances_keep_the_rate_on_new_points():
    def outside(cv):
        rates = []
        for seed in range(20):
            X = points(40, d=20, seed=seed)
            model = BDD("row_sum", cv=cv, gamma=0.1, rejection_rate=0.2).fit(X)
            rates.append((model.predict(points(200, d=20, seed=100 + seed)) == -1).mean())
        return np.mean(rates)

    assert outside(None) > 0.3
    assert abs(outside(10) - 0.2) < 0.06


@short_chains
@pytest.mark.parametrize("score", ["rejection_rate", "f1", "balanced_accuracy"])
def test_cross_validation_with_outliers(score):
    X, y = labelled_apart(30, 6)
    for estimator in (BDD("row_mean"), short(BSVDD), short(MINORITY)):
        model = estimator.set_params(cutoff=score, cv=3).fit(X, y)
        assert balanced_accuracy_score(y, model.predict(X)) > 0.6
