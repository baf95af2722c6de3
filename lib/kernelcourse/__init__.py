"""What the notebooks of the course need beside the library: exercises, sliders, figures.

:func:`check` judges an answer, the functions ``..._slider`` put controls beside a picture, and
:func:`show` gives a figure its alternative text and its caption. Each is imported from here and
loaded when it is first used. The wheel of kernelbook does not hold this package; ``make course``
writes one that does.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kernelcourse.exercises import check
    from kernelcourse.figures import show
    from kernelcourse.sliders import (
        collapse_slider,
        magnification_slider,
        margin_slider,
        sphere_slider,
        tube_slider,
        width_slider,
    )

__all__ = [
    "check",
    "collapse_slider",
    "magnification_slider",
    "margin_slider",
    "show",
    "sphere_slider",
    "tube_slider",
    "width_slider",
]


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    home = {"check": "exercises", "show": "figures"}.get(name, "sliders")
    return getattr(import_module(f"{__name__}.{home}"), name)
