"""Kernel machines for imbalanced data, each fit with a certificate of its optimality.

Everything that is named here is loaded when it is first used, so that ``import kernelbook`` stays
fast: ``from kernelbook import KernelSVC, certify``. ``python -m kernelbook`` lists the modules,
the notebooks and the versions in use.
"""

from importlib import import_module
from importlib.metadata import version
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kernelbook.bayes import BayesianDataDescription as BayesianDataDescription
    from kernelbook.bayes import BayesianSVDD as BayesianSVDD
    from kernelbook.bayes import BayesianSVDDMinority as BayesianSVDDMinority
    from kernelbook.certification import certify as certify
    from kernelbook.conformal import AFSCTSVC as AFSCTSVC
    from kernelbook.conformal import ConformalOneClassSVM as ConformalOneClassSVM
    from kernelbook.conformal import ConformalSVC as ConformalSVC
    from kernelbook.explain import PolynomialExplainer as PolynomialExplainer
    from kernelbook.fisher import KernelFisherDiscriminant as KernelFisherDiscriminant
    from kernelbook.kpca import KernelPCA as KernelPCA
    from kernelbook.mean_difference import MeanDifferenceClassifier as MeanDifferenceClassifier
    from kernelbook.mean_difference import ParzenWindow as ParzenWindow
    from kernelbook.oneclass import OneClassSVM as OneClassSVM
    from kernelbook.oneclass import one_class_path as one_class_path
    from kernelbook.qp import solve_qp as solve_qp
    from kernelbook.svdd import SVDD as SVDD
    from kernelbook.svm import HardMarginSVC as HardMarginSVC
    from kernelbook.svm import KernelSVC as KernelSVC
    from kernelbook.svm import svc_path as svc_path
    from kernelbook.svr import KernelSVR as KernelSVR

NAMES_IN = {
    "bayes": ("BayesianDataDescription", "BayesianSVDD", "BayesianSVDDMinority"),
    "certification": ("certify",),
    "conformal": ("AFSCTSVC", "ConformalOneClassSVM", "ConformalSVC"),
    "explain": ("PolynomialExplainer",),
    "fisher": ("KernelFisherDiscriminant",),
    "kpca": ("KernelPCA",),
    "mean_difference": ("MeanDifferenceClassifier", "ParzenWindow"),
    "oneclass": ("OneClassSVM", "one_class_path"),
    "qp": ("solve_qp",),
    "svdd": ("SVDD",),
    "svm": ("HardMarginSVC", "KernelSVC", "svc_path"),
    "svr": ("KernelSVR",),
}
MODULE_OF = {name: module for module, names in NAMES_IN.items() for name in names}
MODULES = {
    *NAMES_IN,
    *("audit", "datasets", "exceptions", "kernels", "mcmc", "metrics", "plotting", "study"),
}

__all__ = [*MODULE_OF]
__version__ = version("kernelbook")


def __getattr__(name: str) -> object:
    """Load what is asked for: a public name, or a module."""
    if name in MODULE_OF:
        value: object = getattr(import_module(f"kernelbook.{MODULE_OF[name]}"), name)
    elif name in MODULES:
        value = import_module(f"kernelbook.{name}")
    else:
        raise AttributeError(f"module 'kernelbook' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *MODULE_OF, *MODULES})
