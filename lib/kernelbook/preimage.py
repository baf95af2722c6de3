r"""Points of the input space whose images come near to a given point of the feature space.

A projection :math:`P\phi = \sum_i w_i \phi(x_i)`, :math:`\sum_i w_i = 1`, is in general the image
of no point. Three substitutes: the point whose image is nearest (a fixed-point iteration), the
point at the right distances from training points, and a regression that learned the way back.
"""

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve
from sklearn.exceptions import ConvergenceWarning

from kernelbook.exceptions import warn_user
from kernelbook.kernels import RBF, Matrix, Radial, resolve_gamma

__all__ = ["RidgePreimage", "distance_preimages", "fixed_point_preimages"]

STEP_TOLERANCE = 1e-7
RANK_TOLERANCE = 1e-6


def fixed_point_preimages(
    X: Matrix,
    weights: Matrix,
    starts: NDArray[np.intp],
    kernel: Radial,
    max_iter: int = 500,
) -> Matrix:
    r"""Return local minima of the feature-space distance, for a smooth radial kernel.

    .. math:: \min_z \Big\| \phi(z) - \sum_i w_i \phi(x_i) \Big\|^2
              \quad\Leftrightarrow\quad \max_z\; g(z) = \sum_i w_i k(z, x_i)

    With :math:`k = h(\|z - x\|^2)` the gradient vanishes where
    :math:`z = \sum_i v_i x_i / \sum_i v_i`, :math:`v_i = -w_i h'(\|z - x_i\|^2)`, which is
    iterated. That step goes uphill as long as the sum of v is positive; a step that does not
    climb is halved, so g never falls. For the Gaussian kernel the iteration is that of
    [Mika1999b]_; the halving is ours.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        Training points, best with a mean near zero.
    weights : ndarray of shape (m, n)
        One row of coefficients :math:`w` for each wanted point.
    starts : ndarray of shape (m, r), dtype=int
        For each, the indices of r training points to start from; the best end counts. A start
        whose sum of v is not positive stays where it is.
    kernel : Radial
        The kernel, with a slope.
    max_iter : int, default=500
        Maximum number of steps from each start.

    Returns
    -------
    ndarray of shape (m, d)
        Points never further, in feature space, from the wanted ones than any of the starts.

    Warns
    -----
    ConvergenceWarning
        If some point still moves, by more than 1e-7 of the width of the kernel a step.

    References
    ----------
    [Mika1999b]_

    Examples
    --------
    With all the weight on one image its own point comes back:

    >>> X, weights = np.array([[0.0], [1.0]]), np.array([[0.0, 1.0]])
    >>> fixed_point_preimages(X, weights, np.array([[0]]), RBF(0.5)).round(6).tolist()
    [[1.0]]
    """
    best = X[starts[:, 0]]
    best_value = np.full(len(best), -np.inf)
    moving = 0
    for column in starts.T:
        Z, value, unfinished = _climb(X, weights, X[column], kernel, max_iter)
        better = value > best_value
        best[better], best_value[better] = Z[better], value[better]
        moving += unfinished
    if moving:
        warn_user(
            f"{moving} of {starts.size} fixed-point iterations still moved after {max_iter} "
            "steps; allow more (preimage_max_iter) or use preimage='distance'.",
            ConvergenceWarning,
        )
    return best


def _climb(
    X: Matrix, weights: Matrix, Z: Matrix, kernel: Radial, max_iter: int
) -> tuple[Matrix, Matrix, int]:
    """Iterate from Z: the points reached, their values of g, and how many still move."""
    Z = Z.copy()
    value, target, climbable = _evaluate(X, weights, Z, kernel)
    # The inverse squared width of the bump around a point.
    gamma = -float(kernel.slope(np.zeros(1))[0] / kernel.profile(np.zeros(1))[0])
    step = np.ones(len(Z))
    active = np.flatnonzero(climbable)
    for _ in range(max_iter):
        trial = Z[active] + step[active, None] * (target[active] - Z[active])
        trial_value, trial_target, _ = _evaluate(X, weights[active], trial, kernel)
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


def _evaluate(
    X: Matrix, weights: Matrix, Z: Matrix, kernel: Radial
) -> tuple[Matrix, Matrix, NDArray[np.bool_]]:
    """g(z), the fixed-point map, and where it climbs, at each z (z itself where it does not)."""
    squares = kernel.distances(Z, X)
    value = (weights * kernel.profile(squares)).sum(axis=1)
    pulls = -weights * kernel.slope(squares)
    total = pulls.sum(axis=1)
    climbs = total > 0
    target = Z.copy()
    target[climbs] = (pulls[climbs] @ X) / total[climbs, None]
    return value, target, climbs


def distance_preimages(
    X: Matrix, feature_distances: Matrix, kernel: Radial, n_neighbors: int = 10
) -> Matrix:
    r"""Return points at given distances from their neighbours, for a radial kernel.

    The squared feature-space distance :math:`\tilde d_i^2` to the image of :math:`x_i` belongs to
    the input distance at which :math:`k = k(0) - \tilde d_i^2 / 2`, for the Gaussian kernel
    :math:`d_i^2 = -\ln(1 - \tilde d_i^2 / 2) / \gamma`. With
    the neighbours' mean :math:`\bar x` and centred coordinates Y (rows), the point is

    .. math:: z = \bar x + \tfrac12\, Y^{+} \big(\|y_i\|^2 - d_i^2\big)_i,

    the least-squares solution of the distance equations in the neighbours' affine hull.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        Training points.
    feature_distances : ndarray of shape (m, n)
        Squared, between the m wanted points of feature space and the images of X.
    kernel : Radial
        The kernel.
    n_neighbors : int, default=10
        Number of nearest training points that are used, copies of a point counted once; those
        farther than any input distance
        can be are dropped (if all are, the nearest point itself is returned).

    Returns
    -------
    ndarray of shape (m, d)
        One point a row, in the affine hull of its neighbours.

    References
    ----------
    [Kwok2004]_

    Examples
    --------
    A quarter of the way from 0 to 1, told from its distances alone:

    >>> X = np.array([[0.0], [1.0]])
    >>> distances = 2 - 2 * np.exp(-np.array([[0.25**2, 0.75**2]]))
    >>> distance_preimages(X, distances, RBF(1.0)).round(6).tolist()
    [[0.25]]
    """
    # Copies add no equation, and as the only neighbours they would leave none.
    distinct = np.sort(np.unique(X, axis=0, return_index=True)[1])
    X, feature_distances = X[distinct], feature_distances[:, distinct]
    nearest = np.argsort(feature_distances, axis=1, kind="stable")[:, :n_neighbors]
    Z = X[nearest[:, 0]]
    at_zero = float(kernel.profile(np.zeros(1))[0])
    for row, neighbours in enumerate(nearest):
        squared = feature_distances[row, neighbours]
        reachable = squared < 2.0 * at_zero
        neighbours, squared = neighbours[reachable], squared[reachable]
        if len(neighbours) > 1:
            mean = X[neighbours].mean(axis=0)
            Y = X[neighbours] - mean
            d = kernel.inverse_profile(at_zero - squared / 2.0)
            difference = np.einsum("ij,ij->i", Y, Y) - d
            Z[row] = mean + np.linalg.lstsq(Y, difference / 2.0, rcond=RANK_TOLERANCE)[0]
    return Z


class RidgePreimage:
    r"""The inverse map, learned by kernel ridge regression from projections to centred points.

    .. math:: z(\beta) = \sum_i \kappa(\beta, \beta_i)\, c_i, \qquad
              C = (\kappa(B, B) + \lambda I)^{-1} X

    with an RBF kernel :math:`\kappa` on the projections B whose width follows from their median
    distance: the scale of projections has nothing to do with that of the points.

    Parameters
    ----------
    projections : ndarray of shape (n, k)
        Projections of the training points.
    X : ndarray of shape (n, d)
        Training points with mean zero, to which far-away projections are drawn.
    reg : float
        Regularization parameter :math:`\lambda > 0`, beside a kernel with diagonal 1.

    References
    ----------
    [Bakir2004]_

    Examples
    --------
    Two points of the line, whose projections are -1 and 1, come back but for the regularization:

    >>> projections, X = np.array([[-1.0], [1.0]]), np.array([[-3.0], [3.0]])
    >>> RidgePreimage(projections, X, 1e-9)(projections).round(6).tolist()
    [[-3.0], [3.0]]
    """

    def __init__(self, projections: Matrix, X: Matrix, reg: float) -> None:
        self.projections = projections
        self.kernel = RBF(resolve_gamma("median", projections))
        kappa = self.kernel.gram(projections)
        kappa[np.diag_indices_from(kappa)] += reg
        self.coefficients = cho_solve(cho_factor(kappa, lower=True, overwrite_a=True), X)

    def __repr__(self) -> str:
        return f"RidgePreimage({len(self.projections)} points)"

    def __call__(self, projections: Matrix) -> Matrix:
        return self.kernel.evaluate(projections, self.projections) @ self.coefficients
