"""Kernel Fisher discriminants: proved values, closed forms, parity with linear analysis."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from oracles import problems
from samples import PENALTIES, blobs, named
from scipy.linalg import eigh
from sklearn.base import clone
from sklearn.datasets import load_iris, load_wine
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.kernel_ridge import KernelRidge
from sklearn.preprocessing import StandardScaler

from kernelbook.fisher import KernelFisherDiscriminant
from kernelbook.kernels import gram, rbf
from kernelbook.qp import double_centre

KERNELS = [
    {"kernel": "linear"},
    {"kernel": "poly", "gamma": 0.5, "degree": 3, "coef0": 1.0},
    {"kernel": "rbf", "gamma": 0.4},
    {"kernel": "laplacian", "gamma": 0.3},
]
PENALTY_ON = {"I": "coef", "K": "norm"}


def textbook(K, y, mu, penalty):
    """B and N_mu, entry by entry as in the definition."""
    n = len(K)
    B, N = np.zeros((n, n)), np.zeros((n, n))
    for label in np.unique(y):
        K_c = K[:, y == label]
        M_c = K_c.mean(axis=1)
        B += K_c.shape[1] * np.outer(M_c - K.mean(axis=1), M_c - K.mean(axis=1))
        N += (K_c - M_c[:, None]) @ (K_c - M_c[:, None]).T
    return B, N + mu * (K if penalty == "norm" else np.eye(n))


def fitted_to(problem):
    parameters = problem["params"]
    kernel = {k: v for k, v in parameters["kernel"].items() if k != "name" and v is not None}
    machine = KernelFisherDiscriminant(
        parameters["kernel"]["name"],
        **kernel,
        reg=parameters["mu"],
        penalty=PENALTY_ON[parameters["penalty_on"]],
    )
    return machine.fit(problem["data"]["X"], problem["data"]["y"])


# Proved values and what users reported


@pytest.mark.parametrize("problem", problems("kfda"), ids=lambda p: p["id"])
def test_proved_discriminants(problem):
    y, expected, tolerance = (
        np.array(problem["data"]["y"]),
        problem["expected"],
        problem["tolerance"],
    )
    machine = fitted_to(problem)
    scores = machine.transform(problem["data"]["X"])[:, 0]
    low, high = scores[y < 0].mean(), scores[y > 0].mean()
    assert high > low
    query = (machine.transform(problem["data"]["X_query"])[:, 0] - low) / (high - low)
    atol = tolerance["projection_atol"]
    assert_allclose(query, expected["projection_normalised"], rtol=0, atol=atol)
    ends = (scores - low) / (high - low)
    minmax = expected["training_projection_normalised_minmax"]
    assert_allclose([ends.min(), ends.max()], minmax, rtol=0, atol=atol)
    quotient = expected["rayleigh_quotient"]
    assert_allclose(machine.rayleigh_quotient_, quotient, rtol=tolerance["rayleigh_rtol"])
    if "alpha_unit" in expected:
        unit = machine.alpha_ / np.linalg.norm(machine.alpha_)
        assert_allclose(unit, expected["alpha_unit"], rtol=0, atol=atol)


@pytest.mark.parametrize("problem", problems("kfda_multiclass"), ids=lambda p: p["id"])
def test_proved_eigenvalues_of_several_classes(problem):
    rtol = problem["tolerance"]["eigenvalue_rtol"]
    assert_allclose(fitted_to(problem).eigenvalues_, problem["expected"]["eigenvalues"], rtol=rtol)


@pytest.mark.parametrize("penalty", PENALTIES)
def test_a_scatter_of_deficient_rank_needs_regularization(penalty):
    X, y = np.array([[0.0], [1.0], [2.0], [6.0], [7.0], [8.0]]), np.array([-1, -1, -1, 1, 1, 1])
    _, N = textbook(rbf(X, gamma=0.5), y, 0.0, "coef")
    assert np.linalg.matrix_rank(N) == 4
    for reg in (1e-3, KernelFisherDiscriminant().reg):
        machine = KernelFisherDiscriminant(gamma=0.5, reg=reg, penalty=penalty).fit(X, y)
        assert_array_equal(machine.predict(X), y)
        assert machine.projected_means_[0, 0] < 0 < machine.projected_means_[1, 0]
    with pytest.raises(ValueError, match=named("reg", 0)):
        KernelFisherDiscriminant(gamma=0.5, reg=0, penalty=penalty).fit(X, y)


@pytest.mark.parametrize("penalty", PENALTIES)
@pytest.mark.parametrize("shift", [100.0, -100.0, 0.0, 1e6])
def test_the_threshold_lies_between_the_means_at_any_offset(shift, penalty):
    X, y = np.array([[0.0], [1.0], [2.0], [6.0], [7.0], [8.0]]) + shift, [-1, -1, -1, 1, 1, 1]
    machine = KernelFisherDiscriminant("linear", penalty=penalty).fit(X, y)
    assert_array_equal(machine.predict(X), y)
    threshold = np.array([[4.0]]) + shift
    spread = np.abs(machine.decision_function(X)).max()
    assert_allclose(machine.decision_function(threshold) / spread, 0, atol=1e-9)


# Theory


@pytest.mark.parametrize("classes", [2, 4])
@pytest.mark.parametrize("penalty", PENALTIES)
@pytest.mark.parametrize("parameters", KERNELS, ids=str)
def test_discriminants_solve_the_generalised_eigenproblem(parameters, penalty, classes):
    X, y = blobs(classes=classes)
    machine = KernelFisherDiscriminant(**parameters, reg=0.1, penalty=penalty).fit(X, y)
    K = gram(**parameters, X=X)
    B, N_mu = textbook(K, y, 0.1, penalty)
    alpha = machine.alpha_.reshape(len(X), -1)
    scale = np.abs(N_mu @ alpha).max() * machine.eigenvalues_[0]
    residual = B @ alpha - (N_mu @ alpha) * machine.eigenvalues_
    assert_allclose(residual / scale, 0, atol=1e-9)
    assert_allclose(alpha.T @ N_mu @ alpha, len(X) * np.eye(classes - 1), atol=1e-7 * len(X))
    # The same functions and values as a generalised eigensolver, where it can be asked.
    if parameters["kernel"] in ("rbf", "laplacian"):
        values = eigh(B, N_mu, eigvals_only=True)[:-classes:-1]
        assert_allclose(machine.eigenvalues_, values, rtol=1e-8)
    scores = machine.transform(X)
    raw = K @ alpha
    assert_allclose(scores, raw - raw.mean(axis=0), atol=1e-8 * np.abs(raw).max())


@pytest.mark.parametrize("parameters", KERNELS, ids=str)
def test_the_norm_penalty_is_ridge_with_a_free_intercept(parameters):
    X, y = blobs()
    mu, K = 0.3, gram(**parameters, X=X)
    targets = np.where(y == 1, 2.0, -0.7)
    ridge = KernelRidge(kernel="precomputed", alpha=mu).fit(
        double_centre(K)[0], targets - targets.mean()
    )
    machine = KernelFisherDiscriminant(**parameters, reg=mu).fit(X, y)
    fitted = ridge.predict(double_centre(K)[0])
    scores = machine.transform(X)[:, 0]
    assert np.corrcoef(fitted, scores)[0, 1] > 1 - 1e-10
    # Without centring, and so without the intercept, the directions differ.
    bare = KernelRidge(kernel="precomputed", alpha=mu).fit(K, targets).predict(K)
    assert np.corrcoef(bare, scores)[0, 1] < 1 - 1e-6


def test_the_coef_penalty_is_least_squares_on_gram_columns():
    X, y = blobs()
    mu, K = 0.3, rbf(X, gamma=0.4)
    centred = K - K.mean(axis=0)
    targets = np.where(y == 1, 1.0, -1.0)
    alpha = np.linalg.solve(centred.T @ centred + mu * np.eye(len(X)), centred.T @ targets)
    machine = KernelFisherDiscriminant(gamma=0.4, reg=mu, penalty="coef").fit(X, y)
    assert_allclose(
        machine.alpha_ / np.linalg.norm(machine.alpha_), alpha / np.linalg.norm(alpha), atol=1e-10
    )


def gaussian_scores(X, y, new, mu, priors):
    """Linear discriminant analysis by its formula, with mu I added to the scatter."""
    labels = np.unique(y)
    means = np.array([X[y == c].mean(axis=0) for c in labels])
    scatter = sum((X[y == c] - m).T @ (X[y == c] - m) for c, m in zip(labels, means, strict=True))
    precision = np.linalg.inv((scatter + mu * np.eye(X.shape[1])) / len(X))
    differences = new[:, None] - means
    distances = np.einsum("mcd,de,mce->mc", differences, precision, differences)
    return -0.5 * distances + np.log(priors)


@pytest.mark.parametrize("classes", [2, 3])
def test_decisions_are_those_of_regularized_gaussian_classes(classes):
    (X, y), (new, _) = blobs(classes=classes), blobs(20, classes, seed=1)
    priors = np.arange(1.0, classes + 1) / sum(range(1, classes + 1))
    for given_priors, used in (
        (priors, priors),
        ("equal", np.full(classes, 1 / classes)),
        (None, np.bincount(y) / len(y)),
    ):
        machine = KernelFisherDiscriminant("linear", reg=2.0, priors=given_priors).fit(X, y)
        assert_allclose(machine.priors_, used, rtol=1e-14)
        expected = gaussian_scores(X, y, new, 2.0, used)
        assert_array_equal(machine.predict(new), expected.argmax(axis=1))
        decisions = machine.decision_function(new)
        if classes == 2:
            assert_allclose(decisions, expected[:, 1] - expected[:, 0], rtol=1e-9)
        else:
            difference = decisions - expected
            assert_allclose(difference, difference[:, :1] * np.ones(classes), atol=1e-9)


def test_equal_priors_predict_the_nearest_projected_mean():
    (X, y), (new, _) = blobs(classes=4), blobs(30, 4, seed=1)
    machine = KernelFisherDiscriminant(gamma=0.3, reg=0.1, priors="equal").fit(X, y)
    distances = np.linalg.norm(machine.transform(new)[:, None] - machine.projected_means_, axis=2)
    assert_array_equal(machine.predict(new), distances.argmin(axis=1))


def test_priors_move_the_threshold_by_scaled_log_odds():
    X, y = blobs()
    machine = KernelFisherDiscriminant(gamma=0.3, priors=[0.2, 0.8]).fit(X, y)
    low, high = machine.projected_means_[:, 0]
    threshold = (low + high) / 2 - np.log(0.8 / 0.2) / (high - low)
    scores = machine.transform(X)[:, 0]
    assert_array_equal(machine.predict(X), (scores > threshold).astype(int))
    assert_allclose(machine.decision_function(X), (high - low) * (scores - threshold), rtol=1e-9)
    equal = clone(machine).set_params(priors="equal").fit(X, y)
    shift = machine.decision_function(X) - equal.decision_function(X)
    assert_allclose(shift, np.log(4), rtol=1e-9)


@pytest.mark.parametrize("load", [load_iris, load_wine])
@pytest.mark.parametrize("offset", [0.0, 1e6])
def test_a_linear_kernel_is_linear_discriminant_analysis(load, offset):
    X, y = load(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    lda = LinearDiscriminantAnalysis(solver="eigen").fit(X, y)
    machine = KernelFisherDiscriminant("linear", reg=1e-9).fit(X + offset, y)
    ours, theirs = machine.transform(X + offset), lda.transform(X)
    for column in range(ours.shape[1]):
        correlation = np.corrcoef(ours[:, column], theirs[:, column])[0, 1]
        assert_allclose(abs(correlation), 1, rtol=1e-9)
    ours, theirs = machine.decision_function(X + offset), lda.decision_function(X)
    difference = ours - theirs
    scale = np.abs(theirs).max()
    assert_allclose((difference - difference.mean(axis=1, keepdims=True)) / scale, 0, atol=1e-7)
    assert_array_equal(machine.predict(X + offset), lda.predict(X))


@pytest.mark.parametrize("penalty", PENALTIES)
def test_exchanged_labels_turn_every_sign(penalty):
    X, y = blobs()
    machine = KernelFisherDiscriminant(gamma=0.4, penalty=penalty).fit(X, y)
    turned = KernelFisherDiscriminant(gamma=0.4, penalty=penalty).fit(X, 1 - y)
    assert_allclose(turned.decision_function(X), -machine.decision_function(X), rtol=1e-9)
    assert_allclose(turned.alpha_, -machine.alpha_, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("penalty", PENALTIES)
def test_signs_do_not_depend_on_the_order_of_points(penalty):
    X, y = blobs(classes=4)
    order = np.random.default_rng(3).permutation(len(X))
    parameters = {"gamma": 0.4, "reg": 0.1, "penalty": penalty}
    first = KernelFisherDiscriminant(**parameters).fit(X, y)
    second = KernelFisherDiscriminant(**parameters).fit(X[order], y[order])
    assert_allclose(first.transform(X), second.transform(X), atol=1e-8)
    assert_allclose(first.alpha_[order], second.alpha_, atol=1e-7)


@settings(max_examples=25)
@given(st.integers(0, 10**6), st.floats(-1e5, 1e5), st.sampled_from(["linear", "rbf", "laplacian"]))
def test_translation_changes_nothing(seed, shift, kernel):
    grid = 2.0**-20
    X, y = blobs(20, seed=seed)
    X, shift = np.round(X / grid) * grid, round(shift)
    near = KernelFisherDiscriminant(kernel, gamma=0.3).fit(X, y)
    far = KernelFisherDiscriminant(kernel, gamma=0.3).fit(X + shift, y)
    assert_allclose(
        far.decision_function(X + shift), near.decision_function(X), rtol=1e-7, atol=1e-7
    )


def test_class_means_on_a_line_lack_a_discriminant():
    X = np.array([[-1.0, 1], [-1, -1], [0, 1], [0, -1], [1, 1], [1, -1]])
    machine = KernelFisherDiscriminant("linear").fit(X, [0, 0, 1, 1, 2, 2])
    assert_allclose(machine.eigenvalues_[1], 0, atol=1e-14)
    assert_allclose(machine.transform(X)[:, 1], 0, atol=1e-7)
    assert_array_equal(machine.predict(X), [0, 0, 1, 1, 2, 2])


def test_coinciding_points_leave_the_priors_to_decide():
    X, y = np.ones((5, 2)), ["b", "b", "a", "b", "a"]
    for kernel in ("linear", "rbf", "poly"):
        for penalty in PENALTIES:
            machine = KernelFisherDiscriminant(kernel, penalty=penalty).fit(X, y)
            assert machine.predict(X).tolist() == ["b"] * 5
            assert_allclose(machine.decision_function(X), np.log(3 / 2), rtol=1e-12)
            assert_array_equal(machine.transform(X), 0)
