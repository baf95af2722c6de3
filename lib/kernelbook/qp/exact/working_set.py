"""The exact solver: a fast start, then the optimum over a working set that grows as it must."""

from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dgetrf, dgetrs, dpotrf

from kernelbook.exceptions import CompilationWarning, warn_user
from kernelbook.qp.exact.bordered import RIDGES, BorderedSystem, Correct
from kernelbook.qp.exact.sample import sample, vertex
from kernelbook.qp.exact.smo import Pairwise, is_compiled, smo_on_points, smo_steps
from kernelbook.qp.options import SolverOptions
from kernelbook.qp.program import DenseQuadratic, Quadratic, QuadraticProgram, double_centre
from kernelbook.qp.progress import Progress

__all__ = ["OutOfBudgetError", "solve_exact"]

Array = NDArray[np.float64]
Index = NDArray[np.intp]
Mask = NDArray[np.bool_]

EPS = float(np.finfo(float).eps)
# The terms of the sum are known to this precision only: nearer to a bound is at it.
AT_BOUND = 32 * EPS
# Rounds of steps on pairs within a working set: a few where an interior point may follow.
FEW_ROUNDS, MAX_ROUNDS = 3, 12
IN_MEMORY_UP_TO, IN_MEMORY_STEPS = 1500, 100
BLOCK_STEPS = 10_000
# A sample that has more free variables, as a fraction of its support vectors, tells too little.
FEW_FREE = 0.1
# Points of a sample that shows whether images depend on each other, and the pivot that says so.
SAMPLE, DEPENDENT = 200, 1e-6
# With fewer variables left in play the exact t of all costs hardly more than that of the others.
FEW_ACTIVE = 0.5
# A working set takes its matrix in double precision, a factor, and what is between them.
BYTES_PER_ENTRY, WORKING_SETS = 20, 4
MANY_VIOLATORS = 100
# Primal-dual steps: at most, and how many without progress are tolerated after the first few.
MAX_STEPS, MIN_STEPS, PATIENCE = 30, 5, 3
BEYOND = 1e-11
# Up to so many free variables a new factor at each step is cheaper than a border to an old one.
DIRECT_UP_TO = 200
REFINEMENTS = 8
ROUNDING = 8 * EPS
# The dense solver spends as much time on operations in n^2 as on those in n^3 at so many points.
DENSE_OVERHEAD = 1000
COMPILING = (
    "compiling the loops of the exact solver, which happens once on a machine and takes up to half "
    "a minute. To have it done before any fit, run: python -m kernelbook.compile_loops"
)


class OutOfBudgetError(Exception):
    """The work that may be spent did not lead to the optimum."""


class _Budget:
    """Work that is left, in entries of the gradient: the same on every machine."""

    def __init__(self, entries: float) -> None:
        self.left = entries

    def spend(self, entries: int) -> None:
        self.left -= entries
        if self.left < 0:
            raise OutOfBudgetError


def solve_exact(
    program: QuadraticProgram,
    options: SolverOptions,
    start: Array | None = None,
    successor: Quadratic | None = None,
) -> tuple[Array, int, Array | None]:
    r"""Minimise a program whose equality has coefficients of 1 and -1 in a bounded box.

    Parameters
    ----------
    program : QuadraticProgram
        All its variables can move.
    options : SolverOptions
        ``tol``, ``max_iter`` (the largest number of working sets), ``cache_size`` and the
        constants. Where a working set would take more than four times ``cache_size``, pairwise
        steps go on in its place, slower and to the same end.
    start : ndarray of shape (n,), default=None
        An x near the optimum, feasible or not.
    successor : Quadratic, default=None
        The matrix for the solver that takes over once the work, in entries of the gradient that
        pairwise steps change, is about what that solver would take: it grows as n^2 (n + 1000), or
        as n r^2 for a matrix of r features. If None, there is no limit.

    Returns
    -------
    x : ndarray of shape (n,)
        The solution, or the best point that was found; bounded variables exactly at their bounds.
    n_outer : int
        Number of working sets.
    product : ndarray of shape (n,), or None
        The product Q x, where it was computed on the way.

    Raises
    ------
    OutOfBudgetError
        If the successor is to take over.

    Warns
    -----
    CompilationWarning
        Before the loops are compiled.

    References
    ----------
    [Platt1998]_, [Fan2005]_, [Kunisch2003]_
    """
    if not is_compiled(smo_steps if program.Q.compiled is None else smo_on_points):
        warn_user(COMPILING, CompilationWarning)
    a = program.a
    K, s = program.Q.signed(a), -a * program.q
    has_product = True
    if not K.suits_single_precision or (K.in_memory is not None and not K.is_relative):
        # What the fixed sum makes constant would take digits from pairwise steps.
        centred, means = double_centre(K.formed().in_memory)
        K, s, has_product = DenseQuadratic(centred), s - program.b * means, False
    lower = np.where(a > 0, program.lower, -program.upper)
    upper = np.where(a > 0, program.upper, -program.lower)
    # Two variables a point share its row where half of the matrix repeats itself.
    n_points = len(s) if K.folded() is None else len(s) // 2
    work = np.inf
    if successor is not None and successor.is_low_rank:
        work = options.hand_over_features * n_points * successor.n_features**2
    elif successor is not None:
        work = options.hand_over_after * n_points**2 * (n_points + DENSE_OVERHEAD)
    progress = Progress() if options.verbose else None
    problem = _Problem(K, s, lower, upper, program.b, options, _Budget(work), *_sizes(K), progress)
    try:
        first = _begin(problem) if start is None else _nearest(a * start, lower, upper, program.b)
        state, n_outer = _improve_until_optimal(problem, first)
    finally:
        if progress is not None:
            progress.close()
    rounding = AT_BOUND * float(np.abs(state.b).sum())
    b = np.where(state.b - lower <= rounding, lower, state.b)
    b = np.where(upper - b <= rounding, upper, b)
    known = has_product and state.exact and np.array_equal(b, state.b)
    return a * b, n_outer, a * (s - state.t) if known else None


def _sizes(K: Quadratic) -> tuple[float, float]:
    """Largest curvature of a pair, among a sample, and the largest curvature of all."""
    n = K.diagonal.size
    some = np.arange(0, n, max(1, n // 64))
    block = K.block(some, some)
    d = np.diagonal(block)
    pairs = float((d[:, None] + d - 2.0 * block).max())
    return pairs or 1.0, max(pairs, float(K.diagonal.max()))


def _begin(problem: "_Problem") -> Array:
    """A feasible point: by the optimum of a sample if there are many points, else any."""
    n = len(problem.s)
    if n >= problem.options.sample_from and problem.K.compiled is not None:
        index = sample(n, problem.options.sample_share)
        part = problem.sampled(index)
        if float(part.lower.sum()) < part.total < float(part.upper.sum()):
            there, _ = _improve_until_optimal(part, _begin(part))
            # Of the free variables of all points, the sample tells nothing.
            if there.free.sum() <= FEW_FREE * np.count_nonzero(there.b):
                b = np.zeros(n)
                b[index] = there.b
                t = problem.s - problem.K.product(b)
                return vertex(t, problem.lower, problem.upper, problem.total)
    return _nearest(np.zeros(n), problem.lower, problem.upper, problem.total)


def _nearest(near: Array, lower: Array, upper: Array, total: float) -> Array:
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
    free: Mask  # between the bounds
    violation: float
    bound_violations: Array  # of the bounded variables; -inf for free ones
    exact: bool  # whether t is known in double precision


@dataclass(frozen=True)
class _Problem:
    """Minimise 1/2 b'Kb - s'b in the box, with a given sum of b."""

    K: Quadratic
    s: Array
    lower: Array
    upper: Array
    total: float
    options: SolverOptions
    budget: _Budget
    unit: float
    curvature: float
    progress: Progress | None

    def at(self, b: Array) -> _State:
        return self.state(b, self.s - self.K.product(b), True)

    def moved(self, state: _State, b: Array) -> _State:
        """The state of another point: by what has changed, if that is less than all."""
        change = b - state.b
        if state.exact and np.count_nonzero(change) < np.count_nonzero(b):
            return self.state(b, state.t - self.K.product(change), exact=True)
        return self.at(b)

    def sampled(self, index: Index) -> "_Problem":
        """The problem of some points, each of which stands for as many as there are."""
        weight, K = len(self.s) / len(index), self.K.restricted(index)
        box = (weight * self.lower[index], weight * self.upper[index])
        return replace(self, K=K, s=self.s[index], lower=box[0], upper=box[1])

    def state(self, b: Array, t: Array, exact: bool) -> _State:
        rises, falls = b < self.upper, b > self.lower
        high = float(t[rises].max(initial=-np.inf))
        low = float(t[falls].min(initial=np.inf))
        free = rises & falls
        level = float(np.median(t[free])) if free.any() else (high + low) / 2
        beyond = np.where(free, -np.inf, np.where(rises, t - level, level - t))
        return _State(b, t, free, high - low, beyond, exact)

    def tell(self, progress: Progress, state: _State, active: int) -> None:
        level = np.median(state.t[state.free]) if state.free.any() else 0.0
        rise, fall = np.maximum(state.t - level, 0.0), np.maximum(level - state.t, 0.0)
        gap = float(rise @ (self.upper - state.b) + fall @ (state.b - self.lower))
        objective = 0.5 * abs(float(state.b @ (self.s + state.t)))
        relative = gap / max(objective, objective + gap, EPS)
        progress.tell("exact", violation=state.violation, active=active, gap=relative)

    def slack(self, state: _State) -> float:
        """Violation to accept: well below the tolerance, but not below rounding."""
        scale = max(float(np.abs(self.s).max()), float(np.abs(self.s - state.t).max()))
        size = float(np.abs(state.b).sum()) * self.curvature
        return max(0.01 * self.options.tol * scale, 4 * EPS * size)

    def working_set(self, state: _State, eps: float) -> Mask:
        """The free variables, and bounded ones that may become free."""
        return state.free | (state.bound_violations > -min(state.violation, 2 * eps))


def _improve_until_optimal(problem: _Problem, first: Array) -> tuple[_State, int]:
    """The last state, and the number of working sets."""
    options = problem.options
    state = problem.at(first)
    eps, n_outer, approaches = options.first_eps * state.violation, 0, 1
    if state.violation > problem.slack(state):
        state, eps = _approach(problem, state, eps)
    while not (state.exact and state.violation <= problem.slack(state)):
        if n_outer >= options.max_iter:
            break
        n_outer += 1
        # Rows in single precision may leave more than eps among many points: t is exact now.
        is_long = len(state.b) >= options.sample_from and state.violation > 10 * eps
        if is_long and state.exact and approaches <= options.max_approaches:
            approaches += 1
            state, eps = _approach(problem, state, eps)
            continue
        inside = problem.working_set(state, eps)
        if problem.progress is not None:
            problem.tell(problem.progress, state, int(inside.sum()))
        if BYTES_PER_ENTRY * int(inside.sum()) ** 2 > WORKING_SETS * 1e6 * options.cache_size:
            after, eps = _approach_without_room(problem, state)
            if after is None:
                break
            state = after
            continue
        after = _improve(problem, state, inside, eps)
        if approaches <= options.max_approaches and (after is None or _is_far(after, eps)):
            approaches += 1
            eps *= 0.1 if after is None else 1.0
            after, eps = _approach(problem, after or problem.at(state.b), eps)
        if after is None:
            break
        state = after
    return state, n_outer


def _approach(problem: _Problem, state: _State, eps: float) -> tuple[_State, float]:
    """Pairwise steps until the set of free variables looks like that of the optimum."""
    options, n = problem.options, len(state.b)
    pairwise = Pairwise(
        problem.K, state.b, state.t, problem.lower, problem.upper, problem.unit, options
    )
    least, free, settled, spent = options.least_eps * state.violation, n, options.settled, 0
    while True:
        # The budget may end an approach, too.
        limit = min(options.steps_per_variable * n, (problem.budget.left + spent) // n + 1)
        has_converged = pairwise.run(eps, int(limit), problem.progress)
        b, t, active = pairwise.point()
        problem.budget.spend(pairwise.work - spent)
        spent = pairwise.work
        if not has_converged or eps <= least:
            break
        near = problem.state(b, t, exact=False)
        before, free = free, int(near.free.sum())
        wrong = int((near.bound_violations[active] > 0).sum())
        if before == n and not _is_nearly_dependent(problem.K, near.free):
            settled = 0.0
        if wrong <= 0.1 * free + 3 and free > settled * before:
            break
        eps *= options.eps_step
    if len(active) < FEW_ACTIVE * n:
        return problem.moved(state, b), eps
    aside = np.ones(n, dtype=bool)
    aside[active] = False
    rest = np.flatnonzero(aside)
    if len(rest):
        t[rest] = problem.s[rest] - problem.K.product(b, rest)
    return problem.state(b, t, exact=False), eps


def _approach_without_room(problem: _Problem, state: _State) -> tuple[_State | None, float]:
    """Pairwise steps where memory does not hold the working set; None if they do not help."""
    eps = max(problem.options.eps_step * state.violation, problem.slack(state) / 2)
    exact = state if state.exact else problem.at(state.b)
    after = problem.moved(exact, _approach(problem, exact, eps)[0].b)
    return (None if after.violation >= state.violation and state.exact else after), eps


def _is_far(state: _State, eps: float) -> bool:
    """Whether so many variables violate their bounds that pairwise steps are cheaper."""
    violators = int((state.bound_violations > 0).sum())
    return state.violation > 10 * eps and violators > max(MANY_VIOLATORS, 0.6 * state.free.sum())


def _is_nearly_dependent(K: Quadratic, free: Mask) -> bool:
    """Whether the images of the free points nearly depend on each other, by a sample.

    Pairwise steps then leave many variables free that the optimum has at a bound.
    """
    index = np.flatnonzero(free)
    sample = index[:: max(1, len(index) // SAMPLE)]
    if len(sample) < 2:
        return False
    block = _centred(K.block(sample, sample))[0]
    L, info = dpotrf(block, lower=1, clean=0, overwrite_a=0)
    # Roots, since squares may overflow.
    largest = float(np.diagonal(block).max()) ** 0.5
    return info != 0 or float(np.diagonal(L).min()) < DEPENDENT**0.5 * largest


def _centred(K: Array) -> tuple[Array, Array, float]:
    r"""K without what a fixed sum of b makes constant: a matrix of the same optimum, in place.

    It becomes :math:`P K P + c 11^\top / n` with :math:`P = I - 11^\top / n`, and a c that makes
    it as large in the direction of 1 as in the others. With m the means, K b is the new matrix
    times b, plus :math:`m\, 1^\top b + m^\top b - \text{constant} \cdot 1^\top b`.
    """
    K, means = double_centre(K, overwrite=True)
    size = float(np.diagonal(K).mean())
    K += size
    return K, means, float(means.mean()) + size


def _improve(problem: _Problem, state: _State, inside: Mask, eps: float) -> _State | None:
    """The optimum over the working set, the others fixed; None if nothing was gained."""
    W, rest = np.flatnonzero(inside), np.flatnonzero(~inside)
    if len(W) < 2:
        return problem.at(state.b)
    outside = np.where(inside, 0.0, state.b)
    total = problem.total - float(outside.sum())
    K, means, constant = _centred(problem.K.block(W, W))
    r = problem.s[W] - problem.K.product(outside, W) - total * means
    found = _optimum(problem, state, W, K, r, total, eps)
    change = found - state.b[W]
    if not change.any():
        return None if state.exact else problem.at(state.b)
    slope = r - K @ (state.b[W] + 0.5 * change)
    # The fixed sum takes a constant out of the slope.
    if float((slope - slope.mean()) @ change) < 0:
        return None
    after = outside
    after[W] = found
    t = np.empty(len(after))
    t[W] = r - K @ found - float(means @ found) + constant * total
    moved = after - state.b
    if state.exact and np.count_nonzero(moved) < np.count_nonzero(after):
        t[rest] = state.t[rest] - problem.K.product(moved, rest)
    else:
        t[rest] = problem.s[rest] - problem.K.product(after, rest)
    return problem.state(after, t, exact=True)


def _optimum(
    problem: _Problem, state: _State, W: Index, K: Array, r: Array, total: float, eps: float
) -> Array:
    """The optimum over W, K and r centred; else the best point that was found."""
    lower, upper, b = problem.lower[W], problem.upper[W], state.b[W]
    slack, violation = problem.slack(state), state.violation
    small = len(W) <= IN_MEMORY_UP_TO
    for attempt in range(FEW_ROUNDS if small else MAX_ROUNDS):
        if attempt or violation <= 3 * eps:
            found = _primal_dual(K, r, total, lower, upper, b, slack)
            if found is not None:
                return found
        matrix = DenseQuadratic(np.ascontiguousarray(K))
        pairwise = Pairwise(matrix, b, r - K @ b, lower, upper, problem.unit, problem.options)
        violation = pairwise.violation()
        if violation <= slack:
            return b
        pairwise.run(max(0.1 * violation, slack), BLOCK_STEPS + 10 * len(W))
        b = pairwise.point()[0]
        problem.budget.spend(pairwise.work)
    if not small:
        return b
    # Where guesses and pairs have failed, the interior point is slow, too.
    problem.budget.spend(len(W) ** 3)
    from kernelbook.qp.interior_solver import minimise

    block = QuadraticProgram(DenseQuadratic(K), -r, np.ones(len(W)), total, lower, upper)
    return minimise("dense", block, problem.options.tol, IN_MEMORY_STEPS)[0]


def _primal_dual(
    K: Array, r: Array, total: float, lower: Array, upper: Array, b: Array, tol: float
) -> Array | None:
    r"""The minimum of :math:`\tfrac12 b^\top K b - r^\top b` in the box, with a given sum.

    Guess which variables are free, solve for them, flip every variable that objects, until none
    does. The guesses are scratch: None is returned if they do not come to an end.
    """
    width, t = upper - lower, r - K @ b
    at_lower, at_upper = b <= lower, b >= upper
    free = ~(at_lower | at_upper)
    bordered = BorderedSystem(K) if free.sum() > DIRECT_UP_TO else None
    rises, falls = t[~at_upper], t[~at_lower]
    middle = float(rises.max(initial=falls.min(initial=0.0)) + falls.min(initial=0.0)) / 2
    level = float(np.median(t[free])) if free.any() else middle
    at_lower, at_upper = at_lower & (t - level <= tol), at_upper & (t - level >= -tol)
    target = min(0.05 * tol, 2e-11 * abs(float(r @ b)) / float(width.sum()))
    target = max(target, 1e-3 * tol)
    first, fewest, patience = 0, len(b) + 1, PATIENCE
    for step in range(MAX_STEPS):
        free = ~(at_lower | at_upper)
        if not free.any():
            return None
        correct = _direct(K, free) if bordered is None else bordered.solver_for(free)
        guess = np.where(at_upper, upper, np.where(at_lower, lower, 0.0))
        solved = None if correct is None else _refined(K, r, total, free, guess, target, correct)
        if solved is None or solved[2] > tol:
            return None
        x, level, _ = solved
        slope = r - K @ x - level
        # A box may be wider than the solution by any factor: clipping must not move the sum.
        beyond = BEYOND * np.minimum(width, np.abs(x).max())
        too_low, too_high = free & (x < lower - beyond), free & (x > upper + beyond)
        release = (at_lower & (slope > tol / 2)) | (at_upper & (slope < -tol / 2))
        changes = int(too_low.sum() + too_high.sum() + release.sum())
        if changes == 0:
            return x.clip(lower, upper)
        first = first or changes
        patience = PATIENCE if changes < fewest else patience - 1
        fewest = min(fewest, changes)
        if changes > max(20, 1.5 * first) or (step >= MIN_STEPS and patience <= 0):
            return None
        at_lower, at_upper = (at_lower & ~release) | too_low, (at_upper & ~release) | too_high
    return None


def _direct(K: Array, free: Mask) -> Correct | None:
    """As :meth:`BorderedSystem.solver_for`, by a factor for these free variables alone."""
    index = np.flatnonzero(free)
    n = len(index)
    system = np.ones((n + 1, n + 1), order="F")
    system[:n, :n] = K[np.ix_(index, index)]
    largest = float(system.diagonal()[:n].max())
    system[np.arange(n), np.arange(n)] += RIDGES[0] * n * (largest or 1.0)
    system[n, n] = 0.0
    lu, pivots, info = dgetrf(system, overwrite_a=1)
    # LAPACK itself, not a function around it: it is called twice for each guess.
    return partial(dgetrs, lu, pivots) if info == 0 else None


def _refined(
    K: Array, r: Array, total: float, free: Mask, b: Array, target: float, correct: Correct
) -> tuple[Array, float, float] | None:
    """b with its free entries solved for, the multiplier, and the largest residual that is left.

    Refinement with the true matrix ends once the residual is at most target.
    """
    index = np.flatnonzero(free)
    x, multiplier, best, kept = b, 0.0, np.inf, None
    for _ in range(REFINEMENTS):
        residual = (r - K @ x - multiplier)[index]
        missing = total - float(x.sum())
        left = float(np.abs(residual).max())
        # The sum has to hold to the rounding of its terms.
        terms = max(float(np.abs(x).sum()), abs(total))
        size = max(left / target, abs(missing) / (ROUNDING * terms or 1.0))
        if not np.isfinite(size):
            return None
        if size < best:
            kept, best = (x, multiplier, left), size
        if size <= 1.0 or (size > 0.5 * best and size != best):
            break
        step, _ = correct(np.append(residual, missing))
        x = x.copy()
        x[index] += step[:-1]
        multiplier += float(step[-1])
    return kept
