"""The two interior-point ways to a solution, both on cvxopt: its general solver and a fast one."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from cvxopt import matrix, solvers, spmatrix
from numpy.typing import NDArray

from kernelbook.qp.quadratic import Quadratic

__all__ = ["InteriorPoint", "solve_dense", "solve_reference"]

Array = NDArray[np.float64]

TOLERANCE = 1e-8
NEAR = 1e-4
# After so many steps it is rounding that keeps the method from its tolerance, not the limit.
MANY_STEPS = 50


@dataclass(frozen=True)
class InteriorPoint:
    """What an interior-point method leaves: a point near the optimum, and which bounds hold.

    Attributes
    ----------
    x : ndarray, shape (n,)
    at_lower, at_upper : ndarray of bool, shape (n,)
        Bounds whose slack is smaller than their multiplier, in the scaled problem.
    n_iter : int
    near : bool
        False if the limit on steps cut the method short of a relative gap of 1e-4, so that the
        active bounds mean little.
    """

    x: Array
    at_lower: NDArray[np.bool_]
    at_upper: NDArray[np.bool_]
    n_iter: int
    near: bool = True


def _options(max_iter: int) -> dict[str, Any]:
    # Per call: cvxopt's global options belong to the user.
    return {
        "show_progress": False,
        "maxiters": max_iter,
        "abstol": TOLERANCE,
        "reltol": TOLERANCE,
        "feastol": TOLERANCE,
    }


def solve_reference(
    Q: Quadratic, q: Array, a: Array, b: float, lower: Array, upper: Array, max_iter: int
) -> InteriorPoint:
    """cvxopt.solvers.qp with a sparse G, as the notebooks derive it line by line."""
    n = len(q)
    everything = np.arange(n)
    above, below = np.isfinite(upper).nonzero()[0], np.isfinite(lower).nonzero()[0]
    signs = [1.0] * len(above) + [-1.0] * len(below)
    columns = [*above.tolist(), *below.tolist()]
    G = spmatrix(signs, range(len(signs)), columns, (len(signs), n))
    h = np.concatenate([upper[above], -lower[below]])
    solution = solvers.qp(
        matrix(Q.block(everything, everything)),
        matrix(q),
        G,
        matrix(h),
        matrix(a[None, :]),
        matrix([float(b)]),
        options=_options(max_iter),
    )
    return _interior_point(solution, above, below, max_iter)


def solve_dense(
    Q: Quadratic, q: Array, a: Array, b: float, lower: Array, upper: Array, max_iter: int
) -> InteriorPoint:
    r"""cvxopt.solvers.coneqp with a solver of the KKT system that knows the box.

    The inequality matrix is never formed: the constraints enter one step as a diagonal
    :math:`D = G^\top W^{-2} G`, so each step costs one Cholesky factorisation of Q + D.
    """
    n = len(q)
    above, below = np.isfinite(upper).nonzero()[0], np.isfinite(lower).nonzero()[0]
    n_above = len(above)

    def apply_P(x: matrix, y: matrix, alpha: float = 1.0, beta: float = 0.0) -> None:
        _assign(y, alpha * Q.mv(_vector(x)) + beta * _vector(y))

    def rows(x: Array) -> Array:
        return np.concatenate([x[above], -x[below]])

    def columns(z: Array) -> Array:
        total = np.zeros(n)
        total[above] += z[:n_above]
        total[below] -= z[n_above:]
        return total

    def apply_G(
        x: matrix, y: matrix, alpha: float = 1.0, beta: float = 0.0, trans: str = "N"
    ) -> None:
        product = rows(_vector(x)) if trans == "N" else columns(_vector(x))
        _assign(y, alpha * product + beta * _vector(y))

    def kkt_solver(W: dict[str, Any]) -> Any:
        d = _vector(W["d"])
        D = np.zeros(n)
        D[above] += d[:n_above] ** -2
        D[below] += d[n_above:] ** -2
        solve = Q.factor(D)
        Sa = solve(a)
        curvature = float(a @ Sa)

        def solve_kkt(x: matrix, y: matrix, z: matrix) -> None:
            bz = _vector(z)
            r = solve(_vector(x) + columns(bz / d**2))
            multiplier = (float(a @ r) - y[0]) / curvature
            ux = r - multiplier * Sa
            _assign(x, ux)
            y[0] = multiplier
            _assign(z, (rows(ux) - bz) / d)

        return solve_kkt

    h = np.concatenate([upper[above], -lower[below]])
    solution = solvers.coneqp(
        apply_P,
        matrix(q),
        apply_G,
        matrix(h),
        {"l": len(h), "q": [], "s": []},
        matrix(a[None, :]),
        matrix([float(b)]),
        kktsolver=kkt_solver,
        options=_options(max_iter),
    )
    return _interior_point(solution, above, below, max_iter)


def _interior_point(
    solution: dict[str, Any], above: Array, below: Array, max_iter: int
) -> InteriorPoint:
    x, active = _vector(solution["x"]), _vector(solution["s"]) < _vector(solution["z"])
    at_lower, at_upper = np.zeros(len(x), dtype=bool), np.zeros(len(x), dtype=bool)
    at_upper[above], at_lower[below] = active[: len(above)], active[len(above) :]
    gap, n_iter = solution["relative gap"], int(solution["iterations"])
    cut_short = solution["status"] != "optimal" and max_iter <= n_iter < MANY_STEPS
    near = not cut_short or (gap is not None and gap <= NEAR)
    return InteriorPoint(x, at_lower & ~at_upper, at_upper, n_iter, near)


def _vector(x: matrix) -> Array:
    return np.array(x, dtype=np.float64).ravel()


def _assign(target: matrix, values: Array) -> None:
    target[:] = matrix(values)
