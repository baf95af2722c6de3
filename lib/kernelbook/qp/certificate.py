"""What a certificate says, and the numbers by which it is judged."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kernelbook.qp.program import EPS

__all__ = [
    "CANCELLATION",
    "FEASIBILITY",
    "LARGEST_GAP",
    "MAX_ITER",
    "NARROW",
    "NEARLY",
    "NOT_OPTIMAL",
    "ROUNDING",
    "ROUNDINGS",
    "STALLED",
    "Certificate",
    "Residual",
]

Array = NDArray[np.float64]

FEASIBILITY = 1e-10
# A gradient below this fraction of the sum of its terms' magnitudes is what cancellation left,
# and so is an objective below this fraction of what b alone makes it.
CANCELLATION = 1e-6
# Largest relative gap, rounding included, that is called optimal, unless tol allows more.
LARGEST_GAP = 1e-6
# A residual of so many roundings of the gradient is no violation.
ROUNDINGS = 64.0
# A violation of so many tolerances is none where the gap, rounding included, is within one.
NEARLY = 100.0
# A box that is narrower than this part of the sum of x is no wider than rounding.
NARROW = 64 * EPS
# Statuses other than 'optimal'.
NOT_OPTIMAL, ROUNDING = "not optimal to tol", "rounding"
STALLED, MAX_ITER = "stalled", "max_iter"


@dataclass(frozen=True)
class Certificate:
    """What proves a fit.

    Attributes
    ----------
    duality_gap : float
        The difference ``(primal - dual) / max(|primal|, |dual|)``, never negative: no solution
        has an objective that is better by more than this fraction.
    kkt_violation : float
        Largest violation of the optimality conditions, in units of the gradient: relative to
        the largest entry of its two terms, Qx and q.
    status : {'optimal', 'not optimal to tol', 'rounding', 'stalled', 'max_iter'}
        ``'optimal'`` if the violation is within the tolerance that was asked for, or within the
        rounding of the gradient, and the gap within 1e-6 or the tolerance, whatever rounding may
        have done to it; a gap within the tolerance allows a hundredfold violation.
        ``'rounding'`` if the violation is within the tolerance, but double precision leaves a
        larger gap. Otherwise ``'stalled'``
        for a solver that could not go on, ``'max_iter'`` for one that was stopped, and
        ``'not optimal to tol'`` for a machine that is only certified here.

    Examples
    --------
    >>> Certificate(duality_gap=1e-12, kkt_violation=3e-10, status="optimal").status
    'optimal'
    """

    duality_gap: float
    kkt_violation: float
    status: str


@dataclass(frozen=True)
class Residual:
    """What a proof is made of, where it is known to more digits than double precision has.

    Attributes
    ----------
    values : ndarray of shape (n,)
        Gradient plus the multiplier times a.
    noise : ndarray of shape (n,)
        What rounding may have done to these.
    multiplier : float
        Of the equality.
    objective : float
        1/2 x'Qx + q'x.
    doubt : float
        What rounding may have done to that.
    """

    values: Array
    noise: Array
    multiplier: float
    objective: float
    doubt: float
