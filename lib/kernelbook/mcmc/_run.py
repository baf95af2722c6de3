"""How chains are run: seeds, starts, tuned burn-in, kept draws, the result as InferenceData."""

import warnings
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kernelbook.mcmc._target import Array, GaussianPrior, State, Target
from kernelbook.mcmc.diagnostics import import_arviz, warn_unless_converged
from kernelbook.validation import check_number

if TYPE_CHECKING:
    from arviz import InferenceData

Functionals = Callable[[Array], dict[str, ArrayLike]]
Generators = list[np.random.Generator]
Statistics = dict[str, NDArray[Any]]
RandomState = int | np.random.RandomState | None
# Moves the state in place, by one iteration that leaves the posterior unchanged; returns
# `accepted` (n_chains,), `acceptance_rate` (n_blocks, n_chains) and others, the chains last.
Transition = Callable[[State, Target, Generators], Statistics]

DEFAULT_CHAINS = 4
OVERDISPERSION = 2.0
ROBBINS_MONRO_EXPONENT = 0.6
# About the inverse slope of an acceptance rate in the log of the step.
ROBBINS_MONRO_GAIN = 2.5


def normals(rngs: Generators, n_dim: int) -> Array:
    """One row a chain, each from the chain's own generator."""
    return np.array([rng.standard_normal(n_dim) for rng in rngs])


def uniforms(rngs: Iterable[np.random.Generator]) -> Array:
    return np.array([rng.random() for rng in rngs])


def log_uniforms(rngs: Iterable[np.random.Generator]) -> Array:
    return np.array([-rng.standard_exponential() for rng in rngs])


class StepSizes:
    """Step sizes (n_blocks, 1 or n_chains), tuned to an acceptance rate until :meth:`freeze`."""

    def __init__(
        self,
        first: Sequence[float],
        adapt: bool,
        target: float,
        largest: Sequence[float] = (np.inf,),
    ) -> None:
        self._target = check_number(target, "target_acceptance", low=0, high=1, inclusive="neither")
        self._adapt = adapt
        self._history: list[Array] = []
        self._largest = np.log(np.array(largest)[:, None])
        self.size = np.array(first, dtype=np.float64)[:, None]

    def tune(self, acceptance: Array) -> None:
        """One step of Robbins and Monro on the log scale; called in the burn-in only."""
        if not self._adapt:
            return
        gain = min(1.0, ROBBINS_MONRO_GAIN * (len(self._history) + 1) ** -ROBBINS_MONRO_EXPONENT)
        last = self._history[-1] if self._history else np.log(self.size)
        self._history.append(np.minimum(last + gain * (acceptance - self._target), self._largest))
        self.size = np.exp(self._history[-1])

    def freeze(self) -> None:
        """Fix the step at its average over the last quarter of the burn-in."""
        if self._history:
            self.size = np.exp(np.mean(self._history[3 * len(self._history) // 4 :], axis=0))


def accept(
    state: State, proposal: State, log_ratio: Array, rngs: Generators
) -> tuple[NDArray[np.bool_], Array]:
    """Metropolis rule; rejected chains stay. Returns who moved, and the probabilities."""
    accepted = log_uniforms(rngs) < log_ratio
    state.replace(accepted, proposal)
    return accepted, np.exp(np.minimum(log_ratio, 0.0))


def sample(
    name: str,
    transition: Transition,
    prior: GaussianPrior,
    target: Target,
    *,
    steps: StepSizes | None = None,
    gradient: bool = False,
    n_samples: int,
    n_burn_in: int,
    n_chains: int | None,
    thin: int,
    start: ArrayLike | None,
    functionals: Functionals | None,
    store_draws: bool,
    random_state: RandomState,
) -> "InferenceData":
    """Run the chains and return them as InferenceData, with a warning if they disagree."""
    arviz = import_arviz()
    n_samples = check_number(n_samples, "n_samples", low=1, integer=True)
    n_burn_in = check_number(n_burn_in, "n_burn_in", low=0, integer=True)
    thin = check_number(thin, "thin", low=1, integer=True)
    if not store_draws and functionals is None:
        raise ValueError("store_draws=False keeps nothing: give functionals, or store the draws.")
    seed = _seed(random_state)
    rngs = [np.random.default_rng(child) for child in seed.spawn(_count_chains(n_chains, start))]
    state = _first_state(prior, target, start, rngs, gradient)
    moved = np.zeros(len(rngs), dtype=bool)
    posterior: list[Statistics] = []
    sample_stats: list[Statistics] = []
    for iteration in range(n_burn_in + n_samples * thin):
        if iteration == n_burn_in and steps is not None:
            steps.freeze()
        before = state.z.copy()
        statistics = transition(state, target, rngs)
        if iteration < n_burn_in:
            if steps is not None:
                steps.tune(statistics["acceptance_rate"])
            continue
        moved |= (state.z != before).any(axis=1)
        if (iteration - n_burn_in + 1) % thin == 0:
            theta = prior.mean + state.deviation
            draw = {"theta": theta} if store_draws else {}
            posterior.append(draw | _evaluate(functionals, theta, target.vectorized))
            if steps is not None:
                rates = statistics["acceptance_rate"]
                statistics["step_size"] = np.broadcast_to(steps.size, rates.shape)
            lp = state.log_likelihood + prior.log_density(state.z)
            sample_stats.append({"lp": lp} | {k: _by_chain(v) for k, v in statistics.items()})
    stats = _stack(sample_stats)
    with warnings.catch_warnings():
        # Many short chains are meant, not a transposed array.
        warnings.filterwarnings("ignore", message="More chains", category=UserWarning)
        idata = arviz.from_dict(
            posterior=_stack(posterior),
            sample_stats=stats,
            dims={name: ["block"] for name, value in stats.items() if value.ndim == 3},
            attrs={
                "sampler": f"kernelbook.mcmc.{name}",
                "n_burn_in": n_burn_in,
                "thin": thin,
                "entropy": str(seed.entropy),
            },
        )
    judged = None if functionals is None else [n for n in idata.posterior if n != "theta"]
    warn_unless_converged(idata, judged, moved)
    return idata


def _count_chains(n_chains: int | None, start: ArrayLike | None) -> int:
    """The number of chains: as asked, else one for each row of ``start``, else 4."""
    if n_chains is not None:
        return check_number(n_chains, "n_chains", low=1, integer=True)
    rows = np.asarray(start, dtype=object)
    return len(rows) if rows.ndim == 2 else DEFAULT_CHAINS


def _seed(random_state: RandomState) -> np.random.SeedSequence:
    """Its k-th child seeds chain k, whatever the number of chains."""
    if isinstance(random_state, np.random.RandomState):
        return np.random.SeedSequence(random_state.randint(2**31, size=4).tolist())
    if random_state is not None:
        random_state = check_number(random_state, "random_state", low=0, integer=True)
    return np.random.SeedSequence(random_state)


def _first_state(
    prior: GaussianPrior, target: Target, start: ArrayLike | None, rngs: Generators, gradient: bool
) -> State:
    if start is None:
        z = OVERDISPERSION * normals(rngs, prior.n_dim)
        deviation = prior.colour(z)
    else:
        given = np.asarray(start, dtype=np.float64)
        shape = (len(rngs), prior.n_dim)
        if given.shape not in (shape, shape[1:]) or not np.isfinite(given).all():
            raise ValueError(
                f"start must be finite, of shape {shape} (one row a chain) or {shape[1:]}, got "
                f"shape {given.shape}."
            )
        deviation = np.broadcast_to(given, shape) - prior.mean
        z = prior.whiten(deviation)
    theta, slope = prior.mean + deviation, None
    if gradient:
        values, slope = target.value_and_gradient(theta)
        slope = prior.pull_back(slope)
    else:
        values = target.value(theta)
    outside = np.flatnonzero(np.isneginf(values))
    if outside.size:
        raise ValueError(
            f"log_likelihood is -inf at the start of chain(s) {outside.tolist()}: give start "
            "inside the support."
        )
    return State(z, deviation, values, slope)


def _evaluate(functionals: Functionals | None, theta: Array, vectorized: bool) -> Statistics:
    """The functionals of all chains, one row a chain, each in memory of its own."""
    if functionals is None:
        return {}
    if vectorized:
        named = {name: np.array(value) for name, value in functionals(theta).items()}
    else:
        rows = [functionals(row) for row in theta]
        named = {name: np.array([row[name] for row in rows]) for name in rows[0]}
    for name, value in named.items():
        if value.shape[:1] != (len(theta),) or name == "theta":
            raise ValueError(
                f"functionals: {name!r} must have one row for each of the {len(theta)} "
                f"states, and a name other than 'theta'; got shape {value.shape}."
            )
    return named


def _by_chain(statistic: NDArray[Any]) -> NDArray[Any]:
    """Chains first; a single block gets no dimension."""
    single_block = statistic.ndim == 2 and len(statistic) == 1
    return statistic[0] if single_block else np.moveaxis(statistic, -1, 0)


def _stack(draws: list[Statistics]) -> Statistics:
    """Arrays (n_chains, n_draws, ...) of what the draws hold by name."""
    return {name: np.stack([draw[name] for draw in draws], axis=1) for name in draws[0]}
