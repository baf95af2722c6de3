"""The lines of the benchmark that README.md shows, the largest loss first."""

from collections.abc import Sequence
from typing import NamedTuple

from benchmarks.report import Row

__all__ = ["PAIRS", "SAME", "Pair", "brief", "largest_loss"]


class Pair(NamedTuple):
    """A problem, our method, its strongest peer, and the column of their accuracy."""

    title: str
    group: str
    problem: str
    ours: str
    rival: str
    accuracy: str


# Ours and a peer that solves the same problem, by group: the words for it and the two names.
SAME = {
    "svm": ("SVM", "kernelbook exact", "scikit-learn, tol 1e-3"),
    "regression": ("regression", "kernelbook KernelSVR", "scikit-learn SVR, tol 1e-3"),
    "oneclass": ("one class", "kernelbook OneClassSVM", "scikit-learn OneClassSVM, tol 1e-3"),
    "weighted": ("balanced SVM", "kernelbook KernelSVC", "scikit-learn SVC, tol 1e-3"),
    "multiclass": ("SVM, several classes", "kernelbook KernelSVC", "scikit-learn SVC, tol 1e-3"),
    "features": ("linear or polynomial SVM", "kernelbook KernelSVC", "scikit-learn SVC, tol 1e-3"),
    "conformal": ("conformal SVM", "kernelbook ConformalSVC", "scikit-learn SVC twice, tol 1e-3"),
}
PAIRS = (
    Pair("SVM, 500 points, 2 features, C = 10", "svm", "n = 500, d = 2, C = 10",
         *SAME["svm"][1:], "gap"),
    Pair("SVM, 100,000 points, 2 features, C = 10", "svm", "n = 100000, d = 2, C = 10",
         *SAME["svm"][1:], "gap"),
    Pair("regression, 5000 points, 10 features, C = 10", "regression", "n = 5000, d = 10, C = 10",
         *SAME["regression"][1:], "gap"),
    Pair("kernel PCA, 3000 points, 10 features", "kpca", "n = 3000, d = 10, components = 10",
         "kernelbook", "scikit-learn, arpack", "residual"),
    # The peer holds its weights so, too.
    Pair("all interaction weights by name, 50 features, degree 4", "explain",
         "p = 50, D = 4, n = 600",
         "kernelbook, weights by name", "explainpolysvm 1.2.0", "difference"),
)  # fmt: skip


def brief(summary: Sequence[Row]) -> str:
    """A table: seconds and accuracy of ours and of its peer, the largest loss first."""
    found = {(row["group"], row["problem"], row["method"]): row for row in summary}
    lines = ["| problem | kernelbook | peer |", "|---|---|---|"]
    worst = largest_loss(summary)
    others = [pair for pair in PAIRS if worst is None or pair[1:3] != worst[1:3]]
    for pair in (*([worst] if worst else []), *others):
        ours, rival = (
            found.get((pair.group, pair.problem, name)) for name in (pair.ours, pair.rival)
        )
        if ours and rival:
            lines.append(
                f"| {pair.title} | {_cell(ours, pair)} | {pair.rival}: {_cell(rival, pair)} |"
            )
    return "\n".join(lines) + "\n"


def largest_loss(summary: Sequence[Row]) -> Pair | None:
    """Where a peer is ahead by the largest factor at the same problem; None if there is none."""
    seconds = {
        (row["group"], row["problem"], row["method"]): float(row["cpu_s"]) for row in summary
    }
    pairs = [
        Pair(f"we lose most: {words}, {problem}", group, problem, ours, rival, "gap")
        for group, problem in dict.fromkeys((row["group"], row["problem"]) for row in summary)
        if group in SAME
        for words, ours, rival in [SAME[group]]
        if {(group, problem, ours), (group, problem, rival)} <= seconds.keys()
    ]

    def factor(pair: Pair) -> float:
        ours, rival = (seconds[pair.group, pair.problem, name] for name in (pair.ours, pair.rival))
        return ours / rival

    worst = max(pairs, key=factor, default=None)
    return worst if worst and factor(worst) > 1 else None


def _cell(row: Row, pair: Pair) -> str:
    return f"{float(row['cpu_s']):.2g} s, {pair.accuracy} {float(row[pair.accuracy]):.0e}"
