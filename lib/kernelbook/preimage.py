r"""Points of the input space whose images come near to a given point of the feature space.

A projection :math:`P\phi = \sum_i w_i \phi(x_i)`, :math:`\sum_i w_i = 1`, is in general the image
of no point. Three substitutes: the point whose image is nearest (a fixed-point iteration), the
point at the right distances from training points, and a regression that learned the way back.
"""

import warnings

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from sklearn.exceptions import ConvergenceWarning

from kernelbook.kernels import Matrix, rbf, resolve_gamma

__all__ = ["RidgePreimage", "distance_preimages", "fixed_point_preimages"]

STEP_TOLERANCE = 1e-7
RANK_TOLERANCE = 1e-6


def fixed_point_preimages(
    X: Matrix, weights: Matrix, starts: np.ndarray, gamma: float, max_iter: int = 500
) -> Matrix:
    r"""Local minima of the feature-space distance for the RBF kernel.

    .. math:: \min_z \Big\| \phi(z) - \sum_i w_i \phi(x_i) \Big\|^2
              \quad\Leftrightarrow\quad \max_z\; g(z) = \sum_i w_i k(z, x_i)

    The gradient vanishes where :math:`z = \sum_i w_i k(z, x_i) x_i / g(z)`, which is iterated.
    That step goes along :math:`\nabla g / (2 \gamma g)`, uphill as long as g is positive; a step
    that does not climb is halved, so g never falls and its denominator never nears zero. The
    iteration is that of [Mika1999b]_, the halving is ours.

    Parameters
    ----------
    X : ndarray, shape (n, d)
        Training points, best with a mean near zero.
    weights : ndarray, shape (m, n)
        One row of coefficients :math:`w` for each wanted point.
    starts : ndarray of int, shape (m, r)
        For each, the indices of r training points to start from; the best end counts. A start
        with :math:`g \le 0` stays where it is.
    gamma : float
    max_iter : int, default=500

    Returns
    -------
    ndarray, shape (m, d)
        Never further, in feature space, from the wanted point than any of the starts.

    Warns
    -----
    ConvergenceWarning
        If some point still moves, by more than 1e-7 of the width :math:`\gamma^{-1/2}` a step.

    References
    ----------
    [Mika1999b]_

    Examples
    --------
    With all the weight on one image its own point comes back:

    >>> X = np.array([[0.0], [1.0]])
    >>> fixed_point_preimages(X, np.array([[0.0, 1.0]]), np.array([[0]]), 0.5).round(6).tolist()
    [[1.0]]
    """
    best = X[starts[:, 0]]
    best_value = np.full(len(best), -np.inf)
    moving = 0
    for column in starts.T:
        Z, value, unfinished = _climb(X, weights, X[column], gamma, max_iter)
        better = value > best_value
        best[better], best_value[better] = Z[better], value[better]
        moving += unfinished
    if moving:
        warnings.warn(
            f"{moving} of {starts.size} fixed-point iterations still moved after {max_iter} "
            "steps; allow more (preimage_max_iter) or use preimage='distance'.",
            ConvergenceWarning,
            stacklevel=3,
        )
    return best


def _climb(
    X: Matrix, weights: Matrix, Z: Matrix, gamma: float, max_iter: int
) -> tuple[Matrix, Matrix, int]:
    """Iterate from Z: the points reached, their values of g, and how many still move."""
    Z = Z.copy()
    value, target = _evaluate(X, weights, Z, gamma)
    step = np.ones(len(Z))
    active = np.flatnonzero(value > 0)
    for _ in range(max_iter):
        trial = Z[active] + step[active, None] * (target[active] - Z[active])
        trial_value, trial_target = _evaluate(X, weights[active], trial, gamma)
        climbs = trial_value >= value[active]
        moved, halved = active[climbs], active[~climbs]
        Z[moved], value[moved], target[moved] = (
            trial[climbs],
            trial_value[climbs],
            trial_target[climbs],
        )
        step[moved] = np.minimum(2 * step[moved], 1.0)
        step[halved] /= 2
        length = step[active] * np.linalg.norm(target[active] - Z[active], axis=1)
        active = active[np.sqrt(gamma) * length > STEP_TOLERANCE]
        if not active.size:
            break
    return Z, value, active.size


def _evaluate(X: Matrix, weights: Matrix, Z: Matrix, gamma: float) -> tuple[Matrix, Matrix]:
    """g(z) and the fixed-point map at each z (z itself where g is not positive)."""
    products = weights * rbf(Z, X, gamma=gamma)
    value = products.sum(axis=1)
    positive = value > 0
    target = Z.copy()
    target[positive] = (products[positive] @ X) / value[positive, None]
    return value, target


def distance_preimages(
    X: Matrix, feature_distances: Matrix, gamma: float, n_neighbors: int = 10
) -> Matrix:
    r"""Points at given distances from their neighbours, for the RBF kernel.

    The squared feature-space distance :math:`\tilde d_i^2` to the image of :math:`x_i` belongs to
    the input distance :math:`d_i^2 = -\ln(1 - \tilde d_i^2 / 2) / \gamma`. With
    the neighbours' mean :math:`\bar x` and centred coordinates Y (rows), the point is

    .. math:: z = \bar x + \tfrac12\, Y^{+} \big(\|y_i\|^2 - d_i^2\big)_i,

    the least-squares solution of the distance equations in the neighbours' affine hull.

    Parameters
    ----------
    X : ndarray, shape (n, d)
    feature_distances : ndarray, shape (m, n)
        Squared, between the m wanted points of feature space and the images of X.
    gamma : float
    n_neighbors : int, default=10
        How many nearest training points are used; those at :math:`\tilde d^2 \ge 2`, which no
        input distance matches, are left out (if all are: the nearest point itself is returned).

    Returns
    -------
    ndarray, shape (m, d)

    References
    ----------
    [Kwok2004]_

    Examples
    --------
    A quarter of the way from 0 to 1, told from its distances alone:

    >>> X = np.array([[0.0], [1.0]])
    >>> distances = 2 - 2 * np.exp(-np.array([[0.25**2, 0.75**2]]))
    >>> distance_preimages(X, distances, gamma=1.0).round(6).tolist()
    [[0.25]]
    """
    nearest = np.argsort(feature_distances, axis=1, kind="stable")[:, :n_neighbors]
    Z = X[nearest[:, 0]]
    for row, neighbours in enumerate(nearest):
        squared = feature_distances[row, neighbours]
        neighbours, squared = neighbours[squared < 2.0], squared[squared < 2.0]
        if len(neighbours) > 1:
            mean = X[neighbours].mean(axis=0)
            Y = X[neighbours] - mean
            d = -np.log1p(-squared / 2.0) / gamma
            difference = np.einsum("ij,ij->i", Y, Y) - d
            Z[row] = mean + np.linalg.lstsq(Y, difference / 2.0, rcond=RANK_TOLERANCE)[0]
    return Z


class RidgePreimage:
    r"""The way back learned by kernel ridge regression from projections to centred points.

    .. math:: z(\beta) = \sum_i \kappa(\beta, \beta_i)\, c_i, \qquad
              C = (\kappa(B, B) + \lambda I)^{-1} X

    with an RBF kernel :math:`\kappa` on the projections B whose width follows from their median
    distance: the scale of projections has nothing to do with that of the points.

    Parameters
    ----------
    projections : ndarray, shape (n, k)
    X : ndarray, shape (n, d)
        Training points with mean zero, to which far-away projections are drawn.
    reg : float
        :math:`\lambda > 0`, beside a kernel with diagonal 1.

    References
    ----------
    [Bakir2004]_
    """

    def __init__(self, projections: Matrix, X: Matrix, reg: float) -> None:
        self.projections = projections
        self.gamma = resolve_gamma("median", projections)
        kappa = rbf(projections, gamma=self.gamma)
        kappa[np.diag_indices_from(kappa)] += reg
        self.coefficients = cho_solve(cho_factor(kappa, lower=True, overwrite_a=True), X)

    def __call__(self, projections: Matrix) -> Matrix:
        return rbf(projections, self.projections, gamma=self.gamma) @ self.coefficients
