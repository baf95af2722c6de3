"""Exercises of notebook 04, svm on card fraud."""

from kernelbook.exercises.grading import Exercise

__all__ = ["EXERCISES"]

EXERCISES: tuple[Exercise, ...] = ()
