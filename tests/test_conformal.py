"""Conformal classifiers: proved values, product kernels, invariances, faults."""

import pickle

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from oracles import problems
from samples import BY_SCHEME, SCHEMES, SMOOTH, imbalanced
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from kernelbook.conformal import (
    AFSCTSVC,
    ConformalOneClassSVM,
    ConformalSVC,
    GaussianFactor,
)
from kernelbook.conformal.spaces import InputSpace
from kernelbook.kernels import gram, laplacian, rbf
from kernelbook.svm import KernelSVC


# The checks hand raw points or a matrix of distances to precomputed kernels in places, which are
# no Gram matrices: test_precomputed_kernels takes their place.
@parametrize_with_checks(
    [ConformalSVC(scheme) for scheme in SCHEMES]
    + [
        # On the checks' data its kernel values differ so much that rounding leaves a gap of 5e-6.
        ConformalSVC("wu_amari", n_passes=2, kernel="poly", coef0=1.0, tol=1e-5),
        ConformalSVC("kba", metric="input", kernel=laplacian, normalize=False),
        ConformalSVC("williams", kernel="linear", n_passes=2, kappa=0.3),
        AFSCTSVC(),
        ConformalOneClassSVM(),
        ConformalOneClassSVM(0.2, n_passes=2, tau=1.0, floor=0.01, kernel="laplacian"),
    ]
)
def test_scikit_learn_estimator_checks(estimator, check):
    check(estimator)


# Proved values and what users reported


@pytest.mark.parametrize("problem", problems("conformal"), ids=lambda p: p["id"])
@pytest.mark.parametrize("solver", ["dense", "reference"])
def test_proved_values(problem, solver):
    data, params, expected = problem["data"], problem["params"], problem["expected"]
    kernel = {k: v for k, v in params["kernel"].items() if k != "name" and v is not None}
    rules = {"n_neighbors": "M", "kappa": "kappa", "tau": "tau"}
    kernel |= {ours: params[key] for ours, key in rules.items() if params[key] is not None}
    svc = ConformalSVC(
        params["scheme"],
        C=params["C"],
        C_second=params["C_second"],
        kernel=params["kernel"]["name"],
        normalize=False,
        solver=solver,
        **kernel,
    ).fit(data["X"], data["y"])
    tolerance = problem["tolerance"]
    rtol, atol = tolerance["D_rtol"], tolerance["decision_atol"]
    query = data["X_query"]
    first = svc.previous_.decision_function(query)
    assert_array_equal(svc.previous_.support_, expected["support"])
    assert_allclose(first, expected["base_decision_function"], rtol=0, atol=atol)
    assert_allclose(svc.factor_(data["X"]), expected["D_train"], rtol=rtol)
    assert_allclose(svc.factor_(query), expected["D_query"], rtol=rtol)
    if "tau_sq_of_support" in expected:
        assert_allclose(svc.factor_.widths, expected["tau_sq_of_support"], rtol=rtol)
    assert_allclose(svc.decision_function(query), expected["decision_function"], rtol=0, atol=atol)
    assert_allclose(svc.intercept_, expected["b"], rtol=0, atol=atol)
    slack = np.maximum(0, 1 - np.sign(data["y"]) * svc.decision_function(data["X"]))
    norm_squared = svc.dual_coef_[0] @ (
        svc.decision_function(svc.support_vectors_) - svc.intercept_
    )
    objective = 0.5 * norm_squared + params["C_second"] * slack.sum()
    assert_allclose(objective, expected["objective"], rtol=tolerance["objective_rtol"])
    assert svc.certificate_.status == "optimal"
    assert svc.fallback_ is None


def test_constant_factor_is_a_larger_c():
    X = np.array([0, 1, 2, 2.5, 3, 1.5, 2.2, 4, 5, 6.0])[:, None]
    y = np.repeat([-1, 1], 5)
    new = np.array([[0.5], [2.1], [3.5]])
    K, K_new = rbf(X, gamma=0.5), rbf(new, X, gamma=0.5)
    transformed = KernelSVC(1.0, kernel="precomputed").fit(4 * K, y).decision_function(4 * K_new)
    larger_C = KernelSVC(4.0, gamma=0.5).fit(X, y).decision_function(new)
    assert_allclose(transformed, larger_C, rtol=0, atol=1e-8)
    assert_allclose(larger_C, [-1.221293, -0.775869, -0.09095], atol=5e-7)
    # In the estimator: points all in one place but for their class leave a constant factor.
    svc = ConformalSVC("williams", kappa=1e-300, gamma=0.5, C_second=4.0, normalize=False)
    assert_allclose(svc.fit(X, y).decision_function(new), larger_C, rtol=0, atol=1e-8)


# Machines


@BY_SCHEME
@pytest.mark.parametrize("kernel", [*SMOOTH.values(), {"kernel": "laplacian", "gamma": 0.5}])
def test_second_machine_is_a_machine_with_a_product_kernel(scheme, kernel):
    X, y = imbalanced()
    svc = ConformalSVC(scheme, C=2.0, **kernel).fit(X, y)
    D = svc.factor_(X)
    K = D[:, None] * gram(X=X, **kernel) * D
    assert np.linalg.eigvalsh(K)[0] > -1e-10 * np.trace(K)
    direct = KernelSVC(2.0, kernel="precomputed").fit(K, y)
    assert_allclose(svc.decision_function(X), direct.decision_function(K), rtol=0, atol=1e-6)
    assert_allclose(svc.support_factor_, D[svc.support_])
    assert svc.certificate_.status == "optimal"


@BY_SCHEME
def test_normalization_keeps_the_meaning_of_c(scheme):
    X, y = imbalanced()
    kernel = {"kernel": "poly", "degree": 2, "gamma": 0.3, "coef0": 1.0}
    own = gram(X=X, **kernel).diagonal()
    svc = ConformalSVC(scheme, C=0.5, **kernel).fit(X, y)
    D = svc.factor_(X)
    assert (D**2 * own).mean() == pytest.approx(own.mean(), rel=1e-12)
    raw = ConformalSVC(scheme, C=0.5, normalize=False, **kernel).fit(X, y)
    square = float(np.mean((D / raw.factor_(X)) ** 2))
    assert_allclose(D / raw.factor_(X), np.sqrt(square), rtol=1e-10)
    larger = raw.set_params(C_second=0.5 * square).fit(X, y)
    difference = larger.decision_function(X) - svc.decision_function(X)
    assert np.abs(difference).max() < 1e-8 * np.abs(svc.decision_function(X)).max()


@BY_SCHEME
def test_units_do_not_matter(scheme):
    X, y = imbalanced()
    values = [
        ConformalSVC(scheme, class_weight="balanced").fit(unit * X, y).decision_function(unit * X)
        for unit in (1.0, 1e-4, 1e3)
    ]
    assert_allclose(values[1], values[0], rtol=0, atol=1e-6)
    assert_allclose(values[2], values[0], rtol=0, atol=1e-6)


@BY_SCHEME
def test_swapped_labels_flip_the_sign(scheme):
    X, y = imbalanced()
    svc = ConformalSVC(scheme).fit(X, y)
    flipped = ConformalSVC(scheme).fit(X, 1 - y)
    assert_allclose(flipped.decision_function(X), -svc.decision_function(X), rtol=0, atol=1e-8)


@BY_SCHEME
def test_weights_are_copies(scheme):
    X, y = imbalanced(40)
    weights = np.random.default_rng(1).integers(0, 3, 40)
    weighted = ConformalSVC(scheme, class_weight={0: 1.0, 1: 3.0}).fit(X, y, weights)
    repeated = ConformalSVC(scheme, class_weight={0: 1.0, 1: 3.0})
    repeated.fit(np.repeat(X, weights, axis=0), np.repeat(y, weights))
    found, expected = weighted.decision_function(X), repeated.decision_function(X)
    assert_allclose(found, expected, rtol=0, atol=1e-7)


@BY_SCHEME
def test_passes_start_from_the_machine_before(scheme):
    X, y = imbalanced()
    once = ConformalSVC(scheme).fit(X, y)
    twice = ConformalSVC(scheme, n_passes=2).fit(X, y)
    assert_allclose(twice.previous_.decision_function(X), once.decision_function(X))
    assert not np.allclose(twice.decision_function(X), once.decision_function(X))


@pytest.mark.parametrize(
    "model",
    [
        *(ConformalSVC(scheme, n_passes=2) for scheme in SCHEMES),
        AFSCTSVC(),
        ConformalOneClassSVM(0.2, tau=3.0, n_passes=2),
    ],
)
def test_prediction_needs_support_vectors_only(model):
    X, y = imbalanced(80, shift=4.0)
    query, _ = imbalanced(20, seed=5)
    model = clone(model).fit(X, y)
    expected = model.decision_function(query)
    stored = pickle.dumps(model)
    restored = pickle.loads(stored)
    X[:] = np.nan
    assert_array_equal(restored.decision_function(query), expected)
    assert_array_equal(model.decision_function(query), expected)
    parts = [restored]
    for part in parts:  # no array within reach has the training set's rows
        held = list(getattr(part, "__dict__", {}).values())
        parts.extend(child for child in held if hasattr(child, "__dict__"))
        tables = [child for child in held if isinstance(child, np.ndarray) and child.ndim == 2]
        assert all(len(table) < len(X) for table in tables)


@BY_SCHEME
def test_precomputed_kernels(scheme):
    X, y = imbalanced()
    new, _ = imbalanced(seed=9)
    metric = None if scheme == "williams" else "feature"
    direct = ConformalSVC(scheme, metric=metric, gamma=0.5, tau=0.7).fit(X, y)
    by_function = ConformalSVC(
        scheme, metric=metric, kernel=lambda A, B: rbf(A, B, gamma=0.5), tau=0.7
    ).fit(X, y)
    by_matrix = ConformalSVC(scheme, kernel="precomputed", tau=0.7).fit(rbf(X, gamma=0.5), y)
    expected = direct.decision_function(new)
    assert_allclose(by_function.decision_function(new), expected, rtol=0, atol=1e-6)
    values = by_matrix.decision_function(rbf(new, X, gamma=0.5))
    assert_allclose(values, expected, rtol=0, atol=1e-6)


def test_precomputed_kernels_that_do_not_tell_distances():
    X, y = imbalanced()
    with pytest.raises(ValueError, match="Normalise the kernel"):
        ConformalSVC("wu_chang", kernel="precomputed").fit(X @ X.T, y)
    by_matrix = ConformalSVC("williams", kernel="precomputed").fit(X @ X.T, y)
    by_name = ConformalSVC("williams", kernel="linear").fit(X, y)
    values = by_matrix.decision_function(X @ X.T)
    assert_allclose(values, by_name.decision_function(X), rtol=0, atol=1e-6)
    for model in (ConformalSVC("wu_amari"), AFSCTSVC(), ConformalOneClassSVM()):
        model.set_params(kernel="precomputed", metric="input")
        with pytest.raises(ValueError, match="use metric='feature'"):
            model.fit(rbf(X), y)


def test_pipeline_search_frames_and_words():
    X, y = imbalanced(90)
    frame = pd.DataFrame(X, columns=["a", "b"])
    words = np.where(y == 1, "rare", "usual")
    search = GridSearchCV(
        make_pipeline(StandardScaler(), ConformalSVC(class_weight="balanced")),
        {"conformalsvc__scheme": SCHEMES, "conformalsvc__C": [0.1, 10.0]},
        scoring="balanced_accuracy",
        cv=StratifiedKFold(3, shuffle=True, random_state=0),
    ).fit(frame, words)
    assert search.best_score_ > 0.7
    assert set(search.predict(frame)) == {"rare", "usual"}


def test_attributes_of_the_input_space_are_gone():
    X, y = imbalanced()
    for model in (
        ConformalSVC("wu_amari", kernel="linear"),
        ConformalOneClassSVM(kernel="linear", tau=1.0),
    ):
        model.fit(X, y)
        assert hasattr(model.previous_, "coef_")
        assert not hasattr(model, "coef_")
        assert not hasattr(model.machine_, "coef_")


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"scheme": "act"}, "'scheme' parameter"),
        ({"C": 0}, "'C' parameter"),
        ({"C_second": -1}, "'C_second' parameter"),
        ({"metric": "manhattan"}, "'metric' parameter"),
        ({"scheme": "williams", "metric": "input"}, "no distances"),
        ({"n_passes": 0}, "'n_passes' parameter"),
        ({"n_passes": True}, "'n_passes' parameter"),
        ({"n_neighbors": 1.5}, "'n_neighbors' parameter"),
        ({"tau": 0}, "'tau' parameter"),
        ({"tau": "sigma"}, "'tau' parameter"),
        ({"scheme": "amari_wu", "tau": "sigma/sqrt(d)", "kernel": "linear"}, "no sigma"),
        ({"scheme": "amari_wu", "tau": "sigma/sqrt(d)", "metric": "feature"}, "no sigma"),
        ({"kappa": -1}, "'kappa' parameter"),
        ({"eta": 2.0}, "'eta' parameter"),
        ({"eta": (1.0, 2.0, 3.0)}, "eta must be None or a pair"),
        ({"eta": (1.0, 0.0)}, r"eta\[1\] must be"),
        ({"boundary": 0.4}, "'boundary' parameter"),
        ({"kernel": "rbff"}, "'kernel' parameter"),
        ({"normalize": "no"}, "'normalize' parameter"),
        ({"class_weight": {7: 1.0}}, "class_weight names"),
    ],
)
def test_parameters_out_of_range(parameters, message):
    X, y = imbalanced()
    svc = ConformalSVC().fit(X, y)
    before = svc.decision_function(X)
    with pytest.raises(ValueError, match=message):
        svc.set_params(**parameters).fit(X, y)
    with pytest.raises(ValueError, match=message):
        ConformalSVC(**parameters).fit(X, y)
    # A failed fit leaves the old one.
    svc.set_params(**ConformalSVC().get_params())
    assert_array_equal(svc.decision_function(X), before)


def test_logarithms_do_not_underflow():
    factor = GaussianFactor(InputSpace(np.zeros((1, 1))), np.array([1e-300]), np.array([1.0]))
    far = np.array([[1.0], [1e10]])
    assert_array_equal(factor(far), 0.0)
    assert np.isfinite(factor.log(far)).all()
    narrow = GaussianFactor(InputSpace(np.zeros((1, 1))), np.array([1e-3]), np.array([2.0]))
    assert_allclose(narrow.log([[3.0]]), np.log(2.0) - 9e3, rtol=1e-12)
