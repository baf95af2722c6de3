"""Time the library beside its peers.

python -m benchmarks                        the ten-minute set: results, plot, tables
python -m benchmarks --full                 everything
python -m benchmarks --only svm kpca        these groups; the results of the others stay
python -m benchmarks --only                 measure nothing, write tables and plot anew
python -m benchmarks --quick                tiny sizes, into build/benchmarks: does it run?
"""

import argparse
import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path

# Before numpy starts, in the processes of the measurements too.
os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1"))

from benchmarks import goals, report
from benchmarks.brief import brief
from benchmarks.measure import MeasurementError, in_own_process, load_average
from benchmarks.plan import GROUPS, Cell, Group, load

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "benchmarks" / "results"


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--only", nargs="*", choices=GROUPS, default=GROUPS, metavar="GROUP")
    extent = parser.add_mutually_exclusive_group()
    extent.add_argument("--full", action="store_true", help="all sizes, up to 100,000 points")
    extent.add_argument("--quick", action="store_true", help="one run of each method, tiny sizes")
    parser.add_argument("--output", type=Path, help="directory of the results")
    options = parser.parse_args(arguments)
    directory = options.output or (ROOT / "build/benchmarks" if options.quick else RESULTS)
    directory.mkdir(parents=True, exist_ok=True)
    failures: list[str] = []
    for name in options.only:
        report.write_machine(directory / f"{name}.json", report.machine())
        rows: list[report.Row] = []
        for cell in chosen(load(name), quick=options.quick, full=options.full):
            rows += run(name, cell, failures)
            report.write(directory / f"{name}.csv", rows)
    summary = report.summarise(report.read(directory, GROUPS))
    groups = {name: load(name) for name in GROUPS}
    verdicts = goals.verdicts(summary, groups)
    table = f"{report.markdown(summary)}\n{verdicts}"
    report.write(directory / "summary.csv", summary)
    report.draw(directory / "scaling.png", summary)
    (directory / "table.md").write_text(table, encoding="utf-8")
    if directory == RESULTS:
        insert(ROOT / "benchmarks" / "README.md", table)
        insert(ROOT / "README.md", brief(summary))
    print(f"\n{table}\nWritten to {directory}")
    return conclude(options.only, summary, failures)


def chosen(group: Group, *, quick: bool, full: bool) -> list[Cell]:
    """The problems of the set that was asked for; a peer that is not installed is named."""
    for method in group.methods:
        if method.missing:
            print(f"SKIPPED {method.name}: it needs {method.missing}", file=sys.stderr)
    if quick:
        return list(group.quick)
    return [*group.cells, *(group.more if full else [])]


def run(name: str, cell: Cell, failures: list[str]) -> list[report.Row]:
    """The measurements of a problem: the methods take turns on it.

    What a method of ours could not compute is added to ``failures``.
    """
    methods = [method for method in load(name).methods if not method.missing]
    rows: list[report.Row] = []
    for repeat in range(max(cell.repeats.values())):
        for method in methods:
            if cell.repeats.get(method.name, 0) <= repeat:
                continue
            row = {
                "group": name,
                "problem": report.label(cell.problem),
                "method": method.name,
                "ours": method.ours,
                "repeat": repeat,
                "load_average": load_average(),
            }
            start = time.perf_counter()
            try:
                row |= in_own_process(name, method.name, cell.problem)
            except MeasurementError as error:
                line = f"FAILED {name} ({row['problem']}), {method.name}: {error}"
                print(line, file=sys.stderr)
                failures += [line] if method.ours else []
                continue
            rows.append(row)
            print(
                f"{name:10} {row['problem']:38} {method.name:34} {row['cpu_s']:9.4f} s "
                f"{row['memory_mb']:8.1f} MB   ({time.perf_counter() - start:.1f} s in all)",
                flush=True,
            )
    return rows


def insert(page: Path, table: str) -> None:
    """Write the table into a page, where the page has the marks for it."""
    text = page.read_text(encoding="utf-8")
    if (new := report.with_table(text, table)) != text:
        page.write_text(new, encoding="utf-8")


def conclude(names: Sequence[str], summary: Sequence[report.Row], failures: Sequence[str]) -> int:
    """Fail if a result of ours is missing or not as accurate as it must be."""
    inaccurate: list[str] = []
    for name in names:
        group = load(name)
        inaccurate += goals.over_limits(group, [row for row in summary if row["group"] == name])
    for line in inaccurate:
        print(f"INACCURATE {line}", file=sys.stderr)
    return 1 if inaccurate or failures else 0


if __name__ == "__main__":
    try:
        code = main()
    except KeyboardInterrupt:
        print("\nInterrupted; the results so far are kept.", file=sys.stderr)
        code = 130
    raise SystemExit(code)
