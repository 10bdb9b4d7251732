"""Propose where a walker of an ensemble goes, given others."""

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from .point import Point

STRETCH = 2.0  # the largest factor of a stretch, and one over its smallest
_JITTER = 1e-5  # of a difference: without it, walkers move on a grid
_JUMPS = 0.1  # share of differences that are added whole, which leads from mode to mode


def chosen(u: Float[Array, ""], count: int) -> Int[Array, ""]:
    """Return a whole number below `count` from a uniform one."""
    return jnp.minimum(jnp.floor(u * count), count - 1).astype(jnp.int32)


def two_others(
    who: Int[Array, ""], u_first: Float[Array, ""], u_second: Float[Array, ""], count: int
) -> tuple[Int[Array, ""], Int[Array, ""]]:
    """Choose two walkers of `count` that are neither each other nor `who`."""
    first = chosen(u_first, count - 1)
    second = chosen(u_second, count - 2)
    second = second + (second >= first)
    return (who + 1 + first) % count, (who + 1 + second) % count


def stretch(
    here: Float[Array, " dim"], other: Float[Array, " dim"], u: Float[Array, ""]
) -> tuple[Float[Array, " dim"], Float[Array, ""]]:
    """Go along the line to another walker; also return the logarithm of the factor of the acceptance ratio.

    **Source**: Goodman & Weare (2010), Comm. App. Math. Comp. Sci. 5(1), 65-80, equations 7 to 9.
    """
    z = stretched(u)
    return other + z * (here - other), (here.shape[0] - 1) * jnp.log(z)


def stretched(u: Float[Array, "..."]) -> Float[Array, "..."]:
    """Return the factor of a stretch from a uniform number: its density is as 1 / sqrt(z) from 1 / 2 to 2."""
    return ((STRETCH - 1) * u + 1) ** 2 / STRETCH


def add_difference(
    here: Float[Array, " dim"],
    first: Float[Array, " dim"],
    second: Float[Array, " dim"],
    u_jump: Float[Array, ""],
    u_jitter: Float[Array, ""],
) -> Float[Array, " dim"]:
    """Add a multiple of the difference between two walkers: differential evolution.

    **Source**: ter Braak (2006), Statistics and Computing 16(3), 239-249, whose small noise is here one of the factor,
    as in emcee.
    """
    factor = jnp.where(u_jump < _JUMPS, 1.0, factor_of_difference(here.shape[0])).astype(here.dtype)
    return here + factor * (1 + _JITTER * (2 * u_jitter - 1)) * (first - second)


def factor_of_difference(dim: int) -> float:
    """Return the best factor of differences for a normal distribution."""
    return 2.38 / float(np.sqrt(2 * dim))


def start_near(start: Point, noise: Float[Array, " dim"], num_tries: Int[Array, ""]) -> Float[Array, " dim"]:
    """Return a place for a walker about the starting point of its chain, nearer with each try that has failed.

    The scale is the one at which the gradient would be typical, and at most 1.
    """
    size = jnp.abs(start.gradient)
    is_known: Bool[Array, " dim"] = (size > 1) & jnp.isfinite(size)
    scale = 1 / jnp.sqrt(jnp.where(is_known, size, 1))
    return start.position.free + jnp.exp2(-num_tries.astype(noise.dtype)) * scale * noise
