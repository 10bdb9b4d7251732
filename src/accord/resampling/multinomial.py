"""Resample independently."""

from typing import Any

from ..core.options import checks_fields
from .base import AbstractResampling, by_inverse_cdf, numpy_of


@checks_fields
class Multinomial(AbstractResampling):
    """Multinomial resampling: ancestors are independent draws by weight. It adds most noise, and is simple in proofs.

    **Source**: Gordon, Salmond & Smith (1993), IEE Proc. F 140(2), 107-113.

    **Example**

    >>> infer.smc(coin(4, heads), resampling=infer.Multinomial(), quiet=True)["p"].shape
    (1, 4000)
    """

    def ancestors(self, weights: Any, count: int, generator: Any) -> Any:
        """See `AbstractResampling.ancestors`."""
        return by_inverse_cdf(weights, numpy_of(weights).sort(generator.random(count)))
