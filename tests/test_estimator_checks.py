"""Every check that scikit-learn has for estimators, on every estimator of the core."""

import pkgutil
from importlib import import_module

import pytest
from bayesian import BDD, BSVDD, MINORITY, TINY, short_chains
from rational_quadratic import RationalQuadratic
from sklearn.base import BaseEstimator
from sklearn.utils.estimator_checks import parametrize_with_checks

import kernelbook
from kernelbook.fisher import KernelFisherDiscriminant
from kernelbook.kernels import RBF, Linear, Precomputed, laplacian, linear, rbf
from kernelbook.kpca import KernelPCA
from kernelbook.oneclass import OneClassSVM
from kernelbook.svdd import SVDD
from kernelbook.svm import HardMarginSVC, KernelSVC
from kernelbook.svr import KernelSVR

ESTIMATORS = [
    KernelSVC(),
    KernelSVC(kernel="linear", solver="reference"),
    KernelSVC(C=10, kernel="poly", degree=2, coef0=1, class_weight="balanced"),
    KernelSVC(kernel="laplacian", gamma=0.5),
    KernelSVC(kernel=RBF(0.5) + Linear()),
    KernelSVC(kernel="precomputed"),
    HardMarginSVC(),
    KernelSVR(),
    KernelSVR(C=10, epsilon=0, kernel="linear"),
    KernelSVR(kernel=RationalQuadratic()),
    OneClassSVM(),
    OneClassSVM(0.1, kernel="linear"),
    OneClassSVM(0.9, kernel="poly", coef0=1.0),
    OneClassSVM(0.2, kernel="laplacian", solver="reference"),
    OneClassSVM(1.0, kernel=linear),
    OneClassSVM(kernel="precomputed"),
    SVDD(),
    SVDD(nu=0.1),
    SVDD(nu=0.3, kernel="linear"),
    SVDD(nu=0.5, C_outlier=0.2, kernel="poly", degree=2, coef0=1.0, solver="reference"),
    SVDD(nu=0.2, kernel=rbf),
    SVDD(nu=0.2, kernel="precomputed"),
    KernelPCA(),
    KernelPCA(2, kernel="linear"),
    KernelPCA(2, preimage="ridge"),
    KernelPCA(2, preimage="distance", eigen_solver="dense"),
    KernelPCA(1, kernel="poly", coef0=1.0, eigen_solver="iterative"),
    KernelPCA(kernel="laplacian"),
    KernelPCA(kernel=laplacian),
    KernelPCA(kernel=Precomputed()),
    KernelFisherDiscriminant(),
    KernelFisherDiscriminant("linear"),
    KernelFisherDiscriminant(reg="loo"),
    KernelFisherDiscriminant(penalty="coef"),
    KernelFisherDiscriminant("poly", coef0=1.0, degree=2, priors="equal"),
    KernelFisherDiscriminant("laplacian", n_components=1),
    KernelFisherDiscriminant(laplacian),
    KernelFisherDiscriminant("precomputed"),
    BDD(),
    BDD(kernel="precomputed"),
    BSVDD(**TINY),
    MINORITY(**TINY),
]
# Packages whose estimators are checked by their own tests.
ELSEWHERE = ("conformal", "explain", "mean_difference", "study")

NO_GRAM_MATRIX = {
    "check_positive_only_tag_during_fit": "the check hands in a matrix that is no Gram matrix",
    "check_estimators_dtypes": "rounded to integers the check's Gram matrix is indefinite",
}
# Distances from a centre of precomputed values need K(z, z), which these checks do not pass.
NO_DIAGONAL = dict.fromkeys(
    [
        "check_classifier_data_not_an_array",
        "check_dict_unchanged",
        "check_dtype_object",
        "check_f_contiguous_array_estimator",
        "check_fit_idempotent",
        "check_methods_sample_order_invariance",
        "check_methods_subset_invariance",
    ],
    "the check does not pass the diagonal K(z, z)",
)
NO_PAIRS = dict.fromkeys(
    ["check_outliers_fit_predict", "check_outliers_train"],
    "the check hands in points where the values of pairs are wanted",
)


def expected_failures(estimator):
    """Mostly of precomputed matrices: what a check hands in is none, or is not all of it."""
    if getattr(estimator, "nu", None) == 1.0:
        return {"check_non_transformer_estimators_n_iter": "equal weights leave nothing to iterate"}
    if not estimator.__sklearn_tags__().input_tags.pairwise:
        return {}
    if isinstance(estimator, KernelPCA):  # centring makes the first matrix definite enough
        return {key: NO_GRAM_MATRIX[key] for key in ("check_estimators_dtypes",)}
    if isinstance(estimator, SVDD | BDD):
        return {**NO_GRAM_MATRIX, **NO_PAIRS, **NO_DIAGONAL}
    return {**NO_GRAM_MATRIX, **(NO_PAIRS if isinstance(estimator, OneClassSVM) else {})}


@pytest.mark.filterwarnings("ignore::kernelbook.exceptions.LabelWarning")
@pytest.mark.filterwarnings("ignore::kernelbook.exceptions.CollapseWarning")
@short_chains
@parametrize_with_checks(ESTIMATORS, expected_failed_checks=expected_failures)
def test_scikit_learn_check(estimator, check):
    check(estimator)


def public_estimators():
    """The classes of the library that have a fit of their own and can be made."""
    for module in pkgutil.walk_packages(kernelbook.__path__, "kernelbook."):
        if module.name.split(".")[1] in ELSEWHERE or module.name.endswith("__main__"):
            continue
        for value in vars(import_module(module.name)).values():
            if isinstance(value, type) and issubclass(value, BaseEstimator):
                made_here = value.__module__ == module.name
                if made_here and "fit" in vars(value) and "__init__" in vars(value):
                    yield value


def test_no_estimator_of_the_core_is_left_out():
    assert set(public_estimators()) == {type(estimator) for estimator in ESTIMATORS}
