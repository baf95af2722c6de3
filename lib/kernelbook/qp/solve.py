r"""``solve_qp``: validation, scaling, one of the ways to solve, the polish, the certificate."""

import warnings
from dataclasses import dataclass, replace
from math import copysign
from typing import cast

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import ConvergenceWarning

from kernelbook.exceptions import InfeasibleError
from kernelbook.kernels import check_gram, check_positive
from kernelbook.qp.certificate import Certificate, certify
from kernelbook.qp.in_memory import Way, minimise
from kernelbook.qp.interior_point import solve_dense, solve_reference
from kernelbook.qp.points import is_compiled
from kernelbook.qp.program import Program
from kernelbook.qp.quadratic import EPS, DenseQuadratic, Quadratic

__all__ = ["QPSolution", "goes_exact", "solve_qp"]

Array = NDArray[np.float64]

FEASIBILITY = 1e-10
# A gradient below this share of the sum of its terms' magnitudes is what cancellation left.
CANCELLATION = 1e-6
INTERIOR_POINT: dict[str, Way] = {"dense": solve_dense, "reference": solve_reference}
SOLVERS = [*INTERIOR_POINT, "exact"]
# From so many variables on the exact way is the faster one, its compiled loops once loaded.
EXACT_FROM = 400


@dataclass(frozen=True)
class QPSolution:
    """Solution of :func:`solve_qp`, with its proof.

    Attributes
    ----------
    x : ndarray, shape (n,)
        Bounded variables are exactly at their bounds.
    multiplier : float
        Of the equality; the bias of a support vector machine.
    duality_gap, kkt_violation, status
        See :class:`~kernelbook.qp.Certificate`.
    n_iter : int
        Interior-point steps, or working sets of the exact way.
    objective : float
        1/2 x'Qx + q'x.
    product : ndarray, shape (n,)
        Q x.

    Examples
    --------
    The point of the line x + y = 1 that is nearest to the origin; its gradient (1/2, 1/2) is
    minus the multiplier times a = (1, 1):

    >>> solution = solve_qp([[1, 0], [0, 1]], [0, 0], [1, 1], 1, 0, 1)
    >>> solution.objective, solution.multiplier, solution.certificate.status
    (0.25, -0.5, 'optimal')
    """

    x: Array
    multiplier: float
    duality_gap: float
    kkt_violation: float
    n_iter: int
    status: str
    objective: float
    product: Array

    @property
    def certificate(self) -> Certificate:
        """Gap, violation and status alone."""
        return Certificate(self.duality_gap, self.kkt_violation, self.status)


def solve_qp(
    Q: ArrayLike | Quadratic,
    q: ArrayLike,
    a: ArrayLike,
    b: float,
    lower: ArrayLike,
    upper: ArrayLike,
    *,
    tol: float = 1e-9,
    max_iter: int = 100,
    solver: str = "auto",
    cache_size: float = 200.0,
    start: ArrayLike | None = None,
) -> QPSolution:
    r"""Minimise a convex quadratic over a box with one equality.

    .. math::  \min_x \tfrac12 x^\top Q x + q^\top x
               \quad\text{s.t.}\quad a^\top x = b,\; \ell \le x \le u

    Parameters
    ----------
    Q : array-like, shape (n, n), or Quadratic
        Symmetric positive semi-definite, or an operator with ``mv``, ``diagonal``, ``block``
        and ``factor`` (see :class:`~kernelbook.qp.Quadratic`), which is trusted to be.
    q, a : array-like, shape (n,)
    b : float
    lower, upper : array-like, shape (n,), or float
        May be infinite; variables with equal bounds stay there.
    tol : float, default=1e-9
        Largest violation of the optimality conditions, relative to the gradient's scale, with
        which a solution is called optimal.
    max_iter : int, default=100
        Steps of the interior-point method. Where it is stopped far from the optimum (at a
        relative gap above 1e-4), its last point is returned as it is, with a warning.
    solver : {'auto', 'exact', 'dense', 'reference'}, default='auto'
        ``'reference'`` is cvxopt's general solver with sparse inequalities, ``'dense'`` its cone
        solver with one Cholesky factorisation a step; both end in an active-set polish.
        ``'exact'`` takes compiled steps on pairs of variables and then solves for the working
        set that they leave; it needs numba (``pip install "kernelbook[fast]"``), coefficients
        of 1 and -1 in ``a`` and finite bounds. Of an operator Q it forms no more than the rows that
        it keeps and the block of the working set, the free variables and their rivals. All
        return the same solution. ``'auto'`` is ``'exact'`` from 400 variables on where it can
        be had, else ``'dense'``.
    cache_size : float, default=200
        Megabytes that the exact way may keep of rows of Q, and a quarter of what the matrix of a
        working set may take. With less memory it needs more time, not another solution.
    start : array-like, shape (n,), optional
        A point near the solution, feasible or not, from which the exact way starts; the others
        do not look at it.

    Returns
    -------
    QPSolution
        ``x`` (n,), ``multiplier`` of the equality (the bias of an SVM) in the Lagrangian
        :math:`\tfrac12 x^\top Qx + q^\top x + \lambda (a^\top x - b)`, ``duality_gap`` relative
        to the objective, ``kkt_violation`` in units of the gradient, ``n_iter``, ``status``.

    Raises
    ------
    InfeasibleError
        If no x in the box meets the equality; the message names what the box can reach.
    NotPositiveSemidefiniteError
        If the array Q has a negative eigenvalue.
    ValueError
        For wrong shapes, NaN, an upper bound below its lower bound, an unknown solver.

    Warns
    -----
    ConvergenceWarning
        If the solution is not optimal to ``tol``; the message quotes the gap that was reached.

    Notes
    -----
    Equation (2.9) of notebook 02. The interior-point steps run on a problem scaled so that the
    matrix and the vector have entries of at most 1; their result is snapped to the bounds and
    polished by an active-set method in the original units.

    Examples
    --------
    Two points at distance 2 have alpha = 2 / distance**2 = 0.5 each:

    >>> solution = solve_qp([[1, -1], [-1, 1]], [1, -1], [1, 1], 0, [-10, 0], [0, 10])
    >>> solution.x.round(12).tolist(), solution.status
    ([-0.5, 0.5], 'optimal')
    """
    program = _checked(Q, q, a, b, lower, upper)
    tol = check_positive("tol", tol)
    way = _chosen_way(program, solver)
    memory = int(1e6 * check_positive("cache_size", cache_size))
    whole = isinstance(max_iter, int | np.integer) and not isinstance(max_iter, bool)
    if not whole or max_iter < 1:
        raise ValueError(f"max_iter must be a whole number of at least 1, got {max_iter!r}.")
    near = None if start is None else _vector("start", start, len(program.q))
    x, n_iter, product = _minimise(way, program, tol, int(max_iter), memory, near)
    solution = _certified(program, x, program.Q.mv(x) if product is None else product, n_iter, tol)
    if solution.status == "optimal":
        return solution
    if n_iter >= max_iter:
        solution = replace(solution, status="max_iter")
    warnings.warn(_unconverged(program, solution, tol), ConvergenceWarning, stacklevel=2)
    return solution


def goes_exact(solver: str, n: int) -> bool:
    """Whether a program of n variables, box and equality permitting, takes the exact way."""
    return (solver == "exact" or (solver == "auto" and n >= EXACT_FROM)) and is_compiled()


def _chosen_way(program: Program, solver: str) -> str:
    if not isinstance(solver, str) or solver not in ("auto", *SOLVERS):
        raise ValueError(f"solver must be one of {['auto', *SOLVERS]}, got {solver!r}.")
    bounded = bool(np.isfinite(program.upper - program.lower).all())
    possible = bounded and bool((np.abs(program.a) == 1).all())
    if solver == "auto":
        return "exact" if possible and goes_exact(solver, len(program.q)) else "dense"
    if solver == "exact" and not possible:
        raise ValueError(
            "solver='exact' needs finite bounds, and coefficients of 1 and -1 in a: use "
            "solver='dense'."
        )
    if solver == "exact" and not is_compiled():
        raise ImportError(
            "solver='exact' needs numba: pip install \"kernelbook[fast]\", or use solver='dense'."
        )
    return solver


def _unconverged(program: Program, solution: QPSolution, tol: float) -> str:
    bounded = bool(np.isfinite(program.upper - program.lower).all())
    remedy = (
        "Raise max_iter, scale the features, or lower C."
        if bounded
        else "Some bounds are infinite: the objective may have no minimum."
    )
    return (
        f"the quadratic program was left with status {solution.status!r} after "
        f"{solution.n_iter} steps: relative duality gap {solution.duality_gap:.3g}, KKT violation "
        f"{solution.kkt_violation:.3g} (tol={tol:g}). {remedy}"
    )


def _minimise(
    way: str, program: Program, tol: float, max_iter: int, memory: int, start: Array | None
) -> tuple[Array, int, Array | None]:
    """Fix what cannot move, then take the way for the rest: x, steps, and Q x if known."""
    x = _extreme_point(program)
    moving = np.flatnonzero(program.lower < program.upper)
    if x is not None or len(moving) == 0:
        return program.lower.copy() if x is None else x, 0, None
    x = np.where(program.lower < program.upper, 0.0, program.lower)
    rest = program.restricted(moving, x)
    if way == "exact":
        from kernelbook.qp.exact.working_set import solve_exact

        x[moving], n_iter, product = solve_exact(
            rest, tol, max_iter, memory, None if start is None else start[moving]
        )
        return x, n_iter, product if len(moving) == len(x) else None
    x[moving], n_iter = minimise(INTERIOR_POINT[way], rest, tol, max_iter)
    return x, n_iter, None


def _certified(program: Program, x: Array, product: Array, n_iter: int, tol: float) -> QPSolution:
    q, a = program.q, program.a
    gradient = product + q
    # The part along a belongs to the multiplier; without it the differences keep their digits.
    along = float(a @ gradient) / float(a @ a)
    objective = 0.5 * float(x @ product) + float(q @ x)
    size = float(np.abs(x).sum())
    total = program.size_of_terms * size
    scale = max(float(np.abs(q).max()), float(np.abs(product).max()), CANCELLATION * total)
    certificate, multiplier = certify(
        gradient - along * a,
        a,
        program.lower,
        program.upper,
        x,
        objective=copysign(max(abs(objective), EPS * total * size), objective),
        scale=scale or 1.0,
        tol=tol,
    )
    missed = abs(float(a @ x) - program.b)
    feasible = missed <= FEASIBILITY * max(abs(program.b), float(np.abs(a) @ np.abs(x)))
    return QPSolution(
        x=x,
        multiplier=multiplier - along,
        duality_gap=certificate.duality_gap,
        kkt_violation=certificate.kkt_violation,
        n_iter=n_iter,
        status=certificate.status if feasible else "stalled",
        objective=objective,
        product=product,
    )


def _checked(
    Q: ArrayLike | Quadratic,
    q: ArrayLike,
    a: ArrayLike,
    b: float,
    lower: ArrayLike,
    upper: ArrayLike,
) -> Program:
    if hasattr(Q, "factor"):
        operator = cast(Quadratic, Q)
    else:
        operator = DenseQuadratic(check_gram(Q, name="Q"))
    n = len(operator)
    q, a = _vector("q", q, n), _vector("a", a, n)
    lower, upper = _vector("lower", lower, n, bound=True), _vector("upper", upper, n, bound=True)
    b = float(b)
    if not np.isfinite(b):
        raise ValueError(f"b must be finite, got {b!r}.")
    if (lower > upper).any() or (lower == np.inf).any() or (upper == -np.inf).any():
        wrong = (lower > upper) | (lower == np.inf) | (upper == -np.inf)
        raise ValueError(
            f"variable {int(np.argmax(wrong))} has no room between lower and upper: exchange or "
            "widen the bounds."
        )
    moving = lower < upper
    if not (a[moving] if moving.any() else a).any():
        raise ValueError(
            "a must have a non-zero entry, for a variable that can move if there is one: "
            "without it there is no equality."
        )
    return Program(operator, q, a, b, lower, upper)


def _vector(name: str, value: ArrayLike, n: int, *, bound: bool = False) -> Array:
    vector = np.asarray(value, dtype=np.float64)
    if vector.ndim == 0 and bound:
        vector = np.full(n, float(vector))
    if vector.shape != (n,):
        raise ValueError(f"{name} must have shape ({n},), got {vector.shape}.")
    if np.isnan(vector).any() or (np.isinf(vector).any() and not bound):
        raise ValueError(f"{name} must not hold NaN{'' if bound else ' or infinity'}.")
    return vector


def _extreme_point(program: Program) -> Array | None:
    """The one point that reaches b if b is an end of what the box can reach; else None."""
    a, b, lower, upper = program.a, program.b, program.lower, program.upper
    moves = a != 0
    ends = [np.where(a > 0, lower, upper), np.where(a > 0, upper, lower)]
    smallest, largest = (float(a[moves] @ end[moves]) for end in ends)
    # Rounding is that of the terms of one end: those of the other may be larger by any factor.
    terms = [max(abs(b), float(np.abs(a[moves]) @ np.abs(end[moves]))) for end in ends]
    slack = [FEASIBILITY * size if np.isfinite(size) else 0.0 for size in terms]
    if not smallest - slack[0] <= b <= largest + slack[1]:
        raise InfeasibleError(_infeasible(b, smallest, largest))
    if not moves.all():
        return None
    # Within rounding: "all at the bound" may miss b by one unit in the last place.
    for end, reach, size in zip(ends, (smallest, largest), terms, strict=True):
        if np.isfinite(size) and abs(reach - b) <= 4 * len(a) * EPS * size:
            return end
    return None


def _infeasible(b: float, smallest: float, largest: float) -> str:
    nearest = smallest if b < smallest else largest
    grows = nearest * b > 0 and abs(b) > abs(nearest)
    remedy = f"by a factor of at least {b / nearest:.6g}" if grows else "or change b"
    return (
        f"no point of the box meets the equality: a'x can be {smallest:.6g} to {largest:.6g}, "
        f"but b = {b:.6g}. Widen the bounds {remedy}."
    )
