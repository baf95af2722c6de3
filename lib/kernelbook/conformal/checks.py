"""Checks of parameters that the conformal machines share."""

from numbers import Integral

import numpy as np

from kernelbook.kernels import check_positive

__all__ = ["SIGMA_RULE", "check_count", "check_metric", "number_unless_auto", "sigma_over_root_d"]

SIGMA_RULE = "sigma/sqrt(d)"


def check_metric(metric: object, precomputed: bool) -> str:
    """Return the metric, 'feature' or 'input', or say why it cannot be.

    Examples
    --------
    >>> check_metric("input", precomputed=False)
    'input'
    """
    if not isinstance(metric, str) or metric not in ("feature", "input"):
        raise ValueError(f"metric must be 'feature', 'input' or None, got {metric!r}.")
    if metric == "input" and precomputed:
        raise ValueError(
            "metric='input' measures distances between points, which kernel='precomputed' does "
            "not know: use metric='feature'."
        )
    return metric


def check_count(name: str, value: object) -> int:
    """Return a whole number of at least 1, or raise a ValueError that names the parameter.

    Examples
    --------
    >>> check_count("n_passes", 2)
    2
    """
    if not isinstance(value, Integral) or isinstance(value, bool) or value < 1:
        raise ValueError(f"{name} must be a whole number of at least 1, got {value!r}.")
    return int(value)


def number_unless_auto(name: str, value: object) -> float | None:
    """None for 'auto', else a positive finite number.

    Examples
    --------
    >>> number_unless_auto("kappa", "auto") is None, number_unless_auto("kappa", 2)
    (True, 2.0)
    """
    if isinstance(value, str) and value == "auto":
        return None
    return check_positive(name, value)


def sigma_over_root_d(gamma: float, d: int) -> float:
    r"""Amari and Wu's width :math:`\sigma / \sqrt d` of an RBF kernel, d the input dimension.

    Examples
    --------
    gamma = 1/2 is sigma = 1:

    >>> sigma_over_root_d(0.5, 4)
    0.5
    """
    return float(1.0 / np.sqrt(2.0 * gamma * d))
