"""Everything that a user or a developer may set about a solver, each number with its reason."""

from dataclasses import dataclass

__all__ = ["SOLVERS", "SolverOptions"]

SOLVERS = ("auto", "exact", "low_rank", "dense", "reference")


@dataclass(frozen=True)
class SolverOptions:
    """Options of :func:`~kernelbook.qp.solve`.

    Parameters
    ----------
    tol : float, default=1e-9
        Largest violation of the optimality conditions, relative to the gradient's scale, with
        which a solution is called optimal.
    max_iter : int, default=100
        Interior-point steps, or working sets of the exact solver.
    solver : {'auto', 'exact', 'low_rank', 'dense', 'reference'}, default='auto'
        See :func:`~kernelbook.qp.solve_qp`.
    cache_size : float, default=200.0
        Megabytes for kernel rows of the exact solver; its working sets may take four times that.
    verbose : bool, default=False
        Whether the exact solver shows its progress.
    exact_from : int, default=400
        'auto' takes the exact solver from so many variables on: below, the interior point ends
        before the compiled loops have been loaded.
    uncompiled_up_to : int, default=1200
        As long as nobody has compiled the loops, 'auto' takes the dense solver up to so many
        variables: it ends within a few seconds, and to compile takes five times as long.
    hand_over_after : float, default=0.05
        'auto' turns from the exact solver to the dense one once pairwise steps have changed so
        many times n^2 (n + 1000) entries of the gradient, n the number of points: that takes
        about as long as all of the dense solver, so that both take twice the time of the better.
    hand_over_up_to : int, default=3000
        Only up to so many variables: the dense solver keeps several matrices of that size.
    hand_over_features : float, default=0.3
        Where a kernel has features, though not few enough to begin with them, 'auto' turns to the
        interior point of low rank instead, after so many times n r^2 entries for r features.
    low_rank_from : int, default=150
        'auto' asks for the features of a kernel from so many points on: below, the interior
        point on the matrix of all points is as fast.
    features_per_root : int, default=2
        'auto' begins with the interior point of low rank for at most so many features by the root
        of the number of points: with more, pairwise steps are faster on easy problems.
    in_memory_up_to : int, default=450
        Up to so many points the Gram matrix is formed: to compute all of it once takes less
        time than to compute rows and blocks of it several times.
    first_eps : float, default=0.05
        Pairwise steps first stop at this fraction of the violation at the start: later, most
        steps move variables whose place is settled; earlier, too many places are wrong.
    eps_step : float, default=0.3
        The factor to the next stop, where too many places are still wrong.
    least_eps : float, default=5e-6
        The last stop, in the same unit: rows in single precision lead no further.
    settled : float, default=0.8
        Free variables that are fewer than this fraction of those at the stop before are still
        becoming fewer.
    max_approaches : int, default=4
        How often pairwise steps on all variables may begin again.
    steps_per_variable : int, default=100
        Pairwise steps by variable after which an approach ends in any case.
    shrink_every : int, default=1000
        Pairwise steps after which variables that stay at their bounds are put aside.
    sample_from : int, default=20000
        From so many points on, the optimum of a sample says where each of them begins.
    sample_share : float, default=0.1
        The part of the points that is a sample: its optimum takes a thirtieth of the time.
    compact_at : float, default=0.75
        Rows are shortened once less than this fraction of their entries is in use: to move
        them costs about as much as a quarter of the steps until then saves.
    """

    tol: float = 1e-9
    max_iter: int = 100
    solver: str = "auto"
    cache_size: float = 200.0
    verbose: bool = False
    exact_from: int = 400
    uncompiled_up_to: int = 1200
    hand_over_after: float = 0.05
    hand_over_up_to: int = 3000
    hand_over_features: float = 0.3
    low_rank_from: int = 150
    features_per_root: int = 2
    in_memory_up_to: int = 450
    first_eps: float = 0.05
    eps_step: float = 0.3
    least_eps: float = 5e-6
    settled: float = 0.8
    max_approaches: int = 4
    steps_per_variable: int = 100
    shrink_every: int = 1000
    sample_from: int = 20_000
    sample_share: float = 0.1
    compact_at: float = 0.75
