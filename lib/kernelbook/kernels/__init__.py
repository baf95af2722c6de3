r"""Kernels: objects with values, derivatives and features, the same by name, and Gram matrices.

Every kernel is a frozen dataclass: ``RBF(gamma=0.5)(X, Y)`` is the matrix (n, m) of values,
``RBF(0.5) + Linear()`` and ``2.0 * RBF(0.5)`` are kernels again, and every estimator takes such an
object, a name or a function as its ``kernel``. The Gram matrix of one sample is exactly
symmetric, and has a diagonal of exactly 1 for the RBF and the Laplacian kernel.
"""

from kernelbook.kernels.base import NAMED, Array, Index, Kernel, KernelLike, Matrix, resolve_kernel
from kernelbook.kernels.composite import Constant, Product, Sum
from kernelbook.kernels.expansion import BLOCK_VALUES, Expansion
from kernelbook.kernels.functions import gram, laplacian, linear, polynomial, rbf, sigmoid
from kernelbook.kernels.given import FromCallable, Precomputed
from kernelbook.kernels.gram_matrix import (
    PSD_TOLERANCE,
    check_gram,
    squared_feature_distances,
)
from kernelbook.kernels.inner_product import Linear, Polynomial, Sigmoid, linear_coefficients
from kernelbook.kernels.parameters import KernelParameters
from kernelbook.kernels.radial import RBF, Laplacian, Radial, resolve_gamma

__all__ = [
    "BLOCK_VALUES",
    "NAMED",
    "PSD_TOLERANCE",
    "RBF",
    "Array",
    "Constant",
    "Expansion",
    "FromCallable",
    "Index",
    "Kernel",
    "KernelLike",
    "KernelParameters",
    "Laplacian",
    "Linear",
    "Matrix",
    "Polynomial",
    "Precomputed",
    "Product",
    "Radial",
    "Sigmoid",
    "Sum",
    "check_gram",
    "gram",
    "laplacian",
    "linear",
    "linear_coefficients",
    "polynomial",
    "rbf",
    "resolve_gamma",
    "resolve_kernel",
    "sigmoid",
    "squared_feature_distances",
]
