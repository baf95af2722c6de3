"""The notebook runner: what it writes, skips, refuses, and leaves behind when it is killed."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from tools import run_notebooks
from tools.normalise import KERNELSPEC, WIDGET_VIEW, StoredWarningError, normalise

ROOT = Path(__file__).parents[1]

COUNT = "with open('../runs.log', 'a') as log:\n    log.write('run\\n')"
PICTURE = """\
from IPython.display import display

picture = "iVBORw0KGgo="
display({"image/png": picture}, metadata={"image/png": {"alt": 'A "dot" < 1'}}, raw=True)"""


def write_notebook(project, name, *sources, text="# 01. Toy\n\n[next](02_next.ipynb)"):
    cells = [new_markdown_cell(text), *(new_code_cell(source) for source in sources)]
    path = project / "notebooks" / name
    path.write_text(nbformat.writes(new_notebook(cells=cells)), encoding="utf-8")
    return path


@pytest.fixture
def project(tmp_path):
    for directory in ("notebooks", "data", "lib/kernelbook", "lib/kernelcourse"):
        (tmp_path / directory).mkdir(parents=True)
    (tmp_path / "requirements.lock").write_text("numpy==2.4.6\n")
    (tmp_path / "lib/kernelbook/kernels.py").write_text("DEGREE = 2\n")
    (tmp_path / "lib/kernelcourse/figures.py").write_text("ROUNDS = 2\n")
    (tmp_path / "data/car.csv").write_text("1,2\n")
    return tmp_path


def command(project, *arguments):
    return run_notebooks.main([*arguments, "--root", str(project)])


def runs(project):
    log = project / "runs.log"
    return len(log.read_text().splitlines()) if log.exists() else 0


def files_outside_build(project):
    return {
        path.relative_to(project): path.read_bytes()
        for path in project.rglob("*")
        if path.is_file() and "build" not in path.parts and path.name != "runs.log"
    }


def test_run_writes_copies_and_pages_and_skips_what_is_unchanged(project, capsys):
    write_notebook(project, "01_toy.ipynb", COUNT, PICTURE, "6 * 7")
    before = files_outside_build(project)
    assert command(project, "run") == 0
    assert files_outside_build(project) == before
    executed = nbformat.read(project / "build/notebooks/01_toy.ipynb", as_version=4)
    assert executed.cells[3].outputs[0].data["text/plain"] == "42"
    page = (project / "build/html/01_toy.html").read_text()
    assert "alt='A \"dot\" &lt; 1'" in page
    assert 'href="02_next.html"' in page
    assert "01_toy" in capsys.readouterr().err  # the progress bar names the notebook

    assert command(project, "run") == 0
    assert runs(project) == 1
    assert "01_toy: unchanged, skipped" in capsys.readouterr().out


@pytest.fixture
def executed(monkeypatch):
    """Names of the notebooks executed, without kernels: the logic of skipping needs none."""
    names = []

    def execute(notebook, source):
        names.append(source.name)
        for cell in notebook.cells[1:]:
            cell.outputs = [new_output("stream", text=f"run {len(names)}")]
        return notebook

    monkeypatch.setattr(run_notebooks, "execute", execute)
    return names


@pytest.mark.parametrize(
    "changed",
    [
        "lib/kernelbook/kernels.py",
        "lib/kernelcourse/figures.py",
        "data/car.csv",
        "requirements.lock",
    ],
)
def test_a_change_of_library_data_or_lock_executes_all_again(project, executed, changed):
    write_notebook(project, "01_a.ipynb", "6 * 7")
    write_notebook(project, "02_b.ipynb", "6 * 7")
    command(project, "run")
    command(project, "run")
    assert executed == ["01_a.ipynb", "02_b.ipynb"]
    with (project / changed).open("a") as file:
        file.write("# 3\n")
    command(project, "run")
    assert executed == ["01_a.ipynb", "02_b.ipynb"] * 2


def test_a_change_of_code_or_tags_executes_again(project, executed):
    path = write_notebook(project, "01_toy.ipynb", "6 * 7")
    write_notebook(project, "02_next.ipynb", "6 * 7")
    command(project, "run")
    notebook = nbformat.read(path, as_version=4)
    notebook.cells[1].metadata.tags = ["nbval-ignore-output"]
    nbformat.write(notebook, path)
    command(project, "run")
    write_notebook(project, "01_toy.ipynb", "6 * 8")
    command(project, "run")
    assert executed == ["01_toy.ipynb", "02_next.ipynb", "01_toy.ipynb", "01_toy.ipynb"]


def test_a_change_of_text_keeps_the_outputs_of_the_page(project, executed, capsys):
    write_notebook(project, "01_toy.ipynb", "6 * 7")
    command(project, "run")
    write_notebook(project, "01_toy.ipynb", "6 * 7", text="# 01. A new title")
    command(project, "run")
    assert executed == ["01_toy.ipynb"]
    assert "page refreshed" in capsys.readouterr().out
    page = (project / "build/html/01_toy.html").read_text()
    assert "A new title" in page
    assert "run 1" in page


def test_a_lost_page_is_made_again(project, executed):
    write_notebook(project, "01_toy.ipynb", "6 * 7")
    command(project, "run")
    (project / "build/html/01_toy.html").unlink()
    command(project, "run")
    assert executed == ["01_toy.ipynb"] * 2
    assert (project / "build/html/01_toy.html").exists()


def test_numbers_select_notebooks_in_order(project, capsys):
    for name in ("02_b.ipynb", "01_a.ipynb", "03_c.ipynb"):
        write_notebook(project, name, COUNT)
    found = run_notebooks.select(run_notebooks.Project(project), ["3", "01"])
    assert [path.name for path in found] == ["01_a.ipynb", "03_c.ipynb"]
    assert command(project, "run", "07") == 1
    message = capsys.readouterr().err
    assert "No notebook has the number 07" in message
    assert "02_b.ipynb" in message


def test_an_empty_folder_is_an_error(project, capsys):
    assert command(project, "run") == 1
    assert "There are no notebooks" in capsys.readouterr().err


def test_a_damaged_notebook_is_named(project, capsys):
    (project / "notebooks/01_toy.ipynb").write_text("{ not json")
    assert command(project, "run") == 1
    assert "01_toy.ipynb cannot be read as a notebook" in capsys.readouterr().err


def test_a_failing_cell_stops_with_its_place_and_the_remedy(project, capsys):
    write_notebook(project, "01_good.ipynb", COUNT)
    bad = write_notebook(project, "02_bad.ipynb", "a = 0", "1 / a")
    write_notebook(project, "03_later.ipynb", COUNT)
    before = bad.read_bytes()
    assert command(project, "run") == 1
    message = capsys.readouterr().err
    for part in ("02_bad.ipynb: cell 3 (execution 2) failed", "ZeroDivisionError", "NB=02"):
        assert part in message
    assert (project / "build/html/01_good.html").exists()
    assert not (project / "build/notebooks/02_bad.ipynb").exists()
    assert runs(project) == 1
    assert command(project, "record", "02") == 1
    assert bad.read_bytes() == before


def test_a_dead_kernel_is_reported(project, capsys):
    write_notebook(project, "01_toy.ipynb", "import os\n\nos._exit(1)")
    assert command(project, "run") == 1
    assert "cell 2 (execution 1) ended its kernel" in capsys.readouterr().err


def test_record_stores_the_same_file_at_every_run(project):
    chatty = "for word in 'ab':\n    print(word, flush=True)"
    path = write_notebook(project, "01_toy.ipynb", chatty, PICTURE, "6 * 7")
    assert command(project, "record", "01") == 0
    first = path.read_bytes()
    notebook = nbformat.reads(first.decode(), as_version=4)
    assert [cell.id for cell in notebook.cells] == ["cell-00", "cell-01", "cell-02", "cell-03"]
    assert [cell.execution_count for cell in notebook.cells[1:]] == [1, 2, 3]
    assert [output.text for output in notebook.cells[1].outputs] == ["a\nb\n"]
    assert notebook.metadata.kernelspec == KERNELSPEC
    assert "version" not in notebook.metadata.language_info
    assert notebook.cells[2].outputs[0].metadata["image/png"]["alt"] == 'A "dot" < 1'
    assert command(project, "record") == 0
    assert path.read_bytes() == first


def test_record_refuses_to_store_a_warning(project, capsys):
    path = write_notebook(project, "01_toy.ipynb", "import warnings\n\nwarnings.warn('too small')")
    before = path.read_bytes()
    assert command(project, "record") == 1
    message = capsys.readouterr().err
    assert "01_toy.ipynb was left as it was: cell cell-01 writes to stderr" in message
    assert "too small" in message
    assert path.read_bytes() == before


def test_normalise_drops_what_differs_between_runs():
    cell = new_code_cell("slider()", metadata={"execution": {"at": "noon"}, "tags": ["x"]})
    cell.outputs = [
        new_output("stream", name="stdout", text="a"),
        new_output("stream", name="stdout", text="b"),
        new_output("display_data", {WIDGET_VIEW: {"model_id": "5f"}, "text/plain": "slider"}),
        new_output("error", ename="E", evalue="no", traceback=["at line 3 of", "a file"]),
    ]
    notebook = new_notebook(cells=[cell, new_code_cell(" ")], metadata={"widgets": {"5f": 1}})
    normalise(notebook)
    assert "widgets" not in notebook.metadata
    assert cell.metadata == {"tags": ["x"]}
    assert cell.outputs[0].text == "ab"
    assert cell.outputs[1].data == {"text/plain": "slider"}
    assert cell.outputs[2].traceback == ["E: no"]
    assert notebook.cells[1].execution_count is None
    assert normalise(nbformat.from_dict(notebook)) == notebook


def test_normalise_refuses_stderr():
    cell = new_code_cell("x", outputs=[new_output("stream", name="stderr", text="careful")])
    with pytest.raises(StoredWarningError, match="careful"):
        normalise(new_notebook(cells=[cell]))


def test_a_failed_write_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "a.txt"
    run_notebooks.write_atomically(path, "old")

    def full_disk(*_):
        raise OSError("no space left")

    monkeypatch.setattr(os, "replace", full_disk)
    with pytest.raises(OSError, match="no space"):
        run_notebooks.write_atomically(path, "new")
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("action", ["run", "record"])
def test_a_killed_run_leaves_nothing_half_written(project, action):
    first = write_notebook(project, "01_quick.ipynb", "6 * 7")
    mark = "import os\n\nopen('../pid.txt', 'w').write(f'{os.getpid()} ')"
    slow = write_notebook(project, "02_slow.ipynb", mark, "import time\n\ntime.sleep(120)")
    before = slow.read_bytes()
    arguments = [sys.executable, "-m", "tools.run_notebooks", action, "--root", str(project)]
    runner = subprocess.Popen(
        arguments, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        pid = wait_for_kernel(project / "pid.txt", runner)
        runner.send_signal(signal.SIGKILL)
        runner.wait()
        assert slow.read_bytes() == before
        done = project / "build/notebooks/01_quick.ipynb" if action == "run" else first
        assert nbformat.read(done, as_version=4).cells[1].outputs[0].data["text/plain"] == "42"
        names = {path.name for path in (project / "build").rglob("*.*")}
        if action == "run":
            assert names == {"manifest.json", "01_quick.ipynb", "01_quick.html"}
            assert set(json.loads((project / "build/manifest.json").read_text())) == {first.name}
        else:
            assert names == set()
    finally:
        runner.kill()
        with contextlib.suppress(ProcessLookupError, NameError):
            os.kill(pid, signal.SIGKILL)


def wait_for_kernel(path, runner):
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and runner.poll() is None:
        if path.exists() and (text := path.read_text()).endswith(" "):
            return int(text)
        time.sleep(0.05)
    raise AssertionError("the slow notebook never started")
