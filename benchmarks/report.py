"""From measurements to tables, a plot and the answer whether the goals are reached."""

import csv
import json
import os
import platform
import statistics
from collections.abc import Iterable, Mapping, Sequence
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.plan import Goal, Group, Problem

__all__ = [
    "BEGIN",
    "END",
    "draw",
    "growth",
    "headline",
    "judge",
    "label",
    "machine",
    "markdown",
    "over_limits",
    "read",
    "summarise",
    "with_table",
    "write",
    "write_machine",
]

BEGIN, END = "<!-- benchmark table -->\n", "<!-- end of the benchmark table -->\n"
PACKAGES = (
    "kernelbook",
    "numpy",
    "scipy",
    "scikit-learn",
    "cvxopt",
    "numba",
    "kfda",
    "explainpolysvm",
    "afc-svm-imbalanced-learning",
)
COLUMNS = 3
MARKERS = "osD^vPX*hd"
MEASURED = ("cpu_s", "wall_s", "memory_mb")
NOT_CHECKS = ("group", "problem", "method", "ours", "repeat", "runs", "load_average")

Row = dict[str, Any]


def machine() -> dict[str, Any]:
    """Processor, cores and the versions of what is measured."""
    versions = {}
    for package in PACKAGES:
        try:
            versions[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            versions[package] = None
    return {
        "processor": _processor(),
        "cores": os.cpu_count(),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "blas_threads": 1,
        "versions": versions,
    }


def _processor() -> str:
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        for line in cpuinfo.read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.processor() or "unknown"


def label(problem: Problem) -> str:
    return ", ".join(f"{name} = {value:g}" for name, value in problem.items())


def summarise(rows: Iterable[Row]) -> list[Row]:
    """Medians of the repeats, the largest of every check: one row for a method on a problem."""
    runs: dict[tuple[str, str, str], list[Row]] = {}
    for row in rows:
        runs.setdefault((row["group"], row["problem"], row["method"]), []).append(row)
    return [_summary(repeats) for repeats in runs.values()]


def _summary(repeats: Sequence[Row]) -> Row:
    first = repeats[0]
    summary = {name: first[name] for name in ("group", "problem", "method", "ours")}
    summary["runs"] = len(repeats)
    for name in MEASURED:
        summary[name] = statistics.median(float(row[name]) for row in repeats)
    for name in _checks(first):
        summary[name] = max(float(row[name]) for row in repeats)
    return summary


def _checks(row: Row) -> list[str]:
    return [
        name for name, value in row.items() if name not in (*MEASURED, *NOT_CHECKS) and value != ""
    ]


def write(path: Path, rows: Sequence[Row]) -> None:
    """Write rows as CSV; a column that a row lacks is left empty."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, names, restval="", lineterminator="\n")
        writer.writeheader()
        writer.writerows({k: _short(v) for k, v in row.items()} for row in rows)


def write_machine(path: Path, machine: Mapping[str, Any]) -> None:
    path.write_text(json.dumps(machine, indent=1) + "\n", encoding="utf-8")


def _short(value: Any) -> Any:
    return f"{value:.4g}" if isinstance(value, float) else value


def read(directory: Path, groups: Sequence[str]) -> list[Row]:
    """Measurements of the groups that have been run, in the order of the groups."""
    rows: list[Row] = []
    for path in (directory / f"{group}.csv" for group in groups):
        if path.exists():
            with path.open(newline="", encoding="utf-8") as file:
                rows += csv.DictReader(file)
    return rows


def judge(goal: Goal, group: str, summary: Sequence[Row]) -> tuple[str, bool | None]:
    """A line about the goal, and whether it is reached (None: not measured)."""
    found = {
        row["method"]: row
        for row in summary
        if row["group"] == group and _matches(row["problem"], goal.problem)
    }
    what = f"{group} ({label(goal.problem)}): {goal.rival} / {goal.ours}, {goal.quantity}"
    if goal.ours not in found or goal.rival not in found:
        return f"{what}: not measured", None
    ours, rival = (float(found[name][goal.quantity]) for name in (goal.ours, goal.rival))
    ratio = rival / ours if ours > 0 else float("inf")
    reached = ratio >= goal.at_least
    verdict = "reached" if reached else "NOT REACHED"
    return f"{what}: {ratio:.3g} (goal {goal.at_least:g}): {verdict}", reached


def _matches(problem: str, wanted: Problem) -> bool:
    return set(label(wanted).split(", ")) <= set(problem.split(", "))


def headline(summary: Sequence[Row], groups: Mapping[str, Group]) -> list[Row]:
    """The rows of the problems that a goal is about."""
    return [
        row
        for row in summary
        if any(_matches(row["problem"], goal.problem) for goal in groups[row["group"]].goals)
    ]


def over_limits(group: Group, summary: Sequence[Row]) -> list[str]:
    """What methods of ours computed less accurately than they must."""
    return [
        f"{row['group']} ({row['problem']}), {row['method']}: "
        f"{name} {float(row[name]):.2g}, at most {limit:g}"
        for row in summary
        if group.method(row["method"]).ours
        for name, limit in group.limits.items()
        if not float(row[name]) <= limit
    ]


def markdown(summary: Sequence[Row]) -> str:
    """One table: seconds, how many times those of our fastest method, memory, accuracy."""
    lines = [
        "| problem | method | runs | s | times ours | MB | accuracy |",
        "|---|---|--:|--:|--:|--:|---|",
    ]
    fastest = _fastest(summary)
    before = None
    for row in summary:
        place = row["group"], row["problem"]
        name = f"**{row['group']}**, {row['problem']}" if place != before else ""
        before = place
        ours = fastest.get(place)
        ratio = _figures(row["cpu_s"] / ours) if ours else ""
        accuracy = ", ".join(f"{check} {float(row[check]):.2g}" for check in _checks(row))
        lines.append(
            f"| {name} | {row['method']} | {row['runs']} | {_figures(row['cpu_s'])} | {ratio} "
            f"| {_figures(row['memory_mb'])} | {accuracy} |"
        )
    return "\n".join(lines) + "\n"


def _figures(value: float) -> str:
    return f"{value:.0f}" if value >= 100 else f"{value:.3g}"


def _fastest(summary: Sequence[Row]) -> dict[tuple[str, str], float]:
    fastest: dict[tuple[str, str], float] = {}
    for row in summary:
        if str(row["ours"]) == "True":
            place = row["group"], row["problem"]
            fastest[place] = min(row["cpu_s"], fastest.get(place, float("inf")))
    return fastest


def with_table(text: str, table: str) -> str:
    """The text with what stands between the two marks replaced; without marks, as it was."""
    if BEGIN not in text or END not in text:
        return text
    before, rest = text.split(BEGIN)
    after = rest.split(END)[1]
    return f"{before}{BEGIN}\n{table}\n{END}{after}"


def growth(sizes: Sequence[float], seconds: Sequence[float]) -> float:
    """The exponent e of seconds ~ sizes ** e, by least squares of the logarithms."""
    return float(np.polyfit(np.log(sizes), np.log(seconds), 1)[0])


def draw(path: Path, summary: Sequence[Row]) -> None:
    """Seconds against n on logarithmic axes, a panel for each family of growing problems."""
    import matplotlib

    matplotlib.use("agg")
    from matplotlib import pyplot as plt

    from kernelbook.plotting import use_style

    families = _families(summary)
    if not families:
        return
    use_style()
    columns = min(len(families), COLUMNS)
    rows = -(-len(families) // columns)
    size = (4.4 * columns, 4.6 * rows)
    figure, axes = plt.subplots(rows, columns, figsize=size, squeeze=False, layout="constrained")
    for ax in axes.flat[len(families) :]:
        ax.set_axis_off()
    for ax, (family, curves) in zip(axes.flat, families.items(), strict=False):
        for marker, (method, points) in zip(MARKERS, curves.items(), strict=False):
            sizes, seconds = zip(*sorted(points), strict=True)
            name = f"{method}: $n^{{{growth(sizes, seconds):.1f}}}$"
            ax.loglog(sizes, seconds, marker=marker, label=name)
        ax.set(title=family, xlabel="points n", ylabel="processor seconds (median)")
        ax.set_xticks(sizes, [f"{size:g}" for size in sizes])
        ax.xaxis.minorticks_off()
        # Below, where it covers no curve.
        ax.legend(fontsize="small", loc="upper center", bbox_to_anchor=(0.5, -0.18))
    figure.savefig(path, dpi=110, metadata={"Software": None})
    plt.close(figure)


def _families(summary: Sequence[Row]) -> dict[str, dict[str, list[tuple[float, float]]]]:
    families: dict[str, dict[str, list[tuple[float, float]]]] = {}
    for row in summary:
        size, *rest = row["problem"].split(", ")
        curve = families.setdefault(", ".join([row["group"], *rest]), {})
        curve.setdefault(row["method"], []).append((float(size.split(" = ")[1]), row["cpu_s"]))
    return {
        family: curves
        for family, curves in families.items()
        if all(len(points) > 1 for points in curves.values())
    }
