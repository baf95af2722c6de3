"""One comparison for all methods: one search, repeats, paired intervals, verdicts, baselines."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any

import joblib
import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, is_outlier_detector, is_regressor
from sklearn.model_selection import check_cv
from sklearn.utils import get_tags

from kernelbook.optional import import_optional
from kernelbook.study._baselines import standard_baselines
from kernelbook.study._table import (
    base_name,
    differences,
    tabulate_choices,
    tabulate_methods,
    tabulate_scores,
)
from kernelbook.study._trial import Fresh, Method, Resampled, Trial
from kernelbook.study.run import run_study

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Comparison", "compare"]


@dataclass(frozen=True)
class Comparison:
    """What :func:`compare` found, in three tables that a CSV file can hold.

    Attributes
    ----------
    table : pandas.DataFrame
        One row a measure and method. ``mean`` and ``sd`` over the ``n`` splits or data sets;
        ``difference`` to the reference, positive is better, with the ends ``low`` and ``high`` of
        its interval, the ``margin`` and the ``verdict``; ``changed``, the mean fraction of test
        points that the method answers otherwise than the reference; ``n_settings`` tried;
        ``chosen``, median and range of each parameter; ``edge``, the largest fraction of choices
        at an end of a grid; ``widen``, the parameters for which that is more than 10 %;
        ``fixed``, the shared parameters that were not searched.
    scores : pandas.DataFrame
        One row a method, repeat and measure: ``value``, higher is better.
    choices : pandas.DataFrame
        One row a method, repeat and parameter: ``value``, and ``edge``: 'low' or 'high' at an end
        of the grid, 'saturated' at an end that was allowed, else empty.

    See Also
    --------
    kernelbook.plotting.plot_comparison : Draws the table.
    """

    table: pd.DataFrame
    scores: pd.DataFrame
    choices: pd.DataFrame


def compare(
    methods: Mapping[str, tuple[BaseEstimator, Mapping[str, Iterable[Any]]]],
    X: Any = None,
    y: ArrayLike | None = None,
    *,
    splits: Any,
    select: str | Callable[..., float],
    measures: Mapping[str, str | Callable[..., float]],
    margin: Mapping[str, float],
    reference: str,
    groups: ArrayLike | None = None,
    n_repeats: int = 20,
    inner: Any = 5,
    cutoff: float | str | Callable[..., float] | None = None,
    target: Any = None,
    with_outliers: Sequence[str] = (),
    fixed: Mapping[str, Sequence[str]] | None = None,
    saturated: Mapping[str, Sequence[str]] | None = None,
    baselines: Sequence[str] | None = None,
    level: float = 0.95,
    seed: int = 0,
    backend: str = "loky",
    n_jobs: int = -1,
    store: str | os.PathLike[str] | None = None,
    on_damage: str = "raise",
    progress: bool = True,
) -> Comparison:
    r"""Compare methods by one search, repeated splits and paired intervals against a margin.

    Each method is searched on the training part of each split and judged on the test part. The
    differences to the reference are paired, and their interval is that of
    :func:`paired_interval`: with the correction for resampling if X is split again and again,
    without it for fresh data sets. :func:`verdict` reads it.

    Parameters
    ----------
    methods : dict of str to (estimator, grid)
        Classifiers, regressors or novelty detectors with the grid of their search, as for
        :class:`sklearn.model_selection.ParameterGrid`. A parameter (``C``, in a pipeline
        ``kernelsvc__C``) has the same grid in all methods that have it; further parameters of
        a method come on top. Every ``random_state`` is set.
    X : array-like of shape (n_samples, n_features), default=None
        The data, or None if ``splits`` gives whole data sets.
    y : array-like of shape (n_samples,), default=None
        The labels or values.
    splits : splitter, iterable or callable
        With X, what scikit-learn takes as ``cv``. Without X an iterable of data sets ``(X_train,
        y_train, X_test, y_test)``, or a function that makes one from a ``random_state``.
    select : str or scorer
        The one rule of selection: best mean in the inner folds, and of equally good settings the
        middle one in the order of the grid.
    measures : dict of str to (str or scorer)
        What is judged on the test part. Higher is better, as always for scorers.
    margin : dict of str to float
        The smallest difference of each measure that would matter, named before looking.
    reference : str
        The method that the others are compared with.
    groups : array-like of shape (n_samples,), default=None
        Rows of one group stay together in outer and inner splits.
    n_repeats : int, default=20
        Number of data sets that a function makes; of other ``splits`` the smallest number of
        repeats. Less than 20 has to be named here, or it is an error.
    inner : int or splitter, default=5
        Folds of the search: stratified for classes, shuffled by the seed, equal for all methods.
    cutoff : float, str or scorer, default=None
        One rule for all decisions of two classes, on values of the inner folds. A float leaves
        this fraction of the targets outside; a scorer takes the threshold of its best value. If
        None, each estimator answers by its own ``predict``.
    target : label, default=None
        Label of the class that novelty detectors describe. They are fitted to its training rows,
        and to all rows, with y = +1 for targets and -1 for outliers, if their tags require y.
    with_outliers : sequence of str, default=()
        Further detectors that are fitted to all rows.
    fixed : dict of str to sequence of str, default=None
        Shared parameters that a method does not search: named, and a column of the table.
    saturated : dict of str to sequence of {'low', 'high'}, default=None
        Ends of grids where choices are expected, such as ``{"C": ["high"]}`` for a hard margin.
    baselines : sequence of str, default=None
        Which of the baselines in Notes take part. If None, all of them.
    level : float, default=0.95
        Coverage of each interval. No correction is made for their number.
    seed : int, default=0
        The one seed of all chance.
    backend : {'loky', 'threading', 'sequential', 'dask'}, default='loky'
        Where the cells run, as for :func:`run_study`.
    n_jobs : int, default=-1
        Number of workers; -1 means all cores.
    store : str or path, default=None
        Directory in which finished cells are kept. It notices other data, methods, grids or
        rules, and not another body of a function or class.
    on_damage : {'raise', 'recompute'}, default='raise'
        What becomes of damaged files of the store, as for :func:`run_study`.
    progress : bool, default=True
        Whether to show a progress bar.

    Returns
    -------
    Comparison
        Equal on every backend and in any order.

    Raises
    ------
    ValueError
        For unequal grids, a margin that is missing or not positive, less than ``n_repeats``
        repeats, a single split, splits that chance changes, a detector without ``target``,
        unknown names, a score that is not finite.

    See Also
    --------
    kernelbook.plotting.plot_comparison : Draws the table.

    Notes
    -----
    Baselines, unless a method is the same: one that always gives the same answer, for each class;
    random answers with the frequencies of the classes; :class:`~kernelbook.svm.KernelSVC` with
    balanced class weights, and with its threshold moved by the cut-off rule, or without one to
    the best balanced accuracy; the difference of kernel means; with detectors the Parzen window;
    for regression the mean. They stand behind the preprocessing of the reference (without
    samplers), with its kernel and the shared grids.

    Folds that together test every row once are one repeat, other splits are one each. A ``select``
    that asks for answers while a cut-off moves them fits the inner folds once more a setting.

    References
    ----------
    [Nadeau2003]_

    Examples
    --------
    Twenty data sets with one test point in four of class 1, and the two constant answers:

    >>> from sklearn.dummy import DummyClassifier
    >>> data = [([[0], [1]], [0, 1], [[0], [0], [0], [1]], [0, 0, 0, 1])] * 20
    >>> guess = lambda k: DummyClassifier(strategy="constant", constant=k)
    >>> guesses = {"always 0": (guess(0), {}), "always 1": (guess(1), {})}
    >>> found = compare(
    ...     guesses, splits=data, select="accuracy", measures={"accuracy": "accuracy"},
    ...     margin={"accuracy": 0.1}, reference="always 0", baselines=["random"],
    ...     backend="sequential", progress=False,
    ... )
    >>> found.table.set_index("method").loc["always 1", ["mean", "difference", "verdict"]].to_dict()
    {'mean': 0.25, 'difference': -0.5, 'verdict': 'worse'}
    """
    pandas = import_optional("pandas", extra="study", purpose="A comparison")
    fixed, saturated = dict(fixed or {}), dict(saturated or {})
    entries = {
        name: Method(
            estimator,
            {parameter: list(values) for parameter, values in grid.items()},
            cutoff,
            name in with_outliers or get_tags(estimator).target_tags.required,
        )
        for name, (estimator, grid) in methods.items()
    }
    _check_names(entries, reference, measures, margin, with_outliers, fixed)
    _check_grids(entries, fixed, saturated)
    regression = is_regressor(entries[reference].estimator)
    data, n, test_to_train = _data(X, y, groups, splits, n_repeats, regression, seed)
    _, y_train, _, y_test, _ = data(0)
    classes = None if regression else np.unique(np.concatenate([y_train, y_test]))
    _check_classes(entries, classes, target, cutoff)
    labels = None if regression else np.unique(y_train)
    rivals = _without_twins(standard_baselines(entries, reference, labels, cutoff), entries)
    if baselines is not None:
        _check_known("baselines", baselines, rivals)
        rivals = {name: rivals[name] for name in baselines}
    trial = Trial(entries | rivals, data, select, measures, inner, classes, target, seed)
    if not isinstance(inner, Integral):
        X_train, _, _, _, train_groups = data(0)
        _same_twice(inner, X_train, y_train, train_groups, "inner")
    raw = run_study(
        trial.run,
        _cells(trial, n, hashed=store is not None),
        backend=backend,
        store=store,
        on_damage=on_damage,
        progress=progress,
        seed=seed,
        n_jobs=n_jobs,
    )
    scores = tabulate_scores(raw, measures)
    choices = tabulate_choices(pandas, raw, trial.methods, saturated)
    per_method = tabulate_methods(pandas, raw, trial.methods, reference, choices, fixed)
    rows = differences(scores, list(trial.methods), reference, margin, test_to_train, level)
    table = pandas.DataFrame(list(rows)).merge(per_method, on="method", how="left")
    return Comparison(table, scores, choices)


def _check_known(name: str, given: Iterable[str], known: Iterable[str]) -> None:
    if unknown := set(given) - set(known):
        raise ValueError(f"{name} names {sorted(unknown)}, but there are only {list(known)}.")


def _check_names(
    methods: Mapping[str, Method],
    reference: str,
    measures: Mapping[str, Any],
    margin: Mapping[str, float],
    with_outliers: Sequence[str],
    fixed: Mapping[str, Sequence[str]],
) -> None:
    _check_known("reference", [reference], methods)
    _check_known("with_outliers", with_outliers, methods)
    _check_known("fixed", fixed, methods)
    _check_known("margin", margin, measures)
    for measure in measures:
        if not margin.get(measure, 0) > 0:
            raise ValueError(
                f"margin of {measure!r} must be positive, got {margin.get(measure)!r}: it is the "
                "smallest difference that would matter, named before looking."
            )


def _check_grids(
    methods: Mapping[str, Method],
    fixed: Mapping[str, Sequence[str]],
    saturated: Mapping[str, Sequence[str]],
) -> None:
    seen: dict[str, tuple[str, Sequence[Any]]] = {}
    for name, method in methods.items():
        for parameter, values in method.grid.items():
            first, other = seen.setdefault(base_name(parameter), (name, values))
            if values != other:
                raise ValueError(
                    f"{base_name(parameter)} has the grid {other} in {first!r} and {values} in "
                    f"{name!r}: a shared parameter takes the same grid in all methods."
                )
    for name, method in methods.items():
        own = {base_name(parameter) for parameter in method.estimator.get_params()}
        searched = {base_name(parameter) for parameter in method.grid}
        for parameter in sorted((own & set(seen)) - searched - set(fixed.get(name, ()))):
            raise ValueError(
                f"{parameter} is searched in {seen[parameter][0]!r} and not in {name!r}, which has "
                f"it too: give it the grid, or say fixed={{{name!r}: [{parameter!r}]}}."
            )
    _check_known("saturated", saturated, seen)
    for ends in saturated.values():
        _check_known("saturated", ends, ["low", "high"])


def _check_classes(
    methods: Mapping[str, Method], classes: NDArray[Any] | None, target: Any, cutoff: Any
) -> None:
    detectors = any(is_outlier_detector(method.estimator) for method in methods.values())
    fraction = isinstance(cutoff, Real)
    if (detectors or cutoff is not None) and (classes is None or len(classes) != 2):
        raise ValueError("novelty detectors and a cutoff need labels y of two classes.")
    if (detectors or fraction) and (classes is None or target not in classes.tolist()):
        raise ValueError(
            "target= has to name the class that detectors describe, and of which cutoff= leaves a "
            f"fraction outside: one of {None if classes is None else classes.tolist()}."
        )
    if fraction and not 0 < cutoff < 1:
        raise ValueError(f"cutoff must be a fraction between 0 and 1, got {cutoff!r}.")


def _same_twice(cv: Any, X: Any, y: Any, groups: Any, name: str) -> list[Any]:
    """The parts of a splitter, which must not depend on when it is asked."""
    parts, again = (list(cv.split(X, y, groups)) for _ in range(2))
    if not all(np.array_equal(a[1], b[1]) for a, b in zip(parts, again, strict=True)):
        raise ValueError(f"{name} gives other parts each time: set its random_state to an int.")
    return parts


def _data(
    X: Any, y: Any, groups: Any, splits: Any, n_repeats: int, regression: bool, seed: int
) -> tuple[Resampled | Fresh, int, float]:
    """The data of each repeat, their number, and the ratio of test and training size."""
    source: Resampled | Fresh
    if (X is None) != (y is None):
        raise ValueError("give both X and y, or neither if splits are whole data sets.")
    if X is None:
        sets = splits if callable(splits) else list(splits)
        n = repeats = n_repeats if callable(sets) else len(sets)
        source, test_to_train = Fresh(sets, seed), 0.0
    else:
        y, groups = np.asarray(y), None if groups is None else np.asarray(groups)
        cv = check_cv(splits, y, classifier=not regression)
        parts = _same_twice(cv, X, y, groups, "splits")
        n, repeats = len(parts), _count_repeats(parts, len(y))
        source = Resampled(X, y, groups, parts)
        test_to_train = float(np.mean([len(test) / len(train) for train, test in parts]))
    if repeats < n_repeats:
        raise ValueError(f"splits are {repeats} repeats: give n_repeats={n_repeats}, or name less.")
    if n < 2:
        raise ValueError(
            f"an interval needs at least two splits, got {n}: give more, or n_repeats=2."
        )
    return source, n, test_to_train


def _count_repeats(parts: Sequence[Any], n_samples: int) -> int:
    """Folds that together test every row once are one repeat; other splits are one each."""
    repeats, folds, tested = 0, 0, np.zeros(n_samples, dtype=bool)
    for _, test in parts:
        if tested[test].any():
            repeats, folds, tested = repeats + folds, 0, np.zeros(n_samples, dtype=bool)
        folds, tested[test] = folds + 1, True
        if tested.all():
            repeats, folds, tested = repeats + 1, 0, np.zeros(n_samples, dtype=bool)
    return repeats + folds


def _without_twins(rivals: dict[str, Method], methods: dict[str, Method]) -> dict[str, Method]:
    """The baselines that are not among the methods already."""

    def description(method: Method) -> tuple[str, list[Any]]:
        text = repr((method.estimator, sorted(method.grid.items()), method.cutoff))
        functions = [value for value in method.estimator.get_params().values() if callable(value)]
        return text, functions  # which may differ where their names do not

    known = [description(method) for method in methods.values()]
    return {
        name: rival
        for name, rival in rivals.items()
        if name not in methods and description(rival) not in known
    }


def _cells(trial: Trial, n: int, *, hashed: bool) -> Iterator[dict[str, Any]]:
    """All cells; for a store each with a hash of all that its result depends on."""
    rules = (trial.select, dict(trial.measures), trial.inner, trial.classes, trial.target)
    for repeat in range(n):
        data = joblib.hash(trial.data(repeat)) if hashed else None
        for name, method in trial.methods.items():
            digest = joblib.hash((data, method, rules)) if hashed else ""
            yield {"method": name, "repeat": repeat, "digest": digest}
