"""Compute the constant and degrees of freedom of distributions made from two Wishart matrices."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ....bijectors import is_concrete
from ...special import log_beta
from ...special.basic.digamma import digamma_difference
from ...special.basic.gamma_ratio import log_gamma_rise


def log_multivariate_beta(size: int, df1: Any, df2: Any) -> jax.Array:
    """Compute log(Gamma_p(df1/2) Gamma_p(df2/2) / Gamma_p((df1 + df2)/2)), for matrices of p = `size` rows."""
    a, b = jnp.asarray(0.5 * df1), jnp.asarray(0.5 * df2)
    total = log_beta(a, b)
    for j in range(1, size):
        step = 0.5 * j
        low = b - step
        # Gamma(b - step) / Gamma(b), without either.
        total = total + log_beta(a - step, b) - (log_gamma_rise(low, step) + step * jnp.log(low))
    return total + size * (size - 1) / 4 * float(np.log(np.pi))


def mean_log(size: int, df1: jax.Array, df2: jax.Array) -> jax.Array:
    """Return the mean of -log det of a Wishart matrix's share (`df1` degrees of freedom) in a sum of two."""
    terms = [digamma_difference(0.5 * (df1 - j), 0.5 * df2) for j in range(size)]
    return sum(terms[1:], terms[0])


def degrees(df: jax.Array, size: int) -> jax.Array:
    """Return degrees of freedom of the diagonal of Bartlett's factor, shape `(..., size)`."""
    return jnp.expand_dims(df, -1) - np.arange(size, dtype=df.dtype).reshape((1,) * df.ndim + (-1,))


def check_degrees(distribution: Any, size: int) -> None:
    """Refuse too few degrees of freedom for matrices of `size` rows."""
    for name in ("df1", "df2"):
        df = getattr(distribution, name)
        if is_concrete(df) and (np.asarray(df) <= size - 1).any():
            raise distribution.refuse(
                f"{name} is {np.min(df)} for matrices of {size} rows",
                f"It must be above {size - 1}, one less than the rows.",
            )
