"""Exercises of notebook 12, support vector data description."""

from kernelbook.exercises.grading import Exercise

__all__ = ["EXERCISES"]

EXERCISES: tuple[Exercise, ...] = ()
