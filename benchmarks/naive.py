"""The support vector machine as lecture notes solve it: every constraint a dense row."""

import numpy as np
from cvxopt import matrix, solvers
from scipy.spatial.distance import cdist

__all__ = ["solve"]


def solve(X: np.ndarray, y: np.ndarray, C: float, gamma: float) -> np.ndarray:
    """Signed dual variables y alpha (n,) from a general solver with a dense G (2n, n)."""
    n = len(y)
    K = np.exp(-gamma * cdist(X, X, "sqeuclidean"))
    G = np.vstack([-np.eye(n), np.eye(n)])
    h = np.concatenate([np.zeros(n), np.full(n, C)])
    solution = solvers.qp(
        P=matrix(K * np.outer(y, y)),
        q=matrix(-np.ones(n)),
        G=matrix(G),
        h=matrix(h),
        A=matrix(y, (1, n), "d"),
        b=matrix(0.0),
        options={"show_progress": False},
    )
    return y * np.ravel(solution["x"])
