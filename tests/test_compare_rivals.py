"""Detectors, classifiers and baselines are compared by one rule."""

import numpy as np
import pandas as pd
import pytest
from rivals import (
    GAMMAS,
    THREE,
    Witness,
    X,
    Y,
    as_bytes,
    by_method,
    run,
)
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import average_precision_score, make_scorer, recall_score
from sklearn.model_selection import (
    RepeatedKFold,
    StratifiedShuffleSplit,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.svm import SVC

from kernelbook.datasets import make_gaussians
from kernelbook.mean_difference import ParzenWindow
from kernelbook.study._baselines import standard_baselines
from kernelbook.study._trial import Method
from kernelbook.svm import KernelSVC

# --- detectors and cut-offs ---


@pytest.mark.parametrize("labels", [np.array([0, 1]), np.array([1, -1]), np.array(["ok", "odd"])])
def test_detectors_see_targets_only_and_rank_outliers(labels):
    y, (target, outlier) = labels[Y], labels.tolist()
    positive = sorted(labels)[1]
    seen = []

    def precision(estimator, X_test, y_test):
        points, marks = estimator.estimator_.seen_
        seen.append((len(points), marks))
        raw = Witness().fit(points).decision_function(X_test)
        values = estimator.decision_function(X_test)
        assert np.array_equal(values, raw if positive == target else -raw)
        assert set(estimator.predict(X_test)) <= {target, outlier}
        assert np.array_equal(estimator.predict(X_test) == target, raw >= 0)
        return average_precision_score(y_test == positive, values)

    run(
        {"targets": (Witness(), {}), "all": (Witness(), {})},
        X,
        y,
        splits=THREE,
        n_repeats=3,
        target=target,
        measures={"AP": precision},
        with_outliers=["all"],
    )
    (n_targets, marks), (n_rows, both) = seen[:2]
    assert (n_targets, marks, n_rows) == (60, None, 75)
    assert both.tolist().count(1) == 60 and both.tolist().count(-1) == 15


def test_detectors_and_classifiers_share_the_fraction_outside():
    rates = {
        "targets": make_scorer(recall_score, pos_label=0),
        "outliers": make_scorer(recall_score, pos_label=1),
    }
    big, labels = make_gaussians(400, 100, random_state=1)
    methods = {"svm": (KernelSVC(), {}), "window": (ParzenWindow(nu=0.5), {})}
    found = run(
        methods,
        big,
        labels,
        splits=THREE,
        n_repeats=3,
        target=0,
        cutoff=0.2,
        measures=rates,
        baselines=["always 1"],
    )
    means = found.table.pivot(index="method", columns="measure", values="mean")
    assert means.loc[["svm", "window"], "targets"].to_numpy() == pytest.approx(0.8, abs=0.07)
    assert means.loc["always 1"].tolist() == [1.0, 0.0]  # outliers, targets


@pytest.mark.parametrize("target", [None, 0])
def test_a_moved_threshold_finds_the_rare_class(target):
    overlapping, labels = make_gaussians(190, 10, random_state=3)
    methods = {"svm": (LogisticRegression(), {}), "again": (LogisticRegression(C=2.0), {})}
    options = {
        "splits": StratifiedShuffleSplit(3, test_size=0.4, random_state=0),
        "n_repeats": 3,
        "measures": {"BA": "balanced_accuracy"},
    }
    own = run(methods, overlapping, labels, **options)
    moved = run(methods, overlapping, labels, cutoff="balanced_accuracy", target=target, **options)
    assert moved.table["mean"].min() > own.table["mean"].max() + 0.1


def test_threshold_lies_half_way_between_the_classes():
    class Given(ClassifierMixin, BaseEstimator):
        def fit(self, X, y):
            self.classes_ = np.unique(y)
            return self

        def decision_function(self, X):
            return X[:, 0]

        def predict(self, X):
            return self.classes_[(X[:, 0] > 0).astype(int)]

    points, y = np.r_[np.arange(10.0, 16), 18:24][:, None], np.repeat([0, 1], 6)
    thresholds = []

    def look(estimator, X_test, y_test):
        thresholds.append(estimator.threshold_)
        return 1.0

    run(
        {"a": (Given(), {})},
        splits=[(points, y, points, y)] * 2,
        n_repeats=2,
        cutoff="accuracy",
        measures={"m": look},
    )
    assert thresholds == [16.5, 16.5]  # between 15 and 18


def test_probabilities_serve_where_decision_values_lack():
    class Halves(DummyClassifier):
        def predict_proba(self, X):
            positive = np.clip(np.asarray(X)[:, 0] / 4 + 0.5, 0, 1)
            return np.column_stack([1 - positive, positive])

    found = run(
        {"a": (Halves(), {})},
        X,
        Y,
        splits=THREE,
        n_repeats=3,
        cutoff="balanced_accuracy",
        measures={"BA": "balanced_accuracy", "loss": "neg_log_loss"},
    )
    assert found.table["mean"][0] > 0.5


# --- baselines ---


def test_baselines_come_by_themselves():
    scaled = make_pipeline(StandardScaler(), KernelSVC(kernel="poly", degree=2))
    methods = {"svm": (scaled, {"kernelsvc__gamma": GAMMAS[1:]})}
    found = run(methods, X, Y, splits=THREE, n_repeats=3, inner=2, baselines=None)
    assert found.table["method"].tolist() == [
        "svm",
        "always 0",
        "always 1",
        "random",
        "KernelSVC, class weight",
        "KernelSVC, moved threshold",
        "difference of kernel means",
    ]
    assert by_method(found)["n_settings"].tolist() == [2, 1, 1, 1, 2, 2, 2]
    assert by_method(found).loc["always 1", "mean"] == pytest.approx(0.2)


def test_baselines_stand_where_the_reference_stands():
    class Sampler(FunctionTransformer):
        def fit_resample(self, X, y):
            return X, y

    machine = SVC(kernel="poly", degree=2, C=7.0)
    pipeline = make_pipeline(StandardScaler(), Sampler(), machine)
    shared = {"svc__gamma": GAMMAS, "svc__shrinking": [True]}
    found = standard_baselines(
        {"svm": Method(pipeline, shared), "detector": Method(ParzenWindow(), {"nu": [0.1, 0.2]})},
        "svm",
        np.array([0, 1]),
        0.1,
    )
    weighted = found["KernelSVC, class weight"]
    assert [name for name, _ in weighted.estimator.steps] == ["standardscaler", "svc"]
    assert repr(weighted.estimator[-1]) == repr(
        KernelSVC(7.0, kernel="poly", degree=2, class_weight="balanced")
    )
    assert (weighted.grid, weighted.cutoff) == ({"svc__gamma": GAMMAS}, 0.1)
    window = found["Parzen window"]
    assert window.grid == {"svc__nu": [0.1, 0.2], "svc__gamma": GAMMAS}
    assert found["random"].cutoff is None


def test_three_classes_in_a_frame_have_the_prior_as_baseline():
    y = np.array(["a", "b", "c"])[np.digitize(X[:, 0], [-0.5, 0.5])]
    options = {"splits": THREE, "n_repeats": 3, "select": "accuracy", "baselines": None}
    options["measures"] = {"accuracy": "accuracy", "loss": "neg_log_loss", "AUC": "roc_auc_ovr"}
    methods = {"logistic": (LogisticRegression(), {"C": [0.1, 1.0]})}
    found = run(methods, pd.DataFrame(X, columns=["u", "v"]), pd.Series(y), **options)
    names = ["logistic", "always a", "always b", "always c", "random"]
    assert found.table["method"].tolist() == names * 3
    assert as_bytes(found) == as_bytes(run(methods, X, y, **options))


def test_a_baseline_that_is_among_the_methods_comes_once():
    methods = {
        "ours": (KernelSVC(class_weight="balanced"), {"gamma": GAMMAS}),
        "random": (LogisticRegression(), {}),
    }
    found = run(methods, X, Y, splits=THREE, n_repeats=3, inner=2, baselines=None)
    names = found.table["method"].tolist()
    assert "KernelSVC, class weight" not in names
    assert names.count("random") == 1
    assert by_method(found).loc["random", "mean"] > 0.4


def test_detectors_bring_the_window_and_regressors_the_mean():
    found = run({"a": (Witness(), {})}, X, Y, splits=THREE, n_repeats=3, target=0, baselines=None)
    assert found.table["method"].tolist() == [
        "a",
        "always 0",
        "always 1",
        "random",
        "Parzen window",
    ]
    z = X[:, 0] + 0.1 * X[:, 1]
    found = run(
        {"ridge": (Ridge(), {"alpha": [0.1, 1.0, 10.0]})},
        X,
        z,
        splits=RepeatedKFold(n_splits=2, n_repeats=10, random_state=0),
        n_repeats=10,
        select="r2",
        measures={"R2": "r2", "error": "neg_mean_absolute_error"},
        baselines=None,
    )
    assert found.table["method"].tolist() == ["ridge", "mean"] * 2
    assert found.table["verdict"].tolist() == ["reference", "worse"] * 2
    assert found.table["changed"].isna().all()
    assert found.table["n"].tolist() == [20] * 4
