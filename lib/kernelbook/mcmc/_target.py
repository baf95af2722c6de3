"""What is sampled: a Gaussian prior kept whitened, a log likelihood checked at every call."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import LinAlgError, block_diag, cholesky, eigh

from kernelbook.exceptions import NotPositiveSemidefiniteError
from kernelbook.validation import check_number

Array = NDArray[np.float64]
LogDensity = Callable[[Array], Any]

PSD_TOLERANCE = 1e-10
SYMMETRY_TOLERANCE = 1e-8
RANGE_TOLERANCE = 1e-6


@dataclass(frozen=True)
class GaussianPrior:
    """N(mean, A A') on the first coordinates, flat on the last ``n_flat``.

    ``factor`` is A, or its diagonal; it leaves flat coordinates as they are. Their ``mean`` is 0,
    a mere origin.
    """

    mean: Array
    factor: Array
    n_flat: int

    @property
    def n_dim(self) -> int:
        return len(self.mean)

    @property
    def n_gaussian(self) -> int:
        return self.n_dim - self.n_flat

    def colour(self, z: Array) -> Array:
        """A z for each row."""
        return z @ self.factor.T if self.factor.ndim == 2 else z * self.factor

    def pull_back(self, gradient: Array) -> Array:
        """Gradient in z of a function with this gradient in theta: A' g."""
        return gradient @ self.factor if self.factor.ndim == 2 else gradient * self.factor

    def whiten(self, deviation: Array) -> Array:
        """The z of theta - mean; a ValueError if a singular covariance does not reach it."""
        if self.factor.ndim == 1:
            return deviation / self.factor
        z: Array = np.linalg.lstsq(self.factor, deviation.T, rcond=None)[0].T.astype(np.float64)
        if np.abs(self.colour(z) - deviation).max() > RANGE_TOLERANCE * np.abs(deviation).max():
            raise ValueError(
                "start lies outside the range of the singular prior_cov: start from "
                "prior_mean plus a combination of its columns."
            )
        return z

    def log_density(self, z: Array) -> Array:
        """log N(z; 0, I) of the Gaussian coordinates, without its constant."""
        part = z[:, : self.n_gaussian]
        return -0.5 * np.einsum("ij,ij->i", part, part)


def check_prior(prior_mean: ArrayLike, prior_cov: ArrayLike, n_flat: int = 0) -> GaussianPrior:
    """The prior of the arguments ``prior_mean``, ``prior_cov``, ``n_flat``, or an error."""
    mean = np.atleast_1d(np.asarray(prior_mean, dtype=np.float64))
    if mean.ndim != 1 or mean.size == 0 or not np.isfinite(mean).all():
        raise ValueError(
            f"prior_mean must be a vector (d,) of finite numbers, got shape {mean.shape}."
        )
    n_flat = check_number(n_flat, "n_flat", low=0, integer=True)
    cov = np.asarray(prior_cov, dtype=np.float64)
    if cov.shape not in ((), mean.shape, mean.shape * 2):
        raise ValueError(
            f"prior_cov must be a number, variances ({mean.size},) or a matrix "
            f"({mean.size}, {mean.size}) to match prior_mean, got shape {cov.shape}."
        )
    if not np.isfinite(cov).all():
        raise ValueError("prior_cov has entries that are not finite.")
    if cov.ndim == 2:
        factor = block_diag(_square_root(cov), np.eye(n_flat))
    elif (cov > 0).all():
        factor = np.append(np.broadcast_to(np.sqrt(cov), mean.shape), np.ones(n_flat))
    else:
        raise NotPositiveSemidefiniteError(
            f"prior_cov must have positive variances, the smallest is {cov.min():g}."
        )
    return GaussianPrior(np.append(mean, np.zeros(n_flat)), factor, n_flat)


def _square_root(cov: Array) -> Array:
    """A with A A' = cov: the Cholesky factor, or by eigenvalues if cov is singular."""
    scale = np.abs(cov).max()
    if np.abs(cov - cov.T).max() > SYMMETRY_TOLERANCE * scale:
        raise ValueError("prior_cov must be symmetric.")
    try:
        return cholesky(cov, lower=True)
    except LinAlgError:
        values, vectors = eigh(cov)
    if values[0] < -PSD_TOLERANCE * len(cov) * scale:
        raise NotPositiveSemidefiniteError(
            f"prior_cov is no covariance matrix: its smallest eigenvalue is {values[0]:.3g}."
        )
    return vectors * np.sqrt(np.maximum(values, 0.0))


@dataclass(frozen=True)
class Target:
    """The user's log likelihood of many states, every value checked.

    Without a ``gradient``, ``log_likelihood`` must return pairs if gradients are asked for.
    """

    log_likelihood: LogDensity
    vectorized: bool
    gradient: LogDensity | None = None

    def value(self, theta: Array) -> Array:
        return self._checked(self._rows(self.log_likelihood, theta), theta)

    def value_and_gradient(self, theta: Array) -> tuple[Array, Array]:
        if self.gradient is None:
            values, slopes = self._pairs(theta)
        else:
            values, slopes = self.value(theta), self._rows(self.gradient, theta)
        slope = _numbers(slopes, "The gradient")
        if slope.shape != theta.shape:
            raise ValueError(
                f"The gradient must have the shape of its argument, (d,) or (m, d): for "
                f"{len(theta)} states that makes {theta.shape}, got {slope.shape}."
            )
        # Outside the support any gradient will do: a trajectory that ends there is rejected.
        slope = np.where(np.isfinite(values)[:, None], slope, 0.0)
        if not np.isfinite(slope).all():
            bad = int(np.argmin(np.isfinite(slope).all(axis=1)))
            raise ValueError(
                f"The gradient is not finite at theta = {np.array2string(theta[bad])}, where "
                "the log likelihood is."
            )
        return values, slope

    def _pairs(self, theta: Array) -> tuple[Array, Any]:
        returned = self._rows(self.log_likelihood, theta)
        pairs = [returned] if self.vectorized else returned
        if not all(isinstance(pair, tuple) and len(pair) == 2 for pair in pairs):
            raise ValueError(
                "Without gradient=, log_likelihood must return the pair (log likelihood, gradient)."
            )
        values, slopes = returned if self.vectorized else zip(*pairs, strict=True)
        return self._checked(values, theta), slopes

    def _rows(self, function: LogDensity, theta: Array) -> Any:
        return function(theta) if self.vectorized else [function(row) for row in theta]

    def _checked(self, returned: Any, theta: Array) -> Array:
        values = _numbers(returned, "log_likelihood")
        if not self.vectorized and values.size == len(theta):
            values = values.reshape(len(theta))
        if values.shape != (len(theta),):
            wanted = f"shape ({len(theta)},)" if self.vectorized else "one number"
            raise ValueError(
                f"log_likelihood must return {wanted}; for {len(theta)} states of dimension "
                f"{theta.shape[1]} its values have the shape {values.shape}. vectorized="
                f"{not self.vectorized} changes how it is called."
            )
        if not (values < np.inf).all():
            bad = int(np.argmin(values < np.inf))
            raise ValueError(
                f"log_likelihood is {values[bad]} at theta = {np.array2string(theta[bad])}: it "
                "must be a number, or -inf outside the support."
            )
        return values


def _numbers(values: Any, name: str) -> Array:
    try:
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        returned = type(values).__name__
        raise ValueError(f"{name} must return numbers, got {returned}: {error}") from error


@dataclass
class State:
    """All chains: whitened state, theta - mean, and what is known there; one row a chain."""

    z: Array
    deviation: Array
    log_likelihood: Array
    gradient: Array | None = None

    def replace(self, rows: NDArray[np.bool_], other: "State") -> None:
        """Take over the rows of ``other`` where ``rows`` is True."""
        self.z[rows] = other.z[rows]
        self.deviation[rows] = other.deviation[rows]
        self.log_likelihood[rows] = other.log_likelihood[rows]
        if self.gradient is not None and other.gradient is not None:
            self.gradient[rows] = other.gradient[rows]
