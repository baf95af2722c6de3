"""One kernel, whichever way it is given, makes one machine: of every kind, with every kernel."""

import numpy as np
import pytest
from bayesian import BDD, BSVDD, TINY, short_chains
from numpy.testing import assert_allclose, assert_array_equal
from rational_quadratic import RadialRationalQuadratic, RationalQuadratic
from samples import classes, curve, labelled, points
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.svm import SVC, SVR
from sklearn.svm import OneClassSVM as LibsvmOneClassSVM

from kernelbook.certification import certify
from kernelbook.fisher import KernelFisherDiscriminant
from kernelbook.kernels import (
    RBF,
    Constant,
    FromCallable,
    Laplacian,
    Linear,
    Polynomial,
    Precomputed,
    resolve_gamma,
)
from kernelbook.kpca import KernelPCA
from kernelbook.oneclass import OneClassSVM, one_class_path
from kernelbook.svdd import SVDD
from kernelbook.svm import HardMarginSVC, KernelSVC, svc_path
from kernelbook.svr import KernelSVR

X, Y = classes(60)
Z = points(15, seed=9)
TARGET = curve(60)[1]
OUTLIERS = labelled(50, 10)[1]
LINE = np.linspace(-3.0, 3.0, 8)[:, None]

# Machine, what it is fitted to, what it answers with.
MACHINES = {
    "svc": (KernelSVC(2.0), Y, "decision_function"),
    "svc, exact": (KernelSVC(2.0, solver="exact"), Y, "decision_function"),
    "svr": (KernelSVR(2.0, epsilon=0.05), TARGET, "predict"),
    "svr, exact": (KernelSVR(2.0, epsilon=0.05, solver="exact"), TARGET, "predict"),
    "one class": (OneClassSVM(0.2), None, "decision_function"),
    "svdd": (SVDD(nu=0.2), None, "distance"),
    "svdd with outliers": (SVDD(nu=0.2, C_outlier=0.1), OUTLIERS, "distance"),
    "kpca": (KernelPCA(4), None, "transform"),
    "kfd": (KernelFisherDiscriminant(reg=0.1), Y, "decision_function"),
    "kfd, coef": (KernelFisherDiscriminant(reg=0.1, penalty="coef"), Y, "decision_function"),
    "bdd": (BDD(), None, "distance"),
}
BY_MACHINE = pytest.mark.parametrize("name", MACHINES)
NAMES = [
    (RBF(0.5), {"kernel": "rbf", "gamma": 0.5}),
    (Laplacian(0.5), {"kernel": "laplacian", "gamma": 0.5}),
    (Polynomial(3, 0.5, 1.0), {"kernel": "poly", "gamma": 0.5, "degree": 3, "coef0": 1.0}),
    (Linear(), {"kernel": "linear"}),
]


def fitted(name, kernel, data=X, **parameters):
    """A machine with this kernel, and its answers."""
    machine, y, method = MACHINES[name]
    machine = clone(machine).set_params(kernel=kernel, **parameters).fit(data, y)
    return machine, getattr(machine, method)


def numbers(machine):
    """Every array and number that a fit has left, by name."""
    return {
        name: value
        for name, value in vars(machine).items()
        if name.endswith("_") and isinstance(value, np.ndarray | float | int)
    }


@BY_MACHINE
@pytest.mark.parametrize(("kernel", "parameters"), NAMES, ids=lambda v: repr(v)[:10])
def test_an_object_is_its_name_bit_for_bit(name, kernel, parameters):
    by_name, values = fitted(name, **parameters)
    by_object, same = fitted(name, kernel)
    assert_array_equal(same(Z), values(Z))
    first, second = numbers(by_name), numbers(by_object)
    assert first.keys() == second.keys()
    for key, value in first.items():
        assert_array_equal(second[key], value, err_msg=key)
    assert by_name.kernel_ == by_object.kernel_ == kernel
    assert by_object.kernel_ is kernel


@BY_MACHINE
def test_parameters_of_the_estimator_do_not_change_an_object(name):
    _, values = fitted(name, RBF(0.5))
    _, same = fitted(name, RBF(0.5), gamma=7.0, degree=9, coef0=-3.0)
    assert_array_equal(same(Z), values(Z))


@BY_MACHINE
def test_the_fitted_kernel_has_the_width_that_was_used(name):
    machine, _ = fitted(name, "rbf", gamma="scale")
    # Outliers of a data description take part in the rule for the width.
    assert machine.kernel_ == RBF(resolve_gamma("scale", X))
    assert machine.gamma_ == machine.kernel_.gamma
    assert not hasattr(fitted(name, RBF(1.0) + RBF(0.1))[0], "gamma_")
    assert fitted(name, RadialRationalQuadratic())[0].kernel_ == RadialRationalQuadratic()


# Sums, products, kernels of one's own


@BY_MACHINE
@pytest.mark.parametrize(
    "kernel",
    [
        RationalQuadratic(0.7),
        RadialRationalQuadratic(0.7),
        RBF(0.5) + Linear(),
        0.5 * RBF(0.5) * Polynomial(2, 0.5, 1.0),
        RBF(2.0) + 0.1 * Laplacian(1.0) + Constant(3.0),
    ],
    ids=lambda kernel: repr(kernel)[:25],
)
def test_every_machine_takes_every_kernel(name, kernel):
    machine, values = fitted(name, kernel)
    _, by_function = fitted(name, kernel.evaluate)
    expected = by_function(Z)
    scale = np.abs(expected).max()
    assert_allclose(values(Z), expected, rtol=0, atol=1e-7 * scale)
    if hasattr(machine, "certificate_"):
        assert machine.certificate_.status == "optimal"
        assert machine.certificate_.duality_gap < 1e-8


@BY_MACHINE
def test_a_matrix_of_any_kernel_makes_the_same_machine(name):
    kernel = RationalQuadratic(0.7)
    _, values = fitted(name, kernel)
    _, by_matrix = fitted(name, Precomputed(), kernel.gram(X))
    scale = np.abs(values(Z)).max()
    assert_allclose(by_matrix(kernel.evaluate(Z, X)), values(Z), rtol=0, atol=1e-7 * scale)


@short_chains
@pytest.mark.filterwarnings("ignore::kernelbook.exceptions.CollapseWarning")
def test_posterior_draws_take_a_kernel_of_ones_own():
    kernel = RationalQuadratic(0.7)
    by_object, by_function = (
        BSVDD(kernel=given, **TINY).fit(X) for given in (kernel, kernel.evaluate)
    )
    assert_allclose(by_object.distance(Z), by_function.distance(Z), rtol=1e-9)


@pytest.mark.parametrize("kernel", [RationalQuadratic(), RBF(1.0) + Linear()], ids=repr)
def test_a_hard_margin_takes_every_kernel(kernel):
    y = np.where(np.abs(LINE[:, 0]) < 1.5, 1, -1)
    machine = HardMarginSVC(kernel=kernel + Polynomial(2)).fit(LINE, y)
    assert (y * machine.decision_function(LINE) >= 1 - 1e-8).all()
    assert machine.certificate_.status == "optimal"
    assert_allclose(machine.margin_, machine.alpha_.sum() ** -0.5, rtol=1e-9)


def test_paths_take_every_kernel():
    kernel = RationalQuadratic(0.7)
    for machine in svc_path(X, Y, [1.0, 10.0], kernel=kernel):
        alone = KernelSVC(machine.C, kernel=kernel).fit(X, Y)
        assert_allclose(machine.alpha_, alone.alpha_, atol=1e-8)
    for machine in one_class_path(X, [0.5, 0.1], kernel=kernel):
        alone = OneClassSVM(machine.nu, kernel=kernel).fit(X)
        assert_allclose(machine.alpha_, alone.alpha_, atol=1e-9)


@pytest.mark.parametrize(
    ("machine", "y"),
    [(SVC(C=3.0), Y), (SVR(C=3.0), TARGET), (LibsvmOneClassSVM(nu=0.2), None)],
    ids=str,
)
def test_a_machine_with_ones_own_kernel_can_be_certified(machine, y):
    # scikit-learn takes the object as a function: it is one.
    machine = clone(machine).set_params(kernel=RationalQuadratic(0.7), tol=1e-9).fit(X, y)
    certificate = certify(machine, X, y)
    assert 0 <= certificate.duality_gap < 1e-5
    assert certificate.exact.certificate_.status == "optimal"
    assert certificate.exact.kernel_ is machine.kernel


@pytest.mark.parametrize("preimage", ["fixed_point", "distance"])
def test_a_radial_kernel_of_ones_own_has_preimages(preimage):
    pca = KernelPCA(kernel=RadialRationalQuadratic(0.7), preimage=preimage).fit(X)
    assert_allclose(pca.inverse_transform(pca.transform(X)), X, atol=2e-3)


def test_any_kernel_of_ones_own_has_learned_preimages():
    pca = KernelPCA(10, kernel=RationalQuadratic(0.7), preimage="ridge").fit(X)
    assert ((pca.inverse_transform(pca.transform(X)) - X) ** 2).mean() < 0.1 * X.var()


def test_a_search_goes_through_kernels():
    kernels = [Linear(), RBF(0.5), RBF(0.5) + Linear()]
    search = GridSearchCV(KernelSVC(), {"kernel": kernels}, cv=3).fit(X, Y)
    assert search.best_params_["kernel"] in kernels
    assert search.best_estimator_.kernel_ == search.best_params_["kernel"]


def test_a_kernel_given_twice_is_evaluated_alike():
    # The exact solver computes some values in compiled loops, the other one never does.
    rng = np.random.default_rng(0)
    many = rng.normal(size=(600, 3))
    y = np.where(many[:, 0] + 0.3 * rng.normal(size=600) > 0, 1, -1)
    for kernel in (RBF(0.5), Laplacian(0.5), Polynomial(2, 0.5, 1.0)):
        compiled = KernelSVC(kernel=kernel).fit(many, y)
        called = KernelSVC(kernel=FromCallable(kernel.evaluate), solver="dense").fit(many, y)
        expected = called.decision_function(many[:30])
        assert_allclose(compiled.decision_function(many[:30]), expected, atol=1e-7)


# Solutions that tell little


@pytest.mark.parametrize(
    ("machine", "y", "expected"),
    [
        (KernelSVC(1e-6), [-1, 1] * 4, "every training point is a support vector"),
        (KernelSVC(10.0, kernel="linear"), [-1] * 4 + [1] * 4, None),
        (HardMarginSVC(kernel=RBF(1e6)), [-1, 1] * 4, "every training point is a support vector"),
        (HardMarginSVC(kernel="linear"), [-1] * 4 + [1] * 4, None),
        (KernelSVR(epsilon=9.0), np.arange(8.0), "no training point is a support vector"),
        (KernelSVR(1e-6, epsilon=0.0), np.arange(8.0) ** 2, "every training point is a support"),
        (KernelSVR(epsilon=3.0), np.arange(8.0), None),
        (OneClassSVM(1.0), None, "every training point is a support vector"),
        (OneClassSVM(0.2), None, None),
        (SVDD(nu=1.0), None, "every training point is a support vector"),
        (SVDD(), None, None),
        (BDD("constant"), None, "every training point is a support vector"),
        (BDD(np.r_[30.0, np.zeros(6), 30.0]), None, None),
    ],
    ids=str,
)
def test_what_an_optimum_leaves_out_is_an_attribute(machine, y, expected):
    machine = clone(machine).fit(LINE, y)
    assert machine.certificate_.status == "optimal"
    if expected is None:
        assert machine.degeneracy_ is None
        assert 0 < len(machine.support_) < 8
    else:
        assert machine.degeneracy_.startswith(expected)
        assert len(machine.support_) == (8 if expected.startswith("every") else 0)


def test_points_of_weight_zero_are_no_support_vectors():
    weights = np.r_[np.ones(6), np.zeros(2)]
    machine = KernelSVC(1e-6).fit(LINE, [-1, 1] * 4, weights)
    assert len(machine.support_) == 6
    assert machine.degeneracy_.startswith("every training point")
    assert OneClassSVM(1.0).fit(LINE, None, weights).degeneracy_ is not None


# The sphere's fraction outside


def test_a_sphere_leaves_a_twentieth_of_the_targets_outside():
    many = points(200)
    default, by_nu = SVDD().fit(many), SVDD(nu=0.05).fit(many)
    assert_array_equal(default.alpha_, by_nu.alpha_)
    assert_array_equal(default.alpha_, SVDD(C=1 / (0.05 * 200)).fit(many).alpha_)
    assert 0 < (default.predict(many) == -1).mean() <= 0.05
    assert (SVDD(C=1.0).fit(many).predict(many) == 1).all()


def test_c_and_nu_contradict_each_other():
    with pytest.raises(ValueError, match=r"give C or nu, not both, got C=1\.0 and nu=0\.1"):
        SVDD(C=1.0, nu=0.1).fit(X)
