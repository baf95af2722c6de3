"""A comparison depends on its seed alone: backends, resumption, tables as files."""

import pickle

import numpy as np
import pandas as pd
import pytest
from rivals import (
    THREE,
    Stump,
    X,
    Y,
    as_bytes,
    by_method,
    noisy_data,
    run,
)
from sklearn.dummy import DummyClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from kernelbook.svm import KernelSVC

RIVALS = {
    "stump": (Stump(1), {}),
    "svm": (make_pipeline(StandardScaler(), KernelSVC()), {"kernelsvc__gamma": [0.1, 1.0]}),
}
ACCURACY = {"select": "accuracy", "measures": {"accuracy": "accuracy"}, "n_repeats": 4}


@pytest.mark.slow
def test_equal_on_every_backend():
    from distributed import Client, LocalCluster

    chosen = ["random", "difference of kernel means"]
    options = {**ACCURACY, "splits": noisy_data, "baselines": chosen}
    expected = as_bytes(run(RIVALS, **options))
    for backend in ("threading", "loky"):
        assert as_bytes(run(RIVALS, backend=backend, n_jobs=2, **options)) == expected, backend
    with (
        LocalCluster(dashboard_address=":0", n_workers=1, processes=False) as cluster,
        Client(cluster),
    ):
        assert as_bytes(run(RIVALS, backend="dask", **options)) == expected


def test_another_seed_is_another_comparison():
    first, second = (run(RIVALS, splits=noisy_data, seed=seed, **ACCURACY) for seed in (0, 1))
    assert as_bytes(first) != as_bytes(second)
    assert as_bytes(first) == as_bytes(run(RIVALS, splits=noisy_data, seed=0, **ACCURACY))


def test_a_maker_gets_one_seed_for_each_repeat():
    seeds = []

    def make(random_state):
        seeds.append(random_state)
        return noisy_data(random_state)

    run(RIVALS, splits=make, **ACCURACY)
    assert seeds[0] == seeds[1]  # looked at before the first cell
    assert len(set(seeds)) == 4
    assert all(seeds.count(seed) >= 2 for seed in seeds)


def test_methods_of_a_repeat_share_their_seed():
    chance = DummyClassifier(strategy="uniform")
    found = run(
        {"a": (chance, {}), "b": (make_pipeline(StandardScaler(), chance), {})},
        X,
        Y,
        splits=THREE,
        measures={"accuracy": "accuracy"},
        n_repeats=3,
    )
    assert by_method(found).loc["b", "changed"] == 0
    assert found.scores["value"].nunique() > 1


def test_fraction_of_answers_that_differ():
    test = np.arange(10.0)[:, None]
    fixed = {f"always {k}": (DummyClassifier(strategy="constant", constant=k), {}) for k in (1, 0)}
    found = run(
        {**fixed, "stump": (Stump(), {})},
        splits=[(test, np.repeat([0, 1], [3, 7]), test, np.repeat([0, 1], 5))] * 2,
        n_repeats=2,
        measures={"accuracy": "accuracy"},
    )
    # The stump cuts at (1 + 6) / 2 = 3.5 and answers 0 to 0, 1, 2, 3.
    assert by_method(found)["changed"].tolist() == [0.0, 1.0, 0.4]


def test_a_comparison_resumes_and_notices_what_has_changed(tmp_path, monkeypatch):
    fits = []
    fit = Stump.fit

    def counted(self, X, y):
        fits.append(self.column)
        return fit(self, X, y)

    monkeypatch.setattr(Stump, "fit", counted)

    def again(methods, **options):
        before = len(fits)
        found = run(methods, **{"splits": noisy_data, "store": tmp_path, **ACCURACY, **options})
        return found, len(fits) - before

    both = {"a": (Stump(0), {}), "b": (Stump(1), {})}
    first, n = again(both)
    assert n == 8
    second, n = again(both)
    assert (n, as_bytes(second)) == (0, as_bytes(first))
    assert again(both, n_repeats=5)[1] == 2
    assert again({**both, "c": (Stump(0), {})})[1] == 4
    assert again({**both, "b": (Stump(0), {})})[1] == 4
    assert again(both, measures={"accuracy": "balanced_accuracy"})[1] == 8
    sets = [noisy_data(seed) for seed in range(4)]
    assert again(both, splits=sets)[1] == 8
    assert again(both, splits=sets)[1] == 0


def test_tables_survive_pickle_and_csv(tmp_path):
    found = run(RIVALS, splits=noisy_data, **ACCURACY)
    assert as_bytes(pickle.loads(pickle.dumps(found))) == as_bytes(found)
    found.table.to_csv(tmp_path / "table.csv", index=False)
    kept = pd.read_csv(tmp_path / "table.csv", keep_default_na=False)
    pd.testing.assert_frame_equal(kept, found.table, check_dtype=False)


def test_a_damaged_result_is_recomputed_on_request(tmp_path):
    options = {**ACCURACY, "splits": noisy_data, "baselines": ["random"], "store": tmp_path}
    expected = as_bytes(run(RIVALS, **options))
    damaged = next(path for path in tmp_path.glob("*.json") if path.name != "study.json")
    damaged.write_text(damaged.read_text().replace("score", "Score"))
    with pytest.raises(ValueError, match=f"{damaged.name} was altered(.|\n)*on_damage='recompute'"):
        run(RIVALS, **options)
    assert as_bytes(run(RIVALS, on_damage="recompute", **options)) == expected
    assert as_bytes(run(RIVALS, **options)) == expected
