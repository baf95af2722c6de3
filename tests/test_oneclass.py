"""One-class SVM: proved values, theory, parity with scikit-learn, what users reported."""

import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from oracles import kernel_parameters, problems
from samples import BY_EVERY_KERNEL, EVERY_KERNEL, named, points
from sklearn import svm
from sklearn.exceptions import NotFittedError
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from kernelbook.datasets import load_nhefs_mortality, load_yeast
from kernelbook.exceptions import NotPositiveSemidefiniteError
from kernelbook.kernels import gram, rbf
from kernelbook.oneclass import OneClassSVM, one_class_path


def standardised(load, n):
    X = load().data[:n]
    return StandardScaler().fit_transform(X[:, X.std(axis=0) > 0])


# Proved values and what users reported


@pytest.mark.parametrize("problem", problems("ocsvm"), ids=lambda p: p["id"])
@pytest.mark.parametrize("solver", ["dense", "reference"])
def test_proved_values(problem, solver):
    data, params, expected = problem["data"], problem["params"], problem["expected"]
    atol = problem["tolerance"]["decision_atol"]
    model = OneClassSVM(params["nu"], **kernel_parameters(params["kernel"]), solver=solver)
    model.fit(data["X"], sample_weight=data["sample_weight"])
    scores = model.score_samples(data["X_query"])
    assert_allclose(scores, expected["w_dot_phi"], rtol=0, atol=atol)
    norm_squared = model.alpha_ @ model.score_samples(data["X"])
    assert_allclose(norm_squared, expected["w_norm_sq"], rtol=1e-8)
    assert_allclose(0.5 * norm_squared, expected["objective_dual"], rtol=1e-8)
    low, high = (np.inf if end is None else end for end in expected["rho_interval"])
    assert low - atol <= model.offset_ <= high + atol
    if expected["rho_unique"]:
        assert_allclose(model.offset_, expected["rho"], rtol=0, atol=atol)
        decision = model.decision_function(data["X_query"])
        assert_allclose(decision, expected["decision_function"], rtol=0, atol=atol)
        outside = (model.predict(data["X"]) < 0).mean()
        assert outside == pytest.approx(expected["fraction_strictly_outside"], abs=1e-12)
    assert model.certificate_.status == "optimal"
    assert model.certificate_.duality_gap < 1e-9


def test_tiny_nu_rejects_no_training_point():
    X = np.array([[1, 2, 3.0], [1, 2, 3.1], [1, 2, 3.2]])
    model = OneClassSVM(0.02, gamma=1 / 3).fit(X)
    assert_allclose(model.alpha_, [0.5, 0, 0.5], atol=1e-12)
    assert model.offset_ == pytest.approx(0.993378, abs=5e-7)
    assert_allclose(model.decision_function(X), [0, 0.003295, 0], atol=5e-7)
    assert_array_equal(model.predict(X), 1)


def test_points_on_the_boundary_are_inside():
    X = points(40)
    model = OneClassSVM(0.1, gamma=0.1).fit(X)
    free = (model.alpha_ > 0) & (model.alpha_ < 1 / (0.1 * 40) - 1e-12)
    assert len(model.support_) == 6
    assert free.sum() == 4
    assert_array_equal(model.decision_function(X[free]), 0.0)
    assert_array_equal(model.predict(X[free]), 1)
    assert (model.predict(X) < 0).sum() == 2
    far = model.decision_function([[1e3, 1e3]])
    assert_allclose(far, [-model.offset_], rtol=1e-12)
    assert model.offset_ == pytest.approx(0.4698, abs=5e-5)


@pytest.mark.parametrize("nu", [0, -0.1, 1.5, np.nan, np.inf, "0.5", True, None])
def test_nu_out_of_range(nu):
    with pytest.raises(ValueError, match=named("nu", nu)):
        OneClassSVM(nu).fit(points(60))


# Theory


@BY_EVERY_KERNEL
@pytest.mark.parametrize("nu", [0.07, 0.5, 0.93])
def test_optimality_conditions_on_the_textbook_scale(kernel, nu):
    X = points(60, centre=1.0)
    model = OneClassSVM(nu, **kernel).fit(X)
    K = gram(X=X, **kernel)
    alpha, box = model.alpha_, 1 / (nu * len(X))
    scale = K.diagonal().max()
    f = K @ alpha - model.offset_
    assert alpha.sum() == pytest.approx(1.0, abs=1e-12)
    assert (alpha >= 0).all()
    assert (alpha <= box * (1 + 1e-12)).all()
    assert f[alpha == 0].min(initial=0) > -1e-9 * scale
    assert f[alpha > box * (1 - 1e-12)].max(initial=0) < 1e-9 * scale
    inside = (alpha > 0) & (alpha < box * (1 - 1e-12))
    assert np.abs(f[inside]).max(initial=0) < 1e-9 * scale
    assert_allclose(model.decision_function(X), f, rtol=0, atol=1e-9 * scale)
    assert_allclose(model.score_samples(X), K @ alpha, rtol=0, atol=1e-9 * scale)
    # Primal and dual: 1/2 w'w - rho + sum xi / (nu n) = -1/2 w'w.
    norm_squared = alpha @ K @ alpha
    primal = norm_squared / 2 - model.offset_ + box * np.maximum(-f, 0).sum()
    assert primal == pytest.approx(-norm_squared / 2, abs=1e-9 * scale)


@given(st.integers(0, 10**6), st.floats(0.01, 1.0), st.sampled_from(EVERY_KERNEL))
def test_nu_property(seed, nu, kernel):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 30))
    X = np.round(rng.normal(size=(n, 2)), int(rng.integers(0, 4))) * 10.0 ** rng.integers(-3, 4)
    model = OneClassSVM(nu, **kernel).fit(X)
    assert (model.predict(X) < 0).sum() <= nu * n * (1 + 1e-12)
    assert len(model.support_) >= nu * n * (1 - 1e-12)
    assert_array_equal(model.predict(X) > 0, model.decision_function(X) >= 0)


def test_no_free_support_vector_takes_the_midpoint():
    # One point outside, at its bound 1/(nu n) = 1: any rho in [w'x_0, w'x_1] = [1, 2] is optimal.
    model = OneClassSVM(1 / 3, kernel="linear").fit([[1.0], [2.0], [5.0]])
    assert_allclose(model.alpha_, [1, 0, 0], atol=1e-15)
    assert model.offset_ == pytest.approx(1.5)


def test_nu_one_is_the_mean_with_a_finite_offset():
    X = points(60, centre=2.0)
    model = OneClassSVM(1, kernel="linear").fit(X)
    assert_allclose(model.alpha_, 1 / len(X))
    assert_allclose(model.coef_[0], X.mean(axis=0))
    assert model.offset_ == pytest.approx((X @ X.mean(axis=0)).max())
    assert (model.predict(X) > 0).sum() == 1


def test_orthogonal_images_reject_everything_new():
    X = points(20)
    model = OneClassSVM(0.2, gamma=1e6).fit(X)
    assert_allclose(model.alpha_, 1 / 20)
    assert_array_equal(model.predict(X), 1)
    assert_allclose(model.decision_function(X + 1.0), -1 / 20)


@pytest.mark.parametrize("kernel", ["rbf", "laplacian"])
def test_wide_kernels_keep_their_digits(kernel):
    # To first order in gamma, f / gamma does not depend on it.
    X, Z = points(60), points(60, seed=1)
    values = [
        OneClassSVM(0.15, kernel=kernel, gamma=g).fit(X).decision_function(Z) / g
        for g in (1e-8, 1e-14)
    ]
    assert_allclose(values[0], values[1], rtol=1e-5, atol=1e-6)
    assert 0 < (values[1] < 0).mean() < 1


def test_the_origin_matters_to_the_linear_kernel_only():
    X = points(60)
    for kernel, same in [("linear", False), ("rbf", True), ("laplacian", True)]:
        values = [
            OneClassSVM(0.15, kernel=kernel, gamma=0.5).fit(X + t).decision_function(X + t)
            for t in (2.0, 64.0)
        ]
        assert np.allclose(*values, rtol=1e-8, atol=1e-9) is same


def test_hull_around_the_origin_leaves_no_normal_vector():
    X = points(60)
    model = OneClassSVM(0.07, kernel="linear").fit(X)
    assert_allclose(model.coef_, 0, atol=1e-12)
    assert_array_equal(model.decision_function(X), 0.0)
    assert_array_equal(model.predict(X), 1)


def test_linear_kernel_far_from_the_origin():
    # The points nearest to a far origin are those of smallest sum; w approaches the mean.
    X = np.round(points(60), 3) + 2.0**20
    model = OneClassSVM(0.11, kernel="linear").fit(X)
    assert model.certificate_.status == "optimal"
    assert_array_equal(np.argsort(model.decision_function(X))[:6], np.argsort(X.sum(axis=1))[:6])
    assert_allclose(model.coef_, model.dual_coef_ @ model.support_vectors_)


@pytest.mark.parametrize("scale", [1e-8, 1e8])
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_unit_of_the_features_does_not_matter(kernel, scale):
    X = points(60, centre=1.0)
    model = OneClassSVM(0.2, kernel=kernel).fit(X)
    scaled = OneClassSVM(0.2, kernel=kernel).fit(scale * X)
    assert_allclose(scaled.alpha_, model.alpha_, atol=1e-9)
    assert_array_equal(scaled.predict(scale * X), model.predict(X))


# Sample weights


def test_weights_count_points():
    X = points(25)
    weights = np.random.default_rng(3).integers(0, 4, size=25)
    weighted = OneClassSVM(0.3).fit(X, sample_weight=weights)
    repeated = OneClassSVM(0.3).fit(np.repeat(X, weights, axis=0))
    assert_allclose(weighted.decision_function(X), repeated.decision_function(X), atol=1e-9)
    assert weighted.offset_ == pytest.approx(repeated.offset_)
    assert_array_equal(weighted.alpha_[weights == 0], 0.0)
    assert (weighted.alpha_ <= weights / (0.3 * weights.sum()) * (1 + 1e-12)).all()


def test_only_ratios_of_weights_matter():
    X, weights = points(25), np.random.default_rng(3).uniform(size=25)
    first = OneClassSVM(0.3).fit(X, sample_weight=weights)
    second = OneClassSVM(0.3).fit(X, sample_weight=1000 * weights)
    assert_allclose(first.alpha_, second.alpha_, atol=1e-12)


@pytest.mark.parametrize("weights", [np.full(60, -1.0), np.zeros(60), np.ones(59)])
def test_useless_weights(weights):
    with pytest.raises(ValueError, match=r"(?i)sample.weight"):
        OneClassSVM().fit(points(60), sample_weight=weights)


# Parity with scikit-learn, whose values are nu n times ours


@pytest.mark.parametrize("load", [load_nhefs_mortality, load_yeast])
@pytest.mark.parametrize("nu", [0.053, 0.211])
@pytest.mark.parametrize(
    "kernel", EVERY_KERNEL[:4], ids=lambda k: f"{k['kernel']}-{k.get('degree')}"
)
def test_parity_on_real_data(load, nu, kernel):
    kernel = {**kernel, "gamma": "scale"}
    # For data around the origin the linear kernel would leave nothing but w = 0.
    X = standardised(load, 300) + (4.0 if kernel["kernel"] == "linear" else 0.0)
    ours = OneClassSVM(nu, **kernel).fit(X)
    theirs = svm.OneClassSVM(nu=nu, tol=1e-8, **kernel).fit(X)
    ratio = nu * len(X)
    scale = np.abs(theirs.score_samples(X)).max()
    assert_allclose(
        ratio * ours.decision_function(X), theirs.decision_function(X), atol=1e-6 * scale
    )
    assert_allclose(ratio * ours.score_samples(X), theirs.score_samples(X), atol=1e-6 * scale)
    assert_allclose(ratio * ours.offset_, theirs.offset_, atol=1e-6 * scale)
    assert_allclose(ratio * ours.intercept_, theirs.intercept_, atol=1e-6 * scale)
    sure = np.abs(theirs.decision_function(X)) > 1e-6 * scale
    assert_array_equal(ours.predict(X)[sure], theirs.predict(X)[sure])


def test_parity_with_weights():
    X = points(60)
    weights = np.random.default_rng(2).uniform(0.1, 3, size=60)
    ours = OneClassSVM(0.23, gamma=0.7).fit(X, sample_weight=weights)
    theirs = svm.OneClassSVM(nu=0.23, gamma=0.7, tol=1e-9).fit(X, sample_weight=weights)
    expected = np.zeros(60)
    expected[theirs.support_] = theirs.dual_coef_[0]
    assert_allclose(0.23 * weights.sum() * ours.alpha_, expected, atol=1e-6)
    assert_allclose(0.23 * weights.sum() * ours.offset_, theirs.offset_, rtol=1e-6)


# Kernels and failures


def test_precomputed_and_callable_kernels_give_the_same_machine():
    X, Z = points(60), points(60, seed=1)
    named = OneClassSVM(0.2, gamma=0.5).fit(X)
    K = rbf(X, gamma=0.5)
    precomputed = OneClassSVM(0.2, kernel="precomputed").fit(K)
    called = OneClassSVM(0.2, kernel=lambda A, B: rbf(A, B, gamma=0.5)).fit(X)
    expected = named.decision_function(Z)
    values = precomputed.decision_function(rbf(Z, X, gamma=0.5))
    assert_allclose(values, expected, atol=1e-9)
    assert_allclose(called.decision_function(Z), expected, atol=1e-9)
    assert called.offset_ == pytest.approx(named.offset_)
    assert_array_equal(precomputed.fit_predict(K), named.predict(X))


def test_precomputed_with_points_left_out():
    X, Z = points(60), points(60, seed=1)
    weights = np.tile([0.0, 1.0, 2.0], 20)
    named = OneClassSVM(0.2, gamma=0.5).fit(X, sample_weight=weights)
    precomputed = OneClassSVM(0.2, kernel="precomputed")
    precomputed.fit(rbf(X, gamma=0.5), sample_weight=weights)
    values = precomputed.decision_function(rbf(Z, X, gamma=0.5))
    assert_allclose(values, named.decision_function(Z), atol=1e-9)


def test_precomputed_of_the_wrong_shape():
    X = points(60)
    with pytest.raises(ValueError, match=r"square Gram matrix"):
        OneClassSVM(kernel="precomputed").fit(X)
    model = OneClassSVM(kernel="precomputed").fit(rbf(X))
    with pytest.raises(ValueError, match=r"\(n_test, n_train\) = \(\?, 60\)"):
        model.predict(rbf(X[:5]))


def test_kernel_that_is_none():
    with pytest.raises(NotPositiveSemidefiniteError, match="eigenvalue"):
        OneClassSVM(kernel="sigmoid", coef0=-1.0, gamma=1.0).fit(points(60))


def test_failed_fit_leaves_the_model_as_it_was():
    X = points(60)
    model = OneClassSVM(0.2).fit(X)
    before = model.decision_function(X)
    with pytest.raises(ValueError, match="NaN"):
        model.fit(np.full((5, 2), np.nan))
    assert_array_equal(model.decision_function(X), before)


def test_not_fitted():
    with pytest.raises(NotFittedError):
        OneClassSVM().predict(points(60))


def test_normal_vector_exists_for_the_linear_kernel_only():
    X = points(60, centre=1.0)
    model = OneClassSVM(0.2, kernel="linear").fit(X)
    assert_allclose(X @ model.coef_[0] + model.intercept_[0], model.decision_function(X), atol=1e-9)
    assert not hasattr(OneClassSVM(0.2).fit(X), "coef_")


@pytest.mark.parametrize("kernel", ["rbf", "linear", "poly"])
def test_identical_points_and_one_point(kernel):
    for X in ([[0.1, 5.0]] * 4, [[0.1, 5.0]]):
        model = OneClassSVM(0.5, kernel=kernel).fit(X)
        # The normal vector is the one image itself: rho = K(x, x).
        own = gram(kernel, X[:1], gamma=model.gamma_)[0, 0]
        assert model.offset_ == pytest.approx(own, rel=1e-12)
        assert_array_equal(model.predict(X), 1)
        assert model.certificate_.status == "optimal"


# Life within scikit-learn


def test_prediction_needs_support_vectors_only():
    X = points(400)
    model = OneClassSVM(0.05).fit(X)
    assert len(model.support_vectors_) < 40
    restored = pickle.loads(pickle.dumps(model))
    del restored.alpha_
    assert_array_equal(restored.decision_function(X), model.decision_function(X))
    arrays = [v for v in vars(restored).values() if isinstance(v, np.ndarray)]
    assert max(len(v) for v in arrays) == len(model.support_)


def test_data_frames_pipelines_and_searches():
    X = pd.DataFrame(points(80), columns=["height", "weight"])
    y = np.where(np.linalg.norm(X, axis=1) < 1.8, 1, -1)
    pipeline = make_pipeline(StandardScaler(), OneClassSVM())
    grid = {"oneclasssvm__nu": [0.05, 0.2]}
    search = GridSearchCV(pipeline, grid, scoring="roc_auc", cv=StratifiedKFold(3)).fit(X, y)
    assert list(search.best_estimator_[0].feature_names_in_) == ["height", "weight"]
    assert roc_auc_score(y, search.decision_function(X)) > 0.9


def test_both_solvers_agree():
    X = points(200, 4)
    first, second = (OneClassSVM(0.13, solver=s).fit(X) for s in ("dense", "reference"))
    assert_allclose(first.alpha_, second.alpha_, atol=1e-12)
    assert first.offset_ == pytest.approx(second.offset_, abs=1e-13)


@pytest.mark.parametrize("n", [60, 500])
def test_a_path_of_nu_is_what_separate_fits_are(n):
    X = np.random.default_rng(0).normal(size=(n, 2))
    nus = [0.5, 0.05, 0.2]
    for nu, machine in zip(nus, one_class_path(X, nus, gamma=0.5), strict=True):
        alone = OneClassSVM(nu, gamma=0.5).fit(X)
        assert machine.certificate_.status == "optimal"
        assert_allclose(machine.alpha_, alone.alpha_, atol=1e-9)
        assert_allclose(machine.offset_, alone.offset_, atol=1e-9)


@pytest.mark.parametrize(
    ("nus", "message"),
    [([], "nus must be a list"), (0.5, "nus must be a list"), ([0.5, 2.0], named("nu", 2.0))],
)
def test_a_path_without_fractions_is_refused(nus, message):
    with pytest.raises(ValueError, match=message):
        one_class_path([[0.0], [1.0]], nus)


@pytest.mark.parametrize("solver", ["dense", "exact"])
def test_steps_are_counted_as_they_were_taken(solver):
    # Equal weights are the only point that the box allows: there is nothing to solve.
    X = points(60)
    assert OneClassSVM(1.0, solver=solver).fit(X).n_iter_ == 0
    assert OneClassSVM(0.3, solver=solver).fit(X).n_iter_ > 0


def test_the_resolution_is_the_tolerance_times_the_largest_term():
    # Their mean is 0, so nothing is split off. nu = 1 shares the weight as the points do:
    # w = (-1 + 0 + 2) / 4, and its products with the points are -1/4, 0 and 1/4.
    X = np.array([[-1.0], [0.0], [1.0]])
    machine = OneClassSVM(1.0, kernel="linear", tol=1e-6).fit(X, sample_weight=[1, 1, 2])
    assert_allclose(machine.resolution_, 0.25e-6, rtol=1e-9)
