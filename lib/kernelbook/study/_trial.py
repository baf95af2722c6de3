"""One method on one repeat: search on the training part, measures on the test part."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.metrics import get_scorer
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    KFold,
    ParameterGrid,
    StratifiedGroupKFold,
    StratifiedKFold,
)
from sklearn.utils import _safe_indexing

from kernelbook.study._decision import Decision
from kernelbook.study.run import cell_seed

__all__ = ["Fresh", "Method", "Resampled", "Trial"]

Part = tuple[Any, NDArray[Any], Any, NDArray[Any], NDArray[Any] | None]


@dataclass(frozen=True)
class Method:
    """An estimator, the grid of its search, and how it is treated."""

    estimator: BaseEstimator
    grid: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    cutoff: Any = None
    with_outliers: bool = False


@dataclass(frozen=True)
class Resampled:
    """Training and test parts of one data set, with the groups of the training rows."""

    X: Any
    y: NDArray[Any]
    groups: NDArray[Any] | None
    parts: Sequence[tuple[NDArray[np.intp], NDArray[np.intp]]]

    def __call__(self, repeat: int) -> Part:
        train, test = self.parts[repeat]
        X_train, X_test = (_safe_indexing(self.X, rows) for rows in (train, test))
        groups = None if self.groups is None else self.groups[train]
        return X_train, self.y[train], X_test, self.y[test], groups


@dataclass(frozen=True)
class Fresh:
    """Independent data sets: given ones, or made from a seed."""

    data: Callable[[int], tuple[Any, ...]] | Sequence[tuple[Any, ...]]
    seed: int

    def __call__(self, repeat: int) -> Part:
        if callable(self.data):
            part = self.data(cell_seed({"repeat": repeat, "for": "data"}, self.seed))
        else:
            part = self.data[repeat]
        X_train, y_train, X_test, y_test = part
        return X_train, np.asarray(y_train), X_test, np.asarray(y_test), None


@dataclass(frozen=True)
class Trial:
    """All that the cells of a comparison share."""

    methods: Mapping[str, Method]
    data: Resampled | Fresh
    select: Any
    measures: Mapping[str, Any]
    inner: Any
    classes: NDArray[Any] | None
    target: Any
    seed: int

    def run(self, method: str, repeat: int, digest: str, random_state: int) -> dict[str, Any]:
        """Scores on the test part, answers as text, and the number of the chosen setting.

        ``digest`` tells the cells of different comparisons apart. The seeds are those of the
        repeat, equal for all methods, and not ``random_state``.
        """
        X, y, X_test, y_test, groups = self.data(repeat)
        if self.classes is not None and not np.isin(np.union1d(y, y_test), self.classes).all():
            raise ValueError(f"repeat {repeat} has labels that repeat 0 lacks.")
        model, setting = self._fit(self.methods[method], repeat, X, y, groups)
        result: dict[str, Any] = {"setting": setting, "answers": ""}
        for name, scorer in self.measures.items():
            score = float(get_scorer(scorer)(model, X_test, y_test))
            if not np.isfinite(score):
                raise ValueError(f"{name} of {method!r} is {score} in repeat {repeat}.")
            result[f"score {name}"] = score
        if self.classes is not None:
            codes = np.searchsorted(self.classes, model.predict(X_test))
            result["answers"] = "".join(chr(ord("0") + code) for code in codes)
        return result

    def _fit(
        self, method: Method, repeat: int, X: Any, y: NDArray[Any], groups: NDArray[Any] | None
    ) -> tuple[Any, int]:
        """The method with its chosen setting, and the place of that in its ``ParameterGrid``."""
        cv = self.inner_splitter(repeat, groups)
        model = clone(method.estimator)
        seed = cell_seed({"repeat": repeat, "for": "method"}, self.seed)
        names = [name for name in model.get_params() if name.rpartition("__")[2] == "random_state"]
        model.set_params(**dict.fromkeys(names, seed))
        grid, options = method.grid, {}
        if self.classes is not None:
            model = Decision(
                model,
                self.classes,
                target=self.target,
                with_outliers=method.with_outliers,
                cutoff=method.cutoff,
                cv=cv,
            )
            grid = {f"estimator__{name}": values for name, values in grid.items()}
            options = {} if groups is None else {"row_groups": groups}
        if len(settings := ParameterGrid(grid)) == 1:
            return model.set_params(**settings[0]).fit(X, y, **options), 0
        search = GridSearchCV(
            model, grid, scoring=self.select, cv=cv, refit=_middle_of_the_best, error_score="raise"
        )
        search.fit(X, y, groups=groups, **options)
        return search.best_estimator_, int(search.best_index_)

    def inner_splitter(self, repeat: int, groups: NDArray[Any] | None) -> Any:
        """The splitter of the training part, the same for all methods."""
        if not isinstance(self.inner, Integral):
            return self.inner
        by_group, alone = (
            (GroupKFold, KFold) if self.classes is None else (StratifiedGroupKFold, StratifiedKFold)
        )
        seed = cell_seed({"repeat": repeat, "for": "inner"}, self.seed)
        kind = alone if groups is None else by_group
        return kind(self.inner, shuffle=True, random_state=seed)


def _middle_of_the_best(results: Mapping[str, Any]) -> int:
    """Among equally good settings the middle one: the first would lie at an edge of the grid."""
    if not np.isfinite(results["mean_test_score"]).all():
        raise ValueError("select= is not finite in some inner fold: give it larger ones (inner=).")
    best = np.flatnonzero(np.asarray(results["rank_test_score"]) == 1)
    return int(best[(len(best) - 1) // 2])
