"""Sliders are checked by what they say and by whether the picture moves, without a browser."""

import subprocess
import sys

import matplotlib.pyplot as plt
import numpy as np
import pytest
from sklearn.datasets import make_moons

from kernelbook.conformal import ConformalSVC, magnification
from kernelbook.datasets import make_banana, make_gaussians, make_sinc
from kernelbook.svdd import SVDD
from kernelbook.svm import KernelSVC
from kernelbook.svr import KernelSVR
from kernelcourse import sliders

RARE = make_gaussians(60, 15, distance=3.0, random_state=2)
MOONS = make_moons(60, noise=0.25, random_state=3)
SINC = make_sinc(60, noise=0.05, random_state=5)
BENT = make_banana(40, random_state=12)[0]

# Each panel, and for each of its controls a value that has to change picture and sentence.
PANELS = {
    "margin_slider": (lambda: sliders.margin_slider(*RARE), {"C": 0.01, "balanced": True}),
    "width_slider": (lambda: sliders.width_slider(*MOONS, *MOONS), {"gamma": 100.0, "C": 0.1}),
    "tube_slider": (
        lambda: sliders.tube_slider(*SINC, *SINC, gamma=0.2),
        {"epsilon": 0.3, "C": 0.01},
    ),
    "sphere_slider": (lambda: sliders.sphere_slider(BENT, BENT + 0.1), {"nu": 0.5, "gamma": 10.0}),
    "magnification_slider": (lambda: sliders.magnification_slider(*RARE, RARE[0]), {"tau": 0.1}),
    "collapse_slider": (lambda: sliders.collapse_slider(BENT), {"prior": "row_mean", "s": 10.0}),
}


@pytest.fixture(autouse=True)
def no_figures_of_other_tests():
    plt.close("all")


@pytest.fixture(params=PANELS)
def moved(request):
    build, values = PANELS[request.param]
    return build(), values


def test_every_panel_is_tested():
    assert set(PANELS) == set(sliders.__all__) - {"SliderPanel"}


def test_each_control_moves_picture_and_sentence(moved):
    panel, values = moved
    assert set(values) == set(panel.controls)
    first = bytes(panel.picture.value), panel.sentence
    assert first[0].startswith(b"\x89PNG")
    for name, value in values.items():
        before = panel.controls[name].value
        panel.controls[name].value = value
        assert bytes(panel.picture.value) != first[0]
        assert panel.sentence != first[1]
        panel.controls[name].value = before
        assert panel.sentence == first[1]


def test_page_without_widgets_has_the_sentence(moved):
    panel, _ = moved
    bundle = panel._repr_mimebundle_()
    assert bundle["text/plain"] == panel.sentence
    assert "application/vnd.jupyter.widget-view+json" in bundle
    assert plt.get_fignums() == []


def test_controls_have_a_name_to_be_read_aloud(moved):
    panel, _ = moved
    assert all(control.description for control in panel.controls.values())


def test_a_picture_keeps_its_place_when_it_is_drawn_again():
    panel = sliders.SliderPanel(
        lambda ax, size: str(ax.plot([0, size])[0].get_ydata()),
        {"size": sliders._logarithmic("size", 1.0, 0, 6)},
    )
    place = panel._axes.get_position().bounds
    panel.controls["size"].value = 1e6
    assert panel._axes.get_position().bounds == place
    assert len(panel._axes.lines) == 1


def test_margin_says_what_the_machine_says():
    panel = sliders.margin_slider(*RARE)
    panel.controls["C"].value = 0.01
    X, y = RARE
    machine = KernelSVC(C=0.01, kernel="linear").fit(X, y)
    found = (machine.predict(X[y == 1]) == 1).sum()
    assert panel.sentence == (
        f"C = 0.01: margin {1 / np.linalg.norm(machine.coef_):.3g}, support vectors "
        f"{len(machine.support_)} of 75, positive points found {found} of 15."
    )


def test_margin_of_a_machine_without_a_direction_is_infinite():
    panel = sliders.margin_slider([[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0]], [0, 0, 1, 1])
    assert panel.sentence.startswith("C = 1: margin inf, support vectors 4 of 4")


def test_width_tells_the_error_on_new_points_apart():
    X, y = MOONS
    panel = sliders.width_slider(X, y, X, 1 - y)
    panel.controls["gamma"].value = 100.0
    assert "training error 0.000, error 1.000 on 60 new points" in panel.sentence


def test_tube_says_what_the_machine_says():
    X, y = SINC
    panel = sliders.tube_slider(X, y, X, y + 1.0, gamma=0.2)
    panel.controls["epsilon"].value = 0.0
    machine = KernelSVR(epsilon=0.0, gamma=0.2).fit(X, y)
    error = np.sqrt(np.mean((machine.predict(X) - y - 1.0) ** 2))
    assert error > 0.9
    assert panel.sentence == (
        f"epsilon = 0, C = 1: support vectors {len(machine.support_)} of 60, "
        f"error {error:.3f} (root mean square) on 60 new points."
    )
    assert panel.controls["epsilon"].max == pytest.approx(np.ptp(y) / 2)


def test_sphere_says_what_the_machine_says():
    panel = sliders.sphere_slider(BENT, BENT + 0.1)
    panel.controls["nu"].value = 0.5
    machine = SVDD(nu=0.5, gamma=1.0).fit(BENT)
    assert panel.sentence == (
        f"nu = 0.5, gamma = 1: outside {(machine.predict(BENT) < 0).sum()} of 40 (nu n = 20), "
        f"support vectors {len(machine.support_)}; "
        f"new points outside {np.mean(machine.predict(BENT + 0.1) < 0):.3f}."
    )


def test_collapse_needs_row_means_and_a_small_scale():
    panel = sliders.collapse_slider(BENT)

    def atoms(prior, s):
        panel.controls["prior"].value, panel.controls["s"].value = prior, s
        return float(panel.sentence.split("rests on ")[1].split()[0])

    assert max(atoms("row_sum", s) for s in (0.01, 1.0, 100.0)) < 8
    assert atoms("row_mean", 0.01) > 35 > 10 > atoms("row_mean", 100.0)


def test_magnification_tells_how_far_a_narrow_factor_shrinks():
    X, y = RARE
    path = X[y == 1]
    panel = sliders.magnification_slider(X, y, path, gamma=0.5)
    panel.controls["tau"].value = 0.1
    machine = ConformalSVC("amari_wu", gamma=0.5, tau=0.1 / np.sqrt(2)).fit(X, y)
    ratio = magnification(path, "rbf", machine.factor_, gamma=0.5)
    assert 0 < np.mean(ratio <= 0.1) < 1
    assert panel.sentence == (
        "tau = 0.1 sigma/sqrt(d) = 0.0707: magnification after / before "
        f"{ratio.min():.2g} to {ratio.max():.2g} on the dotted line, a tenth or less on a fraction "
        f"{np.mean(ratio <= 0.1):.2f} of it."
    )


def test_sliders_without_widgets_say_what_to_install():
    code = (
        "import sys; sys.modules['ipywidgets'] = None\n"
        "from kernelcourse import margin_slider\n"
        "try: margin_slider([[0, 0], [1, 1]], [0, 1])\n"
        "except ImportError as error: print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == 'A slider needs ipywidgets: pip install "kernelbook[notebooks]".\n'
