"""x"""

from kernelbook.study.run import cell_seed, run_study

__all__ = ["cell_seed", "run_study"]
