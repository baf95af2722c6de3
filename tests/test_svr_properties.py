"""Regression does not depend on units, order, offsets or the way weights are given."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from samples import KERNELS, curve

from kernelbook.kernels import rbf
from kernelbook.svr import KernelSVR

# Properties

seeds = st.integers(0, 2**32 - 1)
prices = st.floats(-3, 3).map(lambda exponent: 10.0**exponent)
tubes = st.sampled_from([0.0, 0.01, 0.3])


@given(seeds, prices, tubes, st.sampled_from(KERNELS), st.sampled_from([-1e6, 0.5, 1e3]))
@settings(max_examples=25)
def test_a_constant_added_to_the_targets_is_added_to_the_values(seed, C, epsilon, kernel, shift):
    X, y = curve(20, seed=seed)
    y = np.round(y, 3)
    plain = KernelSVR(C, epsilon, **kernel).fit(X, y)
    moved = KernelSVR(C, epsilon, **kernel).fit(X, y + shift)
    tolerance = 1e-7 + 1e-14 * abs(shift) * C
    assert_allclose(moved.predict(X) - shift, plain.predict(X), rtol=1e-7, atol=tolerance)
    # The proof is no weaker by it: the unit of the violation is that of the plain targets.
    assert moved.certificate_.status == "optimal"


@given(seeds, prices, st.sampled_from([1e-3, 0.5, 1e4]))
@settings(max_examples=25)
def test_targets_and_tube_in_another_unit(seed, C, unit):
    X, y = curve(20, seed=seed)
    plain = KernelSVR(C, 0.1, gamma=0.5).fit(X, y)
    other = KernelSVR(C * unit, 0.1 * unit, gamma=0.5).fit(X, y * unit)
    assert_allclose(other.predict(X) / unit, plain.predict(X), rtol=1e-7, atol=1e-8)


@given(seeds, prices, tubes, st.sampled_from(KERNELS))
@settings(max_examples=25)
def test_mirrored_targets_mirror_the_values(seed, C, epsilon, kernel):
    X, y = curve(20, seed=seed)
    one = KernelSVR(C, epsilon, **kernel).fit(X, y)
    other = KernelSVR(C, epsilon, **kernel).fit(X, -y)
    assert_allclose(other.predict(X), -one.predict(X), rtol=1e-6, atol=1e-7)


@given(seeds, prices, tubes, st.sampled_from(KERNELS))
@settings(max_examples=25)
def test_the_order_of_the_points_does_not_matter(seed, C, epsilon, kernel):
    X, y = curve(20, seed=seed)
    order = np.random.default_rng(seed).permutation(20)
    one = KernelSVR(C, epsilon, **kernel).fit(X, y)
    other = KernelSVR(C, epsilon, **kernel).fit(X[order], y[order])
    assert_allclose(other.predict(X), one.predict(X), rtol=1e-6, atol=1e-7)


@given(seeds, prices, st.lists(st.integers(-(10**6), 10**6), min_size=2, max_size=2))
@settings(max_examples=25)
def test_translation_changes_nothing_for_a_gaussian(seed, C, shift):
    X, y = curve(20, seed=seed)
    X = np.round(64 * X) / 64  # so that the sums are exact
    here, there = (KernelSVR(C, gamma=0.5).fit(X + s, y) for s in ([0, 0], shift))
    assert_allclose(there.predict(X + shift), here.predict(X), rtol=1e-8, atol=1e-9)


@given(seeds, prices, tubes, st.sampled_from([*KERNELS, {"kernel": "rbf", "gamma": "scale"}]))
@settings(max_examples=25)
def test_a_point_given_twice_is_a_point_of_weight_two(seed, C, epsilon, kernel):
    X, y = curve(20, seed=seed)
    weights = np.random.default_rng(seed).choice([0, 1, 2, 3], 20)
    weights[:2] = 1
    copies = np.repeat(np.arange(20), weights)
    weighted = KernelSVR(C, epsilon, **kernel).fit(X, y, weights)
    copied = KernelSVR(C, epsilon, **kernel).fit(X[copies], y[copies])
    assert_allclose(weighted.predict(X), copied.predict(X), rtol=1e-6, atol=1e-7)


@given(seeds, prices, st.sampled_from([0.25, 3.0, 1000.0]))
@settings(max_examples=25)
def test_a_weight_multiplies_c(seed, C, factor):
    X, y = curve(20, seed=seed)
    weighted = KernelSVR(C, gamma=0.5).fit(X, y, np.full(20, factor))
    priced = KernelSVR(C * factor, gamma=0.5).fit(X, y)
    assert_allclose(weighted.predict(X), priced.predict(X), rtol=1e-7, atol=1e-8)


@given(seeds, prices)
@settings(max_examples=15)
def test_a_gram_matrix_serves_as_well_as_the_points(seed, C):
    X, y = curve(20, seed=seed)
    weights = np.random.default_rng(seed).choice([0.0, 1.0], 20)
    weights[:2] = 1
    by_points = KernelSVR(C, gamma=0.5).fit(X, y, weights)
    by_matrix = KernelSVR(C, kernel="precomputed").fit(rbf(X, gamma=0.5), y, weights)
    by_callable = KernelSVR(C, kernel=lambda A, B: rbf(A, B, gamma=0.5)).fit(X, y, weights)
    new = curve(9, seed=seed + 1)[0]
    values = by_points.predict(new)
    assert_allclose(by_matrix.predict(rbf(new, X, gamma=0.5)), values, rtol=1e-7, atol=1e-8)
    assert_allclose(by_callable.predict(new), values, rtol=1e-7, atol=1e-8)
