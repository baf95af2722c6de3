"""Spheres in feature space around most of the data: support vector data description."""

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import OutlierMixin
from sklearn.utils import check_consistent_length, column_or_1d, gen_batches

from kernelbook.base import atomic_fit
from kernelbook.exceptions import InfeasibleError
from kernelbook.kernels import Kernel, Matrix, check_positive
from kernelbook.projection import METRICS, KernelProjector
from kernelbook.qp import QPSolution, Quadratic
from kernelbook.support import SupportVectorEstimator, positive_weights

__all__ = ["SVDD", "FeatureSphere", "target_signs"]

Array = NDArray[np.float64]

# By how much a sum of boxes may fall short of 1 by rounding.
ROUNDING = 1e-10
# Kernel values in single precision agree to this share.
SINGLE_PRECISION = 1e-6
DIAGONAL_BLOCK = 16


def target_signs(y: ArrayLike | None, X: Matrix) -> Array:
    """Signs (n,): -1 for the outliers that y marks by -1, +1 for targets (all if y is None).

    Raises
    ------
    ValueError
        For labels that are no whole numbers of at least -1, and without a target.

    Examples
    --------
    >>> target_signs([1, -1, 1], np.zeros((3, 2))).tolist()
    [1.0, -1.0, 1.0]
    """
    if y is None:
        return np.ones(len(X))
    y = column_or_1d(y, warn=True)
    check_consistent_length(X, y)
    if y.dtype == object:
        y = np.asarray(y.tolist())
    if y.dtype.kind not in "iuf" or not np.all((y >= -1) & (y == np.floor(y))):
        raise ValueError(
            "y must hold whole numbers: -1 for outliers, +1 (or any other label of at least 0) "
            f"for targets, got {np.unique(y)[:5].tolist()} of type {y.dtype}. For other labels "
            "pass np.where(labels == outlier, -1, 1)."
        )
    signs = np.where(y == -1, -1.0, 1.0)
    if not (signs > 0).any():
        raise ValueError(
            "y marks every point as an outlier (-1): a description needs at least one target."
        )
    return signs


class FeatureSphere(OutlierMixin, SupportVectorEstimator, KernelProjector):
    r"""A sphere in feature space, its centre :math:`a = \sum_i \beta_i \phi(x_i)` of sum 1.

    Only differences :math:`\phi(z) - a` matter to distances, so the Gram matrices of
    :class:`~kernelbook.projection.KernelProjector` serve, which lose nothing to an offset.
    """

    radius_: float
    radius_squared_: float
    center_norm_: float
    offset_: float
    _product: float
    _resolution: float
    _training_diagonal: tuple[float, float]

    @property
    def center_(self) -> Array:
        """Centre in input space, shape (d,); linear kernel only."""
        if self.kernel != "linear":
            raise AttributeError(f"center_ exists for kernel='linear' only, not {self.kernel!r}.")
        return self._reference + self.dual_coef_[0] @ (self.support_vectors_ - self._reference)

    def distance(self, X: ArrayLike, diagonal: ArrayLike | None = None) -> Array:
        r"""Distance :math:`\|\phi(z) - a\|` of each point to the centre, in feature space.

        Parameters
        ----------
        X : array-like, shape (m, d), or (m, n_train) if ``kernel='precomputed'``
        diagonal : array-like, shape (m,), optional
            Only with ``kernel='precomputed'``: the values K(z, z) of the points of X, which the
            kernel values between them and the training points do not tell. Left out, they are
            taken to be the training diagonal if that is constant, as for all normalised and
            all stationary kernels.

        Returns
        -------
        ndarray, shape (m,)
            In the same unit as ``radius_``, that of :math:`\sqrt{K}`.

        Raises
        ------
        ValueError
            If the diagonal is needed and left out, or contradicts the kernel values: no
            :math:`K(z, x)^2` can exceed :math:`K(z, z) K(x, x)`.
        """
        return np.sqrt(np.maximum(self._squared_distances(X, diagonal), 0.0))

    def decision_function(self, X: ArrayLike, diagonal: ArrayLike | None = None) -> Array:
        r"""Value :math:`R^2 - \|\phi(z) - a\|^2`: positive inside the sphere.

        Parameters
        ----------
        X, diagonal
            As for :meth:`distance`.

        Returns
        -------
        ndarray, shape (m,)
            In squared units of feature space. Exactly 0 on the sphere: values below ``tol``
            times the scale of the training points' squared distances have no sign that the
            solution could vouch for.
        """
        distances = self._squared_distances(X, diagonal)
        values = self.radius_squared_ - distances
        return np.where(np.abs(values) <= self._resolution, 0.0, values)

    def score_samples(self, X: ArrayLike, diagonal: ArrayLike | None = None) -> Array:
        """Minus the squared distance to the centre, shape (m,): larger is more usual."""
        return self.decision_function(X, diagonal) + self.offset_

    def predict(self, X: ArrayLike, diagonal: ArrayLike | None = None) -> NDArray[np.int_]:
        """+1 for points inside or on the sphere, -1 for those outside, shape (m,)."""
        return np.where(self.decision_function(X, diagonal) >= 0, 1, -1)

    def fit_predict(
        self, X: ArrayLike, y: ArrayLike | None = None, **fit_params: Any
    ) -> NDArray[np.int_]:
        """Fit, with the labels y if there are any, and predict the training points, shape (n,)."""
        self.fit(X, y, **fit_params)
        if not self._is_precomputed():
            return self.predict(X)
        return self.predict(X, diagonal=np.diagonal(np.asarray(X, dtype=np.float64)))

    def _keep_center(
        self, X: Matrix, kept: NDArray[np.intp], K: Quadratic, solution: QPSolution
    ) -> None:
        """Keep the centre by its signed coefficients, those of the kept points, and the proof.

        K holds the values of k_c between the kept points.
        """
        beta = np.zeros(len(X))
        beta[kept] = solution.x
        self._keep_support(X, beta, solution)
        product, diagonal = solution.product, K.diagonal()
        self._product = float(solution.x @ product)
        self.center_norm_ = float(np.sqrt(max(self._product + self._outside_split(), 0.0)))
        self._training_diagonal = (float(diagonal.min()), float(diagonal.max()))
        self._resolution = self.tol * float(
            max(np.abs(diagonal).max(), 2.0 * np.abs(product).max())
        )

    def _outside_split(self) -> float:
        """What k_c leaves out of the inner product of the centre with itself."""
        if not self._is_split():
            return 0.0
        one_sided = self._one_sided(self.support_vectors_)
        return self._constant() + 2.0 * float(self.dual_coef_[0] @ one_sided)

    def _set_radius(self, radius_squared: float) -> None:
        self.radius_squared_ = max(radius_squared, 0.0)
        self.radius_ = float(np.sqrt(self.radius_squared_))
        self.offset_ = -self.radius_squared_

    def _squared_distances(self, X: ArrayLike, diagonal: ArrayLike | None) -> Array:
        X = self._checked_new_points(X)
        return self._distances_of(X, self._own_products(X, diagonal))

    def _distances_of(self, X: Matrix, own: Array) -> Array:
        """Squared distances (m,) of checked points, ``own`` their values k_c(z, z)."""
        return own - 2.0 * self._weighted_kernel_sum(X) + self._product

    def _own_products(self, X: Matrix, diagonal: ArrayLike | None) -> Array:
        """Values of k_c for each point with itself, shape (m,)."""
        if self._is_precomputed():
            return self._precomputed_diagonal(X, diagonal)
        if diagonal is not None:
            raise ValueError(
                "diagonal is for kernel='precomputed' only: any other kernel is evaluated."
            )
        values = np.zeros(len(X))
        if self._is_split() and self.kernel in METRICS:
            return values
        for block in gen_batches(len(X), DIAGONAL_BLOCK):
            values[block] = np.diagonal(self._gram(X[block]))
        return values

    def _precomputed_diagonal(self, X: Matrix, diagonal: ArrayLike | None) -> Array:
        smallest, largest = self._training_diagonal
        if diagonal is None:
            if largest - smallest > SINGLE_PRECISION * largest:
                raise ValueError(
                    "a precomputed kernel needs diagonal=K(z, z) of the points to predict, shape "
                    f"({len(X)},): its values with the training points do not tell them, and the "
                    f"training diagonal is not constant ({smallest:.6g} to {largest:.6g})."
                )
            values = np.full(len(X), largest)
        else:
            values = np.asarray(diagonal, dtype=np.float64)
            if values.shape != (len(X),) or not np.isfinite(values).all():
                raise ValueError(
                    f"diagonal must hold K(z, z) of each point, {len(X)} finite numbers, got "
                    f"shape {values.shape}."
                )
        if np.any((X**2).max(axis=1) > values * largest * (1.0 + SINGLE_PRECISION)):
            raise ValueError(
                "diagonal contradicts the kernel values: K(z, x)**2 exceeds K(z, z) K(x, x) for "
                "some point z. Pass diagonal=K(z, z) of the points in X."
            )
        return values


class SVDD(FeatureSphere):
    r"""The smallest sphere around most of the targets, with known outliers outside.

    .. math:: \min_{R, a, \xi} R^2 + \sum_i C_i \xi_i
              \quad\text{s.t.}\quad y_i (\|\phi(x_i) - a\|^2 - R^2) \le \xi_i,\;
              \xi_i \ge 0,\; R^2 \ge 0

    with y = +1 for targets and -1 for outliers, :math:`C_i` = C or C_outlier, times the sample
    weight. Its dual, in signed variables :math:`\beta_i = y_i \alpha_i`, is

    .. math:: \max_\beta \sum_i \beta_i K(x_i, x_i) - \beta^\top K \beta
              \quad\text{s.t.}\quad \sum_i \beta_i = 1,\; 0 \le y_i \beta_i \le C_i,

    and the centre is :math:`a = \sum_i \beta_i \phi(x_i)`.

    Parameters
    ----------
    C : float, default=1.0
        Price of a target's squared distance beyond the sphere. At least 1/n for n targets; from
        1 on, without outliers, the sphere holds every target.
    C_outlier : float, optional
        Price of an outlier's squared distance below the sphere; as for targets if left out.
    nu : float, optional
        Replaces C by 1 / (nu n) for n targets, n their sum of weights: without outliers at most
        this share of the targets lies outside. In (0, 1].
    kernel : {'linear', 'poly', 'rbf', 'laplacian', 'sigmoid', 'precomputed'} or callable
        A kernel that is not positive semi-definite on the data is refused.
    degree, gamma, coef0
        Of the kernel; ``gamma`` is a number, ``'scale'``, ``'auto'`` or ``'median'``.
    tol : float, default=1e-9
        Largest violation of the optimality conditions, relative to the gradient; also what
        separates the sphere from its outside, see :meth:`decision_function`.
    max_iter : int, default=100
        Interior-point steps, or working sets of the exact way.
    solver : {'auto', 'exact', 'dense', 'reference'}, default='auto'
        See :func:`~kernelbook.qp.solve_qp`.
    cache_size : float, default=200
        Megabytes for kernel rows in the exact way; its working sets may take four times that.

    Attributes
    ----------
    radius_, radius_squared_ : float
        R and its square.
    center_norm_ : float
        Norm :math:`\|a\|` of the centre (not its square): its distance from the origin of
        feature space.
    center_ : ndarray, shape (d,)
        The centre in input space; linear kernel only.
    alpha_ : ndarray, shape (n,)
        Dual variables :math:`\alpha_i \ge 0` of all training points.
    dual_coef_ : ndarray, shape (1, n_SV)
        The signed :math:`\beta_i = y_i \alpha_i` of the support vectors, of sum 1.
    offset_ : float
        :math:`-R^2`: decision values are ``score_samples - offset_``.
    certificate_ : Certificate
        ``duality_gap``, ``kkt_violation`` and ``status`` of the fit.
    support_, support_vectors_, gamma_, n_iter_, n_features_in_

    Raises
    ------
    InfeasibleError
        For C below 1/n, n the number of targets (their sum of weights): the message names it.
    ValueError
        For nu outside (0, 1], parameters that are not positive, no target, NaN.
    NotPositiveSemidefiniteError
        For a kernel matrix with a negative eigenvalue.

    Notes
    -----
    **Convexity.** The problem is that of [Tax2004]_ with :math:`R^2 \ge 0` written out. With
    :math:`R^2 - \|a\|^2` in place of :math:`R^2` all constraints are linear and the objective is
    convex, with outliers too, so the dual is tight and the certificate's gap is that of the
    sphere. With outliers C >= 1 is no hard margin: single :math:`\alpha_i` may exceed 1.

    **Radius.** All free support vectors lie on the sphere. Without any, every
    :math:`R^2 \ge 0` between the distances of those that must be inside and of those that must
    be outside is optimal, and the midpoint is taken; at C = 1/n that is half the smallest
    squared distance.

    **One-class SVM.** For a constant K(x, x) and no outliers this is
    :class:`~kernelbook.oneclass.OneClassSVM` with :math:`\nu = 1/(nC)`: the same
    :math:`\alpha`, and decision values twice as large (up to the choice of :math:`R^2` where it
    is not unique).

    **Far points.** For other kernels the centre need not be near the data, and a kernel that
    tends to 0 maps far points to the origin, which lies inside any sphere with
    :math:`R > \|a\|`. Notebook 12.

    References
    ----------
    [Tax2004]_

    Examples
    --------
    Four corners of a square with the linear kernel: centre (4, 4) and R^2 = 2.

    >>> square = [[3.0, 3.0], [3.0, 5.0], [5.0, 3.0], [5.0, 5.0]]
    >>> svdd = SVDD(kernel="linear").fit(square)
    >>> svdd.center_.round(12).tolist(), round(svdd.radius_squared_, 12)
    ([4.0, 4.0], 2.0)
    >>> svdd.predict([[3.0, 3.0], [4.5, 4.0], [6.0, 4.0]]).tolist()
    [1, 1, -1]

    Two outliers lie outside the sphere around 0, 1 and 2, whose centre is 1, R = 1:

    >>> svdd = SVDD(kernel="linear").fit([[0.0], [1.0], [2.0], [3.0], [6.0]], [1, 1, 1, -1, -1])
    >>> svdd.center_.round(12).tolist(), round(svdd.radius_, 12)
    ([1.0], 1.0)
    """

    def __init__(
        self,
        C: float = 1.0,
        C_outlier: float | None = None,
        nu: float | None = None,
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
        self.C = C
        self.C_outlier = C_outlier
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
        y : array-like, shape (n,), optional
            -1 marks an outlier; +1, or any other whole number of at least 0, a target. All
            points are targets if it is left out.
        sample_weight : array-like, shape (n,), optional
            How often each point counts: multiplies its C. A weight of 0 leaves the point out.

        Returns
        -------
        self
        """
        X = self._training_points(X)
        signs = target_signs(y, X)
        weights = positive_weights(sample_weight, X)
        box = signs * self._prices(signs, weights)
        kept = np.flatnonzero(weights)
        K = self._training_quadratic(self._rows(X, kept), weights[kept])
        solution = self._solve(K, box[kept])
        self._keep_center(X, kept, K, solution)
        radius_squared = self._product + 2.0 * solution.multiplier
        # With every variable at its upper bound only R^2 >= 0 bounds R^2 from below.
        grows = solution.x < np.maximum(box[kept], 0.0)
        self._set_radius(radius_squared if grows.any() else radius_squared / 2.0)
        return self

    def _solve(self, K: Quadratic, box: Array) -> QPSolution:
        """Half the dual with its sign turned, so that K itself is the matrix."""
        lower, upper = np.minimum(box, 0.0), np.maximum(box, 0.0)
        return self._solve_program(K, -0.5 * K.diagonal(), np.ones(len(box)), 1.0, lower, upper)

    def _prices(self, signs: Array, weights: Array) -> Array:
        """C of each point, shape (n,), if the targets can reach a sum of 1."""
        n = float(weights[signs > 0].sum())
        if n == 0:
            raise ValueError("sample_weight is zero for every target: at least one must stay in.")
        C = check_positive("C", self.C)
        if self.nu is not None:
            nu = check_positive("nu", self.nu)
            if nu > 1:
                raise ValueError(
                    f"nu must be in (0, 1], got {self.nu!r}: C = 1 / (nu n) would fall below 1/n."
                )
            C = 1.0 / (nu * n)
        if C * n < 1.0 - ROUNDING:
            raise InfeasibleError(
                f"C = {C:g} is below 1/n = {1 / n:.6g} for n = {n:g} targets: their alpha cannot "
                f"reach the sum 1. Use C of at least {1 / n:.6g}, or nu in (0, 1]."
            )
        outlier = C if self.C_outlier is None else check_positive("C_outlier", self.C_outlier)
        prices = weights * np.where(signs > 0, C, outlier)
        # The sum 1 lets no target reach more than half of this: wider boxes cost digits only.
        wide = 2.0 + 2.0 * float(prices[signs < 0].sum())
        return np.where(signs > 0, np.minimum(prices, wide), prices)
