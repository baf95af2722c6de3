"""Problems that are hostile to rounding, and what a fit of one is worth in extended precision.

A draw is one estimator with its data. The certificate that the fit carries is compared with a gap
that is computed again from the points, the fitted coefficients and the parameters alone, in the
widest floating-point numbers that numpy has.
"""

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from kernelbook.exceptions import CompilationWarning
from kernelbook.kernels import Polynomial
from kernelbook.oneclass import OneClassSVM
from kernelbook.svdd import SVDD
from kernelbook.svm import HardMarginSVC, KernelSVC
from kernelbook.svr import KernelSVR

__all__ = ["FALSE_ALARM", "LIE", "MACHINES", "Outcome", "Problem", "draw", "outcome"]

Wide = np.longdouble
# A fit that calls itself optimal beside more is a lie; one that warns beside less, a false alarm.
LIE, FALSE_ALARM = 1e-6, 1e-9
# The unit of a gap is never less than this part of what the fixed sum of x makes of the kernel.
LEAST_UNIT = 1e-6


@dataclass(frozen=True)
class Problem:
    """One estimator, not fitted, and what it is to be fitted to."""

    machine: Any
    X: Any
    y: Any
    sample_weight: Any

    def __str__(self) -> str:
        return f"{self.machine!r} on {self.X.shape}".replace("\n", " ")


@dataclass(frozen=True)
class Outcome:
    """How a fit ended.

    Attributes
    ----------
    kind : {'certified', 'warned', 'refused', 'lie', 'false alarm', 'fault'}
        The last three are never right.
    status : str
        That of the certificate, or the message of the error.
    gap : float
        The relative gap that was computed again; NaN without a fit.
    """

    kind: str
    status: str
    gap: float

    @property
    def is_wrong(self) -> bool:
        return self.kind in ("lie", "false alarm", "fault")


# Draws


def draw(seed: int, largest: int = 300) -> Problem:
    """Draw a problem: the same for the same seed, with at most so many points."""
    rng = np.random.default_rng(seed)
    X = _points(rng, largest)
    kernel = _kernel_parameters(rng)
    machine = MACHINES[rng.integers(len(MACHINES))](rng, kernel)
    machine.set_params(solver=rng.choice(["auto", "auto", "dense", "exact"]))
    y = _targets(rng, X, machine)
    weights = None if isinstance(machine, HardMarginSVC) else _weights(rng, len(X))
    if machine.kernel == "precomputed":
        X = X @ X.T
    return Problem(machine, X, y, weights)


def _points(rng: np.random.Generator, largest: int) -> Any:
    n, d = int(np.exp(rng.uniform(0.0, np.log(largest + 1)))), int(rng.integers(1, 7))
    kind = rng.integers(5)
    X = rng.normal(size=(n, d))
    if kind == 0:
        X = np.round(X)
    elif kind == 1:
        X = np.exp(2.0 * X)
    if rng.random() < 0.5:
        X = X * 10.0 ** rng.uniform(-6, 6, d)
    elif rng.random() < 0.3:
        X = X * 10.0 ** rng.uniform(-6, 6)
    if rng.random() < 0.2:
        X = X + 10.0 ** rng.uniform(0, 6)
    if rng.random() < 0.2:
        X[:, rng.integers(d)] = rng.choice([0.0, 1.0, 1e6])
    if rng.random() < 0.25:
        X = X[rng.integers(max(1, n // 5), size=n)]
    return X


def _kernel_parameters(rng: np.random.Generator) -> dict[str, Any]:
    kernel = rng.choice(
        ["linear", "linear", "poly", "poly", "rbf", "rbf", "laplacian", "precomputed", "sigmoid"]
    )
    rule = rng.choice(["scale", "scale", "auto", "median", "number"])
    gamma = 10.0 ** rng.uniform(-6, 6) if rule == "number" else str(rule)
    degree = int(rng.choice([1, 2, 3, 5, int(rng.integers(2, 41))]))
    coef0 = float(rng.choice([0.0, 1.0, rng.uniform(0, 3)]))
    return {"kernel": str(kernel), "gamma": gamma, "degree": degree, "coef0": coef0}


def _cost(rng: np.random.Generator) -> float:
    return float(10.0 ** rng.uniform(-12, 15))


def _classifier(rng: np.random.Generator, kernel: dict[str, Any]) -> KernelSVC:
    by_class = rng.integers(3)
    weight = [None, "balanced", {0: 10.0 ** rng.uniform(-6, 6)}][by_class]
    return KernelSVC(_cost(rng), class_weight=weight, **kernel)


def _hard_margin(rng: np.random.Generator, kernel: dict[str, Any]) -> HardMarginSVC:
    return HardMarginSVC(**kernel)


def _regression(rng: np.random.Generator, kernel: dict[str, Any]) -> KernelSVR:
    epsilon = float(rng.choice([0.0, 0.1, 10.0 ** rng.uniform(-12, 2)]))
    return KernelSVR(_cost(rng), epsilon, **kernel)


def _one_class(rng: np.random.Generator, kernel: dict[str, Any]) -> OneClassSVM:
    return OneClassSVM(float(rng.choice([0.5, 1.0, rng.uniform(1e-3, 1)])), **kernel)


def _sphere(rng: np.random.Generator, kernel: dict[str, Any]) -> SVDD:
    if rng.random() < 0.3:
        return SVDD(C=10.0 ** rng.uniform(0, 6), C_outlier=_cost(rng), **kernel)
    return SVDD(nu=float(rng.choice([0.5, 1.0, rng.uniform(1e-3, 1)])), **kernel)


MACHINES: list[Callable[[np.random.Generator, dict[str, Any]], Any]] = [
    _classifier,
    _classifier,
    _regression,
    _regression,
    _one_class,
    _sphere,
    _hard_margin,
]


def _targets(rng: np.random.Generator, X: Any, machine: Any) -> Any:
    n = len(X)
    Z = (X - X.mean(axis=0)) / (X.std(axis=0) + (X.std(axis=0) == 0))
    score = Z @ rng.normal(size=Z.shape[1]) + rng.choice([0.0, 0.3, 1.0]) * rng.normal(size=n)
    if isinstance(machine, KernelSVR):
        return score * 10.0 ** rng.choice([0.0, rng.uniform(-6, 6)])
    if isinstance(machine, OneClassSVM):
        return None
    y = (score > np.quantile(score, rng.uniform(0.1, 0.9))).astype(int)
    if isinstance(machine, SVDD):
        return None if rng.random() < 0.5 else np.where(rng.random(n) < 0.1, -1, 1)
    y[:1], y[1:2] = 0, 1
    return y


def _weights(rng: np.random.Generator, n: int) -> Any:
    kind = rng.integers(8)
    if kind == 0:
        return np.where(rng.random(n) < 0.25, 1e-16, 1.0)
    if kind == 1:
        return 10.0 ** rng.uniform(-16, 0, n)
    if kind == 2:
        return rng.integers(1, 4, n).astype(float)
    if kind == 3:
        return np.where((rng.random(n) < 0.25) & (np.arange(n) > 1), 0.0, rng.uniform(0.1, 3, n))
    return None


# Extended precision


def outcome(problem: Problem) -> Outcome:
    """Fit, and compare what the certificate says with what is so."""
    machine, allowed = problem.machine, (ConvergenceWarning, CompilationWarning)
    weights = {} if problem.sample_weight is None else {"sample_weight": problem.sample_weight}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            machine.fit(problem.X, problem.y, **weights)
        except ValueError as error:
            return Outcome("refused", f"{type(error).__name__}: {error}", np.nan)
        except Exception as error:
            return Outcome("fault", f"{type(error).__name__}: {error}", np.nan)
    stray = [str(one.message) for one in caught if not issubclass(one.category, allowed)]
    if stray:
        return Outcome("fault", f"warned: {stray[0]}", np.nan)
    proof = machine.certificate_
    least, gap, largest, in_double = relative_gap(problem)
    values = machine.predict if isinstance(machine, KernelSVR) else machine.decision_function
    reported = (
        np.array([proof.duality_gap, proof.kkt_violation, *values(problem.X)], dtype=float)
        if machine.kernel != "precomputed"
        else np.array([proof.duality_gap, proof.kkt_violation])
    )
    if not np.isfinite(reported).all():
        return Outcome("fault", "NaN or infinity in what was fitted", gap)
    if proof.status == "optimal":
        return Outcome("lie" if least > LIE else "certified", proof.status, gap)
    if not any(issubclass(one.category, ConvergenceWarning) for one in caught):
        return Outcome("fault", f"no warning beside {proof.status!r}", gap)
    told = in_double if proof.status == "rounding" else largest
    return Outcome("false alarm" if told < FALSE_ALARM else "warned", proof.status, gap)


def relative_gap(problem: Problem) -> tuple[float, ...]:
    """The gap of a fitted machine, with the multiplier of the equality that makes it least.

    It stands between the smallest and the largest one within the rounding of extended precision;
    last comes the largest one where each kernel value, too, is known to its documented error only.
    """
    K, q, a, b, lower, upper, x = _program(problem)
    objective = x @ K @ x / 2 + q @ x
    # Less the slope of the variable that reaches farthest: rounding of its own would cost most.
    k = int(np.argmax(np.where((lower < x) & (x < upper), upper - lower, 0)))
    terms = a[:, None] * K * x
    sizes = np.sqrt((terms**2).sum(axis=1))
    terms, linear = terms - terms[k], a * q - a[k] * q[k]
    gradient = a * (terms.sum(axis=1) + linear)
    noise = np.finfo(Wide).eps * (np.sqrt((terms**2).sum(axis=1)) + np.abs(linear))
    values = problem.machine.kernel_.entry_error
    double = noise + values * np.where(terms.any(axis=1), sizes + sizes[k], 0)
    noises = (-noise, 0.0, noise, double)
    gaps = [_least_gap(gradient, a, lower, upper, x, each) for each in noises]
    # The largest squared distance from the mean.
    curvature = (K.diagonal() - 2 * K.mean(axis=0)).max() + K.mean()
    unit = max(abs(objective), abs(objective - gaps[1]), LEAST_UNIT * b**2 * curvature / 2)
    with np.errstate(divide="ignore"):  # of nothing, any gap is infinitely large
        return tuple(float(each / unit) if each > 0 else 0.0 for each in gaps)


def _least_gap(gradient: Any, a: Any, lower: Any, upper: Any, x: Any, noise: Any) -> Any:
    least = Wide(np.inf)
    down, up = x - lower, upper - x
    for multiplier in -gradient / a:
        residual = gradient + multiplier * a
        falls, rises = np.maximum(residual + noise, 0), np.maximum(noise - residual, 0)
        least = min(least, (falls * down + rises * up).sum())
    return least


def _program(problem: Problem) -> tuple[Any, ...]:
    """Matrix, vectors and solution of the dual problem, from public attributes alone."""
    machine, n = problem.machine, len(problem.X)
    weights = np.ones(n) if problem.sample_weight is None else problem.sample_weight
    kept = np.flatnonzero(weights)
    beta = np.zeros(n)
    beta[machine.support_] = machine.dual_coef_[0]
    beta, w = beta[kept].astype(Wide), weights[kept]
    K, one, zero = wide_gram(machine, problem.X, kept), np.ones(len(kept)), np.zeros(len(kept))
    if isinstance(machine, OneClassSVM):
        return K, zero, one, 1.0, zero, w / (machine.nu * weights.sum()), beta
    if isinstance(machine, SVDD):
        box = _sphere_box(machine, problem.y, weights, n)[kept]
        return K, -K.diagonal() / 2, one, 1.0, np.minimum(box, 0), np.maximum(box, 0), beta
    if isinstance(machine, KernelSVR):
        y = np.asarray(problem.y, dtype=float)[kept]
        target = y - y.astype(Wide).mean()
        e, box = machine.epsilon, machine.C * w
        return (
            np.block([[K, -K], [-K, K]]),
            np.concatenate([e - target, e + target]),
            np.concatenate([one, -one]),
            0.0,
            np.zeros(2 * len(y)),
            np.tile(box, 2),
            np.concatenate([np.maximum(beta, 0), np.maximum(-beta, 0)]),
        )
    signs = np.where(problem.y[kept] == 1, 1.0, -1.0)
    if isinstance(machine, HardMarginSVC):
        # No bound: the largest coefficient doubled, as if C were that.
        box = np.full(len(kept), 2.0 * float(np.abs(beta).max()))
    else:
        box = machine.C * w * _by_class(machine.class_weight, signs, w)
    return K, -signs, one, 0.0, np.minimum(0, signs * box), np.maximum(0, signs * box), beta


def _by_class(class_weight: Any, signs: Any, w: Any) -> Any:
    if class_weight is None:
        return np.ones(len(signs))
    if isinstance(class_weight, dict):
        return np.where(signs > 0, class_weight.get(1, 1.0), class_weight.get(0, 1.0))
    totals = {side: float(w[signs == side].sum()) for side in (-1.0, 1.0)}
    return np.array([float(w.sum()) / (2.0 * totals[side]) for side in signs.tolist()])


def _sphere_box(machine: SVDD, y: Any, weights: Any, n: int) -> Any:
    signs = np.ones(n) if y is None else np.where(y == -1, -1.0, 1.0)
    total = float(weights[signs > 0].sum())
    C = 1.0 / (machine.nu * total) if machine.C is None else machine.C
    outlier = C if machine.C_outlier is None else machine.C_outlier
    costs = weights * np.where(signs > 0, C, outlier)
    wide = 2.0 + 2.0 * float(costs[signs < 0].sum())
    return signs * np.where(signs > 0, np.minimum(costs, wide), costs)


def wide_gram(machine: Any, X: Any, kept: Any) -> Any:
    """Kernel values of the kept points, computed from the points in extended precision.

    Where a machine looks at differences of images only, without what these have in common.
    """
    if machine.kernel == "sigmoid":
        return machine.kernel_(X[kept]).astype(Wide)  # what has been checked to be a kernel
    if machine.kernel == "precomputed":
        return X[np.ix_(kept, kept)].astype(Wide)
    X, kernel, whole = X[kept].astype(Wide), machine.kernel_, isinstance(machine, OneClassSVM)
    if isinstance(kernel, Polynomial):
        gamma, r = Wide(kernel.gamma), Wide(kernel.coef0)
        if whole:
            return (gamma * (X @ X.T) + r) ** kernel.degree
        return _about_mean(X, gamma, r, kernel.degree)
    distances = np.zeros((len(X), len(X)), dtype=Wide)
    for column in X.T:
        difference = np.abs(column[:, None] - column)
        distances += difference if machine.kernel == "laplacian" else difference**2
    return np.exp(-Wide(kernel.gamma) * distances) if whole else np.expm1(-kernel.gamma * distances)


def _about_mean(X: Any, gamma: Any, r: Any, degree: int) -> Any:
    """Inner products of the images less that of the mean, without any term that cancels."""
    centre = X.mean(axis=0)
    U = X - centre
    a, s, g = gamma * (centre @ centre) + r, gamma * (U @ centre), gamma * (U @ U.T)
    t, s = s, s[:, None]
    w, mixed = a + s + t, Wide(0.0)
    for k in range(2, degree + 1):
        mixed = w * mixed + s * t * (_quotient(a + s, a, k - 1) + _quotient(a + t, a, k - 1))
    return g * _quotient(w + g, w, degree) + mixed


def _quotient(u: Any, v: Any, k: int) -> Any:
    """(u**k - v**k) / (u - v)."""
    return sum(u**i * v ** (k - 1 - i) for i in range(k))
