"""Studies: same numbers on every backend and in any order, resumable, honest about failures."""

import importlib
import json
import os
import signal
import subprocess
import sys
import time
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.utils import check_random_state

from kernelbook.study import cell_seed, run_study


def measure(n, kind, random_state, options=None):
    """Some statistics of n draws; numbers of every sort."""
    rng = np.random.default_rng(random_state)
    draws = rng.normal(size=n)
    return {
        "mean": draws.mean(),
        "largest": np.float32(draws.max()),
        "third": 1 / 3,
        "count": np.int64((draws > 0).sum()),
        "any": np.bool_(draws.max() > 1),
        "name": f"{kind}-{n}",
        "nothing": None,
        "undefined": float("nan"),
    }


def fragile(x, random_state):
    if x in (2, 4):
        raise RuntimeError(f"no luck with {x}")
    return {"square": x**2}


def deadly(x, random_state):
    if x == 1:
        os._exit(3)
    return {"square": x**2}


CELLS = [{"n": n, "kind": kind} for n in (5, 50, 500) for kind in ("a", "b", "c")]


def quiet(function, cells, **options):
    return run_study(function, cells, progress=False, **{"backend": "sequential", **options})


def as_bytes(table):
    return table.to_csv(index=False).encode(), table.dtypes.astype(str).to_dict()


def shuffled(cells, seed=0):
    return [cells[i] for i in np.random.default_rng(seed).permutation(len(cells))]


def test_table_in_the_order_of_the_cells():
    table = quiet(measure, CELLS)
    assert table.columns.tolist()[:4] == ["n", "kind", "mean", "largest"]
    assert table[["n", "kind"]].to_dict("records") == CELLS
    for cell, (_, row) in zip(CELLS, table.iterrows(), strict=True):
        by_hand = measure(**cell, random_state=cell_seed(cell))
        for name in ("mean", "largest", "third", "count", "any", "name"):
            assert row[name] == by_hand[name]
        assert pd.isna(row["nothing"]) and pd.isna(row["undefined"])
    assert table["any"].dtype == bool
    assert table["count"].dtype == np.int64


def test_same_bytes_on_every_backend_and_in_any_order(tmp_path):
    from distributed import Client, LocalCluster

    expected = as_bytes(quiet(measure, CELLS))
    tables = {
        "loky": run_study(measure, shuffled(CELLS, 1), n_jobs=2, progress=False),
        "threading": quiet(measure, shuffled(CELLS, 2), backend="threading", n_jobs=2),
        "store": quiet(measure, shuffled(CELLS, 3), store=tmp_path),
    }
    with (
        LocalCluster(
            dashboard_address=":0",
            n_workers=2,
            threads_per_worker=1,
            processes=True,
        ) as cluster,
        Client(cluster),
    ):
        tables["dask"] = quiet(measure, shuffled(CELLS, 4), backend="dask")
        with pytest.raises(ValueError, match=r"2 of 6 cells failed(.|\n)*no luck with 4"):
            quiet(fragile, [{"x": x} for x in range(6)], backend="dask")
    tables["resumed"] = quiet(measure, CELLS, store=tmp_path)
    order = pd.DataFrame(CELLS)
    for name, table in tables.items():
        assert as_bytes(order.merge(table, how="left", on=["n", "kind"])) == expected, name


def test_seed_of_a_cell_depends_on_seed_and_content_only():
    cell = {"b": 0.1, "a": [1, None, {"c": "x"}], "n": np.int64(3)}
    seed = cell_seed(cell)
    assert seed == cell_seed({"n": 3, "a": (1, None, {"c": "x"}), "b": np.float64(0.1)})
    assert seed != cell_seed({**cell, "b": np.nextafter(0.1, 1)})
    assert seed != cell_seed(cell, seed=1)
    check_random_state(seed)
    seeds = [cell_seed({"replicate": r}) for r in range(2000)]
    assert len(set(seeds)) == 2000
    assert np.mean(seeds) == pytest.approx(2**31, rel=0.05)
    table = quiet(measure, CELLS, seed=3)
    assert table["mean"].nunique() == len(CELLS)
    assert not np.any(table["mean"] == quiet(measure, CELLS)["mean"])
    few = quiet(measure, CELLS[4:5], seed=3)
    assert few["mean"].item() == table["mean"][4]


@given(st.lists(st.floats(), min_size=1, max_size=5, unique_by=repr))
def test_floats_survive_exactly(values):
    def keep(x, random_state):
        return {"same": x, "rounded": x / 3 if np.isfinite(x) else None}

    table = quiet(keep, [{"x": x} for x in dict.fromkeys(map(float, values))])
    for x, same in zip(table["x"], table["same"], strict=True):
        assert np.array_equal(x, same, equal_nan=True)


# Cells from 7 on wait for a file "go", so that the kill always comes half way.
SLOW_MODULE = """
import time, uuid
from pathlib import Path
from kernelbook.study import run_study

def slow(x, random_state):
    Path("calls", f"{x}-{uuid.uuid4()}").touch()
    while x >= 7 and not Path("go").exists():
        time.sleep(0.01)
    return {"y": x / 7 + random_state}

CELLS = [{"x": x} for x in range(16)]

def main(store, backend):
    return run_study(slow, CELLS, backend=backend, store=store, progress=False, n_jobs=2)
"""


def cell_files(store):
    return [path for path in store.glob("*.json") if path.name != "study.json"]


@pytest.mark.skipif(os.name != "posix", reason="kills a group of processes")
def test_a_killed_study_resumes(tmp_path, monkeypatch):
    (tmp_path / "slow_module.py").write_text(SLOW_MODULE)
    (tmp_path / "calls").mkdir()
    store = tmp_path / "store"
    process = subprocess.Popen(
        [sys.executable, "-c", "import slow_module; slow_module.main('store', 'loky')"],
        cwd=tmp_path,
        start_new_session=True,
    )
    deadline = time.monotonic() + 120
    while len(cell_files(store)) < 7 and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.02)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    finished = {json.loads(path.read_text())["cell"]["x"] for path in cell_files(store)}
    assert finished == set(range(7))
    (tmp_path / "go").touch()

    def calls():
        return [int(path.name.split("-")[0]) for path in (tmp_path / "calls").iterdir()]

    before = len(calls())
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.chdir(tmp_path)
    slow_module = importlib.import_module("slow_module")

    resumed = slow_module.main("store", "sequential")
    assert sorted(calls())[:7] == list(range(7))  # none of them ran twice
    assert len(calls()) - before == 9
    assert as_bytes(resumed) == as_bytes(slow_module.main("another", "threading"))
    before = len(calls())
    assert as_bytes(slow_module.main("store", "sequential")) == as_bytes(resumed)
    assert len(calls()) == before


def test_finished_cells_are_stored_at_once(tmp_path):
    seen = []

    def count_files(x, random_state):
        seen.append(len(cell_files(tmp_path)))
        return {"y": x}

    quiet(count_files, [{"x": x} for x in range(4)], store=tmp_path)
    assert seen == [0, 1, 2, 3]


def test_a_failing_cell_does_not_lose_the_others(tmp_path):
    cells = [{"x": x} for x in range(6)]
    with pytest.raises(ValueError, match="2 of 6 cells failed") as caught:
        quiet(fragile, cells, store=tmp_path)
    message = str(caught.value)
    for part in ('cell {"x": 2}', 'cell {"x": 4}', "RuntimeError: no luck with 2", "in fragile"):
        assert part in message
    assert len(cell_files(tmp_path)) == 4
    table = quiet(fragile, cells, store=tmp_path, on_error="record")
    assert table["traceback"].isna().tolist() == [True, True, False, True, False, True]
    assert table["square"].fillna(-1).tolist() == [0, 1, -1, 9, -1, 25]
    fine = quiet(fragile, [{"x": 1}], on_error="record")
    assert fine["traceback"].tolist() == [None]


def test_a_dying_worker_fails_unfinished_cells_only(tmp_path):
    table = run_study(
        deadly,
        [{"x": x} for x in range(3)],
        n_jobs=2,
        progress=False,
        on_error="record",
        store=tmp_path,
    )
    failed = table["traceback"].notna()
    assert failed[1]
    assert "worker process died" in table["traceback"][1]
    assert len(cell_files(tmp_path)) == (~failed).sum()


def test_store_belongs_to_one_function_and_seed(tmp_path):
    store = tmp_path / "made" / "as needed"
    quiet(fragile, [{"x": 1}], store=store)
    with pytest.raises(ValueError, match=r"holds the study .*fragile.*not .*measure"):
        quiet(measure, CELLS, store=store)
    with pytest.raises(ValueError, match=r"'seed': 0.*not .*'seed': 1"):
        quiet(fragile, [{"x": 1}], store=store, seed=1)
    with pytest.raises(ValueError, match="a function with a name"):
        quiet(lambda x, random_state: {"y": x}, [{"x": 1}], store=tmp_path / "lambda")
    (tmp_path / "other.json").write_text("{}")
    with pytest.raises(ValueError, match=r"study\.json is missing"):
        quiet(fragile, [{"x": 1}], store=tmp_path)


def test_functions_without_a_signature_and_scalar_arrays():
    class Opaque:
        __signature__ = "none"

        def __call__(self, x, random_state):
            return {"y": np.array(x / 2)}

    assert quiet(Opaque(), [{"x": np.array(3.0)}])["y"].tolist() == [1.5]


def test_lists_and_missing_entries_in_cells():
    def total(values, random_state, scale=1.0):
        return {"total": scale * sum(values)}

    table = quiet(total, [{"values": (1, 2)}, {"values": [3], "scale": 2.0}])
    assert table["total"].tolist() == [3.0, 6.0]
    assert table.columns.tolist() == ["values", "scale", "total"]
    assert quiet(total, []).empty


@pytest.mark.parametrize(
    ("cells", "options", "message"),
    [
        ([{"x": 1}], {"backend": "spark"}, "backend must be one of 'loky'"),
        ([{"x": 1}], {"on_error": "ignore"}, "on_error must be one of"),
        ([{"x": 1}], {"on_damage": "ignore"}, "on_damage must be one of"),
        ([{"x": 1}], {"seed": 0.5}, "seed must be an int"),
        ([{"x": 1}], {"backend": "dask"}, "uses the active client, and there is none"),
        ([{"x": 1}, {"x": 1}], {}, r"cells\[1\] equals cells\[0\].*'replicate'"),
        ([{"x": 1}, {"z": 1}], {}, r"cells\[1\] does not fit"),
        ([{"x": 1, "random_state": 0}], {}, r"cells\[0\] has the entry 'random_state'"),
        ([{"x": [1, {"a": object()}]}], {}, r"cells\[0\]\['x'\]\[1\]\['a'\] is <object"),
        ([{"x": np.arange(3)}], {}, r"cells\[0\]\['x'\] is array.*only str, bool"),
        ([{"x": Fraction(1, 3)}], {}, r"of type Fraction"),
        ([{"x": {1: 2}}], {}, "keys must be strings"),
        ([[1]], {}, r"cells\[0\] must be a dict"),
    ],
)
def test_errors_before_anything_runs(cells, options, message):
    def never(x, random_state):
        raise AssertionError("ran")

    with pytest.raises(ValueError, match=message):
        quiet(never, cells, **options)


@pytest.mark.parametrize(
    ("result", "message"),
    [
        ({"y": np.zeros(2)}, r"result\['y'\] is array"),
        ({"y": [1, 2]}, r"result\['y'\] is a list: return scalars"),
        ({"x": 1}, r"result\['x'\] has the name of another column"),
        ({"y": 1j}, "of type complex"),
        (3.0, "must return a dict, got 3.0"),
    ],
)
def test_results_have_to_be_scalars(result, message):
    def give(x, random_state):
        return result

    with pytest.raises(ValueError, match=rf'cell {{"x": 1}}(.|\n)*{message}'):
        quiet(give, [{"x": 1}])


def test_progress_bar_counts_finished_cells(tmp_path, monkeypatch, capsys):
    shown = []

    class Bar:
        def __init__(self, **options):
            shown.append(options)

        def __enter__(self):
            return self

        def __exit__(self, *exception):
            shown.append("closed")

        def update(self):
            shown.append("cell")

    monkeypatch.setattr("tqdm.auto.tqdm", Bar)
    quiet(fragile, [{"x": 1}], store=tmp_path)
    assert shown == []
    run_study(fragile, [{"x": 1}, {"x": 3}], backend="sequential", store=tmp_path)
    assert shown == [{"total": 2, "initial": 1, "desc": "cells"}, "cell", "closed"]
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("module", "options"),
    [("tqdm.auto", {"progress": True}), ("distributed", {"backend": "dask"}), ("pandas", {})],
)
def test_missing_packages_name_the_extra(monkeypatch, module, options):
    monkeypatch.setitem(sys.modules, module, None)
    options = {"backend": "sequential", "progress": False, **options}
    with pytest.raises(ImportError, match=r"kernelbook\[study\]"):
        run_study(fragile, [{"x": 1}], **options)
