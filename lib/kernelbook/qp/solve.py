r"""``solve_qp``: validation, scaling, one of the ways to solve, the polish, the certificate."""

import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_array

from kernelbook.exceptions import InfeasibleError
from kernelbook.kernels import check_gram
from kernelbook.qp.active_set import feasible_point, meet_equality, polish
from kernelbook.qp.certificate import Certificate, certify
from kernelbook.qp.interior_point import InteriorPoint, solve_dense, solve_reference
from kernelbook.qp.quadratic import (
    DenseQuadratic,
    Quadratic,
    RestrictedQuadratic,
    ScaledQuadratic,
)

__all__ = ["QPSolution", "solve_qp"]

Array = NDArray[np.float64]

FEASIBILITY = 1e-10
# A gradient below this share of the sum of its terms' magnitudes is what cancellation left.
CANCELLATION = 1e-6
Way = Callable[..., InteriorPoint]
SOLVERS: dict[str, Way] = {"dense": solve_dense, "reference": solve_reference}


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
        Interior-point steps.
    objective : float
        1/2 x'Qx + q'x.
    """

    x: Array
    multiplier: float
    duality_gap: float
    kkt_violation: float
    n_iter: int
    status: str
    objective: float

    @property
    def certificate(self) -> Certificate:
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
    solver : {'auto', 'dense', 'reference'}, default='auto'
        ``'reference'`` is cvxopt's general solver with sparse inequalities, ``'dense'`` (and
        ``'auto'``) its cone solver with one Cholesky factorisation a step; every way ends in
        the same polish, so that all return the same solution.

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
    operator, q, a, b, lower, upper = _check(Q, q, a, b, lower, upper)
    if not isinstance(solver, str) or solver not in ("auto", *SOLVERS):
        raise ValueError(f"solver must be one of {['auto', *SOLVERS]}, got {solver!r}.")
    if max_iter < 1:
        raise ValueError(f"max_iter must be at least 1, got {max_iter!r}.")
    way = SOLVERS["dense" if solver == "auto" else solver]
    x, n_iter = _minimise(way, operator, q, a, b, lower, upper, tol, max_iter)
    solution = _with_certificate(operator, q, a, lower, upper, x, n_iter, tol)
    if solution.status != "optimal":
        if n_iter >= max_iter:
            solution = replace(solution, status="max_iter")
        warnings.warn(
            f"the quadratic program was left with status {solution.status!r} after {n_iter} "
            f"steps: relative duality gap {solution.duality_gap:.3g}, KKT violation "
            f"{solution.kkt_violation:.3g} (tol={tol:g}). Raise max_iter, scale the features, "
            "or lower C.",
            ConvergenceWarning,
            stacklevel=2,
        )
    return solution


def _minimise(
    way: Way,
    Q: Quadratic,
    q: Array,
    a: Array,
    b: float,
    lower: Array,
    upper: Array,
    tol: float,
    max_iter: int,
) -> tuple[Array, int]:
    """Fix what cannot move, centre the rest, take the interior-point way, polish."""
    x = _extreme_point(a, b, lower, upper)
    moving = lower < upper
    if x is not None or not moving.any():
        return lower.copy() if x is None else x, 0
    x = np.where(moving, 0.0, lower)
    linear, rest = (q + Q.mv(x))[moving], b - float(a @ x)
    Q = Q if moving.all() else RestrictedQuadratic(Q, np.flatnonzero(moving))
    a, lower, upper = a[moving], lower[moving], upper[moving]
    size = float(a @ a)
    if size == 0:
        raise ValueError("a must have a non-zero entry for a variable that can move.")
    linear = linear + (rest / size) * Q.mv(a)
    problem = (Q.centred(a), linear - (float(a @ linear) / size) * a, a, rest, lower, upper)
    found = _solve_scaled(way, *problem, max_iter)
    x[moving] = (
        polish(*problem, found, tol)
        if found.near
        else feasible_point(*problem[2:], found)
    )
    return x, found.n_iter


def _with_certificate(
    Q: Quadratic,
    q: Array,
    a: Array,
    lower: Array,
    upper: Array,
    x: Array,
    n_iter: int,
    tol: float,
) -> QPSolution:
    product = Q.mv(x)
    gradient = product + q
    # The part along a belongs to the multiplier; without it the differences keep their digits.
    along = float(a @ gradient) / float(a @ a)
    objective = 0.5 * float(x @ product) + float(q @ x)
    total = float(Q.diagonal().max()) * float(np.abs(x).sum())
    scale = max(
        float(np.abs(q).max()), float(np.abs(product).max()), CANCELLATION * total
    )
    rounding = float(np.finfo(float).eps) * total * float(np.abs(x).sum())
    certificate, multiplier = certify(
        gradient - along * a,
        a,
        lower,
        upper,
        x,
        objective=max(abs(objective), rounding),
        scale=scale or 1.0,
        tol=tol,
    )
    return QPSolution(
        x=x,
        multiplier=multiplier - along,
        duality_gap=certificate.duality_gap,
        kkt_violation=certificate.kkt_violation,
        n_iter=n_iter,
        status=certificate.status,
        objective=objective,
    )


def _check(
    Q: ArrayLike | Quadratic,
    q: ArrayLike,
    a: ArrayLike,
    b: float,
    lower: ArrayLike,
    upper: ArrayLike,
) -> tuple[Quadratic, Array, Array, float, Array, Array]:
    operator: Quadratic = Q if hasattr(Q, "factor") else DenseQuadratic(check_gram(Q, name="Q"))
    n = len(operator)
    vectors = {}
    for name, value in {"q": q, "a": a, "lower": lower, "upper": upper}.items():
        vector = np.asarray(value, dtype=np.float64)
        if vector.ndim == 0 and name in ("lower", "upper"):
            vector = np.full(n, float(vector))
        if vector.shape != (n,):
            raise ValueError(f"{name} must have shape ({n},), got {vector.shape}.")
        if np.isnan(vector).any() or (name in "qa" and np.isinf(vector).any()):
            raise ValueError(f"{name} must not hold NaN or, for q and a, infinity.")
        vectors[name] = vector
    if not np.isfinite(b):
        raise ValueError(f"b must be finite, got {b!r}.")
    if (vectors["lower"] > vectors["upper"]).any():
        where = int(np.argmax(vectors["lower"] > vectors["upper"]))
        raise ValueError(f"lower exceeds upper for variable {where}: exchange or widen them.")
    return operator, vectors["q"], vectors["a"], float(b), vectors["lower"], vectors["upper"]


def _extreme_point(a: Array, b: float, lower: Array, upper: Array) -> Array | None:
    """The one point that reaches b if b is an end of what the box can reach; else None."""
    with np.errstate(invalid="ignore"):
        smallest = np.where(a > 0, lower, upper)
        largest = np.where(a > 0, upper, lower)
        reach = [float((a * end)[a != 0].sum()) for end in (smallest, largest)]
    size = max(abs(b), *(abs(r) for r in reach if np.isfinite(r)), 0.0)
    slack = FEASIBILITY * size
    if not reach[0] - slack <= b <= reach[1] + slack:
        raise InfeasibleError(
            f"no point of the box meets the equality: a'x can be {reach[0]:.6g} to "
            f"{reach[1]:.6g}, but b = {b:.6g}. Widen the bounds by a factor of at least "
            f"{abs(b) / max(abs(reach[0]), abs(reach[1]), np.finfo(float).tiny):.6g}."
        )
    # Within rounding: "all at the bound" may miss b by one unit in the last place.
    rounding = 4 * len(a) * np.finfo(float).eps * size
    if (a == 0).any():
        return None
    if abs(reach[0] - b) <= rounding:
        return smallest
    if abs(reach[1] - b) <= rounding:
        return largest
    return None


def _restrict(Q: Quadratic, moving: Array) -> Quadratic:
    return Q if moving.all() else RestrictedQuadratic(Q, np.flatnonzero(moving))


def _solve_scaled(
    way: Way,
    Q: Quadratic,
    q: Array,
    a: Array,
    b: float,
    lower: Array,
    upper: Array,
    max_iter: int,
) -> InteriorPoint:
    """Solve with x = s z, chosen so that the scaled matrix, vector and box are of order one."""
    curvature, slope = float(Q.diagonal().max()), float(np.abs(q).max())
    widths = (upper - lower)[np.isfinite(upper - lower)]
    sizes = [float(np.median(widths))] if len(widths) else []
    if curvature > 0 and slope > 0:
        sizes.append(slope / curvature)
    s = min(sizes, default=abs(b) or 1.0)
    weight = max(s * curvature, slope) or 1.0
    scaled = ScaledQuadratic(Q, s / weight) if curvature > 0 else Q
    try:
        found = way(scaled, q / weight, a, b / s, lower / s, upper / s, max_iter)
    except ArithmeticError:
        # cvxopt divides by a slack that is exactly zero; the polish can start anywhere.
        x = meet_equality(np.clip(np.zeros(len(q)), lower, upper), a, b, lower, upper)
        return InteriorPoint(x, x <= lower, x >= upper, 0)
    return replace(found, x=s * found.x)
