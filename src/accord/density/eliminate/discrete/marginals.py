"""Compute the probabilities of the values of each discrete site, all other discrete sites summed out.

They are derivatives: that of the log of a sum by the log of one of its terms is the term's share.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import jax
import jax.numpy as jnp

from .contract import contract
from .plan import Plan
from .sums import log_sum
from .table import Table
from .tables import Tables


def probabilities_of(tables: Tables, plan: Plan) -> dict[str, jax.Array]:
    """Return, by discrete site, the probabilities of its values given the other unknowns, shape `(*site, value)`."""
    bare = {part: replace(table, scale=None) for part, table in tables.tables.items()}
    dtype = next(iter(bare.values())).entries.dtype

    def total(added: Mapping[str, jax.Array]) -> jax.Array:
        found = dict(bare)
        for name, array in added.items():
            prior = bare[name, "entries"]
            there = Table(((name, 0),), tables.own[name], array).along(prior.labels, prior.axes)
            found[name, "entries"] = replace(prior, entries=prior.entries + there)
        return contract(found.values(), tables.owned, dict(plan.chains), log_sum, dtype, recorded=False).total

    zeros = {
        name: jnp.zeros((plan.size(name), *(axis[2] for axis in tables.own[name])), dtype)
        for name in plan.names
    }
    return {name: _of_entries(name, each, tables) for name, each in jax.grad(total)(zeros).items()}


def _of_entries(name: str, found: jax.Array, tables: Tables) -> jax.Array:
    found = jnp.moveaxis(found.reshape(found.shape[0], *tables.shapes[name]), 0, -1)
    missing: Any = tables.index.get(name)
    return found if missing is None else found.reshape(-1, found.shape[-1])[missing]
