"""Workers of a study: cells that exit, interrupts, lost parents, and a Dask cluster in trouble."""

import asyncio
import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

from kernelbook.study import run_study

CELLS = [{"x": x} for x in range(4)]
JOBLIB = ("sequential", "threading", "loky")


def leaving(x, random_state):
    if x == 1:
        sys.exit("enough")
    if x == 2:
        raise asyncio.CancelledError
    return {"y": x / 3}


def interrupted(x, random_state):
    if x == 3:
        raise KeyboardInterrupt
    return {"y": x / 3}


def deadly(x, random_state):
    if x == 1:
        os._exit(3)
    return {"y": x / 3}


def deadly_once(x, path, random_state):
    """Kill the first worker that gets the cell 1."""
    if x == 1 and not Path(path).exists():
        Path(path).touch()
        os._exit(3)
    return {"y": np.random.default_rng(random_state).normal() / 3}


def lasting(x, path, random_state):
    """Wait for a file that lets all go on, but for the first cell that comes."""
    try:
        Path(path, "first").touch(exist_ok=False)
    except FileExistsError:
        while not Path(path, "go").exists():
            time.sleep(0.01)
    return {"y": x / 3}


class Shift:
    """A function with data of its own."""

    __qualname__ = "Shift"

    def __init__(self, size):
        self.shift = np.arange(size) / 3

    def __call__(self, x, random_state):
        return {"y": self.shift[-1] + x}


def study(function, cells=CELLS, **options):
    return run_study(function, cells, progress=False, n_jobs=2, **options)


def wait_until(condition, seconds=60):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.02)


def check_leaving(table):
    assert table["y"].fillna(-1).tolist() == [0, -1, -1, 1]
    assert "SystemExit: enough" in table["traceback"][1]
    assert "CancelledError" in table["traceback"][2]


@pytest.mark.parametrize("backend", JOBLIB)
def test_a_cell_that_exits_fails_alone(backend, tmp_path):
    check_leaving(study(leaving, backend=backend, store=tmp_path, on_error="record"))
    with pytest.raises(ValueError, match=r"2 of 4 cells failed(.|\n)*SystemExit: enough"):
        study(leaving, backend=backend, store=tmp_path)


@pytest.mark.parametrize("backend", JOBLIB)
def test_an_interrupt_ends_the_study(backend, tmp_path):
    with pytest.raises(KeyboardInterrupt):
        study(interrupted, backend=backend, store=tmp_path, on_error="record")
    assert not list(tmp_path.glob("*.tmp"))
    if backend == "sequential":
        assert len(list(tmp_path.glob("*.json"))) == 1 + 3


PARENT = """
import os, sys, time
from pathlib import Path
from kernelbook.study import run_study

def busy(x, random_state):
    Path(f"worker-{os.getpid()}").touch()
    if x >= 2:
        time.sleep(600)
    return {"x_again": x}

if __name__ == "__main__":
    import parent
    run_study(parent.busy, [{"x": x} for x in range(int(sys.argv[1]))], n_jobs=2, progress=False)
    Path("ended").touch()
    time.sleep(600)
"""


def is_alive(pid):
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks for processes in /proc")
@pytest.mark.parametrize(("n_cells", "sign"), [(4, "worker-*"), (2, "ended")])
def test_workers_end_with_a_killed_parent(tmp_path, n_cells, sign):
    (tmp_path / "parent.py").write_text(PARENT)
    process = subprocess.Popen(
        [sys.executable, "parent.py", str(n_cells)], cwd=tmp_path, start_new_session=True
    )
    try:
        wait_until(lambda: list(tmp_path.glob(sign)), 120)
        process.kill()
        process.wait()
        workers = [int(path.name.removeprefix("worker-")) for path in tmp_path.glob("worker-*")]
        assert workers
        wait_until(lambda: not any(map(is_alive, workers)), 20)
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)


@pytest.fixture(scope="module")
def dask_settings():
    import dask

    # Its import adds the section: set before that, the settings' end would take all of it away.
    import distributed  # noqa: F401

    with dask.config.set({"distributed.scheduler.allowed-failures": 0}):
        yield


@pytest.fixture
def cluster(dask_settings):
    """Two worker processes, and the active client."""
    from distributed import Client, LocalCluster

    with (
        LocalCluster(dashboard_address=":0", n_workers=2, threads_per_worker=1) as cluster,
        Client(cluster),
    ):
        yield cluster


@pytest.mark.slow
def test_dask_cells_that_exit_fail_alone(cluster):
    check_leaving(study(leaving, backend="dask", on_error="record"))
    table = study(interrupted, backend="dask", on_error="record")
    assert table["y"].fillna(-1).tolist() == [0, 1 / 3, 2 / 3, -1]
    assert "KeyboardInterrupt" in table["traceback"][3]


@pytest.mark.slow
def test_dask_tries_cells_of_a_lost_worker_again(tmp_path):
    import dask
    from distributed import Client, LocalCluster

    cells = [{"x": x, "path": str(tmp_path / "once")} for x in range(6)]
    with (
        dask.config.set({"distributed.scheduler.allowed-failures": 3}),
        LocalCluster(dashboard_address=":0", n_workers=2, threads_per_worker=1) as cluster,
        Client(cluster),
    ):
        table = study(deadly_once, cells, backend="dask")
    assert table.equals(study(deadly_once, cells, backend="sequential"))


@pytest.mark.slow
def test_dask_cell_that_kills_its_worker_fails(cluster, tmp_path):
    table = study(deadly, backend="dask", on_error="record", store=tmp_path)
    failed = table["traceback"].notna()
    assert failed[1] and "worker or the scheduler was lost" in table["traceback"][1]
    # Cells that wait on the same worker are lost with it, perhaps all.
    answered = table[~failed].reindex(columns=["x", "y"])
    assert answered["y"].tolist() == [x / 3 for x in answered["x"]]
    again = study(deadly, CELLS[2:], backend="sequential", store=tmp_path)  # as the remedy says
    assert again["y"].tolist() == [2 / 3, 1]


@pytest.mark.slow
def test_dask_scheduler_that_is_lost_fails_the_rest(cluster, tmp_path):
    cells = [{"x": x, "path": str(tmp_path)} for x in range(4)]
    store = tmp_path / "store"

    def lose():
        wait_until(lambda: len(list(store.glob("*.json"))) == 2)  # the manifest and one cell
        cluster.close()

    loser = threading.Thread(target=lose)
    loser.start()
    table = study(lasting, cells, backend="dask", on_error="record", store=store)
    loser.join()
    lost = table["traceback"].dropna()
    assert len(lost) == 3
    assert all("the scheduler was lost" in traceback for traceback in lost)
    (tmp_path / "go").touch()
    resumed = study(lasting, cells, backend="threading", store=store)
    assert resumed["y"].tolist() == [x / 3 for x in range(4)]


@pytest.mark.slow
def test_dask_sends_functions_with_much_data(cluster):
    function = Shift(2_500_000)  # 20 MB: above the size of which Dask warns
    table = study(function, backend="dask")
    assert table.equals(study(function, backend="sequential"))
