"""The figure of a comparison: what is drawn where, and what stands beside it."""

import io

import matplotlib.pyplot as plt
import pandas as pd
import pytest

from kernelbook import plotting
from kernelbook.plotting.comparison import MARKERS

ROWS = [
    ("svm", 0.0, 0.0, 0.0, "reference", "gamma"),
    ("forest", 0.05, 0.03, 0.07, "better", ""),
    ("means", -0.01, -0.015, 0.005, "equivalent", "C, gamma"),
    ("window", -0.03, -0.06, 0.0, "undecided", ""),
    ("random", -0.5, -0.6, -0.4, "worse", ""),
]
COLUMNS = ["method", "difference", "low", "high", "verdict", "widen"]
TABLE = pd.DataFrame(ROWS, columns=COLUMNS).assign(measure="AP", margin=0.02)


@pytest.fixture(autouse=True)
def own_style():
    with plt.rc_context():
        plotting.use_style()
        yield
    plt.close("all")


def test_each_method_has_its_interval_marker_and_words():
    ax = plotting.plot_comparison(TABLE, "AP")
    assert [label.get_text() for label in ax.get_yticklabels()] == [row[0] for row in ROWS[1:]]
    intervals = [line for line in ax.lines if line.get_marker() == "None" and len(line.get_xdata())]
    drawn = {line.get_ydata()[0]: tuple(line.get_xdata()) for line in intervals[1:]}
    assert drawn == {k: (row[2], row[3]) for k, row in enumerate(ROWS[1:])}
    points = [line for line in ax.lines if line.get_marker() != "None"]
    assert [line.get_xdata()[0] for line in points] == [row[1] for row in ROWS[1:]]
    assert [line.get_marker() for line in points] == [MARKERS[row[4]] for row in ROWS[1:]]
    assert [line.get_markerfacecolor() for line in points] == ["black", "black", "white", "black"]
    assert [text.get_text() for text in ax.texts] == [
        "+0.050 [+0.030, +0.070] better",
        "-0.010 [-0.015, +0.005] equivalent; widen C, gamma",
        "-0.030 [-0.060, +0.000] undecided",
        "-0.500 [-0.600, -0.400] worse",
    ]
    bottom, top = ax.get_ylim()
    assert bottom > top  # the first method stands above


def test_a_difference_that_rounds_to_zero_has_no_minus():
    rows = [ROWS[0], ("tree", -0.0004, -0.0106, 0.0102, "equivalent", "")]
    table = pd.DataFrame(rows, columns=COLUMNS).assign(measure="AP", margin=0.02)
    ax = plotting.plot_comparison(table, digits=2)
    assert [text.get_text() for text in ax.texts] == ["+0.00 [-0.01, +0.01] equivalent"]


def test_band_of_the_margin_is_drawn_and_named():
    ax = plotting.plot_comparison(TABLE)
    (band,) = ax.patches
    assert (band.get_x(), band.get_width()) == pytest.approx((-0.02, 0.04))
    assert "AP: difference from svm" in ax.get_xlabel() and "0.02" in ax.get_xlabel()


def test_the_axis_of_an_error_says_gain_and_moves_nothing():
    table = TABLE.assign(measure="error")
    ax, plain = (plotting.plot_comparison(table, smaller_is_better=b) for b in (True, False))
    assert ax.get_xlabel() == "gain on svm (smaller error)\n(grey: margin of 0.02)"
    assert [t.get_text() for t in ax.texts] == [t.get_text() for t in plain.texts]


def test_a_table_from_a_file_gives_the_same_figure():
    text = TABLE.to_csv(index=False)
    ax = plotting.plot_comparison(pd.read_csv(io.StringIO(text)))
    assert ax.texts[0].get_text() == "+0.050 [+0.030, +0.070] better"


def test_one_of_several_measures_has_to_be_named():
    both = pd.concat([TABLE, TABLE.assign(measure="G-mean", margin=0.1)])
    (band,) = plotting.plot_comparison(both, "G-mean").patches
    assert band.get_width() == pytest.approx(0.2)
    with pytest.raises(ValueError, match=r"measure must be one of \['AP', 'G-mean'\], got None"):
        plotting.plot_comparison(both)
    with pytest.raises(ValueError, match="got 'F1'"):
        plotting.plot_comparison(TABLE, "F1")


def test_axes_that_are_given_are_drawn_on():
    _, ax = plotting.panels(1)
    assert plotting.plot_comparison(TABLE, ax=ax) is ax
