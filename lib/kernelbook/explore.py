"""Sliders beside the figures: what one has to move to understand it.

Each function returns a :class:`Panel`, the last value of a cell. It moves in a live notebook only;
a page and a screen reader have its sentence, and a figure beside it that says the same.

ipywidgets and matplotlib are imported when first needed: ``pip install "kernelbook[notebooks]"``.
"""

import io
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from kernelbook.plotting import plot_decision, plot_regression_tube
from kernelbook.svm import KernelSVC
from kernelbook.svr import KernelSVR

__all__ = ["Panel", "margin", "tube", "width"]

DPI = 80  # a picture of a slider has to be there at once, and is not for print
LAYOUT_ROUNDS = 2


class Panel:
    """Controls, the picture that they move, and a sentence that says what it shows.

    Parameters
    ----------
    draw : callable
        ``draw(axes, **values)`` draws on empty axes (one, or an array of them) for the values of
        the controls, and returns the sentence.
    controls : mapping of str to ipywidgets control
        By the names that ``draw`` gives its arguments.
    columns : int, default=1
        Axes beside each other.
    size : (float, float), default=(5.2, 4.4)
        Width and height in inches.

    Attributes
    ----------
    controls : dict
        As given; setting ``panel.controls["C"].value`` draws anew.
    picture : ipywidgets.Image
    sentence : str
    """

    def __init__(
        self,
        draw: Callable[..., str],
        controls: Mapping[str, Any],
        *,
        columns: int = 1,
        size: tuple[float, float] = (5.2, 4.4),
    ) -> None:
        # None of pyplot's figures, which a notebook would show too.
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure

        widgets = ipywidgets()
        self.controls = dict(controls)
        self.picture = widgets.Image(format="png")
        self.sentence = ""
        self._draw = draw
        self._figure = Figure(figsize=size, dpi=DPI, layout="constrained")
        self._canvas = FigureCanvasAgg(self._figure)
        self._axes = self._figure.subplots(1, columns)
        self._words = widgets.HTML()
        self._box = widgets.VBox([*self.controls.values(), self.picture, self._words])
        self._update()
        for control in self.controls.values():
            control.observe(self._update, names="value")

    def _update(self, change: Any = None) -> None:
        for ax in self._figure.axes:
            ax.clear()
        values = {name: control.value for name, control in self.controls.items()}
        self.sentence = self._words.value = self._draw(self._axes, **values)
        if change is None:  # places are found once: that is slow, and a picture must not jump
            for _ in range(LAYOUT_ROUNDS):
                self._figure.draw_without_rendering()
            self._figure.set_layout_engine("none")
        drawn = io.BytesIO()
        self._canvas.print_png(drawn)  # savefig would draw twice
        self.picture.value = drawn.getvalue()

    def _repr_mimebundle_(self, **_: Any) -> dict[str, Any]:
        return {**self._box._repr_mimebundle_(), "text/plain": self.sentence}


def margin(X: ArrayLike, y: ArrayLike) -> Panel:
    """The price of slack and the width of the margin, for a linear soft-margin machine.

    Parameters
    ----------
    X : array, shape (n, 2)
    y : array, shape (n,)
        Two labels; the larger one is called positive.

    Returns
    -------
    Panel
        With controls ``C`` (1e-3 to 1e3) and ``balanced`` (class weights or none).

    Examples
    --------
    Beyond a finite C the machine is the hard margin: half the distance of two points.

    >>> panel = margin([[0.0, 0.0], [2.0, 0.0]], [0, 1])
    >>> panel.sentence
    'C = 1: margin 1, support vectors 2 of 2, positive points found 1 of 1.'
    """
    X, y = np.asarray(X, dtype=float), np.asarray(y)

    def draw(ax: Any, C: float, balanced: bool) -> str:
        weight = "balanced" if balanced else None
        machine = KernelSVC(C=C, kernel="linear", class_weight=weight).fit(X, y)
        plot_decision(machine, X, y, scale=2, colorbar=False, ax=ax)
        positive = X[y == machine.classes_[1]]
        found = (machine.decision_function(positive) > 0).sum()
        return (
            f"C = {C:.3g}: margin {1 / np.linalg.norm(machine.coef_):.3g}, "
            f"support vectors {len(machine.support_)} of {len(X)}, "
            f"positive points found {found} of {len(positive)}."
        )

    weights = ipywidgets().Checkbox(description="balanced class weights", indent=False)
    return Panel(draw, {"C": _logarithmic("C", 1.0, -3, 3), "balanced": weights})


def width(X: ArrayLike, y: ArrayLike, X_new: ArrayLike, y_new: ArrayLike) -> Panel:
    """The width of an RBF kernel, the support vectors and the errors.

    Parameters
    ----------
    X : array, shape (n, 2)
    y : array, shape (n,)
        Two labels.
    X_new, y_new : arrays, shapes (m, 2) and (m,)
        Points that are predicted only.

    Returns
    -------
    Panel
        With controls ``gamma`` (1e-3 to 1e3) and ``C`` (1e-2 to 1e3).

    Examples
    --------
    >>> points, labels = [[0.0, 0.0], [2.0, 0.0]], [0, 1]
    >>> width(points, labels, points, labels).sentence
    'gamma = 1, C = 10: support vectors 2 of 2, training error 0.000, error 0.000 on 2 new points.'
    """
    X, y, X_new, y_new = (np.asarray(values) for values in (X, y, X_new, y_new))

    def draw(ax: Any, gamma: float, C: float) -> str:
        machine = KernelSVC(C=C, gamma=gamma).fit(X, y)
        plot_decision(machine, X, y, scale=3, colorbar=False, ax=ax)
        return (
            f"gamma = {gamma:.3g}, C = {C:.3g}: support vectors {len(machine.support_)} of "
            f"{len(X)}, training error {1 - machine.score(X, y):.3f}, "
            f"error {1 - machine.score(X_new, y_new):.3f} on {len(X_new)} new points."
        )

    return Panel(
        draw, {"gamma": _logarithmic("gamma", 1.0, -3, 3), "C": _logarithmic("C", 10.0, -2, 3)}
    )


def tube(
    X: ArrayLike, y: ArrayLike, X_new: ArrayLike, y_new: ArrayLike, *, gamma: float = 1.0
) -> Panel:
    """The half-width of the tube, the support vectors and the error of a regression.

    Parameters
    ----------
    X : array, shape (n, 1)
    y : array, shape (n,)
        Targets; the control goes up to half their range.
    X_new, y_new : arrays, shapes (m, 1) and (m,)
        Points that are predicted only.
    gamma : float, default=1.0
        Width parameter of the RBF kernel.

    Returns
    -------
    Panel
        With controls ``epsilon`` and ``C`` (1e-2 to 1e3).

    Examples
    --------
    Two targets that differ by 2 fit into a tube of half-width 1:

    >>> points, targets = [[0.0], [1.0]], [0.0, 2.0]
    >>> panel = tube(points, targets, points, targets)
    >>> panel.controls["epsilon"].value = 1.0
    >>> panel.sentence
    'epsilon = 1, C = 1: support vectors 0 of 2, error 1.000 (root mean square) on 2 new points.'
    """
    X, y, X_new, y_new = (np.asarray(values, dtype=float) for values in (X, y, X_new, y_new))
    widest = float(np.ptp(y)) / 2
    limits = y.min() - widest, y.max() + widest

    def draw(ax: Any, epsilon: float, C: float) -> str:
        machine = KernelSVR(C=C, epsilon=epsilon, gamma=gamma).fit(X, y)
        plot_regression_tube(machine, X, y, ax=ax)
        ax.set_ylim(limits)
        error = float(np.sqrt(np.mean((machine.predict(X_new) - y_new) ** 2)))
        return (
            f"epsilon = {epsilon:.3g}, C = {C:.3g}: support vectors {len(machine.support_)} of "
            f"{len(X)}, error {error:.3f} (root mean square) on {len(X_new)} new points."
        )

    half_width = ipywidgets().FloatSlider(
        description="epsilon",
        value=0.1 * widest,
        min=0.0,
        max=widest,
        step=0.02 * widest,
        readout_format=".3g",
    )
    return Panel(draw, {"epsilon": half_width, "C": _logarithmic("C", 1.0, -2, 3)})


def ipywidgets() -> Any:
    try:
        import ipywidgets
    except ImportError as error:
        message = 'Sliders need a notebook: pip install "kernelbook[notebooks]"'
        raise ImportError(message) from error
    return ipywidgets


def _logarithmic(name: str, value: float, low: float, high: float) -> Any:
    """A slider from 10**low to 10**high, four steps a decade."""
    return ipywidgets().FloatLogSlider(
        description=name, value=value, base=10, min=low, max=high, step=0.25, readout_format=".3g"
    )
