"""Quadratic programs for the tests of the solvers, and their conditions of optimality by loops."""

import numpy as np

from kernelbook.qp import SolverOptions

INF = np.inf
EPS = np.finfo(float).eps


def change_defaults(monkeypatch, **defaults):
    """Give the solver's options other defaults; what is passed by name still counts."""
    original = SolverOptions.__init__

    def start(options, *arguments, **named):
        original(options, *arguments, **(defaults | named))

    monkeypatch.setattr(SolverOptions, "__init__", start)


def random_psd(rng, n, rank=None):
    M = rng.normal(size=(rank or n, n))
    return M.T @ M


def signed_box(signs, C):
    return np.minimum(0.0, C * signs), np.maximum(0.0, C * signs)


def objective(problem, x):
    Q, q, *_ = problem
    return 0.5 * float(x @ Q @ x) + float(q @ x)


def largest_violation(problem, solution):
    """The conditions of Karush, Kuhn and Tucker, one variable after the other."""
    Q, q, a, b, lower, upper = problem
    n, x = len(q), solution.x
    worst = abs(sum(a[i] * x[i] for i in range(n)) - b)
    for i in range(n):
        residual = sum(Q[i][j] * x[j] for j in range(n)) + q[i] + solution.multiplier * a[i]
        assert lower[i] <= x[i] <= upper[i]
        if x[i] < upper[i]:
            worst = max(worst, -residual)
        if x[i] > lower[i]:
            worst = max(worst, residual)
    return worst
