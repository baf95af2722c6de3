"""Sliders beside the figures: what one has to move to understand it.

Each function returns a :class:`SliderPanel`, the last value of a cell. It moves in a live notebook
only; a page and a screen reader have its sentence, and a figure beside it that says the same.
"""

import io
import warnings
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.exceptions import ConvergenceWarning

from kernelbook.bayes import BayesianSVDD
from kernelbook.conformal import ConformalSVC, magnification
from kernelbook.exceptions import CollapseWarning
from kernelbook.kernels import gram
from kernelbook.optional import import_optional
from kernelbook.plotting import plot_decision, plot_field, plot_regression_tube
from kernelbook.svdd import SVDD
from kernelbook.svm import KernelSVC
from kernelbook.svr import KernelSVR
from kernelcourse.figures import settle_layout

__all__ = [
    "SliderPanel",
    "collapse_slider",
    "magnification_slider",
    "margin_slider",
    "sphere_slider",
    "tube_slider",
    "width_slider",
]

DPI = 80  # a picture of a slider has to be there at once, and is not for print


class SliderPanel:
    """Controls, the picture that they move, and a sentence that says what it shows.

    Parameters
    ----------
    draw : callable
        ``draw(axes, **values)`` draws on empty axes (one, or an array of them) for the values of
        the controls, and returns the sentence.
    controls : mapping of str to ipywidgets.ValueWidget
        By the names that ``draw`` gives its arguments.
    columns : int, default=1
        Number of axes beside each other.
    size : tuple of float, default=(5.2, 4.4)
        Width and height in inches.

    Attributes
    ----------
    controls : dict of str to ipywidgets.ValueWidget
        As given; setting ``panel.controls["C"].value`` draws anew.
    picture : ipywidgets.Image
        What ``draw`` has drawn for the present values.
    sentence : str
        What ``draw`` has returned for the present values.

    Raises
    ------
    ImportError
        If ipywidgets or matplotlib is not installed.

    Examples
    --------
    >>> panel = margin_slider([[0.0, 0.0], [2.0, 0.0]], [0, 1])
    >>> panel.controls["C"].value = 0.1
    >>> panel.sentence
    'C = 0.1: margin 5, support vectors 2 of 2, positive points found 1 of 1.'
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
        figure = _needed("matplotlib.figure")
        backend = _needed("matplotlib.backends.backend_agg")
        widgets = _needed("ipywidgets")
        self.controls = dict(controls)
        self.picture = widgets.Image(format="png")
        self.sentence = ""
        self._draw = draw
        self._figure = figure.Figure(figsize=size, dpi=DPI, layout="constrained")
        self._canvas = backend.FigureCanvasAgg(self._figure)
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
            settle_layout(self._figure)
            self._figure.set_layout_engine("none")
        drawn = io.BytesIO()
        self._canvas.print_png(drawn)  # savefig would draw twice
        self.picture.value = drawn.getvalue()

    def _repr_mimebundle_(self, **_: Any) -> dict[str, Any]:
        return {**self._box._repr_mimebundle_(), "text/plain": self.sentence}


def margin_slider(X: ArrayLike, y: ArrayLike) -> SliderPanel:
    """Move the regularization parameter of a linear soft-margin machine and watch its margin.

    Parameters
    ----------
    X : array-like of shape (n, 2)
        Points of the training set.
    y : array-like of shape (n,)
        Two labels; the larger one is the positive class.

    Returns
    -------
    SliderPanel
        With controls ``C`` (1e-3 to 1e3) and ``balanced`` (class weights or none).

    Examples
    --------
    Beyond a finite C the machine is the hard margin: half the distance of two points.

    >>> panel = margin_slider([[0.0, 0.0], [2.0, 0.0]], [0, 1])
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
        norm = np.linalg.norm(machine.coef_)
        half_width = 1 / norm if norm > 0 else np.inf  # w = 0, for XOR for instance
        return (
            f"C = {C:.3g}: margin {half_width:.3g}, "
            f"support vectors {len(machine.support_)} of {len(X)}, "
            f"positive points found {found} of {len(positive)}."
        )

    weights = _needed("ipywidgets").Checkbox(description="balanced class weights", indent=False)
    return SliderPanel(draw, {"C": _logarithmic("C", 1.0, -3, 3), "balanced": weights})


def width_slider(X: ArrayLike, y: ArrayLike, X_new: ArrayLike, y_new: ArrayLike) -> SliderPanel:
    """Move the width of an RBF kernel and watch the support vectors and the errors.

    Parameters
    ----------
    X : array-like of shape (n, 2)
        Points of the training set.
    y : array-like of shape (n,)
        Two labels.
    X_new : array-like of shape (m, 2)
        Points that are predicted, not fitted.
    y_new : array-like of shape (m,)
        What is to be predicted there.

    Returns
    -------
    SliderPanel
        With controls ``gamma`` (1e-3 to 1e3) and ``C`` (1e-2 to 1e3).

    Examples
    --------
    >>> points, labels = [[0.0, 0.0], [2.0, 0.0]], [0, 1]
    >>> width_slider(points, labels, points, labels).sentence
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

    return SliderPanel(
        draw, {"gamma": _logarithmic("gamma", 1.0, -3, 3), "C": _logarithmic("C", 10.0, -2, 3)}
    )


def tube_slider(
    X: ArrayLike, y: ArrayLike, X_new: ArrayLike, y_new: ArrayLike, *, gamma: float = 1.0
) -> SliderPanel:
    """Move the half-width of the tube of a regression and watch its support vectors and error.

    Parameters
    ----------
    X : array-like of shape (n, 1)
        Points of the training set.
    y : array-like of shape (n,)
        Targets; the control goes up to half their range.
    X_new : array-like of shape (m, 1)
        Points that are predicted, not fitted.
    y_new : array-like of shape (m,)
        What is to be predicted there.
    gamma : float, default=1.0
        Coefficient of the RBF kernel.

    Returns
    -------
    SliderPanel
        With controls ``epsilon`` and ``C`` (1e-2 to 1e3).

    Examples
    --------
    Two targets that differ by 2 fit into a tube of half-width 1:

    >>> points, targets = [[0.0], [1.0]], [0.0, 2.0]
    >>> panel = tube_slider(points, targets, points, targets)
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

    half_width = _needed("ipywidgets").FloatSlider(
        description="epsilon",
        value=0.1 * widest,
        min=0.0,
        max=widest,
        step=0.02 * widest,
        readout_format=".3g",
    )
    return SliderPanel(draw, {"epsilon": half_width, "C": _logarithmic("C", 1.0, -2, 3)})


def sphere_slider(X: ArrayLike, X_new: ArrayLike) -> SliderPanel:
    """Move the fraction nu that a description may leave outside, and the width of its kernel.

    Parameters
    ----------
    X : array-like of shape (n, 2)
        Targets.
    X_new : array-like of shape (m, 2)
        Other points of the same kind, not used to fit.

    Returns
    -------
    SliderPanel
        With controls ``nu`` (0.02 to 1) and ``gamma`` (1e-2 to 1e2) of an :class:`SVDD`.

    Examples
    --------
    >>> points = [[0.0, 0.0], [2.0, 0.0], [0.0, 2.0], [2.0, 2.0]]
    >>> sphere_slider(points, [[2.0, 2.0], [9.0, 9.0]]).sentence
    'nu = 0.1, gamma = 1: outside 0 of 4 (nu n = 0.4), support vectors 4; new points outside 0.500.'
    """
    X, X_new = np.asarray(X, dtype=float), np.asarray(X_new, dtype=float)
    limits = _around(X)

    def draw(ax: Any, nu: float, gamma: float) -> str:
        machine = SVDD(nu=nu, gamma=gamma).fit(X)
        plot_decision(machine, X, limits=limits, colorbar=False, ax=ax)
        return (
            f"nu = {nu:.3g}, gamma = {gamma:.3g}: outside {(machine.predict(X) < 0).sum()} of "
            f"{len(X)} (nu n = {nu * len(X):.3g}), support vectors {len(machine.support_)}; "
            f"new points outside {np.mean(machine.predict(X_new) < 0):.3f}."
        )

    fraction = _needed("ipywidgets").FloatSlider(
        description="nu", value=0.1, min=0.02, max=1.0, step=0.02, readout_format=".2f"
    )
    return SliderPanel(draw, {"nu": fraction, "gamma": _logarithmic("gamma", 1.0, -2, 2)})


def collapse_slider(X: ArrayLike, gamma: float = 1.0) -> SliderPanel:
    """Move the scale of a prior on logits and watch on how many points the centre rests.

    The chains are short, to be there at once: the sentence has digits to see a trend by.

    Parameters
    ----------
    X : array-like of shape (n, 2)
        Targets, about a hundred at most.
    gamma : float, default=1.0
        Coefficient of the RBF kernel.

    Returns
    -------
    SliderPanel
        With controls ``prior`` (the row sums or the row means of the Gram matrix, with a minus
        sign) and ``s`` (1e-2 to 1e2), the mean and the scale of the prior of a
        :class:`BayesianSVDD`. It starts with the row sums and s = 1.

    Examples
    --------
    Two points at a distance have equal row sums, and a narrow prior keeps their weights equal.

    >>> panel = collapse_slider([[0.0, 0.0], [3.0, 0.0]])
    >>> panel.controls["s"].value = 0.01
    >>> print(panel.sentence.partition(";")[0])
    m = -K1, s = 0.01: a draw rests on 2 effective atoms of 2 points
    """
    X = np.asarray(X, dtype=float)
    limits = _around(X)
    names = {"row_sum": "-K1", "row_mean": "-K1/n"}

    def draw(ax: Any, prior: str, s: float) -> str:
        machine = BayesianSVDD(
            prior, 1.0, s, gamma=gamma, n_chains=8, n_samples=20, n_burn_in=40, random_state=0
        )
        with warnings.catch_warnings():  # collapse is what is shown
            warnings.simplefilter("ignore", CollapseWarning)
            warnings.simplefilter("ignore", ConvergenceWarning)
            weights = machine.fit(X).alpha_
        density = gram("rbf", X, gamma=gamma) @ weights
        edge = np.quantile(density, 0.05)
        plot_decision(
            lambda Z: gram("rbf", Z, X, gamma=gamma) @ weights - edge,
            X,
            limits=limits,
            size=6,
            colorbar=False,
            legend=False,
            ax=ax,
        )
        ax.scatter(*X.T, s=500 * weights, facecolor="none", edgecolor="black", linewidth=1.5)
        return (
            f"m = {names[prior]}, s = {s:.3g}: a draw rests on {machine.n_effective_atoms_:.2g} "
            f"effective atoms of {len(X)} points; the heaviest has {weights.max():.0%} of the "
            "weight on average."
        )

    prior = _needed("ipywidgets").Dropdown(
        description="prior mean", options=[(name, prior) for prior, name in names.items()]
    )
    return SliderPanel(draw, {"prior": prior, "s": _logarithmic("s", 1.0, -2, 2)})


def magnification_slider(
    X: ArrayLike, y: ArrayLike, path: ArrayLike, *, C: float = 1.0, gamma: float = 1.0
) -> SliderPanel:
    r"""Move the width tau of the bumps of Amari and Wu's factor and watch what it magnifies.

    Parameters
    ----------
    X : array-like of shape (n, 2)
        Points of the training set.
    y : array-like of shape (n,)
        Two labels.
    path : array-like of shape (m, 2)
        Points along a line, the true boundary for instance, on which the sentence reports the
        magnification.
    C : float, default=1.0
        Regularization parameter of both machines.
    gamma : float, default=1.0
        Coefficient of their RBF kernel.

    Returns
    -------
    SliderPanel
        With the control ``tau``, in units of :math:`\sigma/\sqrt d` (0.1 to 10). The colour is the
        decimal logarithm of the magnification after / before, from -3 to 2.

    Examples
    --------
    A wide bump has the same height everywhere: nothing is magnified.

    >>> panel = magnification_slider([[0.0, 0.0], [1.0, 1.0]], [0, 1], [[0.0, 1.0], [1.0, 0.0]])
    >>> panel.controls["tau"].value = 10.0
    >>> "magnification after / before 1 to 1 on the dotted line" in panel.sentence
    True
    """
    X, y, path = (np.asarray(values) for values in (X, y, path))
    both = np.vstack([X, path])
    limits = np.column_stack([both.min(axis=0), both.max(axis=0)]).tolist()
    unit = 1 / np.sqrt(2 * gamma * X.shape[1])

    def draw(ax: Any, tau: float) -> str:
        machine = ConformalSVC("amari_wu", C=C, gamma=gamma, tau=tau * unit).fit(X, y)
        support = machine.previous_.support_

        def ratio(points: Any) -> Any:
            return magnification(points, "rbf", machine.factor_, gamma=gamma) / (2 * gamma)

        plot_field(
            lambda points: np.maximum(ratio(points), 1e-4),  # far away it underflows to 0
            X[support],
            y[support],
            label="after / before",
            limits=limits,
            log=True,
            scale=(-3, 2),
            size=14,
            colorbar=False,  # it would take place from the map at every drawing
            ax=ax,
        )
        ax.plot(*path.T, "w:", linewidth=1.5)
        ax.set_title("dark: 1/1000, bright: 100 times")
        on_path = ratio(path)
        return (
            f"tau = {tau:.3g} sigma/sqrt(d) = {tau * unit:.3g}: magnification after / before "
            f"{on_path.min():.2g} to {on_path.max():.2g} on the dotted line, a tenth or less on a "
            f"fraction {np.mean(on_path <= 0.1):.2f} of it."
        )

    return SliderPanel(draw, {"tau": _logarithmic("tau", 1.0, -1, 1)})


def _needed(module: str) -> Any:
    return import_optional(module, extra="notebooks", purpose="A slider")


def _logarithmic(name: str, value: float, low: float, high: float) -> Any:
    """A slider from 10**low to 10**high, four steps a decade."""
    return _needed("ipywidgets").FloatLogSlider(
        description=name, value=value, base=10, min=low, max=high, step=0.25, readout_format=".3g"
    )


def _around(X: Any, room: float = 0.25) -> tuple[tuple[float, float], ...]:
    """Limits of both axes: the points, and a quarter of their extent on each side."""
    low, high = X.min(axis=0), X.max(axis=0)
    margin = room * (high - low).max()
    return tuple(zip(low - margin, high + margin, strict=True))
