"""What an exercise is: its right answer, the usual wrong ones, and the verdict on a given one."""

from collections.abc import Callable, Iterable, Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

import numpy as np

__all__ = ["RIGHT", "UNANSWERED", "Exercise", "numbers_of", "values_on"]

RIGHT = "right"
UNANSWERED = "not answered yet"


@dataclass(frozen=True)
class Exercise:
    """An exercise and how its answer is judged.

    Parameters
    ----------
    number : str
        Notebook and place, ``"03.1"``.
    right : callable
        Returns the right answer: a number, an array, or a string (the letter of a choice, compared
        without regard to case). If ``evaluate`` is given, the right function itself.
    mistakes : sequence of tuple (answer, str)
        Usual wrong answers, each with what to think about, which is never the right answer. One
        that has to be computed is a function without arguments. If ``evaluate`` is given, each is
        a wrong function.
    otherwise : str
        What to think about if the answer is neither right nor a known mistake.
    evaluate : callable, default=None
        For an exercise that asks for a function: turns a function into the numbers that are
        compared, by calling it on small data.
    rtol : float, default=1e-3
        Largest difference allowed, relative to the largest absolute value of the right answer.
    atol : float, default=1e-9
        Largest absolute difference allowed on top of that; it alone counts if the right answer
        is 0.

    Examples
    --------
    >>> minus = (0, "That is the difference.")
    >>> exercise = Exercise("99.1", right=lambda: 4, mistakes=[minus], otherwise="Add 2 and 2.")
    >>> [exercise.verdict(answer) for answer in (0, 3, 4)]
    ['Not yet. That is the difference.', 'Not yet. Add 2 and 2.', 'right']
    """

    number: str
    right: Callable[..., Any]
    mistakes: Sequence[tuple[Any, str]]
    otherwise: str
    evaluate: Callable[[Callable[..., Any]], Any] | None = None
    rtol: float = 1e-3
    atol: float = 1e-9

    def verdict(self, answer: Any) -> str:
        """Judge an answer.

        Parameters
        ----------
        answer : float, array-like, str or callable
            The answer given; None and ``...`` count as no answer yet.

        Returns
        -------
        str
            ``RIGHT``, ``UNANSWERED``, or a sentence that begins with "Not yet.".
        """
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
        right = self._known(self.right)
        what = "The answer" if self.evaluate is None else "What your function returns in our trials"
        if problem := _other_kind(given, right):
            return f"Not yet. {what} has to be {problem}"
        if self._agree(given, right):
            return RIGHT
        for wrong, message in self.mistakes:
            if self._agree(given, self._known(wrong)):
                return f"Not yet. {message}"
        return f"Not yet. {self.otherwise}"

    def key(self) -> dict[str, Any] | None:
        """Return what judges an answer where there is no Python, such as in a page of the book.

        Returns
        -------
        dict or None
            ``right`` (a number, a list of numbers or a string), ``rtol``, ``atol``, ``mistakes``
            (pairs of such an answer and its message) and ``otherwise``. None if the exercise asks
            for a function or a table, which a page can't take.

        Examples
        --------
        >>> exercise = Exercise("99.1", right=lambda: 4, mistakes=[(0, "No.")], otherwise="Add.")
        >>> exercise.key()["mistakes"]
        [(0.0, 'No.')]
        """
        right: Any = None if self.evaluate is not None else _plain(self.right())
        if right is None:
            return None
        known: list[tuple[Any, str]] = [
            (_plain(self._known(wrong)), message) for wrong, message in self.mistakes
        ]
        return {
            "right": right,
            "rtol": self.rtol,
            "atol": self.atol,
            "mistakes": [pair for pair in known if np.shape(pair[0]) == np.shape(right)],
            "otherwise": self.otherwise,
        }

    def _value(self, answer: Any) -> Any:
        """The answer as what is compared: for a function, its values."""
        return answer if self.evaluate is None else self.evaluate(answer)

    def _known(self, answer: Any) -> Any:
        """The same of an answer of ours, which may have to be computed."""
        is_to_compute = self.evaluate is None and callable(answer)
        return answer() if is_to_compute else self._value(answer)

    def _agree(self, one: Any, other: Any) -> bool:
        if isinstance(one, str) or isinstance(other, str):
            return str(one).strip().lower() == str(other).strip().lower()
        first, second = np.asarray(one, dtype=float), np.asarray(other, dtype=float)
        if first.shape != second.shape:
            return False
        allowed = self.rtol * np.abs(second).max(initial=0.0) + self.atol
        return bool((np.abs(first - second) <= allowed).all())


def numbers_of(shape: tuple[int, ...]) -> str:
    """Name what an exercise asks for.

    Parameters
    ----------
    shape : tuple of int
        Shape of the right answer.

    Returns
    -------
    str
        For a message.

    Examples
    --------
    >>> numbers_of(()), numbers_of((3,))
    ('one number', 'numbers of shape (3,)')
    """
    return "one number" if shape == () else f"numbers of shape {shape}"


def values_on(function: Callable[..., Any], cases: Iterable[Sequence[Any]]) -> list[Any] | None:
    """Call a function on each case.

    The function gets copies, so that one that overwrites its arguments spoils its own only.

    Parameters
    ----------
    function : callable
        The function to try.
    cases : iterable of sequence
        The positional arguments of each call.

    Returns
    -------
    list or None
        The values in the order of the cases; None if one of them is None.

    Examples
    --------
    >>> values_on(max, [(1, 3), (5, 2)])
    [3, 5]
    """
    values = [function(*deepcopy(case)) for case in cases]
    return None if any(value is None for value in values) else values


def _plain(answer: Any) -> float | list[float] | str | None:
    """An answer as JSON holds it; None for what is more than a row of numbers."""
    if isinstance(answer, str):
        return answer
    numbers = np.asarray(answer, dtype=float)
    plain: float | list[float] = numbers.tolist()
    return plain if numbers.ndim < 2 else None


def _other_kind(given: Any, right: Any) -> str | None:
    """What the answer has to be, if it can't be compared with the right one."""
    if isinstance(right, str):
        return None if isinstance(given, str) else "the letter of a choice."
    wanted = np.shape(right)
    what = numbers_of(wanted)
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
