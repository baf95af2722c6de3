"""Bayesian descriptions: checks of scikit-learn, proved densities, invariances of the mode."""

import numpy as np
import pytest
from bayesian import BDD, MINORITY, labelled_apart, short, short_chains
from numpy.testing import assert_allclose, assert_array_equal
from oracles import kernel_parameters, problems
from samples import BY_KERNEL, points
from scipy.special import expit, logit

from kernelbook.bayes import (
    SpherePosterior,
    prior_mean_vector,
)
from kernelbook.kernels import gram, rbf
from kernelbook.svdd import SVDD

# Proved values


@pytest.mark.parametrize("solver", ["dense", "reference"])
@pytest.mark.parametrize("problem", problems("bdd"), ids=lambda p: p["id"])
def test_proved_modes(problem, solver):
    params, expected, data = problem["params"], problem["expected"], problem["data"]
    tolerance = problem["tolerance"]
    model = BDD(
        params["prior_mean"],
        params["prior_exponent"] or 1.0,
        params["prior_scale"],
        upper=params["upper"],
        solver=solver,
        rank=len(data["X"]) // 2,
        **kernel_parameters(params["kernel"]),
    ).fit(data["X"])
    assert_allclose(model.objective_, expected["objective"], rtol=tolerance["objective_rtol"])
    assert_allclose(model.alpha_, expected["alpha"], atol=tolerance["alpha_atol"])
    assert len(model.support_) == expected["n_nonzero"]
    distances = model.distance(data["X_query"]) ** 2
    assert_allclose(distances, expected["distance_sq"], atol=tolerance["distance_atol"])
    assert_allclose(model.center_norm_**2, expected["center_norm_sq"], rtol=1e-9)
    ranked = expected["training_distance_sq_sorted"]
    assert_allclose(model.radius_squared_, ranked[len(ranked) // 2 - 1], rtol=1e-9)
    assert model.certificate_.status == "optimal"
    assert model.certificate_.duality_gap < 1e-10


def oracle_posterior(problem):
    params, data = problem["params"], problem["data"]
    X0, X1 = np.array(data["X0"]), np.array(data["X1"]).reshape(-1, len(data["X0"][0]))
    K = gram(X=np.vstack([X0, X1]), **kernel_parameters(params["kernel"]))
    n0 = len(X0)
    m = prior_mean_vector(
        params["prior_mean"], K[:n0, :n0].sum(axis=1), params["prior_exponent"] or 1.0
    )
    cov = params["prior_scale"]
    if "cov_factor" in params["prior_cov"]:
        cov = cov * np.array(data["cov_factor"]) @ np.array(data["cov_factor"]).T
    signs = np.repeat([1, -1], [n0, len(X1)])
    theta = np.concatenate([data["beta"], logit(data["alpha1"])])[None]
    covariance = cov * np.eye(n0) if np.ndim(cov) == 0 else cov
    return SpherePosterior(K, signs, m, cov), theta, np.linalg.inv(covariance)


@pytest.mark.parametrize("problem", problems("bsvdd") + problems("bsvdd_m"), ids=lambda p: p["id"])
def test_proved_log_posteriors_and_gradients(problem):
    expected = problem["expected"]
    posterior, theta, precision = oracle_posterior(problem)
    n0 = posterior.n_targets
    assert_allclose(posterior.log_posterior(theta), expected["log_posterior"], rtol=1e-12)
    c = posterior.coefficients(theta)[0]
    assert_allclose(c[:n0], expected["alpha0"], rtol=1e-12)
    assert_allclose(c @ posterior.K @ c, expected["center_norm_sq"], rtol=1e-12)
    _, gradient = posterior.log_likelihood(theta)
    by_tau = gradient[0, :n0] - precision @ (theta[0, :n0] - posterior.prior_mean)
    assert_allclose(by_tau, expected["gradient_beta"], rtol=1e-9)
    if posterior.n_flat:
        assert_allclose(c.sum(), 1.0, rtol=1e-12)
        alpha = -c[n0:]
        by_alpha = (gradient[0, n0:] - (1 - 2 * alpha)) / (alpha * (1 - alpha))
        assert_allclose(by_alpha, expected["gradient_alpha1"], rtol=1e-9)


def slow_log_posterior(X0, X1, kernel, tau, alpha1, m, s):
    """Sums over points, as a reader of the definition would write them."""
    e = [np.exp(t) for t in tau]
    total = 1.0 + sum(alpha1)
    coefficients = [value / sum(e) * total for value in e] + [-a for a in alpha1]
    centre = list(zip(coefficients, [*X0, *X1], strict=True))

    def k(x, z):
        return float(gram(X=x[None], Y=z[None], **kernel)[0, 0])

    value = 0.0
    for x in X0:
        norm = sum(a * b * k(u, v) for a, u in centre for b, v in centre)
        value -= 0.5 * (norm - 2 * sum(a * k(u, x) for a, u in centre))
    return value - 0.5 * sum((t - mean) ** 2 for t, mean in zip(tau, m, strict=True)) / s


@BY_KERNEL
@pytest.mark.parametrize("n_outliers", [0, 3])
@short_chains
def test_log_posterior_of_a_fit_equals_a_slow_loop(kernel, n_outliers):
    """Although fits use Gram matrices that leave terms of one argument out."""
    X, y = labelled_apart(7, n_outliers, seed=3)
    model = short(MINORITY, prior_scale=1.7, **kernel, **{"n_samples": 4, "n_burn_in": 2}).fit(X, y)
    X0, X1 = X[y == 1], X[y == -1]
    assert_allclose(model.prior_mean_, -gram(X=X0, **kernel).mean(axis=1), rtol=1e-10)
    rng = np.random.default_rng(0)
    tau, alpha1 = rng.normal(size=7), rng.uniform(size=n_outliers)
    slow = slow_log_posterior(X0, X1, kernel, tau, alpha1, model.prior_mean_, 1.7)
    theta = np.concatenate([tau, logit(alpha1)])[None]
    assert_allclose(model.posterior_.log_posterior(theta)[0], slow, rtol=1e-10)


@pytest.mark.parametrize("minority_prior", [(1.0, 1.0), (0.7, 3.0)])
def test_gradient_equals_finite_differences_jacobian_included(minority_prior):
    X, y = labelled_apart(8, 3, seed=1)
    order = np.random.default_rng(0).permutation(len(X))
    posterior = SpherePosterior(
        rbf(X, gamma=0.3)[np.ix_(order, order)], y[order], np.zeros(8),
        minority_prior=minority_prior,
    )  # fmt: skip
    theta = np.random.default_rng(2).normal(size=(5, 11))
    _, gradient = posterior.log_likelihood(theta)
    h = 1e-5
    for j in range(11):
        step = h * np.eye(11)[j]
        up, down = (posterior.log_likelihood(theta + s * step)[0] for s in (1, -1))
        assert_allclose((up - down) / (2 * h), gradient[:, j], rtol=1e-6, atol=1e-8)


def test_density_of_logits_is_that_of_weights_times_the_jacobian():
    X, y = labelled_apart(5, 2, seed=4)
    posterior = SpherePosterior(rbf(X, gamma=0.3), y, np.zeros(5), minority_prior=(2.0, 5.0))
    theta = np.random.default_rng(0).normal(size=(6, 7))
    alpha = expit(theta[:, 5:])
    prior = -0.5 * (theta[:, :5] ** 2).sum(axis=1)
    jacobian = np.log(alpha * (1 - alpha)).sum(axis=1)
    values = posterior.log_likelihood(theta)[0] + prior
    assert_allclose(values, posterior.log_posterior(theta) + jacobian, rtol=1e-12)


# The mode: limits and invariances


@BY_KERNEL
@pytest.mark.parametrize("scale", [0.01, 1.0, 100.0])
def test_constant_prior_gives_the_kernel_mean(kernel, scale):
    model = BDD("constant", prior_scale=scale, **kernel).fit(points(60))
    assert_allclose(model.alpha_, 1 / 60, rtol=0, atol=1e-10)
    constant = BDD(np.full(60, -7.0), prior_scale=scale, **kernel).fit(points(60))
    assert_allclose(constant.alpha_, 1 / 60, rtol=0, atol=1e-10)


@pytest.mark.parametrize("scale", [0.2, 1.0, 8.0])
@pytest.mark.parametrize("upper", [1.0, 0.05])
def test_row_sums_give_ridge_svdd(scale, upper):
    X = points(50, seed=1)
    K = rbf(X, gamma=0.4)
    model = BDD(-scale * K.sum(axis=1), 1.0, scale, upper=upper, gamma=0.4).fit(X)
    ridge = SVDD(C=upper, kernel="precomputed").fit(K + np.eye(50) / (50 * scale))
    assert_allclose(model.alpha_, ridge.alpha_, rtol=0, atol=1e-8)
    if scale == 1.0:
        named = BDD("row_sum", upper=upper, gamma=0.4).fit(X)
        assert_allclose(named.alpha_, model.alpha_, rtol=0, atol=1e-10)


def test_the_exponent_leads_from_all_points_to_some():
    X = points(100, seed=2)
    sizes = [len(BDD("row_sum", v, gamma=0.5).fit(X).support_) for v in (0.25, 0.5, 0.75, 1.0)]
    assert sizes[0] == 100 and sizes == sorted(sizes, reverse=True) and sizes[-1] < 60


def test_row_means_are_row_sums_over_n():
    X = points(30)
    by_name = BDD("row_mean", 0.5).fit(X)
    K = gram("rbf", X, gamma=by_name.gamma_)
    assert_allclose(by_name.prior_mean_, -np.sqrt(K.mean(axis=1)), rtol=1e-12)
    assert_allclose(by_name.alpha_, BDD(by_name.prior_mean_).fit(X).alpha_, atol=1e-12)


@BY_KERNEL
def test_the_mode_is_optimal_for_a_full_covariance(kernel):
    X, rng = points(20, seed=5), np.random.default_rng(1)
    root = rng.normal(size=(20, 20))
    covariance, m = root @ root.T / 20 + np.eye(20), rng.normal(size=20)
    K, precision = gram(X=X, **kernel), np.linalg.inv(covariance)
    model = BDD(m, prior_scale=covariance, **kernel).fit(X)
    alpha = model.alpha_
    objective = alpha @ (20 * K + precision) @ alpha
    objective -= 2 * alpha @ (K.sum(axis=1) + precision @ m)
    assert_allclose(model.objective_, objective, rtol=1e-9)
    slope = (20 * K + precision) @ alpha - K.sum(axis=1) - precision @ m
    free = alpha > 0
    assert_allclose(slope[free], slope[free].mean(), rtol=0, atol=1e-8 * np.abs(slope).max())
    assert (slope[~free] > slope[free].mean()).all()


def test_far_from_the_origin_nothing_is_lost():
    X = points(30)
    near = BDD("constant", kernel="linear").fit(X)
    far = BDD("constant", kernel="linear").fit(X + 1e6)
    assert_allclose(far.radius_, near.radius_, rtol=1e-8)
    assert_array_equal(far.predict(X + 1e6), near.predict(X))


def test_one_point_and_equal_points():
    for X in ([[2.0, 5.0]], [[2.0, 5.0]] * 4):
        model = BDD(kernel="linear").fit(X)
        assert_allclose(model.alpha_, 1 / len(X))
        assert model.radius_ == 0 and model.predict(X).tolist() == [1] * len(X)
