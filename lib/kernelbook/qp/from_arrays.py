r"""A quadratic program given by arrays: checked and solved, or a point of it certified."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kernelbook.kernels import check_gram
from kernelbook.qp.certificate import Certificate
from kernelbook.qp.options import SolverOptions
from kernelbook.qp.program import DenseQuadratic, Quadratic, QuadraticProgram
from kernelbook.qp.solve import QPSolution, certify_residual, fitting_multiplier, solve
from kernelbook.validation import check_number

__all__ = ["certify", "solve_qp"]

Array = NDArray[np.float64]


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
    Q : array-like of shape (n, n) or Quadratic
        Symmetric positive semi-definite; an operator (:class:`~kernelbook.qp.Quadratic`) is
        trusted to be.
    q : array-like of shape (n,)
        Linear term.
    a : array-like of shape (n,)
        Coefficients of the equality.
    b : float
        Right-hand side of the equality.
    lower : float or array-like of shape (n,)
        Lower bounds; may be infinite. Variables with equal bounds stay there.
    upper : float or array-like of shape (n,)
        Upper bounds; may be infinite.
    tol : float, default=1e-9
        Largest violation of the optimality conditions, relative to the gradient's scale, with
        which a solution is called optimal.
    max_iter : int, default=100
        Interior-point steps, or working sets of the exact solver. Where the interior-point
        method is stopped far from the optimum (at a relative gap above 1e-4), its last point is
        returned as it is, with a warning.
    solver : {'auto', 'exact', 'low_rank', 'dense', 'reference'}, default='auto'
        ``'dense'`` is an interior-point method with one Cholesky factorisation a step,
        ``'reference'`` cvxopt's general solver with sparse inequalities, which needs cvxopt
        (``pip install "kernelbook[reference]"``); both end in an active-set polish.
        ``'exact'`` takes compiled steps on pairs of variables and then solves for the working
        set that they leave; it needs coefficients of 1 and -1 in ``a`` and finite bounds. Of an
        operator Q it forms no more than the rows that it keeps and the block of the working set,
        the free variables and their rivals. ``'low_rank'`` is the method of ``'dense'`` on a
        :class:`~kernelbook.qp.LowRankQuadratic`, whose time grows linearly with n. All return
        the same solution. ``'auto'`` is ``'low_rank'`` for such a matrix, ``'exact'`` from 400
        variables on where it can serve the problem (from 1201 on until its loops are compiled, see
        :func:`~kernelbook.compile_loops.compile_loops`), else ``'dense'``. Up to
        3000 variables the exact solver has a budget of work, after which ``'dense'`` takes over;
        up to 2000, ``'dense'`` is asked too where the optimum was not reached, then ``'exact'``
        from there without a budget, and the best certificate counts.
    cache_size : float, default=200.0
        Megabytes that the exact solver may keep of rows of Q, and a quarter of what the matrix
        of a working set may take. With less memory it needs more time, not another solution.
    start : array-like of shape (n,), default=None
        A point near the solution, feasible or not, from which the exact solver starts; the
        others ignore it.

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
    options = SolverOptions(
        tol=check_number(tol, "tol", low=0, inclusive="neither"),
        max_iter=check_number(max_iter, "max_iter", low=1, integer=True),
        solver=solver,
        cache_size=check_number(cache_size, "cache_size", low=0, inclusive="neither"),
    )
    near = None if start is None else _vector("start", start, len(program.q))
    return solve(program, options, near)


def _checked(
    Q: ArrayLike | Quadratic,
    q: ArrayLike,
    a: ArrayLike,
    b: float,
    lower: ArrayLike,
    upper: ArrayLike,
) -> QuadraticProgram:
    operator = Q if isinstance(Q, Quadratic) else DenseQuadratic(check_gram(Q, name="Q"))
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
    return QuadraticProgram(operator, q, a, b, lower, upper)


def _vector(name: str, value: ArrayLike, n: int, *, bound: bool = False) -> Array:
    vector = np.asarray(value, dtype=np.float64)
    if vector.ndim == 0 and bound:
        vector = np.full(n, float(vector))
    if vector.shape != (n,):
        raise ValueError(f"{name} must have shape ({n},), got {vector.shape}.")
    if np.isnan(vector).any() or (np.isinf(vector).any() and not bound):
        raise ValueError(f"{name} must not hold NaN{'' if bound else ' or infinity'}.")
    return vector


def certify(
    gradient: Array,
    a: Array,
    lower: Array,
    upper: Array,
    x: Array,
    *,
    objective: float,
    scale: float,
    tol: float,
    noise: Array | float = 0.0,
) -> tuple[Certificate, float]:
    r"""Return the certificate and the multiplier of a feasible point.

    .. math:: \min_x \tfrac12 x^\top Q x + q^\top x
               \quad\text{s.t.}\quad a^\top x = b,\; \ell \le x \le u

    For any multiplier :math:`\lambda`, with the residual :math:`r = Qx + q + \lambda a`, the
    distance to the dual objective is :math:`\sum_i \max(r_i, 0)(x_i - \ell_i) +
    \max(-r_i, 0)(u_i - x_i)`. An infinite bound counts as one twice the largest entry of x
    away: a solution inside such a box stays one without it.

    Parameters
    ----------
    gradient : ndarray of shape (n,)
        Q x + q, or that plus any multiple of a.
    a : ndarray of shape (n,)
        Coefficients of the equality.
    lower : ndarray of shape (n,)
        Lower bounds; may be infinite.
    upper : ndarray of shape (n,)
        Upper bounds; may be infinite.
    x : ndarray of shape (n,)
        The point, which the box and the equality admit.
    objective : float
        The objective at x; the gap is relative to it, or to the dual one if that is larger.
    scale : float
        The unit of the violation.
    tol : float
        Largest violation, in that unit, that counts as optimal.
    noise : float or ndarray of shape (n,), default=0.0
        What rounding may have done to each entry of the gradient. The gap that counts is the
        largest within it.

    Returns
    -------
    certificate : Certificate
        Gap, violation and status.
    multiplier : float
        Mean over the free variables, else the midpoint of the interval of optimal multipliers
        (its finite end, if only one is).

    Examples
    --------
    Two points at -1 and 1 with the linear kernel in signed form: x = (-1/2, 1/2) is optimal,
    with the gradient Kx - y = 0.

    >>> import numpy as np
    >>> x, one = np.array([-0.5, 0.5]), np.ones(2)
    >>> certify(0 * one, one, -one, one, x, objective=-0.5, scale=1.0, tol=1e-9)
    (Certificate(duality_gap=0.0, kkt_violation=0.0, status='optimal'), 0.0)
    """
    multiplier = fitting_multiplier(gradient, x, a, lower, upper)
    residual = gradient + multiplier * a
    certificate = certify_residual(
        residual, x, lower, upper, objective=objective, scale=scale, tol=tol, noise=noise
    )
    return certificate, multiplier
