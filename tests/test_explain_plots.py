"""Pictures of explainers: what they show, and where they are drawn."""

import sys

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from explainers import binary, random_explainer, square, three_classes

from kernelbook import explain
from kernelbook.explain import (
    PolynomialExplainer,
    plot_degree_contributions,
    plot_degree_importance,
    plot_degree_waterfall,
    plot_importance,
    plot_waterfall,
)


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


def labels(ax):
    return [text.get_text() for text in ax.get_yticklabels()]


def figures(ax):
    return [text.get_text() for text in ax.texts]


def bars(ax):
    return [(bar.get_x(), bar.get_x() + bar.get_width()) for bar in ax.patches]


def test_bars_show_the_sign_in_text_and_hatching():
    explainer = PolynomialExplainer.from_support_vectors(
        [[3.0, -5.0, 1.0]], [1.0], degree=1, gamma=1.0, feature_names=["a", "b", "c"]
    )
    ax = plot_importance(explainer, 2)
    assert labels(ax) == ["b", "a"]
    assert figures(ax) == ["-5", "+3"]
    assert bars(ax) == [(0.0, -5.0), (0.0, 3.0)]
    assert [bool(bar.get_hatch()) for bar in ax.patches] == [True, False]
    assert ax.patches[0].get_facecolor() != ax.patches[1].get_facecolor()
    assert ax.get_title() == "2 most important of 3 interactions"
    assert ax.get_xlabel() == "weight in the decision value"
    sizes = plot_importance(explainer, signed=False)
    assert figures(sizes) == ["5", "3", "1"]
    assert sizes.get_xlabel() == "size of the weight"
    by_spread = plot_importance(explainer, data=[[0.0, 0.0, 0.0], [2.0, 0.0, 0.0]])
    assert labels(by_spread)[0] == "a"
    assert figures(by_spread)[0] == "3"
    assert by_spread.get_xlabel() == "standard deviation of the contribution"


def test_figures_stand_beyond_the_ends_of_their_bars():
    ax = plot_waterfall(square(), [1.0, -1.0])
    for text, (start, end) in zip(ax.texts, bars(ax), strict=True):
        assert text.xy[0] == end
        assert text.get_ha() == ("right" if end < start else "left")


def test_bars_of_several_classes():
    explainer = PolynomialExplainer().fit(three_classes()[2])
    ax = plot_importance(explainer)
    assert ax.get_xlabel() == "size of the weight, mean over the pairs"
    assert ax.get_title() == "10 most important of 83 interactions"
    ax = plot_importance(explainer.for_pair(("class_0", "class_2")))
    assert ax.get_xlabel() == "weight in the decision value"
    assert ax.get_title().endswith("\nclass_0 (+) against class_2 (-)")


def test_waterfall_runs_from_the_constant_to_the_value():
    # At (1, -1): 1 + 2 - 4 + 1 - 4 + 4 = 0.
    ax = plot_waterfall(square(), [1.0, -1.0], top=3)
    assert labels(ax) == ["constant", "x1", "x0·x1", "x1²", "2 others"]
    assert figures(ax) == ["+1", "-4", "-4", "+4", "+3"]
    assert bars(ax) == [(0.0, 1.0), (1.0, -3.0), (-3.0, -7.0), (-7.0, -3.0), (-3.0, 0.0)]
    assert ax.get_title() == "decision value 0"
    one_other = plot_waterfall(square(), [1.0, -1.0], top=4)
    assert labels(one_other)[-1] == "1 other"
    whole = plot_waterfall(square(), pd.Series([1.0, -1.0]))
    assert len(labels(whole)) == 6


def test_waterfall_of_a_row_of_a_data_frame():
    X, _, model = binary()
    explainer = PolynomialExplainer().fit(model)
    [value] = model.decision_function(X.iloc[:1])
    for row in (X.iloc[0], X.iloc[:1]):
        ax = plot_waterfall(explainer, row)
        assert bars(ax)[-1][1] == pytest.approx(value)
        assert ax.get_title() == f"decision value {value:.4g}\nsecond (+) against another (-)"


def test_waterfall_of_a_reduced_model_shows_what_it_keeps():
    ax = plot_waterfall(square().keep([(1,), (0, 0)]), [1.0, -1.0])
    assert labels(ax) == ["constant", "x1", "x0²"]
    assert ax.get_title() == "decision value -2"


def test_waterfall_of_degrees():
    ax = plot_degree_waterfall(square(), [1.0, -1.0])
    assert labels(ax) == ["constant", "degree 1", "degree 2"]
    assert bars(ax) == [(0.0, 1.0), (1.0, -1.0), (-1.0, 0.0)]


@pytest.mark.parametrize("x", [np.ones((2, 2)), 1.0])
@pytest.mark.parametrize("plot", [plot_waterfall, plot_degree_waterfall])
def test_waterfall_takes_one_point(plot, x):
    with pytest.raises(ValueError, match="one point"):
        plot(square(), x)


def test_waterfall_takes_one_function():
    X, _, model = three_classes()
    with pytest.raises(ValueError, match="for_pair"):
        plot_waterfall(PolynomialExplainer().fit(model), X.iloc[0])


def test_pictures_of_degrees_show_their_table():
    explainer = random_explainer(degree=3)
    points = np.random.default_rng(1).normal(size=(21, 4))
    table = explainer.degree_importance(points)
    ax = plot_degree_importance(explainer, points)
    assert [bar.get_height() for bar in ax.patches] == table["mean_magnitude"].tolist()
    assert [text.get_text() for text in ax.get_xticklabels()] == ["1", "2", "3"]
    [means] = [line for line in ax.lines if line.get_marker() == "D"]
    assert means.get_ydata().tolist() == table["mean"].tolist()
    box = plot_degree_contributions(explainer, points)
    assert [text.get_text() for text in box.get_xticklabels()] == ["1", "2", "3"]
    medians = [line.get_ydata()[0] for line in box.lines if line.get_linewidth() == 2]
    assert medians == pytest.approx(table["median"].tolist())


@pytest.mark.parametrize("name", [name for name in explain.__all__ if name.startswith("plot_")])
def test_pictures_are_drawn_where_asked(name):
    _, (left, right) = plt.subplots(1, 2)
    points = [] if name == "plot_importance" else [np.ones((1, 2))]
    returned = getattr(explain, name)(square(), *points, ax=right)
    assert returned is right
    assert not left.has_data()
    assert right.get_title()
    assert len(plt.get_fignums()) == 1


def test_a_figure_names_the_missing_matplotlib(monkeypatch):
    for module in ("matplotlib", "matplotlib.pyplot"):
        monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(ImportError, match=r'pip install "kernelbook\[plots\]"'):
        plot_degree_contributions(square(), [[1.0, 1.0]])
