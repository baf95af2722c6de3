r"""Solve a quadratic program: dispatch to a solver, then the certificate."""

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from kernelbook.exceptions import InfeasibleError, warn_user
from kernelbook.kernels.compiled import loops_are_available
from kernelbook.qp.certificate import FEASIBILITY, QPSolution, certified
from kernelbook.qp.options import SOLVERS, SolverOptions
from kernelbook.qp.program import EPS, QuadraticProgram

__all__ = ["goes_exact", "solve"]

Array = NDArray[np.float64]


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

    asks_dense = options.solver == "auto" and _chosen_solver(program, options) != "dense"
    solution = improved(program, solution, options, _minimise, asks_dense=asks_dense)
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
        False too where the compiled loops cannot be loaded.

    Examples
    --------
    >>> goes_exact(100, SolverOptions()), goes_exact(100, SolverOptions(solver="exact"))
    (False, True)
    """
    wanted = options.solver == "exact" or (
        options.solver == "auto" and program_size >= options.exact_from
    )
    return wanted and loops_are_available()


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
        from kernelbook.qp.exact.working_set import solve_exact

        return solve_exact(program, options, start)
    from kernelbook.qp.interior_solver import minimise

    return *minimise(solver, program, options.tol, options.max_iter), None


def _extreme_point(program: QuadraticProgram) -> Array | None:
    """The one point that reaches b if b is an end of what the box can reach; else None."""
    a, b, lower, upper = program.a, program.b, program.lower, program.upper
    moves = a != 0
    ends = [np.where(a > 0, lower, upper), np.where(a > 0, upper, lower)]
    smallest, largest = float(a[moves] @ ends[0][moves]), float(a[moves] @ ends[1][moves])
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
