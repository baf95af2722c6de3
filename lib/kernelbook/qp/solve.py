r"""Solve a quadratic program and prove it: dispatch to a solver, then the certificate."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from kernelbook.exceptions import InfeasibleError, warn_user
from kernelbook.kernels.compiled import loops_are_available
from kernelbook.qp.certificate import (
    CANCELLATION,
    FEASIBILITY,
    LARGEST_GAP,
    MAX_ITER,
    NARROW,
    NEARLY,
    NOT_OPTIMAL,
    ROUNDING,
    ROUNDINGS,
    STALLED,
    Certificate,
    Residual,
)
from kernelbook.qp.multipliers import multiplier_bounds
from kernelbook.qp.options import SOLVERS, SolverOptions
from kernelbook.qp.program import EPS, QuadraticProgram

__all__ = [
    "QPSolution",
    "certified",
    "certify_residual",
    "fitting_multiplier",
    "goes_exact",
    "is_feasible",
    "rounding",
    "solve",
]

Array = NDArray[np.float64]


@dataclass(frozen=True)
class QPSolution:
    """Solution of :func:`solve_qp`, with its proof.

    Attributes
    ----------
    x : ndarray of shape (n,)
        Bounded variables are exactly at their bounds.
    multiplier : float
        Of the equality; the bias of a support vector machine.
    duality_gap : float
        Relative duality gap, see :class:`~kernelbook.qp.Certificate`.
    kkt_violation : float
        Largest violation of the optimality conditions, in units of the gradient.
    n_iter : int
        Number of interior-point steps, or of working sets of the exact solver.
    status : {'optimal', 'rounding', 'stalled', 'max_iter'}
        How the solver ended.
    objective : float
        The minimum, 1/2 x'Qx + q'x.
    product : ndarray of shape (n,)
        The product Q x.

    Examples
    --------
    The point of the line x + y = 1 that is nearest to the origin; its gradient (1/2, 1/2) is
    minus the multiplier times a = (1, 1):

    >>> from kernelbook.qp import solve_qp
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


def solve(
    program: QuadraticProgram, options: SolverOptions, start: Array | None = None
) -> QPSolution:
    """Solve a program by the solver that the options name.

    Parameters
    ----------
    program : QuadraticProgram
        The problem.
    options : SolverOptions
        Solver, tolerance and limits.
    start : ndarray of shape (n,), default=None
        A point near the solution, feasible or not, from which the exact solver starts; the
        others ignore it.

    Returns
    -------
    QPSolution
        The solution and its proof.

    Raises
    ------
    InfeasibleError
        If no point of the box meets the equality.
    ValueError
        If the solver is not known, or the exact one is asked for and cannot serve the program.
    RuntimeError
        If the exact solver is asked for, and numba finds no directory for what it compiles.

    Warns
    -----
    CompilationWarning
        Before the loops of the exact solver are compiled, once on a machine.
    ConvergenceWarning
        If the solution is not optimal to ``options.tol``; the message quotes the gap.

    Examples
    --------
    >>> from kernelbook.qp import DenseQuadratic
    >>> one = np.ones(2)
    >>> program = QuadraticProgram(DenseQuadratic(np.eye(2)), 0 * one, one, 1.0, 0 * one, one)
    >>> solve(program, SolverOptions()).x.round(12).tolist()
    [0.5, 0.5]
    """
    x, n_iter, product = _minimise(program, options, start)
    solution = certified(program, x, product, n_iter, options)
    if solution.status == "optimal":
        return solution
    # Loaded when needed, which is rare.
    from kernelbook.qp.second_chance import improved, unconverged

    solution = improved(program, solution, options, _minimise, _other_solvers(program, options))
    if solution.status != "optimal":
        warn_user(unconverged(program, solution, options.tol), ConvergenceWarning)
    return solution


def goes_exact(program_size: int, options: SolverOptions) -> bool:
    """Say whether the exact solver takes a program of that size, box and equality permitting.

    Parameters
    ----------
    program_size : int
        Number of variables.
    options : SolverOptions
        Solver and limits.

    Returns
    -------
    bool
        False too where the compiled loops cannot be loaded, or are not worth compiling.

    Examples
    --------
    >>> goes_exact(100, SolverOptions()), goes_exact(100, SolverOptions(solver="exact"))
    (False, True)
    """
    if options.solver == "exact":
        return loops_are_available()
    if options.solver != "auto" or program_size < options.exact_from or not loops_are_available():
        return False
    from kernelbook.qp.exact.smo import is_compiled, smo_on_points

    return program_size > options.uncompiled_up_to or is_compiled(smo_on_points)


def _chosen_solver(program: QuadraticProgram, options: SolverOptions) -> str:
    solver = options.solver
    if not isinstance(solver, str) or solver not in SOLVERS:
        raise ValueError(f"solver must be one of {list(SOLVERS)}, got {solver!r}.")
    if solver in ("dense", "reference"):
        return solver
    if program.Q.is_low_rank and solver in ("auto", "low_rank"):
        return "low_rank"
    if solver == "low_rank":
        raise ValueError(
            "solver='low_rank' needs a kernel with few features, linear or polynomial of a low "
            "degree: use solver='auto'."
        )
    bounded = bool(np.isfinite(program.upper - program.lower).all())
    possible = bounded and bool((np.abs(program.a) == 1).all())
    if solver == "auto":
        return "exact" if possible and goes_exact(len(program.q), options) else "dense"
    if not possible:
        raise ValueError(
            "solver='exact' needs finite bounds, and coefficients of 1 and -1 in a: use "
            "solver='dense'."
        )
    if not loops_are_available():
        raise RuntimeError(
            "solver='exact' needs a directory in which numba can keep what it compiles: set "
            "NUMBA_CACHE_DIR to one that can be written to, or use solver='dense'."
        )
    return solver


def _other_solvers(program: QuadraticProgram, options: SolverOptions) -> tuple[str, ...]:
    """What 'auto' asks, one after the other, where its first choice has not reached the optimum."""
    solver = _chosen_solver(program, options) if options.solver == "auto" else "dense"
    return {"low_rank": ("dense",), "exact": ("dense", "exact"), "dense": ()}[solver]


def _minimise(
    program: QuadraticProgram, options: SolverOptions, start: Array | None
) -> tuple[Array, int, Array | None]:
    """Fix what cannot move, then solve for the rest: x, steps, and Q x if known."""
    solver = _chosen_solver(program, options)
    x = _extreme_point(program)
    if x is not None:
        return x, 0, None
    moves = program.lower < program.upper
    if not moves.all():
        x, moving = np.where(moves, 0.0, program.lower), np.flatnonzero(moves)
        if len(moving) == 0:
            return x, 0, None
        near = None if start is None else start[moving]
        x[moving], n_iter, _ = _minimise(program.restricted(moving, x), options, near)
        return x, n_iter, None
    # Loaded when needed: the compiled loops, and cvxopt, take their time.
    if solver == "exact":
        from kernelbook.qp.exact.working_set import OutOfBudgetError, solve_exact

        successor = None
        if options.solver == "auto":
            may_form = len(program.q) <= options.hand_over_up_to
            successor = program.Q.factored() or (program.Q if may_form else None)
        try:
            return solve_exact(program, options, start, successor)
        except OutOfBudgetError:
            Q = program.Q.factored() or program.Q.formed()
            program, solver = replace(program, Q=Q), "low_rank" if Q.is_low_rank else "dense"
    from kernelbook.qp.interior_solver import minimise

    return *minimise(solver, program, options.tol, options.max_iter), None


def _extreme_point(program: QuadraticProgram) -> Array | None:
    """The one point that reaches b if b is an end of what the box can reach; else None."""
    a, b, lower, upper = program.a, program.b, program.lower, program.upper
    moves = a != 0
    lowest, highest = np.where(a > 0, lower, upper), np.where(a > 0, upper, lower)
    smallest, largest = float(a[moves] @ lowest[moves]), float(a[moves] @ highest[moves])
    # Rounding is that of the terms of one end: those of the other may be larger by any factor.
    low_terms = max(abs(b), float(np.abs(a[moves]) @ np.abs(lowest[moves])))
    high_terms = max(abs(b), float(np.abs(a[moves]) @ np.abs(highest[moves])))
    if not smallest - FEASIBILITY * low_terms <= b <= largest + FEASIBILITY * high_terms:
        raise InfeasibleError(_infeasible(b, smallest, largest))
    # Within rounding: "all at the bound" may miss b by one unit in the last place.
    few = 4 * len(a) * EPS
    if moves.all() and abs(smallest - b) <= few * low_terms < np.inf:
        return lowest
    if moves.all() and abs(largest - b) <= few * high_terms < np.inf:
        return highest
    return None


def _infeasible(b: float, smallest: float, largest: float) -> str:
    nearest = smallest if b < smallest else largest
    grows = nearest * b > 0 and abs(b) > abs(nearest)
    remedy = f"by a factor of at least {b / nearest:.6g}" if grows else "or change b"
    return (
        f"no point of the box meets the equality: a'x can be {smallest:.6g} to {largest:.6g}, "
        f"but b = {b:.6g}. Widen the bounds {remedy}."
    )


def rounding(program: QuadraticProgram, x: Array) -> Array:
    """Return what rounding does to each entry of the gradient, in the quadratic mean.

    Parameters
    ----------
    program : QuadraticProgram
        The problem.
    x : ndarray of shape (n,)
        A point.

    Returns
    -------
    ndarray of shape (n,)
        Each entry of Q is taken to be as exact as its bound, the root of the product of two
        entries of the diagonal.
    """
    sizes = program.sizes_of_terms
    return EPS * (np.sqrt(sizes) * float(np.linalg.norm(np.sqrt(sizes) * x)) + np.abs(program.q))


def certified(
    program: QuadraticProgram,
    x: Array,
    product: Array | None,
    n_iter: int,
    options: SolverOptions,
    residual: Residual | None = None,
) -> QPSolution:
    """Return a point with its proof, whatever found it.

    Parameters
    ----------
    program : QuadraticProgram
        The problem.
    x : ndarray of shape (n,)
        The point.
    product : ndarray of shape (n,) or None
        Q x, if it is known.
    n_iter : int
        Steps that led to the point.
    options : SolverOptions
        Tolerance and limit of steps.
    residual : Residual, default=None
        What is known to more digits. If None, the multiplier is that of the free variables, and
        the noise twice :func:`rounding`, which is a mean and no bound.

    Returns
    -------
    QPSolution
        The point, its multiplier and what both prove.

    Raises
    ------
    ValueError
        If the objective or the gradient is no number.
    """
    q, a, lower, upper = program.q, program.a, program.lower, program.upper
    product = program.Q.product(x) if product is None else product
    objective, gradient = 0.5 * float(x @ product) + float(q @ x), product + q
    # The part along a belongs to the multiplier; without it the differences keep their digits.
    along = float(a @ gradient) / float(a @ a)
    gradient -= along * a
    size, largest = float(np.abs(x).sum()), float(program.sizes_of_terms.max())
    by_b = 0.5 * CANCELLATION * float(program.spreads.max()) * program.b**2 / float((a**2).max())
    unit = max(float(np.abs(q).max()), float(np.abs(product).max()), CANCELLATION * largest * size)
    rounded = rounding(program, x)
    known = residual
    if known is None:
        given = fitting_multiplier(gradient, x, a, lower, upper)
        doubt = float(np.abs(x) @ (rounded + EPS * np.abs(product)))
        known = Residual(gradient + given * a, 2 * rounded, given - along, objective, doubt)
    # What rounding may have made of an objective whose terms cancel is no unit of a gap.
    sure = max(abs(known.objective) - known.doubt, by_b)
    certificate = certify_residual(
        known.values,
        x,
        lower,
        upper,
        objective=float(np.copysign(sure, known.objective)),
        scale=unit or 1.0,
        tol=options.tol,
        noise=known.noise,
        slack=0.0 if residual is None else ROUNDINGS * rounded,
    )
    if not np.isfinite([known.objective, along, certificate.duality_gap]).all():
        raise ValueError(
            "the products of kernel values and C (or of prior_scale and n**prior_exponent) "
            "overflow: rescale X, or lower them."
        )
    status = certificate.status if is_feasible(program, x) else NOT_OPTIMAL
    if status == NOT_OPTIMAL:
        status = MAX_ITER if n_iter >= options.max_iter else STALLED
    return QPSolution(
        x=x,
        multiplier=known.multiplier,
        duality_gap=certificate.duality_gap,
        kkt_violation=certificate.kkt_violation,
        n_iter=n_iter,
        status=status,
        objective=known.objective,
        product=product,
    )


def is_feasible(program: QuadraticProgram, x: Array) -> bool:
    """Say whether a point of the box meets the equality to rounding.

    Parameters
    ----------
    program : QuadraticProgram
        The problem.
    x : ndarray of shape (n,)
        The point.

    Returns
    -------
    bool
        Whether it misses b by 1e-10 of the terms of the sum at most.
    """
    terms = max(abs(program.b), float(np.abs(program.a) @ np.abs(x)))
    return abs(float(program.a @ x) - program.b) <= FEASIBILITY * terms


def certify_residual(
    residual: Array,
    x: Array,
    lower: Array,
    upper: Array,
    *,
    objective: float,
    scale: float,
    tol: float,
    noise: Array | float = 0.0,
    slack: Array | float = 0.0,
) -> Certificate:
    r"""Return the certificate of a feasible point whose multiplier is given, too.

    Parameters
    ----------
    residual : ndarray of shape (n,)
        The residual :math:`r = Qx + q + \lambda a`.
    x : ndarray of shape (n,)
        The point.
    lower : ndarray of shape (n,)
        Lower bounds; may be infinite.
    upper : ndarray of shape (n,)
        Upper bounds; may be infinite.
    objective : float
        The objective at x; the gap is relative to it, or to the dual one if that is larger.
    scale : float
        The unit of the violation.
    tol : float
        Largest violation, in that unit, that counts as optimal; 100 tol if the gap is within tol.
    noise : float or ndarray of shape (n,), default=0.0
        What rounding may have done to each entry of the gradient. The gap that counts is the
        largest within it.
    slack : float or ndarray of shape (n,), default=0.0
        A residual within it is no violation, whatever the tolerance: rounding may have made it.

    Returns
    -------
    Certificate
        Gap, violation and status.

    Examples
    --------
    At the lower end of [0, 1] a slope of 1 is right; at the upper end the gap is slope times
    width, here a quarter of the objective:

    >>> import numpy as np
    >>> zero, one = np.zeros(1), np.ones(1)
    >>> certify_residual(one, zero, zero, one, objective=4.0, scale=1.0, tol=1e-9)
    Certificate(duality_gap=0.0, kkt_violation=0.0, status='optimal')
    >>> certify_residual(one, one, zero, one, objective=4.0, scale=1.0, tol=1e-9)
    Certificate(duality_gap=0.25, kkt_violation=1.0, status='not optimal to tol')
    """
    objects = np.where(residual < 0, x < upper, x > lower)
    violations = np.where(objects, np.abs(residual), 0.0)
    reach = 2 * float(np.abs(x).max(initial=0.0))
    down = np.where(np.isfinite(lower), x - lower, reach)
    up = np.where(np.isfinite(upper), upper - x, reach)
    gap = float(np.maximum(residual, 0) @ down + np.maximum(-residual, 0) @ up)
    falls, rises = np.maximum(residual + noise, 0), np.maximum(noise - residual, 0)
    possible = float(np.maximum(falls * down, rises * up).sum())
    size = max(abs(objective), abs(objective - gap)) or 1.0
    allowed = NEARLY * tol if possible <= tol * size else tol
    status = "optimal" if possible <= max(LARGEST_GAP, tol) * size else ROUNDING
    if (violations > np.maximum(allowed * scale, slack)).any():
        status = NOT_OPTIMAL
    told, worst = possible if status == ROUNDING else gap, float(violations.max(initial=0.0))
    return Certificate(told / size, worst / scale, status)


def fitting_multiplier(gradient: Array, x: Array, a: Array, lower: Array, upper: Array) -> float:
    """Return the multiplier that suits a point best, boxes no wider than rounding aside.

    Parameters
    ----------
    gradient : ndarray of shape (n,)
        Q x + q, or that plus any multiple of a.
    x : ndarray of shape (n,)
        The point.
    a : ndarray of shape (n,)
        Coefficients of the equality.
    lower : ndarray of shape (n,)
        Lower bounds; may be infinite.
    upper : ndarray of shape (n,)
        Upper bounds; may be infinite.

    Returns
    -------
    float
        The mean over the free variables, else the middle of what the bounds allow.
    """
    wide = upper - lower > NARROW * float(np.abs(x).sum())
    if not wide.all() and wide.any():
        return fitting_multiplier(gradient[wide], x[wide], a[wide], lower[wide], upper[wide])
    free = (x > lower) & (x < upper) & (a != 0)
    if free.any():
        return float(-(a[free] @ gradient[free]) / (a[free] @ a[free])) + 0.0
    low, high = multiplier_bounds(gradient, x, a, lower, upper)
    if np.isfinite(low) and np.isfinite(high):
        return (low + high) / 2
    return low if np.isfinite(low) else high if np.isfinite(high) else 0.0
