"""Say which entries of a distribution's batch count in its density, where some are masked."""

from typing import Any

import jax.numpy as jnp

from ...core.by_step import at_each_step
from ..base import AbstractDistribution, Shape
from .each_step import EachStep
from .either import Either
from .entries import AbstractPart
from .masked import MaskedDistribution
from .same_event import AbstractOfSameEvent
from .wrappers import Independent


def counted(distribution: AbstractDistribution | None) -> Any:
    """Return booleans that broadcast with the batch shape, False where the density is 1 by a mask; None for no mask.

    An event of several entries counts if any of them does.
    """
    match distribution:
        case MaskedDistribution():
            return _both(distribution.where, counted(distribution.base))
        case AbstractOfSameEvent():
            return counted(distribution.base)
        case Independent():
            found = counted(distribution.base)
            if found is None or not distribution.count:
                return found
            return _spread(found, distribution.base.batch_shape).any(
                axis=tuple(range(-distribution.count, 0))
            )
        case EachStep():
            steps = jnp.zeros(distribution.length)
            return at_each_step(
                lambda base, _: _spread(counted(base), distribution.shape),
                distribution.base,
                distribution.by_step,
                steps,
            )
        case Either():
            parts = [counted(each) for each in (distribution.first, distribution.second)]
            if all(part is None for part in parts):
                return None
            return jnp.where(distribution.condition, *(True if part is None else part for part in parts))
        case AbstractPart():
            return jnp.asarray(distribution.is_there).any(axis=-1)
        case _:
            return None


def _spread(found: Any, shape: Shape) -> Any:
    return None if found is None else jnp.broadcast_to(found, shape)


def _both(first: Any, second: Any) -> Any:
    return first if second is None else jnp.logical_and(first, second)
