"""Conformal classifiers in imbalanced and extreme settings, and their fallbacks."""

import numpy as np
import pytest
from imblearn.metrics import geometric_mean_score
from numpy.testing import assert_allclose, assert_array_equal
from samples import BY_SCHEME, SCHEMES, imbalanced
from sklearn.base import clone
from sklearn.metrics import balanced_accuracy_score
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.preprocessing import StandardScaler

from kernelbook.conformal import (
    AFSCTSVC,
    ConformalFactor,
    ConformalSVC,
)
from kernelbook.datasets import load_abalone, load_car, load_glass, load_haberman, load_yeast
from kernelbook.kernels import FromCallable, laplacian
from kernelbook.svm import KernelSVC

# Imbalance: fallbacks and hard settings


def test_afsct_is_the_scheme_of_wu_and_chang():
    X, y = imbalanced()
    pairs = np.abs(X[:, None, :] - X[None, :, :]).sum(axis=2)
    parameters = {"kernel": "laplacian", "class_weight": "balanced", "drop_misclassified": True}
    same = ConformalSVC("wu_chang", gamma=1 / pairs.mean(), **parameters).fit(X, y)
    afsct = AFSCTSVC().fit(X, y)
    assert afsct.gamma_ == pytest.approx(1 / pairs.mean(), rel=1e-12)
    assert_allclose(afsct.decision_function(X), same.decision_function(X), rtol=0, atol=1e-9)
    given = AFSCTSVC(eta=(2.0, None)).fit(X, y)
    same_eta = clone(same).set_params(eta=(2.0, None)).fit(X, y)
    assert_allclose(given.factor_.widths, same_eta.factor_.widths, rtol=1e-10)
    right = same.previous_.predict(X) == y
    kept = [index for index in same.previous_.support_ if right[index]]
    assert_array_equal(same.factor_.space.anchors, X[kept])
    assert len(kept) < len(same.previous_.support_)
    with pytest.raises(ValueError, match="for the Laplacian kernel"):
        AFSCTSVC(kernel="rbf").fit(X, y)


def test_mean_distance_counts_weights_as_copies():
    X, y = imbalanced(40)
    weights = np.random.default_rng(1).integers(0, 3, 40)
    weighted = AFSCTSVC(class_weight=None).fit(X, y, weights)
    rows = np.repeat(np.arange(40), weights)
    repeated = AFSCTSVC(class_weight=None).fit(X[rows], y[rows])
    assert weighted.gamma_ == pytest.approx(repeated.gamma_, rel=1e-12)
    # A kernel that has no width ignores the rule.
    assert not hasattr(AFSCTSVC(kernel="precomputed").fit(laplacian(X), y), "gamma_")


def test_afsct_takes_a_kernel_of_scikit_learn():
    X, y = imbalanced()
    words = np.where(y == 1, "rare", "usual")
    by_function = AFSCTSVC(kernel=rbf_kernel).fit(X, words)
    assert by_function.kernel_.kernel == FromCallable(rbf_kernel)
    by_name = AFSCTSVC(kernel="rbf", gamma="auto").fit(X, words)  # 1 / d, rbf_kernel's default
    new, _ = imbalanced(seed=5)
    expected = by_name.decision_function(new)
    assert_allclose(by_function.decision_function(new), expected, rtol=0, atol=1e-6)
    assert set(by_function.predict(new)) == {"rare", "usual"}


@BY_SCHEME
def test_class_weights_move_the_boundary(scheme):
    X, y = imbalanced(120, fraction=0.1)
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
    X, y = imbalanced()
    X[-1] = X[0]
    svc = ConformalSVC("wu_chang", C=100.0, gamma=50.0).fit(X, y)
    assert "widths were 0" in svc.fallback_
    assert svc.factor_.widths.min() > 0


def test_a_class_of_misclassified_support_vectors_keeps_them():
    X, y = imbalanced(60, fraction=0.1, shift=0.5)
    model = AFSCTSVC(0.01, class_weight=None).fit(X, np.where(y, "rare", "usual"))
    assert "every support vector of class ['rare'] is misclassified" in model.fallback_
    assert "raise C, or set class_weight='balanced'" in model.fallback_
    kept = model.factor_.space.anchors
    assert all((kept == row).all(axis=1).any() for row in X[y == 1])


def test_factor_that_spoils_the_kernel_gives_way():
    """A kernel so wide that it is nearly constant: D(x) D(y) takes the place of the constant."""
    X, y = imbalanced(60, fraction=0.5, shift=3.0)
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
        assert G > 0.35
        assert balanced_accuracy_score(y[train], model.predict(X[train])) > 0.5
