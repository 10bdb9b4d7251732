"""Draw sites that are integrated out from a normal distribution, as a function of the position of the others."""

import math

import jax
import jax.numpy as jnp

from ....core import keys
from ...unknowns import Unknowns, free_of
from .groups import Groups
from .square import Conditional


def drawn_from(normal: Conditional, groups: Groups, position: Unknowns) -> tuple[jax.Array, jax.Array]:
    """Draw stacked sites from a normal distribution, by the numbers of a position; with the log density of the draw."""
    dtype = free_of(position).dtype
    key = keys.of_numbers(free_of(position))
    noise = {
        name: keys.normal(key, math.prod(shape), place, dtype).reshape(shape)
        for place, (name, shape) in enumerate(groups.sites)
    }
    length = sum((jnp.sum(each**2) for each in noise.values()), start=jnp.zeros((), dtype))
    return normal.mean + normal.deviation(groups.stack(noise)), -0.5 * length - normal.log_volume
