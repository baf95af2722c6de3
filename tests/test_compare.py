"""Comparisons: known answers, one search for all, edges, what is refused."""

import numpy as np
import pytest
from rivals import (
    GAMMAS,
    THREE,
    TWENTY,
    Chosen,
    Column,
    Stump,
    Witness,
    X,
    Y,
    by_method,
    hits,
    likes,
    noisy_data,
    own_score,
    run,
)
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import make_scorer
from sklearn.model_selection import (
    GridSearchCV,
    GroupShuffleSplit,
    KFold,
    RepeatedStratifiedKFold,
    ShuffleSplit,
    StratifiedKFold,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from kernelbook.mean_difference import MeanDifferenceClassifier
from kernelbook.study import cell_seed, paired_interval, verdict
from kernelbook.svm import KernelSVC

# --- known answers ---


@pytest.mark.slow
def test_verdicts_on_data_with_a_known_answer():
    """Of 200 methods each, noise around 0 and around 2 margins, standard error 1/3 margin."""
    noise = np.random.default_rng(5).normal(size=(20, 1, 401)) * 20**0.5 / 3
    noise[:, :, 0] = 0.0
    noise[:, :, 201:] += 2.0
    found = run(
        {f"{k}": (Column(k), {}) for k in range(401)},
        splits=[(test, [0.0], test, [0.0]) for test in noise],
        measures={"mean": own_score},
        margin={"mean": 1.0},
    )
    verdicts = found.table["verdict"][1:].to_numpy()
    assert np.isin(verdicts[:200], ["equivalent", "undecided"]).sum() >= 190
    assert (verdicts[200:] == "better").sum() >= 160


@pytest.mark.slow
def test_correction_for_resampling_keeps_the_level():
    """200 columns of noise are no better than a constant; without the correction many seem so."""
    noise, labels = np.random.default_rng(6).normal(size=(60, 200)), np.repeat([0, 1], 30)
    found = run(
        {"constant": (DummyClassifier(), {})} | {f"{k}": (Stump(k), {}) for k in range(200)},
        noise,
        labels,
        splits=TWENTY,
        measures={"accuracy": hits},
    )
    rows = found.table[1:]
    assert rows["verdict"].isin(["equivalent", "undecided"]).sum() >= 190
    assert ((rows["low"] <= 0) & (rows["high"] >= 0)).sum() >= 184
    wide = found.scores.pivot(index="repeat", columns="method", values="value") - 0.5
    naive = np.array([paired_interval(wide[f"{k}"])[1:] for k in range(200)])
    assert ((naive[:, 0] <= 0) & (naive[:, 1] >= 0)).sum() < 150


def test_identical_methods_are_equivalent():
    twins = {name: (LogisticRegression(), {}) for name in ("one", "two")}
    found = run(twins, X, Y, splits=TWENTY, baselines=["random"])
    table = by_method(found)
    assert table["verdict"].tolist() == ["reference", "equivalent", "worse"]
    assert table.loc["two", ["difference", "low", "high", "changed"]].tolist() == [0, 0, 0, 0]
    assert table["n"].tolist() == [20, 20, 20]


@pytest.mark.parametrize(
    ("low", "high", "answer"),
    [
        (0.021, 0.05, "better"),
        (0.02, 0.05, "undecided"),
        (0.001, 0.05, "undecided"),
        (-0.02, 0.02, "equivalent"),
        (0.001, 0.01, "equivalent"),
        (-0.021, 0.02, "undecided"),
        (-0.05, -0.02, "undecided"),
        (-0.05, -0.021, "worse"),
    ],
)
def test_verdict_at_the_boundaries(low, high, answer):
    assert verdict(low, high, 0.02) == answer


def test_interval_by_hand():
    # mean 2, standard deviation 1, quantile t_2(.975) = 4.302653
    mean, low, high = paired_interval([1.0, 2.0, 3.0], test_to_train=1 / 6)
    assert (mean, high - mean) == pytest.approx((2.0, 4.302653 * 0.5**0.5), rel=1e-6)
    assert high - mean == pytest.approx(mean - low)
    with pytest.raises(ValueError, match="at least two differences"):
        paired_interval([1.0])


def test_table_is_what_a_loop_over_the_splits_gives():
    grid = {"C": [0.01, 1.0], "gamma": GAMMAS}
    found = run(
        {"svc": (SVC(), grid), "weighted": (SVC(class_weight="balanced"), grid)},
        X,
        Y,
        splits=THREE,
        n_repeats=3,
        measures={
            "AP": "average_precision",
            "error": make_scorer(zero_one, greater_is_better=False),
        },
    )
    for method, weight in (("svc", None), ("weighted", "balanced")):
        chosen, scores = [], {"AP": [], "error": []}
        for repeat, (train, test) in enumerate(THREE.split(X, Y)):
            seed = cell_seed({"repeat": repeat, "for": "inner"})
            search = GridSearchCV(
                SVC(class_weight=weight),
                grid,
                scoring="average_precision",
                cv=StratifiedKFold(3, shuffle=True, random_state=seed),
            ).fit(X[train], Y[train])
            scores["AP"].append(search.score(X[test], Y[test]))
            scores["error"].append(-zero_one(Y[test], search.predict(X[test])))
            chosen += [search.best_params_["C"], search.best_params_["gamma"]]
        rows = found.scores[found.scores["method"] == method]
        for measure, values in scores.items():
            assert rows.loc[rows["measure"] == measure, "value"].tolist() == values
        of_method = found.choices[found.choices["method"] == method]
        assert of_method["value"].tolist() == chosen
        assert of_method["repeat"].tolist() == [0, 0, 1, 1, 2, 2]
    assert found.table["n_settings"].tolist() == [6, 6, 6, 6]
    assert found.table["measure"].tolist() == ["AP", "AP", "error", "error"]


def zero_one(y, prediction):
    return float(np.mean(np.asarray(y) != prediction))


# --- one search ---


def test_an_unequal_grid_raises():
    methods = {
        "svm": (make_pipeline(StandardScaler(), KernelSVC()), {"kernelsvc__gamma": GAMMAS}),
        "means": (MeanDifferenceClassifier(), {"gamma": GAMMAS[1:]}),
    }
    with pytest.raises(ValueError, match=r"gamma has the grid .* in 'svm' and .* in 'means'"):
        run(methods, X, Y, splits=TWENTY)


def test_a_parameter_that_is_not_searched_has_to_be_named():
    methods = {
        "rbf": (SVC(), {"C": [1.0, 10.0], "gamma": GAMMAS}),
        "line": (SVC(kernel="linear"), {"C": [1.0, 10.0]}),
    }
    with pytest.raises(ValueError, match=r"gamma is searched in 'rbf' and not in 'line'"):
        run(methods, X, Y, splits=THREE, n_repeats=3)
    found = run(methods, X, Y, splits=THREE, n_repeats=3, fixed={"line": ["gamma"]})
    assert by_method(found)["fixed"].tolist() == ["", "gamma"]
    assert by_method(found)["n_settings"].tolist() == [6, 2]


def test_own_parameters_come_on_top():
    methods = {
        "means": (MeanDifferenceClassifier(), {"gamma": GAMMAS}),
        "svm": (KernelSVC(), {"gamma": GAMMAS, "class_weight": [None, "balanced"]}),
    }
    found = run(methods, X, Y, splits=THREE, n_repeats=3)
    assert by_method(found)["n_settings"].tolist() == [3, 6]
    assert "class_weight " in by_method(found).loc["svm", "chosen"]


@pytest.mark.parametrize(
    ("best", "end", "allowed", "edge", "widen"),
    [
        (1.0, "low", {}, 1.0, "level"),
        (3.0, "high", {}, 1.0, "level"),
        (2.0, "", {}, 0.0, ""),
        (3.0, "saturated", {"level": ["high"]}, 0.0, ""),
        (3.0, "high", {"level": ["low"]}, 1.0, "level"),
    ],
)
def test_a_choice_at_an_edge_is_flagged(best, end, allowed, edge, widen):
    found = run(
        {"a": (Chosen(), {"level": [1.0, 2.0, 3.0]})},
        X,
        Y,
        splits=THREE,
        n_repeats=3,
        select=likes(best),
        saturated=allowed,
    )
    assert found.choices["edge"].tolist() == [end] * 3
    assert found.choices["value"].tolist() == [best] * 3
    row = by_method(found).loc["a"]
    assert (row["edge"], row["widen"]) == (edge, widen)
    assert row["chosen"] == f"level {best:g} [{best:g}, {best:g}]"


def test_of_equally_good_settings_the_middle_one_is_chosen():
    found = run(
        {"a": (Chosen(), {"level": [1.0, 2.0, 3.0, 4.0, 5.0]})}, X, Y, splits=THREE, n_repeats=3
    )
    assert found.choices["value"].tolist() == [3.0] * 3


def test_inner_and_outer_splits_keep_groups_together():
    groups = np.repeat(np.arange(25), 4)
    marked, shared = np.column_stack([X, groups]), []

    def overlap(estimator, X_test, y_test):
        seen = estimator.estimator_.seen_
        shared.append(len(np.intersect1d(seen, X_test[:, 2])))
        return 1.0

    class Remembers(Chosen):
        def fit(self, X, y):
            self.seen_ = X[:, 2]
            return super().fit(X, y)

    run(
        {"a": (Remembers(), {"level": [1.0, 2.0]})},
        marked,
        np.tile([0, 0, 0, 1], 25),
        splits=GroupShuffleSplit(3, test_size=0.2, random_state=0),
        groups=groups,
        n_repeats=3,
        select=overlap,
        measures={"overlap": overlap},
    )
    assert shared == [0] * 3 * (2 * 3 + 1)


# --- what is refused ---


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"reference": "svm"}, "reference names .'svm'., but there are only"),
        ({"margin": {}}, "margin of 'AP' must be positive, got None"),
        ({"margin": {"AP": 0.0}}, "margin of 'AP' must be positive, got 0.0"),
        ({"margin": {"AP": 0.1, "F1": 0.1}}, "margin names .'F1'."),
        ({"splits": THREE}, "splits are 3 repeats"),
        ({"splits": RepeatedStratifiedKFold(n_splits=5, n_repeats=4, random_state=0)}, "4 repeats"),
        ({"splits": 5}, "splits are 1 repeats"),
        ({"splits": ShuffleSplit(1, random_state=0), "n_repeats": 1}, "at least two splits, got 1"),
        ({"splits": ShuffleSplit(20)}, "splits gives other parts each time"),
        ({"inner": KFold(3, shuffle=True)}, "inner gives other parts each time"),
        ({"baselines": ["prior"]}, "baselines names .'prior'."),
        ({"saturated": {"D": ["low"]}}, "saturated names .'D'."),
        ({"saturated": {"C": ["up"]}}, "saturated names .'up'."),
        ({"fixed": {"b": ["C"]}}, "fixed names .'b'."),
        ({"with_outliers": ["b"]}, "with_outliers names .'b'."),
        ({"cutoff": 0.1}, "target= has to name the class"),
        ({"cutoff": 1.5, "target": 0}, "cutoff must be a fraction between 0 and 1"),
    ],
)
def test_what_cannot_be_fair_is_refused(options, message):
    methods = {"a": (LogisticRegression(), {"C": [0.1, 1.0]})}
    with pytest.raises(ValueError, match=message):
        run(methods, X, Y, **{"splits": TWENTY, **options})


def test_data_without_labels_are_refused():
    with pytest.raises(ValueError, match="give both X and y, or neither"):
        run({"a": (Stump(), {})}, X, splits=TWENTY)


def test_detectors_need_a_target_and_two_classes():
    with pytest.raises(ValueError, match="target= has to name the class"):
        run({"a": (Witness(), {})}, X, Y, splits=TWENTY)
    with pytest.raises(ValueError, match="need labels y of two classes"):
        run({"a": (Witness(), {})}, X, np.arange(100) % 3, splits=TWENTY, target=0)


def test_a_score_that_is_not_finite_is_an_error():
    with pytest.raises(ValueError, match="AP of 'a' is nan in repeat 0"):
        run({"a": (Stump(), {})}, X, Y, splits=TWENTY, measures={"AP": lambda *_: np.nan})


@pytest.mark.filterwarnings("ignore:One or more of the test scores")  # scikit-learn's own
def test_a_selection_that_is_not_finite_is_an_error():
    with pytest.raises(ValueError, match="select= is not finite in some inner fold"):
        run(
            {"a": (Chosen(), {"level": [1.0, 2.0]})},
            X,
            Y,
            splits=TWENTY,
            select=lambda *_: np.nan,
        )


def test_labels_that_the_first_data_set_lacks_are_an_error():
    sets = [noisy_data(0), tuple(np.where(part == 1, 7, part) for part in noisy_data(1))]
    with pytest.raises(ValueError, match="repeat 1 has labels that repeat 0 lacks"):
        run({"a": (DummyClassifier(), {})}, splits=sets, n_repeats=2)
