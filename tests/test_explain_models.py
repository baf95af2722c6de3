"""Fitted machines: the expansion is the model, several classes, what is refused, the object."""

import pickle
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from explainers import BY_HAND, binary, random_explainer, square, three_classes, wine
from scipy.sparse import csr_array
from sklearn.base import BaseEstimator, OutlierMixin, clone, is_classifier, is_outlier_detector
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR, LinearSVC, NuSVC, NuSVR, OneClassSVM

from kernelbook.explain import PolynomialExplainer
from kernelbook.oneclass import OneClassSVM as ExactOneClassSVM
from kernelbook.svdd import SVDD
from kernelbook.svm import KernelSVC
from kernelbook.svr import KernelSVR

MODELS = {
    "SVC": SVC(),
    "SVC, three classes": SVC(),
    "SVC, three classes, ovo": SVC(decision_function_shape="ovo"),
    "SVC, three classes, ties broken": SVC(break_ties=True),
    "NuSVC": NuSVC(nu=0.2),
    "NuSVC, three classes": NuSVC(nu=0.2),
    "SVR": SVR(),
    "NuSVR": NuSVR(),
    "OneClassSVM": OneClassSVM(nu=0.2),
    "exact OneClassSVM": ExactOneClassSVM(nu=0.2),
    "KernelSVC": KernelSVC(),
    "KernelSVR": KernelSVR(),
}


@pytest.mark.parametrize("coef0", [0.0, 2**0.5])
@pytest.mark.parametrize("degree", [1, 2, 3, 4])
@pytest.mark.parametrize("name", MODELS)
def test_expansion_is_the_model(name, degree, coef0):
    X, labels = wine()
    X = X.to_numpy() + 0.5  # not centred: a linear one-class machine on centred data is all noise
    if "SVR" in name:
        y = X[:, 0] * X[:, 1] - X[:, 2]
    else:
        y = labels if "three" in name else labels == "class_1"
    model = clone(MODELS[name]).set_params(kernel="poly", degree=degree, coef0=coef0).fit(X, y)
    explainer = PolynomialExplainer().fit(model)
    points = np.random.default_rng(0).normal(size=(40, X.shape[1]))
    own = model.predict(points) if "SVR" in name else model.decision_function(points)
    found = explainer.decision_function(points)
    assert found.shape == own.shape
    np.testing.assert_allclose(found, own, rtol=1e-10, atol=1e-10 * np.abs(own).max())
    if "SVR" in name:
        np.testing.assert_allclose(explainer.predict(points), own, rtol=1e-10, atol=1e-10)
    else:
        predicted, wanted = explainer.predict(points), model.predict(points)
        assert predicted.dtype == wanted.dtype
        assert (predicted == wanted).all()
    assert explainer.score(X, y) == pytest.approx(
        np.mean(model.predict(X) == y) if "OneClass" in name else model.score(X, y)
    )


def test_expansion_of_a_collapsed_machine_is_the_more_exact():
    # On centred data the linear one-class machine is a difference of two equal numbers.
    X = wine()[0].to_numpy()
    model = OneClassSVM(kernel="poly", degree=1, coef0=1.0, gamma=0.25).fit(X)
    explainer = PolynomialExplainer().fit(model)
    weights = [Fraction(a) for a in model.dual_coef_[0]]
    points = [[Fraction(v) for v in row] for row in model.support_vectors_.tolist()]
    normal = [
        sum(a * point[j] for a, point in zip(weights, points, strict=True)) / 4
        for j in range(X.shape[1])
    ]
    shift = sum(weights) + Fraction(model.intercept_[0])
    exact_values = [
        float(sum(w * Fraction(v) for w, v in zip(normal, row, strict=True)) + shift)
        for row in X[:10].tolist()
    ]
    size = np.abs(model.dual_coef_).sum()
    error = np.abs(explainer.decision_function(X[:10]) - exact_values).max()
    assert error <= 1e-14 * size
    # Degree 0 does not vanish here: the dual coefficients sum to nu n, not to 0.
    assert abs(explainer.constant_[0] - explainer.intercept_[0]) > 0.4 * len(X)


def test_pair_of_a_binary_classifier_starts_with_the_positive():
    X, _, model = binary()
    explainer = PolynomialExplainer().fit(model)
    assert explainer.pairs_ == [("second", "another")]
    assert list(explainer.classes_) == ["another", "second"]
    positive = explainer.decision_function(X) > 0
    assert (explainer.predict(X) == np.where(positive, "second", "another")).all()
    chosen = explainer.for_pair(("second", "another"))
    assert chosen.weights() == explainer.weights()
    assert (chosen.predict(X) == explainer.predict(X)).all()
    # The dual coefficients of a classifier sum to zero, and with them degree 0.
    assert explainer.constant_ == pytest.approx(explainer.intercept_, abs=1e-10)


def test_pairs_of_several_classes():
    X, y, model = three_classes()
    explainer = PolynomialExplainer().fit(model)
    assert explainer.pairs_ == [*combinations(["class_0", "class_1", "class_2"], 2)]
    model = clone(model).set_params(decision_function_shape="ovo").fit(X, y)
    decisions = model.decision_function(X)
    for column, pair in enumerate(explainer.pairs_):
        chosen = explainer.for_pair(pair)
        assert chosen.pairs_ == [pair]
        found = chosen.decision_function(X)
        np.testing.assert_allclose(found, decisions[:, column], rtol=1e-10, atol=1e-10)
        total = chosen.contributions(X).sum(axis=1) + explainer.constant_[column]
        np.testing.assert_allclose(total, found, rtol=1e-10, atol=1e-10)
        assert (chosen.predict(X) == np.where(found > 0, *pair)).all()
        assert found[y == pair[0]].mean() > 0 > found[y == pair[1]].mean()
        assert list(chosen.weights().values()) == explainer.coef_[column].tolist()


def test_a_pair_of_a_reduced_model_keeps_what_it_keeps():
    explainer = PolynomialExplainer().fit(three_classes()[2])
    mask = explainer.select(7)
    pair = explainer.pairs_[2]
    reduced = explainer.keep(mask).for_pair(pair)
    assert reduced.mask_.tolist() == mask.tolist()
    assert reduced.weights() == explainer.for_pair(pair).keep(mask).weights()
    assert len(reduced.weights()) == 7


def test_one_function_of_several_must_be_chosen():
    X, _, model = three_classes()
    explainer = PolynomialExplainer().fit(model)
    for call in (
        explainer.weights,
        lambda: explainer.contributions(X),
        lambda: explainer.contributions(X, [0]),
        lambda: explainer.degree_contributions(X),
        lambda: explainer.keep(explainer.mask_).degree_contributions(X),
        lambda: explainer.feature_contributions(X),
    ):
        with pytest.raises(ValueError, match=r"for_pair\(pair\).*\('class_0', 'class_1'\)"):
            call()
    with pytest.raises(ValueError, match=r"in this order, got \('class_1', 'class_0'\)"):
        explainer.for_pair(("class_1", "class_0"))
    with pytest.raises(ValueError, match=r"one of \[\]"):
        square().for_pair((0, 1))


@pytest.mark.parametrize("machine", [SVC, KernelSVC])
def test_weights_of_a_linear_machine_are_its_coef(machine):
    X, y, _ = binary()
    model = machine(kernel="linear").fit(X, y)
    explainer = PolynomialExplainer().fit(model)
    np.testing.assert_allclose(explainer.coef_, model.coef_, rtol=1e-10, atol=1e-12)
    assert explainer.constant_.tolist() == model.intercept_.tolist()
    assert explainer.name(0) == "alcohol"


def test_model_fitted_on_a_sparse_matrix():
    X, y, _ = binary()
    sparse = csr_array(X.to_numpy())
    model = SVC(kernel="poly", degree=2, coef0=1.0).fit(sparse, y)
    found = PolynomialExplainer().fit(model).decision_function(X.to_numpy())
    np.testing.assert_allclose(found, model.decision_function(sparse), rtol=1e-10)


def test_boundary_points_of_an_exact_detector_are_inside():
    X = wine()[0].to_numpy() + 0.5
    model = ExactOneClassSVM(nu=0.2, kernel="poly", degree=2, coef0=1.0).fit(X)
    explainer = PolynomialExplainer().fit(model)
    on_boundary = model.decision_function(X) == 0.0
    assert on_boundary.sum() > 3
    assert (explainer.decision_function(X)[on_boundary] == 0.0).all()
    assert (explainer.predict(X) == model.predict(X)).all()


def test_model_without_support_vectors_is_its_constant():
    X = wine()[0].to_numpy()
    model = SVR(kernel="poly", degree=2, coef0=1.0, epsilon=1e3).fit(X, X[:, 0])
    explainer = PolynomialExplainer().fit(model)
    assert len(model.support_vectors_) == 0
    assert explainer.predict(X).tolist() == model.predict(X).tolist()
    assert not explainer.degree_contributions(X).any()
    assert explainer.importance()["fraction"].tolist() == [0.0] * 27


@pytest.mark.parametrize("shape", [(-1,), (1, -1), (-1, 1)])
def test_raw_arrays_of_any_orientation(shape):
    X, _, model = binary()
    explainer = PolynomialExplainer.from_support_vectors(
        model.support_vectors_,
        model.dual_coef_.reshape(shape),
        model.intercept_,
        degree=2,
        gamma=model._gamma,
        coef0=1.0,
        classes=model.classes_,
    )
    points = X.to_numpy()
    np.testing.assert_allclose(explainer.decision_function(points), model.decision_function(X))
    assert (explainer.predict(points) == model.predict(X)).all()


# Refusals


@pytest.mark.parametrize("kernel", ["rbf", "sigmoid", "precomputed", lambda A, B: (A @ B.T) ** 3])
def test_other_kernels_are_refused(kernel):
    X, y = wine()
    X = X.to_numpy()[:, :4]
    X = X @ X.T if kernel == "precomputed" else X
    model = SVC(kernel=kernel).fit(X, y == "class_1")
    with pytest.raises(ValueError, match="must be a polynomial"):
        PolynomialExplainer().fit(model)


def test_models_that_are_no_kernel_svm_are_refused():
    X, y, model = binary()
    pipeline = make_pipeline(StandardScaler(), SVC(kernel="poly")).fit(X, y)
    search = GridSearchCV(SVC(kernel="poly"), {"C": [1.0]}, cv=2).fit(X, y)
    for other in (pipeline, search, LinearSVC().fit(X, y)):
        with pytest.raises(ValueError, match="of a pipeline take the last step, of a search best_"):
            PolynomialExplainer().fit(other)
    with pytest.raises(TypeError, match="from_support_vectors"):
        PolynomialExplainer().fit(model.support_vectors_)
    for inner in (pipeline[-1], search.best_estimator_):
        assert PolynomialExplainer().fit(inner).n_features_in_ == 6


def test_unfitted_models_and_explainers_are_refused():
    with pytest.raises(NotFittedError, match="SVC"):
        PolynomialExplainer().fit(SVC(kernel="poly"))
    for call in (
        lambda explainer: explainer.predict([[1.0]]),
        lambda explainer: explainer.interactions(),
        lambda explainer: explainer.name(0),
        lambda explainer: explainer.weights(),
        lambda explainer: explainer.select(1),
        lambda explainer: explainer.keep([0]),
        lambda explainer: explainer.for_pair((0, 1)),
    ):
        with pytest.raises(NotFittedError, match="PolynomialExplainer"):
            call(PolynomialExplainer())


@pytest.mark.parametrize("change", [{"degree": 3}, {"coef0": 2.0}])
def test_parameters_changed_after_the_fit_count(change):
    X, y, model = binary()
    model = clone(model).fit(X, y).set_params(**change)
    found = PolynomialExplainer().fit(model).decision_function(X)
    np.testing.assert_allclose(found, model.decision_function(X), rtol=1e-10)
    with pytest.raises(ValueError, match="degree"):
        PolynomialExplainer().fit(model.set_params(degree=0))


class _SquaredDistance(OutlierMixin, BaseEstimator):
    """A machine that has all the attributes, but whose decision value is another function."""

    def __init__(self, kernel="poly", degree=2, gamma=1.0, coef0=0.0):
        self.kernel, self.degree, self.gamma, self.coef0 = kernel, degree, gamma, coef0

    def fit(self, X, y=None):
        self.support_vectors_ = np.asarray(X)
        self.dual_coef_ = np.full((1, len(X)), 2.0 / len(X))
        self.intercept_ = np.array([1.0])
        self._gamma = self.gamma
        return self

    def decision_function(self, X):
        kernel = (X @ self.support_vectors_.T) ** self.degree
        own = (X**2).sum(axis=1) ** self.degree
        return kernel @ self.dual_coef_[0] + self.intercept_[0] - own


def test_decision_function_of_another_form_is_refused():
    model = _SquaredDistance().fit(np.array([[1.0, 0.0], [0.0, 2.0]]))
    with pytest.raises(ValueError, match="no machine of this form"):
        PolynomialExplainer().fit(model)
    with pytest.raises(ValueError, match="SVDD has no intercept_"):
        PolynomialExplainer().fit(SVDD(kernel="poly", degree=2).fit(np.eye(3) + 1.0))
    del model.dual_coef_
    with pytest.raises(ValueError, match="has no dual_coef_"):
        PolynomialExplainer().fit(model)


# Points and the names of their columns


@pytest.mark.parametrize("points", [np.ones((2, 3)), np.ones((2, 5))])
def test_wrong_number_of_columns_is_refused(points):
    explainer = random_explainer()
    for method in (
        explainer.decision_function,
        explainer.predict,
        explainer.contributions,
        explainer.feature_contributions,
        explainer.degree_contributions,
        explainer.importance,
        explainer.degree_importance,
    ):
        with pytest.raises(ValueError, match=r"but PolynomialExplainer is expecting 4 features"):
            method(points)


@pytest.mark.parametrize("points", [np.full((1, 4), np.nan), np.ones(4), np.ones((0, 4))])
def test_points_that_are_none_are_refused(points):
    with pytest.raises(ValueError, match=r"NaN|2D array|0 sample"):
        random_explainer().decision_function(points)


def test_names_come_from_the_data_frame():
    X, _, model = binary()
    explainer = PolynomialExplainer().fit(model)
    assert list(explainer.feature_names_in_) == list(X.columns)
    assert explainer.name((1, 0, 0)[:2]) == "alcohol·malic_acid"
    with pytest.raises(ValueError, match="feature names should match"):
        explainer.predict(X.iloc[:, ::-1])
    with pytest.raises(ValueError, match="feature names should match"):
        explainer.predict(X.rename(columns={"alcohol": "ethanol"}))
    with pytest.warns(UserWarning, match="X does not have valid feature names"):
        values = explainer.decision_function(X.to_numpy())
    assert values.tolist() == explainer.decision_function(X).tolist()
    renamed = PolynomialExplainer(feature_names=list("abcdef")).fit(model)
    assert renamed.name((1, 0)) == "a·b"
    assert renamed.decision_function(X).tolist() == values.tolist()


# Behaviour as an object


def test_explainer_neither_keeps_nor_changes_the_model():
    X, y, model = binary()
    model = clone(model).fit(X, y)
    before = pickle.dumps(model)
    explainer = PolynomialExplainer().fit(model)
    explainer.importance(X)
    explainer.keep([0]).predict(X)
    assert pickle.dumps(model) == before
    values = explainer.decision_function(X)
    model.fit(X, y[::-1])
    assert explainer.decision_function(X).tolist() == values.tolist()


def test_explainer_can_be_pickled():
    X, _, model = three_classes()
    explainer = PolynomialExplainer().fit(model)
    reduced = explainer.keep(explainer.select(7))
    copy = pickle.loads(pickle.dumps(reduced))
    assert copy.decision_function(X).tolist() == reduced.decision_function(X).tolist()
    assert copy.importance().equals(reduced.importance())


def test_explainer_is_an_estimator():
    explainer = square(feature_names=["a", "b"])
    assert repr(explainer) == "PolynomialExplainer(feature_names=['a', 'b'])"
    copy = clone(explainer)
    assert copy.get_params() == {"feature_names": ["a", "b"]}
    with pytest.raises(NotFittedError):
        copy.weights()
    assert not is_classifier(explainer)
    assert is_classifier(PolynomialExplainer().fit(binary()[2]))
    model = OneClassSVM(kernel="poly").fit(wine()[0])
    assert is_outlier_detector(explainer.set_params(feature_names=None).fit(model))


def test_a_second_fit_forgets_the_first():
    explainer = PolynomialExplainer().fit(binary()[2])
    explainer = explainer.keep(explainer.select(3))
    model = SVC(kernel="poly", degree=2, coef0=1.0).fit(np.eye(4), [0, 1, 0, 1])
    explainer.fit(model)
    assert explainer.mask_.all()
    assert explainer.n_features_in_ == 4
    assert not hasattr(explainer, "feature_names_in_")
    np.testing.assert_allclose(
        explainer.decision_function(np.eye(4)), model.decision_function(np.eye(4)), atol=1e-12
    )


def test_a_refused_fit_changes_nothing():
    explainer = square(feature_names=["a", "b"])
    with pytest.raises(ValueError, match="feature_names must be 6 different names"):
        explainer.fit(binary()[2])
    assert explainer.weights() == BY_HAND
    assert explainer.n_features_in_ == 2
