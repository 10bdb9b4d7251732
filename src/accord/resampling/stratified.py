"""Resample at a random point of each stratum."""

from typing import Any

import numpy as np

from ..core.options import checks_fields
from .base import AbstractResampling, by_inverse_cdf


@checks_fields
class Stratified(AbstractResampling):
    """Stratified resampling: one random point in each of equal parts of the total weight.

    It adds less noise than `Multinomial` whatever the order of the particles.

    **Source**: Kitagawa (1996), J. Comput. Graph. Stat. 5(1), 1-25.

    **Example**

    >>> infer.smc(coin(4, heads), resampling=infer.Stratified(), quiet=True)["p"].shape
    (1, 4000)
    """

    def ancestors(self, weights: Any, count: int, generator: Any) -> Any:
        """See `AbstractResampling.ancestors`."""
        return by_inverse_cdf(
            weights, (np.arange(count, dtype=weights.dtype) + generator.random(count)) / count
        )
