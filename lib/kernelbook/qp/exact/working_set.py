"""The exact way: a fast start, then the optimum over a working set that grows as it must."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from kernelbook.qp.exact.block import centred_block, primal_dual
from kernelbook.qp.exact.smo import Pairwise, spread
from kernelbook.qp.exact.source import DenseSource, Source, source_of
from kernelbook.qp.program import Program

__all__ = ["ExactPoint", "solve_exact"]

Array = NDArray[np.float64]
Index = NDArray[np.intp]

EPS = float(np.finfo(float).eps)
# In shares of the violation at the start.
FIRST_EPS, LEAST_EPS, EPS_STEP = 0.05, 5e-6, 0.3
MAX_OUTER, MAX_ROUNDS = 40, 12
STEPS_PER_VARIABLE = 100
BLOCK_STEPS = 200_000


@dataclass(frozen=True)
class ExactPoint:
    """What the exact way leaves: x, and the number of pairwise steps and of working sets."""

    x: Array
    n_steps: int
    n_outer: int



def solve_exact(program: Program, tol: float, memory: int) -> ExactPoint:
    r"""Minimise a program whose equality has coefficients of 1 and -1 in a bounded box.

    Parameters
    ----------
    program : Program
    tol : float
        Largest violation, relative to the gradient.
    memory : int
        Bytes that kernel rows may take.
    """
    a, n = program.a, len(program.a)
    source, s = source_of(program)
    lower = np.where(a > 0, program.lower, -program.upper)
    upper = np.where(a > 0, program.upper, -program.lower)
    b = _first_point(lower, upper, program.b)
    problem = _Problem(source, s, lower, upper, program.b, tol, memory)
    state = problem.at(b)
    eps = FIRST_EPS * state.violation
    n_steps = 0
    for n_outer in range(MAX_OUTER):
        if state.violation <= problem.slack(state):
            break
        if n_outer == 0 or state.violation > 10 * eps:
            state, eps, steps = problem.approach(state, eps)
            n_steps += steps
        better = problem.improve(state, eps)
        if better is None or better.violation > 0.5 * state.violation and n_outer % 3 == 2:
            eps = max(0.1 * eps, EPS)
            better, _, steps = problem.approach(state, eps)
            n_steps += steps
        state = better
    return ExactPoint(a * state.b, n_steps, n_outer)


def _first_point(lower: Array, upper: Array, total: float) -> Array:
    """As near to zero as the box allows, then raised or lowered in order until the sum is met."""
    b = np.clip(0.0, lower, upper)
    missing = total - float(b.sum())
    room = upper - b if missing > 0 else b - lower
    before = np.concatenate([[0.0], np.cumsum(room)[:-1]])
    moved = np.clip(abs(missing) - before, 0.0, room)
    return np.clip(b + np.copysign(moved, missing), lower, upper)


@dataclass(frozen=True)
class _State:
    """A feasible b with t = s - K b, and how far from optimal it is."""

    b: Array
    t: Array
    level: float
    violation: float
    bound_violations: Array  # of the bounded variables; -inf for free ones


@dataclass(frozen=True)
class _Problem:
    source: Source
    s: Array
    lower: Array
    upper: Array
    total: float
    tol: float
    memory: int

    def at(self, b: Array) -> _State:
        return self.state(b, self.s - self.source.product(b))

    def state(self, b: Array, t: Array) -> _State:
        rises, falls = b < self.upper, b > self.lower
        high = float(t[rises].max(initial=-np.inf))
        low = float(t[falls].min(initial=np.inf))
        free = rises & falls
        level = float(np.median(t[free])) if free.any() else (high + low) / 2
        beyond = np.where(free, -np.inf, np.where(rises, t - level, level - t))
        return _State(b, t, level, high - low, beyond)

    def slack(self, state: _State) -> float:
        """Violation to accept: well below the tolerance, but not below rounding."""
        scale = max(float(np.abs(self.s).max()), float(np.abs(self.s - state.t).max()))
        size = float(np.abs(state.b).sum()) * self.curvature
        return max(0.01 * self.tol * scale, 4 * EPS * size)

    @cached_property
    def curvature(self) -> float:
        return max(spread(self.source), float(self.source.diagonal.max()))

    def approach(self, state: _State, eps: float) -> tuple[_State, float, int]:
        """Pairwise steps until hardly a bounded variable is still on the wrong side."""
        pairwise = Pairwise(self.source, state.b, state.t, self.lower, self.upper, self.memory)
        least = LEAST_EPS * state.violation
        while pairwise.run(eps, STEPS_PER_VARIABLE * len(self.s)) and eps > least:
            near = self.state(pairwise.b, pairwise.t)
            wrong = int((near.bound_violations[pairwise.active] > 0).sum())
            free = int(np.isneginf(near.bound_violations).sum())
            if wrong <= 0.1 * free + 3:
                break
            eps *= EPS_STEP
        return self.at(pairwise.b), eps, pairwise.n_steps

    def improve(self, state: _State, eps: float) -> _State | None:
        """The optimum over the working set, the others fixed; None if nothing was gained."""
        band = min(state.violation, 2 * eps)
        W = np.flatnonzero(~(state.bound_violations <= -band) | np.isneginf(state.bound_violations))
        K = self.source.block(W)
        b = state.b[W]
        r = state.t[W] + K @ b
        total = self.total - float(np.delete(state.b, W).sum())
        found = self._optimum(K, r, total, W, state, eps)
        change = np.zeros(len(self.s))
        change[W] = found - b
        t = state.t - self.source.product(change)
        gain = 0.5 * float((state.t + t - 2 * state.level) @ change)
        if gain < 0:
            return None
        after = state.b.copy()
        after[W] = found
        return self.state(after, t)

    def _optimum(self, K: Array, r: Array, total: float, W: Index, state: _State, eps: float) -> Array:
        lower, upper, b, t = self.lower[W], self.upper[W], state.b[W], state.t[W]
        slack = self.slack(state)
        K, r = centred_block(K, r, total)
        violation = state.violation
        for attempt in range(MAX_ROUNDS):
            violators = int((state.bound_violations > 0).sum())
            if attempt or violation <= 3 * eps:
                found = primal_dual(K, r, total, lower, upper, b, slack)
                if found is not None:
                    return found
            pairwise = Pairwise(DenseSource(K), b, r - K @ b, lower, upper, self.memory)
            violation = pairwise.violation()
            if violation <= slack:
                break
            pairwise.run(max(0.1 * violation, slack), BLOCK_STEPS)
            b = pairwise.b
        return b
