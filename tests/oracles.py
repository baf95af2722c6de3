"""Small problems with proved solutions, shared by the tests of all estimators."""

import json
from functools import cache
from pathlib import Path
from typing import Any

PATH = Path(__file__).with_name("oracles.json")


@cache
def _content() -> dict[str, Any]:
    return json.loads(PATH.read_text(encoding="utf-8"))


def problems(family: str | None = None) -> list[dict[str, Any]]:
    """Problems of one family (all if None): id, family, data, params, expected, tolerance."""
    found = [p for p in _content()["problems"] if family in (None, p["family"])]
    if not found:
        known = sorted({p["family"] for p in _content()["problems"]})
        raise ValueError(f"There is no family {family!r}; there are {known}.")
    return found


def conventions() -> dict[str, Any]:
    """What each expected number means."""
    return _content()["conventions"]


def kernel_parameters(kernel: dict[str, Any]) -> dict[str, Any]:
    """Parameters of an estimator from the kernel of a problem."""
    given = {k: v for k, v in kernel.items() if k != "name" and v is not None}
    return {"kernel": kernel["name"], **given}
