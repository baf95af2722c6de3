"""Faults that users of such machines have met in public: solved here, or refused by name.

``public_cases.csv`` lists them, each with the test that asserts the right outcome.
"""

import csv
import pickle
import re
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_iris, make_moons
from sklearn.ensemble import BaggingClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.inspection import DecisionBoundaryDisplay
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier
from sklearn.svm import SVC

from kernelbook.certification import certify
from kernelbook.conformal import AFSCTSVC, ConformalSVC
from kernelbook.fisher import KernelFisherDiscriminant
from kernelbook.kernels import gram
from kernelbook.kpca import KernelPCA
from kernelbook.metrics import imbalance_report
from kernelbook.oneclass import OneClassSVM
from kernelbook.svdd import SVDD
from kernelbook.svm import HardMarginSVC, KernelSVC
from kernelbook.svr import KernelSVR

HERE = Path(__file__).parent


def cloud(n=450):
    """Points in space, and noisy labels from the first coordinate."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(450, 3))
    return X[:n], (X[:, 0] + 0.3 * rng.normal(size=450) > 0).astype(int)[:n]


def values(machine, X):
    return machine.predict(X) if isinstance(machine, KernelSVR) else machine.decision_function(X)


def test_every_case_has_its_test():
    with (HERE / "public_cases.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len({row["case"] for row in rows}) == len(rows) >= 35
    for row in rows:
        module, name = row["test"].split("::")
        assert f"def {name}(" in (HERE / module).read_text(encoding="utf-8"), row


# Certificates


@pytest.mark.filterwarnings("error")
def test_a_raw_table_is_solved():
    rng = np.random.default_rng(0)
    rng.uniform(20, 80, 450)
    seconds = np.sort(rng.uniform(0, 172800, 450)).round()
    amount, V = rng.lognormal(3, 1.5, 450).round(2), rng.normal(size=(450, 3))
    y = ((V[:, 0] + 0.5 * V[:, 1] + 0.3 * rng.normal(size=450)) > 1).astype(int)
    proof = KernelSVC(kernel="linear").fit(np.c_[seconds, V, amount], y).certificate_
    assert proof.status == "optimal"
    assert proof.duality_gap < 1e-6


@pytest.mark.parametrize("solver", ["auto", "dense"])
@pytest.mark.parametrize(
    ("kernel", "C", "scales"),
    [("rbf", 1e12, 1.0), ("rbf", 1e15, 1.0), ("linear", 1.0, [1e-6, 1.0, 1e6])],
)
def test_nothing_is_optimal_beside_a_large_gap(solver, kernel, C, scales):
    X, y = cloud()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        proof = KernelSVC(C, kernel=kernel, solver=solver).fit(X * scales, y).certificate_
    if proof.status == "optimal":
        assert proof.duality_gap <= 1e-6
        return
    assert [one.category for one in caught] == [ConvergenceWarning]
    assert re.search("[Ss]cale the features, or lower C", str(caught[0].message))


def test_a_polynomial_of_high_degree_is_solved_or_warns():
    X, _ = cloud(60)
    target = X[:, 0]
    machine = KernelSVR(kernel="poly", degree=10, coef0=0.9).fit(X, target)
    assert machine.certificate_.status == "optimal"
    assert np.abs(machine.predict(X) - target).max() < 0.1 + 1e-6
    with pytest.warns(ConvergenceWarning, match="duality gap"):
        KernelSVR(kernel="poly", degree=31, coef0=0.9).fit(X, target)


@pytest.mark.parametrize("n", [60, 450])
@pytest.mark.parametrize(
    "machine",
    [KernelSVC(), KernelSVR(), ConformalSVC(), AFSCTSVC(), OneClassSVM(), SVDD(nu=0.2)],
    ids=lambda machine: type(machine).__name__,
)
@pytest.mark.filterwarnings("error")
def test_weights_of_1e_16_are_weights_of_zero(machine, n):
    X, y = cloud(n)
    tiny = np.where(np.arange(n) % 4 == 0, 1e-16, 1.0)
    machines = [
        clone(machine).fit(X, None if isinstance(machine, SVDD) else y, w)
        for w in (tiny, np.where(tiny < 1, 0.0, 1.0))
    ]
    assert_allclose(values(machines[0], X), values(machines[1], X), rtol=0, atol=1e-12)
    assert machines[0].certificate_.status == "optimal"


# Machines of scikit-learn


def test_a_machine_on_a_sparse_matrix_is_refused_by_name():
    rng = np.random.default_rng(0)
    X = sparse.csr_matrix(np.where(rng.random((80, 6)) < 0.5, 0, rng.normal(size=(80, 6))))
    y = (X.toarray()[:, 0] > 0).astype(int)
    machine = SVC().fit(X, y)
    for points in (X, X.toarray()):
        with pytest.raises(TypeError, match=r"dense data.*X\.toarray\(\)"):
            certify(machine, points, y)


def test_an_infinite_cost_is_the_hard_margin():
    X, y = load_iris(return_X_y=True)
    X, y = X[:100, 2:4], y[:100]
    machine = SVC(kernel="linear", C=np.inf).fit(X, y)
    with pytest.raises(ValueError, match="HardMarginSVC"):
        certify(machine, X, y)
    with pytest.raises(ValueError, match="HardMarginSVC"):
        KernelSVC(C=np.inf).fit(X, y)
    exact = HardMarginSVC(kernel="linear").fit(X, y)
    assert_allclose(exact.coef_, machine.coef_, atol=1e-3)


def test_labels_of_another_alphabet_are_refused_by_name():
    X, y = cloud(60)
    with pytest.raises(ValueError, match=r"'healthy', 'ill'.*\[0, 1\]"):
        certify(SVC().fit(X, y), X, np.where(y, "ill", "healthy"))


def test_zero_weights_with_a_precomputed_kernel():
    X, y = cloud(60)
    K, w = X @ X.T, np.where(np.arange(60) % 4 == 0, 0.0, 1.0)
    ours = KernelSVC(kernel="precomputed").fit(K, y, w).decision_function(K)
    linear = KernelSVC(kernel="linear").fit(X, y, w).decision_function(X)
    assert_allclose(ours, linear, atol=1e-9)
    assert certify(SVC(kernel="linear").fit(X, y, w), X, y, w).kkt_violation < 1e-3


# Copies and weights


@pytest.mark.parametrize("preimage", ["distance", "fixed_point"])
def test_copies_are_no_neighbours_of_a_preimage(preimage):
    P = np.random.default_rng(0).normal(size=(12, 3))
    X = np.repeat(P, 20, axis=0)
    machine = KernelPCA(11, preimage=preimage, kernel="rbf").fit(X)
    assert_allclose(machine.inverse_transform(machine.transform(P)), P, atol=1e-6)
    machine = KernelPCA(2, preimage=preimage, kernel="rbf").fit(X)
    assert np.abs(machine.inverse_transform(machine.transform(P))).max() < 1.5 * np.abs(P).max()


@pytest.mark.parametrize(
    "machine",
    [KernelSVC(class_weight="balanced"), ConformalSVC(class_weight="balanced"), AFSCTSVC()],
    ids=lambda machine: type(machine).__name__,
)
def test_balanced_counts_a_weight_of_k_as_k_copies(machine):
    X, y = cloud(60)
    w = np.random.default_rng(1).integers(1, 4, 60)
    weighted = clone(machine).fit(X, y, w).decision_function(X)
    copied = clone(machine).fit(np.repeat(X, w, axis=0), np.repeat(y, w)).decision_function(X)
    assert_allclose(weighted, copied, atol=1e-9)


def test_bootstraps_without_a_point_of_a_class():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 2)), np.where(np.arange(200) < 20, "rare", "usual")
    X[:20] += 2
    bag = BaggingClassifier(KernelSVC(), n_estimators=5, random_state=0).fit(X, y)
    balanced = BaggingClassifier(KernelSVC(class_weight="balanced"), 5, random_state=0).fit(X, y)
    assert bag.score(X, y) > 0.9
    assert (balanced.predict(X[:20]) == "rare").mean() > 0.7


# Scales


@pytest.mark.parametrize("scale", [1e160, 1e-160, 1e-200])
@pytest.mark.parametrize("n", [60, 450])
@pytest.mark.filterwarnings("error")
def test_a_width_that_overflows_or_vanishes_names_the_features(scale, n):
    X, y = cloud(n)
    for machine in (KernelSVC(), KernelSVC(kernel="linear"), KernelSVR(), SVDD(nu=0.1)):
        with pytest.raises(ValueError, match=r"(overflow|vanish).* X|X.* (overflow|vanish)"):
            machine.fit(X * scale, y if not isinstance(machine, SVDD) else None)


@pytest.mark.parametrize("kernel", ["rbf", "linear"])
def test_a_choice_that_tells_nothing_is_said(kernel):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    y = (X[:, 0] + 0.5 * X[:, 1] + 0.3 * rng.normal(size=200) > 0).astype(int)
    assert KernelFisherDiscriminant(reg="loo", kernel=kernel).fit(X, y).degeneracy_ is None
    spoilt = KernelFisherDiscriminant(reg="loo", kernel=kernel).fit(X * [1, 1, 1e6], y)
    assert "Scale the features" in spoilt.degeneracy_


# Messages


@pytest.mark.parametrize("value", [None, "1", np.nan, np.inf])
def test_coef0_is_named(value):
    X, y = cloud(60)
    for fit in (
        lambda: KernelSVC(kernel="poly", coef0=value).fit(X, y),
        lambda: gram("poly", X, coef0=value),
        lambda: gram("sigmoid", X, coef0=value),
    ):
        with pytest.raises(ValueError, match=f"coef0.*{value!r}"):
            fit()


@pytest.mark.parametrize("dtype", ["int64", "Int64", "boolean", "category", object])
def test_a_report_takes_the_labels_that_a_fit_takes(dtype):
    truth = pd.Series(np.r_[np.zeros(8), np.ones(2)].astype(int)).astype(dtype)
    guess = pd.Series(np.r_[np.zeros(7), 1, 1, 0].astype(int)).astype(dtype)
    model = imbalance_report(truth, guess).loc["model"]
    assert_allclose(model[["sensitivity", "specificity"]].to_list(), [0.5, 0.875])
    assert_allclose(model["g_mean"], 0.6614, atol=1e-4)
    KernelSVC().fit(np.arange(10.0)[:, None], truth)


def test_a_missing_label_is_named():
    X, y = cloud(60)
    labels = pd.Series([pd.NA, *np.where(y[1:], "b", "a")], dtype="string")
    with pytest.raises(ValueError, match="missing"):
        KernelSVC().fit(X, labels)


def test_weights_of_three_classes_in_a_wrapper_are_explained():
    X, y = np.arange(6.0)[:, None].repeat(2, 1), np.array([0, 0, 1, 1, 2, 2])
    machine = OneVsOneClassifier(KernelSVC(class_weight={0: 0.1, 1: 10.0, 2: 0.5}))
    with pytest.raises(ValueError, match=r"wrapper.*sample_weight"):
        machine.fit(X, y)


def test_callables_that_break_their_promise_are_named():
    X, y = cloud(60)
    before = X.copy()

    def doubles(A, B):
        A *= 2
        return A @ B.T

    with pytest.raises(ValueError, match="changes its argument"):
        KernelSVC(kernel=doubles).fit(X, y)
    assert_array_equal(X, before)
    with pytest.raises(ValueError, match="complex"):
        KernelSVC(kernel=lambda A, B: (A @ B.T) * (1 + 1j)).fit(X, y)
    with pytest.raises(ValueError, match="precomputed"):
        KernelSVC(kernel=lambda A, B: A == B.T).fit(np.array([["a"], ["b"]]), [0, 1])


def test_reprs_have_no_addresses():
    X, y = cloud(60)
    assert " at 0x" not in repr(ConformalSVC().fit(X, y).factor_)


# What a machine shares with others


def test_one_class_attributes_survive_a_reload():
    X = np.array([[0.0], [0.44], [0.45], [0.46], [1.0]])
    machine = OneClassSVM().fit(X)
    for one in (machine, pickle.loads(pickle.dumps(machine))):
        assert one.n_support_.tolist() == [len(one.support_)]
        assert_array_equal(one.score_samples(X), one.decision_function(X) + one.offset_)


def test_frames_and_labels_of_any_type_give_one_machine():
    A, y = cloud(60)
    frame = pd.DataFrame(A, columns=list("abc"))
    frames = [A, frame.astype("Float64"), A.astype(object), A.tolist(), A.astype(str)]
    words = pd.Series(np.where(y, "b", "a"))
    labels = [
        y, pd.Series(y, dtype="Int64"), pd.Series(y.astype(bool), dtype="boolean"),
        words.astype("string"), words.astype("category"), words.to_numpy(dtype=object),
    ]  # fmt: skip
    expected = KernelSVC().fit(A, y).decision_function(A)
    for X in frames:
        for one in labels:
            assert_array_equal(KernelSVC().fit(X, one).decision_function(X), expected)


@pytest.mark.parametrize("machine", [KernelSVC(), KernelSVR(), OneClassSVM(), SVDD(nu=0.2)])
def test_memory_maps_and_read_only_weights(machine, tmp_path):
    X, y = cloud()
    np.save(tmp_path / "x.npy", X)
    mapped, w = np.load(tmp_path / "x.npy", mmap_mode="r"), np.ones(450)
    w.setflags(write=False)
    labels = None if isinstance(machine, SVDD) else y
    expected = values(clone(machine).fit(X, labels), X)
    assert_array_equal(values(clone(machine).fit(mapped, labels, w), mapped), expected)


def test_widths_and_frames_on_the_way_back():
    X = np.random.default_rng(0).normal(size=(60, 3))
    both = [KernelPCA(2, kernel="rbf", gamma=gamma).fit(X) for gamma in ("auto", 1 / 3)]
    there = both[0].transform(X)
    assert_array_equal(both[0].inverse_transform(there), both[1].inverse_transform(there))
    frame = pd.DataFrame(X, columns=list("abc"), index=range(100, 160))
    out = KernelPCA(2, kernel="rbf").set_output(transform="pandas").fit_transform(frame)
    assert out.columns.tolist() == ["kernelpca0", "kernelpca1"]
    assert out.index.tolist() == frame.index.tolist()


def test_threads_give_the_same_bits():
    X, y = make_moons(450, noise=0.3, random_state=0)

    def fit(_):
        return KernelSVC(C=3).fit(X, y).decision_function(X)

    with ThreadPoolExecutor(4) as pool:
        for found in pool.map(fit, range(4)):
            assert_array_equal(found, fit(0))


def test_wrappers_for_three_classes():
    X, y = load_iris(return_X_y=True)
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    pairs = OneVsOneClassifier(KernelSVC()).fit(X, y)
    assert (pairs.predict(X) != SVC(tol=1e-9).fit(X, y).predict(X)).sum() <= 2
    by_name = OneVsOneClassifier(KernelSVC()).fit(X, names)
    assert_array_equal(by_name.predict(X) == names, pairs.predict(X) == y)
    rest = OneVsRestClassifier(KernelSVC()).fit(X, y)
    assert rest.score(X, y) > 0.95
    one = KernelSVC().fit(X[:100], y[:100])
    rows = np.concatenate([one.decision_function(row[None]) for row in X])
    assert_allclose(rows, one.decision_function(X), atol=1e-12)


@pytest.mark.filterwarnings("error")
def test_boundaries_of_machines_on_frames_are_drawn():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(60, 2)), columns=["a", "b"])
    y = np.where(frame.a > 0, "yes", "no")
    for machine in (KernelSVC(), OneClassSVM(), SVDD(nu=0.2)):
        machine.fit(frame, None if isinstance(machine, SVDD) else y)
        display = DecisionBoundaryDisplay.from_estimator(
            machine, frame, response_method="decision_function", grid_resolution=10
        )
        assert np.isfinite(display.response).all()
        display.figure_.clear()


def test_arviz_before_its_change_of_form_is_required():
    text = (HERE.parent / "pyproject.toml").read_text(encoding="utf-8")
    wanted = re.findall(r'"(arviz[<>=][^"]*)"', text)
    assert wanted
    assert all("<1" in one for one in wanted), wanted
