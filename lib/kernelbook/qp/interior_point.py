"""The two interior-point ways to a solution, both on cvxopt: its general solver and a fast one."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from cvxopt import matrix, solvers, spmatrix
from numpy.typing import NDArray

from kernelbook.qp.program import QuadraticProgram, Solve

__all__ = ["InteriorPoint", "solve_dense", "solve_reference"]

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]

TOLERANCE = 1e-8
NEAR = 1e-4
# After so many steps it is rounding that keeps the method from its tolerance, not the limit.
MANY_STEPS = 50


@dataclass(frozen=True)
class InteriorPoint:
    """What an interior-point method leaves: a point near the optimum, and which bounds hold.

    Attributes
    ----------
    x : ndarray of shape (n,)
    at_lower, at_upper : ndarray of shape (n,), dtype=bool
        Bounds whose slack is smaller than their multiplier, in the scaled problem.
    n_iter : int
    near : bool
        False if the limit on steps cut the method short of a relative gap of 1e-4, so that the
        active bounds mean little.
    """

    x: Array
    at_lower: Mask
    at_upper: Mask
    n_iter: int
    near: bool = True


class _Box:
    """The finite bounds as cvxopt takes them, G x <= h: first the upper ones, then the lower."""

    def __init__(self, lower: Array, upper: Array) -> None:
        self.n = len(lower)
        self.above, self.below = np.isfinite(upper).nonzero()[0], np.isfinite(lower).nonzero()[0]
        self.h = np.concatenate([upper[self.above], -lower[self.below]])

    def sparse(self) -> spmatrix:
        """G, with one entry a row."""
        signs = [1.0] * len(self.above) + [-1.0] * len(self.below)
        columns = [*self.above.tolist(), *self.below.tolist()]
        return spmatrix(signs, range(len(signs)), columns, (len(signs), self.n))

    def product(self, x: Array) -> Array:
        """G x."""
        return np.concatenate([x[self.above], -x[self.below]])

    def transposed_product(self, z: Array) -> Array:
        """G' z."""
        return self._by_variable(z, -1.0)

    def squares(self, d: Array) -> Array:
        """Diagonal of G' diag(d) G, which has no other entries."""
        return self._by_variable(d, 1.0)

    def active(self, solution: dict[str, Any]) -> tuple[Mask, Mask]:
        """Bounds whose slack is smaller than their multiplier; an upper one goes first."""
        smaller = _vector(solution["s"]) < _vector(solution["z"])
        at_lower, at_upper = np.zeros(self.n, dtype=bool), np.zeros(self.n, dtype=bool)
        at_upper[self.above] = smaller[: len(self.above)]
        at_lower[self.below] = smaller[len(self.above) :]
        return at_lower & ~at_upper, at_upper

    def _by_variable(self, z: Array, sign_below: float) -> Array:
        total = np.zeros(self.n)
        total[self.above] += z[: len(self.above)]
        total[self.below] += sign_below * z[len(self.above) :]
        return total


def solve_reference(program: QuadraticProgram, max_iter: int) -> InteriorPoint:
    """cvxopt.solvers.qp with a sparse G, as the notebooks derive it line by line."""
    box, everything = _Box(program.lower, program.upper), np.arange(len(program.q))
    solution = solvers.qp(
        matrix(program.Q.block(everything, everything)),
        matrix(program.q),
        box.sparse(),
        matrix(box.h),
        matrix(program.a[None, :]),
        matrix([program.b]),
        options=_options(max_iter),
    )
    return _interior_point(solution, box, max_iter)


def solve_dense(program: QuadraticProgram, max_iter: int) -> InteriorPoint:
    r"""cvxopt.solvers.coneqp with a solver of the KKT system that knows the box.

    The inequality matrix is never formed: the constraints enter one step as a diagonal
    :math:`D = G^\top W^{-2} G`, so each step costs one Cholesky factorisation of Q + D.
    """
    box, Q = _Box(program.lower, program.upper), program.Q

    def add_product_with_q(x: matrix, y: matrix, alpha: float = 1.0, beta: float = 0.0) -> None:
        _assign(y, alpha * Q.product(_vector(x)) + beta * _vector(y))

    def add_product_with_g(
        x: matrix, y: matrix, alpha: float = 1.0, beta: float = 0.0, trans: str = "N"
    ) -> None:
        product = box.product if trans == "N" else box.transposed_product
        _assign(y, alpha * product(_vector(x)) + beta * _vector(y))

    solution = solvers.coneqp(
        add_product_with_q,
        matrix(program.q),
        add_product_with_g,
        matrix(box.h),
        {"l": len(box.h), "q": [], "s": []},
        matrix(program.a[None, :]),
        matrix([program.b]),
        kktsolver=_kkt_solver(program, box),
        options=_options(max_iter),
    )
    return _interior_point(solution, box, max_iter)


def _kkt_solver(
    program: QuadraticProgram, box: _Box
) -> Callable[[dict[str, Any]], Callable[..., None]]:
    r"""What cvxopt calls once a step with the scaling W = diag(d), to get a solver of

    .. math:: \begin{bmatrix}Q & a & G^\top\\ a^\top & 0 & 0\\ G & 0 & -W^2\end{bmatrix}
              \begin{bmatrix}u_x\\u_y\\u_z\end{bmatrix}
              = \begin{bmatrix}b_x\\b_y\\b_z\end{bmatrix},

    which overwrites b by :math:`(u_x, u_y, W u_z)`.
    """
    a = program.a
    kept: list[Solve] = []

    def factor(W: dict[str, Any]) -> Callable[..., None]:
        d = _vector(W["d"])
        # cvxopt holds on to the solvers of earlier steps: let go of their factors, n x n each.
        kept.clear()
        kept.append(program.Q.factor(box.squares(d**-2)))
        Sa = kept[0](a)
        curvature = float(a @ Sa)

        def solve_in_place(x: matrix, y: matrix, z: matrix) -> None:
            bz = _vector(z)
            r = kept[0](_vector(x) + box.transposed_product(bz / d**2))
            multiplier = (float(a @ r) - y[0]) / curvature
            ux = r - multiplier * Sa
            _assign(x, ux)
            y[0] = multiplier
            _assign(z, (box.product(ux) - bz) / d)

        return solve_in_place

    return factor


def _interior_point(solution: dict[str, Any], box: _Box, max_iter: int) -> InteriorPoint:
    gap, n_iter = solution["relative gap"], int(solution["iterations"])
    cut_short = solution["status"] != "optimal" and max_iter <= n_iter < MANY_STEPS
    near = not cut_short or (gap is not None and gap <= NEAR)
    return InteriorPoint(_vector(solution["x"]), *box.active(solution), n_iter, near)


def _options(max_iter: int) -> dict[str, Any]:
    # Per call: cvxopt's global options belong to the user.
    return {
        "show_progress": False,
        "maxiters": max_iter,
        "abstol": TOLERANCE,
        "reltol": TOLERANCE,
        "feastol": TOLERANCE,
    }


def _vector(x: matrix) -> Array:
    return np.array(x, dtype=np.float64).ravel()


def _assign(target: matrix, values: Array) -> None:
    target[:] = matrix(values)
