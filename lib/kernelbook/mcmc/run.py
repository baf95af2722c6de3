"""How it is run: seeds, starts, tuned burn-in, kept draws, the result as InferenceData."""

import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_scalar

from kernelbook.mcmc.diagnostics import import_arviz, warn_unless_converged
from kernelbook.mcmc.target import Array, GaussianPrior, State, Target

__all__ = [
    "Functionals",
    "Generators",
    "RandomState",
    "Statistics",
    "StepSizes",
    "Transition",
    "accept",
    "count_chains",
    "log_uniforms",
    "normals",
    "sample",
    "uniforms",
]

Functionals = Callable[[Array], dict[str, ArrayLike]]
Generators = list[np.random.Generator]
Statistics = dict[str, NDArray[Any]]
RandomState = int | np.random.SeedSequence | np.random.Generator | np.random.RandomState | None

DEFAULT_CHAINS = 4
OVERDISPERSION = 2.0
ROBBINS_MONRO_EXPONENT = 0.6
# About the inverse slope of an acceptance rate in the log of the step.
ROBBINS_MONRO_GAIN = 2.5


def count_chains(n_chains: int | None, start: ArrayLike | None) -> int:
    """The number of chains: as asked, else one for each row of ``start``, else 4."""
    if n_chains is None:
        rows = np.asarray(start, dtype=object)
        return len(rows) if rows.ndim == 2 else DEFAULT_CHAINS
    check_scalar(n_chains, "n_chains", Integral, min_val=1)
    return n_chains


def normals(rngs: Generators, n_dim: int) -> Array:
    """One row a chain, each from the chain's own generator."""
    out = np.empty((len(rngs), n_dim))
    for rng, row in zip(rngs, out, strict=True):
        rng.standard_normal(out=row)
    return out


def uniforms(rngs: Iterable[np.random.Generator]) -> Array:
    return np.array([rng.random() for rng in rngs])


def log_uniforms(rngs: Iterable[np.random.Generator]) -> Array:
    return np.array([-rng.standard_exponential() for rng in rngs])


class StepSizes:
    """Step sizes (n_blocks, n_chains), tuned to an acceptance rate until :meth:`freeze`."""

    def __init__(
        self,
        first: Sequence[float],
        n_chains: int,
        adapt: bool,
        target: float,
        largest: Sequence[float] | None = None,
    ) -> None:
        for size in first:
            check_scalar(size, "step", Real, min_val=0, include_boundaries="neither")
        check_scalar(
            target, "target_acceptance", Real, min_val=0, max_val=1, include_boundaries="neither"
        )
        self.size = np.repeat(np.array(first, dtype=np.float64)[:, None], n_chains, axis=1)
        self._largest = np.log([[np.inf]] if largest is None else np.array(largest)[:, None])
        self._log = np.log(self.size)
        self._history: list[Array] = []
        self._adapt = adapt
        self._target = target

    def tune(self, acceptance: Array) -> None:
        """One step of Robbins and Monro on the log scale; called in the burn-in only."""
        if not self._adapt:
            return
        gain = min(1.0, ROBBINS_MONRO_GAIN * (len(self._history) + 1) ** -ROBBINS_MONRO_EXPONENT)
        self._log = np.minimum(self._log + gain * (acceptance - self._target), self._largest)
        self._history.append(self._log)
        self.size = np.exp(self._log)

    def freeze(self) -> None:
        """Fix the step at its average over the last quarter of the burn-in."""
        if self._history:
            self.size = np.exp(np.mean(self._history[3 * len(self._history) // 4 :], axis=0))
            self._history = []


class Transition(ABC):
    """One iteration of a sampler; it leaves the posterior unchanged."""

    name: str
    steps: StepSizes | None = None
    needs_gradient = False

    @abstractmethod
    def __call__(self, state: State, target: Target, rngs: Generators) -> Statistics:
        """Move the state in place; return ``accepted`` (n_chains,), ``acceptance_rate``
        (n_blocks, n_chains) and other statistics, the chains last."""


def accept(
    state: State, proposal: State, log_ratio: Array, rngs: Generators
) -> tuple[NDArray[np.bool_], Array]:
    """Metropolis rule; rejected chains stay. Returns who moved, and the probabilities."""
    accepted = log_uniforms(rngs) < log_ratio
    state.replace(accepted, proposal)
    return accepted, np.exp(np.minimum(log_ratio, 0.0))


def sample(
    transition: Transition,
    prior: GaussianPrior,
    target: Target,
    *,
    n_samples: int,
    n_burn_in: int,
    n_chains: int,
    thin: int,
    start: ArrayLike | None,
    functionals: Functionals | None,
    store_draws: bool,
    random_state: RandomState,
    progress: bool,
) -> Any:
    """Run the chains and return them as InferenceData, with a warning if they disagree."""
    arviz = import_arviz()
    check_scalar(n_samples, "n_samples", Integral, min_val=1)
    check_scalar(n_burn_in, "n_burn_in", Integral, min_val=0)
    check_scalar(thin, "thin", Integral, min_val=1)
    if not store_draws and functionals is None:
        raise ValueError("store_draws=False keeps nothing: give functionals, or store the draws.")
    seeds = _spawn(random_state, n_chains)
    rngs = [np.random.default_rng(seed) for seed in seeds]
    state = _first_state(prior, target, start, rngs, transition.needs_gradient)
    record = _Record(prior, functionals, store_draws, target.vectorized, n_samples)
    steps = transition.steps
    for iteration in _iterations(n_burn_in + n_samples * thin, progress, transition.name):
        if iteration == n_burn_in and steps is not None:
            steps.freeze()
        statistics = transition(state, target, rngs)
        if iteration < n_burn_in and steps is not None:
            steps.tune(statistics["acceptance_rate"])
        if iteration >= n_burn_in and (iteration - n_burn_in + 1) % thin == 0:
            record.add(state, statistics, steps)
    attrs = {
        "sampler": f"kernelbook.mcmc.{transition.name}",
        "n_burn_in": n_burn_in,
        "thin": thin,
        "entropy": str(seeds[0].entropy),
    }
    with warnings.catch_warnings():
        # Many short chains are meant, not a transposed array.
        warnings.filterwarnings("ignore", message="More chains", category=UserWarning)
        idata = arviz.from_dict(**record.groups, dims=record.dims(), attrs=attrs)
    judged = None if functionals is None else [n for n in idata.posterior if n != "theta"]
    warn_unless_converged(idata, judged)
    return idata


def _iterations(total: int, progress: bool, name: str) -> Iterable[int]:
    if not progress:
        return range(total)
    try:
        from tqdm.auto import tqdm
    except ImportError as error:
        raise ImportError('progress=True needs tqdm: pip install "kernelbook[bayes]".') from error
    return tqdm(range(total), desc=name)


def _spawn(random_state: RandomState, n_chains: int) -> list[np.random.SeedSequence]:
    """One seed a chain: the k-th child of ``random_state``, whatever the number of chains."""
    if isinstance(random_state, np.random.SeedSequence):
        parent = random_state
    elif isinstance(random_state, np.random.Generator):
        parent = np.random.SeedSequence(random_state.integers(2**32, size=4).tolist())
    elif isinstance(random_state, np.random.RandomState):
        parent = np.random.SeedSequence(random_state.randint(2**31, size=4).tolist())
    elif random_state is None or isinstance(random_state, Integral):
        parent = np.random.SeedSequence(random_state)
    else:
        raise ValueError(
            "random_state must be None, an int, or a numpy SeedSequence, Generator or "
            f"RandomState, got {random_state!r}."
        )
    return [
        np.random.SeedSequence(parent.entropy, spawn_key=(*parent.spawn_key, chain))
        for chain in range(n_chains)
    ]


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
    if gradient:
        values, slope = target.value_and_gradient(prior.mean + deviation)
        slope = prior.pull_back(slope)
    else:
        values, slope = target.value(prior.mean + deviation), None
    outside = np.flatnonzero(np.isneginf(values))
    if outside.size:
        raise ValueError(
            f"log_likelihood is -inf at the start of chain(s) {outside.tolist()}: give start "
            "inside the support."
        )
    return State(z, deviation, values, slope)


class _Record:
    """What is kept of a run: arrays (n_chains, n_samples, ...), rejected states included."""

    def __init__(
        self,
        prior: GaussianPrior,
        functionals: Functionals | None,
        store_draws: bool,
        vectorized: bool,
        n_samples: int,
    ) -> None:
        self.prior = prior
        self.functionals = functionals
        self.store_draws = store_draws
        self.vectorized = vectorized
        self.n_samples = n_samples
        self.n_kept = 0
        self.groups: dict[str, Statistics] = {"posterior": {}, "sample_stats": {}}

    def add(self, state: State, statistics: Statistics, steps: StepSizes | None) -> None:
        theta = self.prior.mean + state.deviation
        if self.store_draws:
            self._put("posterior", "theta", theta)
        for name, value in self._functionals(theta).items():
            self._put("posterior", name, value)
        self._put("sample_stats", "lp", state.log_likelihood + self.prior.log_density(state.z))
        if steps is not None:
            statistics = {**statistics, "step_size": steps.size}
        for name, value in statistics.items():
            by_chain = np.moveaxis(value, -1, 0)
            single = by_chain.ndim == 2 and by_chain.shape[1] == 1
            self._put("sample_stats", name, by_chain[:, 0] if single else by_chain)
        self.n_kept += 1

    def _functionals(self, theta: Array) -> Statistics:
        if self.functionals is None:
            return {}
        if self.vectorized:
            named = {name: np.asarray(v) for name, v in self.functionals(theta).items()}
        else:
            rows = [self.functionals(row) for row in theta]
            named = {name: np.array([row[name] for row in rows]) for name in rows[0]}
        for name, value in named.items():
            if value.shape[:1] != (len(theta),) or name == "theta":
                raise ValueError(
                    f"functionals: {name!r} must have one row for each of the {len(theta)} "
                    f"states, and a name other than 'theta'; got shape {value.shape}."
                )
        return named

    def _put(self, group: str, name: str, value: NDArray[Any]) -> None:
        arrays = self.groups[group]
        if name not in arrays:
            shape = (value.shape[0], self.n_samples, *value.shape[1:])
            arrays[name] = np.empty(shape, dtype=bool if value.dtype == bool else np.float64)
        arrays[name][:, self.n_kept] = value

    def dims(self) -> dict[str, list[str]]:
        """Names of dimensions beyond chain and draw."""
        statistics = self.groups["sample_stats"]
        return {name: ["block"] for name, value in statistics.items() if value.ndim == 3}
