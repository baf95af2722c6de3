"""What the server of the measurements' processes does before it forks any: import and load."""

from importlib import import_module
from importlib.util import find_spec

from benchmarks.plan import GROUPS, load

for name in GROUPS:
    load(name)
if find_spec("arviz"):
    import_module("arviz")
if find_spec("numba"):
    from kernelbook.compile_loops import compile_loops

    compile_loops()
