"""Kernel Fisher discriminants in use: published errors, kernels, refits, wrong arguments."""

import pickle
import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from samples import PENALTIES, blobs, named
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from kernelbook.datasets import make_ringnorm, make_twonorm
from kernelbook.exceptions import NotPositiveSemidefiniteError
from kernelbook.fisher import KernelFisherDiscriminant
from kernelbook.kernels import rbf

# Use


@pytest.mark.parametrize(("make", "published"), [(make_twonorm, 0.026), (make_ringnorm, 0.015)])
def test_error_rates_come_near_the_published_ones(make, published):
    # A mean of 4 samples; one has a standard deviation of .002 and the settings are not tuned.
    X_test, y_test = make(3000, random_state=100)
    errors = []
    for seed in range(4):
        X, y = make(400, random_state=seed)
        machine = KernelFisherDiscriminant(gamma="scale").fit(X, y)
        errors.append((machine.predict(X_test) != y_test).mean())
    assert abs(np.mean(errors) - published) < 0.008


def test_precomputed_and_callable_kernels_equal_the_named_one():
    (X, y), (new, _) = blobs(), blobs(12, seed=1)
    K, K_new = rbf(X, gamma=0.4), rbf(new, X, gamma=0.4)
    unchanged = K.copy()
    for penalty in PENALTIES:
        named = KernelFisherDiscriminant(gamma=0.4, penalty=penalty).fit(X, y)
        matrix = KernelFisherDiscriminant("precomputed", penalty=penalty).fit(K, y)
        called = KernelFisherDiscriminant(lambda A, B: rbf(A, B, gamma=0.4), penalty=penalty).fit(
            X, y
        )
        expected = named.decision_function(new)
        assert_allclose(matrix.decision_function(K_new), expected, rtol=1e-8)
        assert_allclose(called.decision_function(new), expected, rtol=1e-8)
    assert_array_equal(K, unchanged)


def test_string_labels_grid_search_and_pickle():
    X, y = blobs()
    labels = np.where(y == 1, "rare", "common")
    pipeline = make_pipeline(StandardScaler(), KernelFisherDiscriminant())
    grid = {
        "kernelfisherdiscriminant__gamma": [0.1, 1.0],
        "kernelfisherdiscriminant__reg": [0.1, "loo"],
    }
    search = GridSearchCV(pipeline, grid, cv=3, error_score="raise").fit(X, labels)
    copy = pickle.loads(pickle.dumps(search.best_estimator_))
    assert set(copy.predict(X)) == {"common", "rare"}
    positive = copy.decision_function(X) > 0
    assert_array_equal(copy.predict(X) == "rare", positive)


def test_n_components_limits_the_projection_only():
    X, y = blobs(classes=4)
    every, one = (KernelFisherDiscriminant(gamma=0.3, n_components=k).fit(X, y) for k in (None, 1))
    assert every.transform(X).shape == (45, 3)
    assert_array_equal(one.transform(X), every.transform(X)[:, :1])
    assert_array_equal(one.predict(X), every.predict(X))
    assert one.get_feature_names_out().tolist() == ["kernelfisherdiscriminant0"]


def test_attributes_of_two_classes_end_at_a_refit_with_three():
    machine = KernelFisherDiscriminant().fit(*blobs())
    n_plus, n = blobs()[1].sum(), 45
    expected = machine.eigenvalues_[0] * n / (n_plus * (n - n_plus))
    assert_allclose(machine.rayleigh_quotient_, expected, rtol=1e-12)
    assert machine.alpha_.shape == (45,)
    machine.fit(*blobs(classes=3))
    assert not hasattr(machine, "rayleigh_quotient_")
    assert machine.alpha_.shape == (45, 2)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"reg": 0.0}, named("reg", 0.0)),
        ({"reg": -1.0}, named("reg", -1.0)),
        ({"reg": np.nan}, named("reg", np.nan)),
        ({"reg": True}, named("reg", True)),
        ({"reg": "cv"}, named("reg", "cv")),
        ({"reg": "loo", "penalty": "coef"}, "penalty='norm' only"),
        ({"penalty": "l2"}, named("penalty", "l2")),
        ({"priors": "uniform"}, named("priors", "uniform")),
        ({"priors": [0.5, 0.6]}, "priors must be 2 positive numbers that sum to 1"),
        ({"priors": [1.0]}, "priors must be 2 positive numbers"),
        ({"priors": [0.0, 1.0]}, "priors must be 2 positive numbers"),
        ({"n_components": 2}, "n_components must be .* n_classes - 1 = 1"),
        ({"n_components": 0}, named("n_components", 0)),
        ({"kernel": "cosine"}, named("kernel", "cosine")),
        ({"gamma": 0.0}, named("gamma", 0.0)),
    ],
    ids=str,
)
def test_wrong_parameters_are_named_and_leave_no_trace(parameters, message):
    machine = KernelFisherDiscriminant(**parameters)
    before = dict(vars(machine))
    with pytest.raises(ValueError, match=message):
        machine.fit(*blobs())
    assert vars(machine) == before


def test_wrong_data_is_refused():
    X, y = blobs()
    with pytest.raises(ValueError, match=r"one class only \('low'\): a discriminant needs"):
        KernelFisherDiscriminant().fit(X, np.full(45, "low"))
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        KernelFisherDiscriminant().fit(X, y[1:])
    with pytest.raises(ValueError, match="Unknown label type"):
        KernelFisherDiscriminant().fit(X, np.linspace(0, 1, 45))
    with pytest.raises(ValueError, match="nothing to choose by"):
        KernelFisherDiscriminant(reg="loo").fit(np.ones((4, 2)), [0, 1, 0, 1])
    with pytest.raises(NotPositiveSemidefiniteError, match="smallest eigenvalue"):
        KernelFisherDiscriminant("precomputed").fit([[1.0, 3.0], [3.0, 1.0]], [0, 1])
    with pytest.raises(ValueError, match="overflows"):
        KernelFisherDiscriminant("poly", degree=9, coef0=1.0, gamma=1.0).fit(X * 1e40, y)


def test_nothing_is_printed(capfd):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        X, y = blobs(classes=3)
        for penalty in PENALTIES:
            KernelFisherDiscriminant(penalty=penalty).fit(X, y).predict(X)
            KernelFisherDiscriminant("linear", penalty=penalty).fit(np.ones((45, 2)), y).predict(
                X[:, :2]
            )
    out = capfd.readouterr()
    assert (out.out, out.err) == ("", "")
