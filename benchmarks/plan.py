"""What is measured: groups of methods that solve the same problems, and the goals."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from importlib.util import find_spec
from typing import Any

__all__ = ["GROUPS", "RATE", "Ceiling", "Cell", "Goal", "Group", "Method", "load"]

GROUPS = (
    "svm",
    "regression",
    "oneclass",
    "weighted",
    "multiclass",
    "features",
    "hard_margin",
    "prediction",
    "conformal",
    "samplers",
    "kpca",
    "kfda",
    "explain",
    "afsct",
)
# A column whose name ends so is a rate: the more the better.
RATE = "/s"

Problem = Mapping[str, Any]


@dataclass(frozen=True)
class Method:
    """One way to solve the problems of a group.

    ``run`` takes the data that the group made and returns what the group's ``check`` reads;
    ``needs`` names a module without which the method is left out.
    """

    name: str
    run: Callable[[Any], Any]
    ours: bool = False
    needs: str | None = None

    @property
    def missing(self) -> str | None:
        """Why the method cannot run here, or None."""
        return self.needs if self.needs and not _importable(self.needs) else None


@dataclass(frozen=True)
class Cell:
    """One problem, and how often each method runs on it; methods take turns."""

    problem: Problem
    repeats: Mapping[str, int]


@dataclass(frozen=True)
class Goal:
    """By how much a method of ours should be better than a rival, where both are measured.

    ``quantity`` of the rival over that of ours (ours over the rival's for a rate) should be at
    least ``at_least`` on every problem of ``where``, or in the median of these problems.
    ``where`` gives a number its value, or a tuple of values.
    """

    where: Problem
    ours: str
    rival: str
    at_least: float
    quantity: str = "cpu_s"
    median: bool = False


@dataclass(frozen=True)
class Ceiling:
    """``quantity`` of a method of ours should be at most ``at_most`` on every problem."""

    where: Problem
    ours: str
    at_most: float
    quantity: str


@dataclass(frozen=True)
class Group:
    """Methods, the problems they share, and how a result is checked.

    ``make`` turns a problem into data (not timed), ``check`` data and a result into numbers that
    it computes in double precision without the code under test. ``limits`` are the largest
    numbers that a method of ours may show; a number ``gap_floor`` in a result, its rounding,
    raises the limit of ``gap``. ``rates`` names counts that are wanted by the second.

    ``cells`` are the ten-minute set, ``more`` what the full set adds. ``warm_up`` is what makes
    a problem small: every process first solves its own problem with that, so that no measurement
    pays for imports or for loading what is compiled.
    """

    make: Callable[..., Any]
    check: Callable[[Any, Any], dict[str, float]]
    methods: Sequence[Method]
    cells: Sequence[Cell]
    quick: Sequence[Cell]
    warm_up: Problem
    more: Sequence[Cell] = ()
    goals: Sequence[Goal | Ceiling] = ()
    limits: Mapping[str, float] = field(default_factory=dict)
    rates: Sequence[str] = ()

    def method(self, name: str) -> Method:
        return next(method for method in self.methods if method.name == name)


def load(name: str) -> Group:
    """The group of that name, from the module of that name."""
    return import_module(f"benchmarks.{name}").GROUP


def _importable(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:
        return False
