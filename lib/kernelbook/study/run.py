r"""A function over many cells: in parallel, resumable, with the same numbers wherever it runs.

A *cell* is a dictionary of arguments, one point of a study's design. The seed of a cell is a hash
of the study's seed and the cell's content,

.. math::  \text{random\_state} = \mathrm{SHA256}(\text{seed}, \text{cell}) \bmod 2^{32},

so a result depends neither on the order of the cells, nor on the backend, nor on what else was
run. A finished cell is written at once to a file of its own; a killed study goes on where it was.
"""

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from kernelbook.optional import import_optional
from kernelbook.study._backends import Outcome, run_dask, run_joblib
from kernelbook.study._cells import TRACEBACK, Cell, check_cells, seed_of_text, short, to_text
from kernelbook.study._store import Store

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["cell_seed", "run_study"]

BACKENDS = ("loky", "threading", "sequential", "dask")


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
    on_damage: str = "raise",
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
        run again. It belongs to one function name and one seed. Each file has a checksum, so
        that an altered value is noticed; a change of the function's *body* is not: use a new
        directory then.
    progress : bool, default=True
        Show a progress bar (tqdm) on the standard error stream.
    seed : int, default=0
        Seed of the study.
    n_jobs : int, default=-1
        Workers of the joblib backends; -1 for one a core.
    on_error : {'raise', 'record'}, default='raise'
        A cell that fails, or calls ``sys.exit``, never stops the others. When all have ended,
        ``'raise'`` raises an error that lists the failed cells with their tracebacks, and
        ``'record'`` returns the table with a column ``traceback`` (missing where a cell
        succeeded). Failed cells are not stored, so another run tries them again. A worker process
        that dies fails the cells that had not ended; Dask tries them on its other workers first.
    on_damage : {'raise', 'recompute'}, default='raise'
        What becomes of files of the store that are damaged, altered, missing or of another form:
        an error that names them all, or they are set aside as ``*.damaged`` and their cells run
        again.

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
        study or with damaged files. Afterwards: if cells failed.
    OSError
        If the store cannot be read or written; finished cells are kept.
    ImportError
        Without pandas, tqdm (``progress=True``) or dask (``backend='dask'``).

    See Also
    --------
    cell_seed : The ``random_state`` of one cell, to run it by hand.

    Notes
    -----
    Ctrl-C ends the study at once; another run goes on from the store. Worker processes end with
    the process that started them, even if that is killed (on POSIX systems).

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
    _check_choice("on_damage", on_damage, ("raise", "recompute"))
    pandas = import_optional("pandas", extra="study", purpose="A study")
    checked = check_cells(function, cells, seed)
    archive = None
    if store is not None:
        archive = Store(Path(store), _study(function, seed), recompute=on_damage == "recompute")
    stored = {} if archive is None else archive.load(checked)
    outcomes: dict[str, Outcome] = {text: {"result": result} for text, result in stored.items()}
    waiting = [text for text in checked if text not in outcomes]
    run = run_dask if backend == "dask" else run_joblib
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
    return seed_of_text(to_text(cell, "cell"), seed)


def _check_choice(name: str, value: str, choices: Sequence[str]) -> None:
    if value not in choices:
        raise ValueError(f"{name} must be one of {', '.join(map(repr, choices))}, got {value!r}.")


def _study(function: Callable[..., Any], seed: int) -> dict[str, Any]:
    """What a store belongs to."""
    name = getattr(function, "__qualname__", "<unnamed>")
    if "<lambda>" in name or "<unnamed>" in name:
        raise ValueError(
            "store needs a function with a name, to know its results again; got "
            f"{short(function)}. Define it with def."
        )
    return {"function": f"{function.__module__}.{name}", "seed": int(seed)}


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
