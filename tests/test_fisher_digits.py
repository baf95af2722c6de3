"""Small regularization and large offsets in exact fractions; leave-one-out errors."""

from fractions import Fraction

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from samples import blobs
from sklearn.datasets import load_wine
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

from kernelbook.fisher import KernelFisherDiscriminant
from kernelbook.kernels import rbf

# Digits: small regularisation, large offsets


def solve_exactly(A, b):
    """Gaussian elimination in fractions."""
    rows = [[*row, value] for row, value in zip(A, b, strict=True)]
    n = len(rows)
    for i in range(n):
        pivot = max(range(i, n), key=lambda r: abs(rows[r][i]))
        rows[i], rows[pivot] = rows[pivot], rows[i]
        for r in range(i + 1, n):
            factor = rows[r][i] / rows[i][i]
            rows[r] = [x - factor * z for x, z in zip(rows[r], rows[i], strict=True)]
    x = [Fraction(0)] * n
    for i in reversed(range(n)):
        rest = sum(rows[i][j] * x[j] for j in range(i + 1, n))
        x[i] = (rows[i][n] - rest) / rows[i][i]
    return x


def exact_normalised_projections(K, K_new, y, mu, penalty):
    """Projections with class means at 0 and 1, from Gram matrices of fractions."""
    n = len(K)
    members = [[i for i in range(n) if y[i] == c] for c in (0, 1)]
    M = [[sum(row[i] for i in own) / len(own) for row in K] for own in members]
    N = [[mu * (K[a][b] if penalty == "norm" else int(a == b)) for b in range(n)] for a in range(n)]
    for own, mean in zip(members, M, strict=True):
        for i in own:
            d = [K[a][i] - mean[a] for a in range(n)]
            N = [[N[a][b] + d[a] * d[b] for b in range(n)] for a in range(n)]
    alpha = solve_exactly(N, [high - low for low, high in zip(*M, strict=True)])
    low, high = (sum(a * m for a, m in zip(alpha, mean, strict=True)) for mean in M)
    raw = [sum(a * k for a, k in zip(alpha, row, strict=True)) for row in K_new]
    return np.array([float((r - low) / (high - low)) for r in raw])


def fractions(X):
    return [[Fraction(float(v)) for v in row] for row in X]


def normalised(machine, X, new, y):
    scores = machine.transform(X)[:, 0]
    low, high = scores[y == 0].mean(), scores[y == 1].mean()
    return (machine.transform(new)[:, 0] - low) / (high - low)


@pytest.mark.parametrize(
    ("degree", "offset", "penalty", "mu", "tolerance"),
    [
        (1, 0.0, "coef", 1e-3, 1e-12),
        (1, 1e6, "coef", 1e-3, 1e-7),
        (2, 0.0, "coef", 1e-3, 1e-9),
        (2, 1e2, "coef", 1.0, 1e-7),
        (3, 0.0, "coef", 1.0, 1e-11),
        (3, 0.0, "norm", 1e-3, 1e-9),
        (3, 1e1, "norm", 1e-1, 1e-6),
    ],
)
def test_projections_agree_with_exact_fractions(degree, offset, penalty, mu, tolerance):
    rng = np.random.default_rng(0)
    y = np.arange(10) % 2
    X = rng.normal(size=(10, 3)) + y[:, None] + offset
    new = rng.normal(size=(4, 3)) + offset
    parameters = {"gamma": 0.5, "degree": degree, "coef0": float(degree > 1)}

    def kernel(a, b):
        return (
            Fraction(1, 2) * sum(p * q for p, q in zip(a, b, strict=True)) + int(degree > 1)
        ) ** degree

    A, B = fractions(X), fractions(new)
    K = [[kernel(a, b) for b in A] for a in A]
    K_new = [[kernel(b, a) for a in A] for b in B]
    expected = exact_normalised_projections(K, K_new, y, Fraction(mu), penalty)
    machine = KernelFisherDiscriminant("poly", **parameters, reg=mu, penalty=penalty).fit(X, y)
    assert_allclose(normalised(machine, X, new, y), expected, rtol=0, atol=tolerance)


@pytest.mark.parametrize(
    ("penalty", "mu", "tolerance"),
    [("norm", 1e-8, 1e-6), ("coef", 1e-8, 1e-8), ("coef", 1e-12, 1e-8)],
)
def test_little_regularization_keeps_its_digits(penalty, mu, tolerance):
    (X, y), (new, _) = blobs(10, d=2), blobs(4, d=2, seed=1)
    K, K_new = rbf(X, gamma=0.3), rbf(new, X, gamma=0.3)
    expected = exact_normalised_projections(
        fractions(K), fractions(K_new), y, Fraction(mu), penalty
    )
    machine = KernelFisherDiscriminant("precomputed", reg=mu, penalty=penalty).fit(K, y)
    error = np.abs(normalised(machine, K, K_new, y) - expected).max()
    assert error < tolerance * np.abs(expected).max()


@pytest.mark.parametrize(
    ("parameters", "n", "scale"),
    [
        ({"gamma": 0.1, "reg": 1e-17}, 45, 1.0),
        ({"kernel": "poly", "coef0": 1.0, "reg": 1e-9}, 45, 1e4),
        ({"kernel": "poly", "coef0": 1.0, "reg": 1e-9, "penalty": "coef"}, 45, 1e6),
        ({"kernel": "linear", "reg": 1e-300}, 4, 1.0),
    ],
    ids=str,
)
def test_regularization_lost_to_rounding_is_refused(parameters, n, scale):
    X, y = blobs(45)
    machine = KernelFisherDiscriminant(**{"gamma": 1.0, **parameters})
    with pytest.raises(ValueError, match=r"lost to rounding.*Raise reg"):
        machine.fit(X[-n:] * scale, y[-n:])


def test_unequal_scales_leave_the_linear_machine_exact():
    X, y = load_wine(return_X_y=True)
    machine = KernelFisherDiscriminant("linear", reg=1e-12).fit(X * 1e4, y)
    lda = LinearDiscriminantAnalysis(solver="svd").fit(X, y)
    assert_array_equal(machine.predict(X * 1e4), lda.predict(X))


# Leave-one-out


@pytest.mark.parametrize("classes", [2, 3])
def test_leave_one_out_errors_equal_refitting_without_each_point(classes):
    X, y = blobs(24, classes)
    K = rbf(X, gamma=0.4)
    machine = KernelFisherDiscriminant(gamma=0.4, reg="loo").fit(X, y)
    targets = np.eye(classes)[y] / np.sqrt(np.bincount(y))
    for index in (0, 5, 8, 12, 16):
        mu, error = machine.loo_regs_[index], 0.0
        for i in range(len(X)):
            rest = np.arange(len(X)) != i
            bordered = np.block(
                [
                    [K[rest][:, rest] + mu * np.eye(len(X) - 1), np.ones((len(X) - 1, 1))],
                    [np.ones((1, len(X) - 1)), np.zeros((1, 1))],
                ]
            )
            right = np.vstack([targets[rest], np.zeros((1, classes))])
            solution = np.linalg.solve(bordered, right)
            predicted = K[i, rest] @ solution[:-1] + solution[-1]
            error += ((targets[i] - predicted) ** 2).sum()
        assert_allclose(machine.loo_errors_[index], error / len(X), rtol=1e-7)


def test_leave_one_out_chooses_the_least_error_and_fits_with_it():
    X, y = blobs()
    machine = KernelFisherDiscriminant(gamma=0.4, reg="loo").fit(X, y)
    assert machine.reg_ == machine.loo_regs_[machine.loo_errors_.argmin()]
    assert machine.loo_errors_.min() < 0.95 * machine.loo_errors_.max()
    plain = KernelFisherDiscriminant(gamma=0.4, reg=machine.reg_).fit(X, y)
    assert_allclose(plain.transform(X), machine.transform(X), rtol=1e-9)
    machine.set_params(reg=1.0).fit(X, y)
    assert not hasattr(machine, "loo_errors_")


def test_leave_one_out_ignores_the_scale_of_the_kernel():
    X, y = blobs()
    small = KernelFisherDiscriminant("linear", reg="loo").fit(X, y)
    large = KernelFisherDiscriminant("linear", reg="loo").fit(X * 1e4, y)
    assert_allclose(large.reg_, small.reg_ * 1e8, rtol=1e-9)
    assert_allclose(large.loo_errors_, small.loo_errors_, rtol=1e-8)
    assert_array_equal(large.predict(X * 1e4), small.predict(X))
