"""Samples of known distributions, and the best decision functions for them."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit, log_ndtr, logsumexp, ndtr
from sklearn.utils import check_array, check_random_state

Matrix = NDArray[np.float64]
Labels = NDArray[np.int64]
Sample = tuple[Matrix, Labels]

WAVE_CENTRES = (11, 15, 7)
WAVE_PAIRS = ((0, 1), (0, 2), (1, 2))
WAVE_LENGTH = 21
LOGIT_INTERCEPT = -31.0
LOGIT_SLOPE = 0.89
LOGIT_FEATURES = 4


def _points(X: ArrayLike) -> Matrix:
    return np.asarray(check_array(X, dtype=np.float64))


def _check_counts(**counts: Any) -> None:
    for name, value in counts.items():
        if not isinstance(value, int | np.integer) or value < 0:
            raise ValueError(f"{name} must be an integer of at least 0, got {value!r}.")
    if sum(counts.values()) == 0:
        raise ValueError(f"{' + '.join(counts)} must be at least 1: the sample would be empty.")


def _check_range(name: str, value: Any, low: float, high: float = np.inf) -> None:
    if not low <= value <= high:
        raise ValueError(f"{name} must be a number from {low} to {high}, got {value!r}.")


def _labels(n_negative: int, n_positive: int) -> Labels:
    return np.repeat(np.array([0, 1]), [n_negative, n_positive])


def make_separable(
    n_negative: int = 20, n_positive: int = 20, *, margin: float = 1.0, random_state: Any = None
) -> Sample:
    r"""Two classes in the plane on the two sides of a strip that holds no point.

    With the unit normal :math:`w = (\cos 60°, \sin 60°)` and its orthogonal :math:`v`,

    .. math:: x = t v \pm (m/2 + |z|)\, w, \quad t \sim U(-2, 2),\; z \sim N(0, 1),

    with the sign + for class 1.

    Parameters
    ----------
    n_negative, n_positive : int
        Points of class 0 and of class 1.
    margin : float > 0
        Width m of the empty strip: the largest margin :math:`2/\|w\|` of a hyperplane
        is at least that.
    random_state : int, RandomState or None

    Returns
    -------
    X : ndarray, shape (n_negative + n_positive, 2)
    y : ndarray of 0 and 1
        All of class 0 first.

    Examples
    --------
    >>> X, y = make_separable(3, 2, random_state=0)
    >>> (X @ [0.5, 0.75**0.5] >= 0).astype(int)
    array([0, 0, 0, 1, 1])
    """
    _check_counts(n_negative=n_negative, n_positive=n_positive)
    _check_range("margin", margin, np.finfo(float).tiny)
    random = check_random_state(random_state)
    y = _labels(n_negative, n_positive)
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
    random_state: Any = None,
) -> Sample:
    r"""Two overlapping Gaussian classes, as imbalanced as one asks.

    Class 0 is :math:`N(-\tfrac\delta2 e_1, I)`, class 1 is :math:`N(+\tfrac\delta2 e_1, I)`.
    If a share p of the points is positive, the best decision is positive for
    :math:`x_1 > t = -\log\{p/(1-p)\}/\delta` and errs with probability

    .. math:: p\,\Phi(t - \delta/2) + (1 - p)\,\Phi(-t - \delta/2),

    0.159 for p = 1/2 and 0.0704 for p = 1/10 at the distance 2.

    Parameters
    ----------
    n_negative, n_positive : int
        Points of class 0 and of class 1.
    distance : float >= 0
        Distance :math:`\delta` of the two means, in standard deviations.
    n_features : int
        Dimension; all features but the first are noise.
    random_state : int, RandomState or None

    Returns
    -------
    X : ndarray, shape (n_negative + n_positive, n_features)
    y : ndarray of 0 and 1
        All of class 0 first.

    See Also
    --------
    bayes_gaussians : the best decision function.

    Examples
    --------
    >>> X, y = make_gaussians(90, 10, random_state=0)
    >>> X.shape, int(y.sum())
    ((100, 2), 10)
    """
    _check_counts(n_negative=n_negative, n_positive=n_positive)
    _check_counts(n_features=n_features)
    _check_range("distance", distance, 0.0)
    y = _labels(n_negative, n_positive)
    X = check_random_state(random_state).standard_normal((len(y), n_features))
    X[:, 0] += (y - 0.5) * distance
    return X, y


def bayes_gaussians(X: ArrayLike, *, distance: float = 2.0, prior: float = 0.5) -> Matrix:
    r"""Log posterior odds of class 1 for :func:`make_gaussians`.

    .. math:: \delta x_1 + \log\{p/(1-p)\}

    Parameters
    ----------
    X : array, shape (n, d)
    distance : float
        As given to :func:`make_gaussians`.
    prior : float in (0, 1)
        Share p of class 1.

    Returns
    -------
    ndarray, shape (n,)
        Positive where class 1 is the better guess.

    Examples
    --------
    >>> bayes_gaussians([[1.0, 7.0], [-0.5, 0.0]], distance=2.0)
    array([ 2., -1.])
    """
    if not 0 < prior < 1:
        raise ValueError(f"prior must lie strictly between 0 and 1, got {prior!r}.")
    return distance * _points(X)[:, 0] + np.log(prior / (1 - prior))


def make_banana(
    n_samples: int = 200, n_outliers: int = 0, *, noise: float = 0.2, random_state: Any = None
) -> Sample:
    r"""A bent cloud in the plane, and outliers around it, for the description of one class.

    .. math:: x = (\cos\theta, \sin\theta) + \sigma z, \quad
              \theta \sim U(-\tfrac{\pi}{8}, \tfrac{9\pi}{8}),\; z \sim N(0, I);

    outliers are uniform on the square from -2 to 2, so a few of them fall on the arc.

    Parameters
    ----------
    n_samples : int
        Points of the arc.
    n_outliers : int
        Further points.
    noise : float >= 0
        Standard deviation :math:`\sigma`; the arc has the radius 1.
    random_state : int, RandomState or None

    Returns
    -------
    X : ndarray, shape (n_samples + n_outliers, 2)
    y : ndarray of 1 (arc) and -1 (outlier)
        The signs that novelty detectors predict; the arc first.

    Examples
    --------
    >>> X, y = make_banana(4, 2, noise=0.0, random_state=0)
    >>> y.tolist(), (X[:4] ** 2).sum(axis=1).round(12).tolist()
    ([1, 1, 1, 1, -1, -1], [1.0, 1.0, 1.0, 1.0])
    """
    _check_counts(n_samples=n_samples, n_outliers=n_outliers)
    _check_range("noise", noise, 0.0)
    random = check_random_state(random_state)
    theta = random.uniform(-np.pi / 8, 9 * np.pi / 8, n_samples)
    arc = np.column_stack([np.cos(theta), np.sin(theta)])
    arc += noise * random.standard_normal((n_samples, 2))
    outliers = random.uniform(-2.0, 2.0, (n_outliers, 2))
    return np.vstack([arc, outliers]), 1 - 2 * _labels(n_samples, n_outliers)


def make_checkerboard(
    n_negative: int = 200, n_positive: int = 200, *, n_cells: int = 4, random_state: Any = None
) -> Sample:
    r"""Two classes on the black and the white cells of a board over :math:`[-1, 1]^2`.

    Each class is uniform on its cells; class 1 holds the cells with
    :math:`\lfloor u_1 \rfloor + \lfloor u_2 \rfloor` odd, where :math:`u = n (x + 1)/2`. No error
    is unavoidable, but no hyperplane does better than a guess.

    Parameters
    ----------
    n_negative, n_positive : int
        Points of class 0 and of class 1.
    n_cells : int >= 2
        Cells on a side, n.
    random_state : int, RandomState or None

    Returns
    -------
    X : ndarray, shape (n_negative + n_positive, 2)
    y : ndarray of 0 and 1
        All of class 0 first.

    Examples
    --------
    >>> X, y = make_checkerboard(2, 2, n_cells=2, random_state=0)
    >>> (X.prod(axis=1) < 0).astype(int)  # the quadrants of unequal signs
    array([0, 0, 1, 1])
    """
    _check_counts(n_negative=n_negative, n_positive=n_positive)
    if n_cells < 2:
        raise ValueError(f"n_cells must be at least 2, got {n_cells!r}.")
    random = check_random_state(random_state)
    y = _labels(n_negative, n_positive)
    rows, columns = np.divmod(np.arange(n_cells**2), n_cells)
    parity = (rows + columns) % 2
    cell = np.empty(len(y), dtype=np.int64)
    for label in (0, 1):
        chosen = np.flatnonzero(parity == label)
        cell[y == label] = random.choice(chosen, np.count_nonzero(y == label))
    corner = np.column_stack([rows[cell], columns[cell]])
    return 2 * (corner + random.uniform(size=(len(y), 2))) / n_cells - 1, y


def make_bell(n_samples: int = 100, *, random_state: Any = None) -> Sample:
    r"""Points uniform on :math:`[-1, 1]^2`, class 1 above the curve :math:`x_2 = e^{-4 x_1^2}`.

    The toy of the papers on conformal transformation of a kernel [Williams2007]_. A share of
    :math:`\tfrac12 - \tfrac18\sqrt\pi\,\mathrm{erf}(2) = 0.2795` is of class 1; no error is
    unavoidable.

    Parameters
    ----------
    n_samples : int
    random_state : int, RandomState or None

    Returns
    -------
    X : ndarray, shape (n_samples, 2)
    y : ndarray of 0 and 1

    References
    ----------
    [Williams2007]_

    Examples
    --------
    >>> X, y = make_bell(5, random_state=0)
    >>> bool(((X[:, 1] > np.exp(-4 * X[:, 0] ** 2)) == y).all())
    True
    """
    _check_counts(n_samples=n_samples)
    X = check_random_state(random_state).uniform(-1.0, 1.0, (n_samples, 2))
    return X, (X[:, 1] > np.exp(-4 * X[:, 0] ** 2)).astype(np.int64)


def make_sinc(
    n_samples: int = 100, *, noise: float = 0.1, random_state: Any = None
) -> tuple[Matrix, Matrix]:
    r"""Regression toy :math:`y = \sin(x)/x + \sigma z` with x uniform on [-10, 10].

    Parameters
    ----------
    n_samples : int
    noise : float >= 0
        Standard deviation :math:`\sigma` of the Gaussian noise.
    random_state : int, RandomState or None

    Returns
    -------
    X : ndarray, shape (n_samples, 1)
        In rising order, so that a curve can be drawn through predictions.
    y : ndarray of float, shape (n_samples,)

    Examples
    --------
    >>> X, y = make_sinc(5, noise=0.0, random_state=0)
    >>> bool(np.allclose(y * X[:, 0], np.sin(X[:, 0])))
    True
    """
    _check_counts(n_samples=n_samples)
    _check_range("noise", noise, 0.0)
    random = check_random_state(random_state)
    x = np.sort(random.uniform(-10.0, 10.0, n_samples))
    return x[:, None], np.sinc(x / np.pi) + noise * random.standard_normal(n_samples)


def make_twonorm(n_samples: int = 400, *, n_features: int = 20, random_state: Any = None) -> Sample:
    r"""Breiman's twonorm: two unit Gaussians at opposite points of the diagonal.

    .. math:: x \mid y{=}1 \sim N(a\mathbf 1, I), \quad x \mid y{=}0 \sim N(-a\mathbf 1, I),
              \quad a = 2/\sqrt d, \quad P(y{=}1) = \tfrac12.

    The best possible error is :math:`\Phi(-2) = 0.02275` for any d.

    Parameters
    ----------
    n_samples : int
    n_features : int
        Dimension d; 20 in the benchmark.
    random_state : int, RandomState or None

    Returns
    -------
    X : ndarray, shape (n_samples, n_features)
    y : ndarray of 0 and 1

    See Also
    --------
    bayes_twonorm : the best decision function.

    References
    ----------
    [Breiman1998]_

    Examples
    --------
    >>> X, y = make_twonorm(5, random_state=0)
    >>> X.shape, (bayes_twonorm(X) > 0).astype(int).tolist() == y.tolist()
    ((5, 20), True)
    """
    _check_counts(n_samples=n_samples)
    _check_counts(n_features=n_features)
    random = check_random_state(random_state)
    y = random.randint(0, 2, n_samples)
    X = random.standard_normal((n_samples, n_features))
    return X + np.outer(2 * y - 1, np.full(n_features, 2 / np.sqrt(n_features))), y


def bayes_twonorm(X: ArrayLike) -> Matrix:
    r"""Log posterior odds of class 1 for :func:`make_twonorm`: :math:`2a \sum_j x_j`.

    Parameters
    ----------
    X : array, shape (n, d)

    Returns
    -------
    ndarray, shape (n,)
        Positive where class 1 is the better guess. For another share p of class 1 add
        :math:`\log\{p/(1-p)\}`.

    Examples
    --------
    >>> bayes_twonorm([[1.0, 0.0, 0.0, 0.0]])  # a = 1
    array([2.])
    """
    X = _points(X)
    return 4 / np.sqrt(X.shape[1]) * X.sum(axis=1)


def make_ringnorm(
    n_samples: int = 400, *, n_features: int = 20, shift: float = 2.0, random_state: Any = None
) -> Sample:
    r"""Breiman's ringnorm: a unit Gaussian inside a wide one.

    .. math:: x \mid y{=}1 \sim N(a\mathbf 1, I), \quad x \mid y{=}0 \sim N(0, 4I),
              \quad a = s/\sqrt d, \quad P(y{=}1) = \tfrac12.

    In 20 dimensions the best possible error is 0.0124 for s = 2 and 0.0150 for s = 1; both values
    of s are found in the literature, and Breiman's stated 1.3 % fits s = 2.

    Parameters
    ----------
    n_samples : int
    n_features : int
        Dimension d; 20 in the benchmark.
    shift : float >= 0
        Distance s between the two means.
    random_state : int, RandomState or None

    Returns
    -------
    X : ndarray, shape (n_samples, n_features)
    y : ndarray of 0 and 1

    See Also
    --------
    bayes_ringnorm : the best decision function.

    References
    ----------
    [Breiman1998]_

    Examples
    --------
    >>> X, y = make_ringnorm(5, random_state=0)
    >>> X.shape, (bayes_ringnorm(X) > 0).astype(int).tolist() == y.tolist()
    ((5, 20), True)
    """
    _check_counts(n_samples=n_samples)
    _check_counts(n_features=n_features)
    _check_range("shift", shift, 0.0)
    random = check_random_state(random_state)
    y = random.randint(0, 2, n_samples)
    Z = random.standard_normal((n_samples, n_features))
    inside = Z + shift / np.sqrt(n_features)
    return np.where(y[:, None] == 1, inside, 2 * Z), y


def bayes_ringnorm(X: ArrayLike, *, shift: float = 2.0) -> Matrix:
    r"""Log posterior odds of class 1 for :func:`make_ringnorm`.

    .. math:: \tfrac18 \|x\|^2 - \tfrac12 \|x - a\mathbf 1\|^2 + d \log 2

    Parameters
    ----------
    X : array, shape (n, d)
    shift : float
        As given to :func:`make_ringnorm`; a = shift / sqrt(d).

    Returns
    -------
    ndarray, shape (n,)
        Positive where class 1 is the better guess. For another share p of class 1 add
        :math:`\log\{p/(1-p)\}`.

    Examples
    --------
    >>> bayes_ringnorm([[2.0]]) - np.log(2)  # 4/8 - 0
    array([0.5])
    """
    X = _points(X)
    d = X.shape[1]
    inside = np.sum((X - shift / np.sqrt(d)) ** 2, axis=1)
    return np.sum(X**2, axis=1) / 8 - inside / 2 + d * np.log(2)


def _waves() -> Matrix:
    """The three triangular waves h_1, h_2, h_3, shape (3, 21)."""
    position = np.arange(1, WAVE_LENGTH + 1)
    return np.array([np.maximum(6.0 - np.abs(position - c), 0.0) for c in WAVE_CENTRES])


def make_waveform(
    n_samples: int = 400, *, binary: bool = False, random_state: Any = None
) -> Sample:
    r"""Breiman's waveform: noisy mixtures of two of three triangular waves, 21 features.

    .. math:: x = u\,h_A + (1 - u)\,h_B + z, \quad u \sim U(0, 1),\; z \sim N(0, I),

    with :math:`h_1(i) = \max(6 - |i - 11|, 0)`, and :math:`h_2, h_3` the same with their peak at
    i = 15 and i = 7. Class 1 mixes :math:`(h_1, h_2)`, class 2 :math:`(h_1, h_3)`, class 3
    :math:`(h_2, h_3)`; each has the probability 1/3.

    The best possible error is 0.133 for three classes. Of one class against the two others it is,
    by simulation, 0.083 for class 1, the same for class 2, its mirror image, and 0.101 for class
    3. The two-class benchmark of the literature (9.9 % for good machines) fits class 1 or class 2,
    not class 3.

    Parameters
    ----------
    n_samples : int
    binary : bool
        Return 1 for class 1 and 0 for the two others.
    random_state : int, RandomState or None

    Returns
    -------
    X : ndarray, shape (n_samples, 21)
    y : ndarray of 1, 2, 3, or of 0 and 1 if ``binary``

    See Also
    --------
    bayes_waveform : the best decision function.

    References
    ----------
    [Breiman1984]_

    Examples
    --------
    >>> X, y = make_waveform(4, random_state=0)
    >>> X.shape, y
    ((4, 21), array([1, 2, 1, 2]))
    """
    _check_counts(n_samples=n_samples)
    random = check_random_state(random_state)
    label = random.randint(0, 3, n_samples)
    waves, pairs = _waves(), np.array(WAVE_PAIRS)[label]
    u = random.uniform(size=(n_samples, 1))
    X = u * waves[pairs[:, 0]] + (1 - u) * waves[pairs[:, 1]]
    X += random.standard_normal(X.shape)
    return X, (label == 0).astype(np.int64) if binary else label + 1


def bayes_waveform(X: ArrayLike, *, binary: bool = False) -> Matrix:
    r"""Log-likelihoods of the classes of :func:`make_waveform`, the mixing weight integrated out.

    With :math:`q = \|h_A - h_B\|^2` and
    :math:`m = (x - h_B)^\top(h_A - h_B)/q`, the likelihood of one class is, up to a common factor,

    .. math:: \int_0^1 e^{-\frac12\|x - u h_A - (1-u) h_B\|^2} du
              = e^{-\frac12(\|x - h_B\|^2 - m^2 q)} \sqrt{2\pi/q}\,
                \{\Phi((1-m)\sqrt q) - \Phi(-m\sqrt q)\}.

    Parameters
    ----------
    X : array, shape (n, 21)
    binary : bool
        Return the log posterior odds of class 1 against the two others.

    Returns
    -------
    ndarray, shape (n, 3) or, if ``binary``, (n,)
        The best guess is the largest column plus one; if ``binary``, 1 where it is positive.

    Examples
    --------
    >>> X, y = make_waveform(1000, random_state=0)
    >>> error = (bayes_waveform(X).argmax(axis=1) + 1 != y).mean()
    >>> bool(0.10 < error < 0.17)
    True
    """
    X = _points(X)
    if X.shape[1] != WAVE_LENGTH:
        raise ValueError(f"X must have {WAVE_LENGTH} features, got {X.shape[1]}.")
    waves = _waves()
    columns = []
    for a, b in WAVE_PAIRS:
        step = waves[a] - waves[b]
        q = step @ step
        residual = X - waves[b]
        m = residual @ step / q
        # Phi is taken where both values are small: the difference of two near 1 loses its digits.
        high = log_ndtr(np.where(m < 0, m, 1 - m) * np.sqrt(q))
        low = log_ndtr(np.where(m < 0, m - 1, -m) * np.sqrt(q))
        mass = high + np.log1p(-np.exp(low - high))
        outside = np.sum(residual**2, axis=1) - m**2 * q
        columns.append(mass - outside / 2 + np.log(2 * np.pi / q) / 2)
    loglik = np.column_stack(columns)
    if binary:
        return loglik[:, 0] - logsumexp(loglik[:, 1:], axis=1)
    return loglik


def make_random_logit(
    n_samples: int = 1000,
    *,
    n_features: int = 50,
    variance: float = 5.0,
    redraw: str = "observation",
    share: float = 0.1,
    return_component: bool = False,
    random_state: Any = None,
) -> Any:
    r"""Logistic labels with random coefficients, which bury the signal: 50 features, 4 of use.

    A share of the points belongs to component 1, whose first four features have the mean 10; the
    others to component 0, with the mean 7; all four have the variance 2, and the remaining
    features are N(0, 1). The label is drawn, not taken from the component:

    .. math:: P(y{=}1 \mid x, \beta) = \frac1{1 + e^{-\eta}}, \quad
              \eta = -31 + \sum_{j \le 4} \beta_j x_j, \quad \beta_j \sim N(0.89, v).

    Parameters
    ----------
    n_samples : int
    n_features : int, default=50
        Dimension, at least 4; all features but the first four are noise.
    variance : float >= 0, default=5
        v (a variance, not a standard deviation). With v = 0 the label follows the component,
        but for 2.5 % and 6.8 % of components 0 and 1.
    redraw : {'observation', 'data_set'}, default='observation'
        Whether each observation has coefficients of its own, or the data set one draw of them.
    share : float in [0, 1], default=0.1
        Share of component 1, the number of its points rounded.
    return_component : bool, default=False
        Return the components as well.
    random_state : int, RandomState or None

    Returns
    -------
    X : ndarray, shape (n_samples, n_features)
    y : ndarray of 0 and 1
    component : ndarray of 0 and 1
        Only with ``return_component=True``. All of component 0 come first.

    See Also
    --------
    bayes_random_logit : the best decision function, for coefficients per observation.

    Notes
    -----
    The generator of a comparison of Bayesian descriptions [Kim2024]_ as far as its figures tell it.
    The four coefficients have means of sum 3.56, which are taken to be equal, and the distribution
    of the other features is our assumption. Per observation the share of class 1 is .433, .452 and
    .466 for v = 5, 10 and 20, not 1/10 as intended, and the best possible accuracies are .575,
    .554 and .538.

    References
    ----------
    [Kim2024]_

    Examples
    --------
    >>> X, y, component = make_random_logit(1000, return_component=True, random_state=0)
    >>> X.shape, int(component.sum()), bool(y.mean() > 0.35)
    ((1000, 50), 100, True)
    """
    _check_counts(n_samples=n_samples)
    if not isinstance(n_features, int | np.integer) or n_features < LOGIT_FEATURES:
        raise ValueError(
            f"n_features must be an integer of at least {LOGIT_FEATURES}, got {n_features!r}."
        )
    _check_range("variance", variance, 0.0)
    _check_range("share", share, 0.0, 1.0)
    if redraw not in ("observation", "data_set"):
        raise ValueError(f"redraw must be 'observation' or 'data_set', got {redraw!r}.")
    random = check_random_state(random_state)
    n_minority = round(share * n_samples)
    component = _labels(n_samples - n_minority, n_minority)
    X = random.standard_normal((n_samples, n_features))
    informative = X[:, :LOGIT_FEATURES]
    informative *= np.sqrt(2.0)
    informative += np.where(component, 10.0, 7.0)[:, None]
    draws = n_samples if redraw == "observation" else 1
    beta = LOGIT_SLOPE + np.sqrt(variance) * random.standard_normal((draws, LOGIT_FEATURES))
    eta = LOGIT_INTERCEPT + (beta * informative).sum(axis=1)
    y = (random.uniform(size=n_samples) < expit(eta)).astype(np.int64)
    return (X, y, component) if return_component else (X, y)


def bayes_random_logit(X: ArrayLike, *, variance: float = 5.0) -> Matrix:
    r"""Log posterior odds of class 1 for :func:`make_random_logit`, coefficients per observation.

    Given x, :math:`\eta` is Gaussian with mean :math:`\mu = -31 + 0.89 \sum_{j \le 4} x_j` and
    variance :math:`v \sum_{j \le 4} x_j^2`, so that the odds are those of
    :math:`P = E\,[1 / (1 + e^{-\eta})]`.

    Parameters
    ----------
    X : array, shape (n, d)
    variance : float
        As given to :func:`make_random_logit`.

    Returns
    -------
    ndarray, shape (n,)
        Positive where class 1 is the better guess, that is where :math:`\mu > 0`.

    Examples
    --------
    >>> bayes_random_logit([[10.0] * 4, [7.0] * 4], variance=0.0).round(2)
    array([ 4.6 , -6.08])
    """
    _check_range("variance", variance, 0.0)
    X = _points(X)[:, :LOGIT_FEATURES]
    if X.shape[1] < LOGIT_FEATURES:
        raise ValueError(f"X must have at least {LOGIT_FEATURES} features, got {X.shape[1]}.")
    mean = LOGIT_INTERCEPT + LOGIT_SLOPE * X.sum(axis=1)
    deviation = np.sqrt(variance * np.sum(X**2, axis=1))
    odds = np.empty(len(X))
    narrow = deviation < 1.0
    # Integrate over the smoother of the two factors: the Gaussian, or the logistic density.
    z, weight = np.polynomial.hermite_e.hermegauss(40)
    eta = mean[narrow, None] + deviation[narrow, None] * z
    odds[narrow] = logsumexp(-np.logaddexp(0.0, -eta), b=weight, axis=1)
    odds[narrow] -= logsumexp(-np.logaddexp(0.0, eta), b=weight, axis=1)
    t = np.linspace(-60.0, 60.0, 961)
    density = expit(t) * expit(-t)
    for i in np.flatnonzero(~narrow):
        standard = (mean[i] - t) / deviation[i]
        odds[i] = np.log(ndtr(standard) @ density) - np.log(ndtr(-standard) @ density)
    return odds


def draw_imbalanced(
    X: Any,
    y: ArrayLike,
    *,
    n_positive: int,
    n_negative: int,
    positive: Any = 1,
    random_state: Any = None,
) -> tuple[Any, Any]:
    """Draw given numbers of positives and negatives without replacement, in their old order.

    Parameters
    ----------
    X : array or DataFrame, shape (n, d)
    y : array or Series, shape (n,)
    n_positive, n_negative : int
        How many rows with ``y == positive``, and how many others, to keep.
    positive : label
        The label of the positive class.
    random_state : int, RandomState or None
        Which rows are drawn.

    Returns
    -------
    X, y
        The rows drawn, of the same types.

    Raises
    ------
    ValueError
        If a class has fewer rows than are asked for.

    Examples
    --------
    The shape of the hospital-infection study, 683 patients of whom 75 are infected:

    >>> from kernelbook.datasets import load_nhefs_mortality
    >>> X, y = load_nhefs_mortality(return_X_y=True)
    >>> X, y = draw_imbalanced(X, y, n_positive=75, n_negative=608, random_state=0)
    >>> X.shape, int(y.sum())
    ((683, 50), 75)
    """
    random = check_random_state(random_state)
    is_positive = np.asarray(y) == positive
    drawn = []
    for name, size, mask in (
        ("n_positive", n_positive, is_positive),
        ("n_negative", n_negative, ~is_positive),
    ):
        rows = np.flatnonzero(mask)
        if not 0 <= size <= len(rows):
            raise ValueError(
                f"{name} must be from 0 to {len(rows)}, the rows there are with "
                f"positive={positive!r}, got {size}."
            )
        drawn.append(random.choice(rows, size, replace=False))
    kept = np.sort(np.concatenate(drawn))
    return _rows(X, kept), _rows(y, kept)


def _rows(values: Any, kept: NDArray[np.int64]) -> Any:
    return values.iloc[kept] if hasattr(values, "iloc") else np.asarray(values)[kept]
