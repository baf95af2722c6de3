"""Checks of parameters that the conformal machines share."""

from dataclasses import dataclass
from numbers import Integral

import numpy as np

from kernelbook.kernels import check_positive

__all__ = [
    "METRIC_OF_SCHEME",
    "SIGMA_RULE",
    "Etas",
    "Settings",
    "check_boundary",
    "check_count",
    "check_eta",
    "check_etas",
    "check_metric",
    "number_unless_auto",
    "sigma_over_root_d",
]

Etas = tuple[float | None, float | None]
SIGMA_RULE = "sigma/sqrt(d)"
# The metric that each scheme's paper measures its distances in.
METRIC_OF_SCHEME = {
    "wu_chang": "feature",
    "kba": "feature",
    "amari_wu": "input",
    "wu_amari": "input",
    "williams": None,
}


@dataclass(frozen=True)
class Settings:
    """Checked parameters; None where a rule decides."""

    scheme: str
    metric: str | None
    C_second: float
    normalize: bool
    n_passes: int
    tau: float | str | None
    n_neighbors: int
    kappa: float | None
    etas: Etas
    boundary: float | None
    drop_misclassified: bool


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


def check_boundary(value: object) -> float | None:
    """None for 'auto', else a number in [1/2, 1].

    Examples
    --------
    >>> check_boundary(0.75)
    0.75
    """
    boundary = number_unless_auto("boundary", value)
    if boundary is not None and not 0.5 <= boundary <= 1.0:
        raise ValueError(
            f"boundary must be 'auto' or in [1/2, 1], got {value!r}: the share of the way from "
            "the rare class to the frequent one."
        )
    return boundary


def check_etas(etas: object) -> Etas:
    """A pair of positive numbers, or None where the rule decides.

    Examples
    --------
    >>> check_etas((2, None))
    (2.0, None)
    """
    if etas is None:
        return None, None
    if not isinstance(etas, tuple | list) or len(etas) != 2:
        raise ValueError(
            f"eta must be None or a pair (for classes_[0], for classes_[1]), got {etas!r}."
        )
    return check_eta("eta[0]", etas[0]), check_eta("eta[1]", etas[1])


def check_eta(name: str, value: object) -> float | None:
    """None, where the rule decides, else a positive finite number.

    Examples
    --------
    >>> check_eta("pos_eta", 3)
    3.0
    """
    return None if value is None else check_positive(name, value)
