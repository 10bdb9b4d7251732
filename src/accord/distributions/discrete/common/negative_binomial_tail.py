"""Compute negative binomial tails from the mean, accurately also near the Poisson limit.

The distribution with concentration c, as a function of its mean, has more than k counts with probability

    S(m) = integral of h(s) over 0 < s < m,    h(s) = (c + k) / (c + s) P(k; s, c),

P being the probability of k counts. It is the incomplete beta function in other variables; but where c is large, so
that P hardly depends on it, neither do these derivatives by c, which are not differences of larger ones.

**Source**: DLMF 8.17.1, with t = s / (s + c).
"""

from typing import Any

import jax
import jax.numpy as jnp

from ...special import log1p_excess
from ...special.gamma_beta.incomplete_beta import nearer_beta_tail, tail_exponent, tail_nodes


def nearer_tail_by_mean(
    log_prob: jax.Array, k: jax.Array, mean: jax.Array, c: jax.Array
) -> tuple[jax.Array, jax.Array]:
    """Compute the logarithm of the nearer tail, and whether it is the upper tail (more than `k` counts).

    **Arguments**: `log_prob`, the log probability of `k`; all of one shape, k >= 0.
    """
    is_many = mean > c
    plain, is_upper = nearer_beta_tail(
        k + 1, jnp.where(is_many, c, 1.0), jnp.where(is_many, jnp.log(mean) - jnp.log(c), 0.0)
    )
    m = jnp.where(is_many, 0.5 * c, mean)
    is_below = m * (k + 1 + c - 2 / 3) < (k + 2 / 3) * (m + c)
    height = jnp.where(is_many, 0.0, log_prob) + jnp.log1p((k - m) / (c + m)) + jnp.log(m)
    by_mean = height + _log_integral(k, m, c, is_below)
    return jnp.where(is_many, plain, by_mean), jnp.where(is_many, is_upper, is_below)


@jax.custom_jvp
def _log_integral(k: jax.Array, m: jax.Array, c: jax.Array, is_below: jax.Array) -> jax.Array:
    """Compute the log integral of e^v h(m e^v) / h(m) over v < 0 or v > 0."""
    x = m / (m + c)
    v, weights = tail_nodes(k + 1, c, x, is_below)
    return jnp.log((weights * jnp.exp(tail_exponent(k + 1, c, x, v))).sum(-1))


@_log_integral.defjvp
def _log_integral_jvp(primals: tuple[Any, ...], tangents: tuple[Any, ...]) -> tuple[jax.Array, jax.Array]:
    k, m, c, is_below = primals
    total, x = m + c, m / (m + c)
    v, weights = tail_nodes(k + 1, c, x, is_below)
    height = weights * jnp.exp(tail_exponent(k + 1, c, x, v))
    mass = height.sum(-1)
    # The excess above 1 of (c + s) / (c + m), s = m e^v.
    above = x[..., None] * jnp.expm1(v)
    share = (k + 1 - m)[..., None] - m[..., None] * jnp.expm1(v)
    bend = above * share / (total[..., None] * (1.0 + above)) - log1p_excess(above)
    by_c = (height * bend).sum(-1) / mass
    steep = (height * jnp.expm1(v) / (1.0 + above)).sum(-1) / mass
    by_m = -(k + 1 + c) / total * (c / total) * steep
    return jnp.log(mass), by_m * tangents[1] + by_c * tangents[2]
