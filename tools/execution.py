"""Execute one notebook in a kernel of its own, beside others that do the same."""

import asyncio
import contextlib
import sys
from collections.abc import AsyncIterator
from pathlib import Path

from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError
from nbclient.util import ensure_async
from nbformat import NotebookNode
from tqdm import tqdm

from tools.built import NotebookError
from tools.reproducible import reproducible_environment

__all__ = ["execute"]

CELL_TIMEOUT = 900  # seconds
CELL_ERRORS = (CellExecutionError, CellTimeoutError, DeadKernelError)
MUST_RAISE = "raises-exception"


async def execute(notebook: NotebookNode, source: Path) -> NotebookNode:
    """Execute all cells in a fresh kernel, in the directory of ``source``, with a progress bar.

    Raises
    ------
    NotebookError
        If a cell fails, takes too long or ends the kernel, or does not raise what its tag
        promises; names the cell, with its traceback.
    """
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.update(outputs=[], execution_count=None)
    todo = [
        (position, cell)
        for position, cell in enumerate(notebook.cells)
        if cell.cell_type == "code" and cell.source.strip()
    ]
    async with _client(notebook, source) as client:
        with _progress_bar(source.stem, len(todo)) as bar:
            for count, (position, cell) in enumerate(todo, start=1):
                try:
                    await client.async_execute_cell(cell, position, execution_count=count)
                    _raise_if_cancelled()
                except CELL_ERRORS as error:
                    _raise_if_cancelled()
                    raise NotebookError(_explain(source, position, count, error)) from None
                if MUST_RAISE in cell.metadata.get("tags", []) and not _has_error(cell):
                    raise NotebookError(_explain(source, position, count, None))
                bar.update()
    return notebook


@contextlib.asynccontextmanager
async def _client(notebook: NotebookNode, source: Path) -> AsyncIterator[NotebookClient]:
    """A client whose kernel has ended when the block is left.

    ``NotebookClient.async_setup_kernel`` would take over the signals of the whole program.
    """
    client = NotebookClient(
        notebook,
        timeout=CELL_TIMEOUT,
        kernel_name="python3",
        resources={"metadata": {"path": str(source.parent)}},
        record_timing=False,
        coalesce_streams=True,
    )
    client.reset_execution_trackers()
    manager = client.create_kernel_manager()
    manager.transport_encryption = "auto"  # else the kernel warns that it talks in plain text
    try:
        await client.async_start_new_kernel(env=reproducible_environment())
        await client.async_start_new_kernel_client()
        _raise_if_cancelled()
        yield client
    except RuntimeError as error:  # the kernel has not started
        _raise_if_cancelled()
        raise NotebookError(
            f"{source.name}: its kernel did not start: {error}. If `make setup` finds nothing to "
            "do, remove .venv and give the command again."
        ) from None
    finally:
        if manager.has_kernel:
            await ensure_async(manager.shutdown_kernel(now=True))
        if client.kc is not None:
            client.kc.stop_channels()


def _raise_if_cancelled() -> None:
    """A client takes its own cancellation for a dead kernel, or for nothing: let the truth through.

    It waits by ``asyncio.wait_for``, which before Python 3.12 loses a cancellation that arrives
    together with the result.
    """
    if (task := asyncio.current_task()) and task.cancelling():
        raise asyncio.CancelledError from None


def _has_error(cell: NotebookNode) -> bool:
    return any(output.output_type == "error" for output in cell.outputs)


def _progress_bar(title: str, cells: int) -> tqdm:
    # Into a log file go results alone.
    return tqdm(total=cells, desc=title, unit="cell", leave=False, disable=not sys.stderr.isatty())


def _explain(source: Path, position: int, count: int, error: Exception | None) -> str:
    number = source.name[:2]
    reason = "failed"
    if error is None:
        reason = f"raised nothing, though its tag {MUST_RAISE} promises an error"
    elif isinstance(error, CellTimeoutError):
        reason = f"took longer than {CELL_TIMEOUT} s"
    elif isinstance(error, DeadKernelError):
        reason = "ended its kernel (out of memory, or killed)"
    return (
        f"{source.name}: cell {position + 1} (execution {count}) {reason}.\n\n{error or ''}\n"
        f"Nothing of this notebook was written. Open it with `make lab`, or correct it and run "
        f"`make run NB={number}`, then the first command again."
    )
