"""The benchmarks run at tiny sizes; their checks and tables are right. Nothing is timed here."""

import csv
import json
import math
import multiprocessing
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from benchmarks import (
    auto,
    dual,
    general,
    goals,
    kfda,
    kpca,
    oneclass,
    regression,
    report,
    samplers,
    svm,
)
from benchmarks.brief import PAIRS, SAME, brief, largest_loss
from benchmarks.measure import send_measurement
from benchmarks.plan import GROUPS, Ceiling, Goal, Method, load
from benchmarks.problems import Labelled, labelled, two_classes
from kernelbook.svm import KernelSVC
from tools import lock

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def quick(tmp_path_factory):
    output = tmp_path_factory.mktemp("benchmarks")
    command = [sys.executable, "-m", "benchmarks", "--quick", "--output", str(output)]
    run = subprocess.run(
        [*command, "--only", "svm", "kfda"], cwd=ROOT, capture_output=True, text=True
    )
    return run, output


def test_quick_run_measures_every_method_that_is_installed(quick):
    run, output = quick
    assert run.returncode == 0, run.stderr
    for name in ("svm", "kfda"):
        group = load(name)
        with (output / f"{name}.csv").open(newline="") as file:
            rows = list(csv.DictReader(file))
        present = {method.name for method in group.methods if not method.missing}
        assert {row["method"] for row in rows} == present
        assert len(rows) == sum(
            sum(n for m, n in cell.repeats.items() if m in present) for cell in group.quick
        )
        for row in rows:
            assert float(row["cpu_s"]) > 0
            assert 0 <= float(row["memory_mb"]) < 10_000
            assert math.isfinite(float(row["load_average"]))
        for method in group.methods:
            skipped = f"SKIPPED {method.name}: it needs {method.needs}" in run.stderr
            assert skipped == bool(method.missing)


def test_quick_run_writes_machine_table_and_plot(quick):
    run, output = quick
    machine = json.loads((output / "svm.json").read_text())
    assert machine["cores"] == os.cpu_count() and machine["processor"]
    assert machine["versions"]["numpy"] == np.__version__
    table = (output / "table.md").read_text()
    assert table in run.stdout
    assert {line.count("|") for line in table.splitlines() if line.startswith("|")} == {9}
    assert "**svm**, n = 200, d = 2, C = 10" in table
    assert (output / "scaling.png").read_bytes().startswith(b"\x89PNG")
    assert "* kfda (n = 3000): generalised eigenproblem / " in table
    assert ": not measured\n" in table and "reached" not in table.lower()


@pytest.mark.parametrize("name", GROUPS)
def test_cells_and_goals_name_methods_of_the_group(name):
    group = load(name)
    names = {method.name for method in group.methods}
    full = [*group.cells, *group.more]
    for cell in (*full, *group.quick):
        assert set(cell.repeats) <= names
    assert len({report.label(cell.problem) for cell in full}) == len(full)
    for goal in group.goals:
        rivals = set() if isinstance(goal, Ceiling) else {goal.rival}
        assert {goal.ours} | rivals <= names
        assert group.method(goal.ours).ours
        assert not any(group.method(rival).ours for rival in rivals)
        row = {"group": name, goal.quantity: 1.0}
        summary = [
            row | {"problem": report.label(cell.problem), "method": method}
            for cell in full
            for method in cell.repeats
        ]
        assert goals.judge(goal, name, summary)[1] is not None


def test_the_full_grid_is_measured_and_half_of_it_daily():
    group = load("svm")
    goal = next(goal for goal in group.goals if goal.median)
    for cells, count in ((group.cells, 19), ([*group.cells, *group.more], 36)):
        rows = [
            {"group": "svm", "problem": report.label(cell.problem), "method": method, "cpu_s": 1}
            for cell in cells
            for method in cell.repeats
        ]
        assert f", median of {count}: 1 (goal 3): NOT REACHED" in goals.judge(goal, "svm", rows)[0]


@pytest.mark.usefixtures("compiled_loops")
def test_warm_up_is_large_enough_to_load_the_compiled_loops():
    from kernelbook.qp import SolverOptions, goes_exact

    for name in ("svm", "regression", "oneclass", "weighted", "multiclass", "conformal", "afsct"):
        assert load(name).warm_up["n"] >= 500 and goes_exact(500, SolverOptions())


def test_failure_of_a_measurement_is_sent_as_text():
    receiver, sender = multiprocessing.Pipe(duplex=False)
    send_measurement(sender, "svm", svm.NAIVE, {"nonsense": 1})
    assert re.match("TypeError: .*nonsense", receiver.recv())


def test_missing_module_is_named():
    assert Method("peer", print, needs="no_such_package").missing == "no_such_package"
    assert Method("peer", print, needs="no_such_package.part").missing == "no_such_package.part"
    assert Method("peer", print, needs="numpy").missing is None


def largest_error(found):
    return max(value for name, value in found.items() if not name.endswith(report.FLOOR))


def two_points(t):
    """Points at distance 1 with alpha = t each; the optimum is 1 / (1 - k)."""
    k = math.exp(-1.0)
    data = Labelled(np.array([[0.0], [1.0]]), np.array([-1.0, 1.0]), 10.0, 1.0)
    return svm.check(data, np.array([-t, t])), k


def test_svm_check_is_zero_at_the_optimum_and_right_beside_it():
    found, k = two_points(1 / (1 - math.exp(-1.0)))
    assert largest_error(found) < 1e-15 < found["gap_floor"] < 1e-14
    found, k = two_points(1.0)
    # f = +-(1 - k), so m - M = 2 k; primal (1 - k) + 20 k, dual 2 - (1 - k).
    assert found["violation"] == pytest.approx(2 * k, rel=1e-14)
    assert found["gap"] == pytest.approx(((1 - k) + 20 * k - (1 + k)) / (1 + k), rel=1e-14)
    assert found["infeasibility"] == 0


def test_svm_check_sees_points_outside_the_constraints():
    data = labelled(n=40, d=2, C=2.0)
    signed = np.zeros(40)
    signed[0] = data.y[0] * 3.0
    assert svm.check(data, signed)["infeasibility"] == 1.5


@pytest.mark.parametrize(
    "solve, needs",
    [
        (general.dense_constraints, "cvxopt"),
        (general.sparse_constraints, "cvxopt"),
        (general.piqp, "piqp"),
        (general.clarabel, "clarabel"),
    ],
)
def test_general_solvers_find_the_optimum(solve, needs):
    pytest.importorskip(needs)
    data = labelled(n=60, d=2, C=1.0)
    exact = KernelSVC(C=1.0, gamma=data.gamma).fit(data.X, data.y).alpha_ * data.y
    assert svm.check(data, exact)["gap"] < 1e-12
    found = solve(*data)
    assert np.abs(found - exact).max() < 1e-3
    assert svm.check(data, found)["gap"] < 1e-6 and svm.check(data, found)["infeasibility"] < 1e-6


def test_dual_check_uses_the_box_of_each_point():
    """Three points so far apart that K = I: x_i = y_i - b inside the box, sum 0."""
    X, y = np.array([[0.0], [100.0], [200.0]]), np.array([1.0, -1.0, -1.0])
    x = np.array([0.5, -0.5, 0.0])
    program = dual.classification(X, y, np.array([0.5, 1.0, 0.0]), 1.0)
    # Thresholds y - f are 1/2 and -1/2: only the second point is free, so b = -1/2. The primal
    # is 1/4 + box_0 (1/2 + 1/2) and the dual 1 - 1/4.
    assert dual.check(program, x)["gap"] == pytest.approx(0.0, abs=1e-15)
    loose = dual.check(program._replace(box=np.array([0.8, 1.0, 0.0])), x)
    assert loose["gap"] == pytest.approx(0.3 / 0.75)
    assert loose["violation"] == pytest.approx(1.0)


def test_regression_check_by_hand():
    """Targets 1 and -1 of two far points, epsilon 1/10: beta = +-9/10, or +-C if C is less."""
    X, y = np.array([[0.0], [100.0]]), np.array([1.0, -1.0])
    data = regression.Data(X, y, 10.0, 1.0)
    assert largest_error(regression.check(data, np.array([0.9, -0.9]))) < 1e-15
    # At 1/2 both residuals are 1/2: primal 1/4 + 20 * (1/2 - 1/10), dual 1 - 1/10 - 1/4.
    found = regression.check(data, np.array([0.5, -0.5]))
    assert found["gap"] == pytest.approx((8.25 - 0.65) / 0.65)
    assert found["violation"] == pytest.approx(2 * 0.4)


def test_one_class_check_by_hand():
    """Two far points, K = I: the weights are 1/2; C = 3/4 lets them be 3/4 and 1/4."""
    data = oneclass.Data(np.array([[0.0], [100.0]]), np.array([1, 1]), 2 / 3, 1.0)
    even, uneven = np.array([0.5, 0.5]), np.array([0.75, 0.25])
    assert largest_error(oneclass.check(data, oneclass.Result(even, 0.0))) < 1e-15
    assert largest_error(oneclass.check(data, oneclass.Result(even, 0.5))) < 1e-15
    found = oneclass.check(data, oneclass.Result(uneven, 0.5))
    # Thresholds 1/2 - f are -1/4 and 1/4, the first at its bound. The slope in b, 1 - 3/2 below
    # them, turns at b = -1/4: primal 5/16 - 1/4 + 3/4 * 1/2, dual 1/2 - 5/16.
    assert found["violation"] == pytest.approx(0.5)
    assert found["gap"] == pytest.approx((7 / 16 - 3 / 16) / (3 / 16))
    assert oneclass.check(data, oneclass.Result(even + 0.1, 0.5))["infeasibility"] > 0.2


@pytest.mark.parametrize("name", ["regression", "oneclass", "weighted", "multiclass", "conformal"])
def test_all_machines_are_certified_by_the_same_check(name):
    group = load(name)
    for cell in group.quick:
        data = group.make(**cell.problem)
        for method in group.methods:
            found = group.check(data, method.run(data))
            limit = group.limits["gap"] if method.ours else 1e-3
            assert found["gap"] <= limit, method.name
            assert found["infeasibility"] <= 1e-10 and found["violation"] <= 2e-3


def test_classes_are_standardised_and_as_rare_as_asked():
    for d in (2, 10):
        X, y = two_classes(2000, d, 0.05)
        assert 0.04 < y.mean() < 0.09
        np.testing.assert_allclose(X.std(axis=0), 1.0)
        np.testing.assert_allclose(X.mean(axis=0), 0.0, atol=1e-12)


def test_sampler_check_sees_few_samples_and_disagreement():
    data = samplers.make(n=20, gamma=samplers.WIDE)._replace(means=(0.0, 0.0, 0.0))
    rng = np.random.default_rng(0)
    draws = {"lp": rng.standard_normal((16, 200)), "d_z": rng.standard_normal((16, 200, 3))}
    found = samplers.check(data, draws)
    assert 2000 < found["ess_lp"] < 4500 and 2000 < found["ess_d_z"] < 4500
    assert found["r_hat"] < 1.01 and found["error"] < 0.1
    draws["d_z"][0] += 3.0
    found = samplers.check(data, draws)
    assert found["r_hat"] > 1.05 and found["error"] > 0.1


def test_kpca_check_sees_a_wrong_vector_and_a_wrong_value():
    data = kpca.make(n=50, d=3, components=2)
    values, vectors = kpca.full(data)
    assert max(kpca.check(data, (values, vectors)).values()) < 1e-13
    assert kpca.check(data, (values * [1, 1.1], vectors))["residual"] > 0.01
    assert kpca.check(data, (values, vectors * 1.1))["orthogonality"] > 0.2


@pytest.mark.parametrize("penalty", ["norm", "coef"])
def test_kfda_check_sees_a_direction_that_is_not_the_best(penalty):
    data = kfda.make(n=60, d=3, reg=1.0)
    best = kfda.ours(penalty)(data)
    assert kfda.check(data, best)["shortfall"] < 1e-12
    worse = best._replace(alpha=best.alpha + 0.1 * np.abs(best.alpha).max())
    assert kfda.check(data, worse)["shortfall"] > 1e-3


ROWS = [
    {"group": "svm", "problem": "n = 5, d = 2", "method": method, "ours": method == "kernelbook",
     "repeat": repeat, "cpu_s": seconds, "wall_s": 1.0, "memory_mb": 4.0, "gap": seconds / 100}
    for method, times in {"kernelbook": (1.0, 9.0, 2.0), "rival": (30.0, 20.0, 16.0)}.items()
    for repeat, seconds in enumerate(times)
]  # fmt: skip


def test_summary_has_medians_and_the_largest_error():
    ours, rival = report.summarise(ROWS)
    assert (ours["cpu_s"], ours["gap"], ours["runs"]) == (2.0, 0.09, 3)
    assert (rival["cpu_s"], rival["gap"]) == (20.0, 0.3)


@pytest.mark.parametrize(
    "goal, verdict",
    [
        (Goal({"n": 5}, "kernelbook", "rival", 10), ("10 (goal 10): reached", True)),
        (Goal({"n": 5}, "kernelbook", "rival", 11), ("10 (goal 11): NOT REACHED", False)),
        (Goal({"d": 2}, "kernelbook", "rival", 2, "memory_mb"), ("NOT REACHED", False)),
        (Goal({"n": 50}, "kernelbook", "rival", 1), ("not measured", None)),
        (Goal({"n": (5, 50)}, "kernelbook", "rival", 10), ("cpu_s: 10 (goal 10): reached", True)),
        (Ceiling({"n": 5}, "kernelbook", 4, "memory_mb"), ("4 (at most 4): reached", True)),
        (Ceiling({"n": 5}, "kernelbook", 3.9, "memory_mb"), ("NOT REACHED", False)),
        (Ceiling({"n": 6}, "kernelbook", 4, "memory_mb"), ("not measured", None)),
    ],
)
def test_goals_are_judged_by_ratios_of_medians(goal, verdict):
    line, reached = goals.judge(goal, "svm", report.summarise(ROWS))
    assert line.endswith(verdict[0]) and reached is verdict[1]


def grid(ratios):
    return [
        {"group": "svm", "problem": f"n = {n}, d = 2", "method": method, "cpu_s": seconds}
        for n, ratio in ratios.items()
        for method, seconds in (("kernelbook", 1.0), ("rival", ratio))
    ]


def test_goal_over_a_grid_names_the_worst_problem_and_the_median():
    summary = grid({10: 3.0, 20: 0.5, 30: 2.0, 40: 9.0})
    where = {"n": (10, 20, 30)}
    line, reached = goals.judge(Goal(where, "kernelbook", "rival", 1), "svm", summary)
    assert "worst of 3 (n = 20, d = 2): 0.5 (goal 1): NOT REACHED" in line and not reached
    goal = Goal(where, "kernelbook", "rival", 2, median=True)
    line, reached = goals.judge(goal, "svm", summary)
    assert "(n = 10/20/30): rival / kernelbook, cpu_s, median of 3: 2 (goal 2)" in line and reached


def test_rates_are_better_if_larger_and_their_median_counts():
    rows = [
        {"group": "samplers", "problem": "n = 9", "method": method, "ours": False, "repeat": 0,
         "cpu_s": 1.0, "wall_s": 1.0, "memory_mb": 1.0, "ess/s": rate}
        for method, rates in {"kernelbook": (900.0, 1000.0, 4000.0), "walk": (2.0,)}.items()
        for rate in rates
    ]  # fmt: skip
    summary = report.summarise(rows)
    assert [row["ess/s"] for row in summary] == [1000.0, 2.0]
    line, reached = goals.judge(Goal({}, "kernelbook", "walk", 500, "ess/s"), "samplers", summary)
    assert "kernelbook / walk, ess/s: 500 (goal 500): reached" in line and reached
    assert "| 1000 ess/s |" in report.markdown(summary)


def test_table_takes_its_place_between_the_marks_only():
    text = f"before\n{report.BEGIN}old\n{report.END}after\n"
    once = report.with_table(text, report.markdown(report.summarise(ROWS)))
    assert once.startswith("before\n") and once.endswith("after\n") and "old" not in once
    assert "|  | rival | 3 | 20 | 10 |  | 4 | gap 0.3 |" in once
    assert report.with_table(once, report.markdown(report.summarise(ROWS))) == once
    assert report.with_table("no marks", "table") == "no marks"


def test_results_survive_writing_and_reading(tmp_path):
    report.write(tmp_path / "svm.csv", ROWS)
    back = report.summarise(report.read(tmp_path, GROUPS))
    assert report.markdown(back) == report.markdown(report.summarise(ROWS))


def test_the_brief_table_is_one_line_a_pair_that_was_measured():
    rows = [
        {"group": pair.group, "problem": pair.problem, "method": method, "cpu_s": seconds}
        | {pair.accuracy: error}
        for pair in PAIRS[:2]
        for method, seconds, error in ((pair.ours, 0.25, 1e-15), (pair.rival, 0.5, 2e-4))
    ]
    assert brief(rows[:3]).splitlines()[2:] == [
        f"| {PAIRS[0].title} | 0.25 s, gap 1e-15 | {PAIRS[0].rival}: 0.5 s, gap 2e-04 |"
    ]
    assert len(brief(rows).splitlines()) == 4


def test_the_readme_shows_what_was_measured():
    summary = report.summarise(report.read(ROOT / "benchmarks" / "results", GROUPS))
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert report.with_table(text, brief(summary)) == text
    shown = {pair[1:3] for pair in (*PAIRS, largest_loss(summary)) if pair}
    assert brief(summary).count("\n") == 2 + len(shown)
    machine = json.loads((ROOT / "benchmarks" / "results" / "svm.json").read_text("utf-8"))
    python = machine["python"].rpartition(".")[0]
    assert f"Python {python}, scikit-learn {machine['versions']['scikit-learn']})" in text
    assert "Intel Xeon" in text and "Xeon" in machine["processor"]


def test_largest_loss_comes_first_and_like_stands_beside_like():
    groups = {name: load(name) for name in {*SAME, *(pair.group for pair in PAIRS)}}
    for group, ours, rival in [
        *((name, *methods[1:]) for name, methods in SAME.items()),
        *((pair.group, pair.ours, pair.rival) for pair in PAIRS),
    ]:
        assert groups[group].method(ours).ours and not groups[group].method(rival).ours
    _, ours, rival = SAME["svm"]
    rows = [
        {"group": "svm", "problem": problem, "method": method, "cpu_s": seconds, "gap": 1e-9}
        for problem, times in {"n = 1": (2, 3), "n = 2": (3, 2), "n = 3": (4, 3)}.items()
        for method, seconds in zip((ours, rival), times, strict=True)
    ]
    assert largest_loss(rows).problem == "n = 2"
    assert brief(rows).splitlines()[2].startswith("| we lose most: SVM, n = 2 | 3 s, gap 1e-09 |")
    assert largest_loss(rows[:2]) is None


def test_growth_of_a_power_law():
    sizes = np.array([10.0, 20.0, 70.0])
    assert report.growth(sizes, 3 * sizes**2.5) == pytest.approx(2.5, rel=1e-12)


def test_summary_has_the_growth_over_several_sizes():
    rows = [
        ROWS[0] | {"problem": f"n = {n}, d = 2", "method": method, "cpu_s": float(n) ** 1.5}
        for method, sizes in {"kernelbook": (10, 40), "rival": (10,)}.items()
        for n in sizes
    ]
    ours, larger, rival = report.summarise(rows)
    assert ours["growth"] == larger["growth"] == pytest.approx(1.5)
    assert "growth" not in rival
    assert report.markdown([ours]).splitlines()[-1].split(" | ")[5] == "1.5"


def test_inaccurate_result_of_ours_is_named():
    method = {"method": "kernelbook dense", "problem": "n = 5"}
    row = {"group": "svm", "gap": 0.5, "violation": 0.0, "infeasibility": 0.0, **method}
    group = load("svm")
    assert goals.over_limits(group, [row]) == [
        "svm (n = 5), kernelbook dense: gap 0.5, at most 1e-10"
    ]
    assert goals.over_limits(group, [row | {"gap": 3e-10}]) != []
    assert goals.over_limits(group, [row | {"gap": 3e-10, "gap_floor": 4e-10}]) == []
    assert goals.over_limits(group, [row | {"gap": float("nan")}]) != []
    assert goals.over_limits(group, [row | {"method": svm.NAIVE}]) == []


def test_lock_of_the_peers_agrees_with_the_lock_of_the_library():
    text = (ROOT / "benchmarks/requirements.lock").read_text()
    peers = lock.locked_versions(text)
    ours = lock.locked_versions((ROOT / "requirements.lock").read_text())
    assert {name for name in peers if name not in ours} == {
        "afc-svm-imbalanced-learning",
        "clarabel",
        "explainpolysvm",
        "kfda",
        "piqp",
    }
    assert {n: v for n, v in peers.items() if n in ours} == {n: ours[n] for n in peers if n in ours}
    assert {"numpy", "scipy", "scikit-learn", "cvxopt", "arviz"} <= set(peers)
    entries = re.split(r"\n(?=[A-Za-z0-9])", text.strip())
    assert [entry.split()[0] for entry in entries if "--hash=sha256:" not in entry] == []
    assert "://" not in text


def test_a_solver_that_sits_out_has_no_time(monkeypatch):
    monkeypatch.setattr(auto, "LARGEST_DENSE", 10)
    _, estimator, data = auto.random_problem(0, 1)
    times, certificate = auto.measured(estimator, data, 20.0)
    assert np.isinf(times["dense"])
    assert certificate.status == "optimal"
