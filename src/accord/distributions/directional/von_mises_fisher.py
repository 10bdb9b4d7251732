"""Define the von Mises-Fisher distribution of directions, the normal distribution of the sphere."""

import math
from typing import Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np

from ...bijectors import float_type
from .. import constraints
from ..base import AbstractDistribution, Shape
from ..constraint import Constraint
from ..rejection import first_accepted
from .arc_mass import NODES, WEIGHTS
from .projected_normal import length_of

_MOST_ROUNDS = 100


class VonMisesFisher(AbstractDistribution):
    """Von Mises-Fisher distribution of unit vectors in any dimension: directions around a mean direction.

    Draws are differentiable by the mean direction only.

    **Fields**
    - `mean_direction`: a vector of length 1, shape `(..., n)`, n >= 2.
    - `concentration`: >= 0; 0 is the uniform distribution.

    **Density**, with respect to area on the sphere: proportional to `exp(concentration * sum(mean_direction * x))`.

    **Source**: Mardia & Jupp (2000), Directional Statistics, section 9.3.2; draws by Wood (1994), Commun. Stat. Simul.
    Comput. 23(1), 157-164.
    """

    mean_direction: Any
    concentration: Any
    parameters: ClassVar[dict[str, Constraint]] = {
        "mean_direction": constraints.sphere,
        "concentration": constraints.nonnegative,
    }

    def __check_init__(self) -> None:
        if np.ndim(self.mean_direction) and np.shape(self.mean_direction)[-1] < 2:
            raise self.refuse(
                f"mean_direction has shape {np.shape(self.mean_direction)}",
                "A direction needs 2 dimensions or more.",
            )

    @property
    def event_shape(self) -> Shape:
        return np.shape(self.mean_direction)[-1:]

    @property
    def support(self) -> Constraint:
        return constraints.sphere

    @property
    def mean(self) -> jax.Array:
        centre, _, fall, _ = self._moments()
        return centre * (1 - fall)[..., None]

    @property
    def variance(self) -> jax.Array:
        centre, n, fall, square = self._moments()
        across = (2 * fall - square) / (n - 1)  # of each direction orthogonal to the mean
        along = centre * centre
        return along * (square - fall * fall)[..., None] + (1 - along) * across[..., None]

    @property
    def mode(self) -> jax.Array:
        return jnp.broadcast_to(jnp.asarray(self.mean_direction, self.dtype), self._shape())

    def log_prob(self, value: Any) -> jax.Array:
        dtype = float_type(value, self.mean_direction, self.concentration)
        value = jnp.asarray(value, dtype)
        shape = np.broadcast_shapes(value.shape[:-1], self.batch_shape)
        n = self.event_shape[0]
        value, centre = (
            jnp.broadcast_to(jnp.asarray(a, dtype), (*shape, n)) for a in (value, self.mean_direction)
        )
        k = jnp.asarray(self.concentration, dtype)
        is_outside = ~constraints.sphere(value) & ~jnp.isnan(value).any(axis=-1)
        # 1 - cos of the angle to the centre, from the chord.
        chord = jnp.where(is_outside[..., None], 0.0, value - centre)
        fall = 0.5 * (chord * chord).sum(axis=-1)
        total = jnp.broadcast_to(_log_total(k, n), shape)
        return jnp.where(is_outside, -jnp.inf, -jnp.broadcast_to(k, shape) * fall - total)

    def sample(self, key: jax.Array, sample_shape: Shape = ()) -> jax.Array:
        shape, n = self._shape(sample_shape), self.event_shape[0]
        k = jax.lax.stop_gradient(jnp.asarray(self.concentration, self.dtype))
        centre = jnp.broadcast_to(jnp.asarray(self.mean_direction, self.dtype), shape)
        key_angle, key_side = jax.random.split(key)
        fall = _draw_fall(key_angle, jnp.broadcast_to(k, shape[:-1]), n)[..., None]
        side = jax.random.normal(key_side, shape, self.dtype)
        side = side - (side * centre).sum(axis=-1, keepdims=True) * centre
        side = side / jnp.maximum(length_of(side), jnp.finfo(self.dtype).tiny)[..., None]
        drawn = centre * (1 - fall) + jnp.sqrt(fall * (2 - fall)) * side
        return drawn / length_of(drawn)[..., None]

    def entropy(self) -> jax.Array:
        _, n, fall, _ = self._moments()
        (k,) = self._arrays("concentration")
        return _log_total(k, n) + k * fall

    def _moments(self) -> tuple[jax.Array, int, jax.Array, jax.Array]:
        """Return the mean direction, the dimension, and the means of f and f^2 for f = 1 - cos of the angle to it."""
        (k,), n = self._arrays("concentration"), self.event_shape[0]
        _, heights, fall = _angles(k, n)
        total = heights.sum(axis=-1)
        centre = jnp.broadcast_to(jnp.asarray(self.mean_direction, self.dtype), self._shape())
        return centre, n, (heights * fall).sum(axis=-1) / total, (heights * fall * fall).sum(axis=-1) / total


def _log_total(k: jax.Array, n: int) -> jax.Array:
    """Compute log of the integral of exp(-k (1 - cos)) over the unit sphere in n dimensions."""
    top, heights, _ = _angles(k, n)
    log_area = math.log(2) + 0.5 * (n - 1) * math.log(math.pi) - math.lgamma(0.5 * (n - 1))
    return top + jnp.log(heights.sum(axis=-1)) + log_area


def _angles(k: jax.Array, n: int) -> tuple[jax.Array, jax.Array, jax.Array]:
    """Return a quadrature rule for exp(-k (1 - cos s)) sin(s)^(n - 2) over s in (0, pi).

    **Returns** the logarithm of the integrand at its mode; its weighted values relative to that, along a last axis; and
    1 - cos(s) there.
    """
    still = jax.lax.stop_gradient(k)
    m = float(n - 2)
    root = jnp.hypot(jnp.full_like(still, m), 2.0 * still)
    mode = (
        2.0 * jnp.arcsin(jnp.sqrt(0.5 * m * (1 + m / (root + 2 * still)) / (m + root))) if m else 0.0 * still
    )
    sides = [(_edge(still, n, mode, 0.0), mode), (mode, _edge(still, n, mode, math.pi))]
    nodes = jax.lax.expand_dims(jnp.asarray(NODES, k.dtype), range(k.ndim))
    weights = jax.lax.expand_dims(jnp.asarray(WEIGHTS, k.dtype), range(k.ndim))
    angle = jnp.concatenate(
        [low[..., None] + (high - low)[..., None] * nodes for low, high in sides], axis=-1
    )
    weight = jnp.concatenate([(high - low)[..., None] * weights for low, high in sides], axis=-1)
    top = _log_height(k, n, mode)
    heights = jnp.exp(_log_height(k[..., None], n, angle) - top[..., None])
    return top, weight * heights, 2.0 * jnp.sin(0.5 * angle) ** 2


def _log_height(k: jax.Array, n: int, angle: jax.Array) -> jax.Array:
    """Return the log of the integrand."""
    result = -2.0 * k * jnp.sin(0.5 * angle) ** 2
    if n == 2:
        return result
    sine = jnp.sin(angle)
    return result + (n - 2) * jnp.log(jnp.where(sine > 0, sine, jnp.finfo(k.dtype).tiny))


def _edge(k: jax.Array, n: int, mode: jax.Array, end: float) -> jax.Array:
    """Find by bisection how far from the mode towards `end` the integrand exceeds exp(-40) of its maximum."""
    floor = _log_height(k, n, mode) - 40.0

    def halve(_: Any, shares: tuple[jax.Array, jax.Array]) -> tuple[jax.Array, jax.Array]:
        near, far = shares
        middle = 0.5 * (near + far)
        is_high = _log_height(k, n, mode + middle * (end - mode)) > floor
        return jnp.where(is_high, middle, near), jnp.where(is_high, far, middle)

    _, far = jax.lax.fori_loop(0, 30, halve, (jnp.zeros_like(mode), jnp.ones_like(mode)))
    is_whole = _log_height(k, n, jnp.full_like(mode, end)) > floor
    return jnp.where(is_whole, end, mode + far * (end - mode))


def _draw_fall(key: jax.Array, k: jax.Array, n: int) -> jax.Array:
    """Draw 1 - cos of the angle to the mean direction, in [0, 2]."""
    m = float(n - 1)
    b = m / (2 * k + jnp.hypot(2 * k, jnp.full_like(k, m)))
    low = 2 * b / (1 + b)  # 1 - x0, x0 the cosine at which the envelope touches

    def propose(key: jax.Array) -> tuple[jax.Array, jax.Array]:
        key_beta, key_accept = jax.random.split(key)
        squares = jax.random.normal(key_beta, (2, n - 1, *k.shape), k.dtype) ** 2
        one, other = squares.sum(axis=1)
        z = one / (one + other)
        fall = 2 * b * z / (1 - (1 - b) * z)
        # log((1 - x0 w) / (1 - x0^2)), for the cosine w
        log_ratio = jnp.log((low + fall - low * fall) / (low * (2 - low)))
        accept = m * log_ratio - k * (fall - low)
        return fall, jnp.log(jax.random.uniform(key_accept, k.shape, k.dtype, minval=1e-30)) < accept

    return jnp.clip(first_accepted(key, propose, k, _MOST_ROUNDS), 0.0, 2.0)
