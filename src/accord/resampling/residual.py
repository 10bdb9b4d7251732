"""Resample what is left after whole numbers of copies."""

from typing import Any

import jax.numpy as jnp
import numpy as np

from ..core.options import checks_fields
from .base import AbstractResampling, by_inverse_cdf, numpy_of
from .prefix import total


@checks_fields
class Residual(AbstractResampling):
    """Residual resampling: the whole part of each expected number of copies, and the rest as `Multinomial`.

    **Source**: Liu & Chen (1998), J. Amer. Statist. Assoc. 93(443), 1032-1044.

    **Example**

    >>> infer.smc(coin(4, heads), resampling=infer.Residual(), quiet=True)["p"].shape
    (1, 4000)
    """

    def ancestors(self, weights: Any, count: int, generator: Any) -> Any:
        """See `AbstractResampling.ancestors`."""
        xp, size = numpy_of(weights), len(weights)
        due = weights / total(weights) * count
        rounding = (
            4 * np.finfo(weights.dtype).eps
        )  # relative: three copies that are due are three, and not 2.9999
        copies = xp.floor(due * (1 + rounding)).astype(np.int32)
        rest, num_left = xp.maximum(due - copies.astype(due.dtype), 0.0), count - copies.sum()
        more = by_inverse_cdf(xp.where(xp.any(rest > 0), rest, weights), generator.random(count))
        more = xp.where(np.arange(count) < num_left, more, size)  # as many as are left
        if xp is np:
            copies = copies + np.bincount(more, minlength=size + 1)[:size]
            return np.repeat(np.arange(size), copies)[:count]
        copies = copies + jnp.bincount(more, length=size + 1)[:size].astype(copies.dtype)
        return jnp.repeat(jnp.arange(size), copies, total_repeat_length=count)
