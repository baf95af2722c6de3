"""Support vector classifiers along a path of C."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from kernelbook.svm.classifier import KernelSVC
from kernelbook.validation import check_number

__all__ = ["svc_path"]


def svc_path(
    X: ArrayLike,
    y: ArrayLike,
    Cs: ArrayLike,
    sample_weight: ArrayLike | None = None,
    **parameters: Any,
) -> list[KernelSVC]:
    r"""Fit machines for a path of C, each fitted from where the one before it ended.

    From the smallest C to the largest, :math:`\alpha` times the ratio of the two C is where the
    next fit starts: bounded variables stay at their bounds. The solutions are those of separate
    fits; ``solver='exact'``, the default from 400 points on, makes use of the start.

    Parameters
    ----------
    X : array-like of shape (n, d) or (n, n)
        Training points, or the Gram matrix for a precomputed kernel.
    y : array-like of shape (n,)
        Labels of two classes or more.
    Cs : array-like of shape (k,)
        Regularization parameters.
    sample_weight : array-like of shape (n,), default=None
        Multiplies C point by point.
    **parameters : dict
        Further parameters of :class:`KernelSVC`.

    Returns
    -------
    list of KernelSVC
        In the order of ``Cs``.

    Raises
    ------
    ValueError
        If ``Cs`` is empty, or one of them is not positive and finite.

    Examples
    --------
    Points -1 and 1 have alpha = min(C, 1/2):

    >>> machines = svc_path([[-1.0], [1.0]], [0, 1], [4.0, 0.25], kernel="linear")
    >>> [machine.alpha_.round(12).tolist() for machine in machines]
    [[0.5, 0.5], [0.25, 0.25]]
    """
    Cs = np.asarray(Cs, dtype=np.float64)
    if Cs.ndim != 1 or len(Cs) == 0:
        raise ValueError(f"Cs must be a list of at least one number, got shape {Cs.shape}.")
    machines = [
        KernelSVC(check_number(C, "Cs", low=0, inclusive="neither"), **parameters)
        for C in Cs.tolist()
    ]
    before, start = 1.0, None
    for machine in sorted(machines, key=lambda machine: machine.C):
        near = None if start is None else machine.C / before * start
        machine.fit(X, y, sample_weight, start=near)
        before, start = machine.C, machine.alpha_
    return machines
