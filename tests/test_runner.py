"""The notebook runner: what it writes, skips and refuses."""

import subprocess
import sys

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook, new_output
from toy_project import command, make_project, write_notebook

from tools import built, execution, pages, run_notebooks
from tools.normalise import KERNELSPEC, WIDGET_VIEW, StoredWarningError, normalise

COUNT = "with open('../runs.log', 'a') as log:\n    log.write('run\\n')"
PICTURE = """\
from IPython.display import display

picture = "iVBORw0KGgo="
display({"image/png": picture}, metadata={"image/png": {"alt": 'A "dot" < 1'}}, raw=True)"""


@pytest.fixture
def project(tmp_path):
    return make_project(tmp_path)


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
    assert "01_toy: executed in" in capsys.readouterr().out

    assert command(project, "run") == 0
    assert runs(project) == 1
    assert "01_toy: unchanged, skipped" in capsys.readouterr().out


def test_colours_and_brackets_of_outputs_stand_on_the_page():
    text = new_output("stream", text="\x1b[31mred\x1b[0m <b>")
    page = pages.to_html(new_notebook(cells=[new_code_cell("1", outputs=[text])]), "01_toy")
    assert 'class="ansi-red-fg">red<' in page
    assert "&lt;b&gt;" in page


@pytest.fixture
def executed(monkeypatch):
    """Names of the notebooks executed, without kernels: the logic of skipping needs none."""
    names = []

    async def execute(notebook, source):
        names.append(source.name)
        for cell in notebook.cells[1:]:
            cell.outputs = [new_output("stream", text=f"run {len(names)}")]
        return notebook

    monkeypatch.setattr(execution, "execute", execute)
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


DAMAGE = {
    "page lost": ("html/01_toy.html", None, 1),
    "page cut": ("html/01_toy.html", slice(0, -200), 1),
    "page emptied": ("html/01_toy.html", slice(0, 0), 1),
    "notebook lost": ("notebooks/01_toy.ipynb", None, 2),
    "notebook cut": ("notebooks/01_toy.ipynb", slice(0, -200), 2),
    "output altered": ("notebooks/01_toy.ipynb", ("run 1", "run 7"), 2),
}


@pytest.mark.parametrize("name, damage, times", DAMAGE.values(), ids=DAMAGE)
def test_what_is_damaged_in_build_is_made_again(project, executed, name, damage, times):
    write_notebook(project, "01_toy.ipynb", "6 * 7")
    command(project, "run")
    path = project / "build" / name
    whole = path.read_text()
    if damage is None:
        path.unlink()
    else:
        path.write_text(whole[damage] if isinstance(damage, slice) else whole.replace(*damage))
    assert command(project, "run") == 0
    assert executed == ["01_toy.ipynb"] * times
    if times == 1:
        assert path.read_text() == whole
    assert command(project, "run") == 0
    assert executed == ["01_toy.ipynb"] * times


@pytest.mark.parametrize(
    "name",
    [
        "lib/kernelbook/.#kernels.py",
        "lib/kernelbook/.kernels.py.swp",
        "lib/kernelbook/kernels.py~",
        "lib/kernelbook/#kernels.py#",
        "lib/kernelbook/__pycache__/kernels.pyc",
        "lib/kernelbook/.ipynb_checkpoints/kernels-checkpoint.py",
        "data/.~lock.car.csv#",
        "notebooks/.ipynb_checkpoints/01_toy-checkpoint.ipynb",
        "notebooks/01_toy.ipynb~",
    ],
)
def test_files_of_editors_execute_nothing(project, executed, name):
    write_notebook(project, "01_toy.ipynb", "6 * 7")
    command(project, "run")
    path = project / name
    path.parent.mkdir(exist_ok=True)
    path.write_text("half a word")
    assert command(project, "run") == 0
    assert executed == ["01_toy.ipynb"]


def test_up_to_date_is_found_without_slow_imports(project, executed):
    write_notebook(project, "01_toy.ipynb", "6 * 7")
    command(project, "run")
    code = """
import sys
sys.modules.update(dict.fromkeys(["nbclient", "nbconvert", "nbformat"]))  # as if not installed
from tools import run_notebooks
raise SystemExit(run_notebooks.main(["run", "--root", sys.argv[1]]))
"""
    run = subprocess.run([sys.executable, "-c", code, project], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    assert "01_toy: unchanged, skipped" in run.stdout


def test_numbers_select_notebooks_in_order(project, capsys):
    for name in ("02_b.ipynb", "01_a.ipynb", "03_c.ipynb"):
        write_notebook(project, name, COUNT)
    found = run_notebooks.select(built.Project(project), ["3", "01"])
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


def test_a_failing_cell_is_named_and_the_others_are_finished(project, capsys):
    write_notebook(project, "01_good.ipynb", COUNT)
    bad = write_notebook(project, "02_bad.ipynb", "a = 0", "1 / a")
    write_notebook(project, "03_later.ipynb", COUNT)
    before = bad.read_bytes()
    assert command(project, "run", "--jobs", "3") == 1
    said = capsys.readouterr()
    for part in ("02_bad.ipynb: cell 3 (execution 2) failed", "ZeroDivisionError", "NB=02"):
        assert part in said.err
    assert "1 of 3 failed: 02_bad" in said.err
    order = [line.split(":")[0] for line in said.out.splitlines()]
    assert order == ["01_good", "02_bad", "03_later"]
    assert (project / "build/html/01_good.html").exists()
    assert (project / "build/html/03_later.html").exists()
    assert not (project / "build/notebooks/02_bad.ipynb").exists()
    assert runs(project) == 2
    assert command(project, "record", "02") == 1
    assert bad.read_bytes() == before


def test_a_cell_that_must_raise_does(project, capsys):
    path = write_notebook(project, "01_toy.ipynb", "1 / 0", "6 * 7")
    notebook = nbformat.read(path, as_version=4)
    notebook.cells[1].metadata.tags = ["raises-exception"]
    nbformat.write(notebook, path)
    assert command(project, "record") == 0
    recorded = nbformat.read(path, as_version=4)
    assert recorded.cells[1].outputs[0].ename == "ZeroDivisionError"
    recorded.cells[1].source = "1 / 1"
    nbformat.write(recorded, path)
    before = path.read_bytes()
    assert command(project, "record") == 1
    assert "cell 2 (execution 1) raised nothing, though its tag" in capsys.readouterr().err
    assert path.read_bytes() == before


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
