"""Support vector classifiers with a certificate: soft margin with any kernel, and hard margin."""

from kernelbook.svm.classifier import BinaryClassifier, KernelSVC, encode_labels, svc_dual
from kernelbook.svm.hard_margin import HardMarginSVC
from kernelbook.svm.path import svc_path

__all__ = [
    "BinaryClassifier",
    "HardMarginSVC",
    "KernelSVC",
    "encode_labels",
    "svc_dual",
    "svc_path",
]
