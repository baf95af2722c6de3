"""Warnings of the library point at the line of the user, whatever lies between."""

import warnings
from pathlib import Path

import numpy as np
import pytest
from bayesian import BDD, BSVDD, MINORITY, SHORT
from samples import classes, curve, labelled, points
from sklearn.exceptions import ConvergenceWarning
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import kernelbook
from kernelbook.exceptions import CollapseWarning, LabelWarning, warn_user
from kernelbook.kpca import KernelPCA
from kernelbook.oneclass import OneClassSVM, one_class_path
from kernelbook.qp import solve_qp
from kernelbook.svdd import SVDD
from kernelbook.svm import HardMarginSVC, KernelSVC, svc_path
from kernelbook.svr import KernelSVR

PACKAGE = Path(kernelbook.__file__).parent
X, Y = classes(60)
CLUSTER = points(300, d=5, seed=3)


def odd_labels():
    X, y = labelled()
    return X, np.where(y > 0, 2, -1)


def unfinished(estimator, *data):
    return lambda: estimator(max_iter=1, tol=1e-14).fit(*data)


def preimages():
    pca = KernelPCA(3, gamma=0.5, preimage_max_iter=1).fit(X)
    return pca.inverse_transform(pca.transform(X))


CAUSES = {
    "svc": (ConvergenceWarning, unfinished(KernelSVC, X, Y)),
    "svr": (ConvergenceWarning, unfinished(KernelSVR, *curve())),
    "one class": (ConvergenceWarning, unfinished(OneClassSVM, X)),
    "svdd": (ConvergenceWarning, unfinished(SVDD, X)),
    "bdd": (ConvergenceWarning, unfinished(BDD, X)),
    "fit_predict": (ConvergenceWarning, lambda: OneClassSVM(max_iter=1, tol=1e-14).fit_predict(X)),
    "svc path": (ConvergenceWarning, lambda: svc_path(X, Y, [1.0], max_iter=1, tol=1e-14)),
    "one-class path": (ConvergenceWarning, lambda: one_class_path(X, [0.3], max_iter=1, tol=1e-14)),
    "hard margin": (
        ConvergenceWarning,
        lambda: HardMarginSVC(kernel="linear", max_iter=1).fit(X + Y[:, None] * 5.0, Y),
    ),
    "program": (
        ConvergenceWarning,
        lambda: solve_qp(np.zeros((2, 2)), [-1, -1], [1, -1], 0, -np.inf, np.inf),
    ),
    "pre-image": (ConvergenceWarning, preimages),
    "chains": (
        ConvergenceWarning,
        lambda: BSVDD(n_samples=20, n_burn_in=0, n_chains=4, random_state=0).fit(X),
    ),
    "collapse": (CollapseWarning, lambda: BSVDD("row_sum", **SHORT, gamma="median").fit(CLUSTER)),
    "svdd labels": (LabelWarning, lambda: SVDD().fit(*odd_labels())),
    "bdd labels": (LabelWarning, lambda: BDD().fit(*odd_labels())),
    "minority labels": (LabelWarning, lambda: MINORITY(**SHORT).fit(*odd_labels())),
    "labels by fit_predict": (LabelWarning, lambda: SVDD().fit_predict(*odd_labels())),
    "labels in a pipeline": (
        LabelWarning,
        lambda: make_pipeline(StandardScaler(), SVDD()).fit(*odd_labels()),
    ),
}


@pytest.mark.parametrize("cause", CAUSES)
def test_a_warning_points_at_the_line_that_led_to_it(cause):
    category, call = CAUSES[cause]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call()
    told = [warning for warning in caught if warning.category is category]
    assert told
    for warning in told:
        assert warning.filename == __file__
        line = Path(__file__).read_text(encoding="utf-8").splitlines()[warning.lineno - 1]
        assert ".fit" in line or "solve_qp(" in line or "_path(" in line or "transform(" in line


@pytest.mark.parametrize("category", [LabelWarning, CollapseWarning])
def test_own_warnings_can_be_silenced_by_their_class(category):
    assert issubclass(category, UserWarning)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warnings.simplefilter("ignore", category)
        warn_user("nothing", category)
    assert caught == []


@pytest.mark.parametrize(
    ("file", "is_ours"),
    [(PACKAGE / "qp" / "some.py", True), (f"{PACKAGE}_of_another.py", False), ("<cell>", False)],
)
def test_the_frames_of_the_package_alone_are_passed_over(file, is_ours):
    scope = {"warn_user": warn_user, "LabelWarning": LabelWarning}
    code = compile("def call():\n    warn_user('look', LabelWarning)", str(file), "exec")
    exec(code, scope)
    with pytest.warns(LabelWarning, match="look") as seen:
        scope["call"]()
    assert seen[0].filename == (__file__ if is_ours else str(file))
