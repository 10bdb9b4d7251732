"""Resample at points of equal distance, with one random number."""

from typing import Any

import numpy as np

from ..core.options import checks_fields
from .base import AbstractResampling, by_inverse_cdf


@checks_fields
class Systematic(AbstractResampling):
    """Systematic resampling, the default: a particle is chosen its expected number of times, rounded up or down.

    It adds least noise. How much depends on the order of the particles, and for some order it may be more than that of
    `Stratified`.

    **Source**: Carpenter, Clifford & Fearnhead (1999), IEE Proc. Radar Sonar Navig. 146(1), 2-7.

    **Example**

    >>> infer.smc(coin(4, heads), resampling=infer.Systematic(), quiet=True)["p"].shape
    (1, 4000)
    """

    def ancestors(self, weights: Any, count: int, generator: Any) -> Any:
        """See `AbstractResampling.ancestors`."""
        return by_inverse_cdf(weights, (np.arange(count, dtype=weights.dtype) + generator.random()) / count)
