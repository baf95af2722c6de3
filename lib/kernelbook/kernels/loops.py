"""Compiled loops that compute kernel values: rows in single precision, sums and blocks in double.

Loops over one block of a row stay in the processor's nearest cache, and are written without
branches so that the compiler turns them into vector instructions. The formulas are those of
:mod:`kernelbook.kernels.radial` and :mod:`kernelbook.kernels.inner_product`, in which the
library's other code evaluates kernels.
"""

from typing import Any

import numpy as np
from numba import njit

from kernelbook.kernels.kinds import GAUSSIAN, POLYNOMIAL

__all__ = ["FAST", "fill_block", "kernel_from_products", "kernel_sums", "row_single"]

# Numbers may be contracted and compared as if none were NaN, but not reordered: the
# exponential relies on the order of its additions.
FAST: dict[str, Any] = {
    "cache": True,
    "nogil": True,
    "error_model": "numpy",
    "fastmath": {"contract", "nnan", "nsz", "arcp"},
}
# Entries of a row that stay in the nearest cache from one loop to the next.
CHUNK = 1024

LOG2_E = 1.4426950408889634
LN2_HIGH, LN2_LOW = 0.6931471803691238, 1.9082149292705877e-10
LN2_HIGH_32, LN2_LOW_32 = 0.693359375, -2.12194440e-4
# Added to a number, they leave the nearest integer in the last bits of the sum.
ROUNDER, ROUNDER_32 = 6755399441055744.0, 12582912.0
LOWEST, LOWEST_32 = -708.0, -87.0


@njit(**FAST)
def _expm1_double(x, out, rounded):
    """exp(x) - 1 for x <= 0, to two units in the last place."""
    bits = rounded.view(np.int64)
    for i in range(len(x)):
        x[i] = max(x[i], LOWEST)
        rounded[i] = x[i] * LOG2_E + ROUNDER
    for i in range(len(x)):
        k = rounded[i] - ROUNDER
        r = (x[i] - k * LN2_HIGH) - k * LN2_LOW
        p = 1.0 / 87178291200.0
        p = p * r + 1.0 / 6227020800.0
        p = p * r + 1.0 / 479001600.0
        p = p * r + 1.0 / 39916800.0
        p = p * r + 1.0 / 3628800.0
        p = p * r + 1.0 / 362880.0
        p = p * r + 1.0 / 40320.0
        p = p * r + 1.0 / 5040.0
        p = p * r + 1.0 / 720.0
        p = p * r + 1.0 / 120.0
        p = p * r + 1.0 / 24.0
        p = p * r + 1.0 / 6.0
        p = p * r + 0.5
        out[i] = (p * r) * r + r
    for i in range(len(x)):
        bits[i] = (bits[i] + 1023) << 52
    for i in range(len(x)):
        out[i] = rounded[i] * out[i] + (rounded[i] - 1.0)


@njit(**FAST)
def _expm1_single(x, out, rounded):
    """exp(x) - 1 for x <= 0 in single precision."""
    bits = rounded.view(np.int32)
    for i in range(len(x)):
        x[i] = max(x[i], np.float32(LOWEST_32))
        rounded[i] = x[i] * np.float32(LOG2_E) + np.float32(ROUNDER_32)
    for i in range(len(x)):
        k = rounded[i] - np.float32(ROUNDER_32)
        r = (x[i] - k * np.float32(LN2_HIGH_32)) - k * np.float32(LN2_LOW_32)
        p = np.float32(1.0 / 5040.0)
        p = p * r + np.float32(1.0 / 720.0)
        p = p * r + np.float32(1.0 / 120.0)
        p = p * r + np.float32(1.0 / 24.0)
        p = p * r + np.float32(1.0 / 6.0)
        p = p * r + np.float32(0.5)
        out[i] = (p * r) * r + r
    for i in range(len(x)):
        bits[i] = (bits[i] + np.int32(127)) << np.int32(23)
    for i in range(len(x)):
        out[i] = rounded[i] * out[i] + (rounded[i] - np.float32(1.0))


@njit(**FAST)
def _minus_distances(features, point, kind, start, stop, out):
    """Minus the squared Euclidean or the city-block distances to one point, for one chunk."""
    d = len(features)
    out[:] = 0
    k = 0
    if kind == GAUSSIAN:
        while k + 4 <= d:
            a, b, c, e = point[k], point[k + 1], point[k + 2], point[k + 3]
            A, B = features[k][start:stop], features[k + 1][start:stop]
            C, E = features[k + 2][start:stop], features[k + 3][start:stop]
            for i in range(len(out)):
                u, v, w, z = A[i] - a, B[i] - b, C[i] - c, E[i] - e
                out[i] -= (u * u + v * v) + (w * w + z * z)
            k += 4
    while k < d:
        a, A = point[k], features[k][start:stop]
        if kind == GAUSSIAN:
            for i in range(len(out)):
                u = A[i] - a
                out[i] -= u * u
        else:
            for i in range(len(out)):
                out[i] -= abs(A[i] - a)
        k += 1


@njit(**FAST)
def _inner_products(features, point, start, stop, out):
    """Inner products with one point, for one chunk."""
    out[:] = 0
    for k in range(len(features)):
        a, A = point[k], features[k][start:stop]
        for i in range(len(out)):
            out[i] += A[i] * a


@njit(**FAST)
def _power(g, slopes, t, base, degree, out):
    """(base + s + t + g)^degree for one chunk."""
    for i in range(len(g)):
        out[i] = np.float32(1.0)
    for _ in range(degree):
        for i in range(len(g)):
            out[i] *= base + slopes[i] + t + g[i]


@njit(**FAST)
def _relative_power(g, slopes, t, base, degree, mixed, power, out):
    """(base+s+t+g)^D - (base+s)^D - (base+t)^D + base^D, without its cancellation."""
    for i in range(len(g)):
        power[i] = np.float32(1.0)
        out[i] = np.float32(1.0)
    for _ in range(degree - 1):
        for i in range(len(g)):
            v = base + slopes[i] + t
            power[i] *= v
            out[i] = out[i] * (v + g[i]) + power[i]
    for i in range(len(g)):
        out[i] *= g[i]
    factor = t
    for j in range(degree - 1):
        for k in range(degree - 1):
            c = mixed[k, j] * factor
            if c != 0:
                for i in range(len(g)):
                    power[i] = c
                for _ in range(k + 1):
                    for i in range(len(g)):
                        power[i] *= slopes[i]
                for i in range(len(g)):
                    out[i] += power[i]
        factor *= t


@njit(**FAST)
def row_single(features, scale, kind, polynomial, j, out):
    """Write a row of D K D, or of what of K matters where D is empty, in single precision.

    Parameters
    ----------
    features : ndarray of shape (d, n), dtype=float32
        The points, one feature a row.
    scale : ndarray of shape (n,) or (0,), dtype=float32
        The diagonal of D; empty if there is none.
    kind : {GAUSSIAN, LAPLACIAN, POLYNOMIAL}
        Which kernel.
    polynomial : tuple (slopes, base, degree, mixed)
        The numbers of :class:`~kernelbook.kernels.compiled.CompiledPoints` of these names.
    j : int
        Number of the row.
    out : ndarray of shape (n,), dtype=float32
        Receives the row.
    """
    n = features.shape[1]
    slopes, base, degree, mixed = polynomial
    point = features[:, j].copy()
    x = np.empty(CHUNK, dtype=np.float32)
    scratch = np.empty(CHUNK, dtype=np.float32)
    for start in range(0, n, CHUNK):
        stop = min(start + CHUNK, n)
        size = stop - start
        part = out[start:stop]
        if kind == POLYNOMIAL:
            _inner_products(features, point, start, stop, x[:size])
            some, own = slopes[start:stop], slopes[j]
            if len(scale) > 0:
                _power(x[:size], some, own, base, degree, part)
            else:
                _relative_power(x[:size], some, own, base, degree, mixed, scratch[:size], part)
        else:
            _minus_distances(features, point, kind, start, stop, x[:size])
            _expm1_single(x[:size], part, scratch[:size])
            if len(scale) > 0:
                for i in range(size):
                    part[i] += np.float32(1.0)
    if len(scale) > 0:
        own = scale[j]
        for i in range(n):
            out[i] *= own * scale[i]


@njit(**FAST)
def kernel_sums(features, others, coefficients, kind, out):
    """Add sums over points z of coefficient times k(x, z) - 1, in double precision.

    Parameters
    ----------
    features : ndarray of shape (d, n)
        The points x, one feature a row, in units in which gamma is 1.
    others : ndarray of shape (m, d)
        The points z.
    coefficients : ndarray of shape (m,)
        One coefficient for each z.
    kind : {GAUSSIAN, LAPLACIAN}
        Which kernel.
    out : ndarray of shape (n,)
        Receives the sums in addition to what it holds.
    """
    n = features.shape[1]
    x = np.empty(CHUNK)
    values = np.empty(CHUNK)
    rounded = np.empty(CHUNK)
    for start in range(0, n, CHUNK):
        stop = min(start + CHUNK, n)
        size = stop - start
        total = out[start:stop]
        for j in range(len(others)):
            _minus_distances(features, others[j], kind, start, stop, x[:size])
            _expm1_double(x[:size], values[:size], rounded[:size])
            c = coefficients[j]
            for i in range(size):
                total[i] += c * values[i]


@njit(**FAST)
def fill_block(features, others, kind, out):
    """Write a block of values k(z, x) - 1, in double precision.

    Parameters
    ----------
    features : ndarray of shape (d, n)
        The points x, one feature a row, in units in which gamma is 1.
    others : ndarray of shape (m, d)
        The points z.
    kind : {GAUSSIAN, LAPLACIAN}
        Which kernel.
    out : ndarray of shape (m, n)
        Receives the values.
    """
    n = features.shape[1]
    x = np.empty(CHUNK)
    rounded = np.empty(CHUNK)
    for start in range(0, n, CHUNK):
        stop = min(start + CHUNK, n)
        size = stop - start
        for j in range(len(others)):
            _minus_distances(features, others[j], kind, start, stop, x[:size])
            _expm1_double(x[:size], out[j, start:stop], rounded[:size])


@njit(**FAST)
def kernel_from_products(products, own, others):
    """Replace the inner products of points by k(x, z) - 1, k the Gaussian kernel with gamma 1.

    Parameters
    ----------
    products : ndarray of shape (m, n)
        Inner products of points x and z; receives the values.
    own : ndarray of shape (m,)
        Squared norms of the points x.
    others : ndarray of shape (n,)
        Squared norms of the points z.
    """
    x = np.empty(CHUNK)
    rounded = np.empty(CHUNK)
    for start in range(0, len(others), CHUNK):
        stop = min(start + CHUNK, len(others))
        size = stop - start
        norms = others[start:stop]
        for i in range(len(products)):
            part = products[i, start:stop]
            for c in range(size):
                x[c] = min(2.0 * part[c] - own[i] - norms[c], 0.0)
            _expm1_double(x[:size], part, rounded[:size])
