"""Compute the density term that compares shares with their means, with slopes free of cancellation.

The density of shares x with concentrations a of total t is `sum (a - 1) log(x t / a) - log(a / t)` and what
`log_gamma_remainder` adds. By a concentration, the logarithm alone moves it: all else that the rules of
differentiation find adds up to zero, of terms near 1, where the slope itself is as small as 1/a.
"""

from typing import Any

import jax
import jax.numpy as jnp


@jax.custom_jvp
def share_against_mean(x: jax.Array, a: jax.Array, log_ratio: jax.Array, log_mean: jax.Array) -> jax.Array:
    """Compute (a - 1) log(x t / a) - log(a / t), one term of the sum over shares.

    Its derivatives are right for the sum over all shares, whose concentrations add up to t, and not term by term.

    **Arguments**: `x`, a share; `a`, its concentration; `log_ratio`, log(x t / a); `log_mean`, log(a / t).
    """
    del x
    return (a - 1) * log_ratio - log_mean


@share_against_mean.defjvp
def _share_against_mean_jvp(primals: Any, tangents: Any) -> tuple[jax.Array, jax.Array]:
    x, a, log_ratio, _ = primals
    x_dot, a_dot, _, _ = tangents
    return share_against_mean(*primals), log_ratio * a_dot + (a - 1) / x * x_dot


def of_arrays(*numbers: Any) -> tuple[jax.Array, ...]:
    """Convert Python numbers to arrays of the others' dtype, as a custom derivative rule needs."""
    dtype = jnp.result_type(*numbers)
    return tuple(jnp.asarray(number, dtype) for number in numbers)
