r"""A function over many cells: in parallel, resumable, with the same numbers wherever it runs.

A *cell* is a dictionary of arguments, one point of a study's design. The seed of a cell is a hash
of the study's seed and the cell's content,

.. math::  \text{random\_state} = \mathrm{SHA256}(\text{seed}, \text{cell}) \bmod 2^{32},

so a result depends neither on the order of the cells, nor on the backend, nor on what else was
run. A finished cell is written at once to a file of its own; a killed study goes on where it was.
"""

import hashlib
import inspect
import json
import os
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from numbers import Integral, Real
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np

from kernelbook.optional import import_optional

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["cell_seed", "run_study"]

Cell = dict[str, Any]
Outcome = dict[str, Any]  # {"result": ...} or {"error": ...}

BACKENDS = ("loky", "threading", "sequential", "dask")
MANIFEST = "study.json"
TRACEBACK = "traceback"


def run_study(
    function: Callable[..., Mapping[str, Any]],
    cells: Iterable[Mapping[str, Any]],
    *,
    backend: str = "loky",
    store: str | os.PathLike[str] | None = None,
    progress: bool = True,
    seed: int = 0,
    n_jobs: int = -1,
    on_error: str = "raise",
) -> "pd.DataFrame":
    """Call ``function(**cell, random_state=...)`` for each cell and tabulate what it returns.

    Parameters
    ----------
    function : callable
        Takes the entries of a cell and ``random_state`` (an int below 2**32) as keyword
        arguments and returns a dictionary of scalars: str, bool, int, float or None, of Python or
        NumPy. Backends with worker processes have to import it, so define it in a module that
        they can find.
    cells : iterable of dict
        Arguments by name: scalars, or lists and dictionaries of scalars. All different: add an
        entry such as ``replicate`` to repeat a cell with another seed.
    backend : {'loky', 'threading', 'sequential', 'dask'}, default='loky'
        joblib's worker processes, threads, or one after the other; ``'dask'`` sends the cells to
        the workers of the active ``dask.distributed.Client``, wherever its scheduler runs.
    store : path, default=None
        Directory, made if missing, with one JSON file a finished cell; cells found there are not
        run again. It belongs to one function name and one seed. A change of the function's *body*
        is not noticed: use a new directory then.
    progress : bool, default=True
        Show a progress bar (tqdm) on the standard error stream.
    seed : int, default=0
        Seed of the study.
    n_jobs : int, default=-1
        Workers of the joblib backends; -1 for one a core.
    on_error : {'raise', 'record'}, default='raise'
        A cell that fails never stops the others. When all have ended, ``'raise'`` raises an error
        that lists the failed cells with their tracebacks, and ``'record'`` returns the table
        with a column ``traceback`` (missing where a cell succeeded). Failed cells are not stored,
        so another run tries them again. A worker process that dies fails the cells that had not
        ended.

    Returns
    -------
    pandas.DataFrame
        One row a cell in the order of ``cells``, with the columns of the cells, then those of
        the results. Floats are exactly what the function returned.

    Raises
    ------
    ValueError
        Before anything runs: for an unknown backend, no active Dask client, cells that are equal,
        cannot be written as JSON or do not fit the function's signature, or a store of another
        study. Afterwards: if cells failed.
    ImportError
        Without pandas, tqdm (``progress=True``) or dask (``backend='dask'``).

    See Also
    --------
    cell_seed : The ``random_state`` of one cell, to run it by hand.

    Examples
    --------
    >>> def area(width, height, random_state):
    ...     return {"area": width * height}
    >>> cells = [{"width": 2.0, "height": h} for h in (1.0, 3.0)]
    >>> run_study(area, cells, backend="sequential", progress=False)
       width  height  area
    0    2.0     1.0   2.0
    1    2.0     3.0   6.0
    """
    _check_choice("backend", backend, BACKENDS)
    _check_choice("on_error", on_error, ("raise", "record"))
    pandas = import_optional("pandas", extra="study", purpose="A study")
    checked = _check_cells(function, cells, seed)
    archive = None if store is None else _Store(Path(store), function, seed)
    outcomes = {} if archive is None else archive.load(checked)
    waiting = [text for text in checked if text not in outcomes]
    run = _run_dask if backend == "dask" else _run_joblib
    with _progress_bar(progress, len(checked), len(outcomes)) as bar:
        for text, outcome in run(function, waiting, seed, backend, n_jobs):
            outcomes[text] = outcome
            if archive is not None and "result" in outcome:
                archive.save(text, outcome["result"])
            bar.update()
    return _table(pandas, checked, outcomes, on_error)


def cell_seed(cell: Mapping[str, Any], seed: int = 0) -> int:
    """Return the ``random_state`` that :func:`run_study` gives to a cell.

    Parameters
    ----------
    cell : dict
        The order of its entries does not matter.
    seed : int, default=0
        Seed of the study.

    Returns
    -------
    int
        From 0 to 2**32 - 1, as scikit-learn and NumPy accept.

    Raises
    ------
    ValueError
        If the cell cannot be written as JSON.

    Examples
    --------
    >>> cell_seed({"n": 10, "p": 2}) == cell_seed({"p": 2, "n": 10})
    True
    >>> cell_seed({"n": 10, "p": 2}) == cell_seed({"n": 10, "p": 2}, seed=1)
    False
    """
    return _seed_of_text(_to_text(cell, "cell"), seed)


def _seed_of_text(text: str, seed: int) -> int:
    digest = hashlib.sha256(f"{int(seed)} {text}".encode()).digest()
    return int.from_bytes(digest[:4], "big")


# Cells and results as text: the one form that all backends and the store share.


def _check_choice(name: str, value: str, choices: Sequence[str]) -> None:
    if value not in choices:
        raise ValueError(f"{name} must be one of {', '.join(map(repr, choices))}, got {value!r}.")


def _check_cells(
    function: Callable[..., Any], cells: Iterable[Mapping[str, Any]], seed: int
) -> dict[str, Cell]:
    """The cells by their canonical JSON text: all valid, different, and fit to the function."""
    if not isinstance(seed, Integral):
        raise ValueError(f"seed must be an int, got {seed!r}.")
    checked: dict[str, Cell] = {}
    for position, cell in enumerate(cells):
        name = f"cells[{position}]"
        text = _to_text(cell, name)
        if text in checked:
            raise ValueError(
                f"{name} equals cells[{list(checked).index(text)}], {text}: equal cells have equal "
                "seeds and results. Add an entry such as 'replicate' to repeat one."
            )
        for reserved in ("random_state", TRACEBACK):
            if reserved in cell:
                raise ValueError(f"{name} has the entry {reserved!r}, a name run_study uses.")
        _check_signature(function, cell, name)
        checked[text] = _plain(cell, name)
    return checked


def _check_signature(function: Callable[..., Any], cell: Mapping[str, Any], name: str) -> None:
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return  # some compiled functions have none; the call itself will tell
    try:
        signature.bind(**cell, random_state=0)
    except TypeError as error:
        raise ValueError(
            f"{name} does not fit function(**cell, random_state=...): {error}."
        ) from error


def _to_text(entries: Any, name: str) -> str:
    """Canonical JSON: sorted keys; floats by their shortest exact form."""
    if not isinstance(entries, Mapping):
        raise ValueError(f"{name} must be a dict, got {type(entries).__name__}.")
    return json.dumps(_plain(entries, name), sort_keys=True)


def _plain(value: Any, name: str) -> Any:
    """The value in Python's own types, or a ValueError with the path to what has no JSON form."""
    if isinstance(value, Mapping):
        for key in value:
            if not isinstance(key, str):
                raise ValueError(f"{name} has the key {key!r}: keys must be strings.")
        return {str(key): _plain(entry, f"{name}[{key!r}]") for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(entry, f"{name}[{i}]") for i, entry in enumerate(value)]
    return _plain_scalar(value, name)


def _plain_scalar(value: Any, name: str) -> Any:
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value[()]
    if value is None:
        return None
    for kind, plain in ((bool | np.bool_, bool), (str, str), (Integral, int)):
        if isinstance(value, kind):
            return plain(value)
    if isinstance(value, Real) and (float(value) == value or value != value):
        return float(value)
    raise ValueError(
        f"{name} is {_short(value)}, of type {type(value).__name__}: only str, bool, int, float "
        "and None can be kept."
    )


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


def _run_cell(function: Callable[..., Any], text: str, seed: int) -> tuple[str, Outcome]:
    """Run in a worker: the result of a cell, or the traceback of its failure."""
    cell = json.loads(text)
    try:
        result = function(**cell, random_state=_seed_of_text(text, seed))
        return text, {"result": _check_result(result, cell)}
    except Exception:
        return text, {"error": traceback.format_exc()}


def _check_result(result: Any, cell: Cell) -> Cell:
    if not isinstance(result, Mapping):
        raise ValueError(f"The function must return a dict, got {_short(result)}.")
    plain = _plain(result, "result")
    for key, value in plain.items():
        if isinstance(value, list | dict):
            raise ValueError(
                f"result[{key!r}] is a {type(value).__name__}: return scalars, one for each column."
            )
        if key in cell or key == TRACEBACK:
            raise ValueError(f"result[{key!r}] has the name of another column: rename it.")
    return plain


# The backends: each yields outcomes as they come, in any order.


def _run_joblib(
    function: Callable[..., Any], texts: list[str], seed: int, backend: str, n_jobs: int
) -> Iterator[tuple[str, Outcome]]:
    from concurrent.futures import BrokenExecutor

    from joblib import Parallel, delayed

    parallel = Parallel(
        n_jobs=1 if backend == "sequential" else n_jobs,
        backend=backend,
        return_as="generator_unordered",
        batch_size=1,  # a cell is stored as soon as it has ended
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


def _run_dask(
    function: Callable[..., Any], texts: list[str], seed: int, backend: str, n_jobs: int
) -> Iterator[tuple[str, Outcome]]:
    distributed = import_optional("distributed", extra="study", purpose='backend="dask"')
    try:
        client = distributed.get_client()
    except ValueError as error:
        raise ValueError(
            'backend="dask" uses the active client, and there is none: make one first, client = '
            'dask.distributed.Client("tcp://scheduler:8786"), or Client() for this machine.'
        ) from error
    shared = client.scatter(function, broadcast=True, hash=False)  # with its data, once a worker
    futures = {client.submit(_run_cell, shared, text, seed, pure=False): text for text in texts}
    try:
        for future in distributed.as_completed(futures):
            error = future.exception()
            # Only the loss of its worker can fail the future itself.
            yield future.result() if error is None else (futures[future], {"error": repr(error)})
    finally:
        client.cancel(list(futures))


# The store.


class _Store:
    """A directory of JSON files: a manifest, and one file for each finished cell."""

    def __init__(self, directory: Path, function: Callable[..., Any], seed: int) -> None:
        name = getattr(function, "__qualname__", "<unnamed>")
        if "<lambda>" in name or "<unnamed>" in name:
            raise ValueError(
                "store needs a function with a name, to know its results again; got "
                f"{_short(function)}. Define it with def."
            )
        self.directory = directory
        self.study = {"function": f"{function.__module__}.{name}", "seed": int(seed)}
        directory.mkdir(parents=True, exist_ok=True)
        manifest = directory / MANIFEST
        if not manifest.exists():
            if any(directory.glob("*.json")):
                raise ValueError(
                    f"store {directory} has JSON files but no {MANIFEST}: it is not "
                    "the store of a study. Give another directory."
                )
            _write_atomically(manifest, self.study)
        stored = _read(manifest)
        if stored != self.study:
            raise ValueError(
                f"store {directory} holds the study {stored}, not {self.study}: give each "
                "function and seed a directory of its own."
            )

    def path(self, text: str) -> Path:
        key = json.dumps([self.study, text], sort_keys=True)
        return self.directory / f"{hashlib.sha256(key.encode()).hexdigest()[:32]}.json"

    def load(self, texts: Iterable[str]) -> dict[str, Outcome]:
        """Outcomes of those cells that have finished before."""
        outcomes: dict[str, Outcome] = {}
        for text in texts:
            path = self.path(text)
            if path.exists():
                content = _read(path)
                if json.dumps(content.get("cell"), sort_keys=True) != text:
                    raise ValueError(f"{path} does not hold the cell {text}: delete the file.")
                outcomes[text] = {"result": content["result"]}
        return outcomes

    def save(self, text: str, result: Cell) -> None:
        content = {**self.study, "cell": json.loads(text), "result": result}
        _write_atomically(self.path(text), content)


def _read(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ValueError(f"{path} is damaged ({error}): delete the file and run again.") from error


def _write_atomically(path: Path, content: Any) -> None:
    """A reader, or a killed run, sees the whole file or none."""
    draft = path.with_suffix(f".{os.getpid()}.tmp")
    with draft.open("w", encoding="utf-8") as file:
        json.dump(content, file, indent=1)
        file.flush()
        os.fsync(file.fileno())
    draft.replace(path)


# The table.


def _table(
    pandas: Any, cells: dict[str, Cell], outcomes: dict[str, Outcome], on_error: str
) -> "pd.DataFrame":
    failed = {text: outcomes[text]["error"] for text in cells if "error" in outcomes[text]}
    if failed and on_error == "raise":
        raise ValueError(_report(failed, len(cells)))
    results = {text: outcomes[text].get("result", {}) for text in cells}
    keys = [key for group in (cells, results) for row in group.values() for key in row]
    columns = list(dict.fromkeys(keys))
    rows = [{**cell, **results[text]} for text, cell in cells.items()]
    table: pd.DataFrame = pandas.DataFrame(rows, columns=columns)
    if on_error == "record":
        table[TRACEBACK] = [failed.get(text) for text in cells]
    return table


def _report(failed: dict[str, str], n_cells: int) -> str:
    lines = [f"{len(failed)} of {n_cells} cells failed; the others have ended."]
    lines += [f"\ncell {text}\n{error.rstrip()}" for text, error in failed.items()]
    return "\n".join(lines)


def _progress_bar(progress: bool, total: int, finished: int) -> Any:
    if not progress:
        return nullcontext(SimpleNamespace(update=lambda: None))
    tqdm = import_optional("tqdm.auto", extra="study", purpose="progress=True")
    return tqdm.tqdm(total=total, initial=finished, desc="cells")
