"""The one-class support vector machine with a conformally transformed kernel."""

from __future__ import annotations

from dataclasses import replace
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import OutlierMixin, clone
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.validation import check_is_fitted, validate_data

from kernelbook.conformal.factors import GaussianFactor
from kernelbook.conformal.kernel import Conformal
from kernelbook.conformal.schemes import SIGMA_RULE, Centres, resolve_tau
from kernelbook.conformal.spaces import check_metric
from kernelbook.estimator import (
    KERNEL_CONSTRAINTS,
    SOLVER_CONSTRAINTS,
    KernelEstimator,
    Number,
    all_or_nothing,
    check_weights,
)
from kernelbook.exceptions import CollapseWarning, warn_user
from kernelbook.kernels import Array, Index, Kernel, KernelLike, Matrix
from kernelbook.oneclass import OneClassSVM

__all__ = ["ConformalOneClassSVM"]


# Where the factor falls below this fraction of its maximum, the images lie at the origin for any
# solver in double precision.
VANISHED = 1e-6

# Of a sum of weights, relative: a fraction of exactly nu may come out a little below it.
ROUNDING = 1e-12


class ConformalOneClassSVM(OutlierMixin, KernelEstimator):
    r"""One-class SVM whose kernel is conformally transformed around its margin support vectors.

    A first :class:`~kernelbook.oneclass.OneClassSVM` with the kernel K gives the factor

    .. math:: c(x) = \epsilon + \sum_{k:\, 0 < \alpha_k < 1/(\nu n)}
              \alpha_k\, e^{-d_k(x)^2 / 2\tau^2}

    with :math:`d_k(x)` the distance to the k-th margin support vector, and the second one has
    the kernel :math:`\tilde K(x, y) = c(x)\, c(y)\, K(x, y)`:

    .. math:: f(x) = c(x) \sum_i \alpha_i c(x_i) K(x_i, x) - \rho.

    Parameters
    ----------
    nu : float, default=0.5
        In (0, 1], of both machines.
    kernel : str, Kernel or callable, default='rbf'
        One of 'linear', 'poly', 'rbf', 'laplacian', 'sigmoid' and 'precomputed', an object of
        :mod:`kernelbook.kernels`, or a function of (X, Y) that returns the matrix of values.
    degree : int, default=3
        Degree of the polynomial kernel; ignored by the others.
    gamma : {'scale', 'auto', 'median', 'mean_distance'} or float, default='scale'
        Width of 'rbf', 'poly', 'laplacian' and 'sigmoid'; 'mean_distance' is for 'laplacian' only.
        See :func:`~kernelbook.kernels.resolve_gamma`.
    coef0 : float, default=0.0
        Independent term of 'poly' and 'sigmoid'.
    tau : float or 'sigma/sqrt(d)', default='sigma/sqrt(d)'
        Width of the bumps, in units of the distance. The rule, with
        :math:`\sigma = 1/\sqrt{2\gamma}` and d the number of features (not of points), needs
        the RBF kernel and distances in input space.
    floor : float, default=0.0
        :math:`\epsilon` as a fraction of the largest value of the sum over the training points.
        A positive one keeps c from vanishing.
    metric : {'input', 'feature'}, default=None
        Where distances are measured. If None, 'feature' for a precomputed kernel, whose K(x, x)
        has to be constant, and else 'input'.
    n_passes : int, default=1
        How often the kernel is transformed: each pass makes a factor for the original K from
        the machine of the pass before.
    tol : float, default=1e-9
        Largest violation of the optimality conditions, as for
        :class:`~kernelbook.oneclass.OneClassSVM`.
    max_iter : int, default=100
        Maximum number of interior-point steps, or of working sets of the exact solver.
    solver : {'auto', 'exact', 'low_rank', 'dense', 'reference'}, default='auto'
        'auto' takes the one that suits the problem; the solution is the same. See
        :func:`~kernelbook.qp.solve_qp`.
    cache_size : float, default=200.0
        Megabytes for kernel rows of the exact solver; its working sets may take four times that.

    Attributes
    ----------
    alpha_ : ndarray of shape (n,)
        Dual variables of the second machine, of sum 1.
    certificate_ : Certificate
        ``duality_gap`` (relative), ``kkt_violation`` and ``status`` of the second machine.
    degeneracy_ : str or None
        Why the solution, optimal as it is, tells little about new points; None if it does not.
    dual_coef_ : ndarray of shape (1, n_SV)
        alpha of the support vectors of the second machine.
    factor_ : ConformalFactor
        c, callable on points; ``log`` and ``gradient`` are its logarithm and its gradient.
    fallback_ : str or None
        What could not be done as asked, and was done instead; None if nothing.
    feature_names_in_ : ndarray of shape (d,)
        Names of the features, if X has string names.
    gamma_ : float
        The width of K, if it has one.
    intercept_ : ndarray of shape (1,)
        :math:`-\rho`.
    kernel_ : Conformal
        The transformed kernel; ``kernel_.kernel`` is K.
    machine_ : OneClassSVM
        The second machine.
    n_features_in_ : int
        Number of features.
    n_iter_ : int
        Interior-point steps, or working sets, of the second machine.
    n_support_ : ndarray of shape (1,)
        Number of support vectors.
    offset_ : float
        :math:`\rho`.
    previous_ : OneClassSVM or ConformalOneClassSVM
        The machine that c was made from.
    support_ : ndarray of shape (n_SV,)
        Indices of the support vectors of the second machine.
    support_factor_ : ndarray of shape (n_SV,)
        c at the support vectors.
    support_vectors_ : ndarray of shape (n_SV, d)
        The support vectors; empty for a precomputed kernel.
    vanished_fraction_ : float
        Fraction of the training points (of their weights) with c(x) < 1e-6 max c.

    Raises
    ------
    ValueError
        If a parameter is out of range, or the kernel does not have the rule for tau.
    NotPositiveSemidefiniteError
        If the kernel matrix has a negative eigenvalue.

    Warns
    -----
    CollapseWarning
        If ``vanished_fraction_`` is nu or more, in any pass. A ConvergenceWarning of the solver may
        follow: such a program has no solution in double precision.

    See Also
    --------
    kernelbook.conformal.Conformal : The transformed kernel.
    kernelbook.svdd.SVDD : A sphere in place of a hyperplane.

    Notes
    -----
    **Collapse.** Where c is tiny the image of x lies next to the origin, which the hyperplane
    separates from the data. A point takes at most :math:`1/(\nu n)` of the weight, so fewer than
    :math:`\nu n` vanished points do no harm; :math:`\nu n` or more can take all of it. As c > 0
    the nu-property still holds in exact arithmetic, but :math:`\rho` is of the order of the
    square of the :math:`\nu n`-th smallest c: it falls below any solver's tolerance, and the signs
    of f are arbitrary. There is no warning of a smaller loss: at a :math:`\rho` of 1e-8 max c
    squared, a solver of tolerance 1e-3 has lost the signs already. What helps: a floor, a larger
    tau. What does not: normalising the kernel, which undoes the transformation altogether, and
    SVDD, whose sphere holds the origin, so that it accepts all far points.

    **Fallbacks.** Without margin support vectors (all at the bound, as for nu = 1) all support
    vectors serve. If they lie in one place c is a bump like any other: tau gives its width.

    **Scale.** A factor of 2 in c multiplies f by 4 and changes no sign. Copies of a point count
    once, with the sum of their alphas. The form of c is that of [Cohen2004]_,
    whose contributions we read as the alphas, with Amari and Wu's tau. Notebook 11.

    References
    ----------
    [Cohen2004]_

    Examples
    --------
    >>> X = [[-1.0], [0.0], [1.0]]
    >>> model = ConformalOneClassSVM(nu=0.5, gamma=0.5, tau=1.0).fit(X)
    >>> model.predict([[0.0], [9.0]]).tolist(), model.vanished_fraction_
    ([1, -1], 0.0)
    """

    factor_: GaussianFactor
    fallback_: str | None
    machine_: OneClassSVM
    n_support_: NDArray[np.int32]
    offset_: float
    previous_: OneClassSVM | ConformalOneClassSVM
    support_factor_: Array
    vanished_fraction_: float

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "nu": [Number(Real, 0, 1, closed="right")],
        "tau": [StrOptions({SIGMA_RULE}), Number(Real, 0, None, closed="neither")],
        "floor": [Number(Real, 0, None, closed="left")],
        "metric": [StrOptions({"feature", "input"}), None],
        "n_passes": [Number(Integral, 1, None, closed="left")],
        **KERNEL_CONSTRAINTS,
        **SOLVER_CONSTRAINTS,
    }

    def __init__(
        self,
        nu: float = 0.5,
        *,
        kernel: KernelLike = "rbf",
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
        cache_size: float = 200.0,
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
        self.cache_size = cache_size

    @all_or_nothing
    def fit(self, X: ArrayLike, y: object = None, sample_weight: ArrayLike | None = None) -> Self:
        """Fit both machines.

        Parameters
        ----------
        X : array-like of shape (n, d) or (n, n)
            Training points, or the Gram matrix for a precomputed kernel.
        y : Ignored
            Not used, present for API consistency by convention.
        sample_weight : array-like of shape (n,), default=None
            How often each point counts. A weight of 0 leaves the point out.

        Returns
        -------
        ConformalOneClassSVM
            The fitted estimator.
        """
        self._validate_params()
        X = validate_data(self, X, dtype=np.float64)
        weights = check_weights(sample_weight, X)
        kernel = self._resolve_kernel(X, weights)
        metric = self.metric or ("feature" if kernel.is_precomputed else "input")
        check_metric(metric, kernel)
        tau = resolve_tau(self.tau, kernel, metric, X.shape[1])
        assert tau is not None  # None answers 'auto' only, which this machine does not have
        before = self._machine_before(kernel).fit(X, sample_weight=weights)
        margin, self.fallback_ = _margin_support(before, weights / (self.nu * weights.sum()))
        centres = Centres.of(
            X, np.ones(len(X)), before.alpha_, margin, metric=metric, kernel=kernel
        )
        factor = GaussianFactor(
            centres.space, np.full(len(centres.index), 2.0 * tau**2), centres.alpha
        )
        kept = np.flatnonzero(weights)
        factor = replace(factor, floor=self.floor * float(factor(X[kept]).max()))
        self.vanished_fraction_ = _vanished_fraction(factor, X[kept], weights[kept])
        _warn_of_collapse(self.vanished_fraction_, self.nu)
        columns = kept if kernel.is_precomputed and len(kept) < len(X) else None
        machine = self._machine(Conformal(kernel, factor, columns))
        machine.fit(X, sample_weight=weights)
        self.previous_, self.machine_ = before, machine
        self.factor_, self.support_factor_ = factor, factor(X[machine.support_])
        self.offset_, self.n_support_ = machine.offset_, machine.n_support_
        self._adopt(machine)
        return self

    def decision_function(self, X: ArrayLike) -> Array:
        r"""Evaluate :math:`f(x) = c(x) \sum_i \alpha_i c(x_i) K(x_i, x) - \rho`.

        Parameters
        ----------
        X : array-like of shape (m, d), or (m, n_train) for a precomputed kernel
            Points, or their kernel values with the training points.

        Returns
        -------
        ndarray of shape (m,)
            Positive inside, exactly 0 on the boundary: see
            :meth:`~kernelbook.oneclass.OneClassSVM.decision_function`.
        """
        check_is_fitted(self)
        return self.machine_.decision_function(self._check_new_points(X))

    def score_samples(self, X: ArrayLike) -> Array:
        r"""Evaluate :math:`f(x) + \rho`.

        Parameters
        ----------
        X : array-like of shape (m, d), or (m, n_train) for a precomputed kernel
            Points, or their kernel values with the training points.

        Returns
        -------
        ndarray of shape (m,)
            Higher means more normal.
        """
        check_is_fitted(self)
        return self.machine_.score_samples(self._check_new_points(X))

    def predict(self, X: ArrayLike) -> NDArray[np.int_]:
        """Predict which points are normal.

        Parameters
        ----------
        X : array-like of shape (m, d), or (m, n_train) for a precomputed kernel
            Points, or their kernel values with the training points.

        Returns
        -------
        ndarray of shape (m,)
            +1 for points inside or on the boundary, -1 for those outside.
        """
        check_is_fitted(self)
        return self.machine_.predict(self._check_new_points(X))

    def _machine(self, kernel: Kernel) -> OneClassSVM:
        return OneClassSVM(
            self.nu,
            kernel=kernel,
            tol=self.tol,
            max_iter=self.max_iter,
            solver=self.solver,
            cache_size=self.cache_size,
        )

    def _machine_before(self, kernel: Kernel) -> OneClassSVM | ConformalOneClassSVM:
        if self.n_passes == 1:
            return self._machine(kernel)
        machine: ConformalOneClassSVM = clone(self).set_params(
            kernel=kernel, n_passes=self.n_passes - 1
        )
        return machine


def _margin_support(
    machine: OneClassSVM | ConformalOneClassSVM, box: Array
) -> tuple[Index, str | None]:
    """Support vectors on the margin, or all of them if there is none, and what to say then."""
    margin = np.flatnonzero((machine.alpha_ > 0) & (machine.alpha_ < box))
    if len(margin) > 0:
        return margin, None
    note = "no support vector lies on the margin: all support vectors serve"
    return machine.support_, note


def _vanished_fraction(factor: GaussianFactor, X: Matrix, weights: Array) -> float:
    """Fraction of the weights of points at which the factor has vanished."""
    log_c = factor.log(X)
    return float(weights[log_c < log_c.max() + np.log(VANISHED)].sum() / weights.sum())


def _warn_of_collapse(fraction: float, nu: float) -> None:
    """Warn if a fraction nu of the points, or more, has vanished: they can take all the weight."""
    if fraction >= nu * (1 - ROUNDING):
        warn_user(
            f"the factor has vanished (c below {VANISHED:g} of its maximum) at {fraction:.1%} of "
            f"the training points, not fewer than nu = {nu:g}: what the machine accepts is "
            "arbitrary. Raise floor (1e-3, say) or tau; SVDD does not help, its sphere would hold "
            "the vanished points.",
            CollapseWarning,
        )
