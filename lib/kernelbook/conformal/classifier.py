"""Two-pass support vector classifiers with a conformally transformed kernel."""

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone

from kernelbook.base import atomic_fit
from kernelbook.conformal import schemes
from kernelbook.conformal.checks import (
    METRIC_OF_SCHEME,
    SIGMA_RULE,
    Etas,
    Settings,
    check_boundary,
    check_count,
    check_etas,
    check_metric,
    number_unless_auto,
    sigma_over_root_d,
)
from kernelbook.conformal.factors import ConformalFactor, normalising_scale
from kernelbook.conformal.machine import ConformalMachine
from kernelbook.kernels import Kernel, Matrix, check_positive
from kernelbook.qp import QPSolution, Quadratic
from kernelbook.support import positive_weights
from kernelbook.svm import KernelSVC, encode_labels

__all__ = ["ConformalSVC"]

Array = NDArray[np.float64]

WORSE = (
    "the factor costs more than half of what the machine before tells about the training points: "
    "the factor is constant"
)
TELLS_NOTHING = (
    "no better than a constant classifier on the training points, before or after: raise C, or "
    "set class_weight='balanced'"
)


class ConformalSVC(ConformalMachine, KernelSVC):
    r"""Support vector classifier with a kernel that its own first fit has conformally transformed.

    A first machine is fitted with the kernel K; its support vectors make a factor D; the second
    machine solves the same problem as :class:`~kernelbook.svm.KernelSVC` with

    .. math:: \tilde K(x, y) = D(x)\, D(y)\, K(x, y),\qquad
              f(x) = D(x) \sum_i \alpha_i y_i D(x_i) K(x_i, x) + b.

    Parameters
    ----------
    scheme : {'wu_chang', 'amari_wu', 'wu_amari', 'williams', 'kba'}, default='wu_chang'
        Where D comes from; :math:`d_k(x)` is the distance to the k-th support vector x_k of the
        first machine, by ``metric``.

        'amari_wu' [Amari1999]_: :math:`D = \sum_k \alpha_k e^{-d_k^2 / 2\tau^2}`.

        'wu_amari' [Wu2002]_: :math:`D = \sum_k e^{-d_k^2 / \tau_k^2}`, with :math:`\tau_k^2` the
        mean squared distance from x_k to the ``n_neighbors`` nearest other support vectors.

        'williams' [Williams2007]_: :math:`D = e^{-\kappa f(x)^2}` with f the first machine.

        'wu_chang' [Wu2003]_: :math:`D = \sum_k e^{-d_k^2 / \eta_k\tau_k^2}`, with :math:`\tau_k^2`
        the mean squared distance from x_k to the support vectors of the other class that are no
        farther than the midpoint between its nearest and its farthest support vector (without
        any, the squared distance to the nearest of the other class), and :math:`\eta_k` the
        number of support vectors of the other class by that of its own.

        'kba', after the idea of [Wu2005]_: bumps at an ideal boundary; see Notes.
    C : float, default=1.0
        Price of slack of the first machine.
    C_second : float, optional
        That of the second one; C if left out.
    kernel : {'linear', 'poly', 'rbf', 'laplacian', 'sigmoid', 'precomputed'} or callable
        Distances in feature space need K(x, x): with 'precomputed' it has to be constant.
    degree, gamma, coef0, class_weight
        As for :class:`~kernelbook.svm.KernelSVC`, in both machines; 'balanced' counts points, not
        their weights.
    metric : {'feature', 'input'}, optional
        Where the distances of D and of its widths are measured, always the same for both: the
        factor then does not depend on the units. By default as in the papers: in feature space
        for 'wu_chang' and 'kba', in input space for 'amari_wu' and 'wu_amari'. 'williams' has
        no distances.
    normalize : bool, default=True
        Scale D so that the mean of :math:`\tilde K(x_i, x_i)` is that of :math:`K(x_i, x_i)`
        over the training points. A constant factor s is the same as :math:`s^2 C` in place of
        C; without this, part of any effect is one of C.
    n_passes : int, default=1
        How often the kernel is transformed: each pass makes a factor for the original K from
        the machine of the pass before.
    tau : float, 'auto' or 'sigma/sqrt(d)', default='auto'
        Of 'amari_wu', in units of the distance. The rule is the paper's, d the number of
        features and :math:`\sigma = 1/\sqrt{2\gamma}`; it needs the RBF kernel and the input
        metric. 'auto' is this rule where it applies, elsewhere :math:`2\tau^2` is the mean of
        the widths of 'wu_amari'.
    n_neighbors : int, default=3
        Of 'wu_amari' (M in the paper), and of 'auto'.
    kappa : float or 'auto', default='auto'
        Of 'williams'. 'auto' gives D = 0.1 at the training set's largest
        :math:`|f|`.
    eta : pair of floats, optional
        Of 'wu_chang': (for ``classes_[0]``, for ``classes_[1]``); None for the rule above.
    boundary : float or 'auto', default='auto'
        Of 'kba': in [1/2, 1], see Notes.
    drop_misclassified : bool, default=False
        Leave support vectors out of D that the first machine puts on the wrong side.
    tol, max_iter, solver
        As for :class:`~kernelbook.svm.KernelSVC`.

    Attributes
    ----------
    factor_ : ConformalFactor
        D, callable on points; ``log`` and ``gradient`` are its logarithm and its gradient.
    previous_ : KernelSVC or ConformalSVC
        The machine that D was made from.
    fallback_ : str or None
        What could not be done as asked, and was done instead; None if nothing.
    support_factor_ : ndarray, shape (n_SV,)
        D at the support vectors.
    alpha_, certificate_, support_, support_vectors_, dual_coef_, intercept_, n_support_, classes_
        Of the second machine, as for :class:`~kernelbook.svm.KernelSVC`; alpha without D.
    gamma_, n_iter_, n_features_in_

    Raises
    ------
    ValueError
        For parameters out of range, a metric that the kernel does not have, and whatever
        :class:`~kernelbook.svm.KernelSVC` refuses.

    Notes
    -----
    **Fallbacks**, each reported by ``fallback_``. A width of zero (support vectors of both
    classes in one place) becomes the smallest other width; without any the factor is constant.
    If ``drop_misclassified`` would leave a class without support vectors, that class keeps all. If
    the values of the second machine hold half or less of what those of the first tell about the
    training points (sensitivity + specificity - 1, and no more than 0.5), the factor is
    constant. If neither tells anything, that is said.

    **KBA, a derivation.** The first machine is affine between two images :math:`\phi(x^+)` and
    :math:`\phi(x^-)`. A boundary at the share :math:`\beta` of the way from the rare to the
    frequent class leaves margins in proportion to :math:`\beta` and :math:`1 - \beta`. With
    r >= 1 the number of frequent support vectors by that of rare ones, the loss
    :math:`r (1-\beta)^2 + \beta^2` of what the margins fall short of is least at
    :math:`\beta = r / (1 + r)`, which ``boundary='auto'`` takes: half way for equal numbers, and
    nearer to the frequent class the rarer the other. Each support vector is paired with the
    nearest of the other class in the metric; :math:`D = \sum_k e^{-d_k^2/\tau_k^2}` over the
    centres :math:`(1-\beta)\phi(x^{rare}) + \beta\phi(x^{frequent})`, with :math:`\tau_k^2` the
    mean squared distance to the support vectors no farther than the midpoint between the nearest
    and the farthest. The ideal boundary between pairs and its range are the paper's idea; the
    loss, the pairing and this width are ours, and not to be held against it.

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

    >>> svc = ConformalSVC("williams", C=10, kernel="linear", kappa=np.log(2), normalize=False)
    >>> svc.fit([[-1.0], [1.0]], ["no", "yes"]).alpha_.round(9).tolist()
    [2.0, 2.0]

    At x = 2 it is f = D(x) * sum(alpha y D K) = 2**-4 * 4:

    >>> svc.decision_function([[2.0]]).round(9).tolist()
    [0.25]
    """

    def __init__(
        self,
        scheme: str = "wu_chang",
        *,
        C: float = 1.0,
        C_second: float | None = None,
        kernel: Kernel = "rbf",
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
        eta: Etas | None = None,
        boundary: float | str = "auto",
        drop_misclassified: bool = False,
        tol: float = 1e-9,
        max_iter: int = 100,
        solver: str = "auto",
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

    @atomic_fit
    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit to points X (n, d), or a Gram matrix (n, n), with two labels y (n,).

        Parameters
        ----------
        X : array-like, shape (n, d) or (n, n)
        y : array-like, shape (n,)
            Any two labels; ``classes_[1]``, the larger one, is the positive class.
        sample_weight : array-like, shape (n,), optional
            Multiplies C point by point.

        Returns
        -------
        self
        """
        settings = self._settings()
        X, y = self._training_points(X, y=y)
        self.classes_, signs = encode_labels(y)
        weights = positive_weights(sample_weight, X)
        self.previous_ = self._machine_before(settings, X, weights).fit(X, y, weights)
        box = settings.C_second * weights * self._class_weights(signs, weights > 0)
        kept = np.flatnonzero(box)
        scaled = self._second_quadratic(self._rows(X, kept))
        factor, note = self._make_factor(settings, X, signs, weights)
        log_D = factor.log(X[kept])
        if settings.normalize:
            shift = normalising_scale(log_D, scaled(np.ones(len(kept))).diagonal(), weights[kept])
            log_D, factor = log_D + shift, factor.scaled(shift)
        D = np.ones(len(X))
        D[kept] = np.exp(log_D)
        solution, values = self._solve_with(scaled(D[kept]), signs[kept], box[kept])
        remark = self._worth(values, X[kept], signs[kept], weights[kept])
        if remark == WORSE:
            factor, D = ConformalFactor(), np.ones(len(X))
            solution, _ = self._solve_with(scaled(D[kept]), signs[kept], box[kept])
        signed = np.zeros(len(X))
        signed[kept] = solution.x
        self._keep_classifier(X, signed, solution)
        self.factor_, self.support_factor_ = factor, D[self.support_]
        self.fallback_ = "; ".join(filter(None, [note, remark])) or None
        return self

    def _settings(self) -> Settings:
        """Check what can be checked before any solver runs."""
        if not isinstance(self.scheme, str) or self.scheme not in METRIC_OF_SCHEME:
            raise ValueError(f"scheme must be one of {[*METRIC_OF_SCHEME]}, got {self.scheme!r}.")
        C = check_positive("C", self.C)
        metric = self._checked_metric()
        return Settings(
            scheme=self.scheme,
            metric=metric,
            C_second=C if self.C_second is None else check_positive("C_second", self.C_second),
            normalize=bool(self.normalize),
            n_passes=check_count("n_passes", self.n_passes),
            tau=self._checked_tau(metric),
            n_neighbors=check_count("n_neighbors", self.n_neighbors),
            kappa=number_unless_auto("kappa", self.kappa),
            etas=check_etas(self.eta),
            boundary=check_boundary(self.boundary),
            drop_misclassified=bool(self.drop_misclassified),
        )

    def _checked_metric(self) -> str | None:
        usual = METRIC_OF_SCHEME[self.scheme]
        if self.metric is None:
            return "feature" if usual == "input" and self._is_precomputed() else usual
        check_metric(self.metric, self._is_precomputed())
        if usual is None:
            raise ValueError(f"scheme={self.scheme!r} has no distances: leave metric=None.")
        return str(self.metric)

    def _checked_tau(self, metric: str | None) -> float | str | None:
        if not isinstance(self.tau, str):
            return check_positive("tau", self.tau)
        if self.tau not in ("auto", SIGMA_RULE):
            raise ValueError(f"tau must be a number, 'auto' or {SIGMA_RULE!r}, got {self.tau!r}.")
        sigma_exists = self.kernel == "rbf" and metric == "input"
        if self.tau == SIGMA_RULE and not sigma_exists and self.scheme == "amari_wu":
            raise ValueError(
                f"tau={SIGMA_RULE!r} needs kernel='rbf' and metric='input': elsewhere there is "
                "no sigma. Use tau='auto' or a number."
            )
        return SIGMA_RULE if sigma_exists else None

    def _machine_before(self, settings: Settings, X: Matrix, weights: Array) -> KernelSVC:
        if settings.n_passes > 1:
            machine: KernelSVC = clone(self).set_params(n_passes=settings.n_passes - 1)
            return machine
        return KernelSVC(
            self.C,
            kernel=self.kernel,
            degree=self.degree,
            gamma=self._width_rule(X, weights),
            coef0=self.coef0,
            class_weight=self.class_weight,
            tol=self.tol,
            max_iter=self.max_iter,
            solver=self.solver,
        )

    def _width_rule(self, X: Matrix, weights: Array) -> float | str:
        return self.gamma

    def _make_factor(
        self, settings: Settings, X: Matrix, signs: Array, weights: Array
    ) -> schemes.Built:
        before = self.previous_
        if settings.metric is None:
            return schemes.williams(before, X[weights > 0], settings.kappa)
        kept, note = before.support_, None
        if settings.drop_misclassified:
            kept, note = schemes.rightly_classified(before, X, signs)
        by_class = settings.scheme in ("wu_chang", "kba")
        centres = schemes.Centres.of(before, X, signs, kept, settings.metric, by_class)
        factor, remark = self._scheme_factor(settings, centres, signs, weights)
        return factor, "; ".join(filter(None, [note, remark])) or None

    def _scheme_factor(
        self, settings: Settings, centres: schemes.Centres, signs: Array, weights: Array
    ) -> schemes.Built:
        if settings.scheme == "wu_chang":
            return schemes.wu_chang(centres, settings.etas)
        if settings.scheme == "wu_amari":
            return schemes.wu_amari(centres, settings.n_neighbors)
        if settings.scheme == "amari_wu":
            tau = settings.tau
            if isinstance(tau, str):
                tau = sigma_over_root_d(self.gamma_, self.n_features_in_)
            return schemes.amari_wu(centres, tau, settings.n_neighbors)
        minority = 1.0 if weights[signs > 0].sum() <= weights[signs < 0].sum() else -1.0
        return schemes.kba(centres, settings.boundary, minority)

    def _worth(self, values: Array, X: Matrix, signs: Array, weights: Array) -> str | None:
        """What to say if the values (n,) tell little about the classes, beside those before."""
        told = _informedness(values, signs, weights)
        if told > 0.5:  # half of all there is to tell
            return None
        before = _informedness(self.previous_.decision_function(X), signs, weights)
        if max(told, before) <= 0:
            return TELLS_NOTHING
        return WORSE if told <= before / 2 else None

    def _solve_with(self, Q: Quadratic, signs: Array, box: Array) -> tuple[QPSolution, Array]:
        """Solve the second problem; its solution and the decision values of the points (n,)."""
        solution = self._solve_in_box(Q, signs, box)
        return solution, solution.product + solution.multiplier


def _informedness(values: Array, signs: Array, weights: Array) -> float:
    """Sensitivity + specificity - 1 of decision values (n,): 0 for a constant classifier."""
    right = weights * (signs * np.where(values > 0, 1.0, -1.0) > 0)
    shares = [right[signs == side].sum() / weights[signs == side].sum() for side in (-1.0, 1.0)]
    return float(sum(shares) - 1.0)
