"""Execute the notebooks on all cores: into ``build/`` to read, or in place to be committed.

    python -m tools.run_notebooks run            all that changed, into build/
    python -m tools.run_notebooks run 03 05      two of them
    python -m tools.run_notebooks record 03      in place, with outputs normalised

``run`` leaves ``build/notebooks/NN_*.ipynb`` and ``build/html/NN_*.html`` and changes nothing
else. A notebook is executed again when its code or tags, the library, the data, the lock or the
version of Python have changed; a change of its text alone refreshes the page. The built files
carry seals that tell this, so that two runs at once need no common record. Files appear whole or
not at all, and a signal ends the kernels too: a run may be stopped at any time.
"""

import argparse
import asyncio
import contextlib
import os
import signal
import sys
import time
from collections.abc import Awaitable, Callable, Iterable, Sequence
from pathlib import Path
from typing import TextIO

from tqdm import tqdm

from tools.built import SEAL, NotebookError, Project, Seals, loaded
from tools.files import clear_leftovers, write_atomically
from tools.processes import ENDING, Stopped, cores
from tools.remedies import remedy

__all__ = ["main", "record", "run", "select"]


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tools.run_notebooks")
    parser.add_argument("action", choices=["run", "record"])
    parser.add_argument("numbers", nargs="*", metavar="NN", help="such as 03; all if left out")
    parser.add_argument("--jobs", type=int, default=cores(), help="kernels at a time")
    parser.add_argument("--root", type=Path, default=Path(__file__).resolve().parents[1])
    options = parser.parse_args(arguments)
    if options.jobs < 1:
        parser.error(f"--jobs is the number of kernels at a time, at least 1, not {options.jobs}")
    project = Project(options.root.resolve())
    action = run if options.action == "run" else record
    try:
        sources = select(project, options.numbers)
        return asyncio.run(_until_signal(action(project, sources, options.jobs)))
    except (NotebookError, OSError) as error:
        print(f"\n{_said(error)}", file=sys.stderr)
        return 1
    except Stopped as stopped:
        print(f"\nStopped by {stopped}; the same command goes on from here.", file=sys.stderr)
        return stopped.code
    except KeyboardInterrupt:  # where the event loop knows no signals
        return 130


def select(project: Project, numbers: Iterable[str]) -> list[Path]:
    """The notebooks ``NN_*.ipynb`` in order, or those with the given numbers."""
    available = sorted(project.notebooks.glob("[0-9][0-9]_*.ipynb"))
    if not available:
        raise NotebookError(f"There are no notebooks NN_*.ipynb in {project.notebooks}.")
    wanted = {number.zfill(2) for number in numbers}
    unknown = wanted - {path.name[:2] for path in available}
    if unknown:
        names = "\n  ".join(path.name for path in available)
        raise NotebookError(
            f"No notebook has the number {', '.join(sorted(unknown))}; name them by two digits, "
            f"as in NB=03. There are:\n  {names}"
        )
    return [path for path in available if not wanted or path.name[:2] in wanted]


async def run(project: Project, sources: Sequence[Path], jobs: int) -> int:
    """Execute what has changed into ``build/`` and write a page of each notebook."""
    seals = Seals.of(project)

    async def treat(source: Path) -> str:
        content = source.read_bytes()
        executed, page = project.executed(source), project.page(source)
        stored = _stored(executed, _loaded(source, content), seals)
        if stored and seals.is_page_of(page, content, stored):
            return "unchanged, skipped"
        # Slow to import, and not needed where all is up to date.
        from tools import execution, pages

        started = time.monotonic()
        notebook = pages.parsed(content)
        if stored:
            pages.copy_outputs(stored, notebook)
        else:
            await execution.execute(notebook, source)
        built = pages.plain(notebook)
        built["metadata"][SEAL] = seals.of_notebook(built)
        write_atomically(executed, pages.written(built))
        html = await asyncio.to_thread(pages.to_html, notebook, source.stem)
        write_atomically(page, seals.sealed_page(html, content, built))
        if stored:
            return "only its text has changed, page refreshed"
        return f"executed in {time.monotonic() - started:.0f} s"

    for folder in {project.executed(sources[0]).parent, project.page(sources[0]).parent}:
        clear_leftovers(folder)
    outcomes = await _all(sources, jobs, treat)
    executed = sum(outcome.startswith("executed") for outcome in outcomes)
    print(
        f"{executed} executed, {len(sources) - executed} up to date. "
        f"Read the pages in {os.path.relpath(project.page(sources[0]).parent)}"
    )
    return 0


async def record(project: Project, sources: Sequence[Path], jobs: int) -> int:
    """Execute in place and store normalised outputs."""
    from tools import execution, normalise, pages  # slow to import

    async def treat(source: Path) -> str:
        started = time.monotonic()
        content = source.read_bytes()
        _loaded(source, content)  # or it is named as damaged
        notebook = await execution.execute(pages.parsed(content), source)
        try:
            normalise.normalise(notebook)
        except normalise.StoredWarningError as error:
            raise NotebookError(f"{source.name} was left as it was: {error}") from None
        write_atomically(source, pages.written(pages.plain(notebook)))
        return f"recorded in {time.monotonic() - started:.0f} s"

    clear_leftovers(project.notebooks)
    await _all(sources, jobs, treat)
    print(f"{len(sources)} recorded. Look at `git diff --stat notebooks`, then commit them.")
    return 0


async def _all(
    sources: Sequence[Path], jobs: int, treat: Callable[[Path], Awaitable[str]]
) -> list[str]:
    """Treat the notebooks, ``jobs`` at a time: a failure is told at once, results in order.

    Raises
    ------
    NotebookError
        At the end, if any failed.
    """
    slots = asyncio.Semaphore(jobs)
    outcomes: dict[Path, str] = {}
    untold = list(sources)
    failed = []

    async def one(source: Path) -> None:
        async with slots:
            try:
                outcomes[source] = await treat(source)
            except (NotebookError, OSError) as error:
                outcomes[source] = "failed"
                failed.append(source.stem)
                _tell(f"\n{_said(error)}\n", sys.stderr)
        while untold and untold[0] in outcomes:
            _tell(f"{untold[0].stem}: {outcomes[untold.pop(0)]}", sys.stdout)

    tasks = [asyncio.create_task(one(source)) for source in sources]
    try:
        await asyncio.wait(tasks)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
    for task in tasks:
        task.result()  # an error of this program itself is not hidden
    if failed:
        names = ", ".join(sorted(failed))
        raise NotebookError(f"{len(failed)} of {len(sources)} failed: {names} (see above).")
    return [outcomes[source] for source in sources]


async def _until_signal(work: Awaitable[int]) -> int:
    """Await some work; a signal cancels it, and its kernels end before `Stopped` is raised."""
    task = asyncio.ensure_future(work)
    caught: list[int] = []

    def stop(number: int) -> None:
        if not caught:
            caught.append(number)
            task.cancel()

    for name in ENDING:
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) != signal.SIG_IGN:
            with contextlib.suppress(NotImplementedError, RuntimeError):  # Windows, or a thread
                asyncio.get_running_loop().add_signal_handler(number, stop, number)
    try:
        return await task
    except asyncio.CancelledError:
        if caught:
            raise Stopped(caught[0]) from None
        raise


def _loaded(source: Path, content: bytes) -> dict:
    try:
        return loaded(content)
    except NotebookError as error:
        raise NotebookError(
            f"{source} cannot be read as a notebook: {error}. `git restore notebooks/{source.name}`"
            " brings the committed one back."
        ) from None


def _stored(path: Path, source: dict, seals: Seals) -> dict | None:
    """The built notebook, if it is whole and of the code in ``source``."""
    try:
        built = loaded(path.read_bytes())
        return built if seals.is_notebook_of(built, source) else None
    except (FileNotFoundError, NotebookError, KeyError):
        return None


def _said(error: Exception) -> str:
    return f"{error}\n{remedy(str(error)) or ''}" if isinstance(error, OSError) else str(error)


def _tell(text: str, file: TextIO) -> None:
    with tqdm.external_write_mode(file=file):  # above the progress bars
        print(text, file=file, flush=True)


if __name__ == "__main__":
    raise SystemExit(main())
