r"""What a kernel is: values, and what machines, metrics and compiled loops ask of it besides.

A new kernel is a frozen dataclass that derives from :class:`Kernel` and defines
:meth:`Kernel.evaluate`; overriding more makes it faster, more accurate or smooth.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import Field, fields, is_dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import issparse
from sklearn.utils import check_array, gen_batches

from kernelbook.kernels.expansion import Expansion, KernelExpansion
from kernelbook.kernels.parameters import Array, Index, KernelParameters, Matrix
from kernelbook.kernels.sparse import SparseValues

if TYPE_CHECKING:
    from kernelbook.kernels.compiled import CompiledPoints

__all__ = [
    "ENTRY_ERROR",
    "NAMED",
    "Array",
    "Index",
    "Kernel",
    "KernelLike",
    "Matrix",
    "resolve_kernel",
]

# Scikit-learn's names where it has one.
NAMED: dict[str, type[Kernel]] = {}
# Points of a block for a diagonal: 15/16 of its values are computed in vain.
DIAGONAL_BLOCK = 16
# Relative error of a value: an exponential loses a few digits.
ENTRY_ERROR = 4.0 * float(np.finfo(float).eps)


class Kernel(ABC):
    r"""A function :math:`k(x, y)` that is an inner product of images :math:`\phi(x), \phi(y)`.

    The methods but for ``__call__`` take float64 arrays that have been checked already.

    Attributes
    ----------
    is_precomputed : bool
        Whether ``X`` holds kernel values, see :class:`~kernelbook.kernels.Precomputed`.
    is_linear : bool
        Whether the images are the points themselves.
    is_split : bool
        Whether this is what :meth:`about` has left of another kernel.
    entry_error : float
        Relative error of a value.
    takes_sparse : bool
        Whether points may be sparse (CSR): those of other kernels have to be arrays.
    is_psd : bool
        Whether every Gram matrix is positive semi-definite by construction. If not, machines
        check it in ``fit``.

    Examples
    --------
    The rational quadratic kernel, complete:

    >>> from dataclasses import dataclass
    >>> from scipy.spatial.distance import cdist
    >>> @dataclass(frozen=True)
    ... class RationalQuadratic(Kernel):
    ...     alpha: float = 1.0
    ...     is_psd = True
    ...
    ...     def evaluate(self, X, Y):
    ...         return (1.0 + cdist(X, Y, "sqeuclidean") / (2.0 * self.alpha)) ** -self.alpha
    >>> RationalQuadratic()([[0.0]], [[0.0], [2.0]]).round(6).tolist()
    [[1.0, 0.333333]]
    """

    is_precomputed: ClassVar[bool] = False
    is_linear: ClassVar[bool] = False
    is_split: ClassVar[bool] = False
    takes_sparse: ClassVar[bool] = False

    def __init_subclass__(cls, name: str | None = None, **kwargs: Any) -> None:
        """Register a kernel under the ``name`` by which estimators accept it."""
        super().__init_subclass__(**kwargs)
        if name is None:
            return
        holder = NAMED.setdefault(name, cls)
        # A class that is defined again, as by a cell that runs twice, takes its own place.
        if (holder.__module__, holder.__qualname__) != (cls.__module__, cls.__qualname__):
            raise ValueError(f"the name {name!r} belongs to the kernel {holder.__name__}.")
        NAMED[name] = cls

    @classmethod
    def from_parameters(cls, X: Matrix, parameters: KernelParameters) -> Self:
        """Return the kernel that an estimator's parameters and training points stand for.

        Parameters
        ----------
        X : ndarray of shape (n, d)
            Training points.
        parameters : KernelParameters
            What the estimator was given; a kernel takes what it has and ignores the rest.

        Returns
        -------
        Kernel
            A kernel with those of gamma, degree and coef0 that are fields of its class.
        """
        from kernelbook.kernels.radial import resolve_gamma

        taken: dict[str, Any] = {}
        own: tuple[Field[Any], ...] = fields(cls) if is_dataclass(cls) else ()
        for field in own:
            if field.name == "gamma":
                taken["gamma"] = resolve_gamma(parameters.gamma, X, parameters.sample_weight)
            elif field.name in ("degree", "coef0"):
                taken[field.name] = getattr(parameters, field.name)
        return cls(**taken)

    @property
    def entry_error(self) -> float:
        """Relative error of a value, by rounding."""
        return ENTRY_ERROR

    @property
    def is_psd(self) -> bool:
        """Whether every Gram matrix is positive semi-definite by construction."""
        return False

    @abstractmethod
    def evaluate(self, X: Matrix, Y: Matrix) -> Matrix:
        """Return the kernel values of every pair.

        Parameters
        ----------
        X : ndarray of shape (n, d)
            First arguments.
        Y : ndarray of shape (m, d)
            Second arguments.

        Returns
        -------
        ndarray of shape (n, m)
            ``k(X[i], Y[j])``.
        """

    def __call__(self, X: ArrayLike, Y: ArrayLike | None = None) -> Matrix:
        """Return the kernel values of every pair, after checking the input.

        Parameters
        ----------
        X : array-like of shape (n, d)
            First arguments; sparse if the kernel takes that.
        Y : array-like of shape (m, d), default=None
            Second arguments. If None, ``X`` itself.

        Returns
        -------
        ndarray of shape (n, m)
            ``k(X[i], Y[j])``; exactly symmetric if ``Y`` is None.

        Raises
        ------
        ValueError
            If an entry is NaN or infinite, if the numbers of columns differ, or if a value
            overflows.
        """
        accepted = "csr" if self.takes_sparse else False
        X = check_array(X, dtype=np.float64, input_name="X", accept_sparse=accepted)
        if Y is None:
            return self.gram(X)
        Y = check_array(Y, dtype=np.float64, input_name="Y", accept_sparse=accepted)
        if X.shape[1] != Y.shape[1]:
            raise ValueError(
                f"X has {X.shape[1]} features and Y has {Y.shape[1]}: a kernel compares points "
                "of one space, so give both the same columns."
            )
        return self.evaluate(X, Y)

    def __add__(self, other: Kernel) -> Kernel:
        """Return the kernel of the sum of values."""
        from kernelbook.kernels.composite import Sum

        return Sum(self, other)

    def __mul__(self, other: Kernel | float) -> Kernel:
        """Return the kernel of the product of values; a number counts as a constant kernel."""
        from kernelbook.kernels.composite import Constant, Product

        return Product(self, other if isinstance(other, Kernel) else Constant(float(other)))

    __rmul__ = __mul__

    def gram(self, X: Matrix) -> Matrix:
        """Return the matrix of values among the training points.

        Parameters
        ----------
        X : ndarray of shape (n, d)
            Training points.

        Returns
        -------
        ndarray of shape (n, n)
            ``k(X[i], X[j])``.
        """
        return self.evaluate(X, X)

    def diagonal(self, X: Matrix) -> Array:
        """Return the value of every point with itself.

        Parameters
        ----------
        X : ndarray of shape (n, d)
            Points.

        Returns
        -------
        ndarray of shape (n,)
            ``k(X[i], X[i])``.
        """
        values = np.zeros(len(X))
        for block in gen_batches(len(X), DIAGONAL_BLOCK):
            values[block] = np.diagonal(self.evaluate(X[block], X[block]))
        return values

    def about(self, centre: Array) -> Kernel:
        r"""Split off what depends on one argument only.

        Machines that look at differences of images only may replace k by :math:`k_c` in

        .. math:: k(x, y) = k_c(x, y) + s(x) + s(y) + \text{constant},

        and :math:`k_c`, computed without the terms that cancel, keeps digits that they would
        take away: those of data far from the origin, and of wide kernels, nearly constant.

        Parameters
        ----------
        centre : ndarray of shape (d,)
            A point amid the data.

        Returns
        -------
        Kernel
            :math:`k_c`, with :meth:`one_sided` and :attr:`constant` for the rest; by default k.
        """
        return self

    def one_sided(self, X: Matrix) -> Array:
        """Return what :meth:`about` has split off for one argument.

        Parameters
        ----------
        X : ndarray of shape (n, d)
            Points.

        Returns
        -------
        ndarray of shape (n,)
            The values s(x), zero if nothing was split off.
        """
        return np.zeros(X.shape[0])

    @property
    def constant(self) -> float:
        """The constant that :meth:`about` has split off."""
        return 0.0

    def subset(self, X: Matrix, index: Index) -> Matrix:
        """Return the training data of some of the points.

        Parameters
        ----------
        X : ndarray of shape (n, d)
            Training points.
        index : ndarray of shape (k,), dtype=int
            Which of them.

        Returns
        -------
        ndarray of shape (k, d)
            What ``fit`` takes for these points alone; not a copy if ``index`` names them all.
        """
        return X if len(index) == X.shape[0] else X[index]

    def expansion(self, X: Matrix, index: Index, coefficients: Array) -> Expansion:
        r"""Return the function :math:`x \mapsto \sum_i c_i k(x, x_i)` of some training points.

        Parameters
        ----------
        X : ndarray of shape (n, d)
            Training points.
        index : ndarray of shape (k,), dtype=int
            Which of them occur in the sum.
        coefficients : ndarray of shape (k,) or (k, p)
            Their coefficients, p columns for p functions.

        Returns
        -------
        callable
            From points (m, d) to sums (m,) or (m, p); computed in blocks.
        """
        return KernelExpansion(self.evaluate, X[index], coefficients)

    def among(self, X: Matrix) -> Callable[[Index, Index], Matrix]:
        """Return the values among fixed points, whatever is computed once for all being kept.

        Parameters
        ----------
        X : ndarray of shape (n, d)
            The points.

        Returns
        -------
        callable
            From rows (m,) and columns (k,) to the values (m, k) of these points.
        """
        if issparse(X):
            return SparseValues(self.evaluate, X)
        return lambda rows, columns: self.evaluate(X[rows], X[columns])

    def compiled(self, X: Matrix) -> CompiledPoints | None:
        """Return what the compiled loops need to compute values among fixed points.

        Parameters
        ----------
        X : ndarray of shape (n, d)
            The points.

        Returns
        -------
        CompiledPoints or None
            None if the loops do not know the kernel: it is then called block by block.
        """
        return None

    def features(self, X: Matrix, max_features: int = 500) -> Matrix | None:
        r"""Return finite features F with :math:`k(x, y) = F(x)^\top F(y)`, if they are few.

        Parameters
        ----------
        X : ndarray of shape (n, d)
            Points.
        max_features : int, default=500
            Largest number of features that counts as few.

        Returns
        -------
        ndarray of shape (n, r) or None
            None if there is no finite map, or one with more features.
        """
        return None

    def weighted_gradient(self, X: Matrix, points: Matrix, weights: Matrix) -> Matrix:
        r"""Return :math:`\sum_j w_{ij} \nabla_x k(x_i, p_j)` at given points; smooth kernels only.

        Parameters
        ----------
        X : ndarray of shape (m, d)
            Where the gradient is taken.
        points : ndarray of shape (n, d)
            Second arguments p.
        weights : ndarray of shape (m, n)
            Weights w.

        Returns
        -------
        ndarray of shape (m, d)
            One sum a row: :math:`\nabla_x` is the gradient in the first argument.

        Raises
        ------
        ValueError
            If the derivatives of the kernel are not known.
        """
        raise ValueError(self._not_smooth())

    def one_sided_gradient(self, X: Matrix) -> Matrix:
        """Return the gradient of k(x, y) in x, taken at y = x; smooth kernels only.

        Parameters
        ----------
        X : ndarray of shape (m, d)
            Where it is taken.

        Returns
        -------
        ndarray of shape (m, d)
            Half the gradient of k(x, x).

        Raises
        ------
        ValueError
            If the derivatives of the kernel are not known.
        """
        raise ValueError(self._not_smooth())

    def metric(self, X: Matrix) -> Matrix:
        r"""Return the metric that the kernel induces; smooth kernels only.

        Parameters
        ----------
        X : ndarray of shape (m, d)
            Where it is taken.

        Returns
        -------
        ndarray of shape (m, d, d)
            :math:`\partial^2 k(x, y) / \partial x_i \partial y_j` at y = x.

        Raises
        ------
        ValueError
            If the derivatives of the kernel are not known.
        """
        raise ValueError(self._not_smooth())

    def magnification(self, X: Matrix) -> Array:
        """Return the volume of feature space per volume of input space; smooth kernels only.

        Parameters
        ----------
        X : ndarray of shape (m, d)
            Where it is taken.

        Returns
        -------
        ndarray of shape (m,)
            Square root of the determinant of :meth:`metric`.

        Raises
        ------
        ValueError
            If the derivatives of the kernel are not known.
        """
        sign, log_determinant = np.linalg.slogdet(self.metric(X))
        return np.where(sign > 0, np.exp(0.5 * log_determinant), 0.0)

    def _not_smooth(self) -> str:
        return (
            f"the kernel {self!r} has no known derivatives: 'linear', 'poly', 'rbf', their sums "
            "and products have, radial kernels with a slope, and kernels that define "
            "weighted_gradient, one_sided_gradient and metric."
        )


KernelLike = str | Kernel | Callable[..., ArrayLike]


def resolve_kernel(
    kernel: KernelLike,
    X: Matrix,
    *,
    gamma: float | str = 1.0,
    degree: int = 3,
    coef0: float = 0.0,
    sample_weight: Array | None = None,
) -> Kernel:
    """Return the kernel object for what was given as an estimator's ``kernel``.

    Parameters
    ----------
    kernel : str, Kernel or callable
        A name of :data:`NAMED`, an object, or a function of (X, Y) that returns the matrix of
        values. An object or a function has its own parameters: the others are ignored.
    X : ndarray of shape (n, d)
        Training points, or the Gram matrix for 'precomputed'.
    gamma : float or str, default=1.0
        The width of a named kernel, or a rule for it; see
        :func:`~kernelbook.kernels.resolve_gamma`.
    degree : int, default=3
        Degree of 'poly'.
    coef0 : float, default=0.0
        Independent term of 'poly' and 'sigmoid'.
    sample_weight : ndarray of shape (n,), default=None
        Weights of the points in rules for the width.

    Returns
    -------
    Kernel
        The object itself if one was given.

    Raises
    ------
    ValueError
        If the name is not known, a parameter is out of range, or a precomputed matrix is not
        square.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelbook.kernels import RBF
    >>> resolve_kernel("rbf", np.array([[0.0], [2.0]]), gamma="auto")
    RBF(gamma=1.0)
    """
    if isinstance(kernel, type):
        raise ValueError(f"kernel must be an object, not a class: {kernel.__name__}(...).")
    if isinstance(kernel, Kernel):
        resolved = kernel
    elif isinstance(kernel, str) and kernel in NAMED:
        parameters = KernelParameters(gamma, degree, coef0, sample_weight)
        resolved = NAMED[kernel].from_parameters(X, parameters)
    elif callable(kernel):
        from kernelbook.kernels.given import FromCallable

        resolved = FromCallable(kernel)
    else:
        raise ValueError(
            f"kernel must be one of {[*NAMED]}, a Kernel object or a callable, got {kernel!r}."
        )
    if resolved.is_precomputed and X.shape[0] != X.shape[1]:
        raise ValueError(
            "kernel='precomputed' needs the square Gram matrix (n_train, n_train) in fit, "
            f"got shape {X.shape}."
        )
    return resolved
