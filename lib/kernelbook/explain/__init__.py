"""Polynomial-kernel SVMs as what they are: linear models in the interactions of the features."""

from kernelbook.explain.explainer import PolynomialExplainer

__all__ = ["PolynomialExplainer"]
