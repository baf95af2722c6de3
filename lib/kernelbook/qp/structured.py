r"""Matrices made of another one: that of regression, its variables with signs, and multiples."""

import numpy as np

from kernelbook.qp.program import Array, Index, Quadratic, Solve

__all__ = ["PairedQuadratic", "RepeatedQuadratic", "ScaledQuadratic"]


class PairedQuadratic(Quadratic):
    r"""The matrix of support vector regression, :math:`\begin{bmatrix}K&-K\\-K&K\end{bmatrix}`.

    Its 2n variables are :math:`(\alpha, \alpha^*)`. Elimination leaves systems of n variables:
    with :math:`w = u - v` and :math:`D = (D_1^{-1} + D_2^{-1})^{-1}`,

    .. math:: \begin{bmatrix}K + D_1 & -K\\ -K & K + D_2\end{bmatrix}
              \begin{bmatrix}u\\v\end{bmatrix} = \begin{bmatrix}r\\s\end{bmatrix}
              \iff (K + D)\, w = D (D_1^{-1} r - D_2^{-1} s),\;
              u = D_1^{-1}(r - Kw),\; v = D_2^{-1}(s + Kw).

    Parameters
    ----------
    K : Quadratic
        The Gram matrix, n variables.

    Examples
    --------
    One point with K = 2, so the matrix of (alpha, alpha*) is [[2, -2], [-2, 2]]:

    >>> from kernelbook.qp import DenseQuadratic
    >>> pair = PairedQuadratic(DenseQuadratic(np.array([[2.0]])))
    >>> pair.product(np.array([1.0, 0.5])).tolist()
    [1.0, -1.0]
    """

    def __init__(self, K: Quadratic) -> None:
        self.K, self.entry_error = K, K.entry_error
        self.diagonal = np.tile(K.diagonal, 2)
        self.is_low_rank, self.n_features = K.is_low_rank, K.n_features

    def factored(self) -> Quadratic | None:
        K = self.K.factored()
        return None if K is None else PairedQuadratic(K)

    def product(self, x: Array, rows: Index | None = None) -> Array:
        n = len(self.K)
        difference = x[:n] - x[n:]
        if rows is None:
            product = self.K.product(difference)
            return np.concatenate([product, -product])
        return np.where(rows < n, 1.0, -1.0) * self.K.product(difference, rows % n)

    def block(self, rows: Index, columns: Index) -> Array:
        n = len(self.K)
        signs = np.where(rows < n, 1.0, -1.0)[:, None] * np.where(columns < n, 1.0, -1.0)
        return signs * self.K.block(rows % n, columns % n)

    def restricted(self, index: Index) -> Quadratic:
        n = len(self.K)
        return self.K.restricted(index % n).signed(np.where(index < n, 1.0, -1.0))

    def factor(self, D: Array) -> Solve:
        n = len(self.K)
        D1, D2 = D[:n], D[n:]
        smaller, larger = np.minimum(D1, D2), np.maximum(D1, D2)
        parallel = smaller / (1.0 + smaller / larger)
        solve = self.K.factor(parallel)

        def solve_pair(r: Array) -> Array:
            w = solve(parallel * (r[:n] / D1 - r[n:] / D2))
            Kw = self.K.product(w)
            # Divide by the larger of D1 and D2 only: the other quotient would cancel.
            first = D1 > D2
            u, v = (r[:n] - Kw) / D1, (r[n:] + Kw) / D2
            return np.concatenate([np.where(first, u, w + v), np.where(first, u - w, v)])

        return solve_pair

    def mean_product(self, a: Array) -> Array:
        n = len(self.K)
        difference = a[:n] - a[n:]
        if not difference.any():
            return np.zeros(2 * n)
        fraction = float(difference @ difference) / float(a @ a)
        means = fraction * self.K.mean_product(difference)
        return np.concatenate([means, -means])

    def centred(self, a: Array) -> Quadratic:
        n = len(self.K)
        if np.array_equal(a[:n], -a[n:]):
            return PairedQuadratic(self.K.centred(a[:n]))
        return super().centred(a)

    def signed(self, a: Array) -> Quadratic:
        n = len(self.K)
        needs_centring = self.K.in_memory is not None and not self.K.is_relative
        if (a[:n] > 0).all() and (a[n:] < 0).all() and not needs_centring:
            return RepeatedQuadratic(self.K)
        return super().signed(a)


class RepeatedQuadratic(Quadratic):
    r"""The matrix :math:`\begin{bmatrix}K&K\\K&K\end{bmatrix}`: two variables for each point.

    Parameters
    ----------
    K : Quadratic
        The matrix of n points.
    point_of : ndarray of shape (m,), dtype=int, default=None
        The point of each of m variables. If None, all points twice.

    Examples
    --------
    >>> from kernelbook.qp import DenseQuadratic
    >>> RepeatedQuadratic(DenseQuadratic(np.array([[2.0]]))).product(np.array([1.0, 0.5])).tolist()
    [3.0, 3.0]
    """

    def __init__(self, K: Quadratic, point_of: Index | None = None) -> None:
        self.K = K
        self.point_of = np.tile(np.arange(len(K)), 2) if point_of is None else point_of
        self.diagonal = K.diagonal[self.point_of]
        self.is_relative, self.entry_error = K.is_relative, K.entry_error

    def product(self, x: Array, rows: Index | None = None) -> Array:
        by_point = np.bincount(self.point_of, weights=x, minlength=len(self.K)).astype(float)
        if rows is None:
            return self.K.product(by_point)[self.point_of]
        at, back = np.unique(self.point_of[rows], return_inverse=True)
        return self.K.product(by_point, at)[back]

    def block(self, rows: Index, columns: Index) -> Array:
        return self.K.block(self.point_of[rows], self.point_of[columns])

    def folded(self) -> Quadratic | None:
        return self.K if len(self) == 2 * len(self.K) else None


class ScaledQuadratic(Quadratic):
    """A matrix times a positive number.

    Parameters
    ----------
    Q : Quadratic
        The matrix.
    multiple : float
        The number.

    Examples
    --------
    >>> from kernelbook.qp import DenseQuadratic
    >>> ScaledQuadratic(DenseQuadratic(np.eye(1)), 3.0).product(np.array([2.0])).tolist()
    [6.0]
    """

    def __init__(self, Q: Quadratic, multiple: float) -> None:
        self.Q, self.multiple = Q, multiple
        self.diagonal = multiple * Q.diagonal

    def product(self, x: Array, rows: Index | None = None) -> Array:
        return self.multiple * self.Q.product(x, rows)

    def block(self, rows: Index, columns: Index) -> Array:
        return self.multiple * self.Q.block(rows, columns)

    def factor(self, D: Array) -> Solve:
        solve = self.Q.factor(D / self.multiple)
        return lambda r: solve(r / self.multiple)

    def centred(self, a: Array) -> "ScaledQuadratic":
        return ScaledQuadratic(self.Q.centred(a), self.multiple)
