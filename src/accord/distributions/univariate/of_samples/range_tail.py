"""Compute the density, both tails and quantiles of the range of normal variables over an estimated scale.

With s the scale, r the density of the range and R a tail of it, density and tail at q are means over s of s r(q s) and
of R(q s). In log(s) each integrand is a bell, of which the logarithm is concave. All are functions of log(q).

**Source**: Copenhaver & Holland (1988), J. Stat. Comput. Simul. 30(1), 1-15.
"""

import functools
import math
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax.custom_derivatives import SymbolicZero
from jax.scipy.special import gammaln

from ...special.basic.elementary import HALF_LOG_TWO_PI, log1m, log1m_exp
from ...special.basic.tails import solve_tails, tail_pair
from ...special.bessel.bell import find_bell
from ...special.student.scaled_chi import chi_excess, log_chi_constant, slope_by_df
from .normal_range import ROUGH, log_range
from .normal_range_table import RangeTable

# Start of the quantile search: next to 0 its steps would have to be smaller than the rounding of tails.
_AWAY = 4.0


class _Mean(NamedTuple):
    """Log of a mean over s and, along one more axis, its shares, log(s), s - 1, and log(q s)."""

    log_mean: jax.Array
    share: jax.Array
    log_s: jax.Array
    less: jax.Array
    log_w: jax.Array


@functools.partial(jax.custom_jvp, nondiff_argnums=(2,))
def log_studentized_range(log_q: jax.Array, df: jax.Array, table: RangeTable) -> jax.Array:
    """Compute the log density of q; `log_q` and `df` of one shape."""
    return _density(log_q, df, table).log_mean


def _density_jvp(table: RangeTable, primals: Any, tangents: Any) -> tuple[jax.Array, jax.Array]:
    log_q, df = primals
    mean = _density(log_q, df, table)

    def log_r(log_w: jax.Array) -> jax.Array:
        return log_range(log_w, table).density

    pull = jax.jvp(log_r, (mean.log_w,), (jnp.ones_like(mean.log_w),))[1]
    return mean.log_mean, _moved(mean, pull, 1.0 + pull, df, tangents)


log_studentized_range.defjvp(_density_jvp, symbolic_zeros=True)


def log_studentized_range_tails(
    log_q: jax.Array, df: jax.Array, table: RangeTable
) -> tuple[jax.Array, jax.Array]:
    """Compute log probabilities below and above q, each accurate where it is small."""
    is_lower = _is_lower(log_q, df, table)
    return tail_pair(_log_tail(log_q, df, is_lower, table), is_lower)


@functools.partial(jax.custom_jvp, nondiff_argnums=(2,))
def studentized_range_quantile(level: jax.Array, df: jax.Array, table: RangeTable) -> jax.Array:
    """Compute the q whose cdf is `level`, in (0, 1); `level` and `df` of one shape."""
    # Search for the distance of log(q) from a start that is never near 0.
    start, most = _log_start(level, df, table), 0.9 * math.log(float(jnp.finfo(df.dtype).max))

    def log_tails(distance: jax.Array) -> tuple[jax.Array, jax.Array]:
        return log_studentized_range_tails(start + (distance - _AWAY), df, table)

    first, low, high = jnp.full_like(df, _AWAY), _AWAY - most - start, _AWAY + most - start
    return jnp.exp(start + (solve_tails(log_tails, level, low, high, first) - _AWAY))


@studentized_range_quantile.defjvp
def _quantile_jvp(table: RangeTable, primals: Any, tangents: Any) -> tuple[jax.Array, jax.Array]:
    level, df = primals
    q = studentized_range_quantile(level, df, table)
    log_q = jnp.log(q)
    is_lower = _is_lower(log_q, df, table)
    tail_dot = jnp.where(is_lower, 1.0 / level, -1.0 / (1.0 - level)) * tangents[0]

    def log_tail(log_q: jax.Array, df: jax.Array) -> jax.Array:
        return _log_tail(log_q, df, is_lower, table)

    value, pull = jax.vjp(log_tail, log_q, df)
    slope, by_df = pull(jnp.ones_like(value))
    return q, q * (tail_dot - by_df * tangents[1]) / slope


def _log_start(level: jax.Array, df: jax.Array, table: RangeTable) -> jax.Array:
    """Approximate the log quantile: by the lower tail's leading power of q, or as for Student's t."""
    power, log_rest = table.num_groups - 1.0, -log1m(level)
    log_moment = gammaln(0.5 * (df + power)) - gammaln(0.5 * df) + 0.5 * power * jnp.log(2.0 / df)
    low = (jnp.log(level) - 0.5 * math.log(table.num_groups) - log_moment) / power + HALF_LOG_TWO_PI
    far = 2.0 * log_rest / df
    high = 0.5 * jnp.logaddexp(
        jnp.full_like(df, 2.0 * math.log(table.mean)), jnp.log(2.0 * df) + far + log1m_exp(-far)
    )
    return jnp.where(level < 0.5, low, high)


@functools.partial(jax.custom_jvp, nondiff_argnums=(3,))
def _log_tail(log_q: jax.Array, df: jax.Array, is_lower: jax.Array, table: RangeTable) -> jax.Array:
    """Compute the log of the requested tail."""
    return _tail(log_q, df, is_lower, table).log_mean


def _tail_jvp(table: RangeTable, primals: Any, tangents: Any) -> tuple[jax.Array, jax.Array]:
    log_q, df, is_lower = primals
    mean = _tail(log_q, df, is_lower, table)
    parts = log_range(mean.log_w, table)
    wide = is_lower[..., None]
    # Where the tail is negligible the hazard is inaccurate, and has no weight.
    log_hazard = mean.log_w + parts.density - jnp.where(wide, parts.below, parts.above)
    hazard = jnp.exp(jnp.minimum(log_hazard, 50.0))
    pull = jnp.where(mean.share > 0, jnp.where(wide, hazard, -hazard), 0.0)
    return mean.log_mean, _moved(mean, pull, pull, df, tangents[:2])


_log_tail.defjvp(_tail_jvp, symbolic_zeros=True)


def _moved(mean: _Mean, by_log_q: jax.Array, by_log_s: jax.Array, df: jax.Array, tangents: Any) -> jax.Array:
    """Return derivatives of the log of a mean by log(q) and df, from those of the log of its integrand."""
    log_q_dot, df_dot = tangents
    total = jnp.zeros_like(mean.log_mean)
    if not isinstance(log_q_dot, SymbolicZero):
        total = total + (mean.share * by_log_q).sum(-1) * log_q_dot
    if not isinstance(df_dot, SymbolicZero):
        total = total + slope_by_df(df, mean.share, mean.log_s, mean.less, by_log_s) * df_dot
    return total


def _is_lower(log_q: jax.Array, df: jax.Array, table: RangeTable) -> jax.Array:
    """Return whether q is so low that s must be large: then the lower integrand has no long flat part."""
    is_light = df > 1
    r = 2.0 / (9.0 * jnp.where(is_light, df, 1.0))
    large = jnp.where(is_light, (1.0 - r + jnp.sqrt(r)) ** 3, 2.0 / df)
    return jnp.exp(log_q) * jnp.sqrt(large) < table.mean


def _density(log_q: jax.Array, df: jax.Array, table: RangeTable) -> _Mean:
    """Compute the mean of s r(q s)."""

    def log_part(log_w: jax.Array, log_s: jax.Array, terms: int | None) -> jax.Array:
        return log_s + log_range(log_w, table, terms).density

    # The slope of log r by log(s) is between -w^2/2 and `num_groups` - 2.
    low = _log_bound(1.0 + df, log_q, df)
    high = 0.5 * jnp.log1p(table.num_groups / df)
    return _mean(log_part, low, high, log_q, df)


def _tail(log_q: jax.Array, df: jax.Array, is_lower: jax.Array, table: RangeTable) -> _Mean:
    """Compute the mean probability below q s, or above it."""

    def log_part(log_w: jax.Array, log_s: jax.Array, terms: int | None, side: jax.Array) -> jax.Array:
        del log_s
        parts = log_range(log_w, table, terms)
        return jnp.where(side > 0, parts.below, parts.above)

    # The log lower tail rises with log(s), by up to `num_groups` - 1; the log upper tail falls by less than
    # a + a^2 with a = 3/4 q s.
    falling = jnp.minimum(_log_bound(0.5 * df, log_q, df), jnp.log(df / 1.5) - log_q)
    low = jnp.where(is_lower, 0.0, jnp.minimum(falling, 0.0))
    high = jnp.where(is_lower, 0.5 * jnp.log1p(table.num_groups / df), 0.0)
    return _mean(log_part, low, high, log_q, df, is_lower.astype(df.dtype))


def _log_bound(power: jax.Array, log_q: jax.Array, df: jax.Array) -> jax.Array:
    """Compute the log of the s at which df s^2 + (3/4 q s)^2 equals `power`."""
    return 0.5 * (jnp.log(power) - jnp.logaddexp(jnp.log(df), 2.0 * (log_q + math.log(0.75))))


def _mean(
    log_part: Callable[..., jax.Array],
    low: jax.Array,
    high: jax.Array,
    log_q: jax.Array,
    df: jax.Array,
    *given: jax.Array,
) -> _Mean:
    """Average a part given by log(q s), log(s), a number of terms and further arguments.

    The exponent rises up to where log(s) is between `low` and `high`, and falls from there on.
    """

    def rough(
        log_s: jax.Array, step: jax.Array, log_q: jax.Array, df: jax.Array, *given: jax.Array
    ) -> jax.Array:
        log_s = log_s + step
        return df * (log_s - 0.5 * jnp.expm1(2.0 * log_s)) + log_part(log_q + log_s, log_s, ROUGH, *given)

    # Both ends are carried through a loop with values that depend on q and df, and must depend on them too.
    still = 0.0 * (log_q + df)
    bell = find_bell(rough, low + still, high + still, log_q, df, *given)
    s, log_s = jnp.exp(bell.peak)[..., None], bell.peak[..., None] + bell.step
    less, log_w = (s - 1.0) + s * jnp.expm1(bell.step), log_q[..., None] + log_s
    wide = [jnp.broadcast_to(a[..., None], log_s.shape) for a in given]
    exponent = 0.5 * df[..., None] * chi_excess(log_s, less) + log_part(log_w, log_s, None, *wide)
    top = jax.lax.stop_gradient(exponent.max(axis=-1))
    height = bell.weight * jnp.exp(exponent - top[..., None])
    total = height.sum(-1)
    log_mean = top + jnp.log(total) - log_chi_constant(df)
    return _Mean(log_mean, height / total[..., None], log_s, less, log_w)
