"""Draw from some distributions by the numbers that NumPyro draws for a key, so that scripts simulate the same data."""

from typing import Any

import jax
import jax.numpy as jnp

from ... import distributions as dist


class Beta(dist.Beta):
    """A beta distribution that is drawn as the first of two shares of a Dirichlet distribution."""

    def sample(self, key: jax.Array, sample_shape: tuple[int, ...] = ()) -> jax.Array:
        """See `AbstractDistribution.sample`."""
        weights = jnp.broadcast_arrays(*map(jnp.asarray, (self.concentration1, self.concentration0)))
        return dist.Dirichlet(jnp.stack(weights, axis=-1)).sample(key, sample_shape)[..., 0]


class Categorical(dist.Categorical):
    """A categorical distribution, drawn by how many sums of its probabilities, if it has them, lie below a level."""

    def sample(self, key: jax.Array, sample_shape: tuple[int, ...] = ()) -> jax.Array:
        """See `AbstractDistribution.sample`."""
        if self.probs is None:
            return super().sample(key, sample_shape)
        sums = jnp.cumsum(jnp.asarray(self.probs, self.dtype), axis=-1)
        level = jax.random.uniform(key, (*sample_shape, *self.batch_shape, 1))
        is_below = sums[..., :-1] / sums[..., -1:] < level
        return jnp.sum(is_below, axis=-1).astype(jnp.result_type(int))


DRAWN: dict[str, Any] = {"Beta": Beta, "Categorical": Categorical, "CategoricalProbs": Categorical}
"""Classes by NumPyro's names."""
