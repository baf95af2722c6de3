"""Answers to the exercises of the notebooks, checked at once.

Each notebook ends with exercises; the cell below an exercise says whether the answer is right or
what is wrong with it, without giving it away. The key is :mod:`kernelcourse.exercises.answers`
alone. A copy of this package without that folder, as students get it, still imports, and
:func:`check` says that the answer is marked elsewhere.
"""

from importlib import import_module
from importlib.util import find_spec
from typing import Any

from kernelcourse.exercises.grading import RIGHT, UNANSWERED, Exercise

__all__ = [
    "MARKED_ELSEWHERE",
    "RIGHT",
    "UNANSWERED",
    "Exercise",
    "assert_right",
    "check",
    "exercises_of",
]

MARKED_ELSEWHERE = "not checked here: your lecturer marks it"

ANSWERS = f"{__name__}.answers"
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
    "15": "auditing_a_published_table",
    "16": "numerics_and_certificates",
}


def check(number: str, answer: Any) -> str:
    """Say whether an answer is right, or what is wrong with it.

    Parameters
    ----------
    number : str
        Notebook and place of the exercise, for instance ``"03.1"``.
    answer : float, array-like, str or callable
        What the exercise asks for. None, or a function that returns None or raises
        ``NotImplementedError``, counts as no answer yet.

    Returns
    -------
    str
        ``"right"``, ``"not answered yet"``, or a sentence on what is wrong. Where the answers are
        not installed, ``"not checked here: your lecturer marks it"``.

    Raises
    ------
    ValueError
        If there is no exercise of that number.

    See Also
    --------
    assert_right : The same as an assertion, for marking.

    Examples
    --------
    >>> check("03.1", None)
    'not answered yet'
    >>> check("03.1", [1.0, 2.0])
    'Not yet. The answer has to be one number; it has shape (2,).'
    """
    if find_spec(ANSWERS) is None:
        return MARKED_ELSEWHERE
    return _find(number).verdict(answer)


def assert_right(number: str, answer: Any) -> None:
    """Raise an error unless the answer is right, for marking an assignment.

    Parameters
    ----------
    number : str
        Notebook and place of the exercise, for instance ``"03.1"``.
    answer : float, array-like, str or callable
        What the exercise asks for.

    Raises
    ------
    AssertionError
        If the answer is missing or wrong, or cannot be checked because the answers are not
        installed; the message is what :func:`check` says.
    ValueError
        If there is no exercise of that number.

    See Also
    --------
    check : The same as a sentence, for learning.

    Examples
    --------
    >>> assert_right("03.1", None)
    Traceback (most recent call last):
    ...
    AssertionError: exercise 03.1: not answered yet
    """
    verdict = check(number, answer)
    if verdict != RIGHT:
        raise AssertionError(f"exercise {number}: {verdict}")


def exercises_of(notebook: str) -> tuple[Exercise, ...]:
    """Return all exercises of a notebook.

    Parameters
    ----------
    notebook : str
        The two digits of the notebook.

    Returns
    -------
    tuple of Exercise
        In the order of the notebook.

    Raises
    ------
    ValueError
        If there is no notebook of that number, or it has no exercises.
    ModuleNotFoundError
        If the answers are not installed.

    Examples
    --------
    >>> [exercise.number for exercise in exercises_of("03")][:2]
    ['03.1', '03.2']
    """
    if notebook not in MODULES:
        raise ValueError(f"notebook must be one of {', '.join(MODULES)}, got {notebook!r}.")
    exercises: tuple[Exercise, ...] = import_module(f"{ANSWERS}.{MODULES[notebook]}").EXERCISES
    return exercises


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
