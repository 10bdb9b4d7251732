"""List the values of a finite support for a distribution that wraps another."""

from typing import TYPE_CHECKING

import jax
import jax.numpy as jnp

from ...core.errors import DistributionError

if TYPE_CHECKING:
    from ..base import AbstractDistribution, Shape


def enumerate_in(base: "AbstractDistribution", batch_shape: "Shape", expand: bool) -> jax.Array:
    """List the values of a finite support along a new first axis, for another batch shape."""
    listing = getattr(base, "enumerate_support", None)
    if listing is None:
        raise DistributionError(
            f"{type(base).__name__} has no list of values. Only discrete distributions with finite support have one."
        )
    values = listing(False)
    values = values.reshape((values.shape[0],) + (1,) * len(batch_shape))
    return jnp.broadcast_to(values, (values.shape[0], *batch_shape)) if expand else values
