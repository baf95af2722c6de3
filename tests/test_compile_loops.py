"""A first fit compiles no more than it needs, and says so before it begins."""

import json
import os
import pickle
import subprocess
import sys

import numba
import pytest

from kernelbook.compile_loops import compile_loops
from kernelbook.qp import SolverOptions, goes_exact
from kernelbook.qp.exact import smo
from kernelbook.qp.exact.smo import is_compiled

# Where numba has kept nothing: what is compiled, what is warned of, what the certificates say.
FIRST_FITS = """
import json
import sys
import warnings
from numba.core import event
from sklearn.datasets import make_moons
from kernelbook.svm import KernelSVC

with event.install_recorder("numba:compile") as recorder, warnings.catch_warnings(record=True) as w:
    warnings.simplefilter("always")
    X, y = make_moons(int(sys.argv[1]), noise=0.3, random_state=0)
    fits = [KernelSVC(solver=solver).fit(X, y) for solver in sys.argv[2:]]
compiled = {e.data["dispatcher"].py_func.__name__ for _, e in recorder.buffer if e.is_start}
print(json.dumps({
    "compiled": sorted(compiled),
    "warned": [[x.category.__name__, x.filename, str(x.message)] for x in w],
    "status": [fit.certificate_.status for fit in fits],
    "dual_coef": [fit.dual_coef_.ravel().tolist() for fit in fits],
}))
"""


def first_fits(directory, n, *solvers):
    answer = subprocess.run(
        [sys.executable, "-c", FIRST_FITS, str(n), *solvers],
        env={**os.environ, "NUMBA_CACHE_DIR": str(directory)},
        check=True,
        capture_output=True,
        text=True,
    )
    assert answer.stderr == ""
    return json.loads(answer.stdout)


def test_a_first_fit_of_600_points_compiles_nothing(tmp_path):
    found = first_fits(tmp_path, 600, "auto", "dense")
    assert found["compiled"] == found["warned"] == []
    assert found["status"] == ["optimal", "optimal"]
    by_auto, by_dense = found["dual_coef"]
    assert by_auto == by_dense


def test_what_is_compiled_is_announced_once_and_kept(tmp_path):
    found = first_fits(tmp_path, 40, "exact", "exact")
    assert "smo_steps" in found["compiled"]
    # A matrix in memory needs no loop that computes kernel values.
    assert not {"smo_on_points", "row_single", "kernel_sums", "fill_block"} & set(found["compiled"])
    [(category, filename, message)] = found["warned"]
    assert (category, filename) == ("CompilationWarning", "<string>")
    assert message.endswith("run: python -m kernelbook.compile_loops")
    again = first_fits(tmp_path, 40, "exact")
    assert (again["compiled"], again["warned"]) == ([], [])
    assert again["dual_coef"][0] == found["dual_coef"][0]


@pytest.mark.parametrize("name", ["smo_steps", "smo_on_points"])
def test_loops_are_compiled_after_the_command(name):
    compile_loops()
    assert is_compiled(getattr(smo, name))


@pytest.mark.parametrize("version", [numba.__version__, "0.0"])
def test_what_is_kept_counts_for_its_version_of_numba(tmp_path, version):
    index = tmp_path / "smo.loop-1.py311.nbi"
    index.write_bytes(pickle.dumps(version) + b"what numba keeps")
    assert smo._is_of_this_numba(index) == (version == numba.__version__)


def test_what_numba_leaves_alone_is_compiled():
    assert is_compiled(smo.smo_steps.py_func)


@pytest.mark.parametrize("compiled", [False, True])
def test_auto_waits_for_the_compiler_only_where_it_pays(monkeypatch, compiled):
    monkeypatch.setattr("kernelbook.qp.exact.smo.is_compiled", lambda loop: compiled)
    options = SolverOptions()
    assert not goes_exact(options.exact_from - 1, options)
    assert goes_exact(options.exact_from, options) == compiled
    assert goes_exact(options.uncompiled_up_to, options) == compiled
    assert goes_exact(options.uncompiled_up_to + 1, options)
    assert goes_exact(2, SolverOptions(solver="exact"))
