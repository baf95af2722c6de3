r"""Adaptive conformal machines beside other ways to meet imbalance, on six data sets.

**Question.** Does a kernel stretched towards the rare class do more for it than a class weight, and
how much does the transformation change at all?

**Data.** Six files, one class against the rest. A repeat draws at most 400 rows, the rare class in
proportion, though no fewer than 32 rows of it: all that abalone has. So there are six to twelve
other rows for a rare one, where the whole files have up to 130: this is the price of twenty
repeats. Of a repeat one fold in four is for the test, rows with equal features on one side. All
that is learned, the medians for blanks, the scaling, the synthetic points, C and gamma, is learned
from the training part.

**Methods.** The balanced machine, which is the reference; the plain one; thinning out the frequent
class at random; SMOTE; the transformed machines of Wu and Chang (act) and on an aligned boundary
(kba), both with and without weights; AFSCT, which is act with the Laplacian kernel, weights, and no
support vectors that are wrong; and the balanced machine with the Laplacian kernel, so that kernel
and transformation are not mixed up. Both passes of a transformed machine have the same C. The moved
threshold, the difference of kernel means and the answers without data come from ``compare``; its
weighted machine is the reference and does not take part twice.

**Selection.** Best mean G-mean

.. math:: G = \sqrt{\text{sensitivity} \cdot \text{specificity}}

over two inner folds, the same folds and one grid of C and gamma for all. For the cost the grid is
coarse; it is wide. Three of its ends are named as saturated: at a small C every weight is at its
bound, and a balanced machine ranks like a difference of two kernel means; a large C is a hard
margin; at a small gamma the machine tends to a linear one.

**Measures and margins.** G-mean 0.05: with eight rare test rows one more that is found changes the
sensitivity by 0.125 and G by about half of that. Area under the ROC curve 0.02, average precision
0.05. Beside them stand, in the table of scores alone, as they are no merits: the spread of D, its
90 % quantile over its 10 % quantile on the test rows; the fraction of test rows that a transformed
machine answers otherwise than the machine its D was made from, which has the same C, gamma and
weights; and the ratio of frequent to rare support vectors, of that machine and of the final one.

**Seeds.** SEED draws all rows and splits. The code was tried out with seed 900. Runs with 1010, on
glass, and 1012, on glass, segment and abalone, had more than 10 % of the choices at the largest
gamma, 4 and 8 by the number of features: the grid was widened twice with them in view. A whole run
with 1014 was stored in the same commit as this design, so that nothing shows which came first. Its
results were seen; methods, grids, margins, reference and the rule of the verdicts are kept as they
were. They were committed, with this text, before SEED was first used anywhere; the tables are of a
later commit. SEED draws other rows and splits, but of the same six files.

    python -m studies.adaptive_conformal
"""

import argparse
from functools import lru_cache
from typing import Any

import numpy as np
from imblearn.over_sampling import SMOTE
from imblearn.pipeline import Pipeline as SamplingPipeline
from imblearn.under_sampling import RandomUnderSampler
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.impute import SimpleImputer
from sklearn.metrics import recall_score
from sklearn.model_selection import StratifiedGroupKFold
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler

from kernelbook import datasets
from kernelbook.conformal import AFSCTSVC, ConformalSVC
from kernelbook.study import Comparison, cell_seed, compare
from kernelbook.svm import KernelSVC
from studies import results

SEED = 20261129
NAME = "adaptive_conformal"
LOADERS: dict[str, Any] = {
    "glass 7": datasets.load_glass,
    "segment 1": datasets.load_segment,
    "thyroid": datasets.load_thyroid0387_euthyroid,
    "car good": datasets.load_car,
    "yeast ME2": datasets.load_yeast,
    "abalone 19": datasets.load_abalone,
}
REFERENCE = "svc balanced"
N_REPEATS, FOLDS, INNER = 20, 4, 2
MAX_ROWS, MIN_RARE = 400, 32
COSTS = (0.01, 1.0, 100.0, 10_000.0)
WIDTHS = (1 / 64, 1 / 8, 1.0, 8.0, 64.0)  # gamma in units of one over the number of features
SATURATED = {"C": ["low", "high"], "gamma": ["low"]}
BASELINES = (
    "always 0",
    "always 1",
    "random",
    "KernelSVC, moved threshold",
    "difference of kernel means",
)
MARGIN = {"G-mean": 0.05, "ROC AUC": 0.02, "AP": 0.05}


@lru_cache(maxsize=1)
def load(data: str) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Features (n, d), 0 or 1 with 1 the rare class (n,), and numbers of equal rows (n,)."""
    if data != "thyroid":
        bunch = LOADERS[data](binary=True)
        return bunch.data, bunch.target, bunch.groups
    bunch = LOADERS[data]()
    return bunch.data, (bunch.target == bunch.positive).astype(int), bunch.groups


def split(data: str, repeat: int, seed: int = SEED) -> tuple[NDArray[Any], NDArray[Any]]:
    """Rows of the training and the test part: a draw from the file, and one fold of it."""
    _, y, groups = load(data)
    chance = np.random.default_rng(cell_seed({"data": data, "repeat": repeat}, seed))
    rare, frequent = np.flatnonzero(y == 1), np.flatnonzero(y == 0)
    n = min(len(y), MAX_ROWS)
    n_rare = min(len(rare), max(MIN_RARE, round(n * len(rare) / len(y))))
    drawn = [
        chance.choice(part, size, replace=False)
        for part, size in ((rare, n_rare), (frequent, n - n_rare))
    ]
    rows = np.concatenate(drawn)
    folds = StratifiedGroupKFold(FOLDS, shuffle=True, random_state=chance.integers(2**31))
    train, test = next(folds.split(rows, y[rows], groups[rows]))
    return rows[train], rows[test]


def g_mean(estimator: BaseEstimator, X: ArrayLike, y: NDArray[Any]) -> float:
    """Root of sensitivity times specificity, labels 0 and 1."""
    recalls = recall_score(y, estimator.predict(X), labels=[1, 0], average=None)
    return float(np.sqrt(recalls.prod()))


def machine_of(estimator: Any) -> Any:
    """The last step of the fitted pipeline that ``compare`` hands to a scorer."""
    return getattr(estimator.estimator_, "steps", [(None, estimator.estimator_)])[-1][1]


def spread_of_factor(estimator: Any, X: ArrayLike, y: ArrayLike) -> float:
    """Return the 90 % quantile of D by its 10 % quantile on X; 1 for machines without a factor."""
    machine = machine_of(estimator)
    if not isinstance(machine, ConformalSVC):
        return 1.0
    low, high = np.quantile(machine.factor_(prepared(estimator, X)), [0.1, 0.9])
    return float(high / max(low, np.finfo(float).tiny))


def changed_by_factor(estimator: Any, X: ArrayLike, y: ArrayLike) -> float:
    """Fraction of the rows of X that the machine answers otherwise than the one before it."""
    machine = machine_of(estimator)
    if not isinstance(machine, ConformalSVC):
        return 0.0
    points = prepared(estimator, X)
    return float(np.mean(machine.predict(points) != machine.previous_.predict(points)))


def prepared(estimator: Any, X: ArrayLike) -> Any:
    """X as the last step of the pipeline sees it."""
    return estimator.estimator_[:-1].transform(X)


def skew(estimator: Any, X: ArrayLike, y: ArrayLike) -> float:
    """Number of frequent support vectors by that of rare ones; 0 for machines without any."""
    return _skew(machine_of(estimator))


def skew_before(estimator: Any, X: ArrayLike, y: ArrayLike) -> float:
    """The same of the machine that D was made from, or of the only one."""
    machine = machine_of(estimator)
    return _skew(getattr(machine, "previous_", machine))


def _skew(machine: Any) -> float:
    frequent, rare = getattr(machine, "n_support_", (0, 1))
    return float(frequent / rare)


MEASURES = {"G-mean": g_mean, "ROC AUC": "roc_auc", "AP": "average_precision"}
DESCRIPTIONS = {
    "spread of D": spread_of_factor,
    "changed by D": changed_by_factor,
    "skew before": skew_before,
    "skew": skew,
}


def methods(n_features: int) -> dict[str, tuple[BaseEstimator, dict[str, Any]]]:
    """All methods, each behind the same preprocessing and with the same grid."""
    grid = {
        "classify__C": list(COSTS),
        "classify__gamma": [width / n_features for width in WIDTHS],
    }
    weight = {"class_weight": "balanced", "solver": "exact"}
    machines: dict[str, Any] = {
        REFERENCE: KernelSVC(**weight),
        "svc": KernelSVC(solver="exact"),
        "svc balanced, laplacian": KernelSVC(kernel="laplacian", **weight),
        "undersampling + svc": KernelSVC(solver="exact"),
        "smote + svc": KernelSVC(solver="exact"),
        "act": ConformalSVC("wu_chang", solver="exact"),
        "act balanced": ConformalSVC("wu_chang", **weight),
        "kba": ConformalSVC("kba", solver="exact"),
        "kba balanced": ConformalSVC("kba", **weight),
        "AFSCT": AFSCTSVC(solver="exact"),
    }
    samplers = {"undersampling + svc": RandomUnderSampler(), "smote + svc": SMOTE()}
    found = {}
    for name, machine in machines.items():
        steps = [("fill", SimpleImputer(strategy="median")), ("scale", StandardScaler())]
        if name in samplers:
            found[name] = SamplingPipeline(
                [*steps, ("sample", samplers[name]), ("classify", machine)]
            )
        else:
            found[name] = Pipeline([*steps, ("classify", machine)])
    return {name: (pipeline, grid) for name, pipeline in found.items()}


def run(
    data: str, n_repeats: int = N_REPEATS, seed: int = SEED, only: Any = None, **options: Any
) -> Comparison:
    """Compare the methods, or ``only`` some of them, on a data set.

    The descriptions are in the scores, and not among the differences.
    """
    X, y, groups = load(data)
    chosen = methods(X.shape[1])
    found = compare(
        {name: chosen[name] for name in only or chosen},
        X,
        y,
        splits=[split(data, repeat, seed) for repeat in range(n_repeats)],
        groups=groups,
        select=g_mean,
        measures=MEASURES | DESCRIPTIONS,
        margin=MARGIN | dict.fromkeys(DESCRIPTIONS, 1.0),
        reference=REFERENCE,
        n_repeats=n_repeats,
        inner=INNER,
        saturated=SATURATED,
        seed=seed,
        **{"baselines": BASELINES} | options,
    )
    merits = found.table["measure"].isin(list(MEASURES))
    return Comparison(found.table[merits], found.scores, found.choices)


def main() -> None:
    """Run the study and write its tables."""
    parser = argparse.ArgumentParser(description=f"Make data/results/{NAME}.csv.")
    parser.add_argument("--store", default=None, help="a directory to resume from")
    parser.add_argument("--n-jobs", type=int, default=-1, help="workers; -1 for one a core")
    options = vars(parser.parse_args())
    results.write(NAME, {data: run(data, **options) for data in LOADERS})


if __name__ == "__main__":
    # Workers import the functions from the module's own name, which is not "__main__".
    from studies import adaptive_conformal

    adaptive_conformal.main()
