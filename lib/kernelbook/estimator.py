"""What estimators with a kernel have in common: parameters, checks, and a fit that is whole."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from functools import wraps
from numbers import Integral, Real
from typing import Any, ClassVar, TypeVar, cast

import numpy as np
from joblib import parallel_config
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import issparse
from sklearn.base import BaseEstimator
from sklearn.utils import Tags
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import _check_sample_weight, validate_data

from kernelbook.kernels import (
    NAMED,
    Array,
    Expansion,
    Index,
    Kernel,
    KernelLike,
    Matrix,
    check_gram,
    resolve_kernel,
)
from kernelbook.qp import (
    SOLVERS,
    Certificate,
    DenseQuadratic,
    GramQuadratic,
    LowRankQuadratic,
    QPSolution,
    Quadratic,
    SolverOptions,
    goes_exact,
)
from kernelbook.qp.gram import MOST_FEATURES, POINTS_PER_FEATURE

__all__ = [
    "KERNEL_CONSTRAINTS",
    "SOLVER_CONSTRAINTS",
    "KernelEstimator",
    "Number",
    "all_or_nothing",
    "check_several_classes",
    "check_weights",
    "degeneracy",
    "expand",
    "low_rank_matrix",
    "stored_matrix",
    "threads",
    "training_gram",
    "training_matrix",
]

Fit = TypeVar("Fit", bound=Callable[..., Any])

# An interior point that was stopped early leaves no exact zeros.
UNPOLISHED_ZERO = 1e-6
LARGEST = float(np.finfo(float).max)


class Number(Interval):
    """An interval of numbers for scikit-learn's parameter validation, without the booleans.

    Parameters
    ----------
    type : {numbers.Integral, numbers.Real}
        Which numbers.
    left : float or None
        The lower end. If None, there is none.
    right : float or None
        The upper end. If None, there is none.
    closed : {'left', 'right', 'both', 'neither'}
        Which ends belong to the interval.

    Examples
    --------
    >>> interval = Number(Real, 0, None, closed="left")
    >>> interval.is_satisfied_by(0.0), interval.is_satisfied_by(True)
    (True, False)
    """

    def is_satisfied_by(self, val: Any) -> bool:
        """Say whether a value is a number of the interval.

        Parameters
        ----------
        val : object
            The value.

        Returns
        -------
        bool
            False for booleans, and for integers that are no floating-point number.
        """
        if isinstance(val, bool | np.bool_) or not super().is_satisfied_by(val):
            return False
        # An integer may be too large for the floating-point numbers of a fit.
        return not isinstance(val, int) or abs(val) <= LARGEST


class WidthRule(StrOptions):
    """The names of rules for gamma, with a word on the one that a single kernel has.

    Examples
    --------
    >>> print(WidthRule({"median", "mean_distance"}))
    a str among {'median'} (for the Laplacian kernel also 'mean_distance')
    """

    def __str__(self) -> str:
        names = ", ".join(map(repr, sorted(self.options - {"mean_distance"})))
        return f"a str among {{{names}}} (for the Laplacian kernel also 'mean_distance')"


KERNEL_CONSTRAINTS: dict[str, list[Any]] = {
    "kernel": [StrOptions(NAMED.keys()), Kernel, callable],
    "degree": [Number(Real, 1, None, closed="left")],
    "gamma": [
        WidthRule({"scale", "auto", "median", "mean_distance"}),
        Number(Real, 0, None, closed="neither"),
    ],
    "coef0": [Number(Real, None, None, closed="neither")],
}
SOLVER_CONSTRAINTS: dict[str, list[Any]] = {
    "tol": [Number(Real, 0, None, closed="neither")],
    "max_iter": [Number(Integral, 1, None, closed="left")],
    "solver": [StrOptions(set(SOLVERS))],
    "cache_size": [Number(Real, 0, None, closed="neither")],
}


def all_or_nothing(fit: Fit) -> Fit:
    """Make a ``fit`` method whole: an error leaves the estimator as it was before.

    Parameters
    ----------
    fit : callable
        The method.

    Returns
    -------
    callable
        The same method, with its signature.
    """

    @wraps(fit)
    def fit_or_restore(self: Any, *args: Any, **kwargs: Any) -> Any:
        before = dict(vars(self))
        try:
            return fit(self, *args, **kwargs)
        except BaseException as error:
            vars(self).clear()
            vars(self).update(before)
            if isinstance(error, TypeError | ValueError) and (reason := _reason(self, error)):
                raise ValueError(reason) from error
            raise

    return cast(Fit, fit_or_restore)


def _reason(estimator: Any, error: Exception) -> str | None:
    """What to say in place of an error that names neither the argument nor the remedy."""
    message, kernel = str(error), vars(estimator).get("kernel")
    if "value of NA is ambiguous" in message:
        return "X or y has a missing value (pandas.NA): leave the row out, or fill it in."
    if "Sparse data was passed" in message and kernel is not None:
        return (
            f"{type(estimator).__name__} takes no sparse X with kernel={kernel!r}: KernelSVC, "
            "KernelSVR, OneClassSVM and SVDD do with 'linear', 'poly' and 'rbf'. Pass X.toarray()."
        )
    if "could not convert string to float" in message and callable(kernel):
        return (
            "a kernel callable gets X as numbers, but X holds strings: compute the matrix of its "
            "values yourself, and pass it with kernel='precomputed'."
        )
    return None


class KernelEstimator(BaseEstimator):
    """An estimator with the parameters ``kernel``, ``gamma``, ``degree`` and ``coef0``.

    Attributes
    ----------
    kernel_ : Kernel
        What ``kernel`` and its parameters stand for on the training data.
    takes_sparse : bool
        Whether points may be sparse, if the kernel takes them.
    """

    takes_sparse: ClassVar[bool] = False
    kernel: KernelLike
    gamma: float | str
    degree: int
    coef0: float
    kernel_: Kernel
    alpha_: Array
    certificate_: Certificate
    degeneracy_: str | None
    dual_coef_: Matrix
    intercept_: Array
    n_iter_: int
    support_: Index
    support_vectors_: Matrix
    _bias: float | Array
    _expansion: Expansion

    @property
    def _sparse_format(self) -> str | bool:
        """The format of sparse points that a fit with this kernel takes; False if it takes none."""
        kernel: object = self.kernel
        if isinstance(kernel, str):
            is_taken = kernel in NAMED and NAMED[kernel].takes_sparse
        else:
            is_taken = isinstance(kernel, Kernel) and kernel.takes_sparse
        return "csr" if self.takes_sparse and is_taken else False

    @property
    def gamma_(self) -> float:
        """Width of the kernel, if it has one: the same as ``kernel_.gamma``."""
        gamma: float = self.kernel_.gamma  # type: ignore[attr-defined]
        return gamma

    def _resolve_kernel(self, X: Matrix, sample_weight: Array | None = None) -> Kernel:
        """The kernel object that the parameters stand for on training points."""
        return resolve_kernel(
            self.kernel,
            X,
            gamma=self.gamma,
            degree=self.degree,
            coef0=self.coef0,
            sample_weight=sample_weight,
        )

    def _training_points(
        self, X: Matrix, kept: Index, sample_weight: Array | None = None
    ) -> tuple[Kernel, Matrix, Kernel]:
        """The kernel object, the kept training points, and the kernel split about their mean."""
        kernel = self._resolve_kernel(X, sample_weight)
        points = kernel.subset(X, kept)
        # A centre other than zero would take their zeros from sparse points.
        centre = np.zeros(X.shape[1]) if issparse(X) else points.mean(axis=0)
        return kernel, points, kernel.about(centre)

    def _keep_support(
        self, X: Matrix, kernel: Kernel, split: Kernel, kept: Index, solution: QPSolution, x: Array
    ) -> Array:
        """Set what follows from the coefficients x of the kept points; return those of all (n,)."""
        coefficients, support = expand(X.shape[0], kept, x, solution.status != "max_iter")
        self.kernel_, self.support_ = kernel, support
        self.support_vectors_ = np.empty((0, 0)) if kernel.is_precomputed else X[support]
        self.dual_coef_ = coefficients[support][None, :]
        self.alpha_ = np.abs(coefficients)
        self.certificate_, self.n_iter_ = solution.certificate, solution.n_iter
        self.degeneracy_ = degeneracy(len(support), len(kept))
        self._expansion = split.expansion(X, support, coefficients[support])
        return coefficients

    def _keep_intercept(self, X: Matrix, split: Kernel, bias: float) -> None:
        """Set the constant of a function whose coefficients sum to zero, in both kernels."""
        # The split left terms out that depend on one argument only.
        shift = float(self.dual_coef_[0] @ split.one_sided(X[self.support_]))
        self._bias, self.intercept_ = bias, np.array([bias - shift])

    def _adopt(self, machine: KernelEstimator) -> None:
        """Take the fitted attributes of the machine that an estimator consists of."""
        self.kernel_, self.alpha_ = machine.kernel_, machine.alpha_
        self.support_, self.support_vectors_ = machine.support_, machine.support_vectors_
        self.dual_coef_, self.intercept_ = machine.dual_coef_, machine.intercept_
        self.certificate_, self.n_iter_ = machine.certificate_, machine.n_iter_
        self.degeneracy_ = machine.degeneracy_

    def _check_new_points(self, X: ArrayLike) -> Matrix:
        """Check points to predict: (m, d), or kernel values against the training set (m, n)."""
        try:
            checked = validate_data(
                self, X, dtype=np.float64, reset=False, accept_sparse=self._sparse_format
            )
            return cast(Matrix, checked)
        except ValueError as error:
            if is_precomputed(self.kernel) and "features" in str(error):
                raise ValueError(
                    f"{error} With kernel='precomputed' X must hold the kernel values between "
                    f"new and training points: shape (n_test, n_train) = "
                    f"(?, {self.n_features_in_})."
                ) from None
            raise

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = is_precomputed(self.kernel)
        tags.input_tags.sparse = self._sparse_format == "csr"
        return tags


def expand(size: int, index: Index, values: Array, is_polished: bool = True) -> tuple[Array, Index]:
    """Return values at some places of a longer vector, and the places of those not zero.

    Parameters
    ----------
    size : int
        Length of the vector.
    index : ndarray of shape (k,), dtype=int
        Places of the values.
    values : ndarray of shape (k,)
        The values.
    is_polished : bool, default=True
        Whether zeros are exact; if not, values below 1e-6 of the largest count as zero.

    Returns
    -------
    whole : ndarray of shape (size,)
        The longer vector.
    support : ndarray of shape (n_SV,), dtype=int
        Places of the values that are not zero, in order.

    Examples
    --------
    >>> whole, support = expand(4, np.array([1, 3]), np.array([5.0, 0.0]))
    >>> whole.tolist(), support.tolist()
    ([0.0, 5.0, 0.0, 0.0], [1])
    """
    whole = np.zeros(size)
    whole[index] = values
    smallest = 0.0 if is_polished else UNPOLISHED_ZERO * float(np.abs(values).max(initial=0.0))
    whole[np.abs(whole) <= smallest] = 0.0
    return whole, np.flatnonzero(whole)


def degeneracy(n_support: int, n_points: int) -> str | None:
    """Say how a solution, optimal as it is, tells little about new points; None if it does not.

    Parameters
    ----------
    n_support : int
        Number of support vectors.
    n_points : int
        Number of training points that took part.

    Returns
    -------
    str or None
        One sentence for the attribute ``degeneracy_``.

    Examples
    --------
    >>> degeneracy(0, 9)
    'no training point is a support vector: the function is constant'
    """
    if n_support == 0:
        return "no training point is a support vector: the function is constant"
    if n_support == n_points:
        return "every training point is a support vector: nothing has been left out"
    return None


def threads(n_jobs: int | None) -> AbstractContextManager[Any]:
    """Return a context in which so many threads share what can be shared.

    Parameters
    ----------
    n_jobs : int or None
        Number of threads. If None, that of the context around this one.

    Returns
    -------
    context manager
        That of ``joblib.parallel_config``.

    Examples
    --------
    >>> from joblib import effective_n_jobs
    >>> with threads(2):
    ...     effective_n_jobs()
    2
    """
    return nullcontext() if n_jobs is None else parallel_config("threading", n_jobs=n_jobs)


def is_precomputed(kernel: object) -> bool:
    """Say whether ``X`` holds kernel values, from the parameter alone, before a fit.

    Parameters
    ----------
    kernel : str, Kernel or callable
        An estimator's ``kernel``.

    Returns
    -------
    bool
        True for 'precomputed' and the object of that name.

    Examples
    --------
    >>> is_precomputed("precomputed"), is_precomputed("rbf")
    (True, False)
    """
    if isinstance(kernel, str):
        return kernel in NAMED and NAMED[kernel].is_precomputed
    return isinstance(kernel, Kernel) and kernel.is_precomputed


def check_weights(sample_weight: ArrayLike | None, X: ArrayLike) -> Array:
    """Return sample weights, ones if None.

    Parameters
    ----------
    sample_weight : array-like of shape (n,) or None
        The weights.
    X : array-like of shape (n, d)
        The points that they belong to.

    Returns
    -------
    ndarray of shape (n,)
        The weights in double precision, none negative.

    Raises
    ------
    ValueError
        If a weight is negative or not finite, or all are zero.

    Examples
    --------
    >>> check_weights(None, np.zeros((2, 1))).tolist()
    [1.0, 1.0]
    """
    if sample_weight is not None and not np.any(np.asarray(sample_weight)):
        raise ValueError("sample_weight is zero for every point: at least one must stay in.")
    weights: Array = _check_sample_weight(
        sample_weight, X, dtype=np.float64, ensure_non_negative=True
    )
    return weights


def check_several_classes(classes: NDArray[Any], machine: str = "classifier") -> None:
    """Raise an error unless there are two classes or more.

    Parameters
    ----------
    classes : ndarray of shape (k,)
        The labels in y, each once.
    machine : str, default='classifier'
        What needs them.

    Raises
    ------
    ValueError
        If there is one only; the message names it.

    Examples
    --------
    >>> check_several_classes(np.array(["well"]))
    Traceback (most recent call last):
    ValueError: y holds one class only ('well'): a classifier needs at least 2 classes.
    """
    if len(classes) < 2:
        raise ValueError(
            f"y holds one class only ({classes.tolist()[0]!r}): a {machine} needs at least 2 "
            "classes."
        )


def training_gram(kernel: Kernel, X: Matrix) -> Matrix:
    """Return the Gram matrix of training points, checked unless it is PSD by construction.

    Parameters
    ----------
    kernel : Kernel
        The kernel.
    X : ndarray of shape (n, d)
        Training points, or the precomputed matrix.

    Returns
    -------
    ndarray of shape (n, n)
        Kernel values; exactly symmetric.

    Raises
    ------
    NotPositiveSemidefiniteError
        If the matrix has a negative eigenvalue beyond rounding.

    Examples
    --------
    >>> from kernelbook.kernels import Linear
    >>> training_gram(Linear(), np.array([[1.0], [2.0]])).tolist()
    [[1.0, 2.0], [2.0, 4.0]]
    """
    K = kernel.gram(X)
    if kernel.is_psd:
        return K
    return check_gram(K, name="the precomputed X" if kernel.is_precomputed else "the Gram matrix")


def low_rank_matrix(
    kernel: Kernel, X: Matrix, options: SolverOptions, *, beside_pairs: bool = False
) -> LowRankQuadratic | None:
    """Return the Gram matrix of training points as F F', if that suits the solver.

    Parameters
    ----------
    kernel : Kernel
        The kernel.
    X : ndarray of shape (n, d)
        Training points, or the precomputed matrix.
    options : SolverOptions
        Solver and limits.
    beside_pairs : bool, default=False
        Whether steps on pairs are the other way: 'auto' then takes the matrix only if its features
        are at most ``options.features_per_root`` by the root of n.

    Returns
    -------
    LowRankQuadratic or None
        None if another solver is wanted, or if the features of the kernel are not few.

    Examples
    --------
    >>> from kernelbook.kernels import Linear
    >>> K = low_rank_matrix(Linear(), np.array([[1.0], [2.0]]), SolverOptions(solver="low_rank"))
    >>> K.F.tolist()
    [[1.0], [2.0]]
    """
    n = X.shape[0]
    if options.solver == "low_rank":
        largest = MOST_FEATURES
    elif options.solver == "auto" and n >= options.low_rank_from:
        most = options.features_per_root * n**0.5 if beside_pairs else n / POINTS_PER_FEATURE
        largest = min(int(most), MOST_FEATURES)
    else:
        return None
    with np.errstate(over="ignore", invalid="ignore"):
        F = kernel.features(X, largest)
        matrix = None if F is None else LowRankQuadratic(F)
    if matrix is not None and not np.isfinite(matrix.diagonal).all():
        raise ValueError("inner products of X overflow: rescale the features or lower the degree.")
    return matrix


def training_matrix(kernel: Kernel, X: Matrix, options: SolverOptions) -> Quadratic:
    """Return the Gram matrix of training points, in memory only where the solver wants it.

    Parameters
    ----------
    kernel : Kernel
        The kernel.
    X : ndarray of shape (n, d)
        Training points, or the precomputed matrix.
    options : SolverOptions
        Solver and limits.

    Returns
    -------
    Quadratic
        The matrix: stored, or as an operator where the solver needs rows and blocks only.

    Raises
    ------
    NotPositiveSemidefiniteError
        If the matrix is formed, and has a negative eigenvalue beyond rounding.

    Examples
    --------
    >>> from kernelbook.kernels import Linear
    >>> len(training_matrix(Linear(), np.array([[1.0], [2.0]]), SolverOptions()))
    2
    """
    n = X.shape[0]
    by_pairs = kernel.is_psd and n > options.in_memory_up_to and goes_exact(n, options)
    low_rank = low_rank_matrix(kernel, X, options, beside_pairs=by_pairs)
    if low_rank is not None:
        return low_rank
    return GramQuadratic(kernel, X) if by_pairs else stored_matrix(kernel, X)


def stored_matrix(kernel: Kernel, X: Matrix) -> DenseQuadratic:
    """Return the Gram matrix of training points, in memory.

    Parameters
    ----------
    kernel : Kernel
        The kernel.
    X : ndarray of shape (n, d)
        Training points, or the precomputed matrix.

    Returns
    -------
    DenseQuadratic
        The matrix, and how exact its entries are.

    Examples
    --------
    >>> from kernelbook.kernels import Linear
    >>> stored_matrix(Linear(), np.array([[1.0], [2.0]])).in_memory.tolist()
    [[1.0, 2.0], [2.0, 4.0]]
    """
    # Values that could not be split are taken as they were computed: they are the problem.
    error = kernel.entry_error if kernel.is_split else 0.0
    return DenseQuadratic(training_gram(kernel, X), is_relative=kernel.is_split, entry_error=error)
