r"""Kernel principal component analysis: PCA of the images in feature space, and the way back."""

from numbers import Integral, Real
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import blas, eigh, eigvalsh
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh
from scipy.spatial.distance import cdist
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted

from kernelbook.base import atomic_fit
from kernelbook.exceptions import NotPositiveSemidefiniteError
from kernelbook.kernels import PSD_TOLERANCE, Kernel, Matrix
from kernelbook.preimage import RidgePreimage, distance_preimages, fixed_point_preimages
from kernelbook.projection import KernelProjector, double_centred, sign_columns

__all__ = ["KernelPCA"]

EIGEN_SOLVERS = ("auto", "dense", "iterative")
PREIMAGES = ("fixed_point", "distance", "ridge")
EIGENVALUE_FLOOR = 1e-12
ITERATIVE_FROM = 300
ITERATIVE_SHARE = 20


class KernelPCA(ClassNamePrefixFeaturesOutMixin, TransformerMixin, KernelProjector):
    r"""Principal components of the images :math:`\phi(x_i)` about their mean.

    .. math:: \max_{v}\; \sum_i \langle v, \phi(x_i) - \bar\phi \rangle^2
              \quad\text{s.t.}\quad \|v\| = 1,\; v \perp \text{the earlier components}

    With :math:`H = I - \tfrac1n 1 1^\top` and :math:`v = \sum_i \alpha_i \phi(x_i)` this is the
    eigenproblem :math:`H K H u = \lambda u`, :math:`\alpha = u / \sqrt\lambda`, and the
    projections of the training points are :math:`\sqrt\lambda\, u`.

    Parameters
    ----------
    n_components : int, optional
        How many, at most the number n of points. Components beyond the rank of the centred Gram
        matrix are columns of zeros. Left out: as many as the rank (at least one).
    kernel : {'linear', 'poly', 'rbf', 'laplacian', 'sigmoid', 'precomputed'} or callable
    gamma : float or {'scale', 'auto', 'median'}, default='scale'
        See :func:`kernelbook.kernels.resolve_gamma`.
    degree : int, default=3
    coef0 : float, default=0.0
    eigen_solver : {'auto', 'dense', 'iterative'}, default='auto'
        LAPACK, or Lanczos steps (ARPACK, from a fixed start) on :math:`H K H` as an operator.
        'auto' iterates from 300 points on if at most n / 20 components are wanted. All n
        components, and iterations that do not converge, are LAPACK's.
    preimage : {'fixed_point', 'distance', 'ridge'}, default='fixed_point'
        How :meth:`inverse_transform` finds points; see there. Only 'ridge' costs time in ``fit``.
    preimage_reg : float, default=1e-2
        Regularisation of 'ridge', beside a kernel with diagonal 1.
    n_neighbors : int, default=10
        Training points that 'distance' measures from.
    n_restarts : int, default=2
        Further starts of 'fixed_point', each from the next nearest training point.
    preimage_max_iter : int, default=500
        Steps of 'fixed_point' from each start.

    Attributes
    ----------
    eigenvalues_ : ndarray, shape (k,)
        :math:`\lambda`, descending, of the centred Gram matrix: n times the variance (with 1/n)
        along the component, in squared units of the feature space. Those below 1e-12 of the
        largest, or below the rounding error of the Gram matrix, are exactly 0.
    eigenvectors_ : ndarray, shape (n, k)
        :math:`u`, of unit length (zero where the eigenvalue is). In each column the entry of
        largest size is positive; of entries equal in size the first decides.
    alpha_ : ndarray, shape (n, k)
        :math:`u / \sqrt\lambda`: the component is :math:`\sum_i \alpha_i \phi(x_i)`, its entries
        sum to 0 (zero where the eigenvalue is).
    explained_variance_ratio_ : ndarray, shape (k,)
        :math:`\lambda` over ``trace_``, the sum of *all* eigenvalues (0 for constant data).
    trace_ : float
        Trace of the centred Gram matrix, n times the total variance in feature space.
    gamma_ : float
    X_fit_ : ndarray, shape (n, d)
        The training points (or the precomputed matrix).
    n_features_in_, feature_names_in_

    Raises
    ------
    NotPositiveSemidefiniteError
        In ``fit``, if the *centred* Gram matrix has a negative eigenvalue beyond rounding; the
        message quotes its size relative to the largest. It is enough that the matrix is positive
        semi-definite after centring: minus the squared distances is welcome.
    ValueError
        For parameters out of range.

    Notes
    -----
    New points are centred with the training means, so one row at a time gives what a batch gives.
    Multiple eigenvalues leave their components free to rotate among each other.

    A common offset of the data costs no digits: for the linear and polynomial kernels the Gram
    matrix of :math:`\phi(x) - \phi(\bar x)` is summed directly, for the RBF and Laplacian kernels
    that of k - 1 (see :mod:`kernelbook.projection`).

    References
    ----------
    [Scholkopf1998]_

    Examples
    --------
    Four points on a line; the mean is (2.5, 5), the only eigenvalue the sum of squares about it,
    5 + 20 = 25:

    >>> pca = KernelPCA(n_components=2, kernel="linear").fit([[1, 2], [2, 4], [3, 6], [4, 8]])
    >>> pca.eigenvalues_.round(6).tolist()
    [25.0, 0.0]
    >>> pca.inverse_transform([[0.0, 0.0]]).round(6).tolist()
    [[2.5, 5.0]]
    """

    def __init__(
        self,
        n_components: int | None = None,
        *,
        kernel: Kernel = "rbf",
        gamma: float | str = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        eigen_solver: str = "auto",
        preimage: str = "fixed_point",
        preimage_reg: float = 1e-2,
        n_neighbors: int = 10,
        n_restarts: int = 2,
        preimage_max_iter: int = 500,
    ) -> None:
        self.n_components = n_components
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.eigen_solver = eigen_solver
        self.preimage = preimage
        self.preimage_reg = preimage_reg
        self.n_neighbors = n_neighbors
        self.n_restarts = n_restarts
        self.preimage_max_iter = preimage_max_iter

    @atomic_fit
    def fit(self, X: ArrayLike, y: Any = None) -> Self:
        """Find the components of X (n, d), or of the Gram matrix (n, n); y is ignored."""
        X = self._training_points(X)
        self._check_parameters(len(X))
        K = self._conditionally_semidefinite_gram(X)
        self._column_means = K.mean(axis=0)
        self._grand_mean = float(self._column_means.mean())
        self._centred_diagonal = K.diagonal() - 2.0 * self._column_means + self._grand_mean
        self.trace_ = max(float(self._centred_diagonal.sum()), 0.0)
        # Eigenvalues of this size could be made by rounding alone.
        self._rounding_error = len(K) * np.finfo(float).eps * float(max(K.max(), -K.min()))
        self._set_components(*self._leading_eigenpairs(K))
        self.X_fit_ = X
        self._ridge = self._learn_preimages() if self.preimage == "ridge" else None
        return self

    def fit_transform(self, X: ArrayLike, y: Any = None) -> Matrix:
        """Fit, and return the projections of the training points, shape (n, k)."""
        return self.fit(X)._training_projections()

    def transform(self, X: ArrayLike) -> Matrix:
        """Projections of the images of X on the components, shape (m, k).

        In units of the feature space; zero for components without variance.
        """
        check_is_fitted(self)
        K = self._gram(self._new_points(X), self.X_fit_)
        centred = K - K.mean(axis=1, keepdims=True)
        centred -= self._column_means - self._grand_mean
        return centred @ self.alpha_

    def inverse_transform(self, X: ArrayLike) -> Matrix:
        r"""Points of the input space for given projections.

        With the linear kernel the point is exact, :math:`\bar x + \sum_k \beta_k v_k`, the mean
        restored. Elsewhere the wanted :math:`\bar\phi + \sum_k \beta_k v_k` is in general the
        image of no point, and ``preimage`` says what takes its place:

        * 'fixed_point' (RBF only): the point whose image is nearest, by Mika et al.'s iteration,
          with weights :math:`\alpha\beta + 1/n`, started at the nearest training points;
        * 'distance' (RBF only): Kwok and Tsang's point, at the input distances from its
          neighbours that belong to the feature-space distances;
        * 'ridge' (all kernels): learned by kernel ridge regression in ``fit``.

        Parameters
        ----------
        X : array-like, shape (m, k)
            Projections, as :meth:`transform` returns them.

        Returns
        -------
        ndarray, shape (m, d)

        Raises
        ------
        ValueError
            For a precomputed kernel (there are no points), a kernel that the method cannot
            serve, 'ridge' if it was not chosen before ``fit``, a wrong number of columns.
        """
        check_is_fitted(self)
        projections = check_array(X, dtype=np.float64, input_name="X")
        if projections.shape[1] != len(self.eigenvalues_):
            raise ValueError(
                f"X has {projections.shape[1]} columns, but there are "
                f"{len(self.eigenvalues_)} components."
            )
        self._check_preimage()
        centred = self.X_fit_ - self._reference
        return self._reference + self._centred_preimages(projections, centred)

    def _centred_preimages(self, projections: Matrix, X: Matrix) -> Matrix:
        if self.preimage == "ridge" and self._ridge is not None:
            return self._ridge(projections)
        weights = projections @ self.alpha_.T + 1.0 / len(X)
        if self.kernel == "linear":
            return weights @ X
        distances = self._feature_distances(projections)
        if self.preimage == "distance":
            return distance_preimages(X, distances, self.gamma_, self.n_neighbors)
        starts = np.argsort(distances, axis=1, kind="stable")[:, : self.n_restarts + 1]
        return fixed_point_preimages(X, weights, starts, self.gamma_, self.preimage_max_iter)

    def _feature_distances(self, projections: Matrix) -> Matrix:
        """Squared distances to the training images: within the subspace plus off it."""
        own = self._training_projections()
        off = np.maximum(self._centred_diagonal - np.einsum("ij,ij->i", own, own), 0.0)
        return cdist(projections * (self.eigenvalues_ > 0), own, "sqeuclidean") + off

    def _learn_preimages(self) -> RidgePreimage | None:
        if self.kernel in ("linear", "precomputed"):
            return None
        centred = self.X_fit_ - self._reference
        return RidgePreimage(self._training_projections(), centred, self.preimage_reg)

    def _check_preimage(self) -> None:
        if self._is_precomputed():
            raise ValueError(
                "kernel='precomputed' has no points to return: fit on points with a callable "
                "kernel for inverse_transform."
            )
        if self.kernel == "linear":
            return
        if self.preimage == "ridge" and self._ridge is None:
            raise ValueError("preimage='ridge' is learned in fit: set it before fitting.")
        if self.preimage != "ridge" and self.kernel != "rbf":
            raise ValueError(
                f"preimage={self.preimage!r} needs kernel='rbf', got {self.kernel!r}: fit with "
                "preimage='ridge', which serves every kernel."
            )

    def _conditionally_semidefinite_gram(self, X: Matrix) -> Matrix:
        """The Gram matrix, refused if it is indefinite even after centring."""
        try:
            return self._training_gram(X)
        except NotPositiveSemidefiniteError:
            K = self._gram(X)
        K = (K + K.T) / 2
        eigenvalues = eigvalsh(double_centred(K))
        if eigenvalues[0] < -PSD_TOLERANCE * len(K) * np.abs(K).max():
            raise NotPositiveSemidefiniteError(
                f"the centred Gram matrix has the negative eigenvalue {eigenvalues[0]:.6g}, "
                f"{-eigenvalues[0] / max(eigenvalues[-1], np.finfo(float).tiny):.4f} of the "
                f"largest ({eigenvalues[-1]:.6g}): no feature space has negative variance. Use a "
                "kernel such as 'rbf', or other kernel parameters."
            )
        return K

    def _leading_eigenpairs(self, K: Matrix) -> tuple[Matrix, Matrix]:
        """The n_components largest eigenvalues (all if None), ascending, and their vectors."""
        n = len(K)
        k = n if self.n_components is None else int(self.n_components)
        wanted = self.eigen_solver == "iterative" or (
            self.eigen_solver == "auto" and n >= ITERATIVE_FROM and ITERATIVE_SHARE * k <= n
        )
        if wanted and k < n and self.trace_ > self._rounding_error:
            try:
                return self._lanczos(K, k)
            except ArpackNoConvergence:
                pass
        in_place = {"overwrite_a": True, "check_finite": False}
        if k < n:
            values, vectors = eigh(double_centred(K), subset_by_index=[n - k, n - 1], **in_place)
            if len(values) == k:  # LAPACK finds none of some when all are equal
                return values, vectors
        values, vectors = eigh(double_centred(K), **in_place)
        return values[n - k :], vectors[:, n - k :]

    def _set_components(self, values: Matrix, vectors: Matrix) -> None:
        values, vectors = values[::-1], vectors[:, ::-1]
        floor = max(EIGENVALUE_FLOOR * values[0], self._rounding_error)
        values = np.where(values > floor, values, 0.0)
        if self.n_components is None:
            rank = max(int(np.count_nonzero(values)), 1)
            values, vectors = values[:rank], vectors[:, :rank]
        positive = values > 0
        self.eigenvalues_ = values
        self.eigenvectors_ = vectors * (sign_columns(vectors) * positive)
        self.alpha_ = self.eigenvectors_ / np.sqrt(np.where(positive, values, 1.0))
        self.explained_variance_ratio_ = values / (self.trace_ if self.trace_ > 0 else 1.0)

    def _training_projections(self) -> Matrix:
        return self.eigenvectors_ * np.sqrt(self.eigenvalues_)

    @property
    def _n_features_out(self) -> int:
        return len(self.eigenvalues_)

    def _check_parameters(self, n: int) -> None:
        k = self.n_components
        if k is not None and (
            isinstance(k, bool) or not isinstance(k, Integral) or not 1 <= k <= n
        ):
            raise ValueError(
                f"n_components must be None or a whole number from 1 to n_samples={n}, got {k!r}."
            )
        for name, choices in (("eigen_solver", EIGEN_SOLVERS), ("preimage", PREIMAGES)):
            if getattr(self, name) not in choices:
                raise ValueError(f"{name} must be one of {choices}, got {getattr(self, name)!r}.")
        for name, least in (("n_neighbors", 1), ("n_restarts", 0), ("preimage_max_iter", 1)):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, Integral) or value < least:
                raise ValueError(
                    f"{name} must be a whole number of at least {least}, got {value!r}."
                )
        if not isinstance(self.preimage_reg, Real) or not 0 < self.preimage_reg < np.inf:
            raise ValueError(
                f"preimage_reg must be positive and finite, got {self.preimage_reg!r}."
            )

    @staticmethod
    def _lanczos(K: Matrix, k: int) -> tuple[Matrix, Matrix]:
        def centred_product(v: Matrix) -> Matrix:
            v = v.ravel()
            # K is symmetric: its transpose is the column-major array that BLAS wants.
            product = blas.dsymv(1.0, K.T, v - v.mean())
            return product - product.mean()

        n = len(K)
        operator = LinearOperator((n, n), matvec=centred_product, dtype=np.float64)
        start = np.random.default_rng(0).uniform(-1.0, 1.0, n)
        return eigsh(operator, k=k, which="LA", v0=start)
