"""Every check that scikit-learn has for estimators, on the support vector machines."""

from sklearn.utils.estimator_checks import parametrize_with_checks

from kernelbook.svm import HardMarginSVC, KernelSVC
from kernelbook.svr import KernelSVR

ESTIMATORS = [
    KernelSVC(),
    KernelSVC(kernel="linear", solver="reference"),
    KernelSVC(C=10, kernel="poly", degree=2, coef0=1, class_weight="balanced"),
    KernelSVC(kernel="laplacian", gamma=0.5),
    KernelSVC(kernel="precomputed"),
    HardMarginSVC(),
    KernelSVR(),
    KernelSVR(C=10, epsilon=0, kernel="linear"),
]
NO_GRAM_MATRIX = {
    "check_positive_only_tag_during_fit": "the check hands in a matrix that is no Gram matrix",
    "check_estimators_dtypes": "rounded to whole numbers the check's Gram matrix is indefinite",
}


@parametrize_with_checks(
    ESTIMATORS,
    expected_failed_checks=lambda e: NO_GRAM_MATRIX if e.kernel == "precomputed" else {},
)
def test_scikit_learn_check(estimator, check):
    check(estimator)
