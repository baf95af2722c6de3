r"""Kernel principal component analysis: PCA of the images in feature space, and pre-images."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import blas, eigh, eigvalsh
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh
from scipy.spatial.distance import cdist
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import check_array
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.validation import check_is_fitted, validate_data

from kernelbook.component_signs import sign_columns
from kernelbook.estimator import (
    KERNEL_CONSTRAINTS,
    KernelEstimator,
    Number,
    all_or_nothing,
    training_gram,
)
from kernelbook.exceptions import NotPositiveSemidefiniteError
from kernelbook.kernels import PSD_TOLERANCE, Kernel, KernelLike, Matrix, Radial
from kernelbook.preimage import RidgePreimage, distance_preimages, fixed_point_preimages
from kernelbook.qp import double_centre

__all__ = ["KernelPCA"]

EIGENVALUE_FLOOR = 1e-12
ITERATIVE_FROM = 300
ITERATIVE_SHARE = 20


class KernelPCA(ClassNamePrefixFeaturesOutMixin, TransformerMixin, KernelEstimator):
    r"""Principal components of the images :math:`\phi(x_i)` about their mean.

    .. math:: \max_{v}\; \sum_i \langle v, \phi(x_i) - \bar\phi \rangle^2
              \quad\text{s.t.}\quad \|v\| = 1,\; v \perp \text{the earlier components}

    With :math:`H = I - \tfrac1n 1 1^\top` and :math:`v = \sum_i \alpha_i \phi(x_i)` this is the
    eigenproblem :math:`H K H u = \lambda u`, :math:`\alpha = u / \sqrt\lambda`, and the
    projections of the training points are :math:`\sqrt\lambda\, u`.

    Parameters
    ----------
    n_components : int, default=None
        Number of components, at most the number n of points. Components beyond the rank of the
        centred Gram matrix are columns of zeros. If None, as many as the rank (at least one).
    kernel : str, Kernel or callable, default='rbf'
        One of 'linear', 'poly', 'rbf', 'laplacian', 'sigmoid' and 'precomputed', an object of
        :mod:`kernelbook.kernels`, or a function of (X, Y) that returns the matrix of values.
    gamma : {'scale', 'auto', 'median', 'mean_distance'} or float, default='scale'
        Width of 'rbf', 'poly', 'laplacian' and 'sigmoid'; 'mean_distance' is for 'laplacian' only.
        See :func:`~kernelbook.kernels.resolve_gamma`.
    degree : int, default=3
        Degree of the polynomial kernel; ignored by the others.
    coef0 : float, default=0.0
        Independent term of 'poly' and 'sigmoid'.
    eigen_solver : {'auto', 'dense', 'iterative'}, default='auto'
        LAPACK, or Lanczos steps (ARPACK, from a fixed start) on :math:`H K H` as an operator.
        'auto' iterates from 300 points on if at most n / 20 components are wanted. All n
        components, and iterations that do not converge, are LAPACK's.
    preimage : {'fixed_point', 'distance', 'ridge'}, default='fixed_point'
        How :meth:`inverse_transform` finds points; see there. Only 'ridge' costs time in ``fit``.
    preimage_reg : float, default=1e-2
        Regularization parameter of 'ridge', beside a kernel with diagonal 1.
    n_neighbors : int, default=10
        Number of training points that 'distance' measures from.
    n_restarts : int, default=2
        Number of further starts of 'fixed_point', each from the next nearest training point.
    preimage_max_iter : int, default=500
        Maximum number of steps of 'fixed_point' from each start.

    Attributes
    ----------
    eigenvalues_ : ndarray of shape (k,)
        :math:`\lambda`, descending, of the centred Gram matrix: n times the variance (with 1/n)
        along the component, in squared units of the feature space. Those below 1e-12 of the
        largest, or below the rounding error of the Gram matrix, are exactly 0.
    eigenvectors_ : ndarray of shape (n, k)
        :math:`u`, of unit length (zero where the eigenvalue is). In each column the entry of
        largest size is positive; of entries equal in size the first decides.
    alpha_ : ndarray of shape (n, k)
        :math:`u / \sqrt\lambda`: the component is :math:`\sum_i \alpha_i \phi(x_i)`, its entries
        sum to 0 (zero where the eigenvalue is).
    explained_variance_ratio_ : ndarray of shape (k,)
        :math:`\lambda` over ``trace_``, the sum of *all* eigenvalues (0 for constant data).
    trace_ : float
        Trace of the centred Gram matrix, n times the total variance in feature space.
    X_fit_ : ndarray of shape (n, d)
        The training points (or the precomputed matrix).
    feature_names_in_ : ndarray of shape (d,)
        Names of the features, if X has string names.
    gamma_ : float
        The width that was used, if the kernel has one.
    kernel_ : Kernel
        The kernel object that was used.
    n_features_in_ : int
        Number of features.

    Raises
    ------
    NotPositiveSemidefiniteError
        In ``fit``, if the *centred* Gram matrix has a negative eigenvalue beyond rounding; the
        message quotes its size relative to the largest. It is enough that the matrix is positive
        semi-definite after centring: minus the squared distances is welcome.
    ValueError
        If a parameter is out of range.

    Notes
    -----
    New points are centred with the training means, so one row at a time gives what a batch gives.
    Multiple eigenvalues leave their components free to rotate among each other.

    A common offset of the data costs no digits: for the linear and polynomial kernels the Gram
    matrix of :math:`\phi(x) - \phi(\bar x)` is summed directly, for the RBF and Laplacian kernels
    that of k - 1 (see :meth:`kernelbook.kernels.Kernel.about`).

    References
    ----------
    [Scholkopf1998]_, [Mika1999b]_, [Kwok2004]_, [Bakir2004]_

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

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_components": [Number(Integral, 1, None, closed="left"), None],
        "eigen_solver": [StrOptions({"auto", "dense", "iterative"})],
        "preimage": [StrOptions({"fixed_point", "distance", "ridge"})],
        "preimage_reg": [Number(Real, 0, None, closed="neither")],
        "n_neighbors": [Number(Integral, 1, None, closed="left")],
        "n_restarts": [Number(Integral, 0, None, closed="left")],
        "preimage_max_iter": [Number(Integral, 1, None, closed="left")],
        **KERNEL_CONSTRAINTS,
    }

    def __init__(
        self,
        n_components: int | None = None,
        *,
        kernel: KernelLike = "rbf",
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

    @all_or_nothing
    def fit(self, X: ArrayLike, y: object = None) -> Self:
        """Find the components.

        Parameters
        ----------
        X : array-like of shape (n, d) or (n, n)
            Training points, or the Gram matrix for a precomputed kernel.
        y : Ignored
            Not used, present for API consistency by convention.

        Returns
        -------
        KernelPCA
            The fitted estimator.
        """
        self._validate_params()
        X = validate_data(self, X, dtype=np.float64)
        if self.n_components is not None and self.n_components > len(X):
            raise ValueError(
                f"n_components must be at most n_samples={len(X)}, got {self.n_components}."
            )
        self.kernel_ = self._resolve_kernel(X)
        self._mean = X.mean(axis=0)
        self._split = self.kernel_.about(self._mean)
        K = _conditionally_semidefinite_gram(self._split, X)
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

    def fit_transform(self, X: ArrayLike, y: object = None) -> Matrix:
        """Fit, and project the training points.

        Parameters
        ----------
        X : array-like of shape (n, d) or (n, n)
            Training points, or the Gram matrix for a precomputed kernel.
        y : Ignored
            Not used, present for API consistency by convention.

        Returns
        -------
        ndarray of shape (n, k)
            Projections.
        """
        return self.fit(X)._training_projections()

    def transform(self, X: ArrayLike) -> Matrix:
        """Project the images of points on the components.

        Parameters
        ----------
        X : array-like of shape (m, d), or (m, n_train) for a precomputed kernel
            Points, or their kernel values with the training points.

        Returns
        -------
        ndarray of shape (m, k)
            In units of the feature space; zero for components without variance.
        """
        check_is_fitted(self)
        K = self._split.evaluate(self._check_new_points(X), self.X_fit_)
        centred = K - K.mean(axis=1, keepdims=True)
        centred -= self._column_means - self._grand_mean
        return centred @ self.alpha_

    def inverse_transform(self, X: ArrayLike) -> Matrix:
        r"""Return points of the input space for given projections.

        With the linear kernel the point is exact, :math:`\bar x + \sum_k \beta_k v_k`, the mean
        restored. Elsewhere the wanted :math:`\bar\phi + \sum_k \beta_k v_k` is in general the
        image of no point, and ``preimage`` says what takes its place:

        * 'fixed_point' (smooth radial kernels, such as RBF): the point whose image is nearest, by
          Mika et al.'s iteration, with weights :math:`\alpha\beta + 1/n`, started at the nearest
          training points;
        * 'distance' (radial kernels): Kwok and Tsang's point, at the input distances from its
          neighbours that belong to the feature-space distances;
        * 'ridge' (all kernels): learned by kernel ridge regression in ``fit``.

        Parameters
        ----------
        X : array-like of shape (m, k)
            Projections, as :meth:`transform` returns them.

        Returns
        -------
        ndarray of shape (m, d)
            The points.

        Raises
        ------
        ValueError
            If the kernel is precomputed (there are no points) or one that the method cannot
            serve, if 'ridge' was not chosen before ``fit``, or if the number of columns is wrong.

        Warns
        -----
        ConvergenceWarning
            If 'fixed_point' ends before some point has come to rest.
        """
        check_is_fitted(self)
        projections = check_array(X, dtype=np.float64, input_name="X")
        if projections.shape[1] != len(self.eigenvalues_):
            raise ValueError(
                f"X has {projections.shape[1]} columns, but there are "
                f"{len(self.eigenvalues_)} components."
            )
        self._check_preimage()
        centred = self.X_fit_ - self._mean
        return self._mean + self._centred_preimages(projections, centred)

    def _centred_preimages(self, projections: Matrix, X: Matrix) -> Matrix:
        if self.preimage == "ridge" and self._ridge is not None:
            return self._ridge(projections)
        weights = projections @ self.alpha_.T + 1.0 / len(X)
        if self.kernel_.is_linear:
            return weights @ X
        distances = self._feature_distances(projections)
        radial = _radial(self.kernel_, self.preimage)
        if self.preimage == "distance":
            return distance_preimages(X, distances, radial, self.n_neighbors)
        starts = np.argsort(distances, axis=1, kind="stable")[:, : self.n_restarts + 1]
        return fixed_point_preimages(X, weights, starts, radial, self.preimage_max_iter)

    def _feature_distances(self, projections: Matrix) -> Matrix:
        """Squared distances to the training images: within the subspace plus off it."""
        own = self._training_projections()
        off = np.maximum(self._centred_diagonal - np.einsum("ij,ij->i", own, own), 0.0)
        return cdist(projections * (self.eigenvalues_ > 0), own, "sqeuclidean") + off

    def _learn_preimages(self) -> RidgePreimage | None:
        if self.kernel_.is_linear or self.kernel_.is_precomputed:
            return None
        centred = self.X_fit_ - self._mean
        return RidgePreimage(self._training_projections(), centred, self.preimage_reg)

    def _check_preimage(self) -> None:
        if self.kernel_.is_precomputed:
            raise ValueError(
                "a precomputed kernel has no points to return: fit on points with a callable "
                "kernel for inverse_transform."
            )
        if self.kernel_.is_linear:
            return
        if self.preimage != "ridge":
            _radial(self.kernel_, self.preimage)
        elif self._ridge is None:
            raise ValueError("preimage='ridge' is learned in fit: set it before fitting.")

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
            values, vectors = eigh(double_centre(K)[0], subset_by_index=[n - k, n - 1], **in_place)
            if len(values) == k:  # LAPACK finds none of some when all are equal
                return values, vectors
        values, vectors = eigh(double_centre(K)[0], **in_place)
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


def _radial(kernel: Kernel, preimage: str) -> Radial:
    if isinstance(kernel, Radial):
        return kernel
    raise ValueError(
        f"preimage={preimage!r} needs a radial kernel such as 'rbf', or one "
        f"derived from kernelbook.kernels.Radial, got {kernel!r}: fit with "
        "preimage='ridge', which serves every kernel."
    )


def _conditionally_semidefinite_gram(kernel: Kernel, X: Matrix) -> Matrix:
    """The Gram matrix, rejected if it is indefinite even after centring."""
    try:
        return training_gram(kernel, X)
    except NotPositiveSemidefiniteError:
        K = kernel.gram(X)
    K = (K + K.T) / 2
    eigenvalues = eigvalsh(double_centre(K)[0])
    if eigenvalues[0] < -PSD_TOLERANCE * len(K) * np.abs(K).max():
        raise NotPositiveSemidefiniteError(
            f"the centred Gram matrix has the negative eigenvalue {eigenvalues[0]:.6g}, "
            f"{-eigenvalues[0] / max(eigenvalues[-1], np.finfo(float).tiny):.4f} of the "
            f"largest ({eigenvalues[-1]:.6g}): no feature space has negative variance. Use a "
            "kernel such as 'rbf', or other kernel parameters."
        )
    return K
