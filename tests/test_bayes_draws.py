"""Posterior draws against quadrature, and the collapse of priors."""

import numpy as np
import pytest
from bayesian import BSVDD, MINORITY, SHORT, labelled_apart, short, short_chains
from numpy.testing import assert_allclose, assert_array_equal
from samples import BY_KERNEL, points
from scipy.special import expit
from sklearn.exceptions import ConvergenceWarning

from kernelbook.exceptions import (
    CollapseWarning,
)
from kernelbook.kernels import gram
from kernelbook.mcmc import diagnose

# Posterior draws


def assert_mean(idata, name, values, expected):
    table = diagnose(idata)
    error = values.std() / np.sqrt(table.loc[name, "ess_bulk"])
    assert abs(values.mean() - expected) < 5 * error


@short_chains
@pytest.mark.parametrize("sampler", ["split_hmc", "pcn", "elliptical_slice", "metropolis"])
def test_samplers_agree_with_quadrature_on_two_points(sampler):
    X = np.array([[0.0], [3.0]])
    options = {"n_samples": 1000, "n_burn_in": 300, "n_chains": 4, "random_state": 1}
    model = BSVDD([1.0, -0.5], 1.0, 2.0, kernel="linear", sampler=sampler, **options).fit(X)
    # Only t = beta_0 - beta_1 ~ N(1.5, 4) matters: alpha = (p, 1 - p), p = expit(t).
    t = np.linspace(-15.0, 18.0, 4001)
    p = expit(t)
    log_density = -0.5 * ((9 * (1 - p) ** 2) + 9 * p**2) - (t - 1.5) ** 2 / 8
    weight = np.exp(log_density - log_density.max())
    expected = (weight * p).sum() / weight.sum()
    centre = 3.0 * (1.0 - expected)
    assert_mean(model.idata_, "center_norm", model.idata_.posterior["center_norm"].values, centre)
    assert_allclose(model.center_[0], 3.0 * model.alpha_[1], rtol=1e-12)


@short_chains
@pytest.mark.parametrize("minority_prior", [(1.0, 1.0), (1.0, 4.0)])
@pytest.mark.parametrize("sampler", ["split_hmc", "metropolis"])
def test_minority_samplers_agree_with_quadrature(sampler, minority_prior):
    """One target at 0 and one outlier at 1.5, linear kernel: the centre is -1.5 alpha_1."""
    model = MINORITY(
        "constant", kernel="linear", sampler=sampler, minority_prior=minority_prior,
        n_samples=1000, n_burn_in=500, n_chains=4, random_state=0,
    ).fit([[0.0], [1.5]], [1, -1])  # fmt: skip
    a = (np.arange(20000) + 0.5) / 20000
    p, q = minority_prior
    weight = np.exp(-0.5 * (1.5 * a) ** 2) * a ** (p - 1) * (1 - a) ** (q - 1)
    expected = (weight * a).sum() / weight.sum()
    draws = model.idata_.posterior["minority_weight"].values
    assert_mean(model.idata_, "minority_weight", draws, expected)
    assert_allclose(model.center_[0], -1.5 * model.alpha_[1], rtol=1e-12)


@short_chains
def test_minority_and_softmax_together_agree_with_quadrature():
    """Targets at 0 and 2, an outlier at 3: two dimensions are left to integrate over."""
    model = MINORITY(
        [0.5, 0.0], kernel="linear", n_samples=800, n_burn_in=200, n_chains=8, random_state=3
    ).fit([[0.0], [2.0], [3.0]], [1, 1, -1])
    t = np.linspace(-9.0, 10.0, 801)[:, None]
    a = (np.arange(600) + 0.5)[None] / 600
    centre = 2.0 * expit(-t) * (1 + a) - 3.0 * a
    log_density = -0.5 * (centre**2 + (2.0 - centre) ** 2) - (t - 0.5) ** 2 / 4
    weight = np.exp(log_density - log_density.max())
    expected = (weight * a).sum() / weight.sum()
    draws = model.idata_.posterior["minority_weight"].values
    assert_mean(model.idata_, "minority_weight", draws, expected)
    centres = model.alpha_[1] * 2.0 - 3.0 * model.alpha_[2]
    spread = np.sqrt((weight * centre**2).sum() / weight.sum())
    assert abs(centres - (weight * centre).sum() / weight.sum()) < 0.1 * spread


def test_without_an_outlier_the_minority_model_is_the_plain_one():
    X = points(20)
    options = {"n_samples": 300, "n_burn_in": 100, "n_chains": 4, "random_state": 0}
    plain = BSVDD("row_mean", **options).fit(X)
    minority = MINORITY("row_mean", **options).fit(X)
    assert_allclose(plain.alpha_, minority.alpha_, rtol=1e-12)


@BY_KERNEL
@short_chains
def test_distances_are_those_of_the_plain_gram_matrix(kernel):
    X, y = labelled_apart(20, 4)
    Z = points(7, seed=9) * 2
    model = short(MINORITY, **kernel).fit(X, y)
    c = model.alpha_draws_ * y
    K, Kz = gram(X=X, **kernel), gram(X=Z, Y=X, **kernel)
    own = np.diagonal(gram(X=Z, **kernel))
    squared = own[:, None] - 2 * Kz @ c.T + np.einsum("si,ij,sj->s", c, K, c)
    assert_allclose(model.distance_draws(Z) ** 2, squared, rtol=1e-7, atol=1e-9 * squared.max())
    norms = np.sqrt(np.einsum("si,ij,sj->s", c, K, c))
    assert_allclose(model.idata_.posterior["center_norm"].values.ravel(), norms, rtol=1e-8)
    own_draws = model.distance_draws(X)[model.probes_].T
    kept = model.idata_.posterior["distance"].values.reshape(own_draws.shape)
    assert_allclose(own_draws, kept, rtol=1e-7, atol=1e-9 * kept.max())
    assert_allclose(c.sum(axis=1), 1.0, rtol=1e-10)


@short_chains
@pytest.mark.parametrize("n_samples", [40, 41])
def test_the_rule_is_a_majority_of_draws(n_samples):
    X, Z = points(30), points(200, seed=8) * 1.5
    options = {"n_samples": n_samples, "n_chains": 1, "n_burn_in": 20}
    model = short(BSVDD, prior_scale=4.0, rejection_rate=0.3, **options).fit(X)
    share = (model.distance_draws(Z) <= model.radius_).mean(axis=1)
    probability = model.predict_proba(Z)
    assert_allclose(probability, np.column_stack([1 - share, share]), atol=1e-12)
    assert_array_equal(model.predict(Z), np.where(share > 0.5, 1, -1))
    assert_array_equal(model.decision_function(Z) >= 0, share > 0.5)
    assert 0 < share.mean() < 1 and (np.abs(share - 0.5) < 0.4).any()
    assert_allclose(model.decision_function(Z), model.score_samples(Z) - model.offset_)


def test_samples_depend_on_the_seed_only():
    X = points(15)
    options = {"n_samples": 300, "n_burn_in": 100, "n_chains": 4}
    first, again, other = (
        BSVDD("constant", random_state=seed, **options).fit(X).alpha_ for seed in (0, 0, 1)
    )
    assert_array_equal(first, again)
    assert not np.array_equal(first, other)


def test_chains_that_disagree_are_told():
    with pytest.warns(ConvergenceWarning, match="R-hat"):
        BSVDD("row_mean", n_samples=20, n_burn_in=0, n_chains=4, random_state=0,
              sampler="metropolis").fit(points(60))  # fmt: skip


# Collapse and its repair


def test_published_prior_collapses_and_row_means_do_not():
    X = points(300, d=5, seed=3)
    options = SHORT | {"gamma": "median"}
    with pytest.warns(CollapseWarning, match=r"rests on \d\.\d effective atoms of 300") as caught:
        published = BSVDD("row_sum", **options)
        with pytest.warns(ConvergenceWarning):
            published.fit(X)
    told = next(str(w.message) for w in caught if issubclass(w.category, CollapseWarning))
    assert f"{published.n_effective_atoms_:.1f}" in told
    # The weight sits where row sums are smallest, on outlying points.
    sums = gram("rbf", X, gamma=published.gamma_).sum(axis=1)
    heavy = np.argsort(published.alpha_)[::-1][:3]
    assert published.alpha_[heavy].sum() > 0.5
    assert (np.argsort(np.argsort(sums))[heavy] < 15).all()


@short_chains
@pytest.mark.parametrize("repair", [(), ("row_mean", 1.0), ("row_sum", 0.25), ("constant", 1.0)])
def test_repaired_priors_keep_their_atoms(repair):
    model = BSVDD(*repair, **(SHORT | {"gamma": "median"})).fit(points(300, d=5, seed=3))
    assert model.n_effective_atoms_ > 60
    draws = 1 / (model.alpha_draws_**2).sum(axis=1)
    assert_allclose(model.n_effective_atoms_, np.median(draws), rtol=1e-12)


@short_chains
def test_a_tight_minority_prior_keeps_the_centre_near():
    X, y = labelled_apart(60, 30)
    with pytest.warns(CollapseWarning, match=r"minority_prior=\(1, 30\)"):
        loose = short(MINORITY).fit(X, y)
    tight = short(MINORITY, minority_prior=(1.0, 30.0)).fit(X, y)
    weight = [m.idata_.posterior["minority_weight"].values.mean() for m in (loose, tight)]
    assert weight[1] < 0.6 * weight[0]
