"""Draw the figure of README.md and write notebooks/README.md, the map of the notebooks.

python -m tools.readme
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import nbformat

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["index_of_notebooks", "main", "map_of_notebooks", "picture"]

ROOT = Path(__file__).resolve().parents[1]
FIGURE = ROOT / "book" / "readme.png"
DPI = 165
LIMITS = ((-4.7, 4.9), (-4.0, 4.9))
# The time alone, in one form: not "about", not what it includes.
TIME = re.compile(r"[Tt]ime to (study|run)\W*(?:about (?=\d))?([^.,;|*]+?)(?= with\b|[.,;|*])")
HEAD = """\
# The notebooks

Start at 00; 01 to 03 are for everybody, and each later one names those that it needs. "Conformal"
means the conformal transformation of a kernel's metric here, never conformal prediction.
`python -m tools.readme` writes this table.

"""


def main() -> None:
    notebooks = ROOT / "notebooks"
    (notebooks / "README.md").write_text(index_of_notebooks(notebooks), encoding="utf-8")
    draw()


def index_of_notebooks(notebooks: Path) -> str:
    """The page that a visitor of the folder sees."""
    return HEAD + map_of_notebooks(notebooks, folder="")


def map_of_notebooks(notebooks: Path, folder: str = "notebooks/") -> str:
    """A Markdown table: number, title with a link, question, time to study, time to run."""
    head = ["| | notebook | the question | study | run |", "|---|---|---|---|---|"]
    return "\n".join([*head, *_rows(notebooks, folder)]) + "\n"


def _rows(notebooks: Path, folder: str) -> Iterator[str]:
    for path in sorted(notebooks.glob("[0-9]*.ipynb")):
        cells = nbformat.read(path, as_version=4).cells
        prose = "\n\n".join(cell.source for cell in cells[:6] if cell.cell_type == "markdown")
        title = re.sub(r"^#? *\d*[.: ]*", "", prose.splitlines()[0]).strip()
        question = " ".join(re.sub(r"\*\*(The question\.)?", "", prose.split("\n\n")[1]).split())
        times = dict(TIME.findall(" ".join(prose.split())))
        yield (
            f"| {path.name[:2]} | [{title}]({folder}{path.name}) "
            f"| {question.split('?')[0]}? "
            f"| {times.get('study', '').strip()} | {times.get('run', '').strip()} |"
        )


def draw() -> None:
    """Write the figure of README.md."""
    picture().savefig(FIGURE, dpi=DPI, metadata={"Software": None})


def picture() -> "Figure":
    """Two classifiers on a class of one in twenty: what the imbalance costs, and one remedy."""
    import matplotlib

    matplotlib.use("agg")
    from kernelbook.datasets import make_gaussians
    from kernelbook.plotting import panels, plot_decision, use_style
    from kernelbook.svm import KernelSVC

    use_style()
    X, y = make_gaussians(380, 20, distance=2.5, random_state=3)
    figure, axes = panels(2, height=3.9)
    for ax, weight, title in zip(
        axes,
        (None, "balanced"),
        ("equal costs", "balanced costs"),
        strict=True,
    ):
        svc = KernelSVC(gamma=0.3, class_weight=weight).fit(X, y)
        alarms = svc.predict(X) == 1
        plot_decision(
            svc,
            X,
            y,
            names=["common", "rare"],
            ax=ax,
            scale=2,
            colorbar=False,
            support=False,
            legend=False,
            limits=LIMITS,
        )
        ax.set_title(
            f"{title}: {alarms[y == 1].sum()} of 20 found,\n{alarms[y == 0].sum()} false alarms"
        )
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=2)
    return figure


if __name__ == "__main__":
    main()
