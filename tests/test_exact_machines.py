"""Machines fitted by the exact solver, by pairs and working sets, and by the dense one agree."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from rational_quadratic import RationalQuadratic
from sklearn.datasets import make_moons

from kernelbook.conformal import AFSCTSVC, ConformalOneClassSVM, ConformalSVC
from kernelbook.kernels import RBF, Linear
from kernelbook.oneclass import OneClassSVM
from kernelbook.svdd import SVDD
from kernelbook.svm import HardMarginSVC, KernelSVC


@pytest.mark.parametrize(
    "machine",
    [
        KernelSVC(10.0, gamma=1.0),
        KernelSVC(10.0, kernel="poly", degree=3, coef0=1.0),
        KernelSVC(1.0, kernel=lambda A, B: A @ B.T + 1.0),
        KernelSVC(5.0, kernel=RBF(1.0) + Linear()),
        KernelSVC(5.0, kernel=RationalQuadratic(0.5)),
        ConformalSVC("williams", C=5.0, gamma=1.0),
        ConformalSVC("amari_wu", C=5.0, kernel="poly", degree=2, coef0=1.0),
        AFSCTSVC(),
        HardMarginSVC(gamma=300.0),
    ],
    ids=str,
)
def test_classifiers_of_both_solvers_agree(machine):
    X, y = make_moons(450, noise=0.2, random_state=1)
    exact = machine.set_params(solver="exact").fit(X, y).decision_function(X[:50])
    dense = machine.set_params(solver="dense").fit(X, y).decision_function(X[:50])
    assert_allclose(exact, dense, atol=2e-7 * np.abs(dense).max())


@pytest.mark.parametrize(
    "machine", [OneClassSVM(0.1), SVDD(nu=0.1), ConformalOneClassSVM(0.1)], ids=str
)
def test_detectors_of_both_solvers_agree(machine):
    X, _ = make_moons(450, noise=0.2, random_state=1)
    exact = machine.set_params(solver="exact").fit(X).decision_function(X[:50])
    dense = machine.set_params(solver="dense").fit(X).decision_function(X[:50])
    assert_allclose(exact, dense, atol=1e-8 * np.abs(dense).max())
