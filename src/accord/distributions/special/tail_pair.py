"""Return both tails of a distribution from the logarithm of one."""

import jax
import jax.numpy as jnp

from .elementary import log1m_exp


def tail_pair(small: jax.Array, is_lower: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Compute log probabilities below and above; `small` is the lower tail where `is_lower`."""
    small = jnp.minimum(small, -1e-30)
    large = log1m_exp(small)
    return jnp.where(is_lower, small, large), jnp.where(is_lower, large, small)
