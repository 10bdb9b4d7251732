"""Map vectors to simplexes, ordered vectors, the l1 ball and vectors of sum zero."""

import math
from typing import Any, ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from .arrays import align
from .base import AbstractBijector
from .elementwise import softplus


class StickBreaking(AbstractBijector):
    """Map vectors of length `n - 1` to the simplex in `n` parts by breaking a stick.

    The shares are offset so that `x = 0` maps to the uniform point (1/n, ..., 1/n). Everything is computed from
    logarithms of shares, so small parts keep their relative accuracy and no `x` gives NaN.

    **Source**: Stan reference manual, "Unit simplex", which defines the offset. The log determinant here is the sum of
    log y, to which Stan's expression telescopes.

    **Example**

    >>> bijector = bijectors.StickBreaking()
    >>> y, log_det = bijector.forward_and_log_det(np.zeros(2))
    >>> print(y, f"{log_det:.3f}")
    [0.333 0.333 0.333] -3.296
    """

    domain_event_dim: ClassVar[int] = 1
    codomain_event_dim: ClassVar[int] = 1

    def forward_and_log_det(self, x: Any) -> tuple[jax.Array, jax.Array]:
        (x,) = align(x)
        shifted = x - _offset(x)
        log_share, log_rest = -softplus(-shifted), -softplus(shifted)
        edge = jnp.zeros((*x.shape[:-1], 1), x.dtype)
        log_left = jnp.concatenate([edge, jnp.cumsum(log_rest, axis=-1)], axis=-1)
        log_y = log_left + jnp.concatenate([log_share, edge], axis=-1)
        return jnp.exp(log_y), log_y.sum(axis=-1)

    def inverse_and_log_det(self, y: Any) -> tuple[jax.Array, jax.Array]:
        (y,) = align(y)
        log_y = jnp.log(y)
        x = log_y[..., :-1] - jnp.log(_sum_from_end(y[..., 1:])) + _offset(y[..., 1:])
        return x, -log_y.sum(axis=-1)

    def forward_shape(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        return (*shape[:-1], shape[-1] + 1)

    def inverse_shape(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        return (*shape[:-1], shape[-1] - 1)


class SimplexToOrdered(AbstractBijector):
    """Map the simplex in `n` parts to increasing vectors of length `n - 1`: logits of cumulative sums, plus an anchor.

    It turns a prior on the probabilities of ordered categories into a prior on the cutpoints between them.

    **Fields**
    - `anchor_point`: added to every cutpoint; broadcasts with the batch shape.

    **Source**: Betancourt (2019), Ordinal Regression, section 2.2: the induced Dirichlet model.

    **Example**

    >>> bijector = bijectors.SimplexToOrdered()
    >>> y, log_det = bijector.forward_and_log_det(np.array([0.2, 0.5, 0.3]))
    >>> print(y, f"{log_det:.3f}")
    [-1.386  0.847] 3.393
    """

    anchor_point: Any = 0.0
    domain_event_dim: ClassVar[int] = 1
    codomain_event_dim: ClassVar[int] = 1

    def forward_and_log_det(self, x: Any) -> tuple[jax.Array, jax.Array]:
        x, anchor = align(x, self._anchor)
        log_below = jnp.log(jnp.cumsum(x[..., :-1], axis=-1))
        log_above = jnp.log(_sum_from_end(x[..., 1:]))
        return log_below - log_above + anchor, -(log_below + log_above).sum(axis=-1)

    def inverse_and_log_det(self, y: Any) -> tuple[jax.Array, jax.Array]:
        y, anchor = align(y, self._anchor)
        z = y - anchor
        log_below, log_above = -softplus(-z), -softplus(z)
        # The difference of two sigmoids as a product, which keeps the digits of a small part.
        middle = jnp.exp(log_below[..., 1:] + log_above[..., :-1]) * -jnp.expm1(z[..., :-1] - z[..., 1:])
        x = jnp.concatenate([jnp.exp(log_below[..., :1]), middle, jnp.exp(log_above[..., -1:])], axis=-1)
        return x, (log_below + log_above).sum(axis=-1)

    def forward_shape(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        return (*shape[:-1], shape[-1] - 1)

    def inverse_shape(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        return (*shape[:-1], shape[-1] + 1)

    @property
    def _anchor(self) -> Any:
        """Return the anchor, with an axis for the cutpoints."""
        return self.anchor_point if np.ndim(self.anchor_point) == 0 else self.anchor_point[..., None]


class Ordered(AbstractBijector):
    """Map vectors to increasing vectors: the first element is free, the others are positive steps `exp(x)`.

    **Example**

    >>> bijector = bijectors.Ordered()
    >>> y, log_det = bijector.forward_and_log_det(np.array([1.0, 0.0, 0.5]))
    >>> print(y, f"{log_det:.3f}")
    [1.    2.    3.649] 0.500
    """

    domain_event_dim: ClassVar[int] = 1
    codomain_event_dim: ClassVar[int] = 1

    def forward_and_log_det(self, x: Any) -> tuple[jax.Array, jax.Array]:
        (x,) = align(x)
        steps = jnp.concatenate([x[..., :1], jnp.exp(x[..., 1:])], axis=-1)
        return jnp.cumsum(steps, axis=-1), x[..., 1:].sum(axis=-1)

    def inverse_and_log_det(self, y: Any) -> tuple[jax.Array, jax.Array]:
        (y,) = align(y)
        log_steps = jnp.log(y[..., 1:] - y[..., :-1])
        return jnp.concatenate([y[..., :1], log_steps], axis=-1), -log_steps.sum(axis=-1)


class PositiveOrdered(AbstractBijector):
    """Map vectors to increasing vectors of positive numbers: every step, also the first from 0, is `exp(x)`.

    **Example**

    >>> bijector = bijectors.PositiveOrdered()
    >>> y, log_det = bijector.forward_and_log_det(np.array([0.0, 0.0, 0.5]))
    >>> print(y, f"{log_det:.3f}")
    [1.    2.    3.649] 0.500
    """

    domain_event_dim: ClassVar[int] = 1
    codomain_event_dim: ClassVar[int] = 1

    def forward_and_log_det(self, x: Any) -> tuple[jax.Array, jax.Array]:
        (x,) = align(x)
        return jnp.cumsum(jnp.exp(x), axis=-1), x.sum(axis=-1)

    def inverse_and_log_det(self, y: Any) -> tuple[jax.Array, jax.Array]:
        (y,) = align(y)
        x = jnp.log(jnp.concatenate([y[..., :1], y[..., 1:] - y[..., :-1]], axis=-1))
        return x, -x.sum(axis=-1)


class L1Ball(AbstractBijector):
    """Map vectors to vectors with absolute sum below one: each element takes a share tanh(x) of the rest.

    The map is continuous, with a kink where an element is 0: there the rest for later elements is largest.

    **Example**

    >>> bijector = bijectors.L1Ball()
    >>> y, log_det = bijector.forward_and_log_det(np.array([0.5, -1.0]))
    >>> print(y, f"{log_det:.3f}")
    [ 0.462 -0.41 ] -1.728
    """

    domain_event_dim: ClassVar[int] = 1
    codomain_event_dim: ClassVar[int] = 1

    def forward_and_log_det(self, x: Any) -> tuple[jax.Array, jax.Array]:
        (x,) = align(x)
        # log(1 - |tanh x|), and from it the log of the rest before each element.
        log_rest = math.log(2) - softplus(2.0 * jnp.abs(x))
        log_left = _sum_before(log_rest)
        log_slope = 2.0 * (math.log(2) + x - softplus(2.0 * x))
        return jnp.tanh(x) * jnp.exp(log_left), (log_slope + log_left).sum(axis=-1)

    def inverse_and_log_det(self, y: Any) -> tuple[jax.Array, jax.Array]:
        (y,) = align(y)
        size = jnp.abs(y)
        left = 1.0 - _sum_before(size)
        x = jnp.arctanh(y / left)
        return x, -(jnp.log(left - size) + jnp.log1p(size / left)).sum(axis=-1)


class ZeroSum(AbstractBijector):
    """Map arrays to arrays, one longer along each of the last axes, that sum to zero along each of them.

    The map is an isometry onto the hyperplane of sum zero, so independent normal numbers stay independent and normal
    there, and every element has the same distribution. The log determinant is 0, with respect to area on the
    hyperplane.

    **Fields**
    - `transform_ndims`: how many trailing axes, >= 1.

    **Example**

    >>> bijector = bijectors.ZeroSum()
    >>> y, log_det = bijector.forward_and_log_det(np.array([0.5, -1.0]))
    >>> print(y, f"{log_det:.3f}")
    [ 0.606 -0.894  0.289] 0.000
    """

    transform_ndims: int = eqx.field(static=True, default=1)

    @property
    def domain_event_dim(self) -> int:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Number of trailing axes of `x` that form one event."""
        return self.transform_ndims

    @property
    def codomain_event_dim(self) -> int:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Number of trailing axes of `y` that form one event."""
        return self.transform_ndims

    def forward_and_log_det(self, x: Any) -> tuple[jax.Array, jax.Array]:
        (y,) = align(x)
        for axis in range(-self.transform_ndims, 0):
            size = y.shape[axis] + 1
            # x with a 0 appended, reflected so that the last unit vector becomes (1, ..., 1) / sqrt(size).
            total = y.sum(axis, keepdims=True)
            rest = y - total * (1 / (size + math.sqrt(size)))
            y = jnp.concatenate([rest, total * (-1 / math.sqrt(size))], axis=axis)
        return y, jnp.zeros(y.shape[: y.ndim - self.transform_ndims], y.dtype)

    def inverse_and_log_det(self, y: Any) -> tuple[jax.Array, jax.Array]:
        (x,) = align(y)
        for axis in range(-self.transform_ndims, 0):
            size = x.shape[axis]
            rest = jax.lax.slice_in_dim(x, 0, size - 1, axis=axis)
            last = jax.lax.slice_in_dim(x, size - 1, size, axis=axis)
            x = rest - last * (1 / (math.sqrt(size) + 1))
        return x, jnp.zeros(x.shape[: x.ndim - self.transform_ndims], x.dtype)

    def forward_shape(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        batch = len(shape) - self.transform_ndims
        return (*shape[:batch], *(size + 1 for size in shape[batch:]))

    def inverse_shape(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        batch = len(shape) - self.transform_ndims
        return (*shape[:batch], *(size - 1 for size in shape[batch:]))


def _offset(x: jax.Array) -> np.ndarray:
    """Return minus the logit of an equal share at each break: log(k - 1) for `k` parts left; like `x`."""
    logits = np.log(np.arange(x.shape[-1], 0, -1)).astype(x.dtype)
    return logits.reshape((1,) * (x.ndim - 1) + (-1,))


def _sum_from_end(x: jax.Array) -> jax.Array:
    """Sum from the last element backward, without cancellation in 1 minus a sum near 1."""
    return jnp.flip(jnp.cumsum(jnp.flip(x, axis=-1), axis=-1), axis=-1)


def _sum_before(x: jax.Array) -> jax.Array:
    """Return the sum of the elements before each one."""
    start = jnp.zeros((*x.shape[:-1], 1), x.dtype)
    return jnp.concatenate([start, jnp.cumsum(x[..., :-1], axis=-1)], axis=-1)
