"""The benchmarks run at tiny sizes; their checks and tables are right. Nothing is timed here."""

import csv
import json
import math
import multiprocessing
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from benchmarks import kfda, kpca, naive, report, svm
from benchmarks.measure import send_measurement
from benchmarks.plan import GROUPS, Goal, Method, load
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
            assert float(row["cpu_s"]) > 0 and float(row["memory_mb"]) >= 0
            assert float(row["load_average"]) >= 0
        for method in group.methods:
            skipped = f"SKIPPED {name}: {method.name} needs {method.needs}" in run.stderr
            assert skipped == bool(method.missing)


def test_quick_run_writes_machine_table_and_plot(quick):
    run, output = quick
    machine = json.loads((output / "svm.json").read_text())
    assert machine["cores"] >= 1 and machine["processor"]
    assert machine["versions"]["numpy"] == np.__version__
    table = (output / "table.md").read_text()
    assert table in run.stdout
    assert {line.count("|") for line in table.splitlines()} == {8}
    assert "**svm**, n = 200, d = 2, C = 10" in table
    assert (output / "scaling.png").read_bytes().startswith(b"\x89PNG")
    assert "(n = 2000, d = 2): naive dense G / kernelbook dense, cpu_s: not measured" in run.stdout


@pytest.mark.parametrize("name", GROUPS)
def test_cells_and_goals_name_methods_of_the_group(name):
    group = load(name)
    names = {method.name for method in group.methods}
    for cell in (*group.cells, *group.quick):
        assert set(cell.repeats) == names
    for goal in group.goals:
        assert {goal.ours, goal.rival} <= names
        assert group.method(goal.ours).ours and not group.method(goal.rival).ours
        assert any(goal.problem.items() <= cell.problem.items() for cell in group.cells)


def test_failure_of_a_measurement_is_sent_as_text():
    receiver, sender = multiprocessing.Pipe(duplex=False)
    send_measurement(sender, "svm", svm.NAIVE, {"nonsense": 1})
    assert re.match("TypeError: .*nonsense", receiver.recv())


def test_missing_module_is_named():
    assert Method("peer", print, needs="no_such_package").missing == "no_such_package"
    assert Method("peer", print, needs="no_such_package.part").missing == "no_such_package.part"
    assert Method("peer", print, needs="numpy").missing is None


def two_points(t):
    """Points at distance 1 with alpha = t each; the optimum is 1 / (1 - k)."""
    k = math.exp(-1.0)
    data = svm.Data(np.array([[0.0], [1.0]]), np.array([-1.0, 1.0]), 10.0, 1.0)
    return svm.check(data, np.array([-t, t])), k


def test_svm_check_is_zero_at_the_optimum_and_right_beside_it():
    found, k = two_points(1 / (1 - math.exp(-1.0)))
    assert max(found.values()) < 1e-15
    found, k = two_points(1.0)
    # f = +-(1 - k), so m - M = 2 k; primal (1 - k) + 20 k, dual 2 - (1 - k).
    assert found["violation"] == pytest.approx(2 * k, rel=1e-14)
    assert found["gap"] == pytest.approx(((1 - k) + 20 * k - (1 + k)) / (1 + k), rel=1e-14)
    assert found["infeasibility"] == 0


def test_svm_check_sees_points_outside_the_box_and_off_the_equality():
    data = svm.make(n=40, d=2, C=2.0)
    signed = np.zeros(40)
    signed[0] = data.y[0] * 3.0
    assert svm.check(data, signed)["infeasibility"] == 1.5


def test_naive_solver_finds_the_optimum():
    data = svm.make(n=60, d=2, C=1.0)
    exact = KernelSVC(C=1.0, gamma=data.gamma).fit(data.X, data.y).alpha_ * data.y
    assert svm.check(data, exact)["gap"] < 1e-12
    found = svm.check(data, naive.solve(*data))
    assert found["gap"] < 1e-6 and found["infeasibility"] < 1e-12


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
    ],
)
def test_goals_are_judged_by_ratios_of_medians(goal, verdict):
    line, reached = report.judge(goal, "svm", report.summarise(ROWS))
    assert line.endswith(verdict[0]) and reached is verdict[1]


def test_table_takes_its_place_between_the_marks_only():
    text = f"before\n{report.BEGIN}old\n{report.END}after\n"
    once = report.with_table(text, report.markdown(report.summarise(ROWS)))
    assert once.startswith("before\n") and once.endswith("after\n") and "old" not in once
    assert "|  | rival | 3 | 20 | 10 | 4 | gap 0.3 |" in once
    assert report.with_table(once, report.markdown(report.summarise(ROWS))) == once
    assert report.with_table("no marks", "table") == "no marks"


def test_results_survive_writing_and_reading(tmp_path):
    report.write(tmp_path / "svm.csv", ROWS)
    back = report.summarise(report.read(tmp_path, GROUPS))
    assert report.markdown(back) == report.markdown(report.summarise(ROWS))


def test_headline_keeps_the_problems_of_the_goals():
    rows = [{"group": "svm", "problem": f"n = {n}, d = {d}"} for n in (20, 2000) for d in (2, 10)]
    assert rows[2] in report.headline(rows, {"svm": load("svm")})
    assert rows[0] not in report.headline(rows, {"svm": load("svm")})


def test_growth_of_a_power_law():
    sizes = np.array([10.0, 20.0, 70.0])
    assert report.growth(sizes, 3 * sizes**2.5) == pytest.approx(2.5, rel=1e-12)


def test_inaccurate_result_of_ours_is_named():
    method = {"method": "kernelbook dense", "problem": "n = 5"}
    row = {"group": "svm", "gap": 0.5, "violation": 0.0, "infeasibility": 0.0, **method}
    group = load("svm")
    assert report.over_limits(group, [row]) == [
        "svm (n = 5), kernelbook dense: gap 0.5, at most 1e-08"
    ]
    assert report.over_limits(group, [row | {"gap": float("nan")}]) != []
    assert report.over_limits(group, [row | {"method": svm.NAIVE}]) == []


def test_lock_of_the_peers_agrees_with_the_lock_of_the_library():
    text = (ROOT / "benchmarks/requirements.lock").read_text()
    peers = lock.locked_versions(text)
    ours = lock.locked_versions((ROOT / "requirements.lock").read_text())
    assert {name for name in peers if name not in ours} == {
        "afc-svm-imbalanced-learning",
        "explainpolysvm",
        "kfda",
    }
    assert {n: v for n, v in peers.items() if n in ours} == {n: ours[n] for n in peers if n in ours}
    assert {"numpy", "scipy", "scikit-learn", "cvxopt"} <= set(peers)
    entries = re.split(r"\n(?=[A-Za-z0-9])", text.strip())
    assert [entry.split()[0] for entry in entries if "--hash=sha256:" not in entry] == []
    assert "://" not in text
