r"""The matrix of a quadratic program, seen only through the products that a solver needs."""

from collections.abc import Callable
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, cho_factor, cho_solve

__all__ = [
    "DenseQuadratic",
    "PairedQuadratic",
    "Quadratic",
    "RestrictedQuadratic",
    "ScaledQuadratic",
    "cholesky_solver",
    "mean_product",
]

Array = NDArray[np.float64]
Index = NDArray[np.intp]
Solve = Callable[[Array], Array]

EPS = float(np.finfo(float).eps)
TINY = float(np.finfo(float).tiny)


class Quadratic(Protocol):
    """A symmetric positive semi-definite matrix Q (n, n) that need not be stored.

    Examples
    --------
    A program sees no more of a matrix than these products:

    >>> import numpy as np
    >>> Q: Quadratic = DenseQuadratic(np.array([[2.0, 1.0], [1.0, 2.0]]))
    >>> len(Q), Q.mv(np.array([1.0, 0.0])).tolist(), Q.diagonal().tolist()
    (2, [2.0, 1.0], [2.0, 2.0])
    """

    def __len__(self) -> int:
        """Number of variables n."""
        ...

    def mv(self, x: Array) -> Array:
        """Product Q x, shape (n,)."""
        ...

    def diagonal(self) -> Array:
        """Diagonal of Q, shape (n,)."""
        ...

    def block(self, rows: Index, columns: Index) -> Array:
        """Submatrix of Q by index arrays, shape (len(rows), len(columns))."""
        ...

    def factor(self, D: Array) -> Solve:
        """Function r -> z that solves (Q + diag(D)) z = r for D (n,) > 0."""
        ...

    def centred(self, a: Array) -> "Quadratic":
        """P Q P with P = I - aa'/a'a, which removes what the equality a'x = b makes constant."""
        ...


def mean_product(Q: Quadratic, a: Array) -> Array:
    """Q a / a'a, shape (n,); a matrix too large for that estimates it by a method of this name."""
    estimate = getattr(Q, "mean_product", None)
    return Q.mv(a) / float(a @ a) if estimate is None else estimate(a)


def cholesky_solver(Q: Array, D: Array, ridge: float = 0.0) -> Solve:
    """Function r -> z with (Q + diag(D) + ridge I) z = r, for a Q that is PSD up to rounding.

    Where rounding leaves no Cholesky factor, the ridge is raised until there is one.
    """
    while True:
        # A symmetric matrix is its own transpose, which LAPACK can overwrite.
        M = Q.copy().T
        diagonal = np.einsum("ii->i", M)
        diagonal += D + ridge
        try:
            factor = cho_factor(M, lower=True, overwrite_a=True, check_finite=False)
        except LinAlgError:
            ridge = max(10.0 * ridge, EPS * float(np.diagonal(Q).max()), TINY)
        else:
            return lambda r: cho_solve(factor, r, check_finite=False)


class DenseQuadratic:
    """A matrix held in memory.

    Parameters
    ----------
    Q : ndarray, shape (n, n)
        Symmetric positive semi-definite, at least on the vectors that the equality leaves free;
        neither copied nor changed.

    Examples
    --------
    >>> import numpy as np
    >>> Q = DenseQuadratic(np.array([[2.0, 1.0], [1.0, 2.0]]))
    >>> Q.factor(np.array([1.0, 1.0]))(np.array([8.0, 0.0])).round(12).tolist()
    [3.0, -1.0]
    >>> Q.centred(np.array([1.0, 1.0])).Q.tolist()
    [[0.5, -0.5], [-0.5, 0.5]]
    """

    def __init__(self, Q: Array) -> None:
        self.Q = Q

    def __len__(self) -> int:
        return len(self.Q)

    def mv(self, x: Array) -> Array:
        # Most entries of a support vector machine's x are zero: their columns are not read.
        used = np.flatnonzero(x)
        return self.Q @ x if 2 * len(used) > len(x) else self.Q[:, used] @ x[used]

    def diagonal(self) -> Array:
        return np.diagonal(self.Q).copy()

    def block(self, rows: Index, columns: Index) -> Array:
        return self.Q[np.ix_(rows, columns)]

    def factor(self, D: Array) -> Solve:
        return cholesky_solver(self.Q, D)

    def centred(self, a: Array) -> "DenseQuadratic":
        size = float(a @ a)
        means = self.Q @ a / size
        means -= (float(a @ means) / (2 * size)) * a
        centred = self.Q - np.outer(a, means)
        centred -= np.outer(means, a)
        return DenseQuadratic(centred)


def _dense(Q: Quadratic) -> DenseQuadratic:
    everything = np.arange(len(Q))
    return DenseQuadratic(Q.block(everything, everything))


class PairedQuadratic:
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

    >>> import numpy as np
    >>> pair = PairedQuadratic(DenseQuadratic(np.array([[2.0]])))
    >>> pair.mv(np.array([1.0, 0.5])).tolist()
    [1.0, -1.0]
    """

    def __init__(self, K: Quadratic) -> None:
        self.K = K

    def __len__(self) -> int:
        return 2 * len(self.K)

    def mv(self, x: Array) -> Array:
        n = len(self.K)
        product = self.K.mv(x[:n] - x[n:])
        return np.concatenate([product, -product])

    def diagonal(self) -> Array:
        return np.tile(self.K.diagonal(), 2)

    def block(self, rows: Index, columns: Index) -> Array:
        n = len(self.K)
        signs = np.where(rows < n, 1.0, -1.0)[:, None] * np.where(columns < n, 1.0, -1.0)
        return signs * self.K.block(rows % n, columns % n)

    def factor(self, D: Array) -> Solve:
        n = len(self.K)
        D1, D2 = D[:n], D[n:]
        smaller, larger = np.minimum(D1, D2), np.maximum(D1, D2)
        parallel = smaller / (1.0 + smaller / larger)
        solve = self.K.factor(parallel)

        def solve_pair(r: Array) -> Array:
            w = solve(parallel * (r[:n] / D1 - r[n:] / D2))
            Kw = self.K.mv(w)
            # Divide by the larger of D1 and D2 only: the other quotient would cancel.
            first = D1 > D2
            u, v = (r[:n] - Kw) / D1, (r[n:] + Kw) / D2
            return np.concatenate([np.where(first, u, w + v), np.where(first, u - w, v)])

        return solve_pair

    def mean_product(self, a: Array) -> Array:
        """Q a / a'a, by what K has for that."""
        n = len(self.K)
        difference = a[:n] - a[n:]
        if not difference.any():
            return np.zeros(2 * n)
        share = float(difference @ difference) / float(a @ a)
        means = share * mean_product(self.K, difference)
        return np.concatenate([means, -means])

    def centred(self, a: Array) -> Quadratic:
        n = len(self.K)
        if np.array_equal(a[:n], -a[n:]):
            return PairedQuadratic(self.K.centred(a[:n]))
        return _dense(self).centred(a)


class RestrictedQuadratic:
    """A quadratic over some of its variables."""

    def __init__(self, Q: Quadratic, index: Index) -> None:
        self.Q, self.index = Q, index

    def __len__(self) -> int:
        return len(self.index)

    def mv(self, x: Array) -> Array:
        padded = np.zeros(len(self.Q))
        padded[self.index] = x
        return self.Q.mv(padded)[self.index]

    def diagonal(self) -> Array:
        return self.Q.diagonal()[self.index]

    def block(self, rows: Index, columns: Index) -> Array:
        return self.Q.block(self.index[rows], self.index[columns])

    def factor(self, D: Array) -> Solve:
        return _dense(self).factor(D)

    def centred(self, a: Array) -> Quadratic:
        return _dense(self).centred(a)


class ScaledQuadratic:
    """A quadratic times a positive number."""

    def __init__(self, Q: Quadratic, multiple: float) -> None:
        self.Q, self.multiple = Q, multiple

    def __len__(self) -> int:
        return len(self.Q)

    def mv(self, x: Array) -> Array:
        return self.multiple * self.Q.mv(x)

    def diagonal(self) -> Array:
        return self.multiple * self.Q.diagonal()

    def block(self, rows: Index, columns: Index) -> Array:
        return self.multiple * self.Q.block(rows, columns)

    def factor(self, D: Array) -> Solve:
        solve = self.Q.factor(D / self.multiple)
        return lambda r: solve(r / self.multiple)

    def centred(self, a: Array) -> "ScaledQuadratic":
        return ScaledQuadratic(self.Q.centred(a), self.multiple)
