"""Compute mean, variance and entropy of a continuous univariate distribution by one quadrature rule."""

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

import jax
import jax.numpy as jnp

from ..parameters import without_gradient
from .rule import Nodes, integrate, nodes_between

if TYPE_CHECKING:
    from ..base import AbstractDistribution


def mean_of(d: "AbstractDistribution", knots: jax.Array) -> jax.Array:
    """Compute the expectation, of the batch shape: infinite where it is, NaN where infinite on either side.

    **Arguments**: `knots`, points along a new first axis between which the density is smooth on its own scale.
    """
    nodes, log_density = _seen(d, knots)
    return nodes.centre[0] + _shift(nodes, log_density)


def variance_of(d: "AbstractDistribution", knots: jax.Array) -> jax.Array:
    """Compute the variance, of the batch shape: infinite where it or the mean is, NaN without a mean. See `mean_of`."""
    nodes, log_density = _seen(d, knots)
    shift = _shift(nodes, log_density)
    is_finite = jnp.isfinite(shift)
    deviation = nodes.offset - jnp.where(is_finite, shift, 0.0)[None]
    square = integrate(nodes, log_density, deviation, deviation) / integrate(nodes, log_density)
    return jnp.where(is_finite, square, jnp.abs(shift))


def entropy_of(d: "AbstractDistribution", knots: jax.Array) -> jax.Array:
    """Compute the entropy in nats, of the batch shape. See `mean_of`."""
    nodes, log_density = _seen(d, knots)
    return -integrate(nodes, log_density, log_density) / integrate(nodes, log_density)


def average(d: "AbstractDistribution", knots: jax.Array, of: Callable[[jax.Array], jax.Array]) -> jax.Array:
    """Compute the expectation of a function, of the batch shape. See `mean_of`."""
    nodes, log_density = _seen(d, knots)
    return integrate(nodes, log_density, of(nodes.x)) / integrate(nodes, log_density)


def _seen(d: "AbstractDistribution", knots: jax.Array) -> tuple[Nodes, jax.Array]:
    """Return nodes and the log density there."""
    nodes = nodes_between(d, knots)
    # Far out a density is 0 and its derivatives overflow. Rounding may move a node to an end with infinite density.
    found = without_gradient(d).log_prob(jax.lax.stop_gradient(nodes.x))
    least = math.log(float(jnp.finfo(found.dtype).tiny))
    is_there = (found < jnp.inf) & (found + jax.lax.stop_gradient(nodes.log_slope) > least)
    log_density = d.log_prob(jnp.where(is_there, nodes.x, jax.lax.stop_gradient(nodes.centre)))
    return nodes, jnp.where(is_there, log_density, -jnp.inf)


def _shift(nodes: Nodes, log_density: jax.Array) -> jax.Array:
    """Return the mean less the centre, divided by the mass so that rounding of the density cancels."""
    return integrate(nodes, log_density, nodes.offset) / integrate(nodes, log_density)
