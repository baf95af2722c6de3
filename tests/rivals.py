"""Small estimators, data and a comparison with defaults: what the tests of compare share."""

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, OutlierMixin, RegressorMixin
from sklearn.dummy import DummyClassifier
from sklearn.model_selection import (
    StratifiedShuffleSplit,
)

from kernelbook.datasets import make_gaussians
from kernelbook.study import compare

X, Y = make_gaussians(80, 20, random_state=0)
TWENTY = StratifiedShuffleSplit(20, test_size=0.25, random_state=0)
THREE = StratifiedShuffleSplit(3, test_size=0.25, random_state=0)
GAMMAS = [0.1, 1.0, 10.0]


class Column(RegressorMixin, BaseEstimator):
    """Its score is the mean of one column of the test points."""

    def __init__(self, column=0, random_state=None):
        self.column = column
        self.random_state = random_state

    def fit(self, X, y):
        return self

    def predict(self, X):
        return np.asarray(X)[:, self.column]

    def score(self, X, y):
        return float(self.predict(X).mean())


class Stump(ClassifierMixin, BaseEstimator):
    """Cuts one column half way between the class means."""

    def __init__(self, column=0):
        self.column = column

    def fit(self, X, y):
        self.classes_ = np.array([0, 1])
        low, high = (X[y == label, self.column].mean() for label in (0, 1))
        self.cut_, self.sign_ = (low + high) / 2, np.sign(high - low)
        return self

    def predict(self, X):
        return ((X[:, self.column] - self.cut_) * self.sign_ > 0).astype(int)


class Witness(OutlierMixin, BaseEstimator):
    """A detector that remembers what it was fitted to."""

    def fit(self, X, y=None):
        self.seen_ = np.asarray(X), y
        return self

    def decision_function(self, X):
        return 1.0 - np.linalg.norm(np.asarray(X) - self.seen_[0].mean(axis=0), axis=1)

    def predict(self, X):
        return np.where(self.decision_function(X) >= 0, 1, -1)


def hits(estimator, X, y):
    return np.mean(estimator.predict(X) == y)


def own_score(estimator, X, y):
    return estimator.score(X, y)


def run(methods, *data, **options):
    """A comparison without what a test does not ask for."""
    defaults = {
        "select": "average_precision",
        "measures": {"AP": "average_precision"},
        "margin": {"AP": 0.02},
        "reference": next(iter(methods)),
        "baselines": (),
        "inner": 3,
        "backend": "sequential",
        "progress": False,
    }
    if "measures" in options:
        defaults["margin"] = dict.fromkeys(options["measures"], 0.02)
    return compare(methods, *data, **{**defaults, **options})


def by_method(found):
    return found.table.set_index("method")


class Chosen(DummyClassifier):
    def __init__(self, level=1.0, strategy="prior", random_state=None):
        super().__init__(strategy=strategy, random_state=random_state)
        self.level = level


def likes(level):
    return lambda estimator, X, y: -abs(estimator.estimator.level - level)


def noisy_data(random_state):
    rng = np.random.default_rng(random_state)
    points, labels = rng.normal(size=(60, 2)), np.tile([0, 0, 1], 20)
    points[labels == 1] += 1.0
    return points[:30], labels[:30], points[30:], labels[30:]


def as_bytes(found):
    return [frame.to_csv() for frame in (found.table, found.scores, found.choices)]
