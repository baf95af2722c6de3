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

    def places(self, degree: int | None = None) -> slice:
        """Where the interactions of one degree stand, or all of them."""
        if degree is None:
            return slice(0, self.size)
        if degree not in self.slices:
            raise ValueError(f"degree must be from 1 to {self.degree}, got {degree!r}.")
        return self.slices[degree]

    def keys(self, degree: int | None = None) -> list[Key]:
        """Keys of the interactions of one degree, or of all."""
        keys: list[Key] = []
        for d in self.slices if degree is None else [degree]:
            indices = self.terms.indices[1:][self.places(d), self.degree - d :]
            keys += map(tuple, (indices - 1).tolist())
        return keys

    def key(self, place: int) -> Key:
        """Key of the interaction at a position."""
        indices = self.terms.indices[place + 1]
        return tuple((indices[indices > 0] - 1).tolist())

    def name(self, key: Key) -> str:
        """The product in words, such as ``x0·x2²``."""
        factors = []
        for index in dict.fromkeys(key):
            power = str(key.count(index)).translate(SUPERSCRIPTS)
            factors.append(self.feature_names[index] + ("" if power == "¹" else power))
        return "·".join(factors)

    def positions(self, interactions: Iterable[Interaction]) -> Indices:
        """Positions of given interactions; raise for one that does not exist."""
        single = isinstance(interactions, tuple) and all(map(_is_feature, interactions))
        if single or _is_feature(interactions):
            raise ValueError(f"interactions must be a list: write [{interactions!r}].")
        return np.array([self._position(interaction) for interaction in interactions], np.intp)

    def mask(self, interactions: Mask | Iterable[Interaction]) -> Mask:
        """A boolean mask over all interactions, from such a mask or from a list of them."""
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
