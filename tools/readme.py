"""Draw the figure of README.md and write its map of notebooks, from the notebooks themselves.

python -m tools.readme
"""

import re
from collections.abc import Iterator
from pathlib import Path

import nbformat

__all__ = ["main", "map_of_notebooks", "with_map"]

ROOT = Path(__file__).resolve().parents[1]
FIGURE = ROOT / "book" / "readme.png"
BEGIN, END = "<!-- map of notebooks -->\n", "<!-- end of the map -->\n"
TIME = re.compile(r"[Tt]ime to (study|run)\W*([^.,;|*]+)")


def main() -> None:
    readme = ROOT / "README.md"
    readme.write_text(with_map(readme.read_text(encoding="utf-8"), ROOT / "notebooks"))
    draw()


def with_map(text: str, notebooks: Path) -> str:
    """The text with the table between its two marks made anew."""
    before, rest = text.split(BEGIN)
    after = rest.split(END)[1]
    return before + BEGIN + map_of_notebooks(notebooks) + END + after


def map_of_notebooks(notebooks: Path) -> str:
    """A Markdown table: number, title with a link, question, time to study, time to run."""
    head = ["| | notebook | the question | study | run |", "|---|---|---|---|---|"]
    return "\n".join([*head, *_rows(notebooks)]) + "\n"


def _rows(notebooks: Path) -> Iterator[str]:
    for path in sorted(notebooks.glob("[0-9]*.ipynb")):
        cells = nbformat.read(path, as_version=4).cells
        prose = "\n\n".join(cell.source for cell in cells[:6] if cell.cell_type == "markdown")
        title = re.sub(r"^#? *\d*[.: ]*", "", prose.splitlines()[0]).strip()
        question = " ".join(re.sub(r"\*\*(The question\.)?", "", prose.split("\n\n")[1]).split())
        times = dict(TIME.findall(" ".join(prose.split())))
        yield (
            f"| {path.name[:2]} | [{title}](notebooks/{path.name}) "
            f"| {question.split('?')[0]}? "
            f"| {times.get('study', '').strip()} | {times.get('run', '').strip()} |"
        )


def draw() -> None:
    """Two classifiers on a class of one in twenty: what the imbalance costs, and one remedy."""
    import matplotlib

    matplotlib.use("agg")
    from kernelbook.datasets import make_gaussians
    from kernelbook.plotting import panels, plot_decision, use_style
    from kernelbook.svm import KernelSVC

    use_style()
    X, y = make_gaussians(380, 20, distance=2.5, random_state=3)
    figure, axes = panels(2)
    for ax, weight, title in zip(
        axes,
        (None, "balanced"),
        ("equal costs", "balanced costs"),
        strict=True,
    ):
        svc = KernelSVC(gamma=0.3, class_weight=weight).fit(X, y)
        found = int(svc.predict(X[y == 1]).sum())
        plot_decision(
            svc, X, y, ax=ax, scale=2, colorbar=False, support=False, legend=ax is axes[0]
        )
        ax.set_title(
            f"{title}: {found} of 20 rare points found\n"
            f"relative duality gap {svc.certificate_.duality_gap:.0e}"
        )
    figure.savefig(FIGURE, dpi=110, metadata={"Software": None})


if __name__ == "__main__":
    main()
