"""Verify the tables of a model: at an assignment of the discrete sites taken at random, they are the model's own.

A table is made with one value for all entries of a site at a time. It is right if each entry of a log probability sees
only the entry at its own place; else the model with different values in each entry says something else.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ....core import keys
from ...latent import concrete
from ...program import ModelProgram, every_site
from ...quick import quickly
from ...support import EachAt
from ...unknowns import free_of, pieces_at
from .backward import picked
from .contract import contract
from .plan import Plan
from .plan_parts import Part, parts_of
from .sums import log_sum
from .table import Label, Place, interacting, ordered
from .tables import place_of, raised_of, tables_of
from .trying import position_at_random

TOLERANCE = 1e-9
"""The share of a log probability by which a table may depart from it: rounding makes less."""

SPREADS = (0.3, 1.0, 1.0)
"""Standard deviations of the other unknowns, in unconstrained numbers, where tables are compared."""

Assignment = dict[Part, tuple[jax.Array, jax.Array]]
"""Entries of each part's table at the assignment, and the model's own."""


def comparing(base: ModelProgram, plan: Plan) -> Callable[..., Assignment]:
    """Compile the comparison for data, a position of the other unknowns, and a key for the assignment."""
    are_unknowns = not {entry.name for entry in base.layout.whole}.isdisjoint(plan.names)

    def compare(data: Any, position: Any, key: Any) -> Assignment:
        others = pieces_at(position, base.layout)
        dtype = free_of(position).dtype
        tables = tables_of(base, plan, others, data, every_site)
        # For what it raises.
        contract(
            raised_of(tables) if are_unknowns else tables.tables.values(),
            tables.owned,
            dict(plan.chains),
            log_sum,
            dtype,
            recorded=False,
        )
        choices: dict[str, EachAt] = {}
        chains = dict(plan.chains)
        places: dict[Label, Place] = {}
        every = _levels(key, [tables.shapes[name] for name in plan.names], dtype)
        for name, levels in zip(plan.names, every, strict=True):
            place = jnp.floor(levels * plan.size(name)).astype(jnp.int32)
            missing = tables.index.get(name)
            choices[name] = EachAt(place if missing is None else place.reshape(-1)[missing])
            axes, place = places[name, 0] = place_of(name, choices[name], tables)
            for lag in range(1, abs(chains.get(name, 0)) + 1):
                # Steps before the first one see none: whichever value stands there is the same.
                places[name, lag] = (axes, jnp.roll(place, lag if chains[name] > 0 else -lag, axis=0))
        with concrete(base.constants):
            sites = base.sites({**others, **choices}, data)
            at_places = {name: choice.index for name, choice in choices.items()}
            direct = {part: entries for part, _, entries in parts_of(sites, every_site, at_places)}
        found: Assignment = {}
        for part, table in tables.tables.items():
            entries = picked(table, places)
            if part[0] in tables.index and part[0] in table.names:
                entries = entries.reshape(-1)[tables.index[part[0]]]
            found[part] = (entries.reshape(-1), direct[part].reshape(-1))
        return found

    return quickly(compare)


def check_assignment(
    base: ModelProgram, plan: Plan, compare: Callable[..., Assignment], data: Mapping[str, Any]
) -> None:
    """Raise `SiteError` where a table is not the model's at assignments taken at random; in the scope of float64."""
    random = np.random.default_rng(0)
    seen = dict(plan.seen)
    for spread in SPREADS:
        position = position_at_random(base.layout, random, spread)
        key = random.integers(0, 2**32, 2, np.uint32)
        for (name, kind), (found, own) in compare(dict(data), position, key).items():
            found, own = np.asarray(found), np.asarray(own)
            is_same = np.isclose(found, own, rtol=TOLERANCE, atol=TOLERANCE, equal_nan=True)
            if not is_same.all():
                raise interacting(ordered(each for each, _ in seen[name, kind]), (name,))


def _levels(key: Any, shapes: Sequence[tuple[int, ...]], dtype: Any) -> list[jax.Array]:
    """Return uniform numbers of these shapes, by one call of the cipher: of hundreds, each would be compiled."""
    sizes = [int(np.prod(shape, dtype=int)) for shape in shapes]
    counters = np.concatenate([np.arange(size, dtype=np.uint32) for size in sizes])
    numbers = np.repeat(np.arange(len(sizes), dtype=np.uint32), sizes)
    found = keys.uniform(key, jnp.asarray(counters), jnp.asarray(numbers), dtype)
    ends = np.cumsum(sizes)
    return [
        found[end - size : end].reshape(shape) for end, size, shape in zip(ends, sizes, shapes, strict=True)
    ]
