"""The solver that the notebooks show at work: cvxopt's, the only module that knows cvxopt."""

import numpy as np
from numpy.typing import NDArray

from kernelbook.optional import import_optional
from kernelbook.qp.interior_point import TOLERANCE, Bounds, InteriorPoint, is_near
from kernelbook.qp.program import QuadraticProgram

__all__ = ["solve_reference"]

Array = NDArray[np.float64]


def solve_reference(program: QuadraticProgram, max_iter: int) -> InteriorPoint:
    """Call ``cvxopt.solvers.qp`` with a sparse G, as the notebooks derive it line by line.

    Parameters
    ----------
    program : QuadraticProgram
        The problem.
    max_iter : int
        Maximum number of steps.

    Returns
    -------
    InteriorPoint
        Where cvxopt has stopped, and which bounds are active there.

    Raises
    ------
    ImportError
        If cvxopt is not installed.
    """
    cvxopt = import_optional("cvxopt", extra="reference", purpose="solver='reference'")
    bounds, everything = Bounds(program.lower, program.upper), np.arange(len(program.q))
    k, n = len(bounds.ends), bounds.n
    # cvxopt writes the bounds as G x <= h.
    G = cvxopt.spmatrix((-bounds.signs).tolist(), range(k), bounds.columns.tolist(), (k, n))
    solution = cvxopt.solvers.qp(
        cvxopt.matrix(program.Q.block(everything, everything)),
        cvxopt.matrix(program.q),
        G,
        cvxopt.matrix(-bounds.ends),
        cvxopt.matrix(program.a[None, :]),
        cvxopt.matrix([program.b]),
        # Per call: cvxopt's global options belong to the user.
        options={
            "show_progress": False,
            "maxiters": max_iter,
            "abstol": TOLERANCE,
            "reltol": TOLERANCE,
            "feastol": TOLERANCE,
        },
    )
    x, slack, dual = (np.array(solution[key], dtype=np.float64).ravel() for key in "xsz")
    gap, n_iter = solution["relative gap"], int(solution["iterations"])
    optimal = solution["status"] == "optimal"
    near = optimal or is_near(np.inf if gap is None else float(gap), n_iter, max_iter)
    return InteriorPoint(x, *bounds.active(slack, dual), n_iter, near)
