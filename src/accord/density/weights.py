"""Weigh the parts of a log density: the prior, the Jacobian of the map from unconstrained numbers, and the likelihood.

The Jacobian makes the integral of the density right; where the density is highest depends on the map. An array as a
weight is data: under `jit`, a tempered density compiles once for all temperatures.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp


class Parts(NamedTuple):
    """Parts that sum to a log density, each of shape `()`.

    **Fields**
    - `prior`: of the unknowns, in the model's own space. On a simplex or the like, it is with respect to the
      coordinates that the maps of `accord.bijectors` take: all but the last entry of a simplex.
    - `jacobian`: log determinant of the map from a position to the unknowns.
    - `likelihood`: of observed sites, with all factors. Where sites are collapsed, the likelihood of the others.
    """

    prior: jax.Array
    jacobian: jax.Array
    likelihood: jax.Array


class Weights(NamedTuple):
    """How much each part of a log density counts.

    A weight that is a Python number is a constant of what is compiled. A part of weight 0 is left out of the sum, so
    that it may be NaN or infinite. With an array of 0, an infinite part counts as 0, but its derivative may be NaN.
    """

    prior: jax.Array | float = 1.0
    jacobian: jax.Array | float = 1.0
    likelihood: jax.Array | float = 1.0

    def sum(self, parts: Parts) -> jax.Array:
        """Add up the weighted parts, shape `()`."""
        pairs = zip(self, parts, strict=True)
        terms = [term for weight, part in pairs if (term := _product(weight, part)) is not None]
        return sum(terms[1:], start=terms[0]) if terms else jnp.zeros_like(parts.prior)

    @property
    def are_constant(self) -> bool:
        """Return whether all are Python numbers."""
        return all(isinstance(each, int | float) for each in self)

    @property
    def are_alike(self) -> bool:
        """Return whether prior and likelihood count the same, so that they need not be told apart."""
        prior, likelihood = self.prior, self.likelihood
        return isinstance(prior, int | float) and isinstance(likelihood, int | float) and prior == likelihood


POSTERIOR = Weights()
MAP = Weights(jacobian=0.0)
"""The posterior of the unknowns in the model's own space."""
MLE = Weights(prior=0.0, jacobian=0.0)


def tempered(beta: jax.Array | float) -> Weights:
    """Weigh the likelihood by `beta`: 0 is the prior and 1 the posterior."""
    return Weights(likelihood=beta)


def _product(weight: jax.Array | float, part: jax.Array) -> jax.Array | None:
    if isinstance(weight, int | float):
        return None if weight == 0 else part if weight == 1 else weight * part
    return jnp.where(weight == 0, jnp.zeros_like(part), jnp.asarray(weight, part.dtype) * part)
