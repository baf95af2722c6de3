"""The street of a linear machine: what is drawn where."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.colors import to_rgb

from kernelbook.plotting import CLASS_COLOURS, plot_street

BOX = ((-2.0, 4.0), (-1.0, 1.0))
POINTS, LABELS = [[0.0, 0.0], [2.0, 0.0], [3.0, 0.5]], [-1, 1, 1]


@pytest.fixture(autouse=True)
def own_figures():
    yield
    plt.close("all")


def street(**changes):
    given = {"w": [1.0, 0.0], "b": -1.0, "X": POINTS, "y": LABELS, "limits": BOX} | changes
    return plot_street(given.pop("w"), given.pop("b"), given.pop("X"), given.pop("y"), **given)


def contours(ax, *, filled):
    kinds = (each for each in ax.collections if type(each).__name__ == "QuadContourSet")
    return [each for each in kinds if each.filled == filled]


def tint_at(ax, place):
    (drawn,) = contours(ax, filled=True)
    for path, colour in zip(drawn.get_paths(), drawn.get_facecolor(), strict=True):
        if path.contains_point(place):
            return colour[:3]
    raise AssertionError(f"nothing is drawn at {place}")


def test_boundary_is_solid_and_margins_are_dashed():
    solid, dashed = contours(street(), filled=False)
    assert solid.get_linestyle()[0][1] is None and dashed.get_linestyle()[0][1] is not None
    at = {float(level): path.vertices[:, 0] for level, path in zip(
        dashed.levels, dashed.get_paths(), strict=True)}  # fmt: skip
    np.testing.assert_allclose(solid.get_paths()[0].vertices[:, 0], 1.0)
    np.testing.assert_allclose(at[-1.0], 0.0, atol=1e-12)
    np.testing.assert_allclose(at[1.0], 2.0)


def test_the_street_is_white_and_each_side_has_its_class():
    ax = street()
    np.testing.assert_allclose(tint_at(ax, (1.5, 0.3)), 1.0)
    for place, colour in (((-1.5, 0.3), CLASS_COLOURS[0]), ((3.5, 0.3), CLASS_COLOURS[1])):
        pure = np.array(to_rgb(colour))
        assert np.argmin(tint_at(ax, place)) == np.argmin(pure)
        assert min(tint_at(ax, place)) > 0.7


def test_a_line_outside_the_limits_is_left_out():
    ax = street(b=-9.0)
    assert contours(ax, filled=False) == []
    assert tint_at(ax, (0.0, 0.0))[2] > tint_at(ax, (0.0, 0.0))[0]


def test_touching_points_are_ringed_and_the_legend_may_move():
    ax = street(touching=POINTS[:2], legend=False)
    rings = [each for each in ax.collections if each.get_label() == "support vector (n = 2)"]
    np.testing.assert_allclose(rings[0].get_offsets(), POINTS[:2])
    assert ax.get_legend() is None and street().get_legend() is not None


@pytest.mark.parametrize("w", [[0.0, 0.0], [1.0], [[1.0, 0.0]], [1.0, 2.0, 3.0]])
def test_a_direction_that_is_none_is_refused(w):
    with pytest.raises(ValueError, match="w must be two numbers that are not both 0"):
        street(w=w)
