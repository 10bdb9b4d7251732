"""Map vectors by a network that is increasing in every element and sees only the elements before it."""

import math
from collections.abc import Sequence
from typing import Any, ClassVar, Literal

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from ..base import AbstractBijector
from ..elementwise import softplus
from .networks import at_one_dtype, row
from .solve import invert_triangular

_LEAK = 0.01  # the slope of the activation far out, which keeps the map onto all reals


class BlockLayer(eqx.Module):
    """Linear layer in blocks: positive weights within an element, any weights from earlier elements.

    **Fields**
    - `log_diagonal`: logarithms of the weights within each element, shape `(n, after, before)`.
    - `below`: weights between elements, shape `(n, after, n, before)`; used from earlier ones only.
    - `log_norm`: logarithm of the norm of each row of weights, shape `(n, after)`.
    - `bias`: shape `(n, after)`.
    """

    log_diagonal: Any
    below: Any
    log_norm: Any
    bias: Any

    @classmethod
    def init(cls, key: jax.Array, size: int, before: int, after: int) -> "BlockLayer":
        """Draw weights whose rows have about the norm 1."""
        key_diagonal, key_below, key_norm = jax.random.split(key, 3)
        deviation = 1 / math.sqrt(size * before)
        log_diagonal = jnp.log(
            deviation * jax.random.uniform(key_diagonal, (size, after, before), minval=0.05)
        )
        below = deviation * jax.random.normal(key_below, (size, after, size, before))
        log_norm = jnp.log(jax.random.uniform(key_norm, (size, after), minval=0.05))
        return cls(log_diagonal, below, log_norm, jnp.zeros((size, after)))

    def __call__(self, h: jax.Array, log_slope: jax.Array) -> tuple[jax.Array, jax.Array]:
        """Map units `h`, shape `(..., n, before)`, and the logarithms of their slopes by their own element."""
        size = self.bias.shape[0]
        earlier = np.tril(np.ones((size, size), bool), -1)[:, None, :, None]
        below = jnp.where(jnp.broadcast_to(earlier, self.below.shape), self.below, 0.0)
        diagonal = jnp.exp(self.log_diagonal)
        square = (diagonal * diagonal).sum(axis=-1) + (below * below).sum(axis=(-2, -1))
        log_gain = self.log_norm - 0.5 * jnp.log(square)
        result = jnp.einsum("...eb,daeb->...da", h, below) + jnp.einsum("...db,dab->...da", h, diagonal)
        result = row(jnp.exp(log_gain), h.ndim) * result + row(self.bias, h.ndim)
        log_weight = self.log_diagonal + log_gain[..., None]
        terms = row(log_weight, h.ndim + 1) + log_slope[..., :, None, :]
        return result, jax.nn.logsumexp(terms, axis=-1)


class BlockNeuralAutoregressiveNN(eqx.Module):
    """Increasing autoregressive network: maps `(..., n)` to images and log slopes.

    The activation is `tanh(x) + 0.01 x`, which maps onto all reals.

    **Fields**
    - `layers`: `BlockLayer`s, the first applied first.
    - `gate`: a number whose sigmoid is the share of the network against the identity, or None.
    - `residual`: None, "normal" (the identity is added) or "gated" (network and identity are mixed).

    **Source**: De Cao, Titov & Aziz (2019), Block neural autoregressive flow, UAI, section 3.

    **Example**

    >>> network = bijectors.BlockNeuralAutoregressiveNN.init(jax.random.key(0), 3, (4,))
    >>> flow = bijectors.BlockNeuralAutoregressive(network)
    >>> flow.forward_and_log_det(np.array([0.5, -1.0, 2.0]))[0].shape
    (3,)
    """

    layers: tuple[BlockLayer, ...]
    gate: Any = None
    residual: Literal["normal", "gated"] | None = eqx.field(static=True, default=None)

    @classmethod
    def init(
        cls,
        key: jax.Array,
        input_dim: int,
        hidden_factors: Sequence[int] = (8, 8),
        residual: Literal["normal", "gated"] | None = None,
    ) -> "BlockNeuralAutoregressiveNN":
        """Draw a network with `hidden_factors[i]` units for every element in hidden layer i."""
        if residual not in (None, "normal", "gated"):
            raise ValueError(
                f"BlockNeuralAutoregressiveNN: residual is {residual!r}. Give None, 'normal' or 'gated'."
            )
        factors = (1, *hidden_factors, 1)
        keys = jax.random.split(key, len(factors) - 1)
        layers = tuple(
            BlockLayer.init(key, input_dim, before, after)
            for key, before, after in zip(keys, factors[:-1], factors[1:], strict=True)
        )
        return cls(layers, jnp.zeros(()) if residual == "gated" else None, residual)

    def __call__(self, x: jax.Array) -> tuple[jax.Array, jax.Array]:
        """Map `x`, shape `(..., n)`, to images and logarithms of slopes of this shape."""
        x, network = at_one_dtype(x, self)
        h, log_slope = network.layers[0](x[..., None], jnp.zeros_like(x)[..., None])
        for layer in network.layers[1:]:
            bend = jnp.tanh(h)
            log_slope = log_slope + jnp.log((1 - bend) * (1 + bend) + _LEAK)
            h, log_slope = layer(bend + _LEAK * h, log_slope)
        y, log_slope = h[..., 0], log_slope[..., 0]
        if self.residual == "normal":
            return x + y, softplus(log_slope)
        if self.residual == "gated":
            share = jax.lax.logistic(network.gate)
            return share * y + (1 - share) * x, jnp.logaddexp(
                log_slope - softplus(-network.gate), -softplus(network.gate)
            )
        return y, log_slope


class BlockNeuralAutoregressive(AbstractBijector):
    """Map vectors by a `BlockNeuralAutoregressiveNN`, which increases in every element.

    Forward is exact. Inverse solves for each element in turn, to rounding, by a bounded number of bracketed Newton
    steps; its derivatives equal the exact inverse's. It costs some ten evaluations for every element.

    **Fields**
    - `network`: the network, called with `(..., n)`.

    **Source**: De Cao, Titov & Aziz (2019), Block neural autoregressive flow, UAI.

    **Example**

    >>> network = bijectors.BlockNeuralAutoregressiveNN.init(jax.random.key(0), 3, (4,))
    >>> flow = bijectors.BlockNeuralAutoregressive(network)
    >>> y, log_det = flow.forward_and_log_det(np.array([0.5, -1.0, 2.0]))
    >>> y.shape, log_det.shape
    ((3,), ())
    """

    network: BlockNeuralAutoregressiveNN
    domain_event_dim: ClassVar[int] = 1
    codomain_event_dim: ClassVar[int] = 1

    def forward_and_log_det(self, x: Any) -> tuple[jax.Array, jax.Array]:
        y, log_slope = self.network(x)
        return y, log_slope.sum(axis=-1)

    def inverse_and_log_det(self, y: Any) -> tuple[jax.Array, jax.Array]:
        y, network = at_one_dtype(y, self.network)
        x = invert_triangular(lambda x: network(x)[0], y)
        return x, -network(x)[1].sum(axis=-1)
