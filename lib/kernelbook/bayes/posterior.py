r"""Log posteriors of centres :math:`a = \sum_i c_i \phi(x_i)` of sum 1, with gradients.

Both Bayesian descriptions have the likelihood of :math:`n_0` targets
:math:`\phi(x_i) \sim N(a, I)`,

.. math::  \log L = -\tfrac12 \sum_{i \le n_0} \|\phi(x_i) - a\|^2
                  = c^\top k - \tfrac{n_0}2 c^\top K c + \text{constant}, \qquad
           k = K_{\cdot 0} \mathbf 1,

where the constant, :math:`-\tfrac12 \sum_i K_{ii}`, is dropped. They differ in the coefficients
c only: weights of a softmax, from which those of a minority may be taken away.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import LinAlgError, cho_factor, cho_solve
from scipy.special import expit, log_expit, softmax

from kernelbook.exceptions import NotPositiveSemidefiniteError
from kernelbook.kernels import Array, Matrix
from kernelbook.validation import check_number

__all__ = ["SpherePosterior"]


class SpherePosterior:
    r"""Posterior of a centre, over logits :math:`\theta = (\tau, \operatorname{logit} \alpha_1)`.

    .. math::  \alpha_0 = \operatorname{softmax}(\tau)\, (1 + \mathbf 1^\top \alpha_1), \quad
               c = (\alpha_0, -\alpha_1), \quad \tau \sim N(m, \Sigma), \quad
               \alpha_{1l} \sim \mathrm{Beta}(p, q)

    and the log posterior, without normalising constants and :math:`-\tfrac12 \sum_i K_{ii}`, is

    .. math::  -\tfrac12 \bigl\{ n_0 c^\top K c - 2 c^\top K_{\cdot 0} \mathbf 1 \bigr\}
               - \tfrac12 (\tau - m)^\top \Sigma^{-1} (\tau - m)
               + \sum_l (p - 1) \log \alpha_{1l} + (q - 1) \log(1 - \alpha_{1l}).

    Without a minority :math:`c = \alpha = \operatorname{softmax}(\beta)`, :math:`\beta = \tau`,
    and only the first two terms are left.

    Parameters
    ----------
    K : ndarray of shape (n, n)
        Gram matrix of targets and minority, in any order.
    signs : ndarray of shape (n,)
        +1 for a target, -1 for a point of the minority.
    prior_mean : ndarray of shape (n_0,)
        The mean m of :math:`\tau`.
    prior_cov : float or ndarray of shape (n_0, n_0), default=1.0
        The covariance :math:`\Sigma`; a number s for s I.
    minority_prior : pair of float, default=(1.0, 1.0)
        The parameters p and q; (1, 1) is the uniform prior.
    constant : float, default=0.0
        Added to the log likelihood. A Gram matrix that lacks terms of one argument only gives
        the same likelihood but for a constant, since the coefficients have the sum 1.

    Notes
    -----
    All methods take many states at once, one a row, and use one product with K for all of them.

    Examples
    --------
    Two orthogonal points with equal weights: c'k = 1 and n c'Kc / 2 = 1/2.

    >>> import numpy as np
    >>> posterior = SpherePosterior(np.eye(2), np.ones(2), np.zeros(2))
    >>> posterior.coefficients(np.zeros((1, 2))).tolist()
    [[0.5, 0.5]]
    >>> posterior.log_posterior(np.zeros((1, 2))).tolist()
    [0.5]
    """

    def __init__(
        self,
        K: Matrix,
        signs: ArrayLike,
        prior_mean: Array,
        prior_cov: float | Matrix = 1.0,
        *,
        minority_prior: tuple[float, float] = (1.0, 1.0),
        constant: float = 0.0,
    ) -> None:
        signs = np.asarray(signs)
        self.K = K
        self.targets = np.flatnonzero(signs > 0)
        self.minority = np.flatnonzero(signs < 0)
        self.prior_mean = prior_mean
        self.prior_cov = prior_cov
        self.minority_prior = check_beta_prior(minority_prior)
        self.constant = constant
        self.row_sums = K[:, self.targets].sum(axis=1)

    def __repr__(self) -> str:
        return f"SpherePosterior({self.n_targets} targets, {len(self.minority)} of the minority)"

    @property
    def n_targets(self) -> int:
        """Number of targets n_0, the length of tau."""
        return len(self.targets)

    @property
    def n_flat(self) -> int:
        """Number of coordinates of theta without a Gaussian prior: the logits of alpha_1."""
        return len(self.minority)

    def shares(self, theta: Array) -> Array:
        r"""Return the weights :math:`\operatorname{softmax}(\tau)` of each state.

        Parameters
        ----------
        theta : ndarray of shape (m, n_0 + n_1)
            States, one a row.

        Returns
        -------
        ndarray of shape (m, n_0)
            Weights >= 0 of sum 1.
        """
        return softmax(theta[:, : self.n_targets], axis=1)

    def coefficients(self, theta: Array) -> Array:
        """Return the coefficients c of each state.

        Parameters
        ----------
        theta : ndarray of shape (m, n_0 + n_1)
            States, one a row.

        Returns
        -------
        ndarray of shape (m, n)
            Coefficients of sum 1, in the order of K: positive for targets, negative for the
            minority.
        """
        return self._coefficients(self.shares(theta), expit(theta[:, self.n_targets :]))

    def _coefficients(self, shares: Array, minority: Array) -> Array:
        c = np.empty((len(shares), len(self.K)))
        c[:, self.targets] = shares * (1.0 + minority.sum(axis=1, keepdims=True))
        c[:, self.minority] = -minority
        return c

    def log_likelihood(self, theta: Array) -> tuple[Array, Array]:
        r"""Return all but the Gaussian prior, as a density of :math:`\theta`, and its gradient.

        Includes the Beta prior and the Jacobian of the logit,
        :math:`\alpha_1 (1 - \alpha_1)`, so that flat coordinates can be sampled as they are.

        Parameters
        ----------
        theta : ndarray of shape (m, n_0 + n_1)
            States, one a row.

        Returns
        -------
        values : ndarray of shape (m,)
            Logarithms, without normalising constants.
        gradients : ndarray of shape (m, n_0 + n_1)
            Their gradients in :math:`\theta`.
        """
        values, gradients = self._likelihood(theta)
        if self.n_flat:
            logits = theta[:, self.n_targets :]
            p, q = self.minority_prior
            values += (p * log_expit(logits) + q * log_expit(-logits)).sum(axis=1)
            gradients[:, self.n_targets :] += p - (p + q) * expit(logits)
        return values, gradients

    def log_posterior(self, theta: Array) -> Array:
        r"""Return the log posterior as printed above, a density of :math:`(\tau, \alpha_1)`.

        Parameters
        ----------
        theta : ndarray of shape (m, n_0 + n_1)
            States, one a row.

        Returns
        -------
        ndarray of shape (m,)
            Logarithms, without normalising constants.

        Raises
        ------
        NotPositiveSemidefiniteError
            If the covariance is not positive definite.
        """
        values, _ = self._likelihood(theta)
        if self.n_flat and self.minority_prior != (1.0, 1.0):
            logits = theta[:, self.n_targets :]
            p, q = self.minority_prior
            terms = (p - 1.0) * log_expit(logits) + (q - 1.0) * log_expit(-logits)
            values += terms.sum(axis=1)
        return values - self._gaussian_energy(theta[:, : self.n_targets] - self.prior_mean)

    def _likelihood(self, theta: Array) -> tuple[Array, Array]:
        shares, minority = self.shares(theta), expit(theta[:, self.n_targets :])
        c = self._coefficients(shares, minority)
        slope = self.row_sums - self.n_targets * (c @ self.K)
        values = 0.5 * np.einsum("ij,ij->i", c, slope + self.row_sums) + self.constant
        u = slope[:, self.targets]
        mean_slope = np.einsum("ij,ij->i", shares, u)[:, None]
        total = 1.0 + minority.sum(axis=1, keepdims=True)
        gradients = np.empty_like(theta)
        gradients[:, : self.n_targets] = total * shares * (u - mean_slope)
        if self.n_flat:
            jacobian = minority * (1.0 - minority)
            gradients[:, self.n_targets :] = jacobian * (mean_slope - slope[:, self.minority])
        return values, gradients

    def _gaussian_energy(self, deviation: Array) -> Array:
        if np.ndim(self.prior_cov) == 0:
            return 0.5 * np.einsum("ij,ij->i", deviation, deviation) / self.prior_cov
        try:
            factor = cho_factor(self.prior_cov, lower=True)
        except LinAlgError as error:
            raise NotPositiveSemidefiniteError(
                "the prior has no density: its covariance is not positive definite."
            ) from error
        return 0.5 * np.einsum("ij,ji->i", deviation, cho_solve(factor, deviation.T))


def check_beta_prior(minority_prior: Any) -> tuple[float, float]:
    """Return the two positive parameters of a Beta distribution, or raise an error.

    Parameters
    ----------
    minority_prior : object
        What the caller handed in.

    Returns
    -------
    pair of float
        The parameters p and q.

    Raises
    ------
    ValueError
        If it is not a pair of positive numbers.

    Examples
    --------
    >>> check_beta_prior((1, 9))
    (1.0, 9.0)
    """
    try:
        p, q = minority_prior
    except (TypeError, ValueError):
        raise ValueError(
            "minority_prior must be a pair of positive numbers, the parameters of a Beta "
            f"distribution, got {minority_prior!r}."
        ) from None
    name = "each number of minority_prior"
    return (
        check_number(p, name, low=0, inclusive="neither"),
        check_number(q, name, low=0, inclusive="neither"),
    )
