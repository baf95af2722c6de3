"""The dual of a support vector machine in the hands of general solvers, written plainly.

Each takes points X (n, d), signs y (n,), C and gamma, and returns y alpha (n,).
"""

import numpy as np
from scipy import sparse
from scipy.spatial.distance import cdist

__all__ = ["clarabel", "dense_constraints", "piqp", "sparse_constraints"]

Array = np.ndarray


def _quadratic(X: Array, y: Array, gamma: float) -> Array:
    return np.exp(-gamma * cdist(X, X, "sqeuclidean")) * np.outer(y, y)


def dense_constraints(X: Array, y: Array, C: float, gamma: float) -> Array:
    """cvxopt with a dense G (2n, n), as lecture notes have it."""
    from cvxopt import matrix

    n = len(y)
    return _cvxopt(X, y, C, gamma, matrix(np.vstack([-np.eye(n), np.eye(n)])))


def sparse_constraints(X: Array, y: Array, C: float, gamma: float) -> Array:
    """cvxopt with the same G, its zeros left out."""
    from cvxopt import sparse as stacked
    from cvxopt import spmatrix

    n = len(y)
    identity = spmatrix(1.0, range(n), range(n))
    return _cvxopt(X, y, C, gamma, stacked([-identity, identity]))


def _cvxopt(X: Array, y: Array, C: float, gamma: float, G: object) -> Array:
    from cvxopt import matrix, solvers

    n = len(y)
    solution = solvers.qp(
        P=matrix(_quadratic(X, y, gamma)),
        q=matrix(-np.ones(n)),
        G=G,
        h=matrix(np.concatenate([np.zeros(n), np.full(n, C)])),
        A=matrix(y, (1, n), "d"),
        b=matrix(0.0),
        options={"show_progress": False},
    )
    return y * np.ravel(solution["x"])


def piqp(X: Array, y: Array, C: float, gamma: float) -> Array:
    """PIQP's dense solver, the box as bounds."""
    from piqp import DenseSolver

    n = len(y)
    P = np.asfortranarray(_quadratic(X, y, gamma))
    solver = DenseSolver()
    solver.settings.verbose = False
    solver.setup(
        P, -np.ones(n), np.asfortranarray(y[None, :]), np.zeros(1),
        x_l=np.zeros(n), x_u=np.full(n, C),
    )  # fmt: skip
    solver.solve()
    return y * solver.result.x


def clarabel(X: Array, y: Array, C: float, gamma: float) -> Array:
    """Clarabel, the upper triangle of a full matrix as its sparse P."""
    from clarabel import DefaultSettings, DefaultSolver, NonnegativeConeT, ZeroConeT

    n = len(y)
    P = sparse.csc_matrix(np.triu(_quadratic(X, y, gamma)))
    identity = sparse.identity(n)
    rows = sparse.vstack([sparse.csc_matrix(y[None, :]), -identity, identity], format="csc")
    bounds = np.concatenate([np.zeros(n + 1), np.full(n, C)])
    settings = DefaultSettings()
    settings.verbose = False
    settings.max_threads = 1
    cones = [ZeroConeT(1), NonnegativeConeT(2 * n)]
    solution = DefaultSolver(P, -np.ones(n), rows, bounds, cones, settings).solve()
    return y * np.array(solution.x)
