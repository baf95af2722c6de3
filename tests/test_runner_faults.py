"""What goes wrong around the runner: kills, signals, two at once, a disk that takes nothing."""

import asyncio
import contextlib
import errno
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import nbformat
import pytest
from toy_project import command, make_project, write_notebook

from tools import execution, files, run_notebooks
from tools.processes import is_alive

ROOT = Path(__file__).parents[1]
MARK = "import os\n\nopen('../pid.txt', 'w').write(f'{os.getpid()} ')"
SLEEP = "import time\n\ntime.sleep(120)"


@pytest.fixture
def project(tmp_path):
    return make_project(tmp_path)


@pytest.fixture
def executed(monkeypatch):
    """Most notebooks executed at once, without kernels."""
    running, most = set(), [0]

    async def execute(notebook, source):
        running.add(source)
        most[0] = max(most[0], len(running))
        await asyncio.sleep(0.01)
        running.discard(source)
        return notebook

    monkeypatch.setattr(execution, "execute", execute)
    return most


@pytest.mark.parametrize("jobs", [1, 3])
def test_no_more_notebooks_at_a_time_than_asked_for(project, executed, jobs, capsys):
    for number in range(5):
        write_notebook(project, f"0{number}_toy.ipynb", "6 * 7")
    assert command(project, "run", "--jobs", str(jobs)) == 0
    assert executed == [jobs]
    lines = capsys.readouterr().out.splitlines()
    assert [line[:2] for line in lines[:-1]] == ["00", "01", "02", "03", "04"]


def test_jobs_must_be_positive(project, capsys):
    with pytest.raises(SystemExit):
        command(project, "run", "--jobs", "0")
    assert "at least 1, not 0" in capsys.readouterr().err


def test_a_failed_write_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "a.txt"
    files.write_atomically(path, "old")
    monkeypatch.setattr(os, "replace", refusing(errno.ENOSPC))
    with pytest.raises(OSError, match="No space"):
        files.write_atomically(path, "new")
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def refusing(number):
    def refuse(*_):
        raise OSError(number, os.strerror(number))

    return refuse


@pytest.mark.parametrize(
    "number, said",
    [
        (errno.ENOSPC, "The disk is full. Free some space"),
        (errno.EROFS, "lies on a read-only file system"),
        (errno.EACCES, "belongs to another user"),
    ],
    ids=errno.errorcode.get,
)
def test_a_refused_write_is_a_message(project, executed, monkeypatch, capsys, number, said):
    write_notebook(project, "01_toy.ipynb", "6 * 7")
    monkeypatch.setattr(os, "replace", refusing(number))
    assert command(project, "run") == 1
    message = capsys.readouterr().err
    assert said in message
    assert "1 of 1 failed: 01_toy" in message
    assert "Traceback" not in message
    assert [path for path in project.rglob("*.part")] == []


def test_what_dead_processes_left_is_cleared(project, executed):
    write_notebook(project, "01_toy.ipynb", "6 * 7")
    (project / "build/html").mkdir(parents=True)
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    left, ours = (
        project / f"build/html/.01_toy.html.{pid}.x7.part" for pid in (dead.pid, os.getpid())
    )
    left.touch()
    ours.touch()
    assert command(project, "run") == 0
    assert not left.exists()
    assert ours.exists()


def start(*arguments):
    return subprocess.Popen(
        arguments,
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,  # a signal of the keyboard to these tests is not theirs
    )


def start_runner(project, *arguments):
    return start(sys.executable, "-m", "tools.run_notebooks", *arguments, "--root", str(project))


def wait_until(condition, seconds=120):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def kernel_of(project, runner):
    """Number of the process of the kernel that waits in the slow notebook."""
    path = project / "pid.txt"
    wait_until(lambda: runner.poll() is not None or (path.exists() and " " in path.read_text()))
    assert path.exists(), runner.communicate()[0]
    return int(path.read_text())


@pytest.fixture
def slow(project):
    """A project of a notebook that ends at once and one that does not."""
    write_notebook(project, "01_quick.ipynb", "6 * 7")
    return write_notebook(project, "02_slow.ipynb", MARK, SLEEP)


@pytest.mark.parametrize("action", ["run", "record"])
def test_a_killed_run_leaves_nothing_half_written(project, slow, action):
    before = slow.read_bytes()
    runner = start_runner(project, action, "--jobs", "1")
    kernel = kernel_of(project, runner)
    runner.kill()
    runner.communicate()
    wait_until(lambda: not is_alive(kernel), 20)  # kernels look for their parent
    assert slow.read_bytes() == before
    folder = project / ("build/notebooks" if action == "run" else "notebooks")
    done = nbformat.read(folder / "01_quick.ipynb", as_version=4)
    assert done.cells[1].outputs[0].data["text/plain"] == "42"
    names = {path.name for path in (project / "build").rglob("*.*")}
    assert names == ({"01_quick.ipynb", "01_quick.html"} if action == "run" else set())


@pytest.mark.parametrize("action, name", [("run", "SIGINT"), ("record", "SIGTERM")])
def test_a_signal_ends_runner_and_kernels(project, slow, action, name):
    before = slow.read_bytes()
    runner = start_runner(project, action, "02")
    kernel = kernel_of(project, runner)
    runner.send_signal(getattr(signal, name))
    said, _ = runner.communicate(timeout=60)
    assert runner.returncode == 128 + getattr(signal, name)
    assert f"Stopped by {name}; the same command goes on from here." in said
    assert "Traceback" not in said
    assert not is_alive(kernel)
    assert slow.read_bytes() == before
    assert list(project.rglob("*.part")) == []


def test_sigterm_to_make_reaches_the_kernel(project, slow):
    shutil.copy(ROOT / "Makefile", project)
    shutil.copytree(ROOT / "tools", project / "tools")
    goes_on = "import os, sys\n\nos.execv(sys.executable, [sys.executable, *sys.argv[2:]])\n"
    (project / "tools/set_up.py").write_text(goes_on)  # the environment is that of the tests
    make = start("make", "-C", str(project), "run", "NB=02", f"PYTHON={sys.executable}")
    with contextlib.ExitStack() as stack:
        stack.callback(os.killpg, make.pid, signal.SIGKILL)
        kernel = kernel_of(project, make)
        make.terminate()
        said, _ = make.communicate(timeout=60)
        assert "Stopped by SIGTERM" in said
        assert not is_alive(kernel)
        assert not (project / "build/notebooks/02_slow.ipynb").exists()
        with pytest.raises(ProcessLookupError):  # nothing of its group is left
            os.killpg(make.pid, 0)
        stack.pop_all()


def test_a_cancellation_that_the_client_loses_is_heeded(project, monkeypatch):
    begun = []

    async def lose_it(client, cell, *_, **__):
        begun.append(cell)
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.sleep(60)
        return cell

    async def cancelled_in_the_first_cell():
        task = asyncio.create_task(execution.execute(notebook, project / "notebooks/01.ipynb"))
        while not begun:
            await asyncio.sleep(0.01)
        task.cancel()
        return await asyncio.wait_for(task, 30)

    monkeypatch.setattr(execution.NotebookClient, "async_execute_cell", lose_it)
    path = write_notebook(project, "01_toy.ipynb", "6 * 7", "7 * 8")
    notebook = nbformat.read(path, as_version=4)
    with pytest.raises(asyncio.CancelledError):
        asyncio.run(cancelled_in_the_first_cell())
    assert len(begun) == 1


def test_two_runs_at_once_lose_nothing(project):
    for number in (1, 2):
        write_notebook(project, f"0{number}_toy.ipynb", "6 * 7")
    for runner in [start_runner(project, "run", number) for number in ("01", "02")]:
        said, _ = runner.communicate(timeout=120)
        assert runner.returncode == 0, said
    said, _ = start_runner(project, "run").communicate(timeout=60)
    assert "0 executed, 2 up to date" in said
    assert list(project.rglob("*.part")) == []


def test_an_error_of_the_runner_itself_is_not_hidden(project, monkeypatch):
    write_notebook(project, "01_toy.ipynb", "6 * 7")

    async def broken(notebook, source):
        raise AttributeError("a defect")

    monkeypatch.setattr(execution, "execute", broken)
    with pytest.raises(AttributeError, match="a defect"):
        run_notebooks.main(["run", "--root", str(project)])
