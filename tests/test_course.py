"""The wheels for learners who have no copy of the repository, and the cell that asks for them."""

import json
import subprocess
import sys
import zipfile
from pathlib import Path

import nbformat
import pytest

from tools import course

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """Both wheels, built offline, and an installation of them beside what else there is here."""
    folder = tmp_path_factory.mktemp("course")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(course, "SOURCE", folder / "source")
        wheels = course.wheels(folder)
    target = folder / "lib" / "python" / "site-packages"
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index"]
    subprocess.run([*command, "--target", target, *wheels], check=True)
    return wheels, target


def run(target, code):
    return subprocess.run(
        [sys.executable, "-c", code],
        cwd=target.parent,
        env={"PYTHONPATH": str(target), "OMP_NUM_THREADS": "1", "PYTHONHASHSEED": "0"},
        capture_output=True,
        text=True,
    )


def test_wheels_hold_what_the_notebooks_import(built):
    (library, wheel), _ = built
    assert library.name.startswith("kernelbook-")
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    for name in ("abalone.csv", "README.md", "results/preimages.csv"):
        assert f"kernelbook_data/{name}" in names
    assert {"kernelcourse/exercises/answers/__init__.py", "studies/results.py"} <= names
    assert not any("__pycache__" in name or name.startswith("kernelbook/") for name in names)


def test_an_installation_has_data_exercises_and_studies(built):
    _, target = built
    done = run(target, (
        "import sys, kernelbook, kernelcourse\n"
        "from kernelbook.datasets import data_directory, load_haberman\n"
        "print(kernelbook.__file__, kernelcourse.__file__, data_directory(), sep='\\n')\n"
        "print(load_haberman().data.shape, 'haberman.csv' in load_haberman().DESCR)\n"
        "sys.path.append(str(data_directory().parent))\n"
        "from studies import results\n"
        "print(results.__file__)\n"
        "kernelcourse.check('01.1', None)\n"
    ))  # fmt: skip
    assert done.returncode == 0, done.stderr
    library, kernelcourse, data, haberman, results, *_ = done.stdout.splitlines()
    assert {str(Path(path).parents[1]) for path in (library, kernelcourse, results)} == {
        str(target)
    }
    assert (data, haberman) == (str(target / "kernelbook_data"), "(306, 3) True")


def test_the_course_asks_for_no_linter_and_no_jupyter(built):
    (library, wheel), _ = built
    asked = {}
    for path in (library, wheel):
        with zipfile.ZipFile(path) as archive:
            (name,) = [each for each in archive.namelist() if each.endswith("/METADATA")]
            asked[path] = archive.read(name).decode()
    assert "Requires-Dist: kernelbook[course]==" in asked[wheel]
    own = [line for line in asked[library].splitlines() if 'extra == "course"' in line]
    assert len(own) == 2 and not any("ipython" in line or "jupyter" in line for line in own)


def test_the_first_cell_tells_what_is_missing(tmp_path):
    path = next((ROOT / "notebooks").glob("01_*.ipynb"))
    notebook = nbformat.read(path, as_version=4)
    result = course.guarded(notebook, "a.whl", "b.whl")
    nbformat.validate(result)
    assert [cell.source for cell in result.cells[1:]] == [cell.source for cell in notebook.cells]
    assert not any(cell.get("outputs") for cell in result.cells)
    assert any(cell.get("outputs") for cell in notebook.cells)
    guard = result.cells[0].source
    blocked = f"import sys\nsys.modules['kernelcourse'] = None\nexec({json.dumps(guard)})"
    done = subprocess.run([sys.executable, "-c", blocked], capture_output=True, text=True)
    assert done.returncode == 1
    assert "This notebook needs kernelcourse" in done.stderr
    assert "%pip install a.whl b.whl" in done.stderr
    fine = subprocess.run([sys.executable, "-c", guard], capture_output=True, text=True)
    assert (fine.returncode, fine.stderr) == (0, "")
