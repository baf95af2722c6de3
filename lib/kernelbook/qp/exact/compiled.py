"""The compiled loops of the exact solver: kernel rows, kernel sums, and the steps of SMO.

Loops over one block of a row stay in the processor's nearest cache, and are written without
branches so that the compiler turns them into vector instructions.
"""

from typing import Any

import numpy as np
from numba import njit

__all__ = [
    "CONVERGED",
    "GAUSSIAN",
    "LIMIT",
    "block_extremes",
    "fill_block",
    "gather",
    "kernel_from_products",
    "kernel_sums",
    "make_room",
    "mark_all",
    "smo_on_points",
    "smo_steps",
]

# Numbers may be contracted and compared as if none were NaN, but not reordered: the
# exponential relies on the order of its additions.
FAST: dict[str, Any] = {
    "cache": True,
    "nogil": True,
    "error_model": "numpy",
    "fastmath": {"contract", "nnan", "nsz", "arcp"},
}
BLOCK = 512
CHUNK = 1024
SEARCHED = 64
GAUSSIAN, LAPLACIAN, POLYNOMIAL = 0, 1, 2
CONVERGED, LIMIT = -1, -2
# Stands for infinity, with which the fast comparisons above may not calculate.
HUGE = 1e300
# A pair with less curvature than this share of the unit has none.
FLAT = 1e-12

LOG2_E = 1.4426950408889634
LN2_HIGH, LN2_LOW = 0.6931471803691238, 1.9082149292705877e-10
LN2_HIGH_32, LN2_LOW_32 = 0.693359375, -2.12194440e-4
# Added to a number, they leave the nearest whole number in the last bits of the sum.
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
def _row_single(features, scale, kind, polynomial, j, out):
    """Row j of D K D, or of what of K matters where D is empty, in single precision."""
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
    """Add to out (n,) the sum over j of coefficients_j (k(x_i, z_j) - 1), in double precision.

    features is (d, n), others (m, d).
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
    """Write k(z_j, x_i) - 1 to out (m, n)."""
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
    """Replace the inner products of points by k(x_i, z_j) - 1, k Gaussian of width 1.

    products is (m, n); own (m,) and others (n,) are the squared norms.
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


@njit(**FAST)
def _extremes(t, up, low):
    """Largest t that may rise and smallest t that may fall.

    Four at a time: the compiler keeps the order of a single chain of comparisons.
    """
    a0 = a1 = a2 = a3 = -HUGE
    b0 = b1 = b2 = b3 = HUGE
    c = 0
    while c + 4 <= len(t):
        a0, b0 = max(a0, t[c] + up[c]), min(b0, t[c] + low[c])
        a1, b1 = max(a1, t[c + 1] + up[c + 1]), min(b1, t[c + 1] + low[c + 1])
        a2, b2 = max(a2, t[c + 2] + up[c + 2]), min(b2, t[c + 2] + low[c + 2])
        a3, b3 = max(a3, t[c + 3] + up[c + 3]), min(b3, t[c + 3] + low[c + 3])
        c += 4
    while c < len(t):
        a0, b0 = max(a0, t[c] + up[c]), min(b0, t[c] + low[c])
        c += 1
    return max(max(a0, a1), max(a2, a3)), min(min(b0, b1), min(b2, b3))


@njit(**FAST)
def block_extremes(t, up, low, top, bottom):
    """The extremes of each block."""
    for block in range(len(top)):
        start, stop = block * BLOCK, min((block + 1) * BLOCK, len(t))
        top[block], bottom[block] = _extremes(t[start:stop], up[start:stop], low[start:stop])


@njit(**FAST)
def _gains(row, own, best, t, low, diagonal, per_slope, per_curvature, gains):
    """What pairs with one block promise, (t_i - t_j)^2 / curvature, and the largest of it."""
    for c in range(len(t)):
        slope = np.float32(max(best - (t[c] + low[c]), 0.0) * per_slope)
        curvature = np.float32((own + diagonal[c] - 2.0 * row[c]) * per_curvature)
        gains[c] = slope * (slope / max(curvature, np.float32(FLAT)))
    # Numbers that are not negative are ordered as their bits are.
    bits = gains.view(np.int32)
    largest = np.int32(0)
    for c in range(len(t)):
        largest = max(largest, bits[c])
    return largest


@njit(**FAST)
def _best_partner(row, own, best, least, t, low, diagonal, bottom, unit, gains):
    """The variable that may fall whose pair with i promises most.

    Slopes and curvatures are taken in units in which single precision holds them.
    """
    per_slope, per_curvature = 1.0 / (best - least), 1.0 / unit
    record, partner = np.int32(0), -1
    for block in range(len(bottom)):
        if bottom[block] >= best:
            continue
        start, stop = block * BLOCK, min((block + 1) * BLOCK, len(t))
        largest = _gains(
            row[start:stop],
            own,
            best,
            t[start:stop],
            low[start:stop],
            diagonal[start:stop],
            per_slope,
            per_curvature,
            gains,
        )
        if largest > record:
            record = largest
            bits = gains.view(np.int32)
            for c in range(stop - start):
                if bits[c] == largest:
                    partner = start + c
                    break
    return partner


@njit(**FAST)
def _move_block(step, row_i, row_j, t):
    for c in range(len(t)):
        t[c] -= step * (np.float64(row_i[c]) - np.float64(row_j[c]))


@njit(**FAST)
def _move(step, row_i, row_j, t, up, low, top, bottom):
    """t -= step (K_i - K_j), and the new extremes of each block."""
    for block in range(len(top)):
        start, stop = block * BLOCK, min((block + 1) * BLOCK, len(t))
        part = t[start:stop]
        _move_block(step, row_i[start:stop], row_j[start:stop], part)
        top[block], bottom[block] = _extremes(part, up[start:stop], low[start:stop])


@njit(**FAST)
def _mark(i, b, lower, upper, kink, up, low):
    """Slopes of variable i beyond t: what it takes to rise, and to fall."""
    if b[i] < upper[i]:
        up[i] = kink[i] if b[i] < 0 else -kink[i]
    else:
        up[i] = -HUGE
    if b[i] > lower[i]:
        low[i] = -kink[i] if b[i] > 0 else kink[i]
    else:
        low[i] = HUGE


@njit(**FAST)
def mark_all(b, lower, upper, kink, up, low):
    for i in range(len(b)):
        _mark(i, b, lower, upper, kink, up, low)


@njit(**FAST)
def smo_steps(places, numbers, bounds, ends):
    """Steps of sequential minimal optimisation until one needs a row that is not there.

    Returns the number of that row, CONVERGED once the violation is at most eps, or LIMIT.

    Parameters
    ----------
    places : (rows, slot, used)
        Of a row cache.
    numbers : (diagonal, t, b, lower, upper, kink), each of shape (n,)
        The objective has a term kink_i |b_i|.
    bounds : (up, low, top, bottom)
        t + up is the slope of a variable that rises, t + low of one that falls, each of shape
        (n,): -HUGE and HUGE for one that may not; the extremes of each block.
    ends : (eps, unit, limit, counters)
        unit is the size of curvatures; counters holds the number of steps, and a clock for the
        rows' last use.
    """
    rows, slot, used = places
    diagonal, t, b, lower, upper, kink = numbers
    up, low, top, bottom = bounds
    eps, unit, limit, counters = ends
    gains = np.empty(BLOCK, dtype=np.float32)
    while True:
        best, least, block = -HUGE, HUGE, -1
        for k in range(len(top)):
            if top[k] > best:
                best, block = top[k], k
            least = min(least, bottom[k])
        if best - least <= eps:
            return CONVERGED
        if counters[0] >= limit:
            return LIMIT
        i = block * BLOCK
        while t[i] + up[i] != best:
            i += 1
        counters[1] += 1
        if slot[i] < 0:
            return i
        used[slot[i]] = counters[1]
        row_i = rows[slot[i]]
        j = _best_partner(row_i, diagonal[i], best, least, t, low, diagonal, bottom, unit, gains)
        if j < 0:
            return CONVERGED
        if slot[j] < 0:
            return j
        used[slot[j]] = counters[1]
        row_j = rows[slot[j]]
        curvature = max(diagonal[i] + diagonal[j] - 2.0 * row_i[j], FLAT * unit)
        step = ((t[i] + up[i]) - (t[j] + low[j])) / curvature
        # A kink ends a step as a bound does.
        top_i = 0.0 if kink[i] > 0 and b[i] < 0 else upper[i]
        bottom_j = 0.0 if kink[j] > 0 and b[j] > 0 else lower[j]
        room_i, room_j = top_i - b[i], b[j] - bottom_j
        if step >= room_i or step >= room_j:
            step = min(room_i, room_j)
        b[i] = top_i if step == room_i else b[i] + step
        b[j] = bottom_j if step == room_j else b[j] - step
        _mark(i, b, lower, upper, kink, up, low)
        _mark(j, b, lower, upper, kink, up, low)
        _move(step, row_i, row_j, t, up, low, top, bottom)
        counters[0] += 1


@njit(**FAST)
def make_room(needed, clock, slot, owner, used, taken):
    """A place for the row that is needed: a free one, or that of a row not used for long.

    Places are taken in order; taken[0] counts them. Once all are taken, the row not used for
    longest among the next SEARCHED leaves: to look through all of them costs as much as a row.
    """
    places = len(owner)
    place = taken[0]
    if place < places:
        taken[0] += 1
    else:
        start = place - places
        searched = min(SEARCHED, places)
        place = start
        for k in range(start, start + searched):
            if used[k % places] < used[place]:
                place = k % places
        taken[0] = places + (start + searched) % places
        slot[owner[place]] = -1
    owner[place], slot[needed], used[place] = needed, place, clock
    return place


@njit(**FAST)
def gather(row, kept, out):
    """out[c] = row[kept[c]], in order: kept ascends, and out may lie at the head of row."""
    for c in range(len(kept)):
        out[c] = row[kept[c]]


@njit(**FAST)
def smo_on_points(kernel, places, room, numbers, bounds, ends):
    """As smo_steps, with rows computed here.

    room is (owner, taken) of the row cache, kernel (features, scale, kind, polynomial) as
    :class:`PointsSource` has them.
    """
    rows, slot, used = places
    owner, taken = room
    features, scale, kind, polynomial = kernel
    while True:
        needed = smo_steps(places, numbers, bounds, ends)
        if needed < 0:
            return needed
        place = make_room(needed, ends[3][1], slot, owner, used, taken)
        _row_single(features, scale, kind, polynomial, needed, rows[place])
