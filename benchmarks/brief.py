"""The lines of the benchmark that README.md shows, one of them lost."""

from collections.abc import Sequence
from typing import NamedTuple

from benchmarks.report import Row

__all__ = ["PAIRS", "Pair", "brief"]


class Pair(NamedTuple):
    """A problem, our method, its strongest peer, and the column of their accuracy."""

    title: str
    group: str
    problem: str
    ours: str
    rival: str
    accuracy: str


# The first two are those where we lose most.
PAIRS = (
    Pair("one class, 1000 points, 2 features", "oneclass", "n = 1000, d = 2, nu = 0.1",
         "kernelbook OneClassSVM", "scikit-learn OneClassSVM, tol 1e-3", "gap"),
    Pair("SVM, 500 points, 2 features, C = 10", "svm", "n = 500, d = 2, C = 10",
         "kernelbook exact", "scikit-learn, tol 1e-3", "gap"),
    Pair("SVM, 100,000 points, 2 features, C = 10", "svm", "n = 100000, d = 2, C = 10",
         "kernelbook exact", "scikit-learn, tol 1e-3", "gap"),
    Pair("regression, 5000 points, 10 features, C = 10", "regression", "n = 5000, d = 10, C = 10",
         "kernelbook KernelSVR", "scikit-learn SVR, tol 1e-3", "gap"),
    Pair("kernel PCA, 3000 points, 10 features", "kpca", "n = 3000, d = 10, components = 10",
         "kernelbook", "scikit-learn, arpack", "residual"),
    # The peer holds its weights so, too.
    Pair("all interaction weights by name, 50 features, degree 4", "explain",
         "p = 50, D = 4, n = 600",
         "kernelbook, weights by name", "explainpolysvm 1.2.0", "difference"),
)  # fmt: skip


def brief(summary: Sequence[Row]) -> str:
    """A table: seconds and accuracy of ours and of its peer."""
    found = {(row["group"], row["problem"], row["method"]): row for row in summary}
    lines = ["| problem | kernelbook | peer |", "|---|---|---|"]
    for pair in PAIRS:
        ours, rival = (
            found.get((pair.group, pair.problem, name)) for name in (pair.ours, pair.rival)
        )
        if ours and rival:
            lines.append(
                f"| {pair.title} | {_cell(ours, pair)} | {pair.rival}: {_cell(rival, pair)} |"
            )
    return "\n".join(lines) + "\n"


def _cell(row: Row, pair: Pair) -> str:
    return f"{float(row['cpu_s']):.2g} s, {pair.accuracy} {float(row[pair.accuracy]):.0e}"
