"""The interactions of features up to a degree: their order, their keys and their names."""

from collections.abc import Hashable, Iterable
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernelbook.explain.monomials import Indices, Monomials, n_monomials

__all__ = ["Interaction", "Interactions", "Key", "Mask"]

Key = tuple[int, ...]
Interaction = Hashable | Iterable[Hashable]
Mask = NDArray[np.bool_]

SUPERSCRIPTS = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


class Interactions:
    """All products of 1 to D features, powers among them.

    They stand in the order of their degree, and within a degree in lexicographic order of their
    sorted feature indices, which are the *key* of an interaction. They are handled as monomials
    of degree D in one variable more, which stands first and is always 1: in lexicographic order
    these come in just this order, behind the constant, and their multiplicities contain the
    binomial coefficients of the kernel.

    Parameters
    ----------
    n_features : int
        Number of features.
    degree : int
        The largest degree D.
    feature_names : iterable of str or None
        Names of the features. If None, ``x0, x1, ...``.

    Attributes
    ----------
    feature_names : tuple of str
        Names of the features.
    degree : int
        The largest degree.
    terms : Monomials
        The monomials that stand for the interactions and, first, the constant.
    size : int
        Number of interactions.
    slices : dict
        From each degree to the slice of its interactions.

    Examples
    --------
    >>> interactions = Interactions(2, degree=2, feature_names=["age", "dose"])
    >>> [interactions.name(key) for key in interactions.keys()]
    ['age', 'dose', 'age²', 'age·dose', 'dose²']
    """

    def __init__(self, n_features: int, degree: int, feature_names: Iterable[str] | None) -> None:
        if feature_names is None:
            feature_names = (f"x{i}" for i in range(n_features))
        names = self.feature_names = tuple(map(str, feature_names))
        if not len(names) == len(set(names)) == n_features:
            raise ValueError(f"feature_names must be {n_features} different names, got {names}.")
        self.degree, self.terms = degree, Monomials(n_features + 1, degree)
        ends = [n_monomials(n_features + 1, d) - 1 for d in range(degree + 1)]
        self.size = ends[-1]
        self.slices = {d: slice(ends[d - 1], ends[d]) for d in range(1, degree + 1)}

    def __repr__(self) -> str:
        return f"Interactions({len(self.feature_names)} features, degree={self.degree})"

    def places(self, degree: int | None = None) -> slice:
        """Return where the interactions of one degree stand.

        Parameters
        ----------
        degree : int, default=None
            The degree. If None, all of them.

        Returns
        -------
        slice
            Of positions.

        Raises
        ------
        ValueError
            If there is no such degree.
        """
        if degree is None:
            return slice(0, self.size)
        if degree not in self.slices:
            raise ValueError(f"degree must be from 1 to {self.degree}, got {degree!r}.")
        return self.slices[degree]

    def keys(self, degree: int | None = None) -> list[Key]:
        """Return the keys of the interactions of one degree.

        Parameters
        ----------
        degree : int, default=None
            The degree. If None, all of them.

        Returns
        -------
        list of tuple of int
            Sorted feature indices, in order.
        """
        keys: list[Key] = []
        for d in self.slices if degree is None else [degree]:
            indices = self.terms.indices[1:][self.places(d), self.degree - d :]
            keys += map(tuple, (indices - 1).tolist())
        return keys

    def key(self, place: int) -> Key:
        """Return the key of the interaction at a position.

        Parameters
        ----------
        place : int
            The position.

        Returns
        -------
        tuple of int
            Sorted feature indices.
        """
        indices = self.terms.indices[place + 1]
        return tuple((indices[indices > 0] - 1).tolist())

    def name(self, key: Key) -> str:
        """Return an interaction as a product of feature names.

        Parameters
        ----------
        key : tuple of int
            Sorted feature indices.

        Returns
        -------
        str
            Text such as ``x0·x2²``.
        """
        factors = []
        for index in dict.fromkeys(key):
            power = str(key.count(index)).translate(SUPERSCRIPTS)
            factors.append(self.feature_names[index] + ("" if power == "¹" else power))
        return "·".join(factors)

    def positions(self, interactions: Iterable[Interaction]) -> Indices:
        """Return the positions of given interactions.

        Parameters
        ----------
        interactions : iterable of interactions
            Tuples of feature indices or names, in any order.

        Returns
        -------
        ndarray of shape (k,), dtype=int
            Their positions, as given.

        Raises
        ------
        ValueError
            If one does not exist, or if a single one is given instead of a list.
        """
        single = isinstance(interactions, tuple) and all(map(_is_feature, interactions))
        if single or _is_feature(interactions):
            raise ValueError(f"interactions must be a list: write [{interactions!r}].")
        return np.array([self._position(interaction) for interaction in interactions], np.intp)

    def mask(self, interactions: Mask | Iterable[Interaction]) -> Mask:
        """Return a mask over all interactions.

        Parameters
        ----------
        interactions : ndarray of shape (size,), dtype=bool, or iterable of interactions
            Such a mask, or a list as for :meth:`positions`.

        Returns
        -------
        ndarray of shape (size,), dtype=bool
            A new mask.

        Raises
        ------
        ValueError
            If a mask has another shape, or an interaction does not exist.
        """
        mask = np.zeros(self.size, dtype=bool)
        if not isinstance(interactions, np.ndarray) or interactions.dtype != bool:
            mask[self.positions(interactions)] = True
        elif interactions.shape == mask.shape:
            mask[:] = interactions
        else:
            raise ValueError(f"a mask must have shape {mask.shape}, got {interactions.shape}.")
        return mask

    def _position(self, interaction: Any) -> int:
        features = (interaction,) if _is_feature(interaction) else tuple(interaction)
        degree = len(features)
        if degree not in self.slices:
            raise ValueError(
                f"{interaction!r} has degree {degree}; this model has degrees 1 to {self.degree}."
            )
        # Shorter ones are filled up with the constant variable, which stands first.
        indices = sorted(self._index(feature) + 1 for feature in features)
        return self.terms.position([0] * (self.degree - degree) + indices) - 1

    def _index(self, feature: object) -> int:
        names, p = self.feature_names, len(self.feature_names)
        if feature in names:
            return names.index(feature)
        if isinstance(feature, Integral) and not isinstance(feature, bool) and feature in range(p):
            return int(feature)
        some = ", ".join(names[:8]) + (", ..." if p > 8 else "")
        raise ValueError(f"{feature!r} is no feature: name one of {some}, or an index below {p}.")


def _is_feature(value: object) -> bool:
    return isinstance(value, (str, Integral))
