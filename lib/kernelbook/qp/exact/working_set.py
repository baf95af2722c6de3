"""The exact way: a fast start, then the optimum over a working set that grows as it must."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, cholesky

from kernelbook.qp.active_set import ROUNDING
from kernelbook.qp.exact.block import centre, primal_dual
from kernelbook.qp.exact.smo import Pairwise, spread
from kernelbook.qp.exact.source import DenseSource, PointsSource, Source, source_of
from kernelbook.qp.in_memory import minimise
from kernelbook.qp.interior_point import solve_dense
from kernelbook.qp.program import Program
from kernelbook.qp.quadratic import DenseQuadratic

__all__ = ["solve_exact"]

Array = NDArray[np.float64]
Index = NDArray[np.intp]

EPS = float(np.finfo(float).eps)
# In shares of the violation at the start.
FIRST_EPS, LEAST_EPS, EPS_STEP = 0.05, 5e-6, 0.3
FEW_ROUNDS, MAX_ROUNDS, MAX_APPROACHES = 3, 12, 4
IN_MEMORY_UP_TO, IN_MEMORY_STEPS = 1500, 100
STEPS_PER_VARIABLE = 100
BLOCK_STEPS = 10_000
# Free variables that are fewer than this share of those before are still becoming fewer.
SETTLED = 0.8
SAMPLE, DEPENDENT = 200, 1e-6
# With fewer variables left in play the exact t of all costs hardly more than that of the others.
FEW_ACTIVE = 0.5
# A working set takes its matrix in double precision, a factor, and what is between them.
BYTES_PER_ENTRY, WORKING_SETS = 20, 4
MANY = 100


def solve_exact(
    program: Program, tol: float, max_iter: int, memory: int, start: Array | None = None
) -> tuple[Array, int, Array | None]:
    r"""Minimise a program whose equality has coefficients of 1 and -1 in a bounded box.

    Parameters
    ----------
    program : Program
    tol : float
        Largest violation, relative to the gradient.
    max_iter : int
        Largest number of working sets.
    memory : int
        Bytes that kernel rows may take, and a quarter of what working sets may. Where a working
        set would take more, pairwise steps go on in its place, slower and to the same end.
    start : ndarray, shape (n,), optional
        An x near the optimum, feasible or not.

    Returns
    -------
    x : ndarray, shape (n,)
    n_outer : int
        Number of working sets.
    product : ndarray, shape (n,), or None
        Q x, where it was computed on the way.
    """
    a = program.a
    source, s = source_of(program)
    lower = np.where(a > 0, program.lower, -program.upper)
    upper = np.where(a > 0, program.upper, -program.lower)
    problem = _Problem(source, s, lower, upper, program.b, tol, memory)
    near = np.zeros(len(a)) if start is None else a * start
    state = problem.at(_first_point(near, lower, upper, program.b))
    eps, n_outer = FIRST_EPS * state.violation, 0
    if state.violation > problem.slack(state):
        state, eps = problem.approach(state, eps)
    approaches = 1
    while not (state.exact and state.violation <= problem.slack(state)) and n_outer < max_iter:
        n_outer += 1
        if not problem.has_room(state, eps):
            eps = max(EPS_STEP * state.violation, problem.slack(state) / 2)
            near, _ = problem.approach(problem.exactly(state), eps)
            after = problem.exactly(near)
            if after.violation >= state.violation and state.exact:
                break
            state = after
            continue
        after = problem.improve(state, eps)
        if approaches <= MAX_APPROACHES and (after is None or problem.is_far(after, eps)):
            approaches += 1
            eps *= 0.1 if after is None else 1.0
            after, eps = problem.approach(after or problem.at(state.b), eps)
        if after is None:
            break
        state = after
    b = state.b
    # The terms of the sum are known to this precision only: nearer to a bound is at it.
    rounding = ROUNDING * float(np.abs(b).sum())
    b = np.where(b - lower <= rounding, lower, b)
    b = np.where(upper - b <= rounding, upper, b)
    known = state.exact and isinstance(source, PointsSource) and np.array_equal(b, state.b)
    return a * b, n_outer, a * (s - state.t) if known else None


def _first_point(near: Array, lower: Array, upper: Array, total: float) -> Array:
    """As near as the box allows, then raised or lowered in order until the sum is met."""
    b = np.clip(near, lower, upper)
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
    exact: bool  # whether t is known in double precision

    @property
    def free(self) -> NDArray[np.bool_]:
        """The variables between their bounds."""
        return np.isneginf(self.bound_violations)


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
        return self.state(b, self.s - self.source.product(b), exact=True)

    def exactly(self, state: _State) -> _State:
        """The same b with t in double precision, computed unless it is there."""
        return state if state.exact else self.at(state.b)

    def state(self, b: Array, t: Array, exact: bool) -> _State:
        rises, falls = b < self.upper, b > self.lower
        high = float(t[rises].max(initial=-np.inf))
        low = float(t[falls].min(initial=np.inf))
        free = rises & falls
        level = float(np.median(t[free])) if free.any() else (high + low) / 2
        beyond = np.where(free, -np.inf, np.where(rises, t - level, level - t))
        return _State(b, t, level, high - low, beyond, exact)

    def slack(self, state: _State) -> float:
        """Violation to accept: well below the tolerance, but not below rounding."""
        scale = max(float(np.abs(self.s).max()), float(np.abs(self.s - state.t).max()))
        size = float(np.abs(state.b).sum()) * self.curvature
        return max(0.01 * self.tol * scale, 4 * EPS * size)

    @cached_property
    def curvature(self) -> float:
        return max(spread(self.source), float(self.source.diagonal.max()))

    def approach(self, state: _State, eps: float) -> tuple[_State, float]:
        """Pairwise steps until the set of free variables looks like that of the optimum."""
        pairwise = Pairwise(self.source, state.b, state.t, self.lower, self.upper, self.memory)
        least, free = LEAST_EPS * state.violation, len(state.b)
        settled = SETTLED
        while pairwise.run(eps, STEPS_PER_VARIABLE * len(self.s)) and eps > least:
            near = self.state(pairwise.b, pairwise.t, exact=False)
            before, free = free, int(near.free.sum())
            wrong = int((near.bound_violations[pairwise.active] > 0).sum())
            if before == len(state.b) and not self.is_nearly_dependent(near):
                settled = 0.0
            if wrong <= 0.1 * free + 3 and free > settled * before:
                break
            eps *= EPS_STEP
        if len(pairwise.active) < FEW_ACTIVE * len(state.b):
            return self.at(pairwise.b), eps
        t, aside = pairwise.t, np.ones(len(state.b), dtype=bool)
        aside[pairwise.active] = False
        rest = np.flatnonzero(aside)
        t[rest] = self.s[rest] - self.source.product(pairwise.b, rest)
        return self.state(pairwise.b, t, exact=False), eps

    def working_set(self, state: _State, eps: float) -> NDArray[np.bool_]:
        """The free variables, and bounded ones that may become free."""
        return state.free | (state.bound_violations > -min(state.violation, 2 * eps))

    def has_room(self, state: _State, eps: float) -> bool:
        """Whether the matrix of the working set and its factor fit into memory."""
        size = int(self.working_set(state, eps).sum())
        return BYTES_PER_ENTRY * size**2 <= WORKING_SETS * self.memory

    def is_far(self, state: _State, eps: float) -> bool:
        """Whether so many variables violate their bounds that pairwise steps are cheaper."""
        violators = int((state.bound_violations > 0).sum())
        return state.violation > 10 * eps and violators > max(MANY, 0.6 * state.free.sum())

    def is_nearly_dependent(self, state: _State) -> bool:
        """Whether the images of the free points nearly depend on each other, by a sample.

        Pairwise steps then leave many variables free that the optimum has at a bound.
        """
        free = np.flatnonzero(state.free)
        sample = free[:: max(1, len(free) // SAMPLE)]
        if len(sample) < 2:
            return False
        K = self.source.block(sample)
        centre(K)
        try:
            L = cholesky(K, lower=True, check_finite=False)
        except LinAlgError:
            return True
        return bool(np.diagonal(L).min() ** 2 < DEPENDENT * np.diagonal(K).max())

    def improve(self, state: _State, eps: float) -> _State | None:
        """The optimum over the working set, the others fixed; None if nothing was gained."""
        inside = self.working_set(state, eps)
        W, rest = np.flatnonzero(inside), np.flatnonzero(~inside)
        if len(W) < 2:
            return self.at(state.b)
        K, b = self.source.block(W), state.b[W]
        outside = state.b.copy()
        outside[W] = 0.0
        total = self.total - float(outside.sum())
        means, constant = centre(K)
        r = self.s[W] - self.source.product(outside, W) - total * means
        found = self._optimum(K, r, total, W, state, eps)
        change = found - b
        slope = r - K @ (b + 0.5 * change)
        # The fixed sum takes a constant out of the slope.
        if not change.any():
            return None if state.exact else self.at(state.b)
        if float((slope - slope.mean()) @ change) < 0:
            return None
        after = outside
        after[W] = found
        t = np.empty(len(after))
        t[W] = r - K @ found - float(means @ found) + constant * total
        moved = after - state.b
        if state.exact and np.count_nonzero(moved) < np.count_nonzero(after):
            t[rest] = state.t[rest] - self.source.product(moved, rest)
        else:
            t[rest] = self.s[rest] - self.source.product(after, rest)
        return self.state(after, t, exact=True)

    def _optimum(
        self, K: Array, r: Array, total: float, W: Index, state: _State, eps: float
    ) -> Array:
        """The optimum over W, K and r centred; else the best point that was found."""
        lower, upper, b = self.lower[W], self.upper[W], state.b[W]
        slack, violation = self.slack(state), state.violation
        small = len(W) <= IN_MEMORY_UP_TO
        for attempt in range(FEW_ROUNDS if small else MAX_ROUNDS):
            if attempt or violation <= 3 * eps:
                found = primal_dual(K, r, total, lower, upper, b, slack)
                if found is not None:
                    return found
            pairwise = Pairwise(DenseSource(K), b, r - K @ b, lower, upper, self.memory)
            violation = pairwise.violation()
            if violation <= slack:
                return b
            pairwise.run(max(0.1 * violation, slack), BLOCK_STEPS + 10 * len(W))
            b = pairwise.b
        if not small:
            return b
        block = Program(DenseQuadratic(K), -r, np.ones(len(W)), total, lower, upper)
        return minimise(solve_dense, block, self.tol, IN_MEMORY_STEPS)[0]
