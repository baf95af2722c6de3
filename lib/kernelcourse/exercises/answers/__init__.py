"""The key: right answers and usual mistakes, one module a notebook.

A right answer is computed here, by another route than in the notebook's own solution where there
is one. Nothing that students get contains this folder.
"""
