"""Support vector classifiers of more than two classes: one certified machine a pair."""

import pickle
import warnings
from functools import cache
from itertools import combinations

import numpy as np
import pytest
from joblib import parallel_config
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_digits, load_iris, load_wine, make_blobs
from sklearn.exceptions import ConvergenceWarning
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier
from sklearn.preprocessing import scale
from sklearn.svm import SVC

from kernelbook.certification import certify
from kernelbook.conformal import ConformalSVC
from kernelbook.explain import PolynomialExplainer
from kernelbook.kernels import RBF, Linear, rbf
from kernelbook.qp import SolverOptions
from kernelbook.qp.exact import smo, working_set
from kernelbook.qp.exact.working_set import solve_exact
from kernelbook.svm import KernelSVC, svc_path
from kernelbook.svm.pairs import matrix_of_pairs

SETS = {"iris": load_iris, "wine": load_wine, "digits": load_digits}
PARAMETERS = [
    {"kernel": "linear", "C": 0.1},
    {"kernel": "rbf", "C": 1.0},
    {"kernel": "rbf", "C": 2.0, "class_weight": "balanced"},
    {"kernel": "poly", "C": 0.05, "degree": 2, "coef0": 1.0, "gamma": 0.1},
]


@cache
def standardised(name):
    """Without copies of points, whose coefficients would not be unique."""
    X, y = SETS[name](return_X_y=True)
    _, first = np.unique(X, axis=0, return_index=True)
    return scale(X[first][:, X.std(axis=0) > 0]), y[first]


@cache
def blobs(n=60, k=3, spread=2.5):
    """Classes of unequal size that overlap, in any order."""
    X, y = make_blobs(n, centers=k, cluster_std=spread, random_state=0)
    kept = (y > 0) | (np.arange(n) % 2 == 0)
    return X[kept], y[kept]


# Parity with scikit-learn


@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize("parameters", PARAMETERS, ids=lambda p: f"{p['kernel']}-{p['C']:g}")
def test_machines_are_those_of_scikit_learn(name, parameters):
    X, y = standardised(name)
    theirs = SVC(**parameters, tol=1e-10, decision_function_shape="ovo").fit(X, y)
    ours = KernelSVC(**parameters, decision_function_shape="ovo").fit(X, y)
    values = theirs.decision_function(X)
    small = 1e-6 * np.abs(values).max()
    assert_allclose(ours.decision_function(X), values, atol=small, rtol=0)
    assert_allclose(ours.intercept_, theirs.intercept_, atol=small, rtol=0)
    assert_array_equal(ours.support_, theirs.support_)
    assert_array_equal(ours.n_support_, theirs.n_support_)
    assert_allclose(ours.dual_coef_, theirs.dual_coef_, atol=1e-4 * parameters["C"], rtol=0)
    clear = (np.abs(values) > small).all(axis=1)
    assert clear.mean() > 0.99
    assert_array_equal(ours.predict(X)[clear], theirs.predict(X)[clear])
    if parameters["kernel"] == "linear":
        assert_allclose(ours.coef_, theirs.coef_, atol=1e-6 * np.abs(theirs.coef_).max())
    assert [one.status for one in ours.certificates_] == ["optimal"] * values.shape[1]


@pytest.mark.parametrize("name", SETS)
def test_predictions_are_those_of_a_default_svc(name):
    X, y = SETS[name](return_X_y=True)
    theirs = SVC(decision_function_shape="ovo").fit(X, y)
    # No value that is farther from zero than scikit-learn's tolerance may change its sign.
    clear = (np.abs(theirs.decision_function(X)) > theirs.tol).all(axis=1)
    assert clear.mean() > 0.95
    assert_array_equal(KernelSVC().fit(X, y).predict(X)[clear], theirs.predict(X)[clear])


def test_values_by_class_and_ties_are_those_of_scikit_learn():
    X, y = blobs(200, 4, 1.0)
    grid = np.random.default_rng(0).uniform(X.min(), X.max(), (500, 2))
    for ties in (False, True):
        theirs = SVC(tol=1e-10, break_ties=ties).fit(X, y)
        ours = KernelSVC(break_ties=ties).fit(X, y)
        assert_allclose(ours.decision_function(grid), theirs.decision_function(grid), atol=1e-6)
        assert_array_equal(ours.predict(grid), theirs.predict(grid))
    votes = KernelSVC().fit(X, y).predict(grid)
    assert (votes != ours.predict(grid)).any()


def test_weights_are_those_of_scikit_learn():
    X, y = blobs()
    weights = np.random.default_rng(0).uniform(0.1, 5.0, len(y))
    parameters = {"gamma": 0.1, "class_weight": {0: 3.0, 2: 0.5}, "decision_function_shape": "ovo"}
    theirs = SVC(**parameters, tol=1e-10).fit(X, y, weights)
    ours = KernelSVC(**parameters).fit(X, y, weights)
    assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=1e-6)


# What a machine of more classes is


def test_each_pair_is_the_machine_of_its_two_classes():
    X, y = blobs(80, 4)
    whole = KernelSVC(C=3.0, gamma=0.2, decision_function_shape="ovo").fit(X, y)
    values = whole.decision_function(X)
    assert whole.alpha_.shape == (3, len(X)) and values.shape == (len(X), 6)
    for column, (i, j) in enumerate(combinations(range(4), 2)):
        pair = (y == i) | (y == j)
        alone = KernelSVC(C=3.0, gamma=0.2).fit(X[pair], y[pair])
        # Of two classes the second is the positive one.
        assert_allclose(values[:, column], -alone.decision_function(X), atol=1e-7)
        assert_allclose(whole.alpha_[j - 1, y == i], alone.alpha_[y[pair] == i], atol=1e-7)
        assert_allclose(whole.alpha_[i, y == j], alone.alpha_[y[pair] == j], atol=1e-7)
    assert_array_equal(np.abs(whole.dual_coef_), whole.alpha_[:, whole.support_])
    assert_array_equal(whole.n_support_, np.bincount(y[whole.support_]))


def test_the_certificate_is_the_worst_of_all_pairs():
    machine = KernelSVC(C=10.0).fit(*blobs(80, 4))
    gaps = [one.duality_gap for one in machine.certificates_]
    assert len(gaps) == 6 and machine.certificate_.duality_gap == max(gaps)
    violations = [one.kkt_violation for one in machine.certificates_]
    assert machine.certificate_.kkt_violation == max(violations)
    two = KernelSVC().fit(*standardised("iris")[:1], standardised("iris")[1] > 0)
    assert two.certificates_ == (two.certificate_,)


def test_one_warning_tells_of_all_pairs():
    X, y = blobs(120, 4)
    with pytest.warns(ConvergenceWarning, match=r"\d of 6 pairs .* Raise max_iter") as caught:
        machine = KernelSVC(C=100.0, max_iter=1, solver="dense").fit(X, y)
    assert len(caught) == 1 and caught[0].filename == __file__
    assert machine.certificate_.status == "max_iter"


def test_labels_may_be_anything_in_any_order():
    X, y = blobs()
    plain = KernelSVC().fit(X, y).predict(X)
    order = np.random.default_rng(0).permutation(len(y))
    for names in (["a", "b", "c"], [-1.0, 2.0, 7.0], [3, 5, 8]):
        labels = np.array(names)[y]
        found = KernelSVC().fit(X[order], labels[order]).predict(X)
        assert_array_equal(found, np.array(names)[plain])
    turned = KernelSVC(decision_function_shape="ovo").fit(X, 2 - y)
    values = KernelSVC(decision_function_shape="ovo").fit(X, y).decision_function(X)
    assert_allclose(turned.decision_function(X), -values[:, ::-1], atol=1e-8)


def test_weights_count_copies():
    X, y = blobs()
    weights = np.arange(len(y)) % 3
    for class_weight in (None, "balanced"):
        machine = KernelSVC(class_weight=class_weight, decision_function_shape="ovo")
        weighted = machine.fit(X, y, weights).decision_function(X)
        assert_array_equal(machine.alpha_[:, weights == 0], 0.0)
        copies = machine.fit(X.repeat(weights, axis=0), y.repeat(weights)).decision_function(X)
        assert_allclose(weighted, copies, atol=1e-7)


@pytest.mark.parametrize("n", [60, 600], ids=["dense", "exact"])
def test_threads_do_not_change_a_bit(n):
    X, y = blobs(n, 4)
    one, two = (KernelSVC(n_jobs=jobs).fit(X, y) for jobs in (1, 2))
    with parallel_config(n_jobs=2):
        three = KernelSVC().fit(X, y)
    for other in (two, three):
        assert_array_equal(one.dual_coef_, other.dual_coef_)
        assert_array_equal(one.intercept_, other.intercept_)
        assert one.certificates_ == other.certificates_


def test_a_path_starts_from_the_machine_before():
    X, y = blobs(600, 3)
    for machine in svc_path(X, y, [10.0, 0.1], gamma=0.3):
        alone = KernelSVC(machine.C, gamma=0.3).fit(X, y)
        assert_allclose(machine.alpha_, alone.alpha_, atol=1e-6 * machine.C)


# Kernels, and what is shared


def test_pairs_are_solved_exactly_before_anybody_compiled(monkeypatch):
    # The pairs are small, but together they are worth the wait.
    monkeypatch.setattr(smo, "is_compiled", lambda loop: False)
    asked = []

    def remember(*given):
        asked.append(given)
        return solve_exact(*given)

    monkeypatch.setattr(working_set, "solve_exact", remember)
    KernelSVC().fit(*blobs(900, 4))
    assert len(asked) == 6


@pytest.mark.parametrize("n", [60, 700], ids=["few", "many"])
def test_ways_to_give_a_kernel_agree(n):
    X, y = blobs(n, 3)
    plain = KernelSVC(gamma=0.3, decision_function_shape="ovo").fit(X, y)
    values = plain.decision_function(X)
    for kernel in (RBF(0.3), lambda A, B: rbf(A, B, gamma=0.3), 0.5 * RBF(0.3) + 0.5 * RBF(0.3)):
        machine = KernelSVC(kernel=kernel, decision_function_shape="ovo").fit(X, y)
        assert_allclose(machine.decision_function(X), values, atol=1e-7)
    K, weights = RBF(0.3)(X), (np.arange(len(y)) % 5 > 0).astype(float)
    given = KernelSVC(kernel="precomputed", decision_function_shape="ovo").fit(K, y, weights)
    left_out = plain.fit(X, y, weights).decision_function(X)
    assert_allclose(given.decision_function(K), left_out, atol=1e-7)
    assert_array_equal(given.support_, plain.support_)


def test_a_kernel_is_evaluated_once_for_all_pairs():
    X, y = blobs(100, 5)
    counts = []

    def counting(A, B):
        counts.append(len(A) * len(B))
        return rbf(A, B, gamma=0.3)

    KernelSVC(kernel=counting).fit(X, y)
    whole, counts[:] = sum(counts), []
    for i, j in combinations(range(5), 2):
        pair = (y == i) | (y == j)
        KernelSVC(kernel=counting).fit(X[pair], y[pair])
    assert whole <= len(X) ** 2 < sum(counts) / 1.4


def test_a_matrix_is_stored_where_it_fits_and_is_needed():
    X, options = np.random.default_rng(0).normal(size=(600, 2)), SolverOptions()
    unknown = RBF(1.0) + RBF(2.0)
    assert matrix_of_pairs(unknown, X, options).in_memory.shape == (600, 600)
    assert matrix_of_pairs(unknown, X, SolverOptions(cache_size=1.0)).in_memory is None
    known = RBF(1.0).about(X.mean(axis=0))
    assert matrix_of_pairs(known, X, options).in_memory is None
    assert matrix_of_pairs(Linear(), X, options).is_low_rank


@pytest.mark.parametrize("solver", ["auto", "exact", "dense", "low_rank"])
def test_solvers_agree_where_pairs_have_few_points(solver):
    # 12 points a pair and 45 features: a factor of the features would be the larger one.
    X, y = make_blobs(420, 9, centers=70, cluster_std=4.0, random_state=0)
    X, y = X[y < 5], y[y < 5]
    parameters = {"kernel": "poly", "degree": 2, "gamma": 0.01, "decision_function_shape": "ovo"}
    values = KernelSVC(**parameters, solver=solver).fit(X, y).decision_function(X)
    theirs = SVC(**parameters, tol=1e-10).fit(X, y).decision_function(X)
    assert_allclose(values, theirs, atol=1e-6 * np.abs(theirs).max())


# Errors, and other tools


def test_what_no_machine_can_be_made_of_is_refused():
    X, y = blobs()
    with pytest.raises(ValueError, match="break_ties needs decision_function_shape='ovr'"):
        KernelSVC(break_ties=True, decision_function_shape="ovo").fit(X, y)
    with pytest.raises(ValueError, match=r"every point of class 1 has weight zero.*each has to"):
        KernelSVC().fit(X, y, y != 1)
    with pytest.raises(ValueError, match=r"names \[9\], but the classes are \[0, 1.* type\.$"):
        KernelSVC(class_weight={9: 2.0}).fit(X, y)
    with pytest.raises(ValueError, match=r"In a wrapper .*sample_weight there, or fit KernelSVC"):
        OneVsOneClassifier(KernelSVC(class_weight={2: 2.0})).fit(X, y)
    with pytest.raises(ValueError, match="decision_function_shape"):
        KernelSVC(decision_function_shape="ovx").fit(X, y)
    with pytest.raises(ValueError, match="n_jobs"):
        KernelSVC(n_jobs=1.5).fit(X, y)
    with pytest.raises(AttributeError, match="linear kernel only"):
        _ = KernelSVC().fit(X, y).coef_


def test_a_machine_of_two_classes_only_says_so():
    X, y = blobs()
    with pytest.raises(ValueError, match="Only binary classification is supported"):
        ConformalSVC().fit(X, y)
    with pytest.raises(ValueError, match="binary classifiers"):
        certify(SVC().fit(X, y), X, y)


def test_a_machine_may_change_its_number_of_classes():
    X, y = blobs()
    machine = KernelSVC().fit(X, y).fit(X, y > 0)
    plain = KernelSVC().fit(X, y > 0)
    assert_array_equal(machine.decision_function(X), plain.decision_function(X))
    assert machine.intercept_ == plain.intercept_ and machine.alpha_.shape == (len(X),)


def test_tools_of_scikit_learn_take_it():
    X, y = blobs(120, 3, 1.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        chances = CalibratedClassifierCV(KernelSVC(), ensemble=False).fit(X, y).predict_proba(X)
        rest = OneVsRestClassifier(KernelSVC()).fit(X, y)
    assert_allclose(chances.sum(axis=1), 1.0)
    assert (np.argmax(chances, axis=1) == y).mean() > 0.9 and rest.score(X, y) > 0.9
    machine = KernelSVC().fit(X, y)
    again = pickle.loads(pickle.dumps(machine))
    assert_array_equal(again.decision_function(X), machine.decision_function(X))


def test_a_polynomial_machine_is_explained():
    X, y = blobs()
    machine = KernelSVC(kernel="poly", degree=2, coef0=1.0).fit(X, y)
    explainer = PolynomialExplainer().fit(machine)
    assert len(explainer.pairs_) == 3
    assert_array_equal(explainer.predict(X), machine.predict(X))
