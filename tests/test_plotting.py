"""Figures are checked by what they draw: coordinates, counts, styles, texts, never by pixels."""

import subprocess
import sys

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_hex
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR, OneClassSVM

from kernelbook import plotting
from kernelbook.datasets import bayes_gaussians, make_banana, make_gaussians, make_separable
from kernelbook.plotting._parts import MARKER_AREAS

X, Y = make_gaussians(60, 12, random_state=0)


@pytest.fixture(autouse=True)
def own_style():
    with plt.rc_context():
        yield
    plt.close("all")


def black_lines(ax):
    """Lines of equal value: (level, style) of each, with the points they run through."""
    lines = []
    for drawn in ax.collections:
        if type(drawn).__name__ == "QuadContourSet" and not drawn.filled:
            style = "solid" if drawn.get_linestyle()[0][1] is None else "dashed"
            for level, path in zip(drawn.levels, drawn.get_paths(), strict=True):
                lines.append((float(level), style, path.vertices))
    return lines


def scatters(ax):
    return {c.get_label(): c for c in ax.collections if not c.get_label().startswith("_")}


def legend_texts(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


# --- style ---


def test_import_loads_no_plotting_package():
    code = (
        "import sys, kernelbook.plotting\n"
        "heavy = {'matplotlib', 'seaborn', 'IPython'} & set(sys.modules)\n"
        "sys.exit(', '.join(sorted(heavy)) or 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("module", "call"),
    [
        ("matplotlib.pyplot", lambda: plotting.plot_points(X, Y)),
        ("matplotlib.pyplot", plotting.use_style),
        ("seaborn", lambda: plotting.plot_gram(np.eye(2))),
        ("seaborn", lambda: plotting.plot_scores([0.0, 1.0], [0, 1])),
    ],
)
def test_missing_package_names_the_extra(monkeypatch, module, call):
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(ImportError, match=r'pip install "kernelbook\[plots\]"'):
        call()


def test_style_sheet_is_in_force_and_complete():
    plotting.use_style()
    assert plt.rcParams["figure.constrained_layout.use"]
    assert not plt.rcParams["axes.spines.top"] and not plt.rcParams["axes.spines.right"]
    colours = plt.rcParams["axes.prop_cycle"].by_key()["color"]
    assert tuple("#" + colour.lstrip("#") for colour in colours) == plotting.CLASS_COLOURS
    # The smallest text of a figure 6.4 inches wide, shown 390 pixels wide, in CSS pixels.
    sizes = [plt.rcParams[key] for key in ("font.size", "xtick.labelsize", "legend.fontsize")]
    width = plt.rcParams["figure.figsize"][0] * 72
    assert min(sizes) * 390 / width >= 9


def test_classes_differ_in_colour_and_in_marker():
    assert len(set(plotting.CLASS_COLOURS)) == len(plotting.CLASS_COLOURS)
    assert len(set(plotting.CLASS_MARKERS)) == len(plotting.CLASS_MARKERS)
    assert len(plotting.CLASS_COLOURS) == len(plotting.CLASS_MARKERS) == len(MARKER_AREAS)


def test_panels_share_their_limits():
    figure, (left, right) = plotting.panels(2)
    plotting.plot_points([[0.0, 0.0], [1.0, 1.0]], ax=left, legend=False)
    plotting.plot_points([[5.0, 5.0], [9.0, 7.0]], ax=right, legend=False)
    assert left.get_xlim() == right.get_xlim() and left.get_ylim() == right.get_ylim()
    assert left.get_ylabel() == "$x_2$" and right.get_ylabel() == ""
    assert right.get_xlabel() == "$x_1$"
    assert figure.get_figwidth() <= 8


def test_panels_refuse_what_nobody_can_read():
    for columns, rows in ((4, 1), (0, 1), (1, 0)):
        with pytest.raises(ValueError, match="columns must be 1, 2 or 3"):
            plotting.panels(columns, rows)


def test_one_legend_below_all_panels_leaves_the_counts_out():
    plotting.use_style()  # its layout makes room for the legend
    figure, axes = plotting.panels(2)
    for ax in axes:
        plotting.plot_points(X, Y, names=["common", "rare"], legend=False, ax=ax)
    legend = plotting.legend_of(axes[1], columns=2)
    assert figure.legends == [legend]
    assert [text.get_text() for text in legend.get_texts()] == ["common", "rare"]
    figure.draw_without_rendering()
    assert legend.get_window_extent().y1 <= min(ax.get_tightbbox().y0 for ax in axes)


def test_a_legend_of_nothing_says_what_is_missing():
    with pytest.raises(ValueError, match="label="):
        plotting.legend_of(plotting.panels()[1])


def test_panels_with_all_their_parts_keep_room_for_the_axes():
    plotting.use_style()
    figure, axes = plotting.panels(2)
    for ax in axes:
        plotting.plot_decision(SVC().fit(X, Y), X, Y, ax=ax)
    figure.draw_without_rendering()  # a layout that collapses warns
    assert all(ax.get_position().width > 0.15 for ax in axes)


# --- points ---


def test_points_have_the_colour_of_their_class_and_its_count():
    ax = plotting.plot_points(X, Y, names=["common", "rare"])
    drawn = scatters(ax)
    assert list(drawn) == ["common (n = 60)", "rare (n = 12)"]
    for label, (name, collection) in enumerate(drawn.items()):
        np.testing.assert_array_equal(collection.get_offsets(), X[label == Y], err_msg=name)
        assert to_hex(collection.get_facecolor()[0]).upper() == plotting.CLASS_COLOURS[label]
    assert drawn["rare (n = 12)"].get_zorder() > drawn["common (n = 60)"].get_zorder()
    assert legend_texts(ax) == list(drawn)


def test_rare_class_lies_above_even_if_its_label_comes_first():
    drawn = scatters(plotting.plot_points(X, 1 - Y))
    assert drawn["class 0 (n = 12)"].get_zorder() > drawn["class 1 (n = 60)"].get_zorder()


def test_any_labels_and_frames():
    frame = pd.DataFrame(X, columns=["length (mm)", "width (mm)"])
    ax = plotting.plot_points(frame, np.where(Y == 1, "no", "yes"))
    assert list(scatters(ax)) == ["class no (n = 12)", "class yes (n = 60)"]
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("length (mm)", "width (mm)")


def test_class_keeps_its_colour_where_another_is_absent():
    ax = plotting.plot_points(X[Y == 1], Y[Y == 1], classes=[0, 1])
    assert to_hex(scatters(ax)["class 1 (n = 12)"].get_facecolor()[0]).upper() == "#D55E00"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((np.zeros((3, 3)), [0, 1, 1]), "X has 3 features"),
        ((np.zeros((3, 2)), [0, 1]), "y has 2 labels and X has 3 points"),
        ((np.zeros((8, 2)), range(8)), "8 classes, but only 7 colours"),
    ],
)
def test_points_that_cannot_be_drawn_are_named(arguments, message):
    with pytest.raises(ValueError, match=message):
        plotting.plot_points(*arguments)


def test_number_of_names_must_be_that_of_the_classes():
    with pytest.raises(ValueError, match="names must hold 2 names"):
        plotting.plot_points(X, Y, names=["one"])


# --- decisions ---


def test_boundary_and_margins_are_where_they_belong():
    points, labels = make_separable(random_state=0)
    machine = SVC(kernel="linear", C=1e3).fit(points, labels)
    ax = plotting.plot_decision(machine, points, labels)
    lines = black_lines(ax)
    assert {(level, style) for level, style, _ in lines} == {
        (0.0, "solid"),
        (-1.0, "dashed"),
        (1.0, "dashed"),
    }
    for level, _, vertices in lines:
        np.testing.assert_allclose(machine.decision_function(vertices), level, atol=1e-9)
    rings = scatters(ax)[f"support vector (n = {len(machine.support_)})"]
    np.testing.assert_array_equal(rings.get_offsets(), machine.support_vectors_)
    assert ax.get_aspect() == 1.0


def test_support_vectors_of_a_pipeline_lie_where_the_data_are():
    points = X * [100.0, 0.01] + [5e3, 0.0]
    machine = make_pipeline(StandardScaler(), SVC()).fit(points, Y)
    ax = plotting.plot_decision(machine, points, Y, equal=False)
    rings = [c for name, c in scatters(ax).items() if name.startswith("support")]
    np.testing.assert_allclose(rings[0].get_offsets(), points[machine[-1].support_], rtol=1e-12)
    assert ax.get_aspect() == "auto"


def test_estimator_fitted_on_a_frame_gets_a_frame():
    frame = pd.DataFrame(X, columns=["a", "b"])
    ax = plotting.plot_decision(SVC().fit(frame, Y), frame, Y)  # a warning would be an error
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("a", "b")


def test_novelty_detector_has_a_boundary_and_no_margins():
    points, labels = make_banana(60, 6, random_state=0)
    ax = plotting.plot_decision(OneClassSVM(nu=0.2).fit(points), points, labels)
    assert {(level, style) for level, style, _ in black_lines(ax)} == {(0.0, "solid")}


def test_a_tint_has_the_colour_of_the_class_answered():
    def ends(estimator):
        ax = plotting.plot_decision(estimator, X, Y)
        return next(c for c in ax.collections if getattr(c, "filled", False)).cmap([0.0, 1.0])

    blue_to_orange = ends(SVC().fit(X, Y))
    np.testing.assert_allclose(ends(OneClassSVM().fit(X)), blue_to_orange[::-1])  # inside is blue
    assert blue_to_orange[0, 2] > blue_to_orange[0, 0]


@pytest.mark.parametrize("model", [LogisticRegression(), KNeighborsClassifier(), bayes_gaussians])
def test_other_models_have_a_boundary_at_equal_odds(model):
    if hasattr(model, "fit"):
        model.fit(X, Y)
    lines = black_lines(plotting.plot_decision(model, X, Y))
    assert {(level, style) for level, style, _ in lines} == {(0.0, "solid")}


def test_margins_can_be_asked_for_or_left_out():
    machine = SVC().fit(X, Y)
    assert len(black_lines(plotting.plot_decision(machine, X, Y, margins=False))) == 1
    levels = {
        line[0] for line in black_lines(plotting.plot_decision(lambda P: P[:, 0], X, margins=True))
    }
    assert levels == {-1.0, 0.0, 1.0}


def test_three_classes_are_shown_by_the_prediction():
    labels = np.digitize(X[:, 0], [-1.0, 0.0])
    machine = LogisticRegression().fit(X, labels)
    ax = plotting.plot_decision(machine, X, labels)
    assert {level for level, _, _ in black_lines(ax)} == {0.5}
    filled = next(c for c in ax.collections if getattr(c, "filled", False))
    assert filled.levels.tolist() == [-0.5, 0.5, 1.5, 2.5]


def test_constant_decision_draws_no_line_and_no_warning():
    ax = plotting.plot_decision(lambda P: np.zeros(len(P)), X, Y)
    assert black_lines(ax) == []


def test_colours_are_centred_at_zero_and_can_be_fixed():
    for scale in (None, 3.0):
        ax = plotting.plot_decision(lambda P: 5 + P[:, 0], X, Y, scale=scale)
        levels = next(c for c in ax.collections if getattr(c, "filled", False)).levels
        np.testing.assert_allclose(levels, -levels[::-1], atol=1e-12)
    assert levels.max() == 3.0


def test_decision_without_values_is_refused():
    with pytest.raises(TypeError, match="neither decision_function nor predict_proba"):
        plotting.plot_decision(StandardScaler(), X, Y)
    with pytest.raises(ValueError, match="one value for each"):
        plotting.plot_decision(lambda P: P, X, Y)
    with pytest.raises(ValueError, match="choose two columns"):
        plotting.plot_decision(SVC(), np.zeros((4, 3)), [0, 1, 0, 1])


# --- fields and tubes ---


def test_field_in_logarithms_has_lines_of_equal_value():
    ax = plotting.plot_field(
        lambda P: 10 ** P[:, 0], limits=((0, 4), (0, 4)), label="factor", log=True, n_lines=3
    )
    for level, style, vertices in black_lines(ax):
        assert style == "solid"
        np.testing.assert_allclose(vertices[:, 0], level, atol=1e-9)
    assert [level for level, _, _ in black_lines(ax)] == pytest.approx([1, 2, 3])
    assert ax.child_axes[0].get_ylabel() == "$\\log_{10}$ factor"


def test_fields_that_are_compared_can_have_one_scale():
    ax = plotting.plot_field(lambda P: P[:, 0], X, label="v", scale=(-7.0, 9.0))
    assert ax.collections[0].levels[[0, -1]].tolist() == [-7.0, 9.0]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "limits must be given"),
        ({"limits": ((0, 1), (0, 1)), "log": True}, "log=True needs positive values"),
    ],
)
def test_field_names_what_is_wrong(options, message):
    with pytest.raises(ValueError, match=message):
        plotting.plot_field(lambda P: P[:, 0], label="v", **options)


def test_tube_has_width_epsilon_and_rings_support_vectors():
    points = np.linspace(0, 5, 30)[:, None]
    values = np.sin(points[:, 0])
    machine = SVR(C=10, epsilon=0.2).fit(points, values)
    ax = plotting.plot_regression_tube(machine, points, values, truth=lambda P: np.sin(P[:, 0]))
    low, high, middle, truth = (line.get_ydata() for line in ax.lines)
    np.testing.assert_allclose(high - low, 0.4, rtol=1e-12)
    np.testing.assert_allclose(middle, machine.predict(ax.lines[2].get_xdata()[:, None]))
    np.testing.assert_allclose(truth, np.sin(ax.lines[3].get_xdata()))
    assert [line.get_linestyle() for line in ax.lines] == ["--", "--", "-", ":"]
    rings = scatters(ax)[f"support vector (n = {len(machine.support_)})"]
    np.testing.assert_array_equal(rings.get_offsets()[:, 1], values[machine.support_])
    drawn = {ax.lines[2].get_color(), to_hex(scatters(ax)["data (n = 30)"].get_facecolor()[0])}
    assert not {colour.upper() for colour in drawn} & set(plotting.CLASS_COLOURS[:2])


def test_tube_needs_one_feature_and_a_width():
    with pytest.raises(ValueError, match="X has 2 features"):
        plotting.plot_regression_tube(SVR(), X, Y)
    with pytest.raises(ValueError, match="has no epsilon"):
        plotting.plot_regression_tube(LogisticRegression(), X[:, :1], Y)
