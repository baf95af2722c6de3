"""Where cells run: each backend yields the outcomes as they come, in any order.

A cell that fails, or calls :func:`sys.exit`, yields its traceback; only an interrupt by the user
ends a study.
"""

import json
import os
import signal
import threading
import time
import traceback
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from kernelbook.optional import import_optional
from kernelbook.study._cells import check_result, seed_of_text

__all__ = ["run_dask", "run_joblib"]

Outcome = dict[str, Any]  # {"result": ...} or {"error": ...}
Function = Callable[..., Mapping[str, Any]]

SECONDS_BETWEEN_LOOKS = 1.0
# Data of a function that travel with it, as every worker needs them; larger ones draw a warning.
LARGEST_FUNCTION = "1GB"


def run_joblib(
    function: Function, texts: list[str], seed: int, backend: str, n_jobs: int
) -> Iterator[tuple[str, Outcome]]:
    """Run the cells by joblib: in processes, threads, or one after the other.

    Parameters
    ----------
    function : callable
        As for :func:`run_study`.
    texts : list of str
        The cells as canonical JSON.
    seed : int
        Seed of the study.
    backend : {'loky', 'threading', 'sequential'}
        joblib's name.
    n_jobs : int
        Number of workers.

    Yields
    ------
    tuple of (str, dict)
        The text of a cell, and its result or error.
    """
    from concurrent.futures import BrokenExecutor

    from joblib import Parallel, delayed

    parallel = Parallel(
        n_jobs=1 if backend == "sequential" else n_jobs,
        backend=backend,
        return_as="generator_unordered",
        batch_size=1,  # a cell is stored as soon as it has ended
        **({"initializer": _end_with, "initargs": (os.getpid(),)} if backend == "loky" else {}),
    )
    unfinished = dict.fromkeys(texts)
    try:
        for text, outcome in parallel(delayed(_run_cell)(function, text, seed) for text in texts):
            del unfinished[text]
            yield text, outcome
    except BrokenExecutor as error:
        message = f"A worker process died before this cell had ended, often for memory.\n{error!r}"
        for text in unfinished:
            yield text, {"error": message}


def run_dask(
    function: Function, texts: list[str], seed: int, backend: str, n_jobs: int
) -> Iterator[tuple[str, Outcome]]:
    """Run the cells on the workers of the active Dask client.

    Parameters
    ----------
    function : callable
        As for :func:`run_study`.
    texts : list of str
        The cells as canonical JSON.
    seed : int
        Seed of the study.
    backend : {'dask'}
        Ignored, as is ``n_jobs``: the cluster has its workers.
    n_jobs : int
        Ignored.

    Yields
    ------
    tuple of (str, dict)
        The text of a cell, and its result or error.

    Raises
    ------
    ValueError
        If there is no active client.
    """
    distributed = import_optional("distributed", extra="study", purpose='backend="dask"')
    dask = import_optional("dask", extra="study", purpose='backend="dask"')
    try:
        client = distributed.get_client()
    except ValueError as error:
        raise ValueError(
            'backend="dask" uses the active client, and there is none: make one first, client = '
            'dask.distributed.Client("tcp://scheduler:8786"), or Client() for this machine.'
        ) from error
    with dask.config.set({"distributed.admin.large-graph-warning-threshold": LARGEST_FUNCTION}):
        # A task, which is done again where a worker is lost; scattered data would be gone.
        shared = client.submit(_itself, function, pure=False)
        futures = {
            client.submit(_run_on_dask, shared, text, seed, pure=False): text for text in texts
        }
    try:
        for future in distributed.as_completed(futures):
            yield futures[future], _outcome(future)
    finally:
        if client.status == "running":
            client.cancel([shared, *futures])


def _outcome(future: Any) -> Outcome:
    """What a future brought; cells catch their own errors, so what it raises is the cluster's."""
    try:
        outcome: Outcome = future.result()[1]
    except Exception as error:
        reason = "The Dask worker or the scheduler was lost before this cell had ended."
        return {"error": f"{reason}\n{error!r}"}
    return outcome


def _itself(function: Function) -> Function:
    return function


def _run_on_dask(function: Function, text: str, seed: int) -> tuple[str, Outcome]:
    """Run in a thread, which no user interrupts; an interrupt would close the worker."""
    try:
        return _run_cell(function, text, seed)
    except KeyboardInterrupt:
        return text, {"error": traceback.format_exc()}


def _run_cell(function: Function, text: str, seed: int) -> tuple[str, Outcome]:
    """Run in a worker: the result of a cell, or the traceback of its failure."""
    cell = json.loads(text)
    try:
        result = function(**cell, random_state=seed_of_text(text, seed))
        return text, {"result": check_result(result, cell)}
    except KeyboardInterrupt:
        raise
    except BaseException:  # SystemExit too is the failure of one cell
        return text, {"error": traceback.format_exc()}


def _end_with(parent: int) -> None:
    """Let this worker end with its parent, in whose absence joblib's would wait for minutes."""

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(SECONDS_BETWEEN_LOOKS)
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=watch, daemon=True).start()
