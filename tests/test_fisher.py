"""Kernel Fisher discriminants: proved values, closed forms, parity with LDA, users' reports."""

import pickle
import warnings
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from oracles import problems
from scipy.linalg import eigh
from sklearn.base import clone
from sklearn.datasets import load_iris, load_wine
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.kernel_ridge import KernelRidge
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from kernelbook.datasets import make_ringnorm, make_twonorm
from kernelbook.exceptions import NotPositiveSemidefiniteError
from kernelbook.fisher import KernelFisherDiscriminant
from kernelbook.kernels import gram, laplacian, rbf
from kernelbook.projection import double_centred

KERNELS = [
    {"kernel": "linear"},
    {"kernel": "poly", "gamma": 0.5, "degree": 3, "coef0": 1.0},
    {"kernel": "rbf", "gamma": 0.4},
    {"kernel": "laplacian", "gamma": 0.3},
]
PENALTIES = ["norm", "coef"]
PENALTY_ON = {"I": "coef", "K": "norm"}


def blobs(n=45, classes=2, d=3, seed=0):
    """Labels in turn, so that every class has a share, and overlapping Gaussian points."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % classes
    y[: n // 5] = 0
    return rng.normal(size=(n, d)) + 1.5 * rng.normal(size=(classes, d))[y], y


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


def checks_that_pass_no_gram_matrix(estimator):
    if estimator.kernel != "precomputed":
        return {}
    return {
        "check_positive_only_tag_during_fit": "its matrix has negative eigenvalues",
        "check_estimators_dtypes": "it cuts the Gram matrix down to whole numbers: indefinite",
    }


@parametrize_with_checks(
    [
        KernelFisherDiscriminant(),
        KernelFisherDiscriminant("linear"),
        KernelFisherDiscriminant(reg="loo"),
        KernelFisherDiscriminant(penalty="coef"),
        KernelFisherDiscriminant("poly", coef0=1.0, degree=2, priors="equal"),
        KernelFisherDiscriminant("laplacian", n_components=1),
        KernelFisherDiscriminant(laplacian),
        KernelFisherDiscriminant("precomputed"),
    ],
    expected_failed_checks=checks_that_pass_no_gram_matrix,
)
def test_scikit_learn_estimator_checks(estimator, check):
    check(estimator)


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
def test_a_scatter_of_deficient_rank_is_regularised_and_never_without(penalty):
    X, y = np.array([[0.0], [1.0], [2.0], [6.0], [7.0], [8.0]]), np.array([-1, -1, -1, 1, 1, 1])
    _, N = textbook(rbf(X, gamma=0.5), y, 0.0, "coef")
    assert np.linalg.matrix_rank(N) == 4
    for reg in (1e-3, KernelFisherDiscriminant().reg):
        machine = KernelFisherDiscriminant(gamma=0.5, reg=reg, penalty=penalty).fit(X, y)
        assert_array_equal(machine.predict(X), y)
        assert machine.projected_means_[0, 0] < 0 < machine.projected_means_[1, 0]
    with pytest.raises(ValueError, match=r"reg must be positive.*rank n - n_classes.*singular"):
        KernelFisherDiscriminant(gamma=0.5, reg=0, penalty=penalty).fit(X, y)


@pytest.mark.parametrize("penalty", PENALTIES)
@pytest.mark.parametrize("shift", [100.0, -100.0, 0.0, 1e6])
def test_the_threshold_lies_between_the_means_wherever_the_data_are(shift, penalty):
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
def test_the_norm_penalty_is_ridge_regression_with_a_free_intercept(parameters):
    X, y = blobs()
    mu, K = 0.3, gram(**parameters, X=X)
    targets = np.where(y == 1, 2.0, -0.7)
    ridge = KernelRidge(kernel="precomputed", alpha=mu).fit(
        double_centred(K), targets - targets.mean()
    )
    machine = KernelFisherDiscriminant(**parameters, reg=mu).fit(X, y)
    fitted = ridge.predict(double_centred(K))
    scores = machine.transform(X)[:, 0]
    assert np.corrcoef(fitted, scores)[0, 1] > 1 - 1e-10
    # Without centring, and so without the intercept, the directions differ.
    bare = KernelRidge(kernel="precomputed", alpha=mu).fit(K, targets).predict(K)
    assert np.corrcoef(bare, scores)[0, 1] < 1 - 1e-6


def test_the_coefficient_penalty_is_least_squares_on_the_columns_of_the_gram_matrix():
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
def test_decisions_are_those_of_gaussian_classes_with_the_regularised_covariance(classes):
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


def test_with_equal_priors_the_nearest_projected_mean_is_predicted():
    (X, y), (new, _) = blobs(classes=4), blobs(30, 4, seed=1)
    machine = KernelFisherDiscriminant(gamma=0.3, reg=0.1, priors="equal").fit(X, y)
    distances = np.linalg.norm(machine.transform(new)[:, None] - machine.projected_means_, axis=2)
    assert_array_equal(machine.predict(new), distances.argmin(axis=1))


def test_priors_move_the_threshold_by_their_log_odds_over_the_distance_of_the_means():
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
def test_several_classes_with_signs_that_do_not_depend_on_the_order_of_points(penalty):
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


def test_a_discriminant_is_missing_where_class_means_lie_on_a_line():
    X = np.array([[-1.0, 1], [-1, -1], [0, 1], [0, -1], [1, 1], [1, -1]])
    machine = KernelFisherDiscriminant("linear").fit(X, [0, 0, 1, 1, 2, 2])
    assert_allclose(machine.eigenvalues_[1], 0, atol=1e-14)
    assert np.isfinite(machine.transform(X)).all()
    assert_array_equal(machine.predict(X), [0, 0, 1, 1, 2, 2])


def test_coinciding_points_leave_the_priors_to_decide():
    X, y = np.ones((5, 2)), ["b", "b", "a", "b", "a"]
    for kernel in ("linear", "rbf", "poly"):
        for penalty in PENALTIES:
            machine = KernelFisherDiscriminant(kernel, penalty=penalty).fit(X, y)
            assert machine.predict(X).tolist() == ["b"] * 5
            assert_allclose(machine.decision_function(X), np.log(3 / 2), rtol=1e-12)
            assert_array_equal(machine.transform(X), 0)


# Digits: small regularisation, large offsets


def solve_exactly(A, b):
    """Gaussian elimination in fractions."""
    rows = [[*row, value] for row, value in zip(A, b, strict=True)]
    n = len(rows)
    for i in range(n):
        pivot = max(range(i, n), key=lambda r: abs(rows[r][i]))
        rows[i], rows[pivot] = rows[pivot], rows[i]
        for r in range(i + 1, n):
            factor = rows[r][i] / rows[i][i]
            rows[r] = [x - factor * z for x, z in zip(rows[r], rows[i], strict=True)]
    x = [Fraction(0)] * n
    for i in reversed(range(n)):
        rest = sum(rows[i][j] * x[j] for j in range(i + 1, n))
        x[i] = (rows[i][n] - rest) / rows[i][i]
    return x


def exact_normalised_projections(K, K_new, y, mu, penalty):
    """Projections with class means at 0 and 1, from Gram matrices of fractions."""
    n = len(K)
    members = [[i for i in range(n) if y[i] == c] for c in (0, 1)]
    M = [[sum(row[i] for i in own) / len(own) for row in K] for own in members]
    N = [[mu * (K[a][b] if penalty == "norm" else int(a == b)) for b in range(n)] for a in range(n)]
    for own, mean in zip(members, M, strict=True):
        for i in own:
            d = [K[a][i] - mean[a] for a in range(n)]
            N = [[N[a][b] + d[a] * d[b] for b in range(n)] for a in range(n)]
    alpha = solve_exactly(N, [high - low for low, high in zip(*M, strict=True)])
    low, high = (sum(a * m for a, m in zip(alpha, mean, strict=True)) for mean in M)
    raw = [sum(a * k for a, k in zip(alpha, row, strict=True)) for row in K_new]
    return np.array([float((r - low) / (high - low)) for r in raw])


def fractions(X):
    return [[Fraction(float(v)) for v in row] for row in X]


def normalised(machine, X, new, y):
    scores = machine.transform(X)[:, 0]
    low, high = scores[y == 0].mean(), scores[y == 1].mean()
    return (machine.transform(new)[:, 0] - low) / (high - low)


@pytest.mark.parametrize(
    ("degree", "offset", "penalty", "mu", "tolerance"),
    [
        (1, 0.0, "coef", 1e-3, 1e-12),
        (1, 1e6, "coef", 1e-3, 1e-7),
        (2, 0.0, "coef", 1e-3, 1e-9),
        (2, 1e2, "coef", 1.0, 1e-7),
        (3, 0.0, "coef", 1.0, 1e-11),
        (3, 0.0, "norm", 1e-3, 1e-9),
        (3, 1e1, "norm", 1e-1, 1e-6),
    ],
)
def test_projections_agree_with_exact_fractions(degree, offset, penalty, mu, tolerance):
    rng = np.random.default_rng(0)
    y = np.arange(10) % 2
    X = rng.normal(size=(10, 3)) + y[:, None] + offset
    new = rng.normal(size=(4, 3)) + offset
    parameters = {"gamma": 0.5, "degree": degree, "coef0": float(degree > 1)}

    def kernel(a, b):
        return (
            Fraction(1, 2) * sum(p * q for p, q in zip(a, b, strict=True)) + int(degree > 1)
        ) ** degree

    A, B = fractions(X), fractions(new)
    K = [[kernel(a, b) for b in A] for a in A]
    K_new = [[kernel(b, a) for a in A] for b in B]
    expected = exact_normalised_projections(K, K_new, y, Fraction(mu), penalty)
    machine = KernelFisherDiscriminant("poly", **parameters, reg=mu, penalty=penalty).fit(X, y)
    assert_allclose(normalised(machine, X, new, y), expected, rtol=0, atol=tolerance)


@pytest.mark.parametrize(
    ("penalty", "mu", "tolerance"),
    [("norm", 1e-8, 1e-6), ("coef", 1e-8, 1e-8), ("coef", 1e-12, 1e-8)],
)
def test_little_regularisation_keeps_its_digits(penalty, mu, tolerance):
    (X, y), (new, _) = blobs(10, d=2), blobs(4, d=2, seed=1)
    K, K_new = rbf(X, gamma=0.3), rbf(new, X, gamma=0.3)
    expected = exact_normalised_projections(
        fractions(K), fractions(K_new), y, Fraction(mu), penalty
    )
    machine = KernelFisherDiscriminant("precomputed", reg=mu, penalty=penalty).fit(K, y)
    error = np.abs(normalised(machine, K, K_new, y) - expected).max()
    assert error < tolerance * np.abs(expected).max()


@pytest.mark.parametrize(
    ("parameters", "n", "scale"),
    [
        ({"gamma": 0.1, "reg": 1e-17}, 45, 1.0),
        ({"kernel": "poly", "coef0": 1.0, "reg": 1e-9}, 45, 1e4),
        ({"kernel": "poly", "coef0": 1.0, "reg": 1e-9, "penalty": "coef"}, 45, 1e6),
        ({"kernel": "linear", "reg": 1e-300}, 4, 1.0),
    ],
    ids=str,
)
def test_regularisation_lost_to_rounding_is_refused_with_a_remedy(parameters, n, scale):
    X, y = blobs(45)
    machine = KernelFisherDiscriminant(**{"gamma": 1.0, **parameters})
    with pytest.raises(ValueError, match=r"lost to rounding.*Raise reg"):
        machine.fit(X[-n:] * scale, y[-n:])


def test_features_of_very_different_scale_leave_the_linear_machine_exact():
    X, y = load_wine(return_X_y=True)
    machine = KernelFisherDiscriminant("linear", reg=1e-12).fit(X * 1e4, y)
    lda = LinearDiscriminantAnalysis(solver="svd").fit(X, y)
    assert_array_equal(machine.predict(X * 1e4), lda.predict(X))


# Leave-one-out


@pytest.mark.parametrize("classes", [2, 3])
def test_leave_one_out_errors_equal_refitting_without_each_point(classes):
    X, y = blobs(24, classes)
    K = rbf(X, gamma=0.4)
    machine = KernelFisherDiscriminant(gamma=0.4, reg="loo").fit(X, y)
    targets = np.eye(classes)[y] / np.sqrt(np.bincount(y))
    for index in (0, 5, 8, 12, 16):
        mu, error = machine.loo_regs_[index], 0.0
        for i in range(len(X)):
            rest = np.arange(len(X)) != i
            bordered = np.block(
                [
                    [K[rest][:, rest] + mu * np.eye(len(X) - 1), np.ones((len(X) - 1, 1))],
                    [np.ones((1, len(X) - 1)), np.zeros((1, 1))],
                ]
            )
            right = np.vstack([targets[rest], np.zeros((1, classes))])
            solution = np.linalg.solve(bordered, right)
            predicted = K[i, rest] @ solution[:-1] + solution[-1]
            error += ((targets[i] - predicted) ** 2).sum()
        assert_allclose(machine.loo_errors_[index], error / len(X), rtol=1e-7)


def test_leave_one_out_chooses_the_least_error_and_fits_with_it():
    X, y = blobs()
    machine = KernelFisherDiscriminant(gamma=0.4, reg="loo").fit(X, y)
    assert machine.reg_ == machine.loo_regs_[machine.loo_errors_.argmin()]
    assert machine.loo_errors_.min() < 0.95 * machine.loo_errors_.max()
    plain = KernelFisherDiscriminant(gamma=0.4, reg=machine.reg_).fit(X, y)
    assert_allclose(plain.transform(X), machine.transform(X), rtol=1e-9)
    machine.set_params(reg=1.0).fit(X, y)
    assert not hasattr(machine, "loo_errors_")


def test_leave_one_out_does_not_depend_on_the_scale_of_the_kernel():
    X, y = blobs()
    small = KernelFisherDiscriminant("linear", reg="loo").fit(X, y)
    large = KernelFisherDiscriminant("linear", reg="loo").fit(X * 1e4, y)
    assert_allclose(large.reg_, small.reg_ * 1e8, rtol=1e-9)
    assert_allclose(large.loo_errors_, small.loo_errors_, rtol=1e-8)
    assert_array_equal(large.predict(X * 1e4), small.predict(X))


# Use


@pytest.mark.parametrize(("make", "published"), [(make_twonorm, 0.026), (make_ringnorm, 0.015)])
def test_error_rates_come_near_the_published_ones(make, published):
    # A mean of 4 samples; one has a standard deviation of .002 and the settings are not tuned.
    X_test, y_test = make(3000, random_state=100)
    errors = []
    for seed in range(4):
        X, y = make(400, random_state=seed)
        machine = KernelFisherDiscriminant(gamma="scale").fit(X, y)
        errors.append((machine.predict(X_test) != y_test).mean())
    assert abs(np.mean(errors) - published) < 0.008


def test_precomputed_and_callable_kernels_give_what_the_name_gives():
    (X, y), (new, _) = blobs(), blobs(12, seed=1)
    K, K_new = rbf(X, gamma=0.4), rbf(new, X, gamma=0.4)
    unchanged = K.copy()
    for penalty in PENALTIES:
        named = KernelFisherDiscriminant(gamma=0.4, penalty=penalty).fit(X, y)
        matrix = KernelFisherDiscriminant("precomputed", penalty=penalty).fit(K, y)
        called = KernelFisherDiscriminant(lambda A, B: rbf(A, B, gamma=0.4), penalty=penalty).fit(
            X, y
        )
        expected = named.decision_function(new)
        assert_allclose(matrix.decision_function(K_new), expected, rtol=1e-8)
        assert_allclose(called.decision_function(new), expected, rtol=1e-8)
    assert_array_equal(K, unchanged)


def test_string_labels_grid_search_and_pickle():
    X, y = blobs()
    labels = np.where(y == 1, "rare", "common")
    pipeline = make_pipeline(StandardScaler(), KernelFisherDiscriminant())
    grid = {
        "kernelfisherdiscriminant__gamma": [0.1, 1.0],
        "kernelfisherdiscriminant__reg": [0.1, "loo"],
    }
    search = GridSearchCV(pipeline, grid, cv=3, error_score="raise").fit(X, labels)
    copy = pickle.loads(pickle.dumps(search.best_estimator_))
    assert set(copy.predict(X)) == {"common", "rare"}
    positive = copy.decision_function(X) > 0
    assert_array_equal(copy.predict(X) == "rare", positive)


def test_n_components_limits_the_projection_and_not_the_prediction():
    X, y = blobs(classes=4)
    every, one = (KernelFisherDiscriminant(gamma=0.3, n_components=k).fit(X, y) for k in (None, 1))
    assert every.transform(X).shape == (45, 3)
    assert_array_equal(one.transform(X), every.transform(X)[:, :1])
    assert_array_equal(one.predict(X), every.predict(X))
    assert one.get_feature_names_out().tolist() == ["kernelfisherdiscriminant0"]


def test_attributes_of_two_classes_do_not_outlive_a_refit_with_three():
    machine = KernelFisherDiscriminant().fit(*blobs())
    n_plus, n = blobs()[1].sum(), 45
    expected = machine.eigenvalues_[0] * n / (n_plus * (n - n_plus))
    assert_allclose(machine.rayleigh_quotient_, expected, rtol=1e-12)
    assert machine.alpha_.shape == (45,)
    machine.fit(*blobs(classes=3))
    assert not hasattr(machine, "rayleigh_quotient_")
    assert machine.alpha_.shape == (45, 2)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"reg": 0.0}, "reg must be positive and finite"),
        ({"reg": -1.0}, "reg must be positive and finite"),
        ({"reg": np.nan}, "reg must be positive and finite"),
        ({"reg": True}, "reg must be positive and finite"),
        ({"reg": "cv"}, "'loo'"),
        ({"reg": "loo", "penalty": "coef"}, "penalty='norm' only"),
        ({"penalty": "l2"}, "penalty must be one of"),
        ({"priors": "uniform"}, "priors must be 'equal'"),
        ({"priors": [0.5, 0.6]}, "priors must be 2 positive numbers that sum to 1"),
        ({"priors": [1.0]}, "priors must be 2 positive numbers"),
        ({"priors": [0.0, 1.0]}, "priors must be 2 positive numbers"),
        ({"n_components": 2}, "n_components must be .* n_classes - 1 = 1"),
        ({"n_components": 0}, "n_components"),
        ({"kernel": "cosine"}, "kernel must be one of"),
        ({"gamma": 0.0}, "gamma must be"),
    ],
    ids=str,
)
def test_wrong_parameters_are_named_and_leave_no_trace(parameters, message):
    machine = KernelFisherDiscriminant(**parameters)
    before = dict(vars(machine))
    with pytest.raises(ValueError, match=message):
        machine.fit(*blobs())
    assert vars(machine) == before


def test_wrong_data_is_refused():
    X, y = blobs()
    with pytest.raises(ValueError, match="at least two classes, but y holds one class"):
        KernelFisherDiscriminant().fit(X, np.zeros(45))
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        KernelFisherDiscriminant().fit(X, y[1:])
    with pytest.raises(ValueError, match="Unknown label type"):
        KernelFisherDiscriminant().fit(X, np.linspace(0, 1, 45))
    with pytest.raises(ValueError, match="nothing to choose by"):
        KernelFisherDiscriminant(reg="loo").fit(np.ones((4, 2)), [0, 1, 0, 1])
    with pytest.raises(NotPositiveSemidefiniteError, match="smallest eigenvalue"):
        KernelFisherDiscriminant("precomputed").fit([[1.0, 3.0], [3.0, 1.0]], [0, 1])
    with pytest.raises(ValueError, match="overflows"):
        KernelFisherDiscriminant("poly", degree=9, coef0=1.0, gamma=1.0).fit(X * 1e40, y)


def test_nothing_is_printed(capfd):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        X, y = blobs(classes=3)
        for penalty in PENALTIES:
            KernelFisherDiscriminant(penalty=penalty).fit(X, y).predict(X)
            KernelFisherDiscriminant("linear", penalty=penalty).fit(np.ones((45, 2)), y).predict(
                X[:, :2]
            )
    out = capfd.readouterr()
    assert (out.out, out.err) == ("", "")
