"""Polynomial-kernel SVMs as what they are: linear models in the interactions of the features."""

from kernelbook.explain.explainer import PolynomialExplainer
from kernelbook.explain.plots import (
    plot_degree_contributions,
    plot_degree_importance,
    plot_degree_waterfall,
    plot_importance,
    plot_waterfall,
)
from kernelbook.explain.reduction import score_by_count

__all__ = [
    "PolynomialExplainer",
    "plot_degree_contributions",
    "plot_degree_importance",
    "plot_degree_waterfall",
    "plot_importance",
    "plot_waterfall",
    "score_by_count",
]
