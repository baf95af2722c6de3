"""Duality gap, violation and multiplier, judged by what they promise."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from programs import random_psd, signed_box

from kernelbook.qp import certify, solve_qp

# Certificates


def test_the_gap_bounds_what_is_left_to_gain():
    rng = np.random.default_rng(5)
    Q, q, a = random_psd(rng, 10, 5), rng.normal(size=10), np.ones(10)
    lower, upper = np.zeros(10), np.full(10, 0.3)
    best = solve_qp(Q, q, a, 1.0, lower, upper).objective
    for _ in range(20):
        x = rng.dirichlet(np.full(10, 5.0))
        assert x.max() < 0.3
        value = 0.5 * x @ Q @ x + q @ x
        proof, _ = certify(Q @ x + q, a, lower, upper, x, objective=value, scale=1.0, tol=1e-9)
        assert proof.status == "not optimal to tol"
        assert proof.kkt_violation > 0
        gap = absolute_gap(Q, q, a, lower, upper, x)
        assert_allclose(proof.duality_gap, gap / max(abs(value), abs(value - gap)), rtol=1e-10)
        assert value - gap <= best <= value


def absolute_gap(Q, q, a, lower, upper, x):
    """Primal minus dual objective, with the multiplier that certify takes for a free x."""
    gradient = Q @ x + q
    multiplier = -(a @ gradient) / (a @ a)
    residual = gradient + multiplier * a
    dual = -0.5 * x @ Q @ x - multiplier * (a @ x)
    dual += np.maximum(residual, 0) @ lower - np.maximum(-residual, 0) @ upper
    return 0.5 * x @ Q @ x + q @ x - dual


def test_the_violation_is_what_the_worst_variable_objects():
    # x_0 could grow and should: its residual is -3 with the multiplier 0 of the free x_1.
    gradient, x = np.array([-3.0, 0.0, 5.0]), np.array([0.0, 0.5, 0.0])
    one = np.ones(3)
    proof, multiplier = certify(gradient, one, 0 * one, one, x, objective=1.0, scale=2.0, tol=1.0)
    assert (multiplier, proof.kkt_violation, proof.status) == (0.0, 1.5, "not optimal to tol")
    proof, _ = certify(gradient, one, 0 * one, one, x, objective=1.0, scale=2.0, tol=1.5)
    assert proof.status == "optimal"


@pytest.mark.parametrize(
    ("upper", "multiplier"),
    [([1.0, 1.0], -0.5), ([1.0, 0.0], -1.0), ([0.0, 1.0], 0.0), ([0.0, 0.0], 0.0)],
)
def test_the_multiplier_without_a_free_variable(upper, multiplier):
    # With a = (1, -1), x_0 at 0 asks for at least -1, and x_1 for at most 0.
    a, x, lower = np.array([1.0, -1.0]), np.zeros(2), np.zeros(2)
    gradient = np.array([1.0, 0.0])
    _, found = certify(gradient, a, lower, np.array(upper), x, objective=1.0, scale=1.0, tol=1e-9)
    assert found == multiplier


def test_the_bias_without_a_free_point_is_a_midpoint():
    x = np.array([0.0, 3.0, 4.0])
    y = np.array([-1.0, 1.0, 1.0])
    for C, bias in ((0.1, -0.05), (0.05, 0.475), (0.01, 0.895)):
        solution = solve_qp(np.outer(x, x), -y, np.ones(3), 0.0, *signed_box(y, C))
        assert_allclose(solution.x, [-C, C, 0.0], rtol=1e-12)
        assert_allclose(solution.multiplier, bias, rtol=1e-12)
