"""Certificates of scikit-learn's machines: proved optima, planted errors, every kind, refusals."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn.datasets import make_blobs, make_moons
from sklearn.linear_model import LogisticRegression
from sklearn.svm import SVC, SVR, LinearSVC, NuSVC, NuSVR, OneClassSVM

from kernelbook.certification import certify
from kernelbook.exceptions import NotPositiveSemidefiniteError
from kernelbook.kernels import rbf
from kernelbook.svm import KernelSVC

RNG = np.random.default_rng(0)
X, Y = make_moons(300, noise=0.3, random_state=0)
TARGET = X[:, 0] + 0.2 * RNG.normal(size=300)
WEIGHTS = RNG.uniform(0.5, 2.0, 300)
ENOUGH = {"tol": 1e-9}

FITTED = [
    (SVC(C=10, **ENOUGH), Y, None),
    (SVC(C=10, class_weight="balanced", **ENOUGH), Y, WEIGHTS),
    (SVC(C=3, kernel="poly", degree=2, coef0=1, **ENOUGH), Y, None),
    (SVC(C=1, kernel="linear", **ENOUGH), Y, None),
    (SVC(C=1, gamma="auto", **ENOUGH), np.where(Y == 1, "no", "yes"), None),
    (NuSVC(nu=0.3, **ENOUGH), Y, None),
    (NuSVC(nu=0.3, **ENOUGH), Y, WEIGHTS),
    (SVR(C=2, epsilon=0.05, **ENOUGH), TARGET + 100.0, None),
    (SVR(C=2, epsilon=0.05, **ENOUGH), TARGET, WEIGHTS),
    (OneClassSVM(nu=0.1, **ENOUGH), None, None),
    (OneClassSVM(nu=0.1, **ENOUGH), None, WEIGHTS),
]


@pytest.mark.parametrize(("machine", "y", "weights"), FITTED, ids=str)
def test_a_tight_machine_is_nearly_optimal_and_its_exact_twin_is(machine, y, weights):
    machine.fit(X, y, sample_weight=weights)
    certificate = certify(machine, X, y, weights)
    # LIBSVM keeps its matrix in single precision, whatever tol.
    assert 0 <= certificate.duality_gap < 1e-5
    assert certificate.kkt_violation < 1e-5
    assert certificate.misplaced <= 0.01
    exact = certificate.exact
    assert exact.certificate_.status == "optimal"
    of = "predict" if isinstance(machine, SVR) else "decision_function"
    values, theirs = getattr(exact, of)(X), getattr(machine, of)(X)
    if isinstance(machine, OneClassSVM):
        theirs = theirs / (machine.nu * (300 if weights is None else weights.sum()))
    assert_allclose(values, theirs, atol=2e-5 * np.abs(theirs).max())


@pytest.mark.parametrize(
    ("loose", "y"),
    [(SVC(C=10, tol=0.1), Y), (SVR(C=10, tol=0.1), TARGET), (OneClassSVM(nu=0.1, tol=0.1), None)],
    ids=str,
)
def test_what_a_loose_tolerance_leaves_is_found(loose, y):
    certificate = certify(loose.fit(X, y), X, y)
    assert certificate.status == "not optimal to tol"
    assert certificate.kkt_violation > 1e-3
    assert certificate.duality_gap > 1e-5
    assert certificate.misplaced > 0


def test_the_exact_twin_equals_our_machine_to_nine_digits():
    certificate = certify(SVC(C=10, tol=0.1).fit(X, Y), X, Y)
    ours = KernelSVC(10.0, solver="reference").fit(X, Y)
    assert_allclose(certificate.exact.alpha_, ours.alpha_, atol=1e-9 * 10)
    assert_allclose(
        certificate.exact.decision_function(X), ours.decision_function(X), rtol=0, atol=1e-9
    )


def test_numbers_that_can_be_checked_by_hand():
    # Points -1 and 1: alpha = 1/2 each, f(x) = x. At C = 1/4 both are at the bound, f(x) = x/2,
    # the primal is 1/8 + 1/4 (1/2 + 1/2) = 3/8 and the dual 1/2 - 1/8 = 3/8.
    points, labels = np.array([[-1.0], [1.0]]), [-1, 1]
    machine = SVC(C=0.25, kernel="linear").fit(points, labels)
    certificate = certify(machine, points, labels)
    assert certificate.status == "optimal"
    assert certificate.duality_gap < 1e-15
    # An intercept that is wrong by 1/10 costs C/10 at one point and gains it at the other; from
    # 1/2 on the margin of one is met, and it only costs.
    machine._intercept_ = machine._intercept_ + 0.1
    machine.intercept_ = machine.intercept_ + 0.1
    assert certify(machine, points, labels).duality_gap < 1e-15
    machine._intercept_ = machine._intercept_ + 0.9
    machine.intercept_ = machine.intercept_ + 0.9
    # b = 1: f = 1/2 and 3/2, hinges 3/2 and 0: the primal is 1/8 + 3/8 = 1/2.
    assert_allclose(certify(machine, points, labels).duality_gap, (4 / 8 - 3 / 8) / (4 / 8))


def test_an_alpha_that_is_moved_is_found():
    machine = SVC(C=10, tol=1e-6).fit(X, Y)
    before = certify(machine, X, Y)
    coefficients = machine.dual_coef_[0]
    free = np.flatnonzero((np.abs(coefficients) < 9) & (coefficients > 1))[:2]
    machine._dual_coef_ = machine._dual_coef_.copy()
    # The values that predictions use have the opposite sign of the public ones.
    machine._dual_coef_[0, free] += [0.5, -0.5]
    machine.dual_coef_ = -machine._dual_coef_
    after = certify(machine, X, Y)
    assert after.kkt_violation > 100 * before.kkt_violation
    assert after.duality_gap > before.duality_gap


def test_gram_matrices_and_callables_work():
    K = rbf(X, gamma=1.0)
    by_matrix = certify(SVC(kernel="precomputed").fit(K, Y), K, Y)
    by_name = certify(SVC(gamma=1.0).fit(X, Y), X, Y)
    assert_allclose(by_matrix.duality_gap, by_name.duality_gap, rtol=1e-3)
    callable_ = SVC(kernel=lambda A, B: A @ B.T + 1.0).fit(X, Y)
    assert certify(callable_, X, Y).exact.certificate_.status == "optimal"


@pytest.mark.parametrize("machine", [LinearSVC(), NuSVR(), LogisticRegression(), None])
def test_other_machines_are_refused_by_name(machine):
    with pytest.raises(TypeError, match="takes a fitted SVC, NuSVC, SVR or OneClassSVM"):
        certify(machine, X, Y)


def test_what_cannot_be_certified_is_refused():
    three, labels = make_blobs(60, centers=3, random_state=0)
    with pytest.raises(ValueError, match="binary classifiers"):
        certify(SVC().fit(three, labels), three, labels)
    with pytest.raises(ValueError, match="X has 10 points, but the machine was fitted to 300"):
        certify(SVC().fit(X, Y), X[:10], Y[:10])
    with pytest.raises(NotPositiveSemidefiniteError):
        certify(SVC(kernel="sigmoid", gamma=5.0, coef0=-1.0).fit(X, Y), X, Y)
    with pytest.raises(ValueError, match="tol must be a number > 0, got 0"):
        certify(SVC().fit(X, Y), X, Y, tol=0)
    with pytest.raises(TypeError, match=r"[Ss]parse"):
        certify(SVC().fit(sparse.csr_matrix(X), Y), sparse.csr_matrix(X), Y)


def test_labels_and_weights_that_it_was_not_fitted_to_are_found():
    machine = SVC(C=10).fit(X, Y)
    with pytest.raises(ValueError, match="y is not what the machine was fitted to"):
        certify(machine, X, 1 - Y)
    with pytest.raises(ValueError, match="beyond the bound that its C and sample_weight set"):
        certify(SVC(C=10).fit(X, Y, np.full(300, 2.0)), X, Y)


def test_points_of_weight_zero_are_out():
    weights = WEIGHTS.copy()
    weights[::3] = 0
    machine = SVC(C=10, **ENOUGH).fit(X, Y, weights)
    certificate = certify(machine, X, Y, weights)
    assert certificate.duality_gap < 1e-6
    assert not certificate.exact.alpha_[::3].any()


def test_nu_takes_no_notice_of_class_weights_as_in_scikit_learn():
    machine = NuSVC(nu=0.3, class_weight={0: 1, 1: 5}, **ENOUGH).fit(X, Y)
    assert certify(machine, X, Y).duality_gap < 1e-6


def test_constant_targets_and_points_at_the_origin_are_certified():
    assert certify(SVR().fit(X, np.ones(300)), X, np.ones(300)).status == "optimal"
    nowhere = np.zeros((10, 2))
    machine = OneClassSVM(kernel="linear").fit(nowhere)
    assert certify(machine, nowhere).status == "optimal"


def test_an_unfitted_machine_is_said_to_be_one():
    from sklearn.exceptions import NotFittedError

    with pytest.raises(NotFittedError):
        certify(SVC(), X, Y)
