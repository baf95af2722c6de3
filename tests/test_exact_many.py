"""Many points: a start from a sample, threads, interruption, and going on from where a fit was."""

import re
from types import SimpleNamespace

import numpy as np
import pytest
from joblib import parallel_config
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import make_blobs, make_moons
from sklearn.exceptions import ConvergenceWarning

from kernelbook.kernels import RBF, compiled
from kernelbook.qp import GramQuadratic, QuadraticProgram, SolverOptions, progress, solve
from kernelbook.qp.exact import smo, working_set
from kernelbook.qp.exact.sample import sample, vertex
from kernelbook.svm import KernelSVC, svc_dual


def moons(n, noise=0.3):
    return make_moons(n, noise=noise, random_state=0)


def dual_of_moons(n, C, gamma=1.0, weights=1.0):
    X, y = moons(n)
    K = GramQuadratic(RBF(gamma).about(X.mean(axis=0)), X)
    return svc_dual(K, np.where(y == 1, 1.0, -1.0), C * weights)


@pytest.fixture
def sizes(monkeypatch):
    """The sizes of the problems that the exact solver has solved."""
    found, improve = [], working_set._improve_until_optimal

    def remember(problem, first):
        found.append(len(problem.s))
        return improve(problem, first)

    monkeypatch.setattr(working_set, "_improve_until_optimal", remember)
    return found


# A start from a sample


@pytest.mark.parametrize("C", [0.01, 1.0, 1000.0])
@pytest.mark.parametrize("weighted", [False, True], ids=["equal", "weighted"])
def test_the_optimum_does_not_depend_on_the_sample(sizes, C, weighted):
    weights = np.random.default_rng(0).uniform(0.1, 3.0, 6000) if weighted else 1.0
    program = dual_of_moons(6000, C, weights=weights)
    plain = solve(program, SolverOptions())
    assert sizes == [6000]
    begun = solve(program, SolverOptions(sample_from=500))
    assert sizes == [6000, 60, 600, 6000] or sizes == [6000, 600, 6000]
    assert begun.status == "optimal" and begun.duality_gap < 1e-10
    assert begun.objective == pytest.approx(plain.objective, rel=1e-12)
    assert_allclose(begun.x, plain.x, atol=1e-6 * C)


def test_a_sample_serves_a_sum_that_is_not_zero(sizes):
    X, _ = moons(3000)
    K, one = GramQuadratic(RBF(1.0).about(X.mean(axis=0)), X), np.ones(3000)
    program = QuadraticProgram(K, 0 * one, one, 1.0, 0 * one, one / 300)
    plain = solve(program, SolverOptions())
    begun = solve(program, SolverOptions(sample_from=500))
    assert len(sizes) == 3 and begun.status == "optimal"
    assert begun.objective == pytest.approx(plain.objective, rel=1e-9)


def test_a_sample_with_many_free_points_is_not_followed(sizes, monkeypatch):
    monkeypatch.setattr(working_set, "vertex", None)
    program = dual_of_moons(1500, 10.0, gamma=1e4)  # K is nearly I: every point is free
    assert solve(program, SolverOptions(sample_from=500)).status == "optimal"
    assert sizes == [150, 1500]


def test_a_sample_without_one_class_is_left_alone(sizes):
    X, _ = moons(2000)
    signs = np.full(2000, -1.0)
    signs[np.setdiff1d(np.arange(2000), sample(2000, 0.1))[:5]] = 1.0
    program = svc_dual(GramQuadratic(RBF(1.0).about(X.mean(axis=0)), X), signs, 10.0)
    assert solve(program, SolverOptions(sample_from=500)).status == "optimal"
    assert sizes == [2000]


def test_a_vertex_has_its_sum_and_is_the_best_one():
    rng = np.random.default_rng(0)
    t, lower, upper = rng.normal(size=50), -rng.random(50), rng.random(50)
    for total in (lower.sum(), 0.9 * lower.sum(), 0.0, 3.0, upper.sum()):
        b = vertex(t, lower, upper, total)
        assert b.sum() == pytest.approx(total, abs=1e-12)
        assert ((b > lower) & (b < upper)).sum() <= 1
        raised, lowered = t[b > lower], t[b < upper]
        assert not len(raised) or not len(lowered) or raised.min() >= lowered.max()


# Threads


def test_threads_change_no_bit_of_a_sum(monkeypatch):
    rng = np.random.default_rng(0)
    X, x = rng.normal(size=(9000, 2)), rng.normal(size=9000)
    K = GramQuadratic(RBF(1.0).about(X.mean(axis=0)), X)
    whole, some = K.product(x), K.product(x, np.arange(100, 7000))
    monkeypatch.setattr(compiled, "VALUES_AT_ONCE", 2**20)
    one = K.product(x)
    with parallel_config("threading", n_jobs=2):
        two = K.product(x)
        assert_allclose(K.product(x, np.arange(100, 7000)), some, atol=1e-12)
    assert_array_equal(one, two)
    assert_allclose(one, whole, atol=1e-12)


def test_a_fit_does_not_depend_on_the_threads(monkeypatch):
    monkeypatch.setattr(compiled, "VALUES_AT_ONCE", 2**18)
    X, y = moons(3000)
    one, two = (KernelSVC(10.0, n_jobs=n_jobs).fit(X, y) for n_jobs in (None, 2))
    assert_array_equal(one.alpha_, two.alpha_)
    assert one.certificate_ == two.certificate_


# Interruption, and a start


@pytest.mark.parametrize("place", [(smo.Pairwise, "_steps"), (compiled.CompiledPoints, "sums")])
def test_an_interrupted_fit_leaves_the_machine_as_it_was(monkeypatch, place):
    X, y = moons(2000)
    machine = KernelSVC(10.0).fit(X, y)
    before = machine.decision_function(X)

    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(*place, interrupt)
    with pytest.raises(KeyboardInterrupt):
        machine.set_params(C=1.0).fit(X, y == 0)
    assert_array_equal(machine.decision_function(X), before)
    assert machine.certificate_.status == "optimal"


def steps_of_fit(machine, *data, **given):
    """Pairwise steps of a fit."""
    steps, run = [], smo.Pairwise.run

    def counting(pairwise, *arguments):
        answer = run(pairwise, *arguments)
        steps.append(pairwise.n_steps)
        return answer

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(smo.Pairwise, "run", counting)
        machine.fit(*data, **given)
    return sum(steps)


def test_a_fit_goes_on_from_where_it_was_stopped():
    X, y = moons(3000)
    whole = KernelSVC(10.0)
    part = KernelSVC(10.0, solver="exact", max_iter=1, cache_size=0.001)
    steps = steps_of_fit(whole, X, y)
    with pytest.warns(ConvergenceWarning, match="max_iter"):
        part.fit(X, y)
    again = KernelSVC(10.0)
    assert steps_of_fit(again, X, y, start=part.alpha_) < 0.9 * steps
    assert again.certificate_.status == "optimal"
    assert_allclose(again.alpha_, whole.alpha_, atol=1e-7)


def test_a_start_has_the_signs_of_its_classes():
    X, y = make_blobs(2000, centers=4, cluster_std=3.0, random_state=0)
    for labels in (y, y > 1):
        machine = KernelSVC(10.0, solver="exact")
        steps = steps_of_fit(machine, X, labels)
        start = machine.alpha_
        assert steps_of_fit(machine, X, labels, start=start) < 0.1 * steps
        assert_allclose(machine.alpha_, start, atol=1e-8)


def test_a_start_of_another_shape_is_refused():
    X, y = moons(100)
    for start in (np.zeros(99), np.zeros((2, 100)), np.full(100, np.nan)):
        with pytest.raises(ValueError, match=r"start must hold finite numbers of shape \(100,\)"):
            KernelSVC().fit(X, y, start=start)


# What is shown


def test_verbose_shows_gap_and_active_variables(monkeypatch):
    told = []

    class Bar:
        n = 0.0

        def set_description_str(self, text, refresh):
            told.append(text.strip())

        def set_postfix_str(self, text, refresh):
            told[-1] += f" {self.n:.1f} {text}"

        def close(self):
            told.append("closed")

    monkeypatch.setattr(
        progress, "import_optional", lambda *_, **__: SimpleNamespace(tqdm=lambda **_: Bar())
    )
    X, y = moons(3000)
    silent = KernelSVC(10.0).fit(X, y)
    assert told == []
    shown = KernelSVC(10.0, verbose=True).fit(X, y)
    assert told[0] == "pairs 0.0 3000 active" and told[-1] == "closed"
    assert re.fullmatch(r"exact \d+\.\d gap \d\.\de-\d+, \d+ active", told[-2])
    assert_array_equal(shown.alpha_, silent.alpha_)
