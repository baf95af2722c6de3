"""Figures that answer in the page, without a kernel: ``.. live-figure:: soft-margin``.

The content of the directive is the caption. The name is that of a script in ``_static/live``,
which draws the figure; a page that has one gets the scripts and the style sheet, other pages none.
All are classic scripts, so that a book that is opened from the disk may load them.

Where a page is too slow to solve a problem, ``tools.frames`` has solved it at each place of the
slider: the script of a figure draws ``book/frames/live/factor-frames.js`` of the sources.
"""

from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.util.docutils import SphinxDirective

FOLDER = Path(__file__).parents[1] / "_static" / "live"
# What every figure needs, in the order in which it is needed.
SHARED = ("solver", "components", "chain", "rates", "frames", "plane", "points", "panel")
# Figures of frames that are computed when the book is built.
FRAMED = ("factor", "posterior")
FRAMES = Path("book", "frames")
WITHOUT_SCRIPTS = "This figure is drawn by a script, which your browser does not run."


class live_figure(nodes.figure):  # noqa: N801 (docutils calls a visitor by this name)
    """A figure whose drawing is made in the browser."""


def available() -> list[str]:
    """Names of the figures that there are scripts for."""
    return sorted({path.stem for path in FOLDER.glob("*.js")} - set(SHARED))


def frames_of(name: str, sources: Path) -> Path:
    """The script with the frames of a figure, below the sources of the book."""
    return sources / FRAMES / "live" / f"{name}-frames.js"


class LiveFigure(SphinxDirective):
    required_arguments = 1
    has_content = True

    def run(self) -> list[nodes.Node]:
        name = self.arguments[0]
        if name not in available():
            known = ", ".join(available())
            raise self.error(f"there is no live figure {name!r}; there are: {known}.")
        if name in FRAMED and not frames_of(name, Path(self.env.srcdir)).exists():
            raise self.error(f"there are no frames of {name!r}: python -m tools.book makes them.")
        self.assert_has_content()
        figure = live_figure("", name=name, ids=[f"live-{name}"])
        self.set_source_info(figure)
        (caption,) = self.parse_content_to_nodes()
        figure += nodes.caption("", "", *caption.children)
        return [figure]


def visit(self: Any, node: live_figure) -> None:
    name = node["name"]
    self.body.append(f'<figure class="live" id="live-{name}" data-live="{name}">\n')
    self.body.append(f"<noscript><p>{WITHOUT_SCRIPTS}</p></noscript>\n")


def depart(self: Any, node: live_figure) -> None:
    self.body.append("</figure>\n")


def add_scripts(
    app: Sphinx, page: str, template: str, context: dict[str, Any], tree: nodes.document | None
) -> None:
    names = (
        [] if tree is None else list(dict.fromkeys(f["name"] for f in tree.findall(live_figure)))
    )
    if names:
        app.add_css_file("live/live.css")
        frames = [f"{name}-frames" for name in names if name in FRAMED]
        for name in (*SHARED, *frames, *names):
            app.add_js_file(f"live/{name}.js", loading_method="defer")


def add_frames(app: Sphinx, config: Config) -> None:
    folder = Path(app.srcdir) / FRAMES
    if folder.exists():
        config.html_static_path.append(str(folder))


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("config-inited", add_frames)
    app.add_node(live_figure, html=(visit, depart))
    app.add_directive("live-figure", LiveFigure)
    app.connect("html-page-context", add_scripts)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
