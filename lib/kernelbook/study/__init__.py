"""Studies in cells that resume, and comparisons of methods that treat all of them alike.

:func:`compare` is the one way in which the collection compares methods, :func:`run_study` what
it and every other long study run on.
"""

from kernelbook.study.compare import Comparison, compare
from kernelbook.study.paired import paired_interval, verdict
from kernelbook.study.run import cell_seed, run_study

__all__ = ["Comparison", "cell_seed", "compare", "paired_interval", "run_study", "verdict"]
