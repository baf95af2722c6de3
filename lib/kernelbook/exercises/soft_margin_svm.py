"""Exercises of notebook 02, soft margin svm."""

from kernelbook.exercises.grading import Exercise

__all__ = ["EXERCISES"]

EXERCISES: tuple[Exercise, ...] = ()
