"""A support vector machine of a million points in the plane: fit it, then prove it anew.

python -m benchmarks.million fit 1000000 build/million.npz      fit with progress, keep alpha
python -m benchmarks.million recompute build/million.npz        the gap, from alpha alone

Moons with noise 0.3, standardised; RBF kernel, gamma = 1/2, C = 10. The fit tells seconds of the
processor and of the clock, and its peak of memory above what the process held with the data. It
may be interrupted and begun anew, or go on from a file with --start. The second command shares no
code with the library: kernel values by differences, in blocks of rows, sums in double precision.
"""

import argparse
import os
import time
from collections.abc import Sequence
from pathlib import Path

os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1"))

import numpy as np
from joblib import Parallel, delayed
from sklearn.utils import gen_batches

from benchmarks.measure import MEGABYTE, peak, start_of_peak
from benchmarks.problems import Labelled, labelled

__all__ = ["fit", "main", "recompute"]

C = 10.0
# Rows and columns of a block of kernel values: 1 MB, which stays in the cache.
ROWS, COLUMNS = 64, 2048


def fit(data: Labelled, n_jobs: int, start: np.ndarray | None, *, verbose: bool) -> np.ndarray:
    """Dual variables (n,); what the fit took is printed."""
    from kernelbook.compile_loops import compile_loops
    from kernelbook.svm import KernelSVC

    compile_loops()
    before, wall, cpu = start_of_peak(), time.perf_counter(), time.process_time()
    svc = KernelSVC(data.C, gamma=data.gamma, n_jobs=n_jobs, verbose=verbose)
    svc.fit(data.X, data.y, start=start)
    cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
    print(f"{cpu:.0f} s of the processor, {wall:.0f} s of the clock, {n_jobs} threads")
    print(f"{(peak() - before) / MEGABYTE:.0f} MB over the data, {len(svc.support_)} vectors")
    print(svc.certificate_, flush=True)
    return svc.alpha_


def recompute(data: Labelled, alpha: np.ndarray, n_jobs: int) -> dict[str, float]:
    """Relative gap and distance from feasibility, from the dual variables (n,) alone."""
    signed = alpha * data.y
    kept = np.flatnonzero(signed)
    points = data.X[kept]

    def sums(rows: np.ndarray) -> np.ndarray:
        total = np.zeros(len(rows))
        for columns in gen_batches(len(kept), COLUMNS):
            values = np.zeros((len(rows), len(points[columns])))
            for k in range(rows.shape[1]):
                difference = rows[:, k, None] - points[columns, k]
                values += np.square(difference, out=difference)
            values *= -data.gamma
            total += np.exp(values, out=values) @ signed[kept[columns]]
        return total

    parts = Parallel(n_jobs, prefer="threads")(
        delayed(sums)(data.X[rows]) for rows in gen_batches(len(alpha), ROWS)
    )
    values = np.concatenate(parts)
    quadratic = signed @ values
    best = alpha.sum() - quadratic / 2.0
    # The primal objective is convex and piecewise linear in b: least at a kink y - f.
    thresholds = np.sort(data.y - values)
    wanted = np.count_nonzero(data.y > 0)
    bias = thresholds[min(wanted, len(thresholds) - 1)]
    hinges = np.maximum(0.0, 1.0 - data.y * (values + bias)).sum()
    primal = quadratic / 2.0 + data.C * hinges
    outside = max(-alpha.min(), (alpha - data.C).max(), abs(signed.sum()), 0.0)
    return {"gap": float((primal - best) / best), "infeasibility": abs(float(outside / data.C))}


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.million",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = parser.add_subparsers(dest="command", required=True)
    fitting = commands.add_parser("fit")
    fitting.add_argument("n", type=int)
    fitting.add_argument("--start", type=Path, help="a file of an earlier fit of these points")
    fitting.add_argument("--silent", action="store_true", help="show no progress")
    for command in (fitting, commands.add_parser("recompute")):
        command.add_argument("file", type=Path)
        command.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args(arguments)
    if options.command == "fit":
        start = None if options.start is None else np.load(options.start)["alpha"]
        data = labelled(n=options.n, d=2, C=C)
        alpha = fit(data, options.jobs, start, verbose=not options.silent)
        options.file.parent.mkdir(parents=True, exist_ok=True)
        np.savez(options.file, alpha=alpha)
    else:
        alpha, wall = np.load(options.file)["alpha"], time.perf_counter()
        found = recompute(labelled(n=len(alpha), d=2, C=C), alpha, options.jobs)
        print(", ".join(f"{name} {value:.2g}" for name, value in found.items()))
        print(f"{time.perf_counter() - wall:.0f} s of the clock")


if __name__ == "__main__":
    main()
