"""Both solvers find the same certified optimum of the programs of every machine."""

import numpy as np
import pytest
from programs import EPS, signed_box

from kernelbook.kernels import linear, rbf
from kernelbook.qp import DenseQuadratic, PairedQuadratic, solve_qp

# Both ways agree on the problems of every machine


def family_svc(rng, X, K, signs, C):
    return DenseQuadratic(K), -signs, np.ones(len(X)), 0.0, *signed_box(signs, C)


def family_weighted_svc(rng, X, K, signs, C):
    weights = rng.choice([0.0, 0.5, 1.0, 7.0], size=len(X))
    return DenseQuadratic(K), -signs, np.ones(len(X)), 0.0, *signed_box(signs, C * weights)


def family_svr(rng, X, K, signs, C):
    n, target, epsilon = len(X), X[:, 0] + 0.1 * rng.normal(size=len(X)), 0.1
    return (
        PairedQuadratic(DenseQuadratic(K)),
        np.concatenate([epsilon - target, epsilon + target]),
        np.repeat([1.0, -1.0], n),
        0.0,
        np.zeros(2 * n),
        np.full(2 * n, C),
    )


def family_one_class(rng, X, K, signs, C):
    n, nu = len(X), rng.uniform(0.01, 1.0)
    bound = np.full(n, 1 / (nu * n))
    return DenseQuadratic(K), np.zeros(n), np.ones(n), 1.0, np.zeros(n), bound


def family_svdd(rng, X, K, signs, C):
    n = len(X)
    bound = np.full(n, max(1 / n, rng.uniform()))
    return DenseQuadratic(2 * K), -np.diagonal(K), np.ones(n), 1.0, np.zeros(n), bound


def family_svdd_with_outliers(rng, X, K, signs, C):
    n = len(X)
    targets = np.where(np.arange(n) < max(1, 0.8 * n), 1.0, -1.0)
    box = signed_box(targets, max(C, 1.01 / (targets > 0).sum()))
    return DenseQuadratic(2 * K), -np.diagonal(K), np.ones(n), 1.0, *box


FAMILIES = [
    family_svc, family_weighted_svc, family_svr, family_one_class, family_svdd,
    family_svdd_with_outliers,
]  # fmt: skip


def random_points(rng, k):
    n = int(rng.integers(2, 20)) if k % 3 == 0 else int(rng.integers(2, 201))
    X = rng.normal(size=(n, int(rng.integers(1, 8))))
    shape = rng.integers(5)
    if shape == 1:
        X[n // 2 :] = X[: n - n // 2]
    elif shape == 2:
        X[:] = X[0]
    elif shape == 3:
        X = np.round(X)
    return X * 10.0 ** rng.integers(-2, 3)


def random_program(family, k):
    """Small and large, repeated, constant and whole points, wide and narrow kernels, any C."""
    rng = np.random.default_rng([FAMILIES.index(family), k])
    X = random_points(rng, k)
    noise = 0.5 * X.std() * rng.normal(size=len(X))
    signs = np.where(X[:, 0] + noise > np.median(X[:, 0]), 1.0, -1.0)
    signs[0], signs[-1] = 1.0, -1.0
    gamma = 10.0 ** rng.uniform(-4, 3) / (X.var() or 1.0)
    K = rbf(X, gamma=gamma) if rng.random() < 0.8 else linear(X - X.mean(axis=0))
    return family(rng, X, K, signs, 10.0 ** rng.uniform(-6, 6))


@pytest.mark.parametrize("k", range(11))
@pytest.mark.parametrize("family", FAMILIES, ids=lambda f: f.__name__.removeprefix("family_"))
def test_both_solvers_find_the_same_certified_optimum(family, k):
    problem = random_program(family, k)
    dense, reference = (solve_qp(*problem, solver=solver) for solver in ("dense", "reference"))
    # Sums of this size cancel in the objective: no more digits of it exist.
    terms = EPS * float(problem[0].diagonal.max()) * float(np.abs(dense.x).sum()) ** 2
    assert abs(dense.objective - reference.objective) <= 1e-9 * abs(dense.objective) + terms
    for solution in (dense, reference):
        assert solution.status == "optimal"
        assert solution.kkt_violation <= 1e-8
        _, _, a, b, lower, upper = problem
        assert ((lower <= solution.x) & (solution.x <= upper)).all()
        assert abs(a @ solution.x - b) <= 1e-12 * max(abs(b), np.abs(solution.x).sum())
