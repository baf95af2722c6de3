r"""Do the chains agree? R-hat and effective sample sizes of quantities that matter.

ArviZ computes the rank-normalised split R-hat and the bulk and tail effective sample sizes of
[Vehtari2021]_; this module decides *what* is diagnosed (the log posterior, and functionals of the
model before raw coordinates) and warns if the chains disagree.

References
----------
[Vehtari2021]_
"""

import warnings
from collections.abc import Sequence
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from kernelbook.exceptions import warn_user
from kernelbook.optional import import_optional

if TYPE_CHECKING:
    import pandas as pd
    from arviz import InferenceData

__all__ = ["diagnose"]

R_HAT_LIMIT = 1.01
MIN_DRAWS = 4
COLUMNS = ["mean", "sd", "ess_bulk", "ess_tail", "r_hat"]

Draws = dict[str, NDArray[Any]]


def import_arviz() -> ModuleType:
    """Import ArviZ, or say how to install it.

    Returns
    -------
    module
        ArviZ.
    """
    # The daily notice is of ArviZ 1.0, which the upper bound of the dependency excludes.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        return import_optional("arviz", extra="bayes", purpose="A sampler")


def diagnose(idata: "InferenceData", var_names: Sequence[str] | None = None) -> "pd.DataFrame":
    r"""Tabulate R-hat and effective sample sizes of the log posterior and of chosen variables.

    Parameters
    ----------
    idata : arviz.InferenceData
        With a group ``posterior``; the log posterior ``lp`` is read from ``sample_stats``.
    var_names : sequence of str, default=None
        Variables of the posterior. If None, all of them. Prefer functionals that the data
        inform (weights, distances, probabilities) to raw coordinates: along a direction that
        changes nothing, such as a constant added to all logits, coordinates may drift without
        harm, and R-hat on them alarms without reason.

    Returns
    -------
    pandas.DataFrame
        One row a scalar, ``lp`` first, then ``name`` or ``name[i, j]``; columns ``mean``, ``sd``,
        ``ess_bulk``, ``ess_tail`` (in draws, over all chains) and ``r_hat``. R-hat is NaN for a
        quantity that is the same number throughout, and infinite if each chain is stuck at a
        value of its own. A single chain is treated as two, its halves.

    Raises
    ------
    ValueError
        If there are fewer than 4 draws a chain (8 with one chain), or a name is unknown.
    ImportError
        If ArviZ is not installed.

    See Also
    --------
    arviz.summary : The table of which this is a part.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelbook.mcmc.diagnostics import import_arviz
    >>> arviz = import_arviz()
    >>> draws = np.random.default_rng(0).normal(size=(4, 500))
    >>> table = diagnose(arviz.from_dict(posterior={"theta": draws}))
    >>> table.index.tolist(), bool(table.loc["theta", "r_hat"] < 1.01)
    (['theta'], True)
    """
    draws = _draws(idata, var_names)
    if few := _too_few(draws):
        raise ValueError(few)
    return _table(draws)


def warn_unless_converged(
    idata: "InferenceData", var_names: Sequence[str] | None, moved: NDArray[np.bool_]
) -> None:
    """Emit a ConvergenceWarning that names the chains that never moved, and the worst R-hat.

    Parameters
    ----------
    idata : arviz.InferenceData
        As for :func:`diagnose`.
    var_names : sequence of str or None
        As for :func:`diagnose`.
    moved : ndarray of shape (n_chains,)
        Whether the position of a chain ever changed after the burn-in.

    Warns
    -----
    sklearn.exceptions.ConvergenceWarning
        If an R-hat exceeds 1.01, a chain never moved, a draw is not finite, or there are too few
        draws to tell.
    """
    draws = _draws(idata, var_names)
    if not (complaint := _too_few(draws)):
        judged = (_stuck(idata, moved), _not_finite(draws), _disagreement(draws))
        complaint = " ".join(filter(None, judged))
    if complaint:
        warn_user(complaint, ConvergenceWarning)


def _draws(idata: "InferenceData", var_names: Sequence[str] | None) -> Draws:
    """The arrays (n_chains, n_draws, ...) to diagnose, the log posterior first."""
    posterior = idata["posterior"]
    known = [str(name) for name in posterior.data_vars]
    names = known if var_names is None else list(var_names)
    if unknown := sorted(set(names) - set(known)):
        raise ValueError(
            f"var_names has {unknown}, not in the posterior; it holds {sorted(known)}."
        )
    draws = {name: posterior[name].values.astype(np.float64) for name in names}
    if "sample_stats" in idata.groups() and "lp" in idata["sample_stats"]:
        return {"lp": idata["sample_stats"]["lp"].values, **draws}
    return draws


def _too_few(draws: Draws) -> str:
    n_chains, n_draws = next(iter(draws.values())).shape[:2]
    needed = MIN_DRAWS if n_chains > 1 else 2 * MIN_DRAWS
    if n_draws >= needed:
        return ""
    return (
        f"{n_draws} draws in {n_chains} chain(s) are too few to judge convergence: take at least "
        f"{needed} (n_samples)."
    )


def _stuck(idata: "InferenceData", moved: NDArray[np.bool_]) -> str:
    if moved.all():
        return ""
    chains = np.flatnonzero(~moved)
    if idata["sample_stats"]["accepted"].values[chains].any():
        return (
            f"Chain(s) {chains.tolist()} never moved: proposals were accepted, but their step is "
            "lost in the rounding of the position. Give a larger step."
        )
    return (
        f"Chain(s) {chains.tolist()} never moved: no proposal was accepted. Allow a longer burn-in "
        "(n_burn_in), a smaller step, or another start."
    )


def _not_finite(draws: Draws) -> str:
    names = [name for name, values in draws.items() if not np.isfinite(values).all()]
    if not names:
        return ""
    return (
        f"Draws of {', '.join(names)} are not finite, so that their convergence cannot be judged: "
        "correct the function that returns them."
    )


def _disagreement(draws: Draws) -> str:
    halves = _two_chains(draws)
    arviz = import_arviz()
    with np.errstate(all="ignore"):  # constant quantities, judged below
        found = arviz.rhat(arviz.convert_to_dataset(halves))  # a third of the time of a summary
    r_hat = _judged(np.concatenate([np.ravel(found[name].values) for name in halves]), halves)
    above = int(np.sum(r_hat > R_HAT_LIMIT))
    if above == 0:
        return ""
    worst = int(np.nanargmax(r_hat))
    others = f" ({above} of {len(r_hat)} quantities)" if above > 1 else ""
    return (
        f"R-hat of {_labels(halves)[worst]} is {r_hat[worst]:.4g}, above {R_HAT_LIMIT:g}{others}: "
        "the chains do not agree, so these draws do not represent the posterior. Run longer chains "
        "(n_burn_in, n_samples) or choose a sampler that suits the target."
    )


def _table(draws: Draws) -> "pd.DataFrame":
    halves = _two_chains(draws)
    arviz = import_arviz()
    with np.errstate(all="ignore"):
        table = arviz.summary(arviz.convert_to_dataset(halves), round_to="none")[COLUMNS]
    table["r_hat"] = _judged(table["r_hat"].to_numpy(), halves)
    return table.rename_axis("quantity")


def _two_chains(draws: Draws) -> Draws:
    """At least two: a single chain is judged by its halves."""
    n_chains, n_draws = next(iter(draws.values())).shape[:2]
    if n_chains > 1:
        return draws
    half = n_draws // 2
    return {name: np.concatenate([v[:, :half], v[:, -half:]]) for name, v in draws.items()}


def _judged(r_hat: NDArray[np.float64], draws: Draws) -> NDArray[np.float64]:
    """R-hat where chains move: of a number that never changes, rounding makes any value."""
    flat = np.concatenate([v.reshape(*v.shape[:2], -1) for v in draws.values()], axis=2)
    still = ~np.ptp(flat, axis=1).any(axis=0)
    return np.where(still, np.where(np.ptp(flat, axis=(0, 1)) > 0, np.inf, np.nan), r_hat)


def _labels(draws: Draws) -> list[str]:
    """The names of the quantities, in the order and form of ArviZ's summary."""
    return [
        name + (f"[{', '.join(map(str, place))}]" if place else "")
        for name, values in draws.items()
        for place in np.ndindex(values.shape[2:])
    ]
