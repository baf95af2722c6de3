"""Exercises of notebook 05, support vector regression."""

from kernelbook.exercises.grading import Exercise

__all__ = ["EXERCISES"]

EXERCISES: tuple[Exercise, ...] = ()
