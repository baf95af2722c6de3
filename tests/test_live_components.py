"""The components of the live figure, run by node: our own kernel PCA, and honest certificates."""

import json
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose
from samples import points
from scipy.linalg import eigvalsh, hilbert

from kernelbook.kpca import KernelPCA

NODE = shutil.which("node")
pytestmark = pytest.mark.skipif(NODE is None, reason="the live figures are solved by node here")

SCRIPT = Path(__file__).with_name("solve_components.cjs")
KERNELS = {
    "linear": {"kernel": "linear"},
    "rbf": {"kernel": "rbf", "gamma": 0.5},
    "wide rbf": {"kernel": "rbf", "gamma": 0.01},
    "narrow rbf": {"kernel": "rbf", "gamma": 10.0},
    "poly": {"kernel": "poly", "gamma": 0.5, "degree": 3, "coef0": 1.0},
}


def solve(*problems):
    text = json.dumps(problems)
    done = subprocess.run([NODE, SCRIPT], input=text, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("n", [3, 36, 100])
def test_components_are_those_of_kernel_pca(name, n):
    X, queries, settings = points(n, 2, seed=1) + 1, points(7, 2, seed=2), KERNELS[name]
    (found,) = solve({"X": X.tolist(), "parameters": settings, "queries": queries.tolist()})
    exact = KernelPCA(min(n, 3), **settings).fit(X)
    kept = int((exact.eigenvalues_ > 0).sum())
    largest = exact.eigenvalues_[0]
    assert found["error"] < 1e-11 * largest
    assert_allclose(found["values"][:kept], exact.eigenvalues_[:kept], atol=1e-11 * largest)
    assert_allclose(
        found["shares"][:kept], exact.explained_variance_ratio_[:kept], rtol=0, atol=1e-11
    )
    scores = np.array(found["scores"])[:, :kept]
    # A component near another one in variance is known less well, by their distance.
    assert_allclose(scores, exact.transform(queries)[:, :kept], rtol=0, atol=1e-6)


def test_lines_have_as_many_components_as_the_plane():
    X = points(20, 2, seed=3)
    (found,) = solve({"X": X.tolist(), "parameters": KERNELS["linear"], "queries": [[1.0, 1.0]]})
    assert found["rank"] == 2
    assert found["scores"][0][2] == 0


@pytest.mark.parametrize("bend", [0.0, 1e-9, 1e-3])
def test_the_certificate_covers_the_error_of_every_eigenvalue(bend):
    matrices = [hilbert(12), np.diag([3.0, 3.0, 1.0, 0.0]), -hilbert(5), np.ones((6, 6))]
    problems = [{"matrix": matrix.tolist(), "bend": bend} for matrix in matrices]
    for matrix, found in zip(matrices, solve(*problems), strict=True):
        true = eigvalsh(matrix)[::-1]
        size = np.abs(true).max()
        assert np.abs(found["values"] - true).max() <= found["error"] + 1e-15 * size
        # A vector that is bent is noticed, and nothing else is.
        assert bend * size / 10 <= found["error"] <= (10 * bend + 1e-13) * size


def test_coincident_points_have_components():
    X = [[0.0, 0.0], [0.0, 0.0], [1.0, 0.0], [0.0, 2.0]]
    (found,) = solve({"X": X, "parameters": KERNELS["rbf"], "queries": X})
    assert found["rank"] == 2
    assert_allclose(found["scores"][0], found["scores"][1], rtol=0, atol=1e-12)
    (alike,) = solve({"X": [[1.0, 2.0]] * 3, "parameters": KERNELS["rbf"], "queries": X})
    assert alike["rank"] == 0
