"""Gram matrices, scores and intervals, checked by what is drawn and written."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from scipy.stats import t as student_t

from kernelbook import plotting


@pytest.fixture(autouse=True)
def own_style():
    with plt.rc_context():
        yield
    plt.close("all")


def test_gram_matrix_is_sorted_by_class_with_a_line_between():
    labels = np.array(["b", "a", "b", "a", "a"])
    K = np.arange(25.0).reshape(5, 5)
    ax = plotting.plot_gram(K, labels)
    order = [1, 3, 4, 0, 2]
    np.testing.assert_array_equal(ax.collections[0].get_array(), K[np.ix_(order, order)])
    assert [line.get_ydata()[0] for line in ax.lines[::2]] == [3]
    assert ax.get_xlabel() == "5 points, sorted by class"


def test_gram_matrix_with_negative_values_is_centred():
    limits = plotting.plot_gram([[2.0, -1.0], [-1.0, 4.0]]).collections[0].get_clim()
    assert limits == (-4.0, 4.0)
    assert plotting.plot_gram([[2.0, 1.0], [1.0, 4.0]]).collections[0].get_clim() == (0.0, 4.0)


def test_gram_matrix_and_labels_must_agree():
    with pytest.raises(ValueError, match="K must be square of that size"):
        plotting.plot_gram(np.eye(3), [0, 1])


def test_scores_of_each_class_have_area_one():
    scores = np.concatenate([np.linspace(-2, 1, 90), [0.5, 1.5, 2.0]])
    labels = np.repeat([0, 1], [90, 3])
    ax = plotting.plot_scores(scores, labels)
    assert [text.get_text() for text in ax.get_legend().get_texts()] == [
        "class 0 (n = 90)",
        "class 1 (n = 3)",
    ]
    for outline in (c for c in ax.collections if c.get_label().startswith("class")):
        x, y = outline.get_paths()[0].vertices.T
        area = abs(np.sum(x * np.roll(y, -1) - np.roll(x, -1) * y)) / 2
        assert area == pytest.approx(1.0, rel=1e-9)
    assert ax.lines[-1].get_xdata() == [0.0, 0.0]


def test_scores_and_labels_must_agree():
    with pytest.raises(ValueError, match="vectors of one length"):
        plotting.plot_scores([0.0, 1.0], [0, 1, 1])


def study():
    values = np.random.RandomState(0).normal(0.7, 0.1, (3, 2, 9))
    return pd.DataFrame(
        [
            {"model": m, "data": d, "auc": values[i, j, k]}
            for i, m in enumerate(("zeta", "alpha", "mid"))
            for j, d in enumerate(("glass", "car"))
            for k in range(9)
        ]
    )


@pytest.mark.parametrize("kind", ["ci", "sd", "quantile"])
def test_intervals_are_drawn_and_written(kind):
    frame = study()
    ax = plotting.plot_intervals(frame, x="auc", y="model", hue="data", interval=kind, level=0.9)
    assert [text.get_text() for text in ax.get_yticklabels()] == ["zeta", "alpha", "mid"]
    written = [text.get_text() for text in ax.texts]
    ends = [line.get_xdata() for line in ax.lines if len(line.get_xdata())]
    drawn = [(np.nanmin(x), np.nanmax(x)) for x in ends]
    for index, (data, model) in enumerate(
        (d, m) for d in ("glass", "car") for m in ("zeta", "alpha", "mid")
    ):
        v = frame.loc[(frame.model == model) & (frame.data == data), "auc"].to_numpy()
        s = v.std(ddof=1)
        low, high = {
            "ci": v.mean() + np.array([-1, 1]) * student_t.ppf(0.95, 8) * s / 3,
            "sd": v.mean() + np.array([-1, 1]) * s,
            "quantile": np.quantile(v, [0.05, 0.95]),
        }[kind]
        assert written[index] == f"{v.mean():.3f} [{low:.3f}, {high:.3f}]"
        assert any(abs(a - low) < 1e-8 and abs(b - high) < 1e-8 for a, b in drawn)


def test_intervals_of_one_group_and_a_reference():
    ax = plotting.plot_intervals(study(), x="auc", y="model", reference=0.5)
    dotted = [line for line in ax.lines if line.get_linestyle() == ":"]
    assert [line.get_xdata()[0] for line in dotted] == [0.5]
    assert len(ax.texts) == 3


def test_single_repetition_has_an_interval_of_no_width():
    frame = pd.DataFrame({"model": ["a", "b"], "auc": [0.25, 0.5]})
    ax = plotting.plot_intervals(frame, x="auc", y="model", digits=2)
    assert [text.get_text() for text in ax.texts] == ["0.25 [0.25, 0.25]", "0.50 [0.50, 0.50]"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"x": "auc", "y": "method"}, r"no column \['method'\]"),
        ({"x": "auc", "y": "model", "interval": "se"}, "interval must be"),
        ({"x": "auc", "y": "model", "level": 95}, r"level must be a number in \(0, 1\)"),
    ],
)
def test_intervals_name_what_is_wrong(options, message):
    with pytest.raises(ValueError, match=message):
        plotting.plot_intervals(study(), **options)
