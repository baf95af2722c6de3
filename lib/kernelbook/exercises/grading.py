"""What an exercise is: its right answer, the usual wrong ones, and the verdict on a given one."""

from collections.abc import Callable, Iterable, Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

import numpy as np

__all__ = ["RIGHT", "UNANSWERED", "Exercise", "Mistake", "values_on"]

RIGHT = "right"
UNANSWERED = "not answered yet"


@dataclass(frozen=True)
class Mistake:
    """A usual wrong answer, and what to tell who gives it (never the right one)."""

    answer: Callable[[], Any]
    message: str


@dataclass(frozen=True)
class Exercise:
    """An exercise and how its answer is judged.

    Parameters
    ----------
    number : str
        Notebook and place, ``"03.1"``.
    right : callable
        Returns the right answer: a number, an array, a string (the letter of a choice, compared
        without regard to case), or a function if ``evaluate`` is given.
    mistakes : sequence of Mistake
        Usual wrong answers.
    otherwise : str
        What to think about when the answer is neither right nor a known mistake.
    evaluate : callable, optional
        For an exercise that asks for a function: turns a function into the numbers that are
        compared, by calling it on small data.
    rtol : float, default=1e-3
        Largest difference, relative to the largest absolute value of the right answer. An answer
        of 0 has to be exact up to ``atol``.
    atol : float, default=1e-9
        Largest absolute difference that is allowed besides.
    """

    number: str
    right: Callable[[], Any]
    mistakes: Sequence[Mistake]
    otherwise: str
    evaluate: Callable[[Callable[..., Any]], Any] | None = None
    rtol: float = 1e-3
    atol: float = 1e-9

    def verdict(self, answer: Any) -> str:
        """``RIGHT``, ``UNANSWERED``, or a sentence that begins with 'Not yet.'."""
        if answer is None or answer is Ellipsis:
            return UNANSWERED
        if self.evaluate is not None and not callable(answer):
            return "Not yet. A function is asked for."
        try:
            given = self._value(answer)
        except NotImplementedError:
            return UNANSWERED
        except Exception as error:
            return f"Not yet. Trying your function gives {type(error).__name__}: {error}"
        if given is None:
            return UNANSWERED
        right = self._value(self.right())
        what = "The answer" if self.evaluate is None else "What your function returns in our trials"
        if problem := _other_kind(given, right):
            return f"Not yet. {what} has to be {problem}"
        if self._agree(given, right):
            return RIGHT
        for mistake in self.mistakes:
            if self._agree(given, self._value(mistake.answer())):
                return f"Not yet. {mistake.message}"
        return f"Not yet. {self.otherwise}"

    def _value(self, answer: Any) -> Any:
        """The answer as what is compared: for a function, its values."""
        return answer if self.evaluate is None else self.evaluate(answer)

    def _agree(self, one: Any, other: Any) -> bool:
        if isinstance(one, str) or isinstance(other, str):
            return str(one).strip().lower() == str(other).strip().lower()
        first, second = np.asarray(one, dtype=float), np.asarray(other, dtype=float)
        if first.shape != second.shape:
            return False
        allowed = self.rtol * np.abs(second).max(initial=0.0) + self.atol
        return bool((np.abs(first - second) <= allowed).all())


def values_on(function: Callable[..., Any], cases: Iterable[Sequence[Any]]) -> list[Any] | None:
    """Values of a function at the arguments of each case; None if one of the values is None.

    It gets copies, so that a function that overwrites its arguments spoils its own only.
    """
    values = [function(*deepcopy(case)) for case in cases]
    return None if any(value is None for value in values) else values


def _other_kind(given: Any, right: Any) -> str | None:
    """What the answer has to be, if it can't be compared with the right one."""
    if isinstance(right, str):
        return None if isinstance(given, str) else "the letter of a choice."
    wanted = np.shape(right)
    what = "one number" if wanted == () else f"numbers of shape {wanted}"
    try:
        numbers = np.asarray(given)
        if np.iscomplexobj(numbers):
            return f"{what}, real, not complex."
        numbers = numbers.astype(float)
    except (TypeError, ValueError, OverflowError):
        return f"{what}, not {type(given).__name__}."
    if numbers.shape != wanted:
        return f"{what}; it has shape {numbers.shape}."
    return None if np.isfinite(numbers).all() else "finite."
