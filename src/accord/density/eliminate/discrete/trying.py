"""Evaluate the log probabilities of a model at assignments of its discrete sites, to see what they depend on."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import jax
import numpy as np

from ...latent import concrete
from ...program import ModelProgram, every_site
from ...quick import quickly
from ...support import EachAt
from ...unknowns import pieces_of
from .plan_parts import Part, parts_of

Assigned = Mapping[str, np.ndarray]
"""By discrete site, the number of the value of each of its entries."""


class Trials:
    """A model at assignments of its discrete sites, one after the other.

    **Arguments**: `names`, the discrete sites; `data`, in memory.
    """

    def __init__(self, base: ModelProgram, names: Collection[str], data: Mapping[str, Any]) -> None:
        """Make what is compiled at the first call."""
        self.shapes = {name: base.layout[name].shape for name in names}
        self.dim = base.layout.dim
        self._data = dict(data)

        def at(data: Any, position: Any, places: Mapping[str, Any]) -> dict[str, jax.Array]:
            with concrete(base.constants):
                choices = {name: EachAt(places[name]) for name in names}
                sites = base.sites({**pieces_of(position, base.layout.entries), **choices}, data)
                return {_key(part): entries for part, _, entries in parts_of(sites, every_site, places)}

        self._run = quickly(
            lambda data, positions, places: jax.lax.map(lambda each: at(data, *each), (positions, places))
        )

    def at(self, positions: np.ndarray, assigned: Sequence[Assigned]) -> "Entries":
        """Evaluate all parts, at each of these positions of the other unknowns and assignments."""
        stacked = {name: np.stack([each[name] for each in assigned]) for name in self.shapes}
        return Entries(self._run(self._data, positions, stacked))


class Entries:
    """Log probabilities of the parts of a model at assignments."""

    def __init__(self, found: Mapping[str, Any]) -> None:
        """Keep them."""
        self._found = found

    def of(self, part: Part) -> np.ndarray:
        """Return those of a part: the assignments are the first axis."""
        return np.asarray(self._found[_key(part)])


def differ(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Return which numbers differ; NaN is NaN."""
    return ~((one == other) | (np.isnan(one) & np.isnan(other)))


def _key(part: Part) -> str:
    return "/".join(part)
