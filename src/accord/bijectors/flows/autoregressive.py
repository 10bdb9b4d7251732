"""Map vectors by a scale and shift of each element that a network computes from the elements before it."""

from typing import Any, ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from ..base import AbstractBijector
from .networks import AutoregressiveNN, at_one_dtype, limit


class InverseAutoregressive(AbstractBijector):
    """Map `y = loc(x) + scale(x) * x`; a network computes each loc and log scale from earlier elements.

    Forward costs one evaluation of the network, inverse one for every element in turn. Both are exact. The log scale is
    limited smoothly, so that no input makes it overflow.

    **Fields**
    - `network`: an `AutoregressiveNN` with `param_dims` (1, 1).
    - `log_scale_min_clip`, `log_scale_max_clip`: limits of the log scale.

    **Source**: Kingma et al. (2016), Improving variational inference with inverse autoregressive flow, equation 10.
    The limits are approached smoothly, so that derivatives of the map stay right.

    **Example**

    >>> network = bijectors.AutoregressiveNN.init(jax.random.key(0), 3, (8,))
    >>> flow = bijectors.InverseAutoregressive(network)
    >>> y, log_det = flow.forward_and_log_det(np.array([0.5, -1.0, 2.0]))
    >>> print(flow.inverse_and_log_det(y)[0])
    [ 0.5 -1.   2. ]
    """

    network: AutoregressiveNN
    log_scale_min_clip: float = eqx.field(static=True, default=-5.0)
    log_scale_max_clip: float = eqx.field(static=True, default=3.0)
    domain_event_dim: ClassVar[int] = 1
    codomain_event_dim: ClassVar[int] = 1

    def forward_and_log_det(self, x: Any) -> tuple[jax.Array, jax.Array]:
        x, _ = at_one_dtype(x, self)
        loc, log_scale = self._parameters(x)
        return loc + jnp.exp(log_scale) * x, log_scale.sum(axis=-1)

    def inverse_and_log_det(self, y: Any) -> tuple[jax.Array, jax.Array]:
        y, _ = at_one_dtype(y, self)
        order = np.asarray(self.network.order)

        def advance(x: jax.Array, place: jax.Array) -> tuple[jax.Array, None]:
            loc, log_scale = self._parameters(x)
            # Unknown elements stay 0, so that nothing computed from them can overflow and spoil the known ones.
            is_next = jnp.broadcast_to(order == place, x.shape)
            return jnp.where(is_next, (y - loc) * jnp.exp(-log_scale), x), None

        x = jax.lax.scan(advance, jnp.zeros_like(y), jnp.arange(order.size))[0]
        return x, -self._parameters(x)[1].sum(axis=-1)

    def _parameters(self, x: jax.Array) -> tuple[jax.Array, jax.Array]:
        """Return the shift and log scale of every element."""
        loc, log_scale = self.network(x)
        return loc, limit(log_scale, self.log_scale_min_clip, self.log_scale_max_clip)
