"""Kernel machines for imbalanced data, taught and proved in notebooks that run.

``python -m kernelbook`` lists the modules, the notebooks and the versions in use.
"""

from importlib.metadata import version

__version__ = version("kernelbook")
