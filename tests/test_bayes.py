"""Bayesian data descriptions: proved values, slow loops, quadrature, limits, what priors do."""

import pickle

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from oracles import problems
from scipy.special import expit, logit
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.metrics import balanced_accuracy_score, f1_score
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.utils.estimator_checks import parametrize_with_checks

from kernelbook.bayes import (
    BayesianDataDescription,
    BayesianSVDD,
    BayesianSVDDMinority,
    SpherePosterior,
    prior_mean_vector,
)
from kernelbook.bayes.cutoff import best_cutoff, ranked_cutoff
from kernelbook.exceptions import (
    CollapseWarning,
    InfeasibleError,
    NotPositiveSemidefiniteError,
)
from kernelbook.kernels import gram, rbf
from kernelbook.mcmc import diagnose
from kernelbook.svdd import SVDD

KERNELS = [
    {"kernel": "linear"},
    {"kernel": "poly", "gamma": 0.5, "degree": 2, "coef0": 1.0},
    {"kernel": "rbf", "gamma": 0.4},
    {"kernel": "laplacian", "gamma": 0.3},
]
BY_KERNEL = pytest.mark.parametrize("kernel", KERNELS, ids=lambda k: k["kernel"])
SHORT = {"n_chains": 4, "n_samples": 40, "n_burn_in": 40, "random_state": 0}
TINY = {"n_chains": 2, "n_samples": 8, "n_burn_in": 4, "random_state": 0}
BDD, BSVDD, MINORITY = BayesianDataDescription, BayesianSVDD, BayesianSVDDMinority
short_chains = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def points(n=40, d=2, seed=0):
    return np.random.default_rng(seed).normal(size=(n, d))


def labelled(n=40, n_outliers=6, d=2, seed=0, shift=2.5):
    rng = np.random.default_rng(seed)
    X = np.vstack([rng.normal(size=(n, d)), rng.normal(shift, 1.0, size=(n_outliers, d))])
    return X, np.repeat([1, -1], [n, n_outliers])


def kernel_parameters(kernel):
    given = {k: v for k, v in kernel.items() if k != "name" and v is not None}
    return {"kernel": kernel["name"], **given}


def short(estimator, *args, **options):
    return estimator(*args, **({"prior_mean": "row_mean"} | SHORT | options))


# scikit-learn's checks

NO_GRAM_MATRIX = {
    "check_positive_only_tag_during_fit": "the check hands in a matrix that is no Gram matrix",
    "check_estimators_dtypes": "rounded to whole numbers the check's Gram matrix is indefinite",
    "check_outliers_fit_predict": "it passes points",
    "check_outliers_train": "it passes points",
    **dict.fromkeys(
        [
            "check_classifier_data_not_an_array",
            "check_dict_unchanged",
            "check_dtype_object",
            "check_f_contiguous_array_estimator",
            "check_fit_idempotent",
            "check_methods_sample_order_invariance",
            "check_methods_subset_invariance",
        ],
        "it does not pass the diagonal K(z, z)",
    ),
}


@pytest.mark.filterwarnings("ignore::kernelbook.exceptions.CollapseWarning")
@short_chains
@parametrize_with_checks(
    [
        BDD(),
        BDD(kernel="precomputed"),
        BSVDD(**TINY),
        MINORITY(**TINY),
    ],
    expected_failed_checks=lambda e: NO_GRAM_MATRIX if e.kernel == "precomputed" else {},
)
def test_scikit_learn_estimator_checks(estimator, check):
    check(estimator)


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
    X, y = labelled(7, n_outliers, seed=3)
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
    X, y = labelled(8, 3, seed=1)
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


def test_density_of_the_logits_is_that_of_the_weights_times_the_jacobian():
    X, y = labelled(5, 2, seed=4)
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
def test_the_mode_is_optimal_for_the_plain_gram_matrix_and_a_full_covariance(kernel):
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
    X, y = labelled(20, 4)
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
        published = BSVDD(**options)
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
@pytest.mark.parametrize("repair", [("row_mean", 1.0), ("row_sum", 0.25), ("constant", 1.0)])
def test_repaired_priors_keep_their_atoms(repair):
    model = BSVDD(*repair, **(SHORT | {"gamma": "median"})).fit(points(300, d=5, seed=3))
    assert model.n_effective_atoms_ > 60
    draws = 1 / (model.alpha_draws_**2).sum(axis=1)
    assert_allclose(model.n_effective_atoms_, np.median(draws), rtol=1e-12)


@short_chains
def test_a_tight_minority_prior_keeps_the_centre_near():
    X, y = labelled(60, 30)
    with pytest.warns(CollapseWarning, match=r"minority_prior=\(1, 30\)"):
        loose = short(MINORITY).fit(X, y)
    tight = short(MINORITY, minority_prior=(1.0, 30.0)).fit(X, y)
    weight = [m.idata_.posterior["minority_weight"].values.mean() for m in (loose, tight)]
    assert weight[1] < 0.6 * weight[0]


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
    X, y = labelled(40, 10, shift=1.0)
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
    X, y = labelled(40, 8)
    alone = BDD("row_sum", 0.5).fit(X[y == 1])
    model = BDD("row_sum", 0.5, cutoff="f1").fit(X, y)
    assert_allclose(model.alpha_[y == 1], alone.alpha_, atol=1e-12)
    assert not model.alpha_[y == -1].any()
    assert model.radius_ != alone.radius_
    assert_allclose(model.distance(X), alone.distance(X), rtol=1e-10)


def test_held_out_distances_keep_the_rejection_rate_on_new_points():
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
    X, y = labelled(30, 6)
    for estimator in (BDD("row_mean"), short(BSVDD), short(MINORITY)):
        model = estimator.set_params(cutoff=score, cv=3).fit(X, y)
        assert balanced_accuracy_score(y, model.predict(X)) > 0.6


# As estimators


@short_chains
@pytest.mark.parametrize("estimator", [BDD("row_mean"), short(BSVDD), short(MINORITY)])
def test_precomputed_equals_the_kernel_itself(estimator):
    X, y = labelled(20, 5)
    Z = points(9, seed=4)
    estimator.set_params(kernel="rbf", gamma=0.3, cv=2, cutoff="balanced_accuracy")
    direct = estimator.fit(X, y)
    expected = [direct.decision_function(Z), direct.alpha_]
    K = rbf(X, gamma=0.3)
    model = estimator.set_params(kernel="precomputed").fit(K, y)
    assert_allclose(model.decision_function(rbf(Z, X, gamma=0.3)), expected[0], atol=1e-6)
    assert_allclose(model.alpha_, expected[1], atol=1e-6)
    linear = estimator.set_params(kernel="precomputed").fit(X @ X.T, y)
    with pytest.raises(ValueError, match="diagonal"):
        linear.predict(Z @ X.T)
    inside = linear.predict(Z @ X.T, diagonal=(Z**2).sum(axis=1))
    assert set(inside) <= {-1, 1}


@short_chains
@pytest.mark.parametrize("estimator", [BDD("row_mean"), short(BSVDD), short(MINORITY)])
def test_frames_pickles_and_atomic_fits(estimator):
    X, y = labelled(20, 5)
    frame = pd.DataFrame(X, columns=["a", "b"])
    model = estimator.fit(frame, pd.Series(y))
    assert model.feature_names_in_.tolist() == ["a", "b"]
    again = pickle.loads(pickle.dumps(model))
    assert_array_equal(again.decision_function(frame), model.decision_function(frame))
    before = model.radius_
    with pytest.raises(ValueError):
        model.set_params(rejection_rate=2.0).fit(frame, y)
    assert model.radius_ == before
    model.set_params(rejection_rate=0.1)
    assert_array_equal(model.fit_predict(frame, y), model.predict(frame))
    assert (model.predict(frame)[y == 1] == -1).sum() == 2


def test_grid_search_over_the_exponent():
    X, y = labelled(40, 10)
    grid = GridSearchCV(
        BDD("row_sum"), {"prior_exponent": [0.25, 1.0]}, scoring="roc_auc",
        cv=StratifiedKFold(3, shuffle=True, random_state=0),
    ).fit(X, y)  # fmt: skip
    assert grid.best_score_ > 0.8


def test_not_fitted():
    for model in (BDD(), BSVDD(), MINORITY()):
        with pytest.raises(NotFittedError):
            model.predict([[0.0]])
    with pytest.raises(NotFittedError):
        BSVDD().predict_proba([[0.0]])


@pytest.mark.parametrize("estimator", [BDD, BSVDD, MINORITY])
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"prior_mean": "mean"}, "prior_mean must be one of"),
        ({"prior_mean": [0.0, 1.0]}, "prior_mean must hold one finite number"),
        ({"prior_exponent": 0.0}, "prior_exponent"),
        ({"prior_scale": -1.0}, "prior_scale"),
        ({"prior_scale": np.eye(3)}, "prior_scale must be a positive variance"),
        ({"prior_scale": np.triu(np.ones((10, 10)))}, "symmetric"),
        ({"prior_exponent": 0.5, "kernel": "linear"}, "prior_exponent=0.5 needs row sums"),
        ({"cutoff": "mcc"}, "cutoff must be one of"),
        ({"cutoff": "f1"}, "needs outliers"),
        ({"rejection_rate": 1.0}, r"rejection_rate must be in \[0, 1\)"),
        ({"rank": 0}, "rank must be a whole number from 1 to 10"),
        ({"rank": 11}, "rank must be a whole number from 1 to 10"),
        ({"cv": 1}, "cv must be None or a number of folds from 2 to 10"),
        ({"cv": 2, "prior_mean": np.zeros(10)}, "cv refits on parts"),
        ({"gamma": -1.0}, "gamma"),
    ],
)
def test_errors_name_the_argument(estimator, options, message):
    with pytest.raises(ValueError, match=message):
        estimator(**options).fit(points(10))


def test_errors_of_one_machine():
    X = points(10)
    with pytest.raises(InfeasibleError, match=r"below 1/n = 0\.1"):
        BDD(upper=0.05).fit(X)
    assert_allclose(BDD(upper=0.1).fit(X).alpha_, 0.1)
    with pytest.raises(NotPositiveSemidefiniteError, match="prior_scale must be a positive"):
        BDD(prior_scale=np.eye(10) - 0.5).fit(X)
    with pytest.raises(ValueError, match="sampler must be one of"):
        BSVDD(sampler="nuts").fit(X)
    with pytest.raises(ValueError, match="needs a Gaussian prior of all coordinates"):
        MINORITY(sampler="pcn").fit(*labelled(5, 2))
    for wrong in (1.0, (1.0,), (0.0, 1.0), ("a", 1.0)):
        with pytest.raises(ValueError, match="minority_prior"):
            MINORITY(minority_prior=wrong).fit(*labelled(5, 2))
    with pytest.raises(ValueError, match="at least one target"):
        MINORITY().fit(X, -np.ones(10))
    flat = SpherePosterior(np.eye(2), [1, 1], np.zeros(2), np.ones((2, 2)))
    with pytest.raises(NotPositiveSemidefiniteError, match="no density"):
        flat.log_posterior(np.zeros((1, 2)))
