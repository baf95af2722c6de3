"""Wu and Chang's adaptive feature-space conformal transformation, as a package has it."""

from __future__ import annotations

from typing import Any

from kernelbook.conformal.classifier import ConformalSVC
from kernelbook.conformal.schemes import Etas
from kernelbook.kernels import KernelLike

__all__ = ["AFSCTSVC"]


class AFSCTSVC(ConformalSVC):
    r"""Wu and Chang's transformation with a Laplacian kernel and balanced costs.

    :class:`ConformalSVC` with ``scheme='wu_chang'``, the Laplacian kernel
    :math:`e^{-\gamma \|x - y\|_1}`, costs inverse to the class sizes, and without support
    vectors that the first machine misclassifies, as a package has it (see Notes):

    .. math:: \tilde K(x, y) = D(x) D(y) K(x, y),\qquad
              D(x) = \sum_k e^{-\|\phi(x) - \phi(x_k)\|^2 / \eta_k \tau_k^2}.

    Parameters
    ----------
    C : float, default=1.0
        Regularization parameter of both machines.
    kernel : str, Kernel or callable, default='laplacian'
        As for :class:`ConformalSVC`.
    degree : int, default=3
        Degree of the polynomial kernel; ignored by the others.
    gamma : {'mean_distance', 'scale', 'auto', 'median'} or float, default='mean_distance'
        Width of the kernel. 'mean_distance', for the Laplacian kernel only, is one over the mean
        city-block distance between two training points (drawn with their weights), so that the
        units of the features do not matter. Ignored by a kernel that has its own parameters.
    coef0 : float, default=0.0
        Independent term of 'poly' and 'sigmoid'.
    class_weight : dict or 'balanced', default='balanced'
        As for :class:`ConformalSVC`.
    metric : {'feature', 'input'}, default=None
        Where distances are measured. If None, in feature space.
    normalize : bool, default=True
        Whether D is scaled as for :class:`ConformalSVC`.
    eta : pair of float or None, default=None
        :math:`\eta_k` of the support vectors of ``classes_[0]`` and ``classes_[1]``; None is the
        number of support vectors of the other class by that of its own.
    drop_misclassified : bool, default=True
        Whether misclassified support vectors are left out of D.
    tol : float, default=1e-9
        As for :class:`ConformalSVC`.
    max_iter : int, default=100
        As for :class:`ConformalSVC`.
    solver : {'auto', 'exact', 'low_rank', 'dense', 'reference'}, default='auto'
        As for :class:`ConformalSVC`.
    cache_size : float, default=200.0
        As for :class:`ConformalSVC`.

    Attributes
    ----------
    alpha_ : ndarray of shape (n,)
        Dual variables of the second machine, without D.
    certificate_ : Certificate
        ``duality_gap`` (relative), ``kkt_violation`` and ``status`` of the second machine.
    classes_ : ndarray of shape (2,)
        The labels; ``classes_[1]`` is the positive class.
    degeneracy_ : str or None
        Why the solution, optimal as it is, tells little about new points; None if it does not.
    dual_coef_ : ndarray of shape (1, n_SV)
        y_i alpha_i of the support vectors of the second machine.
    factor_ : ConformalFactor
        D, callable on points; ``log`` and ``gradient`` are its logarithm and its gradient.
    fallback_ : str or None
        What could not be done as asked, and was done instead; None if nothing.
    feature_names_in_ : ndarray of shape (d,)
        Names of the features, if X has string names.
    gamma_ : float
        The width of K, if it has one.
    intercept_ : ndarray of shape (1,)
        b.
    kernel_ : Conformal
        The transformed kernel; ``kernel_.kernel`` is K.
    machine_ : KernelSVC
        The second machine.
    n_features_in_ : int
        Number of features.
    n_iter_ : int
        Interior-point steps, or working sets, of the second machine.
    n_support_ : ndarray of shape (2,)
        Number of support vectors of each class.
    previous_ : KernelSVC or ConformalSVC
        The machine that D was made from.
    support_ : ndarray of shape (n_SV,)
        Indices of the support vectors of the second machine.
    support_factor_ : ndarray of shape (n_SV,)
        D at the support vectors.
    support_vectors_ : ndarray of shape (n_SV, d)
        The support vectors; empty for a precomputed kernel.

    See Also
    --------
    ConformalSVC : All schemes, with all their parameters.

    Notes
    -----
    For users of the package afc-svm-imbalanced-learning (0.10.0), whose class ``AFSCTSvm`` has
    these arguments:

    ======================== =================================================================
    ``AFSCTSvm``             here
    ======================== =================================================================
    ``C``, ``class_weight``  the same; sample weights multiply class weights, not replace them
    ``kernel=None``          ``gamma=1.0``; the kernel is the default
    ``kernel=function``      the same, called with (X, Y)
    ``neg_eta``, ``pos_eta`` ``eta=(neg_eta, pos_eta)``; None is the ratio above here; there 1 for
                             the class with fewer support vectors
    ``neg_eta='auto'``       None (there ``pos_eta`` times the inverse of the ratio)
    ``ignore_outlier_svs``   ``drop_misclassified``
    ``probability=True``     ``sklearn.calibration.CalibratedClassifierCV(AFSCTSVC())``
    ``random_state``         not needed: nothing is drawn
    ======================== =================================================================

    What differs in the numbers: there D takes the L1 distance between points, not squared, in a
    bump whose width is a squared distance in feature space, so that it depends on the units
    of the features; here both are distances in feature space. Only distances to the opposite
    class set the neighbourhood there, and D is not normalised. Any two labels are accepted here,
    ``fit`` returns the estimator, and prediction needs the support vectors only.

    References
    ----------
    [Wu2003]_

    Examples
    --------
    >>> X = [[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]]
    >>> y = ["usual", "usual", "usual", "usual", "rare", "rare"]
    >>> afsct = AFSCTSVC().fit(X, y)
    >>> afsct.predict([[0.5], [4.5]]).tolist(), afsct.fallback_
    (['usual', 'rare'], None)

    With another kernel, given as a function:

    >>> from sklearn.metrics.pairwise import rbf_kernel
    >>> AFSCTSVC(kernel=rbf_kernel).fit(X, y).predict([[0.5], [4.5]]).tolist()
    ['usual', 'rare']
    """

    def __init__(
        self,
        C: float = 1.0,
        *,
        kernel: KernelLike = "laplacian",
        degree: int = 3,
        gamma: float | str = "mean_distance",
        coef0: float = 0.0,
        class_weight: dict[Any, float] | str | None = "balanced",
        metric: str | None = None,
        normalize: bool = True,
        eta: Etas | None = None,
        drop_misclassified: bool = True,
        tol: float = 1e-9,
        max_iter: int = 100,
        solver: str = "auto",
        cache_size: float = 200.0,
    ) -> None:
        super().__init__(
            "wu_chang",
            C=C,
            kernel=kernel,
            degree=degree,
            gamma=gamma,
            coef0=coef0,
            class_weight=class_weight,
            metric=metric,
            normalize=normalize,
            eta=eta,
            drop_misclassified=drop_misclassified,
            tol=tol,
            max_iter=max_iter,
            solver=solver,
            cache_size=cache_size,
        )
