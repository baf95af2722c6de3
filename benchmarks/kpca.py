"""Kernel PCA: the ten leading components of the centred Gram matrix."""

from typing import NamedTuple

import numpy as np
from scipy.linalg import eigh
from scipy.spatial.distance import cdist
from sklearn.datasets import make_blobs
from sklearn.decomposition import KernelPCA as PeerKernelPCA

from benchmarks.plan import Cell, Goal, Group, Method
from kernelbook.kpca import KernelPCA

__all__ = ["GROUP", "Data", "check"]


class Data(NamedTuple):
    X: np.ndarray
    components: int
    gamma: float


Pairs = tuple[np.ndarray, np.ndarray]


def make(*, n: int, d: int, components: int) -> Data:
    """Five clouds in d dimensions; gamma = 1 / d after scaling to unit variance."""
    X, _ = make_blobs(n, d, centers=5, cluster_std=4.0, random_state=0)
    return Data((X - X.mean(axis=0)) / X.std(axis=0), components, 1.0 / d)


def ours(data: Data) -> Pairs:
    pca = KernelPCA(data.components, kernel="rbf", gamma=data.gamma).fit(data.X)
    return pca.eigenvalues_, pca.eigenvectors_


def scikit_learn(data: Data) -> Pairs:
    pca = PeerKernelPCA(
        data.components, kernel="rbf", gamma=data.gamma, eigen_solver="arpack", random_state=0
    ).fit(data.X)
    return pca.eigenvalues_, pca.eigenvectors_


def full(data: Data) -> Pairs:
    """All eigenvectors of the centred matrix, of which the leading ones are kept."""
    values, vectors = eigh(_centred_gram(data), overwrite_a=True, check_finite=False)
    kept = slice(-1, -data.components - 1, -1)
    return values[kept], vectors[:, kept]


def check(data: Data, pairs: Pairs) -> dict[str, float]:
    """Residual ||A U - U diag(lambda)|| over the largest eigenvalue, and ||U'U - I||."""
    values, vectors = pairs
    residual = _centred_gram(data) @ vectors - vectors * values
    return {
        "residual": float(np.linalg.norm(residual) / values[0]),
        "orthogonality": float(np.linalg.norm(vectors.T @ vectors - np.eye(len(values)))),
    }


def _centred_gram(data: Data) -> np.ndarray:
    A = np.exp(-data.gamma * cdist(data.X, data.X, "sqeuclidean"))
    A -= A.mean(axis=0)
    A -= A.mean(axis=1, keepdims=True)
    return A


OURS, PEER, FULL = "kernelbook", "scikit-learn, arpack", "full eigh"


def _cell(n: int, repeats: int, full_repeats: int) -> Cell:
    problem = {"n": n, "d": 10, "components": 10}
    return Cell(problem, {OURS: repeats, PEER: repeats, FULL: full_repeats})


GROUP = Group(
    make=make,
    check=check,
    methods=[Method(OURS, ours, ours=True), Method(PEER, scikit_learn), Method(FULL, full)],
    cells=[_cell(1000, 5, 3), _cell(3000, 5, 3)],
    quick=[_cell(400, 1, 1)],
    warm_up={"n": 500, "d": 3, "components": 2},
    goals=[Goal({"n": 3000}, OURS, FULL, 25)],
    limits={"residual": 1e-9, "orthogonality": 1e-9},
)
