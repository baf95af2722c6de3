"""The rivals that belong into every comparison, from the classes alone to one closed form."""

from collections.abc import Mapping, Sequence
from typing import Any

from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone, is_classifier, is_outlier_detector
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.pipeline import Pipeline

from kernelbook.mean_difference import MeanDifferenceClassifier, ParzenWindow
from kernelbook.study._trial import Method
from kernelbook.svm import KernelSVC

__all__ = ["standard_baselines"]

COPIED = ("C", "nu", "kernel", "degree", "gamma", "coef0")


def standard_baselines(
    methods: Mapping[str, Method], reference: str, classes: NDArray[Any] | None, cutoff: Any
) -> dict[str, Method]:
    """Baselines by name, with the preprocessing and kernel of the reference and the shared grids.

    A classifier without data ignores the cut-off.
    """
    if classes is None:
        return {"mean": Method(DummyRegressor())}
    found = {
        f"always {label}": Method(DummyClassifier(strategy="constant", constant=label))
        for label in classes.tolist()
    }
    found["random"] = Method(DummyClassifier(strategy="stratified"))
    shared = {
        name.rpartition("__")[2]: values
        for method in methods.values()
        for name, values in method.grid.items()
    }
    kinds = [method.estimator for method in methods.values()]
    machines: dict[str, tuple[BaseEstimator, Any]] = {}
    if len(classes) == 2 and any(is_classifier(kind) for kind in kinds):
        moved = "balanced_accuracy" if cutoff is None else cutoff
        machines["KernelSVC, class weight"] = KernelSVC(class_weight="balanced"), cutoff
        machines["KernelSVC, moved threshold"] = KernelSVC(), moved
        machines["difference of kernel means"] = MeanDifferenceClassifier(), cutoff
    if any(is_outlier_detector(kind) for kind in kinds):
        machines["Parzen window"] = ParzenWindow(), cutoff
    for name, (machine, rule) in machines.items():
        found[name] = _in_place(methods[reference].estimator, machine, shared, rule)
    return found


def _in_place(
    reference: BaseEstimator,
    machine: BaseEstimator,
    shared: Mapping[str, Sequence[Any]],
    cutoff: Any,
) -> Method:
    """The machine behind the preprocessing of the reference, without its samplers."""
    final = reference[-1] if isinstance(reference, Pipeline) else reference
    known, own = final.get_params(deep=False), machine.get_params(deep=False)
    machine.set_params(**{name: known[name] for name in COPIED if name in known and name in own})
    grid = {name: shared[name] for name in COPIED if name in shared and name in own}
    if not isinstance(reference, Pipeline):
        return Method(machine, grid, cutoff)
    *steps, (last, _) = reference.steps
    kept = [(name, clone(step)) for name, step in steps if not hasattr(step, "fit_resample")]
    prefixed = {f"{last}__{name}": values for name, values in grid.items()}
    return Method(Pipeline([*kept, (last, machine)]), prefixed, cutoff)
