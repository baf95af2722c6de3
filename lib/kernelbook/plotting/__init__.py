"""Figures in one style: decision regions, Gram matrices, tubes, scores, intervals.

A class has a colour and a marker, support vectors are ringed, a boundary is solid and a margin
dashed, decision values have a diverging map centred at 0. Every ``plot_*`` function draws on
``ax``, or on the axes of a new figure if that is None, and returns the axes. Call
:func:`use_style` once, before the first figure.

matplotlib, seaborn and pandas are imported when first needed: ``pip install "kernelbook[plots]"``.
"""

from kernelbook.plotting.comparison import plot_comparison
from kernelbook.plotting.plane import plot_decision, plot_field, plot_points
from kernelbook.plotting.regression import plot_regression_tube
from kernelbook.plotting.statistical import plot_gram, plot_intervals, plot_scores
from kernelbook.plotting.street import plot_street
from kernelbook.plotting.style import CLASS_COLOURS, CLASS_MARKERS, legend_of, panels, use_style

__all__ = [
    "CLASS_COLOURS",
    "CLASS_MARKERS",
    "legend_of",
    "panels",
    "plot_comparison",
    "plot_decision",
    "plot_field",
    "plot_gram",
    "plot_intervals",
    "plot_points",
    "plot_regression_tube",
    "plot_scores",
    "plot_street",
    "use_style",
]
