"""Execute the notebooks in order: into ``build/`` to read, or in place to be committed.

    python -m tools.run_notebooks run            all that changed, into build/
    python -m tools.run_notebooks run 03 05      two of them
    python -m tools.run_notebooks record 03      in place, with outputs normalised

``run`` leaves ``build/notebooks/NN_*.ipynb`` and ``build/html/NN_*.html`` and changes nothing
else. A notebook is executed again when its code or tags, the library, the data, the lock or the
version of Python have changed; a change of its text alone refreshes the page. Files appear whole
or not at all, so a run may be killed at any time.
"""

import argparse
import contextlib
import hashlib
import json
import os
import platform
import re
import signal
import sys
import tempfile
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError
from nbformat import NotebookNode
from tqdm import tqdm

from tools.normalise import StoredWarningError, normalise
from tools.reproducible import reproducible_environment

__all__ = ["NotebookError", "Project", "execute", "main", "record", "run", "select"]

CELL_TIMEOUT = 900  # seconds
CELL_ERRORS = (CellExecutionError, CellTimeoutError, DeadKernelError)


class NotebookError(Exception):
    """A notebook cannot be found, read or executed; the message says how to go on."""


@dataclass(frozen=True)
class Project:
    """Where the files are, below one root."""

    root: Path

    @property
    def notebooks(self) -> Path:
        return self.root / "notebooks"

    @property
    def build(self) -> Path:
        return self.root / "build"

    @property
    def manifest(self) -> Path:
        return self.build / "manifest.json"

    def executed(self, source: Path) -> Path:
        return self.build / "notebooks" / source.name

    def page(self, source: Path) -> Path:
        return self.build / "html" / f"{source.stem}.html"

    def shared_files(self) -> list[Path]:
        """Everything outside a notebook on which its outputs depend."""
        files = [self.root / "requirements.lock"]
        for name in ("lib/kernelbook", "lib/kernelcourse", "studies", "data"):
            directory = self.root / name
            files += [path for path in directory.rglob("*") if "__pycache__" not in path.parts]
        return sorted(path for path in files if path.is_file())


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tools.run_notebooks")
    parser.add_argument("action", choices=["run", "record"])
    parser.add_argument("numbers", nargs="*", metavar="NN", help="such as 03; all if left out")
    parser.add_argument("--root", type=Path, default=Path(__file__).resolve().parents[1])
    options = parser.parse_args(arguments)
    project = Project(options.root.resolve())
    try:
        sources = select(project, options.numbers)
        run(project, sources) if options.action == "run" else record(sources)
    except NotebookError as error:
        print(f"\n{error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\nInterrupted; the same command goes on after what is finished.", file=sys.stderr)
        return 130
    return 0


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


def run(project: Project, sources: Sequence[Path]) -> None:
    """Execute what has changed into ``build/`` and write a page of each notebook."""
    done = _read_manifest(project)
    shared = _digest_of_shared_files(project)
    executed = 0
    for source in sources:
        notebook = _read(source)
        entry = {"code": _digest_of_code(notebook, shared), "file": _digest(source.read_bytes())}
        outputs = [project.executed(source), project.page(source)]
        previous = done.get(source.name, {}) if all(path.exists() for path in outputs) else {}
        if previous == entry:
            print(f"{source.stem}: unchanged, skipped", flush=True)
            continue
        if previous.get("code") == entry["code"]:
            print(f"{source.stem}: only its text has changed, page refreshed", flush=True)
            _copy_outputs(_read(project.executed(source)), notebook)
        else:
            execute(notebook, source)
            executed += 1
        write_atomically(project.executed(source), nbformat.writes(notebook) + "\n")
        write_atomically(project.page(source), to_html(notebook, source.stem))
        done[source.name] = entry
        write_atomically(project.manifest, json.dumps(done, indent=1, sort_keys=True) + "\n")
    print(
        f"{executed} executed, {len(sources) - executed} up to date. "
        f"Read the pages in {os.path.relpath(project.page(sources[0]).parent)}"
    )


def record(sources: Sequence[Path]) -> None:
    """Execute in place and store normalised outputs."""
    for source in sources:
        notebook = execute(_read(source), source)
        try:
            normalise(notebook)
        except StoredWarningError as error:
            raise NotebookError(f"{source.name} was left as it was: {error}") from None
        write_atomically(source, nbformat.writes(notebook) + "\n")
    print(f"{len(sources)} recorded. Look at `git diff --stat notebooks`, then commit them.")


def execute(notebook: NotebookNode, source: Path) -> NotebookNode:
    """Execute all cells in a fresh kernel, in the directory of ``source``, with a progress bar.

    Raises
    ------
    NotebookError
        If a cell fails, takes too long or ends the kernel; names the cell, with its traceback.
    """
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.update(outputs=[], execution_count=None)
    todo = [
        (position, cell)
        for position, cell in enumerate(notebook.cells)
        if cell.cell_type == "code" and cell.source.strip()
    ]
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
    with _progress_bar(source.stem, len(todo)) as bar:
        started = time.monotonic()
        with client.setup_kernel(env=reproducible_environment()):
            for count, (position, cell) in enumerate(todo, start=1):
                try:
                    client.execute_cell(cell, position, execution_count=count)
                except BaseException as error:
                    bar.close()
                    client.shutdown_kernel = "immediate"  # it may be busy for long
                    if isinstance(error, CELL_ERRORS):
                        message = _explain(source, position, count, error)
                        raise NotebookError(message) from None
                    raise
                bar.update()
        bar.set_postfix_str(f"done in {time.monotonic() - started:.0f} s", refresh=False)
    return notebook


def to_html(notebook: NotebookNode, title: str) -> str:
    """A page that needs no other file (formulas are typeset by a script from the network)."""
    from nbconvert import HTMLExporter  # slow to import, and not needed where all is up to date

    exporter = HTMLExporter(
        template_name="page",
        extra_template_basedirs=[str(Path(__file__).parent / "templates")],
    )
    html, _ = exporter.from_notebook_node(notebook, {"metadata": {"name": title}})
    # Links from one notebook to the next lead to the page of that notebook.
    return re.sub(r'(<a [^>]*href="[0-9]{2}_[\w-]+)\.ipynb', r"\1.html", html)


def write_atomically(path: Path, text: str) -> None:
    """Write a file that a reader, or a kill at any moment, never finds half-written."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".part")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        mode = path.stat().st_mode if path.exists() else 0o644
        os.chmod(name, mode & 0o777)
        os.replace(name, path)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(name)
        raise


def _read(path: Path) -> NotebookNode:
    try:
        return nbformat.read(path, as_version=4)
    except Exception as error:  # nbformat raises several unrelated kinds
        raise NotebookError(f"{path} cannot be read as a notebook: {error}") from error


def _read_manifest(project: Project) -> dict[str, dict[str, str]]:
    try:
        return dict(json.loads(project.manifest.read_text(encoding="utf-8")))
    except (FileNotFoundError, ValueError):
        return {}


def _digest(*parts: bytes) -> str:
    total = hashlib.sha256()
    for part in parts:
        total.update(hashlib.sha256(part).digest())
    return total.hexdigest()


def _digest_of_shared_files(project: Project) -> str:
    parts = [platform.python_version().encode()]
    for path in project.shared_files():
        parts += [path.relative_to(project.root).as_posix().encode(), path.read_bytes()]
    return _digest(*parts)


def _digest_of_code(notebook: NotebookNode, shared: str) -> str:
    code = [
        [cell.source, sorted(cell.metadata.get("tags", []))]
        for cell in notebook.cells
        if cell.cell_type == "code"
    ]
    return _digest(shared.encode(), json.dumps(code).encode())


def _copy_outputs(executed: NotebookNode, notebook: NotebookNode) -> None:
    """Carry the outputs over to a notebook with the same code cells and a new text."""
    old, new = (
        [cell for cell in nb.cells if cell.cell_type == "code"] for nb in (executed, notebook)
    )
    for before, after in zip(old, new, strict=True):
        after.update(outputs=before.outputs, execution_count=before.execution_count)


def _progress_bar(title: str, cells: int) -> tqdm:
    # In a log file a line every few seconds is enough.
    interval = 0.1 if sys.stderr.isatty() else 10.0
    return tqdm(total=cells, desc=title, unit="cell", disable=False, mininterval=interval)


def _explain(source: Path, position: int, count: int, error: Exception) -> str:
    number = source.name[:2]
    reasons = {
        CellTimeoutError: f"took longer than {CELL_TIMEOUT} s",
        DeadKernelError: "ended its kernel (out of memory, or killed)",
    }
    reason = next((text for kind, text in reasons.items() if isinstance(error, kind)), "failed")
    return (
        f"{source.name}: cell {position + 1} (execution {count}) {reason}.\n\n{error}\n"
        f"Finished notebooks are kept, nothing of this one was written. Open it with `make lab`, "
        f"or mend it and run `make run NB={number}`, then the first command again."
    )


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that kernels are shut down
    raise SystemExit(main())
