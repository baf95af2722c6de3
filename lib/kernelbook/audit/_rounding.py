"""Decimals of printed numbers."""

from collections.abc import Iterable, Sequence

from kernelbook.validation import check_number


def decimals_of_each(decimals: int | Sequence[int], n_values: int) -> list[int]:
    """The decimals of each value, from one integer for all or one for each."""
    each = list(decimals) if isinstance(decimals, Iterable) else [decimals] * n_values
    if len(each) != n_values:
        raise ValueError(f"decimals must be one integer or {n_values} of them, got {each}.")
    return [check_number(d, "decimals", low=0, integer=True) for d in each]
