r"""Adaptive conformal machines beside other ways to meet imbalance, on six data sets.

A cell is one fold of a repeated stratified cross-validation, one data set and one method. All
that is learned, the medians that fill blanks, the scaling, the synthetic points, C and gamma, is
learned from the training part of the fold; C and gamma are those of the best mean G-mean

.. math:: G = \sqrt{\text{sensitivity} \cdot \text{specificity}}

over three inner folds, the same ones for every method. Rows with equal features stay on one side
of every split. The table is data/results/adaptive_conformal.csv, made by

    python -m studies.adaptive_conformal
"""

import argparse
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

import numpy as np
from imblearn.over_sampling import SMOTE
from imblearn.pipeline import Pipeline
from imblearn.under_sampling import RandomUnderSampler
from sklearn.base import BaseEstimator
from sklearn.dummy import DummyClassifier
from sklearn.impute import SimpleImputer
from sklearn.metrics import make_scorer, recall_score, roc_auc_score
from sklearn.model_selection import GridSearchCV, StratifiedGroupKFold, train_test_split
from sklearn.preprocessing import StandardScaler

from kernelbook import datasets
from kernelbook.conformal import ConformalSVC
from kernelbook.study import paired_interval, run_study
from kernelbook.svm import KernelSVC

SEED = 10
FOLDS, INNER_FOLDS = 5, 3
COSTS = (0.1, 1.0, 10.0, 100.0, 1000.0)
# A conformal machine solves two problems for each candidate; these are twice as many candidates.
FINE_COSTS = (0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0, 300.0, 1000.0, 3000.0)
WIDTHS = (0.25, 1.0, 4.0)  # gamma in units of one over the number of features
THYROID_ROWS = 2400
REPEATS = {"abalone 19": 1}  # the largest; all others are repeated twice
TABLE = datasets.data_directory() / "results" / "adaptive_conformal.csv"

LOADERS: dict[str, Any] = {
    "glass 7": datasets.load_glass,
    "segment 1": datasets.load_segment,
    "thyroid": datasets.load_thyroid0387_euthyroid,
    "car good": datasets.load_car,
    "yeast ME2": datasets.load_yeast,
    "abalone 19": datasets.load_abalone,
}
METHODS = (
    "constant",
    "coin",
    "svc",
    "svc balanced",
    "svc balanced, fine grid",
    "undersampling + svc",
    "smote + svc",
    "act",
    "act balanced",
    "kba",
    "kba balanced",
)


@lru_cache(maxsize=1)
def load(data: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Features (n, d), 0 or 1 with 1 the rare class (n,), and numbers of equal rows (n,).

    Of the thyroid file a stratified part of 2400 of the 7207 rows, drawn once for all.
    """
    if data != "thyroid":
        bunch = LOADERS[data](binary=True)
        return bunch.data, bunch.target, bunch.groups
    bunch = LOADERS[data]()
    rows, _ = train_test_split(
        np.arange(len(bunch.target)),
        train_size=THYROID_ROWS,
        stratify=bunch.target,
        random_state=SEED,
    )
    return bunch.data[rows], (bunch.target[rows] == bunch.positive).astype(int), bunch.groups[rows]


@lru_cache(maxsize=2)
def split(data: str, repeat: int, fold: int) -> tuple[np.ndarray, np.ndarray, list[Any]]:
    """Rows of the training and the test part, and the inner folds of the former.

    They do not depend on the method, so that all methods meet the same points.
    """
    X, y, groups = load(data)
    outer = StratifiedGroupKFold(FOLDS, shuffle=True, random_state=SEED + repeat)
    train, test = list(outer.split(X, y, groups))[fold]
    inner = StratifiedGroupKFold(INNER_FOLDS, shuffle=True, random_state=SEED + repeat)
    return train, test, list(inner.split(X[train], y[train], groups[train]))


def g_mean(y: np.ndarray, prediction: np.ndarray) -> float:
    """Root of sensitivity times specificity, labels 0 and 1."""
    sensitivity, specificity = recall_score(y, prediction, labels=[1, 0], average=None)
    return float(np.sqrt(sensitivity * specificity))


def machine(method: str, random_state: int) -> tuple[list[tuple[str, Any]], BaseEstimator]:
    """Sampling steps and the classifier of a method."""
    weight = "balanced" if "balanced" in method else None
    if method == "constant":
        return [], DummyClassifier(strategy="most_frequent")
    if method == "coin":
        return [], DummyClassifier(strategy="uniform", random_state=random_state)
    if method.startswith("act"):
        return [], ConformalSVC("wu_chang", class_weight=weight)
    if method.startswith("kba"):
        return [], ConformalSVC("kba", class_weight=weight)
    samplers: list[tuple[str, Any]] = []
    if method.startswith("smote"):
        samplers = [("sample", SMOTE(random_state=random_state))]
    if method.startswith("undersampling"):
        samplers = [("sample", RandomUnderSampler(random_state=random_state))]
    return samplers, KernelSVC(class_weight=weight)


def search(method: str, n_features: int, inner: Any, random_state: int) -> GridSearchCV:
    """The search for C and gamma of a method, not yet fitted."""
    samplers, classifier = machine(method, random_state)
    steps = [("fill", SimpleImputer(strategy="median")), ("scale", StandardScaler())]
    grid = {}
    if not isinstance(classifier, DummyClassifier):
        grid = {
            "classify__C": FINE_COSTS if "fine" in method else COSTS,
            "classify__gamma": [width / n_features for width in WIDTHS],
        }
    pipeline = Pipeline([*steps, *samplers, ("classify", classifier)])
    return GridSearchCV(pipeline, grid, scoring=make_scorer(g_mean), cv=inner)


def run_cell(data: str, method: str, repeat: int, fold: int, random_state: int) -> dict[str, Any]:
    """Tune on the training part of one fold, and judge on its test part.

    ``random_state`` is for the samplers and the coin.
    """
    X, y, _ = load(data)
    train, test, inner = split(data, repeat, fold)
    found = search(method, X.shape[1], inner, random_state).fit(X[train], y[train])
    classifier = found.best_estimator_[-1]
    prediction = found.predict(X[test])
    positive = y[test] == 1
    return {
        "tp": int((prediction[positive] == 1).sum()),
        "fn": int((prediction[positive] == 0).sum()),
        "fp": int((prediction[~positive] == 1).sum()),
        "tn": int((prediction[~positive] == 0).sum()),
        "g_mean": g_mean(y[test], prediction),
        "roc_auc": float(roc_auc_score(y[test], ranking(found, X[test]))),
        "inner_g_mean": float(found.best_score_),
        "C": found.best_params_.get("classify__C"),
        "width": width_found(found.best_params_.get("classify__gamma"), X.shape[1]),
        **support_vectors(classifier),
    }


def ranking(found: GridSearchCV, X: np.ndarray) -> np.ndarray:
    """Scores that rank the rows of X; a classifier without any ranks none."""
    if isinstance(found.best_estimator_[-1], DummyClassifier):
        return np.zeros(len(X))
    return found.decision_function(X)


def width_found(gamma: float | None, n_features: int) -> float | None:
    """gamma in units of one over the number of features."""
    return None if gamma is None else round(gamma * n_features, 9)


def support_vectors(classifier: Any) -> dict[str, Any]:
    """Numbers of support vectors of both classes, and for a conformal machine those before."""
    names = ("sv_negative", "sv_positive")
    counts = dict.fromkeys([*names, *(f"{name}_before" for name in names), "fallback"])
    if isinstance(classifier, KernelSVC | ConformalSVC):
        counts |= dict(zip(names, classifier.n_support_.tolist(), strict=True))
    if isinstance(classifier, ConformalSVC):
        before = classifier.previous_.n_support_.tolist()
        counts |= {f"{name}_before": n for name, n in zip(names, before, strict=True)}
        counts["fallback"] = classifier.fallback_
    return counts


def corrected_interval(values: Any, level: float = 0.95) -> tuple[float, float, float]:
    """Mean of fold results, and the ends of its corrected resampled t interval.

    The training parts of the folds overlap, so the results are no independent draws: Nadeau and
    Bengio (2003) put 1/n + (test size / training size) in the place of 1/n.

    Examples
    --------
    Of 0 and 2 the standard deviation is the root of 2, and 1/2 + 1/4 takes the place of 1/2:

    >>> [round(value, 2) for value in corrected_interval([0.0, 2.0])]
    [1.0, -14.56, 16.56]
    """
    return paired_interval(values, test_to_train=1 / (FOLDS - 1), level=level)


def cells() -> Iterator[dict[str, Any]]:
    """All cells of the study."""
    for data in LOADERS:
        for repeat in range(REPEATS.get(data, 2)):
            for fold in range(FOLDS):
                for method in METHODS:
                    yield {"data": data, "method": method, "repeat": repeat, "fold": fold}


def main() -> None:
    """Run the study and write its table."""
    parser = argparse.ArgumentParser(description="Make data/results/adaptive_conformal.csv.")
    parser.add_argument("--store", default=None, help="a directory to resume from")
    parser.add_argument("--n-jobs", type=int, default=-1, help="workers; -1 for one a core")
    options = parser.parse_args()
    table = run_study(run_cell, cells(), store=options.store, seed=SEED, n_jobs=options.n_jobs)
    TABLE.parent.mkdir(exist_ok=True)
    table.to_csv(TABLE, index=False, lineterminator="\n", float_format="%.10g")


if __name__ == "__main__":
    # Workers import the function from the module's own name, which is not "__main__".
    from studies import adaptive_conformal

    adaptive_conformal.main()
