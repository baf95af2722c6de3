"""From measurements to tables and a plot."""

import csv
import json
import os
import platform
import statistics
from collections.abc import Iterable, Mapping, Sequence
from importlib import metadata
from operator import itemgetter
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.plan import RATE, Problem

__all__ = [
    "BEGIN",
    "END",
    "FLOOR",
    "Row",
    "draw",
    "growth",
    "label",
    "machine",
    "markdown",
    "read",
    "summarise",
    "values",
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
    "arviz",
    "piqp",
    "clarabel",
    "kfda",
    "explainpolysvm",
    "afc-svm-imbalanced-learning",
)
COLUMNS = 3
MARKERS = "osD^vPX*hd"
COLOURS = 7  # of the style, then dashes
MEASURED = ("cpu_s", "wall_s", "memory_mb")
# Ends the name of a column that holds the rounding of another.
FLOOR = "_floor"
NOT_CHECKS = ("group", "problem", "method", "ours", "repeat", "runs", "load_average", "growth")

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
    """The numbers of a problem by name; several values of a number are parted by strokes."""
    return ", ".join(
        f"{name} = " + "/".join(f"{value:g}" for value in values(given))
        for name, given in problem.items()
    )


def values(given: Any) -> tuple[Any, ...]:
    """The values of a number of a problem, of which there may be one."""
    return given if isinstance(given, tuple) else (given,)


def summarise(rows: Iterable[Row]) -> list[Row]:
    """One row for a method on a problem: medians of the repeats, the largest of every error.

    ``growth`` is the exponent of n in the seconds of the method on problems that differ in n.
    """
    runs: dict[tuple[str, str, str], list[Row]] = {}
    for row in rows:
        runs.setdefault((row["group"], row["problem"], row["method"]), []).append(row)
    summary = [_summary(repeats) for repeats in runs.values()]
    for curves in _families(summary).values():
        for points in curves.values():
            exponent = growth(*zip(*((n, row["cpu_s"]) for n, row in points), strict=True))
            for _, row in points:
                row["growth"] = exponent
    return summary


def _summary(repeats: Sequence[Row]) -> Row:
    first = repeats[0]
    summary = {name: first[name] for name in ("group", "problem", "method", "ours")}
    summary["runs"] = len(repeats)
    for name in MEASURED:
        summary[name] = statistics.median(float(row[name]) for row in repeats)
    for name in _checks(first):
        combine = statistics.median if name.endswith(RATE) else max
        summary[name] = combine([float(row[name]) for row in repeats])
    return summary


def _checks(row: Row) -> list[str]:
    return [
        name for name, value in row.items() if name not in (*MEASURED, *NOT_CHECKS) and value != ""
    ]


def _shown(row: Row) -> list[str]:
    return [name for name in _checks(row) if not name.endswith(FLOOR)]


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


def markdown(summary: Sequence[Row]) -> str:
    """One table: seconds, how many times those of our fastest method, the growth with n, memory,
    accuracy."""
    lines = [
        "| problem | method | runs | s | times ours | n^ | MB | accuracy |",
        "|---|---|--:|--:|--:|--:|--:|---|",
    ]
    fastest = _fastest(summary)
    before = None
    for row in summary:
        place = row["group"], row["problem"]
        name = f"**{row['group']}**, {row['problem']}" if place != before else ""
        before = place
        ours = fastest.get(place)
        ratio = _figures(row["cpu_s"] / ours) if ours else ""
        accuracy = ", ".join(_accuracy(row, check) for check in _shown(row))
        growth = f"{row['growth']:.1f}" if "growth" in row else ""
        lines.append(
            f"| {name} | {row['method']} | {row['runs']} | {_figures(row['cpu_s'])} | {ratio} "
            f"| {growth} | {_figures(row['memory_mb'])} | {accuracy} |"
        )
    return "\n".join(lines) + "\n"


def _accuracy(row: Row, check: str) -> str:
    value = float(row[check])
    return f"{_figures(value)} {check}" if check.endswith(RATE) else f"{check} {value:.2g}"


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
    # A method looks the same in all panels of its group.
    places: dict[str, list[str]] = {}
    for ax, (family, curves) in zip(axes.flat, families.items(), strict=False):
        known = places.setdefault(family.split(", ")[0], [])
        known += [method for method in curves if method not in known]
        ticks = set()
        for method, points in curves.items():
            number = known.index(method)
            sizes = [n for n, _ in points]
            seconds = [row["cpu_s"] for _, row in points]
            ticks |= set(sizes)
            name = f"{method}: $n^{{{points[0][1]['growth']:.1f}}}$"
            line = ("-" if number < COLOURS else "--") + MARKERS[number % len(MARKERS)]
            ax.loglog(sizes, seconds, line, color=f"C{number % COLOURS}", label=name)
        ax.set(xlabel="points n", ylabel="processor seconds (median)")
        ax.set_title(family, fontsize="medium")
        ax.set_xticks(sorted(ticks), [f"{size:g}" for size in sorted(ticks)], rotation=30)
        ax.xaxis.minorticks_off()
        # Below, where it covers no curve.
        ax.legend(fontsize="small", loc="upper center", bbox_to_anchor=(0.5, -0.3))
    figure.savefig(path, dpi=75, metadata={"Software": None})
    plt.close(figure)


def _families(summary: Sequence[Row]) -> dict[str, dict[str, list[tuple[float, Row]]]]:
    """Problems that differ in n alone: each method that was measured at several n, in order."""
    families: dict[str, dict[str, list[tuple[float, Row]]]] = {}
    for row in summary:
        size, *rest = row["problem"].split(", ")
        if size.startswith("n = "):
            curves = families.setdefault(", ".join([row["group"], *rest]), {})
            point = float(size.removeprefix("n = ")), row
            curves.setdefault(row["method"], []).append(point)
    grown = {
        family: {
            method: sorted(points, key=itemgetter(0))
            for method, points in curves.items()
            if len(points) > 1
        }
        for family, curves in families.items()
    }
    return {family: curves for family, curves in grown.items() if curves}
