r"""Do the chains agree? R-hat and effective sample sizes of quantities that matter.

ArviZ computes the rank-normalised split R-hat and the bulk and tail effective sample sizes of
[Vehtari2021]_; this module decides *what* is diagnosed (the log posterior, and functionals of the
model before raw coordinates) and says so aloud when the chains disagree.

References
----------
[Vehtari2021]_
"""

import warnings
from collections.abc import Sequence
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.exceptions import ConvergenceWarning

from kernelbook.exceptions import warn_user

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["R_HAT_LIMIT", "diagnose", "gelman_rubin", "import_arviz", "warn_unless_converged"]

R_HAT_LIMIT = 1.01
MIN_DRAWS = 4


def import_arviz() -> ModuleType:
    """Import ArviZ without its daily notice; an ImportError that names the extra without it."""
    try:
        with warnings.catch_warnings():
            # The notice announces ArviZ 1.0, which the dependency's upper bound excludes.
            warnings.simplefilter("ignore", FutureWarning)
            import arviz
    except ImportError as error:
        raise ImportError(
            'Samplers return an arviz.InferenceData: pip install "kernelbook[bayes]".'
        ) from error
    return arviz


def gelman_rubin(chains: ArrayLike) -> float:
    r"""Classic R-hat of one scalar: the spread between chains against the spread within.

    .. math::  \hat R = \sqrt{\frac{\frac{n-1}{n} W + B / n}{W}}

    with :math:`W` the mean of the chains' variances and :math:`B / n` the variance of their
    means, both with divisor (number - 1).

    Parameters
    ----------
    chains : array-like, shape (n_chains, n_draws)
        At least two chains of at least two draws.

    Returns
    -------
    float
        Near 1 if the chains agree. NaN if every draw is the same number (there is nothing to
        compare); infinity if each chain is constant but they differ.

    Raises
    ------
    ValueError
        If ``chains`` is not two-dimensional, or has fewer than two chains or draws.

    Notes
    -----
    Kept for teaching, and for chains that never moved. It is blind to a drift that all chains
    share and to chains that differ in spread only: :func:`diagnose` uses the rank-normalised
    split version.

    Examples
    --------
    Variances 5/3 each, means 2.5 and 3.5: the square root of (3/4 * 5/3 + 1/2) / (5/3).

    >>> round(gelman_rubin([[1, 2, 3, 4], [2, 3, 4, 5]]), 6)
    1.024695
    """
    draws = np.asarray(chains, dtype=np.float64)
    if draws.ndim != 2 or min(draws.shape) < 2:
        raise ValueError(
            "chains must have shape (n_chains, n_draws) with at least two of each, got shape "
            f"{draws.shape}."
        )
    if not np.ptp(draws, axis=1).any():
        return float("nan") if np.ptp(draws) == 0.0 else float("inf")
    within = float(draws.var(axis=1, ddof=1).mean())
    between = float(draws.mean(axis=1).var(ddof=1))
    n_draws = draws.shape[1]
    return float(np.sqrt(((n_draws - 1) / n_draws * within + between) / within))


def diagnose(idata: Any, var_names: Sequence[str] | None = None) -> "pd.DataFrame":
    r"""Table of R-hat and effective sample sizes of the log posterior and of chosen variables.

    Parameters
    ----------
    idata : arviz.InferenceData
        With a group ``posterior``; the log posterior ``lp`` is read from ``sample_stats``.
    var_names : sequence of str, optional
        Variables of the posterior; all of them if left out. Prefer functionals that the data
        inform (weights, distances, probabilities) to raw coordinates: along a direction that
        changes nothing, such as a constant added to all logits, coordinates may drift without
        harm, and R-hat on them alarms without reason.

    Returns
    -------
    pandas.DataFrame
        One row a scalar, ``lp`` first, then ``name`` or ``name[i, j]``; columns ``mean``, ``sd``,
        ``ess_bulk``, ``ess_tail`` (in draws, over all chains) and ``r_hat``. R-hat is NaN for a
        quantity that is the same number throughout, infinite if chains are stuck at different
        values. A single chain is split, its first half compared with its second.

    Raises
    ------
    ValueError
        If there are fewer than 4 draws a chain (8 with one chain), or a name is unknown.
    ImportError
        Without ArviZ.

    Examples
    --------
    >>> import numpy as np
    >>> arviz = import_arviz()
    >>> draws = np.random.default_rng(0).normal(size=(4, 500))
    >>> table = diagnose(arviz.from_dict(posterior={"theta": draws}))
    >>> table.index.tolist(), bool(table.loc["theta", "r_hat"] < 1.01)
    (['theta'], True)
    """
    import_arviz()
    import pandas as pd

    variables = _variables(idata, var_names)
    n_chains, n_draws = next(iter(variables.values())).shape[:2]
    if n_draws < _draws_needed(n_chains):
        raise ValueError(_too_few(n_chains, n_draws))
    return pd.concat([_diagnose_variable(name, draws) for name, draws in variables.items()])


def _variables(idata: Any, var_names: Sequence[str] | None) -> dict[str, np.ndarray]:
    """The arrays (n_chains, n_draws, ...) to diagnose, the log posterior first."""
    posterior = idata.posterior
    names = list(posterior.data_vars) if var_names is None else list(var_names)
    unknown = sorted(set(names) - set(posterior.data_vars))
    if unknown:
        raise ValueError(
            f"var_names has {unknown}, not in the posterior; it holds "
            f"{sorted(posterior.data_vars)}."
        )
    variables = {name: posterior[name].values for name in names}
    if "sample_stats" in idata.groups() and "lp" in idata.sample_stats:
        return {"lp": idata.sample_stats["lp"].values, **variables}
    return variables


def _draws_needed(n_chains: int) -> int:
    return MIN_DRAWS if n_chains > 1 else 2 * MIN_DRAWS


def _too_few(n_chains: int, n_draws: int) -> str:
    return (
        f"{n_draws} draws in {n_chains} chain(s) are too few to judge convergence: take at least "
        f"{_draws_needed(n_chains)} (n_samples)."
    )


def _diagnose_variable(name: str, draws: np.ndarray) -> "pd.DataFrame":
    """Rows of the table for one variable, ``draws`` of shape (n_chains, n_draws, ...)."""
    import pandas as pd

    arviz = import_arviz()
    n_chains, n_draws = draws.shape[:2]
    shape = draws.shape[2:]
    index = [f"{name}[{', '.join(map(str, i))}]" for i in np.ndindex(shape)] if shape else [name]
    flat = draws.reshape(n_chains, n_draws, -1).astype(np.float64)
    data = arviz.convert_to_dataset({name: flat})
    halves = data
    if n_chains == 1:
        half = n_draws // 2
        halves = arviz.convert_to_dataset({name: np.concatenate([flat[:, :half], flat[:, -half:]])})
    with np.errstate(all="ignore"):  # constant chains, judged below
        columns = {
            "mean": flat.mean(axis=(0, 1)),
            "sd": flat.std(axis=(0, 1), ddof=1),
            "ess_bulk": arviz.ess(data, method="bulk")[name].values,
            "ess_tail": arviz.ess(data, method="tail")[name].values,
            "r_hat": arviz.rhat(halves)[name].values,
        }
    for j in np.flatnonzero(~np.ptp(flat, axis=1).any(axis=0)):
        columns["r_hat"][j] = gelman_rubin(halves[name].values[:, :, j])
    return pd.DataFrame(columns, index=pd.Index(index, name="quantity"))


def warn_unless_converged(
    idata: Any,
    var_names: Sequence[str] | None = None,
    *,
    limit: float = R_HAT_LIMIT,
) -> None:
    """Emit a ConvergenceWarning that names the worst R-hat, or the chains that never moved.

    Parameters
    ----------
    idata : arviz.InferenceData
    var_names : sequence of str, optional
        As in :func:`diagnose`.
    limit : float, default=1.01
        The bound of [Vehtari2021]_.

    Warns
    -----
    sklearn.exceptions.ConvergenceWarning
        If an R-hat exceeds ``limit``, the log posterior of a chain is constant, or there are too
        few draws to tell.

    Examples
    --------
    >>> import numpy as np
    >>> apart = np.random.default_rng(0).normal(size=(2, 100)) + [[0.0], [9.0]]
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     warn_unless_converged(import_arviz().from_dict(posterior={"theta": apart}))
    >>> str(caught[0].message)[:34]
    'R-hat of theta is 1.828, above 1.0'
    """
    complaint = _complaint(_variables(idata, var_names), limit)
    if complaint:
        warn_user(complaint, ConvergenceWarning)


def _complaint(variables: dict[str, np.ndarray], limit: float) -> str:
    n_chains, n_draws = next(iter(variables.values())).shape[:2]
    if n_draws < _draws_needed(n_chains):
        return _too_few(n_chains, n_draws)
    if "lp" in variables:
        stuck = np.flatnonzero(np.ptp(variables["lp"], axis=1) == 0.0)
        if stuck.size:
            return (
                f"The log posterior of chain(s) {stuck.tolist()} never changed: if they are "
                "stuck, allow a longer burn-in or give a smaller step."
            )
    tables = [_diagnose_variable(name, draws) for name, draws in variables.items()]
    r_hat = {quantity: value for table in tables for quantity, value in table["r_hat"].items()}
    above = {quantity: value for quantity, value in r_hat.items() if value > limit}
    if not above:
        return ""
    worst = max(above, key=lambda quantity: above[quantity])
    others = f" ({len(above)} of {len(r_hat)} quantities)" if len(above) > 1 else ""
    return (
        f"R-hat of {worst} is {above[worst]:.4g}, above {limit:g}{others}: the chains do not "
        "agree, so these draws do not represent the posterior. Run longer chains (n_burn_in, "
        "n_samples) or choose a sampler that suits the target."
    )
