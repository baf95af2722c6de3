"""Numbers that callers hand in: what is accepted, what is refused, and in which words."""

import math
from fractions import Fraction

import numpy as np
import pytest

from kernelbook.validation import check_number


@pytest.mark.parametrize("value", [2, 2.0, np.float32(2), np.int8(2), Fraction(2)])
def test_any_kind_of_number_becomes_a_python_float(value):
    number = check_number(value, "x", low=2, high=2)
    assert type(number) is float and number == 2.0


@pytest.mark.parametrize("value", [3, np.int8(3), np.uint64(3)])
def test_any_kind_of_integer_becomes_a_python_int(value):
    number = check_number(value, "x", integer=True)
    assert type(number) is int and number == 3


@pytest.mark.parametrize(
    "value", [True, np.True_, math.nan, math.inf, -math.inf, np.nan, "1", None, 1j, [1], np.ones(1)]
)
def test_what_is_no_finite_number_is_refused(value):
    for integer in (False, True):
        with pytest.raises(ValueError, match=r"^alpha must be .*, got "):
            check_number(value, "alpha", integer=integer)


def test_a_fraction_is_no_integer():
    for value in (1.0, 2.5, np.float64(3)):
        with pytest.raises(ValueError, match=r"x must be an integer >= 1, got "):
            check_number(value, "x", low=1, integer=True)


@pytest.mark.parametrize(
    ("inclusive", "allowed", "interval"),
    [
        ("both", {0, 1}, r"\[0, 1\]"),
        ("left", {0}, r"\[0, 1\)"),
        ("right", {1}, r"\(0, 1\]"),
        ("neither", set(), r"\(0, 1\)"),
    ],
)
def test_bounds_are_allowed_as_told(inclusive, allowed, interval):
    bounds = {"low": 0, "high": 1, "inclusive": inclusive}
    assert check_number(0.5, "x", **bounds) == 0.5
    for end in (0, 1):
        if end in allowed:
            assert check_number(end, "x", **bounds) == end
        else:
            with pytest.raises(ValueError, match=f"x must be a number in {interval}, got {end}"):
                check_number(end, "x", **bounds)


@pytest.mark.parametrize(
    ("value", "bounds", "message"),
    [
        (-1, {"low": 0}, "x must be a number >= 0, got -1."),
        (0, {"low": 0, "inclusive": "neither"}, "x must be a number > 0, got 0."),
        (2, {"high": 1}, "x must be a number <= 1, got 2."),
        (1.5, {"high": 1.5, "inclusive": "left"}, "x must be a number < 1.5, got 1.5."),
        (0, {"low": 1, "integer": True}, "x must be an integer >= 1, got 0."),
        ("a", {}, "x must be a number, got 'a'."),
    ],
)
def test_words(value, bounds, message):
    with pytest.raises(ValueError) as error:
        check_number(value, "x", **bounds)
    assert str(error.value) == message
