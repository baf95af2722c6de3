"""Paths of C: each machine is that of a separate fit."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.datasets import make_moons

from kernelbook.datasets import make_gaussians
from kernelbook.svm import KernelSVC, classifier, svc_path

# Paths of C


@pytest.mark.parametrize("n", [60, 500])
def test_a_path_is_what_separate_fits_are_in_the_order_asked_for(n):
    X, y = make_moons(n, noise=0.3, random_state=0)
    weights = np.random.default_rng(0).uniform(0.5, 2, n)
    Cs = [10.0, 0.1, 1.0, 100.0]
    machines = svc_path(X, y, Cs, weights, gamma=1.0, class_weight="balanced")
    for C, machine in zip(Cs, machines, strict=True):
        alone = KernelSVC(C, gamma=1.0, class_weight="balanced").fit(X, y, weights)
        assert machine.C == C
        assert machine.certificate_.status == "optimal"
        assert_allclose(machine.alpha_, alone.alpha_, atol=1e-7 * C)
        assert_allclose(machine.intercept_, alone.intercept_, atol=1e-8)


def test_a_path_starts_where_the_one_before_ended(monkeypatch):
    starts, solve = [], classifier.solve

    def remember(program, options, start=None):
        starts.append(start)
        return solve(program, options, start)

    monkeypatch.setattr(classifier, "solve", remember)
    X, y = make_moons(450, noise=0.3, random_state=0)
    first, _ = svc_path(X, y, [1.0, 2.0], gamma=1.0)
    assert starts[0] is None
    signed = np.zeros(450)
    signed[first.support_] = first.dual_coef_[0]
    assert_allclose(starts[1], 2 * signed)


@pytest.mark.parametrize("Cs", [[], 1.0, [1.0, 0.0], [[1.0]], [1.0, np.nan]])
def test_a_path_without_numbers_is_refused(Cs):
    with pytest.raises(ValueError, match="Cs must be"):
        svc_path([[0.0], [1.0]], [0, 1], Cs)


@pytest.mark.parametrize("seed", range(5))
def test_the_margin_and_the_slack_never_rise_with_c(seed):
    X, y = make_gaussians(60, 15, distance=3.0, random_state=seed)
    machines = svc_path(X, y, np.logspace(-3, 3, 13), kernel="linear")
    norm = np.array([np.linalg.norm(machine.coef_) for machine in machines])
    values = np.array([machine.decision_function(X) for machine in machines])
    slack = np.maximum(1 - (2 * y - 1) * values, 0).sum(axis=1)
    assert (np.diff(norm) >= -1e-7 * norm[1:]).all()
    assert (np.diff(slack) <= 1e-7 * slack[:-1]).all()
    assert norm[-1] > 2 * norm[0] and slack[-1] < slack[0] / 2
