"""Evaluate the log probabilities of a model at assignments of its discrete sites, to see what they depend on."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import jax
import numpy as np

from ....core.position import Position
from ...latent import concrete
from ...layout import Layout
from ...program import ModelProgram, every_site
from ...quick import quickly
from ...support import EachAt
from ...unknowns import Unknowns, pieces_at
from .plan_parts import Part, parts_of

NUM_AT_ONCE = 12
"""Assignments that a program has room for: one is compiled, however many there are."""

Assigned = Mapping[str, np.ndarray]
"""Numbers of the values of all entries, by discrete site."""


class Trials:
    """A model at assignments of its discrete sites, one after the other.

    **Arguments**: `names`, the discrete sites; `data`, in memory.
    """

    def __init__(self, base: ModelProgram, names: Collection[str], data: Mapping[str, Any]) -> None:
        """Make what is compiled at the first call."""
        self.shapes = {name: base.layout[name].shape for name in names}
        self._layout, self._data = base.layout, dict(data)

        def at(data: Any, position: Any, places: Mapping[str, Any]) -> dict[str, jax.Array]:
            with concrete(base.constants):
                choices = {name: EachAt(places[name]) for name in names}
                sites = base.sites({**pieces_at(position, base.layout), **choices}, data)
                return {_key(part): entries for part, _, entries in parts_of(sites, every_site, places)}

        self._run = quickly(
            lambda data, positions, places: jax.lax.map(lambda each: at(data, *each), (positions, places))
        )

    def position(self, random: np.random.Generator, spread: float = 0.7) -> Unknowns:
        """Take a position of the other unknowns at random."""
        return position_at_random(self._layout, random, spread)

    def at(self, positions: Sequence[Unknowns], assigned: Sequence[Assigned]) -> "Entries":
        """Evaluate all parts, at each of these positions of the other unknowns and assignments."""
        found = []
        for start in range(0, len(assigned), NUM_AT_ONCE):
            numbers = [min(start + i, len(assigned) - 1) for i in range(NUM_AT_ONCE)]
            each = jax.tree.map(lambda *leaves: np.stack(leaves), *(positions[i] for i in numbers))
            stacked = {name: np.stack([assigned[i][name] for i in numbers]) for name in self.shapes}
            found.append(jax.tree.map(np.asarray, self._run(self._data, each, stacked)))
        joined = jax.tree.map(lambda *arrays: np.concatenate(arrays)[: len(assigned)], *found)
        return Entries(joined)


class Entries:
    """Log probabilities of the parts of a model at assignments."""

    def __init__(self, found: Mapping[str, np.ndarray]) -> None:
        """Keep them."""
        self._found = found

    def of(self, part: Part) -> np.ndarray:
        """Return those of a part: the assignments are the first axis."""
        return self._found[_key(part)]


def position_at_random(layout: Layout, random: np.random.Generator, spread: float) -> Any:
    """Take a position at random, its free numbers with this standard deviation."""
    free: Any = spread * random.normal(size=layout.dim)
    if not layout.whole:
        return free
    whole = []
    for entry in layout.whole:
        low = entry.low or 0
        high = low + 3 if entry.high is None else entry.high
        whole.append(random.integers(low, high + 1, entry.stop - entry.start))
    numbers: Any = np.concatenate(whole).astype(np.int32)
    return Position(free, numbers)


def differ(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Return which numbers differ; NaN is NaN."""
    return ~((one == other) | (np.isnan(one) & np.isnan(other)))


def _key(part: Part) -> str:
    return "/".join(part)
