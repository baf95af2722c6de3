"""Conformal transformations: proved values, geometry, theory, hard settings, users' cases."""

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from imblearn.metrics import geometric_mean_score
from numpy.testing import assert_allclose, assert_array_equal
from oracles import problems
from sklearn.base import clone
from sklearn.metrics import balanced_accuracy_score
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from kernelbook.conformal import (
    AFSCTSVC,
    ConformalFactor,
    ConformalOneClassSVM,
    ConformalSVC,
    GaussianFactor,
    magnification,
)
from kernelbook.conformal.spaces import InputSpace
from kernelbook.datasets import load_abalone, load_car, load_glass, load_haberman, load_yeast
from kernelbook.exceptions import CollapseWarning
from kernelbook.kernels import gram, laplacian, rbf
from kernelbook.oneclass import OneClassSVM
from kernelbook.svm import KernelSVC

SCHEMES = ["wu_chang", "amari_wu", "wu_amari", "williams", "kba"]
BY_SCHEME = pytest.mark.parametrize("scheme", SCHEMES)


def sample(n=60, d=2, share=0.25, seed=0, shift=1.5):
    """Two overlapping Gaussians, the class 1 with the given share."""
    rng = np.random.default_rng(seed)
    y = (np.arange(n) < share * n).astype(int)
    return rng.normal(size=(n, d)) + shift * y[:, None], y


# The checks hand raw points or a matrix of distances to precomputed kernels in places, which are
# no Gram matrices: test_precomputed_kernels takes their place.
@parametrize_with_checks(
    [ConformalSVC(scheme) for scheme in SCHEMES]
    + [
        ConformalSVC("wu_amari", n_passes=2, kernel="poly", coef0=1.0),
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


# Geometry


FACTORS = {
    "wu_chang": ConformalSVC("wu_chang"),
    "amari_wu": ConformalSVC("amari_wu"),
    "amari_wu in feature space": ConformalSVC("amari_wu", metric="feature"),
    "wu_amari": ConformalSVC("wu_amari"),
    "williams": ConformalSVC("williams"),
    "williams twice": ConformalSVC("williams", n_passes=2),
    "kba": ConformalSVC("kba"),
    "kba in input space": ConformalSVC("kba", metric="input"),
    "one class": ConformalOneClassSVM(0.2, tau=0.8, floor=0.1),
}
SMOOTH = {
    "rbf": {"kernel": "rbf", "gamma": 0.4},
    "poly": {"kernel": "poly", "gamma": 0.3, "degree": 3, "coef0": 1.0},
    "linear": {"kernel": "linear"},
}


def by_differences(X, transformed, step=1e-3):
    """sqrt(det g) from central differences of the transformed kernel, of fourth order."""
    nodes, weights = np.array([-2, -1, 1, 2]), np.array([1, -8, 8, -1]) / 12
    d = X.shape[1]
    roots = np.empty(len(X))
    for m, x in enumerate(X):
        moved = x + step * nodes[:, None, None] * np.eye(d)  # node, coordinate, point
        values = transformed(moved.reshape(-1, d)).reshape(4, d, 4, d)
        metric = np.einsum("a,aibj,b->ij", weights, values, weights) / step**2
        roots[m] = np.sqrt(np.linalg.det(metric))
    return roots


@pytest.mark.parametrize("kernel", SMOOTH)
@pytest.mark.parametrize("name", FACTORS)
def test_magnification_against_finite_differences(name, kernel):
    X, y = sample(seed=3)
    model = clone(FACTORS[name]).set_params(**SMOOTH[kernel]).fit(X, y)
    values = {k: v for k, v in SMOOTH[kernel].items() if k != "kernel"}
    query = X[:8] + 0.1

    def transformed(points):
        D = model.factor_(points)
        return D[:, None] * gram(kernel, points, **values) * D

    found = magnification(query, kernel, model.factor_, **values)
    expected = by_differences(query, transformed)
    assert_allclose(found, expected, rtol=1e-5)
    # A plain function instead of a factor with a gradient.
    assert_allclose(
        magnification(query, kernel, model.factor_.__call__, **values), found, rtol=1e-6
    )


def test_magnification_of_plain_kernels():
    X = np.random.default_rng(0).normal(size=(5, 3))
    # sigma ** -d, the same everywhere.
    assert_allclose(magnification(X, "rbf", gamma=1 / (2 * 0.5**2)), 0.5**-3)
    assert_allclose(magnification(X, "linear"), 1.0)
    # (x'y)^2 is the map (x^2, sqrt(2) x z, z^2), whose tangents span this area:
    x, z = 0.7, -1.1
    tangents = np.array([[2 * x, np.sqrt(2) * z, 0], [0, np.sqrt(2) * x, 2 * z]])
    expected = np.sqrt(np.linalg.det(tangents @ tangents.T))
    assert_allclose(magnification([[x, z]], "poly", degree=2), expected)


def test_one_bump_is_flattest_at_sigma_over_root_d():
    """Amari and Wu's closed form: a bump of height h and width tau at a distance r."""
    d, sigma = 2, 0.8
    radius = np.linspace(0, 1, 11)
    X = np.column_stack([radius, np.zeros(11)])
    centre = InputSpace(np.zeros((1, d)))
    for tau in (0.4, sigma / np.sqrt(d), 1.2):
        bump = GaussianFactor(centre, np.array([2 * tau**2]), np.array([3.0]))
        found = magnification(X, "rbf", bump, gamma=1 / (2 * sigma**2))
        spread = np.sqrt(1 + sigma**2 * radius**2 / tau**4)
        expected = (3.0 / sigma) ** d * np.exp(-d * radius**2 / (2 * tau**2)) * spread
        assert_allclose(found, expected, rtol=1e-7)
        # It falls from the support vector on if tau is at least the rule's, and rises below it.
        assert (found[1] > found[0]) == (tau < sigma / np.sqrt(d))


@pytest.mark.parametrize("kernel", ["laplacian", "sigmoid", "precomputed", laplacian])
def test_magnification_needs_a_smooth_kernel(kernel):
    with pytest.raises(ValueError, match="no known derivatives"):
        magnification([[0.0]], kernel)


def test_magnification_refuses_a_factor_that_is_none():
    with pytest.raises(ValueError, match="positive number for each of the 2"):
        magnification([[0.0], [1.0]], "rbf", lambda X: X[:, 0])


# Schemes: factors by plain loops


def loops_wu_chang(d2, signs):
    """tau_k^2 and eta_k from squared distances between support vectors."""
    widths = []
    for k in range(len(signs)):
        others = [d2[k, s] for s in range(len(signs)) if s != k]
        midpoint = (min(others) + max(others)) / 2
        opposite = [d2[k, s] for s in range(len(signs)) if signs[s] != signs[k]]
        near = [value for value in opposite if value <= midpoint] or [min(opposite)]
        eta = sum(signs != signs[k]) / sum(signs == signs[k])
        widths.append(eta * sum(near) / len(near))
    return np.array(widths)


def test_wu_chang_by_loops():
    X, y = sample()
    svc = ConformalSVC("wu_chang", gamma=0.5, normalize=False).fit(X, y)
    support = svc.previous_.support_
    d2 = 2 - 2 * rbf(X[support], gamma=0.5)
    widths = loops_wu_chang(d2, y[support])
    assert_allclose(svc.factor_.widths, widths, rtol=1e-10)
    D = [sum(np.exp(-row / widths)) for row in 2 - 2 * rbf(X, X[support], gamma=0.5)]
    assert_allclose(svc.factor_(X), D, rtol=1e-10)
    given = ConformalSVC("wu_chang", gamma=0.5, eta=(1.0, 3.0)).fit(X, y).factor_.widths
    ratio = given / widths
    negatives = (y[support] == 0).sum()
    positives = (y[support] == 1).sum()
    expected = np.where(y[support] == 1, 3.0 * positives / negatives, negatives / positives)
    assert_allclose(ratio, expected, rtol=1e-10)


@pytest.mark.parametrize("boundary", ["auto", 0.5, 0.8, 1.0])
def test_kba_by_loops_in_input_space(boundary):
    X, y = sample()
    svc = ConformalSVC("kba", metric="input", boundary=boundary, normalize=False).fit(X, y)
    support = svc.previous_.support_
    points, signs = X[support], y[support]
    ratio = max(1.0, (signs == 0).sum() / (signs == 1).sum())
    beta = ratio / (1 + ratio) if boundary == "auto" else boundary
    pairs = set()
    for k, point in enumerate(points):
        opposite = np.flatnonzero(signs != signs[k])
        nearest = opposite[((points[opposite] - point) ** 2).sum(axis=1).argmin()]
        pairs.add((k, nearest) if signs[k] == 1 else (nearest, k))
    D = np.zeros(len(X))
    for rare, frequent in pairs:
        centre = (1 - beta) * points[rare] + beta * points[frequent]
        d2 = ((points - centre) ** 2).sum(axis=1)
        near = d2[d2 <= (d2.min() + d2.max()) / 2]
        D += np.exp(-((X - centre) ** 2).sum(axis=1) / near.mean())
    assert_allclose(svc.factor_(X), D, rtol=1e-10)


@pytest.mark.parametrize("scheme", ["wu_chang", "amari_wu", "wu_amari", "kba"])
def test_feature_space_of_the_linear_kernel_is_input_space(scheme):
    X, y = sample()
    far = X + 1e4  # distances must not drown in the offset
    values = [
        ConformalSVC(scheme, kernel="linear", metric=metric).fit(far, y).factor_(far)
        for metric in ("feature", "input")
    ]
    assert_allclose(*values, rtol=1e-6)


def test_amari_wu_rule_for_the_width():
    X, y = sample(d=3)
    svc = ConformalSVC("amari_wu", gamma=0.5).fit(X, y)
    # sigma = 1, d = 3.
    assert_allclose(svc.factor_.widths, 2 / 3)
    assert_allclose(svc.factor_.heights, svc.previous_.alpha_[svc.previous_.support_])
    same = ConformalSVC("amari_wu", gamma=0.5, tau="sigma/sqrt(d)").fit(X, y)
    assert_array_equal(same.factor_.widths, svc.factor_.widths)


def test_williams_kappa():
    X, y = sample()
    svc = ConformalSVC("williams", normalize=False).fit(X, y)
    f = svc.previous_.decision_function(X)
    assert svc.factor_(X).min() == pytest.approx(0.1, rel=1e-12)
    assert_allclose(svc.factor_(X), 0.1 ** (f**2 / (f**2).max()), rtol=1e-12)


# Machines


@BY_SCHEME
@pytest.mark.parametrize("kernel", [*SMOOTH.values(), {"kernel": "laplacian", "gamma": 0.5}])
def test_second_machine_is_a_machine_with_a_product_kernel(scheme, kernel):
    X, y = sample()
    svc = ConformalSVC(scheme, C=2.0, **kernel).fit(X, y)
    D = svc.factor_(X)
    K = D[:, None] * gram(X=X, **kernel) * D
    assert np.linalg.eigvalsh(K)[0] > -1e-10 * np.trace(K)
    direct = KernelSVC(2.0, kernel="precomputed").fit(K, y)
    assert_allclose(svc.decision_function(X), direct.decision_function(K), rtol=0, atol=1e-6)
    assert_allclose(svc.support_factor_, D[svc.support_])
    assert svc.certificate_.status == "optimal"


@BY_SCHEME
def test_normalisation_keeps_the_meaning_of_c(scheme):
    X, y = sample()
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
    X, y = sample()
    values = [
        ConformalSVC(scheme, class_weight="balanced").fit(unit * X, y).decision_function(unit * X)
        for unit in (1.0, 1e-4, 1e3)
    ]
    assert_allclose(values[1], values[0], rtol=0, atol=1e-6)
    assert_allclose(values[2], values[0], rtol=0, atol=1e-6)


@BY_SCHEME
def test_swapped_labels_flip_the_sign(scheme):
    X, y = sample()
    svc = ConformalSVC(scheme).fit(X, y)
    flipped = ConformalSVC(scheme).fit(X, 1 - y)
    assert_allclose(flipped.decision_function(X), -svc.decision_function(X), rtol=0, atol=1e-8)


@BY_SCHEME
def test_weights_are_copies(scheme):
    X, y = sample(40)
    weights = np.random.default_rng(1).integers(0, 3, 40)
    weighted = ConformalSVC(scheme, class_weight={0: 1.0, 1: 3.0}).fit(X, y, weights)
    repeated = ConformalSVC(scheme, class_weight={0: 1.0, 1: 3.0})
    repeated.fit(np.repeat(X, weights, axis=0), np.repeat(y, weights))
    found, expected = weighted.decision_function(X), repeated.decision_function(X)
    assert_allclose(found, expected, rtol=0, atol=1e-7)


@BY_SCHEME
def test_passes_start_from_the_machine_before(scheme):
    X, y = sample()
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
    X, y = sample(80, shift=4.0)
    query, _ = sample(20, seed=5)
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
    X, y = sample()
    new, _ = sample(seed=9)
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
    X, y = sample()
    with pytest.raises(ValueError, match="Normalise the kernel"):
        ConformalSVC("wu_chang", kernel="precomputed").fit(X @ X.T, y)
    ConformalSVC("williams", kernel="precomputed").fit(X @ X.T, y)
    for model in (ConformalSVC("wu_amari"), AFSCTSVC(), ConformalOneClassSVM()):
        model.set_params(kernel="precomputed", metric="input")
        with pytest.raises(ValueError, match="use metric='feature'"):
            model.fit(rbf(X), y)


def test_pipeline_search_frames_and_words():
    X, y = sample(90)
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
    X, y = sample()
    for model in (
        ConformalSVC("wu_amari", kernel="linear"),
        ConformalOneClassSVM(kernel="linear", tau=1.0),
    ):
        model.fit(X, y)
        with pytest.raises(AttributeError, match="no hyperplane"):
            _ = model.coef_


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"scheme": "act"}, "scheme must be one of"),
        ({"C": 0}, "C must be"),
        ({"C_second": -1}, "C_second must be"),
        ({"metric": "manhattan"}, "metric must be"),
        ({"scheme": "williams", "metric": "input"}, "no distances"),
        ({"n_passes": 0}, "n_passes must be"),
        ({"n_passes": True}, "n_passes must be"),
        ({"n_neighbors": 1.5}, "n_neighbors must be"),
        ({"tau": 0}, "tau must be"),
        ({"tau": "sigma"}, "tau must be"),
        ({"scheme": "amari_wu", "tau": "sigma/sqrt(d)", "kernel": "linear"}, "no sigma"),
        ({"scheme": "amari_wu", "tau": "sigma/sqrt(d)", "metric": "feature"}, "no sigma"),
        ({"kappa": -1}, "kappa must be"),
        ({"eta": 2.0}, "eta must be"),
        ({"eta": (1.0, 0.0)}, r"eta\[1\] must be"),
        ({"boundary": 0.4}, "boundary must be"),
        ({"kernel": "rbff"}, "kernel must be"),
        ({"class_weight": {7: 1.0}}, "class_weight names"),
    ],
)
def test_parameters_out_of_range(parameters, message):
    X, y = sample()
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


# Imbalance: fallbacks and hard settings


def test_afsct_is_the_scheme_of_wu_and_chang():
    X, y = sample()
    pairs = np.abs(X[:, None, :] - X[None, :, :]).sum(axis=2)
    parameters = {"kernel": "laplacian", "class_weight": "balanced", "drop_misclassified": True}
    same = ConformalSVC("wu_chang", gamma=1 / pairs.mean(), **parameters).fit(X, y)
    afsct = AFSCTSVC().fit(X, y)
    assert afsct.gamma_ == pytest.approx(1 / pairs.mean(), rel=1e-12)
    assert_allclose(afsct.decision_function(X), same.decision_function(X), rtol=0, atol=1e-9)
    given = AFSCTSVC(neg_eta=2.0, pos_eta="auto").fit(X, y)
    same_eta = clone(same).set_params(eta=(2.0, None)).fit(X, y)
    assert_allclose(given.factor_.widths, same_eta.factor_.widths, rtol=1e-10)
    right = same.previous_.predict(X) == y
    kept = [index for index in same.previous_.support_ if right[index]]
    assert_array_equal(same.factor_.space.anchors, X[kept])
    assert len(kept) < len(same.previous_.support_)
    with pytest.raises(ValueError, match="for the Laplacian kernel"):
        AFSCTSVC(kernel="rbf").fit(X, y)


def test_mean_distance_counts_weights_as_copies():
    X, y = sample(40)
    weights = np.random.default_rng(1).integers(0, 3, 40)
    weighted = AFSCTSVC(class_weight=None).fit(X, y, weights)
    rows = np.repeat(np.arange(40), weights)
    repeated = AFSCTSVC(class_weight=None).fit(X[rows], y[rows])
    assert weighted.gamma_ == pytest.approx(repeated.gamma_, rel=1e-12)
    assert AFSCTSVC(kernel="precomputed").fit(laplacian(X), y).gamma_ == 1.0


@BY_SCHEME
def test_class_weights_move_the_boundary(scheme):
    X, y = sample(120, share=0.1)
    for weight in ("balanced", {1: 9.0}):
        plain = ConformalSVC(scheme).fit(X, y).predict(X).sum()
        assert ConformalSVC(scheme, class_weight=weight).fit(X, y).predict(X).sum() > plain


def test_support_vectors_of_both_classes_in_one_place():
    X = np.array([[0.0], [0.0], [1.0], [1.0]])
    y = [0, 1, 0, 1]
    for scheme in SCHEMES:
        svc = ConformalSVC(scheme).fit(X, y)
        assert np.isfinite(svc.decision_function(X)).all()
        assert svc.fallback_ is not None
    constant = np.ones((4, 1))
    svc = ConformalSVC("wu_amari").fit(constant, y)
    assert type(svc.factor_) is ConformalFactor
    assert svc.fallback_.startswith("the support vectors lie in one place")
    # One point of both classes among others: its own width is 0, the others' are not.
    X, y = sample()
    X[-1] = X[0]
    svc = ConformalSVC("wu_chang", C=100.0, gamma=50.0).fit(X, y)
    assert "widths were 0" in svc.fallback_
    assert svc.factor_.widths.min() > 0


def test_a_class_without_well_classified_support_vectors_keeps_them():
    X, y = sample(60, share=0.1, shift=0.5)
    model = AFSCTSVC(0.01, class_weight=None).fit(X, np.where(y, "rare", "usual"))
    assert "every support vector of class ['rare'] is misclassified" in model.fallback_
    assert "raise C, or set class_weight='balanced'" in model.fallback_
    kept = model.factor_.space.anchors
    assert all((kept == row).all(axis=1).any() for row in X[y == 1])


def test_factor_that_spoils_the_kernel_gives_way():
    """A kernel so wide that it is nearly constant: D(x) D(y) takes the place of the constant."""
    X, y = sample(60, share=0.5, shift=3.0)
    svc = ConformalSVC("williams", C=1e4, C_second=1.0, gamma=1e-5).fit(X, y)
    plain = KernelSVC(1.0, gamma=1e-5).fit(X, y)
    assert "factor costs more than half" in svc.fallback_
    assert type(svc.factor_) is ConformalFactor
    assert_allclose(svc.decision_function(X), plain.decision_function(X), rtol=0, atol=1e-6)


@BY_SCHEME
@pytest.mark.parametrize("kernel", ["rbf", "laplacian"])
def test_finite_from_narrow_to_wide_and_soft_to_hard(scheme, kernel):
    n = 30
    rng = np.random.default_rng(0)
    for rare in (1, 6):
        y = (np.arange(n) < rare).astype(int)
        X = rng.normal(size=(n, 3)) + y[:, None]
        X[-1] = X[0]
        query = np.vstack([X + 0.1, 1e3 * X])
        for gamma in (1e-3, 1.0, 1e3):
            for C in (1e-4, 1.0, 1e4):
                svc = ConformalSVC(scheme, C=C, gamma=gamma, kernel=kernel).fit(X, y)
                assert np.isfinite(svc.decision_function(query)).all()
                assert np.isfinite(svc.factor_(query)).all()
                assert svc.certificate_.status == "optimal"


def reduced(load, n=240):
    """Standardised points and 0/1 labels of a data set, at most 40 of them positive."""
    bunch = load()
    y = (np.asarray(bunch.target) == bunch.positive).astype(int)
    rng = np.random.default_rng(0)
    rare = np.flatnonzero(y)[:40]
    rows = np.concatenate([rare, rng.permutation(np.flatnonzero(y == 0))[: n - len(rare)]])
    return bunch.data[np.sort(rows)], y[np.sort(rows)]


SETS = [load_glass, load_yeast, load_car, load_haberman, load_abalone]
UNITS = {
    "raw": lambda X: X,
    "standardised": lambda X: StandardScaler().fit_transform(X),
    "times 100": lambda X: 100 * X,
}


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("load", SETS, ids=lambda load: load.__name__)
def test_better_than_a_constant_classifier_in_any_unit(load, unit):
    X, y = reduced(load)
    X = UNITS[unit](X)
    train = np.arange(len(y)) % 3 > 0
    for model in [
        *(ConformalSVC(scheme, class_weight="balanced") for scheme in SCHEMES),
        AFSCTSVC(),
    ]:
        model.fit(X[train], y[train])
        values = model.decision_function(X[~train])
        assert np.isfinite(values).all()
        predicted = model.predict(X[~train])
        G = geometric_mean_score(y[~train], predicted)
        assert G > 0.35 or model.fallback_
        assert balanced_accuracy_score(y[train], model.predict(X[train])) > 0.5


# One class


def test_one_class_factor_by_hand():
    X, _ = sample(50, share=0.0)
    nu, gamma = 0.3, 0.5
    first = OneClassSVM(nu, gamma=gamma).fit(X)
    margin = (first.alpha_ > 0) & (first.alpha_ < 1 / (nu * 50) - 1e-12)
    # sigma = 1, d = 2: 2 tau^2 = 2 sigma^2 / d = 1.
    c = np.exp(-1.0 * ((X[:, None] - X[margin]) ** 2).sum(axis=2)) @ first.alpha_[margin]
    model = ConformalOneClassSVM(nu, gamma=gamma).fit(X)
    assert_allclose(model.factor_(X), c, rtol=1e-8)
    K = c[:, None] * rbf(X, gamma=gamma) * c
    direct = OneClassSVM(nu, kernel="precomputed").fit(K)
    assert_allclose(model.alpha_, direct.alpha_, rtol=0, atol=1e-6)
    assert_allclose(model.decision_function(X), direct.decision_function(K), rtol=0, atol=1e-9)
    assert model.offset_ == pytest.approx(direct.offset_, rel=1e-8)
    assert model.alpha_.sum() == pytest.approx(1.0)
    assert model.fallback_ is None
    floored = ConformalOneClassSVM(nu, gamma=gamma, floor=0.25).fit(X)
    assert_allclose(floored.factor_(X), c + 0.25 * c.max(), rtol=1e-8)
    # The margin of the second machine makes the third.
    twice = ConformalOneClassSVM(nu, gamma=gamma, n_passes=2).fit(X)
    assert_allclose(twice.previous_.decision_function(X), model.decision_function(X))
    assert not np.allclose(twice.factor_(X), c)


@pytest.mark.parametrize("nu", [0.05, 0.2, 0.5])
@pytest.mark.parametrize("tau", [0.5, "sigma/sqrt(d)", 3.0])
def test_one_class_nu_property_without_collapse(nu, tau):
    X, _ = sample(200, share=0.0)
    model = ConformalOneClassSVM(nu, gamma=0.3, tau=tau).fit(X)
    assert (model.predict(X) < 0).mean() <= nu
    assert len(model.support_) / len(X) >= nu - 1e-12
    new, _ = sample(2000, share=0.0, seed=7)
    accepted = (model.predict(new) > 0).mean()
    # Acceptance of new points: within three standard errors of training and test sample.
    assert abs(accepted - (1 - nu)) < 3 * np.sqrt(nu * (1 - nu) * (1 / 200 + 1 / 2000)) + 0.01


@pytest.mark.parametrize("tau", [0.02, 0.05, 0.1, 0.2, 0.4, 1.0])
@pytest.mark.parametrize("nu", [0.05, 0.3, 0.9])
def test_collapse_is_warned_of_exactly_by_its_criterion(tau, nu):
    X, _ = sample(100, share=0.0)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = ConformalOneClassSVM(nu, gamma=0.5, tau=tau).fit(X)
    c = model.factor_(X)
    share = (c < 1e-6 * c.max()).mean()
    assert model.vanished_share_ == pytest.approx(share, abs=0.011)
    collapse = [w for w in caught if issubclass(w.category, CollapseWarning)]
    assert len(collapse) == (model.vanished_share_ > nu)
    if collapse:
        assert f"{model.vanished_share_:.1%}" in str(collapse[0].message)
        assert "floor" in str(collapse[0].message)


def test_collapse_in_many_dimensions_and_its_remedies():
    """49 dimensions, sigma = 7: the rule's tau is 1 where points are 10 apart."""
    X = np.random.default_rng(0).normal(size=(200, 49))
    parameters = {"nu": 0.1, "gamma": 1 / (2 * 7.0**2)}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = ConformalOneClassSVM(**parameters).fit(X)
    assert caught[0].category is CollapseWarning
    assert "more than nu = 0.1" in str(caught[0].message)
    assert model.vanished_share_ > 0.1
    for remedy in ({"floor": 1e-2}, {"tau": 7.0}):
        model = ConformalOneClassSVM(**parameters, **remedy).fit(X)  # a warning would fail
        assert model.vanished_share_ == 0
        assert (model.predict(X) < 0).mean() <= 0.1


def test_one_class_without_margin_support_vectors():
    X, _ = sample(40, share=0.0)
    model = ConformalOneClassSVM(1.0, gamma=0.5).fit(X)
    assert model.fallback_.startswith("no support vector lies on the margin")
    assert len(model.factor_.widths) == 40


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"nu": 0}, "nu must be"),
        ({"nu": 1.5}, "nu must be"),
        ({"tau": -1}, "tau must be"),
        ({"tau": "auto"}, "tau must be a number or 'sigma"),
        ({"kernel": "linear"}, "Give tau as a number"),
        ({"metric": "feature"}, "Give tau as a number"),
        ({"floor": -0.1}, "floor must be"),
        ({"n_passes": 0}, "n_passes must be"),
        ({"metric": "cosine"}, "metric must be"),
    ],
)
def test_one_class_parameters_out_of_range(parameters, message):
    with pytest.raises(ValueError, match=message):
        ConformalOneClassSVM(**parameters).fit(sample()[0])


def test_one_class_precomputed_and_weights():
    X, _ = sample(50, share=0.0)
    new, _ = sample(20, share=0.0, seed=4)
    direct = ConformalOneClassSVM(0.2, metric="feature", tau=0.7, gamma=0.5).fit(X)
    matrix = ConformalOneClassSVM(0.2, kernel="precomputed", tau=0.7).fit(rbf(X, gamma=0.5))
    values = matrix.decision_function(rbf(new, X, gamma=0.5))
    assert_allclose(values, direct.decision_function(new), rtol=0, atol=1e-9)
    weights = np.random.default_rng(1).integers(0, 3, 50)
    weighted = ConformalOneClassSVM(0.2).fit(X, sample_weight=weights)
    repeated = ConformalOneClassSVM(0.2).fit(np.repeat(X, weights, axis=0))
    assert_allclose(
        weighted.decision_function(new), repeated.decision_function(new), rtol=0, atol=1e-8
    )
