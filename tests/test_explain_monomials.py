"""Monomials: their order, their sums block by block, their multiplicities."""

from itertools import combinations_with_replacement, permutations

import numpy as np
import pytest

from kernelbook.explain import monomials as module
from kernelbook.explain.monomials import (
    Monomials,
    index_table,
    monomials,
    multiplicities,
    n_monomials,
    positions,
)

SIZES = [(1, 1), (1, 4), (4, 1), (4, 2), (4, 3), (3, 4), (2, 5), (3, 6), (5, 3)]


@pytest.mark.parametrize(("p", "degree"), SIZES)
@pytest.mark.parametrize("at_once", [1, 2**21])
def test_monomials_are_products_over_sorted_tuples(p, degree, at_once, monkeypatch):
    monkeypatch.setattr(module, "ENTRIES_AT_ONCE", at_once)
    rng = np.random.default_rng(p + 10 * degree)
    X, weights = rng.normal(size=(7, p)), rng.normal(size=7)
    tuples = list(combinations_with_replacement(range(p), degree))
    products = np.array([np.prod(X[:, key], axis=1) for key in tuples])
    terms = Monomials(p, degree)
    assert len(terms) == len(tuples) == n_monomials(p, degree)
    assert [tuple(row) for row in index_table(p, degree).tolist()] == tuples
    assert positions(terms.indices, p, degree).tolist() == list(range(len(tuples)))
    np.testing.assert_allclose(monomials(X, degree), products, rtol=1e-14)
    np.testing.assert_allclose(terms.weighted_sums(X, weights), products @ weights, atol=1e-12)
    coefficients = rng.normal(size=len(terms))
    np.testing.assert_allclose(terms.linear_form(X, coefficients), coefficients @ products)
    np.testing.assert_allclose(terms.standard_deviations(X), products.std(axis=1))


@pytest.mark.parametrize(("p", "degree"), SIZES)
def test_monomials_by_last_index_come_in_another_order(p, degree):
    X = np.random.default_rng(0).normal(size=(3, p))
    indices = index_table(p, degree, by_last=True)
    assert (np.diff(indices[:, -1]) >= 0).all()
    assert {*map(tuple, indices.tolist())} == {*map(tuple, index_table(p, degree).tolist())}
    products = np.array([np.prod(X[:, key], axis=1) for key in indices])
    np.testing.assert_allclose(monomials(X, degree, by_last=True), products, rtol=1e-14)


@pytest.mark.parametrize("degree", [1, 2, 3, 4, 5])
def test_multiplicities_count_the_distinct_orders(degree):
    indices = index_table(3, degree)
    counted = [len({*permutations(row)}) for row in indices.tolist()]
    assert multiplicities(indices).tolist() == counted
    assert sum(counted) == 3**degree
