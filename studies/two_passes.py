r"""Does a conformal factor help a machine whose C, and whose width, are chosen with equal care?

**Question.** A transformed machine is trained twice, so that three things change at once: the
shape of the kernel, its level, which acts as another C, and the number of settings tried. What is
left for the shape when both passes have one C, when C is chosen for every machine, and when C and
the width are?

**Data.** Fresh pairs of sets from ``make_bell``, two uniform coordinates without noise: 100 points
for training, 2000 for the test: 100 pairs where nothing is chosen, 60 where C is, and 24 where C
and gamma are, for their cost. All methods of a protocol meet the same pairs.

**Methods.** The plain machine, which is the reference, and the factors of Amari and Wu, Wu and
Amari, and Williams with its ridge. Both passes have the same C and gamma. Two of the protocols
have C = 1, the default of many programs, with the factor undivided and with the factor divided by
its level; two have C = 1000 and 10 000, where the plain machine is near its best; then C is chosen,
at last C and gamma. There "plain, gamma = 1/4" takes part to show what the width alone is worth.

**Selection.** Best mean accuracy over three inner folds, the same folds and the same grid for all.
Accuracies of 33 points are coarse; ties go to the middle of the grid. Two ends of the grids are
named as saturated: a large C, for without noise the hard margin may be best, and a small gamma, for
with it the machine tends to a polynomial one, which may suit a smooth curve.

**Measure and margin.** Test accuracy in percent. A tenth of a percentage point is the smallest
difference that would matter: it is the last digit that the notebook prints. It was named with
other results on this toy in view, which lay between 0.1 and 0.4 points.

**Baselines.** The constant answers, random ones and the difference of kernel means, for which gamma
goes up to 64. The weighted machine and the moved threshold are left out for their cost: the
question is not one of imbalance.

**Seeds.** Drawn from SEED for each repeat, and from SEED_CHOSEN where something is chosen; none of
the 20 sets of the notebook is among them. The code and the grids were tried out with 900. A first
run of "C chosen" with SEED had 13 % of the choices at C = 10, then the lowest; both grids were
widened downwards, and run again on the fresh seeds of SEED_CHOSEN. That first run, which was seen,
called amari_wu better, by 0.70 [0.24, 1.17]; the second one leaves it undecided. Its tables are
two_passes_set_aside.csv and two_passes_set_aside_scores.csv.

    python -m studies.two_passes
"""

import argparse
from pathlib import Path
from typing import Any

from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator

from kernelbook.conformal import ConformalSVC
from kernelbook.datasets import make_bell
from kernelbook.study import Comparison, compare
from kernelbook.svm import KernelSVC
from studies import results

SEED, SEED_CHOSEN = 409, 411
NAME = "two_passes"
INNER = 3
MARGIN = 0.1
SCHEMES = ("amari_wu", "wu_amari", "williams")
WIDE = 1 / 4
SATURATED = {"C": "high", "gamma": "low"}
COSTS = (1.0, 10.0, 100.0, 1e3, 1e4, 1e5, 1e6)
BOTH = {"C": (0.1, 10.0, 1e3, 1e5, 1e7), "gamma": (1 / 64, 1 / 8, 1.0, 8.0, 64.0)}
# What a protocol gives to all machines, what it searches, on how many pairs of sets, and its seed.
Protocol = tuple[dict[str, Any], dict[str, Any], int, int]
PROTOCOLS: dict[str, Protocol] = {
    "C = 1, undivided": ({"C": 1.0, "gamma": WIDE}, {}, 100, SEED),
    "C = 1": ({"C": 1.0, "gamma": WIDE}, {}, 100, SEED),
    "C = 1000": ({"C": 1e3, "gamma": WIDE}, {}, 100, SEED),
    "C = 10000": ({"C": 1e4, "gamma": WIDE}, {}, 100, SEED),
    "C chosen": ({"gamma": WIDE}, {"C": COSTS}, 60, SEED_CHOSEN),
    "C and gamma chosen": ({}, BOTH, 24, SEED_CHOSEN),
}
SET_ASIDE: dict[str, Protocol] = {
    "C chosen, first run": ({"gamma": WIDE}, {"C": COSTS[1:]}, 60, SEED),
}


def draw(random_state: int) -> tuple[NDArray[Any], ...]:
    """One pair of sets: training points with labels, test points with labels."""
    X, y = make_bell(2100, random_state=random_state)
    return X[:100], y[:100], X[100:], y[100:]


def accuracy(estimator: BaseEstimator, X: ArrayLike, y: ArrayLike) -> float:
    """Percentage of right answers."""
    return 100.0 * float(estimator.score(X, y))


def methods(protocol: str) -> dict[str, tuple[BaseEstimator, dict[str, Any]]]:
    """The plain machine and the three schemes, with the grid of a protocol."""
    given, grid, *_ = (PROTOCOLS | SET_ASIDE)[protocol]
    given = given | {"solver": "exact"}
    normalize = "undivided" not in protocol
    found: dict[str, tuple[BaseEstimator, dict[str, Any]]] = {"plain": (KernelSVC(**given), grid)}
    for scheme in SCHEMES:
        found[scheme] = ConformalSVC(scheme, normalize=normalize, **given), grid
    if "gamma" in grid:
        wide = KernelSVC(**given | {"gamma": WIDE})
        found["plain, gamma = 1/4"] = wide, {"C": grid["C"]}
    return found


def run(protocol: str, **options: Any) -> Comparison:
    """Compare the methods by one protocol; ``options`` are those of ``compare``."""
    _, grid, n_repeats, seed = (PROTOCOLS | SET_ASIDE)[protocol]
    defaults: dict[str, Any] = {
        "n_repeats": n_repeats,
        "seed": seed,
        "baselines": ["always 0", "always 1", "random", "difference of kernel means"],
    }
    return compare(
        methods(protocol),
        splits=draw,
        select="accuracy",
        measures={"accuracy": accuracy},
        margin={"accuracy": MARGIN},
        reference="plain",
        inner=INNER,
        fixed={"plain, gamma = 1/4": ["gamma"]} if "gamma" in grid else None,
        saturated={name: [end] for name, end in SATURATED.items() if name in grid},
        **defaults | options,
    )


def main() -> None:
    """Run the study and write its tables."""
    parser = argparse.ArgumentParser(description=f"Make data/results/{NAME}.csv.")
    parser.add_argument("--store", default=None, help="a directory to resume from")
    parser.add_argument("--n-jobs", type=int, default=-1, help="workers; -1 for one a core")
    options = parser.parse_args()
    for name, protocols in ((NAME, PROTOCOLS), (f"{NAME}_set_aside", SET_ASIDE)):
        found = {}
        for protocol in protocols:  # a store holds the cells of one seed
            store = None if options.store is None else Path(options.store) / protocol
            found[protocol] = run(protocol, store=store, n_jobs=options.n_jobs)
        results.write(name, found)


if __name__ == "__main__":
    # Workers import the functions from the module's own name, which is not "__main__".
    from studies import two_passes

    two_passes.main()
