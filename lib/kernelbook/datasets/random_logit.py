"""Logistic labels with random coefficients, and the best decision function for them."""

from __future__ import annotations

from typing import Literal, get_args, overload

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit, logsumexp, ndtr
from sklearn.utils import check_array, check_random_state

from kernelbook.datasets._checks import Labels, Matrix, RandomState, Sample, two_classes
from kernelbook.validation import check_number

INTERCEPT = -31.0
SLOPES = (0.96, 0.8, 1.0, 0.8)
INFORMATIVE = len(SLOPES)
MINORITY = 0.1

Redraw = Literal["observation", "data_set"]


@overload
def make_random_logit(  # numpydoc ignore=GL08
    n_samples: int = ..., *, n_features: int = ..., variance: float = ..., redraw: Redraw = ...,
    return_component: Literal[False] = ..., random_state: RandomState = ...,
) -> Sample: ...  # fmt: skip
@overload
def make_random_logit(  # numpydoc ignore=GL08
    n_samples: int = ..., *, n_features: int = ..., variance: float = ..., redraw: Redraw = ...,
    return_component: Literal[True], random_state: RandomState = ...,
) -> tuple[Matrix, Labels, Labels]: ...  # fmt: skip
def make_random_logit(
    n_samples: int = 1000,
    *,
    n_features: int = 50,
    variance: float = 5.0,
    redraw: Redraw = "observation",
    return_component: bool = False,
    random_state: RandomState = None,
) -> Sample | tuple[Matrix, Labels, Labels]:
    r"""Draw labels with random coefficients, which bury the signal: 50 features, 4 of use.

    A tenth of the points belongs to component 1, whose first four features have the mean 10; the
    others to component 0, with the mean 7; all four have the variance 2, and the remaining
    features are N(0, 1). The label is drawn, not taken from the component:

    .. math:: P(y{=}1 \mid x, \beta) = \frac1{1 + e^{-\eta}}, \quad
              \eta = -31 + \sum_{j \le 4} \beta_j x_j, \quad \beta_j \sim N(b_j, v),

    with the means b = (0.96, 0.8, 1, 0.8).

    Parameters
    ----------
    n_samples : int, default=1000
        Number of points.
    n_features : int, default=50
        Dimension, at least 4; all features but the first four are noise.
    variance : float, default=5.0
        The variance v >= 0 (not a standard deviation). With v = 0 the label follows the component,
        except for 2.6 % and 6.9 % of components 0 and 1.
    redraw : {'observation', 'data_set'}, default='observation'
        Whether each observation has coefficients of its own, or the data set one draw of them.
    return_component : bool, default=False
        Whether to return the components as well.
    random_state : int, RandomState or None, default=None
        Seed of the sample.

    Returns
    -------
    X : ndarray of shape (n_samples, n_features)
        The points, those of component 0 first.
    y : ndarray of int
        Labels 0 and 1.
    component : ndarray of int
        Components 0 and 1, only with ``return_component=True``.

    See Also
    --------
    bayes_random_logit : The best decision function, for coefficients per observation.

    Notes
    -----
    The generator of a comparison of Bayesian descriptions [Kim2024]_, with its means and variances.
    That component 1 has a tenth of the points is our reading of its imbalance ratio, 1/10. Whether
    coefficients are drawn per observation is not stated there. If they are, the fraction of class 1
    is .433, .452 and .466 for v = 5, 10 and 20, not the stated 1/10, and the best possible
    accuracies are .575, .554 and .538.

    References
    ----------
    [Kim2024]_

    Examples
    --------
    >>> X, y, component = make_random_logit(1000, return_component=True, random_state=0)
    >>> X.shape, int(component.sum()), bool(y.mean() > 0.35)
    ((1000, 50), 100, True)
    """
    n_samples = check_number(n_samples, "n_samples", low=1, integer=True)
    n_features = check_number(n_features, "n_features", low=INFORMATIVE, integer=True)
    variance = check_number(variance, "variance", low=0)
    if redraw not in get_args(Redraw):
        raise ValueError(f"redraw must be 'observation' or 'data_set', got {redraw!r}.")
    random = check_random_state(random_state)
    n_minority = round(MINORITY * n_samples)
    component = two_classes(majority=n_samples - n_minority, minority=n_minority)
    X = random.standard_normal((n_samples, n_features))
    informative = X[:, :INFORMATIVE]
    informative *= np.sqrt(2.0)
    informative += np.where(component, 10.0, 7.0)[:, None]
    draws = n_samples if redraw == "observation" else 1
    beta = SLOPES + np.sqrt(variance) * random.standard_normal((draws, INFORMATIVE))
    eta = INTERCEPT + (beta * informative).sum(axis=1)
    y = (random.uniform(size=n_samples) < expit(eta)).astype(np.int64)
    return (X, y, component) if return_component else (X, y)


def bayes_random_logit(X: ArrayLike, *, variance: float = 5.0) -> Matrix:
    r"""Compute the log posterior odds of class 1 for :func:`make_random_logit`.

    Each observation has coefficients of its own. Given x, :math:`\eta` is Gaussian with mean
    :math:`\mu = -31 + \sum_{j \le 4} b_j x_j` and variance :math:`v \sum_{j \le 4} x_j^2`, so
    that the odds are those of :math:`P = E\,[1 / (1 + e^{-\eta})]`.

    Parameters
    ----------
    X : array-like of shape (n, d)
        Points.
    variance : float, default=5.0
        As given to :func:`make_random_logit`.

    Returns
    -------
    ndarray of shape (n,)
        Positive where class 1 is the better guess, that is where :math:`\mu > 0`.

    Examples
    --------
    >>> bayes_random_logit([[10.0] * 4, [7.0] * 4], variance=0.0).round(2)
    array([ 4.6 , -6.08])
    """
    variance = check_number(variance, "variance", low=0)
    X = check_array(X, dtype=np.float64)[:, :INFORMATIVE]
    if X.shape[1] < INFORMATIVE:
        raise ValueError(f"X must have at least {INFORMATIVE} features, got {X.shape[1]}.")
    mean = INTERCEPT + X @ np.array(SLOPES)
    deviation = np.sqrt(variance * np.sum(X**2, axis=1))
    odds = np.empty(len(X))
    narrow = deviation < 1.0
    # Integrate over the smoother of the two factors: the Gaussian, or the logistic density.
    z, weight = np.polynomial.hermite_e.hermegauss(40)
    eta = mean[narrow, None] + deviation[narrow, None] * z
    odds[narrow] = logsumexp(-np.logaddexp(0.0, -eta), b=weight, axis=1)
    odds[narrow] -= logsumexp(-np.logaddexp(0.0, eta), b=weight, axis=1)
    # With poles at i pi the sum at steps of 1/2 is the integral to exp(-4 pi^2).
    t = np.linspace(-60.0, 60.0, 241)
    density = expit(t) * expit(-t)
    for i in np.flatnonzero(~narrow):
        standard = (mean[i] - t) / deviation[i]
        odds[i] = np.log(ndtr(standard) @ density) - np.log(ndtr(-standard) @ density)
    return odds
