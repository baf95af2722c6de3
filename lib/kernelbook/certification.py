"""Certificates for machines that scikit-learn has fitted, and the exact machines beside them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import issparse
from sklearn.svm import SVC, SVR, NuSVC
from sklearn.svm import OneClassSVM as LibsvmOneClassSVM
from sklearn.utils.validation import check_is_fitted, column_or_1d

from kernelbook.estimator import check_weights
from kernelbook.kernels import Array, Kernel, resolve_kernel
from kernelbook.oneclass import OneClassSVM
from kernelbook.qp import Certificate, certify_residual
from kernelbook.svm import KernelSVC, encode_labels
from kernelbook.svr import KernelSVR
from kernelbook.validation import check_number

__all__ = ["MachineCertificate", "certify"]


# Alphas come from sums of steps: nearer to a bound than this fraction of the box is at it.
AT_BOUND = 1e-12
# Farther beyond a bound than this fraction of it is no rounding.
OUTSIDE = 1e-6


@dataclass(frozen=True)
class MachineCertificate(Certificate):
    """How far a fitted machine is from the optimum of its own problem.

    Attributes
    ----------
    duality_gap : float
        The difference ``(primal - dual) / max(|primal|, |dual|)`` for the machine as it is, its
        own intercept included.
    kkt_violation : float
        Largest violation of the optimality conditions, relative to the gradient.
    status : {'optimal', 'not optimal to tol'}
        ``'optimal'`` if the violation is within ``tol``, and the gap within 1e-6 or ``tol``.
    misplaced : float
        Fraction of the training points whose place (alpha at 0, between the bounds, at the upper
        bound) differs from that at the optimum.
    exact : KernelSVC, KernelSVR or OneClassSVM
        The machine of this package with the same parameters, fitted to the optimum.

    See Also
    --------
    certify : Makes the certificate of a machine of scikit-learn.
    """

    misplaced: float
    exact: Any


def certify(
    machine: Any,
    X: ArrayLike,
    y: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    *,
    tol: float = 1e-9,
) -> MachineCertificate:
    r"""Certify a support vector machine of scikit-learn on its training data.

    Parameters
    ----------
    machine : sklearn.svm.SVC, NuSVC, SVR or OneClassSVM, fitted
        Binary classifiers only.
    X : array-like of shape (n, d) or (n, n)
        The training points, or the Gram matrix for a precomputed kernel.
    y : array-like of shape (n,), default=None
        The training labels or targets. Ignored for the one-class machine.
    sample_weight : array-like of shape (n,), default=None
        The sample weights of the fit. If None, ones.
    tol : float, default=1e-9
        Largest violation with which the machine counts as optimal, and with which the exact
        one is fitted.

    Returns
    -------
    MachineCertificate
        Gap and violation of the machine, and the exact machine beside it.

    Raises
    ------
    TypeError
        If it is any other machine, or one fitted to a sparse matrix.
    ValueError
        If there are more than two classes, if C is infinite, if the kernel is not positive
        semi-definite, or if the machine cannot have been fitted to the data: another number of
        points, other labels or labels that contradict the signs of its alphas, weights whose
        bounds they exceed. Points that were moved cannot be told from points that were badly
        fitted.

    See Also
    --------
    kernelbook.svm.KernelSVC : The exact machine beside SVC and NuSVC.
    kernelbook.svr.KernelSVR : The exact machine beside SVR.
    kernelbook.oneclass.OneClassSVM : The exact machine beside the one-class machine.

    Notes
    -----
    With f the machine's own decision function the residuals of the optimality conditions are
    :math:`r_i = f(x_i) - y_i` for the signed variables :math:`y_i\alpha_i` of a classifier, and
    :math:`\varepsilon \pm (f(x_i) - y_i)` for those of a regression; the gap is
    :math:`\sum_i \max(r_i, 0)(x_i - \ell_i) + \max(-r_i, 0)(u_i - x_i)`. A machine with nu is one
    with :math:`C = \sum_i \alpha_i / (\nu n)`, n the sum of the weights. The alphas of
    scikit-learn's one-class machine add up to :math:`\nu n`, not to 1 as here.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from sklearn.svm import SVC
    >>> X, y = make_moons(200, noise=0.3, random_state=0)
    >>> loose = certify(SVC(C=10, tol=0.1).fit(X, y), X, y)
    >>> loose.status, loose.kkt_violation > 1e-3, loose.exact.certificate_.status
    ('not optimal to tol', True, 'optimal')
    """
    check_number(tol, "tol", low=0, inclusive="neither")
    kinds = {SVC: _classifier, NuSVC: _classifier, SVR: _regression, LibsvmOneClassSVM: _one_class}
    describe = next((way for kind, way in kinds.items() if isinstance(machine, kind)), None)
    if describe is None:
        raise TypeError(
            "certify takes a fitted SVC, NuSVC, SVR or OneClassSVM of sklearn.svm, got "
            f"{type(machine).__name__}."
        )
    check_is_fitted(machine)
    if issparse(X) or issparse(machine.support_vectors_):
        raise TypeError(
            "certify takes dense data, no sparse matrix: fit the machine to X.toarray(), and "
            "pass that."
        )
    if getattr(machine, "C", 1.0) == np.inf:
        raise ValueError(
            "the machine has C=inf, the hard margin, of which no finite gap can be told: compare "
            "it with kernelbook.svm.HardMarginSVC, which proves its optimum."
        )
    given = np.asarray(
        machine.predict(X) if isinstance(machine, SVR) else machine.decision_function(X)
    )
    if given.ndim != 1 or len(machine.dual_coef_) != 1:
        raise ValueError(
            "certify takes binary classifiers: wrap the machine in OneVsOneClassifier and certify "
            "each of its estimators."
        )
    if machine.shape_fit_[0] != len(given):
        raise ValueError(
            f"X has {len(given)} points, but the machine was fitted to {machine.shape_fit_[0]}: "
            "certify on the training data."
        )
    weights = check_weights(sample_weight, np.asarray(X))
    return describe(machine, X, y, weights, given, tol)


def _coefficients(machine: Any, weights: Array) -> Array:
    """Signed dual variables of all points, shape (n,)."""
    coefficients = np.zeros(len(weights))
    dual = machine.dual_coef_
    # scikit-learn counts support_ among the points with a positive weight.
    support = np.flatnonzero(weights)[machine.support_]
    coefficients[support] = (dual.toarray() if hasattr(dual, "toarray") else dual)[0]
    return coefficients


def _at_bounds(alpha: Array, box: Array) -> Array:
    """Sizes of the coefficients, exactly at the box where only rounding keeps them from it."""
    if (alpha > (1.0 + OUTSIDE) * box).any():
        raise ValueError(
            "an alpha of the machine lies beyond the bound that its C and sample_weight set: give "
            "the y and the sample_weight that it was fitted to."
        )
    return np.where(alpha >= (1.0 - AT_BOUND) * box, box, alpha)


def _kernel(machine: Any, X: ArrayLike) -> Kernel:
    """The kernel that the machine used."""
    # Without the weights, which scikit-learn's rule for the width ignores.
    return resolve_kernel(
        machine.kernel,
        np.asarray(X, dtype=np.float64),
        gamma=machine.gamma,
        degree=machine.degree,
        coef0=machine.coef0,
    )


def _classifier(
    machine: Any, X: ArrayLike, y: Any, weights: Array, given: Array, tol: float
) -> MachineCertificate:
    classes, signs = encode_labels(y)
    if not np.array_equal(classes, machine.classes_):
        raise ValueError(
            f"y holds the labels {classes.tolist()}, but the machine was fitted to "
            f"{machine.classes_.tolist()}: give the y of its fit."
        )
    x = _coefficients(machine, weights)
    if (signs * x < 0).any():
        raise ValueError("y is not what the machine was fitted to: an alpha has the wrong sign.")
    if isinstance(machine, NuSVC):
        C = float(np.abs(x).sum()) / (machine.nu * float(weights.sum()))
    else:
        C = machine.C
    # NuSVC does not look at its class weights.
    prices = np.ones(2) if isinstance(machine, NuSVC) else machine.class_weight_
    by_class = dict(zip(machine.classes_.tolist(), prices.tolist(), strict=True))
    exact = KernelSVC(C, class_weight=by_class, tol=tol, kernel=_kernel(machine, X))
    exact.fit(X, y, weights)
    box = C * weights * np.where(signs > 0, prices[1], prices[0])
    x = np.sign(x) * _at_bounds(np.abs(x), box)
    bias = float(machine.intercept_[0])
    objective = 0.5 * float(x @ (given - bias)) - float(signs @ x)
    certificate = certify_residual(
        given - signs,
        x,
        np.minimum(0.0, signs * box),
        np.maximum(0.0, signs * box),
        objective=objective,
        scale=max(1.0, float(np.abs(given - bias).max())),
        tol=tol,
    )
    return _with_exact(certificate, np.abs(x), exact, box)


def _regression(
    machine: Any, X: ArrayLike, y: Any, weights: Array, given: Array, tol: float
) -> MachineCertificate:
    target = column_or_1d(y, dtype=np.float64)
    beta, box, epsilon = _coefficients(machine, weights), machine.C * weights, machine.epsilon
    beta = np.sign(beta) * _at_bounds(np.abs(beta), box)
    exact = KernelSVR(machine.C, epsilon=epsilon, tol=tol, kernel=_kernel(machine, X))
    exact.fit(X, target, weights)
    bias, error = float(machine.intercept_[0]), given - target
    objective = 0.5 * float(beta @ (given - bias)) - float(target @ beta)
    objective += epsilon * float(np.abs(beta).sum())
    certificate = certify_residual(
        np.concatenate([epsilon + error, epsilon - error]),
        np.concatenate([np.maximum(beta, 0.0), np.maximum(-beta, 0.0)]),
        np.zeros(2 * len(beta)),
        np.tile(box, 2),
        objective=objective,
        scale=max(float(np.abs(target - target.mean()).max()), float(np.abs(given - bias).max()))
        or 1.0,
        tol=tol,
    )
    return _with_exact(certificate, np.abs(beta), exact, box)


def _one_class(
    machine: Any, X: ArrayLike, y: Any, weights: Array, given: Array, tol: float
) -> MachineCertificate:
    total = machine.nu * float(weights.sum())
    box = weights / total
    x = _at_bounds(_coefficients(machine, weights) / total, box)
    exact = OneClassSVM(machine.nu, tol=tol, kernel=_kernel(machine, X)).fit(X, None, weights)
    product = (given + float(machine.offset_[0])) / total
    certificate = certify_residual(
        given / total,
        x,
        np.zeros(len(x)),
        box,
        objective=0.5 * float(x @ product),
        scale=float(np.abs(product).max()) or 1.0,
        tol=tol,
    )
    return _with_exact(certificate, x, exact, box)


def _with_exact(
    certificate: Certificate, alpha: Array, exact: Any, box: Array
) -> MachineCertificate:
    places = [np.sign(a) + (a >= box) for a in (alpha, _at_bounds(exact.alpha_, box))]
    misplaced = float((places[0] != places[1]).mean())
    # Where LIBSVM leaves a gap it is not rounding that forbids a smaller one.
    status = "optimal" if certificate.status == "optimal" else "not optimal to tol"
    return MachineCertificate(
        certificate.duality_gap, certificate.kkt_violation, status, misplaced, exact
    )
