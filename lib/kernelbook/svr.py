"""Support vector regression with a certificate."""

from dataclasses import replace
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import RegressorMixin

from kernelbook.base import atomic_fit
from kernelbook.kernels import Kernel, check_positive
from kernelbook.qp import PairedQuadratic, QPSolution, Quadratic
from kernelbook.support import InterceptMachine, positive_weights

__all__ = ["KernelSVR"]

Array = NDArray[np.float64]


class KernelSVR(RegressorMixin, InterceptMachine):
    r"""Support vector regression: a tube of half-width epsilon, solved to a proved optimum.

    .. math:: \min_{w, b} \tfrac12 \|w\|^2
              + \sum_i C_i \max(0, |y_i - w^\top \phi(x_i) - b| - \epsilon)

    with :math:`C_i = C \cdot` sample weight, through its dual

    .. math:: \min_{\alpha, \alpha^*} \tfrac12 \beta^\top K \beta - y^\top \beta
              + \epsilon \sum_i (\alpha_i + \alpha_i^*), \quad \beta = \alpha - \alpha^*,
              \quad \sum_i \beta_i = 0,\; 0 \le \alpha_i, \alpha_i^* \le C_i.

    Parameters
    ----------
    C : float, default=1.0
        Price of a unit beyond the tube; not divided by n.
    epsilon : float, default=0.1
        Half-width of the tube, in the unit of the target; 0 is allowed.
    kernel : {'linear', 'poly', 'rbf', 'laplacian', 'sigmoid', 'precomputed'} or callable
        A kernel that is not positive semi-definite on the data is refused.
    degree, gamma, coef0
        Of the kernel; ``gamma`` is a number, ``'scale'``, ``'auto'`` or ``'median'``.
    tol : float, default=1e-9
        Largest violation of the optimality conditions, relative to the gradient.
    max_iter : int, default=100
        Interior-point steps, or working sets of the exact way.
    solver : {'auto', 'exact', 'dense', 'reference'}, default='auto'
        See :func:`~kernelbook.qp.solve_qp`.
    cache_size : float, default=200
        Megabytes for kernel rows in the exact way; its working sets may take four times that.

    Attributes
    ----------
    alpha_ : ndarray, shape (n,)
        Size of the coefficient, alpha_i + alpha_i^*, of which one is always zero.
    dual_coef_ : ndarray, shape (1, n_SV)
        alpha_i - alpha_i^* as in scikit-learn: positive where the target lies above the tube.
    certificate_, support_, support_vectors_, intercept_, coef_, gamma_, n_iter_
        As for :class:`~kernelbook.svm.KernelSVC`.

    Raises
    ------
    ValueError
        For a parameter out of range, NaN, negative sample weights.
    NotPositiveSemidefiniteError
        For a kernel matrix with a negative eigenvalue.

    Notes
    -----
    The 2n variables are eliminated to n in every step of the solver. The bias is the value that
    all free support vectors agree on; without any, the midpoint of the interval that the
    optimality conditions allow, as in LIBSVM. Notebook 05.

    Examples
    --------
    All targets fit into the tube, so the flattest function is constant, half way between the
    extremes:

    >>> svr = KernelSVR(epsilon=0.5).fit([[0.0], [1.0], [2.0]], [0.0, 0.2, 0.1])
    >>> len(svr.support_), svr.predict([[7.0]]).round(12).tolist()
    (0, [0.1])
    """

    def __init__(
        self,
        C: float = 1.0,
        epsilon: float = 0.1,
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
        self.epsilon = epsilon
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.tol = tol
        self.max_iter = max_iter
        self.solver = solver
        self.cache_size = cache_size

    @atomic_fit
    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit to points X (n, d), or a Gram matrix (n, n), with targets y (n,).

        Parameters
        ----------
        X : array-like, shape (n, d) or (n, n)
        y : array-like, shape (n,)
        sample_weight : array-like, shape (n,), optional
            Multiplies C point by point; a weight of 0 leaves the point out.

        Returns
        -------
        self
        """
        C, epsilon = check_positive("C", self.C), check_positive("epsilon", self.epsilon, zero=True)
        X, y = self._training_points(X, y=y, y_numeric=True)
        weights = positive_weights(sample_weight, X)
        box, kept = C * weights, np.flatnonzero(weights)
        K = self._training_quadratic(self._rows(X, kept), weights[kept])
        target = np.asarray(y, dtype=np.float64)[kept]
        # A constant in the target goes to the bias; in the dual it would cost digits.
        constant = float(target.mean())
        solution, beta = self._solve(K, target - constant, box[kept], epsilon)
        solution = replace(solution, multiplier=solution.multiplier + constant)
        coefficients = np.zeros(len(X))
        coefficients[kept] = beta
        self._keep_machine(X, coefficients, solution)
        return self

    def predict(self, X: ArrayLike) -> Array:
        r"""Value :math:`f(x) = \sum_i (\alpha_i - \alpha_i^*) K(x_i, x) + b`.

        Parameters
        ----------
        X : array-like, shape (m, d), or (m, n_train) if ``kernel='precomputed'``

        Returns
        -------
        ndarray, shape (m,)
            In the unit of the target.
        """
        return self._values(X)

    def _solve(
        self, K: Quadratic, y: Array, box: Array, epsilon: float
    ) -> tuple[QPSolution, Array]:
        n, one = len(y), np.ones(len(y))
        if epsilon == 0:
            # Without a tube alpha and alpha* are not unique, but their difference is.
            solution = self._solve_program(K, -y, one, 0.0, -box, box)
            return solution, solution.x
        solution = self._solve_program(
            PairedQuadratic(K),
            np.concatenate([epsilon - y, epsilon + y]),
            np.concatenate([one, -one]),
            0.0,
            np.zeros(2 * n),
            np.tile(box, 2),
        )
        return solution, solution.x[:n] - solution.x[n:]
