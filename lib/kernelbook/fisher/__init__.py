"""Kernel Fisher discriminant analysis: discriminants in feature space, and a classifier."""

from kernelbook.fisher.discriminant import KernelFisherDiscriminant

__all__ = ["KernelFisherDiscriminant"]
