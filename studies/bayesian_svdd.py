r"""Bayesian descriptions compared: a published comparison replicated, and its question asked again.

*Replication.* Ten pairs of training and test sets of 1000 points each, 50 features, from
:func:`kernelbook.datasets.make_random_logit`, the generator of the comparison, in both readings
of its coefficients; the four models with the priors as printed. Class 1 is the one to be found.
Sets of 10000 points were left out for their cost, some hundred times that of 1000.

*The question again.* Labels that are right, one minority point for 10, 20 or 50 targets:

.. math:: x_2 = c\,(x_1^2 - 1) + e + 3 y, \qquad e, x_1, x_3, \dots, x_p \sim N(0, 1),

with c = 0 (the best boundary is a line) or c = 1 (a parabola). The best score has the AUC
:math:`\Phi(3 / \sqrt 2) = .983` in every cell. One factor is varied at a time around a centre,
a line, 10 features, one to ten, no contamination; and the parabola once more in the plane. All
models meet the same points, and every cutoff comes from the training set alone. Made by

    python -m studies.bayesian_svdd
"""

import argparse
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import roc_auc_score
from sklearn.preprocessing import StandardScaler

from kernelbook import datasets
from kernelbook.bayes import BayesianDataDescription, BayesianSVDD, BayesianSVDDMinority
from kernelbook.exceptions import CollapseWarning
from kernelbook.mcmc import diagnose
from kernelbook.metrics import expected_rates
from kernelbook.oneclass import OneClassSVM
from kernelbook.study import cell_seed, run_study
from kernelbook.svdd import SVDD
from kernelbook.svm import KernelSVC

SEED = 14
REPLICATES, PAIRS = 30, 10
N_TARGETS, N_TEST_TARGETS = 200, 2000
SHIFT = 3.0
REJECTED = 0.1  # share of training targets outside, for every model but the two-class machine
FLAGGED_BY_BDD = 1 / 3  # what the printed rates of BDD imply
RESULTS = datasets.data_directory() / "results"
TABLE = RESULTS / "bayesian_svdd.csv"
REPLICATION_TABLE = RESULTS / "bayesian_svdd_replication.csv"

CENTRE = {"boundary": "line", "p": 10, "imbalance": 10, "contamination": 0.0}
VARIATIONS: tuple[dict[str, Any], ...] = (
    {},
    {"p": 2},
    {"p": 50},
    {"p": 100},
    {"imbalance": 20},
    {"imbalance": 50},
    {"contamination": 0.1},
    {"boundary": "parabola"},
    {"boundary": "parabola", "p": 2},
)
CHAINS = {"n_chains": 8, "n_samples": 150, "n_burn_in": 100}

Array = np.ndarray
Builder = Callable[..., BaseEstimator]

# Names with "printed" have the priors of the published comparison, m = -K1 and uniform weights.
MODELS: dict[str, Builder] = {
    "kernel mean": lambda n_out, **o: BayesianDataDescription("constant", **quantile(o)),
    "one-class SVM": lambda n_out, **o: OneClassSVM(REJECTED, gamma=o["gamma"]),
    "SVDD": lambda n_out, **o: SVDD(nu=REJECTED, gamma=o["gamma"]),
    "BDD, printed": lambda n_out, **o: BayesianDataDescription("row_sum", **quantile(o)),
    "BDD, repaired": lambda n_out, **o: BayesianDataDescription("row_mean", **quantile(o)),
    "BSVDD, printed": lambda n_out, **o: BayesianSVDD("row_sum", **quantile(o), **chains(o)),
    "BSVDD, repaired": lambda n_out, **o: BayesianSVDD("row_mean", **quantile(o), **chains(o)),
    "BSVDD-M, printed": lambda n_out, **o: BayesianSVDDMinority(
        "row_sum", **quantile(o), **chains(o)
    ),
    "BSVDD-M, repaired": lambda n_out, **o: BayesianSVDDMinority(
        "row_mean", minority_prior=(1, n_out), **quantile(o), **chains(o)
    ),
    "two-class SVM": lambda n_out, **o: KernelSVC(class_weight="balanced", gamma=o["gamma"]),
}
REPLICATED: dict[str, Builder] = {
    "SVDD": MODELS["SVDD"],
    "BDD": lambda n_out, **o: BayesianDataDescription(
        "row_sum", gamma=o["gamma"], rejection_rate=FLAGGED_BY_BDD
    ),
    "BSVDD": lambda n_out, **o: BayesianSVDD("row_sum", gamma=o["gamma"], cutoff="f1", **chains(o)),
    "BSVDD-M": lambda n_out, **o: BayesianSVDDMinority(
        "row_sum", gamma=o["gamma"], cutoff="f1", **chains(o)
    ),
}


def quantile(options: dict[str, Any]) -> dict[str, Any]:
    """The width, and a cutoff that leaves a tenth of the training targets outside."""
    return {"gamma": options["gamma"], "rejection_rate": REJECTED}


def chains(options: dict[str, Any]) -> dict[str, Any]:
    """Chains long enough for the repaired priors."""
    return {**CHAINS, "random_state": options["random_state"]}


def draw(
    n_targets: int, n_minority: int, curvature: float, p: int, random: np.random.Generator
) -> Array:
    """Targets, then minority points: shape (n_targets + n_minority, p)."""
    X = random.standard_normal((n_targets + n_minority, p))
    X[:, 1] += curvature * (X[:, 0] ** 2 - 1.0)
    X[n_targets:, 1] += SHIFT
    return X


def make_data(
    boundary: str, p: int, imbalance: int, contamination: float, replicate: int
) -> tuple[Array, Array, Array, Array]:
    """Training and test points, scaled by the training targets, with their labels +1 and -1.

    A share ``contamination`` of the training targets are minority points nobody has noticed.
    """
    cell = {
        "boundary": boundary, "p": p, "imbalance": imbalance,
        "contamination": contamination, "replicate": replicate,
    }  # fmt: skip
    random = np.random.default_rng(cell_seed(cell, SEED))
    curvature = {"line": 0.0, "parabola": 1.0}[boundary]
    n_hidden = round(contamination * N_TARGETS)
    n_known = N_TARGETS // imbalance
    X = draw(N_TARGETS - n_hidden, n_hidden + n_known, curvature, p, random)
    y = np.repeat([1, -1], [N_TARGETS, n_known])
    n_test_minority = N_TEST_TARGETS // imbalance
    Z = draw(N_TEST_TARGETS, n_test_minority, curvature, p, random)
    scaler = StandardScaler().fit(X[y == 1])
    truth = np.repeat([1, -1], [N_TEST_TARGETS, n_test_minority])
    return scaler.transform(X), y, scaler.transform(Z), truth


def fit(builder: Builder, X: Array, y: Array, random_state: int) -> BaseEstimator:
    """Fit a model; what its two warnings say is in the table, as atoms and R-hat."""
    model = builder(int((y < 0).sum()), gamma="median", random_state=random_state)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CollapseWarning)
        warnings.simplefilter("ignore", ConvergenceWarning)
        if isinstance(model, OneClassSVM | BayesianDataDescription):
            return model.fit(X[y > 0])
        return model.fit(X, y)


def judge(model: BaseEstimator, Z: Array, truth: Array) -> dict[str, float | None]:
    """Rates with the minority as the positive class, and the state of the posterior."""
    flagged, score = model.predict(Z) < 0, -model.decision_function(Z)
    minority = truth < 0
    rates = expected_rates(
        float(flagged[minority].mean()), float(1 - flagged[~minority].mean()), minority.mean()
    )
    auc = float(roc_auc_score(minority, score))
    return rates | {"roc_auc": auc, "atoms": atoms(model), "r_hat": r_hat(model)}


def atoms(model: BaseEstimator) -> float | None:
    """Effective number of target weights: for posteriors the median over the draws."""
    if isinstance(model, BayesianSVDD):
        return model.n_effective_atoms_
    if isinstance(model, KernelSVC):
        return None
    weights = getattr(model, "alpha_", np.empty(0))
    return float(weights.sum() ** 2 / np.sum(weights**2))


def r_hat(model: BaseEstimator) -> float | None:
    """The largest R-hat of what the chains are compared by."""
    return float(diagnose(model.idata_).r_hat.max()) if isinstance(model, BayesianSVDD) else None


def run_cell(
    boundary: str, p: int, imbalance: int, contamination: float, replicate: int, model: str,
    random_state: int,
) -> dict[str, Any]:  # fmt: skip
    """One model on one replicate of one design; ``random_state`` is for its chains."""
    X, y, Z, truth = make_data(boundary, p, imbalance, contamination, replicate)
    return judge(fit(MODELS[model], X, y, random_state), Z, truth)


def make_pair(variance: float, redraw: str, pair: int) -> tuple[Array, Array, Array, Array]:
    """Training and test set, scaled by the training targets; labels +1 and, for class 1, -1.

    With coefficients per data set one draw serves the pair; if it leaves less than 5 % of a class
    in the training set, it is drawn again, since nothing could be learned.
    """
    cell = {"variance": variance, "redraw": redraw, "pair": pair}
    random = np.random.RandomState(cell_seed(cell, SEED))
    while True:
        X, label = datasets.make_random_logit(
            2000, variance=variance, redraw=redraw, random_state=random
        )
        # Every second point, so that both sets hold a tenth of component 1.
        train, test = np.arange(0, 2000, 2), np.arange(1, 2000, 2)
        if 0.05 <= label[train].mean() <= 0.95 and 0 < label[test].mean() < 1:
            break
    y = np.where(label == 1, -1, 1)
    scaler = StandardScaler().fit(X[train][y[train] == 1])
    return scaler.transform(X[train]), y[train], scaler.transform(X[test]), y[test]


def run_pair(
    variance: float, redraw: str, pair: int, model: str, random_state: int
) -> dict[str, Any]:
    """One of the four models, as printed, on one pair of the replication."""
    X, y, Z, truth = make_pair(variance, redraw, pair)
    found = judge(fit(REPLICATED[model], X, y, random_state), Z, truth)
    return {"prevalence": float((truth < 0).mean())} | found


def cells() -> Iterator[dict[str, Any]]:
    """All cells of the question asked again."""
    for replicate in range(REPLICATES):
        for variation in VARIATIONS:
            for model in MODELS:
                yield {**CENTRE, **variation, "replicate": replicate, "model": model}


def pairs() -> Iterator[dict[str, Any]]:
    """All cells of the replication."""
    for redraw in ("observation", "data_set"):
        for variance in (5.0, 10.0, 20.0):
            for pair in range(PAIRS):
                for model in REPLICATED:
                    yield {"variance": variance, "redraw": redraw, "pair": pair, "model": model}


def main() -> None:
    """Run both parts and write their tables."""
    parser = argparse.ArgumentParser(description="Make data/results/bayesian_svdd*.csv.")
    parser.add_argument("--store", default=None, help="a directory to resume from")
    parser.add_argument("--n-jobs", type=int, default=-1, help="workers; -1 for one a core")
    options = parser.parse_args()
    RESULTS.mkdir(exist_ok=True)
    for function, design, path in (
        (run_cell, cells(), TABLE),
        (run_pair, pairs(), REPLICATION_TABLE),
    ):
        store = options.store and f"{options.store}/{path.stem}"
        table = run_study(function, design, store=store, seed=SEED, n_jobs=options.n_jobs)
        table.to_csv(path, index=False, lineterminator="\n", float_format="%.4g")


if __name__ == "__main__":
    # Workers import the functions from the module's own name, which is not "__main__".
    from studies import bayesian_svdd

    bayesian_svdd.main()
