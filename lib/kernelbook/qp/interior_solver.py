"""The interior-point solvers from end to end: centre, scale, step, polish."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from kernelbook.qp.interior_point import InteriorPoint, solve_interior_point
from kernelbook.qp.polish import feasible_point, polish
from kernelbook.qp.program import EPS, QuadraticProgram
from kernelbook.qp.reference import solve_reference
from kernelbook.qp.structured import ScaledQuadratic

__all__ = ["approach", "minimise"]

Array = NDArray[np.float64]
Method = Callable[[QuadraticProgram, int], InteriorPoint]
INTERIOR_POINT: dict[str, Method] = {
    "dense": solve_interior_point,
    "low_rank": solve_interior_point,
    "reference": solve_reference,
}


def minimise(
    solver: str, program: QuadraticProgram, tol: float, max_iter: int
) -> tuple[Array, int]:
    """Solve a program whose variables can all move: centre, scale, step, polish.

    Parameters
    ----------
    solver : {'low_rank', 'dense', 'reference'}
        The interior-point method.
    program : QuadraticProgram
        The problem.
    tol : float
        Largest violation of the optimality conditions, relative to the gradient.
    max_iter : int
        Maximum number of steps.

    Returns
    -------
    x : ndarray of shape (n,)
        The solution, bounded variables exactly at their bounds.
    n_iter : int
        Number of steps.
    """
    centred, found = _approached(solver, program, max_iter)
    x = polish(centred, found, tol) if found.near else feasible_point(centred, found)
    return x, found.n_iter


def approach(solver: str, program: QuadraticProgram, max_iter: int) -> Array:
    """Come near the minimum of a program, without the polish of :func:`minimise`.

    Parameters
    ----------
    solver : {'low_rank', 'dense', 'reference'}
        The interior-point method.
    program : QuadraticProgram
        The problem; all of its variables can move.
    max_iter : int
        Maximum number of steps.

    Returns
    -------
    ndarray of shape (n,)
        A point that meets the constraints; how near it is, the caller has to find out.
    """
    return feasible_point(*_approached(solver, program, max_iter))


def _approached(
    solver: str, program: QuadraticProgram, max_iter: int
) -> tuple[QuadraticProgram, InteriorPoint]:
    """The centred program, and where the interior-point method ended."""
    centred = program.centred()
    return centred, _near_solution(INTERIOR_POINT[solver], centred, _noise(program), max_iter)


def _noise(program: QuadraticProgram) -> float:
    """What rounding can leave of the vector q + (b / a'a) Q a, to be centred."""
    a = program.a
    terms = abs(program.b) * program.curvature * float(np.abs(a).sum()) / float(a @ a)
    return 8 * EPS * (float(np.abs(program.q).max()) + terms)


def _near_solution(
    method: Method, program: QuadraticProgram, noise: float, max_iter: int
) -> InteriorPoint:
    """Solve with x = s z, chosen so that the scaled matrix, vector and box are of order one."""
    if not (np.isfinite(program.lower) | np.isfinite(program.upper)).any():
        return _unsolved(program)  # a linear system: the polish solves it
    slope = float(np.abs(program.q).max())
    slope = slope if slope > noise else 0.0
    widths = program.upper - program.lower
    bounded = np.isfinite(widths)
    sizes = [float(np.median(widths[bounded]))] if bounded.any() else []
    if program.curvature > 0 and slope > 0:
        sizes.append(slope / program.curvature)
    s = min(sizes, default=abs(program.b) or 1.0)
    weight = max(s * program.curvature, slope) or 1.0
    try:
        # Near its end the method divides by slacks that vanish; what comes of it is looked at.
        with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
            found = method(_scaled(program, s, weight), max_iter)
    except (ArithmeticError, ValueError):
        # What cvxopt raises for a singular system or a slack of zero; a polish can start anywhere.
        return _unsolved(program)
    return replace(found, x=s * found.x) if np.isfinite(found.x).all() else _unsolved(program)


def _unsolved(program: QuadraticProgram) -> InteriorPoint:
    nowhere = np.zeros(len(program.q), dtype=bool)
    start = InteriorPoint(np.zeros(len(program.q)), nowhere, nowhere, 0)
    x = feasible_point(program, start)
    return InteriorPoint(x, x <= program.lower, x >= program.upper, 0)


def _scaled(program: QuadraticProgram, s: float, weight: float) -> QuadraticProgram:
    """The program of z = x / s, its objective divided by s times weight."""
    return QuadraticProgram(
        ScaledQuadratic(program.Q, s / weight),
        program.q / weight,
        program.a,
        program.b / s,
        program.lower / s,
        program.upper / s,
    )
