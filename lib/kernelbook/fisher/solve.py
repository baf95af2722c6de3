r"""Solutions of the regularised discriminant problem, from Gram matrices and class indicators.

N = K W K, where W subtracts class means, and B = D D' with D = K E. Each solver returns the
coefficients :math:`N_\mu^{-1} D` (n, C) and the small matrix :math:`D^\top N_\mu^{-1} D` (C, C),
whose eigenvectors combine them to discriminants. Y (n, C) holds the class indicators, l_c is the
size of class c.
"""

import numpy as np
from scipy.linalg import blas, cho_solve, eigh, lapack, qr, svd

from kernelbook.kernels import Matrix
from kernelbook.qp import double_centre

__all__ = ["leave_one_out", "solve_coef", "solve_linear", "solve_norm"]

# Candidates of reg='loo', in units of the mean eigenvalue of the centred Gram matrix.
LOO_GRID = np.logspace(2, -6, 17)
RELIABLE_CONDITION = 1e-9
EPSILON = float(np.finfo(float).eps)


def solve_norm(K: Matrix, Y: Matrix, reg: float) -> tuple[Matrix, Matrix]:
    r"""Solve :math:`(N + \mu K) \alpha = K E` by way of :math:`K + \mu I` alone.

    N = K W K with W centring within the classes, so :math:`(W K + \mu I) \alpha = E`. That
    is :math:`(K + \mu I) \alpha = Y c` with c such that :math:`Y^\top \alpha = Y^\top E/\mu`.

    Parameters
    ----------
    K : ndarray of shape (n, n)
        Gram matrix.
    Y : ndarray of shape (n, C)
        Class indicators.
    reg : float
        :math:`\mu > 0`.

    Returns
    -------
    coefficients : ndarray of shape (n, C)
        :math:`\alpha = N_\mu^{-1} D`.
    small : ndarray of shape (C, C)
        :math:`D^\top N_\mu^{-1} D`, symmetric.

    Raises
    ------
    ValueError
        If ``reg`` is lost to rounding.

    Examples
    --------
    Two points at -1 and 1, each a class of its own: N = 0, so that with :math:`\mu = 1` the small
    matrix is :math:`E^\top K E`, here K itself:

    >>> K, Y = np.array([[1.0, -1.0], [-1.0, 1.0]]), np.eye(2)
    >>> solve_norm(K, Y, 1.0)[1].round(12).tolist()
    [[1.0, -1.0], [-1.0, 1.0]]
    """
    E = _between_directions(Y)
    A = double_centre(K)[0]
    trace = float(A.diagonal().sum())
    factor = _factor(A, reg, least=len(K) * EPSILON)
    if factor is None:
        raise ValueError(_too_small(reg, trace))
    half = cho_solve((factor, True), Y, check_finite=False)
    alpha = half @ np.linalg.solve(Y.T @ half, Y.T @ E / reg)
    S = E.T @ (K @ alpha)
    return alpha, (S + S.T) / 2


def solve_linear(X: Matrix, Y: Matrix, reg: float) -> tuple[Matrix, Matrix]:
    r"""Solve it for the linear kernel, whose features X are at hand: any :math:`\mu` will do.

    With the centred X as :math:`U \Sigma V^\top` of full rank,
    :math:`(U^\top W U + \mu \Sigma^{-2}) \beta = U^\top E` and
    :math:`\alpha = U \Sigma^{-2} \beta`, where no entry carries the scale of X.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        Training points.
    Y : ndarray of shape (n, C)
        Class indicators.
    reg : float
        :math:`\mu > 0`.

    Returns
    -------
    coefficients : ndarray of shape (n, C)
        :math:`\alpha`, as of :func:`solve_norm` for the linear kernel.
    small : ndarray of shape (C, C)
        :math:`D^\top N_\mu^{-1} D`, symmetric.

    Raises
    ------
    ValueError
        If ``reg`` is lost to rounding.

    Examples
    --------
    >>> solve_linear(np.array([[-1.0], [1.0]]), np.eye(2), 1.0)[1].round(12).tolist()
    [[1.0, -1.0], [-1.0, 1.0]]
    """
    E = _between_directions(Y)
    U, sigma, _ = svd(X - X.mean(axis=0), full_matrices=False, check_finite=False)
    kept = sigma > max(X.shape) * EPSILON * sigma[0]
    U, squares = U[:, kept], sigma[kept] ** 2
    scatter = U.T @ _centre_within(U, Y)
    factor = _factor(scatter, reg / squares, least=len(X) * EPSILON)
    if factor is None:
        raise ValueError(_too_small(reg, float(squares.sum())))
    beta = cho_solve((factor, True), U.T @ E, check_finite=False)
    S = (U.T @ E).T @ beta
    return U @ (beta / squares[:, None]), (S + S.T) / 2


def solve_coef(K: Matrix, s: Matrix, Y: Matrix, reg: float) -> tuple[Matrix, Matrix]:
    r"""Solve :math:`(N + \mu I) \alpha = D` with :math:`N = Q^\top Q`, Q centred in classes.

    K and s are the parts of the kernel in the split of :meth:`kernelbook.kernels.Kernel.about`.
    Where the condition of N is beyond a Cholesky factorisation, the triangular factor comes
    from Q itself by QR, whose condition is but the root.

    Parameters
    ----------
    K : ndarray of shape (n, n)
        Values of :math:`k_c` among the training points.
    s : ndarray of shape (n,)
        What was split off for one argument.
    Y : ndarray of shape (n, C)
        Class indicators.
    reg : float
        :math:`\mu > 0`.

    Returns
    -------
    coefficients : ndarray of shape (n, C)
        :math:`\alpha = N_\mu^{-1} D`.
    small : ndarray of shape (C, C)
        :math:`D^\top N_\mu^{-1} D`, symmetric.

    Raises
    ------
    ValueError
        If ``reg`` is lost to rounding.

    Examples
    --------
    With each point a class of its own N is zero, so :math:`\alpha = D / \mu`:

    >>> K, Y = np.array([[1.0, -1.0], [-1.0, 1.0]]), np.eye(2)
    >>> solve_coef(K, np.zeros(2), Y, 2.0)[0].round(12).tolist()
    [[0.5, -0.5], [-0.5, 0.5]]
    """
    E = _between_directions(Y)
    Q = _centre_within(K, Y) + _centre_within(s[:, None], Y)
    D = K @ E + s @ E
    N = blas.dsyrk(1.0, Q.T, lower=1)
    trace = float(N.diagonal().sum())
    factor = _factor(N, reg, least=RELIABLE_CONDITION)
    if factor is None:
        stacked = np.vstack([Q, np.sqrt(reg) * np.eye(len(Q))])
        factor = qr(stacked, mode="r", overwrite_a=True, check_finite=False)[0][: len(Q)].T
        if reg < (len(Q) * EPSILON) ** 2 * trace:
            raise ValueError(_too_small(reg, trace))
    alpha = cho_solve((factor, True), D, check_finite=False)
    S = D.T @ alpha
    return alpha, (S + S.T) / 2


def leave_one_out(K: Matrix, Y: Matrix) -> tuple[Matrix, Matrix]:
    r"""Return candidates for :math:`\mu`, and their mean squared leave-one-out errors.

    The inverse of the bordered matrix is that of :math:`H K H + \mu I` without the constant
    vector, so one eigendecomposition serves all candidates. Targets are the class indicators
    divided by :math:`\sqrt{l_c}` and stay fixed.

    Parameters
    ----------
    K : ndarray of shape (n, n)
        Gram matrix.
    Y : ndarray of shape (n, C)
        Class indicators.

    Returns
    -------
    candidates : ndarray of shape (17,)
        Values of :math:`\mu`, largest first.
    errors : ndarray of shape (17,)
        Summed over the classes, averaged over the points.

    Raises
    ------
    ValueError
        If all points coincide in feature space.

    Examples
    --------
    >>> X, Y = np.array([[-1.0], [-2.0], [1.0], [2.0]]), np.eye(2)[[0, 0, 1, 1]]
    >>> candidates, errors = leave_one_out(X @ X.T, Y)
    >>> len(candidates), bool(candidates[0] > candidates[-1]), bool((errors > 0).all())
    (17, True, True)
    """
    values, U = eigh(double_centre(K)[0], overwrite_a=True, check_finite=False)
    values = np.maximum(values, 0.0)
    # What is left of the constant vector is taken out: the intercept is not penalised.
    U -= U.mean(axis=0)
    if values[-1] <= len(K) * EPSILON * max(K.max(), -K.min()):
        raise ValueError(
            "reg='loo' finds nothing to choose by: all points coincide in feature space. "
            "Give reg a number or check X."
        )
    coefficients = U.T @ (Y / np.sqrt(Y.sum(axis=0)))
    squares = U**2
    candidates = values.mean() * LOO_GRID
    errors = np.empty(len(LOO_GRID))
    for index, mu in enumerate(candidates):
        shrunk = 1.0 / (values + mu)
        residuals = (U @ (shrunk[:, None] * coefficients)) / (squares @ shrunk)[:, None]
        errors[index] = (residuals**2).sum(axis=1).mean()
    return candidates, errors


def _too_small(reg: float, trace: float) -> str:
    return (
        f"reg={reg:.3g} is lost to rounding beside a scatter matrix of trace "
        f"{trace:.3g}, which alone is singular. Raise reg (reg='loo' with penalty='norm' "
        "chooses one) or rescale the features."
    )


def _between_directions(Y: Matrix) -> Matrix:
    """E (n, C) with K E = D, columns sqrt(l_c) (M_c - M), so that B = D D'."""
    root = np.sqrt(Y.sum(axis=0))
    return Y / root - root / len(Y)


def _centre_within(A: Matrix, Y: Matrix) -> Matrix:
    """Subtract from each row of A the mean of the rows of its class."""
    return A - Y @ (Y.T @ A / Y.sum(axis=0)[:, None])


def _factor(A: Matrix, reg: float | Matrix, *, least: float) -> Matrix | None:
    """Lower Cholesky factor of A + diag(reg), over A; None if its condition is worse than least.

    The result holds A's entries above the diagonal, which no triangular solver reads.
    """
    if not A.size:
        return A
    A[np.diag_indices_from(A)] += reg
    # The trace bounds the norm of a positive definite matrix.
    norm = float(A.diagonal().sum())
    # A is symmetric: its transpose is the column-major array that LAPACK can overwrite.
    columns = A if A.flags.f_contiguous else A.T
    factor, failed_at = lapack.dpotrf(columns, lower=1, clean=0, overwrite_a=1)
    if failed_at:
        return None
    reciprocal_condition, _ = lapack.dpocon(factor, norm, uplo="L")
    return factor if reciprocal_condition > least else None
