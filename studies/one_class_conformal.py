r"""One-class machines with a plain and a conformal kernel, and two-class machines, on patients.

**Question.** Does the conformal factor of Cohen, Hilario and Pellegrini (2004) help a one-class
machine to find ill patients, and does it rank them as well as a two-class machine with tuned
weights?

**Data.** NHEFS mortality, hypothyroid, sick euthyroid, each row once. The thyroid files are thinned
out, by one draw for all repeats, to the size and the prevalence of NHEFS: at most 145 ill and 1177
healthy patients. The hypothyroid file has only 141 ill ones. Intervals are for these rows.

**Splits.** 20 random stratified ones, 683 patients for training, 75 of them ill (in hypothyroid
73 or 74), and as many as in the publication; the others for the test. Blanks are filled with
medians and features standardised on the training part.

**Methods.** One-class SVM, plain (the reference) and conformal (floor 0.01, one pass); a two-class
machine with the weight of the ill *tuned* (the asymmetric margin), and the standard baselines: the
same with balanced weights and with none, the difference of two kernel means, the Parzen window. The
SVDD is left out: with the RBF kernel it is the one-class SVM. One-class machines learn from the
healthy alone; the ill of the training part help to choose a setting and the cut-off, as for all.

**Grids.** Equal for all that have the parameter: nu; gamma in units of one over the number d of
features; C. On top, tau in units of the root of d, and the weight. Saturated ends: gamma to 0 (the
RBF kernel becomes a quadratic one), nu to 1 (all weights equal: the Parzen window), nu to 0 (no
training point outside), tau to infinity (a constant factor, the plain kernel).

**Selection and cut-off.** Best ROC AUC in three inner folds. Then one rule for all decisions: the
threshold with the best G-mean on the inner folds.

**Measures and margins.** ROC AUC, margin 0.02: about half of what a test of 70 ill patients can
resolve for a single machine. G-mean of the two rates, margin 0.03; sensitivity and specificity,
margin 0.05, for the predictive values.

**At equal settings.** The same data and splits, no search: plain against conformal machines of one,
two and four passes with the same nu and gamma, and tau in units of the rule
:math:`\sigma / \sqrt{d}`. This isolates the factor from the search. Own grid of 12 settings.

**Seeds.** 1104 draws rows and splits, never used before the run. The grids were settled on seed 900
and four repeats. The tables are data/results/one_class_conformal.csv and
one_class_conformal_equal.csv, made by

    python -m studies.one_class_conformal
"""

import argparse
from itertools import product
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.impute import SimpleImputer
from sklearn.metrics import make_scorer, recall_score
from sklearn.model_selection import StratifiedShuffleSplit
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler

from kernelbook import datasets
from kernelbook.conformal import ConformalOneClassSVM
from kernelbook.oneclass import OneClassSVM
from kernelbook.study import Comparison, compare
from kernelbook.svm import KernelSVC
from studies import results

SEED = 1104
REPEATS = 20
FILES = {
    "NHEFS": "nhefs_mortality",
    "hypothyroid": "hypothyroid",
    "sick euthyroid": "thyroid0387_euthyroid",
}
ILL, HEALTHY = 145, 1177  # of NHEFS
FLOOR = 0.01
TRAINING = 683
NUS = [0.05, 0.3, 0.8]
WIDTHS = [0.01, 0.1, 1.0, 10.0]  # gamma d
TAUS = [0.2, 1.0, 5.0]  # tau / sqrt(d)
COSTS = [0.01, 0.1, 1.0, 10.0]
WEIGHTS = [1.0, 5.0, 25.0]  # of an ill patient, that of a healthy one being 1
MARGINS = {"ROC AUC": 0.02, "G-mean": 0.03, "sensitivity": 0.05, "specificity": 0.05}
EQUAL = list(product((0.05, 0.2, 0.4), (0.01, 1.0), (1.0, 3.0)))  # nu, gamma d, tau of the rule


def load(file: str, seed: int = SEED) -> tuple[np.ndarray, np.ndarray]:
    """Features (n, d) with blanks, and 1 for ill patients (n,), each row once."""
    bunch = getattr(datasets, f"load_{FILES[file]}")(as_frame=True)
    kept = np.unique(bunch.groups, return_index=True)[1]
    # Who had TBG measured was decided by a physician who had seen the patient.
    frame = bunch.data.drop(columns=["TBG", "TBG_measured"], errors="ignore").iloc[kept]
    X, y = frame.to_numpy(float), bunch.target.to_numpy()[kept]
    rows = np.random.default_rng(seed).permutation(len(y))
    chosen = np.concatenate([rows[y[rows] == 1][:ILL], rows[y[rows] == 0][:HEALTHY]])
    return X[np.sort(chosen)], y[np.sort(chosen)]


def g_mean(y: np.ndarray, answers: np.ndarray) -> float:
    """Root of sensitivity times specificity."""
    return float(np.sqrt(np.prod(recall_score(y, answers, labels=[0, 1], average=None))))


class AsymmetricSVC(ClassifierMixin, BaseEstimator):
    """Two-class machine with the weight of an ill patient, that of a healthy one being 1.

    A number of its own, so that the comparison sees where it lies in its grid.
    """

    def __init__(self, C: float = 1.0, gamma: float = 1.0, weight: float = 1.0) -> None:
        self.C = C
        self.gamma = gamma
        self.weight = weight

    def fit(self, X: Any, y: Any) -> Self:
        """Fit to labels 0 (healthy) and 1 (ill)."""
        weights = {0: 1.0, 1: self.weight}
        self.machine_ = KernelSVC(self.C, gamma=self.gamma, class_weight=weights).fit(X, y)
        self.classes_ = self.machine_.classes_
        return self

    def decision_function(self, X: Any) -> np.ndarray:
        """Positive where the machine answers 1."""
        return self.machine_.decision_function(X)

    def predict(self, X: Any) -> np.ndarray:
        """0 or 1."""
        return self.machine_.predict(X)


def behind_scaling(machine: BaseEstimator) -> Pipeline:
    """The machine behind filling and scaling, learned from the rows that it is fitted to."""
    fill = SimpleImputer(strategy="median", keep_empty_features=True)
    return Pipeline([("fill", fill), ("scale", StandardScaler()), ("machine", machine)])


def methods(d: int) -> dict[str, tuple[Pipeline, dict[str, Any]]]:
    """The three machines and their grids for d features."""
    gamma = {"machine__gamma": [width / d for width in WIDTHS]}
    one_class = {"machine__nu": NUS} | gamma
    tau = {"machine__tau": [tau * np.sqrt(d) for tau in TAUS]}
    asymmetric = {"machine__C": COSTS, "machine__weight": WEIGHTS} | gamma
    return {
        "one-class": (behind_scaling(OneClassSVM()), one_class),
        "conformal": (behind_scaling(ConformalOneClassSVM(floor=FLOOR)), one_class | tau),
        "asymmetric": (behind_scaling(AsymmetricSVC()), asymmetric),
    }


def splitter(repeats: int, seed: int = SEED) -> StratifiedShuffleSplit:
    """The splits, the same ones for both parts of the study."""
    return StratifiedShuffleSplit(repeats, train_size=TRAINING, random_state=seed)


def run(file: str, repeats: int = REPEATS, seed: int = SEED, **options: Any) -> Comparison:
    """Compare all machines on one file, each with its search."""
    X, y = load(file, seed)
    return compare(
        methods(X.shape[1]),
        X,
        y,
        splits=splitter(repeats, seed),
        select="roc_auc",
        measures={
            "ROC AUC": "roc_auc",
            "G-mean": make_scorer(g_mean),
            "sensitivity": make_scorer(recall_score),
            "specificity": make_scorer(recall_score, pos_label=0),
        },
        margin=MARGINS,
        reference="one-class",
        n_repeats=repeats,
        inner=3,
        cutoff=make_scorer(g_mean),
        target=0,
        saturated={"gamma": ["low"], "nu": ["low", "high"], "tau": ["high"]},
        seed=seed,
        **options,
    )


def run_equal(
    file: str,
    setting: tuple[float, float, float],
    repeats: int = REPEATS,
    seed: int = SEED,
    **options: Any,
) -> Comparison:
    """Compare the plain with the conformal machine at one nu, gamma d and tau of the rule."""
    X, y = load(file, seed)
    nu, width, tau = setting
    shared = {"nu": nu, "gamma": width / X.shape[1]}
    machines: dict[str, BaseEstimator] = {"plain": OneClassSVM(**shared)}
    for passes in (1, 2, 4):
        machines[f"conformal, passes: {passes}"] = ConformalOneClassSVM(
            **shared, tau=tau / np.sqrt(2 * width), floor=FLOOR, n_passes=passes
        )
    return compare(
        {name: (behind_scaling(machine), {}) for name, machine in machines.items()},
        X,
        y,
        splits=splitter(repeats, seed),
        select="roc_auc",
        measures={"ROC AUC": "roc_auc"},
        margin={"ROC AUC": MARGINS["ROC AUC"]},
        reference="plain",
        n_repeats=repeats,
        inner=3,
        target=0,
        baselines=[],
        seed=seed,
        **options,
    )


def name_of(file: str, setting: tuple[float, float, float]) -> str:
    """The first column of the table at equal settings."""
    return "{}: nu {:g}, gamma d {:g}, tau {:g}".format(file, *setting)


def main() -> None:
    """Run both parts and write their tables."""
    parser = argparse.ArgumentParser(description="Make data/results/one_class_conformal*.csv.")
    parser.add_argument("--store", default=None, help="a directory to resume from")
    parser.add_argument("--n-jobs", type=int, default=-1, help="workers; -1 for one a core")
    options = vars(parser.parse_args())
    results.write("one_class_conformal", {file: run(file, **options) for file in FILES})
    equal = {name_of(*case): run_equal(*case, **options) for case in product(FILES, EQUAL)}
    results.write("one_class_conformal_equal", equal)


if __name__ == "__main__":
    # Workers import the functions from the module's own name, which is not "__main__".
    from studies import one_class_conformal

    one_class_conformal.main()
