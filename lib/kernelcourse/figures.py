"""A finished figure in a notebook: picture, alternative text, caption."""

import io
import re
from base64 import b64encode
from typing import Any

from kernelbook.optional import import_optional

__all__ = ["settle_layout", "show"]

FIGURE_NUMBER = re.compile(r"\d{1,2}\.\d{1,2}")
LAYOUT_ROUNDS = 2
SHOWN_DPI = 100  # the file has twice as many, for sharp text on screens that show them


def show(figure: Any, *, number: str, alt: str, caption: str) -> None:
    """Show a figure in a notebook with its alternative text and its caption, and close it.

    The picture is a PNG whose output metadata hold the alternative text, ``metadata["image/png"]
    ["alt"]``, and the width at which it is shown; from there the HTML pages take them. Beside the
    picture its plain text repeats number and alternative text, and the caption follows as text:
    what a test of stored outputs compares, and what an index of figures is made of. The same
    figure gives the same bytes.

    Parameters
    ----------
    figure : matplotlib.figure.Figure
        For axes ``ax`` that is ``ax.figure``.
    number : str
        Notebook and place, for instance ``"3.4"``.
    alt : str
        What a person who cannot see the picture has to know: kind of picture, axes, what stands
        out.
    caption : str
        What the picture shows, with the numbers that matter; Markdown and mathematics allowed.

    Raises
    ------
    ValueError
        If the number has another form, or a text is empty.
    ImportError
        If IPython, matplotlib or pillow is not installed.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from kernelbook.plotting import plot_points
    >>> ax = plot_points([[0, 0], [1, 1]])
    >>> show(ax.figure, number="3", alt="Two points.", caption="Two points.")
    Traceback (most recent call last):
    ...
    ValueError: number must be '<notebook>.<figure>', for instance '3.4', got '3'.
    >>> plt.close(ax.figure)
    """
    if not isinstance(number, str) or not FIGURE_NUMBER.fullmatch(number):
        raise ValueError(
            f"number must be '<notebook>.<figure>', for instance '3.4', got {number!r}."
        )
    alt, caption = (" ".join(text.split()) for text in (alt, caption))
    for name, text in (("alt", alt), ("caption", caption)):
        if not text:
            raise ValueError(f"{name} must not be empty: say what figure {number} shows.")
    plt = import_optional("matplotlib.pyplot", extra="plots", purpose="A figure")
    display = import_optional("IPython.display", extra="notebooks", purpose="show").display
    png = b64encode(_png(figure)).decode("ascii")
    width = round(figure.get_figwidth() * SHOWN_DPI)
    plt.close(figure)
    display(
        {"image/png": png, "text/plain": f"Figure {number}: {alt}"},
        metadata={"image/png": {"alt": alt, "width": width}},
        raw=True,
    )
    display(
        {
            "text/markdown": f"**Figure {number}.** {caption}",
            "text/plain": f"Figure {number}. {caption}",
        },
        raw=True,
    )


def settle_layout(figure: Any) -> None:
    """Compute the layout of a figure in two rounds.

    The constrained layout of axes with a fixed aspect settles by steps, one a drawing.

    Parameters
    ----------
    figure : matplotlib.figure.Figure
        A figure that is complete.
    """
    for _ in range(LAYOUT_ROUNDS):
        figure.draw_without_rendering()


def _png(figure: Any) -> bytes:
    """The figure as PNG of at most 256 colours, a third of the bytes, without date or program."""
    image_module = import_optional("PIL.Image", extra="notebooks", purpose="A figure")
    settle_layout(figure)
    drawn, packed = io.BytesIO(), io.BytesIO()
    figure.savefig(drawn, format="png")
    with image_module.open(drawn) as image:
        palette = image.convert("RGB").quantize(256, dither=image_module.Dither.NONE)
    palette.save(packed, format="PNG", optimize=True)
    return packed.getvalue()
