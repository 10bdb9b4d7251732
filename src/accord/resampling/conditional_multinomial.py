"""Resample independently, given one ancestor."""

from typing import Any

import jax.numpy as jnp

from ..core.options import checks_fields
from .base import by_inverse_cdf
from .conditional import AbstractConditionalResampling


@checks_fields
class ConditionalMultinomial(AbstractConditionalResampling):
    """Multinomial resampling given the ancestor of the reference: the others are independent draws by weight.

    Ancestors are not sorted, which would tell the others where the reference is.

    **Source**: Andrieu, Doucet & Holenstein (2010), J. R. Statist. Soc. B 72(3), 269-342, section 4.3.

    **Example**

    >>> infer.ParticleGibbs(particles=10, resampling=infer.ConditionalMultinomial()).particles
    10
    """

    def ancestors(self, weights: Any, first: Any, generator: Any) -> Any:
        """See `AbstractConditionalResampling.ancestors`."""
        found = by_inverse_cdf(weights, generator.random(len(weights)))
        return jnp.where(jnp.arange(len(weights)) == 0, first.astype(found.dtype), found)
