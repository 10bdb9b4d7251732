"""Place quadrature points for a bell-shaped function: sharp or wide, skewed, with slowly falling tails.

On each side of the peak stands one Gauss-Legendre rule in the logarithm of the distance, which resolves an edge near
the peak as well as a long tail.
"""

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from ..basic.quadrature import FALL, bits_of, rule_on_unit

_PEAK_STEPS, _WIDTH_STEPS = 30, 12
# Logarithms of the shortest and the longest distance from the peak that are considered.
_NEAREST, _FARTHEST = -18.0, 16.0


class Bell(NamedTuple):
    """Quadrature points of a bell: its peak, and along one more axis distances from the peak and weights."""

    peak: jax.Array
    step: jax.Array
    weight: jax.Array


def find_bell(exponent: Callable[..., jax.Array], low: jax.Array, high: jax.Array, *given: jax.Array) -> Bell:
    """Place points around the peak of a bell; they are constants to derivatives.

    **Arguments**
    - `exponent`: log of the bell, of (position, step from there, *given), arrays of one shape; a rough one will do.
    - `low`, `high`: the peak is between them, and the exponent rises up to it and falls from it on.
    """
    low, high, *fixed = jax.lax.stop_gradient((low, high, *given))

    beside = jnp.asarray([-0.01, 0.01], low.dtype).reshape((1,) * low.ndim + (2,))
    pair = [jnp.broadcast_to(array[..., None], (*low.shape, 2)) for array in fixed]

    def narrow(_: int, ends: tuple[jax.Array, jax.Array]) -> tuple[jax.Array, jax.Array]:
        low, high = ends
        middle, width = 0.5 * (low + high), high - low
        step = beside * width[..., None]
        found = exponent(jnp.broadcast_to(middle[..., None], step.shape), step, *pair)
        is_rising = found[..., 1] > found[..., 0]
        keep = 0.01 * width
        return jnp.where(is_rising, middle - keep, low), jnp.where(is_rising, high, middle + keep)

    low, high = jax.lax.fori_loop(0, _PEAK_STEPS, narrow, (low, high))
    peak = 0.5 * (low + high)

    fall = FALL[bits_of(peak)]
    sign, least = (
        jnp.asarray(row, peak.dtype).reshape((1,) * peak.ndim + (4,))
        for row in np.array([[-1, -1, 1, 1], [1, fall, 1, fall]])
    )
    wide = [jnp.broadcast_to(array[..., None], (*peak.shape, 4)) for array in (peak, *fixed)]
    top = exponent(peak, jnp.zeros_like(peak), *fixed)[..., None]

    def halve(_: int, ends: tuple[jax.Array, jax.Array]) -> tuple[jax.Array, jax.Array]:
        first, last = ends
        middle = 0.5 * (first + last)
        # NaN from an overflow far out counts as having fallen.
        has_fallen = ~(top - exponent(wide[0], sign * jnp.exp(middle), *wide[1:]) <= least)
        return jnp.where(has_fallen, first, middle), jnp.where(has_fallen, middle, last)

    first, last = (jnp.full_like(wide[0], end) for end in (_NEAREST, _FARTHEST))
    _, last = jax.lax.fori_loop(0, _WIDTH_STEPS, halve, (first, last))
    distance = jnp.exp(last)
    unit = jnp.minimum(distance[..., 0], distance[..., 2])
    return bell_points(peak, unit, distance[..., 1], distance[..., 3])


def bell_points(peak: jax.Array, unit: jax.Array, left: jax.Array, right: jax.Array) -> Bell:
    """Place points around a peak, from `left` below it to `right` above; at about `unit` it has fallen a little."""
    nodes, weights = rule_on_unit(peak)
    steps, shares = [], []
    for sign, length in ((-1.0, left), (1.0, right)):
        reach = jnp.log1p(length / unit)[..., None]
        steps.append(sign * unit[..., None] * jnp.expm1(reach * nodes))
        shares.append(unit[..., None] * reach * weights * jnp.exp(reach * nodes))
    return Bell(peak, jnp.concatenate(steps, axis=-1), jnp.concatenate(shares, axis=-1))
