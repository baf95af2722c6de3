"""What is printed is equal in every run: no address in a repr; and many threads may predict."""

import copy
import functools
import re
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from gaussian_models import disagreement_allowed
from rivals import by_method, noisy_data, run
from sklearn.pipeline import make_pipeline
from test_estimator_checks import public_estimators

from kernelbook.conformal import Conformal
from kernelbook.conformal.factors import FunctionFactor
from kernelbook.explain import PolynomialExplainer
from kernelbook.kernels import RBF, FromCallable, resolve_kernel
from kernelbook.svm import KernelSVC

ADDRESS = re.compile(r"0x[0-9A-Fa-f]{6,}")
ESTIMATORS = sorted(public_estimators(), key=lambda kind: kind.__name__)
ANSWERS = ("decision_function", "predict", "transform", "score_samples")


def product(X, Y):
    return X @ Y.T


def scaled(X, Y, scale=1.0):
    return scale * (X @ Y.T)


class Product:
    def __call__(self, X, Y):
        return X @ Y.T

    def method(self, X, Y):
        return X @ Y.T


FUNCTIONS = {
    "function": product,
    "lambda": lambda X, Y: X @ Y.T,
    "partial": functools.partial(scaled, scale=2.0),
    "method": Product().method,
    "object": Product(),
}


def two_classes(n=30):
    rng = np.random.default_rng(0)
    y = np.repeat([-1, 1], n // 2)
    return rng.normal(size=(n, 2)) + y[:, None], y


def with_address(thing, path="", seen=None):
    """Where, in an object and in what it holds of this library, a repr has an address."""
    seen = set() if seen is None else seen
    if id(thing) in seen:
        return
    seen.add(id(thing))
    if ADDRESS.search(repr(thing)):
        yield f"{path}: {thing!r}"
    for name, value in getattr(thing, "__dict__", {}).items():
        public = not name.startswith("_")
        if public and (type(value).__module__.startswith("kernelbook") or name.endswith("_")):
            yield from with_address(value, f"{path}.{name}", seen)


@disagreement_allowed
@pytest.mark.filterwarnings("ignore::kernelbook.exceptions.CollapseWarning")
@pytest.mark.parametrize("kind", ESTIMATORS)
def test_estimators_print_no_address(kind):
    X, y = two_classes()
    assert list(with_address(kind())) == []
    assert list(with_address(kind().fit(X, y))) == []


@pytest.mark.parametrize("function", FUNCTIONS.values(), ids=FUNCTIONS)
def test_kernels_and_factors_of_functions_print_no_address(function):
    X, y = two_classes()
    kernel = FromCallable(function)
    assert re.fullmatch(r"FromCallable\(.*\)", repr(kernel))
    given = resolve_kernel(function, X)
    things = [kernel, kernel + RBF(0.5), 2.0 * kernel * RBF(0.5), given, FunctionFactor(function)]
    machine = KernelSVC(kernel=kernel).fit(X, y)
    for thing in (*things, machine, machine.kernel_, make_pipeline(machine)):
        assert list(with_address(thing)) == []


def test_machines_with_a_function_as_factor_print_no_address():
    X, y = two_classes()
    kernel = Conformal(RBF(0.5), lambda X: 1 + X[:, 0] ** 2)
    fitted = KernelSVC(kernel=kernel).fit(X, y)
    assert list(with_address(fitted)) == [] and "factor=<function" in repr(fitted)


def test_an_explanation_prints_no_address():
    X, y = two_classes()
    machine = KernelSVC(kernel="poly", degree=2, gamma=1.0, coef0=1.0).fit(X, y)
    assert list(with_address(PolynomialExplainer().fit(machine))) == []


def test_functions_of_one_name_are_different_rivals():
    def machine(width, **options):
        return KernelSVC(kernel=FromCallable(lambda X, Y: RBF(width)(X, Y)), **options)

    other = {"plain": (machine(0.5), {}), "mine": (machine(5.0, class_weight="balanced"), {})}
    rules = {"select": "accuracy", "measures": {"accuracy": "accuracy"}, "n_repeats": 2}
    found = run(other, splits=noisy_data, baselines=None, **rules)
    assert ADDRESS.search(repr(found)) is None
    assert "KernelSVC, class weight" in by_method(found).index  # with the kernel of "plain"
    kernel = machine(0.5).kernel
    same = {
        "plain": (KernelSVC(kernel=kernel), {}),
        "mine": (KernelSVC(kernel=kernel, class_weight="balanced"), {}),
    }
    found = run(same, splits=noisy_data, baselines=None, **rules)
    assert "KernelSVC, class weight" not in by_method(found).index


@disagreement_allowed
@pytest.mark.filterwarnings("ignore::kernelbook.exceptions.CollapseWarning")
@pytest.mark.parametrize("kind", ESTIMATORS)
def test_eight_threads_predict_the_same_bits(kind):
    X, y = two_classes()
    fitted = kind().fit(X, y)
    for name in filter(functools.partial(hasattr, fitted), ANSWERS):
        fresh = copy.deepcopy(fitted)  # nothing computed on demand yet
        expected = getattr(copy.deepcopy(fitted), name)(X)
        with ThreadPoolExecutor(8) as pool:
            for values in pool.map(getattr(fresh, name), [X] * 16):
                assert np.array_equal(values, expected)
