"""The one-class support vector machine with a conformally transformed kernel."""

import warnings
from dataclasses import replace
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone

from kernelbook.base import atomic_fit
from kernelbook.conformal import schemes
from kernelbook.conformal.checks import SIGMA_RULE, check_count, check_metric, sigma_over_root_d
from kernelbook.conformal.factors import ConformalFactor, GaussianFactor
from kernelbook.conformal.machine import ConformalMachine, Scaled
from kernelbook.exceptions import CollapseWarning
from kernelbook.kernels import Kernel, Matrix, check_positive
from kernelbook.oneclass import OneClassSVM
from kernelbook.support import positive_weights

__all__ = ["ConformalOneClassSVM"]

Array = NDArray[np.float64]
Index = NDArray[np.intp]

# Where the factor falls below this share of its maximum, the images lie at the origin for any
# solver in double precision.
VANISHED = 1e-6


class ConformalOneClassSVM(ConformalMachine, OneClassSVM):
    r"""One-class SVM whose kernel is conformally transformed around its margin support vectors.

    A first :class:`~kernelbook.oneclass.OneClassSVM` with the kernel K gives the factor

    .. math:: c(x) = \epsilon + \sum_{k:\, 0 < \alpha_k < 1/(\nu n)}
              \alpha_k\, e^{-d_k(x)^2 / 2\tau^2}

    with :math:`d_k(x)` the distance to the k-th margin support vector, and the second machine
    solves the same problem with :math:`\tilde K(x, y) = c(x)\, c(y)\, K(x, y)`:

    .. math:: f(x) = c(x) \sum_i \alpha_i c(x_i) K(x_i, x) - \rho.

    Parameters
    ----------
    nu : float, default=0.5
        In (0, 1], of both machines.
    kernel : {'linear', 'poly', 'rbf', 'laplacian', 'sigmoid', 'precomputed'} or callable
    degree, gamma, coef0
        Of the kernel, as for :class:`~kernelbook.oneclass.OneClassSVM`.
    tau : float or 'sigma/sqrt(d)', default='sigma/sqrt(d)'
        Width of the bumps, in units of the distance. The rule, with
        :math:`\sigma = 1/\sqrt{2\gamma}` and d the number of features (not of points), needs
        the RBF kernel and distances in input space.
    floor : float, default=0.0
        :math:`\epsilon` as a share of the largest value of the sum over the training points. A
        positive one keeps c from vanishing.
    metric : {'input', 'feature'}, optional
        Where distances are measured; 'input' by default, 'feature' for a precomputed kernel,
        whose K(x, x) has to be constant.
    n_passes : int, default=1
        How often the kernel is transformed: each pass makes a factor for the original K from
        the machine of the pass before.
    tol, max_iter, solver
        As for :class:`~kernelbook.oneclass.OneClassSVM`.

    Attributes
    ----------
    factor_ : ConformalFactor
        c, callable on points.
    previous_ : OneClassSVM or ConformalOneClassSVM
        The machine that c was made from.
    vanished_share_ : float
        Share of the training points (of their weights) with c(x) < 1e-6 max c.
    fallback_ : str or None
        What could not be done as asked, and was done instead; None if nothing.
    support_factor_ : ndarray, shape (n_SV,)
        c at the support vectors.
    alpha_, certificate_, offset_, intercept_, support_, support_vectors_, dual_coef_
        Of the second machine, as for :class:`~kernelbook.oneclass.OneClassSVM`.
    gamma_, n_support_, n_iter_, n_features_in_

    Warns
    -----
    CollapseWarning
        If ``vanished_share_`` exceeds nu, in any pass. A ConvergenceWarning of the solver may
        follow: such a program has no solution in double precision.

    Raises
    ------
    ValueError
        For parameters out of range, a rule for tau that the kernel does not have.

    Notes
    -----
    **Collapse.** Where c is tiny the image of x lies next to the origin, which the hyperplane
    parts from the data. As c > 0 the nu-property holds in exact arithmetic; but once more than a
    share nu of the points has vanished, the optimum :math:`\tfrac12\|w\|^2` falls below any
    solver's tolerance, and the signs of f are arbitrary. What helps: a floor, a larger tau. What
    does not: normalising the kernel, which undoes the transformation altogether, and SVDD,
    whose sphere holds the origin, so that it accepts all far points.

    **Fallbacks.** Without margin support vectors (all at the bound, as for nu = 1) all support
    vectors serve. If they lie in one place c is a bump like any other: tau gives its width.

    **Scale.** A factor of 2 in c multiplies f by 4 and changes no sign. Copies of a point count
    once, with the sum of their alphas. The form of c is that of [Cohen2004]_
    with Amari and Wu's tau. Notebook 11.

    References
    ----------
    [Cohen2004]_

    Examples
    --------
    >>> X = [[-1.0], [0.0], [1.0]]
    >>> model = ConformalOneClassSVM(nu=0.5, gamma=0.5, tau=1.0).fit(X)
    >>> model.predict([[0.0], [9.0]]).tolist(), model.vanished_share_
    ([1, -1], 0.0)
    """

    def __init__(
        self,
        nu: float = 0.5,
        *,
        kernel: Kernel = "rbf",
        degree: int = 3,
        gamma: float | str = "scale",
        coef0: float = 0.0,
        tau: float | str = SIGMA_RULE,
        floor: float = 0.0,
        metric: str | None = None,
        n_passes: int = 1,
        tol: float = 1e-9,
        max_iter: int = 100,
        solver: str = "auto",
    ) -> None:
        self.nu = nu
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.tau = tau
        self.floor = floor
        self.metric = metric
        self.n_passes = n_passes
        self.tol = tol
        self.max_iter = max_iter
        self.solver = solver

    @atomic_fit
    def fit(
        self, X: ArrayLike, y: ArrayLike | None = None, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Fit to points X (n, d), or a Gram matrix (n, n).

        Parameters
        ----------
        X : array-like, shape (n, d) or (n, n)
        y : None
            Not looked at; there so that pipelines can pass it.
        sample_weight : array-like, shape (n,), optional
            How often each point counts; 0 leaves it out.

        Returns
        -------
        self
        """
        precomputed = self._is_precomputed()
        metric = "feature" if precomputed else "input"
        if self.metric is not None:
            metric = check_metric(self.metric, precomputed)
        floor = check_positive("floor", self.floor, zero=True)
        tau = self._checked_tau(metric)
        n_passes = check_count("n_passes", self.n_passes)
        X = self._training_points(X)
        self._require_square(X)
        weights = positive_weights(sample_weight, X)
        self.previous_ = self._machine_before(n_passes).fit(X, None, weights)
        kept = np.flatnonzero(weights)
        scaled = self._second_quadratic(self._rows(X, kept))
        box = weights[kept] / (self.nu * weights.sum())
        if tau is None:
            tau = sigma_over_root_d(self.gamma_, self.n_features_in_)
        margin = self._margin(kept, box)
        factor = self._make_factor(X, margin, metric, tau)
        self.factor_ = _with_floor(factor, floor, X[kept])
        self._warn_of_collapse(X[kept], weights[kept])
        self._solve_second(X, kept, scaled, box)
        return self

    def _checked_tau(self, metric: str) -> float | None:
        if not isinstance(self.tau, str):
            return check_positive("tau", self.tau)
        if self.tau != SIGMA_RULE:
            raise ValueError(f"tau must be a number or {SIGMA_RULE!r}, got {self.tau!r}.")
        if self.kernel != "rbf" or metric != "input":
            raise ValueError(
                f"tau={SIGMA_RULE!r} needs kernel='rbf' and metric='input': elsewhere there is "
                "no sigma. Give tau as a number, in units of the distance."
            )
        return None

    def _machine_before(self, n_passes: int) -> OneClassSVM:
        if n_passes > 1:
            machine: OneClassSVM = clone(self).set_params(n_passes=n_passes - 1)
            return machine
        return OneClassSVM(
            self.nu,
            kernel=self.kernel,
            degree=self.degree,
            gamma=self.gamma,
            coef0=self.coef0,
            tol=self.tol,
            max_iter=self.max_iter,
            solver=self.solver,
        )

    def _margin(self, kept: Index, box: Array) -> Index:
        """Rows of the margin support vectors of the machine before, or of all if there is none."""
        alpha = self.previous_.alpha_[kept]
        margin = kept[(alpha > 0) & (alpha < box)]
        self.fallback_ = None
        if len(margin) == 0:
            self.fallback_ = "no support vector lies on the margin: all support vectors serve"
            margin = self.previous_.support_
        return margin

    def _make_factor(self, X: Matrix, margin: Index, metric: str, tau: float) -> GaussianFactor:
        centres = schemes.Centres.of(self.previous_, X, np.ones(len(X)), margin, metric, False)
        widths = np.full(len(centres.index), 2.0 * tau**2)
        return GaussianFactor(centres.space, widths, centres.alpha)

    def _solve_second(self, X: Matrix, kept: Index, scaled: Scaled, box: Array) -> None:
        Q = scaled(self.factor_(X[kept]))
        nothing = np.zeros(len(kept))
        solution = self._solve_program(Q, nothing, np.ones(len(kept)), 1.0, 0.0, box)
        self._keep_detector(X, kept, solution, nothing)
        self.support_factor_ = self.factor_(X[self.support_])
        self._resolution = self.tol * float(np.abs(solution.product).max())

    def _warn_of_collapse(self, X: Matrix, weights: Array) -> None:
        log_c = self.factor_.log(X)
        vanished = log_c < log_c.max() + np.log(VANISHED)
        self.vanished_share_ = float(weights[vanished].sum() / weights.sum())
        if self.vanished_share_ > self.nu:
            warnings.warn(
                f"the factor has vanished (c below {VANISHED:g} of its maximum) at "
                f"{self.vanished_share_:.1%} of the training points, more than nu = {self.nu:g}: "
                "what the machine accepts is arbitrary. Raise floor (1e-3, say) or tau; SVDD "
                "does not help, its sphere would hold the vanished points.",
                CollapseWarning,
                stacklevel=4,
            )


def _with_floor(factor: GaussianFactor, floor: float, X: Matrix) -> ConformalFactor:
    """Add a constant: the share ``floor`` of the factor's maximum over the points."""
    return replace(factor, floor=floor * float(np.exp(factor.log(X).max())))
