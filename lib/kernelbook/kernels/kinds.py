"""The numbers by which the compiled loops know a kernel."""

__all__ = ["GAUSSIAN", "LAPLACIAN", "POLYNOMIAL"]

GAUSSIAN, LAPLACIAN, POLYNOMIAL = 0, 1, 2
