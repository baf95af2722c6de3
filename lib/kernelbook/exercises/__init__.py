"""Answers to the exercises of the notebooks, checked at once.

Each notebook ends with exercises; below each stands a cell that says whether the answer is right,
or what is wrong with it, without giving it away. What is right is computed here, by another route
than in the notebook's own solution where there is one, and the usual wrong answers are known by
name. One module a notebook, loaded when one of its exercises is checked.
"""

from importlib import import_module
from typing import Any

from kernelbook.exercises.grading import RIGHT, UNANSWERED, Exercise, Mistake

__all__ = ["RIGHT", "UNANSWERED", "Exercise", "Mistake", "assert_right", "check", "exercises_of"]

MODULES = {
    "01": "hard_margin_svm",
    "02": "soft_margin_svm",
    "03": "kernel_svm",
    "04": "svm_on_card_fraud",
    "05": "support_vector_regression",
    "06": "kernel_fisher_discriminant",
    "07": "kernel_pca",
    "08": "explaining_polynomial_svms",
    "09": "conformal_transformation",
    "10": "adaptive_conformal_svm",
    "11": "one_class_conformal",
    "12": "support_vector_data_description",
    "13": "bayesian_svdd",
    "14": "bayesian_svdd_comparison",
}


def check(number: str, answer: Any) -> str:
    """Say whether an answer is right, or what is wrong with it.

    Parameters
    ----------
    number : str
        Notebook and place of the exercise, for instance ``"03.1"``.
    answer : number, array, string or function
        What the exercise asks for; None, or a function that returns None or raises
        ``NotImplementedError``, is no answer yet.

    Returns
    -------
    str
        ``"right"``, ``"not answered yet"``, or a sentence on what is wrong.

    Raises
    ------
    ValueError
        If there is no exercise of that number.

    Examples
    --------
    The polynomial kernel of notebook 03 by hand: an inner product of 4, then the power.

    >>> check("03.1", None)
    'not answered yet'
    >>> check("03.1", (4 / 2 + 1) ** 3)
    'right'
    >>> check("03.1", 4 / 2 + 1)
    'Not yet. That is the base; the degree is missing.'
    """
    return _find(number).verdict(answer)


def assert_right(number: str, answer: Any) -> None:
    """Raise an error unless the answer is right: :func:`check` for a marked assignment.

    Raises
    ------
    AssertionError
        If the answer is missing or wrong; its message is what :func:`check` says.
    ValueError
        If there is no exercise of that number.

    Examples
    --------
    >>> assert_right("03.1", 27)
    >>> assert_right("03.1", None)
    Traceback (most recent call last):
    ...
    AssertionError: exercise 03.1: not answered yet
    """
    verdict = check(number, answer)
    if verdict != RIGHT:
        raise AssertionError(f"exercise {number}: {verdict}")


def exercises_of(notebook: str) -> tuple[Exercise, ...]:
    """All exercises of a notebook, given by its two digits.

    Raises
    ------
    ValueError
        If there is no notebook of that number, or it has no exercises.

    Examples
    --------
    >>> [exercise.number for exercise in exercises_of("03")][:2]
    ['03.1', '03.2']
    """
    if notebook not in MODULES:
        raise ValueError(f"notebook must be one of {', '.join(MODULES)}, got {notebook!r}.")
    return import_module(f"{__name__}.{MODULES[notebook]}").EXERCISES


def _find(number: str) -> Exercise:
    notebook = str(number).partition(".")[0]
    if notebook not in MODULES:
        raise ValueError(
            f"number must be that of a notebook ({', '.join(MODULES)}), a point, and that of an "
            f"exercise, for instance '03.1'; got {number!r}."
        )
    known = exercises_of(notebook)
    for exercise in known:
        if exercise.number == number:
            return exercise
    numbers = ", ".join(exercise.number for exercise in known)
    raise ValueError(f"number must be one of {numbers}, got {number!r}.")
