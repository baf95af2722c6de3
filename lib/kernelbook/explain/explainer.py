"""Exact global and local explanations of SVMs with a polynomial kernel."""

from kernelbook.explain import plots
from kernelbook.explain.local import LocalExplanations
from kernelbook.explain.selection import Selection

__all__ = ["PolynomialExplainer"]


class PolynomialExplainer(Selection, LocalExplanations):
    r"""A fitted polynomial-kernel SVM written out as a linear model of feature interactions.

    With signed dual coefficients :math:`a_i` (alpha times y), kernel
    :math:`(\gamma\, x_i^\top x + r)^D` and intercept :math:`b_0`,

    .. math::

        f(x) = b_0 + \sum_{d=0}^{D} \binom{D}{d} r^{D-d} \gamma^d
               \sum_{i} a_i (x_i^\top x)^d
             = c + \sum_{1 \le |t| \le D} w_t \prod_{j \in t} x_j ,

    where t runs over the interactions, the sorted tuples of feature indices, and

    .. math::

        w_t = \binom{D}{d} r^{D-d} \gamma^d\, \frac{d!}{\prod_j n_j!}
              \sum_i a_i \prod_{j \in t} x_{ij}, \qquad
        c = b_0 + r^D \sum_i a_i ,

    with d the length of t and :math:`n_j` the number of times that j occurs in it. The equation
    is an identity: the explanation is the model. (A theory page of the ExplainPolySVM package
    prints the formula without :math:`\gamma^d` and :math:`b_0`; its code has both.)

    Parameters
    ----------
    model : estimator
        A fitted SVC, NuSVC, SVR, NuSVR or OneClassSVM of scikit-learn, or an estimator of this
        package with the same attributes, with ``kernel='poly'``. It is read once and neither
        kept nor changed. For raw arrays see :meth:`from_support_vectors`.
    feature_names : sequence of str, optional
        By default the column names of the DataFrame that the model was fitted on, else
        ``x0, x1, ...``.

    Attributes
    ----------
    coef_ : ndarray, shape (n_functions, n_interactions)
        The weights :math:`w_t`; computed when first asked for. Zero for dropped interactions.
    constant_ : ndarray, shape (n_functions,)
        The constant c.
    intercept_ : ndarray, shape (n_functions,)
        :math:`b_0`, the intercept of the model. It differs from ``constant_`` where the dual
        coefficients do not sum to 0, as in one-class machines, and :math:`r \ne 0`.
    n_interactions : int
        :math:`\binom{p+D}{D} - 1`, those with weight zero included (all below degree D if
        ``coef0=0``).
    pairs_ : list of tuple, or None
        For classifiers, the label that a positive value of each function votes for and the label
        that a negative value votes for: one pair for two classes, all pairs (one-vs-one) for
        more. None for regression and novelty detection, which have one function.
    classes_ : ndarray, or None
    mask_ : ndarray of bool, shape (n_interactions,)
        The interactions that this explainer keeps; see :meth:`keep`.
    feature_names : tuple of str
    n_features_in_ : int
    degree, gamma, coef0 : int, float, float
        D, :math:`\gamma` (the resolved number) and r.

    Raises
    ------
    TypeError, ValueError
        For a model that is no SVM with ``kernel='poly'``, is not fitted, or whose decision
        values are not its dual coefficients times the kernel plus its intercept (they are
        compared at some support vectors); for a degree that is no whole number of at least 1.

    Notes
    -----
    An interaction is named by the tuple of its feature indices or feature names, in any order, a
    power by repetition: ``(0, 2, 2)`` or ``("age", "dose", "dose")`` is
    :math:`x_0 x_2^2`; a single feature may stand without a tuple. Tables and :meth:`weights`
    give the sorted indices.

    Weights depend on the units of the features, so standardise before the fit or rank by the
    spread of the contributions on given data (``data=`` of several methods).

    A model with p features and n support vectors is expanded in
    :math:`O(n \binom{p+D}{D})` operations and :math:`O(n p^{\lceil D/2 \rceil})` memory.

    This is no scikit-learn estimator: it has nothing to fit, takes a model that is fitted
    already, and is not meant to be cloned. The checks of estimators that concern prediction (wrong
    number or names of columns, NaN, one-dimensional input, pickling, shapes and labels equal to
    the model's own) hold.

    References
    ----------
    [Vinge2025]_

    Examples
    --------
    One support vector (1, 2) of weight 1 and the kernel :math:`(x^\top z + 1)^2`: expanding
    :math:`(x_0 + 2 x_1 + 1)^2` by hand gives the weights 2, 4, 1, 4, 4 and the constant 1.

    >>> explainer = PolynomialExplainer.from_support_vectors(
    ...     [[1.0, 2.0]], [1.0], degree=2, gamma=1.0, coef0=1.0
    ... )
    >>> explainer.weights()
    {(0,): 2.0, (1,): 4.0, (0, 0): 1.0, (0, 1): 4.0, (1, 1): 4.0}
    >>> explainer.constant_.tolist(), explainer.decision_function([[1.0, 1.0]]).tolist()
    ([1.0], [16.0])
    """

    plot_model_bar = plots.plot_model_bar
    plot_sample_waterfall = plots.plot_sample_waterfall
    plot_degree_waterfall = plots.plot_degree_waterfall
    plot_degree_bar = plots.plot_degree_bar
    plot_degree_box = plots.plot_degree_box
