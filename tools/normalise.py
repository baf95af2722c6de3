"""Bring an executed notebook to the one form in which it is committed.

The same code then gives the same file, byte for byte apart from pictures, so that a change in
the history of a notebook is a change of its content.
"""

from typing import Any

from nbformat import NotebookNode

from tools.tracks import mark_folded

__all__ = ["StoredWarningError", "normalise"]

WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"
VOLATILE_CELL_METADATA = ("execution", "ExecuteTime", "collapsed", "scrolled", "trusted")
VOLATILE_NOTEBOOK_METADATA = ("widgets", "signature")

KERNELSPEC = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}
LANGUAGE_INFO = {
    "codemirror_mode": {"name": "ipython", "version": 3},
    "file_extension": ".py",
    "mimetype": "text/x-python",
    "name": "python",
    "nbconvert_exporter": "python",
    "pygments_lexer": "ipython3",
}


class StoredWarningError(ValueError):
    """A cell wrote to stderr: a warning or a progress bar would be stored."""


def normalise(notebook: NotebookNode) -> NotebookNode:
    """Normalise an executed notebook in place and return it.

    Cell ids become ``cell-00, cell-01, ...``, execution counts 1..n; consecutive texts of a
    stream are merged; widget state, time stamps, tracebacks (they hold paths) and the version of
    Python are dropped; what a tag folds is marked for JupyterLab and the book.

    Raises
    ------
    StoredWarningError
        If a cell has output on stderr.
    """
    notebook.nbformat, notebook.nbformat_minor = 4, 5
    for key in VOLATILE_NOTEBOOK_METADATA:
        notebook.metadata.pop(key, None)
    notebook.metadata.update(kernelspec=KERNELSPEC, language_info=LANGUAGE_INFO)
    mark_folded(notebook)
    count = 0
    for position, cell in enumerate(notebook.cells):
        cell.id = f"cell-{position:02d}"
        for key in VOLATILE_CELL_METADATA:
            cell.metadata.pop(key, None)
        if cell.cell_type != "code":
            continue
        executed = bool(cell.source.strip())
        count += executed
        cell.execution_count = count if executed else None
        cell.outputs = _outputs(cell)
    return notebook


def _outputs(cell: NotebookNode) -> list[NotebookNode]:
    outputs: list[NotebookNode] = []
    for output in cell.outputs:
        if output.output_type == "stream":
            _refuse_stderr(cell, output)
            if outputs and outputs[-1].output_type == "stream":
                outputs[-1].text += output.text
                continue
        elif output.output_type == "error":
            output.traceback = [f"{output.ename}: {output.evalue}"]
        else:
            output.data.pop(WIDGET_VIEW, None)
            if output.output_type == "execute_result":
                output.execution_count = cell.execution_count
        outputs.append(output)
    return outputs


def _refuse_stderr(cell: NotebookNode, output: Any) -> None:
    if output.name == "stderr":
        raise StoredWarningError(
            f"cell {cell.id} writes to stderr, which would be stored:\n{output.text}\n"
            "Remove the cause of the warning; a progress bar goes through tqdm, which is silent here."
        )
