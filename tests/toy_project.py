"""A project of a few files, whose notebooks the tests of the runner write and execute."""

import nbformat
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from tools import run_notebooks


def make_project(root):
    """The folders and files on which the outputs of notebooks depend."""
    for directory in ("notebooks", "data", "studies", "lib/kernelbook", "lib/kernelcourse"):
        (root / directory).mkdir(parents=True)
    (root / "requirements.lock").write_text("numpy==2.4.6\n")
    (root / "lib/kernelbook/kernels.py").write_text("DEGREE = 2\n")
    (root / "lib/kernelcourse/figures.py").write_text("ROUNDS = 2\n")
    (root / "data/car.csv").write_text("1,2\n")
    return root


def write_notebook(project, name, *sources, text="# 01. Toy\n\n[next](02_next.ipynb)"):
    cells = [new_markdown_cell(text), *(new_code_cell(source) for source in sources)]
    path = project / "notebooks" / name
    path.write_text(nbformat.writes(new_notebook(cells=cells)), encoding="utf-8")
    return path


def command(project, *arguments):
    return run_notebooks.main([*arguments, "--root", str(project)])
