"""Compute density and both tails of the range of standard normal variables, accurate in small digits."""

import math
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from ...special.basic.elementary import log1m_exp
from ...special.basic.quadrature import bits_of
from .normal_range_table import END, LENGTH, TERMS, RangeTable, tail_fraction

# With this few terms logs are right to a few percent: enough to find where to integrate.
ROUGH = 8
# With this many terms, by precision, they are right to rounding.
_TERMS = {32: 18, 64: TERMS}
_Sums = tuple[jax.Array, jax.Array, jax.Array, jax.Array]
# Beyond this logarithm of w the upper tail underflows in any precision.
_FAR = 30.0


class Range(NamedTuple):
    """Logs of the density, and of the probabilities below and above."""

    density: jax.Array
    below: jax.Array
    above: jax.Array


def log_range(log_w: jax.Array, table: RangeTable, terms: int | None = None) -> Range:
    """Evaluate at exp(`log_w`), by default with as many terms as the precision asks for."""
    log_w = jnp.minimum(log_w, _FAR)
    w = jnp.exp(log_w)
    is_low, reach = w < table.turn, END - table.turn
    low = jnp.where(is_low, w, table.turn)
    past = jnp.clip(w - table.turn, 0.0, reach)
    t = jnp.where(
        is_low,
        2.0 * (low / table.turn) ** 2 - 1.0,
        1.0 - 2.0 * (reach - past) * LENGTH / (reach * (past + LENGTH)),
    )
    density, tail = _series(t, is_low, table, _TERMS[bits_of(w)] if terms is None else terms)
    base, fall = jnp.where(is_low, log_w - 0.5 * jnp.log(low * low + 2.0 * math.pi), 0.0), 0.25 * w * w
    fraction = jnp.log(tail_fraction(jnp.where(is_low, table.turn, w)))
    small = (table.num_groups - 1) * base + tail - jnp.where(is_low, 0.0, fall + fraction)
    small = jnp.minimum(small, -1e-30)
    large = log1m_exp(small)
    return Range(
        (table.num_groups - 2) * base + density - fall,
        jnp.where(is_low, small, large),
        jnp.where(is_low, large, small),
    )


def _series(t: jax.Array, is_low: jax.Array, table: RangeTable, terms: int) -> tuple[jax.Array, jax.Array]:
    """Evaluate the series of the density and a tail by Clenshaw's recurrence."""
    first, *rest = np.asarray(table.series[:terms], t.dtype)

    def chosen(row: jax.Array) -> tuple[jax.Array, jax.Array]:
        return jnp.where(is_low, row[0], row[2]), jnp.where(is_low, row[1], row[3])

    def step(sums: _Sums, row: jax.Array) -> tuple[_Sums, None]:
        earlier, latest, earlier_tail, latest_tail = sums
        density, tail = chosen(row)
        return (
            latest,
            density + 2.0 * t * latest - earlier,
            latest_tail,
            tail + 2.0 * t * latest_tail - earlier_tail,
        ), None

    # Zeros that vary across devices if the argument does, as the sums do.
    none = 0.0 * t
    (earlier, latest, earlier_tail, latest_tail), _ = jax.lax.scan(
        step, (none, none, none, none), jnp.asarray(np.stack(rest[::-1]))
    )
    density, tail = chosen(first)
    return density + t * latest - earlier, tail + t * latest_tail - earlier_tail
