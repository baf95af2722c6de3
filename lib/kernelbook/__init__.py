"""Kernel machines for imbalanced data, taught and proved in notebooks that run."""

__version__ = "0.1.0"
