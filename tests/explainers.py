"""Explainers and data that the tests of ``kernelbook.explain`` share."""

from functools import cache

import numpy as np
from sklearn.datasets import load_wine
from sklearn.svm import SVC

from kernelbook.explain import PolynomialExplainer

__all__ = ["BY_HAND", "binary", "random_explainer", "square", "three_classes", "wine"]

BY_HAND = {(0,): 2.0, (1,): 4.0, (0, 0): 1.0, (0, 1): 4.0, (1, 1): 4.0}
"""Weights of (x0 + 2 x1 + 1)^2, by hand."""


def square(**kwargs):
    """The function (x0 + 2 x1 + 1)^2."""
    return PolynomialExplainer.from_support_vectors(
        [[1.0, 2.0]], [1.0], degree=2, gamma=1.0, coef0=1.0, **kwargs
    )


def random_explainer(n=12, p=4, degree=3, coef0=0.7, **kwargs):
    """A function of n random support vectors."""
    rng = np.random.default_rng(0)
    return PolynomialExplainer.from_support_vectors(
        rng.normal(size=(n, p)),
        rng.normal(size=n),
        0.3,
        degree=degree,
        gamma=0.6,
        coef0=coef0,
        **kwargs,
    )


@cache
def wine():
    """Six standardised measurements, a DataFrame, and the names of three classes."""
    data = load_wine(as_frame=True)
    X = (data.data - data.data.mean()) / data.data.std()
    return X.iloc[:, :6], data.target_names[data.target]


@cache
def binary():
    """The second class against the others, with a fitted machine."""
    X, y = wine()
    y = np.where(y == "class_1", "second", "another")
    return X, y, SVC(kernel="poly", degree=2, coef0=1.0).fit(X, y)


@cache
def three_classes():
    """All classes, with a fitted machine."""
    X, y = wine()
    return X, y, SVC(kernel="poly", degree=3, coef0=1.0).fit(X, y)
