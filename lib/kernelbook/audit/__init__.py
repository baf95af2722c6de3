r"""Arithmetic that a published table of rates must obey, and what it reveals when it does not.

Accuracy, sensitivity :math:`s` and specificity :math:`t` of one set of tests determine the
prevalence :math:`\pi`, the fraction of positives in it; a rate over N cases is a multiple of 1/N;
F1 has a value that flagging everything reaches. Each function here turns one such identity round.
All of them read printed, hence rounded, numbers, and return what is possible before the rounding.

An inference from arithmetic says that printed numbers disagree with each other or with a stated
design, not why. Means over runs or folds obey the identities that are linear (accuracy, given
the same prevalence in each), the others (precision, F1, G-mean) only nearly, and means over folds
of unequal size need not be multiples of anything.
"""

from kernelbook.audit.counts import chance_of_fit, fitting_denominators, grim, grim_folds
from kernelbook.audit.prevalence import (
    accuracy_bound,
    implied_prevalence,
    prevalence_from_f1,
    prevalence_from_precision,
    trivial_f1,
)
from kernelbook.audit.rows import DeviatingRuns, deviating_runs, weight_sum
from kernelbook.audit.table import audit_table

__all__ = [
    "DeviatingRuns",
    "accuracy_bound",
    "audit_table",
    "chance_of_fit",
    "deviating_runs",
    "fitting_denominators",
    "grim",
    "grim_folds",
    "implied_prevalence",
    "prevalence_from_f1",
    "prevalence_from_precision",
    "trivial_f1",
    "weight_sum",
]
