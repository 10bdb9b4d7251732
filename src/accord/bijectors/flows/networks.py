"""Build neural networks whose outputs depend only on the inputs they may: the conditioners of flows.

Every leaf of a network is an array of trainable numbers, so a network can be differentiated, drawn or optimised
directly; masks, orders and activations are static.
"""

import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from ..arrays import float_type
from ..elementwise import softplus

Activation = Callable[[jax.Array], jax.Array]


def tanh(x: jax.Array) -> jax.Array:
    """Compute the hyperbolic tangent, as a function that can be pickled (JAX's cannot)."""
    return jnp.tanh(x)


class Mask(NamedTuple):
    """Hashable mask of a layer's free weights; `Mask.of` makes it from an array of booleans."""

    shape: tuple[int, int]
    bits: bytes

    @classmethod
    def of(cls, allowed: Any) -> "Mask":
        """Build the mask of an array of booleans, shape `(outputs, inputs)`; True is free."""
        allowed = np.asarray(allowed, bool)
        return cls((allowed.shape[0], allowed.shape[1]), np.packbits(allowed).tobytes())

    def array(self) -> np.ndarray:
        """Return the booleans, shape `(outputs, inputs)`."""
        count = math.prod(self.shape)
        return np.unpackbits(np.frombuffer(self.bits, np.uint8), count=count).reshape(self.shape).astype(bool)


class MaskedDense(eqx.Module):
    """Linear layer with some weights fixed at 0, called with vectors of shape `(..., inputs)`.

    **Fields**
    - `weight`: shape `(outputs, inputs)`.
    - `bias`: shape `(outputs,)`.
    - `mask`: which weights are free; None for all. Static.

    **Example**

    >>> layer = bijectors.MaskedDense.init(jax.random.key(0), np.array([[True, False]]))
    >>> bool(layer(np.array([1.0, 0.0])) == layer(np.array([1.0, 5.0])))  # the second input has no weight
    True
    """

    weight: Any
    bias: Any
    mask: Mask | None = eqx.field(static=True, default=None)

    @classmethod
    def init(cls, key: jax.Array, allowed: Any) -> "MaskedDense":
        """Draw weights of variance 1 / (free inputs of the output) and biases 0.

        **Arguments**: `allowed`, booleans of shape `(outputs, inputs)`, True where a weight is free.
        """
        allowed = np.asarray(allowed, bool)
        fan_in = np.maximum(allowed.sum(axis=1, keepdims=True), 1)
        weight = jax.random.normal(key, allowed.shape)
        weight = weight / jnp.asarray(np.sqrt(fan_in), weight.dtype)
        mask = None if allowed.all() else Mask.of(allowed)
        return cls(weight, jnp.zeros(allowed.shape[0], weight.dtype), mask)

    def __call__(self, x: jax.Array) -> jax.Array:
        """Map `x`, shape `(..., inputs)`, to shape `(..., outputs)`."""
        x, layer = at_one_dtype(x, self)
        weight = layer.weight if self.mask is None else jnp.where(self.mask.array(), layer.weight, 0.0)
        return jnp.matmul(x, weight.T) + row(layer.bias, x.ndim)


class DenseNN(eqx.Module):
    """Plain network of linear layers with an activation between them, called with vectors `(..., inputs)`.

    **Fields**
    - `layers`: `MaskedDense` layers, the first applied first.
    - `activation`: elementwise and smooth, such as `jax.nn.softplus`; tanh by default. A flow can be pickled if it can.

    **Example**

    >>> network = bijectors.DenseNN.init(jax.random.key(0), (3, 8, 2))
    >>> network(np.ones(3)).shape
    (2,)
    """

    layers: tuple[MaskedDense, ...]
    activation: Activation = eqx.field(static=True, default=tanh)

    @classmethod
    def init(
        cls,
        key: jax.Array,
        sizes: Sequence[int],
        *,
        activation: Activation = tanh,
        last_scale: float = 1.0,
    ) -> "DenseNN":
        """Draw a network.

        **Arguments**: `sizes`, of the input, of every hidden layer and of the output; `last_scale`, a factor on the
        weights of the last layer; a small factor starts a flow near the identity.
        """
        masks = [np.ones((after, before), bool) for before, after in itertools.pairwise(sizes)]
        return cls(_draw_layers(key, masks, last_scale), activation)

    def __call__(self, x: jax.Array) -> jax.Array:
        """Map `x`, shape `(..., sizes[0])`, to shape `(..., sizes[-1])`."""
        return _apply_layers(self.layers, self.activation, x)[0]


class AutoregressiveNN(eqx.Module):
    """Autoregressive network: outputs for an element depend only on earlier elements; called with `(..., n)`.

    **Fields**
    - `layers`: masked layers, the first applied first.
    - `skip`: a masked layer straight from input to output, or None.
    - `order`: the place of every element in the order of dependence, a permutation of 0 to n - 1.
    - `param_dims`: how many numbers each output has for an element.
    - `activation`: elementwise.

    **Source**: Germain, Gregor, Murray & Larochelle (2015), MADE, ICML 37, section 4; hidden degrees run through
    1 to n - 1 in turn instead of being drawn.

    **Example**

    >>> network = bijectors.AutoregressiveNN.init(jax.random.key(0), 3, (8,))
    >>> flow = bijectors.InverseAutoregressive(network)
    >>> flow.forward_and_log_det(np.array([0.5, -1.0, 2.0]))[0].shape
    (3,)
    """

    layers: tuple[MaskedDense, ...]
    skip: MaskedDense | None
    order: tuple[int, ...] = eqx.field(static=True)
    param_dims: tuple[int, ...] = eqx.field(static=True, default=(1, 1))
    activation: Activation = eqx.field(static=True, default=tanh)

    @classmethod
    def init(
        cls,
        key: jax.Array,
        input_dim: int,
        hidden_dims: Sequence[int],
        param_dims: Sequence[int] = (1, 1),
        *,
        permutation: Sequence[int] | None = None,
        skip_connections: bool = False,
        activation: Activation = tanh,
        last_scale: float = 1.0,
    ) -> "AutoregressiveNN":
        """Draw a network.

        **Arguments**: `permutation`, the elements in the order of dependence (their own order by default);
        `last_scale`, a factor on the weights of the last layer; a small factor starts a flow near the identity.
        """
        sequence = range(input_dim) if permutation is None else permutation
        if sorted(sequence) != list(range(input_dim)):
            raise ValueError(
                f"AutoregressiveNN: permutation is {tuple(sequence)}. Give every number from 0 to {input_dim - 1} once."
            )
        order = np.argsort(np.asarray(sequence))
        # A hidden unit of degree d sees the first d elements; the output at position p sees units of degree up to p.
        hidden = [np.arange(size) % max(input_dim - 1, 1) + min(input_dim - 1, 1) for size in hidden_dims]
        last = np.tile(order, sum(param_dims))
        seen = [order + 1, *hidden]
        masks = [after[:, None] >= before[None, :] for before, after in zip(seen[:-1], hidden, strict=True)]
        masks.append(last[:, None] >= seen[-1][None, :])
        key_layers, key_skip = jax.random.split(key)
        skip = MaskedDense.init(key_skip, last[:, None] > order[None, :]) if skip_connections else None
        return cls(
            _draw_layers(key_layers, masks, last_scale),
            skip,
            tuple(int(place) for place in order),
            tuple(param_dims),
            activation,
        )

    def __call__(self, x: jax.Array) -> tuple[jax.Array, ...]:
        """Map `x`, shape `(..., n)`, to one array for every `p` of `param_dims`.

        Its shape is `(..., p, n)`, and `(..., n)` where `p` is 1.
        """
        outputs, x = _apply_layers(self.layers, self.activation, x)
        if self.skip is not None:
            outputs = outputs + self.skip(x)
        parts = outputs.reshape((*outputs.shape[:-1], sum(self.param_dims), len(self.order)))
        ends = np.cumsum(self.param_dims)
        split = [parts[..., end - size : end, :] for end, size in zip(ends, self.param_dims, strict=True)]
        return tuple(part[..., 0, :] if part.shape[-2] == 1 else part for part in split)


def at_one_dtype(x: Any, module: Any) -> tuple[jax.Array, Any]:
    """Convert `x` and every number of a module to one common floating dtype."""
    dtype = float_type(x, *jax.tree.leaves(module))
    return jnp.asarray(x, dtype), jax.tree.map(lambda leaf: jnp.asarray(leaf, dtype), module)


def row(vector: jax.Array, rank: int) -> jax.Array:
    """Give a vector leading axes of length 1, up to this rank."""
    return vector.reshape((1,) * (rank - vector.ndim) + vector.shape)


def limit(x: jax.Array, low: float, high: float) -> jax.Array:
    """Limit `x` smoothly to (`low`, `high`): nearly the identity well inside."""
    return low + softplus(high - softplus(high - x) - low)


def _draw_layers(key: jax.Array, masks: Sequence[np.ndarray], last_scale: float) -> tuple[MaskedDense, ...]:
    """Draw layers with these masks, the last one scaled."""
    keys = jax.random.split(key, len(masks))
    layers = [MaskedDense.init(key, mask) for key, mask in zip(keys, masks, strict=True)]
    last = layers[-1]
    return (*layers[:-1], MaskedDense(last.weight * last_scale, last.bias, last.mask))


def _apply_layers(
    layers: tuple[MaskedDense, ...], activation: Activation, x: jax.Array
) -> tuple[jax.Array, jax.Array]:
    """Return the output of layers with an activation between them, and `x` in the common dtype."""
    x = at_one_dtype(x, layers)[0]
    result = layers[0](x)
    for layer in layers[1:]:
        result = layer(activation(result))
    return result, x
