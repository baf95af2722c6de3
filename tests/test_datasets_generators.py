"""Samples have the distribution their docstring states; best decisions are the best."""

import inspect

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import erf, expit
from scipy.stats import ncx2, norm
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

from kernelbook import datasets

GENERATORS = [name for name in datasets.__all__ if name.startswith("make_")]
BAND = 4.5  # standard deviations of a binomial fraction: a true statement fails once in 100,000


@pytest.mark.parametrize("name", GENERATORS)
def test_sample_depends_on_its_random_state_only(name):
    make = getattr(datasets, name)
    X, y = make(random_state=5)
    again = make(random_state=np.random.RandomState(5))
    np.testing.assert_array_equal(X, again[0])
    np.testing.assert_array_equal(y, again[1])
    assert not np.array_equal(X, make(random_state=6)[0])
    np.random.seed(7)
    state = np.random.get_state()[1].copy()
    make(random_state=5)
    np.testing.assert_array_equal(np.random.get_state()[1], state)
    assert X.ndim == 2 and len(X) == len(y) and np.isfinite(X).all()


@pytest.mark.parametrize("name", GENERATORS)
def test_wrong_sizes_are_named(name):
    make = getattr(datasets, name)
    size = next(iter(inspect.signature(make).parameters))
    for wrong in (-1, 2.5, "10"):
        with pytest.raises(ValueError, match=size):
            make(**{size: wrong})


@pytest.mark.parametrize(
    ("make", "options"),
    [
        (datasets.make_separable, {"margin": 0.0}),
        (datasets.make_gaussians, {"distance": -1.0}),
        (datasets.make_gaussians, {"n_features": 0}),
        (datasets.make_banana, {"noise": float("nan")}),
        (datasets.make_sinc, {"noise": -0.1}),
        (datasets.make_ringnorm, {"shift": -2.0}),
        (datasets.make_twonorm, {"n_features": 0}),
        (datasets.make_random_logit, {"n_features": 3}),
        (datasets.make_random_logit, {"variance": -1.0}),
        (datasets.make_random_logit, {"redraw": "point"}),
    ],
)
def test_wrong_options_are_named(make, options):
    with pytest.raises(ValueError, match=next(iter(options))):
        make(**options)


def test_empty_sample_is_refused():
    with pytest.raises(ValueError, match="n_negative"):
        datasets.make_gaussians(0, 0)


def test_separable_classes_leave_the_strip_empty():
    X, y = datasets.make_separable(200, 100, margin=0.6, random_state=0)
    height = X @ np.array([np.cos(np.pi / 3), np.sin(np.pi / 3)])
    assert height[y == 1].min() >= 0.3 and height[y == 0].max() <= -0.3
    assert height[y == 1].min() < 0.35  # the strip is not wider than asked by much
    assert (y == 1).sum() == 100


def error_band(error, n):
    return BAND * np.sqrt(error * (1 - error) / n)


@pytest.mark.parametrize(("share", "stated"), [(0.5, 0.159), (0.1, 0.0704)])
def test_gaussians_have_the_stated_bayes_error(share, stated):
    n, delta = 40_000, 2.0
    t = -np.log(share / (1 - share)) / delta
    error = share * norm.cdf(t - delta / 2) + (1 - share) * norm.cdf(-t - delta / 2)
    assert error == pytest.approx(stated, abs=5e-4)
    X, y = datasets.make_gaussians(int(n * (1 - share)), int(n * share), random_state=0)
    guess = datasets.bayes_gaussians(X, prior=share) > 0
    assert abs(np.mean(guess != y) - error) < error_band(error, n)
    assert np.mean((datasets.bayes_gaussians(X) > 0) != y) >= np.mean(guess != y)


def test_bayes_gaussians_refuses_a_prior_without_both_classes():
    for prior in (0.0, 1.0, float("nan")):
        with pytest.raises(ValueError, match="prior"):
            datasets.bayes_gaussians([[0.0]], prior=prior)


def test_twonorm_errs_with_phi_of_minus_2_in_any_dimension():
    for d, seed in ((20, 0), (3, 1)):
        X, y = datasets.make_twonorm(40_000, n_features=d, random_state=seed)
        error = np.mean((datasets.bayes_twonorm(X) > 0) != y)
        assert abs(error - norm.cdf(-2)) < error_band(norm.cdf(-2), 40_000)


def ringnorm_error(shift, d=20):
    """Both classes see the ball |x - 4a/3| < R: two non-central chi-square probabilities."""
    radius2 = 4 / 3 * (2 * d * np.log(2) + shift**2 / 3)
    outside = ncx2.sf(radius2, d, shift**2 / 9)
    inside = ncx2.cdf(radius2 / 4, d, 4 * shift**2 / 9)
    return (outside + inside) / 2


@pytest.mark.parametrize(("shift", "stated"), [(2.0, 0.01240), (1.0, 0.01497)])
def test_ringnorm_has_the_stated_bayes_error(shift, stated):
    error = ringnorm_error(shift)
    assert error == pytest.approx(stated, abs=5e-6)
    X, y = datasets.make_ringnorm(60_000, shift=shift, random_state=0)
    found = np.mean((datasets.bayes_ringnorm(X, shift=shift) > 0) != y)
    assert abs(found - error) < error_band(error, 60_000)


def test_bayes_decisions_are_log_ratios_of_densities():
    X = np.random.RandomState(0).standard_normal((5, 4)) * 2
    ring = norm(1, 1).logpdf(X).sum(axis=1) - norm(0, 2).logpdf(X).sum(axis=1)
    np.testing.assert_allclose(datasets.bayes_ringnorm(X), ring, rtol=1e-12)
    two = norm(1, 1).logpdf(X).sum(axis=1) - norm(-1, 1).logpdf(X).sum(axis=1)
    np.testing.assert_allclose(datasets.bayes_twonorm(X), two, rtol=1e-12)


def waves():
    i = np.arange(1, 22)
    return [np.maximum(6 - abs(i - c), 0.0) for c in (11, 15, 7)]


@pytest.mark.parametrize("far", [0.0, 3.0])
def test_waveform_likelihood_equals_quadrature(far):
    X, _ = datasets.make_waveform(3, random_state=2)
    X = X + far
    h = waves()
    for x, values in zip(X, datasets.bayes_waveform(X), strict=True):
        for value, (a, b) in zip(values, ((0, 1), (0, 2), (1, 2)), strict=True):

            def exponent(u, x=x, a=a, b=b):
                return -np.sum((x - u * h[a] - (1 - u) * h[b]) ** 2) / 2

            top = max(exponent(u) for u in np.linspace(0, 1, 201))
            integral = quad(lambda u, f=exponent, top=top: np.exp(f(u) - top), 0, 1)[0]
            assert value == pytest.approx(top + np.log(integral), rel=1e-9)


def test_waveform_likelihood_is_finite_far_away():
    X = 1e4 * np.vstack([waves()[0] - waves()[1], waves()[1], np.ones(21)])
    assert np.isfinite(datasets.bayes_waveform(X)).all()
    assert np.isfinite(datasets.bayes_waveform(X, binary=True)).all()


def test_waveform_errors_single_out_class_3():
    n = 40_000
    X, y = datasets.make_waveform(n, random_state=0)
    likelihood = np.exp(datasets.bayes_waveform(X))
    assert abs(np.mean(likelihood.argmax(axis=1) + 1 != y) - 0.133) < error_band(0.133, n)
    for label, stated in ((1, 0.0826), (2, 0.0826), (3, 0.1007)):
        own = likelihood[:, label - 1]
        guess = own > likelihood.sum(axis=1) - own
        assert abs(np.mean(guess != (y == label)) - stated) < error_band(stated, n)
    assert 2 * error_band(0.1007, n) < 0.1007 - 0.0826  # the readings can be told apart


def test_binary_waveform_is_class_1_against_the_rest():
    X, y = datasets.make_waveform(500, random_state=1)
    X_binary, y_binary = datasets.make_waveform(500, binary=True, random_state=1)
    np.testing.assert_array_equal(X, X_binary)
    np.testing.assert_array_equal(y_binary, y == 1)
    odds = datasets.bayes_waveform(X, binary=True)
    likelihood = np.exp(datasets.bayes_waveform(X))
    np.testing.assert_allclose(
        odds, np.log(likelihood[:, 0] / (likelihood[:, 1] + likelihood[:, 2])), rtol=1e-9, atol=1e-9
    )


def test_waveform_classes_are_equally_likely_around_their_waves():
    X, y = datasets.make_waveform(30_000, random_state=4)
    h = waves()
    for label, (a, b) in enumerate(((0, 1), (0, 2), (1, 2)), start=1):
        own = X[y == label]
        assert abs(len(own) / len(X) - 1 / 3) < error_band(1 / 3, len(X))
        spread = np.sqrt(1 + (h[a] - h[b]) ** 2 / 12)
        mean_error = np.abs(own.mean(axis=0) - (h[a] + h[b]) / 2)
        assert (mean_error < BAND * spread / np.sqrt(len(own))).all()


def test_waveform_decision_needs_21_features():
    with pytest.raises(ValueError, match="21 features, got 20"):
        datasets.bayes_waveform(np.zeros((1, 20)))


def test_bell_has_the_stated_share_of_positives():
    share = 1 / 2 - np.sqrt(np.pi) * erf(2) / 8
    assert share == pytest.approx(0.2795, abs=5e-5)
    _, y = datasets.make_bell(40_000, random_state=0)
    assert abs(y.mean() - share) < error_band(share, 40_000)


def test_sinc_is_sine_over_x_and_1_at_zero():
    X, y = datasets.make_sinc(300, noise=0.0, random_state=0)
    np.testing.assert_allclose(y, np.sin(X[:, 0]) / X[:, 0], rtol=1e-12, atol=1e-15)
    assert (np.diff(X[:, 0]) > 0).all() and np.abs(X).max() <= 10
    _, noisy = datasets.make_sinc(20_000, noise=0.3, random_state=0)
    X, clean = datasets.make_sinc(20_000, noise=0.0, random_state=0)
    assert np.std(noisy - clean) == pytest.approx(0.3, rel=BAND / np.sqrt(40_000))


def test_banana_lies_on_its_arc_and_outliers_on_the_square():
    X, y = datasets.make_banana(3000, 500, noise=0.0, random_state=0)
    arc, outliers = X[y == 1], X[y == -1]
    assert len(arc) == 3000 and len(outliers) == 500
    np.testing.assert_allclose(np.linalg.norm(arc, axis=1), 1.0, rtol=1e-12)
    assert arc[:, 1].min() >= -np.sin(np.pi / 8) - 1e-12
    assert np.abs(outliers).max() <= 2.0 and np.abs(outliers).max() > 1.9


# Prevalence, best accuracy and best AUC that the audit of the slides found.
@pytest.mark.parametrize(
    ("variance", "prevalence", "accuracy", "auc"),
    [
        (0.0, 0.116, 0.973, None),
        (5.0, 0.433, 0.575, 0.558),
        (10.0, 0.452, 0.554, 0.541),
        (20.0, 0.466, 0.538, 0.530),
    ],
)
def test_random_coefficients_bury_the_signal(variance, prevalence, accuracy, auc):
    n = 40_000
    X, y, component = datasets.make_random_logit(
        n, n_features=5, variance=variance, return_component=True, random_state=0
    )
    odds = datasets.bayes_random_logit(X, variance=variance)
    band = 5 * np.sqrt(0.25 / n)
    assert component.sum() == n // 10 and (np.diff(component) >= 0).all()
    assert abs(y.mean() - prevalence) < band
    assert abs(np.mean((odds > 0) == y) - accuracy) < band
    if auc is not None:
        assert abs(roc_auc_score(y, odds) - auc) < 2 * band
        assert abs(np.mean(y == component) - accuracy) < band
    chance = expit(odds)
    assert abs(y.mean() - chance.mean()) < band
    means = [X[component == c].mean(axis=0) for c in (0, 1)]
    np.testing.assert_allclose(means, [[7] * 4 + [0], [10] * 4 + [0]], atol=0.15)
    np.testing.assert_allclose(X[component == 0].var(axis=0), [2] * 4 + [1], rtol=0.1)


def test_mean_coefficients_are_the_printed_ones():
    odds = datasets.bayes_random_logit(np.eye(4), variance=0.0)
    np.testing.assert_allclose(odds + 31, [0.96, 0.8, 1.0, 0.8], atol=1e-12)
    X, y = datasets.make_random_logit(40_000, variance=0.0, random_state=0)
    slopes = LogisticRegression(C=np.inf).fit(X[:, :4], y).coef_[0]
    np.testing.assert_allclose(slopes, [0.96, 0.8, 1.0, 0.8], atol=0.1)


def test_one_draw_of_coefficients_leaves_the_classes_apart():
    shares = [
        datasets.make_random_logit(500, redraw="data_set", random_state=seed)[1].mean()
        for seed in range(40)
    ]
    assert np.mean([min(s, 1 - s) < 0.1 for s in shares]) > 0.5
    assert 0.25 < np.mean(shares) < 0.7


def test_odds_of_random_coefficients_equal_a_fine_integral():
    X = np.vstack([np.full((1, 4), c) for c in (0.05, 0.12, 7.0, 10.0)])
    z = np.linspace(-9.0, 9.0, 20_001)
    weight = np.exp(-(z**2) / 2)
    for variance in (1.0, 5.0, 20.0):
        odds = datasets.bayes_random_logit(X, variance=variance)
        for x, value in zip(X, odds, strict=True):
            eta = -31 + x @ [0.96, 0.8, 1.0, 0.8] + np.sqrt(variance * (x @ x)) * z
            p, q = (weight @ expit(s * eta) for s in (1, -1))
            assert abs(value - np.log(p / q)) < 1e-6
    with pytest.raises(ValueError, match="at least 4 features"):
        datasets.bayes_random_logit(np.zeros((1, 3)))
