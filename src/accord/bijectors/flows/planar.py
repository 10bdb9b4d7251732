"""Bend space along a direction or around a point."""

from typing import Any, ClassVar

import jax
import jax.numpy as jnp

from ..base import AbstractBijector
from ..elementwise import softplus
from .networks import at_one_dtype, row
from .solve import invert_triangular


class Planar(AbstractBijector):
    """Map `y = x + u tanh(w . x + b)`: move vectors along u, by their position along w.

    The part of `u` along `w` is bent so that the map is always one-to-one. Inverse solves one equation in one unknown,
    by a bounded search to rounding.

    **Fields**
    - `direction`: the free u, shape `(n,)`; it is bent most where its product with `weight` is far below -1.
    - `weight`: w, shape `(n,)`.
    - `bias`: b, a number.

    **Source**: Rezende & Mohamed (2015), Variational inference with normalizing flows, equation 10 and appendix A.1.

    **Example**

    >>> flow = bijectors.Planar(direction=np.ones(2), weight=np.ones(2), bias=0.0)
    >>> y, log_det = flow.forward_and_log_det(np.array([0.5, -1.0]))
    >>> print(flow.inverse_and_log_det(y)[0])
    [ 0.5 -1. ]
    """

    direction: Any
    weight: Any
    bias: Any
    domain_event_dim: ClassVar[int] = 1
    codomain_event_dim: ClassVar[int] = 1

    @classmethod
    def init(cls, key: jax.Array, size: int, scale: float = 0.1) -> "Planar":
        """Draw the vectors from normals of this scale; a small scale starts near the identity."""
        direction, weight = scale * jax.random.normal(key, (2, size))
        return cls(direction, weight, jnp.zeros((), weight.dtype))

    def forward_and_log_det(self, x: Any) -> tuple[jax.Array, jax.Array]:
        x, flow = at_one_dtype(x, self)
        move, slack, _ = flow._bent()
        bend, log_det = _bend(_along(x, flow.weight) + flow.bias, slack)
        return x + row(move, x.ndim) * bend[..., None], log_det

    def inverse_and_log_det(self, y: Any) -> tuple[jax.Array, jax.Array]:
        y, flow = at_one_dtype(y, self)
        move, slack, along = flow._bent()
        place = invert_triangular(
            lambda place: place + along * jnp.tanh(place + flow.bias), _along(y, flow.weight)[..., None]
        )[..., 0]
        bend, log_det = _bend(place + flow.bias, slack)
        return y - row(move, y.ndim) * bend[..., None], -log_det

    def _bent(self) -> tuple[jax.Array, jax.Array, jax.Array]:
        """Return the direction used, and its product with the weight: plus 1 (positive), and unchanged."""
        square = (self.weight * self.weight).sum()
        product = (self.direction * self.weight).sum()
        slack = softplus(product)
        has_weight = square > 0
        step = jnp.where(has_weight, (slack - 1 - product) / jnp.where(has_weight, square, 1.0), 0.0)
        slack = jnp.where(has_weight, slack, 1.0)
        return self.direction + step * self.weight, slack, slack - 1


class Radial(AbstractBijector):
    """Map `y = x + b (x - c) / (a + |x - c|)`: draw vectors to a centre c, or push them away.

    Forward and inverse are exact. At the centre the log determinant has a kink; its derivative there is given as 0.

    **Fields**
    - `centre`: c, shape `(n,)`.
    - `log_radius`: logarithm of a, the distance within which the map acts.
    - `strength`: any number; b = softplus(strength) - a, so that the map is always one-to-one.

    **Source**: Rezende & Mohamed (2015), Variational inference with normalizing flows, equation 14 and appendix A.2.

    **Example**

    >>> flow = bijectors.Radial(centre=np.zeros(2), log_radius=0.0, strength=1.0)
    >>> y, log_det = flow.forward_and_log_det(np.array([0.5, -1.0]))
    >>> print(flow.inverse_and_log_det(y)[0])
    [ 0.5 -1. ]
    """

    centre: Any
    log_radius: Any
    strength: Any
    domain_event_dim: ClassVar[int] = 1
    codomain_event_dim: ClassVar[int] = 1

    @classmethod
    def init(cls, key: jax.Array, size: int, scale: float = 0.1) -> "Radial":
        """Draw the centre from normals of this scale, with a map near the identity."""
        centre = scale * jax.random.normal(key, (size,))
        # softplus(0.5413) is 1, the radius: the strength is then 0.
        return cls(centre, jnp.zeros((), centre.dtype), jnp.full((), 0.5413248546129181, centre.dtype))

    def forward_and_log_det(self, x: Any) -> tuple[jax.Array, jax.Array]:
        x, flow = at_one_dtype(x, self)
        radius, slack = jnp.exp(flow.log_radius), softplus(flow.strength)
        centre = row(flow.centre, x.ndim)
        distance = _norm(x - centre)
        gain = (distance + slack) / (distance + radius)
        return centre + gain[..., None] * (x - centre), _radial_log_det(distance, radius, slack, x.shape[-1])

    def inverse_and_log_det(self, y: Any) -> tuple[jax.Array, jax.Array]:
        y, flow = at_one_dtype(y, self)
        radius, slack = jnp.exp(flow.log_radius), softplus(flow.strength)
        centre = row(flow.centre, y.ndim)
        image = _norm(y - centre)
        # The distance r solves r (r + slack) = image (r + radius): the positive root, written without cancellation.
        half = 0.5 * (image - slack)
        product = image * radius
        root = jnp.sqrt(half * half + jnp.where(product > 0, product, 1.0))
        far = half + root
        near = product / jnp.where(half < 0, root - half, 1.0)
        distance = jnp.where(product > 0, jnp.where(half < 0, near, far), jnp.maximum(2 * half, 0.0))
        gain = (distance + radius) / (distance + slack)
        return centre + gain[..., None] * (y - centre), -_radial_log_det(distance, radius, slack, y.shape[-1])


def _along(x: jax.Array, weight: jax.Array) -> jax.Array:
    """Multiply vectors with one vector."""
    return (x * row(weight, x.ndim)).sum(axis=-1)


def _bend(z: jax.Array, slack: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Return tanh(z), and log(1 + (slack - 1) / cosh(z)^2) as a sum of positive terms."""
    bend = jnp.tanh(z)
    # 1 / cosh(z)^2 as a product of sigmoids, which does not cancel far out.
    slope = 4 * jax.lax.logistic(2 * z) * jax.lax.logistic(-2 * z)
    return bend, jnp.log(bend * bend + slack * slope)


def _norm(x: jax.Array) -> jax.Array:
    """Return the length of vectors, with a zero gradient at 0."""
    square = (x * x).sum(axis=-1)
    return jnp.where(square > 0, jnp.sqrt(jnp.where(square > 0, square, 1.0)), 0.0)


def _radial_log_det(distance: jax.Array, radius: jax.Array, slack: jax.Array, size: int) -> jax.Array:
    """Return the log determinant as logs of sums of positive terms."""
    far, near = distance / (distance + radius), radius / (distance + radius)
    across = (distance + slack) / (distance + radius)
    outward = far * far + 2 * far * near + near * (slack / (distance + radius))
    return (size - 1) * jnp.log(across) + jnp.log(outward)
