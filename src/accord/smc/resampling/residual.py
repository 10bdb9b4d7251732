"""Resample what is left after whole numbers of copies."""

import numpy as np

from ...core.options import checks_fields
from .base import AbstractResampling, by_inverse_cdf

_ROUNDING = 4 * np.finfo(np.float64).eps  # relative: three copies that are due are three, and not 2.9999


@checks_fields
class Residual(AbstractResampling):
    """Residual resampling: the whole part of each expected number of copies, and the rest as `Multinomial`.

    **Source**: Liu & Chen (1998), J. Amer. Statist. Assoc. 93(443), 1032-1044.

    **Example**

    >>> infer.smc(coin(4, heads), resampling=infer.Residual(), quiet=True)["p"].shape
    (1, 4000)
    """

    def ancestors(self, weights: np.ndarray, count: int, generator: np.random.Generator) -> np.ndarray:
        """See `AbstractResampling.ancestors`."""
        due = weights / weights.sum() * count
        copies = np.floor(due * (1 + _ROUNDING)).astype(np.int64)
        rest, num_left = np.maximum(due - copies, 0.0), count - int(copies.sum())
        chosen = np.repeat(np.arange(len(weights)), copies)
        if num_left <= 0:
            return chosen[:count]
        more = by_inverse_cdf(rest, np.sort(generator.random(num_left)))
        return np.sort(np.concatenate([chosen, more]))
