"""The one-class support vector machine, solved to a proved optimum."""

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import OutlierMixin

from kernelbook.base import atomic_fit
from kernelbook.kernels import Kernel, Matrix, check_positive
from kernelbook.projection import KernelProjector
from kernelbook.qp import QPSolution
from kernelbook.support import SupportVectorEstimator, positive_weights

__all__ = ["OneClassSVM", "path"]

Array = NDArray[np.float64]


class OneClassSVM(OutlierMixin, SupportVectorEstimator, KernelProjector):
    r"""The hyperplane that parts most of the data from the origin of feature space.

    .. math:: \min_{w, \rho, \xi} \tfrac12 \|w\|^2 - \rho + \frac1{\nu n} \sum_i \xi_i
              \quad\text{s.t.}\quad w^\top \phi(x_i) \ge \rho - \xi_i,\; \xi_i \ge 0

    through its dual

    .. math:: \min_\alpha \tfrac12 \alpha^\top K \alpha
              \quad\text{s.t.}\quad \sum_i \alpha_i = 1,\; 0 \le \alpha_i \le \frac1{\nu n};

    a point x lies inside where :math:`f(x) = \sum_i \alpha_i K(x_i, x) - \rho \ge 0`.

    Parameters
    ----------
    nu : float, default=0.5
        In (0, 1]: at most this share of the training points lies outside, and at least this
        share are support vectors.
    kernel : {'linear', 'poly', 'rbf', 'laplacian', 'sigmoid', 'precomputed'} or callable
        A kernel that is not positive semi-definite on the data is refused.
    degree, gamma, coef0
        Of the kernel; ``gamma`` is a number, ``'scale'``, ``'auto'`` or ``'median'``.
    tol : float, default=1e-9
        Largest violation of the optimality conditions, relative to the gradient
        :math:`K\alpha`; also what separates the boundary from the outside, see
        :meth:`decision_function`.
    max_iter : int, default=100
        Interior-point steps, or working sets of the exact way.
    solver : {'auto', 'exact', 'dense', 'reference'}, default='auto'
        See :func:`~kernelbook.qp.solve_qp`.
    cache_size : float, default=200
        Megabytes for kernel rows in the exact way; its working sets may take four times that.

    Attributes
    ----------
    alpha_ : ndarray, shape (n,)
        Dual variables >= 0 of all training points, of sum 1.
    certificate_ : Certificate
        ``duality_gap``, ``kkt_violation`` and ``status`` of the fit.
    support_, support_vectors_, dual_coef_
        Indices, points and alpha of the support vectors; ``dual_coef_`` has shape (1, n_SV).
    offset_ : float
        :math:`\rho`, in the unit of :math:`w^\top \phi`.
    intercept_ : ndarray, shape (1,)
        :math:`-\rho`.
    coef_ : ndarray, shape (1, d)
        w; linear kernel only.
    n_support_ : ndarray, shape (1,)
    gamma_, n_iter_, n_features_in_

    Raises
    ------
    ValueError
        For nu outside (0, 1], NaN, negative sample weights.
    NotPositiveSemidefiniteError
        For a kernel matrix with a negative eigenvalue.

    Notes
    -----
    **Scale.** :math:`\alpha` is on the textbook's scale, of sum 1. LIBSVM and scikit-learn keep
    :math:`\nu n \alpha` with bounds of 1: their ``dual_coef_``, ``intercept_``, ``offset_`` and
    decision values are those of this class times :math:`\nu n` (:math:`\nu \sum_i s_i` with
    sample weights).

    **Offset.** All free support vectors (:math:`0 < \alpha_i < 1/(\nu n)`) agree on
    :math:`\rho`. Without any, the optimality conditions leave an interval, whose midpoint is
    taken. At nu = 1 it has no upper end: :math:`\rho` is then the lower one, the largest
    :math:`w^\top \phi(x_i)`, so that no training point lies strictly inside.

    **Origin.** Unlike the other machines this one depends on where the origin of feature space
    lies, so that a linear or polynomial kernel makes it depend on the origin of the data. For
    kernels with a constant K(x, x) it is :class:`~kernelbook.svdd.SVDD` with
    :math:`C = 1/(\nu n)`. Notebook 11.

    Examples
    --------
    At nu = 1 every alpha is 1/n, and w is the mean, here 2 with the linear kernel:

    >>> model = OneClassSVM(nu=1, kernel="linear").fit([[1.0], [2.0], [3.0]])
    >>> model.coef_.round(12).tolist(), round(model.offset_, 12)
    ([[2.0]], 6.0)

    With a small nu the boundary goes through the point that is nearest to the origin:

    >>> model = OneClassSVM(nu=0.1, kernel="linear").fit([[1.0], [2.0], [3.0]])
    >>> model.alpha_.round(12).tolist(), model.predict([[0.9], [1.0], [9.0]]).tolist()
    ([1.0, 0.0, 0.0], [-1, 1, 1])
    """

    offset_: float
    intercept_: Array
    n_support_: NDArray[np.int32]
    _threshold: float
    _resolution: float

    def __init__(
        self,
        nu: float = 0.5,
        *,
        kernel: Kernel = "rbf",
        degree: int = 3,
        gamma: float | str = "scale",
        coef0: float = 0.0,
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
        self.tol = tol
        self.max_iter = max_iter
        self.solver = solver
        self.cache_size = cache_size

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
            How often each point counts: its bound becomes s_i / (nu sum(s)). A weight of 0
            leaves the point out.

        Returns
        -------
        self
        """
        return self._fit_from(None, X, sample_weight)

    def _fit_from(self, start: Array | None, X: ArrayLike, sample_weight: ArrayLike | None) -> Self:
        """Fit with the alpha (n,) of a similar machine to start from, if any."""
        nu = _checked_nu(self.nu)
        X = self._training_points(X)
        weights = positive_weights(sample_weight, X)
        kept = np.flatnonzero(weights)
        rows = self._rows(X, kept)
        K = self._training_quadratic(rows, weights[kept])
        # K is k_c; what it leaves out of a'Ka adds a linear term (and a constant).
        linear = self._one_sided(rows)
        box = weights[kept] / (nu * weights.sum())
        near = None if start is None else start[kept]
        solution = self._solve_program(K, linear, np.ones(len(kept)), 1.0, 0.0, box, near)
        self._keep_detector(X, kept, solution, linear)
        self._resolution = self.tol * float(
            max(np.abs(linear).max(), np.abs(solution.product).max())
        )
        return self

    def decision_function(self, X: ArrayLike) -> Array:
        r"""Value :math:`f(x) = \sum_i \alpha_i K(x_i, x) - \rho`: positive inside.

        Parameters
        ----------
        X : array-like, shape (m, d), or (m, n_train) if ``kernel='precomputed'``

        Returns
        -------
        ndarray, shape (m,)
            Exactly 0 on the boundary: values below ``tol`` times the largest
            :math:`|(K\alpha)_i|` have no sign that the solution could vouch for. (For a wide
            Gaussian, K - 1 stands for K in that product, so that wide kernels lose nothing.)
        """
        X = self._checked_new_points(X)
        values = self._weighted_kernel_sum(X) + self._one_sided(X) - self._threshold
        return np.where(np.abs(values) <= self._resolution, 0.0, values)

    def score_samples(self, X: ArrayLike) -> Array:
        r"""Value :math:`w^\top \phi(x) = f(x) + \rho`, shape (m,): larger is more usual."""
        return self.decision_function(X) + self.offset_

    def predict(self, X: ArrayLike) -> NDArray[np.int_]:
        """+1 for points inside or on the boundary, -1 for those outside, shape (m,)."""
        return np.where(self.decision_function(X) >= 0, 1, -1)

    @property
    def coef_(self) -> Matrix:
        """Normal vector w in input space, shape (1, d); linear kernel only."""
        if self.kernel != "linear":
            raise AttributeError(f"coef_ exists for kernel='linear' only, not {self.kernel!r}.")
        return self._reference + self.dual_coef_ @ (self.support_vectors_ - self._reference)

    def _keep_detector(
        self, X: Matrix, kept: NDArray[np.intp], solution: QPSolution, linear: Array
    ) -> None:
        alpha = np.zeros(len(X))
        alpha[kept] = solution.x
        self._keep_support(X, alpha, solution)
        self.n_support_ = np.array([len(self.support_)], dtype=np.int32)
        self._threshold = -solution.multiplier
        self.offset_ = self._threshold + float(solution.x @ linear) + self._constant()
        self.intercept_ = np.array([-self.offset_])


def _checked_nu(nu: float) -> float:
    if check_positive("nu", nu) > 1:
        raise ValueError(
            f"nu must be in (0, 1], got {nu!r}: it is the largest share of the training points "
            "that may lie outside."
        )
    return nu


def path(
    X: ArrayLike, nus: ArrayLike, sample_weight: ArrayLike | None = None, **parameters: Any
) -> list[OneClassSVM]:
    r"""Machines for a path of nu, each fitted from where the one before it ended.

    From the smallest nu to the largest the upper bounds fall, and :math:`\alpha` clipped to them
    is where the next fit starts. The solutions are those of separate fits.

    Parameters
    ----------
    X : array-like, shape (n, d) or (n, n)
    nus : array-like, shape (k,)
        In (0, 1].
    sample_weight : array-like, shape (n,), optional
    **parameters
        Of :class:`OneClassSVM`, but for nu.

    Returns
    -------
    list of OneClassSVM, length k
        In the order of ``nus``.

    Examples
    --------
    At nu = 1 all of three points have the weight 1/3, at a small nu the one nearest to the origin
    has all of it:

    >>> machines = path([[1.0], [2.0], [3.0]], [1.0, 0.1], kernel="linear")
    >>> [machine.alpha_.round(12).tolist() for machine in machines]
    [[0.333333333333, 0.333333333333, 0.333333333333], [1.0, 0.0, 0.0]]
    """
    nus = np.asarray(nus, dtype=np.float64)
    if nus.ndim != 1 or len(nus) == 0:
        raise ValueError(f"nus must be a list of at least one number, got shape {nus.shape}.")
    machines = [OneClassSVM(_checked_nu(nu), **parameters) for nu in nus.tolist()]
    start = None
    for machine in sorted(machines, key=lambda machine: machine.nu):
        machine._fit_from(start, X, sample_weight)
        start = machine.alpha_
    return machines
