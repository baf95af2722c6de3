"""Answers to the exercises of notebook 07, kernel PCA."""

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from sklearn.datasets import load_digits

from kernelbook.kernels import resolve_gamma
from kernelbook.kpca import KernelPCA
from kernelcourse.exercises.grading import Exercise

__all__ = ["EXERCISES"]

COUNTS = (20, 40, 80, 160, 250)
POINTS = np.array([[3.0, 1.0], [0.0, 2.0], [1.0, -1.0], [4.0, 0.0]])
NEW = np.array([[1.0, 1.0], [-2.0, 5.0]])


def _centred(function: Callable[..., Any]) -> Any:
    """What a function of (k, K) makes of a linear kernel."""
    return function(NEW @ POINTS.T, POINTS @ POINTS.T)


def _by_features(k: np.ndarray, K: np.ndarray) -> np.ndarray:
    """The centred values as inner products of centred points."""
    mean = POINTS.mean(axis=0)
    return (NEW - mean) @ (POINTS - mean).T


def _with_the_means_of_the_batch(k: np.ndarray, K: np.ndarray) -> np.ndarray:
    return k - k.mean(axis=1, keepdims=True) - k.mean(axis=0) + k.mean()


@cache
def _best_counts() -> list[int]:
    """Components of least error in feature space, clean and noisy, and in pixels."""
    rng = np.random.default_rng(7)
    order = rng.permutation(1797)
    train, clean = np.split(load_digits().data[order[:400]], [300])
    noisy = clean + 4 * rng.standard_normal((100, 64))
    gamma = resolve_gamma("median", train)
    # Pythagoras: with all components at hand, what is left out adds to what is displaced. The
    # part of an image outside their span is the same for every count.
    full = KernelPCA(299, gamma=gamma).fit(train)
    wanted, given = full.transform(clean), full.transform(noisy)
    errors = []
    for count in COUNTS:
        left_out = np.mean((wanted[:, count:] ** 2).sum(axis=1))
        displaced = np.mean(((wanted - given)[:, :count] ** 2).sum(axis=1))
        model = KernelPCA(count, gamma=gamma).fit(train)
        pixels = np.mean((model.inverse_transform(model.transform(noisy)) - clean) ** 2)
        errors.append((left_out, left_out + displaced, pixels))
    return [COUNTS[i] for i in np.argmin(errors, axis=0)]


EXERCISES = (
    Exercise(
        "07.1",
        right=lambda: KernelPCA(1, kernel="linear").fit([[0.0], [2.0]]).eigenvalues_[0],
        mistakes=(
            (1.0, "That is the variance; the eigenvalue is n times as large."),
            (4.0, "Centre first: the mean is not 0."),
            (2**0.5, "The length of the centred points; take its square."),
        ),
        otherwise="Subtract the mean of the points; then add their squares.",
    ),
    Exercise(
        "07.2",
        right=lambda: (
            KernelPCA(gamma=1e6).fit(np.arange(50.0)[:, None]).explained_variance_ratio_[0]
        ),
        mistakes=(
            (1 / 50, "One of the eigenvalues is zero: the mean is gone."),
            (1.0, "That is the eigenvalue; its fraction of their sum is asked for."),
            (1 / 48, "H removes a single direction."),
        ),
        otherwise="How many eigenvalues has H that are not zero, and how large is each?",
    ),
    Exercise(
        "07.3",
        right=_by_features,
        evaluate=_centred,
        mistakes=(
            (
                _with_the_means_of_the_batch,
                "The means run over the new points; a point alone would get another value.",
            ),
            (
                lambda k, K: k - k.mean(axis=1, keepdims=True) - K.mean(axis=0),
                "The last term of (7.2) is missing.",
            ),
            (lambda k, K: k - K.mean(axis=0), "The mean of each new point stays."),
            (
                lambda k, K: k - k.mean(axis=1, keepdims=True),
                "The means of the training points stay.",
            ),
        ),
        otherwise="Compare with (x - mean)'(z - mean) for the linear kernel.",
    ),
    Exercise(
        "07.4",
        right=_best_counts,
        rtol=0.0,
        mistakes=(
            ([250, 250, 250], "Noise in, but compared with what? Use clean digits."),
            ([250, 250, 160], "In the second criterion the target is clean."),
            ([80, 80, 160], "In the first criterion there is no noise at all."),
            ([250, 160, 160], "Is the second one computed in feature space?"),
            ([160, 80, 250], "In the order of the criteria, please."),
        ),
        otherwise="Three numbers out of the five; does the first error ever rise with k?",
    ),
)
