"""Exercises of notebook 10, adaptive conformal svm."""

from kernelbook.exercises.grading import Exercise

__all__ = ["EXERCISES"]

EXERCISES: tuple[Exercise, ...] = ()
