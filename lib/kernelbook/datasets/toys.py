"""Small samples for pictures: two classes in the plane, a bent cloud, a noisy curve."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_array, check_random_state

from kernelbook.datasets._checks import Matrix, RandomState, Sample, two_classes
from kernelbook.validation import check_number


def make_separable(
    n_negative: int = 20,
    n_positive: int = 20,
    *,
    margin: float = 1.0,
    random_state: RandomState = None,
) -> Sample:
    r"""Draw two classes in the plane on the two sides of a strip that holds no point.

    With the unit normal :math:`w = (\cos 60°, \sin 60°)` and its orthogonal :math:`v`,

    .. math:: x = t v \pm (m/2 + |z|)\, w, \quad t \sim U(-2, 2),\; z \sim N(0, 1),

    with the sign + for class 1.

    Parameters
    ----------
    n_negative, n_positive : int
        Numbers of points of class 0 and of class 1.
    margin : float, default=1.0
        Width m > 0 of the empty strip: the largest margin :math:`2/\|w\|` of a hyperplane is at
        least that.
    random_state : int, RandomState or None, default=None
        Seed of the sample.

    Returns
    -------
    X : ndarray of shape (n_negative + n_positive, 2)
        The points.
    y : ndarray of int
        Labels 0 and 1, all of class 0 first.

    Examples
    --------
    >>> X, y = make_separable(3, 2, random_state=0)
    >>> (X @ [0.5, 0.75**0.5] >= 0).astype(int)
    array([0, 0, 0, 1, 1])
    """
    y = two_classes(n_negative=n_negative, n_positive=n_positive)
    margin = check_number(margin, "margin", low=0, inclusive="neither")
    random = check_random_state(random_state)
    along = random.uniform(-2.0, 2.0, len(y))
    across = (2 * y - 1) * (margin / 2 + np.abs(random.standard_normal(len(y))))
    normal = np.array([0.5, np.sqrt(0.75)])
    orthogonal = np.array([normal[1], -normal[0]])
    return np.outer(along, orthogonal) + np.outer(across, normal), y


def make_gaussians(
    n_negative: int = 450,
    n_positive: int = 50,
    *,
    distance: float = 2.0,
    n_features: int = 2,
    random_state: RandomState = None,
) -> Sample:
    r"""Draw two overlapping Gaussian classes of given sizes.

    Class 0 is :math:`N(-\tfrac\delta2 e_1, I)`, class 1 is :math:`N(+\tfrac\delta2 e_1, I)`.
    If a fraction p of the points is positive, the best decision is positive for
    :math:`x_1 > t = -\log\{p/(1-p)\}/\delta` and errs with probability

    .. math:: p\,\Phi(t - \delta/2) + (1 - p)\,\Phi(-t - \delta/2),

    0.159 for p = 1/2 and 0.0704 for p = 1/10 at the distance 2.

    Parameters
    ----------
    n_negative, n_positive : int
        Numbers of points of class 0 and of class 1.
    distance : float, default=2.0
        Distance :math:`\delta \ge 0` of the two means, in standard deviations.
    n_features : int, default=2
        Dimension; all features but the first are noise.
    random_state : int, RandomState or None, default=None
        Seed of the sample.

    Returns
    -------
    X : ndarray of shape (n_negative + n_positive, n_features)
        The points.
    y : ndarray of int
        Labels 0 and 1, all of class 0 first.

    See Also
    --------
    bayes_gaussians : The best decision function.

    Examples
    --------
    >>> X, y = make_gaussians(90, 10, random_state=0)
    >>> X.shape, int(y.sum())
    ((100, 2), 10)
    """
    y = two_classes(n_negative=n_negative, n_positive=n_positive)
    n_features = check_number(n_features, "n_features", low=1, integer=True)
    distance = check_number(distance, "distance", low=0)
    X = check_random_state(random_state).standard_normal((len(y), n_features))
    X[:, 0] += (y - 0.5) * distance
    return X, y


def bayes_gaussians(X: ArrayLike, *, distance: float = 2.0, prior: float = 0.5) -> Matrix:
    r"""Compute the log posterior odds of class 1 for :func:`make_gaussians`.

    .. math:: \delta x_1 + \log\{p/(1-p)\}

    Parameters
    ----------
    X : array-like of shape (n, d)
        Points.
    distance : float, default=2.0
        As given to :func:`make_gaussians`.
    prior : float, default=0.5
        Probability p of class 1, in (0, 1).

    Returns
    -------
    ndarray of shape (n,)
        Positive where class 1 is the better guess.

    Examples
    --------
    >>> bayes_gaussians([[1.0, 7.0], [-0.5, 0.0]], distance=2.0)
    array([ 2., -1.])
    """
    prior = check_number(prior, "prior", low=0, high=1, inclusive="neither")
    distance = check_number(distance, "distance", low=0)
    return distance * check_array(X, dtype=np.float64)[:, 0] + np.log(prior / (1 - prior))


def make_banana(
    n_samples: int = 200,
    n_outliers: int = 0,
    *,
    noise: float = 0.2,
    random_state: RandomState = None,
) -> Sample:
    r"""Draw a bent cloud in the plane and outliers around it, for the description of one class.

    .. math:: x = (\cos\theta, \sin\theta) + \sigma z, \quad
              \theta \sim U(-\tfrac{\pi}{8}, \tfrac{9\pi}{8}),\; z \sim N(0, I);

    outliers are uniform on the square from -2 to 2, so a few of them fall on the arc.

    Parameters
    ----------
    n_samples : int, default=200
        Number of points of the arc.
    n_outliers : int, default=0
        Number of outliers.
    noise : float, default=0.2
        Standard deviation :math:`\sigma \ge 0`; the arc has the radius 1.
    random_state : int, RandomState or None, default=None
        Seed of the sample.

    Returns
    -------
    X : ndarray of shape (n_samples + n_outliers, 2)
        The points, those of the arc first.
    y : ndarray of int
        1 for the arc and -1 for outliers, as novelty detectors predict.

    Examples
    --------
    >>> X, y = make_banana(4, 2, noise=0.0, random_state=0)
    >>> y.tolist(), (X[:4] ** 2).sum(axis=1).round(12).tolist()
    ([1, 1, 1, 1, -1, -1], [1.0, 1.0, 1.0, 1.0])
    """
    is_outlier = two_classes(n_samples=n_samples, n_outliers=n_outliers)
    noise = check_number(noise, "noise", low=0)
    random = check_random_state(random_state)
    theta = random.uniform(-np.pi / 8, 9 * np.pi / 8, n_samples)
    arc = np.column_stack([np.cos(theta), np.sin(theta)])
    arc += noise * random.standard_normal((n_samples, 2))
    outliers = random.uniform(-2.0, 2.0, (n_outliers, 2))
    return np.vstack([arc, outliers]), 1 - 2 * is_outlier


def make_bell(n_samples: int = 100, *, random_state: RandomState = None) -> Sample:
    r"""Draw points uniform on a square, class 1 above a bell curve.

    The square is :math:`[-1, 1]^2`, the curve :math:`x_2 = e^{-4 x_1^2}`.

    The toy, as we know it, of papers on conformal transformation of a kernel [Williams2007]_. A
    fraction of
    :math:`\tfrac12 - \tfrac18\sqrt\pi\,\mathrm{erf}(2) = 0.2795` is of class 1; no error is
    unavoidable.

    Parameters
    ----------
    n_samples : int, default=100
        Number of points.
    random_state : int, RandomState or None, default=None
        Seed of the sample.

    Returns
    -------
    X : ndarray of shape (n_samples, 2)
        The points.
    y : ndarray of int
        Labels 0 and 1.

    References
    ----------
    [Williams2007]_

    Examples
    --------
    >>> import numpy as np
    >>> X, y = make_bell(5, random_state=0)
    >>> bool(((X[:, 1] > np.exp(-4 * X[:, 0] ** 2)) == y).all())
    True
    """
    n_samples = check_number(n_samples, "n_samples", low=1, integer=True)
    X = check_random_state(random_state).uniform(-1.0, 1.0, (n_samples, 2))
    return X, (X[:, 1] > np.exp(-4 * X[:, 0] ** 2)).astype(np.int64)


def make_sinc(
    n_samples: int = 100, *, noise: float = 0.1, random_state: RandomState = None
) -> tuple[Matrix, Matrix]:
    r"""Draw the regression toy :math:`y = \sin(x)/x + \sigma z`, x uniform on [-10, 10].

    Parameters
    ----------
    n_samples : int, default=100
        Number of points.
    noise : float, default=0.1
        Standard deviation :math:`\sigma \ge 0` of the Gaussian noise.
    random_state : int, RandomState or None, default=None
        Seed of the sample.

    Returns
    -------
    X : ndarray of shape (n_samples, 1)
        In ascending order, so that a curve can be drawn through predictions.
    y : ndarray of shape (n_samples,)
        The noisy values.

    Examples
    --------
    >>> import numpy as np
    >>> X, y = make_sinc(5, noise=0.0, random_state=0)
    >>> bool(np.allclose(y * X[:, 0], np.sin(X[:, 0])))
    True
    """
    n_samples = check_number(n_samples, "n_samples", low=1, integer=True)
    noise = check_number(noise, "noise", low=0)
    random = check_random_state(random_state)
    x = np.sort(random.uniform(-10.0, 10.0, n_samples))
    return x[:, None], np.sinc(x / np.pi) + noise * random.standard_normal(n_samples)
