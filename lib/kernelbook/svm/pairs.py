r"""One machine for each pair of classes, each from its part of one matrix.

The k (k - 1) / 2 pairs are ordered as (0, 1), (0, 2), ..., (k - 2, k - 1). A point takes part in
k - 1 of them, one against each other class, and has its coefficients in k - 1 rows: of a point of
class c, row r belongs to class r where r < c, and to class r + 1 from there on. This is the layout
of LIBSVM, and so of scikit-learn.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import ConvergenceWarning

from kernelbook.estimator import expand, stored_matrix, training_matrix
from kernelbook.exceptions import warn_user
from kernelbook.kernels import Expansion, Kernel, Matrix
from kernelbook.qp import (
    Certificate,
    DenseQuadratic,
    LowRankQuadratic,
    QPSolution,
    Quadratic,
    QuadraticProgram,
    SolverOptions,
    goes_exact,
    solve,
)

__all__ = [
    "Pairs",
    "PairwiseExpansion",
    "by_pair",
    "matrix_of_pairs",
    "most_votes",
    "paired",
    "rows_of_pairs",
    "signed_start",
    "solve_pairs",
    "worst",
]

Array = NDArray[np.float64]
Index = NDArray[np.intp]
Dual = Callable[[Quadratic, Array, Array], QuadraticProgram]

# From the best to the worst.
STATUSES = ("optimal", "rounding", "stalled", "max_iter")


def matrix_of_pairs(kernel: Kernel, X: Matrix, options: SolverOptions) -> Quadratic:
    """Return the matrix of all points, of which every pair of classes takes its part.

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
        As :func:`~kernelbook.estimator.training_matrix` has it, but stored if it fits in the
        cache and the compiled loops do not know the kernel: each value is then computed once.
        Where they do, the rows that a pair needs take less time than all values.

    Examples
    --------
    >>> from kernelbook.kernels import Linear
    >>> matrix_of_pairs(Linear(), np.array([[1.0], [2.0]]), SolverOptions()).in_memory.tolist()
    [[1.0, 2.0], [2.0, 4.0]]
    """
    K = training_matrix(kernel, X, options)
    fits = 8 * len(K) ** 2 <= 1e6 * options.cache_size
    if fits and not (K.in_memory is not None or K.is_low_rank or K.compiled is not None):
        return stored_matrix(kernel, X)
    return K


def solve_pairs(
    dual: Dual,
    K: Quadratic,
    codes: Index,
    box: Array,
    options: SolverOptions,
    *,
    n_jobs: int | None = None,
    start: Array | None = None,
) -> list[QPSolution]:
    """Solve the dual of every pair of classes, the first class of a pair on the positive side.

    Parameters
    ----------
    dual : callable
        From matrix, signs and box to the program of two classes.
    K : Quadratic
        Matrix of all points, n variables.
    codes : ndarray of shape (n,), dtype=int
        The class of each point, from 0 to k - 1; every one occurs.
    box : ndarray of shape (n,)
        Upper bounds of alpha.
    options : SolverOptions
        Solver and limits.
    n_jobs : int, default=None
        Number of threads.
    start : ndarray of shape (k - 1, n), default=None
        Signed coefficients near the solution, in the layout of this module.

    Returns
    -------
    list of QPSolution
        One for each pair, for the points of its two classes in their order.

    Warns
    -----
    ConvergenceWarning
        If solutions are not optimal to ``options.tol``; the message quotes the worst gap.
    """
    k, few = int(codes.max()) + 1, options.exact_from
    if goes_exact((k - 1) * len(codes), options):
        # The compiled loops are loaded, or compiled, once for all pairs.
        options = replace(options, exact_from=0, uncompiled_up_to=0)
    tasks = []
    for i, j in combinations(range(k), 2):
        index = np.flatnonzero((codes == i) | (codes == j))
        first = codes[index] == i
        near = None if start is None else np.where(first, start[j - 1, index], start[i, index])
        signs = np.where(first, 1.0, -1.0)
        tasks.append(delayed(_solve_pair)(dual, K, index, signs, box[index], options, near, few))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        solutions: list[QPSolution] = Parallel(n_jobs=n_jobs, prefer="threads")(tasks)
    left = [solution for solution in solutions if solution.status != "optimal"]
    if left:
        bad = worst([solution.certificate for solution in left])
        warn_user(
            f"{len(left)} of {len(solutions)} pairs of classes were left with status "
            f"{bad.status!r} or better: relative duality gap up to {bad.duality_gap:.3g}, KKT "
            f"violation up to {bad.kkt_violation:.3g} (tol={options.tol:g}); certificates_ has "
            "them all. Raise max_iter, scale the features, or lower C.",
            ConvergenceWarning,
        )
    return solutions


def _solve_pair(
    dual: Dual,
    K: Quadratic,
    index: Index,
    signs: Array,
    box: Array,
    options: SolverOptions,
    start: Array | None,
    few: int,
) -> QPSolution:
    if K.in_memory is not None:
        part: Quadratic = DenseQuadratic(
            K.block(index, index), is_relative=K.is_relative, entry_error=K.entry_error
        )
    else:
        part = K.restricted(index)
    # A factor costs the more the more features there are, which pays for many points only.
    if isinstance(part, LowRankQuadratic) and options.solver == "auto":
        part = part.formed() if len(index) < max(few, part.F.shape[1]) else part
    return solve(dual(part, signs, box), options, start)


@dataclass(frozen=True)
class Pairs:
    """The machines of all pairs of classes.

    Attributes
    ----------
    coefficients : ndarray of shape (k - 1, n)
        Signed coefficients of all points, in the layout of this module.
    support : ndarray of shape (n_SV,), dtype=int
        The points with a coefficient that is not zero, class by class.
    codes : ndarray of shape (n_SV,), dtype=int
        The class of each of them.
    biases : ndarray of shape (k (k - 1) / 2,)
        The constant of each pair.
    certificates : tuple of Certificate
        What proves each pair.
    n_iter : int
        The largest number of steps of a pair.
    """

    coefficients: Array
    support: Index
    codes: Index
    biases: Array
    certificates: tuple[Certificate, ...]
    n_iter: int

    def expansion(self, kernel: Kernel, X: Matrix) -> PairwiseExpansion:
        """Return the sums of all pairs.

        Parameters
        ----------
        kernel : Kernel
            The kernel.
        X : ndarray of shape (n, d)
            Training points.

        Returns
        -------
        PairwiseExpansion
            From points (m, d) to sums (m, k (k - 1) / 2).
        """
        of_class = np.split(self.support, np.cumsum(np.bincount(self.codes))[:-1])
        return PairwiseExpansion(
            tuple(kernel.expansion(X, own, self.coefficients[:, own].T) for own in of_class)
        )


def paired(codes: Index, kept: Index, solutions: Sequence[QPSolution]) -> Pairs:
    """Return the machines that solutions stand for.

    Parameters
    ----------
    codes : ndarray of shape (n,), dtype=int
        The class of each point.
    kept : ndarray of shape (m,), dtype=int
        The points that took part.
    solutions : sequence of QPSolution
        One for each pair.

    Returns
    -------
    Pairs
        With coefficients of zero for the points that did not.
    """
    k = int(codes.max()) + 1
    coefficients = np.zeros((k - 1, len(codes)))
    for (i, j), solution in zip(combinations(range(k), 2), solutions, strict=True):
        index = kept[(codes[kept] == i) | (codes[kept] == j)]
        x, _ = expand(len(codes), index, solution.x, solution.status != "max_iter")
        coefficients[j - 1, codes == i] = x[codes == i]
        coefficients[i, codes == j] = x[codes == j]
    support = np.flatnonzero(coefficients.any(axis=0))
    support = support[np.argsort(codes[support], kind="stable")]
    return Pairs(
        coefficients,
        support,
        codes[support],
        np.array([solution.multiplier for solution in solutions]),
        tuple(solution.certificate for solution in solutions),
        max(solution.n_iter for solution in solutions),
    )


def signed_start(start: ArrayLike, codes: Index, n_classes: int) -> Array:
    """Return dual variables with the signs of their points, after checking them.

    Parameters
    ----------
    start : array-like of shape (n,) or (k - 1, n)
        Dual variables, as an estimator's ``alpha_`` has them.
    codes : ndarray of shape (n,), dtype=int
        The class of each point.
    n_classes : int
        Number of classes k.

    Returns
    -------
    ndarray of shape (k - 1, n)
        In the layout of this module; of two classes the second is the positive one.

    Raises
    ------
    ValueError
        If the shape is another one, or a number is not finite.

    Examples
    --------
    >>> signed_start([1.0, 2.0], np.array([0, 1]), 2).tolist()
    [[-1.0, 2.0]]
    """
    alpha = np.array(start, dtype=np.float64, ndmin=2)
    if alpha.shape != (n_classes - 1, len(codes)) or not np.isfinite(alpha).all():
        shape = f"({len(codes)},)" if n_classes == 2 else f"({n_classes - 1}, {len(codes)})"
        raise ValueError(
            f"start must hold finite numbers of shape {shape}, as alpha_ of a machine for these "
            f"points does, got shape {np.shape(start)}."
        )
    signs = np.where(np.arange(n_classes - 1)[:, None] >= codes, 1.0, -1.0)
    return alpha * (-signs if n_classes == 2 else signs)


def by_pair(by_class: Array) -> Array:
    """Return sums over the points of a pair from sums over the points of each class.

    Parameters
    ----------
    by_class : ndarray of shape (k, k - 1, ...)
        What the points of each class add to each of their functions.

    Returns
    -------
    ndarray of shape (k (k - 1) / 2, ...)
        What the points of both classes add to the function of a pair.

    Examples
    --------
    >>> by_pair(np.array([[1, 2], [30, 40], [500, 600]])).tolist()
    [31, 502, 640]
    """
    i, j = np.triu_indices(len(by_class), 1)
    sums: Array = by_class[i, j - 1] + by_class[j, i]
    return sums


def rows_of_pairs(dual_coef: Matrix, codes: Index) -> Matrix:
    """Return coefficients with one row for each pair.

    Parameters
    ----------
    dual_coef : ndarray of shape (k - 1, n)
        Signed coefficients, in the layout of this module.
    codes : ndarray of shape (n,), dtype=int
        The class of each point.

    Returns
    -------
    ndarray of shape (k (k - 1) / 2, n)
        Zero for points of other classes.

    Examples
    --------
    >>> rows_of_pairs(np.array([[1, -2, -3], [4, 5, -6]]), np.array([0, 1, 2])).tolist()
    [[1, -2, 0], [4, 0, -3], [0, 5, -6]]
    """
    placed = np.zeros((len(dual_coef) + 1, *dual_coef.shape), dtype=dual_coef.dtype)
    placed[codes, :, np.arange(len(codes))] = dual_coef.T
    return by_pair(placed)


@dataclass(frozen=True)
class PairwiseExpansion:
    """The sums of all pairs: every kernel value is computed once.

    Parameters
    ----------
    by_class : tuple of callable
        For each class, from points (m, d) to the sums (m, k - 1) over its support vectors.

    Examples
    --------
    >>> one = PairwiseExpansion((lambda X: X, lambda X: 10.0 * X))
    >>> one(np.array([[1.0], [2.0]])).tolist()
    [[11.0], [22.0]]
    """

    by_class: tuple[Expansion, ...]

    def __call__(self, X: Array) -> Array:
        return by_pair(np.stack([sums(X).T for sums in self.by_class])).T


def most_votes(values: Array, n_classes: int) -> Index:
    """Return the class that wins most pairs; of several, the first.

    Parameters
    ----------
    values : ndarray of shape (m, k (k - 1) / 2)
        Positive where the first class of a pair wins.
    n_classes : int
        Number of classes k.

    Returns
    -------
    ndarray of shape (m,), dtype=int
        A class from 0 to k - 1.

    Examples
    --------
    >>> most_votes(np.array([[1.0, 1.0, -1.0], [-1.0, 1.0, 0.5], [1.0, -1.0, 1.0]]), 3).tolist()
    [0, 1, 0]
    """
    first, second = np.triu_indices(n_classes, 1)
    winner = np.where(values > 0, first, second)
    votes = [(winner == code).sum(axis=1) for code in range(n_classes)]
    return np.argmax(votes, axis=0)


def worst(certificates: Sequence[Certificate]) -> Certificate:
    """Return the largest gap, the largest violation and the worst status.

    Parameters
    ----------
    certificates : sequence of Certificate
        One for each pair.

    Returns
    -------
    Certificate
        What holds for all of them.

    Examples
    --------
    >>> worst([Certificate(1e-12, 2e-10, "optimal"), Certificate(1e-5, 1e-11, "rounding")])
    Certificate(duality_gap=1e-05, kkt_violation=2e-10, status='rounding')
    """
    return Certificate(
        max(one.duality_gap for one in certificates),
        max(one.kkt_violation for one in certificates),
        max((one.status for one in certificates), key=STATUSES.index),
    )
