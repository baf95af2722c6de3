"""Two-pass support vector classifiers with a conformally transformed kernel."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassifierMixin, clone
from sklearn.utils import Tags
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.validation import check_is_fitted, validate_data

from kernelbook.conformal import schemes
from kernelbook.conformal.factors import ConformalFactor, Machine, normalizing_scale
from kernelbook.conformal.kernel import Conformal, KnownValues
from kernelbook.conformal.spaces import check_metric
from kernelbook.estimator import (
    KERNEL_CONSTRAINTS,
    SOLVER_CONSTRAINTS,
    KernelEstimator,
    Number,
    all_or_nothing,
    check_weights,
)
from kernelbook.kernels import Array, Index, Kernel, KernelLike, Matrix
from kernelbook.svm import KernelSVC, encode_labels

__all__ = ["ConformalSVC"]


WORSE = (
    "the factor costs more than half of what the machine before tells about the training points: "
    "the factor is constant"
)
TELLS_NOTHING = (
    "no better than a constant classifier on the training points, before or after: raise C, or "
    "set class_weight='balanced'"
)


class ConformalSVC(ClassifierMixin, KernelEstimator):
    r"""Support vector classifier with a kernel that its own first fit has conformally transformed.

    A first :class:`~kernelbook.svm.KernelSVC` is fitted with the kernel K; its support vectors
    make a factor D; the second one has the kernel

    .. math:: \tilde K(x, y) = D(x)\, D(y)\, K(x, y),\qquad
              f(x) = D(x) \sum_i \alpha_i y_i D(x_i) K(x_i, x) + b.

    It serves to study and to compare the schemes. For a rare class try a class weight of
    :class:`~kernelbook.svm.KernelSVC` first: on six data sets no scheme was shown to beat it
    (notebook 10), and none repaired a badly chosen kernel (notebook 09).

    Parameters
    ----------
    scheme : {'wu_chang', 'amari_wu', 'wu_amari', 'williams', 'kba'}, default='wu_chang'
        Where D comes from, after the papers as we know them; :math:`d_k(x)` is the distance to the
        k-th support vector x_k of the first machine, by ``metric``.

        'amari_wu' [Amari1999]_: :math:`D = \sum_k \alpha_k e^{-d_k^2 / 2\tau^2}`.

        'wu_amari' [Wu2002]_: :math:`D = \sum_k e^{-d_k^2 / \tau_k^2}`, with :math:`\tau_k^2` the
        mean squared distance from x_k to the ``n_neighbors`` nearest other support vectors.

        'williams' [Williams2007]_: :math:`D = e^{-\kappa f(x)^2}` with f the first machine.

        'wu_chang' [Wu2003]_: :math:`D = \sum_k e^{-d_k^2 / \eta_k\tau_k^2}`, with :math:`\tau_k^2`
        the mean squared distance from x_k to the support vectors of the other class that are no
        farther than the midpoint between its nearest and its farthest support vector (without
        any, the squared distance to the nearest of the other class), and :math:`\eta_k`, as we
        read it, the number of support vectors of the other class by that of its own.

        'kba', after the idea of [Wu2005]_: bumps at an ideal boundary; see Notes.
    C : float, default=1.0
        Cost of an error in the first machine, as for :class:`~kernelbook.svm.KernelSVC`.
    C_second : float, default=None
        That of the second one. If None, C.
    kernel : str, Kernel or callable, default='rbf'
        One of 'linear', 'poly', 'rbf', 'laplacian', 'sigmoid' and 'precomputed', an object of
        :mod:`kernelbook.kernels`, or a function of (X, Y) that returns the matrix of values.
        Distances in feature space need K(x, x): with 'precomputed' it has to be constant.
    degree : int, default=3
        Degree of the polynomial kernel; ignored by the others.
    gamma : {'scale', 'auto', 'median', 'mean_distance'} or float, default='scale'
        Width of 'rbf', 'poly', 'laplacian' and 'sigmoid'; 'mean_distance' is for 'laplacian' only.
        See :func:`~kernelbook.kernels.resolve_gamma`.
    coef0 : float, default=0.0
        Independent term of 'poly' and 'sigmoid'.
    class_weight : dict or 'balanced', default=None
        As for :class:`~kernelbook.svm.KernelSVC`.
    metric : {'feature', 'input'}, default=None
        Where the distances of D and of its widths are measured. If None, in feature space for
        'wu_chang' and 'kba' (our choice: a README of 'wu_chang' has input distances in D), in
        input space for 'amari_wu' and 'wu_amari'.
    normalize : bool, default=True
        Whether D is scaled so that the mean of :math:`\tilde K(x_i, x_i)` over the training points
        is that of :math:`K(x_i, x_i)`. If not, part of any effect is that of another C.
    n_passes : int, default=1
        Number of factors for K, each made from the machine of the pass before.
    tau : float, 'auto' or 'sigma/sqrt(d)', default='auto'
        Of 'amari_wu', in units of the distance. The rule is the paper's, as we know it: d is the
        number of features and :math:`\sigma = 1/\sqrt{2\gamma}`; it needs the RBF kernel and the
        input metric. 'auto' is this rule where it applies, elsewhere :math:`2\tau^2` is the mean of
        the widths of 'wu_amari'.
    n_neighbors : int, default=3
        Of 'wu_amari' (M in the paper), and of 'auto'.
    kappa : float or 'auto', default='auto'
        Of 'williams'. 'auto' gives D = 0.1 at the training set's largest :math:`|f|`.
    eta : pair of float or None, default=None
        Of 'wu_chang': (for ``classes_[0]``, for ``classes_[1]``); None for the rule above.
    boundary : float or 'auto', default='auto'
        Of 'kba': in [1/2, 1], see Notes.
    drop_misclassified : bool, default=False
        Whether support vectors that the first machine puts on the wrong side are left out of D.
    tol : float, default=1e-9
        Largest violation of the optimality conditions, relative to the gradient.
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
        Dual variables of the second machine, without D.
    certificate_ : Certificate
        ``duality_gap`` (relative), ``kkt_violation`` and ``status`` of the second machine.
    classes_ : ndarray of shape (2,)
        The labels; ``classes_[1]`` is the positive class.
    degeneracy_ : str or None
        Why the solution, optimal as it is, tells little about new points; None if it does not.
    dual_coef_ : ndarray of shape (1, n_SV)
        y_i alpha_i of the support vectors of the second machine.
    factor_ : ConformalFactor
        D, callable on points; ``log`` and ``gradient`` are its logarithm and its gradient.
    fallback_ : str or None
        What could not be done as asked, and was done instead; None if nothing.
    feature_names_in_ : ndarray of shape (d,)
        Names of the features, if X has string names.
    gamma_ : float
        The width of K, if it has one.
    intercept_ : ndarray of shape (1,)
        The bias b.
    kernel_ : Conformal
        The transformed kernel; ``kernel_.kernel`` is K.
    machine_ : KernelSVC
        The second machine.
    n_features_in_ : int
        Number of features.
    n_iter_ : int
        Interior-point steps, or working sets, of the second machine.
    n_support_ : ndarray of shape (2,)
        Number of support vectors of each class.
    previous_ : KernelSVC or ConformalSVC
        The machine that D was made from.
    support_ : ndarray of shape (n_SV,)
        Indices of the support vectors of the second machine.
    support_factor_ : ndarray of shape (n_SV,)
        D at the support vectors.
    support_vectors_ : ndarray of shape (n_SV, d)
        The support vectors; empty for a precomputed kernel.

    Raises
    ------
    ValueError
        If a parameter is out of range, or the kernel lacks the metric or the rule for tau.
    NotPositiveSemidefiniteError
        If the kernel matrix has a negative eigenvalue; the message quotes it.

    Warns
    -----
    ConvergenceWarning
        If the solution is not optimal to ``tol``; the message quotes the gap and says what to do.
    CompilationWarning
        Before the loops of the exact solver are compiled, once on a machine.

    See Also
    --------
    AFSCTSVC : Wu and Chang's scheme with a Laplacian kernel and balanced costs.
    kernelbook.conformal.Conformal : The transformed kernel.

    Notes
    -----
    **Fallbacks**, each reported by ``fallback_``. A width of zero (support vectors of both
    classes in one place) becomes the smallest other width; without any the factor is constant.
    If ``drop_misclassified`` would leave a class without support vectors, that class keeps all. If
    the values of the second machine hold half or less of what those of the first tell about the
    training points (sensitivity + specificity - 1, and no more than 0.5), the factor is
    constant. If neither tells anything, that is said.

    **KBA, a derivation.** The first machine is affine between two images :math:`\phi(x^+)` and
    :math:`\phi(x^-)`. A boundary at the fraction :math:`\beta` of the way from the rare to the
    frequent class leaves margins in proportion to :math:`\beta` and :math:`1 - \beta`. With
    r >= 1 the number of frequent support vectors by that of rare ones, the loss
    :math:`r (1-\beta)^2 + \beta^2` of what the margins fall short of is least at
    :math:`\beta = r / (1 + r)`, which ``boundary='auto'`` takes: half way for equal numbers, and
    nearer to the frequent class the rarer the other. Each support vector is paired with the
    nearest of the other class in the metric; :math:`D = \sum_k e^{-d_k^2/\tau_k^2}` over the
    centres :math:`(1-\beta)\phi(x^{rare}) + \beta\phi(x^{frequent})`, with :math:`\tau_k^2` the
    mean squared distance to the support vectors no farther than the midpoint between the nearest
    and the farthest. The ideal boundary and its range are the paper's, as we know it; the
    loss, the pairing and this width are ours, not taken from it.

    **Copies.** Copies of a support vector count once in D, so that a sample weight of k is the
    same as k copies.

    **Prediction** needs the support vectors of both machines, not the training set. Where D
    underflows, f is b. Notebooks 09 and 10.

    References
    ----------
    [Amari1999]_, [Wu2002]_, [Williams2007]_, [Wu2003]_, [Wu2005]_

    Examples
    --------
    The first machine of -1 and 1 is f(x) = x. With kappa = ln 2 the factor is 1/2 at both points
    and the transformed kernel K / 4 there, so that alpha is 1/2 * 4:

    >>> import numpy as np
    >>> svc = ConformalSVC("williams", C=10, kernel="linear", kappa=np.log(2), normalize=False)
    >>> svc.fit([[-1.0], [1.0]], ["no", "yes"]).alpha_.round(9).tolist()
    [2.0, 2.0]

    At x = 2 it is f = D(x) * sum(alpha y D K) = 2**-4 * 4:

    >>> svc.decision_function([[2.0]]).round(9).tolist()
    [0.25]
    """

    classes_: NDArray[Any]
    factor_: ConformalFactor
    fallback_: str | None
    machine_: KernelSVC
    n_support_: NDArray[np.int32]
    previous_: KernelSVC | ConformalSVC
    support_factor_: Array

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "scheme": [StrOptions(set(schemes.METRIC_OF_SCHEME))],
        "C": [Number(Real, 0, None, closed="neither")],
        "C_second": [Number(Real, 0, None, closed="neither"), None],
        "class_weight": [dict, StrOptions({"balanced"}), None],
        "metric": [StrOptions({"feature", "input"}), None],
        "normalize": ["boolean"],
        "n_passes": [Number(Integral, 1, None, closed="left")],
        "tau": [StrOptions({"auto", schemes.SIGMA_RULE}), Number(Real, 0, None, closed="neither")],
        "n_neighbors": [Number(Integral, 1, None, closed="left")],
        "kappa": [StrOptions({"auto"}), Number(Real, 0, None, closed="neither")],
        "eta": [tuple, list, None],
        "boundary": [StrOptions({"auto"}), Number(Real, 0.5, 1, closed="both")],
        "drop_misclassified": ["boolean"],
        **KERNEL_CONSTRAINTS,
        **SOLVER_CONSTRAINTS,
    }

    def __init__(
        self,
        scheme: str = "wu_chang",
        *,
        C: float = 1.0,
        C_second: float | None = None,
        kernel: KernelLike = "rbf",
        degree: int = 3,
        gamma: float | str = "scale",
        coef0: float = 0.0,
        class_weight: dict[Any, float] | str | None = None,
        metric: str | None = None,
        normalize: bool = True,
        n_passes: int = 1,
        tau: float | str = "auto",
        n_neighbors: int = 3,
        kappa: float | str = "auto",
        eta: schemes.Etas | None = None,
        boundary: float | str = "auto",
        drop_misclassified: bool = False,
        tol: float = 1e-9,
        max_iter: int = 100,
        solver: str = "auto",
        cache_size: float = 200.0,
    ) -> None:
        self.scheme = scheme
        self.C = C
        self.C_second = C_second
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.class_weight = class_weight
        self.metric = metric
        self.normalize = normalize
        self.n_passes = n_passes
        self.tau = tau
        self.n_neighbors = n_neighbors
        self.kappa = kappa
        self.eta = eta
        self.boundary = boundary
        self.drop_misclassified = drop_misclassified
        self.tol = tol
        self.max_iter = max_iter
        self.solver = solver
        self.cache_size = cache_size

    @all_or_nothing
    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit both machines.

        Parameters
        ----------
        X : array-like of shape (n, d) or (n, n)
            Training points, or the Gram matrix for a precomputed kernel.
        y : array-like of shape (n,)
            Any two labels; ``classes_[1]``, the larger one, is the positive class.
        sample_weight : array-like of shape (n,), default=None
            Multiplies C point by point; a weight of 0 leaves the point out.

        Returns
        -------
        ConformalSVC
            The fitted estimator.
        """
        self._validate_params()
        X, y = validate_data(self, X, y, dtype=np.float64)
        _, signs = encode_labels(y)
        weights = check_weights(sample_weight, X)
        kernel = self._resolve_kernel(X, weights)
        metric, tau, etas = self._rules(kernel)
        before = self._machine_before(kernel).fit(X, y, weights)
        factor, note = self._make_factor(before, kernel, metric, tau, etas, X, signs, weights)
        kept = np.flatnonzero(weights)
        log_D = factor.log(X[kept])
        if self.normalize:
            shift = normalizing_scale(log_D, kernel.diagonal(X)[kept], weights[kept])
            log_D, factor = log_D + shift, factor.scaled(shift)
        D = np.ones(len(X))
        D[kept] = np.exp(log_D)
        machine = self._second_machine(kernel, factor, D, X, y, weights)
        remark = _worth(before, machine, kernel, D, X, signs, weights)
        if remark == WORSE:
            factor, D = ConformalFactor(), np.ones(len(X))
            machine = self._second_machine(kernel, factor, D, X, y, weights)
        self.previous_, self.machine_ = before, machine
        self.factor_, self.support_factor_ = factor, D[machine.support_]
        self.fallback_ = "; ".join(filter(None, [note, remark])) or None
        self.classes_, self.n_support_ = machine.classes_, machine.n_support_
        self._adopt(machine)
        return self

    def decision_function(self, X: ArrayLike) -> Array:
        r"""Evaluate :math:`f(x) = D(x) \sum_i \alpha_i y_i D(x_i) K(x_i, x) + b`.

        Parameters
        ----------
        X : array-like of shape (m, d), or (m, n_train) for a precomputed kernel
            Points, or their kernel values with the training points.

        Returns
        -------
        ndarray of shape (m,)
            Positive on the side of ``classes_[1]``; +1 and -1 on the margins.
        """
        check_is_fitted(self)
        return self.machine_.decision_function(self._check_new_points(X))

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Predict the class of each point.

        Parameters
        ----------
        X : array-like of shape (m, d), or (m, n_train) for a precomputed kernel
            Points, or their kernel values with the training points.

        Returns
        -------
        ndarray of shape (m,)
            ``classes_[1]`` where the decision is positive, else ``classes_[0]``.
        """
        check_is_fitted(self)
        return self.machine_.predict(self._check_new_points(X))

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags

    def _rules(self, kernel: Kernel) -> tuple[str | None, float | None, schemes.Etas]:
        """Metric, tau and etas, as far as they can be told before any machine is fitted."""
        metric = schemes.METRIC_OF_SCHEME[self.scheme]
        if self.metric is not None and metric is None:
            raise ValueError(f"scheme={self.scheme!r} has no distances: leave metric=None.")
        if self.metric is not None:
            metric = check_metric(self.metric, kernel)
        elif kernel.is_precomputed and metric is not None:
            metric = "feature"
        tau = None
        if self.scheme == "amari_wu":
            tau = schemes.resolve_tau(self.tau, kernel, metric, self.n_features_in_)
        return metric, tau, schemes.check_etas(self.eta)

    def _machine(self, C: float, kernel: Kernel) -> KernelSVC:
        return KernelSVC(
            C,
            kernel=kernel,
            class_weight=self.class_weight,
            tol=self.tol,
            max_iter=self.max_iter,
            solver=self.solver,
            cache_size=self.cache_size,
        )

    def _machine_before(self, kernel: Kernel) -> KernelSVC | ConformalSVC:
        if self.n_passes == 1:
            return self._machine(self.C, kernel)
        machine: ConformalSVC = clone(self).set_params(kernel=kernel, n_passes=self.n_passes - 1)
        return machine

    def _second_machine(
        self, kernel: Kernel, factor: ConformalFactor, D: Array, X: Matrix, y: Array, weights: Array
    ) -> KernelSVC:
        kept = np.flatnonzero(weights)
        columns = kept if kernel.is_precomputed and len(kept) < len(X) else None
        known = None if kernel.is_precomputed else KnownValues.at(X[kept], D[kept])
        C = self.C if self.C_second is None else self.C_second
        machine = self._machine(C, Conformal(kernel, factor, columns, known))
        return machine.fit(X, y, weights)

    def _make_factor(
        self,
        before: Machine,
        kernel: Kernel,
        metric: str | None,
        tau: float | None,
        etas: schemes.Etas,
        X: Matrix,
        signs: Array,
        weights: Array,
    ) -> schemes.Built:
        if metric is None:
            kappa = None if isinstance(self.kappa, str) else self.kappa
            return schemes.williams(before, X[weights > 0], kappa)
        kept, note = before.support_, None
        if self.drop_misclassified:
            kept, note = schemes.rightly_classified(before, X, signs)
        centres = schemes.Centres.of(
            X, signs, before.alpha_, kept,
            metric=metric, kernel=kernel, by_class=self.scheme in ("wu_chang", "kba"),
        )  # fmt: skip
        if self.scheme == "wu_chang":
            factor, remark = schemes.wu_chang(centres, etas)
        elif self.scheme == "wu_amari":
            factor, remark = schemes.wu_amari(centres, self.n_neighbors)
        elif self.scheme == "amari_wu":
            factor, remark = schemes.amari_wu(centres, tau, self.n_neighbors)
        else:
            minority = 1.0 if weights[signs > 0].sum() <= weights[signs < 0].sum() else -1.0
            boundary = None if isinstance(self.boundary, str) else self.boundary
            factor, remark = schemes.kba(centres, boundary, minority)
        return factor, "; ".join(filter(None, [note, remark])) or None


def _worth(
    before: Machine,
    machine: KernelSVC,
    kernel: Kernel,
    D: Array,
    X: Matrix,
    signs: Array,
    weights: Array,
) -> str | None:
    """What to say if a machine tells little about the classes, beside the one before."""
    support, beta = machine.support_, machine.dual_coef_[0]
    # The decision function, without computing D again.
    expansion = kernel.expansion(X, support, D[support] * beta)
    values = D[support] * expansion(X[support]) + machine.intercept_
    told = _informedness(support, values, signs, weights)
    if told > 0.5:  # half of all there is to tell
        return None
    support = before.support_
    told_before = _informedness(support, before.decision_function(X[support]), signs, weights)
    if max(told, told_before) <= 0:
        return TELLS_NOTHING
    return WORSE if told <= told_before / 2 else None


def _informedness(support: Index, values: Array, signs: Array, weights: Array) -> float:
    """Sensitivity + specificity - 1 on the training points: 0 for a constant classifier.

    Given are the decision values of the support vectors. All other points lie beyond the margin
    of their own side.
    """
    wrong = np.zeros(len(signs))
    wrong[support] = weights[support] * ((values > 0) != (signs[support] > 0))
    fractions = [wrong[signs == side].sum() / weights[signs == side].sum() for side in (-1.0, 1.0)]
    return float(1.0 - sum(fractions))
