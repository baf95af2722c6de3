"""Does 'auto' trap a fit? Each solver and 'auto' on random problems, as a table of ratios.

python -m benchmarks.auto               100 problems of seed 0
python -m benchmarks.auto 7 --count 40  40 problems of seed 7

Processor seconds of whole fits, medians of interleaved runs. A solver is stopped at --limit
seconds. Ratios of short times say more about the clock than about solvers, so that times below
--floor count as that.
"""

import argparse
import os
import signal
import time
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from statistics import median
from typing import Any

os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1"))

import numpy as np
from sklearn.base import BaseEstimator, clone

from kernelbook.compile_loops import compile_loops
from kernelbook.oneclass import OneClassSVM
from kernelbook.svm import KernelSVC
from kernelbook.svr import KernelSVR

SOLVERS = ("low_rank", "exact", "dense")
KERNELS = ("linear", "poly", "rbf", "laplacian", "sigmoid", "unit")
LARGEST_DENSE = 2000


class OutOfTimeError(Exception):
    """A fit was stopped."""


def random_problem(seed: int, k: int) -> tuple[str, BaseEstimator, tuple[np.ndarray, ...]]:
    """Description, machine and data: C from 1e-3 to 1e5, noisy labels, copies of points."""
    rng = np.random.default_rng([seed, k])
    n = 3000 if rng.random() < 0.05 else int(np.exp(rng.uniform(np.log(50), np.log(1500))))
    d, C = int(np.exp(rng.uniform(np.log(2), np.log(51)))), 10.0 ** rng.uniform(-3, 5)
    kernel, noise = str(rng.choice(KERNELS)), float(rng.choice([0.0, 0.1, 0.3]))
    X = rng.normal(size=(n, d))
    copies = rng.random() < 0.2
    if copies:
        X = X[rng.integers(0, max(10, n // 3), n)]
    response = X[:, 0] + 0.5 * X[:, 1] ** 2 - 0.5
    y = np.where(rng.random(n) < noise, -1, 1) * np.where(response > 0, 1, -1)
    y[:2] = 1, -1
    shape: dict[str, Any] = {"kernel": kernel, "gamma": 1.0 / d}
    if kernel == "poly":
        shape |= {"degree": int(rng.integers(2, 4)), "coef0": 1.0}
    elif kernel == "unit":
        shape = {"kernel": "rbf", "gamma": 1e4}
    elif kernel == "sigmoid":  # of its values, a matrix of inner products
        values = np.tanh(X @ X.T / d + 0.5)
        X, shape = values @ values.T / n, {"kernel": "precomputed"}
    machine = int(rng.integers(10))
    if machine < 6:
        name, estimator, data = "svc", KernelSVC(C=C, **shape), (X, y)
    elif machine < 8:
        epsilon = float(rng.choice([0.0, 0.1]))
        name, data = f"svr {epsilon}", (X, response + noise * rng.normal(size=n))
        estimator = KernelSVR(C=C, epsilon=epsilon, **shape)
    else:
        nu = float(rng.uniform(0.02, 0.9))
        name, estimator, data = f"one {nu:.2f}", OneClassSVM(nu=nu, **shape), (X,)
    told = f"{name:8} {kernel:9} n {n:4} d {d:2} C {C:7.1g} noise {noise} {'x3' * copies}"
    return told, estimator, data


@contextmanager
def stopped_after(seconds: float) -> Iterator[None]:
    """Raise OutOfTimeError in the block once the process has used so many seconds in it."""

    def stop(*_: object) -> None:
        raise OutOfTimeError

    signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0.0)


def fitted(estimator: BaseEstimator, data: tuple[np.ndarray, ...], limit: float) -> Any:
    """Seconds and the fitted machine; infinity and what happened instead of it."""
    start = time.process_time()
    try:
        with stopped_after(limit):
            estimator.fit(*data)
    except (OutOfTimeError, ValueError) as error:
        return np.inf, str(error) or "stopped"
    return time.process_time() - start, estimator.certificate_


def measured(estimator: BaseEstimator, data: tuple[np.ndarray, ...], limit: float) -> Any:
    """Median seconds of each solver and of 'auto', and the certificate of 'auto'."""
    times: dict[str, list[float]] = {solver: [] for solver in (*SOLVERS, "auto")}
    told = None
    for _ in range(3):
        for solver, sofar in times.items():
            slow = bool(sofar) and sofar[0] > 1.0
            if slow or (solver == "dense" and len(data[0]) > LARGEST_DENSE):
                continue
            seconds, said = fitted(clone(estimator).set_params(solver=solver), data, limit)
            is_proved = not isinstance(said, str) and said.status == "optimal"
            sofar.append(seconds if is_proved or solver == "auto" else np.inf)
            if solver == "auto":
                told = said
    return {solver: median(sofar or [np.inf]) for solver, sofar in times.items()}, told


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.auto",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("seed", nargs="?", type=int, default=0)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--largest", type=int, default=3000, help="leave larger problems out")
    parser.add_argument("--limit", type=float, default=20.0)
    parser.add_argument("--floor", type=float, default=0.02)
    options = parser.parse_args(arguments)
    compile_loops()
    warnings.simplefilter("ignore")
    ratios: list[float] = []
    print(f"{'problem':60}" + "".join(f"{name:>9}" for name in (*SOLVERS, "auto", "ratio")))
    for k in range(options.count):
        told, estimator, data = random_problem(options.seed, k)
        if len(data[0]) > options.largest:
            continue
        times, said = measured(estimator, data, options.limit)
        best = max(min(times[solver] for solver in SOLVERS), options.floor)
        ratios.append(max(times["auto"], options.floor) / min(best, options.limit))
        status = said if isinstance(said, str) else said.status
        row = "".join(f"{seconds:9.3f}" for seconds in times.values())
        print(f"{k:3} {told:56}{row}{ratios[-1]:9.2f}  {status}", flush=True)
    print(f"{len(ratios)} problems: median ratio {median(ratios):.2f}, largest {max(ratios):.2f}")
    print(f"more than twice the best: {sum(ratio > 2 for ratio in ratios)}")


if __name__ == "__main__":
    main()
